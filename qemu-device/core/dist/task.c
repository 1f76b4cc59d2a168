/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TMD copy, decoded for the SMs. The firmware has validated it; it is checked again for all that the device relies
 * on, so that a scribbled copy is refused instead of believed.
 */
#include "qemu-device/core/dist/task.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/place.h"

#define VA_END (1ull << PPU_VA_BITS)
#define CODE_ALIGN 8u
#define LOCAL_ALIGN 16u

static bool range_in_va(uint64_t va, uint64_t bytes)
{
    return va <= VA_END && bytes <= VA_END - va;
}

static uint16_t check_header(const struct core *core, const struct ppu_tmd *tmd)
{
    if (tmd->head.version != PPU_TMD_VERSION || tmd->head.size_bytes != sizeof(*tmd)) {
        return PPU_FAULT_TMD_VERSION;
    }
    if (tmd->kind != PPU_TMD_GRID && tmd->kind != PPU_TMD_TASKQ) {
        return PPU_FAULT_TMD_KIND;
    }
    if (tmd->flags & ~PPU_TMD_FLAGS) {
        return PPU_FAULT_TMD_RESERVED;
    }
    if (tmd->priority >= PPU_PRIORITIES) {
        return PPU_FAULT_TMD_PRIORITY;
    }
    return tmd->context < core->config.contexts ? PPU_FAULT_NONE : PPU_FAULT_NO_CONTEXT;
}

static uint16_t check_code(const struct ppu_tmd *tmd)
{
    bool good = tmd->code_va % CODE_ALIGN == 0 && tmd->code_bytes % CODE_ALIGN == 0 && tmd->entry % CODE_ALIGN == 0 &&
                tmd->code_bytes <= PPU_MAX_CODE && tmd->entry < tmd->code_bytes &&
                range_in_va(tmd->code_va, tmd->code_bytes);

    return good ? PPU_FAULT_NONE : PPU_FAULT_TMD_CODE;
}

static uint16_t check_shape(const struct ppu_tmd *tmd)
{
    uint64_t threads = 1;

    if (tmd->wave != PPU_LANES && tmd->wave != 2 * PPU_LANES && tmd->wave != PPU_MAX_WAVE) {
        return PPU_FAULT_TMD_WAVE;
    }
    for (uint32_t dim = 0; dim < 3; dim++) {
        uint32_t max_grid = dim == 0 ? PPU_MAX_GRID_X : PPU_MAX_GRID_YZ;

        if (tmd->cta[dim] == 0 || tmd->cta[dim] > PPU_MAX_CTA_DIM) {
            return PPU_FAULT_TMD_CTA;
        }
        if (tmd->edge[dim] > tmd->cta[dim] || (tmd->edge[dim] != 0 && tmd->kind != PPU_TMD_GRID)) {
            return PPU_FAULT_TMD_CTA;
        }
        if (tmd->grid[dim] == 0 || tmd->grid[dim] > max_grid) {
            return PPU_FAULT_TMD_GRID;
        }
        threads *= tmd->cta[dim];
    }
    return threads <= PPU_MAX_CTA_THREADS ? PPU_FAULT_NONE : PPU_FAULT_TMD_CTA;
}

static uint16_t check_params(const struct core *core, const struct ppu_tmd *tmd)
{
    bool good = tmd->param_bytes <= PPU_MAX_PARAM && (tmd->param_bytes == 0 || tmd->params_vram % 16 == 0) &&
                (tmd->param_bytes == 0 || (core_protected_has(core, tmd->params_vram, tmd->param_bytes) &&
                                           core_vram_has(core, tmd->params_vram, tmd->param_bytes)));

    return good ? PPU_FAULT_NONE : PPU_FAULT_TMD_PARAM;
}

