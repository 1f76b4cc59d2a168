/* SPDX-License-Identifier: MIT */
/* Tests errors: every fault has one, and its sentence says what the record says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/ring.h"
#include "runtime/error.h"

static const struct {
    uint32_t code;
    enum ppu_fault_location location;
    const char *name, *payload, *text;
    enum ppu_err error;
} faults[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) \
    { code, PPU_LOCATION_##location, #name, payload, text, PPU_ERR_##error },
#include "ppu/fault.def"
#undef PPU_FAULT
};

/* A record of which every field says something. */
static struct ppu_error_record full_record(uint32_t code)
{
    return (struct ppu_error_record){
        .code = (uint16_t)code,
        .access = PPU_ACCESS_WRITE,
        .channel = 17,
        .context = 3,
        .address = 0x123456789000,
        .pc = 0x500000009,
        .correlation = 4242,
        .lanes = 0x21,
        .warp = 5,
        .cta = { 7, 8, 9 },
    };
}

/* What begins and what ends the sentence of each place, for the record above. */
static const struct {
    const char *operation, *where;
} locations[] = {
    [PPU_LOCATION_LANES] = { "run a kernel", "; CTA (7, 8, 9), warp 5, lanes 0x00000021; pc 0x500000009" },
    [PPU_LOCATION_CTA] = { "save or resume a CTA", "; CTA (7, 8, 9)" },
    [PPU_LOCATION_TASK] = { "run a task", "" },
    [PPU_LOCATION_TASKQ] = { "feed a task", "; queue 21474836489" },
    [PPU_LOCATION_BLOCK] = { "execute a command block", "; ring entry 5, word 9 of the block" },
    [PPU_LOCATION_ENTRY] = { "fetch a command block", "; ring entry 5" },
    [PPU_LOCATION_RING] = { "serve a channel", "" },
    [PPU_LOCATION_COPY] = { "copy", "" },
    [PPU_LOCATION_REQUEST] = { "carry out a request", "" },
    [PPU_LOCATION_DEVICE] = { "run the firmware", "" },
};

/* "" or what the payload column makes of 0x123456789000. */
static void payload_text(const char *payload, char *text, size_t size)
{
    bool space = strcmp(payload, "virtual address") == 0 || strcmp(payload, "bus address") == 0;

    if (strcmp(payload, "none") == 0) {
        text[0] = 0;
    } else if (strcmp(payload, "time limit in ns") == 0) {
        snprintf(text, size, ": %s 20015998341120", payload);
    } else {
        snprintf(text, size, ": %s%s 0x123456789000", space ? "write at " : "", payload);
    }
}

static void every_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(faults); i++) {
        const struct ppu_error_record record = full_record(faults[i].code);
        char payload[128], whole[PPU_ERROR_TEXT_BYTES];
        struct ppu_error error;
        assert_string_equal(ppu_fault_name(faults[i].code), faults[i].name);
        assert_int_equal(ppu_fault_error(faults[i].code), faults[i].error);
        error_from_record(&error, &record);
        assert_int_equal(error.code, faults[i].error);
        payload_text(faults[i].payload, payload, sizeof(payload));
        snprintf(whole, sizeof(whole), "%s: %s (%s)%s; channel 17, context 3, correlation 4242%s",
                 locations[faults[i].location].operation, faults[i].text, faults[i].name, payload,
                 locations[faults[i].location].where);
        assert_string_equal(error.text, whole);
    }
}

