/* SPDX-License-Identifier: MIT */
#include "runtime/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
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
    enum ppu_fault_location location;
    const char *name;
    const char *payload;
    const char *text;
} fault_rows[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) \
    { code, PPU_ERR_##error, PPU_LOCATION_##location, #name, payload, text },
#include "ppu/fault.def"
#undef PPU_FAULT
};

static const struct fault_row *fault_row(uint32_t code)
{
    static const struct fault_row unknown = {
        0,   PPU_ERR_INTERNAL, PPU_LOCATION_RING,
        "?", "unknown value",  "the firmware reports a fault that this library does not know"
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(fault_rows); i++) {
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
    if (error) {
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

    return access < PPU_ARRAY_SIZE(names) ? names[access] : "access";
}

static bool is_address(const char *payload)
{
    return strcmp(payload, "virtual address") == 0 || strcmp(payload, "bus address") == 0;
}

/* Small numbers and times as people write them; addresses and words of bits in hexadecimal. */
static void say_payload(struct sentence *sentence, const struct fault_row *row, const struct ppu_error_record *record)
{
    bool small = record->address < 1u << 16 && !strstr(row->payload, "address");

    if (strcmp(row->payload, "none") == 0) {
        return;
    }
    if (is_address(row->payload)) {
        say(sentence, ": %s at", access_name(record->access));
    } else {
        say(sentence, ":");
    }
    say(sentence, small || strcmp(row->payload, "time limit in ns") == 0 ? " %s %" PRIu64 : " %s 0x%" PRIx64,
        row->payload, record->address);
}

static void say_cta(struct sentence *sentence, const struct ppu_error_record *record)
{
    say(sentence, "; CTA (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", record->cta[0], record->cta[1], record->cta[2]);
}

/* The channel keeps the program counter alone of a record that was lost. */
static void say_lanes(struct sentence *sentence, const struct ppu_error_record *record)
{
    if (record->lanes != 0) {
        say_cta(sentence, record);
        say(sentence, ", warp %u, lanes 0x%08" PRIx32, record->warp, record->lanes);
    }
    say(sentence, "; pc 0x%" PRIx64, record->pc);
}

static void say_taskq(struct sentence *sentence, const struct ppu_error_record *record)
{
    say(sentence, "; queue %" PRIu64, record->pc);
}

static void say_entry(struct sentence *sentence, const struct ppu_error_record *record)
{
    say(sentence, "; ring entry %" PRIu32, (uint32_t)(record->pc >> 32));
}

static void say_block(struct sentence *sentence, const struct ppu_error_record *record)
{
    say_entry(sentence, record);
    say(sentence, ", word %" PRIu32 " of the block", (uint32_t)record->pc);
}

/* Says what was under way, and where. */
static const struct location {
    const char *operation;
    void (*say_where)(struct sentence *sentence, const struct ppu_error_record *record);
} locations[] = {
    [PPU_LOCATION_LANES] = { "run a kernel", say_lanes },
    [PPU_LOCATION_CTA] = { "save or resume a CTA", say_cta },
    [PPU_LOCATION_TASK] = { "run a task", NULL },
    [PPU_LOCATION_TASKQ] = { "feed a task", say_taskq },
    [PPU_LOCATION_BLOCK] = { "execute a command block", say_block },
    [PPU_LOCATION_ENTRY] = { "fetch a command block", say_entry },
    [PPU_LOCATION_RING] = { "serve a channel", NULL },
    [PPU_LOCATION_COPY] = { "copy", NULL },
    [PPU_LOCATION_REQUEST] = { "carry out a request", NULL },
};

/* A block's fault without a word of it is one of a task that had been launched before, or by a thread. */
static const struct location *location_of(const struct fault_row *row, const struct ppu_error_record *record)
{
    bool task = row->location == PPU_LOCATION_BLOCK && (uint32_t)record->pc == 0;

    return &locations[task ? PPU_LOCATION_TASK : row->location];
}

static void say_record(struct ppu_error *error, const char *operation, const struct ppu_error_record *record)
{
    const struct fault_row *row = fault_row(record->code);
    const struct location *location = location_of(row, record);
    struct sentence sentence = { error->text, sizeof(error->text), 0 };

    error->code = row->error;
    error->record = *record;
    say(&sentence, "%s: %s (%s)", operation ? operation : location->operation, row->text, row->name);
    say_payload(&sentence, row, record);
    if (record->channel != PPU_NO_CHANNEL) {
        say(&sentence, "; channel %" PRIu32 ", context %" PRIu32 ", correlation %" PRIu32, record->channel,
            record->context, record->correlation);
    }
    if (location->say_where) {
        location->say_where(&sentence, record);
    }
}

void error_from_record(struct ppu_error *error, const struct ppu_error_record *record)
{
    say_record(error, NULL, record);
}

void error_from_reply(struct ppu_error *error, const char *operation, uint16_t status, uint32_t payload)
{
    const struct ppu_error_record record = { .code = status, .channel = PPU_NO_CHANNEL, .address = payload };

    say_record(error, operation, &record);
}

void error_from_crash(struct ppu_error *error, const struct ppu_crash_record *crash)
{
    error_fill(error, PPU_ERR_DEVICE_LOST,
               "run the firmware: it stopped at %.*s:%" PRIu32 ", pc 0x%08" PRIx32 ", lr 0x%08" PRIx32
               ", sp 0x%08" PRIx32 ", CFSR 0x%08" PRIx32 ", HFSR 0x%08" PRIx32 ", MMFAR 0x%08" PRIx32
               ", BFAR 0x%08" PRIx32,
               (int)sizeof(crash->file), crash->file, crash->line, crash->r[15], crash->r[14], crash->r[13],
               crash->cfsr, crash->hfsr, crash->mmfar, crash->bfar);
}
