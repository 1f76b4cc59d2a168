/* SPDX-License-Identifier: MIT */
#include "opencl/api/vendor.h"

#include <stdio.h>

#include "ppu/macros.h"

#define NOTE_BYTES 120u

/* Not all of them are in OpenCL's headers. */
static const cl_context_properties context_properties[] = {
    0x4106, /* CL_CONTEXT_SHOW_DIAGNOSTICS_INTEL */
    0x40b0, /* CL_PRINTF_CALLBACK_ARM: printf goes to standard output */
    0x40b1, /* CL_PRINTF_BUFFERSIZE_ARM */
    0x40c2, /* CL_CONTEXT_PERF_HINT_QCOM */
    0x40c9, /* CL_CONTEXT_PRIORITY_HINT_QCOM */
};

static const cl_queue_properties queue_properties[] = {
    0x418c, /* CL_QUEUE_FAMILY_INTEL */
    0x418d, /* CL_QUEUE_INDEX_INTEL */
    0x41e1, /* CL_QUEUE_JOB_SLOT_ARM */
    0x41e7, /* CL_QUEUE_KERNEL_BATCHING_ARM */
    0x41ec, /* CL_QUEUE_DEFERRED_FLUSH_ARM */
};

bool vendor_context_property(cl_context_properties name)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(context_properties); i++) {
        if (context_properties[i] == name) {
            return true;
        }
    }
    return false;
}

bool vendor_queue_property(cl_queue_properties name)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(queue_properties); i++) {
        if (queue_properties[i] == name) {
            return true;
        }
    }
    return false;
}

void vendor_note(cl_context context, const char *operation, const char *what, bool found)
{
    char note[NOTE_BYTES];

    if (found) {
        snprintf(note, sizeof(note), "note: a %s is another vendor's, and changes nothing here", what);
        context_notify(context, operation, note);
    }
}

void vendor_note_flags(cl_context context, const char *operation, cl_mem_flags flags)
{
    vendor_note(context, operation, "memory flag", (flags & VENDOR_MEMORY_FLAGS) != 0);
}

void vendor_note_context(cl_context context, const cl_context_properties *properties)
{
    for (; properties && *properties != 0; properties += 2) {
        vendor_note(context, "clCreateContext", "property", vendor_context_property(properties[0]));
    }
}
