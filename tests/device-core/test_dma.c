/* SPDX-License-Identifier: MIT */
/*
 * Tests descriptors: copies between all address spaces against a model, queued copies, probes, semaphores.
 */
#include "qemu-device/core/memory/guest_mem.h"
#include "tests/device-core/board.h"

#include "ppu/channel.h"
#include "ppu/dma.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/save.h"
#include "ppu/sem.h"
#include "ppu/trace.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define CTX 1u
#define STEP_NS 4000u
/* Virtual pages of the context: WINDOW_PAGES of 64 KiB, in a random mix of VRAM and system memory. */
#define WINDOW_VA 0x7f0000000000ull
#define WINDOW_PAGES 16u
#define WINDOW_BYTES (WINDOW_PAGES * PPU_PAGE_64K)
#define VRAM_PAGE(i) (HEAP_AT + (uint64_t)(i)*PPU_PAGE_64K)
#define SYS_PAGE(i) (SYS_BASE + (uint64_t)(i)*PPU_PAGE_64K)
#define RW (PPU_PTE_WRITE | PPU_PTE_ATOMIC)

static int setup(void **state)
{
    const struct core_config config = board_small_config(0);
    struct board *board = board_new(&config);

    board_boot(board);
    *state = board;
    return 0;
}

static int teardown(void **state)
{
    board_free(*state);
    return 0;
}

