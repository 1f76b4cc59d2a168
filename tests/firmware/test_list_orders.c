/* SPDX-License-Identifier: MIT */
/*
 * Tests lists of commands and grids in TMDQs (B15) against a model. Copies and grids end, a semaphore is stored and
 * told of, blocks come, a channel is reset: every order for small cases, random ones for larger. After each the same
 * copies and grids must be under way as in the model, and the same semaphores released.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/orders.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define LINES 3u
#define FIRST_TMDQ 3u /* of line 0 */
#define ITEMS 64u     /* in all lines */
#define COPY_BYTES 64u
#define COMMAND_WORDS 6u /* of the longest */
#define TMD_GAP 1024u
#define AREA(n) (MOCK_MEMORY_VA + (n)*64ull * PPU_KIB)
#define FROM_VA AREA(10)
#define TO_VA AREA(11)
#define SEM_VA AREA(12)
#define TMD_VA AREA(13)

enum kind { COPY, FILL, GRID, ACQUIRE, RELEASE };

/* What stands in a TMDQ. Its index is its number; consecutive ones of a block are one list, with a grid at most. */
struct item {
    enum kind kind;
    uint8_t line;
    uint8_t channel;
    uint8_t sem;   /* of ACQUIRE, RELEASE: each is released once, from 0 to 1 */
    bool in_block; /* together with the one before it */
    bool listed;   /* a GRID that begins a list; else it is a launch */
};

static struct item items[ITEMS];
static uint32_t item_count;
static bool grids_listed; /* what add_item() says of items */

/* ---- the model ---- */

static struct model {
    uint32_t known;   /* items that have been submitted */
    bool gone[ITEMS]; /* done, or cancelled */
    bool under_way[ITEMS];
    bool filled[ITEMS];
    bool released[ITEMS]; /* semaphores */
    uint32_t sees;        /* lines that have found semaphore 0 released, of which they were not told */
} model;

/* The next of a line; ITEMS: there is none. */
static uint32_t next_of(uint32_t line)
{
    for (uint32_t i = 0; i < model.known; i++) {
        if (items[i].line == line && !model.gone[i]) {
            return i;
        }
    }
    return ITEMS;
}

/* True when the line has come further. */
static bool model_step(uint32_t line)
{
    uint32_t i = next_of(line);
    if (i == ITEMS || model.under_way[i]) {
        return false;
    }
    switch (items[i].kind) {
    case COPY:
    case GRID:
        model.under_way[i] = true;
        return true;
    case ACQUIRE:
        model.gone[i] = model.released[items[i].sem] || (items[i].sem == 0 && (model.sees >> line & 1u));
        return model.gone[i];
    case RELEASE:
        model.released[items[i].sem] = true;
        break;
    case FILL:
        model.filled[i] = true;
        break;
    }
    model.gone[i] = true;
    return true;
}

static void model_run(void)
{
    for (uint32_t line = 0; line < LINES; line++) {
        if (model_step(line)) {
            line = UINT32_MAX; /* from the first on again */
        }
    }
}

static void model_ended(uint32_t i)
{
    assert_true(i < model.known && model.under_way[i]);
    model.under_way[i] = false;
    model.gone[i] = true;
}

static bool model_is_over(void)
{
    for (uint32_t i = 0; i < item_count; i++) {
        if (!model.gone[i]) {
            return false;
        }
    }
    return model.known == item_count;
}

/* ---- the firmware's world ---- */

static struct stream channels[2];
static uint32_t free_records;
static bool fresh;    /* the device has said something that the firmware has not seen */
static bool untold;   /* semaphore 0 is stored, and the firmware is not told of it */
static uint32_t acts; /* things that actors have yet to do, which no item waits for */

static struct ppu_sem *sem_at(uint32_t number)
{
    return (struct ppu_sem *)mock_at(SEM_VA) + number;
}

static uint64_t sem_va(uint32_t number)
{
    return SEM_VA + number * sizeof(struct ppu_sem);
}

static uint64_t to_va(uint32_t item)
{
    return TO_VA + (uint64_t)item * COPY_BYTES;
}

