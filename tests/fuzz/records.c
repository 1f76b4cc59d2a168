/* SPDX-License-Identifier: MIT */
/*
 * Surface: task descriptors, queue heads and entries, work-queue words, nest records, task handles and heaps that
 * threads write over while the firmware and the device use them.
 *
 * Kernels that launch, feed and wait run as they are meant; meanwhile words of the structures they share with the
 * firmware are replaced, in order and between two accesses of the firmware. What must hold: world.h.
 */
#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "tests/fuzz/world.h"

/* Offset of a word of a nest: its head, its ring of handles, or a part of one of its records. */
static uint32_t nest_word(struct fuzz_input *input, uint8_t kind)
{
    uint32_t record = PPU_NEST_TASKS_AT(WORLD_NEST_TASKS) + kind / 8u % WORLD_NEST_TASKS * 1024u;

    switch (kind % 5) {
    case 0:
        return fuzz_u8(input) * 4u % PPU_NEST_TASKS_AT(WORLD_NEST_TASKS);
    case 1:
        return record + fuzz_u8(input) % 16u * 4u; /* status */
    case 2:
        return record + (uint32_t)offsetof(struct ppu_nest_task, group) + fuzz_u8(input) % 48u * 4u;
    case 3:
        return record + (uint32_t)offsetof(struct ppu_nest_task, tmd) + fuzz_u8(input) % 48u * 4u;
    default:
        return 64u + fuzz_u8(input) % 3u * 64u; /* free_head, free_tail, heap */
    }
}

static uint32_t queue_word(struct fuzz_input *input, uint8_t kind)
{
    static const uint32_t head[] = { offsetof(struct ppu_taskq_head, entries),
                                     offsetof(struct ppu_taskq_head, entry_bytes),
                                     offsetof(struct ppu_taskq_head, number), offsetof(struct ppu_taskq_head, tail),
                                     offsetof(struct ppu_taskq_head, armed) };

    if (kind % 2 == 0) {
        return head[fuzz_u8(input) % PPU_ARRAY_SIZE(head)];
    }
    return (uint32_t)sizeof(struct ppu_taskq_head) + kind / 2u % WORLD_QUEUE_ENTRIES * WORLD_QUEUE_BYTES +
           fuzz_u8(input) % 4u * 4u;
}

static uint32_t workq_word(struct fuzz_input *input, uint8_t kind)
{
    switch (kind % 4) {
    case 0:
        return kind / 4u * 16u % (uint32_t)sizeof(struct ppu_workq_head);
    case 1:
        return PPU_WORKQ_RING_AT + fuzz_u8(input) % (2 * WORLD_WORKQ_ENTRIES) * 4u;
    case 2:
        return PPU_WORKQ_SEM_AT(WORLD_WORKQ_ENTRIES) + fuzz_u8(input) % WORLD_WORKQ_ENTRIES * 16u;
    default:
        return PPU_WORKQ_BLOCK_AT(WORLD_WORKQ_ENTRIES) + kind / 4u % WORLD_WORKQ_ENTRIES * WORLD_WORKQ_BLOCK +
               fuzz_u8(input) % (WORLD_WORKQ_BLOCK / 4u) * 4u;
    }
}

/* A value that is a handle of the nest more often than elsewhere. */
static uint32_t value_for(struct fuzz_input *input, uint32_t present)
{
    const struct world_area *nest = &world->area[WORLD_AREA_NEST];
    uint8_t how = fuzz_u8(input);
    uint32_t handle = 0;

    if (how % 4 != 0) {
        return world_value(input, present);
    }
    memcpy(&handle, nest->host + sizeof(struct ppu_nest) + how / 4u % WORLD_NEST_TASKS * 4u, sizeof(handle));
    return handle;
}

