/* SPDX-License-Identifier: MIT */
/*
 * Tests the recorder of a process with both sides in this one: libppu writes, the reader of the tools finds it in
 * /proc, maps it and reads. The device is in the process too.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "tools/trace/watch.h"

#define THREADS 4u
#define EACH 5000u

struct seen {
    uint32_t devices, closed;
    uint32_t events[RECORD_SOURCES];
    uint64_t lost, lost_of[RECORD_SOURCES];
    uint32_t of_type[64];
    struct record_task task;
    struct record_kernel kernel;
    struct record_clock clock;
    struct ppu_trace_record ring, doorbell, launch;
    char name[64]; /* of the kernel */
    uint32_t name_number;
};

static void see_process(void *opaque, const struct record_process *process, const char *command)
{
    (void)opaque;
    assert_int_equal(process->pid, getpid());
    assert_non_null(strstr(command, "trace-recorder"));
}

static void see_device(void *opaque, const struct record_device *device)
{
    struct seen *seen = opaque;

    seen->devices++;
    assert_int_not_equal(device->sms, 0);
}

static void see_closed(void *opaque, uint32_t device)
{
    struct seen *seen = opaque;

    (void)device;
    seen->closed++;
}

static void see_name(void *opaque, const struct record_name *name, const char *text, uint32_t bytes)
{
    struct seen *seen = opaque;

    if (bytes == strlen("counter") && memcmp(text, "counter", bytes) == 0) {
        memcpy(seen->name, text, bytes);
        seen->name_number = name->name;
    }
}

static void see_kernel(void *opaque, const struct record_kernel *kernel)
{
    struct seen *seen = opaque;

    seen->kernel = *kernel;
}

static void see_task(void *opaque, const struct record_task *task)
{
    struct seen *seen = opaque;

    seen->task = *task;
}

static void see_events(void *opaque, const struct record_events *events, const struct ppu_trace_record *records,
                       uint32_t count)
{
    struct seen *seen = opaque;

    seen->events[events->source] += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = records[i].type;
        seen->of_type[type < PPU_ARRAY_SIZE(seen->of_type) ? type : 0]++;
        if (type == PPU_TRACE_RING) {
            seen->ring = records[i];
        } else if (type == PPU_TRACE_DOORBELL) {
            seen->doorbell = records[i];
        } else if (type == PPU_TRACE_LAUNCH) {
            seen->launch = records[i];
        }
    }
}

static void see_lost(void *opaque, const struct record_lost *lost)
{
    struct seen *seen = opaque;

    seen->lost += lost->count;
    seen->lost_of[lost->source] += lost->count;
}

static void see_clock(void *opaque, const struct record_clock *clock)
{
    struct seen *seen = opaque;

    seen->clock = *clock;
}

static struct watch watch;
static struct seen seen;

static void watch_process_as(bool is_new)
{
    static const struct watch_sink sink = { &seen,    see_process, see_device, see_closed, see_name, see_kernel,
                                            see_task, see_events,  see_lost,   see_clock,  NULL };
    uint32_t number = 0;

    memset(&seen, 0, sizeof(seen));
    watch.sink = &sink;
    int fd = attach_open_recorder((uint32_t)getpid());
    assert_true(fd >= 0);
    assert_null(watch_process(&watch, fd, is_new, &number));
}

static void watch_this_process(void)
{
    watch_process_as(false);
}

static void run_grid(struct api *api, uint32_t ctas)
{
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 1u << 20);
    const uint64_t params[] = { api_va(api, memory), api_va(api, memory) + 64 };

    check(api_run(api, api_kernel(api, api->context, "counter", "counter"), ctas, 40, params, sizeof(params)));
    api_forget_programs(1);
}

static void run_counter(struct api *api)
{
    run_grid(api, 3);
}

static void poll_all(uint64_t until_ns)
{
    while (watch_poll(&watch, until_ns) > 0) {
    }
}

