/* SPDX-License-Identifier: MIT */
/* Tests the native transport itself: machines that do not start, several PPUs, a QEMU that dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/channel.h"
#include "runtime/deadline.h"
#include "runtime/device.h"
#include "runtime/native/machine.h"

#define WAIT_NS (30 * NS_PER_S)

static void expect_ok(enum ppu_err err, const struct ppu_error *error)
{
    if (err != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(err), error->text);
    }
}

static struct ppu_device *open_ppu(struct ppu_machine *machine, uint32_t index)
{
    struct ppu_transport *transport = NULL;
    struct ppu_device *device = NULL;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, index, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &device, &error), &error);
    return device;
}

static void no_launcher(void **state)
{
    const struct ppu_machine_options options = { .launcher = "/nonexistent/ppu-run" };
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    assert_int_equal(ppu_machine_start(&options, &machine, &error), PPU_ERR_TRANSPORT);
    assert_null(machine);
    assert_string_equal(error.text,
                        "start a machine: run /nonexistent/ppu-run: No such file or directory; PPU_RUN names "
                        "another");
}

/* What QEMU has to say about it is passed on. */
static void bad_property(void **state)
{
    const char *const ppu[] = { "sms=0" };
    const struct ppu_machine_options options = { .ppu = ppu };
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    assert_int_equal(ppu_machine_start(&options, &machine, &error), PPU_ERR_TRANSPORT);
    assert_non_null(strstr(error.text, "sms must be"));
}

static void bad_options(void **state)
{
    const struct ppu_machine_options wrong[] = { { .ppus = MACHINE_MAX_PPUS + 1 }, { .ram_bytes = 12345 } };
    struct ppu_machine *machine = NULL;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        assert_int_equal(ppu_machine_start(&wrong[i], &machine, NULL), PPU_ERR_BAD_ARG);
        assert_null(machine);
    }
}

static void run_counter(struct ppu_device *device, uint32_t ctas)
{
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_program *program = NULL;
    const struct ppu_kernel *kernel = NULL;
    struct ppu_memory *memory = NULL;
    struct ppu_error error;

    assert_int_equal(ppu_context_create(device, &context), PPU_OK);
    assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_OK);
    assert_int_equal(ppu_stream_create(channel, &stream), PPU_OK);
    expect_ok(ppu_program_load_file(context, "build/kernels/counter.ppu", &program, &error), &error);
    assert_int_equal(ppu_kernel_find(program, "counter", &kernel), PPU_OK);
    assert_int_equal(ppu_memory_create(context, PPU_MEMORY_VRAM, 65536, &memory), PPU_OK);
    const uint64_t va = ppu_memory_va(memory, context).va;
    const uint64_t params[] = { va, va + 64 };
    const struct ppu_launch launch = {
        .grid = { ctas }, .cta = { 32 }, .params = params, .param_bytes = sizeof(params)
    };
    assert_int_equal(ppu_stream_launch(stream, kernel, &launch, NULL), PPU_OK);
    assert_int_equal(ppu_stream_wait(stream, WAIT_NS), PPU_OK);
    assert_int_equal(*(uint32_t *)ppu_memory_host(memory), 32 * ctas);
    assert_int_equal(ppu_channel_destroy(channel), PPU_OK);
    assert_int_equal(ppu_stream_destroy(stream), PPU_OK);
    assert_int_equal(ppu_program_unload(program), PPU_OK);
    assert_int_equal(ppu_memory_free(memory), PPU_OK);
    assert_int_equal(ppu_context_destroy(context), PPU_OK);
}

static void two_ppus(void **state)
{
    const char *const ppu[] = { "sms=2,gpcs=1,slots=4", "sms=6,gpcs=3,slots=9" };
    const struct ppu_machine_options options = { .ppus = 2, .ppu = ppu, .vram_bytes = 64ull * PPU_MIB };
    struct ppu_transport *transport = NULL;
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    expect_ok(ppu_machine_start(&options, &machine, &error), &error);
    struct ppu_device *first = open_ppu(machine, 0), *second = open_ppu(machine, 1);
    assert_int_equal(ppu_machine_transport(machine, 1, &transport, &error), PPU_ERR_BUSY);
    assert_int_equal(ppu_machine_transport(machine, 2, &transport, &error), PPU_ERR_NO_DEVICE);
    assert_int_equal(ppu_device_info(first)->sms, 2);
    assert_int_equal(ppu_device_info(second)->sms, 6);
    assert_int_equal(ppu_device_info(first)->slots, 4);
    assert_int_equal(ppu_device_info(second)->slots, 9);
    assert_int_not_equal(ppu_device_info(first)->instance, ppu_device_info(second)->instance);
    for (uint32_t i = 1; i < 5; i++) {
        run_counter(first, i);
        run_counter(second, 2 * i);
    }
    /* One is closed and opened again while the other goes on. */
    ppu_device_close(first);
    run_counter(second, 3);
    first = open_ppu(machine, 0);
    run_counter(first, 3);
    ppu_device_close(first);
    ppu_device_close(second);
    ppu_machine_stop(machine);
}

