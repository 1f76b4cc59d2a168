/* SPDX-License-Identifier: MIT */
/*
 * Tests how a warp is kept apart. An instruction that it has begun ends as it began, whatever code is written over it
 * meanwhile. No instruction reaches a register that is not one of the warp's.
 */
#include "ppu/macros.h"
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SM_FILE_SHADED
#include <sanitizer/asan_interface.h>
#endif

#define SAVE_AT 0x200000u
#define OUT_BYTES 0x4000u
#define SYS_USED 0x4000u
#define THREADS 128u
#define TURNS 2000u

/* One SM, so that everything meets there. */
static int setup_one(void **state)
{
    struct core_config config = board_small_config(0);

    config.sms = 1;
    *state = rig_new_config(&config);
    return 0;
}

static struct sm *only_sm(const struct rig *rig)
{
    return &(*core_sm_pool(rig->board->core))->sm[0];
}

static void turn(const struct rig *rig, uint32_t insns)
{
    enum sm_activity activity;

    sm_run(only_sm(rig), insns, &activity);
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
    if (view.code) {
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
#define INSTEAD PPU_ARRAY_SIZE(instead)

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

static struct ppu_tmd shape_begun(struct rig *rig, const char *insn, uint32_t wave)
{
    const uint64_t params[2] = { SYS_VA, DATA_VA };
    char text[2048];

    snprintf(text, sizeof(text), "%s%s%s", BEGIN, insn, END);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, 1, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    tmd.save_vram = SAVE_AT;
    tmd.save_bytes =
        (uint32_t)ppu_save_bytes(THREADS / wave, wave, ppu_warp_vregs(wave, tmd.vregs, tmd.shared_vregs), 0, 0);
    tmd.save_count = 1;
    memset(rig->board->vram + SAVE_AT, 0, sizeof(struct ppu_save));
    memset(rig_data(rig, 0), 0, OUT_BYTES);
    for (uint32_t i = 0; i < SYS_USED; i++) {
        rig->board->sys[i] = (uint8_t)(i * 7 + i / 256);
    }
    return tmd;
}

static uint64_t *waiting_word(const struct rig *rig)
{
    uint64_t *code = (uint64_t *)(void *)(rig->board->vram + CODE_AT);

    while (*code != word_of("nop")) {
        code++;
    }
    return code + 1;
}

/* Until the warps of the CTA can do nothing: each waits for the main loop. */
static void run_until_all_wait(const struct rig *rig)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        turn(rig, 1);
    }
    if (only_sm(rig)->warp[0].state != WARP_SYSTEM) {
        fail_msg("the warp is in state %u at %u", only_sm(rig)->warp[0].state, only_sm(rig)->warp[0].pc);
    }
}

/* As when a page of code gives place to another, which any branch can bring about. */
static void change_code(const struct rig *rig, uint64_t word)
{
    *waiting_word(rig) = word;
    decode_drop_all(only_sm(rig));
}

static void save_and_restore(struct rig *rig)
{
    struct outcome outcome;

    mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
    for (uint32_t i = 0; i < THREADS / PPU_LANES; i++) {
        turn(rig, 1); /* a warp that was answered ends its instruction before it can be saved */
    }
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_STOPPED);
    mcu_write(rig->board, PPU_REG_SLOT_START, TMD_AT(0));
    board_settle(rig->board);
}

static struct rig *go_way(struct rig *rig, enum way way, uint64_t word)
{
    if (way == WAY_ANSWERED || way == WAY_MOVED_ANSWERED || way == WAY_SAVED_ANSWERED) {
        board_settle(rig->board);
    }
    change_code(rig, word);
    switch (way) {
    case WAY_FLUSHED:
        mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
        break;
    case WAY_MOVED:
    case WAY_MOVED_ANSWERED:
        return rig_moved(rig);
    case WAY_SAVED:
    case WAY_SAVED_ANSWERED:
        save_and_restore(rig);
        break;
    default:
        break;
    }
    return rig;
}

/* What is in memory afterwards, of the device and of the host. */
struct memory {
    uint8_t out[OUT_BYTES];
    uint8_t sys[SYS_USED];
};

static void memory_get(struct rig *rig, struct memory *to)
{
    memcpy(to->out, rig_data(rig, 0), sizeof(to->out));
    memcpy(to->sys, rig->board->sys, sizeof(to->sys));
}

