/* SPDX-License-Identifier: MIT */
/* Tests tasks that are lists of commands (B15) through the whole firmware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/stream.h"

#define MS 1000000ull
#define AREA(n) (MOCK_MEMORY_VA + (n)*64ull * PPU_KIB)
#define FROM_VA AREA(12)
#define TO_VA AREA(13)
#define SEM_VA AREA(14)
#define TMD_VA AREA(15)
#define GAP 4096u /* between descriptors */

static int setup(void **state)
{
    (void)state;
    mock_start();
    return 0;
}

static struct ppu_sem *sem(uint32_t number)
{
    return (struct ppu_sem *)mock_at(SEM_VA) + number;
}

static uint64_t sem_va(uint32_t number)
{
    return SEM_VA + sizeof(struct ppu_sem) * number;
}

/* What is added up to commands_end() is a task of the stream. Returns where the method stands. */
static uint32_t commands(struct stream *s, uint32_t tmdq)
{
    uint32_t word = s->len;
    stream_method(s, PPU_METHOD_ENQUEUE, 1, &tmdq);
    return word;
}

static void commands_end(struct stream *s, uint32_t word)
{
    ((uint32_t *)mock_at(s->block_va))[word] = PPU_METHOD_WORD(PPU_METHOD_ENQUEUE, s->len - word - 1);
}

static void fill(struct stream *s, uint64_t to, uint32_t bytes, uint32_t value)
{
    const uint32_t data[] = { (uint32_t)to, (uint32_t)(to >> 32), bytes, value };
    stream_method(s, PPU_METHOD_FILL, 4, data);
}

static void grid(struct stream *s, uint32_t number, uint32_t tmdq)
{
    const struct ppu_tmd tmd = mock_tmd(number);
    stream_launch(s, TMD_VA + (uint64_t)GAP * number, &tmd, tmdq);
}

/* The one slot that has a task ends. */
static void grid_ends(void)
{
    uint32_t slot = 0;
    while (!mock.slot_task[slot]) {
        slot++;
    }
    mock_slot_event(slot, PPU_SLOT_DONE, 0);
    mock_settle();
}

static void copy_ends(void)
{
    mock_copy_end(0, 0);
    mock_settle();
}

static void expect_fault(const struct stream *s, uint16_t code, uint64_t address)
{
    struct ppu_error_record record;
    assert_true(mock_error(&record));
    assert_int_equal(record.code, code);
    assert_int_equal(record.channel, s->channel);
    assert_int_equal(record.address, address);
    assert_int_equal(stream_state(s), PPU_CHANNEL_FAULTED);
}

static void reset(struct stream *s)
{
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &s->channel, 1).status, 0);
    s->put = 0;
}

/* grid, copy, fill, release, grid of one stream: each begins when the one before it has ended. */
static void in_order_with_grids(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 5);
    memset(mock_at(FROM_VA), 0x5a, 100);
    grid(&s, 1, 3);
    uint32_t list = commands(&s, 3);
    stream_copy(&s, FROM_VA, TO_VA, 100);
    commands_end(&s, list);
    list = commands(&s, 3);
    fill(&s, TO_VA + 100, 1000, 0x01020304);
    stream_release(&s, sem_va(0), 7);
    stream_method(&s, PPU_METHOD_INTERRUPT, 0, NULL);
    commands_end(&s, list);
    grid(&s, 2, 3);
    stream_release(&s, sem_va(1), 1); /* the channel's own: it has not waited for anything */
    stream_submit(&s);

    assert_int_equal(sem(1)->payload, 1);
    assert_int_equal(mock.started, 1);
    assert_int_equal(mock.copies, 0);
    grid_ends();
    assert_int_equal(mock.copies, 1);
    assert_int_equal(sem(0)->payload, 0);
    copy_ends();
    assert_int_equal(*(uint8_t *)mock_at(TO_VA + 99), 0x5a);
    while (mock.copies) {
        assert_int_equal(mock.raised[5], 0);
        copy_ends();
    }
    assert_int_equal(sem(0)->payload, 7);
    assert_int_equal(mock.raised[5], 1);
    for (uint32_t i = 0; i < 250; i++) {
        assert_int_equal(((uint32_t *)mock_at(TO_VA + 100))[i], 0x01020304);
    }
    assert_int_equal(((uint32_t *)mock_at(TO_VA + 100))[250], 0);
    assert_int_equal(mock.started, 2);
    grid_ends();
    assert_int_equal(mock_query(PPU_KEY_COMPLETIONS, 0), 4);
}

