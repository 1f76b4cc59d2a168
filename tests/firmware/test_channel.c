/* SPDX-License-Identifier: MIT */
/* Tests channels, command blocks, semaphores, copies and tasks through the whole firmware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/task.h"
#include "ppu/macros.h"
#include "ppu/trace.h"
#include "tests/firmware/stream.h"

#define US 1000ull
#define MS 1000000ull

#define AREA(n) (MOCK_MEMORY_VA + (n)*64ull * PPU_KIB)
#define SEM_VA AREA(14)
#define TMD_VA AREA(15)

static int setup(void **state)
{
    (void)state;
    mock_start();
    return 0;
}

static struct ppu_sem *sem_at(uint64_t va)
{
    return mock_at(va);
}

static void assert_fault(uint32_t channel, uint16_t code, uint64_t address)
{
    struct ppu_error_record record;
    assert_true(mock_error(&record));
    assert_int_equal(record.code, code);
    assert_int_equal(record.channel, channel);
    assert_int_equal(record.address, address);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_STATE, channel), PPU_CHANNEL_FAULTED);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_FAULT_CODE, channel), code);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_FAULT_ADDRESS, channel), address);
}

static uint16_t end_channel(uint16_t op, uint32_t channel)
{
    return mock_admin(op, &channel, 1).status;
}

/* ---- Rings. ---- */

static const uint32_t ring_sizes[] = { 2, 3, 4, 5, 7, 13, 64, 100, 1000, 4095 };

static void rings_of_any_size(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(ring_sizes); i++) {
        uint32_t entries = ring_sizes[i];
        struct stream s = stream_open(context, 0, entries, 7, 0);
        uint32_t done = 0;
        /* Batches of every length the ring can hold, more than twice round; one semaphore release a block. */
        for (uint32_t round = 0; done < 2 * entries + 3 || round < 6; round++) {
            uint32_t batch = 1 + round % (entries - 1 < 40 ? entries - 1 : 40);
            for (uint32_t n = 0; n < batch; n++) {
                done++;
                stream_release(&s, SEM_VA + 16 * (done % 8), done);
                stream_put(&s, stream_close_block(&s, done));
            }
            mock_doorbell(s.channel, s.put);
            assert_int_equal(stream_get(&s), s.put);
            assert_int_equal(stream_get(&s), done % entries);
            assert_int_equal(sem_at(SEM_VA + 16 * (done % 8))->payload, done);
        }
        assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, s.channel), 0);
    }
    assert_int_equal(mock.raised[PPU_VECTOR_ERROR], 0);
}

static void put_beyond_the_ring(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 6, 7, 0);
    mock_doorbell(s.channel, 6);
    assert_fault(s.channel, PPU_FAULT_GP_INDEX, 6);
    assert_int_equal(mock.raised[PPU_VECTOR_ERROR], 1);
}

static void ring_without_memory(void **state)
{
    (void)state;
    uint32_t channel = mock_channel(mock_context(), 0x7000000000ull, 16, 7, 0);
    mock_doorbell(channel, 1);
    assert_fault(channel, PPU_FAULT_BLOCK_MEMORY, 0x7000000000ull);
}

static void doorbell_of_closed_channel(void **state)
{
    (void)state;
    struct ppu_error_record record;
    mock_doorbell(9, 1);
    assert_true(mock_error(&record));
    assert_int_equal(record.code, PPU_FAULT_NO_CHANNEL);
    assert_int_equal(record.channel, 9);
    assert_false(mock_error(&record));
}

/* ---- Bad blocks: words after the header, and what comes of them. ---- */

struct bad_method {
    const char *what;
    uint32_t word[6];
    uint32_t words;
    uint16_t code;
    uint64_t payload;
};

#define M(method, count) PPU_METHOD_WORD(PPU_METHOD_##method, count)

