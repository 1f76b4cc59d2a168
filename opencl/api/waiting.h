/* SPDX-License-Identifier: MIT */
/* Reads how much room the work-groups of a context have that wait for what they enqueued (cl_ppu.h). */
#ifndef OPENCL_API_WAITING_H
#define OPENCL_API_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "opencl/api/object.h"

#define WAITING_TEXT_BYTES 160u

struct waiting {
    uint32_t work_groups; /* of a kernel, that can have begun at once; 0: the default */
    uint32_t state_bytes; /* of a work-group; 0: the default */
};

/* True when the property of a context is one of these. */
bool waiting_is_property(cl_context_properties name);

/* The environment's settings, then the properties, which may be NULL. False: one is out of range; `text` says which. */
bool waiting_read(struct waiting *waiting, const cl_context_properties *properties, char text[WAITING_TEXT_BYTES]);

#endif
