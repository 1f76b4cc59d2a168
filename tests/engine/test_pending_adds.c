/* SPDX-License-Identifier: MIT */
/*
 * Tests relaxed additions whose old values nobody wants, which an SM sums up (docs/spec/memory.md): whoever reads a
 * word, in whatever way, sees what its own thread has added. What is ordered behind an addition is not seen before it,
 * and whoever waits for one sees it.
 */
#include "ppu/macros.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "tests/engine/rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_AT 0x1000u /* one of each thread, then as many stored over */
#define OUT_AT 0x10000u  /* of each way to read: what each thread saw */
#define THREADS 256u
#define ROUNDS 500u
#define FLAG_AT 64u
#define BAD_AT 128u

struct params {
    uint64_t data;
};

__attribute__((format(printf, 5, 6))) static void start(struct rig *rig, uint32_t wave, uint32_t ctas, uint32_t threads,
                                                        const char *format, ...)
{
    struct params params = { DATA_VA };
    char text[2048];
    va_list args;

    va_start(args, format);
    assert_in_range(vsnprintf(text, sizeof(text), format, args), 1, sizeof(text) - 1);
    va_end(args);
    memset(rig_data(rig, 0), 0, 0x20000);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    tmd.shared_bytes = ctas == 1 ? 0x1000 : PPU_MAX_SHARED; /* two CTAs never share an SM */
    rig_shape(&tmd, ctas, 1, threads, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_start(rig, 0, &tmd);
}

static uint32_t word(struct rig *rig, uint32_t at)
{
    return vram_read32(rig_data(rig, at));
}

/* v0 thread, v1 its word, v2 that of a thread of the same pass in reverse order, v9 1, v10 0, s2 pass's first word. */
#define START                                                                                      \
    ".kernel k\n.vregs 24\nldp.b64 s0, [0]\nrdsr v0, %%tid.x\nshl v1, v0, 2\nadd v1, v1, 0x1000\n" \
    "xor v2, v1, 124\nmov v9, 1\nmov v10, 0\n"
#define ADD "atomg.add.relaxed.dev _, [s0+v1], v9\n"

/* Each reads its word, or that of a thread that has done as much, to v8, for which `more` additions have been done. */
static const char *const ways[] = {
    "ldg.b32 v8, [s0+v1]\n",                                                      /* a row */
    "ldg.b32 v8, [s0+v2]\n",                                                      /* lanes apart */
    "ldg.b32 v8, [s0+v1]\nldg.b32 v8, [s0+v1]\n",                                 /* a row that is known */
    "isetp.ltu p1, v10, v0\n@p1 ldg.b32 v8, [s0+v1]\n@!p1 ldg.b32 v8, [s0+v1]\n", /* parts of a row; one lane */
    "and v12, v0, 15\nisetp.eq p1, v12, 3\n@p1 ldg.b32 v8, [s0+v1]\n@!p1 ldg.b32 v8, [s0+v1]\n", /* few lanes */
    "mov v16, v1\nmov v17, v1\ngather.n2 v16, [s0+v16]\nmov v8, v17\n",
    "atomg.or.relaxed.dev v8, [s0+v1], v10\n",
    "atomg.add.relaxed.dev v8, [s0+v1], v10\n",
    "ldg.b32 s4, [s0+0x1000]\nmov v8, s4\n",             /* a word for the warp */
    "add v16, s0, v1\nmov v17, s1\nldg.b32 v8, [v16]\n", /* pairs; the base has no carry */
    "add v16, s0, v1\nmov v17, s1\nldu.b32 v8, [v16]\n",
    "mov v16, 0x400\nadd v16, v16, v0\nldg.b32 v8, [s0+v16*4]\n", /* indexes */
};
#define WAYS PPU_ARRAY_SIZE(ways)

static void own_reads(void **state)
{
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t way = 0; way < WAYS; way++) {
            const uint8_t *data = rig_data(*state, 0);

            start(*state, wave, 1, THREADS,
                  START ADD ADD "%s" ADD "add v20, v1, 0xf000\nstg.b32 v8, [s0+v20]\n" ADD "exit\n", ways[way]);
            rig_done(*state);
            for (uint32_t i = 0; i < THREADS; i++) {
                const uint32_t seen = vram_read32(data + OUT_AT + 4 * i), left = vram_read32(data + WORDS_AT + 4 * i);
                if (seen < 2 || seen > 4 || left != 4) {
                    fail_msg("waves of %u, way %u: thread %u saw %u, at last %u", wave, way, i, seen, left);
                }
            }
        }
    }
}

