/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: the byte string, and the order of its sections. A section is read by the file that wrote it.
 */
#include "snapshot.h"
#include "core_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_MAGIC 0x53555050u /* "PPUS" */
#define SNAPSHOT_VERSION 10u
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
    if (buf == NULL) {
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
    if (snap->bad || len > snap->len - snap->pos) {
        snap->bad = true;
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
        snap->bad = true;
    }
}

/* ---- sections ---- */

struct section {
    uint32_t tag;
    void (*save)(struct core *core, struct snap *snap);
    void (*load)(struct core *core, struct snap *snap);
    const char *error;
};

static void sms_save(struct core *core, struct snap *snap)
{
    sm_pool_save(core, snap);
}

static void sms_load(struct core *core, struct snap *snap)
{
    if (!sm_pool_load(core, snap)) {
        snap->bad = true;
    }
}

static void host_save(struct core *core, struct snap *snap)
{
    snap_put_u32(snap, core->events);
}

static void host_load(struct core *core, struct snap *snap)
{
    uint32_t events = snap_get_u32(snap);

    __atomic_store_n(&core->events, events & (CORE_EVENT_RING | CORE_EVENT_ERROR), __ATOMIC_SEQ_CST);
}

/* In this order: registers say where the protected range is, slots say whose the CTAs are. */
static const struct section sections[] = {
    { TAG('r', 'e', 'g', 's'), regs_save, regs_load, "snapshot: registers are unusable" },
    { TAG('r', 'i', 'n', 'g'), ring_save, ring_load, "snapshot: event rings are unusable" },
    { TAG('t', 'r', 'a', 'c'), trace_save, trace_load, "snapshot: trace ring is unusable" },
    { TAG('s', 'e', 'm', 't'), semtab_save, semtab_load, "snapshot: semaphore table is unusable" },
    { TAG('c', 'o', 'p', 'y'), dma_save, dma_load, "snapshot: queued copies are unusable" },
    { TAG('s', 'l', 'o', 't'), dist_save, dist_load, "snapshot: task-table slots are unusable" },
    { TAG('s', 'm', 's', ' '), sms_save, sms_load, "snapshot: SMs are unusable" },
    { TAG('h', 'o', 's', 't'), host_save, host_load, "snapshot: pending events are unusable" },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

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
    snap_put_u32(snap, config->cache_model);
    snap_put_u32(snap, config->cache_line);
    snap_put_u32(snap, config->l1_bytes);
    snap_put_u32(snap, config->l1_ways);
    snap_put_u32(snap, config->l2_bytes);
    snap_put_u32(snap, config->l2_ways);
}

static bool config_same(const struct core_config *config, struct snap *snap)
{
    struct snap ours = { 0 };
    bool same = false;

    config_save(config, &ours);
    same = !ours.bad && ours.len <= snap->len - snap->pos && memcmp(ours.buf, snap->buf + snap->pos, ours.len) == 0;
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

/* NULL, or what is wrong. */
static const char *load_sections(struct core *core, struct snap *snap)
{
    if (snap_get_u32(snap) != SNAPSHOT_MAGIC || snap_get_u32(snap) != SNAPSHOT_VERSION) {
        return "snapshot: not of a PPU, or of another version";
    }
    if (!config_same(&core->config, snap)) {
        return "snapshot: of a PPU with other sizes";
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        snap_get_section(snap, sections[i].tag);
        if (!snap->bad) {
            sections[i].load(core, snap);
        }
        if (snap->bad) {
            return sections[i].error;
        }
    }
    return snap->pos == snap->len ? NULL : "snapshot: longer than it should be";
}

/* Brings the world outside in line with what was loaded. */
static void announce(struct core *core)
{
    uint32_t pending = reg_get(core, PPU_REG_IRQ_PENDING);

    for (uint32_t line = 0; line < PPU_IRQ_COUNT; line++) {
        core->ops.mcu_irq(core->opaque, line, pending >> line & 1);
    }
    dist_loaded(core);
    core->deadline_ns = CORE_NEVER;
    core_timer_request(core);
    core_kick(core);
}

bool core_load(struct core *core, const uint8_t *buf, size_t len_bytes, const char **error)
{
    /* Read only, whatever the type says. */
    struct snap snap = { .buf = (uint8_t *)(uintptr_t)buf, .len = len_bytes };

    assert(core->paused);
    core_reset_parts(core);
    *error = load_sections(core, &snap);
    if (*error != NULL) {
        core_reset(core);
        return false;
    }
    announce(core);
    return true;
}
