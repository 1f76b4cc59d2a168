/* SPDX-License-Identifier: MIT */
/* Errors: every fault has one, and its sentence says what the record says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "error.h"
#include "ppu/ring.h"

static const struct {
    uint32_t code;
    const char *name, *text;
    enum ppu_err error;
} faults[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, error, text) { code, #name, text, PPU_ERR_##error },
#include "ppu/fault.def"
#undef PPU_FAULT
};

static void every_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const struct ppu_error_record record = {
            .code = (uint16_t)faults[i].code,
            .access = PPU_ACCESS_WRITE,
            .channel = 17,
            .context = 3,
            .address = 0x123456789000,
            .correlation = 4242,
        };
        struct ppu_error error;
        assert_string_equal(ppu_fault_name(faults[i].code), faults[i].name);
        assert_int_equal(ppu_fault_error(faults[i].code), faults[i].error);
        error_from_record(&error, &record);
        assert_int_equal(error.code, faults[i].error);
        assert_non_null(strstr(error.text, faults[i].text));
        assert_non_null(strstr(error.text, "channel 17, context 3, correlation 4242"));
    }
}

static void kernel_fault(void **state)
{
    const struct ppu_error_record record = {
        .code = PPU_FAULT_UNMAPPED,
        .access = PPU_ACCESS_WRITE,
        .channel = 2,
        .address = 0xabc000,
        .pc = 0x100000048,
        .lanes = 0x21,
        .warp = 5,
        .cta = { 7, 8, 9 },
    };
    struct ppu_error error;

    (void)state;
    error_from_record(&error, &record);
    assert_string_equal(
        error.text, "address is not mapped in this context (UNMAPPED): write at virtual address 0xabc000; channel 2, "
                    "context 0, correlation 0; CTA (7, 8, 9), warp 5, lanes 0x00000021, pc 0x100000048");
}

static void unknown_codes(void **state)
{
    const struct ppu_error_record record = { .code = 0xfff, .access = 99, .channel = PPU_NO_CHANNEL };
    struct ppu_error error;

    (void)state;
    error_from_record(&error, &record);
    assert_int_equal(error.code, PPU_ERR_INTERNAL);
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
        { "every fault has an error, a name and a sentence [A9]", every_fault, NULL, NULL, NULL },
        { "a kernel's fault says what, where and who [A9]", kernel_fault, NULL, NULL, NULL },
        { "unknown codes are no trap [A9]", unknown_codes, NULL, NULL, NULL },
        { "long sentences are cut off [A9]", long_sentences, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
