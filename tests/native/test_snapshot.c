/* SPDX-License-Identifier: MIT */
/*
 * Tests savevm and loadvm while the firmware runs a kernel. The kernel reads and writes the same words, so that a
 * thread lost or run twice gives other bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/sem.h"
#include "runtime/deadline.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/native/machine.h"

#define WAIT_NS (60 * NS_PER_S)
#define ELEMENTS (1u << 20)
#define CTA_THREADS 256u
/* An SM works for tens of milliseconds: far longer than a stop takes to come through. */
#define TURNS 256u

static const char *const sm_threads[] = { "sms=2,gpcs=1,sm-threads=0", "sms=2,gpcs=1,sm-threads=2" };

/* A machine with one PPU whose snapshots lie in a file. */
struct box {
    char folder[32], file[64], monitor_path[64];
    struct ppu_machine *machine;
    FILE *monitor;
};

/* The kernel under way (tests/kernels/accumulate.s). */
struct work {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    struct ppu_memory *x, *y;
    struct ppu_event event;
};

static void expect_ok(enum ppu_err err, const struct ppu_error *error)
{
    if (err != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(err), error->text);
    }
}

/* ---- the machine and its protocol ---- */

static void monitor_connect(struct box *box)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", box->monitor_path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    box->monitor = fdopen(fd, "r+");
    assert_non_null(box->monitor);
    setvbuf(box->monitor, NULL, _IONBF, 0);
}

/* The answer to one command; events are skipped. Fails the test on an error. */
static void monitor_do(struct box *box, const char *command)
{
    char line[4096];

    fprintf(box->monitor, "%s\n", command);
    do {
        assert_non_null(fgets(line, sizeof(line), box->monitor));
    } while (strncmp(line, "{\"return\"", 9) != 0 && strncmp(line, "{\"error\"", 8) != 0);
    if (strncmp(line, "{\"return\": {}}", 14) != 0 && strncmp(line, "{\"return\": \"\"}", 14) != 0) {
        fail_msg("%s: %s", command, line);
    }
}

static void monitor_line(struct box *box, const char *line)
{
    char command[256];

    snprintf(command, sizeof(command),
             "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"%s\"}}", line);
    monitor_do(box, command);
}

static void machine_begin(struct box *box, const char *ppu, bool load)
{
    const char *const properties[] = { ppu };
    const char *args[] = { "--qmp", box->monitor_path, "--snapshot", box->file, load ? "--loadvm" : NULL, "s", NULL };
    const struct ppu_machine_options options = {
        .ppu = properties, .vram_bytes = 64ull * PPU_MIB, .ram_bytes = 64ull * PPU_MIB, .launcher_args = args
    };
    struct ppu_error error;

    expect_ok(ppu_machine_start(&options, &box->machine, &error), &error);
    monitor_connect(box);
    monitor_do(box, "{\"execute\": \"qmp_capabilities\"}");
}

static void machine_end(struct box *box)
{
    fclose(box->monitor);
    ppu_machine_stop(box->machine);
}

static int box_make(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    if (!box) {
        return -1;
    }
    snprintf(box->folder, sizeof(box->folder), "/tmp/ppu-snapshot-XXXXXX");
    if (!mkdtemp(box->folder)) {
        free(box);
        return -1;
    }
    snprintf(box->file, sizeof(box->file), "%s/s.qcow2", box->folder);
    snprintf(box->monitor_path, sizeof(box->monitor_path), "%s/qmp", box->folder);
    *state = box;
    return 0;
}

static int box_remove(void **state)
{
    struct box *box = *state;

    unlink(box->file);
    unlink(box->monitor_path);
    rmdir(box->folder);
    free(box);
    return 0;
}

/* ---- the kernel ---- */

static uint32_t first_y(uint32_t i)
{
    return i * 2654435761u;
}

static uint32_t last_y(uint32_t i)
{
    return first_y(i) + TURNS * i;
}

/* How many CTAs have begun to write. */
static uint32_t begun(const uint32_t *y)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < ELEMENTS; i += CTA_THREADS) {
        count += y[i] != first_y(i);
    }
    return count;
}

/* How many words are as they must be in the end. */
static uint32_t ended(const uint32_t *y)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        count += y[i] == last_y(i);
    }
    return count;
}

static void assert_result(const uint32_t *y)
{
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        if (y[i] != last_y(i)) {
            fail_msg("element %u: %#x instead of %#x", i, y[i], last_y(i));
        }
    }
}