/* Maps the window so that neighbours in it are strangers in memory. */
static void map_window(struct board *board, uint64_t *random)
{
    uint32_t order[WINDOW_PAGES] = { 0 };

    for (uint32_t i = 0; i < WINDOW_PAGES; i++) {
        uint32_t j = random_below(random, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < WINDOW_PAGES; i++) {
        bool system = random_below(random, 2) == 0;

        map_page(board, CTX, WINDOW_VA + (uint64_t)i * PPU_PAGE_64K, system ? SYS_PAGE(order[i]) : VRAM_PAGE(order[i]),
                 PPU_PTE_64K, RW | (system ? PPU_PTE_SYSTEM : 0));
    }
}

/* A space's bytes, one at a time, by the test's own knowledge. */
static uint8_t *byte_at(struct board *board, uint32_t space, uint64_t addr)
{
    if (space == PPU_SPACE_VRAM) {
        return board->vram + addr;
    }
    if (space == PPU_SPACE_MCU) {
        return board->mcu + (addr - PPU_MCU_DTCM);
    }
    if (space == PPU_SPACE_BUS) {
        return board->sys + (addr - SYS_BASE);
    }
    uint64_t pte = read_pte(board, pte_at(board, space, addr, 0));
    uint64_t frame = (pte & PPU_PTE_FRAME_MASK) + addr % PPU_PAGE_64K;

    return pte & PPU_PTE_SYSTEM ? board->sys + (frame - SYS_BASE) : board->vram + frame;
}

struct region {
    uint32_t space;
    uint64_t base;
    uint32_t bytes;
};

/* Regions that copies choose from; source and destination lie apart. */
static const struct region sources[] = {
    { PPU_SPACE_VRAM, HEAP_AT + 4 * PPU_MIB, PPU_MIB },
    { PPU_SPACE_MCU, PPU_MCU_DTCM + 0x1000, 0x7000 },
    { PPU_SPACE_BUS, SYS_BASE + 2 * PPU_MIB, PPU_MIB },
    { CTX, WINDOW_VA, WINDOW_BYTES / 2 },
};
static const struct region targets[] = {
    { PPU_SPACE_VRAM, HEAP_AT + 6 * PPU_MIB, PPU_MIB },
    { PPU_SPACE_MCU, PPU_MCU_DTCM + 0x8000, 0x8000 },
    { PPU_SPACE_BUS, SYS_BASE + 3 * PPU_MIB, PPU_MIB },
    { CTX, WINDOW_VA + WINDOW_BYTES / 2, WINDOW_BYTES / 2 },
};
#define REGIONS 4u

static struct ppu_dma_desc random_copy(uint64_t *random, uint32_t op, uint32_t max)
{
    const struct region *src = &sources[random_below(random, REGIONS)];
    const struct region *dst = &targets[random_below(random, REGIONS)];
    uint32_t room = PPU_MIN(src->bytes, dst->bytes);
    uint32_t len = random_below(random, PPU_MIN(room, max) + 1);

    return (struct ppu_dma_desc){
        .op = op,
        .src = src->base + random_below(random, src->bytes - len + 1),
        .dst = dst->base + random_below(random, dst->bytes - len + 1),
        .src_space = src->space,
        .dst_space = dst->space,
        .len_bytes = len,
    };
}

static void check_copied(struct board *board, const struct ppu_dma_desc *desc, uint64_t len)
{
    for (uint64_t at = 0; at < len;) {
        /* As far as both sides lie in one piece: pages of the window are 64 KiB. */
        uint64_t left = PPU_PAGE_64K - (desc->src + at) % PPU_PAGE_64K;
        uint64_t right = PPU_PAGE_64K - (desc->dst + at) % PPU_PAGE_64K;
        uint64_t piece = PPU_MIN(left, right);

        piece = piece < len - at ? piece : len - at;
        assert_memory_equal(byte_at(board, desc->dst_space, desc->dst + at),
                            byte_at(board, desc->src_space, desc->src + at), piece);
        at += piece;
    }
}

static void fill(struct board *board, uint64_t *random)
{
    random_bytes(random, board->vram + HEAP_AT, 8 * PPU_MIB);
    random_bytes(random, board->sys, SYS_BYTES);
    random_bytes(random, board->mcu, MCU_BYTES);
}

static void copies_at_once(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    map_window(board, &random);
    fill(board, &random);
    for (uint32_t n = 0; n < 1500; n++) {
        struct ppu_dma_desc desc = random_copy(&random, PPU_DMA_COPY, PPU_COPY_SYNC_MAX);

        assert_int_equal(submit(board, &desc), 0);
        check_copied(board, &desc, desc.len_bytes);
    }
}

/* Bytes beside the destination stay. */
static void copies_stay_inside(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (uint32_t n = 0; n < 500; n++) {
        uint32_t at = random_below(&random, 100) + 16;
        uint32_t len = random_below(&random, 200);
        struct ppu_dma_desc desc = { .op = PPU_DMA_COPY,
                                     .src_space = PPU_SPACE_VRAM,
                                     .dst_space = PPU_SPACE_VRAM,
                                     .src = HEAP_AT + random_below(&random, 64),
                                     .dst = HEAP_AT + PPU_MIB + at,
                                     .len_bytes = len };

        memset(board->vram + HEAP_AT, 0xee, 512);
        memset(board->vram + HEAP_AT + PPU_MIB, 0x11, 512);
        assert_int_equal(submit(board, &desc), 0);
        for (uint32_t i = 0; i < 512; i++) {
            assert_int_equal(board->vram[HEAP_AT + PPU_MIB + i], i >= at && i < at + len ? 0xee : 0x11);
        }
    }
}

static void bad_descriptors(void **state)
{
    struct board *board = *state;
    const struct ppu_dma_desc bad[] = {
        { .op = 0 },
        { .op = 6 },
        { .op = 0xffffffff },
        { .op = PPU_DMA_COPY,
          .len_bytes = PPU_COPY_SYNC_MAX + 1,
          .src_space = PPU_SPACE_VRAM,
          .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_COPY, .flags = 1, .src_space = PPU_SPACE_VRAM, .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_COPY_QUEUED, .flags = 2, .src_space = PPU_SPACE_VRAM, .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_COPY, .len_bytes = 8, .src_space = PPU_SPACE_MCU, .src = 0, .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_COPY,
          .len_bytes = 8,
          .src_space = PPU_SPACE_MCU,
          .src = PPU_MCU_DTCM + MCU_BYTES - 4,
          .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_COPY,
          .len_bytes = 8,
          .src_space = PPU_SPACE_MCU,
          .src = 1ull << 32 | PPU_MCU_DTCM,
          .dst_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_PROBE, .flags = 1, .src_space = PPU_SPACE_VRAM },
        { .op = PPU_DMA_PROBE, .src_space = PPU_SPACE_MCU, .src = PPU_MCU_DTCM },
        { .op = PPU_DMA_SEM_RELEASE, .flags = 2, .dst_space = PPU_SPACE_VRAM, .dst = HEAP_AT },
        { .op = PPU_DMA_SEM_RELEASE, .dst_space = PPU_SPACE_MCU, .dst = PPU_MCU_DTCM },
        { .op = PPU_DMA_SEM_ARM, .entry = PPU_MAX_ARMED, .src_space = PPU_SPACE_VRAM, .src = HEAP_AT },
        { .op = PPU_DMA_SEM_ARM, .flags = 1, .src_space = PPU_SPACE_VRAM, .src = HEAP_AT },
    };
    const uint32_t offsets[] = { 0, PPU_MCU_DTCM - 8, PPU_MCU_DTCM + MCU_BYTES - 64, 0xfffffff8u };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        struct ppu_dma_desc desc = bad[i];

        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        assert_int_equal(submit(board, &desc), PPU_FAULT_BAD_DESC);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_DESC);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(offsets); i++) {
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, PPU_REG_DMA_SUBMIT, offsets[i]);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_DESC);
    }
}

