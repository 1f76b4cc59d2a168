/* SPDX-License-Identifier: MIT */
/* Tests profiles: what SMs count by instruction, exactly and by samples, and tables that cannot be used. */
#include "ppu/macros.h"
#include "ppu/profile.h"
#include "tests/engine/rig.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_AT (HEAP_AT + 0x800000u)
#define ENTRIES 1024u
#define ELEMENTS 5000u
#define THREADS 256u
#define INSNS 64u /* of the kernel, at most */

static struct ppu_profile_table *table_of(const struct rig *rig)
{
    return (void *)(rig->board->vram + TABLE_AT);
}

static struct ppu_profile_entry *entries_of(const struct rig *rig)
{
    return (void *)(table_of(rig) + 1);
}

static void begin(struct rig *rig, uint32_t entries, uint32_t period)
{
    memset(table_of(rig), 0, sizeof(struct ppu_profile_table) + entries * sizeof(struct ppu_profile_entry));
    host_write(rig->board, PPU_REG_PROFILE_PAGE, TABLE_AT / 4096u);
    host_write(rig->board, PPU_REG_PROFILE_ENTRIES, entries);
    host_write(rig->board, PPU_REG_PROFILE_PERIOD, period);
    assert_int_equal(host_read(rig->board, PPU_REG_PROFILE_PERIOD), period);
}

static void end(const struct rig *rig)
{
    host_write(rig->board, PPU_REG_PROFILE_PERIOD, 0);
}

struct reduction {
    uint64_t in, out;
    uint32_t n, unused;
};

/* Adds up words of `in`; the sum must be right. */
static void reduce(struct rig *rig, uint64_t in, uint32_t *words)
{
    const uint32_t grid = (ELEMENTS + THREADS - 1) / THREADS;
    const struct reduction params = { in, DATA_VA + 0x80000, ELEMENTS, 0 };
    const uint32_t *out = rig_data(rig, 0x80000);
    struct ppu_tmd tmd = rig_tmd(rig, "reduce");
    uint32_t sum = 0, expected = 0;

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        words[i] = i * 2654435761u;
        expected += words[i];
    }
    rig_shape(&tmd, grid, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < grid; i++) {
        sum += out[i];
    }
    assert_int_equal(sum, expected);
}

static uint32_t insn_of(uint64_t key)
{
    return (uint32_t)(((key & PPU_PROFILE_ADDRESS) - CODE_VA) / PPU_INSN_BYTES);
}

/* Counts of each instruction, and their sums in the last row. */
static void collect(const struct rig *rig, uint32_t entries, uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS])
{
    memset(count, 0, sizeof(count[0]) * (INSNS + 1));
    for (uint32_t i = 0; i < entries; i++) {
        const struct ppu_profile_entry *entry = &entries_of(rig)[i];
        if (entry->key == 0) {
            continue;
        }
        assert_int_equal(PPU_PROFILE_CONTEXT(entry->key), CONTEXT);
        assert_true(insn_of(entry->key) < INSNS);
        for (uint32_t c = 0; c < PPU_PROFILE_COUNTS; c++) {
            count[insn_of(entry->key)][c] += entry->count[c];
            count[INSNS][c] += entry->count[c];
        }
    }
}

static const uint64_t *task_counts(const struct rig *rig)
{
    return (const void *)(rig->board->vram + TMD_AT(0) + offsetof(struct ppu_tmd_copy, count));
}

/* Number of the first instruction with this operation. */
static uint32_t find(const struct rig *rig, const char *operation)
{
    for (uint32_t i = 0; i < rig->program.header->code_bytes / PPU_INSN_BYTES; i++) {
        char text[PPUASM_TEXT_BYTES];
        uint64_t word;
        memcpy(&word, rig->program.code + (size_t)i * PPU_INSN_BYTES, sizeof(word));
        ppuasm_disassemble(word, text);
        if (strstr(text, operation)) {
            return i;
        }
    }
    fail_msg("no %s", operation);
    return 0;
}