static uint32_t item_of_copy(uint32_t copy)
{
    return (uint32_t)(mock.copy[copy].dst - TO_VA) / COPY_BYTES;
}

static uint32_t item_of_slot(uint32_t slot)
{
    const struct ppu_tmd *tmd = (const struct ppu_tmd *)(const void *)(mock.vram + mock.slot_task[slot]);
    return tmd->correlation - 1;
}

static bool matches(void)
{
    bool there[ITEMS] = { false };
    for (uint32_t i = 0; i < mock.copies; i++) {
        there[item_of_copy(i)] = true;
    }
    for (uint32_t slot = 0; slot < MOCK_SLOTS; slot++) {
        if (mock.slot_task[slot]) {
            there[item_of_slot(slot)] = true;
        }
    }
    for (uint32_t i = 0; i < item_count; i++) {
        if (there[i] != model.under_way[i] || (!(i == 0 && untold) && (sem_at(i)->payload != 0) != model.released[i]) ||
            (*(uint32_t *)mock_at(to_va(i)) != 0) != (model.filled[i] || (items[i].kind == COPY && model.gone[i]))) {
            return false;
        }
    }
    return true;
}

/* The firmware sleeps. Any of the lines may have found what it was not told of. */
static void check_all(void)
{
    fresh = false;
    const struct model before = model;
    uint32_t tries = untold ? 1u << LINES : 1;
    for (uint32_t sees = 0; sees < tries; sees++) {
        model = before;
        model.sees |= sees;
        model_run();
        if (matches()) {
            return;
        }
    }
    fail_msg("the model has something else under way or released");
}

/* True when it goes into the list that the one before it is in. A grid that is alone needs no list. */
static bool in_list(const struct stream *s, uint32_t i, uint32_t before, uint32_t list, uint32_t grids)
{
    return before != ITEMS && items[i].in_block && items[i].line == items[before].line &&
           grids + (items[i].kind == GRID) <= 1 && s->len - list + COMMAND_WORDS < PPU_ENQUEUE_GRID_WORDS;
}

static void add_grid(struct stream *s, uint32_t i)
{
    const struct ppu_tmd tmd = mock_tmd(i + 1);
    stream_launch(s, TMD_VA + (uint64_t)i * TMD_GAP, &tmd, FIRST_TMDQ + items[i].line);
}

static void add_command(struct stream *s, uint32_t i)
{
    const uint32_t fill[] = { (uint32_t)to_va(i), (uint32_t)(to_va(i) >> 32), 4, 1 };
    switch (items[i].kind) {
    case GRID:
        add_grid(s, i);
        break;
    case COPY:
        stream_copy(s, FROM_VA, to_va(i), COPY_BYTES);
        break;
    case FILL:
        stream_method(s, PPU_METHOD_FILL, 4, fill);
        break;
    case ACQUIRE:
        stream_acquire(s, sem_va(items[i].sem), 1, PPU_SEM_GREATER_EQUAL);
        break;
    default:
        stream_release(s, sem_va(items[i].sem), 1);
    }
}

/* The next block: up to the next item that is not in one with those before it. */
static void submit(void)
{
    struct stream *s = &channels[items[model.known].channel];
    uint32_t list = 0, grids = 0, before = ITEMS;
    do {
        uint32_t i = model.known++, tmdq = FIRST_TMDQ + items[i].line;
        bool more = in_list(s, i, before, list, grids);
        bool alone = !more && items[i].kind == GRID && !items[i].listed;
        if (!more && !alone) {
            list = s->len;
            stream_method(s, PPU_METHOD_ENQUEUE, 1, &tmdq);
        }
        add_command(s, i);
        if (!alone) {
            ((uint32_t *)mock_at(s->block_va))[list] = PPU_METHOD_WORD(PPU_METHOD_ENQUEUE, s->len - list - 1);
        }
        grids = alone ? 2 : (more ? grids : 0) + (items[i].kind == GRID);
        before = i;
    } while (model.known < item_count && items[model.known].in_block);
    stream_submit(s);
    check_all();
}

