/* SPDX-License-Identifier: MIT */
/* Makes JSON of a profile, for the page. */
#ifndef TOOLS_REPORT_PAGE_PROFILE_H
#define TOOLS_REPORT_PAGE_PROFILE_H

#include <jansson.h>

#include "tools/trace/profile.h"

/* Memory accesses of a kernel, by all warps, and their transactions. */
struct page_accesses {
    uint64_t accesses;
    uint64_t transactions;
};
/* Adds up those of all programs that have a kernel of the name; zeros: the record does not know. */
struct page_accesses page_accesses(const struct profile *profile, const char *kernel);

/* JSON's null when the record has no profile. */
json_t *page_profile(const struct profile *profile);

#endif