static void exact(void **state)
{
    struct rig *rig = *state;
    uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS];
    const uint32_t warps = (ELEMENTS + THREADS - 1) / THREADS * (THREADS / PPU_LANES);

    rig_load_file(rig, "reduce");
    begin(rig, ENTRIES, PPU_PROFILE_EXACT);
    reduce(rig, DATA_VA, rig_data(rig, 0));
    end(rig);
    collect(rig, ENTRIES, count);
    assert_int_equal(table_of(rig)->missing, 0);
    assert_int_equal(count[INSNS][PPU_PROFILE_INSNS], task_counts(rig)[PPU_COUNTER_INSNS]);
    assert_int_equal(count[INSNS][PPU_PROFILE_LANES], task_counts(rig)[PPU_COUNTER_LANES]);
    assert_int_equal(count[INSNS][PPU_PROFILE_TRANSACTIONS], task_counts(rig)[PPU_COUNTER_TRANSACTIONS]);
    assert_int_equal(count[INSNS][PPU_PROFILE_DIVERGENT], task_counts(rig)[PPU_COUNTER_DIVERGENT]);
    /* Each warp begins and ends once, and loads once; all loads of memory are there. */
    assert_int_equal(count[0][PPU_PROFILE_INSNS], warps);
    assert_int_equal(count[0][PPU_PROFILE_LANES], warps * PPU_LANES);
    assert_int_equal(count[find(rig, "ldg")][PPU_PROFILE_INSNS], warps);
    assert_true(count[find(rig, "ldg")][PPU_PROFILE_TRANSACTIONS] >= ELEMENTS * 4 / PPU_TRANSACTION_BYTES);
    assert_int_equal(count[find(rig, "exit")][PPU_PROFILE_INSNS], warps);
    /* All warps of a CTA but the one that comes last wait at the first barrier. */
    uint64_t stalls = count[find(rig, "bar")][PPU_PROFILE_STALL_BARRIER];
    assert_true(stalls >= warps / 2 && stalls <= warps);
    assert_int_equal(count[find(rig, "ldg")][PPU_PROFILE_STALL_BARRIER], 0);
}

static void exact_in_system_memory(void **state)
{
    struct rig *rig = *state;
    uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS];

    rig_load_file(rig, "reduce");
    begin(rig, ENTRIES, PPU_PROFILE_EXACT);
    reduce(rig, SYS_VA, (void *)rig->board->sys);
    end(rig);
    collect(rig, ENTRIES, count);
    assert_int_equal(count[INSNS][PPU_PROFILE_INSNS], task_counts(rig)[PPU_COUNTER_INSNS]);
    assert_int_equal(count[INSNS][PPU_PROFILE_LANES], task_counts(rig)[PPU_COUNTER_LANES]);
    assert_true(count[find(rig, "ldg")][PPU_PROFILE_STALL_SYSTEM] > 0);
    assert_int_equal(count[INSNS][PPU_PROFILE_STALL_SYSTEM], count[find(rig, "ldg")][PPU_PROFILE_STALL_SYSTEM]);
}

/* Samples add up to what is executed, up to what chance does. */
static void sampled(void **state)
{
    struct rig *rig = *state;
    uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS], insns = 0, lanes = 0, stalls = 0;
    const uint32_t period = 17;

    rig_load_file(rig, "reduce");
    begin(rig, ENTRIES, period);
    for (uint32_t i = 0; i < 8; i++) {
        reduce(rig, DATA_VA, rig_data(rig, 0));
        insns += task_counts(rig)[PPU_COUNTER_INSNS];
        lanes += task_counts(rig)[PPU_COUNTER_LANES];
    }
    end(rig);
    collect(rig, ENTRIES, count);
    assert_int_equal(table_of(rig)->missing, 0);
    uint64_t seen = period * count[INSNS][PPU_PROFILE_INSNS];
    assert_true(seen > insns * 9 / 10 && seen < insns * 11 / 10);
    seen = period * count[INSNS][PPU_PROFILE_LANES];
    assert_true(seen > lanes * 9 / 10 && seen < lanes * 11 / 10);
    for (uint32_t i = 0; i < INSNS; i++) {
        stalls += count[i][PPU_PROFILE_STALL_BARRIER];
    }
    assert_true(stalls > 0);
}

/* Nobody counts where nobody asked for it, and the table is left alone when the profile has ended. */
static void off(void **state)
{
    struct rig *rig = *state;
    uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS];

    rig_load_file(rig, "reduce");
    begin(rig, ENTRIES, PPU_PROFILE_EXACT);
    end(rig);
    reduce(rig, DATA_VA, rig_data(rig, 0));
    collect(rig, ENTRIES, count);
    assert_int_equal(count[INSNS][PPU_PROFILE_INSNS], 0);
}

/* What the table has no room for is counted as missing: instructions and stalls, each once. */
static void full(void **state)
{
    struct rig *rig = *state;
    uint64_t stalls = 0, insns = 0;

    rig_load_file(rig, "reduce");
    begin(rig, PPU_PROFILE_LEAST, PPU_PROFILE_EXACT);
    memset(entries_of(rig), 0xff, PPU_PROFILE_LEAST * sizeof(struct ppu_profile_entry)); /* keys of nobody */
    for (uint32_t i = 0; i < PPU_PROFILE_LEAST; i += 8) {
        memset(&entries_of(rig)[i], 0, sizeof(struct ppu_profile_entry));
    }
    reduce(rig, DATA_VA, rig_data(rig, 0));
    end(rig);
    for (uint32_t i = 0; i < PPU_PROFILE_LEAST; i += 8) {
        insns += entries_of(rig)[i].count[PPU_PROFILE_INSNS];
        stalls += entries_of(rig)[i].count[PPU_PROFILE_STALL_BARRIER];
    }
    uint64_t executed = task_counts(rig)[PPU_COUNTER_INSNS];
    assert_true(insns > 0 && insns < executed);
    assert_true(table_of(rig)->missing >= executed - insns);
    assert_true(table_of(rig)->missing + insns + stalls <= 2 * executed);
}

