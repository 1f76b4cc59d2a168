/* SPDX-License-Identifier: MIT */
/*
 * Tests threads of one warp that wait for each other. With a yield where they wait they finish, in every wave size and
 * at a bounded price. Without it they hang, which shows that the programs need it.
 */
#include "ppu/macros.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define COUNT_AT 0x1000u
#define SAVE_AT 0x200000u
#define SAVE_STRIDE 0x14000u
#define HANGS_AFTER_NS 60000u /* virtual time: as many instructions of each SM */
#define PRICE 4u              /* warp instructions of a contended critical section, against those of one alone */

/* %s: where threads wait. Those that wait fall through, so that they go first. s0 is the memory. */
#define START \
    ".kernel k\n.vregs 24\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nrdsr v0, %%tid\nmov v8, 0\nmov v9, 1\nmov v3, 0\n"

/* One lock; the holder may be a lane that divergence has disabled. */
static const char lock[] = START
    "mov v7, 0\nagain: atomg.cas.acquire.dev v2, [s0+v7], v8\nisetp.eq p0, v2, 0\n@p0 bra got\n%s\nbra again\n"
    "got: ldg.b32 v4, [s0+0x1000]\nadd v4, v4, 1\nstg.b32 v4, [s0+0x1000]\natomg.xchg.release.dev _, [s0+v7], v8\n"
    "add v3, v3, 1\nisetp.ltu p1, v3, s2\n@p1 bra again\nexit\n";

/*
 * A hash table of eight buckets with a lock each: a thread takes one from its key's bucket and gives two to the next,
 * with both locks, which it takes in the order of the buckets.
 */
static const char two_locks[] =
    START "outer: add v5, v0, v3\nmul v5, v5, 0x9e3779b1\nshr v6, v5, 29\nadd v7, v6, 1\nand v7, v7, 7\n"
          "minu v10, v6, v7\nmaxu v11, v6, v7\nshl v10, v10, 2\nshl v11, v11, 2\nshl v6, v6, 2\nshl v7, v7, 2\n"
          "first: atomg.cas.acquire.dev v2, [s0+v10], v8\nisetp.eq p0, v2, 0\n@p0 bra second\n%s\nbra first\n"
          "second: atomg.cas.acquire.dev v2, [s0+v11], v8\nisetp.eq p0, v2, 0\n@p0 bra got\n%s\nbra second\n"
          "got: ldg.b32 v4, [s0+v6+0x1000]\nsub v4, v4, 1\nstg.b32 v4, [s0+v6+0x1000]\n"
          "ldg.b32 v4, [s0+v7+0x1000]\nadd v4, v4, 2\nstg.b32 v4, [s0+v7+0x1000]\n"
          "atomg.xchg.release.dev _, [s0+v11], v8\natomg.xchg.release.dev _, [s0+v10], v8\n"
          "add v3, v3, 1\nisetp.ltu p1, v3, s2\n@p1 bra outer\nexit\n";

/*
 * A sorted list of eight nodes, walked with a lock a node, the next taken before the last is let go: a thread adds to
 * the node that has its key. Locks at 0, 4 ... 28, in the order of the list.
 */
static const char list[] =
    START "outer: add v5, v0, v3\nand v5, v5, 7\nshl v5, v5, 2\nmov v10, 0\n"
          "first: atomg.cas.acquire.dev v2, [s0+v10], v8\nisetp.eq p0, v2, 0\n@p0 bra walk\n%s\nbra first\n"
          "walk: isetp.eq p2, v10, v5\n@p2 bra here\nadd v11, v10, 4\n"
          "next: atomg.cas.acquire.dev v2, [s0+v11], v8\nisetp.eq p0, v2, 0\n@p0 bra step\n%s\nbra next\n"
          "step: atomg.xchg.release.dev _, [s0+v10], v8\nmov v10, v11\nbra walk\n"
          "here: ldg.b32 v4, [s0+v10+0x1000]\nadd v4, v4, 1\nstg.b32 v4, [s0+v10+0x1000]\n"
          "atomg.xchg.release.dev _, [s0+v10], v8\nadd v3, v3, 1\nisetp.ltu p1, v3, s2\n@p1 bra outer\nexit\n";