/* copy, grid, fill, release as one task, another behind it. */
static void with_a_grid(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 5);
    memset(mock_at(FROM_VA), 0x5a, 100);
    uint32_t list = commands(&s, 3);
    stream_copy(&s, FROM_VA, TO_VA, 100);
    grid(&s, 1, 3);
    fill(&s, TO_VA, 4, 7);
    stream_release(&s, sem_va(0), 7);
    commands_end(&s, list);
    list = commands(&s, 3);
    grid(&s, 2, 3);
    stream_release(&s, sem_va(0), 8);
    stream_method(&s, PPU_METHOD_INTERRUPT, 0, NULL);
    commands_end(&s, list);
    stream_submit(&s);

    assert_int_equal(mock.started, 0);
    copy_ends();
    assert_int_equal(mock.started, 1);
    assert_int_equal(sem(0)->payload, 0);
    assert_int_equal(*(uint8_t *)mock_at(TO_VA), 0x5a);
    grid_ends();
    assert_int_equal(*(uint32_t *)mock_at(TO_VA), 7);
    assert_int_equal(sem(0)->payload, 7);
    assert_int_equal(mock.started, 2);
    assert_int_equal(mock.raised[5], 0);
    grid_ends();
    assert_int_equal(sem(0)->payload, 8);
    assert_int_equal(mock.raised[5], 1);
    assert_int_equal(mock_query(PPU_KEY_COMPLETIONS, 0), 2);
}

/* With as many words and bytes of parameters as fit, and one more of each. */
static void largest_with_a_grid(void **state)
{
    (void)state;
    static const struct {
        uint32_t words, param_bytes;
        uint16_t code;
    } sizes[] = {
        { PPU_ENQUEUE_GRID_WORDS, PPU_MAX_PARAM - PPU_ENQUEUE_GRID_BYTES, 0 },
        { PPU_ENQUEUE_GRID_WORDS + 1, 0, PPU_FAULT_METHOD_DATA },
        { 16, PPU_MAX_PARAM - PPU_ENQUEUE_GRID_BYTES + 4, PPU_FAULT_TMD_PARAM },
    };
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        struct ppu_tmd tmd = mock_tmd(1);
        tmd.param_va = FROM_VA;
        tmd.param_bytes = sizes[i].param_bytes;
        uint32_t list = commands(&s, 3);
        stream_launch(&s, TMD_VA, &tmd, 3);
        while (s.len - list - 2 < sizes[i].words - 5) {
            stream_method(&s, PPU_METHOD_NOP, 0, NULL);
        }
        stream_release(&s, sem_va(0), i + 1);
        commands_end(&s, list);
        stream_submit(&s);
        if (sizes[i].code) {
            struct ppu_error_record record;
            assert_true(mock_error(&record));
            assert_int_equal(record.code, sizes[i].code);
            reset(&s);
        } else {
            const struct ppu_tmd *copy = (const struct ppu_tmd *)(const void *)(mock.vram + mock.slot_task[0]);
            assert_memory_equal(mock.vram + copy->params_vram, mock_at(FROM_VA), sizes[i].param_bytes);
            assert_int_equal(sem(0)->payload, 0);
            grid_ends();
            assert_int_equal(sem(0)->payload, 1);
        }
    }
}

/* A wait for idle waits for lists as for grids. */
static void idle_waits_for_them(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    uint32_t list = commands(&s, PPU_STREAM_NONE);
    stream_copy(&s, FROM_VA, TO_VA, 64);
    commands_end(&s, list);
    stream_method(&s, PPU_METHOD_WAIT_IDLE, 0, NULL);
    stream_release(&s, sem_va(0), 1);
    stream_submit(&s);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    copy_ends();
    assert_int_equal(sem(0)->payload, 1);
}

static void fills_of_any_length(void **state)
{
    (void)state;
    static const uint32_t bytes[] = { 0, 4, 8, 252, 256, 260, 512, 1024, 5000, 40000 };
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bytes); i++) {
        uint32_t *words = mock_at(TO_VA);
        memset(words, 0xee, 64u * PPU_KIB);
        uint32_t list = commands(&s, 0);
        fill(&s, TO_VA + 4, bytes[i], 77);
        fill(&s, TO_VA + 4 + bytes[i], 4, 78); /* after it */
        commands_end(&s, list);
        stream_submit(&s);
        while (mock.copies) {
            copy_ends();
        }
        assert_int_equal(words[0], 0xeeeeeeee);
        for (uint32_t at = 1; at <= bytes[i] / 4; at++) {
            assert_int_equal(words[at], 77);
        }
        assert_int_equal(words[1 + bytes[i] / 4], 78);
        assert_int_equal(words[2 + bytes[i] / 4], 0xeeeeeeee);
    }
}

