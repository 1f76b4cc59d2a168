/* SPDX-License-Identifier: MIT */
/* Tests kernels that do wrong, never end, wait, or are moved: what the SM does about it. */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/turn.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_VALUE 0x1234u

static struct ppu_tmd spinning(struct rig *rig, uint32_t ctas)
{
    rig_load_file(rig, "spin");
    struct ppu_tmd tmd = rig_tmd(rig, "spin");
    rig_shape(&tmd, ctas, 1, 64, 1);
    return tmd;
}

/* ---- faults ---- */

struct fault_case {
    const char *kernel;
    uint64_t param;
    uint32_t ctas_threads;
    uint16_t code;
    uint8_t access;
    uint64_t address;
    uint32_t lanes;
    uint32_t insn; /* from the kernel's entry */
};

static const struct fault_case fault_cases[] = {
    { "fault_load", 0x7fff0000, 32, PPU_FAULT_UNMAPPED, PPU_ACCESS_READ, 0x7fff0000, 0xffffffff, 1 },
    { "fault_load", 0x1000000000000, 7, PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_READ, 0x1000000000000, 0x7f, 1 },
    { "fault_load", PROT_VA + 8, 32, PPU_FAULT_PROTECTED, PPU_ACCESS_READ, PROT_VA + 8, 0xffffffff, 1 },
    { "fault_store", RO_VA + 4, 32, PPU_FAULT_READ_ONLY, PPU_ACCESS_WRITE, RO_VA + 4, 0xffffffff, 2 },
    { "fault_store", CODE_VA, 32, PPU_FAULT_READ_ONLY, PPU_ACCESS_WRITE, CODE_VA, 0xffffffff, 2 },
    { "fault_store", PROT_VA, 32, PPU_FAULT_PROTECTED, PPU_ACCESS_WRITE, PROT_VA, 0xffffffff, 2 },
    { "fault_lane", 0x7fff0000, 64, PPU_FAULT_UNMAPPED, PPU_ACCESS_READ, 0x7fff0000, 1u << 5, 3 },
    { "fault_atomic", PLAIN_VA, 1, PPU_FAULT_NO_ATOMIC, PPU_ACCESS_ATOMIC, PLAIN_VA, 1, 2 },
    { "fault_misaligned", DATA_VA, 32, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ, DATA_VA + 2, 0xffffffff, 1 },
    { "fault_trap", 0, 32, PPU_FAULT_TRAP, PPU_ACCESS_READ, 0x1234, 0xffffffff, 0 },
    { "fault_illegal", 0, 32, PPU_FAULT_ILLEGAL, PPU_ACCESS_FETCH, 0, 0xffffffff, 0 },
    { "fault_not_built", 0, 32, PPU_FAULT_NOT_BUILT, PPU_ACCESS_FETCH, PPU_OP_BPT, 0xffffffff, 0 },
    { "fault_jump", 0, 32, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH, CODE_VA + 0x800000, 0xffffffff, 0x100000 },
    { "fault_shared", 0, 32, PPU_FAULT_SHARED_RANGE, PPU_ACCESS_READ, 64, 0xffffffff, 1 },
    { "fault_local", 0, 32, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_READ, 16, 0xffffffff, 1 },
    { "fault_param", 0, 32, PPU_FAULT_PARAM_RANGE, PPU_ACCESS_READ, 4096, 1, 0 },
    { "fault_barrier", 0, 64, PPU_FAULT_BARRIER, PPU_ACCESS_READ, 0, 0xffffffff, UINT32_MAX },
    { "fault_tokens", 0, 32, PPU_FAULT_TOKEN_FULL, PPU_ACCESS_READ, 128, 0xffffffff, 0 },
};

static void faults_are_precise(void **state)
{
    struct rig *rig = *state;

    rig_load_file(rig, "faults");
    for (size_t i = 0; i < PPU_ARRAY_SIZE(fault_cases); i++) {
        const struct fault_case *c = &fault_cases[i];
        struct ppu_tmd tmd = rig_tmd(rig, c->kernel);
        uint64_t params[2] = { c->param, 0 };
        uint64_t pc = CODE_VA + (c->insn == 0x100000 ? 0 : tmd.entry) + (uint64_t)c->insn * PPU_INSN_BYTES;

        rig_shape(&tmd, 3, 1, c->ctas_threads, 1);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        struct outcome outcome = rig_run(rig, &tmd);
        if (!outcome.faulted || outcome.fault.code != c->code) {
            fail_msg("%s: fault 0x%x, not 0x%x", c->kernel, outcome.fault.code, c->code);
        }
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(outcome.fault.access, c->access);
        assert_int_equal(outcome.fault.lanes, c->lanes);
        assert_int_equal(outcome.fault.slot, 0);
        assert_int_equal(outcome.fault.task, TMD_AT(0));
        assert_int_equal(outcome.fault.context, CONTEXT);
        assert_true(outcome.fault.cta[0] < 3);
        if (c->code != PPU_FAULT_BARRIER) {
            assert_int_equal(outcome.fault.warp, strcmp(c->kernel, "fault_lane") == 0);
            assert_int_equal(outcome.fault.address, c->address);
            assert_int_equal(outcome.fault.pc, pc);
        }
    }
}