static void a_launch_is_seen(void **state)
{
    struct api *api = *state;

    watch_this_process();
    poll_all(UINT64_MAX);
    run_counter(api);
    poll_all(UINT64_MAX);
    assert_int_equal(seen.devices, 1);
    assert_int_equal(seen.lost, 0);
    assert_string_equal(seen.name, "counter");
    assert_int_equal(seen.of_type[PPU_TRACE_KERNEL], 1);
    assert_int_equal(seen.of_type[PPU_TRACE_KERNEL_SHAPE], 1);
    assert_int_equal(seen.of_type[PPU_TRACE_CTA_START], 3);
    assert_int_equal(seen.of_type[PPU_TRACE_CTA_END], 3);
    assert_int_equal(seen.of_type[PPU_TRACE_TASK_END], 1);
    assert_int_equal(seen.of_type[PPU_TRACE_LIST], 0); /* that of the event is the launch's */
    assert_int_equal(seen.ring.correlation, seen.launch.correlation);
    assert_int_equal(seen.ring.id[0], seen.doorbell.id[0]);
    assert_int_equal(seen.ring.id[1], seen.doorbell.id[1]);
    /* The descriptor tells which kernel the task is of, and how large. */
    assert_int_equal(seen.task.task, seen.launch.id[1]);
    assert_int_equal(seen.task.code, seen.kernel.code);
    assert_int_equal(seen.kernel.name, seen.name_number);
    assert_int_equal(seen.task.ctas, 3);
    assert_int_equal(seen.task.cta_threads, 40);
    watch_end(&watch);
}

/* The bounds enclose the true difference, which is known here: device and program have the same clock. */
static void clocks_are_bounded(void **state)
{
    struct api *api = *state;

    watch_this_process();
    for (uint32_t i = 0; i < 20; i++) {
        run_counter(api);
        poll_all(UINT64_MAX);
    }
    uint64_t before_ns = clock_ns(), device_ns = ppu_device_time_ns(api->device), after_ns = clock_ns();
    assert_true(seen.clock.low_ns <= seen.clock.high_ns);
    assert_true(seen.clock.low_ns <= (int64_t)(after_ns - device_ns));
    assert_true(seen.clock.high_ns >= (int64_t)(before_ns - device_ns));
    watch_end(&watch);
}

static void nothing_is_recorded_unasked(void **state)
{
    struct api *api = *state;

    watch_this_process();
    poll_all(0);
    uint32_t before = seen.events[RECORD_OF_PROGRAM];
    assert_false(ppu_record_wanted());
    run_counter(api);
    poll_all(0);
    assert_int_equal(seen.events[RECORD_OF_PROGRAM], before);
    /* A tool that has died asks no more, and the program stops by itself. */
    poll_all(clock_ns() + 20 * NS_PER_MS);
    assert_true(ppu_record_wanted());
    sleep_ns(25 * NS_PER_MS);
    assert_false(ppu_record_wanted());
    watch_end(&watch);
}

static void *record_many(void *argument)
{
    for (uint32_t i = 0; i < EACH; i++) {
        ppu_record(PPU_TRACE_CALL, 1, ppu_record_name(argument), i, 0);
    }
    return NULL;
}

static void many_threads_record(void **state)
{
    static char name[THREADS][8] = { "one", "two", "three", "four" };
    pthread_t thread[THREADS];

    (void)state;
    watch_this_process();
    poll_all(UINT64_MAX);
    uint32_t before = seen.of_type[PPU_TRACE_CALL];
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, record_many, name[i]), 0);
    }
    for (uint32_t i = 0; i < 100; i++) {
        poll_all(UINT64_MAX);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    poll_all(UINT64_MAX);
    assert_int_equal(seen.of_type[PPU_TRACE_CALL] - before, THREADS * EACH);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(ppu_record_name("one"), ppu_record_name("one"));
    assert_int_not_equal(ppu_record_name("one"), ppu_record_name("two"));
    watch_end(&watch);
}

/* What a program that starts now has overwritten is missing; of one that runs, only what is still there is wanted. */
static void what_was_overwritten_is_told(void **state)
{
    struct api *api = *state;
    uint32_t before = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);

    run_grid(api, 6000); /* two records each, in a recorder of 16,384 */
    run_grid(api, 6000);
    uint32_t written = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE) - before;
    assert_true(written >= 12000);
    watch_this_process();
    poll_all(0);
    assert_int_equal(seen.events[RECORD_OF_DEVICE], 16384);
    assert_int_equal(seen.lost_of[RECORD_OF_DEVICE], 0);
    watch_end(&watch);
    watch_process_as(true);
    uint32_t opened = watch.process[0].recorder->device[ppu_device_recorded(api->device)].dev_trace_from;
    poll_all(0);
    assert_int_equal(seen.events[RECORD_OF_DEVICE], 16384);
    assert_int_equal(seen.lost_of[RECORD_OF_DEVICE], before + written - 16384 - opened);
    watch_end(&watch);
}