/* A table that is not VRAM outside the protected range is none. */
static void unusable(void **state)
{
    static const struct {
        uint32_t page, entries;
    } bad[] = {
        { TABLE_AT / 4096u, 0 },
        { TABLE_AT / 4096u, 65 },
        { TABLE_AT / 4096u, PPU_PROFILE_LEAST / 2 },
        { UINT32_MAX, 64 },
        { MACHINE_VRAM / 4096u, 64 },
        { MACHINE_VRAM / 4096u - 1, 64 },
        { PROT_BASE / 4096u, 64 },
        { PROT_BASE / 4096u - 1, 64 },
        { (PROT_LIMIT - 1) / 4096u, 64 },
        { 0, 65536 },
        { TABLE_AT / 4096u, 1u << 31 },
        { TABLE_AT / 4096u, 2 * PPU_PROFILE_MOST },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        uint32_t errors = rig->board->guest_errors;
        host_write(rig->board, PPU_REG_PROFILE_PAGE, bad[i].page);
        host_write(rig->board, PPU_REG_PROFILE_ENTRIES, bad[i].entries);
        host_write(rig->board, PPU_REG_PROFILE_PERIOD, 1);
        assert_int_equal(host_read(rig->board, PPU_REG_PROFILE_PERIOD), 0);
        assert_int_equal(rig->board->guest_errors, errors + 1);
        rig->board->now_ns += 10000000000ull; /* errors are logged a few at a time */
    }
    rig_load_file(rig, "reduce");
    reduce(rig, DATA_VA, rig_data(rig, 0));
}

/* The firmware may take the place for itself afterwards. */
static void protected_later(void **state)
{
    struct rig *rig = *state;

    begin(rig, ENTRIES, PPU_PROFILE_EXACT);
    mcu_write(rig->board, PPU_REG_PROT_LIMIT, PROT_LIMIT + PPU_PAGE_64K);
    assert_int_equal(host_read(rig->board, PPU_REG_PROFILE_PERIOD), PPU_PROFILE_EXACT);
    mcu_write(rig->board, PPU_REG_PROT_LIMIT, TABLE_AT + PPU_PAGE_64K);
    assert_int_equal(host_read(rig->board, PPU_REG_PROFILE_PERIOD), 0);
    mcu_write(rig->board, PPU_REG_PROT_LIMIT, PROT_LIMIT);
    rig_load_file(rig, "reduce");
    reduce(rig, DATA_VA, rig_data(rig, 0));
    assert_int_equal(entries_of(rig)[0].key | table_of(rig)->missing, 0);
}

/* A machine that comes from a snapshot counts on. */
static void snapshot(void **state)
{
    struct rig *rig = *state;
    uint64_t count[INSNS + 1][PPU_PROFILE_COUNTS];

    rig_load_file(rig, "reduce");
    begin(rig, ENTRIES, PPU_PROFILE_EXACT);
    rig = rig_moved(rig);
    *state = rig;
    reduce(rig, DATA_VA, rig_data(rig, 0));
    end(rig);
    collect(rig, ENTRIES, count);
    assert_int_equal(count[INSNS][PPU_PROFILE_INSNS], task_counts(rig)[PPU_COUNTER_INSNS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exact, rig_setup_slices, rig_teardown),
        { "exact_threads", exact, rig_setup_threads, rig_teardown, NULL },
        cmocka_unit_test_setup_teardown(exact_in_system_memory, rig_setup_threads, rig_teardown),
        cmocka_unit_test_setup_teardown(sampled, rig_setup_slices, rig_teardown),
        { "sampled_threads", sampled, rig_setup_threads, rig_teardown, NULL },
        cmocka_unit_test_setup_teardown(off, rig_setup_slices, rig_teardown),
        cmocka_unit_test_setup_teardown(full, rig_setup_slices, rig_teardown),
        { "full_threads", full, rig_setup_threads, rig_teardown, NULL },
        cmocka_unit_test_setup_teardown(unusable, rig_setup_slices, rig_teardown),
        cmocka_unit_test_setup_teardown(protected_later, rig_setup_slices, rig_teardown),
        cmocka_unit_test_setup_teardown(snapshot, rig_setup_slices, rig_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
