/* SPDX-License-Identifier: MIT */
/*
 * Tests loads, stores and additions against a loop over the lanes. Their lanes lie in memory in every way that an
 * engine may treat apart: in a row, alike, some lanes missing, far from each other, across pages, backwards. The
 * registers of the addresses have served a row before, and are written in several ways: the engine may remember nothing
 * of their old values. All this is done twice, the first time without the access: an engine may do otherwise with code
 * that it knows.
 */
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define TABLE_AT 0u     /* of each lane: offset, and whether it takes part */
#define OUT_AT 0x10000u /* of each lane: four words */
#define MEMORY_AT 0x80000u
#define PAGES 4u
#define MEMORY_BYTES (PAGES * PPU_PAGE_64K)
#define MEMORY_VA 0x0000000080000000ull /* the pages, the last one first */
#define SHARED_BYTES 0x2000u
#define MIDDLE (PPU_PAGE_64K + 0x4000u) /* where indexes count from */
#define LANE_WORDS 4u
#define JUNK(lane, word) (((lane) + 1u) * 0x01020408u + (word))

enum access {
    LOAD,
    STORE,
    ADD,    /* without the old value */
    GATHER, /* three words */
    ACCESSES,
};

enum form {
    BASE_AND_LANE, /* a base for all and 32 bits of each lane */
    INDEX,         /* the same, a signed number of accesses */
    PAIRS,         /* 64 bits of each lane */
    BASE_ALONE,
    FORMS,
};

static const struct {
    const char *text;
    uint32_t bytes;
    bool is_signed;
} widths[] = {
    { "u8", 1, false },  { "s8", 1, true },   { "u16", 2, false },   { "s16", 2, true },
    { "b32", 4, false }, { "b64", 8, false }, { "b128", 16, false },
};
#define WIDTHS PPU_ARRAY_SIZE(widths)

/* How offsets, and whether the lane takes part, get from the table at s0 + v1 to v2 and p0. */
static const char *const ways[] = {
    "ldg.b64 v2, [s0+v1]\nisetp.ne p0, v3, 0\n",
    "ldg.b64 v16, [s0+v1]\nisetp.ne p0, v17, 0\nmov v2, v16\n",
    "ldg.b64 v16, [s0+v1]\nisetp.ne p0, v17, 0\n@p0 mov v2, v16\n",
    "ldg.b64 v16, [s0+v1]\nisetp.ne p0, v17, 0\nsel v2, v16, v2, p0\n",
    "ldg.b64 v16, [s0+v1]\nisetp.ne p0, v17, 0\nshfl v2, v16, v0\n",
    "mov v18, v1\nadd v19, v1, 4\ngather.n2 v2, [s0+v18]\nisetp.ne p0, v3, 0\n",
    "ldg.b64 v16, [s0+v1]\nisetp.ne p0, v17, 0\nmov v2, 0\natomg.add v18, [s0+v1], v2\nmov v2, v18\n",
};
#define WAYS PPU_ARRAY_SIZE(ways)

struct shape {
    enum access access;
    uint32_t width;
    bool shared;
    enum form form;
    uint32_t wave;
    uint32_t way;
    bool twice; /* loads */
    uint32_t offset[PPU_MAX_WAVE];
    bool on[PPU_MAX_WAVE];
};

/* ---- shapes ---- */

static void choose_lanes(struct shape *s, uint64_t *random)
{
    const uint32_t kind = random_below(random, 6), one = random_below(random, s->wave);

    for (uint32_t i = 0; i < s->wave; i++) {
        const uint32_t chance = random_below(random, 16);
        s->on[i] = kind < 2 || (kind == 2 && chance < 8) || (kind == 3 && chance < 1) || (kind == 4 && i >= one) ||
                   (kind == 5 && i == one);
    }
}

#define KINDS 13u
#define KIND_OVERLAPPING 7u /* several words, from a word or two behind those of the lane before */

