/* SPDX-License-Identifier: MIT */
/*
 * What a warp does stays its own: an instruction that it has begun ends as it began, whatever code is written over it
 * meanwhile, and no instruction reaches a register that is not one of the warp's.
 */
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_AT 0x200000u
#define OUT_BYTES 0x4000u
#define SYS_USED 0x4000u
#define THREADS 128u
#define TURNS 2000u

/* One SM, so that everything meets there. */
static int setup_one(void **state)
{
    struct core_config config = bench_config(0);

    config.sms = 1;
    *state = bench_new_config(&config);
    return 0;
}

static struct sm *only_sm(const struct bench *bench)
{
    return &(*core_sm_pool(bench->machine->core))->sm[0];
}

static void turn(const struct bench *bench, uint32_t insns)
{
    enum sm_activity activity;

    sm_run(only_sm(bench), insns, &activity);
}

/* The word of one instruction. */
static uint64_t word_of(const char *insn)
{
    char text[256], message[PPUASM_MESSAGE_BYTES] = "";
    struct ppuasm_image image = { NULL, 0 };
    struct ppu_program_view view = { 0 };
    uint64_t word = 0;

    snprintf(text, sizeof(text), ".kernel r\n.vregs 256\n%s\n", insn);
    if (!ppuasm_assemble(text, "insn", &image, message)) {
        fail_msg("%s", message);
    }
    assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
    if (view.code != NULL) {
        memcpy(&word, view.code, sizeof(word));
    }
    free(image.bytes);
    return word;
}

/* ---- an instruction that waits, and the code under it that changes ---- */

#define MARKED "nop\n" /* stands before the instruction that waits */
#define BEGIN                                                                                                            \
    ".kernel k\n.vregs 16\n.shared_vregs 4\n.local 64\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid\nmul v1, v0, 4\n" \
    "mul v2, v0, 64\nadd v3, v0, 1000\nmov v4, 4\nmov v5, 5\nmov v6, 6\nmov v7, 7\nmov v8, 8\nmov v9, 9\nmov v10, v1\n"  \
    "add v11, v1, 0x800\nmul v15, v0, 16\nmov v12, 0\nmov v13, 13\nmov s12, 55\nmov s13, 66\n" MARKED
#define END                                                                                                \
    "\nstg.b128 v4, [s2+v2]\nstg.b128 v8, [s2+v2+16]\nstg.b64 v12, [s2+v2+32]\nmov v4, s12\nmov v5, s13\n" \
    "stg.b64 v4, [s2+v2+40]\nexit\n"

static const char *const begun[] = {
    "ldg.b32 v4, [s0+v1]",
    "ldg.s8 v5, [s0+v0]",
    "ldg.b128 v4, [s0+v15]",
    "ldg.b32 s12, [s0+8]",
    "ldg.b64 s12, [s0+8]",
    "gather.n2 v8, [s0+v10]",
    "ldu.b64 v6, [s0+v15]",
    "stg.b32 v3, [s0+v1]",
    "stg.b128 v4, [s0+v15]",
    "atomg.add.seq_cst.sys v4, [s0+v1], v3",
    "atomg.xchg.b64.seq_cst.sys v4, [s0+v15], v8",
    "atomg.add.relaxed.sys _, [s0+v1], v3",
    "@!p0 ldg.b32 v4, [s0+v1]",
    "semrel [s0], 77",
};

static const char *const instead[] = {
    "ldg.b32 v252, [s0+v1]",
    "ldg.b128 v252, [s0]",
    "ldg.b32 v12, [s0+v1]",
    "ldg.b32 s13, [s0]",
    "atomg.add.seq_cst.sys v12, [s0+v1], v3",
    "exit",
    "trap 1",
    "mov v12, 99",
    "sventer 4",
    "svbegin s12, .+2",
    "bra .-1",
    "bar 3",
    "tstart v0, v0",
    "ldl.b64 v12, [0]",
    "csenter",
    "call v12, .+1",
    "not an instruction",
};
#define INSTEAD (sizeof(instead) / sizeof(instead[0]))

/* What happens between the begin of the instruction and its end. */
enum way {
    WAY_ANSWERED, /* the main loop has done the access when the code changes */
    WAY_CHANGED,  /* the code changes first */
    WAY_FLUSHED,  /* the access is taken back, and made again */
    WAY_MOVED,    /* to another machine, before the main loop looks */
    WAY_MOVED_ANSWERED,
    WAY_SAVED, /* the CTA leaves the SM */
    WAY_SAVED_ANSWERED,
    WAYS,
};

