/* SPDX-License-Identifier: MIT */
/* Tests what changes while kernels run: their code, the pages they use, and how many of them an SM holds. */
#include "tests/engine/rig.h"

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/memory/guest_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_VA 0x80000000ull
#define BIG_AT 0xc00000u  /* 2 MiB of VRAM that nothing else uses */
#define STEPS_MAX 200000u /* a busy host answers late */

/* ---- code that is changed while it runs ---- */

#define COUNTS 4u /* of executions: the old instruction, the new one, anything else, turns */
#define WARPS 3u

/* `mov v4, 0x1111` is changed to `mov v5, 0x2222` and back: register and number differ, so that a mixture shows. */
static const char patched[] =
    ".kernel k\n.vregs 12\nldp.b64 s0, [0]\nmov v6, 0\nmov v7, 4\nmov v8, 8\nmov v9, 1\n"
    "again: mov v4, 0\nmov v5, 0\npatch: mov v4, 0x1111\n"
    "shl v10, v5, 16\nor v10, v10, v4\nisetp.eq p0, v10, 0x1111\nisetp.eq p1, v10, 0x22220000\n"
    "@p0 atomg.add _, [s0+v6], v9\n@p1 atomg.add _, [s0+v7], v9\npor p2, p0, p1\n"
    "@!p2 atomg.add _, [s0+v8], v9\nbra again\n";
#define PATCH_INSN 7u

static uint64_t mov_word(uint32_t reg, uint32_t value)
{
    const struct ppu_insn insn = {
        .op = PPU_OP_MOV, .format = PPU_FMT_DB, .immed = 1, .rd = (uint8_t)reg, .imm = (int32_t)value
    };

    return ppu_isa_encode(&insn);
}

static void flush(struct rig *rig)
{
    static uint32_t tag = 100;
    struct ppu_slot_event event;

    mcu_write(rig->board, PPU_REG_MMU_FLUSH_TAG, ++tag);
    mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
    board_settle(rig->board);
    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            if (event.kind == PPU_SLOT_FLUSHED && event.arg == tag) {
                return;
            }
            assert_true(event.kind == PPU_SLOT_FLUSHED || event.kind == PPU_SLOT_KILLED);
        }
        rig_step(rig);
    }
    fail_msg("the flush was not answered");
}

static void run_until(struct rig *rig, const uint32_t *count, uint32_t more)
{
    uint32_t before = __atomic_load_n(count, __ATOMIC_RELAXED);

    for (uint32_t i = 0; __atomic_load_n(count, __ATOMIC_RELAXED) - before < more; i++) {
        assert_true(i < STEPS_MAX);
        rig_step(rig);
    }
}

static void code_is_old_or_new(void **state)
{
    struct rig *rig = *state;
    uint8_t *insn_at = rig->board->vram + CODE_AT + PATCH_INSN * PPU_INSN_BYTES;
    const uint64_t words[2] = { mov_word(4, 0x1111), mov_word(5, 0x2222) };
    uint64_t params[2] = { DATA_VA, 0 };
    uint32_t *counts = rig_data(rig, 0);
    struct outcome outcome;

    rig_load_text(rig, patched);
    assert_true(vram_read64(insn_at) == words[0]);
    memset(counts, 0, COUNTS * sizeof(*counts));
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, WARPS, 1, 1, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_start(rig, 0, &tmd);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t is = round % 2;

        run_until(rig, &counts[is], 50);
        vram_write64(insn_at, words[!is]);
        flush(rig);
        /* A warp may have been between the old instruction and what counts it. */
        uint32_t old = __atomic_load_n(&counts[is], __ATOMIC_RELAXED);
        run_until(rig, &counts[!is], 50);
        assert_in_range(__atomic_load_n(&counts[is], __ATOMIC_RELAXED) - old, 0, WARPS);
    }
    /* The table is changed all the time, and read again after every flush. */
    for (uint32_t round = 0; round < 100; round++) {
        mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
        for (uint32_t i = 0; i < 50; i++) {
            vram_write64(insn_at, words[i % 2]);
        }
        flush(rig);
    }
    assert_int_equal(counts[2], 0);
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    board_settle(rig->board);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
}

/* ---- pages that are unmapped while they are used ---- */

struct page_case {
    enum ppu_pte_size size;
    uint64_t bytes;
    uint64_t frame;
    uint64_t bits;
};