#define HOLE_VA (WINDOW_VA + PPU_PAGE_64K) /* unmapped, behind the window's first page */

static const struct {
    struct ppu_dma_desc desc;
    uint32_t status;
    uint64_t result;
    uint32_t space;
    uint32_t access;
} failures[] = {
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .src = HOLE_VA - 8,
        .src_space = CTX,
        .dst_space = PPU_SPACE_VRAM,
        .dst = HEAP_AT },
      PPU_FAULT_UNMAPPED,
      HOLE_VA,
      CTX,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .dst = HOLE_VA - 8,
        .dst_space = CTX,
        .src_space = PPU_SPACE_VRAM,
        .src = HEAP_AT },
      PPU_FAULT_UNMAPPED,
      HOLE_VA,
      CTX,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .dst = WINDOW_VA + 2 * PPU_PAGE_64K,
        .dst_space = CTX,
        .src_space = PPU_SPACE_VRAM },
      PPU_FAULT_READ_ONLY,
      WINDOW_VA + 2 * PPU_PAGE_64K,
      CTX,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .src = MACHINE_VRAM - 8,
        .src_space = PPU_SPACE_VRAM,
        .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_VRAM_RANGE,
      MACHINE_VRAM - 8,
      PPU_SPACE_VRAM,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .dst = UINT64_MAX - 3,
        .src_space = PPU_SPACE_VRAM,
        .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_BAD_ADDRESS,
      UINT64_MAX - 3,
      PPU_SPACE_VRAM,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_COPY, .len_bytes = 16, .src = 1ull << 48, .src_space = CTX, .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_BAD_ADDRESS,
      1ull << 48,
      CTX,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY, .len_bytes = 16, .src_space = 3, .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_NO_CONTEXT,
      3,
      3,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY, .len_bytes = 16, .src_space = 0x90000000u, .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_NO_CONTEXT,
      0x90000000u,
      0x90000000u,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .src = SYS_BASE + SYS_BYTES,
        .src_space = PPU_SPACE_BUS,
        .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_BUS,
      SYS_BASE + SYS_BYTES,
      PPU_SPACE_BUS,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .src = UINT64_MAX - 31,
        .src_space = PPU_SPACE_BUS,
        .dst_space = PPU_SPACE_VRAM },
      PPU_FAULT_BUS,
      UINT64_MAX - 31,
      PPU_SPACE_BUS,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_COPY,
        .len_bytes = 16,
        .dst = SYS_BASE - 8,
        .dst_space = PPU_SPACE_BUS,
        .src_space = PPU_SPACE_VRAM },
      PPU_FAULT_BUS,
      SYS_BASE - 8,
      PPU_SPACE_BUS,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_PROBE, .src = HOLE_VA, .src_space = CTX }, PPU_FAULT_UNMAPPED, HOLE_VA, CTX, PPU_ACCESS_READ },
    { { .op = PPU_DMA_SEM_RELEASE, .dst = WINDOW_VA + 8, .dst_space = CTX },
      PPU_FAULT_SEM_ALIGN,
      WINDOW_VA + 8,
      CTX,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_SEM_RELEASE, .dst = WINDOW_VA + 2 * PPU_PAGE_64K, .dst_space = CTX },
      PPU_FAULT_READ_ONLY,
      WINDOW_VA + 2 * PPU_PAGE_64K,
      CTX,
      PPU_ACCESS_WRITE },
    { { .op = PPU_DMA_SEM_ARM, .src = WINDOW_VA + 4, .src_space = CTX },
      PPU_FAULT_SEM_ALIGN,
      WINDOW_VA + 4,
      CTX,
      PPU_ACCESS_READ },
    { { .op = PPU_DMA_SEM_ARM, .src = HOLE_VA, .src_space = CTX }, PPU_FAULT_UNMAPPED, HOLE_VA, CTX, PPU_ACCESS_READ },
};