static void register_beyond_the_declared(void **state)
{
    struct rig *rig = *state;

    rig_load_file(rig, "faults");
    struct ppu_tmd tmd = rig_tmd(rig, "fault_register");
    struct outcome outcome = rig_run(rig, &tmd);
    assert_true(outcome.faulted);
    assert_int_equal(outcome.fault.code, PPU_FAULT_BAD_REGISTER);
}

/* A set of lanes takes as many registers as the wave needs: beyond the last there are none. */
static void set_of_lanes_fits(struct rig *rig, const char *text)
{
    rig_load_text(rig, text);
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        tmd.wave = (uint8_t)wave;
        struct outcome outcome = rig_run(rig, &tmd);
        assert_int_equal(outcome.faulted, wave == PPU_MAX_WAVE);
        assert_true(!outcome.faulted || outcome.fault.code == PPU_FAULT_BAD_REGISTER);
    }
}

static void sets_of_lanes_fit(void **state)
{
    set_of_lanes_fits(*state, ".kernel k\nballot s62, p0\nactive s62\nexit\n");
    set_of_lanes_fits(*state, ".kernel k\n.vregs 8\nballot v6, p0\nexit\n");
    set_of_lanes_fits(*state, ".kernel k\n.vregs 8\nactive v6\nexit\n");
}

static void bus_refuses(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { SYS_VA + 0x10, 0 };

    rig_load_file(rig, "faults");
    struct ppu_tmd tmd = rig_tmd(rig, "fault_load");
    rig->board->bus_works = false;
    rig_params(rig, 0, &tmd, params, sizeof(params));
    struct outcome outcome = rig_run(rig, &tmd);
    rig->board->bus_works = true;
    assert_true(outcome.faulted);
    assert_int_equal(outcome.fault.code, PPU_FAULT_BUS);
    assert_int_equal(outcome.fault.address, SYS_BASE + 0x10);
}

/* One task's fault leaves the others alone. */
static void fault_beside_a_good_task(void **state)
{
    struct rig *rig = *state;
    uint64_t bad_params[2] = { 0x7fff0000, 0 };
    uint64_t good_params[2] = { 20000, DATA_VA };
    struct outcome outcome;

    memset(rig_data(rig, 0), 0, 4);
    rig_load_text(rig, ".kernel bad\nldp.b64 s0, [0]\nldg.b32 v0, [s0]\nexit\n"
                       ".kernel good\nldp.b32 s0, [0]\nldp.b64 s2, [8]\n"
                       "turn: sub s0, s0, 1\nisetp.ne p0, s0, 0\n@p0 bra turn\n"
                       "mov v0, 1\natomg.add _, [s2], v0\nexit\n");
    struct ppu_tmd bad = rig_tmd(rig, "bad");
    struct ppu_tmd good = rig_tmd(rig, "good");
    rig_shape(&bad, 100, 1, 32, 1);
    rig_shape(&good, 6, 1, 64, 1);
    rig_params(rig, 1, &bad, bad_params, sizeof(bad_params));
    rig_params(rig, 0, &good, good_params, sizeof(good_params));
    rig_start(rig, 0, &good);
    rig_start(rig, 1, &bad);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    assert_int_equal(*(uint32_t *)rig_data(rig, 0), 6 * 64);
}

/* ---- attention ---- */

/* Warp instructions of all SMs. */
static uint64_t instructions(struct rig *rig)
{
    uint64_t sum = 0;

    for (uint32_t sm = 0; sm < rig->board->config.sms; sm++) {
        sum += mcu_read(rig->board, PPU_REG_SM_INSNS_LO + 4 * sm);
    }
    return sum;
}

static void endless_kernel_is_killed(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = spinning(rig, 1000);
    struct outcome outcome;

    for (uint32_t round = 0; round < 5; round++) {
        uint64_t before = instructions(rig);
        rig_start(rig, 0, &tmd);
        do {
            rig_step(rig);
        } while (instructions(rig) == before);
        rig_command(rig, 0, PPU_SLOT_CMD_KILL);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(outcome.event.ctas_done, 0);
        assert_true(outcome.event.warp_insns > 0);
    }
}