/* The environment says how much VRAM there is, where the program does not. */
static void vram_is_what_is_asked_for(void **state)
{
    static const char *const wrong[] = {
        "3G", "512", "8M", "2048G", "-1G", "1g", "99999999999999999999M", " 1G", "1GB"
    };
    const struct ppu_machine_options said = { .vram_bytes = 256ull * PPU_MIB }, unsaid = { .ppus = 1 };
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        setenv("PPU_VRAM", wrong[i], 1);
        assert_int_equal(ppu_machine_start(&unsaid, &machine, &error), PPU_ERR_BAD_ARG);
        assert_non_null(strstr(error.text, wrong[i]));
        assert_null(machine);
    }
    setenv("PPU_VRAM", "1G", 1);
    expect_ok(ppu_machine_start(&unsaid, &machine, &error), &error);
    struct ppu_device *device = open_ppu(machine, 0);
    assert_in_range(ppu_device_info(device)->vram_bytes, 900ull * PPU_MIB, 1024ull * PPU_MIB);
    run_counter(device, 2);
    ppu_device_close(device);
    ppu_machine_stop(machine);
    expect_ok(ppu_machine_start(&said, &machine, &error), &error);
    device = open_ppu(machine, 0);
    assert_true(ppu_device_info(device)->vram_bytes <= said.vram_bytes);
    ppu_device_close(device);
    ppu_machine_stop(machine);
    unsetenv("PPU_VRAM");
}

/* What was written is zeros again, wherever it was, and the file that is VRAM has no pages for it any more. */
static void reset_clears_what_was_written(void **state)
{
    const uint64_t bytes = 64ull << 30, part = 8ull * PPU_MIB;
    const uint64_t written[] = { 0, part - 8, part, 5 * part + 4096, bytes / 2 - 8, bytes - part - 8, bytes - 8 };
    const struct ppu_machine_options options = { .vram_bytes = bytes };
    struct ppu_transport *transport = NULL;
    struct ppu_machine *machine = NULL;
    struct ppu_error error;
    struct stat file;

    (void)state;
    expect_ok(ppu_machine_start(&options, &machine, &error), &error);
    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    for (uint32_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < PPU_ARRAY_SIZE(written); i++) {
            memset(transport->vram + written[i], 0xff, 8);
        }
        transport->ops->reg_write(transport, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
        const uint64_t deadline_ns = deadline_after(WAIT_NS);
        while (transport->ops->reg_read(transport, PPU_REG_MCU_STATE) != PPU_MCU_HELD) {
            assert_true(deadline_left(deadline_ns) != 0);
        }
        assert_int_equal(fstat(machine->ppu[0].vram_fd, &file), 0);
        assert_int_equal(file.st_blocks, 0);
        for (size_t i = 0; i < PPU_ARRAY_SIZE(written); i++) {
            assert_int_equal(transport->vram[written[i]] | transport->vram[written[i] + 7], 0);
        }
    }
    ppu_machine_stop(machine);
}

static void *kill_soon(void *opaque)
{
    sleep_ns(100 * NS_PER_MS);
    kill(*(pid_t *)opaque, SIGKILL);
    return NULL;
}

/* Everybody who waits is told; all objects can still be destroyed. */
static void qemu_dies(void **state)
{
    struct ppu_machine *machine = NULL;
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_block *block = NULL;
    struct ppu_event event;
    struct ppu_error error;
    pthread_t killer;

    (void)state;
    expect_ok(ppu_machine_start(NULL, &machine, &error), &error);
    struct ppu_device *device = open_ppu(machine, 0);
    assert_int_equal(ppu_context_create(device, &context), PPU_OK);
    assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_OK);
    assert_int_equal(ppu_block_begin(channel, &block), PPU_OK);
    const uint64_t never = channel->va.va + 16 * 2; /* a word of the channel's own memory that stays 0 */
    ppu_block_acquire(block, (ppu_va_t){ never }, 1, PPU_SEM_EQUAL);
    assert_int_equal(ppu_block_submit(block, &event), PPU_OK);
    assert_int_equal(pthread_create(&killer, NULL, kill_soon, &machine->process.pid), 0);
    uint64_t before_ns = clock_ns();
    assert_int_equal(ppu_event_wait(&event, WAIT_NS), PPU_ERR_DEVICE_LOST);
    assert_true(clock_ns() - before_ns < 5 * NS_PER_S);
    pthread_join(killer, NULL);
    ppu_device_error(device, &error);
    assert_int_equal(error.code, PPU_ERR_DEVICE_LOST);
    ppu_channel_destroy(channel);
    ppu_context_destroy(context);
    ppu_device_close(device);
    ppu_machine_stop(machine);
}

/* A block of nothing but its event, from submission to the end of the wait. */
static void run_nothing(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;

    assert_int_equal(ppu_block_begin(channel, &block), PPU_OK);
    assert_int_equal(ppu_block_submit(block, &event), PPU_OK);
    assert_int_equal(ppu_event_wait(&event, WAIT_NS), PPU_OK);
}

