/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "tests/engine/rig.h"

#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "tools/asm/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PARAMS_OF(slot) (PARAMS_AT + (slot)*PPU_MAX_PARAM)
#define STEP_NS 10000u
#define WAIT_STEPS 20000u
#define IDLE_NS 200000

static void map_range(struct bench *bench, uint64_t va, uint64_t at, uint64_t bytes, uint64_t bits)
{
    for (uint64_t done = 0; done < bytes; done += PPU_PAGE_64K) {
        map_page(bench->machine, CONTEXT, va + done, at + done, PPU_PTE_64K, bits);
    }
}

static void map_all(struct bench *bench)
{
    map_range(bench, CODE_VA, CODE_AT, CODE_BYTES, 0);
    map_range(bench, DATA_VA, DATA_AT, DATA_BYTES, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    map_range(bench, PLAIN_VA, PLAIN_AT, PPU_PAGE_64K, PPU_PTE_WRITE);
    map_range(bench, RO_VA, RO_AT, PPU_PAGE_64K, 0);
    map_range(bench, PROT_VA, PROT_BASE, PPU_PAGE_64K, PPU_PTE_WRITE);
    map_range(bench, LOCAL_VA, LOCAL_AT, LOCAL_SIZE, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    for (uint32_t page = 0; page < SYS_PAGES; page++) {
        map_page(bench->machine, CONTEXT, SYS_VA + page * PPU_PAGE_4K, SYS_BASE + page * PPU_PAGE_4K, PPU_PTE_4K,
                 PPU_PTE_WRITE | PPU_PTE_ATOMIC | PPU_PTE_SYSTEM);
    }
}

struct bench *bench_new_config(const struct core_config *config)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    bench->threads = config->sm_threads;
    bench->machine = machine_new(config);
    machine_boot(bench->machine);
    map_all(bench);
    return bench;
}

struct bench *bench_new(uint32_t sm_threads)
{
    struct core_config config = bench_config(sm_threads);

    return bench_new_config(&config);
}

void bench_small_caches(struct core_config *config)
{
    config->cache_line = BENCH_LINE;
    config->l1_bytes = 64 * BENCH_LINE;
    config->l1_ways = 4;
    config->l2_bytes = 128 * BENCH_LINE;
    config->l2_ways = 4;
}

void bench_free(struct bench *bench)
{
    free(bench->image.bytes);
    machine_free(bench->machine);
    free(bench);
}

int bench_setup_slices(void **state)
{
    *state = bench_new(0);
    return 0;
}

int bench_setup_threads(void **state)
{
    *state = bench_new(2);
    return 0;
}

int bench_teardown(void **state)
{
    bench_free(*state);
    return 0;
}

void bench_load_image(struct bench *bench, struct ppuasm_image image)
{
    const char *why;

    free(bench->image.bytes);
    bench->image = image;
    why = ppu_program_open(bench->image.bytes, bench->image.len_bytes, &bench->program);
    if (why != NULL) {
        fail_msg("%s", why);
    }
    assert_true(bench->program.header->code_bytes <= CODE_BYTES);
    memcpy(bench->machine->vram + CODE_AT, bench->program.code, bench->program.header->code_bytes);
}

static void load_image(struct bench *bench, const char *text, const char *name)
{
    char message[PPUASM_MESSAGE_BYTES] = "";
    struct ppuasm_image image = { NULL, 0 };

    if (!ppuasm_assemble(text, name, &image, message)) {
        fail_msg("%s", message);
    }
    bench_load_image(bench, image);
}

void bench_load_text(struct bench *bench, const char *text)
{
    load_image(bench, text, "text");
}

void bench_load_file(struct bench *bench, const char *name)
{
    char path[128];
    size_t len;
    char *text;

    snprintf(path, sizeof(path), "tests/kernels/%s.s", name);
    text = file_read(path, &len);
    if (text == NULL) {
        fail_msg("cannot read %s", path);
        return;
    }
    load_image(bench, text, path);
    free(text);
}

void bench_load_words(struct bench *bench, const uint64_t *words, uint32_t count)
{
    assert_true(count * PPU_INSN_BYTES <= PPU_PAGE_64K);
    memcpy(bench->machine->vram + CODE_AT, words, count * PPU_INSN_BYTES);
}

struct ppu_tmd bench_tmd(struct bench *bench, const char *kernel)
{
    const struct ppu_kernel_entry *entry = ppu_program_kernel(&bench->program, kernel);
    struct ppu_tmd tmd = good_tmd(1, 1, 1, 32);

    assert_non_null(entry);
    tmd.code_va = CODE_VA;
    tmd.code_bytes = bench->program.header->code_bytes;
    tmd.entry = entry->entry;
    tmd.vregs = entry->vregs;
    tmd.shared_vregs = entry->shared_vregs;
    tmd.flags |= entry->flags & PPU_TMD_SUBVECTOR;
    tmd.wave = (uint8_t)(bench->wave != 0 ? bench->wave : entry->wave);
    tmd.shared_bytes = entry->shared_bytes;
    tmd.local_bytes = entry->local_bytes;
    tmd.local_va = entry->local_bytes != 0 ? LOCAL_VA : 0;
    tmd.local_size = entry->local_bytes != 0 ? LOCAL_SIZE : 0;
    tmd.param_bytes = 0;
    return tmd;
}

void bench_shape(struct ppu_tmd *tmd, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y)
{
    tmd->grid[0] = gx;
    tmd->grid[1] = gy;
    tmd->cta[0] = x;
    tmd->cta[1] = y;
}

void bench_params(struct bench *bench, uint32_t slot, struct ppu_tmd *tmd, const void *params, uint32_t bytes)
{
    assert_true(slot < SLOTS && bytes <= PPU_MAX_PARAM);
    memcpy(bench->machine->vram + PARAMS_OF(slot), params, bytes);
    tmd->params_vram = PARAMS_OF(slot);
    tmd->param_bytes = bytes;
}

void bench_start(struct bench *bench, uint32_t slot, const struct ppu_tmd *tmd)
{
    start_task(bench->machine, slot, tmd);
    machine_settle(bench->machine);
}

void bench_step(struct bench *bench)
{
    machine_advance(bench->machine, STEP_NS);
    if (bench->threads != 0) {
        nanosleep(&(struct timespec){ 0, IDLE_NS }, NULL);
    }
}

bool bench_wait(struct bench *bench, uint32_t slot, struct outcome *outcome)
{
    *outcome = (struct outcome){ .faulted = false };
    for (uint32_t step = 0; step < WAIT_STEPS; step++) {
        struct ppu_fault_event fault;

        while (ring_pop(bench->machine, PPU_RING_FAULT, &fault)) {
            if (!outcome->faulted) {
                outcome->fault = fault;
            }
            outcome->faulted = true;
        }
        while (ring_pop(bench->machine, PPU_RING_SLOT, &outcome->event)) {
            if (outcome->event.kind != PPU_SLOT_FLUSHED && outcome->event.slot == slot) {
                return true;
            }
        }
        bench_step(bench);
    }
    return false;
}

static struct outcome wait_for_end(struct bench *bench)
{
    struct outcome outcome;

    if (!bench_wait(bench, 0, &outcome)) {
        char *text = core_state_text(bench->machine->core);
        print_error("%s", text);
        free(text);
        fail_msg("the task did not end");
    }
    return outcome;
}

struct outcome bench_run(struct bench *bench, const struct ppu_tmd *tmd)
{
    bench_start(bench, 0, tmd);
    return wait_for_end(bench);
}

void bench_done(struct bench *bench)
{
    struct outcome outcome = wait_for_end(bench);

    if (outcome.faulted) {
        fail_msg("fault 0x%x at instruction %u, address 0x%llx, lanes 0x%x", outcome.fault.code,
                 (unsigned)((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES), (unsigned long long)outcome.fault.address,
                 outcome.fault.lanes);
    }
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
}

void bench_run_done(struct bench *bench, const struct ppu_tmd *tmd)
{
    bench_start(bench, 0, tmd);
    bench_done(bench);
}

struct bench *bench_moved(struct bench *bench)
{
    struct bench *other;
    const char *error = NULL;
    size_t len;
    uint8_t *state;

    core_pause(bench->machine->core);
    state = core_save(bench->machine->core, &len);
    assert_non_null(state);
    other = bench_new_config(&bench->machine->config);
    core_pause(other->machine->core);
    memcpy(other->machine->vram, bench->machine->vram, BENCH_VRAM);
    memcpy(other->machine->sys, bench->machine->sys, SYS_BYTES);
    other->machine->now_ns = bench->machine->now_ns;
    memcpy(other->machine->root, bench->machine->root, sizeof(other->machine->root));
    if (!core_load(other->machine->core, state, len, &error)) {
        fail_msg("%s", error);
    }
    free(state);
    other->wave = bench->wave;
    other->program = bench->program;
    other->image = bench->image;
    bench->image = (struct ppuasm_image){ 0 };
    bench_free(bench);
    core_resume(other->machine->core);
    machine_settle(other->machine);
    return other;
}

void *bench_data(struct bench *bench, uint32_t offset)
{
    return bench->machine->vram + DATA_AT + offset;
}