static void failures_say_where(void **state)
{
    struct board *board = *state;

    map_page(board, CTX, WINDOW_VA, HEAP_AT, PPU_PTE_64K, RW);
    map_page(board, CTX, WINDOW_VA + 2 * PPU_PAGE_64K, HEAP_AT, PPU_PTE_64K, 0);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(failures); i++) {
        struct ppu_dma_desc desc = failures[i].desc;

        assert_int_equal(submit(board, &desc), failures[i].status);
        assert_true(desc.result == failures[i].result);
        assert_int_equal(desc.result_space, failures[i].space);
        assert_int_equal(desc.result_access, failures[i].access);
    }
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

/* Each n-th walk, step or bus access of a copy fails: the copy says so, and nothing beyond it was written. */
static void nth_failure(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    map_window(board, &random);
    fill(board, &random);
    for (uint32_t kind = 0; kind < 3; kind++) {
        bool failed = true;

        for (uint32_t n = 1; failed; n++) {
            struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                         .tag = n,
                                         .src_space = CTX,
                                         .dst_space = CTX,
                                         .src = WINDOW_VA + 100,
                                         .dst = WINDOW_VA + WINDOW_BYTES / 2 + 36,
                                         .len_bytes = 3 * PPU_PAGE_64K };
            struct ppu_copy_event event;

            memset(board->vram + HEAP_AT, (int)n, WINDOW_BYTES / 2);
            if (kind == 0) {
                host_write(board, PPU_REG_HOOK_FAIL_WALK, n);
            } else if (kind == 1) {
                host_write(board, PPU_REG_HOOK_FAIL_COPY, n);
            } else {
                board->bus_fails_in = n;
            }
            assert_int_equal(submit(board, &desc), 0);
            board_advance(board, 10 * STEP_NS);
            assert_true(ring_pop(board, PPU_RING_COPY, &event));
            assert_int_equal(event.tag, n);
            failed = event.status != 0;
            if (failed) {
                assert_int_equal(event.status, kind == 0 ? PPU_FAULT_UNMAPPED : PPU_FAULT_BUS);
            }
            assert_true(failed ? event.done_bytes < desc.len_bytes : event.done_bytes == desc.len_bytes);
            check_copied(board, &desc, event.done_bytes);
            assert_true(n < 1000);
        }
        host_write(board, PPU_REG_HOOK_FAIL_WALK, 0);
        host_write(board, PPU_REG_HOOK_FAIL_COPY, 0);
        board->bus_fails_in = 0;
    }
}

static uint32_t arm(struct board *board, uint32_t entry, uint32_t space, uint64_t addr, uint32_t tag)
{
    struct ppu_dma_desc desc = { .op = PPU_DMA_SEM_ARM, .src_space = space, .src = addr, .entry = entry, .tag = tag };

    assert_int_equal(submit(board, &desc), 0);
    return (uint32_t)desc.result;
}

static void bus_master_off(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY,
                                 .len_bytes = 16,
                                 .src = SYS_BASE,
                                 .src_space = PPU_SPACE_BUS,
                                 .dst = HEAP_AT,
                                 .dst_space = PPU_SPACE_VRAM };
    struct ppu_copy_event event;

    board->bus_works = false;
    assert_int_equal(submit(board, &desc), PPU_FAULT_BUS);
    desc.op = PPU_DMA_COPY_QUEUED;
    assert_int_equal(submit(board, &desc), 0);
    desc = (struct ppu_dma_desc){ .op = PPU_DMA_SEM_RELEASE, .dst_space = PPU_SPACE_BUS, .dst = SYS_BASE };
    assert_int_equal(submit(board, &desc), PPU_FAULT_BUS);
    desc = (struct ppu_dma_desc){ .op = PPU_DMA_SEM_ARM, .src_space = PPU_SPACE_BUS, .src = SYS_BASE };
    assert_int_equal(submit(board, &desc), PPU_FAULT_BUS);
    board_advance(board, STEP_NS);
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
    assert_int_equal(event.status, PPU_FAULT_BUS);
    assert_true(event.address == SYS_BASE);
    board->bus_works = true;
    assert_int_equal(arm(board, 0, PPU_SPACE_BUS, SYS_BASE, 0), 0);
}

