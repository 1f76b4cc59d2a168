/* SPDX-License-Identifier: MIT */
/* Makes JSON of a profile, for the page. */
#ifndef TOOLS_REPORT_PAGE_PROFILE_H
#define TOOLS_REPORT_PAGE_PROFILE_H

#include <jansson.h>

#include "tools/trace/profile.h"

/* JSON's null when the record has no profile. */
json_t *page_profile(const struct profile *profile);

#endif