enum wake { BY_METHOD, BY_COMMAND, BY_DOORBELL, BY_TIME };

/* A stream stands at an acquire; its channel and other streams go on. */
static void acquires_hold_their_stream(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream s = stream_open(context, 0, 64, 7, 0);
    struct stream other = stream_open(context, 1, 64, 7, 0);
    for (uint32_t wake = BY_METHOD; wake <= BY_TIME; wake++) {
        memset(sem(0), 0, 3 * sizeof(struct ppu_sem));
        uint32_t list = commands(&s, 1);
        stream_acquire(&s, sem_va(0), 3, PPU_SEM_GREATER_EQUAL);
        stream_release(&s, sem_va(1), 1);
        commands_end(&s, list);
        list = commands(&s, 2);
        stream_release(&s, sem_va(2), 1);
        commands_end(&s, list);
        stream_submit(&s);
        assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
        assert_int_equal(sem(1)->payload, 0);
        assert_int_equal(sem(2)->payload, 1);
        if (wake == BY_METHOD) {
            stream_release(&other, sem_va(0), 4);
            stream_submit(&other);
        } else if (wake == BY_COMMAND) {
            list = commands(&other, 3);
            stream_release(&other, sem_va(0), 3);
            commands_end(&other, list);
            stream_submit(&other);
        } else {
            sem(0)->payload = 3;
            mock_settle();
            assert_int_equal(sem(1)->payload, 0);
            if (wake == BY_DOORBELL) {
                mock_doorbell(other.channel, other.put);
            } else {
                mock_advance(11 * MS);
            }
        }
        assert_int_equal(sem(1)->payload, 1);
    }
}

/* Acquires wait without an end, and cost a test every 10 ms then. */
static void a_test_now_and_then(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    uint32_t list = commands(&s, 1);
    stream_acquire(&s, sem_va(0), 3, PPU_SEM_EQUAL);
    commands_end(&s, list);
    stream_submit(&s);
    mock_advance(100 * MS);
    uint32_t before = mock.accesses;
    mock_advance(100 * MS);
    assert_in_range(mock.accesses - before, 10, 400);
}

/* Lists beside each other in more streams than there are places for copies. */
static void copies_without_room(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 64, 7, 0);
    for (uint32_t i = 0; i < PPU_MAX_COPIES + 20u; i++) {
        uint32_t list = commands(&s, i % 32);
        stream_copy(&s, FROM_VA, TO_VA + 64ull * i, 64);
        commands_end(&s, list);
        list = commands(&s, PPU_STREAM_NONE);
        stream_copy(&s, FROM_VA, TO_VA + 64ull * i, 32);
        commands_end(&s, list);
        if (i % 16 == 15) {
            stream_submit(&s);
        }
    }
    stream_method(&s, PPU_METHOD_WAIT_IDLE, 0, NULL);
    stream_release(&s, sem_va(0), 1);
    stream_submit(&s);
    uint32_t ended = 0;
    while (mock.copies) {
        copy_ends();
        ended++;
    }
    assert_int_equal(ended, 2 * (PPU_MAX_COPIES + 20u));
    assert_int_equal(sem(0)->payload, 1);
}

static void no_record_left(void **state)
{
    (void)state;
    mock_stop();
    mock_start_with_hooks();
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    mock.reg[PPU_REG_HOOK_FAIL_ALLOC / 4] = 1;
    uint32_t list = commands(&s, 1);
    stream_release(&s, sem_va(0), 1);
    commands_end(&s, list);
    stream_submit(&s);
    assert_int_equal(sem(0)->payload, 0);
    mock_advance(MS);
    assert_int_equal(sem(0)->payload, 1);
}

static void longest_list(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    uint32_t list = commands(&s, 1);
    for (uint32_t i = 0; i < PPU_ENQUEUE_MAX_WORDS; i++) {
        stream_method(&s, PPU_METHOD_NOP, 0, NULL);
    }
    commands_end(&s, list);
    stream_submit(&s);
    list = commands(&s, 1);
    stream_release(&s, sem_va(0), 1);
    commands_end(&s, list);
    stream_submit(&s);
    assert_int_equal(sem(0)->payload, 1);
}

#define M(method, count) PPU_METHOD_WORD(PPU_METHOD_##method, count)

