/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "tests/engine/rig.h"

#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "qemu-device/core/sm/pool.h"
#include "tools/asm/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PARAMS_OF(slot) (PARAMS_AT + (slot)*PPU_MAX_PARAM)
#define STEP_NS 10000u
#define WAIT_STEPS 20000u
#define IDLE_NS 200000

static void map_range(struct rig *rig, uint64_t va, uint64_t at, uint64_t bytes, uint64_t bits)
{
    for (uint64_t done = 0; done < bytes; done += PPU_PAGE_64K) {
        map_page(rig->board, CONTEXT, va + done, at + done, PPU_PTE_64K, bits);
    }
}

static void map_all(struct rig *rig)
{
    map_range(rig, CODE_VA, CODE_AT, CODE_BYTES, 0);
    map_range(rig, DATA_VA, DATA_AT, DATA_BYTES, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    map_range(rig, PLAIN_VA, PLAIN_AT, PPU_PAGE_64K, PPU_PTE_WRITE);
    map_range(rig, RO_VA, RO_AT, PPU_PAGE_64K, 0);
    map_range(rig, PROT_VA, PROT_BASE, PPU_PAGE_64K, PPU_PTE_WRITE);
    map_range(rig, LOCAL_VA, LOCAL_AT, LOCAL_SIZE, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    for (uint32_t page = 0; page < SYS_PAGES; page++) {
        map_page(rig->board, CONTEXT, SYS_VA + page * PPU_PAGE_4K, SYS_BASE + page * PPU_PAGE_4K, PPU_PTE_4K,
                 PPU_PTE_WRITE | PPU_PTE_ATOMIC | PPU_PTE_SYSTEM);
    }
}

struct rig *rig_new_config(const struct core_config *config)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    rig->threads = config->sm_threads;
    rig->board = board_new(config);
    board_boot(rig->board);
    map_all(rig);
    return rig;
}

struct rig *rig_new(uint32_t sm_threads)
{
    struct core_config config = board_small_config(sm_threads);

    return rig_new_config(&config);
}

void rig_small_caches(struct core_config *config)
{
    config->cache_line = RIG_LINE;
    config->l1_bytes = 64 * RIG_LINE;
    config->l1_ways = 4;
    config->l2_bytes = 128 * RIG_LINE;
    config->l2_ways = 4;
}

void rig_free(struct rig *rig)
{
    free(rig->image.bytes);
    board_free(rig->board);
    free(rig);
}

int rig_setup_slices(void **state)
{
    *state = rig_new(0);
    return 0;
}

int rig_setup_threads(void **state)
{
    *state = rig_new(2);
    return 0;
}

int rig_teardown(void **state)
{
    rig_free(*state);
    return 0;
}

void rig_load_image(struct rig *rig, struct ppuasm_image image)
{
    free(rig->image.bytes);
    rig->image = image;
    const char *why = ppu_program_open(rig->image.bytes, rig->image.len_bytes, &rig->program);
    if (why) {
        fail_msg("%s", why);
    }
    if (rig->program.header->code_bytes > CODE_BYTES) {
        fail_msg("the program has %u bytes of code, and there is room for %u", rig->program.header->code_bytes,
                 CODE_BYTES);
    }
    memcpy(rig_code(rig), rig->program.code, rig->program.header->code_bytes);
}

static void load_image(struct rig *rig, const char *text, const char *name)
{
    char message[PPUASM_MESSAGE_BYTES] = "";
    struct ppuasm_image image = { NULL, 0 };

    if (!ppuasm_assemble(text, name, &image, message)) {
        fail_msg("%s", message);
    }
    rig_load_image(rig, image);
}

void rig_load_text(struct rig *rig, const char *text)
{
    load_image(rig, text, "text");
}

void rig_load_file(struct rig *rig, const char *name)
{
    char path[128];
    size_t len;

    snprintf(path, sizeof(path), "tests/kernels/%s.s", name);
    char *text = file_read(path, &len);
    if (!text) {
        fail_msg("cannot read %s", path);
        return;
    }
    load_image(rig, text, path);
    free(text);
}

void rig_load_words(struct rig *rig, const uint64_t *words, uint32_t count)
{
    assert_true(count * PPU_INSN_BYTES <= PPU_PAGE_64K);
    memcpy(rig->board->vram + CODE_AT, words, count * PPU_INSN_BYTES);
}

struct ppu_tmd rig_tmd(struct rig *rig, const char *kernel)
{
    const struct ppu_kernel_entry *entry = ppu_program_kernel(&rig->program, kernel);
    struct ppu_tmd tmd = good_tmd(1, 1, 1, 32);

    assert_non_null(entry);
    tmd.code_va = CODE_VA;
    tmd.code_bytes = rig->program.header->code_bytes;
    tmd.entry = entry->entry;
    tmd.vregs = entry->vregs;
    tmd.shared_vregs = entry->shared_vregs;
    tmd.flags |= entry->flags & (PPU_TMD_SUBVECTOR | PPU_TMD_MAY_SHARE);
    tmd.wave = (uint8_t)(rig->wave != 0 ? rig->wave : entry->wave);
    tmd.shared_bytes = entry->shared_bytes;
    tmd.local_bytes = entry->local_bytes;
    tmd.local_va = entry->local_bytes != 0 ? LOCAL_VA : 0;
    tmd.local_size = entry->local_bytes != 0 ? LOCAL_SIZE : 0;
    tmd.param_bytes = 0;
    return tmd;
}

void rig_shape(struct ppu_tmd *tmd, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y)
{
    tmd->grid[0] = gx;
    tmd->grid[1] = gy;
    tmd->cta[0] = (uint16_t)x;
    tmd->cta[1] = (uint16_t)y;
}

void rig_params(struct rig *rig, uint32_t slot, struct ppu_tmd *tmd, const void *params, uint32_t bytes)
{
    assert_true(slot < SLOTS && bytes <= PPU_MAX_PARAM);
    memcpy(rig->board->vram + PARAMS_OF(slot), params, bytes);
    tmd->params_vram = PARAMS_OF(slot);
    tmd->param_bytes = bytes;
}

void rig_start(struct rig *rig, uint32_t slot, const struct ppu_tmd *tmd)
{
    start_task(rig->board, slot, tmd);
    board_settle(rig->board);
}

void rig_command(struct rig *rig, uint32_t slot, enum ppu_slot_command command)
{
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL + 4 * slot, command);
    board_settle(rig->board);
}