/*
 * A lock on a range of 1 to 8 of 32 cells, a bit each in the word at 0: taken when none of them is, all at once. Adds
 * to the first cell's counter, one of eight.
 */
static const char range[] = START
    "mov v7, 0\nouter: add v5, v0, v3\nand v6, v5, 7\nadd v6, v6, 1\nmov v10, 1\nshl v10, v10, v6\nsub v10, v10, 1\n"
    "mul v5, v5, 7\nand v5, v5, 28\nrotl v10, v10, v5\nnot v11, v10\n"
    "again: ldg.b32 v12, [s0]\nand v13, v12, v10\nisetp.ne p0, v13, 0\n@p0 bra wait\nor v13, v12, v10\n"
    "atomg.cas.acquire.dev v14, [s0+v7], v12\nisetp.eq p0, v14, v12\n@p0 bra got\nbra again\n"
    "wait: %s\nbra again\n"
    "got: ldg.b32 v4, [s0+v5+0x1000]\nadd v4, v4, 1\nstg.b32 v4, [s0+v5+0x1000]\n"
    "atomg.and.release.dev _, [s0+v7], v11\nadd v3, v3, 1\nisetp.ltu p1, v3, s2\n@p1 bra outer\nexit\n";

/* Odd lanes wait for what even lanes give. */
static const char producer[] =
    START "shl v10, v0, 2\nand v11, v0, 1\nisetp.eq p0, v11, 0\n@p0 bra give\nsub v10, v10, 4\n"
          "wait: ldg.b32 v2, [s0+v10]\nisetp.ne p1, v2, 0\n@p1 bra taken\n%s\nbra wait\n"
          "give: stg.b32 v9, [s0+v10]\nexit\ntaken: mov v12, 0x1000\natomg.add.relaxed.dev _, [s0+v12], v9\nexit\n";

/* A barrier of atomics over all threads of the grid; odd ones arrive when even ones wait already. */
static const char barrier[] = START "mov v7, 0\nmov v12, 0x1000\nand v11, v0, 1\nisetp.ne p1, v11, 0\n@p1 bra arrive\n"
                                    "arrive: atomg.add.acq_rel.dev _, [s0+v7], v9\n"
                                    "wait: ldg.b32 v2, [s0]\nisetp.geu p0, v2, s2\n@p0 bra all\n%s\nbra wait\n"
                                    "all: atomg.add.relaxed.dev _, [s0+v12], v9\nexit\n";

#define CHANCE 256u /* of YIELD_CHANCE after a reset */

/*
 * Even lanes exchange 1 until they read 1, odd ones 0 until they read 0: each undoes what the other waits for. All of
 * them by one instruction, in the order of the lanes.
 */
static const char undone_together[] =
    START "mov v7, 0\nand v11, v0, 1\nxor v11, v11, 1\n"
          "again: atomg.xchg.acq_rel.dev v2, [s0+v7], v11\nisetp.eq p0, v2, v11\n@p0 bra got\n%s\nbra again\n"
          "got: mov v12, 0x1000\natomg.add.relaxed.dev _, [s0+v12], v9\nexit\n";

/* The same by two instructions, with a yield each: the sides take turns. */
static const char undone_in_turns[] =
    START "mov v7, 0\nmov v12, 0x1000\nand v11, v0, 1\nisetp.ne p1, v11, 0\n@p1 bra odd\n"
          "even: atomg.xchg.acq_rel.dev v2, [s0+v7], v9\nisetp.eq p0, v2, 1\n@p0 bra got\n%s\nbra even\n"
          "odd: atomg.xchg.acq_rel.dev v2, [s0+v7], v8\nisetp.eq p0, v2, 0\n@p0 bra got\n%s\nbra odd\n"
          "got: atomg.add.relaxed.dev _, [s0+v12], v9\nexit\n";

