/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers: a table of rows expanded from regs.def, and hooks for those with side effects. A register without a hook
 * is a word that holds what is written.
 */
#include "qemu-device/core/regs.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/flush.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/doorbell.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/mcu.h"
#include "qemu-device/core/memory/clear.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/snapshot.h"
#include "qemu-device/core/telemetry.h"

enum access {
    NO = 0,
    RO,
    RW,
    WO,
    W1C,
};

/* Whose value it is (regs.def). */
enum owner {
    DEVICE,
    MCU,
    HOST,
    HOOK,
};

/* Rows by name: ROW_<name>. */
enum row {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) ROW_##name,
#include "ppu/regs.def"
#undef PPU_REG
    ROW_COUNT,
};
#define ROW_NONE 0xffu
_Static_assert(ROW_COUNT < ROW_NONE, "a row number fits a byte");

struct row_info {
    const char *name;
    uint32_t offset;
    uint32_t count;
    enum access access[2]; /* by enum core_side */
    enum owner owner;
    uint32_t reset;
    uint32_t mask; /* bits that may be 1 */
};

static const struct row_info rows[ROW_COUNT] = {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) \
    { #name, offset, count, { host, mcu }, owner, reset, mask },
#include "ppu/regs.def"
#undef PPU_REG
};

struct row_hooks {
    uint32_t (*read)(struct core *core, uint32_t index, enum core_side side);
    /* RW, WO: instead of holding the value. W1C: instead of clearing the bits. */
    void (*write)(struct core *core, uint32_t index, uint32_t value);
    size_t limit;   /* the member of core_config that says how many elements there are; 0: the row says */
    uint32_t error; /* PPU_DEVERR_* when the MCU writes beyond that, or reserved bits; 0: PPU_DEVERR_ARG */
};

uint32_t reg_get(const struct core *core, uint32_t offset)
{
    return __atomic_load_n(&core->reg[offset / 4], __ATOMIC_ACQUIRE);
}

void reg_set(struct core *core, uint32_t offset, uint32_t value)
{
    __atomic_store_n(&core->reg[offset / 4], value, __ATOMIC_RELEASE);
}

/* ---- hooks ---- */

static uint32_t time_lo(struct core *core, uint32_t index, enum core_side side)
{
    (void)index, (void)side;
    return (uint32_t)core_now(core);
}

static uint32_t time_hi(struct core *core, uint32_t index, enum core_side side)
{
    (void)index, (void)side;
    return (uint32_t)(core_now(core) >> 32);
}

static void timer_hi(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_TIMER_HI, value);
    mcu_timer_arm(core);
}

static void control(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    mcu_control(core, value);
}

static void device_reset(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    if (value == PPU_RESET_KEY) {
        core->ops.function_reset(core->opaque);
    } else {
        core_guest_error(core, "DEVICE_RESET: 0x%x is not the key", value);
    }
}

static void state_update(struct core *core, uint32_t index, uint32_t value)
{
    (void)index, (void)value;
    telemetry_update(core);
}

static void admin_doorbell(struct core *core, uint32_t index, uint32_t value)
{
    (void)index, (void)value;
    mcu_irq_raise(core, PPU_IRQ_ADMIN);
}

static void vector_raise(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    if (value >= PPU_MAX_VECTORS) {
        core_guest_error(core, "VECTOR_RAISE: no vector %u", value);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    mcu_vector_raise(core, value);
}

static void irq_pending(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    mcu_irq_clear(core, value);
}

static uint32_t mcu_state(struct core *core, uint32_t index, enum core_side side)
{
    const uint32_t state = reg_get(core, PPU_REG_MCU_STATE);

    (void)index, (void)side;
    return state == PPU_MCU_HELD && clear_going(core) ? PPU_MCU_CLEARING : state;
}

/* The machine around the core may have waited for an interrupt first. */
static uint32_t mcu_idle(struct core *core, uint32_t index, enum core_side side)
{
    (void)index, (void)side;
    return reg_get(core, PPU_REG_IRQ_PENDING);
}

static uint32_t db_next(struct core *core, uint32_t index, enum core_side side)
{
    (void)index;
    (void)side;
    return doorbell_next(core);
}

static void db_take(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    if (value >= core->config.channels) {
        core_guest_error(core, "DB_TAKE: no channel %u", value);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    doorbell_take(core, value);
}

static void ring_base(struct core *core, uint32_t index, uint32_t value)
{
    reg_set(core, PPU_REG_RING_BASE + 4 * index, value);
    ring_setup(core, index);
}

static void trace_base(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_TRACE_BASE, value);
    trace_setup(core);
}

static void fw_trace_base(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_FW_TRACE_BASE, value);
    trace_setup_firmware(core);
}