static void work_begin(struct work *work, struct ppu_machine *machine)
{
    struct ppu_transport *transport = NULL;
    const struct ppu_kernel *kernel = NULL;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &work->device, &error), &error);
    assert_int_equal(ppu_context_create(work->device, &work->context), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &work->channel), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &work->stream), PPU_OK);
    expect_ok(ppu_program_load_file(work->context, "build/kernels/accumulate.ppu", &work->program, &error), &error);
    assert_int_equal(ppu_kernel_find(work->program, "accumulate", &kernel), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, ELEMENTS * 4, &work->x), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, ELEMENTS * 4, &work->y), PPU_OK);
    uint32_t *x = ppu_memory_host(work->x), *y = ppu_memory_host(work->y);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        x[i] = i;
        y[i] = first_y(i);
    }
    const struct {
        uint64_t x, y;
        uint32_t turns;
    } params = { ppu_memory_va(work->x, work->context).va, ppu_memory_va(work->y, work->context).va, TURNS };
    const struct ppu_launch launch = {
        .grid = { ELEMENTS / CTA_THREADS }, .cta = { CTA_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    assert_int_equal(ppu_stream_launch(work->stream, kernel, &launch, &work->event), PPU_OK);
}

static void work_end(struct work *work)
{
    assert_int_equal(ppu_event_wait(&work->event, WAIT_NS), PPU_OK);
    assert_result(ppu_memory_host(work->y));
}

static void work_destroy(struct work *work)
{
    assert_int_equal(ppu_channel_destroy(work->channel), PPU_OK);
    assert_int_equal(ppu_stream_destroy(work->stream), PPU_OK);
    assert_int_equal(ppu_program_unload(work->program), PPU_OK);
    assert_int_equal(ppu_memory_free(work->x), PPU_OK);
    assert_int_equal(ppu_memory_free(work->y), PPU_OK);
    assert_int_equal(ppu_context_destroy(work->context), PPU_OK);
    ppu_device_close(work->device);
}

/* Stops the machine with the kernel under way, with warps in the middle of their turns, and takes a snapshot. */
static void save_in_the_middle(struct box *box, const struct work *work)
{
    const uint32_t *y = ppu_memory_host(work->y);
    const uint64_t deadline_ns = deadline_after(WAIT_NS);

    while (begun(y) < 100) {
        assert_true(deadline_left(deadline_ns) != 0);
    }
    monitor_do(box, "{\"execute\": \"stop\"}");
    assert_in_range(ended(y), 0, ELEMENTS - 1);
    monitor_line(box, "savevm s");
}

/* ---- the tests ---- */

static void same_process(void **state)
{
    struct box *box = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sm_threads); i++) {
        struct work work = { 0 };

        machine_begin(box, sm_threads[i], false);
        work_begin(&work, box->machine);
        save_in_the_middle(box, &work);
        uint32_t *saved = malloc(ELEMENTS * sizeof(*saved));
        assert_non_null(saved);
        memcpy(saved, ppu_memory_host(work.y), ELEMENTS * sizeof(*saved));
        monitor_do(box, "{\"execute\": \"cont\"}");
        work_end(&work);
        for (int round = 0; round < 3; round++) {
            monitor_do(box, "{\"execute\": \"stop\"}");
            monitor_line(box, "loadvm s");
            assert_memory_equal(ppu_memory_host(work.y), saved, ELEMENTS * sizeof(*saved));
            monitor_do(box, "{\"execute\": \"cont\"}");
            work_end(&work);
        }
        free(saved);
        work_destroy(&work);
        machine_end(box);
        unlink(box->file);
    }
}

/* Nobody opens the device in the new process: what the snapshot holds goes on by itself. */
static void new_process(void **state)
{
    struct box *box = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sm_threads); i++) {
        struct work work = { 0 };
        const uint64_t deadline_ns = deadline_after(WAIT_NS);

        machine_begin(box, sm_threads[i], false);
        work_begin(&work, box->machine);
        uint64_t y_offset = work.y->vram_offset;
        save_in_the_middle(box, &work);
        monitor_do(box, "{\"execute\": \"cont\"}");
        work_end(&work);
        work_destroy(&work);
        machine_end(box);

        machine_begin(box, sm_threads[i], true);
        const uint32_t *y = (const uint32_t *)(const void *)(box->machine->ppu[0].transport.vram + y_offset);
        while (ended(y) < ELEMENTS) {
            assert_true(deadline_left(deadline_ns) != 0);
        }
        machine_end(box);
        unlink(box->file);
    }
}