static uint16_t check_subvector(const struct core *core, const struct ppu_tmd *tmd)
{
    bool good =
        ppu_shared_vregs_ok(tmd->vregs, tmd->shared_vregs) && tmd->mode < PPU_MODES && ppu_miss_rate_ok(tmd->miss_rate);

    good = good && (core->config.subvector || !ppu_tmd_needs_subvector(tmd));

    return good ? PPU_FAULT_NONE : PPU_FAULT_TMD_SUBVECTOR;
}

static enum dist_width width_of(const struct core *core, const struct dist_task *task)
{
    if (ppu_tmd_is_wide(&task->tmd)) {
        return DIST_WIDE;
    }
    return ppu_tmd_may_be_wide(&task->tmd) && task->cta_vregs[1] <= core->config.sm_vregs ? DIST_EITHER : DIST_NARROW;
}

bool dist_task_has(const struct dist_task *task, bool wide)
{
    return task->width == DIST_EITHER || wide == (task->width == DIST_WIDE);
}

static uint64_t save_bytes(const struct dist_task *task, bool wide)
{
    const struct ppu_tmd *tmd = &task->tmd;

    return ppu_save_bytes(task->cta_warps, tmd->wave, task->warp_vregs[wide], tmd->token_count, tmd->shared_bytes);
}

static void size_cta(const struct core *core, struct dist_task *task)
{
    const struct ppu_tmd *tmd = &task->tmd;

    task->cta_threads = ppu_tmd_threads(tmd);
    task->ragged = ppu_tmd_is_ragged(tmd) != 0;
    task->cta_warps = (task->cta_threads + tmd->wave - 1) / tmd->wave;
    task->cta_passes = task->cta_warps * (tmd->wave / PPU_LANES);
    task->token_cap = tmd->token_count != 0 ? tmd->token_count : PPU_TOKENS_DEFAULT;
    task->cta_tokens = ppu_token_bytes(task->cta_passes, tmd->token_count);
    for (uint32_t wide = 0; wide < 2; wide++) {
        task->warp_vregs[wide] = ppu_tmd_warp_vregs(tmd, wide);
        task->cta_vregs[wide] = task->cta_warps * task->warp_vregs[wide];
        task->cta_chunks[wide] = (uint32_t)((save_bytes(task, wide) + PPU_SWITCH_CHUNK - 1) / PPU_SWITCH_CHUNK);
    }
    task->width = width_of(core, task);
}

static uint16_t check_resources(const struct core *core, const struct dist_task *task)
{
    const struct ppu_tmd *tmd = &task->tmd;
    uint32_t token_bytes = 0;

    (void)core_tokens_share(core, 0, &token_bytes);
    bool good = tmd->vregs >= 1 && tmd->vregs <= PPU_MAX_VREGS && tmd->token_count <= PPU_MAX_TOKENS &&
                task->cta_passes <= core->config.sm_warps &&
                task->cta_vregs[task->width == DIST_WIDE] <= core->config.sm_vregs &&
                tmd->shared_bytes <= PPU_MAX_SHARED && tmd->shared_bytes <= core->config.sm_shared &&
                task->cta_tokens <= token_bytes;

    return good ? PPU_FAULT_NONE : PPU_FAULT_TMD_RESOURCES;
}

static uint16_t check_save(const struct core *core, const struct dist_task *task)
{
    const struct ppu_tmd *tmd = &task->tmd;
    uint64_t need = save_bytes(task, task->width != DIST_NARROW);
    uint64_t area = (uint64_t)tmd->save_count * tmd->save_bytes;
    bool good = tmd->save_count <= PPU_SAVE_PLACES && tmd->save_vram % PPU_SAVE_ALIGN == 0 &&
                tmd->save_bytes % PPU_SAVE_ALIGN == 0 && tmd->save_bytes >= need &&
                core_vram_has(core, tmd->save_vram, area);

    if (tmd->save_count == 0) {
        good = tmd->save_vram == 0 && tmd->save_bytes == 0;
    }
    return good && cta_groups_usable(core, tmd) ? PPU_FAULT_NONE : PPU_FAULT_TMD_SAVE;
}

