/* SPDX-License-Identifier: MIT */
/*
 * Address translation: every page size, every malformed bit at every level, and random tables against a model.
 */
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/trace.h"
#include "qemu-device/core/memory/mmu.h"
#include "qemu-device/core/sm/found_pages.h"
#include "tests/device-core/board.h"

#define CTX 2u
#define VA 0x0000123456780000ull
#define VA_2M (VA & ~(uint64_t)(PPU_PAGE_2M - 1))
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

static uint16_t fault_at(struct board *board, uint64_t va, enum ppu_access access)
{
    return mmu_walk(board->core, CTX, va, access).fault;
}

static void page_sizes(void **state)
{
    struct board *board = *state;
    const struct {
        enum ppu_pte_size size;
        uint64_t bytes;
        uint64_t frame;
        uint64_t bits;
    } pages[] = {
        { PPU_PTE_64K, PPU_PAGE_64K, HEAP_AT, RW },
        { PPU_PTE_2M, PPU_PAGE_2M, HEAP_AT, RW | PPU_PTE_SW_MASK },
        { PPU_PTE_4K, PPU_PAGE_4K, SYS_BASE, RW | PPU_PTE_SYSTEM },
        { PPU_PTE_64K, PPU_PAGE_64K, 0xffffffff0000ull, RW | PPU_PTE_SYSTEM },
        { PPU_PTE_2M, PPU_PAGE_2M, 0x000fffffffe00000ull, PPU_PTE_SYSTEM },
        { PPU_PTE_64K, PPU_PAGE_64K, PROT_BASE - PPU_PAGE_64K, RW },
        { PPU_PTE_64K, PPU_PAGE_64K, PROT_LIMIT, 0 },
        { PPU_PTE_2M, PPU_PAGE_2M, MACHINE_VRAM - PPU_PAGE_2M, RW },
        { PPU_PTE_64K, PPU_PAGE_64K, MACHINE_VRAM - PPU_PAGE_64K, PPU_PTE_WRITE },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(pages); i++) {
        uint64_t va = VA_2M + i * PPU_PAGE_2M;

        map_page(board, CTX, va, pages[i].frame, pages[i].size, pages[i].bits);
        for (uint64_t at = 0; at < pages[i].bytes; at += pages[i].bytes / 16 - 1) {
            struct mmu_page page = mmu_walk(board->core, CTX, va + at, PPU_ACCESS_READ);

            assert_int_equal(page.fault, 0);
            assert_true(page.va == va && page.bytes == pages[i].bytes && page.frame == pages[i].frame);
            assert_int_equal(page.system, (pages[i].bits & PPU_PTE_SYSTEM) != 0);
            assert_int_equal(page.write, (pages[i].bits & PPU_PTE_WRITE) != 0);
            assert_int_equal(page.atomic, (pages[i].bits & PPU_PTE_ATOMIC) != 0);
        }
        assert_int_equal(fault_at(board, va + pages[i].bytes, PPU_ACCESS_READ), PPU_FAULT_UNMAPPED);
    }
}

static void permissions(void **state)
{
    struct board *board = *state;
    const struct {
        uint64_t bits;
        uint16_t fault[4]; /* by enum ppu_access */
    } rows[] = {
        { 0, { 0, PPU_FAULT_READ_ONLY, PPU_FAULT_READ_ONLY, 0 } },
        { PPU_PTE_WRITE, { 0, 0, PPU_FAULT_NO_ATOMIC, 0 } },
        { RW, { 0, 0, 0, 0 } },
        { PPU_PTE_ATOMIC, { 0, PPU_FAULT_READ_ONLY, PPU_FAULT_READ_ONLY, 0 } },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, rows[i].bits);
        for (uint32_t access = 0; access < 4; access++) {
            assert_int_equal(fault_at(board, VA, (enum ppu_access)access), rows[i].fault[access]);
        }
    }
}