static void queued_copies(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    struct ppu_dma_desc desc[3];
    uint32_t seen = 0;

    map_window(board, &random);
    for (uint32_t round = 0; round < 20; round++) {
        fill(board, &random);
        seen = 0;
        for (uint32_t i = 0; i < 3; i++) {
            /* Each to a target of its own, so that order does not matter. */
            do {
                desc[i] = random_copy(&random, PPU_DMA_COPY_QUEUED, PPU_MIB);
            } while (desc[i].dst_space != targets[i].space);
            desc[i].tag = i;
            assert_int_equal(submit(board, &desc[i]), 0);
        }
        assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 3);
        board_advance(board, 60 * STEP_NS);
        assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 0);
        for (uint32_t i = 0; i < 3; i++) {
            struct ppu_copy_event event;

            assert_true(ring_pop(board, PPU_RING_COPY, &event));
            assert_int_equal(event.status, 0);
            assert_true(event.done_bytes == desc[event.tag].len_bytes);
            seen |= 1u << event.tag;
        }
        assert_int_equal(seen, 7);
        for (uint32_t i = 0; i < 3; i++) {
            /* A source may be another copy's target only when the spaces overlap; they do not. */
            check_copied(board, &desc[i], desc[i].len_bytes);
        }
    }
}

/* A step every STEP_NS, exactly: with a counted clock a run can be repeated. */
static void steps_follow_the_clock(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + PPU_MIB,
                                 .len_bytes = 3 * PPU_COPY_STEP + 1 };
    struct ppu_copy_event event;

    board_advance(board, 10 * STEP_NS); /* until the SMs have nothing to look at */
    uint64_t start = board->now_ns;
    submit(board, &desc);
    for (uint32_t step = 1; step <= 4; step++) {
        assert_true(board->deadline_ns == start + step * STEP_NS);
        board_advance(board, STEP_NS);
    }
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
    assert_true(event.time_ns == start + 4 * STEP_NS);
    assert_true(board->deadline_ns == UINT64_MAX);
}

static void long_copies_take_turns(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + 4 * PPU_MIB,
                                 .len_bytes = 4 * PPU_MIB,
                                 .tag = 1 };
    struct ppu_copy_event event;

    submit(board, &desc);
    desc.len_bytes = 16;
    desc.tag = 2;
    submit(board, &desc);
    board_advance(board, 3 * STEP_NS);
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
    assert_int_equal(event.tag, 2);
}

static void queue_full(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + PPU_MIB,
                                 .len_bytes = 8 };
    struct ppu_copy_event event;

    for (uint32_t n = 0; n < PPU_MAX_COPIES; n++) {
        desc.tag = n;
        assert_int_equal(submit(board, &desc), 0);
    }
    assert_int_equal(submit(board, &desc), PPU_FAULT_COPY_QUEUE_FULL);
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), host_read(board, PPU_REG_COPIES));
    board_advance(board, (PPU_MAX_COPIES + 1) * STEP_NS);
    for (uint32_t n = 0; n < PPU_MAX_COPIES; n++) {
        assert_true(ring_pop(board, PPU_RING_COPY, &event));
        assert_int_equal(event.tag, n);
    }
    assert_false(ring_pop(board, PPU_RING_COPY, &event));
}

static void cancel(void **state)
{
    struct board *board = *state;
    uint32_t cancelled = 0, done = 0;
    struct ppu_copy_event event;

    for (uint32_t n = 0; n < 40; n++) {
        struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                     .tag = n % 4,
                                     .src_space = PPU_SPACE_VRAM,
                                     .dst_space = PPU_SPACE_VRAM,
                                     .src = HEAP_AT,
                                     .dst = HEAP_AT + 5 * PPU_MIB + n % 4 * 2 * PPU_PAGE_64K,
                                     .len_bytes = 2 * PPU_PAGE_64K };

        assert_int_equal(submit(board, &desc), 0);
    }
    board_advance(board, 20 * STEP_NS);
    mcu_write(board, PPU_REG_DMA_CANCEL, 3);
    while (ring_pop(board, PPU_RING_COPY, &event)) {
        assert_int_equal(event.status, PPU_FAULT_CANCELLED);
        assert_int_equal(event.tag, 3);
        assert_true(event.done_bytes == (cancelled < 5 ? 0 : PPU_COPY_STEP));
        assert_true(event.address == event.done_bytes);
        cancelled++;
    }
    assert_int_equal(cancelled, 10);
    mcu_write(board, PPU_REG_DMA_CANCEL, 99); /* none has it */
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 30);
    board_advance(board, 100 * STEP_NS);
    while (ring_pop(board, PPU_RING_COPY, &event)) {
        assert_int_equal(event.status, 0);
        assert_true(event.tag < 3);
        done++;
    }
    assert_int_equal(done, 30);
}