static const struct {
    const char *what;
    uint32_t word[10];
    uint32_t words;
    uint16_t code;
    uint64_t payload;
} bad[] = {
    { "no command", { M(ENQUEUE, 1), 0 }, 2, PPU_FAULT_METHOD_COUNT, M(ENQUEUE, 1) },
    { "nothing", { M(ENQUEUE, 0) }, 1, PPU_FAULT_METHOD_COUNT, M(ENQUEUE, 0) },
    { "no such stream", { M(ENQUEUE, 2), 32, M(NOP, 0) }, 3, PPU_FAULT_NO_STREAM, 32 },
    { "launch into another stream",
      { M(ENQUEUE, 5), 0, M(LAUNCH, 3), 0, 0, 1 },
      6,
      PPU_FAULT_METHOD_DATA,
      M(LAUNCH, 3) },
    { "launch of nothing", { M(ENQUEUE, 5), 0, M(LAUNCH, 3), 0, 0, 0 }, 6, PPU_FAULT_TMD_MEMORY, 0 },
    { "misaligned launch", { M(ENQUEUE, 5), 0, M(LAUNCH, 3), 4, 0, 0 }, 6, PPU_FAULT_TMD_ALIGN, 4 },
    { "launch too short", { M(ENQUEUE, 4), 0, M(LAUNCH, 2), 0, 0 }, 5, PPU_FAULT_METHOD_DATA, M(LAUNCH, 2) },
    { "two launches",
      { M(ENQUEUE, 9), 0, M(LAUNCH, 3), 0, 0, 0, M(LAUNCH, 3), 0, 0, 0 },
      10,
      PPU_FAULT_METHOD_DATA,
      M(LAUNCH, 3) },
    { "wait for idle", { M(ENQUEUE, 2), 0, M(WAIT_IDLE, 0) }, 3, PPU_FAULT_METHOD_DATA, M(WAIT_IDLE, 0) },
    { "list in a list", { M(ENQUEUE, 4), 0, M(ENQUEUE, 2), 0, M(NOP, 0) }, 5, PPU_FAULT_METHOD_DATA, M(ENQUEUE, 2) },
    { "unknown", { M(ENQUEUE, 3), 0, M(NOP, 0), 0x3ff }, 4, PPU_FAULT_METHOD_DATA, 0x3ff },
    { "reserved bits", { M(ENQUEUE, 2), 0, 1u << 13 }, 3, PPU_FAULT_METHOD_DATA, 1u << 13 },
    { "beyond its end", { M(ENQUEUE, 2), 0, M(NOP, 1), 0 }, 4, PPU_FAULT_METHOD_DATA, M(NOP, 1) },
    { "copy too short", { M(ENQUEUE, 6), 0, M(COPY, 4), 0, 0, 0, 0 }, 7, PPU_FAULT_METHOD_DATA, M(COPY, 4) },
    { "misaligned release", { M(ENQUEUE, 6), 0, M(SEM_RELEASE, 4), 8 }, 7, PPU_FAULT_METHOD_DATA, M(SEM_RELEASE, 4) },
    { "acquire of a work queue",
      { M(ENQUEUE, 6), 0, M(SEM_ACQUIRE, 4), 0, 0, 0, 0x100 },
      7,
      PPU_FAULT_METHOD_DATA,
      M(SEM_ACQUIRE, 4) },
    { "fill of 3 bytes", { M(ENQUEUE, 6), 0, M(FILL, 4), 0, 0, 3 }, 7, PPU_FAULT_METHOD_DATA, M(FILL, 4) },
    { "fill by a channel", { M(FILL, 4) }, 5, PPU_FAULT_METHOD_UNKNOWN, M(FILL, 4) },
};

static void bad_lists_are_refused(void **state)
{
    (void)state;
    struct stream s = stream_open(mock_context(), 0, 16, 7, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        print_message("# %s\n", bad[i].what);
        memcpy((uint32_t *)mock_at(s.block_va) + s.len, bad[i].word, bad[i].words * 4);
        s.len += bad[i].words;
        stream_submit(&s);
        expect_fault(&s, bad[i].code, bad[i].payload);
        reset(&s);
    }
}