static void malformed_entries(void **state)
{
    struct board *board = *state;

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    for (uint32_t level = 0; level < PPU_PT_LEVELS; level++) {
        uint32_t at = pte_at(board, CTX, VA, level);
        uint64_t good = read_pte(board, at);

        for (uint32_t b = 52; b < 64; b++) {
            write_pte(board, at, good | 1ull << b);
            assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_BAD_TABLE);
        }
        write_pte(board, at, good | PPU_PTE_SW_MASK);
        assert_int_equal(fault_at(board, VA, PPU_ACCESS_WRITE), 0);
        write_pte(board, at, good & ~PPU_PTE_VALID);
        assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_UNMAPPED);
        write_pte(board, at, 0);
        assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_UNMAPPED);
        write_pte(board, at, good);
    }
}

static void malformed_tables(void **state)
{
    struct board *board = *state;
    const uint64_t tables[] = { HEAP_AT,      PROT_LIMIT,        PROT_LIMIT - 2048, PROT_BASE - PPU_PT_BYTES,
                                MACHINE_VRAM, PPU_PTE_FRAME_MASK };
    const uint64_t bits[] = { PPU_PTE_WRITE, PPU_PTE_ATOMIC, PPU_PTE_SYSTEM };

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    for (uint32_t level = 1; level < PPU_PT_LEVELS; level++) {
        uint32_t at = pte_at(board, CTX, VA, level);
        uint64_t good = read_pte(board, at);

        for (size_t i = 0; i < PPU_ARRAY_SIZE(tables); i++) {
            write_pte(board, at, (tables[i] & PPU_PTE_FRAME_MASK) | PPU_PTE_VALID);
            if ((tables[i] & PPU_PTE_FRAME_MASK) < PROT_BASE || (tables[i] & PPU_PTE_FRAME_MASK) >= PROT_LIMIT) {
                assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_BAD_TABLE);
            }
        }
        for (size_t i = 0; i < PPU_ARRAY_SIZE(bits); i++) {
            write_pte(board, at, good | bits[i]);
            assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_BAD_TABLE);
        }
        write_pte(board, at, good);
    }
}

static void leaves_at_wrong_levels(void **state)
{
    struct board *board = *state;

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    for (uint32_t level = 0; level < PPU_PT_LEVELS; level++) {
        uint32_t at = pte_at(board, CTX, VA, level);
        uint64_t good = read_pte(board, at);

        for (uint32_t size = 0; size < 4; size++) {
            for (uint32_t system = 0; system < 2; system++) {
                bool fits = (level == 0 && size == PPU_PTE_64K) || (level == 1 && size == PPU_PTE_2M) ||
                            (level == 0 && size == PPU_PTE_4K && system);

                if (level != 0 && size == PPU_PTE_TABLE) {
                    continue;
                }
                write_pte(board, at, HEAP_AT | PPU_PTE_VALID | PPU_PTE_SIZE(size) | (system ? PPU_PTE_SYSTEM : 0));
                assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), fits ? 0 : PPU_FAULT_BAD_TABLE);
            }
        }
        write_pte(board, at, good);
    }
}

static void frames(void **state)
{
    struct board *board = *state;
    const struct {
        uint64_t frame;
        enum ppu_pte_size size;
        uint64_t bits;
        uint16_t fault;
    } rows[] = {
        { MACHINE_VRAM, PPU_PTE_64K, 0, PPU_FAULT_VRAM_RANGE },
        { MACHINE_VRAM, PPU_PTE_2M, 0, PPU_FAULT_VRAM_RANGE },
        { 0x000ffffffffff000ull & ~0xffffull, PPU_PTE_64K, 0, PPU_FAULT_VRAM_RANGE },
        { PROT_BASE, PPU_PTE_64K, 0, PPU_FAULT_PROTECTED },
        { PROT_LIMIT - PPU_PAGE_64K, PPU_PTE_64K, 0, PPU_FAULT_PROTECTED },
        { 0, PPU_PTE_2M, 0, PPU_FAULT_PROTECTED },
        { PPU_PAGE_2M, PPU_PTE_2M, 0, PPU_FAULT_PROTECTED },
        { PROT_BASE, PPU_PTE_64K, PPU_PTE_SYSTEM, 0 },
        { HEAP_AT + PPU_PAGE_4K, PPU_PTE_64K, 0, PPU_FAULT_BAD_TABLE },
        { HEAP_AT + PPU_PAGE_64K, PPU_PTE_2M, 0, PPU_FAULT_BAD_TABLE },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        uint64_t va = VA_2M + i * PPU_PAGE_2M;

        map_page(board, CTX, va, rows[i].frame, rows[i].size, rows[i].bits);
        assert_int_equal(fault_at(board, va, PPU_ACCESS_READ), rows[i].fault);
    }
}

