/* SPDX-License-Identifier: MIT */
/*
 * Writes abi.s, the symbols of the assembler's device library, from the structures and constants of the ABI.
 *
 * usage: device-lib-abi                 prints abi.s
 *        device-lib-abi --check FILE    prints TAP: a failed test when FILE is not what it would print
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ppu/channel.h"
#include "ppu/devlib.h"
#include "ppu/heap.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/nest.h"
#include "ppu/taskq.h"
#include "ppu/workq.h"

#define ABI_BYTES (16u * 1024u)

/* Command blocks that workq.s writes. */
struct workq_acquire {
    uint32_t method, va_lo, va_hi, value, compare;
};
struct workq_end {
    struct ppu_block_header head;
    uint32_t wait_idle;
    struct {
        uint32_t method, va_lo, va_hi, value, flags;
    } release;
    struct workq_acquire acquire;
};
struct workq_launch {
    struct ppu_block_header head;
    uint32_t launch[4];
    uint32_t unused[8];
    uint8_t tmd[192]; /* struct ppu_tmd */
    uint8_t param[];
};

#define OFFSET(type, member) { #type "." #member, (int64_t)offsetof(struct type, member) },
#define SIZE(type) { #type ".size", (int64_t)sizeof(struct type) },
#define VALUE(name) { #name, (int64_t)(name) },

static const struct {
    const char *name;
    int64_t value;
} symbols[] = {
    /* clang-format off */
    VALUE(PPU_DEVLIB_NO_RECORD) VALUE(PPU_DEVLIB_TOO_DEEP) VALUE(PPU_DEVLIB_NO_NEST) VALUE(PPU_DEVLIB_TASKQ_FULL)
    VALUE(PPU_DEVLIB_CLOSED) VALUE(PPU_DEVLIB_TOO_LONG) VALUE(PPU_DEVLIB_PRIVATE) VALUE(PPU_DEVLIB_HEAP_FULL)
    VALUE(PPU_DEVLIB_NOT_A_TASK) VALUE(PPU_DEVLIB_NO_STREAM)

    VALUE(PPU_TASK_WAITING) VALUE(PPU_STREAM_NONE) VALUE(PPU_GROUP_TMDQS) VALUE(PPU_NEST_INLINE_PARAM)
    { "ppu_group.stream_mask", PPU_GROUP_TMDQS - 1 },
    { "ppu_task.index_mask", PPU_TASK_INDEX(UINT32_MAX) },
    { "ppu_nest_task.shift", 10 },
    { "ppu_nest_task.mask", -(int64_t)sizeof(struct ppu_nest_task) },
    { "ppu_nest.tasks_round", sizeof(struct ppu_nest) + sizeof(struct ppu_nest_task) - 1 },
    { "PPU_SHARED_WINDOW.high", PPU_SHARED_WINDOW >> 32 },
    OFFSET(ppu_tmd, param_va) OFFSET(ppu_tmd, param_bytes) OFFSET(ppu_tmd, addresses)
    SIZE(ppu_nest) OFFSET(ppu_nest, tasks) OFFSET(ppu_nest, depth) OFFSET(ppu_nest, free_head)
    OFFSET(ppu_nest, free_tail) OFFSET(ppu_nest, heap_va)
    OFFSET(ppu_nest_task, status.next_stream) OFFSET(ppu_nest_task, nest_va) OFFSET(ppu_nest_task, error)
    OFFSET(ppu_nest_task, group.work) OFFSET(ppu_nest_task, group.streams) OFFSET(ppu_nest_task, group.refused)
    OFFSET(ppu_nest_task, group.last_task) OFFSET(ppu_nest_task, tmd) OFFSET(ppu_nest_task, param)
    OFFSET(ppu_nest_task, groups_va) OFFSET(ppu_nest_task, place)
    { "ppu_cta_group.shift", 3 },
    OFFSET(ppu_cta_group, cta) OFFSET(ppu_cta_group, work) VALUE(PPU_CTA_WORK_ENTRIES)

    VALUE(PPU_HEAP_MIN_CLASS) VALUE(PPU_HEAP_LOOKS)
    { "ppu_heap.class_mask", PPU_HEAP_CLASSES - 1 },
    OFFSET(ppu_heap, bytes) OFFSET(ppu_heap, used) OFFSET(ppu_heap, begun)
    OFFSET(ppu_heap, ended) OFFSET(ppu_heap, free)
    SIZE(ppu_heap_piece) OFFSET(ppu_heap_piece, in_class)

    VALUE(PPU_TASKQ_CLOSED) VALUE(PPU_TASKQ_TICKET_MASK) VALUE(PPU_TASKQ_NOTHING) VALUE(PPU_TASKQ_DATA)
    VALUE(PPU_TASKQ_TASK)
    SIZE(ppu_taskq_head) OFFSET(ppu_taskq_head, entries) OFFSET(ppu_taskq_head, entry_bytes)
    OFFSET(ppu_taskq_head, tail) OFFSET(ppu_taskq_head, armed)
    SIZE(ppu_taskq_entry) OFFSET(ppu_taskq_entry, kind)

    VALUE(PPU_WORKQ_AT_X) VALUE(PPU_WORKQ_ENDED)
    OFFSET(ppu_workq_head, entries) OFFSET(ppu_workq_head, period) OFFSET(ppu_workq_head, channel) OFFSET(ppu_workq_head, block_bytes)
    OFFSET(ppu_workq_head, ring_at) OFFSET(ppu_workq_head, sem_at) OFFSET(ppu_workq_head, soft_put) OFFSET(ppu_workq_head, shadow_put)
    OFFSET(ppu_workq_head, stall) OFFSET(ppu_workq_head, round) OFFSET(ppu_workq_head, x) OFFSET(ppu_workq_head, y)

    SIZE(ppu_block_header)
    { "ppu_block_header.word", PPU_BLOCK_VERSION | sizeof(struct ppu_block_header) << 16 },
#define PPU_METHOD(name, id, count, title, doc) { "method." #name, PPU_METHOD_WORD(id, count) },
#include "ppu/method.def"
#undef PPU_METHOD
    OFFSET(workq_acquire, compare)
    { "workq_acquire.words", sizeof(struct workq_acquire) / 4 },
    SIZE(workq_end) OFFSET(workq_end, wait_idle) OFFSET(workq_end, release.method) OFFSET(workq_end, release.va_lo)
    OFFSET(workq_end, release.va_hi) OFFSET(workq_end, release.value) OFFSET(workq_end, release.flags)
    OFFSET(workq_end, acquire.method) OFFSET(workq_end, acquire.va_lo) OFFSET(workq_end, acquire.va_hi)
    OFFSET(workq_end, acquire.value) OFFSET(workq_end, acquire.compare)
    OFFSET(workq_launch, launch) OFFSET(workq_launch, tmd) OFFSET(workq_launch, param)
    { "workq_launch.words", offsetof(struct workq_launch, unused) / 4 },
    /* clang-format on */
};

