/* SPDX-License-Identifier: MIT */
/*
 * Litmus tests of docs/spec/memory.md: two threads on two SMs, each on a host thread of its own, or a thread and the
 * CPU. Each shape runs many times and counts outcomes that must not be.
 */
#include "qemu-device/core/memory/guest_mem.h"
#include "tests/engine/rig.h"

#include <string.h>

#define ROUNDS 8000u
#define FLAG_AT 64u
#define BAD_AT 128u /* outcomes that must not be */
#define WAIT_STEPS 20000u

/* Role 0 and role 1 of a shape; s0 is the data, s2 the role of the first CTA, s3 the rounds. */
#define START                                                                                     \
    ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nldp.b32 s3, [12]\nrdsr s4, %cta.x\n" \
    "add s2, s2, s4\nisetp.eq.s p0, s2, 0\nmov v1, 0\nmov v5, 0\nmov v7, 64\nmov v8, 0\n@p0 bra zero\n"

struct params {
    uint64_t data;
    uint32_t role;
    uint32_t rounds;
};

/* Starts roles `role` on, one CTA each; no two share an SM. */
static void start(struct rig *rig, const char *text, uint32_t role, uint32_t ctas)
{
    struct params params = { DATA_VA, role, ROUNDS };

    memset(rig_data(rig, 0), 0, 0x50000);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.shared_bytes = PPU_MAX_SHARED;
    rig_shape(&tmd, ctas, 1, 1, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_start(rig, 0, &tmd);
}

static uint32_t word(struct rig *rig, uint32_t at)
{
    return *(const uint32_t *)rig_data(rig, at);
}

/* Data, then a flag with release; a flag with acquire, then data: never older than the flag. */
#define MESSAGE                                                                                                     \
    START "one: atomg.add.acquire.dev v2, [s0+v7], v8\nldg.b32 v3, [s0]\nisetp.ltu p1, v3, v2\n@p1 add v5, v5, 1\n" \
          "isetp.ltu p2, v2, s3\n@p2 bra one\nstg.b32 v5, [s0+128]\nexit\n"                                         \
          "zero: add v1, v1, 1\nstg.b32 v1, [s0]\natomg.xchg.release.dev _, [s0+v7], v1\nisetp.ltu p2, v1, s3\n"    \
          "@p2 bra zero\nexit\n"

static void message(void **state)
{
    start(*state, MESSAGE, 0, 2);
    rig_done(*state);
    assert_int_equal(word(*state, BAD_AT), 0);
}

static void message_from_the_cpu(void **state)
{
    uint8_t *data = rig_data(*state, 0);

    start(*state, MESSAGE, 1, 1);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        vram_write32(data, i);
        vram_store_release32(data + FLAG_AT, i);
    }
    rig_done(*state);
    assert_int_equal(word(*state, BAD_AT), 0);
}

static void message_to_the_cpu(void **state)
{
    const uint8_t *data = rig_data(*state, 0);
    uint32_t seen = 0;

    start(*state, MESSAGE, 0, 1);
    for (uint32_t step = 0; seen < ROUNDS && step < WAIT_STEPS; step++) {
        for (uint32_t i = 0; i < 1000; i++) {
            seen = vram_load_acquire32(data + FLAG_AT);
            assert_true(vram_read32(data) >= seen);
        }
        rig_step(*state);
    }
    rig_done(*state);
    assert_int_equal(seen, ROUNDS);
}

/* Each writes its word, fences, reads the other's: one of them sees the other. */
static void store_buffers(void **state)
{
    start(*state,
          START "mov v4, 0x10000\nmov v6, 0\nbra go\nzero: mov v4, 0\nmov v6, 0x10000\ngo: mov v9, 1\n"
                "loop: shl v2, v1, 2\nadd v3, v2, v4\nstg.b32 v9, [s0+v3]\nfence.seq_cst.dev\nadd v10, v2, v6\n"
                "ldg.b32 v11, [s0+v10]\nstg.b32 v11, [s0+v3+0x20000]\nadd v1, v1, 1\nisetp.ltu p1, v1, s3\n"
                "@p1 bra loop\nexit\n",
          0, 2);
    rig_done(*state);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        assert_true(word(*state, 0x20000 + 4 * i) != 0 || word(*state, 0x30000 + 4 * i) != 0);
    }
}

/* Two reads of one word never go back. */
static void coherence(void **state)
{
    start(*state,
          START "one: ldg.b32 v2, [s0]\nldg.b32 v3, [s0]\nisetp.ltu p1, v3, v2\n@p1 add v5, v5, 1\n"
                "isetp.ltu p2, v2, s3\n@p2 bra one\nstg.b32 v5, [s0+128]\nexit\n"
                "zero: add v1, v1, 1\nstg.b32 v1, [s0]\nisetp.ltu p2, v1, s3\n@p2 bra zero\nexit\n",
          0, 2);
    rig_done(*state);
    assert_int_equal(word(*state, BAD_AT), 0);
}

/* A word is the old or the new one, whole. */
static void whole_words(void **state)
{
    start(*state,
          START "one: ldg.b32 v2, [s0]\nadd v2, v2, 1\nisetp.gtu p1, v2, 1\n@p1 add v5, v5, 1\nadd v1, v1, 1\n"
                "isetp.ltu p2, v1, s3\n@p2 bra one\nstg.b32 v5, [s0+128]\nexit\n"
                "zero: not v8, v8\nstg.b32 v8, [s0]\nadd v1, v1, 1\nisetp.ltu p2, v1, s3\n@p2 bra zero\nexit\n",
          0, 2);
    rig_done(*state);
    assert_int_equal(word(*state, BAD_AT), 0);
}