static void contexts(void **state)
{
    struct board *board = *state;
    const uint32_t roots[] = { HEAP_AT | 1, PROT_LIMIT | 1, 0xfffff001u, TABLES_AT | 3, (TABLES_AT + 64) | 1 };

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), 0);
    assert_int_equal(mmu_walk(board->core, CTX + 1, VA, PPU_ACCESS_READ).fault, PPU_FAULT_NO_CONTEXT);
    assert_int_equal(mmu_walk(board->core, 5, VA, PPU_ACCESS_READ).fault, PPU_FAULT_NO_CONTEXT);
    assert_int_equal(mmu_walk(board->core, 0xffffffffu, VA, PPU_ACCESS_READ).fault, PPU_FAULT_NO_CONTEXT);
    for (uint32_t b = PPU_VA_BITS; b < 64; b++) {
        assert_int_equal(fault_at(board, VA | 1ull << b, PPU_ACCESS_READ), PPU_FAULT_BAD_ADDRESS);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(roots); i++) {
        mcu_write(board, PPU_REG_CTX_ROOT + 4 * CTX, roots[i]);
        assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_BAD_TABLE);
    }
    mcu_write(board, PPU_REG_CTX_ROOT + 4 * CTX, (uint32_t)board->root[CTX]);
    assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), PPU_FAULT_NO_CONTEXT);
}

static void hook_fails_nth(void **state)
{
    struct board *board = *state;

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    host_write(board, PPU_REG_HOOK_FAIL_WALK, 3);
    for (uint32_t n = 1; n < 6; n++) {
        assert_int_equal(fault_at(board, VA, PPU_ACCESS_READ), n == 3 ? PPU_FAULT_UNMAPPED : 0);
    }
}

/* ---- random pages against an array ---- */

#define MODEL_PAGES 64u

static void random_maps(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    struct {
        bool mapped;
        uint64_t frame;
        uint64_t bits;
    } model[MODEL_PAGES] = { { 0 } };

    for (uint32_t n = 0; n < 3000; n++) {
        uint32_t i = random_below(&random, MODEL_PAGES);
        uint64_t va = VA + (uint64_t)i * PPU_PAGE_64K;
        uint32_t at = random_below(&random, PPU_PAGE_64K);
        enum ppu_access access = (enum ppu_access)random_below(&random, 3);

        if (random_below(&random, 3) == 0) {
            model[i].mapped = true;
            model[i].frame = HEAP_AT + (uint64_t)random_below(&random, 100) * PPU_PAGE_64K;
            model[i].bits = random_next(&random) & RW;
            map_page(board, CTX, va, model[i].frame, PPU_PTE_64K, model[i].bits);
        }
        struct mmu_page page = mmu_walk(board->core, CTX, va + at, access);
        if (!model[i].mapped) {
            assert_int_equal(page.fault, PPU_FAULT_UNMAPPED);
        } else if (access != PPU_ACCESS_READ && !(model[i].bits & PPU_PTE_WRITE)) {
            assert_int_equal(page.fault, PPU_FAULT_READ_ONLY);
        } else if (access == PPU_ACCESS_ATOMIC && !(model[i].bits & PPU_PTE_ATOMIC)) {
            assert_int_equal(page.fault, PPU_FAULT_NO_ATOMIC);
        } else {
            assert_int_equal(page.fault, 0);
            assert_true(page.frame + (va + at - page.va) == model[i].frame + at);
        }
    }
}