static const struct bad_method bad_methods[] = {
    { "unknown method", { PPU_METHOD_WORD(0x7ff, 0) }, 1, PPU_FAULT_METHOD_UNKNOWN, PPU_METHOD_WORD(0x7ff, 0) },
    { "first unknown method", { PPU_METHOD_WORD(10, 0) }, 1, PPU_FAULT_METHOD_UNKNOWN, 10 },
    { "reserved bit 12", { 1u << 12 }, 1, PPU_FAULT_METHOD_UNKNOWN, 1u << 12 },
    { "reserved bit 31", { 1u << 31 }, 1, PPU_FAULT_METHOD_UNKNOWN, 1u << 31 },
    { "too few data words", { M(SEM_RELEASE, 3), 0, 0, 0 }, 4, PPU_FAULT_METHOD_COUNT, M(SEM_RELEASE, 3) },
    { "too many data words", { M(WAIT_IDLE, 1), 0 }, 2, PPU_FAULT_METHOD_COUNT, M(WAIT_IDLE, 1) },
    { "past the end of the block", { M(SEM_RELEASE, 4), 0, 0, 0 }, 4, PPU_FAULT_METHOD_COUNT, M(SEM_RELEASE, 4) },
    { "nop past the end", { M(NOP, 5), 0, 0, 0, 0 }, 5, PPU_FAULT_METHOD_COUNT, M(NOP, 5) },
    { "misaligned acquire", { M(SEM_ACQUIRE, 4), (uint32_t)SEM_VA + 4 }, 5, PPU_FAULT_SEM_ALIGN, SEM_VA + 4 },
    { "misaligned release", { M(SEM_RELEASE, 4), (uint32_t)SEM_VA + 8 }, 5, PPU_FAULT_SEM_ALIGN, SEM_VA + 8 },
    { "unknown comparison", { M(SEM_ACQUIRE, 4), (uint32_t)SEM_VA, 0, 0, 2 }, 5, PPU_FAULT_METHOD_DATA, 2 },
    { "unknown release flag", { M(SEM_RELEASE, 4), (uint32_t)SEM_VA, 0, 0, 2 }, 5, PPU_FAULT_METHOD_DATA, 2 },
    { "acquire of nothing", { M(SEM_ACQUIRE, 4), 0, 1 }, 5, PPU_FAULT_SEM_MEMORY, 1ull << 32 },
    { "release of nothing", { M(SEM_RELEASE, 4), 0, 2 }, 5, PPU_FAULT_SEM_MEMORY, 2ull << 32 },
    { "misaligned TMD", { M(LAUNCH, 3), (uint32_t)TMD_VA + 32 }, 4, PPU_FAULT_TMD_ALIGN, TMD_VA + 32 },
    { "TMD of nothing", { M(LAUNCH, 3), 0, 3 }, 4, PPU_FAULT_TMD_MEMORY, 3ull << 32 },
    { "no such stream", { M(LAUNCH, 3), (uint32_t)TMD_VA, 0, 32 }, 4, PPU_FAULT_NO_STREAM, 32 },
};

static void bad_methods_are_refused(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream good = stream_open(context, 1, 16, 7, 0);
    struct stream s = stream_open(context, 0, 16, 7, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad_methods); i++) {
        const struct bad_method *bad = &bad_methods[i];
        print_message("# %s\n", bad->what);
        stream_method(&s, PPU_METHOD_NOP, 1, NULL);
        memcpy((uint32_t *)mock_at(s.block_va) + s.len, bad->word, bad->words * 4);
        s.len += bad->words;
        stream_submit(&s);
        assert_int_equal(mock_query(PPU_KEY_CHANNEL_FAULT_PC, s.channel), sizeof(struct ppu_block_header) / 4 + 2);
        assert_fault(s.channel, bad->code, bad->payload);
        stream_release(&good, SEM_VA, i + 1);
        stream_submit(&good);
        assert_int_equal(sem_at(SEM_VA)->payload, i + 1);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_RESET, s.channel), 0);
        assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
        s.put = 0;
    }
}

struct bad_entry {
    const char *what;
    uint64_t entry;
    uint16_t code;
    uint64_t payload;
};

#define BLOCK_VA AREA(2)

static const struct bad_entry bad_entries[] = {
    { "length 0", BLOCK_VA, PPU_FAULT_BLOCK_LENGTH, 0 },
    { "shorter than its header", BLOCK_VA | 3ull << 48, PPU_FAULT_BLOCK_LENGTH, 3 },
    { "too long", BLOCK_VA | 1025ull << 48, PPU_FAULT_BLOCK_LENGTH, 1025 },
    { "reserved bits", BLOCK_VA | 1 | 4ull << 48, PPU_FAULT_GP_ENTRY, BLOCK_VA | 1 | 4ull << 48 },
    { "not mapped", 0x123400000000ull | 4ull << 48, PPU_FAULT_BLOCK_MEMORY, 0x123400000000ull },
    { "beyond memory", (MOCK_MEMORY_VA + MOCK_MEMORY_BYTES - 8) | 4ull << 48, PPU_FAULT_BLOCK_MEMORY,
      MOCK_MEMORY_VA + MOCK_MEMORY_BYTES - 8 },
    { "header says another length", BLOCK_VA | 5ull << 48, PPU_FAULT_BLOCK_HEADER, BLOCK_VA },
};