static void hook_holds_copies(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + PPU_MIB,
                                 .len_bytes = 8 };
    struct ppu_copy_event event;

    host_write(board, PPU_REG_HOOK_HOLD_MARK, PPU_MARK_COPY_STEP);
    submit(board, &desc);
    board_advance(board, 100 * STEP_NS);
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 1);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HELD), 1);
    submit(board, &desc);
    board_advance(board, 100 * STEP_NS);
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 2);
    host_write(board, PPU_REG_HOOK_RELEASE, 1);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HOLD_MARK), 0);
    board_advance(board, 2 * STEP_NS);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HELD), 0);
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
}

static void probes(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_PROBE, .src_space = CTX, .src = WINDOW_VA + 0x1234 };

    map_page(board, CTX, WINDOW_VA, HEAP_AT, PPU_PTE_64K, 0);
    map_page(board, CTX, WINDOW_VA + PPU_PAGE_64K, SYS_BASE + 0x3000, PPU_PTE_4K, PPU_PTE_SYSTEM);
    assert_int_equal(submit(board, &desc), 0);
    assert_true(desc.result == HEAP_AT + 0x1234);
    assert_int_equal(desc.result_space, PPU_SPACE_VRAM);
    desc.src = WINDOW_VA + PPU_PAGE_64K + 0x567;
    assert_int_equal(submit(board, &desc), 0);
    assert_true(desc.result == SYS_BASE + 0x3567);
    assert_int_equal(desc.result_space, PPU_SPACE_BUS);
}

/* ---- reaching itself ---- */

static void reach_back(struct board *board)
{
    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    host_write(board, PPU_REG_MCU_CONTROL, 1);
    core_doorbell_write(board->core, PPU_DB_RING, 0);
}

static void reset_function(struct board *board)
{
    core_reset(board->core);
}

static void dma_to_itself(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_BUS,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = SYS_BASE,
                                 .dst = HEAP_AT,
                                 .len_bytes = 10000 };
    struct ppu_copy_event event;

    board->during_dma = reach_back;
    submit(board, &desc);
    board_advance(board, 10 * STEP_NS);
    assert_true(ring_pop(board, PPU_RING_COPY, &event));
    assert_int_equal(event.status, 0);
    assert_int_equal(board->resets, 0);
    assert_true(board->guest_errors > 0);
    assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY), 0);

    /* A reset of the whole function happens after the DMA that caused it. */
    board->during_dma = reset_function;
    submit(board, &desc);
    submit(board, &desc);
    board_advance(board, 10 * STEP_NS);
    board->during_dma = NULL;
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 0);
    assert_int_equal(mcu_read(board, PPU_REG_PROT_LIMIT), 0);
}

/* ---- semaphores ---- */

static struct ppu_sem *sem_at(struct board *board, uint64_t off)
{
    return (struct ppu_sem *)(void *)(board->vram + off);
}

static void release(struct board *board, uint32_t space, uint64_t addr, uint32_t value, uint32_t flags)
{
    struct ppu_dma_desc desc = {
        .op = PPU_DMA_SEM_RELEASE, .dst_space = space, .dst = addr, .value = value, .flags = flags
    };

    assert_int_equal(submit(board, &desc), 0);
}

static void release_writes(void **state)
{
    struct board *board = *state;
    struct ppu_sem *sem = sem_at(board, HEAP_AT + 32);

    map_page(board, CTX, WINDOW_VA, HEAP_AT, PPU_PTE_64K, RW);
    *sem = (struct ppu_sem){ 1, 2, 3 };
    release(board, CTX, WINDOW_VA + 32, 0xabcd, 0);
    assert_int_equal(sem->payload, 0xabcd);
    assert_int_equal(sem->zero, 2);
    assert_true(sem->time_ns == 3);
    release(board, PPU_SPACE_VRAM, HEAP_AT + 32, 0xabce, PPU_DMA_FLAG_TIME);
    assert_int_equal(sem->payload, 0xabce);
    assert_true(sem->time_ns == board->now_ns);
    release(board, PPU_SPACE_BUS, SYS_BASE + 64, 0x77, PPU_DMA_FLAG_TIME);
    memcpy(sem, board->sys + 64, sizeof(*sem));
    assert_int_equal(sem->payload, 0x77);
    assert_true(sem->time_ns == board->now_ns);
}

