/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ppu/ring.h"

const char *ppu_error_name(enum ppu_err code)
{
    switch (code) {
    case PPU_OK:
        return "OK";
#define PPU_ERR(name, value, text) \
    case PPU_ERR_##name:           \
        return #name;
#include "ppu_error.def"
#undef PPU_ERR
    }
    return "?";
}

const char *ppu_error_text(enum ppu_err code)
{
    switch (code) {
    case PPU_OK:
        return "no error";
#define PPU_ERR(name, value, text) \
    case PPU_ERR_##name:           \
        return text;
#include "ppu_error.def"
#undef PPU_ERR
    }
    return "no such error";
}

static const struct fault_row {
    uint32_t code;
    enum ppu_err error;
    const char *name;
    const char *payload;
    const char *text;
} fault_rows[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, error, text) { code, PPU_ERR_##error, #name, payload, text },
#include "ppu/fault.def"
#undef PPU_FAULT
};

static const struct fault_row *fault_row(uint32_t code)
{
    static const struct fault_row unknown = { 0, PPU_ERR_INTERNAL, "?", "none", "unknown fault code" };

    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(fault_rows[0]); i++) {
        if (fault_rows[i].code == code) {
            return &fault_rows[i];
        }
    }
    return &unknown;
}

const char *ppu_fault_name(uint32_t fault)
{
    return fault_row(fault)->name;
}

enum ppu_err ppu_fault_error(uint32_t fault)
{
    return fault == PPU_FAULT_NONE ? PPU_OK : fault_row(fault)->error;
}

/* A sentence that grows; what does not fit is cut off. */
struct sentence {
    char *text;
    size_t size;
    size_t length;
};

static void say_list(struct sentence *sentence, const char *format, va_list arguments)
{
    int length = vsnprintf(sentence->text + sentence->length, sentence->size - sentence->length, format, arguments);

    if (length > 0) {
        sentence->length += (size_t)length;
    }
    if (sentence->length > sentence->size - 1) {
        sentence->length = sentence->size - 1;
    }
}

__attribute__((format(printf, 2, 3))) static void say(struct sentence *sentence, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_list(sentence, format, arguments);
    va_end(arguments);
}

void error_fill(struct ppu_error *error, enum ppu_err code, const char *format, ...)
{
    if (error != NULL) {
        struct sentence sentence = { error->text, sizeof(error->text), 0 };
        va_list arguments;
        error->code = code;
        memset(&error->record, 0, sizeof(error->record));
        va_start(arguments, format);
        say_list(&sentence, format, arguments);
        va_end(arguments);
    }
}

static const char *access_name(uint8_t access)
{
    static const char *const names[] = {
        [PPU_ACCESS_READ] = "read",
        [PPU_ACCESS_WRITE] = "write",
        [PPU_ACCESS_ATOMIC] = "atomic",
        [PPU_ACCESS_FETCH] = "fetch",
    };

    return access < sizeof(names) / sizeof(names[0]) ? names[access] : "access";
}

static bool is_memory_fault(uint32_t code)
{
    return code >= PPU_FAULT_UNMAPPED && code <= PPU_FAULT_NO_CONTEXT;
}

static bool is_kernel_fault(const struct ppu_error_record *record)
{
    return record->lanes != 0 || (record->code >= PPU_FAULT_ILLEGAL && record->code <= PPU_FAULT_WATCHDOG);
}

static void say_where(struct sentence *sentence, const struct ppu_error_record *record)
{
    if (is_kernel_fault(record)) {
        say(sentence, "; CTA (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), warp %u, lanes 0x%08" PRIx32 ", pc 0x%" PRIx64,
            record->cta[0], record->cta[1], record->cta[2], record->warp, record->lanes, record->pc);
    } else if (record->channel != PPU_NO_CHANNEL) {
        say(sentence, "; ring entry %" PRIu32 ", word %" PRIu32 " of the block", (uint32_t)(record->pc >> 32),
            (uint32_t)record->pc);
    }
}

void error_from_record(struct ppu_error *error, const struct ppu_error_record *record)
{
    const struct fault_row *row = fault_row(record->code);
    struct sentence sentence = { error->text, sizeof(error->text), 0 };

    error->code = row->error;
    error->record = *record;
    say(&sentence, "%s (%s)", row->text, row->name);
    if (is_memory_fault(record->code)) {
        say(&sentence, ": %s", access_name(record->access));
    }
    if (strcmp(row->payload, "none") != 0) {
        say(&sentence, "%s %s 0x%" PRIx64, is_memory_fault(record->code) ? " at" : ":", row->payload, record->address);
    }
    if (record->channel != PPU_NO_CHANNEL) {
        say(&sentence, "; channel %" PRIu32 ", context %" PRIu32 ", correlation %" PRIu32, record->channel,
            record->context, record->correlation);
    }
    say_where(&sentence, record);
}

void error_from_crash(struct ppu_error *error, const struct ppu_crash_record *crash)
{
    error_fill(error, PPU_ERR_DEVICE_LOST,
               "the firmware stopped at %.*s:%" PRIu32 ", pc 0x%08" PRIx32 ", lr 0x%08" PRIx32 ", sp 0x%08" PRIx32
               ", CFSR 0x%08" PRIx32 ", HFSR 0x%08" PRIx32 ", MMFAR 0x%08" PRIx32 ", BFAR 0x%08" PRIx32,
               (int)sizeof(crash->file), crash->file, crash->line, crash->r[15], crash->r[14], crash->r[13],
               crash->cfsr, crash->hfsr, crash->mmfar, crash->bfar);
}