static void bad_entries_are_refused(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    const struct ppu_block_header header = { { PPU_BLOCK_VERSION, sizeof(header) }, 4, 0, 0 };
    memcpy(mock_at(BLOCK_VA), &header, sizeof(header));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad_entries); i++) {
        print_message("# %s\n", bad_entries[i].what);
        s.put = 0;
        stream_put(&s, bad_entries[i].entry);
        mock_doorbell(s.channel, s.put);
        assert_fault(s.channel, bad_entries[i].code, bad_entries[i].payload);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_RESET, s.channel), 0);
    }
}

static void bad_headers_are_refused(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    const struct ppu_block_header headers[] = {
        { { 0, 16 }, 4, 0, 0 }, { { 2, 16 }, 4, 0, 0 }, { { 1, 20 }, 4, 0, 0 },
        { { 1, 16 }, 3, 0, 0 }, { { 1, 16 }, 4, 0, 1 },
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(headers); i++) {
        memcpy(mock_at(BLOCK_VA), &headers[i], sizeof(headers[i]));
        s.put = 0;
        stream_put(&s, ppu_gp_entry(BLOCK_VA, 4));
        mock_doorbell(s.channel, s.put);
        assert_fault(s.channel, PPU_FAULT_BLOCK_HEADER, BLOCK_VA);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_RESET, s.channel), 0);
    }
}

/* ---- Semaphores. ---- */

static void acquire_compares(void **state)
{
    (void)state;
    static const struct {
        uint32_t payload, wanted, compare;
        bool passes;
    } rows[] = {
        { 5, 5, PPU_SEM_EQUAL, true },
        { 6, 5, PPU_SEM_EQUAL, false },
        { 6, 5, PPU_SEM_GREATER_EQUAL, true },
        { 4, 5, PPU_SEM_GREATER_EQUAL, false },
        { 2, 0xfffffffe, PPU_SEM_GREATER_EQUAL, true },
        { 0xfffffffe, 2, PPU_SEM_GREATER_EQUAL, false },
    };
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        sem_at(SEM_VA)->payload = rows[i].payload;
        stream_acquire(&s, SEM_VA, rows[i].wanted, rows[i].compare);
        stream_submit(&s);
        assert_int_equal(stream_state(&s), rows[i].passes ? PPU_CHANNEL_IDLE : PPU_CHANNEL_PARKED);
        assert_int_equal(mock.sem[s.channel].armed, !rows[i].passes);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_RESET, s.channel), 0);
        assert_false(mock.sem[s.channel].armed);
        s.put = 0;
    }
}

enum wake { BY_RELEASE, BY_DOORBELL, BY_TIMER };

static void parked_channel_wakes(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    for (enum wake wake = BY_RELEASE; wake <= BY_TIMER; wake++) {
        struct stream waiter = stream_open(context, 0, 16, 7, 0);
        struct stream releaser = stream_open(context, 1, 16, 7, 0);
        memset(sem_at(SEM_VA), 0, 2 * sizeof(struct ppu_sem));
        stream_acquire(&waiter, SEM_VA, 1, PPU_SEM_EQUAL);
        stream_release(&waiter, SEM_VA + 16, 9);
        stream_submit(&waiter);
        assert_int_equal(stream_state(&waiter), PPU_CHANNEL_PARKED);
        assert_int_equal(stream_get(&waiter), 0);
        /* Other blocks pass through the buffer meanwhile. */
        stream_method(&releaser, PPU_METHOD_NOP, 3, NULL);
        stream_submit(&releaser);
        if (wake == BY_RELEASE) {
            stream_release(&releaser, SEM_VA, 1);
            stream_submit(&releaser);
        } else {
            sem_at(SEM_VA)->payload = 1;
            mock_settle();
            assert_int_equal(stream_state(&waiter), PPU_CHANNEL_PARKED);
            if (wake == BY_DOORBELL) {
                mock_doorbell(waiter.channel, waiter.put);
            } else {
                mock_advance(100 * US);
            }
        }
        assert_int_equal(stream_state(&waiter), PPU_CHANNEL_IDLE);
        assert_int_equal(sem_at(SEM_VA + 16)->payload, 9);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, waiter.channel), 0);
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, releaser.channel), 0);
    }
}