/* What is stored behind an addition stays, whatever way it is stored. */
static void own_writes(void **state)
{
    static const char *const stores[] = {
        "stg.b32 v10, [s0+v1]\n",
        "stg.b32 v10, [s0+v2]\n",
        "ldg.b32 v8, [s0+v1+0x4000]\nstg.b32 v10, [s0+v1]\n",
        "isetp.ltu p1, v10, v0\n@p1 stg.b32 v10, [s0+v1]\n@!p1 stg.b32 v10, [s0+v1]\n",
        "add v16, s0, v1\nmov v17, s1\nstu.b32 v10, [v16]\n",
        "atomg.xchg.relaxed.dev _, [s0+v1], v10\n",
        "atomg.and.relaxed.dev _, [s0+v1], v10\n",
        "mov v16, 0x400\nadd v16, v16, v0\nstg.b32 v10, [s0+v16*4]\n",
    };

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t way = 0; way < PPU_ARRAY_SIZE(stores); way++) {
            start(*state, wave, 1, wave, START ADD ADD "%s" ADD "exit\n", stores[way]);
            rig_done(*state);
            for (uint32_t i = 0; i < wave; i++) {
                if (word(*state, WORDS_AT + 4 * i) != 1) {
                    fail_msg("waves of %u, way %u: word %u is %u", wave, way, i, word(*state, WORDS_AT + 4 * i));
                }
            }
        }
    }
}

/* s4 the CTA; CTA 1 reads the flag with acquire, then words: never older than the flag. */
#define PAIR START "rdsr s4, %%cta.x\nmov v3, 0\nmov v5, 0\nmov v7, 64\nmov s6, 0\nisetp.eq.s p0, s4, 0\n@p0 bra zero\n"

static void message(void **state)
{
    static const char *const releases[] = { "fence.release.dev\natomg.xchg.relaxed.dev _, [s0+v7], v3\n",
                                            "atomg.xchg.release.dev _, [s0+v7], v3\n",
                                            "atomg.maxu.release.dev _, [s0+v7], v3\n" };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(releases); i++) {
        start(*state, PPU_LANES, 2, PPU_LANES,
              PAIR "one: atomg.or.acquire.dev v4, [s0+v7], v10\nldg.b32 v6, [s0+v1]\nisetp.ltu p1, v6, v4\n"
                   "@p1 add v5, v5, 1\nmov s8, %u\nisetp.ltu p2, v4, s8\n@p2 bra one\nshl v2, v0, 2\n"
                   "stg.b32 v5, [s0+v2+128]\nexit\n"
                   "zero: " ADD "add v3, v3, 1\n%smov s8, %u\nisetp.ltu p2, v3, s8\n@p2 bra zero\nexit\n",
              ROUNDS, releases[i], ROUNDS);
        rig_done(*state);
        for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
            assert_int_equal(word(*state, BAD_AT + 4 * lane), 0);
            assert_int_equal(word(*state, WORDS_AT + 4 * lane), ROUNDS);
        }
    }
}

/* CTA 0 adds and waits for the answer without touching the words; CTA 1 answers when it has seen the addition. */
static void answer(void **state)
{
    start(*state, PPU_LANES, 2, PPU_LANES,
          PAIR "one: ldg.b32 v4, [s0+v1]\nisetp.eq p1, v4, 0\n@p1 bra one\nstg.b32 v9, [s0+v7]\nexit\n"
               "zero: " ADD "spin: ldg.b32 v4, [s0+v7]\nisetp.eq p1, v4, 0\n@p1 bra spin\nexit\n");
    rig_done(*state);
}

/* Sums of many CTAs, on words that neighbours share, near and far. */
static void sums(void **state)
{
    for (uint32_t spread = 1; spread <= 64; spread *= 8) {
        uint32_t sum = 0;

        start(*state, PPU_MAX_WAVE, 1, THREADS,
              START "mul v3, v0, 0x9e3779b1\nshr v4, v3, 26\nmul v4, v4, %u\nshl v4, v4, 2\nadd v5, v0, 1\n"
                    "atomg.add.relaxed.dev _, [s0+v4], v5\natomg.add.relaxed.dev _, [s0+v4], v5\nexit\n",
              spread);
        rig_done(*state);
        for (uint32_t i = 0; i < 64 * spread; i++) {
            sum += word(*state, 4 * i);
        }
        assert_int_equal(sum, THREADS * (THREADS + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a thread reads what it has added, in every way [A7]", own_reads, rig_setup_slices, rig_teardown, NULL },
        { "what is stored behind an addition stays [A7]", own_writes, rig_setup_slices, rig_teardown, NULL },
        { "what additions are released with is not seen before them [A7]", message, rig_setup_threads, rig_teardown,
          NULL },
        { "whoever waits for an addition sees it [A7]", answer, rig_setup_threads, rig_teardown, NULL },
        { "no addition is lost, near or far [A7]", sums, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: additions that are summed up", tests, NULL, NULL);
}