static const struct page_case page_cases[] = {
    { PPU_PTE_4K, PPU_PAGE_4K, SYS_BASE + 0x200000, PPU_PTE_SYSTEM },
    { PPU_PTE_64K, PPU_PAGE_64K, SYS_BASE + 0x200000, PPU_PTE_SYSTEM },
    { PPU_PTE_2M, PPU_PAGE_2M, SYS_BASE + 0x200000, PPU_PTE_SYSTEM },
    { PPU_PTE_64K, PPU_PAGE_64K, BIG_AT, 0 },
    { PPU_PTE_2M, PPU_PAGE_2M, BIG_AT, 0 },
};

/* s0 the page, s2 what is loaded from it, for the test to see; every warp has a place of its own. */
#define PAGE_START                                                                                                    \
    ".kernel k\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b32 s4, [16]\nrdsr v0, %tid\nrdsr s5, %cta.x\nmul s5, s5, 64\n" \
    "add v0, v0, s5\nshl v0, v0, 2\nadd v1, v0, s4\nmov v2, 1\n"
static const char *const page_users[] = {
    PAGE_START "again: stg.b32 v2, [s0+v1]\nadd v2, v2, 1\nbra again\n",
    PAGE_START "again: ldg.b32 v3, [s0+v1]\nstg.b32 v3, [s2+v0]\nbra again\n",
    PAGE_START "again: atomg.add.relaxed.dev _, [s0+v1], v2\nbra again\n",
};

static void unmap(struct rig *rig, const struct page_case *c)
{
    uint32_t level = c->size == PPU_PTE_2M, entries = c->size == PPU_PTE_64K ? 16 : 1;

    for (uint32_t i = 0; i < entries; i++) {
        write_pte(rig->board, pte_at(rig->board, CONTEXT, PAGE_VA, level) + 8 * i, 0);
    }
}

/* Runs until it faults, which it does because the page is gone. */
static void expect_unmapped(struct rig *rig)
{
    struct ppu_fault_event fault = { .code = 0 };

    for (uint32_t i = 0; i < STEPS_MAX && !ring_pop(rig->board, PPU_RING_FAULT, &fault); i++) {
        rig_step(rig);
    }
    assert_int_equal(fault.code, PPU_FAULT_UNMAPPED);
    assert_true(fault.address >= PAGE_VA && fault.address < PAGE_VA + PPU_PAGE_2M && fault.lanes != 0);
    for (uint32_t i = 0; i < STEPS_MAX && mcu_read(rig->board, PPU_REG_SLOT_STATE) != PPU_SLOT_FREE; i++) {
        rig_step(rig);
    }
}

/* When the flush is answered nothing reads or writes the page any more, near its beginning or at its end. */
static void pages_are_gone_when_flushed(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(page_cases) * 6; i++) {
        const struct page_case *c = &page_cases[i / 6];
        uint8_t *page = c->bits ? rig->board->sys + (c->frame - SYS_BASE) : rig->board->vram + c->frame;
        struct {
            uint64_t page;
            uint64_t seen;
            uint32_t at;
            uint32_t zero;
        } params = { PAGE_VA, DATA_VA, i % 2 ? (uint32_t)c->bytes - 3 * 256 : 0, 0 };
        struct ppu_slot_event event;

        map_page(rig->board, CONTEXT, PAGE_VA, c->frame, c->size, c->bits | PPU_PTE_WRITE | PPU_PTE_ATOMIC);
        memset(page, 0, c->bytes);
        memset(rig_data(rig, 0), 0, 4096);
        rig_load_text(rig, page_users[i / 2 % 3]);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        rig_shape(&tmd, 3, 1, 64, 1);
        rig_params(rig, 0, &tmd, &params, sizeof(params));
        rig_start(rig, 0, &tmd);
        board_advance(rig->board, 500 + random_below(&random, 3000));
        rig_step(rig);
        unmap(rig, c);
        flush(rig);
        memset(page, 0xa5, c->bytes);
        expect_unmapped(rig);
        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
        }
        assert_true(page[0] == 0xa5 && memcmp(page, page + 1, c->bytes - 1) == 0);
        for (uint32_t at = 0; at < 3 * 64; at++) {
            assert_int_equal(((uint32_t *)rig_data(rig, 0))[at], 0);
        }
    }
}

/* ---- how many CTAs an SM holds ---- */

struct occupancy {
    uint32_t threads;
    uint32_t vregs;
    uint32_t shared;
    uint32_t tokens;
    uint32_t wave;
    uint32_t ctas; /* that an SM of 64 passes, 32,768 registers, 96 KiB, 8 CTAs holds */
};