static void fw_trace_add(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    trace_add_firmware(core, value);
}

/* A place that is unusable holds no queue: no task fits then. */
static void token_base(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_TOKEN_BASE, value);
    if (!core_tokens_usable(core)) {
        core_guest_error(core, "TOKEN_BASE: 0x%x is not in the protected range with TOKEN_BYTES", value);
        core_device_error(core, PPU_DEVERR_ARG);
    }
}

static void token_move(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    if (!sm_move_tokens(core, PPU_TOKEN_MOVE_SM(value), PPU_TOKEN_MOVE_WARP(value), PPU_TOKEN_MOVE_FIRST(value))) {
        core_guest_error(core, "TOKEN_MOVE: SM %u has no warp %u", PPU_TOKEN_MOVE_SM(value),
                         PPU_TOKEN_MOVE_WARP(value));
        core_device_error(core, PPU_DEVERR_ARG);
    }
}

static void prot_write(struct core *core, uint32_t offset, uint32_t value)
{
    if (value > core->config.vram_bytes) {
        core_guest_error(core, "protected range: 0x%x is beyond VRAM", value);
        core_device_error(core, PPU_DEVERR_PROT);
        return;
    }
    reg_set(core, offset, value);
    profile_recheck(core);
}

static void prot_base(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    prot_write(core, PPU_REG_PROT_BASE, value);
}

static void prot_limit(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    prot_write(core, PPU_REG_PROT_LIMIT, value);
}

static void profile_period(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_PROFILE_PERIOD, value);
    profile_setup(core);
}

static void mmu_flush(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    dist_flush_request(core, value);
}

static void submit_dma(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    dma_submit(core, value);
}

static uint32_t queued(struct core *core, uint32_t index, enum core_side side)
{
    (void)index, (void)side;
    return core->dma.count;
}

static void cancel(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    dma_cancel(core, value);
}

static void disarm(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    if (value >= PPU_MAX_ARMED) {
        core_guest_error(core, "SEM_DISARM: no entry %u", value);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    semtab_disarm(core, value);
}

static void set_mark(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    trace_mark(core, value, PPU_TRACE_UNIT_MCU);
    reg_set(core, PPU_REG_HOOK_MARK_HELD, hook_holds(core, value) ? value : 0);
}

/* The register keeps the mark that the MCU is held at. */
static uint32_t mark_held(struct core *core, uint32_t index, enum core_side side)
{
    bool held = hook_holds(core, reg_get(core, PPU_REG_HOOK_MARK_HELD));

    (void)index;
    if (!held && side == CORE_MCU) {
        reg_set(core, PPU_REG_HOOK_MARK_HELD, 0);
    }
    return held;
}

static void log_putc(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    core->ops.log_char(core->opaque, (char)value);
}

static uint32_t fail_alloc(struct core *core, uint32_t index, enum core_side side)
{
    (void)index;
    return side == CORE_MCU ? hook_alloc_take(core) : reg_get(core, PPU_REG_HOOK_FAIL_ALLOC);
}

static void hold_mark(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_HOOK_HOLD_MARK, value);
    if (value != PPU_MARK_COPY_STEP) {
        dma_release(core);
    }
    sm_wake(core);
}

static void hold_also(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_HOOK_HOLD_ALSO, value);
    sm_wake(core);
}

static uint32_t held(struct core *core, uint32_t index, enum core_side side)
{
    return __atomic_load_n(&core->hook_held_count, __ATOMIC_SEQ_CST) + core->dma.held + mark_held(core, index, side);
}

static void release_hook(struct core *core, uint32_t index, uint32_t value)
{
    (void)index, (void)value;
    hook_release(core);
}

static void slot_start(struct core *core, uint32_t index, uint32_t value)
{
    dist_start(core, index, value);
}

static void slot_rank(struct core *core, uint32_t index, uint32_t value)
{
    dist_rank(core, index, value);
}

