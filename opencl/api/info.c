/* SPDX-License-Identifier: MIT */
#include "opencl/api/info.h"

#include <string.h>

cl_int info_bytes(const struct info_room *room, const void *data, size_t bytes)
{
    if (room->at) {
        if (room->bytes < bytes) {
            return CL_INVALID_VALUE;
        }
        if (bytes > 0) {
            memcpy(room->at, data, bytes);
        }
    }
    if (room->size_ret) {
        *room->size_ret = bytes;
    }
    return CL_SUCCESS;
}

cl_int info_text(const struct info_room *room, const char *text)
{
    return info_bytes(room, text, strlen(text) + 1);
}