static const struct occupancy occupancies[] = {
    { 32, 8, 0, 0, 32, 8 },     /* CTAs */
    { 256, 8, 0, 0, 32, 8 },    /* all warps, just so */
    { 257, 8, 0, 0, 32, 7 },    /* warps: 9 passes each */
    { 257, 8, 0, 0, 128, 5 },   /* warps of 4 passes: 12 each */
    { 1024, 8, 0, 0, 64, 2 },   /* warps */
    { 128, 64, 0, 0, 32, 4 },   /* registers: 8,192 each */
    { 128, 65, 0, 0, 32, 3 },   /* registers */
    { 32, 256, 0, 0, 32, 4 },   /* registers */
    { 32, 8, 12288, 0, 32, 8 }, /* shared memory, just so */
    { 32, 8, 12289, 0, 32, 7 }, /* shared memory */
    { 32, 8, 65536, 0, 32, 1 }, /* shared memory */
    { 256, 8, 0, 4096, 32, 1 }, /* token queues: 256 KiB of the SM's 327,680 bytes */
};

/* Warps that are held at a mark are on the SM; there are as many as its registers, warps, memory and CTAs allow. */
static void occupancy_is_limited(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(occupancies); i++) {
        const struct occupancy *o = &occupancies[i];
        struct core_config config = board_small_config(0);
        uint32_t warps = (o->threads + o->wave - 1) / o->wave;
        struct outcome outcome;

        config.sm_warps = 64;
        config.sm_vregs = 32768;
        config.sm_shared = PPU_MAX_SHARED;
        struct rig *rig = rig_new_config(&config);
        rig_load_text(rig, ".kernel k\nmark 7\nexit\n");
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        tmd.vregs = (uint16_t)o->vregs;
        tmd.shared_bytes = o->shared;
        tmd.token_count = (uint16_t)o->tokens;
        tmd.wave = (uint8_t)o->wave;
        rig_shape(&tmd, 50, 1, o->threads, 1);
        host_write(rig->board, PPU_REG_HOOK_HOLD_MARK, 7);
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HOLD_MARK), 7);
        rig_start(rig, 0, &tmd);
        for (uint32_t step = 0; step < 20; step++) {
            rig_step(rig);
        }
        uint32_t held = host_read(rig->board, PPU_REG_HOOK_HELD);
        if (held != config.sms * o->ctas * warps) {
            fail_msg("case %zu: %u warps on %u SMs, not %u", i, held, config.sms, config.sms * o->ctas * warps);
        }
        host_write(rig->board, PPU_REG_HOOK_RELEASE, 1);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
        rig_free(rig);
    }
}

/* ---- the largest grid ---- */