/* Straight code without a backward branch is looked at, too: by budget. */
static void pause_stops_everything(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = spinning(rig, 100);
    uint64_t before;

    rig_start(rig, 0, &tmd);
    for (uint32_t round = 0; round < 5; round++) {
        rig_step(rig);
        core_pause(rig->board->core);
        before = sm_count(rig->board->core, 0, PPU_COUNTER_INSNS);
        rig_step(rig);
        assert_int_equal(sm_count(rig->board->core, 0, PPU_COUNTER_INSNS), before);
        core_resume(rig->board->core);
    }
    for (uint32_t step = 0; step < 10000 && sm_count(rig->board->core, 0, PPU_COUNTER_INSNS) == before; step++) {
        rig_step(rig);
    }
    assert_true(sm_count(rig->board->core, 0, PPU_COUNTER_INSNS) > before);
}

static uint64_t all_insns(const struct rig *rig)
{
    uint64_t insns = 0;

    for (uint32_t sm = 0; sm < rig->board->config.sms; sm++) {
        insns += sm_count(rig->board->core, sm, PPU_COUNTER_INSNS);
    }
    return insns;
}

/* Runs it, moved to another machine every step_ns; the SMs have counted as much as the task. How many moves. */
static uint32_t moved_and_counted(void **state, const struct ppu_tmd *tmd, uint64_t insns, uint64_t step_ns)
{
    struct rig *rig = *state;
    const uint64_t before = all_insns(rig);
    struct outcome outcome;
    uint32_t moves = 0;

    rig_start(rig, 0, tmd);
    for (; mcu_read(rig->board, PPU_REG_SLOT_STATE) != PPU_SLOT_FREE; moves++) {
        *state = rig = rig_moved(rig);
        board_advance(rig->board, step_ns);
    }
    assert_true(rig_wait(rig, 0, &outcome));
    assert_false(outcome.faulted);
    assert_int_equal(outcome.event.warp_insns, insns);
    assert_int_equal(all_insns(rig) - before, insns);
    return moves;
}

/* Warps have ended, and others of their CTAs wait for the main loop, or for their turn: nothing is lost, or counted
 * twice. */
static void counts_move(void **state)
{
    static const char *const pads[] = { "", "nop\n", "nop\nnop\n" };
    const struct {
        uint64_t data, sys;
    } addresses = { DATA_VA, SYS_VA };

    rig_load_text(*state, ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid.x\nshl v1, v0, 2\n"
                          "isetp.ltu p0, v0, 32\n@!p0 bra end\nldg.b32 v2, [s2+v1]\nldg.b32 v2, [s2+v1+256]\n"
                          "ldg.b32 v3, [s0+v1]\nldg.b32 v2, [s2+v1+512]\nend: exit\n");
    struct ppu_tmd tmd = rig_tmd(*state, "k");
    tmd.wave = PPU_LANES;
    rig_shape(&tmd, 6, 1, 4 * PPU_LANES, 1);
    rig_params(*state, 0, &tmd, &addresses, sizeof(addresses));
    assert_in_range(moved_and_counted(state, &tmd, 6 * (11 + 3 * 7), 1), 2, 1000);

    /* The second warp ends with a slice: 9 instructions beside its turns, and up to 2 more. */
    for (uint32_t insns = SM_SLICE_NS - 4; insns < SM_SLICE_NS + 4; insns++) {
        const uint32_t turns = (insns - 9) / 3, more = (insns - 9) % 3;
        char text[512];

        snprintf(text, sizeof(text),
                 ".kernel k\n.vregs 4\nrdsr v0, %%tid.x\nisetp.ltu p0, v0, 32\n@!p0 bra loops\nbar 0\nexit\n"
                 "loops: mov s0, %u\nloop: sub s0, s0, 1\nisetp.ne.s p0, s0, 0\n@p0 bra loop\n%sexit\n",
                 turns, pads[more]);
        rig_load_text(*state, text);
        tmd = rig_tmd(*state, "k");
        tmd.wave = PPU_LANES;
        rig_shape(&tmd, 1, 1, 2 * PPU_LANES, 1);
        moved_and_counted(state, &tmd, 10 + 3 * turns + more, SM_SLICE_NS);
    }
}

