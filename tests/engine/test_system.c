/* SPDX-License-Identifier: MIT */
/* Tests accesses of SMs to system memory: in how many transfers, and in which bottom half, they are done. */
#include "tests/engine/rig.h"

#include "ppu/macros.h"
#include "ppu/ring.h"
#include "qemu-device/core/core.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 200000u
#define TRANSFERS 128u /* of one bottom half, but for what the last request has more */
#define SPAN 2048u     /* bytes of system memory that the lanes of these tests reach */

static uint32_t transfers;
static uint32_t refused; /* bit n: the n-th of the transfers */

static void count_transfer(struct board *board)
{
    board->bus_works = transfers >= 32 || (refused >> transfers & 1) == 0;
    transfers++;
}

/* Every warp of every SM loads 16 bytes a lane, none beside another, all at once. */
static void start_loads(struct rig *rig)
{
    static const char text[] =
        ".kernel k\n.vregs 8\nldp.b64 s0, [0]\nrdsr v0, %tid\nshl v1, v0, 5\nldg.b128 v4, [s0+v1]\nexit\n";
    const uint64_t params[2] = { SYS_VA, 0 };

    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 24, 1, 256, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig->board->during_dma = count_transfer;
    start_task(rig->board, 0, &tmd);
}

static void let_time_pass(struct board *board)
{
    __atomic_store_n(&board->now_ns, board->now_ns + 10000, __ATOMIC_SEQ_CST);
    core_timer(board->core);
}

/* Others may have the host lock in between. */
static void are_served_in_parts(void **state)
{
    struct rig *rig = *state;
    uint32_t all = 0, most = 0;
    struct ppu_slot_event event = { .kind = 0 };

    start_loads(rig);
    for (uint32_t step = 0; !ring_pop(rig->board, PPU_RING_SLOT, &event); step++) {
        assert_true(step < STEPS_MAX);
        transfers = 0;
        core_bottom_half(rig->board->core);
        most = PPU_MAX(transfers, most);
        all += transfers;
        let_time_pass(rig->board);
    }
    assert_int_equal(event.kind, PPU_SLOT_DONE);
    assert_int_equal(all, 24 * 256);
    assert_in_range(most, TRANSFERS, TRANSFERS + PPU_LANES);
}

/* The firmware's own accesses answer events only, so that it does not wait for what kernels load without end. */
static void wait_while_events_are_answered(void **state)
{
    struct rig *rig = *state;
    struct board *board = rig->board;
    struct ppu_slot_event event = { .kind = 0 };

    start_loads(rig);
    for (uint32_t step = 0; !core_answer_events(board->core); step++) {
        assert_true(step < STEPS_MAX);
        let_time_pass(board);
    }
    transfers = 0;
    for (uint32_t step = 0; step < 100; step++) {
        assert_true(core_answer_events(board->core));
        let_time_pass(board);
    }
    assert_int_equal(transfers, 0);
    assert_false(ring_pop(board, PPU_RING_SLOT, &event));
    for (uint32_t step = 0; !ring_pop(board, PPU_RING_SLOT, &event); step++) {
        assert_true(step < STEPS_MAX);
        core_bottom_half(board->core);
        let_time_pass(board);
    }
    assert_int_equal(event.kind, PPU_SLOT_DONE);
    core_bottom_half(board->core);
    assert_false(core_answer_events(board->core));
}

/* ---- words of lanes that lie side by side ---- */

/* Where each lane of a warp accesses, and what it has there: 16 bytes of which an access takes the first. */
struct lanes_words {
    uint32_t offset[PPU_LANES];
    uint8_t bytes[PPU_LANES][16];
};

static const struct width {
    const char *name;
    uint32_t bytes;
} widths[] = { { "u8", 1 }, { "u16", 2 }, { "b32", 4 }, { "b64", 8 }, { "b128", 16 } };

/* V2: the lane's offset; v1: where its bytes are, behind all offsets. */
#define WARP_HEAD                                                                             \
    ".kernel k\n.vregs 12\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %%tid\nshl v1, v0, 2\n" \
    "ldg.b32 v2, [s2+v1]\nshl v1, v0, 4\nadd v1, v1, 128\n"
_Static_assert(offsetof(struct lanes_words, bytes) == 128, "WARP_HEAD says where");

static struct outcome run_warp(struct rig *rig, const struct width *width, bool store, struct lanes_words *words)
{
    const uint64_t params[2] = { SYS_VA, DATA_VA };
    char text[400];

    if (store) {
        snprintf(text, sizeof(text), WARP_HEAD "ldg.b128 v4, [s2+v1]\nstg.%s v4, [s0+v2]\nexit\n", width->name);
    } else {
        snprintf(text, sizeof(text), WARP_HEAD "ldg.%s v4, [s0+v2]\nstg.%s v4, [s2+v1]\nexit\n", width->name,
                 width->name);
    }
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 1, 1, PPU_LANES, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    memcpy(rig_data(rig, 0), words, sizeof(*words));
    rig->board->during_dma = count_transfer;
    transfers = 0;
    struct outcome outcome = rig_run(rig, &tmd);
    rig->board->during_dma = NULL;
    rig->board->bus_works = true;
    memcpy(words, rig_data(rig, 0), sizeof(*words));
    return outcome;
}