static void one_begun(void **state, const char *insn, const char *other, enum way way, uint32_t wave)
{
    struct memory expected, got;
    struct rig *rig = *state;
    struct ppu_tmd tmd = shape_begun(rig, insn, wave);

    rig_run_done(rig, &tmd);
    memory_get(rig, &expected);
    tmd = shape_begun(rig, insn, wave);
    rig_start(rig, 0, &tmd);
    run_until_all_wait(rig);
    rig = *state = go_way(rig, way, strncmp(other, "not", 3) == 0 ? 0xff : word_of(other));
    rig_done(rig);
    memory_get(rig, &got);
    if (memcmp(&expected, &got, sizeof(got)) != 0) {
        fail_msg("wave %u, way %u: '%s' ended as '%s'", wave, way, insn, other);
    }
}

static void ends_as_it_began(void **state)
{
    uint32_t n = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(begun); i++) {
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
        struct rig *rig = *state;
        struct ppu_tmd tmd = shape_begun(rig, begun[0], 64);
        struct outcome outcome;

        rig_start(rig, 0, &tmd);
        run_until_all_wait(rig);
        if (answered) {
            board_settle(rig->board);
        }
        change_code(rig, word_of(instead[1]));
        mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(only_sm(rig)->ctas_used, 0);
    }
}

/* Lanes whose start requests did not fit make them later, and nothing else. */
static void start_requests_end(void **state)
{
    struct rig *rig = *state;

    for (uint32_t other = 0; other < INSTEAD; other++) {
        struct ppu_start_event event;
        struct outcome outcome;
        uint32_t seen = 0;

        rig_load_text(rig, ".kernel k\n.vregs 4\nrdsr v0, %tid\nnop\ntstart v0, v0\nexit\n");
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        tmd.wave = 128;
        rig_shape(&tmd, 1, 1, THREADS, 1);
        rig_params(rig, 0, &tmd, "", 0);
        rig_start(rig, 0, &tmd);
        for (uint32_t i = 0; i < TURNS; i++) {
            turn(rig, 1);
        }
        assert_int_equal(only_sm(rig)->warp[0].state, WARP_STALLED);
        change_code(rig, strncmp(instead[other], "not", 3) == 0 ? 0xff : word_of(instead[other]));
        for (uint32_t i = 0; i < TURNS && seen < THREADS; i++) {
            while (ring_pop(rig->board, PPU_RING_START, &event)) {
                assert_int_equal(event.handle, seen++);
            }
            rig_step(rig);
        }
        assert_int_equal(seen, THREADS);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    }
}

/* A warp that a test hook holds goes on behind the mark that it is held at. */
static void held_marks_end(void **state)
{
    struct rig *rig = *state;

    for (uint32_t other = 0; other < INSTEAD; other++) {
        rig_load_text(rig, ".kernel k\n.vregs 16\ncsenter\nnop\nmark 7\ncsleave\nexit\n");
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        rig_shape(&tmd, 1, 1, 32, 1);
        rig_params(rig, 0, &tmd, "", 0);
        host_write(rig->board, PPU_REG_HOOK_HOLD_MARK, 7);
        rig_start(rig, 0, &tmd);
        for (uint32_t i = 0; i < TURNS && host_read(rig->board, PPU_REG_HOOK_HELD) == 0; i++) {
            turn(rig, 1);
        }
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 1);
        change_code(rig, strncmp(instead[other], "not", 3) == 0 ? 0xff : word_of(instead[other]));
        host_write(rig->board, PPU_REG_HOOK_RELEASE, 1);
        rig_done(rig);
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 0);
    }
}

/* ---- the same, by a kernel alone, beside a CTA of another context ---- */

#define FAR_INSNS 8192u /* 64 KiB: its page takes the place of the first in the SM's decoder */
#define FAR_BYTES (1u << 18)

/* Warp 0 waits for system memory; warp 1 writes over its instruction and makes the SM forget it. */
static void load_rewriter(struct rig *rig)
{
    char *text = malloc(FAR_BYTES);

    assert_non_null(text);
    size_t at = (size_t)snprintf(text, FAR_BYTES,
                                 ".kernel victim\n.vregs 60\nmov v23, 0x1111\nvspin: bra vspin\n"
                                 ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b64 s4, [16]\n"
                                 "rdsr s6, %%warp\nisetp.ne p0, s6, 0\n@p0 bra other\nnop\nldg.b32 v0, [s0]\nexit\n"
                                 "other: mov64 v0, s4\nstg.b64 v0, [s2]\nbra far\n");
    for (uint32_t i = 0; i < FAR_INSNS; i++) {
        at += (size_t)snprintf(text + at, FAR_BYTES - at, "nop\n");
    }
    snprintf(text + at, FAR_BYTES - at, "far: bra far\n");
    rig_load_text(rig, text);
    free(text);
}

static struct ppu_tmd start_rewriter(struct rig *rig, uint32_t wave, const char *insn)
{
    uint64_t params[3] = { SYS_VA };