static void world_begin(void)
{
    model = (struct model){ 0 };
    acts = 0;
    untold = false;
    memset(sem_at(0), 0, ITEMS * sizeof(struct ppu_sem));
    memset(mock_at(TO_VA), 0, ITEMS * (size_t)COPY_BYTES);
    memset(mock_at(FROM_VA), 0x5a, COPY_BYTES);
    check_all();
}

static void world_end(void)
{
    assert_true(model_is_over());
    assert_int_equal(acts, 0);
    assert_true(matches());
    assert_int_equal(mock_query(PPU_KEY_TASKS_FREE, 0), free_records);
}

static int setup(void **state)
{
    (void)state;
    mock_start();
    uint32_t context = mock_context();
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(channels); i++) {
        channels[i] = stream_open(context, i, 64, 7, 0);
    }
    free_records = (uint32_t)mock_query(PPU_KEY_TASKS_FREE, 0);
    item_count = 0;
    grids_listed = true;
    return 0;
}

static void add_item(uint32_t line, uint32_t channel, enum kind kind, uint32_t sem, bool in_block)
{
    assert_true(item_count < ITEMS);
    items[item_count++] = (struct item){ kind, (uint8_t)line, (uint8_t)channel, (uint8_t)sem, in_block, grids_listed };
}

/* ---- actors ---- */

static bool is_over(void)
{
    return model_is_over() && acts == 0;
}

static bool copy_or_over(void)
{
    return mock.copies || is_over();
}

static void copies_end(void)
{
    for (orders_wait(copy_or_over); mock.copies; orders_wait(copy_or_over)) {
        model_ended(item_of_copy(0));
        mock_copy_end(0, 0);
        fresh = true;
    }
}

/* MOCK_SLOTS: all are free. */
static uint32_t busy_slot(void)
{
    uint32_t slot = 0;
    while (slot < MOCK_SLOTS && !mock.slot_task[slot]) {
        slot++;
    }
    return slot;
}

static bool grid_or_over(void)
{
    return busy_slot() < MOCK_SLOTS || is_over();
}

static void grids_end(void)
{
    for (orders_wait(grid_or_over); busy_slot() < MOCK_SLOTS; orders_wait(grid_or_over)) {
        model_ended(item_of_slot(busy_slot()));
        mock_slot_event(busy_slot(), PPU_SLOT_DONE, 0);
        fresh = true;
    }
}

static bool fresh_or_over(void)
{
    return fresh || is_over();
}

/* What the device says may come alone or together. */
static void firmware_runs(void)
{
    for (orders_wait(fresh_or_over); fresh; orders_wait(fresh_or_over)) {
        mock_settle();
        check_all();
    }
}

static void host_submits(void)
{
    while (model.known < item_count) {
        orders_step();
        submit();
    }
}

/* Semaphore 0 is the host's. */
static void host_releases(void)
{
    orders_step();
    sem_at(0)->payload = 1;
    untold = true;
    orders_step();
    mock_doorbell(channels[1].channel, channels[1].put);
    model.released[0] = true;
    untold = false;
    check_all();
}

/* What channel 0 has in the TMDQs is gone, whatever is behind it. What it has released by then stays. */
static void host_resets(void)
{
    orders_step();
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &channels[0].channel, 1).status, 0);
    channels[0].put = 0;
    for (uint32_t i = 0; i < item_count; i++) {
        model.released[i] = sem_at(i)->payload != 0;
        if (items[i].channel == 0 && !model.gone[i]) {
            model.filled[i] = items[i].kind == FILL && *(uint32_t *)mock_at(to_va(i)) != 0;
            model.under_way[i] = false;
            model.gone[i] = true;
            *(uint32_t *)mock_at(to_va(i)) = items[i].kind == COPY; /* as if it had been done */
        }
    }
    check_all();
    for (uint32_t i = 0; i < item_count; i++) { /* nobody else would */
        sem_at(i)->payload = 1;
        model.released[i] = true;
    }
    acts = 0;
    mock_doorbell(channels[1].channel, channels[1].put);
    check_all();
}

