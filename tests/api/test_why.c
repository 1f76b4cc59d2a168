/* SPDX-License-Identifier: MIT */
/* Tests what the library says of work that is not done, on real states of firmware and device. */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/slots.h"
#include "runtime/deadline.h"

#define CTA_THREADS 64u

/* Threads that end when the gate's word is set. */
struct gate {
    struct ppu_memory *memory;
    const struct ppu_kernel *kernel;
    uint64_t va;
};

static struct gate gate_new(struct api *api)
{
    struct gate gate = { .memory = api_memory(api, PPU_MEMORY_VRAM, 4096) };

    gate.kernel = api_kernel(api, api->context, "spin", "spin_until");
    gate.va = api_va(api, gate.memory);
    return gate;
}

static void gate_launch(const struct gate *gate, struct ppu_stream *stream, uint32_t ctas, uint32_t priority,
                        struct ppu_event *event)
{
    const struct ppu_launch launch = { .grid = { ctas },
                                       .cta = { CTA_THREADS },
                                       .params = &gate->va,
                                       .param_bytes = sizeof(gate->va),
                                       .priority = priority };

    check(ppu_stream_launch(stream, gate->kernel, &launch, event));
}

/* An event of the channel, which waits for all that it has started. */
static void channel_event(struct ppu_channel *channel, struct ppu_event *event)
{
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    check(ppu_block_submit(block, event));
}

/* The channel has come to wait for this reason. */
static struct ppu_why wait_channel(struct ppu_channel *channel, enum ppu_why_reason reason)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_why why = { 0 };

    do {
        check(ppu_channel_why(channel, &why));
    } while (why.reason != reason && deadline_left(deadline_ns) > 0);
    assert_int_equal(why.reason, reason);
    return why;
}

/* The channel has executed all, and a task of it is under way; with `busy` false: none is. */
static struct ppu_why wait_executed(struct ppu_channel *channel, bool busy)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_why why;

    do {
        why = wait_channel(channel, PPU_WHY_NOTHING);
    } while ((why.task != 0) != busy && deadline_left(deadline_ns) > 0);
    assert_true((why.task != 0) == busy);
    return why;
}

static struct ppu_why wait_task(struct ppu_device *device, uint32_t task, enum ppu_why_reason reason)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_why why = { 0 };

    do {
        check(ppu_task_why(device, task, &why));
    } while (why.reason != reason && deadline_left(deadline_ns) > 0);
    assert_int_equal(why.reason, reason);
    return why;
}

/* The handle of the task that the firmware accepted last. */
static uint32_t latest_task(struct api *api)
{
    struct ppu_trace_record records[64];
    uint32_t number = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE) - 64, task = 0, count;

    while ((count = ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &number, records, 64)) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            task = records[i].type == PPU_TRACE_LAUNCH ? records[i].id[1] : task;
        }
    }
    return task;
}

