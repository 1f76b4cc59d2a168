/* SPDX-License-Identifier: MIT */
/* Writes what is watched into a record. */
#ifndef TOOLS_TRACE_WRITER_H
#define TOOLS_TRACE_WRITER_H

#include "tools/trace/watch.h"

struct writer_state {
    FILE *file;
    bool failed;
    int reason; /* errno of the failure */
    uint64_t records;
    uint64_t lost;
    uint32_t devices;
};

/* The functions of a sink whose `opaque` is a struct writer_state. */
extern const struct watch_sink writer_sink;

#endif