/* ---- a tree of tasks whose parents wait (tests/kernels/tree.s) ---- */

#define TREE_LEVELS 8u
#define TREE_GRIDS 511u /* two children each */
#define TREE_SCRATCH ((1024u + PPU_NEST_MAX_TASKS) * 128u)
enum { TREE_COUNTERS_AT = 256, TREE_CELL_AT = 320 }; /* grids begun, refused, ended; and those that were waited for */

struct tree {
    struct work work; /* x: TMD, counters; y: scratch */
    uint32_t group;   /* enum ppu_launch_group */
};

static uint32_t tree_word(const struct tree *tree, uint32_t offset)
{
    return __atomic_load_n((const uint32_t *)(const void *)((const char *)ppu_memory_host(tree->work.x) + offset),
                           __ATOMIC_ACQUIRE);
}

static void tree_open(struct tree *tree, struct ppu_machine *machine)
{
    const struct ppu_nest_options nest = { .state_bytes = 12 * PPU_KIB };
    struct ppu_transport *transport = NULL;
    struct work *work = &tree->work;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &work->device, &error), &error);
    assert_int_equal(ppu_context_create(work->device, &work->context), PPU_OK);
    assert_int_equal(ppu_context_nest(work->context, &nest), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &work->channel), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &work->stream), PPU_OK);
    expect_ok(ppu_program_load_file(work->context, "build/kernels/tree.ppu", &work->program, &error), &error);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, 4096, &work->x), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, TREE_SCRATCH, &work->y), PPU_OK);
}

static void tree_begin(struct tree *tree)
{
    const uint64_t va = ppu_memory_va(tree->work.x, tree->work.context).va;
    const struct {
        uint64_t tmd, counters, scratch;
        uint32_t level, fanout;
        uint64_t cell;
        uint32_t streams, zero;
    } params = { va,
                 va + TREE_COUNTERS_AT,
                 ppu_memory_va(tree->work.y, tree->work.context).va,
                 TREE_LEVELS,
                 2,
                 va + TREE_CELL_AT,
                 4,
                 0 };
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params), .group = tree->group
    };
    const struct ppu_kernel *kernel = NULL;

    memset(ppu_memory_host(tree->work.x), 0, 4096);
    assert_int_equal(ppu_kernel_find(tree->work.program, "tree", &kernel), PPU_OK);
    assert_int_equal(ppu_kernel_describe(kernel, &launch, ppu_memory_host(tree->work.x)), PPU_OK);
    assert_int_equal(ppu_stream_launch(tree->work.stream, kernel, &launch, &tree->work.event), PPU_OK);
}

static void tree_end(struct tree *tree)
{
    assert_int_equal(ppu_event_wait(&tree->work.event, WAIT_NS), PPU_OK);
    assert_int_equal(tree_word(tree, TREE_COUNTERS_AT), TREE_GRIDS);
    assert_int_equal(tree_word(tree, TREE_COUNTERS_AT + 4), 0);
    assert_int_equal(tree_word(tree, TREE_COUNTERS_AT + 8), TREE_GRIDS);
    assert_int_equal(tree_word(tree, TREE_CELL_AT), TREE_GRIDS);
}

/* At any place of the tree, which then ends; and goes back there, and ends the same, several times. */
static void goes_back_in_a_tree(struct box *box, uint32_t group)
{
    uint32_t random = 12345;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sm_threads); i++) {
        struct tree tree = { .group = group };

        machine_begin(box, sm_threads[i], false);
        tree_open(&tree, box->machine);
        for (int y_offset = 0; y_offset < 4; y_offset++) {
            uint32_t wanted = (random = random * 1664525 + 1013904223) >> 16 & 0xff;
            const uint64_t deadline_ns = deadline_after(WAIT_NS);

            tree_begin(&tree);
            while (tree_word(&tree, TREE_COUNTERS_AT) < wanted) {
                assert_true(deadline_left(deadline_ns) != 0);
            }
            monitor_do(box, "{\"execute\": \"stop\"}");
            uint32_t begun = tree_word(&tree, TREE_COUNTERS_AT), ended = tree_word(&tree, TREE_COUNTERS_AT + 8);
            monitor_line(box, "savevm s");
            monitor_do(box, "{\"execute\": \"cont\"}");
            tree_end(&tree);
            for (int round = 0; round < 2; round++) {
                monitor_do(box, "{\"execute\": \"stop\"}");
                monitor_line(box, "loadvm s");
                assert_int_equal(tree_word(&tree, TREE_COUNTERS_AT), begun);
                assert_int_equal(tree_word(&tree, TREE_COUNTERS_AT + 8), ended);
                monitor_do(box, "{\"execute\": \"cont\"}");
                tree_end(&tree);
            }
            print_message("# at %u grids begun, %u ended\n", begun, ended);
        }
        work_destroy(&tree.work);
        machine_end(box);
        unlink(box->file);
    }
}

