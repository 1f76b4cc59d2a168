/* SPDX-License-Identifier: MIT */
/*
 * Tests what one thread of a large grid can do wrong: the fault names its CTA, warp, pass, lane, instruction and
 * address, whatever the wave size, and what is no fault is defined.
 */
#include "tests/engine/rig.h"

#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/token.h"

#define UNMAPPED_VA 0x7fff0000u
#define THREADS 300u
#define BAD_THREAD 233u
#define LOCAL_BYTES 16u
#define SHARED_BYTES 64u
#define TOKENS 16u
#define NOT_THE_NEXT INT32_MIN

/*
 * Only BAD_THREAD of CTA (1, 2, 1) gets to the end. It has v0 = 0, v2 = its parameter, an address, v4 = 16, and the
 * unified addresses v6 and v8 of offset 16 in its local and 64 in its CTA's shared memory.
 */
#define START                                                                                                        \
    ".kernel k\n.vregs 12\nldp.b64 s0, [0]\nrdsr s4, %cta.x\nrdsr s5, %cta.y\nrdsr s6, %cta.z\nmul s5, s5, 10\n"     \
    "mul s6, s6, 100\nadd s4, s4, s5\nadd s4, s4, s6\nrdsr v0, %tid\nisetp.eq.s p0, s4, 121\nisetp.eq p1, v0, 233\n" \
    "pand p0, p0, p1\n@!p0 exit\nmov v0, 0\nmov64 v2, s0\nmov v4, 16\nmov v6, 16\nmov v7, 0xffff\nmov v8, 64\n"      \
    "mov v9, 0xfffe\n"
#define START_INSNS 20

