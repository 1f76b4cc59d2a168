/* SPDX-License-Identifier: MIT */
/* Tests snapshots that lie: about one thing at a time (lies.def), and about several at random. */
#include "tests/engine/liar.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *state_of(struct core *core, size_t *len)
{
    uint8_t *state = core_save(core, len);

    assert_non_null(state);
    return state;
}

/* Asks the victim, which is paused, to load; false: it refused, and nothing has changed. */
static bool load(struct rig *victim, const uint8_t *state, size_t len, const char **error)
{
    size_t before_len, after_len;
    uint8_t *before = state_of(victim->board->core, &before_len);
    const bool loaded = core_load(victim->board->core, state, len, error);

    uint8_t *after = state_of(victim->board->core, &after_len);
    if (!loaded) {
        assert_true(before_len == after_len && memcmp(before, after, after_len) == 0);
    } else {
        assert_true(len == after_len && memcmp(state, after, after_len) == 0);
    }
    free(before);
    free(after);
    return loaded;
}

/* ---- one by one ---- */

static void lies_are_refused(void **state)
{
    struct rig *victim = rig_new(0);
    uint32_t wrong = 0;

    (void)state;
    core_pause(victim->board->core);
    for (uint32_t i = 0; i < lies_count; i++) {
        const char *error = "it was loaded";
        struct liar l;
        size_t len;

        liar_new(&l);
        liar_memories(victim, l.rig);
        lies[i].tell(&l);
        uint8_t *lie = state_of(l.core, &len);
        if (load(victim, lie, len, &error) || !strstr(error, lies[i].words)) {
            print_error("lies.def:%u: \"%s\" is not in: %s\n", lies[i].line, lies[i].words, error ? error : "(loaded)");
            wrong++;
        }
        free(lie);
        liar_free(&l);
    }
    assert_int_equal(wrong, 0);
    rig_free(victim);
}

/* The state that the lies are about is none: it is loaded, runs, and obeys. */
static void the_truth_is_loaded(void **state)
{
    struct rig *victim = rig_new(0);
    const char *error = NULL;
    struct liar l;
    size_t len;

    (void)state;
    liar_new(&l);
    core_pause(victim->board->core);
    liar_memories(victim, l.rig);
    uint8_t *truth = state_of(l.core, &len);
    if (!load(victim, truth, len, &error)) {
        fail_msg("%s", error);
    }
    free(truth);
    liar_free(&l);
    core_resume(victim->board->core);
    board_advance(victim->board, 100000);
    for (uint32_t slot = 0; slot < 3; slot++) {
        mcu_write(victim->board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
    }
    board_advance(victim->board, 1000000);
    for (uint32_t slot = 0; slot < 3; slot++) {
        assert_int_equal(mcu_read(victim->board, PPU_REG_SLOT_STATE + 4 * slot), PPU_SLOT_FREE);
    }
    rig_free(victim);
}

/* ---- several at random ---- */

/* Two changes that fit each other say more than two that do not: every second liar tells a lie of the table first. */
static void lie_at_random(struct liar *l, uint64_t *random)
{
    if (random_below(random, 2)) {
        lies[random_below(random, lies_count)].tell(l);
    }
    for (uint32_t n = 1 + random_below(random, 3); n != 0; n--) {
        liar_change(l, (uint32_t)random_next(random), (uint32_t)random_next(random), (uint32_t)random_next(random) >> 8,
                    random_next(random));
    }
}

/* What was loaded runs, obeys, and leaves what nothing names alone. */
static void run_and_end(struct rig *victim)
{
    struct board *board = victim->board;

    core_resume(board->core);
    board_settle(board);
    board_advance(board, 30000);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_RESUME);
    board_advance(board, 30000);
    for (uint32_t slot = 0; slot < board->config.slots; slot++) {
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
    }
    for (uint32_t step = 0; step < 100; step++) {
        struct ppu_fault_event fault;

        board_advance(board, 100000);
        while (ring_pop(board, PPU_RING_FAULT, &fault)) {
        }
    }
    for (uint32_t slot = 0; slot < board->config.slots; slot++) {
        assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 4 * slot), PPU_SLOT_FREE);
    }
    for (uint32_t i = 0; i < UNUSED_BYTES; i++) {
        assert_int_equal(board->vram[UNUSED_AT + i], 0x5a);
    }
}

static void random_lies_do_no_harm(void **state)
{
    uint64_t random = random_seed();
    uint32_t refused = 0, rounds = random_rounds(50);

    (void)state;
    for (uint32_t round = 0; round < rounds; round++) {
        struct rig *victim = rig_new(0);
        const char *error = NULL;
        struct liar l;
        size_t len;

        liar_new(&l);
        memset(l.rig->board->vram + UNUSED_AT, 0x5a, UNUSED_BYTES);
        core_pause(victim->board->core);
        liar_memories(victim, l.rig);
        lie_at_random(&l, &random);
        uint8_t *lie = state_of(l.core, &len);
        if (load(victim, lie, len, &error)) {
            run_and_end(victim);
        } else {
            refused++;
        }
        free(lie);
        liar_free(&l);
        rig_free(victim);
    }
    printf("# %u of %u refused\n", refused, rounds);
    assert_true(refused > rounds / 4 && refused < rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a snapshot in the middle of everything is loaded", the_truth_is_loaded, NULL, NULL, NULL },
        { "snapshots that lie about one thing are refused, and say where", lies_are_refused, NULL, NULL, NULL },
        { "snapshots that lie at random do no harm", random_lies_do_no_harm, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("engine: snapshots that lie", tests, NULL, NULL);
}
