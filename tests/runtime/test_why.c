/* SPDX-License-Identifier: MIT */
/* Tests the reader of the state area, and that a task or channel in each state has its reason and its sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/admin.h"
#include "ppu/channel.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/nest.h"
#include "ppu/sem.h"
#include "ppu/task.h"
#include "runtime/state/why.h"

#define VRAM_BYTES (1u << 20)
#define AT 0x1000u
#define ROWS 8u
#define STRIDE 1024u /* of every table: places are 8 bytes apart */
#define QUOTA_OF_BYTES (PPU_MAX_CONTEXTS * 6u)
#define QUOTA_STRIDE 2048u
#define BASE 0x10000000ull /* of pointers to table n: n + 1 times this */
#define NONE 0xffu

/* ---- an area as firmware and device would write it ---- */

struct machine {
    uint8_t vram[VRAM_BYTES];
    struct ppu_state *state;
};

static const uint8_t tables[PPU_STATE_MEMBERS] = {
#define ROW(table, name) [PPU_STATE_##table##_##name] = PPU_STATE_TABLE_##table,
#define PPU_STATE_TASK(name, member, doc) ROW(TASK, name)
#define PPU_STATE_CHANNEL(name, member, doc) ROW(CHANNEL, name)
#define PPU_STATE_FAULT(name, member, doc) ROW(FAULT, name)
#define PPU_STATE_SLOT(name, member, doc) ROW(SLOT, name)
#define PPU_STATE_CONTEXT(name, member, doc) ROW(CONTEXT, name)
#define PPU_STATE_QUOTA(name, member, doc) ROW(QUOTA, name)
#define PPU_STATE_NEST(name, member, doc) ROW(NEST, name)
#define PPU_STATE_TASKQ(name, member, doc) ROW(TASKQ, name)
#define PPU_STATE_WORKQ(name, member, doc) ROW(WORKQ, name)
#define PPU_STATE_POLICY(name, member, doc) ROW(POLICY, name)
#define PPU_STATE_STAT(name, member, doc) ROW(STAT, name)
#include "ppu/state.def"
};

static uint32_t stride_of(uint32_t table)
{
    return table == PPU_STATE_TABLE_QUOTA ? QUOTA_STRIDE : STRIDE;
}

static uint32_t rows_of(uint32_t table)
{
    return table == PPU_STATE_TABLE_QUOTA ? (uint32_t)PPU_RESOURCES : ROWS;
}

static void write_at(struct machine *machine, uint32_t member, uint32_t row, uint32_t skip, uint64_t value,
                     uint32_t bytes)
{
    const struct ppu_state_table *table = &machine->state->table[tables[member]];

    memcpy(machine->vram + table->vram + row * table->stride + machine->state->span[member].offset + skip, &value,
           bytes);
}

static void put(struct machine *machine, uint32_t member, uint32_t row, uint64_t value)
{
    write_at(machine, member, row, 0, value, sizeof(value));
}

static uint64_t pointer(uint32_t table, uint32_t row)
{
    return BASE * (table + 1) + row * (uint64_t)stride_of(table);
}

static void put_quota(struct machine *machine, uint32_t context, uint16_t held, uint16_t most, uint16_t own)
{
    const uint16_t words[] = { held, most, own };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        write_at(machine, PPU_STATE_QUOTA_OF, PPU_RESOURCE_SLOTS, context * 6 + 2 * i, words[i], 2);
    }
}

static void lay_out(struct machine *machine)
{
    struct ppu_state *state = machine->state;
    uint32_t end = AT + (uint32_t)sizeof(*state), in_row[PPU_STATE_TABLES] = { 0 };

    for (uint32_t i = 0; i < PPU_STATE_TABLES; i++) {
        state->table[i] = (struct ppu_state_table){ BASE * (i + 1), 1, end, rows_of(i), stride_of(i) };
        end += rows_of(i) * stride_of(i);
    }
    for (uint32_t i = 0; i < PPU_STATE_MEMBERS; i++) {
        uint16_t bytes = i == PPU_STATE_QUOTA_OF ? QUOTA_OF_BYTES : 8;
        state->span[i] = (struct ppu_state_span){ (uint16_t)in_row[tables[i]], bytes };
        in_row[tables[i]] += bytes;
    }
    state->bytes = end - AT;
    state->tables = PPU_STATE_TABLES;
    state->members = PPU_STATE_MEMBERS;
    state->head = (struct ppu_struct_header){ PPU_STATE_VERSION, offsetof(struct ppu_state, table) };
}