/* True when the device looked at some time until then. */
static bool looked_in(const struct ppu_mailbox *mailbox, uint64_t ns)
{
    uint64_t deadline_ns = deadline_after(ns);
    bool looked = false;

    while (deadline_left(deadline_ns) != 0) {
        looked |= ppu_mailbox_is_looked_at(&mailbox->device_looks);
    }
    return looked;
}

static uint64_t processor_ns(const struct ppu_machine *machine)
{
    struct timespec time;
    clockid_t clock;

    assert_int_equal(clock_getcpuclockid(machine->process.pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

/*
 * Between blocks that follow one another the device looks for the next, in all the time between two that are far apart
 * it sleeps; so it does when nothing comes.
 */
static void looks_while_waits_are_short(void **state)
{
    struct ppu_machine *machine = NULL;
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_error error;

    (void)state;
    expect_ok(ppu_machine_start(NULL, &machine, &error), &error);
    struct ppu_device *device = open_ppu(machine, 0);
    const struct mailbox *mailbox = &machine->ppu[0].mailbox;
    assert_int_equal(ppu_context_create(device, &context), PPU_OK);
    assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_OK);
    uint64_t deadline_ns = deadline_after(WAIT_NS);
    while (!ppu_mailbox_is_looked_at(&mailbox->shared->device_looks) || mailbox->poll.window_ns == 0) {
        assert_true(deadline_left(deadline_ns) != 0);
        run_nothing(channel);
    }
    sleep_ns(50 * NS_PER_MS); /* it finds nothing this time */
    for (uint32_t i = 0; i < 5; i++) {
        run_nothing(channel);
        assert_false(looked_in(mailbox->shared, 20 * NS_PER_MS));
    }
    uint64_t before_ns = processor_ns(machine);
    sleep_ns(300 * NS_PER_MS);
    assert_true(processor_ns(machine) - before_ns < 3 * NS_PER_MS);
    ppu_channel_destroy(channel);
    ppu_context_destroy(context);
    ppu_device_close(device);
    ppu_machine_stop(machine);
}

/* QEMU ends when its machine is stopped. */
static void stop_ends_qemu(void **state)
{
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    expect_ok(ppu_machine_start(NULL, &machine, &error), &error);
    pid_t pid = machine->process.pid;
    assert_int_equal(kill(pid, 0), 0);
    ppu_machine_stop(machine);
    assert_int_equal(kill(pid, 0), -1);
}

/* True when a child of this process can read there. */
static bool child_reads(const volatile uint8_t *at)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*at & 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* VRAM and the mailbox are the device's: a child would keep them after the device was closed. */
static void children_have_no_device(void **state)
{
    struct ppu_machine *machine = NULL;
    struct ppu_error error;

    (void)state;
    expect_ok(ppu_machine_start(NULL, &machine, &error), &error);
    assert_true(child_reads(machine->ram));
    assert_false(child_reads(machine->ppu[0].transport.vram));
    assert_false(child_reads((const volatile uint8_t *)machine->ppu[0].mailbox.shared));
    ppu_machine_stop(machine);
}

/* The machine is started by ppu-run, which confines it: tests/qemu/test_confined.c says how. */
static void qemu_is_confined(void **state)
{
    struct ppu_machine *machine = NULL;
    struct ppu_error error;
    char path[64], line[256];
    unsigned filters = 0, privileges = 0;

    (void)state;
    expect_ok(ppu_machine_start(NULL, &machine, &error), &error);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)machine->process.pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        filters += strcmp(line, "Seccomp:\t2\n") == 0;
        privileges += strcmp(line, "NoNewPrivs:\t1\n") == 0;
    }
    fclose(file);
    assert_int_equal(filters, 1);
    assert_int_equal(privileges, 1);
    ppu_machine_stop(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a launcher that is not there is named", no_launcher, NULL, NULL, NULL },
        { "a property that QEMU refuses is told", bad_property, NULL, NULL, NULL },
        { "machines that cannot be are refused", bad_options, NULL, NULL, NULL },
        { "two PPUs of different size work in one machine [A8]", two_ppus, NULL, NULL, NULL },
        { "a machine has the VRAM that PPU_VRAM says [A1]", vram_is_what_is_asked_for, NULL, NULL, NULL },
        { "a reset makes zeros of what was written in 64 GiB of VRAM", reset_clears_what_was_written, NULL, NULL,
          NULL },
        { "the device looks for work while waits are short, else it sleeps [A3]", looks_while_waits_are_short, NULL,
          NULL, NULL },
        { "a QEMU that dies is a lost device", qemu_dies, NULL, NULL, NULL },
        { "QEMU ends with its machine", stop_ends_qemu, NULL, NULL, NULL },
        { "QEMU is confined", qemu_is_confined, NULL, NULL, NULL },
        { "a child of the process has not the device's memory", children_have_no_device, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