PPU_ASSERT_SIZE(struct ppu_tmd, sizeof(((struct workq_launch *)0)->tmd));
PPU_ASSERT_SIZE(struct ppu_nest_task, 1u << 10);

static size_t write_symbols(char *text, size_t size)
{
    int len =
        snprintf(text, size,
                 "# SPDX-License-Identifier: MIT\n#\n"
                 "# What the device library knows of the ABI. `make device-lib` writes this file from abi.c.\n\n");

    for (size_t i = 0; i < PPU_ARRAY_SIZE(symbols) && (size_t)len < size; i++) {
        len += snprintf(text + len, size - (size_t)len, ".set %s, %" PRId64 "\n", symbols[i].name, symbols[i].value);
    }
    return (size_t)len;
}

static int check_file(const char *path, const char *text, size_t len)
{
    static char found[ABI_BYTES];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(found, 1, sizeof(found), file) : 0;
    int same = bytes == len && memcmp(found, text, len) == 0;

    if (file) {
        fclose(file);
    }
    printf("%sok 1 - %s has the offsets and constants of the ABI's headers\n1..1\n", same ? "" : "not ", path);
    if (!same) {
        printf("# stale: `make device-lib` writes it anew\n");
    }
    return !same;
}

int main(int argc, char **argv)
{
    static char text[ABI_BYTES];
    size_t len = write_symbols(text, sizeof(text));

    if (len >= sizeof(text)) {
        fprintf(stderr, "device-lib-abi: error: write abi.s: more than %u bytes\n", ABI_BYTES);
        return 1;
    }
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        return check_file(argv[2], text, len);
    }
    return fwrite(text, 1, len, stdout) == len ? 0 : 1;
}
