/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of the MCU (dma.h): copies at once and queued, probes, semaphores. A descriptor is copied once, checked,
 * and only the copy is used. Queued copies take turns, a step each, on the virtual clock.
 */
#include "qemu-device/core/memory/dma.h"
#include "ppu/dma.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/save.h"
#include "ppu/sem.h"
#include "ppu/trace.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/mmu.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/snapshot.h"

#define STEP_NS 4000u      /* of virtual time from one step to the next */
#define STEPS_AT_ONCE 16u  /* when the clock ran ahead */
#define BOUNCE_BYTES 4096u /* at once between system memory and anything */

/* One end of a copy. */
struct side {
    uint32_t space;
    uint64_t addr;
    enum ppu_access access;
};

/* Bytes of one side that lie in one piece. */
struct span {
    uint8_t *host;    /* NULL: on the bus */
    uint64_t address; /* VRAM offset or bus address */
    uint64_t len_bytes;
};

struct failure {
    uint16_t code;
    uint64_t address;
    struct side side;
};

static bool wraps(uint64_t addr, uint64_t len_bytes)
{
    return len_bytes != 0 && addr + (len_bytes - 1) < addr;
}

static uint16_t span_of_context(struct core *core, const struct side *side, struct span *span)
{
    struct mmu_page page = mmu_walk(core, side->space, side->addr, side->access);
    uint64_t skip = side->addr - page.va;

    if (page.fault != PPU_FAULT_NONE) {
        return page.fault;
    }
    span->address = page.frame + skip;
    span->host = page.system ? NULL : core->vram + span->address;
    if (span->len_bytes > page.bytes - skip) {
        span->len_bytes = page.bytes - skip;
    }
    return PPU_FAULT_NONE;
}

/* Finds the bytes at a side's address, at most len_bytes of them; 0 or a fault code. */
static uint16_t span_find(struct core *core, const struct side *side, uint64_t len_bytes, struct span *span)
{
    *span = (struct span){ .address = side->addr, .len_bytes = len_bytes };
    switch (side->space) {
    case PPU_SPACE_VRAM:
        span->host = core_vram_has(core, side->addr, len_bytes) ? core->vram + side->addr : NULL;
        return span->host ? PPU_FAULT_NONE : PPU_FAULT_VRAM_RANGE;
    case PPU_SPACE_MCU:
        span->host = side->addr <= UINT32_MAX
                         ? core->ops.mcu_mem(core->opaque, (uint32_t)side->addr, (uint32_t)len_bytes)
                         : NULL;
        return span->host ? PPU_FAULT_NONE : PPU_FAULT_BAD_DESC;
    case PPU_SPACE_BUS:
        return wraps(side->addr, len_bytes) ? PPU_FAULT_BAD_ADDRESS : PPU_FAULT_NONE;
    default:
        return span_of_context(core, side, span);
    }
}

static bool fail(struct failure *failure, uint16_t code, const struct side *side, uint64_t address)
{
    *failure = (struct failure){ .code = code, .address = address, .side = *side };
    return false;
}

static bool find_or_fail(struct core *core, const struct side *side, uint64_t len_bytes, struct span *span,
                         struct failure *failure)
{
    uint16_t code = span_find(core, side, len_bytes, span);

    return code == PPU_FAULT_NONE || fail(failure, code, side, code == PPU_FAULT_NO_CONTEXT ? side->space : side->addr);
}

/* Moves len_bytes, at most BOUNCE_BYTES when one side is on the bus. */
static bool move(struct core *core, const struct span *src, const struct span *dst, uint32_t len_bytes,
                 bool *src_failed)
{
    uint64_t bounce[BOUNCE_BYTES / sizeof(uint64_t)];
    uint8_t *bytes = (uint8_t *)bounce;

    if (src->host && dst->host) {
        vram_copy(dst->host, src->host, len_bytes);
        return true;
    }
    if (src->host) {
        vram_copy(bytes, src->host, len_bytes);
    } else if (!core_dma(core, src->address, bytes, len_bytes, false)) {
        *src_failed = true;
        return false;
    }
    if (dst->host) {
        vram_copy(dst->host, bytes, len_bytes);
        return true;
    }
    *src_failed = false;
    return core_dma(core, dst->address, bytes, len_bytes, true);
}

