/* SPDX-License-Identifier: MIT */
/* Tests the device as a whole: identity, admin requests, firmware images, and a firmware that stops. */
#include "tests/api/api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/admin.h"
#include "runtime/firmware.h"

static void identity(void **state)
{
    struct api *api = *state;
    const struct ppu_device_info *info = ppu_device_info(api->device);

    assert_int_equal(info->abi_major, PPU_ABI_MAJOR);
    assert_int_equal(info->isa_version, PPU_ISA_VERSION);
    assert_int_equal(info->vram_bytes, api->transport->vram_bytes);
    assert_int_equal(info->sms % info->gpcs, 0);
    assert_in_range(info->channels, 1, PPU_MAX_CHANNELS);
    assert_in_range(info->contexts, 1, PPU_MAX_CONTEXTS);
    assert_in_range(info->slots, 1, PPU_MAX_SLOTS);
    assert_true(info->sm_shared >= PPU_MAX_SHARED);
    assert_int_equal(info->vectors, PPU_MAX_VECTORS);
    assert_true(info->streams > 0 && info->tasks > 0);
    assert_int_equal(device_reg_read(api->device, PPU_REG_DOORBELL_STRIDE), PPU_DOORBELL_STRIDE);
    assert_int_equal(device_reg_read(api->device, PPU_REG_TIMER_HZ), 1000000000);
}

static void clock_runs(void **state)
{
    struct api *api = *state;
    uint64_t before = ppu_device_time_ns(api->device);

    usleep(2000);
    assert_true(ppu_device_time_ns(api->device) > before);
}

static const struct {
    enum ppu_key key;
    const char *object;
} keys[] = {
#define PPU_KEY(name, key, object, doc) { PPU_KEY_##name, object },
#include "ppu/key.def"
#undef PPU_KEY
};

static uint32_t object_number(struct api *api, const char *object)
{
    return strcmp(object, "channel") == 0   ? ppu_channel_index(api->channel)
           : strcmp(object, "context") == 0 ? ppu_context_id(api->context)
                                            : 0;
}

static void every_key(void **state)
{
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(keys); i++) {
        uint64_t value = ~0ull;
        check(ppu_device_query(api->device, keys[i].key, object_number(api, keys[i].object), &value));
    }
    assert_int_equal(api_query(api, PPU_KEY_CHANNEL_STATE, ppu_channel_index(api->channel)), PPU_CHANNEL_IDLE);
    assert_int_equal(api_query(api, PPU_KEY_TASKS_TOTAL, 0), ppu_device_info(api->device)->tasks);
    check(api_finish(api->channel));
    assert_true(api_query(api, PPU_KEY_DOORBELLS, 0) >= 1);
    assert_true(api_query(api, PPU_KEY_BLOCKS, 0) >= 1);
}