/* Counts tests of a parked semaphore by the tag, which every test changes. */
static void retests_slow_down(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    stream_acquire(&s, SEM_VA, 1, PPU_SEM_EQUAL);
    stream_submit(&s);
    uint32_t tag = mock.sem[s.channel].tag;
    mock_advance(99 * US);
    assert_int_equal(mock.sem[s.channel].tag, tag);
    mock_advance(1 * US);
    assert_int_equal(mock.sem[s.channel].tag, tag + 1);
    mock_advance(199 * US);
    assert_int_equal(mock.sem[s.channel].tag, tag + 1);
    mock_advance(1 * US);
    assert_int_equal(mock.sem[s.channel].tag, tag + 2);
    mock_advance(100 * MS);
    tag = mock.sem[s.channel].tag;
    mock_advance(100 * MS);
    assert_int_equal(mock.sem[s.channel].tag, tag + 10);
}

static void stale_touch_is_ignored(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    stream_acquire(&s, SEM_VA, 1, PPU_SEM_EQUAL);
    stream_submit(&s);
    uint32_t tag = mock.sem[s.channel].tag;
    const struct ppu_touch_event stale[] = { { .entry = s.channel, .tag = tag - 1 }, { .entry = 5000, .tag = tag } };
    mock_push(PPU_RING_TOUCH, &stale[0]);
    mock_push(PPU_RING_TOUCH, &stale[1]);
    mock_settle();
    assert_int_equal(mock.sem[s.channel].tag, tag);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_PARKED);
}

static void destroying_a_parked_channel(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream s = stream_open(context, 0, 16, 7, 0);
    stream_acquire(&s, SEM_VA, 1, PPU_SEM_EQUAL);
    stream_submit(&s);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &context, 1).status, PPU_FAULT_IN_USE);
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, s.channel), 0);
    assert_false(mock.sem[s.channel].armed);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_CLOSED);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &context, 1).status, 0);
    assert_int_equal(mock.reg[PPU_REG_CTX_ROOT / 4 + context], 0);
    mock_advance(20 * MS);
}

/* ---- Tasks. ---- */

static uint32_t running_slot(uint32_t correlation)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        const struct ppu_tmd *tmd = (const void *)(mock.vram + mock.slot_task[i]);
        if (mock.slot_task[i] && tmd->correlation == correlation) {
            return i;
        }
    }
    fail_msg("task %u has no slot", correlation);
    return 0;
}

static bool runs(uint32_t correlation)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        const struct ppu_tmd *tmd = (const void *)(mock.vram + mock.slot_task[i]);
        if (mock.slot_task[i] && tmd->correlation == correlation) {
            return true;
        }
    }
    return false;
}

static void finish(uint32_t correlation)
{
    mock_slot_event(running_slot(correlation), PPU_SLOT_DONE, 0);
    mock_settle();
}

static void launch(struct stream *s, uint32_t correlation, uint32_t priority, uint32_t flags, uint32_t tmdq)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = (uint8_t)priority;
    tmd.flags = (uint16_t)flags;
    stream_launch(s, TMD_VA, &tmd, tmdq);
    stream_submit(s);
}

/* What the launcher leaves in the firmware's part of the TMD is not read. */
static void launch_fills_the_copy(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 5, 0);
    struct ppu_tmd tmd = mock_tmd(0);
    memset((uint8_t *)&tmd + PPU_TMD_LAUNCHER_BYTES, 0xa5, sizeof(tmd) - PPU_TMD_LAUNCHER_BYTES);
    tmd.priority = 7;
    tmd.param_va = AREA(3);
    tmd.param_bytes = 100;
    memset(mock_at(AREA(3)), 0x5a, 100);
    stream_launch(&s, TMD_VA, &tmd, 2);
    stream_submit(&s);
    assert_int_equal(mock.started, 1);
    uint32_t slot = running_slot(77);
    const struct ppu_tmd *copy = (const void *)(mock.vram + mock.slot_task[slot]);
    assert_int_equal(copy->priority, 5);
    assert_int_equal(copy->context, s.context);
    assert_int_equal(copy->channel, s.channel);
    assert_int_not_equal(copy->task, PPU_TASK_NULL);
    assert_memory_equal(mock.vram + copy->params_vram, mock_at(AREA(3)), 100);
    const struct ppu_tmd expected = {
        .context = copy->context,
        .task = copy->task,
        .channel = copy->channel,
        .params_vram = copy->params_vram,
        .depth = 1,
    };
    assert_memory_equal(&copy->taskq_limit, &expected.taskq_limit, sizeof(expected) - PPU_TMD_LAUNCHER_BYTES);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_PENDING, s.channel), 1);
    assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, s.context), 1);
    finish(77);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_PENDING, s.channel), 0);
    assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, s.context), 0);
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), mock_query(PPU_KEY_TASKS_TOTAL, 0));
}