/* Copies the next piece, at most len_bytes; the number of bytes, 0 on failure. */
static uint32_t copy_piece(struct core *core, const struct side *src, const struct side *dst, uint32_t len_bytes,
                           struct failure *failure)
{
    struct span from;
    struct span to;
    bool src_failed = false;

    if (!find_or_fail(core, src, len_bytes, &from, failure) || !find_or_fail(core, dst, from.len_bytes, &to, failure)) {
        return 0;
    }
    len_bytes = (uint32_t)to.len_bytes;
    if ((!from.host || !to.host) && len_bytes > BOUNCE_BYTES) {
        len_bytes = BOUNCE_BYTES;
    }
    if (!move(core, &from, &to, len_bytes, &src_failed)) {
        fail(failure, PPU_FAULT_BUS, src_failed ? src : dst, src_failed ? from.address : to.address);
        return 0;
    }
    return len_bytes;
}

/* Goes on with a copy by at most `limit` bytes. False: failed, done_bytes says how far it came. */
static bool copy_advance(struct core *core, struct dma_copy *copy, uint32_t limit, struct failure *failure)
{
    uint64_t left = copy->len_bytes - copy->done_bytes;
    uint64_t end = copy->done_bytes + PPU_MIN(left, limit);

    if (hook_copy_fails(core)) {
        const struct side src = { copy->src_space, copy->src + copy->done_bytes, PPU_ACCESS_READ };

        return fail(failure, PPU_FAULT_BUS, &src, src.addr);
    }
    while (copy->done_bytes < end) {
        const struct side src = { copy->src_space, copy->src + copy->done_bytes, PPU_ACCESS_READ };
        const struct side dst = { copy->dst_space, copy->dst + copy->done_bytes, PPU_ACCESS_WRITE };
        uint32_t moved = copy_piece(core, &src, &dst, (uint32_t)(end - copy->done_bytes), failure);

        if (moved == 0) {
            return false;
        }
        copy->done_bytes += moved;
    }
    return true;
}

/* ---- the queue ---- */

static void queue_put(struct dma *dma, const struct dma_copy *copy)
{
    dma->queue[(dma->head + dma->count) % PPU_MAX_COPIES] = *copy;
    dma->count++;
}

static struct dma_copy queue_take(struct dma *dma)
{
    struct dma_copy copy = dma->queue[dma->head];

    dma->head = (dma->head + 1) % PPU_MAX_COPIES;
    dma->count--;
    return copy;
}

static void copy_end(struct core *core, const struct dma_copy *copy, const struct failure *failure)
{
    const struct ppu_copy_event event = {
        .tag = copy->tag,
        .status = failure->code,
        .access = (uint8_t)failure->side.access,
        .address = failure->address,
        .done_bytes = copy->done_bytes,
        .time_ns = core_now(core),
    };

    trace_emit(core, PPU_TRACE_COPY_END, 0, copy->tag, failure->code, (uint32_t)copy->done_bytes);
    ring_push(core, PPU_RING_COPY, &event);
}

static void copy_step(struct core *core)
{
    struct dma_copy copy = queue_take(&core->dma);
    struct failure failure = { .code = PPU_FAULT_NONE };

    trace_mark(core, PPU_MARK_COPY_STEP, PPU_TRACE_UNIT_MCU);
    bool good = copy_advance(core, &copy, PPU_COPY_STEP, &failure);
    if (good && copy.done_bytes < copy.len_bytes) {
        queue_put(&core->dma, &copy);
    } else {
        copy_end(core, &copy, &failure);
    }
}

/* Sets the time of the next step. */
static void schedule(struct dma *dma, uint64_t deadline_ns)
{
    dma->deadline_ns = dma->count != 0 && !dma->held ? deadline_ns : CORE_NEVER;
}

