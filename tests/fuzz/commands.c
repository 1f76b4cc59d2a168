/* SPDX-License-Identifier: MIT */
/*
 * Surface: command blocks, ring entries and doorbells of a hostile context, changed while the firmware fetches them.
 *
 * An input has two parts. The first is what the hostile context does in order: it submits blocks, rings, writes
 * descriptors, lets time pass. The second is what it stores into its memory while the firmware looks: pairs of how many
 * accesses of the firmware go by, and a store. What must hold: world.h.
 */
#include "world.h"

#define MOST_ACTIONS 24u
#define MOST_STEPS 160u

static const struct world *world;
static struct fuzz_input meanwhile;
static uint32_t accesses_left;

static void store_meanwhile(void *opaque)
{
    (void)opaque;
    if (accesses_left > 0) {
        accesses_left--;
        return;
    }
    if (!fuzz_ended(&meanwhile)) {
        accesses_left = fuzz_u8(&meanwhile);
        world_scribble(&meanwhile);
    }
}

static void act(struct fuzz_input *input, uint32_t *steps)
{
    uint8_t what = fuzz_u8(input);
    uint32_t pass = 1 + what / 16u;

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
        pass = pass < *steps ? pass : *steps;
        *steps -= pass;
        stepped_run(pass);
        break;
    }
}

/* Set-up is no coverage of an input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    world = world_open();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    size_t first = count > 0 ? (count - 1) * bytes[0] / 255 : 0;
    struct fuzz_input input = fuzz_input(bytes + (count > 0), first);
    uint32_t steps = MOST_STEPS;

    world_restore();
    meanwhile = fuzz_input(bytes + (count > 0) + first, count - (count > 0) - first);
    accesses_left = fuzz_u8(&meanwhile);
    stepped_between(store_meanwhile, NULL);
    world_victim_begins();
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&input); i++) {
        act(&input, &steps);
    }
    stepped_run(steps);
    world_check();
    return 0;
}
