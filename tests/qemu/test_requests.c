/* SPDX-License-Identifier: MIT */
/* Tests the socket of qtest: anything said there gets an answer, and nothing of QEMU's own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/qemu/qemu.h"

#define SOMEWHERE (QEMU_RAM + 0x1000)
#define UNTOUCHED 0x5a5a5a5au

static const char *const one_ppu[] = { "--ppu", "vram-size=32M,sm-threads=1", NULL };

static void expect_answer(struct qemu *qemu, const char *answer, const char *to)
{
    const char *line = qemu_hear(qemu);

    if (strcmp(line, answer) != 0) {
        fail_msg("the answer to '%s' is '%s', expected '%s'", to, line, answer);
    }
}

static void ask(struct qemu *qemu, const char *request, const char *answer)
{
    qemu_say(qemu, request, strlen(request));
    qemu_say(qemu, "\n", 1);
    expect_answer(qemu, answer, request);
}

static void expect_service(struct qemu *qemu)
{
    qemu_write(qemu, SOMEWHERE, UNTOUCHED);
    assert_int_equal(qemu_read(qemu, SOMEWHERE), UNTOUCHED);
}

static void malformed(void **state)
{
    static const struct {
        const char *request, *answer;
    } rows[] = {
        { "", "FAIL unknown request" },
        { " ", "FAIL unknown request" },
        { "readl", "FAIL wrong number of words" },
        { "readl 0x40001000 0", "FAIL wrong number of words" },
        { "readl somewhere", "FAIL not a number" },
        { "readl ", "FAIL not a number" },
        { "readl 0x10000000000000000", "FAIL not a number" },
        { "readl 0x40001000z", "FAIL not a number" },
        { "writel 0x40001000", "FAIL wrong number of words" },
        { "writel 0x40001000 much", "FAIL not a number" },
        { "read 0x40001000", "FAIL wrong number of words" },
        { "read 0x40001000 0", "FAIL count of bytes out of range" },
        { "read 0x40001000 0xffffffffffffffff", "FAIL count of bytes out of range" },
        { "read 0x40001000 0x100001", "FAIL count of bytes out of range" },
        { "b64read 0x40001000 0x7fffffffffffffff", "FAIL count of bytes out of range" },
        { "write 0x40001000 4", "FAIL wrong number of words" },
        { "write 0x40001000 0x4000000000 0x00", "FAIL count of bytes out of range" },
        { "write 0x40001000 4 0", "ERR invalid argument size" },
        { "memset 0x40001000 0x4000000000 0", "FAIL count of bytes out of range" },
        { "memset 0x40001000 4", "FAIL wrong number of words" },
        { "memset 0x40001000 4 all", "FAIL not a number" },
        { "b64write 0x40001000 0x100001 AAAA", "FAIL count of bytes out of range" },
        { "endianness please", "FAIL wrong number of words" },
        { "irq_intercept_in", "FAIL unknown request" },
        { "irq_intercept_in /machine", "FAIL unknown request" },
        { "irq_intercept_out /machine/peripheral/ppu0", "FAIL unknown request" },
        { "set_irq_in /machine unnamed-gpio-in 0 0", "FAIL unknown request" },
        { "module_load x y", "FAIL unknown request" },
        { "outb", "FAIL unknown request" },
        { "outb 0x10000 0", "FAIL unknown request" },
        { "inl 0xfffff", "FAIL unknown request" },
        { "clock_step", "FAIL unknown request" },
        { "clock_set 1", "FAIL unknown request" },
        { "?", "FAIL unknown request" },
    };
    struct qemu *qemu = qemu_start(one_ppu);
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        ask(qemu, rows[i].request, rows[i].answer);
        expect_service(qemu);
    }
    qemu_stop(qemu);
}

static void no_text(void **state)
{
    static const char request[] = "readl 0x40001000\0 and more\n";
    struct qemu *qemu = qemu_start(one_ppu);
    (void)state;

    qemu_say(qemu, request, sizeof(request) - 1);
    expect_answer(qemu, "FAIL a byte that is no text", request);
    expect_service(qemu);
    qemu_stop(qemu);
}

/* A line may be as long as the largest request. Of a longer one QEMU keeps no more than that. */
static void long_lines(void **state)
{
    const size_t most = 1u << 20, longer = 64u << 20;
    char *line = malloc(longer);
    struct qemu *qemu = qemu_start(one_ppu);
    (void)state;

    assert_non_null(line);
    memset(line, '0', longer);
    const int head = snprintf(line, longer, "write 0x%llx 0x%zx ", (unsigned long long)SOMEWHERE, most);
    line[head] = '0';
    qemu_write(qemu, SOMEWHERE + most - 4, UNTOUCHED);
    qemu_write(qemu, SOMEWHERE + most, UNTOUCHED);
    qemu_say(qemu, line, (size_t)head + 2 + 2 * most);
    qemu_say(qemu, "\n", 1);
    expect_answer(qemu, "OK", "write");
    assert_int_equal(qemu_read(qemu, SOMEWHERE + most - 4), 0);
    assert_int_equal(qemu_read(qemu, SOMEWHERE + most), UNTOUCHED);
    qemu_say(qemu, line, longer);
    qemu_say(qemu, "\n", 1);
    expect_answer(qemu, "FAIL unknown request", "a long line");
    expect_service(qemu);
    free(line);
    qemu_stop(qemu);
}

/* Fewer bytes than the request says: the others are not taken from behind them in QEMU's memory. */
static void fewer_bytes(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    (void)state;

    qemu_write(qemu, SOMEWHERE, UNTOUCHED);
    qemu_write(qemu, SOMEWHERE + 4, UNTOUCHED);
    qemu_write(qemu, SOMEWHERE + 0xffc, UNTOUCHED);
    ask(qemu, "b64write 0x40001000 0x1000 AQIDBA==", "OK");
    assert_int_equal(qemu_read(qemu, SOMEWHERE), 0x04030201u);
    assert_int_equal(qemu_read(qemu, SOMEWHERE + 4), UNTOUCHED);
    assert_int_equal(qemu_read(qemu, SOMEWHERE + 0xffc), UNTOUCHED);
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "requests that are none are answered, and the next is carried out", malformed, NULL, NULL, NULL },
        { "a request with a zero byte is answered, and the next is carried out", no_text, NULL, NULL, NULL },
        { "of a line that is too long QEMU keeps no more than of the longest", long_lines, NULL, NULL, NULL },
        { "a write with fewer bytes than it says writes those", fewer_bytes, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