void dma_run(struct core *core, uint64_t now_ns)
{
    struct dma *dma = &core->dma;
    uint64_t deadline = dma->deadline_ns;

    if (dma->count != 0 && deadline <= now_ns) {
        history_outside(core);
    }
    for (uint32_t steps = 0; dma->count != 0 && deadline <= now_ns && steps < STEPS_AT_ONCE; steps++) {
        dma->held = hook_holds(core, PPU_MARK_COPY_STEP);
        if (dma->held) {
            break;
        }
        copy_step(core);
        deadline += STEP_NS;
    }
    schedule(dma, deadline <= now_ns ? now_ns + STEP_NS : deadline);
}

void dma_release(struct core *core)
{
    if (core->dma.held) {
        core->dma.held = false;
        schedule(&core->dma, core_now(core));
        core_timer_request(core);
    }
}

void dma_cancel(struct core *core, uint32_t tag)
{
    uint32_t queued = core->dma.count;

    for (uint32_t i = 0; i < queued; i++) {
        struct dma_copy copy = queue_take(&core->dma);

        if (copy.tag == tag) {
            copy_end(core, &copy, &(struct failure){ .code = PPU_FAULT_CANCELLED, .address = copy.done_bytes });
        } else {
            queue_put(&core->dma, &copy);
        }
    }
    schedule(&core->dma, core->dma.deadline_ns);
    core_timer_request(core);
}

void dma_reset(struct core *core)
{
    core->dma.head = 0;
    core->dma.count = 0;
    core->dma.held = false;
    core->dma.deadline_ns = CORE_NEVER;
}

/* ---- descriptors ---- */

static struct dma_copy copy_of(const struct ppu_dma_desc *desc)
{
    return (struct dma_copy){
        .src = desc->src,
        .dst = desc->dst,
        .src_space = desc->src_space,
        .dst_space = desc->dst_space,
        .len_bytes = desc->len_bytes,
        .tag = desc->tag,
    };
}

static bool copy_check(const struct ppu_dma_desc *desc, struct failure *failure)
{
    const struct side src = { desc->src_space, desc->src, PPU_ACCESS_READ };
    const struct side dst = { desc->dst_space, desc->dst, PPU_ACCESS_WRITE };

    if (wraps(src.addr, desc->len_bytes)) {
        return fail(failure, PPU_FAULT_BAD_ADDRESS, &src, src.addr);
    }
    return !wraps(dst.addr, desc->len_bytes) || fail(failure, PPU_FAULT_BAD_ADDRESS, &dst, dst.addr);
}

static bool bad_desc(struct failure *failure)
{
    return fail(failure, PPU_FAULT_BAD_DESC, &(struct side){ 0 }, 0);
}

static bool run_copy(struct core *core, struct ppu_dma_desc *desc, struct failure *failure)
{
    struct dma_copy copy = copy_of(desc);

    if (desc->flags != 0 || desc->len_bytes > PPU_COPY_SYNC_MAX) {
        return bad_desc(failure);
    }
    return copy_check(desc, failure) && copy_advance(core, &copy, PPU_COPY_SYNC_MAX, failure);
}

static bool run_copy_queued(struct core *core, struct ppu_dma_desc *desc, struct failure *failure)
{
    struct dma *dma = &core->dma;
    struct dma_copy copy = copy_of(desc);

    if (desc->flags != 0) {
        return bad_desc(failure);
    }
    if (!copy_check(desc, failure)) {
        return false;
    }
    if (dma->count == PPU_MAX_COPIES) {
        return fail(failure, PPU_FAULT_COPY_QUEUE_FULL, &(struct side){ 0 }, 0);
    }
    queue_put(dma, &copy);
    if (dma->deadline_ns == CORE_NEVER) {
        schedule(dma, core_now(core) + STEP_NS);
        core_timer_request(core);
    }
    return true;
}

static bool run_probe(struct core *core, struct ppu_dma_desc *desc, struct failure *failure)
{
    const struct side src = { desc->src_space, desc->src, PPU_ACCESS_READ };
    struct span span;

    if (desc->flags != 0 || desc->src_space == PPU_SPACE_MCU) {
        return bad_desc(failure);
    }
    if (!find_or_fail(core, &src, 1, &span, failure)) {
        return false;
    }
    desc->result = span.address;
    desc->result_space = span.host ? PPU_SPACE_VRAM : PPU_SPACE_BUS;
    return true;
}

