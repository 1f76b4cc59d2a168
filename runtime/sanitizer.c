/* SPDX-License-Identifier: MIT */
/* Reads reports of kernels that check themselves (ppu/sanitizer.h). Nothing of a record or a text is believed. */
#include "ppu.h"
#include "ppu/macros.h"

#include <stdlib.h>
#include <string.h>

bool ppu_sanitizer_is_report(const char *format)
{
    return strncmp(format, PPU_SANITIZER_MARK, strlen(PPU_SANITIZER_MARK)) == 0;
}

/* Copies the next field, as far as it fits, without what a terminal would obey. False: there is none. */
static bool take_field(const char **at, char *to, size_t bytes)
{
    size_t n = 0;

    if (**at != PPU_SANITIZER_SEPARATOR) {
        return false;
    }
    for ((*at)++; **at != '\0' && **at != PPU_SANITIZER_SEPARATOR; (*at)++) {
        const unsigned char c = (unsigned char)**at;
        if (n + 1 < bytes) {
            to[n++] = (char)(c < ' ' || c == 0x7f ? '?' : c);
        }
    }
    to[n] = '\0';
    return true;
}

static bool take_number(const char **at, uint32_t *number)
{
    char digits[16];
    const bool taken = take_field(at, digits, sizeof(digits));

    *number = taken ? (uint32_t)strtoul(digits, NULL, 10) : 0;
    return taken;
}

static bool take_site(const char *format, struct ppu_sanitizer_site *site)
{
    const char *at = format + strlen(PPU_SANITIZER_MARK);

    return ppu_sanitizer_is_report(format) && take_field(&at, site->check, sizeof(site->check)) &&
           take_field(&at, site->action, sizeof(site->action)) && take_number(&at, &site->bytes) &&
           take_field(&at, site->file, sizeof(site->file)) && take_number(&at, &site->line) &&
           take_number(&at, &site->column) && take_field(&at, site->kernel, sizeof(site->kernel)) &&
           take_field(&at, site->object, sizeof(site->object)) && *at == '\0';
}

static uint64_t number_at(const uint32_t *words, uint32_t at)
{
    return words[at] | (uint64_t)words[at + 1] << 32;
}

bool ppu_sanitizer_read(const struct ppu_program_view *view, uint32_t format, const uint32_t *words, uint32_t count,
                        struct ppu_sanitizer_report *report)
{
    *report = (struct ppu_sanitizer_report){ .address = 0 };
    if (count < PPU_SANITIZER_WORDS || format >= view->header->formats ||
        !take_site(view->text + view->formats[format], &report->site)) {
        return false;
    }
    report->address = number_at(words, PPU_SANITIZER_ADDRESS);
    report->base = number_at(words, PPU_SANITIZER_BASE);
    report->object_bytes = number_at(words, PPU_SANITIZER_BYTES);
    report->value = number_at(words, PPU_SANITIZER_VALUE);
    for (uint32_t i = 0; i < 3; i++) {
        report->global_id[i] = number_at(words, PPU_SANITIZER_GLOBAL_ID + 2 * i);
        report->local_id[i] = words[PPU_SANITIZER_LOCAL_ID + i];
        report->work_group[i] = words[PPU_SANITIZER_GROUP_ID + i];
        report->other_local_id[i] = words[PPU_SANITIZER_OTHER_LOCAL_ID + i];
        report->other_work_group[i] = words[PPU_SANITIZER_OTHER_GROUP_ID + i];
    }
    const uint32_t other = words[PPU_SANITIZER_OTHER_FORMAT];
    report->has_other = other != 0 && other - 1 < view->header->formats &&
                        take_site(view->text + view->formats[other - 1], &report->other);
    return true;
}