static void in_a_tree(void **state)
{
    goes_back_in_a_tree(*state, PPU_LAUNCH_GROUP_KERNEL);
}

/* Saved CTAs wait for their own children, and their counters lie in the nest. */
static void in_a_tree_of_ctas(void **state)
{
    goes_back_in_a_tree(*state, PPU_LAUNCH_GROUP_CTA);
}

/* ---- a round of a work queue (tests/kernels/creator.s) ---- */

#define ROUND_THREADS 64u
#define ROUND_EACH 8u
#define ROUND_WORK (ROUND_THREADS * ROUND_EACH)
#define NUMBERS_AT 64u /* behind the counters: the work's numbers as it ran */
enum { ROUND_LAUNCHED, ROUND_FULL, ROUND_NEVER, ROUND_TO_COME, ROUND_END, ROUND_RAN };

struct round {
    struct work work; /* x: counters and numbers; y: TMD, scratch */
    struct ppu_workq *queue;
    const struct ppu_kernel *creator, *noted;
};

static uint32_t round_word(const struct round *round, uint32_t index)
{
    return __atomic_load_n((const uint32_t *)ppu_memory_host(round->work.x) + index, __ATOMIC_ACQUIRE);
}

static void round_open(struct round *round, struct ppu_machine *machine)
{
    struct ppu_transport *transport = NULL;
    struct work *work = &round->work;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &work->device, &error), &error);
    assert_int_equal(ppu_context_create(work->device, &work->context), PPU_OK);
    assert_int_equal(ppu_context_nest(work->context, &(struct ppu_nest_options){ .depth = 1 }), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &work->channel), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &work->stream), PPU_OK);
    assert_int_equal(
        ppu_workq_create(work->channel, &(struct ppu_workq_options){ .entries = 2 * ROUND_WORK + 5 }, &round->queue),
        PPU_OK);
    expect_ok(ppu_program_load_file(work->context, "build/kernels/creator.ppu", &work->program, &error), &error);
    assert_int_equal(ppu_kernel_find(work->program, "creator", &round->creator), PPU_OK);
    assert_int_equal(ppu_kernel_find(work->program, "noted", &round->noted), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, NUMBERS_AT + 4 * ROUND_WORK, &work->x), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, 1024 + 64 * ROUND_THREADS, &work->y), PPU_OK);
}