static void stream_order(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 7, 0);
    for (uint32_t n = 1; n <= 3; n++) {
        launch(&s, 10 + n, 3, 0, 0);
        launch(&s, 20 + n, 3, 0, 1);
    }
    assert_true(runs(11) && runs(21));
    assert_int_equal(mock.started, 2);
    finish(21);
    assert_true(runs(11) && runs(22));
    finish(22);
    finish(23);
    assert_true(runs(11));
    assert_int_equal(mock.started, 4);
    finish(11);
    finish(12);
    finish(13);
    assert_int_equal(mock.started, 6);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
}

/* What the launch of the running task with this correlation left in its status. */
static const struct ppu_task_status *status_of(uint32_t correlation)
{
    const struct ppu_tmd *copy = (const void *)(mock.vram + mock.slot_task[running_slot(correlation)]);
    const struct ppu_task_status *status = task_status(task_find(copy->task));

    assert_int_equal(status->task, copy->task);
    return status;
}

/* Each launch makes one: who the task is, nothing behind it yet, and where it was launched from. */
static void a_launch_makes_a_status(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 7, 0);
    launch(&s, 11, 3, 0, 1);
    launch(&s, 21, 3, 0, PPU_STREAM_NONE);
    const struct ppu_task_status *first = status_of(11), *alone = status_of(21);
    assert_int_not_equal(first->task, alone->task);
    assert_int_equal(first->next_stream, PPU_TASK_NULL);
    assert_int_equal(first->group, s.context);
    assert_int_equal(first->stream, 1);
    assert_int_equal(alone->next_stream, PPU_TASK_NULL);
    assert_int_equal(alone->group, s.context);
    assert_int_equal(alone->stream, PPU_STREAM_NONE);
    launch(&s, 12, 3, 0, 1);
    uint32_t second = first->next_stream;
    assert_int_not_equal(second, PPU_TASK_NULL);
    finish(11);
    assert_int_equal(status_of(12)->task, second);
    assert_int_equal(status_of(12)->next_stream, PPU_TASK_NULL);
    finish(12);
    finish(21);
}

static void priorities_and_head(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 6, 0);
    for (uint32_t n = 0; n < MOCK_SLOTS; n++) {
        launch(&s, 1 + n, 0, 0, PPU_STREAM_NONE);
    }
    launch(&s, 30, 2, 0, PPU_STREAM_NONE);
    launch(&s, 31, 2, 0, PPU_STREAM_NONE);
    launch(&s, 32, 2, PPU_TMD_HEAD, PPU_STREAM_NONE);
    launch(&s, 33, 7, 0, PPU_STREAM_NONE); /* capped by the channel's 6 */
    launch(&s, 34, 6, 0, PPU_STREAM_NONE);
    launch(&s, 35, 0, 0, PPU_STREAM_NONE);
    const uint32_t expected[] = { 33, 34, 32, 30, 31, 35 };
    for (uint32_t n = 0; n < 6; n++) {
        mock_slot_event(0, PPU_SLOT_DONE, 0);
        mock_settle();
        assert_int_equal(mock.start_log[MOCK_SLOTS + n], expected[n]);
    }
}

static void wait_idle_waits(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    launch(&s, 1, 3, 0, 0);
    stream_copy(&s, AREA(4), AREA(5), 100);
    stream_method(&s, PPU_METHOD_WAIT_IDLE, 0, NULL);
    stream_release(&s, SEM_VA, 4);
    stream_submit(&s);
    memset(mock_at(AREA(4)), 0x33, 100);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    finish(1);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    assert_int_equal(sem_at(SEM_VA)->payload, 0);
    mock_copy_end(0, 0);
    mock_settle();
    assert_int_equal(sem_at(SEM_VA)->payload, 4);
    assert_memory_equal(mock_at(AREA(5)), mock_at(AREA(4)), 100);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
}

static void interrupt_raises(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream loud = stream_open(context, 0, 16, 7, 5);
    struct stream quiet = stream_open(context, 1, 16, 7, 0);
    stream_method(&loud, PPU_METHOD_INTERRUPT, 0, NULL);
    stream_submit(&loud);
    stream_method(&quiet, PPU_METHOD_INTERRUPT, 0, NULL);
    stream_submit(&quiet);
    assert_int_equal(mock.raised[5], 1);
    assert_int_equal(mock.raised[0], 0);
}

static void push_fault(uint32_t slot, uint16_t code, uint64_t address)
{
    const struct ppu_fault_event event = {
        .code = code,
        .access = PPU_ACCESS_WRITE,
        .sm = 1,
        .slot = slot,
        .task = mock.slot_task[slot],
        .address = address,
        .pc = 0x108,
        .lanes = 0xf,
        .warp = 2,
        .cta = { 1, 2, 3 },
    };
    mock_push(PPU_RING_FAULT, &event);
}

