/* SPDX-License-Identifier: MIT */
/* Tests records: what is written is read; cut off, foreign and changed ones do no harm and are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/trace/stacks.h"
#include "tools/trace/timeline.h"

#define LATE_NS 1000000000u /* the device's clock is so much behind */
#define SERVED_FIRST 8u     /* sequence of the first record for which the microcontroller was counted: TASK_START */

struct written {
    char *bytes;
    size_t size;
};

static uint32_t sequence;

static void add(FILE *file, enum record_source source, uint32_t type, uint32_t correlation, uint64_t time_ns,
                uint32_t id0, uint32_t id1, uint32_t id2)
{
    const struct record_events events = { source, 0 };
    const struct ppu_trace_record record = { PPU_TRACE_VERSION, sizeof(record),    (uint16_t)type, correlation,
                                             time_ns,           { id0, id1, id2 }, sequence++ };

    assert_true(record_write(file, RECORD_EVENTS, &events, sizeof(events), &record, sizeof(record)));
}

static void write_names(FILE *file)
{
    static const char *const names[] = { "clEnqueueNDRangeKernel", "square" };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        const struct record_name name = { 0, 8 + i };
        assert_true(record_write(file, RECORD_NAME, &name, sizeof(name), names[i], strlen(names[i])));
    }
}

/* A call that makes a command, which becomes a block with a task that has a child. */
static struct written write_run(void)
{
    struct written run = { NULL, 0 };
    FILE *file = open_memstream(&run.bytes, &run.size);
    const struct record_process process = { 0, 77 };
    const struct record_device device = {
        .sms = 2, .slots = 4, .sm_ctas = 8, .sm_warps = 16, .sm_vregs = 65536, .sm_shared = 65536
    };
    const struct record_clock clock = { 0, 0, LATE_NS - 400, LATE_NS + 400 };
    const struct record_kernel kernel = { 0, 1, 0x10000, 0, 64, 9, 0 };
    const struct record_task task = { 0, 5, 0x10000, 1, 3, 1, 256, 16, 64, 0, 1 };
    const struct record_lost lost = { RECORD_OF_DEVICE, 0, 3 };
    const struct record_served served = { 0, SERVED_FIRST };
    const uint32_t insns[] = { 50, 60, 70 };
    const struct record_stacks stacks = { .device = 0, .insns = 111, .missing = 4 };
    static const char folded[] = "main;serve 100\nmain 10\nmain;serve;main 1\nnonsense\n";
    const struct record_end end = { 1000, LATE_NS + 10000 };