/* The recorders of a device that was closed may be gone before they were read. */
static void what_went_with_its_device_is_told(void **state)
{
    struct api *api = *state;

    watch_this_process();
    poll_all(0);
    struct ppu_recorder_device *entry = &watch.process[0].recorder->device[ppu_device_recorded(api->device)];
    uint8_t *vram = mmap(NULL, entry->vram_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, entry->vram_fd, 0);
    assert_ptr_not_equal(vram, MAP_FAILED);
    struct ppu_trace_ring *ring = (void *)(vram + entry->dev_trace);
    const uint32_t size = ring->size, read = seen.lost_of[RECORD_OF_DEVICE];
    entry->dev_trace_to = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE) + 7;
    entry->fw_trace_to = 0; /* of a program that has told nothing */
    __atomic_store_n(&ring->size, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->state, PPU_RECORDER_CLOSED, __ATOMIC_RELEASE);
    poll_all(0);
    poll_all(0);
    assert_int_equal(seen.closed, 1);
    assert_int_equal(seen.lost_of[RECORD_OF_DEVICE] - read, 7);
    assert_int_equal(seen.lost_of[RECORD_OF_FIRMWARE], 0);
    __atomic_store_n(&ring->size, size, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->state, PPU_RECORDER_OPEN, __ATOMIC_RELEASE);
    munmap(vram, entry->vram_bytes);
    watch_end(&watch);
}

/* A device that is closed is read to its end, and is watched no more; the next in its entry is another. */
static void devices_come_and_go(void **state)
{
    struct api *api = *state;
    struct ppu_device *device = api->device;

    watch_this_process();
    poll_all(UINT64_MAX);
    assert_int_equal(seen.devices, 1);
    uint32_t entry = ppu_device_recorded(device);
    assert_true(entry < PPU_RECORDER_DEVICES);
    struct ppu_recorder *recorder = watch.process[0].recorder;
    assert_int_equal(recorder->device[entry].state, PPU_RECORDER_OPEN);
    __atomic_store_n(&recorder->device[entry].state, PPU_RECORDER_CLOSED, __ATOMIC_RELEASE);
    poll_all(UINT64_MAX);
    poll_all(UINT64_MAX);
    assert_int_equal(seen.closed, 1);
    recorder->device[entry].generation++;
    __atomic_store_n(&recorder->device[entry].state, PPU_RECORDER_OPEN, __ATOMIC_RELEASE);
    poll_all(UINT64_MAX);
    assert_int_equal(seen.devices, 2);
    watch_end(&watch);
}

/* What the file says is bounded before it is used. */
static void lies_do_no_harm(void **state)
{
    struct api *api = *state;
    uint32_t entry = ppu_device_recorded(api->device);

    watch_this_process();
    struct ppu_recorder *recorder = watch.process[0].recorder;
    const struct ppu_recorder_device honest = recorder->device[entry];
    static const struct {
        uint32_t fw_trace, dev_trace, tmds, stride;
        int32_t fd;
        uint64_t bytes;
    } lies[] = {
        { UINT32_MAX - 63, 64, 0, 0, 0, 0 },     { 1, 3, UINT32_MAX - 7, UINT32_MAX, 0, 0 },
        { 64, 128, 8, 8, 0, UINT64_MAX },        { 64, 64, 64, 64, -1, 1u << 20 },
        { 64, 64, 64, 64, INT32_MAX, 1u << 20 },
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(lies); i++) {
        struct ppu_recorder_device lie = honest;
        lie.generation = honest.generation + 1 + i;
        lie.fw_trace = lies[i].fw_trace;
        lie.dev_trace = lies[i].dev_trace;
        lie.tmds = lies[i].tmds;
        lie.tmd_stride = lies[i].stride;
        lie.vram_fd = lies[i].fd != 0 ? lies[i].fd : honest.vram_fd;
        lie.vram_bytes = lies[i].bytes != 0 ? lies[i].bytes : honest.vram_bytes;
        recorder->device[entry] = lie;
        uint32_t names = recorder->names_used;
        recorder->names_used = UINT32_MAX;
        watch_poll(&watch, UINT64_MAX);
        recorder->names_used = names;
        uint32_t bytes = 0;
        assert_null(attach_name(recorder, UINT32_MAX - 3, &bytes));
        assert_null(attach_name(recorder, 5, &bytes));
    }
    recorder->device[entry] = honest;
    watch_end(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a launch is seen with its kernel, its size and its place in time", a_launch_is_seen),
        api_test("the difference of the clocks is bounded", clocks_are_bounded),
        api_test("nothing is recorded that nobody wants", nothing_is_recorded_unasked),
        api_test("many threads record, and nothing is missing", many_threads_record),
        api_test("what was overwritten is told of a program that starts", what_was_overwritten_is_told),
        api_test("what went with its device before it was read is told", what_went_with_its_device_is_told),
        api_test("devices come and go", devices_come_and_go),
        api_test("lies in the file do no harm", lies_do_no_harm),
    };

    return cmocka_run_group_tests_name("trace: recorder", tests, api_machine_setup, api_machine_teardown);
}