/* A semaphore's span; it never straddles pages. */
static bool sem_find(struct core *core, const struct side *side, struct span *span, struct failure *failure)
{
    if (side->space == PPU_SPACE_MCU) {
        return bad_desc(failure);
    }
    if (side->addr % PPU_SEM_ALIGN != 0) {
        return fail(failure, PPU_FAULT_SEM_ALIGN, side, side->addr);
    }
    return find_or_fail(core, side, sizeof(struct ppu_sem), span, failure);
}

/* Writes a word of a semaphore, whole; the payload with release order. */
static bool sem_write(struct core *core, const struct span *sem, size_t member, void *value, uint32_t bytes)
{
    uint32_t payload = 0;

    if (!sem->host) {
        return core_dma(core, sem->address + member, value, bytes, true);
    }
    if (member != offsetof(struct ppu_sem, payload)) {
        vram_copy(sem->host + member, value, bytes);
        return true;
    }
    vram_copy((uint8_t *)&payload, value, sizeof(payload));
    vram_store_release32(sem->host + member, payload);
    return true;
}

static bool run_sem_release(struct core *core, struct ppu_dma_desc *desc, struct failure *failure)
{
    const struct side dst = { desc->dst_space, desc->dst, PPU_ACCESS_WRITE };
    uint64_t time_ns = core_now(core);
    struct span sem;

    if (desc->flags & ~PPU_DMA_FLAG_TIME) {
        return bad_desc(failure);
    }
    if (!sem_find(core, &dst, &sem, failure)) {
        return false;
    }
    if (((desc->flags & PPU_DMA_FLAG_TIME) &&
         !sem_write(core, &sem, offsetof(struct ppu_sem, time_ns), &time_ns, sizeof(time_ns))) ||
        !sem_write(core, &sem, offsetof(struct ppu_sem, payload), &desc->value, sizeof(desc->value))) {
        return fail(failure, PPU_FAULT_BUS, &dst, sem.address);
    }
    semtab_touch(core, !sem.host, sem.address);
    return true;
}

static bool run_sem_arm(struct core *core, struct ppu_dma_desc *desc, struct failure *failure)
{
    const struct side src = { desc->src_space, desc->src, PPU_ACCESS_READ };
    struct span sem;
    uint32_t payload = 0;

    if (desc->flags != 0 || desc->entry >= PPU_MAX_ARMED) {
        return bad_desc(failure);
    }
    if (!sem_find(core, &src, &sem, failure)) {
        return false;
    }
    semtab_arm(core, desc->entry, !sem.host, sem.address, desc->tag);
    if (sem.host) {
        payload = vram_load_acquire32(sem.host);
    } else if (!core_dma(core, sem.address, &payload, sizeof(payload), false)) {
        semtab_disarm(core, desc->entry);
        return fail(failure, PPU_FAULT_BUS, &src, sem.address);
    }
    desc->result = payload;
    return true;
}

typedef bool run_op(struct core *core, struct ppu_dma_desc *desc, struct failure *failure);

static run_op *const run_ops[] = {
    [PPU_DMA_COPY] = run_copy,       [PPU_DMA_COPY_QUEUED] = run_copy_queued,
    [PPU_DMA_PROBE] = run_probe,     [PPU_DMA_SEM_RELEASE] = run_sem_release,
    [PPU_DMA_SEM_ARM] = run_sem_arm,
};

static void execute(struct core *core, struct ppu_dma_desc *desc)
{
    struct failure failure = { .code = PPU_FAULT_NONE };
    run_op *run = desc->op < PPU_ARRAY_SIZE(run_ops) ? run_ops[desc->op] : NULL;

    desc->result = 0;
    desc->result_space = 0;
    if (!run) {
        bad_desc(&failure);
    } else {
        run(core, desc, &failure);
    }
    desc->status = failure.code;
    desc->result_access = failure.side.access;
    if (failure.code != PPU_FAULT_NONE) {
        desc->result = failure.address;
        desc->result_space = failure.side.space;
    }
    if (failure.code == PPU_FAULT_BAD_DESC) {
        core_guest_error(core, "descriptor of operation %u is malformed", desc->op);
        core_device_error(core, PPU_DEVERR_DESC);
    }
}