static void recentre_tokens(struct rig *rig)
{
    struct ppu_token_event event;

    for (; ring_pop(rig->board, PPU_RING_TOKEN, &event); rig->recentred++) {
        const uint32_t left = event.entries - event.count;

        assert_true(event.count <= event.entries && event.first <= left);
        assert_true(event.front + event.back <= left && event.front + event.back != 0);
        assert_true(event.first < event.front || left - event.first < event.back);
        mcu_write(rig->board, PPU_REG_TOKEN_MOVE,
                  PPU_TOKEN_MOVE(event.sm, event.warp, ppu_token_middle(event.entries, event.count, event.front)));
    }
}

void rig_step(struct rig *rig)
{
    if (!rig->silent) {
        recentre_tokens(rig);
    }
    board_advance(rig->board, STEP_NS);
    if (rig->threads != 0) {
        nanosleep(&(struct timespec){ 0, IDLE_NS }, NULL);
    }
}

/* Keeps the first fault of all. */
static void take_faults(struct rig *rig, struct outcome *outcome)
{
    struct ppu_fault_event fault;

    while (ring_pop(rig->board, PPU_RING_FAULT, &fault)) {
        if (!outcome->faulted) {
            outcome->fault = fault;
        }
        outcome->faulted = true;
    }
}

bool rig_wait(struct rig *rig, uint32_t slot, struct outcome *outcome)
{
    uint64_t made = 0;

    *outcome = (struct outcome){ .faulted = false };
    for (uint32_t step = 0; step < WAIT_STEPS; step++) {
        const uint64_t now_made = sm_translations(rig->board->core);
        bool ended = false;

        step = now_made != made ? 0 : step; /* what the task waits for comes, by and by */
        made = now_made;

        while (!ended && ring_pop(rig->board, PPU_RING_SLOT, &outcome->event)) {
            ended = outcome->event.kind != PPU_SLOT_FLUSHED && outcome->event.slot == slot;
        }
        take_faults(rig, outcome); /* what ended the task was posted before its end */
        if (ended) {
            return true;
        }
        rig_step(rig);
    }
    return false;
}

static struct outcome wait_for_end(struct rig *rig)
{
    struct outcome outcome;

    if (!rig_wait(rig, 0, &outcome)) {
        char *text = core_state_text(rig->board->core);
        print_error("%s", text);
        free(text);
        fail_msg("the task did not end");
    }
    return outcome;
}

struct outcome rig_run(struct rig *rig, const struct ppu_tmd *tmd)
{
    rig_start(rig, 0, tmd);
    return wait_for_end(rig);
}

void rig_done(struct rig *rig)
{
    struct outcome outcome = wait_for_end(rig);

    if (outcome.faulted) {
        fail_msg("fault 0x%x at instruction %u, address 0x%llx, lanes 0x%x", outcome.fault.code,
                 (unsigned)((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES), (unsigned long long)outcome.fault.address,
                 outcome.fault.lanes);
    }
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
}

void rig_run_done(struct rig *rig, const struct ppu_tmd *tmd)
{
    rig_start(rig, 0, tmd);
    rig_done(rig);
}

struct rig *rig_moved(struct rig *rig)
{
    const char *error = NULL;
    size_t len;

    core_pause(rig->board->core);
    uint8_t *state = core_save(rig->board->core, &len);
    assert_non_null(state);
    struct rig *other = rig_new_config(&rig->board->config);
    core_pause(other->board->core);
    board_move_memory(other->board, rig->board);
    other->board->now_ns = rig->board->now_ns;
    memcpy(other->board->root, rig->board->root, sizeof(other->board->root));
    if (!core_load(other->board->core, state, len, &error)) {
        fail_msg("%s", error);
    }
    free(state);
    other->wave = rig->wave;
    other->program = rig->program;
    other->image = rig->image;
    rig->image = (struct ppuasm_image){ 0 };
    rig_free(rig);
    core_resume(other->board->core);
    board_settle(other->board);
    return other;
}

uint8_t *rig_code(struct rig *rig)
{
    return rig->board->vram + CODE_AT;
}

void *rig_data(struct rig *rig, uint32_t offset)
{
    return rig->board->vram + DATA_AT + offset;
}