static void armed_words_are_reported_once(void **state)
{
    struct board *board = *state;
    struct ppu_touch_event event;

    sem_at(board, HEAP_AT)->payload = 41;
    assert_int_equal(arm(board, 7, PPU_SPACE_VRAM, HEAP_AT, 0x700), 41);
    release(board, PPU_SPACE_VRAM, HEAP_AT + 16, 1, 0); /* another word */
    assert_false(ring_pop(board, PPU_RING_TOUCH, &event));
    release(board, PPU_SPACE_VRAM, HEAP_AT, 42, 0);
    assert_true(ring_pop(board, PPU_RING_TOUCH, &event));
    assert_int_equal(event.entry, 7);
    assert_int_equal(event.tag, 0x700);
    release(board, PPU_SPACE_VRAM, HEAP_AT, 43, 0);
    assert_false(ring_pop(board, PPU_RING_TOUCH, &event));
    assert_int_equal(arm(board, 7, PPU_SPACE_VRAM, HEAP_AT, 0x701), 43);
    mcu_write(board, PPU_REG_SEM_DISARM, 7);
    mcu_write(board, PPU_REG_SEM_DISARM, 7);
    release(board, PPU_SPACE_VRAM, HEAP_AT, 44, 0);
    assert_false(ring_pop(board, PPU_RING_TOUCH, &event));
    mcu_write(board, PPU_REG_SEM_DISARM, PPU_MAX_ARMED);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
}

/* The same number as VRAM offset and as bus address is not the same place. */
static void apertures_are_apart(void **state)
{
    struct board *board = *state;
    struct ppu_touch_event event;

    arm(board, 1, PPU_SPACE_VRAM, HEAP_AT, 1);
    semtab_touch(board->core, true, HEAP_AT);
    assert_false(ring_pop(board, PPU_RING_TOUCH, &event));
    semtab_touch(board->core, false, HEAP_AT);
    assert_true(ring_pop(board, PPU_RING_TOUCH, &event));
}

static void armed_table_against_model(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    uint32_t armed[64] = { 0 }; /* 1 + number of the word */

    for (uint32_t n = 0; n < 6000; n++) {
        uint32_t entry = random_below(&random, 64);
        uint32_t word = random_below(&random, 12);
        uint64_t vram_offset = HEAP_AT + (uint64_t)word * PPU_SEM_ALIGN * (word % 3 == 0 ? 256 * 256 : 1);
        struct ppu_touch_event event;

        switch (random_below(&random, 4)) {
        case 0:
        case 1:
            arm(board, entry * 16, PPU_SPACE_VRAM, vram_offset, word);
            armed[entry] = word + 1;
            break;
        case 2:
            mcu_write(board, PPU_REG_SEM_DISARM, entry * 16);
            armed[entry] = 0;
            break;
        default:
            release(board, PPU_SPACE_VRAM, vram_offset, n, 0);
            while (ring_pop(board, PPU_RING_TOUCH, &event)) {
                assert_int_equal(armed[event.entry / 16], word + 1);
                assert_int_equal(event.tag, word);
                armed[event.entry / 16] = 0;
            }
            for (uint32_t i = 0; i < 64; i++) {
                assert_int_not_equal(armed[i], word + 1);
            }
        }
    }
}

/* A thread releases while the MCU arms: the MCU sees the value or the touch, never neither. */
#define RACES 2000u

static void *release_all(void *argument)
{
    struct board *board = argument;

    for (uint32_t n = 1; n <= RACES; n++) {
        uint64_t off = HEAP_AT + (uint64_t)(n % 64) * PPU_SEM_ALIGN;

        vram_store_release32(board->vram + off, n);
        semtab_touch(board->core, false, off);
        while (__atomic_load_n((uint32_t *)(void *)(board->sys), __ATOMIC_ACQUIRE) < n) {
            sched_yield();
        }
    }
    return NULL;
}