static struct ppu_tmd shape_begun(struct bench *bench, const char *insn, uint32_t wave)
{
    const uint64_t params[2] = { SYS_VA, DATA_VA };
    struct ppu_tmd tmd;
    char text[2048];

    snprintf(text, sizeof(text), "%s%s%s", BEGIN, insn, END);
    bench_load_text(bench, text);
    tmd = bench_tmd(bench, "k");
    tmd.wave = (uint8_t)wave;
    bench_shape(&tmd, 1, 1, THREADS, 1);
    bench_params(bench, 0, &tmd, params, sizeof(params));
    tmd.save_vram = SAVE_AT;
    tmd.save_bytes =
        (uint32_t)ppu_save_bytes(THREADS / wave, wave, ppu_warp_vregs(wave, tmd.vregs, tmd.shared_vregs), 0, 0);
    tmd.save_count = 1;
    memset(bench->machine->vram + SAVE_AT, 0, sizeof(struct ppu_save));
    memset(bench_data(bench, 0), 0, OUT_BYTES);
    for (uint32_t i = 0; i < SYS_USED; i++) {
        bench->machine->sys[i] = (uint8_t)(i * 7 + i / 256);
    }
    return tmd;
}

static uint64_t *waiting_word(const struct bench *bench)
{
    uint64_t *code = (uint64_t *)(void *)(bench->machine->vram + CODE_AT);

    while (*code != word_of("nop")) {
        code++;
    }
    return code + 1;
}

/* Until the warps of the CTA can do nothing: each waits for the main loop. */
static void run_until_all_wait(const struct bench *bench)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        turn(bench, 1);
    }
    if (only_sm(bench)->warp[0].state != WARP_SYSTEM) {
        fail_msg("the warp is in state %u at %u", only_sm(bench)->warp[0].state, only_sm(bench)->warp[0].pc);
    }
}

/* As when a page of code gives place to another, which any branch can bring about. */
static void change_code(const struct bench *bench, uint64_t word)
{
    *waiting_word(bench) = word;
    decode_drop_all(only_sm(bench));
}

static void save_and_restore(struct bench *bench)
{
    struct outcome outcome;

    mcu_write(bench->machine, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
    for (uint32_t i = 0; i < THREADS / PPU_LANES; i++) {
        turn(bench, 1); /* a warp that was answered ends its instruction before it can be saved */
    }
    assert_true(bench_wait(bench, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_STOPPED);
    mcu_write(bench->machine, PPU_REG_SLOT_START, TMD_AT(0));
    machine_settle(bench->machine);
}

static struct bench *go_way(struct bench *bench, enum way way, uint64_t word)
{
    if (way == WAY_ANSWERED || way == WAY_MOVED_ANSWERED || way == WAY_SAVED_ANSWERED) {
        machine_settle(bench->machine);
    }
    change_code(bench, word);
    switch (way) {
    case WAY_FLUSHED:
        mcu_write(bench->machine, PPU_REG_MMU_FLUSH, CONTEXT);
        break;
    case WAY_MOVED:
    case WAY_MOVED_ANSWERED:
        return bench_moved(bench);
    case WAY_SAVED:
    case WAY_SAVED_ANSWERED:
        save_and_restore(bench);
        break;
    default:
        break;
    }
    return bench;
}

/* What is in memory afterwards, of the device and of the host. */
struct memory {
    uint8_t out[OUT_BYTES];
    uint8_t sys[SYS_USED];
};

static void memory_get(struct bench *bench, struct memory *to)
{
    memcpy(to->out, bench_data(bench, 0), sizeof(to->out));
    memcpy(to->sys, bench->machine->sys, sizeof(to->sys));
}

static void one_begun(void **state, const char *insn, const char *other, enum way way, uint32_t wave)
{
    struct memory expected, got;
    struct bench *bench = *state;
    struct ppu_tmd tmd = shape_begun(bench, insn, wave);

    bench_run_done(bench, &tmd);
    memory_get(bench, &expected);
    tmd = shape_begun(bench, insn, wave);
    bench_start(bench, 0, &tmd);
    run_until_all_wait(bench);
    bench = *state = go_way(bench, way, strncmp(other, "not", 3) == 0 ? 0xff : word_of(other));
    bench_done(bench);
    memory_get(bench, &got);
    if (memcmp(&expected, &got, sizeof(got)) != 0) {
        fail_msg("wave %u, way %u: '%s' ended as '%s'", wave, way, insn, other);
    }
}

static void ends_as_it_began(void **state)
{
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            for (uint32_t other = 0; other < INSTEAD; other++) {
                one_begun(state, begun[i], instead[other], WAY_ANSWERED, wave);
            }
            for (uint32_t way = WAY_CHANGED; way < WAYS; way++, n++) {
                one_begun(state, begun[i], instead[n % INSTEAD], (enum way)way, wave);
            }
        }
    }
}

