/* SPDX-License-Identifier: MIT */
/* Tests the largest machine that there can be: what it says of itself, its ends, and that it takes what is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/native/machine.h"
#include "runtime/transport.h"
#include "tests/firmware/random.h"

#define WAIT_NS (30 * NS_PER_S)
#define GIB (1024ull * PPU_MIB)
#define VRAM_BYTES (64 * GIB)
#define PIECES 15u /* of the largest size, in 64 GiB */
#define IDLE_MIB 96u
#define USED_MIB 256u
#define PROCESS_MIB 56u     /* of which QEMU itself has 25 to 30: its thread for RCU frees old maps of addresses late */
#define CHOSEN 128u         /* channels that work */
#define START_FAULTS 16000u /* of which QEMU itself has 6,000; 100 more an SM when all tables of each are read */

struct large {
    struct ppu_machine *machine;
    struct ppu_transport *transport; /* the device's */
    struct ppu_device *device;
    struct ppu_context *context;
};

static void ok(enum ppu_err err)
{
    if (err != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(err), ppu_error_text(err));
    }
}

static int setup(void **state)
{
    static struct large large;
    char shape[128];
    const char *const ppu[] = { shape };
    const struct ppu_machine_options options = { .ppu = ppu, .vram_bytes = VRAM_BYTES };
    struct ppu_error error = { .code = PPU_OK };

    snprintf(shape, sizeof(shape), "sms=%u,gpcs=%u,channels=%u,contexts=%u,slots=%u", PPU_MAX_SMS, PPU_MAX_GPCS,
             PPU_MAX_CHANNELS, PPU_MAX_CONTEXTS, PPU_MAX_SLOTS);
    if (ppu_machine_start(&options, &large.machine, &error) != PPU_OK ||
        ppu_machine_transport(large.machine, 0, &large.transport, &error) != PPU_OK ||
        ppu_device_open(large.transport, NULL, &large.device, &error) != PPU_OK) {
        fail_msg("%s", error.text);
    }
    ok(ppu_context_create(large.device, &large.context));
    *state = &large;
    return 0;
}

static int teardown(void **state)
{
    const struct large *large = *state;

    ok(ppu_context_destroy(large->context));
    ppu_device_close(large->device);
    ppu_machine_stop(large->machine);
    return 0;
}

/* Of VRAM, that the host has given pages. */
static uint64_t vram_mib(const struct large *large)
{
    struct stat file;

    assert_int_equal(fstat(large->machine->ppu[0].vram_fd, &file), 0);
    return (uint64_t)file.st_blocks * 512 / PPU_MIB;
}

static void says_its_size(void **state)
{
    const struct large *large = *state;
    const struct ppu_device_info *info = ppu_device_info(large->device);

    assert_int_equal(info->sms, PPU_MAX_SMS);
    assert_int_equal(info->channels, PPU_MAX_CHANNELS);
    assert_int_equal(info->contexts, PPU_MAX_CONTEXTS);
    assert_int_equal(info->slots, PPU_MAX_SLOTS);
    assert_int_equal(info->vram_bytes, VRAM_BYTES);
    assert_true(vram_mib(large) < IDLE_MIB);
}

/* What nobody but the machine's process has of memory that was written. */
static uint64_t process_mib(const struct large *large)
{
    char path[64], line[256];
    unsigned long kib = 0, sum = 0;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)large->machine->process.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "Private_Dirty: %lu kB", &kib) == 1) {
            sum += kib;
        }
    }
    fclose(file);
    assert_int_not_equal(sum, 0);
    return sum / 1024;
}

/* Of the machine's process since it was started: what it looked at or wrote. */
static uint64_t page_faults(const struct large *large)
{
    char path[64];
    unsigned long faults = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)large->machine->process.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &faults), 1);
    fclose(file);
    return faults;
}

/* SMs that did nothing yet take next to nothing of the host, and are not looked at. */
static void idle_takes_little(void **state)
{
    const uint64_t mib = process_mib(*state), faults = page_faults(*state);

    printf("# the process has had %llu page faults\n", (unsigned long long)faults);
    assert_true(faults < START_FAULTS);
    printf("# the process has %llu MiB\n", (unsigned long long)mib);
    assert_true(mib < PROCESS_MIB);
}

/* The device copies from the first byte of the first piece to the last of the last one, 60 GiB away. */
static void vram_to_its_end(void **state)
{
    const struct large *large = *state;
    struct ppu_memory *piece[PIECES] = { NULL };
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event done;

    for (uint32_t i = 0; i < PIECES; i++) {
        ok(ppu_memory_create(large->context, PPU_MEMORY_VRAM, PPU_MAX_OBJECT, &piece[i]));
        uint64_t *words = ppu_memory_host(piece[i]);
        const uint64_t last = PPU_MAX_OBJECT / sizeof(words[0]) - 1;
        assert_int_equal(words[0] | words[last], 0);
        words[0] = 0x1234567890abcdefull + i;
    }
    ok(ppu_channel_create(large->context, NULL, &channel));
    ok(ppu_stream_create(channel, &stream));
    const ppu_va_t from = ppu_memory_va(piece[0], large->context);
    const ppu_va_t to = { ppu_memory_va(piece[PIECES - 1], large->context).va + PPU_MAX_OBJECT - sizeof(uint64_t) };
    ok(ppu_stream_copy(stream, to, from, sizeof(uint64_t), &done));
    ok(ppu_event_wait(&done, WAIT_NS));
    const uint64_t *words = ppu_memory_host(piece[PIECES - 1]);
    assert_true(words[PPU_MAX_OBJECT / sizeof(words[0]) - 1] == 0x1234567890abcdefull);
    assert_true(vram_mib(large) < USED_MIB);
    ok(ppu_channel_destroy(channel));
    ok(ppu_stream_destroy(stream));
    for (uint32_t i = 0; i < PIECES; i++) {
        ok(ppu_memory_free(piece[i]));
    }
    /* What was written there is gone for the next owner. */
    ok(ppu_memory_create(large->context, PPU_MEMORY_VRAM, PPU_MAX_OBJECT, &piece[0]));
    assert_int_equal(*(uint64_t *)ppu_memory_host(piece[0]), 0);
    ok(ppu_memory_free(piece[0]));
}