/* Requests that must be refused; "C", "X" stand for the fixture's context and channel. */
#define C 0xc0c0c0c0u
#define X 0xc4c4c4c4u
#define RING 0x10000u
static const struct refused {
    const char *what;
    uint32_t op;
    uint32_t count;
    uint32_t args[6];
    uint32_t fault;
} refused[] = {
    { "no such operation", 0x7777, 0, { 0 }, PPU_FAULT_ADMIN_OP },
    { "operation 0", 0, 0, { 0 }, PPU_FAULT_ADMIN_OP },
    { "unknown key", PPU_ADMIN_QUERY, 2, { 0xffff, 0 }, PPU_FAULT_NO_KEY },
    { "state of no channel", PPU_ADMIN_QUERY, 2, { PPU_KEY_CHANNEL_STATE, 0xffffffff }, PPU_FAULT_NO_OBJECT },
    { "tasks of no context", PPU_ADMIN_QUERY, 2, { PPU_KEY_CONTEXT_TASKS, 0xffffffff }, PPU_FAULT_NO_OBJECT },
    { "root table outside the pool", PPU_ADMIN_CONTEXT_CREATE, 1, { 0xfffff000 }, PPU_FAULT_ADMIN_ARG },
    { "root table misaligned", PPU_ADMIN_CONTEXT_CREATE, 1, { 8 }, PPU_FAULT_ADMIN_ARG },
    { "destroy no context", PPU_ADMIN_CONTEXT_DESTROY, 1, { 0xffffffff }, PPU_FAULT_NO_OBJECT },
    { "destroy a context in use", PPU_ADMIN_CONTEXT_DESTROY, 1, { C }, PPU_FAULT_IN_USE },
    { "ring of no entries", PPU_ADMIN_CHANNEL_CREATE, 6, { C, RING, 0, 0, 0, 2 }, PPU_FAULT_ADMIN_ARG },
    { "ring of one entry", PPU_ADMIN_CHANNEL_CREATE, 6, { C, RING, 0, 1, 0, 2 }, PPU_FAULT_ADMIN_ARG },
    { "ring too large",
      PPU_ADMIN_CHANNEL_CREATE,
      6,
      { C, RING, 0, PPU_GP_MAX_ENTRIES + 1, 0, 2 },
      PPU_FAULT_ADMIN_ARG },
    { "priority too high", PPU_ADMIN_CHANNEL_CREATE, 6, { C, RING, 0, 8, PPU_PRIORITIES, 2 }, PPU_FAULT_ADMIN_ARG },
    { "no such vector", PPU_ADMIN_CHANNEL_CREATE, 6, { C, RING, 0, 8, 0, PPU_MAX_VECTORS }, PPU_FAULT_ADMIN_ARG },
    { "channel of no context", PPU_ADMIN_CHANNEL_CREATE, 6, { 0xffffffff, RING, 0, 8, 0, 2 }, PPU_FAULT_NO_OBJECT },
    { "destroy no channel", PPU_ADMIN_CHANNEL_DESTROY, 1, { 0xffffffff }, PPU_FAULT_NO_OBJECT },
    { "reset no channel", PPU_ADMIN_CHANNEL_RESET, 1, { 0xffffffff }, PPU_FAULT_NO_OBJECT },
    { "flush no context", PPU_ADMIN_MMU_FLUSH, 1, { 0xffffffff }, PPU_FAULT_NO_OBJECT },
};

static void admin_refuses(void **state)
{
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(refused); i++) {
        const struct refused *row = &refused[i];
        uint32_t args[6];
        struct ppu_error error;
        for (uint32_t n = 0; n < row->count; n++) {
            args[n] = row->args[n] == C   ? ppu_context_id(api->context)
                      : row->args[n] == X ? ppu_channel_index(api->channel)
                                          : row->args[n];
        }
        enum ppu_err err = admin_call(api->device, (enum ppu_admin_op)row->op, args, row->count, NULL, 0);
        ppu_device_error(api->device, &error);
        if (err != ppu_fault_error(row->fault) || error.record.code != row->fault) {
            fail_msg("%s: %s, fault %s instead of %s", row->what, ppu_error_name(err),
                     ppu_fault_name(error.record.code), ppu_fault_name(row->fault));
        }
        assert_non_null(strstr(error.text, ppu_fault_name(row->fault)));
    }
    check(api_finish(api->channel));
}

static void contexts_run_out(void **state)
{
    struct api *api = *state;
    struct ppu_context *context[PPU_MAX_CONTEXTS] = { NULL };
    uint32_t count = 0;
    enum ppu_err err = PPU_OK;

    while (err == PPU_OK) {
        assert_true(count < PPU_MAX_CONTEXTS);
        err = ppu_context_create(api->device, &context[count]);
        count += err == PPU_OK ? 1 : 0;
    }
    /* Of numbers, or of VRAM for what is taken off SMs: this machine may be small. */
    assert_true(err == PPU_ERR_NO_RESOURCE || err == PPU_ERR_NO_VRAM);
    assert_in_range(count, 1, ppu_device_info(api->device)->contexts);
    for (uint32_t i = 0; i < count; i++) {
        check(ppu_context_destroy(context[i]));
    }
    check(ppu_context_create(api->device, &context[0]));
    check(ppu_context_destroy(context[0]));
}

static void channels_run_out(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel[PPU_MAX_CHANNELS] = { NULL };
    uint32_t count = 0;
    enum ppu_err err = PPU_OK;

    while (err == PPU_OK) {
        assert_true(count < PPU_MAX_CHANNELS);
        err = ppu_channel_create(api->context, NULL, &channel[count]);
        count += err == PPU_OK ? 1 : 0;
    }
    assert_int_equal(err, PPU_ERR_NO_RESOURCE);
    assert_int_equal(count, ppu_device_info(api->device)->channels - 1);
    check(api_finish(channel[count - 1]));
    for (uint32_t i = 0; i < count; i++) {
        check(ppu_channel_destroy(channel[i]));
    }
}