void dma_submit(struct core *core, uint32_t mcu_addr)
{
    struct ppu_dma_desc desc;
    const size_t answer = offsetof(struct ppu_dma_desc, status);
    uint8_t *at = core->ops.mcu_mem(core->opaque, mcu_addr, sizeof(desc));

    if (!at) {
        core_guest_error(core, "DMA_SUBMIT: no descriptor at 0x%x", mcu_addr);
        core_device_error(core, PPU_DEVERR_DESC);
        return;
    }
    vram_copy((uint8_t *)&desc, at, sizeof(desc));
    execute(core, &desc);
    vram_copy(at + answer, (const uint8_t *)&desc + answer, sizeof(desc) - answer);
}

/* ---- snapshot ---- */

void dma_save(struct core *core, struct snap *snap)
{
    const struct dma *dma = &core->dma;

    snap_put_u32(snap, dma->count);
    for (uint32_t i = 0; i < dma->count; i++) {
        const struct dma_copy *copy = &dma->queue[(dma->head + i) % PPU_MAX_COPIES];

        snap_put_u64(snap, copy->src);
        snap_put_u64(snap, copy->dst);
        snap_put_u32(snap, copy->src_space);
        snap_put_u32(snap, copy->dst_space);
        snap_put_u64(snap, copy->len_bytes);
        snap_put_u64(snap, copy->done_bytes);
        snap_put_u32(snap, copy->tag);
    }
    snap_put_u64(snap, dma->deadline_ns);
    snap_put_u32(snap, dma->held);
}

static struct dma_copy copy_get(struct snap *snap)
{
    struct dma_copy copy;

    copy.src = snap_get_u64(snap);
    copy.dst = snap_get_u64(snap);
    copy.src_space = snap_get_u32(snap);
    copy.dst_space = snap_get_u32(snap);
    copy.len_bytes = snap_get_u64(snap);
    copy.done_bytes = snap_get_u64(snap);
    copy.tag = snap_get_u32(snap);
    return copy;
}

static bool copy_usable(const struct dma_copy *copy)
{
    return copy->done_bytes <= copy->len_bytes && !wraps(copy->src, copy->len_bytes) &&
           !wraps(copy->dst, copy->len_bytes);
}

static bool deadline_usable(struct core *core, uint64_t deadline_ns)
{
    const uint64_t now = core_now(core);

    return deadline_ns == CORE_NEVER || deadline_ns <= now || deadline_ns - now <= CORE_STEP_MOST_NS;
}

void dma_load(struct core *core, struct snap *snap)
{
    struct dma *dma = &core->dma;
    uint32_t count = snap_get_u32(snap);

    if (count > PPU_MAX_COPIES) {
        snap_refuse(snap, "%u copies, of %u", count, PPU_MAX_COPIES);
    }
    for (uint32_t i = 0; i < count && !snap->bad; i++) {
        const struct dma_copy copy = copy_get(snap);

        if (!snap->bad && !copy_usable(&copy)) {
            snap_refuse(snap, "copy %u: %llu of %llu bytes from 0x%llx to 0x%llx", i,
                        (unsigned long long)copy.done_bytes, (unsigned long long)copy.len_bytes,
                        (unsigned long long)copy.src, (unsigned long long)copy.dst);
        }
        queue_put(dma, &copy);
    }
    dma->deadline_ns = snap_get_u64(snap);
    dma->held = snap_get_flag(snap);
    if (!deadline_usable(core, dma->deadline_ns)) {
        snap_refuse(snap, "the next step is due at %llu ns", (unsigned long long)dma->deadline_ns);
    }
    if (dma->held && !hook_holds(core, PPU_MARK_COPY_STEP)) {
        snap_refuse(snap, "they are held, and no test hook holds them");
    }
    schedule(dma, dma->deadline_ns != CORE_NEVER ? dma->deadline_ns : 0);
}