static void scribble(struct fuzz_input *input)
{
    uint8_t which = fuzz_u8(input);
    uint8_t kind = fuzz_u8(input);
    enum world_areas area = WORLD_AREA_MEMORY;
    uint32_t offset = 0;
    uint32_t word = 0;

    switch (which % 8) {
    case 0:
    case 1:
    case 2:
        area = WORLD_AREA_NEST;
        offset = nest_word(input, kind);
        break;
    case 3:
    case 4:
        area = WORLD_AREA_QUEUE;
        offset = queue_word(input, kind);
        break;
    case 5:
    case 6:
        area = WORLD_AREA_WORKQ;
        offset = workq_word(input, kind);
        break;
    default:
        area = kind < 128 ? WORLD_AREA_HEAP : WORLD_AREA_MEMORY;
        offset = fuzz_u8(input) * 4u;
        break;
    }
    memcpy(&word, world->area[area].host + offset, sizeof(word));
    word = value_for(input, word);
    memcpy(world->area[area].host + offset, &word, sizeof(word));
}

/* One field, to a value that means something, and those that must go with it. */
static void vary(struct fuzz_input *input, struct ppu_tmd *tmd)
{
    const struct world_area *memory = &world->area[WORLD_AREA_MEMORY];
    const uint8_t field = fuzz_u8(input), value = fuzz_u8(input);
    const uint32_t dim = field / 12u % 3u;

    switch (field % 12) {
    case 0:
        tmd->flags ^= (uint16_t)(1u << value % 8u);
        break;
    case 1:
        tmd->flags = (uint16_t)((tmd->flags & ~(PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS)) | PPU_TMD_CORESIDENT);
        break;
    case 2:
        tmd->wave = (uint8_t)(PPU_LANES << value % 3u);
        break;
    case 3:
        tmd->mode = value % PPU_MODES;
        break;
    case 4:
        tmd->shared_vregs = (uint16_t)(1u + value % 64u);
        tmd->vregs = (uint16_t)ppu_align_up(tmd->vregs, PPU_SHARED_VREGS_ALIGN);
        break;
    case 5:
        tmd->vregs = (uint16_t)(1u + value);
        break;
    case 6:
        tmd->cta[dim] = (uint16_t)(1u + value);
        break;
    case 7:
        tmd->grid[dim] = 1u + value % 16u;
        break;
    case 8:
        tmd->edge[dim] = (uint16_t)(value % (tmd->cta[dim] + 1u));
        break;
    case 9:
        tmd->local_bytes = 16u * (1u + value % 64u);
        tmd->local_va = memory->va + WORLD_MEMORY / 2;
        tmd->local_size = WORLD_MEMORY / 2;
        break;
    case 10:
        tmd->token_count = (uint16_t)(4u * value);
        break;
    default:
        tmd->shared_bytes = 256u * value;
        break;
    }
}

/* As good as those that libppu describes, but of other kinds: world_put_tmd() has words of any value. */
static void put_variant(struct fuzz_input *input)
{
    struct ppu_tmd tmd = world->kernel[fuzz_below(input, world->kernels)].tmd;
    const uint32_t slot = fuzz_below(input, world->kernels);

    for (uint32_t left = 1u + fuzz_u8(input) % 4u; left > 0; left--) {
        vary(input, &tmd);
    }
    world_store_tmd(slot, &tmd);
}

static void act(struct fuzz_input *input)
{
    uint8_t what = fuzz_u8(input);

    switch (what % 8) {
    case 0:
    case 1:
        world_launch(what / 8u, fuzz_u8(input), what & 0x80u ? PPU_STREAM_NONE : what / 16u % 4u);
        break;
    case 2:
        (what & 0x80u ? put_variant : world_put_tmd)(input);
        break;
    case 3:
        if (what & 0x40u) {
            world_round(what / 8u);
            break;
        }
        stepped_doorbell(world->workq_channel, what & 0x80u ? PPU_DB_RING : PPU_DB_PUT, what / 8u % 8u);
        break;
    case 4:
    case 5:
        scribble(input);
        break;
    default:
        world_pass(1 + what / 8u);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const struct world_play play = { act, scribble, 32, 200 };

    world_play(&play, bytes, count);
    return 0;
}