static void fault_of_a_task(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream bad = stream_open(context, 0, 16, 7, 0);
    struct stream good = stream_open(context, 1, 16, 7, 0);
    launch(&bad, 1, 3, 0, 0);
    launch(&bad, 2, 3, 0, 0);  /* behind 1 */
    launch(&bad, 3, 3, 0, 1);  /* runs beside it */
    launch(&good, 4, 3, 0, 0); /* behind 2, in the same TMDQ */
    uint32_t slot = running_slot(1);
    push_fault(slot, PPU_FAULT_UNMAPPED, 0xdead000);
    mock_slot_event(slot, PPU_SLOT_KILLED, 0);
    mock_settle();
    struct ppu_error_record record;
    assert_true(mock_error(&record));
    assert_int_equal(record.code, PPU_FAULT_UNMAPPED);
    assert_int_equal(record.channel, bad.channel);
    assert_int_equal(record.address, 0xdead000);
    assert_int_equal(record.pc, 0x108);
    assert_int_equal(record.lanes, 0xf);
    assert_int_equal(record.warp, 2);
    assert_int_equal(record.cta[2], 3);
    assert_int_equal(record.correlation, 1);
    assert_false(mock_error(&record));
    assert_int_equal(stream_state(&bad), PPU_CHANNEL_FAULTED);
    assert_false(runs(2));
    assert_false(runs(3));
    assert_true(runs(4));
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_PENDING, bad.channel), 0);
    finish(4);
    assert_int_equal(stream_state(&good), PPU_CHANNEL_IDLE);
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_RESET, bad.channel), 0);
    bad.put = 0;
    launch(&bad, 5, 3, 0, 0);
    finish(5);
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), mock_query(PPU_KEY_TASKS_TOTAL, 0));
}

/* The fault ring may be looked at before the fault is in it, and the slot ring after both are. */
static void fault_is_found_before_its_end(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    launch(&s, 1, 3, 0, 0);
    for (uint32_t i = 0; i < 20; i++) {
        const struct ppu_fault_event stale = { .code = PPU_FAULT_TRAP, .slot = i, .task = 64 };
        mock_push(PPU_RING_FAULT, &stale);
    }
    push_fault(running_slot(1), PPU_FAULT_TRAP, 42);
    mock_slot_event(running_slot(1), PPU_SLOT_KILLED, 0);
    mock_settle();
    assert_fault(s.channel, PPU_FAULT_TRAP, 42);
}

static void reset_waits_for_the_kill(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    launch(&s, 1, 3, 0, 0);
    stream_copy(&s, AREA(4), AREA(5), 64);
    stream_submit(&s);
    mock.hold_kills = true;
    struct ppu_admin_msg request = {
        .head = { PPU_ADMIN_VERSION, sizeof(request) }, .op = PPU_ADMIN_CHANNEL_RESET, .seq = 9, .arg = { s.channel }
    };
    struct ppu_admin_msg reply;
    mock_admin_send(&request);
    assert_false(mock_admin_reply(&reply));
    assert_int_equal(mock.copies, 0); /* cancelled */
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, s.channel), PPU_FAULT_IN_USE);
    mock_slot_event(running_slot(1), PPU_SLOT_KILLED, 0);
    mock_settle();
    assert_true(mock_admin_reply(&reply));
    assert_int_equal(reply.seq, 9);
    assert_int_equal(reply.status, 0);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
    assert_int_equal(stream_get(&s), 0);
}

static void cancel_spares_other_channels(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream doomed = stream_open(context, 0, 16, 7, 0);
    struct stream other = stream_open(context, 1, 16, 7, 0);
    memset(mock_at(AREA(4)), 0x77, 1000);
    stream_copy(&doomed, AREA(4), AREA(6), 500);
    stream_submit(&doomed);
    stream_copy(&other, AREA(4), AREA(5), 1000);
    stream_submit(&other);
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, doomed.channel), 0);
    assert_int_equal(mock.copies, 1);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_PENDING, other.channel), 1);
    mock_copy_end(0, 0);
    mock_settle();
    assert_memory_equal(mock_at(AREA(5)), mock_at(AREA(4)), 1000);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_PENDING, other.channel), 0);
    assert_int_equal(stream_state(&other), PPU_CHANNEL_IDLE);
}

static void failed_copy_faults(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    stream_copy(&s, AREA(4), 0x5000000000ull, 64);
    stream_submit(&s);
    mock_copy_end(PPU_FAULT_UNMAPPED, 0);
    mock_settle();
    assert_fault(s.channel, PPU_FAULT_COPY_MEMORY, 0);
}

