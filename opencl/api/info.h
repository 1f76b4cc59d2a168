/* SPDX-License-Identifier: MIT */
/* Answers the clGet...Info functions; what is asked and answered stands in info.def. */
#ifndef OPENCL_API_INFO_H
#define OPENCL_API_INFO_H

#include "opencl/api/object.h"

/* The last three parameters of every such function. */
struct info_room {
    size_t bytes;
    void *at;         /* may be NULL */
    size_t *size_ret; /* may be NULL */
};

/* INVALID_VALUE when there is a place, but it is too small. */
cl_int info_bytes(const struct info_room *room, const void *data, size_t bytes);
cl_int info_text(const struct info_room *room, const char *text);

/* Rows of info.def, inside a switch over the query, with `room` in scope. */
#define INFO(query, type, value)                           \
    case query: {                                          \
        const type answer = (value);                       \
        return info_bytes(&room, &answer, sizeof(answer)); \
    }
#define INFO_TEXT(query, text) \
    case query:                \
        return info_text(&room, text);
#define INFO_BYTES(query, pointer, bytes) \
    case query:                           \
        return info_bytes(&room, pointer, bytes);

#endif