/* Tables of random bits: whatever a walk accepts lies in VRAM and outside the protected range, or on the bus. */
static void random_tables(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    uint32_t accepted = 0;

    map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
    for (uint32_t n = 0; n < 40000; n++) {
        uint32_t level = random_below(&random, PPU_PT_LEVELS);
        uint32_t at = TABLES_AT + level * PPU_PT_BYTES + ppu_pt_index(VA, PPU_PT_LEVELS - 1 - level) * 8;
        uint64_t sparse = random_next(&random);
        uint64_t pte = random_next(&random) & sparse & (random_next(&random) | 0x3fffffff);

        if (n % 2 == 0) {
            board->next_table = TABLES_AT;
            board->root[CTX] = 0;
            map_page(board, CTX, VA, HEAP_AT, PPU_PTE_64K, RW);
        }
        switch (random_below(&random, 3)) {
        case 0:
            pte = (pte & ~PPU_PTE_FRAME_MASK) | (TABLES_AT + random_below(&random, 8) * PPU_PT_BYTES);
            break;
        case 1:
            pte = (pte & 0xff) | ((random_next(&random) % (2 * MACHINE_VRAM)) & ~(uint64_t)(PPU_PAGE_64K - 1));
            break;
        default:
            break;
        }
        write_pte(board, at, pte | PPU_PTE_VALID);
        struct mmu_page page = mmu_walk(board->core, CTX, VA, (enum ppu_access)random_below(&random, 4));
        if (page.fault == 0) {
            accepted++;
            assert_true(page.bytes == PPU_PAGE_4K || page.bytes == PPU_PAGE_64K || page.bytes == PPU_PAGE_2M);
            assert_true(page.va <= VA && VA - page.va < page.bytes);
            assert_true(page.system || (page.frame + page.bytes <= MACHINE_VRAM &&
                                        (page.frame >= PROT_LIMIT || page.frame + page.bytes <= PROT_BASE)));
        }
    }
    assert_true(accepted > 100);
}

/* Every address of a widened page translates as it would alone. */
static void check_wide(struct board *board, const struct mmu_page *wide)
{
    for (uint64_t at = 0; at < wide->bytes; at += PPU_PAGE_4K) {
        struct mmu_page page = mmu_walk(board->core, CTX, wide->va + at, PPU_ACCESS_READ);

        assert_int_equal(page.fault, 0);
        assert_true(page.frame + (wide->va + at - page.va) == wide->frame + at);
        assert_true(page.write == wide->write && page.atomic == wide->atomic && page.system == wide->system);
    }
}

static void neighbours(void **state)
{
    struct board *board = *state;
    const uint32_t pages = PPU_PAGE_2M / PPU_PAGE_64K;
    uint64_t random = random_seed();
    uint32_t widened = 0;

    for (uint32_t round = 0; round < 40; round++) {
        const uint64_t frame = HEAP_AT + random_below(&random, 4) * PPU_PAGE_64K;
        const uint32_t odd = round == 0 ? UINT32_MAX : 1 + random_below(&random, pages - 1);

        for (uint32_t i = 0; i < pages; i++) {
            const bool apart = i >= odd && random_below(&random, 8) == 0, other = i == odd && round % 2 == 0;
            map_page(board, CTX, VA_2M + i * PPU_PAGE_64K, frame + (i + (apart ? 2 : 0)) * PPU_PAGE_64K, PPU_PTE_64K,
                     other ? PPU_PTE_WRITE : RW);
        }
        for (uint32_t i = 0; i < pages; i++) {
            struct mmu_page page = mmu_walk(board->core, CTX, VA_2M + i * PPU_PAGE_64K, PPU_ACCESS_READ);

            mmu_widen(board->core, &page);
            assert_true(round != 0 || page.bytes == PPU_PAGE_2M);
            widened += page.bytes > PPU_PAGE_64K;
            check_wide(board, &page);
        }
    }
    assert_true(widened > 200);
}