static void full_copy_queue_waits(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 7, 0);
    for (uint32_t block = 0; block < 5; block++) {
        for (uint32_t i = 0; i < 60; i++) {
            stream_copy(&s, AREA(4), AREA(5), 4);
        }
        stream_submit(&s);
    }
    assert_int_equal(mock.copies, PPU_MAX_COPIES);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    uint32_t ended = 0;
    for (; mock.copies; ended++) {
        mock_copy_end(0, 0);
        mock_settle();
    }
    assert_int_equal(ended, 300);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
}

static void exhausted_records_wait(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 7, 0);
    uint32_t total = mock_info()->tasks;
    struct ppu_tmd tmd = mock_tmd(0);
    for (uint32_t launched = 0; launched < total + 100;) {
        for (uint32_t i = 0; i < 100; i++, launched++) {
            stream_launch(&s, TMD_VA, &tmd, 0);
        }
        stream_submit(&s);
    }
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), 0);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    while (mock.slot_task[0]) {
        mock_slot_event(0, PPU_SLOT_DONE, 0);
        mock_settle();
    }
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
    assert_in_range(mock.started, total + 100, total + 199);
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), total);
}

static void refused_slot_faults(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    launch(&s, 1, 3, 0, 0);
    mock_slot_event(running_slot(1), PPU_SLOT_REFUSED, PPU_FAULT_TMD_WAVE);
    mock_settle();
    assert_fault(s.channel, PPU_FAULT_TMD_WAVE, 0);
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), mock_query(PPU_KEY_TASKS_TOTAL, 0));
}

static void start_request_faults(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    launch(&s, 1, 3, 0, 0);
    uint32_t slot = running_slot(1);
    const struct ppu_start_event event = { .slot = slot, .task = mock.slot_task[slot], .handle = 0x12345 };
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_fault(s.channel, PPU_FAULT_BAD_START, 0x12345);
    assert_false(runs(1));
}

/* A channel with endless work must not keep others from their turn, whatever the priorities. */
static void turns_are_fair(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream high = stream_open(context, 0, 64, 7, 0);
    struct stream low = stream_open(context, 1, 16, 0, 0);
    for (uint32_t block = 0; block < 30; block++) {
        for (uint32_t i = 0; i < 100; i++) {
            stream_method(&high, PPU_METHOD_NOP, 0, NULL);
        }
        if (block == 20) {
            stream_acquire(&high, SEM_VA, 1, PPU_SEM_EQUAL); /* passes only if `low` came in between */
        }
        stream_put(&high, stream_close_block(&high, 0));
    }
    stream_release(&low, SEM_VA, 1);
    stream_put(&low, stream_close_block(&low, 0));
    mock.reg[PPU_REG_GP_PUT / 4 + low.channel] = low.put;
    mock.reg[PPU_REG_DB_PENDING / 4] |= 1u << low.channel;
    mock_doorbell(high.channel, high.put);
    assert_int_equal(stream_state(&high), PPU_CHANNEL_IDLE);
    assert_int_equal(mock.marks[PPU_MARK_ACQUIRE_PASSED & 15], 1);
}

/* The words of a TMDQ and of its tasks lie where the host can write. */
static void scribbled_tmdq_harms_its_context_only(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    uint32_t other_context = mock_context();
    static const uint32_t values[] = { 0, 1, 0xffffffff, 0x00100000, 0x00100001, 0xfff00003, 0x001fffff };
    struct stream good = stream_open(other_context, 1, 16, 7, 0);
    struct ppu_error_record record;
    for (uint32_t i = 0; i < 2 * PPU_ARRAY_SIZE(values); i++) {
        struct stream s = stream_open(context, 0, 16, 7, 0);
        launch(&s, 1, 3, 0, 0);
        launch(&s, 2, 3, 0, 0);
        /* Group 0 and the status words are found by their contents: the running task's handle. */
        const struct ppu_tmd *tmd = (const void *)(mock.vram + mock.slot_task[running_slot(1)]);
        for (uint32_t at = 0; at < mock.reg[PPU_REG_PROT_LIMIT / 4]; at += 4) {
            uint32_t *word = (uint32_t *)(void *)(mock.vram + at);
            bool is_status = word[0] == tmd->task && word[2] == context && at % 16 == 0;
            if (is_status && i % 2 == 0) {
                word[1] = values[i / 2];
            } else if (word[0] == ((tmd->task + 1) & 0xfffff) + (tmd->task & 0xfff00000) && i % 2 == 1) {
                word[0] = values[i / 2]; /* last_task of the TMDQ, and all else that names task 2 */
            }
        }
        if (runs(1)) {
            finish(1);
        }
        launch(&good, 50, 3, 0, 0);
        finish(50);
        if (runs(2)) {
            finish(2);
        }
        assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, s.channel), 0);
        while (mock_error(&record)) {
            assert_int_equal(record.channel, s.channel);
        }
        assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, context), 0);
        assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), mock_query(PPU_KEY_TASKS_TOTAL, 0));
        good.put = stream_get(&good);
    }
}

