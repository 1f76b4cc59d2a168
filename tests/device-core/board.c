/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* anonymous mappings, mremap */
#endif
#include "tests/device-core/board.h"
#include "ppu/dma.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/trace.h"
#include "qemu-device/core/core_private.h"
#include "tests/device-core/translator.h"
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- host operations ---- */

static bool bus_access(struct board *board, uint64_t bus, uint32_t len)
{
    if (board->during_dma) {
        board->during_dma(board);
    }
    if (board->bus_fails_in != 0 && --board->bus_fails_in == 0) {
        return false;
    }
    return board->bus_works && bus >= SYS_BASE && bus - SYS_BASE <= SYS_BYTES && len <= SYS_BYTES - (bus - SYS_BASE);
}

static bool op_dma_read(void *opaque, uint64_t bus, void *buf, uint32_t len)
{
    struct board *board = opaque;

    if (!bus_access(board, bus, len)) {
        return false;
    }
    memcpy(buf, board->sys + (bus - SYS_BASE), len);
    return true;
}

static bool op_dma_write(void *opaque, uint64_t bus, const void *buf, uint32_t len)
{
    struct board *board = opaque;

    if (!bus_access(board, bus, len)) {
        return false;
    }
    memcpy(board->sys + (bus - SYS_BASE), buf, len);
    return true;
}

static void op_mcu_irq(void *opaque, uint32_t line, bool level)
{
    struct board *board = opaque;

    assert_true(line < PPU_IRQ_COUNT);
    board->irq[line] = level;
}

static void op_mcu_run(void *opaque, bool run)
{
    struct board *board = opaque;

    board->run = run;
    board->run_requests++;
}

static void op_raise_vector(void *opaque, uint32_t vector)
{
    struct board *board = opaque;

    assert_true(vector < PPU_MAX_VECTORS);
    board->vectors[vector]++;
}

static void op_function_reset(void *opaque)
{
    struct board *board = opaque;

    board->resets++;
    core_reset(board->core);
}

static void *op_mcu_mem(void *opaque, uint32_t addr, uint32_t len)
{
    struct board *board = opaque;

    if (addr < PPU_MCU_DTCM || addr - PPU_MCU_DTCM > MCU_BYTES || len > MCU_BYTES - (addr - PPU_MCU_DTCM)) {
        return NULL;
    }
    return board->mcu + (addr - PPU_MCU_DTCM);
}

static void op_log_char(void *opaque, char c)
{
    ((struct board *)opaque)->last_char = c;
}

static void op_guest_error(void *opaque, const char *sentence)
{
    ((struct board *)opaque)->guest_errors++;
    assert_true(sentence[0] != '\0');
}

static void op_timer_set(void *opaque, uint64_t deadline_ns)
{
    ((struct board *)opaque)->deadline_ns = deadline_ns;
}

static uint64_t op_now_ns(void *opaque)
{
    return __atomic_load_n(&((struct board *)opaque)->now_ns, __ATOMIC_SEQ_CST);
}

static void op_kick(void *opaque)
{
    __atomic_store_n(&((struct board *)opaque)->kicked, 1, __ATOMIC_SEQ_CST);
}

static void op_vram_clear(void *opaque, uint64_t off, uint64_t len_bytes)
{
    struct board *board = opaque;

    assert_true(board->hidden && len_bytes <= CORE_CLEAR_BYTES && core_vram_has(board->core, off, len_bytes));
    memset(board->vram + off, 0, len_bytes);
    board->cleared_bytes += len_bytes;
}

static uint64_t op_vram_zeros(void *opaque, uint64_t off)
{
    const struct board *board = opaque;
    const uint64_t end = board->zeros_at + board->zeros_bytes;

    assert_true(core_vram_has(board->core, off, 1));
    return off >= board->zeros_at && off < end ? end - off : 0;
}

static void op_vram_hide(void *opaque, bool hide)
{
    ((struct board *)opaque)->hidden = hide;
}

