/* SPDX-License-Identifier: MIT */
/* Tests what the environment says of machines that libppu starts, and what it writes of what they have counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "runtime/deadline.h"
#include "runtime/native/machine.h"

#define WAIT_NS (30 * NS_PER_S)
#define CTAS 40u
#define LINE_BYTES 1024u

static char counts[64];

static void ok(enum ppu_err err, const struct ppu_error *error)
{
    if (err != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(err), error->text);
    }
}

static int clear(void **state)
{
    (void)state;
    unsetenv("PPU_MACHINE");
    unsetenv("PPU_RUN_OPTIONS");
    unsetenv("PPU_COUNTS");
    unlink(counts);
    return 0;
}

static void shape(void **state)
{
    struct ppu_device *device = NULL;
    struct ppu_error error;

    (void)state;
    setenv("PPU_MACHINE", "sms=6,gpcs=3,vram-size=64M", 1);
    ok(ppu_open(&device, &error), &error);
    const struct ppu_device_info *info = ppu_device_info(device);
    assert_int_equal(info->sms, 6);
    assert_int_equal(info->gpcs, 3);
    assert_int_equal(info->vram_bytes, 64 * PPU_MIB);
    ppu_device_close(device);
}

/* What a program says itself holds. */
static void program_says(void **state)
{
    const char *const ppu[] = { "sms=2" };
    const struct ppu_machine_options options = { .ppu = ppu, .vram_bytes = 32ull * PPU_MIB };
    struct ppu_machine *machine = NULL;
    struct ppu_transport *transport = NULL;
    struct ppu_device *device = NULL;
    struct ppu_error error;

    (void)state;
    setenv("PPU_MACHINE", "sms=6,vram-size=64M", 1);
    ok(ppu_machine_start(&options, &machine, &error), &error);
    ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    ok(ppu_device_open(transport, NULL, &device, &error), &error);
    assert_int_equal(ppu_device_info(device)->sms, 2);
    assert_int_equal(ppu_device_info(device)->vram_bytes, 32 * PPU_MIB);
    ppu_device_close(device);
    ppu_machine_stop(machine);
}

static void refused(const char *variable, const char *value, const char *why)
{
    struct ppu_device *device = NULL;
    struct ppu_error error = { .code = PPU_OK };

    setenv(variable, value, 1);
    assert_int_not_equal(ppu_open(&device, &error), PPU_OK);
    assert_null(device);
    if (!strstr(error.text, why)) {
        fail_msg("%s=%s: %s", variable, value, error.text);
    }
    unsetenv(variable);
}

static void wrong(void **state)
{
    static const char *const sizes[] = { "vram-size=",   "vram-size=G",       "vram-size=12Q",
                                         "vram-size=-1", "sms=2,vram-size=0", "vram-size=99999999999999999999T" };
    char many[3 * 33 + 1];

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        refused("PPU_MACHINE", sizes[i], "expected a number of bytes");
    }
    refused("PPU_MACHINE", "sms=0", "sms must be");
    refused("PPU_MACHINE", "sms=four", "sms");
    refused("PPU_MACHINE", "spare-wheels=1", "spare-wheels");
    refused("PPU_RUN_OPTIONS", "--fast", "fast");
    for (size_t i = 0; i + 1 < sizeof(many); i++) {
        many[i] = "-x "[i % 3];
    }
    many[sizeof(many) - 1] = '\0';
    refused("PPU_RUN_OPTIONS", many, "more than 32 words");
}

static void run_kernel(void)
{
    struct ppu_device *device = NULL;
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_program *program = NULL;
    const struct ppu_kernel *kernel = NULL;
    struct ppu_memory *memory = NULL;
    struct ppu_error error = { .code = PPU_OK };

    ok(ppu_open(&device, &error), &error);
    ok(ppu_context_create(device, &context), &error);
    ok(ppu_channel_create(context, NULL, &channel), &error);
    ok(ppu_stream_create(channel, &stream), &error);
    ok(ppu_program_load_file(context, "build/kernels/counter.ppu", &program, &error), &error);
    ok(ppu_kernel_find(program, "counter", &kernel), &error);
    ok(ppu_memory_create(context, PPU_MEMORY_VRAM, 65536, &memory), &error);
    const uint64_t va = ppu_memory_va(memory, context).va, params[] = { va, va + 64 };
    const struct ppu_launch launch = {
        .grid = { CTAS }, .cta = { 32 }, .params = params, .param_bytes = sizeof(params)
    };
    ok(ppu_stream_launch(stream, kernel, &launch, NULL), &error);
    ok(ppu_stream_wait(stream, WAIT_NS), &error);
    ok(ppu_channel_destroy(channel), &error);
    ok(ppu_stream_destroy(stream), &error);
    ok(ppu_program_unload(program), &error);
    ok(ppu_memory_free(memory), &error);
    ok(ppu_context_destroy(context), &error);
    ppu_device_close(device);
}

static uint64_t number_in(const char *line, const char *name)
{
    char key[32];

    snprintf(key, sizeof(key), "\"%s\": ", name);
    const char *at = strstr(line, key);
    if (!at) {
        fail_msg("no %s in %s", name, line);
    }
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void read_line(FILE *file, char line[LINE_BYTES])
{
    if (!fgets(line, LINE_BYTES, file)) {
        fail_msg("%s has no such line", counts);
    }
}

/* One line for each device; in deterministic machines kernels count the same each time. */
static void counted(void **state)
{
    char line[2][LINE_BYTES];

    (void)state;
    setenv("PPU_COUNTS", counts, 1);
    setenv("PPU_RUN_OPTIONS", "--deterministic", 1);
    run_kernel();
    run_kernel();
    FILE *file = fopen(counts, "r");
    assert_non_null(file);
    read_line(file, line[0]);
    read_line(file, line[1]);
    assert_null(fgets(line[0] + LINE_BYTES - 2, 2, file));
    fclose(file);
    /* How far the device's clock is, with what the firmware did meanwhile, is a matter of when this program looks. */
    static const char *const names[] = { "INSNS", "LANES", "TRANSACTIONS", "DIVERGENT", "BUSY_NS" };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        assert_int_equal(number_in(line[0], names[i]), number_in(line[1], names[i]));
    }
    assert_in_range(number_in(line[0], "MCU_NS"), 1000, 100000000);
    assert_in_range(number_in(line[0], "MCU_NS"), 1000, number_in(line[0], "TIME_NS"));
    assert_in_range(number_in(line[0], "INSNS"), CTAS, 100 * CTAS);
    assert_int_equal(number_in(line[0], "LANES"), 32 * number_in(line[0], "INSNS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shape, clear),
        cmocka_unit_test_setup(program_says, clear),
        cmocka_unit_test_setup(wrong, clear),
        cmocka_unit_test_setup(counted, clear),
    };

    snprintf(counts, sizeof(counts), "/tmp/ppu-counts-%d", (int)getpid());
    return cmocka_run_group_tests_name("environment", tests, NULL, clear);
}