#define ASKED 3u /* the task that is asked about, of channel 2 and context 1 */
#define HANDLE(row) PPU_TASK_HANDLE(row, 5)

static void add_task(struct machine *machine, uint32_t row, uint32_t state, uint32_t priority)
{
    put(machine, PPU_STATE_TASK_HANDLE, row, HANDLE(row));
    put(machine, PPU_STATE_TASK_STATE, row, state);
    put(machine, PPU_STATE_TASK_PRIORITY, row, priority);
    put(machine, PPU_STATE_TASK_CHANNEL, row, pointer(PPU_STATE_TABLE_CHANNEL, 2));
    put(machine, PPU_STATE_TASK_FOLLOWER, row, 0xffff);
    put(machine, PPU_STATE_TASK_SPACE, row, 1);
    put(machine, PPU_STATE_TASK_NEST, row, NONE);
    put(machine, PPU_STATE_TASK_TASKQ, row, NONE);
}

static void take_slots(struct machine *machine, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put(machine, PPU_STATE_SLOT_TASK, i, pointer(PPU_STATE_TABLE_TASK, 0));
    }
    put(machine, PPU_STATE_QUOTA_FREE, PPU_RESOURCE_SLOTS, ROWS - count);
}

static int setup(void **state)
{
    struct machine *machine = calloc(1, sizeof(*machine));

    machine->state = (void *)(machine->vram + AT);
    lay_out(machine);
    add_task(machine, ASKED, PPU_TASK_STATE_READY, 3);
    put_quota(machine, 1, 1, ROWS, 1);
    take_slots(machine, 0);
    *state = machine;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static struct ppu_why ask(struct machine *machine, bool channel, uint32_t object)
{
    struct view view;
    struct ppu_why why;

    assert_null(view_take(&view, machine->vram, sizeof(machine->vram), AT));
    if (channel) {
        why_channel(&view, object, &why);
    } else {
        why_task(&view, object, &why);
    }
    view_free(&view);
    return why;
}

static void expect(struct machine *machine, enum ppu_why_reason reason, const char *text)
{
    struct ppu_why why = ask(machine, false, HANDLE(ASKED));

    assert_string_equal(why_name(why.reason), why_name(reason));
    assert_string_equal(why.text, text);
    assert_int_equal(why.task, HANDLE(ASKED));
}

static void expect_channel(struct machine *machine, enum ppu_why_reason reason, const char *text)
{
    struct ppu_why why = ask(machine, true, 2);

    assert_string_equal(why_name(why.reason), why_name(reason));
    assert_string_equal(why.text, text);
    assert_int_equal(why.channel, 2);
}

/* ---- tasks ---- */

static void states_of_tasks(void **state)
{
    static const struct {
        enum ppu_task_state state;
        enum ppu_why_reason reason;
        const char *text;
    } rows[] = {
        { PPU_TASK_STATE_FREE, PPU_WHY_NO_TASK, "it has completed, or never was" },
        { PPU_TASK_STATE_LENT, PPU_WHY_NOT_LAUNCHED, "is a record that threads have and have not launched" },
        { PPU_TASK_STATE_HELD, PPU_WHY_BEHIND, "waits in stream 7 for the task before it" },
        { PPU_TASK_STATE_ADMITTED, PPU_WHY_NO_PLACE,
          "waits for places to save its CTAs in: nest 255 has none free for it" },
        { PPU_TASK_STATE_READY, PPU_WHY_TURN, "is ready and gets a slot next" },
        { PPU_TASK_STATE_RUNNING, PPU_WHY_RUNS, "runs in slot 4" },
        { PPU_TASK_STATE_STOPPING, PPU_WHY_GIVES_WAY, "gives up slot 4" },
        { PPU_TASK_STATE_KILLING, PPU_WHY_KILLED, "is being ended in slot 4" },
        { PPU_TASK_STATE_PARKED, PPU_WHY_COMMANDS,
          "executes commands: a copy, a fill or a semaphore holds up its stream" },
        { PPU_TASK_STATE_DRAINING, PPU_WHY_SUBTREE, "has run, and 0 tasks that its threads launched have not ended" },
        { PPU_TASK_STATE_ENDED, PPU_WHY_COMPLETES, "has ended and is being completed" },
        { PPU_TASK_STATE_LINKING, PPU_WHY_COMPLETES, "has ended and is being completed" },
    };
    struct machine *machine = *state;

    assert_int_equal(PPU_ARRAY_SIZE(rows), PPU_TASK_STATES);
    put(machine, PPU_STATE_TASK_SLOT, ASKED, 4);
    put(machine, PPU_STATE_TASK_STREAM, ASKED, 7);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        put(machine, PPU_STATE_TASK_STATE, ASKED, rows[i].state);
        expect(machine, rows[i].reason, rows[i].text);
    }
    put(machine, PPU_STATE_TASK_NEST, ASKED, 0);
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_PARKED);
    expect(machine, PPU_WHY_ENTRIES, "waits for entries of a work queue to come free");
}