static uint16_t check_local(struct dist_task *task)
{
    const struct ppu_tmd *tmd = &task->tmd;
    uint64_t cta_bytes = (uint64_t)task->cta_threads * tmd->local_bytes;

    task->local_backings = UINT32_MAX;
    if (tmd->local_bytes == 0) {
        return PPU_FAULT_NONE;
    }
    if (tmd->local_bytes > PPU_MAX_LOCAL || tmd->local_bytes % LOCAL_ALIGN != 0 || tmd->local_va % LOCAL_ALIGN != 0 ||
        !range_in_va(tmd->local_va, tmd->local_size)) {
        return PPU_FAULT_TMD_LOCAL;
    }
    uint64_t backings = tmd->local_size / cta_bytes;
    task->local_backings = backings < CORE_MAX_RESIDENT ? (uint32_t)backings : CORE_MAX_RESIDENT;
    return backings != 0 ? PPU_FAULT_NONE : PPU_FAULT_TMD_LOCAL;
}

/* All CTAs must find room at once, and none may leave to wait for children. */
static uint16_t check_coresident(const struct core *core, const struct dist_task *task, uint64_t total)
{
    const struct ppu_tmd *tmd = &task->tmd;
    bool good = tmd->kind == PPU_TMD_GRID && !(tmd->flags & PPU_TMD_MAY_WAIT) && place_gang_fits(core, task, total);

    return !(tmd->flags & PPU_TMD_CORESIDENT) || good ? PPU_FAULT_NONE : PPU_FAULT_TMD_CORESIDENT;
}

uint32_t dist_local_limit(const struct core *core, const struct dist_task *task)
{
    uint32_t resident = core->config.sms * core->config.sm_ctas;

    return PPU_MIN(task->local_backings, resident);
}

uint16_t dist_task_decode(struct core *core, struct dist_task *task, uint64_t *total)
{
    const struct ppu_tmd *tmd = &task->tmd;
    uint16_t code = check_header(core, tmd);

    code = code != PPU_FAULT_NONE ? code : check_code(tmd);
    code = code != PPU_FAULT_NONE ? code : check_shape(tmd);
    code = code != PPU_FAULT_NONE ? code : check_params(core, tmd);
    code = code != PPU_FAULT_NONE ? code : check_subvector(core, tmd);
    if (code != PPU_FAULT_NONE) {
        return code;
    }
    size_cta(core, task);
    task->params = tmd->param_bytes != 0 ? core->vram + tmd->params_vram : core->vram;
    *total = tmd->kind == PPU_TMD_TASKQ ? tmd->taskq_limit : (uint64_t)tmd->grid[0] * tmd->grid[1] * tmd->grid[2];
    code = check_resources(core, task);
    code = code != PPU_FAULT_NONE ? code : check_save(core, task);
    code = code != PPU_FAULT_NONE ? code : check_local(task);
    return code != PPU_FAULT_NONE ? code : check_coresident(core, task, *total);
}

void dist_cta_id(const struct ppu_tmd *tmd, uint64_t number, uint32_t id[3])
{
    const uint32_t *grid = tmd->grid;

    if (tmd->kind == PPU_TMD_TASKQ) {
        id[0] = (uint32_t)number;
        id[1] = id[2] = 0;
        return;
    }
    id[0] = (uint32_t)(number % grid[0]);
    number /= grid[0];
    id[1] = (uint32_t)(number % grid[1]);
    id[2] = (uint32_t)(number / grid[1]);
}

uint16_t dist_task_copy_check(const struct core *core, uint32_t tmd_off)
{
    if (tmd_off % PPU_TMD_ALIGN != 0) {
        return PPU_FAULT_TMD_ALIGN;
    }
    return core_protected_has(core, tmd_off, sizeof(struct ppu_tmd_copy)) &&
                   core_vram_has(core, tmd_off, sizeof(struct ppu_tmd_copy))
               ? PPU_FAULT_NONE
               : PPU_FAULT_TMD_MEMORY;
}