/* A wait that is over names the task that runs, and what the device does with it. */
static void time_is_over(void **state)
{
    struct api *api = *state;
    struct gate gate = gate_new(api);
    struct ppu_event event;
    struct ppu_error error;

    gate_launch(&gate, api->stream, 2, 0, &event);
    struct ppu_why why = wait_executed(api->channel, true);
    wait_task(api->device, why.task, PPU_WHY_RUNS);
    assert_int_equal(ppu_event_wait(&event, SHORT_NS), PPU_ERR_TIMEOUT);
    assert_int_equal(ppu_event_error(&event, &error), PPU_ERR_TIMEOUT);
    assert_int_equal(error.code, PPU_ERR_TIMEOUT);
    assert_non_null(strstr(error.text, "wait for an event: time is over; channel "));
    assert_non_null(strstr(error.text, "has executed all it was given, and 1 tasks and copies of it have not ended"));
    assert_non_null(strstr(error.text, "; task 0x"));
    assert_non_null(strstr(error.text, " runs in slot "));
    api_set_word(gate.memory, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(ppu_event_error(&event, &error), PPU_OK);
    wait_executed(api->channel, false);
    wait_task(api->device, why.task, PPU_WHY_NO_TASK); /* the firmware gives its record back last */
}

/* The second task of a stream waits behind the first. */
static void behind(void **state)
{
    struct api *api = *state;
    struct gate gate = gate_new(api);
    struct ppu_event event;

    gate_launch(&gate, api->stream, 1, 0, NULL);
    uint32_t running = 0;
    while (running == 0) {
        running = latest_task(api);
    }
    wait_task(api->device, running, PPU_WHY_RUNS);
    gate_launch(&gate, api->stream, 1, 0, NULL);
    uint32_t waiting = running;
    while (waiting == running) {
        waiting = latest_task(api);
    }
    check(ppu_stream_event(api->stream, &event));
    struct ppu_why first = wait_task(api->device, waiting, PPU_WHY_BEHIND);
    assert_int_equal(first.other, running);
    assert_int_equal(first.channel, wait_executed(api->channel, true).channel);
    api_set_word(gate.memory, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
}

static void at_a_semaphore(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const ppu_va_t sem = { api_va(api, memory) };
    struct ppu_block *block = NULL;
    struct ppu_event event;
    struct ppu_error error;

    check(ppu_block_begin(api->channel, &block));
    ppu_block_acquire(block, sem, 5, PPU_SEM_GREATER_EQUAL);
    check(ppu_block_submit(block, &event));
    struct ppu_why why = wait_channel(api->channel, PPU_WHY_SEMAPHORE);
    assert_int_equal(why.address, sem.va);
    assert_int_equal(ppu_event_error(&event, &error), PPU_ERR_TIMEOUT);
    assert_non_null(strstr(error.text, "waits until the semaphore at 0x"));
    assert_non_null(strstr(error.text, " is at least 5"));
    api_set_word(memory, 0, 5);
    check(ppu_event_wait(&event, LONG_NS));
}

/* A task that got no slot says so, and one that has no CTA on an SM. */
static void slots_are_taken(void **state)
{
    enum { MOST = 64 };
    struct api *api = *state;
    const uint32_t slots = ppu_slots_up_to(ppu_device_info(api->device)->slots, 0);
    struct gate gate = gate_new(api);
    struct ppu_stream *stream[MOST + 1];
    struct ppu_event event;

    assert_in_range(slots, 1, MOST);
    check(ppu_device_policy(api->device, PPU_POLICY_SLICE_US, 0));
    for (uint32_t i = 0; i <= slots; i++) {
        check(ppu_stream_create(api->channel, &stream[i]));
        gate_launch(&gate, stream[i], 1, 0, NULL);
    }
    channel_event(api->channel, &event);
    wait_channel(api->channel, PPU_WHY_IDLE);
    const uint32_t task = latest_task(api);
    struct ppu_why why = wait_task(api->device, task, PPU_WHY_NO_SLOT);
    assert_int_equal(why.other, slots);
    api_set_word(gate.memory, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
    for (uint32_t i = 0; i <= slots; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
}

static void after_a_fault(void **state)
{
    struct api *api = *state;
    const uint64_t nowhere = 0x7f0000000000;
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 1 }, .params = &nowhere, .param_bytes = sizeof(nowhere)
    };
    struct ppu_event event;
    struct ppu_error error;

    check(ppu_stream_launch(api->stream, api_kernel(api, api->context, "spin", "spin_until"), &launch, &event));
    assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_ERR_FAULT);
    struct ppu_why why = wait_channel(api->channel, PPU_WHY_FAULTED);
    assert_string_equal(why.text, "was stopped by fault UNMAPPED");
    assert_int_equal(ppu_event_error(&event, &error), PPU_ERR_FAULT);
    assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
    assert_int_equal(ppu_event_error(&event, NULL), PPU_ERR_FAULT);
    check(ppu_channel_reset(api->channel));
    assert_int_equal(ppu_event_error(&event, &error), PPU_ERR_CANCELLED);
}

/* A list of commands at an acquire, and a grid of the stream behind it. */
static void commands_wait(void **state)
{
    struct api *api = *state;
    struct gate gate = gate_new(api);
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_event event;

    api_set_word(gate.memory, 0, 1);
    check(ppu_stream_acquire(api->stream, (ppu_va_t){ api_va(api, sem) }, 1, PPU_SEM_EQUAL));
    gate_launch(&gate, api->stream, 1, 0, NULL);
    channel_event(api->channel, &event);
    struct ppu_why why = wait_channel(api->channel, PPU_WHY_IDLE);
    wait_task(api->device, latest_task(api), PPU_WHY_BEHIND);
    check(ppu_task_why(api->device, latest_task(api), &why));
    wait_task(api->device, why.other, PPU_WHY_COMMANDS);
    api_set_word(sem, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a wait that is over names the task that runs", time_is_over),
        api_test("a task waits behind another", behind),
        api_test("a channel waits at a semaphore", at_a_semaphore),
        api_test("a stream stands at a semaphore", commands_wait),
        api_test("a task waits for a slot", slots_are_taken),
        api_test("a channel was stopped by a fault", after_a_fault),
    };

    return cmocka_run_group_tests_name("api: why", tests, api_machine_setup, api_machine_teardown);
}