static void flush_is_answered_by_busy_sms(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = spinning(rig, 100);
    struct ppu_slot_event event = { .kind = 0 };

    rig_start(rig, 0, &tmd);
    rig_step(rig);
    mcu_write(rig->board, PPU_REG_MMU_FLUSH_TAG, 99);
    mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
    for (uint32_t i = 0; i < 10000 && !ring_pop(rig->board, PPU_RING_SLOT, &event); i++) {
        rig_step(rig);
    }
    assert_int_equal(event.kind, PPU_SLOT_FLUSHED);
    assert_int_equal(event.arg, 99);
}

/* After the flush was answered no access uses the old page. */
static void unmapped_page_is_not_used(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { DATA_VA + 0x10000, 0 };
    struct ppu_fault_event fault = { .code = 0 };
    bool flushed = false, killed = false;

    rig_load_text(rig, ".kernel writer\nldp.b64 s0, [0]\nmov v0, 1\nagain: stg.b32 v0, [s0]\nbra again\n");
    struct ppu_tmd tmd = rig_tmd(rig, "writer");
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_start(rig, 0, &tmd);
    rig_step(rig);
    for (uint32_t i = 0; i < 16; i++) {
        write_pte(rig->board, pte_at(rig->board, CONTEXT, DATA_VA + 0x10000, 0) + 8 * i, 0);
    }
    mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
    for (uint32_t i = 0; i < 10000 && !(flushed && killed); i++) {
        struct ppu_slot_event event;

        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            killed = killed || event.kind == PPU_SLOT_KILLED;
            if (event.kind == PPU_SLOT_FLUSHED) {
                flushed = true;
                *(uint32_t *)rig_data(rig, 0x10000) = 7;
            }
        }
        rig_step(rig);
    }
    assert_true(flushed && killed);
    assert_true(ring_pop(rig->board, PPU_RING_FAULT, &fault));
    assert_int_equal(fault.code, PPU_FAULT_UNMAPPED);
    assert_int_equal(*(uint32_t *)rig_data(rig, 0x10000), 7);
}

static void reset_under_load(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = spinning(rig, 1000);

    rig_start(rig, 0, &tmd);
    rig_step(rig);
    core_reset(rig->board->core);
    board_settle(rig->board);
    board_settle(rig->board);
    assert_int_equal(sm_count(rig->board->core, 0, PPU_COUNTER_INSNS), 0);
    rig_step(rig);
    assert_int_equal(sm_count(rig->board->core, 0, PPU_COUNTER_INSNS), 0);
}

/* Code that was changed before a launch is what the launch runs (A11). */
static void new_code_is_seen(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { DATA_VA, 0 };

    for (uint32_t round = 1; round < 6; round++) {
        char text[128];

        snprintf(text, sizeof(text), ".kernel k\nldp.b64 s0, [0]\nmov v0, %u\nstg.b32 v0, [s0]\nexit\n", round);
        rig_load_text(rig, text);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_run_done(rig, &tmd);
        assert_int_equal(*(uint32_t *)rig_data(rig, 0), round);
    }
}

#define KEPT 77u

/* What the instruction that stores is given, as every SM has decoded it, where it has. */
static uint32_t change_decoded(struct rig *rig, uint32_t insn, uint32_t to)
{
    struct sm_pool *pool = *core_sm_pool(rig->board->core);
    uint32_t changed = 0;

    for (uint32_t i = 0; i < pool->sms; i++) {
        for (uint32_t page = 0; page < SM_CODE_PAGES; page++) {
            struct code_page *code = &pool->sm[i].code[page];
            if (code->tag != 0 && code->insn[insn].known) {
                code->insn[insn].imm[0] = to;
                changed++;
            }
        }
    }
    return changed;
}

static uint32_t run_store(struct rig *rig, struct ppu_tmd *tmd)
{
    const uint64_t params[2] = { DATA_VA, 0 };

    rig_params(rig, 0, tmd, params, sizeof(params));
    rig_run_done(rig, tmd);
    return vram_read32(rig_data(rig, 0));
}