static void round_begin(struct round *round)
{
    struct work *work = &round->work;
    const uint64_t y = ppu_memory_va(work->y, work->context).va;
    const struct {
        uint64_t queue, tmd, counters, scratch;
        uint32_t each, may_wait, end, stream;
    } params = {
        ppu_workq_va(round->queue).va, y, ppu_memory_va(work->x, work->context).va, y + 1024, ROUND_EACH, 0, 1, 0
    };
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { ROUND_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    const struct ppu_launch one = { .grid = { 1 }, .cta = { 32 } };
    struct ppu_block *block = NULL;

    memset(ppu_memory_host(work->x), 0, NUMBERS_AT + 4 * ROUND_WORK);
    ((uint32_t *)ppu_memory_host(work->x))[ROUND_TO_COME] = ROUND_THREADS;
    assert_int_equal(ppu_kernel_describe(round->noted, &one, ppu_memory_host(work->y)), PPU_OK);
    assert_int_equal(ppu_block_begin(work->channel, &block), PPU_OK);
    ppu_block_launch(block, work->stream, round->creator, &launch);
    ppu_block_round(block, round->queue);
    assert_int_equal(ppu_block_submit(block, &work->event), PPU_OK);
}

/* Each piece of work ran once, those of a thread in their order. */
static void round_end(struct round *round)
{
    const uint32_t *numbers = (const uint32_t *)ppu_memory_host(round->work.x) + NUMBERS_AT / 4;
    uint32_t next[ROUND_THREADS] = { 0 };

    assert_int_equal(ppu_event_wait(&round->work.event, WAIT_NS), PPU_OK);
    assert_int_equal(round_word(round, ROUND_LAUNCHED), ROUND_WORK);
    assert_int_equal(round_word(round, ROUND_RAN), ROUND_WORK);
    assert_int_equal(round_word(round, ROUND_END), 0);
    for (uint32_t i = 0; i < ROUND_WORK; i++) {
        assert_true(numbers[i] < ROUND_WORK);
        assert_int_equal(numbers[i] % ROUND_EACH, next[numbers[i] / ROUND_EACH]++);
    }
}

static void in_a_round(void **state)
{
    struct box *box = *state;
    uint32_t random = 777;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sm_threads); i++) {
        struct round round = { 0 };

        machine_begin(box, sm_threads[i], false);
        round_open(&round, box->machine);
        for (int y_offset = 0; y_offset < 4; y_offset++) {
            uint32_t wanted = ((random = random * 1664525 + 1013904223) >> 16) % (2 * ROUND_WORK);
            const uint64_t deadline_ns = deadline_after(WAIT_NS);

            round_begin(&round);
            while (round_word(&round, ROUND_LAUNCHED) + round_word(&round, ROUND_RAN) < wanted) {
                assert_true(deadline_left(deadline_ns) != 0);
            }
            monitor_do(box, "{\"execute\": \"stop\"}");
            uint32_t launched = round_word(&round, ROUND_LAUNCHED), ran = round_word(&round, ROUND_RAN);
            monitor_line(box, "savevm s");
            monitor_do(box, "{\"execute\": \"cont\"}");
            round_end(&round);
            for (int again = 0; again < 2; again++) {
                monitor_do(box, "{\"execute\": \"stop\"}");
                monitor_line(box, "loadvm s");
                assert_int_equal(round_word(&round, ROUND_LAUNCHED), launched);
                assert_int_equal(round_word(&round, ROUND_RAN), ran);
                monitor_do(box, "{\"execute\": \"cont\"}");
                round_end(&round);
            }
            print_message("# at %u pieces of work made, %u run\n", launched, ran);
        }
        assert_int_equal(ppu_workq_destroy(round.queue), PPU_OK);
        work_destroy(&round.work);
        machine_end(box);
        unlink(box->file);
    }
}

/* ---- a queue task that threads and the host feed (tests/kernels/taskq.s) ---- */

#define FED_ENTRIES 64u /* fewer than what is appended: threads wait for places */
#define FED_CTAS 2u
#define FED_EACH 8u
#define FED_BY_THREADS (FED_CTAS * 32 * FED_EACH)
#define FED_BEFORE 32u /* by the host, before the snapshot */
#define FED_AFTER 16u
#define FED_TURNS 500u
enum { FED_TAKEN_AT = 0, FED_FAILED_AT = 12, FEEDER_FAILED_AT = 72, FEEDER_AT = 64, FED_SEEN_AT = 128 };

struct fed {
    struct work work; /* x: counters, how often each value was seen; y: scratch */
    struct ppu_channel *feed;
    struct ppu_stream *stream; /* of the threads that feed */
    struct ppu_taskq *queue;
    struct ppu_event threads;
    uint32_t appended;
};

static uint32_t fed_word(const struct fed *fed, uint32_t offset)
{
    return __atomic_load_n((const uint32_t *)(const void *)((const char *)ppu_memory_host(fed->work.x) + offset),
                           __ATOMIC_ACQUIRE);
}

static void fed_open(struct fed *fed, struct ppu_machine *machine)
{
    struct ppu_transport *transport = NULL;
    struct work *work = &fed->work;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &work->device, &error), &error);
    assert_int_equal(ppu_context_create(work->device, &work->context), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &work->channel), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &fed->feed), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &work->stream), PPU_OK);
    assert_int_equal(ppu_stream_create(fed->feed, &fed->stream), PPU_OK);
    expect_ok(ppu_program_load_file(work->context, "build/kernels/taskq.ppu", &work->program, &error), &error);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, 65536, &work->x), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, 65536, &work->y), PPU_OK);
}

static void fed_launch(const struct fed *fed, struct ppu_stream *stream, const char *kernel, struct ppu_launch *launch,
                       struct ppu_event *event)
{
    const struct ppu_kernel *found = NULL;

    assert_int_equal(ppu_kernel_find(fed->work.program, kernel, &found), PPU_OK);
    launch->cta[0] = 32;
    assert_int_equal(ppu_stream_launch(stream, found, launch, event), PPU_OK);
}

static void fed_push(struct fed *fed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t item[] = { fed->appended++, 0 };
        assert_int_equal(ppu_taskq_push(fed->queue, fed->feed, item, sizeof(item)), PPU_OK);
    }
}