    sequence = 0;
    assert_true(file && record_begin(file));
    assert_true(record_write(file, RECORD_PROCESS, &process, sizeof(process), "program", 7));
    assert_true(record_write(file, RECORD_DEVICE, &device, sizeof(device), NULL, 0));
    assert_true(record_write(file, RECORD_CLOCK, &clock, sizeof(clock), NULL, 0));
    write_names(file);
    assert_true(record_write(file, RECORD_KERNEL, &kernel, sizeof(kernel), NULL, 0));
    assert_true(record_write(file, RECORD_TASK, &task, sizeof(task), NULL, 0));
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_CALL, 0, LATE_NS + 100, 8, 42, 0);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_COMMAND, 0, LATE_NS + 110, 1, 8, 1);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_COMMAND_STATE, 0, LATE_NS + 120, 1, 2, 0);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_COMMAND_BLOCK, 7, LATE_NS + 130, 1, 0, 0);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_CALL_END, 0, LATE_NS + 140, 8, 42, 0);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_COMMAND_STATE, 0, LATE_NS + 2050, 1, 1, 0);
    add(file, RECORD_OF_PROGRAM, PPU_TRACE_COMMAND_STATE, 0, LATE_NS + 6000, 1, 0, 0);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_BLOCK, 7, 1000, 0, 0, 10);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_TASK_START, 7, 2000, 5, 1, 3);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_LAUNCH, 7, 2100, 0, 5, 0); /* as the firmware does when a slot is free */
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_LAUNCH_CHILD, 7, 2500, 5, 6, 0);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_TASK_START, 7, 2600, 6, 2, 3);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_TASK_END, 7, 2700, 6, 2, 0);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_SEM_ACQUIRE, 7, 2800, 3, 1, 0x40);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_SEM_RELEASE, 7, 4000, 0, 1, 0x40);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_SEM_ACQUIRE, 7, 4100, 3, 1, 0x41);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_TASK_END, 7, 5000, 5, 1, 2);
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_SEM_ACQUIRE, 9, 5100, 3, 2, 0x50); /* that it passed is lost */
    add(file, RECORD_OF_FIRMWARE, PPU_TRACE_BLOCK, 9, 5200, 3, 0, 11);
    assert_true(record_write(file, RECORD_LOST, &lost, sizeof(lost), NULL, 0));
    add(file, RECORD_OF_DEVICE, PPU_TRACE_CTA_START, 7, 2200, 1, 1, 0);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_CTA_END, 7, 2400, 1, 1, 0);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_TASK_COUNT, 7, 2650, 0, 11, 0);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_TASK_COUNT, 7, 4900, 0, 22, 0);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_TASK_COUNT, 7, 4901, 1, 700, 0);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_WARP, 7, 2210, 1, 4 | 1u << 16, PPU_TRACE_WARP_READY);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_WARP, 7, 2250, 1, 4 | 1u << 16, PPU_TRACE_WARP_BARRIER | 3u << 16);
    add(file, RECORD_OF_DEVICE, PPU_TRACE_WARP, 7, 2390, 1, 4 | 1u << 16, PPU_TRACE_WARP_DONE);
    assert_true(record_write(file, RECORD_SERVED, &served, sizeof(served), insns, sizeof(insns)));
    assert_true(record_write(file, RECORD_STACKS, &stacks, sizeof(stacks), folded, strlen(folded)));
    assert_true(record_write(file, RECORD_END, &end, sizeof(end), NULL, 0));
    assert_int_equal(fclose(file), 0);
    return run;
}

static const struct timeline_slice *slice_named(const struct timeline *timeline, const char *name, enum track_kind kind)
{
    for (uint32_t i = 0; i < timeline->slices; i++) {
        const struct timeline_slice *slice = &timeline->slice[i];
        if (strcmp(timeline->texts.text[slice->name], name) == 0 && timeline->track[slice->track].kind == kind) {
            return slice;
        }
    }
    fail_msg("there is no slice %s", name);
    return NULL;
}

static const struct timeline_kernel *kernel_named(const struct timeline *timeline, const char *name)
{
    for (uint32_t i = 0; i < timeline->kernels; i++) {
        if (strcmp(timeline->texts.text[timeline->kernel[i].name], name) == 0) {
            return &timeline->kernel[i];
        }
    }
    fail_msg("there is no kernel %s", name);
    return NULL;
}

static void assert_slice(const struct timeline *timeline, const char *name, enum track_kind kind, uint64_t start_ns,
                         uint64_t length_ns)
{
    const struct timeline_slice *slice = slice_named(timeline, name, kind);

    assert_int_equal(slice->start_ns, start_ns);
    assert_int_equal(slice->length_ns, length_ns);
}

static uint32_t arrows_named(const struct timeline *timeline, const char *name)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < timeline->arrows; i++) {
        count += strcmp(timeline->texts.text[timeline->arrow[i].name], name) == 0;
    }
    return count;
}

