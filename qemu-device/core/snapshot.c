/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: the byte string, and the order of its sections. A section is read by the file that wrote it.
 */
#define _DEFAULT_SOURCE /* anonymous mappings */

#include "qemu-device/core/snapshot.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/dist_snapshot.h"
#include "qemu-device/core/memory/clear.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/sm_snapshot.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SNAPSHOT_MAGIC 0x53555050u /* "PPUS" */
#define SNAPSHOT_VERSION 24u
#define FIRST_BYTES 4096u

#define TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* ---- byte string ---- */

static bool snap_room(struct snap *snap, size_t len)
{
    size_t cap = snap->cap != 0 ? snap->cap : FIRST_BYTES;
    uint8_t *buf = NULL;

    if (snap->bad) {
        return false;
    }
    while (cap - snap->len < len && cap <= SIZE_MAX / 2) {
        cap *= 2;
    }
    if (cap == snap->cap) {
        return true;
    }
    buf = realloc(snap->buf, cap);
    if (!buf) {
        snap->bad = true;
        return false;
    }
    snap->buf = buf;
    snap->cap = cap;
    return true;
}

void snap_put_bytes(struct snap *snap, const void *bytes, size_t len)
{
    if (len != 0 && snap_room(snap, len)) {
        memcpy(snap->buf + snap->len, bytes, len);
        snap->len += len;
    }
}

void snap_put_u32(struct snap *snap, uint32_t value)
{
    const uint8_t bytes[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24) };

    snap_put_bytes(snap, bytes, sizeof(bytes));
}

void snap_put_u64(struct snap *snap, uint64_t value)
{
    snap_put_u32(snap, (uint32_t)value);
    snap_put_u32(snap, (uint32_t)(value >> 32));
}

void snap_put_section(struct snap *snap, uint32_t tag)
{
    snap_put_u32(snap, tag);
}

void snap_get_bytes(struct snap *snap, void *bytes, size_t len)
{
    if (len == 0) {
        return; /* of what is not there, which has no address */
    }
    if (!snap->bad && len > snap->len - snap->pos) {
        snap_refuse(snap, "it ends in the middle");
    }
    if (snap->bad) {
        memset(bytes, 0, len);
        return;
    }
    memcpy(bytes, snap->buf + snap->pos, len);
    snap->pos += len;
}