/* ---- every order ---- */

/* copy, grid, copy, fill, grid in one TMDQ, all in one block, and a list beside it. */
static void grids_between(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { host_submits, copies_end, grids_end, firmware_runs }, world_end };
    add_item(0, 0, COPY, 0, false);
    add_item(0, 0, GRID, 0, true);
    add_item(0, 0, COPY, 0, true);
    add_item(0, 0, FILL, 0, true);
    add_item(0, 0, GRID, 0, true);
    add_item(1, 0, COPY, 0, false);
    assert_true(orders_all(&orders) > 100);
}

/* Streams that wait for each other and for the host, which may be slow to tell. */
static void semaphores_between(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { host_submits, copies_end, host_releases, firmware_runs }, world_end };
    add_item(0, 0, ACQUIRE, 1, false);
    add_item(0, 0, COPY, 0, true);
    add_item(0, 0, RELEASE, 2, true);
    add_item(1, 1, COPY, 0, false);
    add_item(1, 1, ACQUIRE, 0, true);
    add_item(1, 1, RELEASE, 1, true);
    add_item(1, 1, ACQUIRE, 2, true);
    add_item(1, 1, FILL, 0, true);
    assert_true(orders_all(&orders) > 100);
}

static void all_submitted(void)
{
    world_begin();
    while (model.known < item_count) {
        submit();
    }
    acts = 1; /* the reset */
}

/* Two channels share TMDQs, and one is reset at any time. */
static void a_reset_between(void **state)
{
    (void)state;
    const struct orders orders = { all_submitted, { host_resets, copies_end, grids_end, firmware_runs }, world_end };
    add_item(0, 0, COPY, 0, false);
    add_item(0, 0, FILL, 0, true);
    add_item(0, 0, RELEASE, 1, true);
    add_item(0, 0, GRID, 0, true);
    add_item(0, 1, COPY, 0, false);
    add_item(0, 1, RELEASE, 2, true);
    add_item(1, 0, ACQUIRE, 2, false);
    add_item(1, 0, COPY, 0, true);
    add_item(1, 1, GRID, 0, false);
    add_item(1, 1, FILL, 0, false);
    assert_true(orders_all(&orders) > 100);
}

/* ---- random ones ---- */

static uint64_t seed;

/* Who waits for a semaphore comes after its release, or waits for the host's: so all end. */
static void random_begin(void)
{
    uint32_t sems = 1;
    item_count = 0;
    while (item_count < ITEMS) {
        enum kind kind = (enum kind)random_below(&seed, RELEASE + 1);
        uint32_t channel = random_below(&seed, 2);
        grids_listed = random_below(&seed, 2);
        bool in_block = item_count != 0 && items[item_count - 1].channel == channel && random_below(&seed, 4) != 0;
        uint32_t line =
            in_block && random_below(&seed, 4) != 0 ? items[item_count - 1].line : random_below(&seed, LINES);
        add_item(line, channel, kind, kind == RELEASE ? sems++ : random_below(&seed, sems), in_block);
    }
    world_begin();
}

static void host_submits_and_releases(void)
{
    uint32_t when = random_below(&seed, ITEMS);
    while (model.known < item_count) {
        orders_step();
        submit();
        if (model.known >= when && !model.released[0]) {
            host_releases();
        }
    }
}

static void random_lists(void **state)
{
    (void)state;
    const struct orders orders = { random_begin,
                                   { host_submits_and_releases, copies_end, grids_end, firmware_runs },
                                   world_end };
    seed = random_seed();
    orders_random(&orders, 3000);
}

#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("copies, fills and grids of a TMDQ in every order of their ends [B15] [B6]", grids_between),
        TEST("acquires and releases of TMDQs in every order [B15] [C8]", semaphores_between),
        TEST("a reset in every place of lists and grids [B15]", a_reset_between),
        TEST("random lists and grids against a model [B15] [B2]", random_lists),
    };
    return cmocka_run_group_tests_name("firmware: orders of lists", tests, NULL, NULL);
}