static void no_release_is_missed(void **state)
{
    struct board *board = *state;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, release_all, board), 0);
    for (uint32_t n = 1; n <= RACES; n++) {
        uint64_t off = HEAP_AT + (uint64_t)(n % 64) * PPU_SEM_ALIGN;
        struct ppu_touch_event event;
        bool seen = arm(board, 3, PPU_SPACE_VRAM, off, n) == n;

        for (uint64_t patience = 0; !seen; patience++) {
            seen = ring_pop(board, PPU_RING_TOUCH, &event) && event.tag == n;
            assert_true(patience < 100000000);
            sched_yield();
        }
        mcu_write(board, PPU_REG_SEM_DISARM, 3);
        while (ring_pop(board, PPU_RING_TOUCH, &event)) {
            assert_int_equal(event.tag, n);
        }
        __atomic_store_n((uint32_t *)(void *)(board->sys), n, __ATOMIC_RELEASE);
    }
    pthread_join(thread, NULL);
}

static void random_descriptors(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    map_window(board, &random);
    for (uint32_t n = 0; n < 20000; n++) {
        struct ppu_dma_desc desc;
        const uint32_t spaces[] = { 0, CTX, 2, 300, PPU_SPACE_VRAM, PPU_SPACE_MCU, PPU_SPACE_BUS };

        random_bytes(&random, &desc, sizeof(desc));
        desc.tag &= 7;
        desc.op = random_below(&random, 7);
        desc.flags = random_below(&random, 2) == 0 ? 0 : desc.flags;
        desc.src_space = spaces[random_below(&random, 7)];
        desc.dst_space = spaces[random_below(&random, 7)];
        desc.len_bytes >>= random_below(&random, 64);
        desc.src = random_below(&random, 2) == 0 ? HEAP_AT + desc.src % PPU_MIB : desc.src >> random_below(&random, 64);
        desc.dst =
            random_below(&random, 2) == 0 ? HEAP_AT + desc.dst % PPU_MIB : HEAP_AT + (desc.dst & 0xfffffffffff0ull);
        submit(board, &desc);
        mcu_write(board, PPU_REG_DMA_SUBMIT, (uint32_t)random_next(&random));
        if (n % 32 == 0) {
            board_advance(board, STEP_NS);
            mcu_write(board, PPU_REG_DMA_CANCEL, random_below(&random, 9));
        }
    }
    core_reset(board->core);
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "copies between all spaces agree with a model [A9]", copies_at_once, setup, teardown, NULL },
        { "copies write nothing beside their destination [A9]", copies_stay_inside, setup, teardown, NULL },
        { "malformed descriptors are refused [A9]", bad_descriptors, setup, teardown, NULL },
        { "a failed copy says what, where and on which side [A9]", failures_say_where, setup, teardown, NULL },
        { "each n-th walk, step and bus access may fail [A9]", nth_failure, setup, teardown, NULL },
        { "with bus mastering off every access fails [A9]", bus_master_off, setup, teardown, NULL },
        { "queued copies arrive and are reported [A9]", queued_copies, setup, teardown, NULL },
        { "queued copies step with the clock [A9]", steps_follow_the_clock, setup, teardown, NULL },
        { "a long copy does not hold up a short one [A9]", long_copies_take_turns, setup, teardown, NULL },
        { "a full copy queue is told [A9]", queue_full, setup, teardown, NULL },
        { "cancelling ends the copies with one tag [A9]", cancel, setup, teardown, NULL },
        { "the hook holds the copy engine [A9]", hook_holds_copies, setup, teardown, NULL },
        { "a probe translates [A9]", probes, setup, teardown, NULL },
        { "a DMA that reaches its own function does no harm [A9]", dma_to_itself, setup, teardown, NULL },
        { "a release writes time, then payload [C8]", release_writes, setup, teardown, NULL },
        { "a touch of an armed word is reported once [C8]", armed_words_are_reported_once, setup, teardown, NULL },
        { "VRAM and system memory are different places [C8]", apertures_are_apart, setup, teardown, NULL },
        { "the semaphore table agrees with a model [C8]", armed_table_against_model, setup, teardown, NULL },
        { "no release is missed while arming [C8]", no_release_is_missed, setup, teardown, NULL },
        { "random descriptors do no harm [A9]", random_descriptors, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("device core: descriptors", tests, NULL, NULL);
}