/* No addition is lost, whoever adds: two SMs and the CPU. */
static void additions(void **state)
{
    uint8_t *data = rig_data(*state, 0);

    start(*state,
          START "zero: mov v9, 1\nloop: atomg.add.relaxed.sys _, [s0+v7], v9\nadd v1, v1, 1\nisetp.ltu p2, v1, s3\n"
                "@p2 bra loop\nexit\n",
          0, 2);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        (void)vram_rmw_add32(data + FLAG_AT, 1);
    }
    rig_done(*state);
    assert_int_equal(word(*state, FLAG_AT), 3 * ROUNDS);
}

#define BINS 256u
#define BINS_AT 0x1000u
#define ADDERS 300u
#define THREADS 96u

/* The grid's CTAs add to bins, each lane to another; every 16th waits until the next one has added to its own word. */
static void gathered(void **state)
{
    static const char text[] =
        ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nrdsr s4, %cta.x\nmov v8, 1\n"
        "rdsr v0, %tid\nmul v1, v0, 7\nadd v1, v1, s4\nand v1, v1, 255\nshl v1, v1, 2\nadd v1, v1, 0x1000\n"
        "atomg.add.relaxed.dev _, [s0+v1], v8\natomg.add.relaxed.dev _, [s0+v1], v8\n"
        "shl s5, s4, 3\nadd s5, s5, 0x2000\nmov v2, s5\nisetp.eq p1, v0, 0\nshl v3, v0, 2\nand v3, v3, 4\n"
        "add v2, v2, v3\natomg.add.relaxed.dev _, [s0+v2], v8\n" /* its own two words */
        "and s6, s4, 15\nisetp.ne.s p2, s6, 0\n@p2 bra end\nisetp.eq.s p2, s4, s2\n@p2 bra end\n"
        "mov v4, s5\nagain: ldg.b32 v5, [s0+v4+8]\nisetp.eq p3, v5, 0\nyield\n@p3 bra again\n"
        "end: ldg.b32 v6, [s0+v2]\nisetp.ltu p4, v6, 1\n@p4 stg.b32 v8, [s0+128]\nexit\n";
    struct rig *rig = *state;
    struct params params = { DATA_VA, ADDERS - 1u, 0 };
    uint32_t expected[BINS] = { 0 };

    memset(rig_data(rig, 0), 0, 0x50000);
    for (uint32_t i = 0; i < ADDERS * THREADS; i++) {
        expected[(i % THREADS * 7 + i / THREADS) % BINS] += 2;
    }
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, ADDERS, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < BINS; i++) {
        assert_int_equal(word(rig, BINS_AT + 4 * i), expected[i]);
    }
    for (uint32_t i = 0; i < ADDERS; i++) {
        assert_int_equal(word(rig, 0x2000 + 8 * i) + word(rig, 0x2004 + 8 * i), THREADS);
    }
    assert_int_equal(word(rig, BAD_AT), 0);
}

/* The same additions of short CTAs and nothing else: their ends are held back, and none is forgotten. */
static void gathered_ends(void **state)
{
    static const char text[] = ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nmov v3, 1\nrdsr v0, %tid\nshl v1, v0, 4\n"
                               "rdsr s4, %cta.x\nand s4, s4, 3\nshl s4, s4, 2\nadd v1, v1, s4\n"
                               "atomg.add.relaxed.dev _, [s0+v1], v3\nexit\n";
    struct rig *rig = *state;
    struct params params = { DATA_VA, 0, 0 };
    struct ppu_tmd tmd;

    rig_load_text(rig, text);
    for (uint32_t ctas = 1; ctas < 200; ctas = ctas * 3 / 2 + 1) {
        memset(rig_data(rig, 0), 0, 0x1000);
        tmd = rig_tmd(rig, "k");
        rig_shape(&tmd, ctas, 1, 32, 1);
        rig_params(rig, 0, &tmd, &params, sizeof(params));
        rig_run_done(rig, &tmd);
        for (uint32_t i = 0; i < 128; i++) {
            assert_int_equal(word(rig, 4 * i), ctas / 4 + (i % 4 < ctas % 4));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a message is not older than its flag [A7][C8]", message, rig_setup_threads, rig_teardown, NULL },
        { "a message from the CPU is not older than its flag [A7][C8]", message_from_the_cpu, rig_setup_threads,
          rig_teardown, NULL },
        { "a message to the CPU is not older than its flag [A7][C8]", message_to_the_cpu, rig_setup_threads,
          rig_teardown, NULL },
        { "behind fences one of two sees the other [A7]", store_buffers, rig_setup_threads, rig_teardown, NULL },
        { "reads of one word do not go back [A7]", coherence, rig_setup_threads, rig_teardown, NULL },
        { "words are read and written whole [A7]", whole_words, rig_setup_threads, rig_teardown, NULL },
        { "no addition is lost between SMs and CPU [A7][C8]", additions, rig_setup_threads, rig_teardown, NULL },
        { "additions that are gathered are seen by who waits, and at the end [A7]", gathered, rig_setup_threads,
          rig_teardown, NULL },
        { "ends of CTAs that are held back are told [A7]", gathered_ends, rig_setup_threads, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: memory order", tests, NULL, NULL);
}