/* Nothing of an access is left when its task is killed. */
static void killed_while_it_waits(void **state)
{
    for (uint32_t answered = 0; answered < 2; answered++) {
        struct bench *bench = *state;
        struct ppu_tmd tmd = shape_begun(bench, begun[0], 64);
        struct outcome outcome;

        bench_start(bench, 0, &tmd);
        run_until_all_wait(bench);
        if (answered) {
            machine_settle(bench->machine);
        }
        change_code(bench, word_of(instead[1]));
        mcu_write(bench->machine, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        assert_true(bench_wait(bench, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(only_sm(bench)->ctas_used, 0);
    }
}

/* Lanes whose start requests did not fit make them later, and nothing else. */
static void start_requests_end(void **state)
{
    struct bench *bench = *state;

    for (uint32_t other = 0; other < INSTEAD; other++) {
        struct ppu_start_event event;
        struct ppu_tmd tmd;
        struct outcome outcome;
        uint32_t seen = 0;

        bench_load_text(bench, ".kernel k\n.vregs 4\nrdsr v0, %tid\nnop\ntstart v0, v0\nexit\n");
        tmd = bench_tmd(bench, "k");
        tmd.wave = 128;
        bench_shape(&tmd, 1, 1, THREADS, 1);
        bench_params(bench, 0, &tmd, "", 0);
        bench_start(bench, 0, &tmd);
        for (uint32_t i = 0; i < TURNS; i++) {
            turn(bench, 1);
        }
        assert_int_equal(only_sm(bench)->warp[0].state, WARP_STALLED);
        change_code(bench, strncmp(instead[other], "not", 3) == 0 ? 0xff : word_of(instead[other]));
        for (uint32_t i = 0; i < TURNS && seen < THREADS; i++) {
            while (ring_pop(bench->machine, PPU_RING_START, &event)) {
                assert_int_equal(event.handle, seen++);
            }
            bench_step(bench);
        }
        assert_int_equal(seen, THREADS);
        assert_true(bench_wait(bench, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    }
}

/* A warp that a test hook holds goes on behind the mark that it is held at. */
static void held_marks_end(void **state)
{
    struct bench *bench = *state;

    for (uint32_t other = 0; other < INSTEAD; other++) {
        struct ppu_tmd tmd;

        bench_load_text(bench, ".kernel k\n.vregs 16\ncsenter\nnop\nmark 7\ncsleave\nexit\n");
        tmd = bench_tmd(bench, "k");
        bench_shape(&tmd, 1, 1, 32, 1);
        bench_params(bench, 0, &tmd, "", 0);
        host_write(bench->machine, PPU_REG_HOOK_HOLD_MARK, 7);
        bench_start(bench, 0, &tmd);
        for (uint32_t i = 0; i < TURNS && host_read(bench->machine, PPU_REG_HOOK_HELD) == 0; i++) {
            turn(bench, 1);
        }
        assert_int_equal(host_read(bench->machine, PPU_REG_HOOK_HELD), 1);
        change_code(bench, strncmp(instead[other], "not", 3) == 0 ? 0xff : word_of(instead[other]));
        host_write(bench->machine, PPU_REG_HOOK_RELEASE, 1);
        bench_done(bench);
        assert_int_equal(host_read(bench->machine, PPU_REG_HOOK_HELD), 0);
    }
}

/* ---- the same, by a kernel alone, beside a CTA of another context ---- */

#define FAR_INSNS 8192u /* 64 KiB: its page takes the place of the first in the SM's decoder */
#define FAR_BYTES (1u << 18)

/* Warp 0 waits for system memory; warp 1 writes over its instruction and makes the SM forget it. */
static void load_rewriter(struct bench *bench)
{
    char *text = malloc(FAR_BYTES);
    size_t at;

    assert_non_null(text);
    at = (size_t)snprintf(text, FAR_BYTES,
                          ".kernel victim\n.vregs 60\nmov v23, 0x1111\nvspin: bra vspin\n"
                          ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b64 s4, [16]\n"
                          "rdsr s6, %%warp\nisetp.ne p0, s6, 0\n@p0 bra other\nnop\nldg.b32 v0, [s0]\nexit\n"
                          "other: mov64 v0, s4\nstg.b64 v0, [s2]\nbra far\n");
    for (uint32_t i = 0; i < FAR_INSNS; i++) {
        at += (size_t)snprintf(text + at, FAR_BYTES - at, "nop\n");
    }
    snprintf(text + at, FAR_BYTES - at, "far: bra far\n");
    bench_load_text(bench, text);
    free(text);
}

static struct ppu_tmd start_rewriter(struct bench *bench, uint32_t wave, const char *insn)
{
    struct ppu_tmd tmd;
    uint64_t params[3] = { SYS_VA };

    load_rewriter(bench);
    params[1] = DATA_VA + (uint64_t)((uint8_t *)waiting_word(bench) - (bench->machine->vram + CODE_AT));
    params[2] = word_of(insn);
    memcpy(bench_data(bench, 0), bench->machine->vram + CODE_AT, FAR_INSNS * PPU_INSN_BYTES + PPU_PAGE_4K);
    memset(bench->machine->sys, 0x41, PPU_PAGE_4K);
    tmd = bench_tmd(bench, "k");
    tmd.code_va = DATA_VA;
    tmd.wave = (uint8_t)wave;
    bench_shape(&tmd, 1, 1, 2 * wave, 1);
    bench_params(bench, 0, &tmd, params, sizeof(params));
    bench_start(bench, 0, &tmd);
    return tmd;
}

static uint32_t *registers_of(const struct sm *sm, uint32_t cta)
{
    return (uint32_t *)(void *)(sm->file[SM_FILE_VREGS].bytes + sm->cta[cta].block[SM_FILE_VREGS].off);
}

static void kernels_cannot_reach_neighbours(void **state)
{
    struct bench *bench = *state;
    const struct sm *sm = only_sm(bench);
    struct ppu_tmd victim;

    map_page(bench->machine, 2, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
    start_rewriter(bench, 32, "ldg.b32 v100, [s0]");
    victim = bench_tmd(bench, "victim");
    victim.context = 2;
    victim.wave = 128;
    bench_shape(&victim, 1, 1, 128, 1);
    bench_params(bench, 1, &victim, "", 0);
    bench_start(bench, 1, &victim);
    for (uint32_t i = 0; i < 60; i++) {
        bench_step(bench);
    }
    assert_int_equal(sm->ctas_used, 2);
    for (uint32_t i = 0; i < 60 * 128; i++) {
        assert_int_equal(registers_of(sm, 1)[i], i / 128 == 23 ? 0x1111 : 0);
    }
}

/* One CTA has the first registers of the smallest file there is; the word that would be written lies behind it. */
static void kernels_cannot_leave_the_file(void **state)
{
    struct core_config config = bench_config(0);
    struct bench *bench;

    (void)state;
    config.sms = 1;
    config.sm_vregs = 8192;
    bench = bench_new_config(&config);
    start_rewriter(bench, 128, "ldg.b32 v255, [s0]");
    for (uint32_t i = 0; i < 60; i++) {
        bench_step(bench);
    }
    assert_int_equal(registers_of(only_sm(bench), 0)[0], 0x41414141);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "an instruction that waits ends as it began, whatever its code becomes", ends_as_it_began, setup_one,
          bench_teardown, NULL },
        { "a task that is killed while it waits leaves nothing behind", killed_while_it_waits, setup_one,
          bench_teardown, NULL },
        { "start requests that did not fit come later, whatever the code becomes", start_requests_end, setup_one,
          bench_teardown, NULL },
        { "a held mark is left behind, whatever the code becomes", held_marks_end, setup_one, bench_teardown, NULL },
        { "a kernel that rewrites an instruction that waits does not reach its neighbour",
          kernels_cannot_reach_neighbours, setup_one, bench_teardown, NULL },
        { "a kernel that rewrites an instruction that waits does not leave the file", kernels_cannot_leave_the_file,
          NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("engine: isolation", tests, NULL, NULL);
}
