/* SPDX-License-Identifier: MIT */
/*
 * Surface: the device's state in a snapshot.
 *
 * An input changes fields of a machine in the middle of everything, or tells lies of tests/engine/lies.def about it,
 * and words of what that machine writes then. Another machine loads it: it refuses and nothing has changed, or what it
 * saves can be loaded, it runs, ends every task when it is told to, and leaves memory that nothing names alone.
 */
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "tests/engine/liar.h"
#include "tests/fuzz/input.h"

#include <sanitizer/lsan_interface.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHANGES 12u
#define RUN_NS 20000u
#define END_STEPS 60u

static struct liar liar;
static struct rig *victim;

/* A state, as it was written. */
struct written {
    uint8_t *bytes;
    size_t len;
};
static struct written fresh;

/* What lies change of the liar, as it was. */
#define MOST_PIECES 16u
static struct piece {
    void *at;
    void *kept;
    size_t bytes;
} pieces[MOST_PIECES];
static uint32_t piece_count;

static void keep(void *at, size_t bytes)
{
    void *kept = malloc(bytes);

    if (!kept || piece_count == MOST_PIECES) {
        abort();
    }
    memcpy(kept, at, bytes);
    pieces[piece_count] = (struct piece){ .at = at, .bytes = bytes };
    pieces[piece_count++].kept = kept;
}

static void keep_all(void)
{
    struct sm_pool *pool = *core_sm_pool(liar.core);
    const struct core_config *config = core_config_of(liar.core);

    keep(liar.core, sizeof(*liar.core));
    keep(pool, sizeof(*pool));
    keep(pool->sm, pool->sms * sizeof(*pool->sm));
    for (uint32_t i = 0; i < pool->sms; i++) {
        keep(pool->sm[i].cta, config->sm_ctas * sizeof(*pool->sm[i].cta));
        keep(pool->sm[i].warp, config->sm_warps * sizeof(*pool->sm[i].warp));
    }
}

static void be_honest(void)
{
    for (uint32_t i = 0; i < piece_count; i++) {
        memcpy(pieces[i].at, pieces[i].kept, pieces[i].bytes);
    }
}

static struct written save(struct core *core)
{
    struct written state;

    state.bytes = core_save(core, &state.len);
    if (!state.bytes) {
        abort();
    }
    return state;
}

static bool same(const struct written *a, const struct written *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static void must_load(struct core *core, const struct written *state)
{
    const char *why = NULL;

    if (!core_load(core, state->bytes, state->len, &why)) {
        fuzz_found("a state that was saved is refused: %s", why);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    liar_new(&liar);
    memset(liar.rig->board->vram + UNUSED_AT, 0x5a, UNUSED_BYTES);
    keep_all();
    victim = rig_new(0);
    core_pause(victim->board->core);
    liar_memories(victim, liar.rig);
    fresh = save(victim->board->core);
    return 0;
}

static void change_fields(struct fuzz_input *input)
{
    for (uint32_t n = 0; n < MOST_CHANGES && !fuzz_ended(input); n++) {
        const uint8_t what = fuzz_u8(input);

        if (what == 255) {
            return; /* words of the stream follow */
        }
        if (what >= 192) {
            lies[fuzz_below(input, lies_count)].tell(&liar);
        } else {
            liar_change(&liar, what, fuzz_u16(input), fuzz_u8(input), fuzz_u64(input));
        }
    }
}

static void change_words(struct fuzz_input *input, struct written *state)
{
    for (uint32_t n = 0; n < MOST_CHANGES && !fuzz_ended(input); n++) {
        const uint32_t at = fuzz_below(input, (uint32_t)(state->len / 4)), value = fuzz_u32(input);

        memcpy(state->bytes + 4 * (size_t)at, &value, sizeof(value));
    }
}

static void end_all(struct board *board)
{
    for (uint32_t slot = 0; slot < board->config.slots; slot++) {
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
    }
    for (uint32_t step = 0; step < END_STEPS; step++) {
        struct ppu_fault_event fault;

        board_advance(board, RUN_NS);
        while (mcu_read(board, PPU_REG_RING_SIZE + 4 * PPU_RING_FAULT) == 16 &&
               ring_pop(board, PPU_RING_FAULT, &fault)) {
        }
    }
    for (uint32_t slot = 0; slot < board->config.slots; slot++) {
        if (mcu_read(board, PPU_REG_SLOT_STATE + 4 * slot) != PPU_SLOT_FREE &&
            mcu_read(board, PPU_REG_RING_SIZE + 4 * PPU_RING_FAULT) == 16) {
            fuzz_found("slot %u does not end", slot);
        }
    }
}

/* Copies in flight that were loaded name where they write. */
static bool is_copied_to(const struct dma *dma, uint32_t at)
{
    for (uint32_t i = 0; i < dma->count; i++) {
        const struct dma_copy *const copy = &dma->queue[(dma->head + i) % PPU_MAX_COPIES];

        if (copy->dst_space == PPU_SPACE_VRAM && at >= copy->dst && at - copy->dst < copy->len_bytes) {
            return true;
        }
    }
    return false;
}

static void run(struct board *board)
{
    const struct dma loaded = board->core->dma;

    core_resume(board->core);
    board_advance(board, RUN_NS);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_RESUME);
    board_advance(board, RUN_NS);
    end_all(board);
    core_pause(board->core);
    for (uint32_t i = 0; i < UNUSED_BYTES; i++) {
        if (board->vram[UNUSED_AT + i] != 0x5a && !is_copied_to(&loaded, UNUSED_AT + i)) {
            fuzz_found("VRAM at 0x%x has changed, which nothing names", UNUSED_AT + i);
        }
    }
}

static void put_back(void)
{
    liar_memories(victim, liar.rig);
    victim->board->deadline_ns = UINT64_MAX;
    victim->board->kicked = 0;
    must_load(victim->board->core, &fresh);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    struct core *core = victim->board->core;
    const char *why = NULL;

    __lsan_disable(); /* who lies about its areas does not free what it took for them */
    change_fields(&input);
    __lsan_enable();
    struct written lie = save(liar.core);
    be_honest();
    change_words(&input, &lie);
    bool loaded = core_load(core, lie.bytes, lie.len, &why);
    struct written after = save(core);
    if (!loaded && !same(&after, &fresh)) {
        fuzz_found("a state was refused, and something has changed: %s", why);
    }
    free(lie.bytes);
    if (loaded) {
        must_load(core, &after);
    }
    free(after.bytes);
    if (loaded) {
        run(victim->board);
        put_back();
    }
    return 0;
}