static void fed_begin(struct fed *fed)
{
    struct work *work = &fed->work;
    const uint64_t x = ppu_memory_va(work->x, work->context).va, y = ppu_memory_va(work->y, work->context).va;

    memset(ppu_memory_host(work->x), 0, 65536);
    assert_int_equal(ppu_taskq_create(work->context,
                                      &(struct ppu_taskq_options){ .entries = FED_ENTRIES, .data_bytes = 8 },
                                      &fed->queue),
                     PPU_OK);
    const uint64_t queue = ppu_taskq_va(fed->queue).va;
    const uint64_t taker[] = { queue, x, x + FED_SEEN_AT, y, FED_TURNS };
    const uint64_t feeder[] = { queue, x + FEEDER_AT, y, FED_EACH | (uint64_t)FED_CTAS * 32 << 32, 0 };
    fed_launch(fed, work->stream, "taker",
               &(struct ppu_launch){ .taskq = fed->queue, .params = taker, .param_bytes = sizeof(taker) },
               &work->event);
    fed->appended = FED_BY_THREADS;
    fed_push(fed, FED_BEFORE);
    fed_launch(fed, fed->stream, "feeder",
               &(struct ppu_launch){ .grid = { FED_CTAS }, .params = feeder, .param_bytes = sizeof(feeder) },
               &fed->threads);
}

/* All that was appended is taken, and the task waits for more. */
static void fed_drain(const struct fed *fed)
{
    const uint64_t deadline_ns = deadline_after(WAIT_NS);

    assert_int_equal(ppu_event_wait(&fed->threads, WAIT_NS), PPU_OK);
    while (fed_word(fed, FED_TAKEN_AT) < fed->appended) {
        assert_true(deadline_left(deadline_ns) != 0);
    }
    assert_false(ppu_event_done(&fed->work.event));
}

static void fed_end(struct fed *fed)
{
    fed_push(fed, FED_AFTER);
    assert_int_equal(ppu_taskq_close(fed->queue, fed->feed), PPU_OK);
    assert_int_equal(ppu_event_wait(&fed->work.event, WAIT_NS), PPU_OK);
    assert_int_equal(fed_word(fed, FED_TAKEN_AT), fed->appended);
    assert_int_equal(fed_word(fed, FED_FAILED_AT), 0);
    assert_int_equal(fed_word(fed, FEEDER_FAILED_AT), 0);
    for (uint32_t i = 0; i < fed->appended; i++) {
        assert_int_equal(fed_word(fed, FED_SEEN_AT + 4 * i), 1);
    }
    assert_int_equal(ppu_taskq_destroy(fed->queue), PPU_OK);
}

/* At any place between the first entry and the last that was appended before. */
static void in_a_queue_task(void **state)
{
    struct box *box = *state;
    uint32_t random = 4242;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sm_threads); i++) {
        struct fed fed = { 0 };

        machine_begin(box, sm_threads[i], false);
        fed_open(&fed, box->machine);
        for (int y_offset = 0; y_offset < 4; y_offset++) {
            uint32_t wanted = ((random = random * 1664525 + 1013904223) >> 16) % FED_BY_THREADS;
            const uint64_t deadline_ns = deadline_after(WAIT_NS);

            fed_begin(&fed);
            while (fed_word(&fed, FED_TAKEN_AT) < wanted) {
                assert_true(deadline_left(deadline_ns) != 0);
            }
            monitor_do(box, "{\"execute\": \"stop\"}");
            uint32_t taken = fed_word(&fed, FED_TAKEN_AT);
            monitor_line(box, "savevm s");
            monitor_do(box, "{\"execute\": \"cont\"}");
            fed_drain(&fed);
            for (int again = 0; again < 2; again++) {
                monitor_do(box, "{\"execute\": \"stop\"}");
                monitor_line(box, "loadvm s");
                assert_int_equal(fed_word(&fed, FED_TAKEN_AT), taken);
                monitor_do(box, "{\"execute\": \"cont\"}");
                fed_drain(&fed);
            }
            fed_end(&fed);
            print_message("# at %u entries taken\n", taken);
        }
        assert_int_equal(ppu_channel_destroy(fed.feed), PPU_OK);
        assert_int_equal(ppu_stream_destroy(fed.stream), PPU_OK);
        work_destroy(&fed.work);
        machine_end(box);
        unlink(box->file);
    }
}

/* ---- two streams of lists of commands, which wait for each other ---- */