static struct ppu_tmd prepare(struct rig *rig, const char *shape, const char *yield, uint32_t wave, uint32_t ctas,
                              uint32_t threads, uint32_t number)
{
    struct {
        uint64_t memory;
        uint32_t number;
        uint32_t zero;
    } params = { DATA_VA, number, 0 };
    char text[2048];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    // cppcheck-suppress wrongPrintfScanfArgNum ; some shapes have one place for it
    snprintf(text, sizeof(text), shape, yield, yield);
#pragma GCC diagnostic pop
    rig_load_text(rig, text);
    memset(rig_data(rig, 0), 0, 0x2000);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, ctas, 1, threads, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    return tmd;
}

static uint32_t sum(struct rig *rig)
{
    const uint32_t *count = rig_data(rig, COUNT_AT);
    uint32_t total = 0;

    for (uint32_t i = 0; i < 8; i++) {
        total += count[i];
    }
    return total;
}

/* Warp instructions the task took. */
static uint64_t finishes(struct rig *rig, const struct ppu_tmd *tmd, uint32_t expected)
{
    struct outcome outcome = rig_run(rig, tmd);

    assert_false(outcome.faulted);
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    assert_int_equal(sum(rig), expected);
    return outcome.event.warp_insns;
}

static void hangs(struct rig *rig, const struct ppu_tmd *tmd)
{
    struct outcome outcome;

    rig_start(rig, 0, tmd);
    board_advance(rig->board, HANGS_AFTER_NS);
    assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE), PPU_SLOT_RUNNING);
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
}

static void one_shape(struct rig *rig, const char *shape, uint32_t each)
{
    static const char *const yields[] = { "yield", "yieldn 2", "yieldp 0x80000000" };

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = prepare(rig, shape, "yield", wave, 1, 1, wave);
        uint64_t alone = finishes(rig, &tmd, each * wave);

        tmd = prepare(rig, shape, "yield", wave, 1, wave, 1);
        uint64_t contended = finishes(rig, &tmd, each * wave);
        printf("# wave %u: %u.%u times the instructions of one thread\n", wave, (unsigned)(contended / alone),
               (unsigned)(contended * 10 / alone % 10));
        assert_true(contended <= PRICE * alone);
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(yields); i++) {
            tmd = prepare(rig, shape, yields[i], wave, 3, 100, 2);
            finishes(rig, &tmd, each * 3 * 100 * 2);
        }
        tmd = prepare(rig, shape, "nop", wave, 1, wave, 1);
        hangs(rig, &tmd);
    }
}

static void lock_of_a_disabled_lane(void **state)
{
    one_shape(*state, lock, 1);
}

static void locks_in_order(void **state)
{
    one_shape(*state, two_locks, 1);
}

static void locks_of_nodes(void **state)
{
    one_shape(*state, list, 1);
}

static void locks_of_ranges(void **state)
{
    one_shape(*state, range, 1);
}

static void producers_and_consumers(void **state)
{
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = prepare(*state, producer, "yield", wave, 1, 256, 0);

        finishes(*state, &tmd, 128);
        tmd = prepare(*state, producer, "nop", wave, 1, wave, 0);
        hangs(*state, &tmd);
    }
}

/* Whatever the lanes do to each other, one side goes twice now and then; without chance they take turns for ever. */
static void one_side_goes_twice(struct rig *rig, const char *shape, uint32_t wave, uint32_t threads)
{
    struct ppu_tmd tmd = prepare(rig, shape, "yield", wave, 1, threads, 0);

    for (uint32_t chance = 1; chance <= CHANCE; chance *= 4) {
        mcu_write(rig->board, PPU_REG_YIELD_CHANCE, chance);
        memset(rig_data(rig, 0), 0, 0x2000);
        printf("# wave %u, %u threads, chance %u: %llu instructions\n", wave, threads, chance,
               (unsigned long long)finishes(rig, &tmd, threads));
    }
    mcu_write(rig->board, PPU_REG_YIELD_CHANCE, 0);
    memset(rig_data(rig, 0), 0, 0x2000);
    hangs(rig, &tmd);
    mcu_write(rig->board, PPU_REG_YIELD_CHANCE, CHANCE);
}

