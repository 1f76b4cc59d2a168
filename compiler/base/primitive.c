/* SPDX-License-Identifier: MIT */
#include "compiler/base/primitive.h"

#include "ppu/macros.h"

#include <string.h>

enum primitive primitive_find(const char *name)
{
    static const char *const names[] = {
        "",
#define PRIMITIVE(name, text, cta) text,
#include "compiler/base/primitive.def"
    };

    for (uint32_t i = 1; i < PPU_ARRAY_SIZE(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum primitive)i;
        }
    }
    return PRIMITIVE_NONE;
}

bool primitive_tells_cta(enum primitive primitive)
{
    static const bool tells[] = {
        false,
#define PRIMITIVE(name, text, cta) (cta) != 0,
#include "compiler/base/primitive.def"
    };

    return tells[primitive];
}
