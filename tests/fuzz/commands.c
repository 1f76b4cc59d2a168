/* SPDX-License-Identifier: MIT */
/*
 * Surface: command blocks, ring entries and doorbells of a hostile context, changed while the firmware fetches them.
 *
 * An input has two parts. The first is what the hostile context does in order: it submits blocks, rings, writes
 * descriptors, lets time pass. The second is what it stores into its memory while the firmware looks: pairs of how many
 * accesses of the firmware go by, and a store. What must hold: world.h.
 */
#include "tests/fuzz/world.h"

static void act(struct fuzz_input *input)
{
    uint8_t what = fuzz_u8(input);

    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        world_submit(input);
        break;
    case 3:
        world_put_tmd(input);
        break;
    case 4:
        world_scribble(input);
        break;
    case 5:
        stepped_doorbell(world->channel[what / 8 % WORLD_CHANNELS], what & 0x80u ? PPU_DB_RING : PPU_DB_PUT,
                         fuzz_u8(input));
        break;
    default:
        world_pass(1 + what / 16u);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const struct world_play play = { act, world_scribble, 24, 160 };

    world_play(&play, bytes, count);
    return 0;
}