/* Only a change of what was decoded shows that it is still there. Where caches are modelled it is fetched anew. */
static void code_is_kept(void **state)
{
    struct rig *rig = *state;
    const bool modelled = core_config_of(rig->board->core)->cache_model;

    rig_load_text(
        rig,
        ".kernel k\n.param 16\nldp.b64 s0, [0]\nmov v0, 5\nstg.b32 v0, [s0]\nexit\n.kernel other\nmov v0, 9\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    assert_int_equal(run_store(rig, &tmd), 5);
    assert_int_equal(change_decoded(rig, tmd.entry / PPU_INSN_BYTES + 1, KEPT), 1);
    assert_int_equal(run_store(rig, &tmd), modelled ? 5 : KEPT);

    uint8_t *word = rig_code(rig) + tmd.entry + PPU_INSN_BYTES;
    const uint64_t five = vram_read64(word);
    const uint64_t nine = vram_read64(rig_code(rig) + rig_tmd(rig, "other").entry);
    vram_write64(word, nine);
    assert_int_equal(run_store(rig, &tmd), 9);
    vram_write64(word, five);
    assert_int_equal(run_store(rig, &tmd), 5);
}

/* ---- rings, hooks ---- */

static void start_requests_wait_for_room(void **state)
{
    struct rig *rig = *state;
    struct ppu_start_event event;
    struct outcome outcome = { .event = { .kind = 0 } };
    uint64_t seen = 0;

    rig_load_text(rig, ".kernel k\nrdsr v0, %tid\nadd v1, v0, 100\ntstart v0, v1\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 1, 1, 60, 1);
    rig_start(rig, 0, &tmd);
    for (uint32_t i = 0; i < 20; i++) {
        rig_step(rig);
    }
    assert_false(ring_pop(rig->board, PPU_RING_SLOT, &outcome.event));
    for (uint32_t i = 0; i < 10000 && seen != (1ull << 60) - 1; i++) {
        while (ring_pop(rig->board, PPU_RING_START, &event)) {
            assert_true(event.handle < 60);
            assert_false(seen >> event.handle & 1);
            assert_int_equal(event.former, event.handle + 100);
            assert_int_equal(event.task, TMD_AT(0));
            assert_int_equal(event.context, CONTEXT);
            assert_int_equal(event.correlation, 77);
            seen |= 1ull << event.handle;
        }
        rig_step(rig);
    }
    assert_true(seen == (1ull << 60) - 1);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
}

static void warp_stalled_on_a_ring_is_killed(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome;

    rig_load_text(rig, ".kernel k\nagain: tstart.s s0, 0\nbra again\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 5, 1, 60, 1);
    rig_start(rig, 0, &tmd);
    for (uint32_t i = 0; i < 20; i++) {
        rig_step(rig);
    }
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
}

static void hook_holds_a_warp(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome;
    struct ppu_slot_event event;

    rig_load_text(rig, ".kernel k\nmark 0x1234\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    for (uint32_t kill = 0; kill < 2; kill++) {
        host_write(rig->board, PPU_REG_HOOK_HOLD_MARK, MARK_VALUE);
        rig_start(rig, 0, &tmd);
        for (uint32_t i = 0; i < 1000 && host_read(rig->board, PPU_REG_HOOK_HELD) == 0; i++) {
            rig_step(rig);
        }
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 1);
        assert_false(ring_pop(rig->board, PPU_RING_SLOT, &event));
        if (kill) {
            rig_command(rig, 0, PPU_SLOT_CMD_KILL);
        } else {
            host_write(rig->board, PPU_REG_HOOK_RELEASE, 1);
        }
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, kill ? PPU_SLOT_KILLED : PPU_SLOT_DONE);
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 0);
    }
}

/* ---- barriers with ended and divergent threads (trap 9) ---- */