static void a_handle_that_is_stale(void **state)
{
    assert_int_equal(ask(*state, false, PPU_TASK_HANDLE(ASKED, 4)).reason, PPU_WHY_NO_TASK);
    assert_int_equal(ask(*state, false, PPU_TASK_HANDLE(0xfffff, 4)).reason, PPU_WHY_NO_TASK);
}

/* The sentence goes on to the task that holds all of them up. */
static void behind_others(void **state)
{
    struct machine *machine = *state;

    add_task(machine, 5, PPU_TASK_STATE_HELD, 3);
    add_task(machine, 6, PPU_TASK_STATE_RUNNING, 3);
    put(machine, PPU_STATE_TASK_FOLLOWER, 5, ASKED);
    put(machine, PPU_STATE_TASK_FOLLOWER, 6, 5);
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_HELD);
    expect(
        machine, PPU_WHY_BEHIND,
        "waits in stream 0 behind task 0x500005, which waits in stream 0 behind task 0x500006, which runs in slot 0");
    assert_int_equal(ask(machine, false, HANDLE(ASKED)).other, HANDLE(5));
}

/* Threads keep the order of what they launch in the nest's own records. */
static void behind_another_child(void **state)
{
    enum { NEST_AT = 0x80000, NEST_TASKS = 64 };
    struct machine *machine = *state;
    struct ppu_nest_task *record = (void *)(machine->vram + NEST_AT + PPU_NEST_TASKS_AT(NEST_TASKS));

    put(machine, PPU_STATE_NEST_VRAM, 0, NEST_AT);
    put(machine, PPU_STATE_NEST_TASKS, 0, NEST_TASKS);
    put(machine, PPU_STATE_NEST_FIRST, 0, 2);
    add_task(machine, 5, PPU_TASK_STATE_RUNNING, 3);
    put(machine, PPU_STATE_TASK_NEST, 5, 0);
    put(machine, PPU_STATE_TASK_PARENT, ASKED, pointer(PPU_STATE_TABLE_TASK, 7));
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_HELD);
    record[5 - 2].status.next_stream = HANDLE(ASKED);
    expect(machine, PPU_WHY_BEHIND, "waits in stream 0 behind task 0x500005, which runs in slot 0");
}

static void no_slot(void **state)
{
    struct machine *machine = *state;

    take_slots(machine, ROWS);
    expect(machine, PPU_WHY_NO_SLOT, "is ready with priority 3, but all 8 slots are taken");
    add_task(machine, 5, PPU_TASK_STATE_READY, 3);
    expect(machine, PPU_WHY_NO_SLOT, "is ready with priority 3, but all 8 slots are taken");
    put(machine, PPU_STATE_TASK_PRIORITY, 5, 4);
    expect(machine, PPU_WHY_PRIORITY,
           "is ready with priority 3, all 8 slots are taken, and 1 ready tasks of higher priorities go first");
}

static void quota(void **state)
{
    static const char text[] =
        "is ready, but its context 1 has 2 of the 2 slots that it may have, and others are kept for other contexts";
    struct machine *machine = *state;

    take_slots(machine, 2);
    put_quota(machine, 1, 2, 2, 1);
    expect(machine, PPU_WHY_QUOTA, text);
    put_quota(machine, 1, 2, 3, 1);
    expect(machine, PPU_WHY_TURN, "is ready and gets a slot next");
    put(machine, PPU_STATE_QUOTA_KEPT, PPU_RESOURCE_SLOTS, ROWS - 2);
    assert_int_equal(ask(machine, false, HANDLE(ASKED)).reason, PPU_WHY_QUOTA);
}

static void no_room(void **state)
{
    struct machine *machine = *state;

    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_RUNNING);
    put(machine, PPU_STATE_TASK_SLOT, ASKED, 2);
    machine->state->telemetry.slot[2][PPU_TELEMETRY_SLOT_WAITING] = 1;
    expect(machine, PPU_WHY_NO_ROOM, "has slot 2, but no SM has room for its CTAs");
    machine->state->telemetry.slot[2][PPU_TELEMETRY_SLOT_CTAS] = 9;
    expect(machine, PPU_WHY_RUNS, "runs in slot 2 with 9 CTAs on SMs");
}