/* A block of the channel changes a word, and its end is told. */
static void work(struct ppu_channel *channel, const struct large *large, struct ppu_memory *memory, uint32_t value)
{
    const ppu_va_t va = ppu_memory_va(memory, large->context);
    const uint32_t *word = ppu_memory_host(memory);
    struct ppu_block *block = NULL;
    struct ppu_event done;

    ok(ppu_block_begin(channel, &block));
    ppu_block_release(block, va, value, false);
    ok(ppu_block_submit(block, &done));
    ok(ppu_event_wait(&done, WAIT_NS));
    assert_int_equal(*word, value);
}

/*
 * All of them are open at once. Those at the ends of the device, and of the words in which it keeps doorbells, work,
 * and some that the seed chooses.
 */
static void all_channels(void **state)
{
    static struct ppu_channel *channel[PPU_MAX_CHANNELS];
    static const uint32_t ends[] = { 0, 31, 32, 1023, 1024, 2047, 2048, PPU_MAX_CHANNELS - 2, PPU_MAX_CHANNELS - 1 };
    const struct large *large = *state;
    const struct ppu_channel_options options = { .entries = 4 };
    struct ppu_channel *more = NULL;
    struct ppu_memory *memory = NULL;
    uint64_t seed = random_seed();

    ok(ppu_memory_create(large->context, PPU_MEMORY_VRAM, PPU_PAGE_64K, &memory));
    for (uint32_t i = 0; i < PPU_MAX_CHANNELS; i++) {
        ok(ppu_channel_create(large->context, &options, &channel[i]));
    }
    assert_int_equal(ppu_channel_create(large->context, &options, &more), PPU_ERR_NO_RESOURCE);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(ends); i++) {
        work(channel[ends[i]], large, memory, i + 1);
    }
    for (uint32_t i = 0; i < CHOSEN; i++) {
        work(channel[random_below(&seed, PPU_MAX_CHANNELS)], large, memory, i + 1000);
    }
    for (uint32_t i = 0; i < PPU_MAX_CHANNELS; i++) {
        ok(ppu_channel_destroy(channel[i]));
    }
    ok(ppu_memory_free(memory));
}

/* A grid that fills the machine has CTAs on each SM, the last one too, and each counts for itself. */
static void all_sms(void **state)
{
    const struct large *large = *state;
    const struct ppu_device_info *info = ppu_device_info(large->device);
    const uint32_t ctas = info->sms * info->sm_ctas;
    struct ppu_transport *transport = large->transport;
    struct ppu_program *program = NULL;
    const struct ppu_kernel *kernel = NULL;
    struct ppu_memory *memory = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event done;
    struct ppu_error error;

    ok(ppu_program_load_file(large->context, "build/kernels/counter.ppu", &program, &error));
    ok(ppu_kernel_find(program, "counter", &kernel));
    ok(ppu_memory_create(large->context, PPU_MEMORY_VRAM, PPU_PAGE_2M, &memory));
    const ppu_va_t va = ppu_memory_va(memory, large->context);
    const uint64_t params[] = { va.va, va.va + 8 };
    const struct ppu_launch launch = {
        .grid = { ctas }, .cta = { PPU_LANES }, .params = params, .param_bytes = sizeof(params), .coresident = true
    };
    ok(ppu_channel_create(large->context, NULL, &channel));
    ok(ppu_stream_create(channel, &stream));
    ok(ppu_stream_launch(stream, kernel, &launch, &done));
    ok(ppu_event_wait(&done, WAIT_NS));
    assert_int_equal(*(uint32_t *)ppu_memory_host(memory), ctas * PPU_LANES);
    for (uint32_t sm = 0; sm < info->sms; sm++) {
        assert_int_not_equal(transport->ops->reg_read(transport, PPU_REG_SM_INSNS_LO + 4 * sm), 0);
    }
    ok(ppu_channel_destroy(channel));
    ok(ppu_stream_destroy(stream));
    ok(ppu_program_unload(program));
    ok(ppu_memory_free(memory));
}

/* What is beyond the limits is refused in a sentence, before anything runs. */
static void beyond_the_limits(void **state)
{
    static const struct {
        const char *shape, *word;
    } cases[] = {
        { "sms=257,gpcs=1", "sms must be 1 to 256" },
        { "channels=4097", "channels must be 1 to 4096" },
        { "sms=256,gpcs=128", "gpcs must be 1 to 64" },
        { "sms=256,vram-size=16M", "vram-size must be at least 32 MiB" },
    };
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const struct ppu_machine_options options = { .ppu = &cases[i].shape };
        struct ppu_machine *machine = NULL;
        struct ppu_error error = { .code = PPU_OK };

        assert_int_not_equal(ppu_machine_start(&options, &machine, &error), PPU_OK);
        if (!strstr(error.text, cases[i].word)) {
            fail_msg("%s: %s", cases[i].shape, error.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_its_size), cmocka_unit_test(idle_takes_little), cmocka_unit_test(vram_to_its_end),
        cmocka_unit_test(all_channels),  cmocka_unit_test(all_sms),           cmocka_unit_test(beyond_the_limits),
    };

    return cmocka_run_group_tests_name("the largest machine", tests, setup, teardown);
}