static void context_in_use(void **state)
{
    struct api *api = *state;

    assert_int_equal(ppu_context_destroy(api->context), PPU_ERR_BUSY);
    check(api_finish(api->channel));
}

/* ---- firmware ---- */

static const struct {
    const char *what;
    size_t cut;    /* bytes left out at the end */
    size_t offset; /* byte changed */
    uint8_t flip;  /* bits flipped there */
    enum ppu_err err;
    const char *says;
} bad_images[] = {
    { "empty", SIZE_MAX, 0, 0, PPU_ERR_BAD_IMAGE, "truncated" },
    { "one byte short", 1, 0, 0, PPU_ERR_BAD_IMAGE, "truncated" },
    { "one bit wrong", 0, 0x20, 0x04, PPU_ERR_BAD_IMAGE, "CRC" },
    { "no magic", 0, PPU_IMAGE_HEADER_OFFSET, 0xff, PPU_ERR_BAD_IMAGE, "magic" },
    { "wrong header version", 0, PPU_IMAGE_HEADER_OFFSET + 4, 0x10, PPU_ERR_BAD_ABI, "version" },
    { "wrong ABI", 0, PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, abi_major), 0x70, PPU_ERR_BAD_ABI,
      "ABI" },
};

static size_t read_image(const char *path, uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

static void firmware_images(void **state)
{
    static uint8_t image[PPU_MCU_ITCM_BYTES];
    struct ppu_error error;
    const char *path = machine_firmware();
    const char *chosen = getenv("PPU_FIRMWARE");
    size_t bytes = read_image(path     ? path
                              : chosen ? chosen
                                       : "build/firmware/picolibc/ppufw.bin",
                              image, sizeof(image));

    (void)state;
    check(firmware_check("ppufw.bin", image, bytes, &error));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad_images); i++) {
        size_t left = bad_images[i].cut < bytes ? bytes - bad_images[i].cut : 0;
        image[bad_images[i].offset] ^= bad_images[i].flip;
        assert_int_equal(firmware_check("ppufw.bin", image, left, &error), bad_images[i].err);
        if (!strstr(error.text, bad_images[i].says) ||
            strncmp(error.text, "load the firmware ppufw.bin: ", strlen("load the firmware ppufw.bin: ")) != 0) {
            fail_msg("%s: \"%s\" does not say \"%s\"", bad_images[i].what, error.text, bad_images[i].says);
        }
        image[bad_images[i].offset] ^= bad_images[i].flip;
    }
}

static void no_firmware_file(void **state)
{
    struct api *api = *state;
    const struct ppu_device_options options = { .firmware = "/nonexistent/firmware.bin" };
    struct ppu_device *device = NULL;
    struct ppu_error error;
    struct ppu_transport *transport = api->transport;

    api_close(api);
    assert_int_equal(ppu_device_open(transport, &options, &device, &error), PPU_ERR_NOT_FOUND);
    assert_null(device);
    assert_non_null(strstr(error.text, options.firmware));
    *state = api_open(transport, 0);
}

static void opens_again(void **state)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;

    for (int i = 0; i < 5; i++) {
        check(api_finish(api->channel));
        api_close(api);
        api = api_open(transport, 0);
    }
    *state = api;
}

/* The firmware stops in the middle of work: every wait ends with an error, and the device can be opened again. */
static void stops(void **state, bool (*stop)(void), const char *says)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;
    struct ppu_error error;

    if (!stop()) {
        skip();
    }
    assert_int_equal(api_finish(api->channel), PPU_ERR_DEVICE_LOST);
    ppu_device_error(api->device, &error);
    assert_int_equal(error.code, PPU_ERR_DEVICE_LOST);
    assert_non_null(strstr(error.text, says));
    assert_int_equal(api_finish(api->channel), PPU_ERR_DEVICE_LOST);
    api_close(api);
    *state = api_open(transport, 0);
    check(api_finish(((struct api *)*state)->channel));
}

static void firmware_crashes(void **state)
{
    stops(state, machine_crash, "ordered by a test:1");
}

static void mcu_locks_up(void **state)
{
    stops(state, machine_lock_up, "locked up, 1 times");
}