static void ctx_save(struct core *core, uint32_t index, uint32_t value)
{
    if (dist_runs(core, index)) {
        core_guest_error(core, "CTX_SAVE[%u]: a slot has a task of the address space", index);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    bool opened = dist_area(core, index, value);
    reg_set(core, PPU_REG_CTX_SAVE + 4 * index, opened ? value : 0);
    if (!opened) {
        core_guest_error(core, "CTX_SAVE: no area of %u bytes can lie at 0x%x", switch_bytes(core), value);
        core_device_error(core, PPU_DEVERR_ARG);
    }
}

static uint32_t ctx_time_us(struct core *core, uint32_t index, enum core_side side)
{
    (void)side;
    return (uint32_t)(sm_time_ns(core, index) / 1000u);
}

static uint32_t read_switch_bytes(struct core *core, uint32_t index, enum core_side side)
{
    (void)index;
    (void)side;
    return switch_bytes(core);
}

static void slot_limit(struct core *core, uint32_t index, uint32_t value)
{
    dist_limit(core, index, value);
}

static void slot_control(struct core *core, uint32_t index, uint32_t value)
{
    dist_control(core, index, value);
}

static void slot_linger(struct core *core, uint32_t index, uint32_t value)
{
    (void)index;
    reg_set(core, PPU_REG_SLOT_LINGER, value);
    dist_linger(core);
}

static uint32_t slot_run_us(struct core *core, uint32_t index, enum core_side side)
{
    (void)side;
    return (uint32_t)(dist_run_ns(core, index) / 1000u);
}

static uint32_t slot_still_us(struct core *core, uint32_t index, enum core_side side)
{
    (void)side;
    return (uint32_t)(dist_still_ns(core, index) / 1000u);
}

static uint32_t slot_waiting(struct core *core, uint32_t index, enum core_side side)
{
    (void)side;
    return dist_waiting(core, index);
}

static uint32_t slot_state(struct core *core, uint32_t index, enum core_side side)
{
    (void)side;
    return dist_state(core, index);
}

#define PPU_COUNTER(name, number, doc)                                                        \
    static uint32_t count_##name##_LO(struct core *core, uint32_t index, enum core_side side) \
    {                                                                                         \
        (void)side;                                                                           \
        return (uint32_t)sm_count(core, index, PPU_COUNTER_##name);                           \
    }                                                                                         \
    static uint32_t count_##name##_HI(struct core *core, uint32_t index, enum core_side side) \
    {                                                                                         \
        (void)side;                                                                           \
        return (uint32_t)(sm_count(core, index, PPU_COUNTER_##name) >> 32);                   \
    }
#include "ppu/counter.def"
#undef PPU_COUNTER

#define GPC_COUNTER(name)                                                                         \
    static uint32_t count_GPC_##name##_LO(struct core *core, uint32_t index, enum core_side side) \
    {                                                                                             \
        (void)side;                                                                               \
        return (uint32_t)sm_gpc_count(core, index, GPC_##name);                                   \
    }                                                                                             \
    static uint32_t count_GPC_##name##_HI(struct core *core, uint32_t index, enum core_side side) \
    {                                                                                             \
        (void)side;                                                                               \
        return (uint32_t)(sm_gpc_count(core, index, GPC_##name) >> 32);                           \
    }
GPC_COUNTER_ROWS(GPC_COUNTER)
#undef GPC_COUNTER

#define LIMIT(member) .limit = offsetof(struct core_config, member)

static const struct row_hooks hooks[ROW_COUNT] = {
    [ROW_TIME_LO] = { .read = time_lo },
    [ROW_TIME_HI] = { .read = time_hi },
    [ROW_TIMER_HI] = { .write = timer_hi },
    [ROW_MCU_CONTROL] = { .write = control },
    [ROW_MCU_STATE] = { .read = mcu_state },
    [ROW_DEVICE_RESET] = { .write = device_reset },
    [ROW_ADMIN_DOORBELL] = { .write = admin_doorbell },
    [ROW_VECTOR_RAISE] = { .write = vector_raise },
    [ROW_IRQ_PENDING] = { .write = irq_pending },
    [ROW_MCU_IDLE] = { .read = mcu_idle },
    [ROW_DB_NEXT] = { .read = db_next },
    [ROW_DB_TAKE] = { .write = db_take },
    [ROW_RING_BASE] = { .write = ring_base, .error = PPU_DEVERR_RING },
    [ROW_TRACE_BASE] = { .write = trace_base, .error = PPU_DEVERR_TRACE },
    [ROW_FW_TRACE_BASE] = { .write = fw_trace_base, .error = PPU_DEVERR_TRACE },
    [ROW_FW_TRACE_ADD] = { .write = fw_trace_add },
    [ROW_STATE_UPDATE] = { .write = state_update },
    [ROW_TOKEN_BASE] = { .write = token_base },
    [ROW_TOKEN_MOVE] = { .write = token_move },
    [ROW_PROT_BASE] = { .write = prot_base, .error = PPU_DEVERR_PROT },
    [ROW_PROT_LIMIT] = { .write = prot_limit, .error = PPU_DEVERR_PROT },
    [ROW_MMU_FLUSH] = { .write = mmu_flush },
    [ROW_DMA_SUBMIT] = { .write = submit_dma },
    [ROW_DMA_QUEUED] = { .read = queued },
    [ROW_DMA_CANCEL] = { .write = cancel },
    [ROW_SEM_DISARM] = { .write = disarm },
    [ROW_MARK] = { .write = set_mark },
    [ROW_LOG_PUTC] = { .write = log_putc },
    [ROW_PROFILE_PERIOD] = { .write = profile_period },
    [ROW_HOOK_FAIL_ALLOC] = { .read = fail_alloc },
    [ROW_HOOK_HOLD_MARK] = { .write = hold_mark },
    [ROW_HOOK_HELD] = { .read = held },
    [ROW_HOOK_RELEASE] = { .write = release_hook },
    [ROW_HOOK_HOLD_ALSO] = { .write = hold_also },
    [ROW_HOOK_MARK_HELD] = { .read = mark_held },
    [ROW_SLOT_START] = { .write = slot_start, LIMIT(slots), .error = PPU_DEVERR_SLOT },
    [ROW_SLOT_CONTROL] = { .write = slot_control, LIMIT(slots), .error = PPU_DEVERR_SLOT },
    [ROW_SLOT_LIMIT] = { .write = slot_limit, LIMIT(slots), .error = PPU_DEVERR_SLOT },
    [ROW_SLOT_RUN_US] = { .read = slot_run_us, LIMIT(slots) },
    [ROW_SLOT_STILL_US] = { .read = slot_still_us, LIMIT(slots) },
    [ROW_SLOT_STATE] = { .read = slot_state, LIMIT(slots) },
#define PPU_COUNTER(name, number, doc)                                \
    [ROW_SM_##name##_LO] = { .read = count_##name##_LO, LIMIT(sms) }, \
    [ROW_SM_##name##_HI] = { .read = count_##name##_HI, LIMIT(sms) },
#include "ppu/counter.def"
#undef PPU_COUNTER
#define GPC_COUNTER(name)                                                   \
    [ROW_GPC_##name##_LO] = { .read = count_GPC_##name##_LO, LIMIT(gpcs) }, \
    [ROW_GPC_##name##_HI] = { .read = count_GPC_##name##_HI, LIMIT(gpcs) },
    GPC_COUNTER_ROWS(GPC_COUNTER)
#undef GPC_COUNTER
        [ROW_SLOT_RANK] = { .write = slot_rank, LIMIT(slots), .error = PPU_DEVERR_SLOT },
    [ROW_SLOT_WAITING] = { .read = slot_waiting },
    [ROW_SLOT_LINGER] = { .write = slot_linger },
    [ROW_CTX_SAVE] = { .write = ctx_save, LIMIT(contexts) },
    [ROW_CTX_TIME_US] = { .read = ctx_time_us, LIMIT(contexts) },
    [ROW_SWITCH_BYTES] = { .read = read_switch_bytes },
    [ROW_CTX_ROOT] = { LIMIT(contexts) },
    [ROW_GP_PUT] = { LIMIT(channels) },
    [ROW_GP_GET] = { LIMIT(channels) },
};

/* ---- access ---- */

static const struct row_info *find_row(struct core *core, uint32_t offset, uint32_t *index)
{
    uint32_t row = offset % 4 == 0 && offset < PPU_REG_SPACE ? core->reg_row[offset / 4] : ROW_NONE;

    if (row == ROW_NONE || (rows[row].owner == HOOK && !core->config.test_hooks)) {
        return NULL;
    }
    *index = (offset - rows[row].offset) / 4;
    return &rows[row];
}

/* Elements that this machine has; those beyond read zero and hold nothing. */
static bool exists(const struct core *core, const struct row_hooks *hook, uint32_t index)
{
    const uint8_t *config = (const uint8_t *)&core->config;

    return hook->limit == 0 || index < *(const uint32_t *)(const void *)(config + hook->limit);
}

static const char *side_name(enum core_side side)
{
    return side == CORE_HOST ? "host" : "MCU";
}

uint32_t core_reg_read(struct core *core, enum core_side side, uint32_t offset)
{
    uint32_t index = 0;
    const struct row_info *info = find_row(core, offset, &index);

    if (!info) {
        core_guest_error(core, "%s reads 0x%x: no such register", side_name(side), offset);
        return 0;
    }
    if (info->access[side] == NO || info->access[side] == WO) {
        core_guest_error(core, "%s reads %s: not readable", side_name(side), info->name);
        return 0;
    }
    const struct row_hooks *hook = &hooks[info - rows];
    if (!exists(core, hook, index)) {
        core_guest_error(core, "%s reads %s[%u]: this device has fewer", side_name(side), info->name, index);
        return 0;
    }
    return hook->read ? hook->read(core, index, side) : reg_get(core, offset);
}

static void write_row(struct core *core, const struct row_info *info, enum core_side side, uint32_t index,
                      uint32_t value)
{
    const struct row_hooks *hook = &hooks[info - rows];
    uint32_t offset = info->offset + 4 * index;

    if (hook->write) {
        hook->write(core, index, value);
    } else if (info->access[side] == W1C) {
        __atomic_fetch_and(&core->reg[offset / 4], ~value, __ATOMIC_SEQ_CST);
    } else {
        reg_set(core, offset, value);
    }
}

/* The host learns of its errors by the log alone. */
static void refuse(struct core *core, const struct row_info *info, enum core_side side)
{
    const uint32_t error = hooks[info - rows].error;

    if (side == CORE_MCU) {
        core_device_error(core, error != 0 ? error : PPU_DEVERR_ARG);
    }
}

void core_reg_write(struct core *core, enum core_side side, uint32_t offset, uint32_t value)
{
    uint32_t index = 0;
    const struct row_info *info = find_row(core, offset, &index);

    if (core->dma_depth != 0) {
        core_guest_error(core, "the PPU's own DMA wrote to its registers");
        return;
    }
    if (!info) {
        core_guest_error(core, "%s writes 0x%x: no such register", side_name(side), offset);
        return;
    }
    if (info->access[side] == NO || info->access[side] == RO) {
        core_guest_error(core, "%s writes %s: not writable", side_name(side), info->name);
        return;
    }
    if (!exists(core, &hooks[info - rows], index)) {
        core_guest_error(core, "%s writes %s[%u]: this device has fewer", side_name(side), info->name, index);
        refuse(core, info, side);
        return;
    }
    if ((value & ~info->mask) != 0 && info->access[side] != W1C) {
        core_guest_error(core, "%s writes 0x%x to %s: bits 0x%x are reserved", side_name(side), value, info->name,
                         value & ~info->mask);
        refuse(core, info, side);
        return;
    }
    write_row(core, info, side, index, value);
}

/* ---- reset ---- */

struct identity {
    uint32_t offset;
    uint32_t value;
};

static void set_identity(struct core *core)
{
    const struct core_config *config = &core->config;
    const uint32_t built = PPU_FEATURE_TASKQ | PPU_FEATURE_NESTED;
    const struct identity values[] = {
        { PPU_REG_FEATURES, built | (config->test_hooks ? PPU_FEATURE_TEST_HOOKS : 0) |
                                (config->subvector ? PPU_FEATURE_SUBVECTOR : 0) |
                                (config->cache_model ? PPU_FEATURE_CACHE_MODEL : 0) },
        { PPU_REG_VRAM_SIZE_LO, (uint32_t)config->vram_bytes },
        { PPU_REG_VRAM_SIZE_HI, (uint32_t)(config->vram_bytes >> 32) },
        { PPU_REG_CHANNELS, config->channels },
        { PPU_REG_CONTEXTS, config->contexts },
        { PPU_REG_SLOTS, config->slots },
        { PPU_REG_GPCS, config->gpcs },
        { PPU_REG_SMS, config->sms },
        { PPU_REG_SM_WARPS, config->sm_warps },
        { PPU_REG_SM_CTAS, config->sm_ctas },
        { PPU_REG_SM_VREGS, config->sm_vregs },
        { PPU_REG_SM_SHARED, config->sm_shared },
        { PPU_REG_ARMED, PPU_MAX_ARMED },
        { PPU_REG_COPIES, PPU_MAX_COPIES },
        { PPU_REG_INSTANCE, config->instance },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(values); i++) {
        reg_set(core, values[i].offset, values[i].value);
    }
}

static void reset_row(struct core *core, enum row row)
{
    for (uint32_t index = 0; index < rows[row].count; index++) {
        reg_set(core, rows[row].offset + 4 * index, rows[row].reset);
    }
}

void regs_reset_host(struct core *core)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        if (rows[row].owner == HOST || rows[row].owner == HOOK) {
            reset_row(core, row);
        }
    }
}

void regs_reset_mcu(struct core *core)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        if (rows[row].owner == MCU) {
            reset_row(core, row);
        }
    }
}

void regs_init(struct core *core)
{
    for (uint32_t i = 0; i < PPU_REG_SPACE / 4; i++) {
        core->reg_row[i] = ROW_NONE;
    }
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        for (uint32_t index = 0; index < rows[row].count; index++) {
            core->reg_row[rows[row].offset / 4 + index] = (uint8_t)row;
        }
        reset_row(core, row);
    }
    set_identity(core);
}

/* ---- snapshot ---- */

/* Elements of the row, from the first on, that a snapshot has: those that the machine has, and may hold something. */
static uint32_t saved_elements(const struct core *core, enum row row)
{
    uint32_t count = 0;

    while (rows[row].owner != DEVICE && count < rows[row].count && exists(core, &hooks[row], count)) {
        count++;
    }
    return count;
}

void regs_save(struct core *core, struct snap *snap)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        const uint32_t count = saved_elements(core, row);

        for (uint32_t index = 0; index < count; index++) {
            snap_put_u32(snap, reg_get(core, rows[row].offset + 4 * index));
        }
    }
    snap_put_u32(snap, reg_get(core, PPU_REG_MCU_STATE));
    snap_put_u64(snap, core->timer_ns);
}

static bool rows_usable(const struct core *core, struct snap *snap)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        const bool absent = rows[row].owner == HOOK && !core->config.test_hooks;
        const uint32_t count = saved_elements(core, row);

        for (uint32_t index = 0; index < count; index++) {
            if (absent && reg_get(core, rows[row].offset + 4 * index) != rows[row].reset) {
                return snap_refuse(snap, "%s[%u] does not exist here, and holds something", rows[row].name, index);
            }
            if ((reg_get(core, rows[row].offset + 4 * index) & ~rows[row].mask) != 0) {
                return snap_refuse(snap, "%s[%u] is 0x%x, with reserved bits", rows[row].name, index,
                                   reg_get(core, rows[row].offset + 4 * index));
            }
        }
    }
    return true;
}

/* A doorbell that rings is found by the MCU: each bit leads to the next. */
static bool doorbells_usable(const struct core *core, struct snap *snap)
{
    for (uint32_t word = 0; word < PPU_MAX_CHANNELS / 32; word++) {
        const uint32_t pending = reg_get(core, PPU_REG_DB_PENDING + 4 * word), first = 32 * word;
        const uint32_t summary = reg_get(core, PPU_REG_DB_SUMMARY + 4 * (word / 32));
        const uint32_t there = core->config.channels > first ? core->config.channels - first : 0;

        if (there < 32 && pending >> there != 0) {
            return snap_refuse(snap, "a doorbell rings of a channel that does not exist");
        }
        if ((pending != 0) != (summary >> word % 32 & 1)) {
            return snap_refuse(snap, "DB_SUMMARY and word %u of DB_PENDING contradict each other", word);
        }
    }
    return true;
}

/* Values that have a side effect or a meaning to the device; the others are what some side wrote. */
static bool regs_usable(const struct core *core, struct snap *snap)
{
    const uint32_t first = reg_get(core, PPU_REG_PROT_BASE), end = reg_get(core, PPU_REG_PROT_LIMIT);

    if (first > core->config.vram_bytes || end > core->config.vram_bytes) {
        return snap_refuse(snap, "the protected range from 0x%x to 0x%x is beyond VRAM", first, end);
    }
    if (reg_get(core, PPU_REG_MCU_STATE) > PPU_MCU_LOCKUP) {
        return snap_refuse(snap, "MCU_STATE is %u", reg_get(core, PPU_REG_MCU_STATE));
    }
    return rows_usable(core, snap) && doorbells_usable(core, snap);
}

void regs_load(struct core *core, struct snap *snap)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        const uint32_t count = saved_elements(core, row);

        for (uint32_t index = 0; index < count; index++) {
            reg_set(core, rows[row].offset + 4 * index, snap_get_u32(snap));
        }
    }
    reg_set(core, PPU_REG_MCU_STATE, snap_get_u32(snap));
    core->timer_ns = snap_get_u64(snap);
    if (!snap->bad) {
        regs_usable(core, snap);
        profile_setup(core);
    }
}