/* Its last CTAs, as when it was stopped shortly before: each writes who it is. */
static void far_out_ctas(void **state)
{
    struct rig *rig = *state;
    const uint64_t total = (uint64_t)PPU_MAX_GRID_X * PPU_MAX_GRID_YZ * PPU_MAX_GRID_YZ;
    uint64_t params[2] = { DATA_VA, 0 };
    const uint32_t *out = rig_data(rig, 0);

    rig_load_text(rig, ".kernel k\n.vregs 12\nldp.b64 s0, [0]\nrdsr v0, %cta.x\nrdsr v1, %cta.y\nrdsr v2, %cta.z\n"
                       "rdsr v3, %ncta.x\nrdsr v4, %ncta.y\nrdsr v5, %ncta.z\nmov v6, v0\nmov v7, v1\n"
                       "not v8, v0\nand v8, v8, 0xff\nshl v8, v8, 5\nstg.b128 v0, [s0+v8]\n"
                       "stg.b64 v4, [s0+v8+16]\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.grid[0] = PPU_MAX_GRID_X;
    tmd.grid[1] = tmd.grid[2] = PPU_MAX_GRID_YZ;
    tmd.cta[0] = 1;
    tmd.next_cta = tmd.ctas_done = total - 50;
    memset(rig_data(rig, 0), 0, 0x2000);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    struct outcome outcome = rig_run(rig, &tmd);
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    assert_true(outcome.event.ctas_done == total);
    for (uint32_t i = 0; i < 50; i++) {
        const uint32_t *cta = &out[i * 8]; /* ~x & 0xff of x = 0x7fffffff - i */

        assert_int_equal(cta[0], PPU_MAX_GRID_X - 1 - i);
        assert_true(cta[1] == PPU_MAX_GRID_YZ - 1 && cta[2] == PPU_MAX_GRID_YZ - 1);
        assert_true(cta[3] == PPU_MAX_GRID_X && cta[4] == PPU_MAX_GRID_YZ && cta[5] == PPU_MAX_GRID_YZ);
    }
}

/* ---- the same twice ---- */

/* Tasks that fault, yield, wait for system memory, are saved and killed, all at once. VRAM has the traces, too. */
static uint8_t *one_run(size_t *len)
{
    struct rig *rig = rig_new(0);
    static const char *const kernels[SLOTS] = { "spinner", "sysuser", "saved", "faulty" };
    uint8_t *all = malloc(MACHINE_VRAM + SYS_BYTES);

    rig_load_text(rig, ".kernel spinner\nmov v0, 0\nmore: add v0, v0, 1\nyieldp 0x10000000\nmark 5\nbra more\n"
                       ".kernel sysuser\nldp.b64 s0, [0]\nrdsr v0, %tid\nshl v1, v0, 2\nmov v3, 1\nmov v4, 40\n"
                       "loop: atomg.add v2, [s0+v1], v3\nsub v4, v4, 1\nisetp.ne p0, v4, 0\n@p0 bra loop\nexit\n"
                       ".kernel saved\nldp.b64 s0, [0]\nrdsr v0, %tid\nmov v1, 0\nmov v2, 1\nmov v4, 60\n"
                       "turn: bar 0\natomg.add _, [s0+v1], v2\nsub v4, v4, 1\nisetp.ne p0, v4, 0\n@p0 bra turn\nexit\n"
                       ".kernel faulty\nrdsr v0, %tid\nisetp.eq p0, v0, 40\nmov v1, 500\n"
                       "wait: sub v1, v1, 1\nisetp.ne p1, v1, 0\n@p1 bra wait\n@p0 trap 3\nexit\n");
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t params[2] = { slot == 1 ? SYS_VA : DATA_VA, 0 };
        struct ppu_tmd tmd = rig_tmd(rig, kernels[slot]);

        rig_shape(&tmd, 9 + slot, 1, 70, 1);
        if (slot == 2) {
            tmd.save_vram = 0x200000;
            tmd.save_bytes = 0x14000;
            tmd.save_count = 8;
        }
        rig_params(rig, slot, &tmd, params, sizeof(params));
        rig_start(rig, slot, &tmd);
    }
    board_advance(rig->board, 7000);
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL + 8, PPU_SLOT_CMD_SAVE);
    board_advance(rig->board, 20000);
    mcu_write(rig->board, PPU_REG_SLOT_START + 8, TMD_AT(2));
    mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
    board_advance(rig->board, 100000);
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    board_advance(rig->board, 50000);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE + 4 * slot), PPU_SLOT_FREE);
    }
    memcpy(all, rig->board->vram, MACHINE_VRAM);
    memcpy(all + MACHINE_VRAM, rig->board->sys, SYS_BYTES);
    *len = MACHINE_VRAM + SYS_BYTES;
    rig_free(rig);
    return all;
}

static void two_runs_leave_the_same_traces(void **state)
{
    size_t len;
    uint8_t *first = one_run(&len), *second = one_run(&len);
    const struct ppu_trace_ring *trace = (const struct ppu_trace_ring *)(const void *)(first + TRACE_AT);
    const struct ppu_trace_record *record = (const struct ppu_trace_record *)(const void *)(trace + 1);
    uint32_t kinds = 0;

    (void)state;
    for (uint32_t i = 0; i < TRACE_RECORDS; i++) {
        kinds |= 1u << record[i].type % 32;
    }
    assert_true(trace->tail > TRACE_RECORDS / 2 && __builtin_popcount(kinds) >= 3);
    assert_int_equal(memcmp(first, second, len), 0);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "code changed while it runs is old or new, and new after the flush, in slices [A9][A11]", code_is_old_or_new,
          rig_setup_slices, rig_teardown, NULL },
        { "code changed while it runs is old or new, and new after the flush, on threads [A9][A11]", code_is_old_or_new,
          rig_setup_threads, rig_teardown, NULL },
        { "pages of every size are gone when the flush is answered, in slices [A9]", pages_are_gone_when_flushed,
          rig_setup_slices, rig_teardown, NULL },
        { "pages of every size are gone when the flush is answered, on threads [A9]", pages_are_gone_when_flushed,
          rig_setup_threads, rig_teardown, NULL },
        { "registers, warps, memory and queues limit the CTAs of an SM [A8]", occupancy_is_limited, NULL, NULL, NULL },
        { "the last CTAs of the largest grid know who they are [A6][A7]", far_out_ctas, rig_setup_slices, rig_teardown,
          NULL },
        { "two runs in slices leave the same memory and traces [A14]", two_runs_leave_the_same_traces, NULL, NULL,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: changes under way", tests, NULL, NULL);
}