static const struct core_host_ops board_ops = {
    .vram_clear = op_vram_clear,
    .vram_zeros = op_vram_zeros,
    .vram_hide = op_vram_hide,
    .dma_read = op_dma_read,
    .dma_write = op_dma_write,
    .mcu_irq = op_mcu_irq,
    .mcu_run = op_mcu_run,
    .raise_vector = op_raise_vector,
    .function_reset = op_function_reset,
    .mcu_mem = op_mcu_mem,
    .log_char = op_log_char,
    .guest_error = op_guest_error,
    .timer_set = op_timer_set,
    .now_ns = op_now_ns,
    .kick = op_kick,
};

/* ---- life ---- */

struct core_config board_small_config(uint32_t sm_threads)
{
    const char *level = getenv("PPU_ENGINE_LEVEL"), *model = getenv("PPU_CACHE_MODEL");
    const char *const tier = getenv("PPU_ENGINE_TIER");
    struct core_config config;

    core_config_default(&config);
    config.vram_bytes = MACHINE_VRAM;
    config.channels = 40;
    config.contexts = 5;
    config.slots = 6;
    config.gpcs = 1;
    config.sms = 3;
    config.sm_ctas = 8;
    config.sm_threads = sm_threads;
    config.test_hooks = true;
    config.cache_model = model && strcmp(model, "1") == 0;
    config.engine_level = level ? (uint32_t)strtoul(level, NULL, 0) : 0;
    config.engine_tier = 2; /* at once */
    config.engine_tier_socket = tier ? translator_start(tier, NULL) : -1;
    return config;
}

/* Zeros, which cost nothing before they are touched, with pages around them that nobody may touch. */
static uint8_t *memory_new(size_t bytes)
{
    const size_t all = bytes + 3 * PPU_PAGE_64K;
    uint8_t *const around = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const size_t skipped = (size_t)(-(uintptr_t)around & (PPU_PAGE_64K - 1)) + PPU_PAGE_64K;

    if (around == MAP_FAILED || mprotect(around + skipped, bytes, PROT_READ | PROT_WRITE) != 0) {
        abort();
    }
    munmap(around, skipped - PPU_PAGE_64K);
    munmap(around + skipped + bytes + PPU_PAGE_64K, all - skipped - bytes - PPU_PAGE_64K);
    return around + skipped;
}

static void memory_free(uint8_t *memory, size_t bytes)
{
    munmap(memory - PPU_PAGE_64K, bytes + 2 * PPU_PAGE_64K);
}

/* Pages go from one to the other: none is copied, or even looked at. The old one is zero then. */
static void memory_move(uint8_t *to, uint8_t *from, size_t bytes)
{
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != to) {
        memcpy(to, from, bytes); /* an old kernel */
    }
}

void board_move_memory(struct board *to, struct board *from)
{
    assert_int_equal(to->config.vram_bytes, from->config.vram_bytes);
    memory_move(to->vram, from->vram, to->config.vram_bytes);
    memory_move(to->sys, from->sys, SYS_BYTES);
}

struct board *board_new(const struct core_config *config)
{
    struct board *board = calloc(1, sizeof(*board));

    if (!board) {
        abort();
    }
    assert_null(core_config_check(config));
    board->config = *config;
    board->vram = memory_new(config->vram_bytes);
    board->mcu = memory_new(MCU_BYTES);
    board->sys = memory_new(SYS_BYTES);
    board->bus_works = true;
    board->deadline_ns = UINT64_MAX;
    board->now_ns = 1000;
    board->next_table = TABLES_AT;
    board->core = core_new(config, board->vram, &board_ops, board);
    assert_non_null(board->core);
    core_resume(board->core);
    return board;
}

void board_free(struct board *board)
{
    core_free(board->core);
    memory_free(board->vram, board->config.vram_bytes);
    memory_free(board->mcu, MCU_BYTES);
    memory_free(board->sys, SYS_BYTES);
    free(board);
}