    load_rewriter(rig);
    params[1] = DATA_VA + (uint64_t)((uint8_t *)waiting_word(rig) - (rig->board->vram + CODE_AT));
    params[2] = word_of(insn);
    memcpy(rig_data(rig, 0), rig->board->vram + CODE_AT, FAR_INSNS * PPU_INSN_BYTES + PPU_PAGE_4K);
    memset(rig->board->sys, 0x41, PPU_PAGE_4K);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.code_va = DATA_VA;
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, 1, 1, 2 * wave, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_start(rig, 0, &tmd);
    return tmd;
}

static uint32_t *registers_of(const struct sm *sm, uint32_t cta)
{
    return (uint32_t *)(void *)(sm->file[SM_FILE_VREGS].bytes + sm->cta[cta].block[SM_FILE_VREGS].off);
}

static void kernels_cannot_reach_neighbours(void **state)
{
    struct rig *rig = *state;
    const struct sm *sm = only_sm(rig);

    map_page(rig->board, 2, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
    start_rewriter(rig, 32, "ldg.b32 v100, [s0]");
    struct ppu_tmd victim = rig_tmd(rig, "victim");
    victim.context = 2;
    victim.wave = 128;
    rig_shape(&victim, 1, 1, 128, 1);
    rig_params(rig, 1, &victim, "", 0);
    rig_start(rig, 1, &victim);
    for (uint32_t i = 0; i < 60; i++) {
        rig_step(rig);
    }
    assert_int_equal(sm->ctas_used, 2);
    for (uint32_t i = 0; i < 60 * 128; i++) {
        assert_int_equal(registers_of(sm, 1)[i], i / 128 == 23 ? 0x1111 : 0);
    }
}

/* One CTA has the first registers of the smallest file there is; the word that would be written lies behind it. */
static void kernels_cannot_leave_the_file(void **state)
{
    struct core_config config = board_small_config(0);

    (void)state;
    config.sms = 1;
    config.sm_vregs = 8192;
    struct rig *rig = rig_new_config(&config);
    start_rewriter(rig, 128, "ldg.b32 v255, [s0]");
    for (uint32_t i = 0; i < 60; i++) {
        rig_step(rig);
    }
    assert_int_equal(registers_of(only_sm(rig), 0)[0], 0x41414141);
    rig_free(rig);
}

/* ---- what is no register ---- */

/* A predicate has a number that a register of the kernel need not have: nothing looks for that register. */
static void predicates_are_no_registers(void **state)
{
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\n.vregs 4\nrdsr v0, %tid\nmov v2, 7\nmov v3, 0\nisetp.ltu p4, v0, 5\n"
                       "isetp.ltu p5, v0, v2\nisetp64.ltu p6, v2, v2\nfsetp.lt p7, -v0, v2\nisetp.ltu p7, s0, s1\n"
                       "@p4 exit\n@!p5 exit\n@p6 trap 1\n@p7 trap 2\nexit\n");
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        tmd.wave = (uint8_t)wave;
        rig_shape(&tmd, 2, 1, 100, 1);
        rig_run_done(rig, &tmd);
    }
}

/* ---- what the address sanitizer lets a warp reach ---- */

#if SM_FILE_SHADED
#define NEIGHBOURS 2u

/* Until there are so many CTAs on the SM. */
static void run_until_used(const struct rig *rig, uint32_t ctas)
{
    for (uint32_t i = 0; i < TURNS && only_sm(rig)->ctas_used != ctas; i++) {
        turn(rig, 1);
        board_settle(rig->board);
    }
    assert_int_equal(only_sm(rig)->ctas_used, ctas);
}

/* Two CTAs of two contexts, with a hole between them that a third has left. */
static void start_neighbours(struct rig *rig)
{
    map_page(rig->board, 2, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
    rig_load_text(rig, ".kernel k\n.vregs 8\n.shared 1024\nspin: bra spin\n");
    for (uint32_t slot = 0; slot < 3; slot++) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        tmd.context = slot < 2 ? 1 : 2;
        tmd.wave = slot < 2 ? 32 : 64;
        tmd.token_count = 16;
        rig_shape(&tmd, 1, 1, THREADS, 1);
        rig_params(rig, slot, &tmd, "", 0);
        rig_start(rig, slot, &tmd);
        run_until_used(rig, slot + 1);
    }
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL + 4, PPU_SLOT_CMD_KILL);
    run_until_used(rig, NEIGHBOURS);
}

static struct exec exec_of(struct sm *sm, struct sm_cta *cta, struct warp *warp)
{
    const struct dist_task *task = cta->cta.task;
    const size_t stride = task->warp_vregs[cta->cta.wide];