static void parked(void **state)
{
    struct machine *machine = *state;

    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_PARKED);
    put(machine, PPU_STATE_TASK_TASKQ, ASKED, 6);
    expect(machine, PPU_WHY_QUEUE_EMPTY, "waits for entries of task queue 6, which is empty");
    put(machine, PPU_STATE_TASK_CHILDREN, ASKED, 2);
    expect(machine, PPU_WHY_CHILDREN, "waits for 2 tasks that its threads have launched");
}

/* ---- channels ---- */

static void states_of_channels(void **state)
{
    struct machine *machine = *state;

    expect_channel(machine, PPU_WHY_NO_CHANNEL, "is not open");
    put(machine, PPU_STATE_CHANNEL_PENDING, 2, 3);
    put(machine, PPU_STATE_CHANNEL_STATE, 2, PPU_CHANNEL_IDLE);
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_FREE);
    expect_channel(machine, PPU_WHY_NOTHING,
                   "has executed all it was given, and 3 tasks and copies of it have not ended");
    add_task(machine, 5, PPU_TASK_STATE_PARKED, 3);
    put(machine, PPU_STATE_TASK_CHILDREN, 5, 1);
    expect_channel(machine, PPU_WHY_NOTHING,
                   "has executed all it was given, and 3 tasks and copies of it have not ended; task 0x500005 waits "
                   "for 1 tasks that its threads have launched");
    put(machine, PPU_STATE_CHANNEL_STATE, 2, PPU_CHANNEL_RUNNING);
    expect_channel(machine, PPU_WHY_EXECUTES, "executes a block, or waits for its turn");
    put(machine, PPU_STATE_CHANNEL_STATE, 2, PPU_CHANNEL_FAULTED);
    put(machine, PPU_STATE_FAULT_CODE, 2, PPU_FAULT_UNMAPPED);
    expect_channel(machine, PPU_WHY_FAULTED, "was stopped by fault UNMAPPED");
}

static void semaphores(void **state)
{
    struct machine *machine = *state;

    put(machine, PPU_STATE_CHANNEL_STATE, 2, PPU_CHANNEL_PARKED);
    put(machine, PPU_STATE_CHANNEL_SEM_AT, 2, 0x100000040);
    put(machine, PPU_STATE_CHANNEL_SEM_VALUE, 2, 17);
    put(machine, PPU_STATE_CHANNEL_SEM_COMPARE, 2, PPU_SEM_GREATER_EQUAL);
    expect_channel(machine, PPU_WHY_SEMAPHORE, "waits until the semaphore at 0x100000040 is at least 17");
    assert_int_equal(ask(machine, true, 2).address, 0x100000040);
    put(machine, PPU_STATE_CHANNEL_SEM_COMPARE, 2, PPU_SEM_EQUAL);
    expect_channel(machine, PPU_WHY_SEMAPHORE, "waits until the semaphore at 0x100000040 is equal to 17");
}

/* What a channel needs; of its tasks the one is named that others wait behind. */
static void needs(void **state)
{
    struct machine *machine = *state;

    put(machine, PPU_STATE_CHANNEL_STATE, 2, PPU_CHANNEL_WAITING);
    put(machine, PPU_STATE_CHANNEL_PENDING, 2, 2);
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_HELD);
    add_task(machine, 5, PPU_TASK_STATE_PARKED, 3);
    put(machine, PPU_STATE_TASK_CHILDREN, 5, 1);
    put(machine, PPU_STATE_CHANNEL_NEED, 2, PPU_CHANNEL_NEED_IDLE);
    expect_channel(machine, PPU_WHY_IDLE,
                   "waits for 2 tasks and copies that it has started; task 0x500005 waits for 1 tasks that its threads "
                   "have launched");
    put(machine, PPU_STATE_TASK_STATE, 5, PPU_TASK_STATE_FREE);
    put(machine, PPU_STATE_TASK_STATE, ASKED, PPU_TASK_STATE_FREE);
    put(machine, PPU_STATE_CHANNEL_NEED, 2, PPU_CHANNEL_NEED_RECORD);
    expect_channel(machine, PPU_WHY_RECORD, "waits for a task record");
    put(machine, PPU_STATE_CHANNEL_NEED, 2, PPU_CHANNEL_NEED_COPY);
    expect_channel(machine, PPU_WHY_COPY, "waits for a place in the copy queue");
}