/* Sentences as people read them, of records as device and firmware make them. */
static void whole_sentences(void **state)
{
    static const struct {
        struct ppu_error_record record;
        const char *sentence;
    } cases[] = {
        { { .code = PPU_FAULT_UNMAPPED,
            .access = PPU_ACCESS_WRITE,
            .channel = 2,
            .address = 0xabc000,
            .pc = 0x100000048,
            .lanes = 0x21,
            .warp = 5,
            .cta = { 7, 8, 9 } },
          "run a kernel: address is not mapped in this context (UNMAPPED): write at virtual address 0xabc000; "
          "channel 2, context 0, correlation 0; CTA (7, 8, 9), warp 5, lanes 0x00000021; pc 0x100000048" },
        { { .code = PPU_FAULT_UNMAPPED, .channel = 2, .address = 0, .pc = 0x100000048 },
          "run a kernel: address is not mapped in this context (UNMAPPED): read at virtual address 0x0; channel 2, "
          "context 0, correlation 0; pc 0x100000048" },
        { { .code = PPU_FAULT_TASKQ_HOLE, .channel = 4, .context = 1, .address = 12, .pc = 3, .correlation = 77 },
          "feed a task: entry of a closed queue was taken by a producer and never published (TASKQ_HOLE): number of "
          "the entry 12; channel 4, context 1, correlation 77; queue 3" },
        { { .code = PPU_FAULT_WATCHDOG, .channel = 4, .address = 4000000000, .correlation = 78 },
          "run a task: task ran longer than its time limit, which its queue, its launch (watchdog_ns) or PPU_WATCHDOG_MS "
          "has set (WATCHDOG): time limit in ns 4000000000; channel 4, context 0, correlation 78" },
        { { .code = PPU_FAULT_SAVE, .channel = 1, .address = 0x40000, .pc = 8, .cta = { 1 } },
          "save or resume a CTA: saved CTA is not usable, or does not fit its place (SAVE): offset in VRAM 0x40000; "
          "channel 1, context 0, correlation 0; CTA (1, 0, 0)" },
        { { .code = PPU_FAULT_TMD_GRID, .channel = 1, .address = 32, .pc = 0x700000004 },
          "execute a command block: grid is empty or too large (TMD_GRID): offset of the field 32; channel 1, "
          "context 0, correlation 0; ring entry 7, word 4 of the block" },
        { { .code = PPU_FAULT_TMD_GRID, .channel = 1, .address = 32, .correlation = 9 },
          "run a task: grid is empty or too large (TMD_GRID): offset of the field 32; channel 1, context 0, correlation 9" },
        { { .code = PPU_FAULT_BLOCK_LENGTH, .channel = 1, .address = 1025, .pc = 0x700000000 },
          "fetch a command block: command block is shorter than its header or longer than 1,024 words "
          "(BLOCK_LENGTH): length in words 1025; channel 1, context 0, correlation 0; ring entry 7" },
        { { .code = PPU_FAULT_GP_INDEX, .channel = 1, .address = 70000, .pc = 0x700000009 },
          "serve a channel: GP_PUT is beyond the ring (GP_INDEX): GP_PUT 0x11170; channel 1, context 0, correlation "
          "0" },
        { { .code = PPU_FAULT_BAD_START, .channel = PPU_NO_CHANNEL, .context = 2, .address = 0x300001 },
          "run a task: start request names no task of this context (BAD_START): handle named 0x300001" },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppu_error error;
        error_from_record(&error, &cases[i].record);
        assert_string_equal(error.text, cases[i].sentence);
    }
}

/* Operation, colon, object and cause: each text may stand behind the name of a wider operation. */
static void every_text(void **state)
{
    static const struct {
        enum ppu_err code;
        const char *name, *text;
    } errors[] = {
#define PPU_ERR(name, value, text) { PPU_ERR_##name, #name, text },
#include "ppu_error.def"
#undef PPU_ERR
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(errors); i++) {
        const char *text = ppu_error_text(errors[i].code), *colon = strstr(text, ": ");
        assert_string_equal(ppu_error_name(errors[i].code), errors[i].name);
        assert_string_equal(text, errors[i].text);
        if (!colon || strcspn(text, " :") < 3 || text[0] < 'a' || text[strlen(text) - 1] == '.') {
            fail_msg("%s: '%s' does not begin with an operation, or is not a part of a sentence", errors[i].name, text);
        }
    }
}

static void refused_requests(void **state)
{
    struct ppu_error error;

    (void)state;
    error_from_reply(&error, "admin request CHANNEL_RESET", PPU_FAULT_NO_OBJECT, 7);
    assert_string_equal(error.text, "admin request CHANNEL_RESET: no such object (NO_OBJECT): object 7");
    assert_int_equal(error.code, PPU_ERR_BAD_ARG);
}

static void unknown_codes(void **state)
{
    const struct ppu_error_record record = { .code = 0xfff, .access = 99, .channel = PPU_NO_CHANNEL };
    struct ppu_error error;

    (void)state;
    error_from_record(&error, &record);
    assert_int_equal(error.code, PPU_ERR_INTERNAL);
    assert_string_equal(
        error.text,
        "serve a channel: the firmware reports a fault that this library does not know (?): unknown value 0");
    assert_string_equal(ppu_fault_name(0xfff), "?");
    assert_string_equal(ppu_error_name((enum ppu_err)999), "?");
    assert_non_null(ppu_error_text((enum ppu_err)999));
    assert_int_equal(ppu_fault_error(0), PPU_OK);
}

/* What is too long is cut off, not written beyond. */
static void long_sentences(void **state)
{
    char words[2 * PPU_ERROR_TEXT_BYTES];
    struct ppu_error error;

    (void)state;
    memset(words, 'x', sizeof(words));
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(error_set(&error, PPU_ERR_BUSY, "%s", words), PPU_ERR_BUSY);
    assert_int_equal(strlen(error.text), PPU_ERROR_TEXT_BYTES - 1);
    assert_int_equal(error_set(NULL, PPU_ERR_BUSY, "%s", words), PPU_ERR_BUSY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every fault has an error, a name and a whole sentence", every_fault, NULL, NULL, NULL },
        { "every error's text begins with the operation that failed", every_text, NULL, NULL, NULL },
        { "a fault's sentence names the place that its row says, and no other", whole_sentences, NULL, NULL, NULL },
        { "a refused request's sentence begins with the request", refused_requests, NULL, NULL, NULL },
        { "unknown codes are no trap", unknown_codes, NULL, NULL, NULL },
        { "long sentences are cut off", long_sentences, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