static void boot_ring(struct board *board, uint32_t ring, uint32_t entries)
{
    mcu_write(board, PPU_REG_RING_SIZE + 4 * ring, entries);
    mcu_write(board, PPU_REG_RING_BASE + 4 * ring, RING_AT(ring));
}

void board_boot(struct board *board)
{
    board->next_table = TABLES_AT;
    memset(board->root, 0, sizeof(board->root));
    mcu_write(board, PPU_REG_PROT_LIMIT, PROT_LIMIT);
    mcu_write(board, PPU_REG_PROT_BASE, PROT_BASE);
    boot_ring(board, PPU_RING_START, 16);
    boot_ring(board, PPU_RING_SLOT, 512);
    boot_ring(board, PPU_RING_FAULT, 16);
    boot_ring(board, PPU_RING_COPY, 512);
    boot_ring(board, PPU_RING_TOUCH, 1024);
    boot_ring(board, PPU_RING_TOKEN, 16);
    mcu_write(board, PPU_REG_TOKEN_BYTES, TOKENS_BYTES);
    mcu_write(board, PPU_REG_TOKEN_BASE, TOKENS_AT);
    mcu_write(board, PPU_REG_TRACE_SIZE, TRACE_RECORDS);
    mcu_write(board, PPU_REG_TRACE_BASE, TRACE_AT);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

void board_settle(struct board *board)
{
    while (__atomic_exchange_n(&board->kicked, 0, __ATOMIC_SEQ_CST) != 0) {
        core_bottom_half(board->core);
    }
}

void board_advance(struct board *board, uint64_t ns)
{
    uint64_t end = board->now_ns + ns;

    board_settle(board);
    while (board->deadline_ns <= end) {
        if (board->deadline_ns > board->now_ns) {
            __atomic_store_n(&board->now_ns, board->deadline_ns, __ATOMIC_SEQ_CST);
        }
        board->deadline_ns = UINT64_MAX;
        core_timer(board->core);
        board_settle(board);
    }
    __atomic_store_n(&board->now_ns, end, __ATOMIC_SEQ_CST);
}

/* ---- registers, descriptors, rings ---- */

void mcu_write(struct board *board, uint32_t reg, uint32_t value)
{
    core_reg_write(board->core, CORE_MCU, reg, value);
}

uint32_t mcu_read(struct board *board, uint32_t reg)
{
    return core_reg_read(board->core, CORE_MCU, reg);
}

void host_write(struct board *board, uint32_t reg, uint32_t value)
{
    core_reg_write(board->core, CORE_HOST, reg, value);
}

uint32_t host_read(struct board *board, uint32_t reg)
{
    return core_reg_read(board->core, CORE_HOST, reg);
}

uint32_t submit(struct board *board, struct ppu_dma_desc *desc)
{
    desc->status = 0xffffffffu;
    memcpy(board->mcu, desc, sizeof(*desc));
    mcu_write(board, PPU_REG_DMA_SUBMIT, DESC_AT);
    memcpy(desc, board->mcu, sizeof(*desc));
    return desc->status;
}

bool ring_pop(struct board *board, enum ppu_ring_id ring, void *entry)
{
    uint8_t *header = board->vram + RING_AT(ring);
    uint32_t size = mcu_read(board, PPU_REG_RING_SIZE + 4 * ring);
    uint32_t *head = (uint32_t *)(void *)(header + offsetof(struct ppu_ring_header, head));
    uint32_t tail = __atomic_load_n((uint32_t *)(void *)header, __ATOMIC_ACQUIRE);
    uint32_t at = *head;

    if (at == tail) {
        return false;
    }
    memcpy(entry, header + sizeof(struct ppu_ring_header) + (size_t)(at & (size - 1)) * PPU_RING_ENTRY_BYTES,
           PPU_RING_ENTRY_BYTES);
    __atomic_store_n(head, at + 1, __ATOMIC_SEQ_CST);
    return true;
}

/* ---- page tables ---- */

static uint32_t new_table(struct board *board)
{
    uint32_t table = board->next_table;

    board->next_table += PPU_PT_BYTES;
    assert_true(board->next_table <= TOKENS_AT);
    memset(board->vram + table, 0, PPU_PT_BYTES);
    return table;
}

uint64_t read_pte(struct board *board, uint32_t at)
{
    return *(uint64_t *)(void *)(board->vram + at);
}

void write_pte(struct board *board, uint32_t at, uint64_t pte)
{
    *(uint64_t *)(void *)(board->vram + at) = pte;
}

uint32_t pte_at(struct board *board, uint32_t context, uint64_t va, uint32_t level)
{
    uint64_t table = board->root[context];

    for (uint32_t above = PPU_PT_LEVELS - 1; above > level; above--) {
        table = read_pte(board, (uint32_t)table + ppu_pt_index(va, above) * 8) & PPU_PTE_FRAME_MASK;
    }
    return (uint32_t)table + ppu_pt_index(va, level) * 8;
}

void map_page(struct board *board, uint32_t context, uint64_t va, uint64_t frame, enum ppu_pte_size size, uint64_t bits)
{
    uint32_t level = size == PPU_PTE_2M ? 1 : 0;
    uint32_t copies = size == PPU_PTE_64K ? PPU_PAGE_64K / PPU_PAGE_4K : 1;

    if (board->root[context] == 0) {
        board->root[context] = new_table(board);
        mcu_write(board, PPU_REG_CTX_ROOT + 4 * context, (uint32_t)board->root[context] | 1);
    }
    for (uint32_t above = PPU_PT_LEVELS - 1; above > level; above--) {
        uint32_t at = pte_at(board, context, va, above);

        if (read_pte(board, at) == 0) {
            write_pte(board, at, new_table(board) | PPU_PTE_VALID);
        }
    }
    for (uint32_t i = 0; i < copies; i++) {
        write_pte(board, pte_at(board, context, va, level) + 8 * i, frame | bits | PPU_PTE_VALID | PPU_PTE_SIZE(size));
    }
}

/* ---- tasks ---- */

struct ppu_tmd good_tmd(uint32_t x, uint32_t y, uint32_t z, uint32_t threads)
{
    return (struct ppu_tmd){
        .head = { .version = PPU_TMD_VERSION, .size_bytes = sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .priority = 1,
        .code_va = 0x10000,
        .code_bytes = 64,
        .vregs = 8,
        .wave = PPU_LANES,
        .cta = { threads, 1, 1 },
        .grid = { x, y, z },
        .correlation = 77,
        .context = 1,
        .params_vram = PARAMS_AT,
        .param_bytes = 64,
    };
}

void start_task(struct board *board, uint32_t slot, const struct ppu_tmd *tmd)
{
    memcpy(board->vram + TMD_AT(slot), tmd, sizeof(*tmd));
    mcu_write(board, PPU_REG_SLOT_START + 4 * slot, TMD_AT(slot));
}

/* ---- random ---- */

uint64_t random_seed(void)
{
    const char *wanted = getenv("PPU_SEED");
    uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 20240607u;

    printf("# seed %llu (PPU_SEED)\n", (unsigned long long)seed);
    return seed * 2 + 1;
}

uint32_t random_rounds(uint32_t usual)
{
    const char *factor = getenv("PPU_LONG"), *divisor = getenv("PPU_SHORT");
    uint32_t rounds = factor ? usual * (uint32_t)strtoul(factor, NULL, 0) : usual;
    uint32_t by = divisor ? (uint32_t)strtoul(divisor, NULL, 0) : 1;

    return by > 1 ? rounds / by + 1 : rounds;
}

uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((random_next(state) >> 32) % limit);
}

void random_bytes(uint64_t *state, void *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        uint64_t value = random_next(state);

        memcpy((uint8_t *)bytes + at, &value, len - at < sizeof(value) ? len - at : sizeof(value));
    }
}