/* A fault in the middle ends the channel; what is behind it in the stream does not run, others do. */
static void faults_end_the_channel(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    struct stream s = stream_open(context, 0, 16, 7, 0);
    struct stream other = stream_open(context, 1, 16, 7, 0);
    for (uint32_t kind = 0; kind < 4; kind++) {
        const uint64_t nowhere = 0x7000000000ull;
        memset(sem(0), 0, 2 * sizeof(struct ppu_sem));
        uint32_t list = commands(&s, 4);
        if (kind == 0) {
            fill(&s, nowhere, 64, 1);
        } else if (kind == 1) {
            stream_release(&s, nowhere, 1);
        } else if (kind == 2) {
            stream_acquire(&s, nowhere, 1, PPU_SEM_EQUAL);
        } else {
            stream_copy(&s, nowhere, TO_VA, 64);
        }
        stream_release(&s, sem_va(0), 1);
        commands_end(&s, list);
        grid(&s, 1, 4);
        stream_submit(&s);
        if (kind == 3) {
            copy_ends();
        }
        expect_fault(&s, kind == 0 || kind == 3 ? PPU_FAULT_COPY_MEMORY : PPU_FAULT_SEM_MEMORY, nowhere);
        assert_int_equal(sem(0)->payload, 0);
        list = commands(&other, 4); /* the same TMDQ */
        stream_release(&other, sem_va(1), 1);
        commands_end(&other, list);
        stream_submit(&other);
        assert_int_equal(sem(1)->payload, 1);
        reset(&s);
    }
    assert_int_equal(mock.started, 0);
}

/* Lists that wait for a semaphore, a copy, their turn: a channel that is ended takes them along. */
static void ended_with_their_channel(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    for (uint32_t kind = 0; kind < 3; kind++) {
        struct stream s = stream_open(context, 0, 16, 7, 0);
        uint32_t list = commands(&s, 1);
        if (kind == 0) {
            stream_acquire(&s, sem_va(0), 9, PPU_SEM_EQUAL);
        } else if (kind == 1) {
            stream_copy(&s, FROM_VA, TO_VA, 64);
        } else {
            fill(&s, TO_VA, 4096, 5);
        }
        commands_end(&s, list);
        list = commands(&s, 1);
        stream_release(&s, sem_va(1), 1);
        commands_end(&s, list);
        stream_submit(&s);
        assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_DESTROY, &s.channel, 1).status, 0);
        assert_int_equal(sem(1)->payload, 0);
        assert_int_equal(mock.copies, 0);
        mock_advance(20 * MS);
    }
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &context, 1).status, 0);
}

/* Who has all of VRAM writes over a list that waits: it ends with a fault, or does what it says now. */
static void scribbled_lists(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    for (uint32_t value = 0; value < 3; value++) {
        struct stream s = stream_open(context, 0, 16, 7, 0);
        memset(sem(0), 0, sizeof(struct ppu_sem));
        uint32_t list = commands(&s, 1);
        stream_acquire(&s, sem_va(0), 0x77665544, PPU_SEM_EQUAL);
        stream_release(&s, sem_va(1), 1);
        commands_end(&s, list);
        stream_submit(&s);
        uint32_t *words = (uint32_t *)(void *)mock.vram, changed = 0;
        for (uint32_t i = 0; i < MOCK_VRAM_BYTES / 4; i++) {
            if (words[i] == 0x77665544) { /* head and all */
                memset(&words[i - 9], value == 2 ? 0xff : (int)value, 128);
                changed++;
            }
        }
        assert_in_range(changed, 1, 4);
        mock_advance(50 * MS);
        assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_DESTROY, &s.channel, 1).status, 0);
    }
}

#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("copies, fills, releases and interrupts in order with grids [B15] [B2]", in_order_with_grids),
        TEST("a task of copies, a grid, fills and releases [B15]", with_a_grid),
        TEST("the largest list with a grid [B15]", largest_with_a_grid),
        TEST("a wait for idle waits for lists [B15] [C8]", idle_waits_for_them),
        TEST("fills of any length [B15]", fills_of_any_length),
        TEST("an acquire holds up its stream and nothing else [B15] [C8]", acquires_hold_their_stream),
        TEST("an acquire that waits long costs little [C8]", a_test_now_and_then),
        TEST("more copies than there is room for [B15]", copies_without_room),
        TEST("without a task record the channel waits [B15]", no_record_left),
        TEST("a list as long as a block [B15]", longest_list),
        TEST("bad lists are refused [B15]", bad_lists_are_refused),
        TEST("a fault ends the channel and no other [B15]", faults_end_the_channel),
        TEST("lists end with their channel [B15]", ended_with_their_channel),
        TEST("a list that is written over harms its own context alone [B15]", scribbled_lists),
    };
    return cmocka_run_group_tests_name("firmware: lists of commands", tests, NULL, NULL);
}