static void barriers_count_threads(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = rig_data(rig, 0);
    uint64_t params[2] = { DATA_VA, 0 };

    /* Threads below 10 end early, odd threads reach the barrier by another way. */
    rig_load_text(rig, ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %tid\nisetp.ltu p0, v0, 10\n@p0 exit\n"
                       "mov v2, 1\nmov v4, 0\nand v1, v0, 1\nisetp.ne p1, v1, 0\nssy join\n@p1 bra odd\n"
                       "atoms.add _, [v4], v2\nbar 3\nlds.b32 v3, [v4]\nsync join\n"
                       "odd: atoms.add _, [v4], v2\nbar 3\nlds.b32 v3, [v4]\nadd v3, v3, 1000\nsync join\n"
                       "join: shl v5, v0, 2\nstg.b32 v3, [s0+v5]\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.shared_bytes = 64;
    rig_shape(&tmd, 1, 1, 75, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 10; i < 75; i++) {
        assert_int_equal(out[i], i % 2 ? 1065 : 65);
    }
}

/* A lock taken by one lane of the warp at a time: YIELD lets its holder go on (E6, E8). */
static void yield_lets_the_holder_go_on(void **state)
{
    struct rig *rig = *state;
    uint32_t *words = rig_data(rig, 0);
    uint64_t params[2] = { DATA_VA, 0 };

    rig_load_text(rig, ".kernel k\nldp.b64 s0, [0]\nmov v0, 0\nmov v2, 0\nmov v3, 1\nmov v6, 4\n"
                       "ssy out\n"
                       "try: atomg.cas v4, [s0+v0], v2\nisetp.eq p0, v4, 0\n@p0 bra got\nyield\nbra try\n"
                       "got: ldg.b32 v5, [s0+v6]\nadd v5, v5, 1\nstg.b32 v5, [s0+v6]\n"
                       "mov v8, 0\natomg.xchg _, [s0+v0], v8\nsync out\nout: exit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    words[0] = words[1] = 0;
    rig_shape(&tmd, 4, 1, 96, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_int_equal(words[0], 0);
    assert_int_equal(words[1], 4 * 96);
}

/* ---- snapshots ---- */

static void snapshots_in_the_middle(void **state)
{
    uint32_t grid = 40;
    struct rig *rig = *state;
    struct two_words {
        uint64_t in;
        uint64_t out;
        uint32_t n;
        uint32_t zero;
    } params = { SYS_VA, DATA_VA, 40 * 64, 0 };
    struct outcome outcome = { .event = { .kind = 0 } };
    bool ended = false;
    uint32_t *in = (uint32_t *)(void *)rig->board->sys;

    for (uint32_t i = 0; i < 40 * 64; i++) {
        in[i] = i * 3;
    }
    rig_load_text(rig, ".kernel k\n.shared 256\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid\nrdsr s6, %cta.x\n"
                       "rdsr s7, %ntid.x\nmad v1, s6, s7, v0\nshl v2, v1, 2\nshl v3, v0, 2\nldg.b32 v4, [s0+v2]\n"
                       "sts.b32 v4, [v3]\nbar 0\nmov v5, 0\nmov v6, 0\npbrk done\n"
                       "loop: isetp.gtu p0, v6, v0\n@p0 brk done\nssy both\nand v7, v6, 1\nisetp.eq p1, v7, 0\n"
                       "@p1 bra even\nshl v8, v6, 2\nlds.b32 v9, [v8]\nadd v5, v5, v9\nsync both\n"
                       "even: add v5, v5, 1\nsync both\nboth: add v6, v6, 1\nbra loop\n"
                       "done: bar 1\nstg.b32 v5, [s2+v2]\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, grid, 1, 64, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_start(rig, 0, &tmd);
    for (uint32_t round = 0; round < 40 && !ended; round++) {
        board_advance(rig->board, 500 + round * 37);
        rig = rig_moved(rig);
        *state = rig;
        ended = ring_pop(rig->board, PPU_RING_SLOT, &outcome.event);
    }
    if (!ended) {
        assert_true(rig_wait(rig, 0, &outcome));
    }
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    assert_int_equal(outcome.event.ctas_done, grid);
    for (uint32_t i = 0; i < grid * 64; i++) {
        uint32_t tid = i % 64, expected = 0;
        for (uint32_t k = 0; k <= tid; k++) {
            expected += k % 2 == 0 ? 1 : (i - tid + k) * 3;
        }
        assert_int_equal(((uint32_t *)rig_data(rig, 0))[i], expected);
    }
}

/* Snapshots with wrong bytes: refused, or a machine that still obeys. */
static void corrupted_snapshots(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { DATA_VA, 0 };
    uint64_t random = random_seed();
    size_t len;

    rig_load_file(rig, "nested");
    struct ppu_tmd tmd = rig_tmd(rig, "nested");
    rig_shape(&tmd, 50, 1, 64, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_start(rig, 0, &tmd);
    board_advance(rig->board, 700);
    core_pause(rig->board->core);
    uint8_t *saved = core_save(rig->board->core, &len);
    for (uint32_t i = 0; i < 300; i++) {
        uint8_t *copy = malloc(len);
        const char *error = NULL;

        memcpy(copy, saved, len);
        for (uint32_t n = 1 + random_below(&random, 3); n != 0; n--) {
            copy[random_below(&random, (uint32_t)len)] ^= (uint8_t)(1u << random_below(&random, 8));
        }
        if (core_load(rig->board->core, copy, i % 5 ? len : random_below(&random, (uint32_t)len), &error)) {
            core_resume(rig->board->core);
            board_settle(rig->board);
            board_advance(rig->board, 2000);
            core_pause(rig->board->core);
        } else {
            assert_non_null(error);
        }
        free(copy);
    }
    free(saved);
}

/* Two runs in slices are alike to the last bit. */
static void slices_are_deterministic(void **state)
{
    uint8_t *first = NULL;
    uint64_t insns = 0, now = 0;

    (void)state;
    for (uint32_t run = 0; run < 2; run++) {
        struct rig *rig = rig_new(0);
        uint64_t params[2] = { DATA_VA, DATA_VA + 0x1000 };
        struct outcome outcome;

        rig_load_file(rig, "counter");
        struct ppu_tmd tmd = rig_tmd(rig, "counter");
        rig_shape(&tmd, 90, 1, 61, 1);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_start(rig, 0, &tmd);
        assert_true(rig_wait(rig, 0, &outcome));
        if (run == 0) {
            first = malloc(DATA_BYTES);
            memcpy(first, rig_data(rig, 0), DATA_BYTES);
            insns = outcome.event.warp_insns;
            now = outcome.event.time_ns;
        } else {
            assert_memory_equal(first, rig_data(rig, 0), DATA_BYTES);
            assert_int_equal(outcome.event.warp_insns, insns);
            assert_int_equal(outcome.event.time_ns, now);
        }
        rig_free(rig);
    }
    free(first);
}

/* ---- random bytes ---- */

static uint64_t random_insn(uint64_t *random)
{
    uint32_t op = random_below(random, PPU_ISA_OPS);
    uint64_t word = random_next(random);
    struct ppu_insn insn;

    /* Most instructions are legal, with small registers and short branches. */
    for (uint32_t tries = 0; tries < 200; tries++) {
        const struct ppu_isa_row *row = ppu_isa_row(op);
        struct ppu_isa_shape shape = ppu_isa_shape(row);
        bool immed =
            shape.forms == PPU_FORM_IMMEDIATE || (shape.forms == PPU_FORM_BOTH && random_below(random, 2) != 0);
        bool scalar = (row->flags & PPU_IF_V) || ((row->flags & PPU_IF_S) && random_below(random, 3) == 0);

        word = random_next(random) & shape.bits[immed] & (immed ? ~(0xfffffff0ull << 32) : ~0ull);
        word &= ~(0xf0ull << 14 | 0xf0ull << 22);
        word &= immed ? ~0ull : ~(0xf0ull << 32);
        word |= op | (uint64_t)scalar << 8 | (uint64_t)immed << 31;
        if (immed && (row->flags & PPU_IF_B) && random_below(random, 2) != 0) {
            word = (word & 0xffffffffull) | (0 - (uint64_t)random_below(random, 8)) << 32;
        }
        if (random_below(random, 3) == 0) {
            word |= (uint64_t)(PPU_GUARD_ON | random_below(random, 16)) << 9;
        }
        if (row->mnemonic && row->built && ppu_isa_decode(word, &insn) == 0) {
            return word;
        }
        op = random_below(random, PPU_ISA_OPS);
    }
    return word;
}

static void random_programs(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();
    uint64_t code[64];
    uint32_t faulted = 0, done = 0;

    rig_load_text(rig, ".kernel k\n.vregs 20\n.local 64\n.shared 512\nexit\n");
    for (uint32_t i = random_rounds(150); i-- != 0;) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        uint64_t params[8];
        struct outcome outcome = { .event = { .kind = 0 } };
        bool ended = false;

        for (uint32_t n = 0; n < 64; n++) {
            code[n] = i % 3 == 0 ? random_next(&random) : random_insn(&random);
        }
        code[0] = 0x00001500000001aeull; /* ldp.b64 s0, [0] */
        code[63] = PPU_OP_EXIT;
        for (uint32_t n = 0; n < 8; n++) {
            params[n] = random_below(&random, 2) ? DATA_VA + random_below(&random, 4096) * 4 : SYS_VA;
        }
        rig_load_words(rig, code, 64);
        tmd.code_bytes = sizeof(code);
        tmd.wave = (uint8_t)(PPU_LANES << random_below(&random, 3));
        tmd.token_count = (uint16_t)(i % 2 ? 0 : 1 + random_below(&random, 6));
        rig_shape(&tmd, 1 + random_below(&random, 3), 1, 1 + random_below(&random, 70), 1);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_start(rig, 0, &tmd);
        for (uint32_t step = 0; step < 4 && !ended; step++) {
            struct ppu_start_event start;

            board_advance(rig->board, 5000);
            while (ring_pop(rig->board, PPU_RING_START, &start)) {
            }
            ended = ring_pop(rig->board, PPU_RING_SLOT, &outcome.event);
        }
        if (!ended) {
            rig_command(rig, 0, PPU_SLOT_CMD_KILL);
            assert_true(rig_wait(rig, 0, &outcome));
        }
        faulted += outcome.event.kind == PPU_SLOT_KILLED;
        done += outcome.event.kind == PPU_SLOT_DONE;
        while (ring_pop(rig->board, PPU_RING_FAULT, &outcome.fault)) {
        }
        while (ring_pop(rig->board, PPU_RING_TOUCH, &outcome.fault)) {
        }
    }
    printf("# %u programs ended by themselves, %u were killed\n", done, faulted);
    assert_true(done > 0 && faulted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "faults name code, lanes, place and address, in slices [A9]", faults_are_precise, rig_setup_slices,
          rig_teardown, NULL },
        { "faults name code, lanes, place and address, on threads [A9]", faults_are_precise, rig_setup_threads,
          rig_teardown, NULL },
        { "a register beyond the declared ones faults", register_beyond_the_declared, rig_setup_slices, rig_teardown,
          NULL },
        { "a set of lanes has registers for all of them [D1]", sets_of_lanes_fit, rig_setup_slices, rig_teardown,
          NULL },
        { "a refused bus access faults, in slices [A9]", bus_refuses, rig_setup_slices, rig_teardown, NULL },
        { "a refused bus access faults, on threads [A9]", bus_refuses, rig_setup_threads, rig_teardown, NULL },
        { "a fault leaves other tasks alone, in slices [A8]", fault_beside_a_good_task, rig_setup_slices, rig_teardown,
          NULL },
        { "a fault leaves other tasks alone, on threads [A8]", fault_beside_a_good_task, rig_setup_threads,
          rig_teardown, NULL },
        { "an endless kernel is killed, in slices [A5]", endless_kernel_is_killed, rig_setup_slices, rig_teardown,
          NULL },
        { "an endless kernel is killed, on threads [A5]", endless_kernel_is_killed, rig_setup_threads, rig_teardown,
          NULL },
        { "pause stops endless kernels, on threads", pause_stops_everything, rig_setup_threads, rig_teardown, NULL },
        { "busy SMs answer a flush, in slices [A9]", flush_is_answered_by_busy_sms, rig_setup_slices, rig_teardown,
          NULL },
        { "busy SMs answer a flush, on threads [A9]", flush_is_answered_by_busy_sms, rig_setup_threads, rig_teardown,
          NULL },
        { "no access after an unmap is flushed, in slices [A9]", unmapped_page_is_not_used, rig_setup_slices,
          rig_teardown, NULL },
        { "no access after an unmap is flushed, on threads [A9]", unmapped_page_is_not_used, rig_setup_threads,
          rig_teardown, NULL },
        { "reset under load, on threads", reset_under_load, rig_setup_threads, rig_teardown, NULL },
        { "a launch sees code written before it [A11]", new_code_is_seen, rig_setup_slices, rig_teardown, NULL },
        { "code that has not changed is not decoded again [A11]", code_is_kept, rig_setup_slices, rig_teardown, NULL },
        { "start requests wait for room in the ring, in slices [B1]", start_requests_wait_for_room, rig_setup_slices,
          rig_teardown, NULL },
        { "start requests wait for room in the ring, on threads [B1]", start_requests_wait_for_room, rig_setup_threads,
          rig_teardown, NULL },
        { "a warp stalled on a full ring is killed, in slices [B1]", warp_stalled_on_a_ring_is_killed, rig_setup_slices,
          rig_teardown, NULL },
        { "a warp stalled on a full ring is killed, on threads [B1]", warp_stalled_on_a_ring_is_killed,
          rig_setup_threads, rig_teardown, NULL },
        { "a test hook holds a warp, in slices", hook_holds_a_warp, rig_setup_slices, rig_teardown, NULL },
        { "a test hook holds a warp, on threads", hook_holds_a_warp, rig_setup_threads, rig_teardown, NULL },
        { "barriers count threads that have not ended [A7]", barriers_count_threads, rig_setup_slices, rig_teardown,
          NULL },
        { "a yield lets the holder of a lock go on, in slices [E6]", yield_lets_the_holder_go_on, rig_setup_slices,
          rig_teardown, NULL },
        { "a yield lets the holder of a lock go on, on threads [E6]", yield_lets_the_holder_go_on, rig_setup_threads,
          rig_teardown, NULL },
        { "snapshots in the middle of a kernel, in slices [B7]", snapshots_in_the_middle, rig_setup_slices,
          rig_teardown, NULL },
        { "snapshots in the middle of a kernel, on threads [B7]", snapshots_in_the_middle, rig_setup_threads,
          rig_teardown, NULL },
        { "what was counted moves with a snapshot [A10 B7]", counts_move, rig_setup_slices, rig_teardown, NULL },
        { "corrupted snapshots do no harm [B7]", corrupted_snapshots, rig_setup_slices, rig_teardown, NULL },
        { "slices are deterministic [A14]", slices_are_deterministic, NULL, NULL, NULL },
        { "random programs do no harm", random_programs, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: control", tests, NULL, NULL);
}