#define LIST_STEPS 60u
#define LIST_BYTES (64u * PPU_KIB)              /* of a block, and of the semaphores */
enum { LIST_X_AT = 1024, LIST_SUMS_AT = 4096 }; /* what a grid of each step adds, and to what */

struct lists {
    struct work work; /* x: the gate, the turns' semaphore, sums; y: a block for each step, and one more */
    struct ppu_stream *marks;
};

static uint32_t *lists_words(const struct lists *lists, uint32_t offset)
{
    return (uint32_t *)(void *)((char *)ppu_memory_host(lists->work.x) + offset);
}

static struct ppu_sem *lists_sem(const struct lists *lists, uint32_t number)
{
    return (struct ppu_sem *)ppu_memory_host(lists->work.x) + number;
}

static ppu_va_t lists_sem_va(const struct lists *lists, uint32_t number)
{
    return (ppu_va_t){ ppu_memory_va(lists->work.x, lists->work.context).va + number * sizeof(struct ppu_sem) };
}

static ppu_va_t lists_block_va(const struct lists *lists, uint32_t number)
{
    return (ppu_va_t){ ppu_memory_va(lists->work.y, lists->work.context).va + (uint64_t)number * LIST_BYTES };
}

static uint32_t lists_turn(const struct lists *lists)
{
    return __atomic_load_n(&lists_sem(lists, 1)->payload, __ATOMIC_ACQUIRE);
}

static void lists_open(struct lists *lists, struct ppu_machine *machine)
{
    struct ppu_transport *transport = NULL;
    struct work *work = &lists->work;
    struct ppu_error error;

    expect_ok(ppu_machine_transport(machine, 0, &transport, &error), &error);
    expect_ok(ppu_device_open(transport, NULL, &work->device, &error), &error);
    assert_int_equal(ppu_context_create(work->device, &work->context), PPU_OK);
    assert_int_equal(ppu_channel_create(work->context, NULL, &work->channel), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &work->stream), PPU_OK);
    assert_int_equal(ppu_stream_create(work->channel, &lists->marks), PPU_OK);
    expect_ok(ppu_program_load_file(work->context, "build/kernels/accumulate.ppu", &work->program, &error), &error);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, LIST_BYTES, &work->x), PPU_OK);
    assert_int_equal(ppu_memory_create(work->context, PPU_MEMORY_VRAM, (LIST_STEPS + 1) * LIST_BYTES, &work->y),
                     PPU_OK);
}