static void everything_is_drawn(void **state)
{
    struct written run = write_run();
    struct timeline timeline;

    (void)state;
    assert_null(timeline_read(&timeline, run.bytes, run.size));
    assert_false(timeline.truncated);
    assert_int_equal(timeline.lost, 3);
    assert_slice(&timeline, "clEnqueueNDRangeKernel", TRACK_THREAD, LATE_NS + 100, 40);
    assert_slice(&timeline, "clEnqueueNDRangeKernel", TRACK_QUEUE, LATE_NS + 110, 5890);
    assert_slice(&timeline, "square", TRACK_SLOT, LATE_NS + 2000, 3000);
    assert_slice(&timeline, "square", TRACK_SM, LATE_NS + 2200, 200);
    assert_slice(&timeline, "parked: semaphore 0x40 for 1", TRACK_CHANNEL, LATE_NS + 2800, 1300);
    assert_slice(&timeline, "parked: semaphore 0x50 for 2", TRACK_CHANNEL, LATE_NS + 5100, 100);
    assert_int_equal(slice_named(&timeline, "square", TRACK_SLOT)->id[2], 2); /* its fault */
    assert_int_equal(slice_named(&timeline, "3 records of the device are missing", TRACK_MISSING)->start_ns,
                     LATE_NS + 2200);
    assert_int_equal(arrows_named(&timeline, "command"), 1);
    assert_int_equal(arrows_named(&timeline, "launch"), 1);
    assert_int_equal(arrows_named(&timeline, "child"), 1);
    assert_int_equal(arrows_named(&timeline, "semaphore"), 1);
    timeline_free(&timeline);
    free(run.bytes);
}

static const struct timeline_point *point_of(const struct timeline *timeline, const char *name, uint32_t number)
{
    for (uint32_t i = 0; i < timeline->points; i++) {
        const struct timeline_point *point = &timeline->point[i];
        if (strcmp(timeline->texts.text[timeline->track[point->track].name], name) == 0 && number-- == 0) {
            return point;
        }
    }
    fail_msg("counter %s has no such point", name);
    return NULL;
}

/* The states of a command and of a warp, tokens, occupancy, and what the firmware executed for a record. */
static void states_are_told(void **state)
{
    struct written run = write_run();
    struct timeline timeline;

    (void)state;
    assert_null(timeline_read(&timeline, run.bytes, run.size));
    const struct timeline_slice *queued = slice_named(&timeline, "clEnqueueNDRangeKernel", TRACK_QUEUE);
    const struct timeline_command *command = timeline_command_of(&timeline, (uint32_t)(queued - timeline.slice));
    assert_non_null(command);
    assert_int_equal(command->submitted_ns, LATE_NS + 120);
    assert_int_equal(command->running_ns, LATE_NS + 1000); /* its block; the program noticed later */
    assert_int_equal(command->ended_ns, LATE_NS + 6000);
    assert_null(timeline_command_of(&timeline, (uint32_t)(queued - timeline.slice) + 1));
    assert_slice(&timeline, "square", TRACK_WARP, LATE_NS + 2210, 40);
    assert_slice(&timeline, "square: BARRIER", TRACK_WARP, LATE_NS + 2250, 140);
    assert_int_equal((int)point_of(&timeline, "Tokens in queues", 0)->value, 3);
    assert_int_equal((int)point_of(&timeline, "Tokens in queues", 1)->value, 0);
    /* Four warps of the 32 that two SMs hold. */
    assert_true(point_of(&timeline, "Occupancy in %", 0)->value == 12.5);
    assert_true(point_of(&timeline, "Occupancy in %", 1)->value == 0);
    assert_true(point_of(&timeline, "Active lanes", 1)->value == 700.0 / 22);
    assert_int_equal(slice_named(&timeline, "BLOCK", TRACK_FIRMWARE)->weight, 0);
    assert_int_equal(slice_named(&timeline, "TASK_START", TRACK_FIRMWARE)->weight, 50);
    assert_int_equal(slice_named(&timeline, "LAUNCH", TRACK_FIRMWARE)->weight, 60);
    timeline_free(&timeline);
    free(run.bytes);
}