/* Accesses to registers for a doorbell of the last channel, when as many have nothing to do as the device has. */
static uint32_t doorbell_accesses(uint32_t channels)
{
    mock_start_with_channels(channels);
    const uint32_t context = mock_context();
    uint32_t last = 0;
    for (uint32_t i = 0; i < channels; i++) {
        last = mock_channel(context, MOCK_MEMORY_VA, 16, i % PPU_PRIORITIES, 0);
        assert_int_equal(last, i);
    }
    const uint32_t before = mock.accesses;
    mock_doorbell(last, 0);
    const uint32_t accesses = mock.accesses - before;
    /* The lowest number that was closed is opened next. */
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, 7), 0);
    assert_int_equal(end_channel(PPU_ADMIN_CHANNEL_DESTROY, 3), 0);
    assert_int_equal(mock_channel(context, MOCK_MEMORY_VA, 16, 0, 0), 3);
    assert_int_equal(mock_channel(context, MOCK_MEMORY_VA, 16, 0, 0), 7);
    mock_stop();
    return accesses;
}

static void doorbell_of_the_last_of_many(void **state)
{
    (void)state;
    const uint32_t of_ten = doorbell_accesses(10);
    assert_in_range(of_ten, 3, 20);
    assert_int_equal(doorbell_accesses(PPU_MAX_CHANNELS), of_ten);
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("rings of any size wrap and execute every block [A2]", rings_of_any_size),
        TEST("GP_PUT beyond the ring is a fault [A2]", put_beyond_the_ring),
        TEST("a ring that is not mapped is a fault [A2]", ring_without_memory),
        TEST("the doorbell of a closed channel is reported [A2]", doorbell_of_closed_channel),
        { "a doorbell costs as much at 4,096 channels as at 10 [A2]", doorbell_of_the_last_of_many, mock_setup,
          mock_teardown, NULL },
        TEST("bad methods fault their channel alone [A2]", bad_methods_are_refused),
        TEST("bad ring entries are faults [A2]", bad_entries_are_refused),
        TEST("bad block headers are faults [A2]", bad_headers_are_refused),
        TEST("acquire compares as equal or as a counter [C8]", acquire_compares),
        TEST("a parked channel wakes by touch, doorbell and timer [C8]", parked_channel_wakes),
        TEST("retests of a parked channel slow down to 10 ms [C8]", retests_slow_down),
        TEST("stale touches are ignored [C8]", stale_touch_is_ignored),
        TEST("a parked channel can be destroyed [C8]", destroying_a_parked_channel),
        TEST("a launch copies parameters and fills in the firmware's fields [A11]", launch_fills_the_copy),
        TEST("tasks of a stream run in order, streams apart [B2] [B10]", stream_order),
        TEST("a launch makes a status of its task [B5]", a_launch_makes_a_status),
        TEST("priorities, head insertion and the channel's cap [A3] [A4]", priorities_and_head),
        TEST("wait for idle covers tasks and copies [C8]", wait_idle_waits),
        TEST("the interrupt method raises the channel's vector", interrupt_raises),
        TEST("a task's fault ends its channel's work and no other [A9]", fault_of_a_task),
        TEST("a fault is reported although its slot ended first [A9]", fault_is_found_before_its_end),
        TEST("reset is answered when nothing runs any more [A2]", reset_waits_for_the_kill),
        TEST("cancelling one channel's copies spares another's [C8]", cancel_spares_other_channels),
        TEST("a failed copy faults its channel [A9]", failed_copy_faults),
        TEST("a full copy queue makes the channel wait [C8]", full_copy_queue_waits),
        TEST("exhausted task records make the channel wait", exhausted_records_wait),
        TEST("a TMD the device refuses is a fault [A11]", refused_slot_faults),
        TEST("a start request that names no task is a fault [B4]", start_request_faults),
        TEST("turns are fair whatever the priorities [A3]", turns_are_fair),
        TEST("scribbled TMDQ words harm their context alone [B4] [B6]", scribbled_tmdq_harms_its_context_only),
    };
    return cmocka_run_group_tests_name("firmware: channels", tests, NULL, NULL);
}