static void lanes_that_undo_each_other(void **state)
{
    static const char *const shapes[] = { undone_together, undone_in_turns };

    assert_int_equal(mcu_read(((struct rig *)*state)->board, PPU_REG_YIELD_CHANCE), CHANCE);
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(shapes); i++) {
            one_side_goes_twice(*state, shapes[i], wave, 2);
            one_side_goes_twice(*state, shapes[i], wave, wave);
        }
    }
}

/* All CTAs on the SMs at once, else the threads would wait for some that never run. */
static void barrier_of_atomics(void **state)
{
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = prepare(*state, barrier, "yield", wave, 6, 150, 6 * 150);

        tmd.flags = PPU_TMD_CORESIDENT;
        finishes(*state, &tmd, 6 * 150);
        tmd = prepare(*state, barrier, "nop", wave, 6, 150, 6 * 150);
        tmd.flags = PPU_TMD_CORESIDENT;
        hangs(*state, &tmd);
    }
}

/* Evicted in the middle and started again, whole, beside a task that takes the room in between. */
static void barrier_that_is_evicted(void **state)
{
    struct rig *rig = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = prepare(rig, barrier, "yield", wave, 6, 150, 6 * 150);
        struct outcome outcome = { .event = { .kind = 0 } };
        uint32_t evictions = 0;

        tmd.flags = PPU_TMD_CORESIDENT;
        tmd.save_vram = SAVE_AT;
        tmd.save_bytes = SAVE_STRIDE;
        tmd.save_count = 6;
        memset(rig->board->vram + SAVE_AT, 0, 6 * SAVE_STRIDE);
        rig_start(rig, 0, &tmd);
        do {
            board_advance(rig->board, 300 + 200 * evictions);
            mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
            assert_true(rig_wait(rig, 0, &outcome));
            assert_false(outcome.faulted);
            evictions++;
            if (outcome.event.kind == PPU_SLOT_STOPPED) {
                assert_int_equal(rig->board->core->dist.used[0].ctas, 0);
                mcu_write(rig->board, PPU_REG_SLOT_START, TMD_AT(0));
            }
        } while (outcome.event.kind == PPU_SLOT_STOPPED);
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
        assert_int_equal(sum(rig), 6 * 150);
        assert_true(evictions > 2);
    }
}

static void barrier_too_large(void **state)
{
    struct rig *rig = *state;
    uint32_t most = rig->board->config.sms * rig->board->config.sm_ctas;
    struct ppu_tmd tmd = prepare(rig, barrier, "yield", 32, most, 32, most * 32);

    tmd.flags = PPU_TMD_CORESIDENT;
    finishes(rig, &tmd, most * 32);
    tmd.grid[0]++;
    struct outcome outcome = rig_run(rig, &tmd);
    assert_int_equal(outcome.event.kind, PPU_SLOT_REFUSED);
    assert_int_equal(outcome.event.arg, PPU_FAULT_TMD_CORESIDENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a lock held by a disabled lane [E6]", lock_of_a_disabled_lane, rig_setup_slices, rig_teardown, NULL },
        { "a hash table with locks in their order [E6]", locks_in_order, rig_setup_slices, rig_teardown, NULL },
        { "a list with a lock a node [E6]", locks_of_nodes, rig_setup_slices, rig_teardown, NULL },
        { "locks on ranges [E6]", locks_of_ranges, rig_setup_slices, rig_teardown, NULL },
        { "producers and consumers in one warp [E6]", producers_and_consumers, rig_setup_slices, rig_teardown, NULL },
        { "lanes that undo each other's work part [E6]", lanes_that_undo_each_other, rig_setup_slices, rig_teardown,
          NULL },
        { "a barrier of atomics over co-resident CTAs", barrier_of_atomics, rig_setup_slices, rig_teardown, NULL },
        { "co-resident CTAs are evicted and come back together [A5]", barrier_that_is_evicted, rig_setup_slices,
          rig_teardown, NULL },
        { "a co-resident grid that does not fit is refused", barrier_too_large, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: forward progress", tests, NULL, NULL);
}