static void stacks_become_a_tree(void **state)
{
    struct written run = write_run();
    struct stacks stacks;
    uint32_t count = 0;
    char *text = NULL;
    size_t bytes = 0;

    (void)state;
    assert_null(stacks_read(&stacks, run.bytes, run.size));
    assert_int_equal(stacks.nodes, 5); /* the root, the PPU, main, serve, main */
    assert_int_equal(stacks.node[0].total, 111);
    assert_int_equal(stacks.missing, 4);
    struct stacks_function *functions = stacks_functions(&stacks, &count);
    assert_int_equal(count, 2);
    assert_string_equal(stacks.texts.text[functions[0].name], "serve");
    assert_int_equal(functions[0].insns, 100);
    assert_int_equal(functions[0].total, 101);
    assert_int_equal(functions[1].insns, 11);
    assert_int_equal(functions[1].total, 111); /* once, although it calls itself */
    FILE *to = open_memstream(&text, &bytes);
    stacks_fold(&stacks, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, "PPU 0;main 10\nPPU 0;main;serve 100\nPPU 0;main;serve;main 1\n");
    free(text);
    free(functions);
    stacks_free(&stacks);
    free(run.bytes);
}

/* Tasks of one correlation: the counters of each are those before its end. */
static void counters_go_to_their_tasks(void **state)
{
    struct written run = write_run();
    struct timeline timeline;

    (void)state;
    assert_null(timeline_read(&timeline, run.bytes, run.size));
    const struct timeline_kernel *square = kernel_named(&timeline, "square");
    assert_int_equal(square->tasks, 1);
    assert_int_equal(square->faults, 1);
    assert_int_equal(square->count[PPU_COUNTER_INSNS], 22);
    assert_int_equal(square->count[PPU_COUNTER_LANES], 700);
    assert_int_equal(square->run_ns, 3000);
    /* 256 threads in warps of 64 with 16 registers: four warps, so the SM's 16 warps hold four CTAs. */
    assert_int_equal(square->resident, 4);
    assert_string_equal(square->limit, "warps");
    assert_int_equal(kernel_named(&timeline, "a kernel")->count[PPU_COUNTER_INSNS], 11);
    timeline_free(&timeline);
    free(run.bytes);
}

static void cut_off_anywhere(void **state)
{
    struct written run = write_run();

    (void)state;
    for (size_t size = 0; size < run.size; size++) {
        struct timeline timeline;
        char *copy = malloc(size ? size : 1); /* its own, so that a byte too far is seen */
        memcpy(copy, run.bytes, size);
        const char *why = timeline_read(&timeline, copy, size);
        struct stacks stacks;
        assert_int_equal(!stacks_read(&stacks, copy, size), !why);
        stacks_free(&stacks);
        assert_int_equal(!why, size >= sizeof(struct record_head));
        assert_true(why || timeline.truncated);
        timeline_free(&timeline);
        free(copy);
    }
    free(run.bytes);
}

static void changed_anywhere(void **state)
{
    struct written run = write_run();
    uint64_t random = 1;

    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        struct timeline timeline;
        char *copy = malloc(run.size);
        memcpy(copy, run.bytes, run.size);
        for (uint32_t i = 0; i < 4; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            copy[16 + (random >> 33) % (run.size - 16)] ^= (char)(1u << (random >> 20) % 8);
        }
        struct stacks stacks;
        assert_null(timeline_read(&timeline, copy, run.size));
        assert_null(stacks_read(&stacks, copy, run.size));
        stacks_free(&stacks);
        timeline_free(&timeline);
        free(copy);
    }
    free(run.bytes);
}

static void foreign_files_are_refused(void **state)
{
    struct written run = write_run();
    struct timeline timeline;

    (void)state;
    run.bytes[8]++;
    assert_string_equal(timeline_read(&timeline, run.bytes, run.size), "it has another version of the format");
    run.bytes[0]++;
    assert_string_equal(timeline_read(&timeline, run.bytes, run.size), "it is no record of ppu-trace");
    assert_string_equal(timeline_read(&timeline, "PPUTRACE", 8), "it is too short for a record of ppu-trace");
    free(run.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_drawn),       cmocka_unit_test(counters_go_to_their_tasks),
        cmocka_unit_test(cut_off_anywhere),          cmocka_unit_test(changed_anywhere),
        cmocka_unit_test(foreign_files_are_refused), cmocka_unit_test(states_are_told),
        cmocka_unit_test(stacks_become_a_tree),
    };

    return cmocka_run_group_tests_name("trace: records", tests, NULL, NULL);
}
