/* SPDX-License-Identifier: MIT */
/*
 * Defines the state area, by which whoever can read VRAM sees what firmware and device do, without being the owner of
 * the device and without either taking part. It lies in the protected range, where struct ppu_fw_info says.
 *
 * The firmware writes once, at its start, where its tables are and where the members that readers know lie in a row.
 * The device copies the tables from the MCU's memory and writes its own measurements when a reader has asked: by adding
 * 1 to `asked`, at which the device looks now and then, or by register STATE_UPDATE.
 */
#ifndef PPU_STATE_H
#define PPU_STATE_H

#include "ppu/base.h"
#include "ppu/counter.h"
#include "ppu/debug.h"
#include "ppu/limits.h"

#define PPU_STATE_VERSION 3u
#define PPU_STATE_LOOK_NS 250000000u   /* the device looks at `asked` at least so often */
#define PPU_STATE_WATCH_NS 20000000u   /* and as often as that after somebody asked, */
#define PPU_STATE_AWAKE_NS 3000000000u /* for so long */

enum ppu_task_state {
#define PPU_TASK_STATE(name, number, doc) PPU_TASK_STATE_##name = (number),
#include "ppu/task_state.def"
    PPU_TASK_STATES,
};

enum ppu_channel_need {
#define PPU_CHANNEL_NEED(name, number, doc) PPU_CHANNEL_NEED_##name = (number),
#include "ppu/task_state.def"
};

enum ppu_state_table_number {
#define PPU_STATE_TABLE(table, number, doc) PPU_STATE_TABLE_##table = (number),
#include "ppu/state.def"
    PPU_STATE_TABLES,
};

/* Members of rows, PPU_STATE_<table>_<name>; those of a table follow one another. */
enum ppu_state_member {
#define PPU_STATE_TASK(name, member, doc) PPU_STATE_TASK_##name,
#define PPU_STATE_CHANNEL(name, member, doc) PPU_STATE_CHANNEL_##name,
#define PPU_STATE_FAULT(name, member, doc) PPU_STATE_FAULT_##name,
#define PPU_STATE_SLOT(name, member, doc) PPU_STATE_SLOT_##name,
#define PPU_STATE_CONTEXT(name, member, doc) PPU_STATE_CONTEXT_##name,
#define PPU_STATE_QUOTA(name, member, doc) PPU_STATE_QUOTA_##name,
#define PPU_STATE_NEST(name, member, doc) PPU_STATE_NEST_##name,
#define PPU_STATE_TASKQ(name, member, doc) PPU_STATE_TASKQ_##name,
#define PPU_STATE_WORKQ(name, member, doc) PPU_STATE_WORKQ_##name,
#define PPU_STATE_POLICY(name, member, doc) PPU_STATE_POLICY_##name,
#define PPU_STATE_STAT(name, member, doc) PPU_STATE_STAT_##name,
#include "ppu/state.def"
    PPU_STATE_MEMBERS,
};

enum ppu_telemetry_device {
#define PPU_TELEMETRY_DEVICE(name, doc) PPU_TELEMETRY_DEVICE_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_DEVICE_ROWS,
};
enum ppu_telemetry_sm {
#define PPU_TELEMETRY_SM(name, doc) PPU_TELEMETRY_SM_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_SM_ROWS,
};
enum ppu_telemetry_gpc {
#define PPU_TELEMETRY_GPC(name, doc) PPU_TELEMETRY_GPC_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_GPC_ROWS,
};
enum ppu_telemetry_thread {
#define PPU_TELEMETRY_THREAD(name, doc) PPU_TELEMETRY_THREAD_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_THREAD_ROWS,
};
enum ppu_telemetry_context {
#define PPU_TELEMETRY_CONTEXT(name, doc) PPU_TELEMETRY_CONTEXT_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_CONTEXT_ROWS,
};
enum ppu_telemetry_slot {
#define PPU_TELEMETRY_SLOT(name, doc) PPU_TELEMETRY_SLOT_##name,
#include "ppu/telemetry.def"
    PPU_TELEMETRY_SLOT_ROWS,
};

/* Describes a table. A pointer to row n of it has the value base + n * stride. */
struct ppu_state_table {
    uint64_t base;
    uint32_t mcu;    /* MCU address from which the device copies it; 0: it lies in VRAM */
    uint32_t vram;   /* VRAM offset of the copy, or of the table */
    uint32_t count;  /* rows */
    uint32_t stride; /* bytes of a row */
};
PPU_ASSERT_SIZE(struct ppu_state_table, 24);

/* Says where a member lies in its row. */
struct ppu_state_span {
    uint16_t offset;
    uint16_t bytes;
};

struct ppu_telemetry {
    uint64_t device[PPU_TELEMETRY_DEVICE_ROWS];
    uint64_t sm[PPU_MAX_SMS][PPU_TELEMETRY_SM_ROWS];
    uint64_t count[PPU_MAX_SMS][PPU_COUNTERS];
    uint64_t gpc[PPU_MAX_GPCS][PPU_TELEMETRY_GPC_ROWS];
    uint64_t thread[PPU_MAX_THREADS][PPU_TELEMETRY_THREAD_ROWS];
    uint64_t context[PPU_MAX_CONTEXTS][PPU_TELEMETRY_CONTEXT_ROWS];
    uint64_t slot[PPU_MAX_SLOTS][PPU_TELEMETRY_SLOT_ROWS];
};

struct ppu_state {
    struct ppu_struct_header head; /* PPU_STATE_VERSION, bytes up to `reserved` and with it */
    uint32_t bytes;                /* of the whole area; firmware */
    uint32_t tables;               /* PPU_STATE_TABLES, PPU_STATE_MEMBERS of who wrote it; firmware */
    uint32_t members;
    uint32_t asked;    /* readers, atomic */
    uint32_t answered; /* what it was when the device began to write last; device, release */
    uint32_t sequence; /* odd while the device writes; device */
    uint32_t reserved[9];
    struct ppu_state_table table[PPU_STATE_TABLES];
    struct ppu_state_span span[PPU_STATE_MEMBERS];
    struct ppu_telemetry telemetry; /* device */
    struct ppu_debug_box debug;     /* debuggers and device (debug.h) */
    /* copies of tables follow */
};
PPU_ASSERT_OFFSET(struct ppu_state, table, 64);

#endif