static const struct wrong {
    const char *text; /* the instruction that is wrong is the last, or `insn` behind the start */
    uint64_t param;
    uint64_t address;
    int32_t insn; /* NOT_THE_NEXT: the number of the last line */
    uint16_t code;
    uint8_t access;
} wrongs[] = {
#define LAST NOT_THE_NEXT
    /* instructions */
    { ".word 0", 0, 0, LAST, PPU_FAULT_ILLEGAL, PPU_ACCESS_FETCH },
    { ".word 0x8000000000000001", 0, 0x8000000000000001, LAST, PPU_FAULT_ILLEGAL, PPU_ACCESS_FETCH },
    { "bpt", 0, PPU_OP_BPT, LAST, PPU_FAULT_NOT_BUILT, PPU_ACCESS_FETCH },
    { "mov v12, 1", 0, 0x180030002ull | 1ull << 32, LAST, PPU_FAULT_BAD_REGISTER, PPU_ACCESS_FETCH },
    { "trap 99", 0, 99, LAST, PPU_FAULT_TRAP, PPU_ACCESS_READ },
    /* These jump outside the code. */
    { "jmp 0x100000", 0, CODE_VA + 0x800000, 0x100000 - START_INSNS, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    { "bra .+1000", 0, CODE_VA + (START_INSNS + 1000) * 8, 1000, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    { "jmx v2", 0xffffffff, CODE_VA + 0xffffffffull * 8, -1 - START_INSNS, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    { "ret v2", 0x20000, CODE_VA + 0x100000, 0x20000 - START_INSNS, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    { "call v5, .+77", 0, CODE_VA + (START_INSNS + 77) * 8, 77, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    { "nop", 0, CODE_VA + (START_INSNS + 1) * 8, 1, PPU_FAULT_FETCH_RANGE, PPU_ACCESS_FETCH },
    /* alignment */
    { "ldg.b32 v5, [v2]", DATA_VA + 2, DATA_VA + 2, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "ldg.u16 v5, [s0+v4+1]", DATA_VA, DATA_VA + 17, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "ldg.b32 v5, [s0+v4*4+1]", DATA_VA, DATA_VA + 65, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "atomg.add.b64 _, [s0+v4*8], v4", DATA_VA + 4, DATA_VA + 132, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_ATOMIC },
    { "stg.b128 v4, [v2]", DATA_VA + 1, DATA_VA + 1, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_WRITE },
    { "atomg.add.b64 v10, [v2], v4", DATA_VA + 4, DATA_VA + 4, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_ATOMIC },
    { "semrel [v2], 1", DATA_VA + 8, DATA_VA + 8, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_WRITE },
    { "gather.n1 v5, [s0+v4+3]", DATA_VA, DATA_VA + 19, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "lds.b32 v5, [v4+1]", 0, 17, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "stl.u16 v5, [v0+1]", 0, 1, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_WRITE },
    { "ldp.b32 v5, [2]", 0, 2, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_READ },
    { "atoms.add v5, [v2], v4", 2, 2, LAST, PPU_FAULT_MISALIGNED, PPU_ACCESS_ATOMIC },
    /* Here the stack overflows, or the CTA's memory or the parameters end. */
    { "stl.b32 v5, [v4]", 0, 16, LAST, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_WRITE },
    { "ldl.u8 v5, [v4]", 0, 16, LAST, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_READ },
    { "stl.b128 v4, [v0+4]", 0, 16, LAST, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_WRITE },
    { "stl.b32 v5, [v0-4]", 0, 0xfffffffc, LAST, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_WRITE },
    { "stu.b32 v5, [v6]", 0, PPU_LOCAL_WINDOW + 16, LAST, PPU_FAULT_LOCAL_RANGE, PPU_ACCESS_WRITE },
    { "sts.b32 v5, [v2]", 64, 64, LAST, PPU_FAULT_SHARED_RANGE, PPU_ACCESS_WRITE },
    { "atoms.add v5, [v2], v4", 64, 64, LAST, PPU_FAULT_SHARED_RANGE, PPU_ACCESS_ATOMIC },
    { "ldu.b32 v5, [v8]", 0, PPU_SHARED_WINDOW + 64, LAST, PPU_FAULT_SHARED_RANGE, PPU_ACCESS_READ },
    { "ldp.b64 v4, [v2]", 12, 16, LAST, PPU_FAULT_PARAM_RANGE, PPU_ACCESS_READ },
    /* pages */
    { "ldg.b32 v5, [v2]", UNMAPPED_VA, UNMAPPED_VA, LAST, PPU_FAULT_UNMAPPED, PPU_ACCESS_READ },
    { "stg.b64 v4, [s0+v4*8]", UNMAPPED_VA - 128, UNMAPPED_VA, LAST, PPU_FAULT_UNMAPPED, PPU_ACCESS_WRITE },
    { "stg.b128 v4, [v2]", DATA_VA + DATA_BYTES - 8, DATA_VA + DATA_BYTES, LAST, PPU_FAULT_UNMAPPED, PPU_ACCESS_WRITE },
    { "gather.n1 v5, [s0+v4]", UNMAPPED_VA, UNMAPPED_VA + 16, LAST, PPU_FAULT_UNMAPPED, PPU_ACCESS_READ },
    { "semrel [v2], 1", UNMAPPED_VA, UNMAPPED_VA, LAST, PPU_FAULT_UNMAPPED, PPU_ACCESS_WRITE },
    { "stg.u8 v5, [v2]", RO_VA + 3, RO_VA + 3, LAST, PPU_FAULT_READ_ONLY, PPU_ACCESS_WRITE },
    { "stu.u8 v5, [v2]", RO_VA + 3, RO_VA + 3, LAST, PPU_FAULT_READ_ONLY, PPU_ACCESS_WRITE },
    { "atomu.add v5, [v2], v4", PLAIN_VA, PLAIN_VA, LAST, PPU_FAULT_NO_ATOMIC, PPU_ACCESS_ATOMIC },
    { "ldg.b32 v5, [v2]", PROT_VA, PROT_VA, LAST, PPU_FAULT_PROTECTED, PPU_ACCESS_READ },
    { "ldg.b32 v5, [v2]", 1ull << 48, 1ull << 48, LAST, PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_READ },
    /* far behind what the same instruction has reached before */
    { "mov64 v10, 0x20000000\nagain: ldg.b32 v5, [v10]\nmov64 v10, v2\nbra again", 9ull << 60, 9ull << 60, 1,
      PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_READ },
    { "mov64 v10, 0x20000000\nagain: ldg.b64 v6, [v10]\nmov64 v10, v2\nbra again", 9ull << 60, 9ull << 60, 1,
      PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_READ },
    { "mov64 v10, 0x20000000\nagain: stg.b32 v5, [v10]\nmov64 v10, v2\nbra again", 9ull << 60, 9ull << 60, 1,
      PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_WRITE },
    { "mov64 v10, 0x20000000\nagain: atomg.add v5, [v10], v4\nmov64 v10, v2\nbra again", 9ull << 60, 9ull << 60, 1,
      PPU_FAULT_BAD_ADDRESS, PPU_ACCESS_ATOMIC },
    /* divergence, waiting */
    { "more: bra push\npush: ssy more\nbra more", 0, TOKENS, 1, PPU_FAULT_TOKEN_FULL, PPU_ACCESS_READ },
    { "again: call v5, again", 0, TOKENS, 0, PPU_FAULT_TOKEN_FULL, PPU_ACCESS_READ },
    { "cwait", 0, 0, LAST, PPU_FAULT_NO_WAIT, PPU_ACCESS_READ },
    { "csenter\nyield", 0, PPU_OP_YIELD, LAST, PPU_FAULT_SECTION, PPU_ACCESS_FETCH },
};

static uint32_t lines_of(const char *text)
{
    uint32_t lines = 1;

    for (; *text != 0; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void check_location(const struct wrong *c, uint32_t wave, const struct outcome *outcome)
{
    const struct ppu_fault_event *fault = &outcome->fault;
    uint32_t insn = START_INSNS + (c->insn == LAST ? lines_of(c->text) - 1 : (uint32_t)c->insn);

    if (!outcome->faulted || fault->code != c->code || fault->address != c->address) {
        fail_msg("'%s', wave %u: fault 0x%x of 0x%llx, not 0x%x of 0x%llx", c->text, wave, fault->code,
                 (unsigned long long)fault->address, c->code, (unsigned long long)c->address);
    }
    assert_int_equal(outcome->event.kind, PPU_SLOT_KILLED);
    assert_int_equal(fault->access, c->access);
    assert_true(fault->pc == CODE_VA + (uint64_t)insn * PPU_INSN_BYTES);
    assert_true(fault->cta[0] == 1 && fault->cta[1] == 2 && fault->cta[2] == 1);
    assert_int_equal(fault->warp, BAD_THREAD / wave);
    assert_int_equal(fault->pass, BAD_THREAD % wave / PPU_LANES);
    assert_int_equal(fault->lanes, 1u << BAD_THREAD % PPU_LANES);
    assert_true(fault->slot == 0 && fault->task == TMD_AT(0) && fault->context == CONTEXT && fault->correlation == 77);
    assert_true(fault->sm < 3);
}

static void one_thread_of_many(void **state)
{
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrongs); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            uint64_t params[2] = { wrongs[i].param, 0 };
            char text[2048];

            snprintf(text, sizeof(text), "%s%s\n", START, wrongs[i].text);
            rig_load_text(rig, text);
            struct ppu_tmd tmd = rig_tmd(rig, "k");
            tmd.wave = (uint8_t)wave;
            tmd.token_count = TOKENS;
            tmd.shared_bytes = SHARED_BYTES;
            tmd.local_bytes = LOCAL_BYTES;
            tmd.local_va = LOCAL_VA;
            tmd.local_size = LOCAL_SIZE;
            tmd.grid[2] = 2;
            rig_shape(&tmd, 3, 3, THREADS, 1);
            rig_params(rig, 0, &tmd, params, sizeof(params));
            struct outcome outcome = rig_run(rig, &tmd);
            check_location(&wrongs[i], wave, &outcome);
        }
    }
}

/* Nothing of the task runs when its end is told, and what faulted did not do part of its instruction. */
static void nothing_is_left_running(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { DATA_VA, 0 };
    uint32_t *words = rig_data(rig, 0);
    struct outcome outcome;

    /* One thread stores to a page that is not there, with 31 others to one that is; all others count for ever. */
    rig_load_text(rig, ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %tid\nrdsr v1, %cta.x\nmov v2, 0\nmov v3, 1\n"
                       "isetp.ne p0, v1, 2\n@p0 bra count\nisetp.geu p0, v0, 32\n@p0 bra count\n"
                       "isetp.eq p1, v0, 7\nshl v4, v0, 2\nmov v5, 0\n@p1 mov v4, 0x58000000\n"
                       "stg.b32 v3, [s0+v4+64]\nexit\n"
                       "count: add s4, s4, 1\nstg.b32 s4, [s0]\nbra count\n");
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    for (uint32_t round = 0; round < 10; round++) {
        memset(words, 0, 4096);
        rig_shape(&tmd, 5, 1, 64, 1);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        outcome = rig_run(rig, &tmd);
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(outcome.fault.code, PPU_FAULT_UNMAPPED);
        assert_int_equal(outcome.fault.lanes, 1u << 7);
        for (uint32_t i = 16; i < 1024; i++) {
            assert_int_equal(words[i], 0);
        }
        uint32_t counted = words[0];
        for (uint32_t step = 0; step < 5; step++) {
            rig_step(rig);
        }
        assert_int_equal(words[0], counted);
    }
}

/* ---- operations not built yet ---- */

/* Changes with what is built: whoever builds one takes it out here. */
static const uint8_t not_built[] = { PPU_OP_BPT };

static bool is_listed(uint32_t op)
{
    for (size_t i = 0; i < sizeof(not_built); i++) {
        if (not_built[i] == op) {
            return true;
        }
    }
    return false;
}

static void operations_not_built(void **state)
{
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\nexit\n");
    for (uint32_t op = 0; op < PPU_ISA_OPS; op++) {
        const struct ppu_isa_row *row = ppu_isa_row(op);
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        if (!row->mnemonic || row->built != is_listed(op)) {
            assert_false(!row->mnemonic && is_listed(op));
        } else {
            fail_msg("%s is %s, but the list says otherwise", row->mnemonic, row->built ? "built" : "not built");
        }
        if (!is_listed(op)) {
            continue;
        }
        uint64_t word = op | (uint64_t)((row->flags & PPU_IF_V) != 0) << 8 |
                        (uint64_t)(ppu_isa_shape(row).forms == PPU_FORM_IMMEDIATE) << 31;
        rig_load_words(rig, &word, 1);
        struct outcome outcome = rig_run(rig, &tmd);
        assert_true(outcome.faulted && outcome.fault.code == PPU_FAULT_NOT_BUILT && outcome.fault.address == word);
    }
}

/* ---- barriers ---- */

static struct outcome at_barrier(struct rig *rig, const char *body, uint32_t wave, uint32_t threads)
{
    uint64_t params[2] = { DATA_VA, 0 };
    char text[1024];

    snprintf(text, sizeof(text), ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %%tid\nshl v1, v0, 2\nmov v2, 1\n%s\n", body);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, 1, 1, threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    memset(rig_data(rig, 0), 0, 4 * 1024);
    return rig_run(rig, &tmd);
}

/* Threads that have ended are not waited for, whenever they end. */
static void ended_threads_are_not_waited_for(void **state)
{
    static const char *const bodies[] = {
        /* Some threads end before or while the others wait, from a warp of their own or from the others'. */
        "isetp.ltu p0, v0, 40\n@p0 exit\nbar 0\nstg.b32 v2, [s0+v1]\nexit",
        ("isetp.geu p0, v0, 40\n@p0 bra wait\nmov v3, 30\nspin: sub v3, v3, 1\nisetp.ne p1, v3, 0\n@p1 bra spin\nexit\n"
         "wait: bar 5\nstg.b32 v2, [s0+v1]\nexit"),
        "and v3, v0, 1\nisetp.eq p0, v3, 0\n@p0 bra wait\nexit\nwait: bar 15\nstg.b32 v2, [s0+v1]\nexit",
    };

    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            struct outcome outcome = at_barrier(*state, bodies[i], wave, 200);
            const uint32_t *out = rig_data(*state, 0);

            assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
            for (uint32_t t = 0; t < 200; t++) {
                assert_int_equal(out[t], i == 2 ? t % 2 == 0 : t >= 40);
            }
        }
    }
}

/* All threads left wait, not at one barrier: the fault names those that came last, or ended last, and where. */
static void barriers_that_cannot_open(void **state)
{
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        /* Thread 150 spins until the others wait, then waits elsewhere; or ends, with the others at two barriers. */
        static const char *const bodies[] = {
            "isetp.eq p0, v0, 150\n@p0 bra late\nbar 3\nexit\nlate: mov v3, 5000\nspin: sub v3, v3, 1\n"
            "isetp.ne p1, v3, 0\n@p1 bra spin\nbar 9\nexit",
            "isetp.eq p0, v0, 150\n@p0 bra late\nisetp.ltu p0, v0, 100\n@p0 bar 3\n@!p0 bar 4\nexit\n"
            "late: mov v3, 5000\nspin: sub v3, v3, 1\nisetp.ne p1, v3, 0\n@p1 bra spin\nexit",
        };
        static const uint32_t insn[] = { 12, 14 };

        for (uint32_t i = 0; i < 2; i++) {
            struct outcome outcome = at_barrier(*state, bodies[i], wave, 160);

            assert_true(outcome.faulted);
            assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
            assert_int_equal(outcome.fault.code, PPU_FAULT_BARRIER);
            assert_int_equal(outcome.fault.address, 3);
            assert_int_equal(outcome.fault.warp, 150 / wave);
            assert_int_equal(outcome.fault.pass, 150 % wave / PPU_LANES);
            assert_int_equal(outcome.fault.lanes, 1u << 150 % PPU_LANES);
            assert_int_equal((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES, insn[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a fault names the one thread of many, in slices [A9]", one_thread_of_many, rig_setup_slices, rig_teardown,
          NULL },
        { "a fault names the one thread of many, on threads [A9]", one_thread_of_many, rig_setup_threads, rig_teardown,
          NULL },
        { "nothing of a task that faulted is left running, in slices [A9]", nothing_is_left_running, rig_setup_slices,
          rig_teardown, NULL },
        { "nothing of a task that faulted is left running, on threads [A9]", nothing_is_left_running, rig_setup_threads,
          rig_teardown, NULL },
        { "operations not built are those listed, and say so", operations_not_built, rig_setup_slices, rig_teardown,
          NULL },
        { "barriers do not wait for ended threads [A7]", ended_threads_are_not_waited_for, rig_setup_slices,
          rig_teardown, NULL },
        { "a barrier that cannot open is a fault of who came last [A7]", barriers_that_cannot_open, rig_setup_slices,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: faults", tests, NULL, NULL);
}
