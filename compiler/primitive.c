/* SPDX-License-Identifier: MIT */
#include "primitive.h"

#include <string.h>

enum primitive primitive_find(const char *name)
{
    static const char *const names[] = {
        "",
#define PRIMITIVE(name, text) text,
#include "primitive.def"
    };

    for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum primitive)i;
        }
    }
    return PRIMITIVE_NONE;
}