static void choose_offsets(struct shape *s, uint64_t *random)
{
    const uint32_t room = s->shared ? SHARED_BYTES : MEMORY_BYTES, bytes = widths[s->width].bytes;
    const uint32_t near = s->shared ? room : PPU_PAGE_64K,
                   kind = s->form == BASE_ALONE ? 2 : random_below(random, KINDS);
    const uint32_t apart = bytes >= 8 && s->form != INDEX ? 4u << random_below(random, 2) : bytes;
    uint32_t begin = random_below(random, (room - PPU_MAX_WAVE * 2 * bytes) / bytes) * bytes;

    if (kind == 1 && !s->shared) {
        begin = PPU_PAGE_64K - random_below(random, s->wave) * bytes; /* across a page's end */
    }
    for (uint32_t i = 0; i < s->wave; i++) {
        switch (kind) {
        case 0:
        case 1:
            s->offset[i] = begin + i * bytes;
            break;
        case 2:
            s->offset[i] = begin;
            break;
        case 3:
            s->offset[i] = begin + 2 * i * bytes;
            break;
        case 4:
            s->offset[i] = begin + (s->wave - 1 - i) * bytes;
            break;
        case 5:
            s->offset[i] = random_below(random, near / bytes) * bytes;
            break;
        case KIND_OVERLAPPING:
            s->offset[i] = begin + i * apart;
            break;
        case 6:
            s->offset[i] = begin + (i ^ (i == s->wave / 2)) * bytes; /* in a row but for one */
            break;
        case 9:
        case 10:
            s->offset[i] = begin + (i % 8 + i / 8 % 2 * (kind - 8) * 16) * bytes; /* short rows, each of them twice */
            break;
        case 11:
            s->offset[i] = begin + i / 8 % 16 * bytes; /* eight alike */
            break;
        case 12:
            s->offset[i] = begin + (i % 8 + i / 8 % 4 * 12 + (i % 32 == 21)) * bytes; /* short rows but for one */
            break;
        default:
            s->offset[i] = random_below(random, room / bytes) * bytes;
            break;
        }
    }
}

static void choose(struct shape *s, uint64_t *random)
{
    s->access = (enum access)random_below(random, ACCESSES);
    s->width = s->access >= ADD ? 4 : random_below(random, WIDTHS);
    s->shared = s->access != GATHER && random_below(random, 3) == 0;
    s->form = s->shared || s->access == GATHER ? BASE_AND_LANE : (enum form)random_below(random, FORMS);
    s->wave = 32u << random_below(random, 3);
    s->way = random_below(random, WAYS);
    s->twice = s->access == LOAD && random_below(random, 2) == 0;
    choose_lanes(s, random);
    choose_offsets(s, random);
}

/* ---- the model ---- */

static void model(const struct shape *s, uint8_t *memory, uint32_t out[][LANE_WORDS])
{
    const uint32_t bytes = widths[s->width].bytes;

    for (uint32_t lane = 0; lane < s->wave; lane++) {
        uint32_t word[LANE_WORDS];
        uint8_t *const at = memory + s->offset[lane];

        for (uint32_t i = 0; i < LANE_WORDS; i++) {
            word[i] = JUNK(lane, i);
        }
        if (s->on[lane] && s->access == LOAD) {
            if (bytes < 4) {
                word[0] = 0;
            }
            memcpy(word, at, bytes);
            if (widths[s->width].is_signed) {
                word[0] = bytes == 1 ? (uint32_t)(int8_t)word[0] : (uint32_t)(int16_t)word[0];
            }
        } else if (s->on[lane] && s->access == STORE) {
            memcpy(at, word, bytes);
        } else if (s->on[lane] && s->access == GATHER) {
            memcpy(&word[0], at, 4);
            memcpy(&word[1], memory + (s->offset[lane] ^ 64u), 4);
            memcpy(&word[2], memory + (s->offset[lane] & 0xfff0u), 4);
        } else if (s->on[lane]) {
            uint32_t sum;
            memcpy(&sum, at, sizeof(sum));
            sum += word[0];
            memcpy(at, &sum, sizeof(sum));
        }
        memcpy(out[lane], word, sizeof(word));
    }
}

/* ---- the kernel ---- */