static void fill(uint8_t *bytes, uint32_t count, uint64_t *random)
{
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)random_next(random);
    }
}

/* What system memory and lanes have afterwards is what one word after the other would leave. */
static void check_warp(struct rig *rig, const struct width *width, bool store, const uint32_t *offsets,
                       uint64_t *random)
{
    struct lanes_words words;
    uint8_t expected[SPAN];

    fill(rig->board->sys, SPAN, random);
    memcpy(expected, rig->board->sys, SPAN);
    memcpy(words.offset, offsets, sizeof(words.offset));
    fill(words.bytes[0], sizeof(words.bytes), random);
    const struct lanes_words before = words;
    assert_false(run_warp(rig, width, store, &words).faulted);
    for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
        if (store) {
            memcpy(expected + offsets[lane], before.bytes[lane], width->bytes);
        } else {
            assert_memory_equal(words.bytes[lane], expected + offsets[lane], width->bytes);
        }
    }
    assert_memory_equal(rig->board->sys, expected, SPAN);
}

static uint32_t row_of(uint32_t lane)
{
    return lane;
}

static uint32_t same(uint32_t lane)
{
    (void)lane;
    return 3;
}

static uint32_t pairs(uint32_t lane)
{
    return lane / 2;
}

static uint32_t backwards(uint32_t lane)
{
    return PPU_LANES - 1 - lane;
}

static uint32_t apart(uint32_t lane)
{
    return 2 * lane;
}

static uint32_t two_rows(uint32_t lane)
{
    return lane % 16 + (lane < 16 ? 64 : 0);
}

static const struct shape {
    const char *name;
    uint32_t (*word)(uint32_t lane);
    uint32_t transfers;
} shapes[] = {
    { "a row", row_of, 1 },         { "one word", same, 1 }, { "each word twice", pairs, 1 },
    { "backwards", backwards, 32 }, { "apart", apart, 32 },  { "two rows", two_rows, 2 },
};

static void neighbours_are_one_transfer(void **state)
{
    struct rig *rig = *state;
    uint64_t random = 1;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(shapes) * PPU_ARRAY_SIZE(widths) * 2; i++) {
        const struct shape *const shape = &shapes[i / 2 / PPU_ARRAY_SIZE(widths)];
        const struct width *const width = &widths[i / 2 % PPU_ARRAY_SIZE(widths)];
        uint32_t offsets[PPU_LANES];

        for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
            offsets[lane] = shape->word(lane) * width->bytes;
        }
        check_warp(rig, width, i % 2 != 0, offsets, &random);
        if (transfers != shape->transfers) {
            fail_msg("%s of %s, %s: %u transfers", shape->name, width->name, i % 2 != 0 ? "stored" : "loaded",
                     transfers);
        }
    }
}

/* Long rows, gaps and words once more, in any order. */
static void random_words(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < random_rounds(300); round++) {
        const struct width *const width = &widths[random_below(&random, PPU_ARRAY_SIZE(widths))];
        const uint32_t words = SPAN / width->bytes, jumps = 1 + random_below(&random, 8);
        uint32_t offsets[PPU_LANES], at = random_below(&random, words);

        for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
            offsets[lane] = at * width->bytes;
            at = random_below(&random, jumps) == 1 ? random_below(&random, words)
                                                   : (at + random_below(&random, 3)) % words;
        }
        check_warp(rig, width, random_below(&random, 2) != 0, offsets, &random);
    }
}

/* The transfer of all words is refused, and of the words alone the sixth: the five before it are there. */
static void refused_row_says_which_word(void **state)
{
    struct rig *rig = *state;
    const struct width *const width = &widths[2];

    for (uint32_t store = 0; store < 2; store++) {
        struct lanes_words words = { .offset = { 0 } };

        for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
            words.offset[lane] = 64 + 4 * lane;
        }
        memset(words.bytes, 0x11, sizeof(words.bytes));
        memset(rig->board->sys, 0, SPAN);
        refused = 1u << 0 | 1u << 6;
        struct outcome outcome = run_warp(rig, width, store != 0, &words);
        refused = 0;
        assert_int_equal(transfers, 7);
        assert_true(outcome.faulted);
        assert_int_equal(outcome.fault.code, PPU_FAULT_BUS);
        assert_int_equal(outcome.fault.address, SYS_BASE + 64 + 4 * 5);
        assert_int_equal(outcome.fault.lanes, 1u << 5);
        for (uint32_t i = 0; i < SPAN; i++) {
            assert_int_equal(rig->board->sys[i], store != 0 && i >= 64 && i < 64 + 4 * 5 ? 0x11 : 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "accesses to system memory are served in parts [A9]", are_served_in_parts, rig_setup_slices, rig_teardown,
          NULL },
        { "accesses to system memory wait while events are answered [A9]", wait_while_events_are_answered,
          rig_setup_slices, rig_teardown, NULL },
        { "words of system memory side by side are one transfer [A9]", neighbours_are_one_transfer, rig_setup_slices,
          rig_teardown, NULL },
        { "words of system memory at random are what one after the other leaves [A9]", random_words, rig_setup_slices,
          rig_teardown, NULL },
        { "of a row that the bus refuses the fault says which word [A9]", refused_row_says_which_word, rig_setup_slices,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
