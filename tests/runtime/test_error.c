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
    const char *name, *payload, *text;
    enum ppu_err error;
} faults[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) \
    { code, #name, payload, text, PPU_ERR_##error },
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

/*
 * What begins and what ends each fault's sentence, for the record above: this knows nothing of the rows. A fault that a
 * thread makes names its lanes, one that a method makes names the word, and so on.
 */
#define BY_LANES "run a kernel", "; CTA (7, 8, 9), warp 5, lanes 0x00000021; pc 0x500000009"
#define BY_CTA "save or resume a CTA", "; CTA (7, 8, 9)"
#define BY_TASK "run a task", ""
#define BY_TASKQ "feed a task", "; queue 21474836489"
#define BY_BLOCK "execute a command block", "; ring entry 5, word 9 of the block"
#define BY_ENTRY "fetch a command block", "; ring entry 5"
#define BY_RING "serve a channel", ""
#define BY_COPY "copy", ""
#define BY_REQUEST "carry out a request", ""
static const struct {
    uint32_t code;
    const char *operation, *where;
} named[] = {
    { PPU_FAULT_UNMAPPED, BY_LANES },
    { PPU_FAULT_READ_ONLY, BY_LANES },
    { PPU_FAULT_NO_ATOMIC, BY_LANES },
    { PPU_FAULT_PROTECTED, BY_LANES },
    { PPU_FAULT_BAD_TABLE, BY_LANES },
    { PPU_FAULT_BAD_ADDRESS, BY_LANES },
    { PPU_FAULT_BUS, BY_LANES },
    { PPU_FAULT_VRAM_RANGE, BY_LANES },
    { PPU_FAULT_NO_CONTEXT, BY_LANES },
    { PPU_FAULT_CANCELLED, BY_COPY },
    { PPU_FAULT_COPY_QUEUE_FULL, BY_COPY },
    { PPU_FAULT_BAD_DESC, BY_COPY },
    { PPU_FAULT_ILLEGAL, BY_LANES },
    { PPU_FAULT_NOT_BUILT, BY_LANES },
    { PPU_FAULT_BAD_REGISTER, BY_LANES },
    { PPU_FAULT_FETCH_RANGE, BY_LANES },
    { PPU_FAULT_MISALIGNED, BY_LANES },
    { PPU_FAULT_SHARED_RANGE, BY_LANES },
    { PPU_FAULT_LOCAL_RANGE, BY_LANES },
    { PPU_FAULT_PARAM_RANGE, BY_LANES },
    { PPU_FAULT_BARRIER, BY_LANES },
    { PPU_FAULT_TRAP, BY_LANES },
    { PPU_FAULT_TOKEN_FULL, BY_LANES },
    { PPU_FAULT_BAD_START, BY_TASK },
    { PPU_FAULT_WATCHDOG, BY_TASK },
    { PPU_FAULT_SECTION, BY_LANES },
    { PPU_FAULT_NO_WAIT, BY_LANES },
    { PPU_FAULT_SAVE, BY_CTA },
    { PPU_FAULT_TASKQ_HOLE, BY_TASKQ },
    { PPU_FAULT_SUBVECTOR, BY_LANES },
    { PPU_FAULT_TMD_ALIGN, BY_BLOCK },
    { PPU_FAULT_TMD_VERSION, BY_BLOCK },
    { PPU_FAULT_TMD_KIND, BY_BLOCK },
    { PPU_FAULT_TMD_RESERVED, BY_BLOCK },
    { PPU_FAULT_TMD_CODE, BY_BLOCK },
    { PPU_FAULT_TMD_GRID, BY_BLOCK },
    { PPU_FAULT_TMD_CTA, BY_BLOCK },
    { PPU_FAULT_TMD_RESOURCES, BY_BLOCK },
    { PPU_FAULT_TMD_PARAM, BY_BLOCK },
    { PPU_FAULT_TMD_LOCAL, BY_BLOCK },
    { PPU_FAULT_TMD_PRIORITY, BY_BLOCK },
    { PPU_FAULT_TMD_WAVE, BY_BLOCK },
    { PPU_FAULT_TMD_SAVE, BY_BLOCK },
    { PPU_FAULT_TMD_NEST, BY_BLOCK },
    { PPU_FAULT_TMD_CORESIDENT, BY_BLOCK },
    { PPU_FAULT_TMD_TASKQ, BY_BLOCK },
    { PPU_FAULT_TMD_SUBVECTOR, BY_BLOCK },
    { PPU_FAULT_GP_INDEX, BY_RING },
    { PPU_FAULT_GP_ENTRY, BY_ENTRY },
    { PPU_FAULT_BLOCK_LENGTH, BY_ENTRY },
    { PPU_FAULT_BLOCK_HEADER, BY_ENTRY },
    { PPU_FAULT_METHOD_UNKNOWN, BY_BLOCK },
    { PPU_FAULT_METHOD_COUNT, BY_BLOCK },
    { PPU_FAULT_METHOD_DATA, BY_BLOCK },
    { PPU_FAULT_SEM_ALIGN, BY_BLOCK },
    { PPU_FAULT_NO_CHANNEL, BY_RING },
    { PPU_FAULT_BLOCK_MEMORY, BY_ENTRY },
    { PPU_FAULT_SEM_MEMORY, BY_BLOCK },
    { PPU_FAULT_COPY_MEMORY, BY_BLOCK },
    { PPU_FAULT_TMD_MEMORY, BY_BLOCK },
    { PPU_FAULT_NO_STREAM, BY_BLOCK },
    { PPU_FAULT_WORKQ_FAILED, BY_BLOCK },
    { PPU_FAULT_WORKQ_HOLE, BY_RING },
    { PPU_FAULT_NO_TASKQ, BY_BLOCK },
    { PPU_FAULT_ADMIN_OP, BY_REQUEST },
    { PPU_FAULT_ADMIN_ARG, BY_REQUEST },
    { PPU_FAULT_NO_RESOURCE, BY_REQUEST },
    { PPU_FAULT_IN_USE, BY_REQUEST },
    { PPU_FAULT_NO_OBJECT, BY_REQUEST },
    { PPU_FAULT_NO_KEY, BY_REQUEST },
    { PPU_FAULT_QUOTA, BY_REQUEST },
};

/* Which row of `named` is the fault's. */
static size_t named_row(uint32_t code)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(named); i++) {
        if (named[i].code == code) {
            return i;
        }
    }
    fail_msg("%s: which location must its sentence name? 'named' does not say", ppu_fault_name(code));
    return 0;
}

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
        const size_t row = named_row(faults[i].code);
        char payload[128], whole[PPU_ERROR_TEXT_BYTES];
        struct ppu_error error;
        assert_string_equal(ppu_fault_name(faults[i].code), faults[i].name);
        assert_int_equal(ppu_fault_error(faults[i].code), faults[i].error);
        error_from_record(&error, &record);
        assert_int_equal(error.code, faults[i].error);
        payload_text(faults[i].payload, payload, sizeof(payload));
        snprintf(whole, sizeof(whole), "%s: %s (%s)%s; channel 17, context 3, correlation 4242%s", named[row].operation,
                 faults[i].text, faults[i].name, payload, named[row].where);
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