static void write_kernel(const struct shape *s, char *text, size_t size)
{
    static const char *const names[] = { "ld", "st", "atom" };
    char access[96], again[128], indexed[16];
    const char *const address = s->shared                  ? "[v2]"
                                : s->form == PAIRS         ? "[v20]"
                                : s->form == INDEX         ? indexed
                                : s->form == BASE_AND_LANE ? "[s4+v2]"
                                                           : "[s6]";

    snprintf(indexed, sizeof(indexed), "[s4+v2*%u]", widths[s->width].bytes);
    if (s->access == GATHER) {
        snprintf(access, sizeof(access),
                 "mov v12, v2\nxor v13, v2, 64\nand v14, v2, 0xfff0\n@p0 gather.n3 v8, [s4+v12]");
    } else if (s->access == ADD) {
        snprintf(access, sizeof(access), "@p0 atom%c.add _, %s, v8", s->shared ? 's' : 'g', address);
    } else {
        snprintf(access, sizeof(access), "@p0 %s%c.%s v8, %s", names[s->access], s->shared ? 's' : 'g',
                 s->access == STORE && widths[s->width].is_signed ? (widths[s->width].bytes == 1 ? "u8" : "u16")
                                                                  : widths[s->width].text,
                 address);
    }
    snprintf(again, sizeof(again), "\n%s", access);
    snprintf(
        text, size,
        ".kernel k\n.vregs 32\n.shared %u\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b128 s4, [16]\nrdsr v0, %%tid\n"
        "shl v4, v0, 2\nin:\nldg.b32 v5, [s4+v4]\nsts.b32 v5, [v4]\nadd v4, v4, %u\n"
        "isetp.lt p1, v4, %u\n@p1 bra in\n"
        "mov s12, 0\nagain:\nshl v1, v0, 3\nshl v2, v0, 2\nmov64 v20, s0\nldg.b32 v15, [s0+v2]\nldg.b32 v15, [v20]\n"
        "%s"
        "add v8, v0, 1\nmul v8, v8, 0x01020408\nadd v9, v8, 1\nadd v10, v8, 2\nadd v11, v8, 3\n"
        "mov64 v20, s4\nmov v22, v2\nmov v23, 0\nadd64 v20, v20, v22\n"
        "isetp.ne p2, s12, 0\npand p0, p0, p2\nbar 0\n%s%s\nbar 0\n"
        "add s12, s12, 1\nisetp.eq p2, s12, 1\n@p2 bra again\n"
        "shl v1, v0, 4\nstg.b128 v8, [s2+v1]\n%s"
        "exit\n",
        SHARED_BYTES, 4 * s->wave, SHARED_BYTES, ways[s->way], access, s->twice ? again : "",
        s->shared ? "shl v4, v0, 2\nout:\nlds.b32 v5, [v4]\nstg.b32 v5, [s4+v4]\nadd v4, v4, WAVE\n"
                    "isetp.lt p1, v4, SIZE\n@p1 bra out\n"
                  : "");
    for (char *found; (found = strstr(text, "WAVE"));) {
        char number[8];
        snprintf(number, sizeof(number), "%-4u", 4 * s->wave);
        memcpy(found, number, 4);
    }
    for (char *found; (found = strstr(text, "SIZE"));) {
        char number[8];
        snprintf(number, sizeof(number), "%-4u", SHARED_BYTES);
        memcpy(found, number, 4);
    }
}

/* To or from where the kernel's pages lie. */
static void copy_pages(struct rig *rig, uint8_t *memory, bool to)
{
    for (uint32_t page = 0; page < PAGES; page++) {
        uint8_t *const frame = rig_data(rig, MEMORY_AT + (PAGES - 1 - page) * PPU_PAGE_64K);
        uint8_t *const mine = memory + page * PPU_PAGE_64K;
        memcpy(to ? frame : mine, to ? mine : frame, PPU_PAGE_64K);
    }
}

static void run_one(struct rig *rig, const struct shape *s, uint64_t *random)
{
    static uint8_t expected[MEMORY_BYTES], memory[MEMORY_BYTES];
    static uint32_t out[PPU_MAX_WAVE][LANE_WORDS];
    const uint32_t origin = s->form == INDEX ? MIDDLE : 0;
    const uint64_t params[4] = { DATA_VA + TABLE_AT, DATA_VA + OUT_AT, MEMORY_VA + origin, MEMORY_VA + s->offset[0] };
    uint32_t *const table = rig_data(rig, TABLE_AT);
    char text[2048];

    for (uint32_t i = 0; i < MEMORY_BYTES; i += 8) {
        const uint64_t bits = random_next(random);
        memcpy(memory + i, &bits, 8);
    }
    for (uint32_t i = 0; i < s->wave; i++) {
        table[2 * i] = s->form == INDEX
                           ? (uint32_t)(((int32_t)s->offset[i] - (int32_t)origin) / (int32_t)widths[s->width].bytes)
                           : s->offset[i];
        table[2 * i + 1] = s->on[i];
    }
    memcpy(expected, memory, MEMORY_BYTES);
    copy_pages(rig, memory, true);
    model(s, expected, out);
    write_kernel(s, text, sizeof(text));
    rig_load_text(rig, text);
    rig->wave = s->wave;
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 1, 1, s->wave, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    copy_pages(rig, memory, false);
    if (memcmp(memory, expected, MEMORY_BYTES) != 0 ||
        memcmp(rig_data(rig, OUT_AT), out, s->wave * sizeof(out[0])) != 0) {
        fail_msg("differs from the model:\n%s", text);
    }
}

static void every_pattern(void **state)
{
    uint64_t random = random_seed();

    for (uint32_t i = 0; i < random_rounds(4000); i++) {
        struct shape shape;
        choose(&shape, &random);
        run_one(*state, &shape, &random);
    }
}

static int setup(void **state)
{
    struct rig *rig = rig_new(0);

    for (uint32_t page = 0; page < PAGES; page++) {
        map_page(rig->board, CONTEXT, MEMORY_VA + page * PPU_PAGE_64K,
                 DATA_AT + MEMORY_AT + (PAGES - 1 - page) * PPU_PAGE_64K, PPU_PTE_64K, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    }
    *state = rig;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "lanes reach memory in every pattern, with every width and set of lanes [A7][A8]", every_pattern, setup,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: patterns of addresses", tests, NULL, NULL);
}