/* No page is taken in that is protected, outside VRAM, in system memory or named by half of its entries. */
static void neighbours_that_stay_out(void **state)
{
    struct board *board = *state;
    const uint64_t frames[] = { PROT_BASE - PPU_PAGE_64K, MACHINE_VRAM - PPU_PAGE_64K };
    struct mmu_page page;

    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t va = VA_2M + i * PPU_PAGE_2M;

        map_page(board, CTX, va, frames[i], PPU_PTE_64K, RW);
        map_page(board, CTX, va + PPU_PAGE_64K, frames[i] + PPU_PAGE_64K, PPU_PTE_64K, RW);
        page = mmu_walk(board->core, CTX, va, PPU_ACCESS_READ);
        mmu_widen(board->core, &page);
        assert_true(page.bytes == PPU_PAGE_64K);
    }
    map_page(board, CTX, VA_2M + 2 * PPU_PAGE_2M, SYS_BASE, PPU_PTE_64K, RW | PPU_PTE_SYSTEM);
    map_page(board, CTX, VA_2M + 2 * PPU_PAGE_2M + PPU_PAGE_64K, SYS_BASE + PPU_PAGE_64K, PPU_PTE_64K,
             RW | PPU_PTE_SYSTEM);
    page = mmu_walk(board->core, CTX, VA_2M + 2 * PPU_PAGE_2M, PPU_ACCESS_READ);
    mmu_widen(board->core, &page);
    assert_true(page.bytes == PPU_PAGE_64K);

    for (uint32_t i = 0; i < 2; i++) {
        map_page(board, CTX, VA_2M + 3 * PPU_PAGE_2M + i * PPU_PAGE_64K, HEAP_AT + i * PPU_PAGE_64K, PPU_PTE_64K, RW);
    }
    page = mmu_walk(board->core, CTX, VA_2M + 3 * PPU_PAGE_2M, PPU_ACCESS_READ);
    write_pte(board, (uint32_t)page.table + 8 * 31, 0);
    mmu_widen(board->core, &page);
    assert_true(page.bytes == PPU_PAGE_64K);
}

/* Neighbours are taken in for what the walk read, and not for what the entry has become since. */
static void entries_that_change(void **state)
{
    struct board *board = *state;

    for (uint32_t i = 0; i < 2; i++) {
        map_page(board, CTX, VA_2M + i * PPU_PAGE_64K, HEAP_AT + i * PPU_PAGE_64K, PPU_PTE_64K, RW);
    }
    struct mmu_page page = mmu_walk(board->core, CTX, VA_2M, PPU_ACCESS_READ);
    for (uint32_t i = 0; i < 2; i++) {
        map_page(board, CTX, VA_2M + i * PPU_PAGE_64K, HEAP_AT + i * PPU_PAGE_64K, PPU_PTE_64K, 0);
    }
    mmu_widen(board->core, &page);
    assert_true(page.write && page.bytes == PPU_PAGE_64K);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every page size translates [A9]", page_sizes, setup, teardown, NULL },
        { "write and atomic need their bits [A9]", permissions, setup, teardown, NULL },
        { "a reserved bit at any level faults [A9]", malformed_entries, setup, teardown, NULL },
        { "a table outside the protected range faults [A9]", malformed_tables, setup, teardown, NULL },
        { "a page at the wrong level faults [A9]", leaves_at_wrong_levels, setup, teardown, NULL },
        { "frames beyond VRAM, protected or misaligned fault [A9]", frames, setup, teardown, NULL },
        { "a context that is not open, an address too long [A9]", contexts, setup, teardown, NULL },
        { "the hook fails the n-th walk [A9]", hook_fails_nth, setup, teardown, NULL },
        { "neighbours are one page where every address stays what it was [A9]", neighbours, setup, teardown, NULL },
        { "neighbours that may not be reached so stay out [A9]", neighbours_that_stay_out, setup, teardown, NULL },
        { "neighbours are not taken in for an entry that has changed since", entries_that_change, setup, teardown,
          NULL },
        { "random maps agree with a model [A9]", random_maps, setup, teardown, NULL },
        { "tables of random bits never lead outside [A9]", random_tables, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("device core: MMU", tests, NULL, NULL);
}