/* ---- traces ---- */

#define TRACED_BLOCKS 3000u /* two records each: more than a recorder holds */

static bool is_task_end(const struct ppu_trace_record *record, uint32_t task)
{
    return record->type == PPU_TRACE_TASK_END && record->id[0] == task;
}

/* One launch leaves its doorbell with the device, its start and its end with the firmware, in this order. */
static void trace_tells_a_launch(void **state)
{
    struct api *api = *state;
    uint32_t device = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
    uint32_t firmware = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);
    struct ppu_trace_record record = { 0 };
    uint64_t rung_ns = 0, started_ns = 0, ended_ns = 0;
    uint32_t task = 0;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 65536);
    const uint64_t params[] = { api_va(api, memory), api_va(api, memory) + 64 };

    check(api_run(api, api_kernel(api, api->context, "counter", "counter"), 1, 1, params, sizeof(params)));
    while (rung_ns == 0 && ppu_trace_read(api->device, PPU_TRACE_OF_DEVICE, &device, &record, 1) == 1) {
        rung_ns = record.type == PPU_TRACE_DOORBELL ? record.time_ns : 0;
    }
    while (ended_ns == 0 && ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &firmware, &record, 1) == 1) {
        if (record.type == PPU_TRACE_TASK_START) {
            task = record.id[0];
            started_ns = record.time_ns;
        }
        ended_ns = is_task_end(&record, task) ? record.time_ns : 0;
    }
    assert_true(0 < rung_ns && rung_ns <= started_ns && started_ns <= ended_ns);
}

/* ---- counters ---- */

static uint64_t of_sms(struct api *api, uint32_t low, uint32_t high)
{
    uint64_t sum = 0;

    for (uint32_t sm = 0; sm < ppu_device_info(api->device)->sms; sm++) {
        sum += device_reg_read(api->device, low + 4 * sm) | (uint64_t)device_reg_read(api->device, high + 4 * sm) << 32;
    }
    return sum;
}

static void counters_of_sms(struct api *api, uint64_t count[PPU_COUNTERS])
{
#define PPU_COUNTER(name, number, doc) count[number] = of_sms(api, PPU_REG_SM_##name##_LO, PPU_REG_SM_##name##_HI);
#include "ppu/counter.def"
#undef PPU_COUNTER
}

static void counters_of_channel(struct api *api, uint64_t count[PPU_COUNTERS])
{
#define PPU_COUNTER(name, number, doc) \
    count[number] = api_query(api, PPU_KEY_CHANNEL_##name, ppu_channel_index(api->channel));
#include "ppu/counter.def"
#undef PPU_COUNTER
}

/* What the trace says of the only task since then. */
static void counters_of_task(struct api *api, uint32_t next, uint64_t count[PPU_COUNTERS])
{
    struct ppu_trace_record record = { 0 };

    memset(count, 0, PPU_COUNTERS * sizeof(*count));
    while (ppu_trace_read(api->device, PPU_TRACE_OF_DEVICE, &next, &record, 1) == 1) {
        if (record.type == PPU_TRACE_TASK_COUNT) {
            assert_true(record.id[0] < PPU_COUNTERS);
            count[record.id[0]] += record.id[1] | (uint64_t)record.id[2] << 32;
        }
    }
}

/* One CTA of 64 threads, `y[i] = a * x[i] + y[i]` of whole lines: every number can be told beforehand. */
static void counters_of_a_kernel(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 65536);
    const struct {
        uint64_t x, y;
        uint32_t n;
        float a;
    } params = { api_va(api, memory), api_va(api, memory) + 4096, 48, 2.0f };
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "saxpy", "saxpy");
    uint64_t before[PPU_COUNTERS], after[PPU_COUNTERS], channel[PPU_COUNTERS], task[PPU_COUNTERS];
    uint32_t next = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
    bool modelled = (ppu_device_info(api->device)->features & PPU_FEATURE_CACHE_MODEL) != 0; /* not in the guest */

    counters_of_sms(api, before);
    check(api_run(api, kernel, 1, 64, &params, sizeof(params)));
    counters_of_sms(api, after);
    counters_of_channel(api, channel);
    counters_of_task(api, next, task);
    /* Each thread executes 18 instructions and `exit`. Those from 48 on stop at the guarded `exit`, their tenth. */
    assert_int_equal(channel[PPU_COUNTER_LANES], 48 * 19 + 16 * 10);
    /* A pass of 32 lanes and one of 16 have two loads and a store of rows that begin with a line. */
    assert_int_equal(channel[PPU_COUNTER_TRANSACTIONS], 2 * 3);
    /* Four of those rows are loaded, each a line that the first level has not; all six reach the second. */
    assert_int_equal(channel[PPU_COUNTER_L1_HITS], 0);
    assert_int_equal(channel[PPU_COUNTER_L1_MISSES], modelled ? 4 : 0);
    assert_int_equal(channel[PPU_COUNTER_L2_HITS] + channel[PPU_COUNTER_L2_MISSES], modelled ? 6 : 0);
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        assert_int_equal(after[i] - before[i], channel[i]);
        assert_int_equal(task[i], channel[i]);
    }
}