uint32_t snap_get_u32(struct snap *snap)
{
    uint8_t bytes[4];

    snap_get_bytes(snap, bytes, sizeof(bytes));
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint64_t snap_get_u64(struct snap *snap)
{
    uint64_t low = snap_get_u32(snap);

    return low | (uint64_t)snap_get_u32(snap) << 32;
}

void snap_get_section(struct snap *snap, uint32_t tag)
{
    if (snap_get_u32(snap) != tag) {
        snap_refuse(snap, "another section stands here");
    }
}

bool snap_get_flag(struct snap *snap)
{
    uint32_t value = snap_get_u32(snap);

    if (value > 1) {
        snap_refuse(snap, "%u stands where 0 or 1 must", value);
    }
    return value == 1;
}

static size_t add_units(const struct snap *snap, char *text, size_t size, size_t at)
{
    static const char *const names[SNAP_UNITS] = { "slot", "SM", "CTA", "warp" };

    for (uint32_t unit = 0; unit < SNAP_UNITS && at < size; unit++) {
        if (snap->unit[unit] != SNAP_NO_UNIT) {
            at += (size_t)snprintf(text + at, size - at, ", %s %u", names[unit], snap->unit[unit]);
        }
    }
    return at;
}

bool snap_refuse(struct snap *snap, const char *format, ...)
{
    char *const text = snap->why;
    const size_t size = sizeof(snap->why);
    size_t at;
    va_list args;

    if (!snap->bad && snap->part) {
        at = (size_t)snprintf(text, size, "snapshot: %s", snap->part);
        at = add_units(snap, text, size, at);
        at += (size_t)snprintf(text + at, at < size ? size - at : 0, ", before byte %zu: ", snap->pos);
        if (at < size) {
            va_start(args, format);
            vsnprintf(text + at, size - at, format, args);
            va_end(args);
        }
    }
    snap->bad = true;
    return false;
}

/* ---- sections ---- */

struct section {
    uint32_t tag;
    void (*save)(struct core *core, struct snap *snap);
    void (*load)(struct core *core, struct snap *snap);
    const char *part;
};

static void sms_save(struct core *core, struct snap *snap)
{
    sm_pool_save(core, snap);
}

static void sms_load(struct core *core, struct snap *snap)
{
    if (!sm_pool_load(core, snap)) {
        snap_refuse(snap, "no state of this machine's SMs");
    }
}

static void host_save(struct core *core, struct snap *snap)
{
    snap_put_u32(snap, core->events);
    clear_save(core, snap);
}

static void host_load(struct core *core, struct snap *snap)
{
    uint32_t events = snap_get_u32(snap);

    if (events & ~(CORE_EVENT_RING | CORE_EVENT_ERROR)) {
        snap_refuse(snap, "events 0x%x", events);
    }
    __atomic_store_n(&core->events, events, __ATOMIC_SEQ_CST);
    clear_load(core, snap);
}

/* In this order: registers say where the protected range is, slots say whose the CTAs are. */
static const struct section sections[] = {
    { TAG('r', 'e', 'g', 's'), regs_save, regs_load, "registers" },
    { TAG('r', 'i', 'n', 'g'), ring_save, ring_load, "event rings" },
    { TAG('t', 'r', 'a', 'c'), trace_save, trace_load, "trace ring" },
    { TAG('s', 'e', 'm', 't'), semtab_save, semtab_load, "semaphore table" },
    { TAG('c', 'o', 'p', 'y'), dma_save, dma_load, "queued copies" },
    { TAG('s', 'l', 'o', 't'), dist_save, dist_load, "task-table slots" },
    { TAG('s', 'm', 's', ' '), sms_save, sms_load, "SMs" },
    { TAG('h', 'o', 's', 't'), host_save, host_load, "pending events" },
};
#define SECTIONS PPU_ARRAY_SIZE(sections)

/* Members of struct core_config that the state depends on; threads and instance may differ. */
static void config_save(const struct core_config *config, struct snap *snap)
{
    snap_put_u64(snap, config->vram_bytes);
    snap_put_u32(snap, config->channels);
    snap_put_u32(snap, config->contexts);
    snap_put_u32(snap, config->slots);
    snap_put_u32(snap, config->gpcs);
    snap_put_u32(snap, config->sms);
    snap_put_u32(snap, config->sm_warps);
    snap_put_u32(snap, config->sm_ctas);
    snap_put_u32(snap, config->sm_vregs);
    snap_put_u32(snap, config->sm_shared);
    snap_put_u32(snap, config->test_hooks);
    snap_put_u32(snap, config->subvector);
    snap_put_u32(snap, config->cache_model);
    snap_put_u32(snap, config->cache_line);
    snap_put_u32(snap, config->l1_bytes);
    snap_put_u32(snap, config->l1_ways);
    snap_put_u32(snap, config->l15_bytes);
    snap_put_u32(snap, config->l15_ways);
    snap_put_u32(snap, config->l2_bytes);
    snap_put_u32(snap, config->l2_ways);
    snap_put_u32(snap, config->gpc_tlb);
    snap_put_u32(snap, config->gpc_tlb_ways);
}

static bool config_same(const struct core_config *config, struct snap *snap)
{
    struct snap ours = { 0 };

    config_save(config, &ours);
    bool same =
        !ours.bad && ours.len <= snap->len - snap->pos && memcmp(ours.buf, snap->buf + snap->pos, ours.len) == 0;
    if (same) {
        snap->pos += ours.len;
    }
    free(ours.buf);
    return same;
}

uint8_t *core_save(struct core *core, size_t *len_bytes)
{
    struct snap snap = { 0 };

    assert(core->paused);
    snap_put_u32(&snap, SNAPSHOT_MAGIC);
    snap_put_u32(&snap, SNAPSHOT_VERSION);
    config_save(&core->config, &snap);
    for (size_t i = 0; i < SECTIONS; i++) {
        snap_put_section(&snap, sections[i].tag);
        sections[i].save(core, &snap);
    }
    if (snap.bad) {
        free(snap.buf);
        return NULL;
    }
    *len_bytes = snap.len;
    return snap.buf;
}

static void begin_part(struct snap *snap, const char *part)
{
    snap->part = part;
    for (uint32_t unit = 0; unit < SNAP_UNITS; unit++) {
        snap->unit[unit] = SNAP_NO_UNIT;
    }
}

static void load_head(const struct core *core, struct snap *snap)
{
    begin_part(snap, "head");
    if (snap_get_u32(snap) != SNAPSHOT_MAGIC) {
        snap_refuse(snap, "it is not of a PPU");
    }
    if (snap_get_u32(snap) != SNAPSHOT_VERSION) {
        snap_refuse(snap, "it is of another version than %u", SNAPSHOT_VERSION);
    }
    if (!snap->bad && !config_same(&core->config, snap)) {
        snap_refuse(snap, "it is of a PPU with other sizes");
    }
}

/* `snap` says what is wrong. What is in VRAM is not looked at. */
static void load_sections(struct core *core, struct snap *snap)
{
    load_head(core, snap);
    for (size_t i = 0; i < SECTIONS && !snap->bad; i++) {
        begin_part(snap, sections[i].part);
        snap_get_section(snap, sections[i].tag);
        if (!snap->bad) {
            sections[i].load(core, snap);
        }
    }
    begin_part(snap, "the whole");
    if (!snap->bad && snap->pos != snap->len) {
        snap_refuse(snap, "it is longer than it should be");
    }
    if (!snap->bad) {
        dist_check(core, snap);
    }
}

/* ---- a device that nobody sees: it has the clock of the one that is to get the state, and memory of its own ---- */

static void no_irq(void *opaque, uint32_t line, bool level)
{
    (void)opaque, (void)line, (void)level;
}

static void no_deadline(void *opaque, uint64_t deadline_ns)
{
    (void)opaque, (void)deadline_ns;
}

static void no_kick(void *opaque)
{
    (void)opaque;
}

/* What is wrong with the state makes it be refused, or is put right without a word. */
static void no_sentence(void *opaque, const char *sentence)
{
    (void)opaque, (void)sentence;
}

static uint64_t same_clock(void *opaque)
{
    return core_now(opaque);
}

static const struct core_host_ops unseen_ops = {
    .mcu_irq = no_irq,
    .timer_set = no_deadline,
    .kick = no_kick,
    .now_ns = same_clock,
    .guest_error = no_sentence,
};

/* Loads the state there, where it can do no harm; false: `snap` says why not. */
static bool try_elsewhere(struct core *core, struct snap *snap)
{
    struct core_config config = core->config;
    size_t bytes = config.vram_bytes;
    void *vram = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    config.sm_threads = 0;
    struct core *unseen = vram != MAP_FAILED ? core_new(&config, vram, &unseen_ops, core) : NULL;
    if (unseen) {
        load_sections(unseen, snap);
    } else {
        begin_part(snap, "the whole");
        snap_refuse(snap, "there is no memory to check it");
    }
    core_free(unseen);
    if (vram != MAP_FAILED) {
        munmap(vram, bytes);
    }
    return !snap->bad;
}

/* Brings the world outside in line with what was loaded. */
static void announce(struct core *core)
{
    uint32_t pending = reg_get(core, PPU_REG_IRQ_PENDING);

    for (uint32_t line = 0; line < PPU_IRQ_COUNT; line++) {
        core->ops.mcu_irq(core->opaque, line, pending >> line & 1);
    }
    dist_loaded(core);
    core->ops.vram_hide(core->opaque, clear_going(core));
    core->deadline_ns = CORE_NEVER;
    core_timer_request(core);
    core_kick(core);
}

/* Twice: what has been loaded elsewhere can be loaded here, so that a state takes effect as a whole or not at all. */
bool core_load(struct core *core, const uint8_t *buf, size_t len_bytes, const char **error)
{
    /* Read only, whatever the type says. */
    struct snap snap = { .buf = (uint8_t *)(uintptr_t)buf, .len = len_bytes };

    assert(core->paused);
    *error = NULL;
    if (!try_elsewhere(core, &snap)) {
        memcpy(core->refusal, snap.why, sizeof(core->refusal));
        *error = core->refusal;
        return false;
    }
    snap.pos = 0;
    core_reset_parts(core);
    load_sections(core, &snap);
    assert(!snap.bad);
    announce(core);
    return true;
}
