/* SPDX-License-Identifier: MIT */
/*
 * Tests what the engine knows of registers that count up with the lanes (docs/design/engine.md): whatever a program
 * does with them, each lane loads from where its own register says.
 */
#include "ppu/macros.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "tests/engine/rig.h"

#include <stdio.h>

#define OUT_AT 0x10000u
#define WORDS 0x2000u

static uint32_t content(uint32_t index)
{
    return index * 2654435761u;
}

/* v0 is the thread. The index that each thread loads from is made in v1, or in the register named. */
struct way {
    const char *text;
    uint32_t reg;
    uint32_t (*index)(uint32_t thread);
};

static uint32_t five_more(uint32_t thread)
{
    return thread + 5;
}

static uint32_t same(uint32_t thread)
{
    return thread;
}

static uint32_t some_more(uint32_t thread)
{
    return thread < 20 ? thread + 100 : thread;
}

static uint32_t mixed(uint32_t thread)
{
    return (thread ^ 3) + 1;
}

static uint32_t odd(uint32_t thread)
{
    return 2 * thread + 1;
}

static uint32_t twice(uint32_t thread)
{
    return 2 * thread;
}

static uint32_t lane_31(uint32_t thread)
{
    return thread % 32 + 31;
}

static const struct way ways[] = {
    { "add v1, v0, 5\n", 1, five_more },
    { "mov s4, 5\nadd v1, s4, v0\n", 1, five_more },
    { "mov s4, 5\nadd v1, v0, s4\n", 1, five_more },
    { "add v0, v0, 5\nadd v1, v0, 0\n", 1, five_more },
    { "add v40, v0, 5\n", 40, five_more },
    { "add v40, v0, 2\nadd v1, v40, 3\n", 1, five_more },
    { "mov s4, 0xfffffff0\nadd v1, v0, s4\nadd v1, v1, 21\n", 1, five_more },       /* through 0 */
    { "add v1, v0, 0\nisetp.ltu p0, v0, 20\n@p0 add v1, v1, 100\n", 1, some_more }, /* some lanes */
    { "add v1, v0, 0\nisetp.ltu p0, v0, 20\n@p0 add v1, v0, 100\n", 1, some_more },
    { "add v1, v0, 0\nisetp.ltu p0, v0, 20\npbrk on\n@!p0 brk on\nadd v1, v1, 100\nbrk on\non:\n", 1, some_more },
    { "add v1, v0, 0\nxor v2, v0, 3\nadd v1, v2, 1\n", 1, mixed }, /* not steady any more */
    { "add v1, v0, 0\nldg.b32 v3, [s0+v1*4]\nxor v1, v0, 3\nadd v1, v1, 1\n", 1, mixed },
    { "shl v1, v0, 1\nldg.b32 v3, [s0+v1*4]\nadd v1, v1, 1\n", 1, odd }, /* known by being looked at */
    { "add v1, v0, 0\nadd v1, v1, v0\n", 1, twice },
    { "rdsr v1, %lane\nshl v2, v1, 27\nshr v1, v2, 27\nadd v1, v1, 31\n", 1, lane_31 },
    { "isetp.ltu p0, v0, 20\nmov v1, 7\n@p0 rdsr v1, %tid.x\n@!p0 rdsr v1, %tid.x\nadd v1, v1, 5\n", 1, five_more },
    { "isetp.ltu p0, v0, 20\nadd v1, v0, 100\n@!p0 rdsr v1, %tid.x\nadd v1, v1, 0\n", 1, some_more },
    { "yield\nadd v1, v0, 0\nyield\nadd v1, v1, 0\n", 1, same },
};

static void lanes_load_from_their_own(void **state)
{
    struct rig *rig = *state;

    for (uint32_t i = 0; i < WORDS; i++) {
        vram_write32(rig_data(rig, 4 * i), content(i));
    }
    for (size_t n = 0; n < PPU_ARRAY_SIZE(ways); n++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            const uint64_t data = DATA_VA;
            char text[1024];

            snprintf(text, sizeof(text),
                     ".kernel k\n.vregs 48\nldp.b64 s0, [0]\nrdsr v0, %%tid.x\n%sldg.b32 v4, [s0+v%u*4]\n"
                     "ldg.b32 v5, [s0+v%u*4]\nadd v4, v4, v5\nrdsr v6, %%tid.x\nshl v6, v6, 2\n"
                     "stg.b32 v4, [s0+v6+0x10000]\nexit\n",
                     ways[n].text, ways[n].reg, ways[n].reg);
            rig_load_text(rig, text);
            struct ppu_tmd tmd = rig_tmd(rig, "k");
            tmd.wave = (uint8_t)wave;
            rig_shape(&tmd, 3, 1, PPU_MAX_WAVE, 1); /* the first decodes, and knows nothing */
            rig_params(rig, 0, &tmd, &data, sizeof(data));
            rig_run_done(rig, &tmd);
            for (uint32_t thread = 0; thread < PPU_MAX_WAVE; thread++) {
                const uint32_t seen = vram_read32(rig_data(rig, OUT_AT + 4 * thread));

                if (seen != 2 * content(ways[n].index(thread))) {
                    fail_msg("way %zu, waves of %u: thread %u loaded %#x", n, wave, thread, seen);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "lanes load from where their own register says [A7]", lanes_load_from_their_own, rig_setup_slices,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: steady registers", tests, NULL, NULL);
}
