/* SPDX-License-Identifier: MIT */
#include "runtime/native/environment.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "runtime/error.h"

#define VRAM_PROPERTY "vram-size="

/* As QEMU writes sizes: K, M, G or T behind the number. False: it is none. */
static bool read_size(const char *text, size_t length, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    uint64_t unit = 1;
    uint64_t number = 0;

    const char *suffix = length != 0 ? strchr(suffixes, text[length - 1]) : NULL;
    if (suffix) {
        unit = 1ull << 10 * (suffix - suffixes + 1);
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > (UINT64_MAX / unit - 9) / 10) {
            return false;
        }
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    *bytes = number * unit;
    return length != 0 && number != 0;
}

/* The file that is VRAM is made before QEMU looks at the properties. Of several sizes the last one counts. */
static enum ppu_err read_vram(struct environment *environment, struct ppu_error *error)
{
    const char *at = environment->properties;

    while (at) {
        const size_t length = strcspn(at, ",");
        const size_t name = sizeof(VRAM_PROPERTY) - 1;
        if (length >= name && strncmp(at, VRAM_PROPERTY, name) == 0 &&
            !read_size(at + name, length - name, &environment->vram_bytes)) {
            return error_set(error, PPU_ERR_BAD_ARG,
                             "start a machine: PPU_MACHINE: %.*s: expected a number of bytes, or one with K, M, G or T",
                             (int)PPU_MIN(length, 64u), at);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return PPU_OK;
}

static enum ppu_err split_options(struct environment *environment, const char *options, struct ppu_error *error)
{
    uint32_t count = 0;
    char *rest = NULL;

    environment->words = strdup(options);
    if (!environment->words) {
        return error_set(error, PPU_ERR_NO_MEMORY, "start a machine: not enough memory");
    }
    for (char *word = strtok_r(environment->words, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == ENVIRONMENT_OPTIONS) {
            return error_set(error, PPU_ERR_BAD_ARG, "start a machine: PPU_RUN_OPTIONS has more than %u words",
                             ENVIRONMENT_OPTIONS);
        }
        environment->option[count++] = word;
    }
    return PPU_OK;
}

enum ppu_err environment_read(struct environment *environment, struct ppu_error *error)
{
    const char *properties = secure_getenv("PPU_MACHINE");
    const char *options = secure_getenv("PPU_RUN_OPTIONS");

    *environment = (struct environment){ .properties = properties && *properties != '\0' ? properties : NULL };
    enum ppu_err err = read_vram(environment, error);
    return err == PPU_OK && options ? split_options(environment, options, error) : err;
}

void environment_free(struct environment *environment)
{
    free(environment->words);
}