    return (struct exec){
        .core = sm->core,
        .sm = sm,
        .cta = cta,
        .w = warp,
        .task = task,
        .wave = task->tmd.wave,
        .stride = (uint32_t)stride,
        .vreg =
            (uint32_t *)(void *)(sm->file[SM_FILE_VREGS].bytes + cta->block[SM_FILE_VREGS].off) + warp->number * stride,
        .shared = sm->file[SM_FILE_SHARED].bytes + cta->block[SM_FILE_SHARED].off,
    };
}

struct part {
    const uint8_t *from;
    size_t len;
};

/* Words of the file are forbidden, but for those of so many parts. Returns how many are allowed. */
static size_t check_file(const struct sm *sm, uint32_t id, const struct part *parts, uint32_t count)
{
    size_t allowed = 0;

    for (size_t at = 0; at < sm->file[id].cap; at += sizeof(uint32_t)) {
        const uint8_t *byte = sm->file[id].bytes + at;
        bool own = false;

        for (uint32_t i = 0; i < count; i++) {
            own = own || (byte >= parts[i].from && (size_t)(byte - parts[i].from) < parts[i].len);
        }
        if (__asan_address_is_poisoned(byte) == own) {
            fail_msg("file %u, byte 0x%zx of 0x%zx is %s", id, at, sm->file[id].cap, own ? "forbidden" : "allowed");
        }
        allowed += own;
    }
    return allowed;
}

/* Nobody runs: what CTAs have is allowed, but not the rest of the SM's own memory. */
static void check_nobody(const struct sm *sm, struct sm_cta *const *cta)
{
    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        struct part parts[NEIGHBOURS];

        for (uint32_t i = 0; i < NEIGHBOURS; i++) {
            parts[i] = (struct part){ sm->file[id].bytes + cta[i]->block[id].off, cta[i]->block[id].len };
        }
        assert_true(parts[0].from + parts[0].len < parts[1].from); /* a hole */
        assert_int_equal(sizeof(uint32_t) * check_file(sm, id, parts, NEIGHBOURS), parts[0].len + parts[1].len);
    }
    const struct part tokens = { sm->file[SM_FILE_TOKENS].bytes, sm->file[SM_FILE_TOKENS].cap };
    check_file(sm, SM_FILE_TOKENS, &tokens, 1);
}

static void check_entered(struct sm *sm, struct sm_cta *cta, struct warp *warp)
{
    const struct exec x = exec_of(sm, cta, warp);
    const struct dist_task *task = x.task;
    const struct part parts[SM_FILE_COUNT] = {
        { (const uint8_t *)x.vreg, x.stride * sizeof(uint32_t) },
        { x.shared, task->tmd.shared_bytes },
        { sm_file_tokens(sm, cta, warp->number), task->token_cap * PPU_TOKEN_WORDS(x.wave) * sizeof(uint32_t) },
    };

    sm_file_enter(&x);
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        assert_true(check_file(sm, id, &parts[id], 1) != 0);
    }
    sm_file_leave(sm);
}

static void only_its_own_is_allowed(void **state)
{
    struct rig *rig = *state;
    struct sm *sm = only_sm(rig);
    struct sm_cta *cta[NEIGHBOURS];
    uint32_t count = 0;

    start_neighbours(rig);
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (sm->cta[i].used) {
            cta[count++] = &sm->cta[i];
        }
    }
    assert_int_equal(count, NEIGHBOURS);
    assert_int_not_equal(cta[0]->cta.task->tmd.context, cta[1]->cta.task->tmd.context);
    check_nobody(sm, cta);
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        for (uint32_t n = 0; n < THREADS / cta[i]->cta.task->tmd.wave; n++) {
            check_entered(sm, cta[i], &sm->warp[cta[i]->warp[n]]);
        }
    }
    check_nobody(sm, cta);
}
#else
static void only_its_own_is_allowed(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "an instruction that waits ends as it began, whatever its code becomes", ends_as_it_began, setup_one,
          rig_teardown, NULL },
        { "a task that is killed while it waits leaves nothing behind", killed_while_it_waits, setup_one, rig_teardown,
          NULL },
        { "start requests that did not fit come later, whatever the code becomes", start_requests_end, setup_one,
          rig_teardown, NULL },
        { "a held mark is left behind, whatever the code becomes", held_marks_end, setup_one, rig_teardown, NULL },
        { "a kernel that rewrites an instruction that waits does not reach its neighbour",
          kernels_cannot_reach_neighbours, setup_one, rig_teardown, NULL },
        { "a kernel that rewrites an instruction that waits does not leave the file", kernels_cannot_leave_the_file,
          NULL, NULL, NULL },
        { "a predicate is no register, whatever its number", predicates_are_no_registers, rig_setup_slices,
          rig_teardown, NULL },
        { "the address sanitizer forbids a warp all that is not its own", only_its_own_is_allowed, setup_one,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: isolation", tests, NULL, NULL);
}