/* ---- areas that cannot be ---- */

static const char *refused(struct machine *machine, uint32_t at)
{
    struct view view;
    const char *why = view_take(&view, machine->vram, sizeof(machine->vram), at);

    if (!why) {
        view_free(&view);
    }
    return why;
}

static void bad_areas(void **state)
{
    struct machine *machine = *state;
    struct ppu_state *area = machine->state;

    assert_string_equal(refused(machine, 0), "the firmware shows no state");
    assert_string_equal(refused(machine, VRAM_BYTES - 64), "the firmware shows no state");
    assert_null(refused(machine, AT));
    area->sequence = 1;
    assert_string_equal(refused(machine, AT), "the device does not come to an end with its state");
    area->sequence = 2;
    area->bytes = VRAM_BYTES;
    assert_string_equal(refused(machine, AT), "the state that the firmware shows has impossible bounds");
    lay_out(machine);
    area->members++;
    assert_string_equal(refused(machine, AT), "its firmware belongs to another release, or has not started");
    lay_out(machine);
    area->table[PPU_STATE_TABLE_TASK].count = UINT32_MAX;
    assert_string_equal(refused(machine, AT), "the state that the firmware shows has impossible tables");
    lay_out(machine);
    area->table[PPU_STATE_TABLE_FAULT].mcu = 0;
    area->table[PPU_STATE_TABLE_FAULT].vram = VRAM_BYTES - 8;
    assert_non_null(refused(machine, AT));
    lay_out(machine);
    area->span[PPU_STATE_TASK_STATE].offset = STRIDE;
    assert_non_null(refused(machine, AT));
}

static void mapped_memory(void **state)
{
    enum { TABLES = 0x90000 };
    struct machine *machine = *state;
    uint64_t *root = (void *)(machine->vram + TABLES), *level2 = root + PPU_PT_ENTRIES;
    uint64_t *level1 = level2 + PPU_PT_ENTRIES, *level0 = level1 + PPU_PT_ENTRIES;
    struct view view;

    root[1] = PPU_PTE_VALID | (TABLES + PPU_PT_BYTES);
    level2[0] = PPU_PTE_VALID | (TABLES + 2 * PPU_PT_BYTES);
    level1[0] = PPU_PTE_VALID | (TABLES + 3 * PPU_PT_BYTES);
    level1[7] = PPU_PTE_VALID | PPU_PTE_SIZE(PPU_PTE_2M);
    for (uint32_t i = 0; i < 16; i++) {
        level0[i] = PPU_PTE_VALID | PPU_PTE_SIZE(PPU_PTE_64K);
    }
    level0[100] = PPU_PTE_VALID | PPU_PTE_SIZE(PPU_PTE_4K) | PPU_PTE_SYSTEM;
    machine->state->telemetry.context[1][PPU_TELEMETRY_CONTEXT_ROOT] = TABLES | 1u;
    assert_null(view_take(&view, machine->vram, sizeof(machine->vram), AT));
    struct view_mapped mapped = view_mapped(&view, 1);
    assert_int_equal(mapped.vram_bytes, PPU_PAGE_2M + PPU_PAGE_64K);
    assert_int_equal(mapped.system_bytes, PPU_PAGE_4K);
    assert_false(mapped.broken);
    assert_int_equal(view_mapped(&view, 0).vram_bytes, 0);
    level1[8] = PPU_PTE_VALID | (VRAM_BYTES * 4ull);
    assert_true(view_mapped(&view, 1).broken);
    view_free(&view);
}

#define TEST(name, function)                  \
    {                                         \
        name, function, setup, teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("each state of a task has its reason", states_of_tasks),
        TEST("a stale handle names no task", a_handle_that_is_stale),
        TEST("a task waits behind others of its stream", behind_others),
        TEST("a child waits behind another", behind_another_child),
        TEST("all slots are taken, and more urgent tasks are ready", no_slot),
        TEST("a context has its quota of slots", quota),
        TEST("no SM has room", no_room),
        TEST("a parked task waits for children or entries", parked),
        TEST("each state of a channel has its reason", states_of_channels),
        TEST("a channel waits for a semaphore", semaphores),
        TEST("a channel waits for what it started, a record, a place", needs),
        TEST("areas that cannot be are refused", bad_areas),
        TEST("page tables say how much is mapped", mapped_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