/* Counts what of the firmware's trace it can read until `end` is set; every record must be whole and the next in
 * order. */
struct trace_reader {
    struct ppu_device *device;
    bool end;        /* atomic */
    uint32_t number; /* of the record to read next */
    uint32_t records, bad;
};

static void *read_along(void *argument)
{
    struct trace_reader *reader = argument;
    bool end = false;

    while (!end) {
        struct ppu_trace_record record[8];
        end = __atomic_load_n(&reader->end,
                              __ATOMIC_ACQUIRE); /* what was written before is read, however late this begins */
        uint32_t count = ppu_trace_read(reader->device, PPU_TRACE_OF_FIRMWARE, &reader->number, record, 8);
        reader->records += count;
        for (uint32_t i = 0; i < count; i++) {
            reader->bad += record[i].version != PPU_TRACE_VERSION || record[i].size_bytes != sizeof(record[i]) ||
                           (i > 0 && (int32_t)(record[i].sequence - record[i - 1].sequence) <= 0) ||
                           (i > 0 && record[i].time_ns < record[i - 1].time_ns);
        }
    }
    return NULL;
}

static void trace_is_read_while_it_is_written(void **state)
{
    struct api *api = *state;
    uint32_t oldest = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);
    struct trace_reader reader = { .device = api->device, .number = oldest };
    struct ppu_trace_record record[2];
    const ppu_va_t sem = { api_va(api, api_memory(api, PPU_MEMORY_VRAM, 65536)) };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, read_along, &reader), 0);
    for (uint32_t i = 0; i < TRACED_BLOCKS; i++) {
        struct ppu_block *block = NULL;
        check(ppu_block_begin(api->channel, &block));
        ppu_block_release(block, sem, i, false);
        check(ppu_block_submit(block, NULL));
    }
    check(api_finish(api->channel));
    __atomic_store_n(&reader.end, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(reader.bad, 0);
    assert_true(reader.records > 0);
    /* The oldest have been written over: reading begins with what is left. */
    uint32_t asked = oldest;
    assert_int_equal(ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &oldest, record, 2), 2);
    assert_true(record[0].sequence - asked > 0 && record[1].sequence == record[0].sequence + 1);
    assert_int_equal(oldest, record[1].sequence + 1);
    /* At the end there is nothing. */
    oldest = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);
    assert_int_equal(ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &oldest, record, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("identity tells the size of the machine [A1]", identity),
        api_test("the virtual clock runs", clock_runs),
        api_test("every query key answers [A1]", every_key),
        api_test("bad admin requests are refused with their fault [A2]", admin_refuses),
        api_test("SMs, task and channel count what a kernel does [A10]", counters_of_a_kernel),
        api_test("the traces tell a launch from doorbell to end", trace_tells_a_launch),
        api_test("a trace is read while it is written", trace_is_read_while_it_is_written),
        api_test("contexts run out with an error and come back [A9]", contexts_run_out),
        api_test("channels run out with an error and come back [A2]", channels_run_out),
        api_test("a context with a channel is not destroyed [A9]", context_in_use),
        api_test("unusable firmware images are named", firmware_images),
        api_test("a missing firmware file is named", no_firmware_file),
        api_test("the device opens again after it was closed", opens_again),
        api_test("a firmware that crashes is reported with its record", firmware_crashes),
        api_test("a microcontroller that locks up is reported", mcu_locks_up),
    };

    api_machine = (struct machine_config){ .cache_model = true };
    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