static void lists_add_grid(const struct lists *lists, struct ppu_block *block)
{
    const uint64_t va = ppu_memory_va(lists->work.x, lists->work.context).va;
    const struct {
        uint64_t x, y;
        uint32_t turns;
    } params = { va + LIST_X_AT, va + LIST_SUMS_AT, 1 };
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { CTA_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    const struct ppu_kernel *kernel = NULL;

    assert_int_equal(ppu_kernel_find(lists->work.program, "accumulate", &kernel), PPU_OK);
    ppu_block_launch(block, lists->work.stream, kernel, &launch);
}

/* One stream copies each block to the next, with a grid between two halves; the other then writes a word there. The
 * list of step `gate` has a copy, and goes on when the gate is open. */
static void lists_begin(struct lists *lists, uint32_t gate)
{
    struct ppu_channel *channel = lists->work.channel;
    struct ppu_block *block = NULL;

    memset(ppu_memory_host(lists->work.x), 0, LIST_BYTES);
    memset(ppu_memory_host(lists->work.y), 0, (LIST_STEPS + 1) * (size_t)LIST_BYTES);
    for (uint32_t i = 0; i < CTA_THREADS; i++) {
        lists_words(lists, LIST_X_AT)[i] = i + 1;
    }
    for (uint32_t i = 0; i < LIST_STEPS; i++) {
        const ppu_va_t from = lists_block_va(lists, i), to = lists_block_va(lists, i + 1);
        assert_int_equal(ppu_block_begin(channel, &block), PPU_OK);
        ppu_block_commands(block, lists->work.stream);
        ppu_block_acquire(block, lists_sem_va(lists, 1), 2 * i, PPU_SEM_EQUAL);
        ppu_block_copy(block, to, from, LIST_BYTES / 2);
        if (i == gate) {
            ppu_block_acquire(block, lists_sem_va(lists, 0), 1, PPU_SEM_EQUAL);
        }
        lists_add_grid(lists, block);
        ppu_block_copy(block, (ppu_va_t){ to.va + LIST_BYTES / 2 }, (ppu_va_t){ from.va + LIST_BYTES / 2 },
                       LIST_BYTES / 2);
        ppu_block_release(block, lists_sem_va(lists, 1), 2 * i + 1, false);
        ppu_block_commands_end(block);
        ppu_block_commands(block, lists->marks);
        ppu_block_acquire(block, lists_sem_va(lists, 1), 2 * i + 1, PPU_SEM_EQUAL);
        ppu_block_fill(block, (ppu_va_t){ to.va + (LIST_BYTES - 4) / LIST_STEPS / 4 * 4 * i }, i + 1, 4);
        ppu_block_release(block, lists_sem_va(lists, 1), 2 * i + 2, false);
        ppu_block_commands_end(block);
        assert_int_equal(ppu_block_submit(block, NULL), PPU_OK);
    }
    assert_int_equal(ppu_stream_event(lists->marks, &lists->work.event), PPU_OK);
}

static void lists_end(struct lists *lists)
{
    __atomic_store_n(&lists_sem(lists, 0)->payload, 1, __ATOMIC_RELEASE);
    assert_int_equal(ppu_event_wait(&lists->work.event, WAIT_NS), PPU_OK);
    for (uint32_t i = 0; i < CTA_THREADS; i++) {
        assert_int_equal(lists_words(lists, LIST_SUMS_AT)[i], LIST_STEPS * (i + 1));
    }
    for (uint32_t step = 0; step <= LIST_STEPS; step++) {
        const uint32_t *word = (const uint32_t *)ppu_memory_host(lists->work.y) + (size_t)step * LIST_BYTES / 4;
        uint32_t marks = 0;
        for (uint32_t i = 0; i < LIST_BYTES / 4; i++) {
            marks += word[i] != 0;
        }
        assert_int_equal(marks, step);
        for (uint32_t i = 0; i < step; i++) {
            assert_int_equal(word[(LIST_BYTES - 4) / LIST_STEPS / 4 * i], i + 1);
        }
    }
}

/* At a gate in the middle of a list, and between any two commands. */
static void in_a_list(void **state)
{
    struct box *box = *state;
    struct lists lists = { 0 };
    uint32_t random = 12345;

    machine_begin(box, sm_threads[0], false);
    lists_open(&lists, box->machine);
    for (int goal = 0; goal < 6; goal++) {
        uint32_t gate = (random = random * 1664525 + 1013904223) >> 16 & 31;
        uint32_t wanted = goal < 3 ? 2 * gate : (random >> 24) % (2 * gate + 1);
        const uint64_t deadline_ns = deadline_after(WAIT_NS);

        lists_begin(&lists, gate);
        while (lists_turn(&lists) < wanted) {
            assert_true(deadline_left(deadline_ns) != 0);
        }
        monitor_do(box, "{\"execute\": \"stop\"}");
        uint32_t turn = lists_turn(&lists);
        monitor_line(box, "savevm s");
        monitor_do(box, "{\"execute\": \"cont\"}");
        lists_end(&lists);
        for (int round = 0; round < 2; round++) {
            monitor_do(box, "{\"execute\": \"stop\"}");
            monitor_line(box, "loadvm s");
            assert_int_equal(lists_turn(&lists), turn);
            monitor_do(box, "{\"execute\": \"cont\"}");
            lists_end(&lists);
        }
        print_message("# at turn %u, with the gate at %u\n", turn, 2 * gate);
    }
    assert_int_equal(ppu_stream_destroy(lists.marks), PPU_OK);
    work_destroy(&lists.work);
    machine_end(box);
    unlink(box->file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a kernel goes back and ends with the same bits, again and again", same_process, box_make, box_remove, NULL },
        { "a kernel goes on in a new process and ends with the same bits", new_process, box_make, box_remove, NULL },
        { "a tree of tasks goes back to any place and ends with the same bits [B1 B5 B7]", in_a_tree, box_make,
          box_remove, NULL },
        { "a tree whose CTAs wait for their own children goes back to any place [B3 B7]", in_a_tree_of_ctas, box_make,
          box_remove, NULL },
        { "a round of a work queue goes back to any place and ends the same [C3 C4 C5]", in_a_round, box_make,
          box_remove, NULL },
        { "a queue task that threads and the host feed goes back to any place and takes each entry once [A6 A12]",
          in_a_queue_task, box_make, box_remove, NULL },
        { "lists of commands in two streams go back to any place and end the same [B15]", in_a_list, box_make,
          box_remove, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
