/* SPDX-License-Identifier: MIT */
/* Tests answers of the kernel as bytes, well-formed and not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "runtime/vfio/chain.h"

#define ANSWER_BYTES 512u
#define MAX_AREAS 4u

/* An answer of exactly `bytes`, so that a read behind its end is noticed. */
static void *answer_copy(const void *answer, size_t bytes)
{
    void *copy = malloc(bytes);

    assert_non_null(copy);
    memcpy(copy, answer, bytes);
    return copy;
}

/* ---- regions ---- */

/* The members of the kernel's structures, whose last one has no size, are spelled out. */
struct region_answer {
    struct vfio_region_info info;
    struct vfio_info_cap_header other;
    struct vfio_info_cap_header sparse;
    uint32_t nr_areas;
    uint32_t reserved;
    struct vfio_region_sparse_mmap_area areas[MAX_AREAS];
};
_Static_assert(offsetof(struct region_answer, areas) - offsetof(struct region_answer, sparse) ==
                   offsetof(struct vfio_region_info_cap_sparse_mmap, areas),
               "as the kernel lays it out");

static struct region_answer sparse_answer(uint32_t count)
{
    struct region_answer answer = {
        .info = { .argsz = sizeof(answer),
                  .flags = VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS,
                  .cap_offset = offsetof(struct region_answer, other),
                  .size = 4 * PPU_MIB },
        .other = { .id = VFIO_REGION_INFO_CAP_MSIX_MAPPABLE, .next = offsetof(struct region_answer, sparse) },
        .sparse = { .id = VFIO_REGION_INFO_CAP_SPARSE_MMAP },
        .nr_areas = count,
    };

    for (uint32_t i = 0; i < MAX_AREAS; i++) {
        answer.areas[i].offset = i * 2 * PPU_PAGE_64K;
        answer.areas[i].size = PPU_PAGE_64K;
    }
    return answer;
}

static size_t areas_of(struct region_answer answer, struct vfio_area *areas, size_t max)
{
    struct region_answer *copy = answer_copy(&answer, answer.info.argsz);
    size_t count = vfio_mappable_areas(&copy->info, areas, max);

    free(copy);
    return count;
}

static void region_without_mmap_has_no_area(void **state)
{
    struct region_answer answer = sparse_answer(1);
    struct vfio_area areas[MAX_AREAS];

    (void)state;
    answer.info.flags &= ~VFIO_REGION_INFO_FLAG_MMAP;
    assert_int_equal(areas_of(answer, areas, MAX_AREAS), 0);
}

static void region_without_chain_is_one_area(void **state)
{
    struct region_answer answer = sparse_answer(1);
    struct vfio_area areas[MAX_AREAS];

    (void)state;
    answer.info.flags &= ~VFIO_REGION_INFO_FLAG_CAPS;
    answer.info.argsz = sizeof(answer.info);
    assert_int_equal(areas_of(answer, areas, MAX_AREAS), 1);
    assert_int_equal(areas[0].offset, 0);
    assert_int_equal(areas[0].bytes, 4 * PPU_MIB);
}

static void sparse_areas_are_found_behind_other_capabilities(void **state)
{
    struct vfio_area areas[MAX_AREAS];

    (void)state;
    assert_int_equal(areas_of(sparse_answer(3), areas, MAX_AREAS), 3);
    assert_int_equal(areas[2].offset, 4 * PPU_PAGE_64K);
    assert_int_equal(areas[2].bytes, PPU_PAGE_64K);
    assert_int_equal(areas_of(sparse_answer(3), areas, 2), 2);
    assert_int_equal(areas_of(sparse_answer(0), areas, MAX_AREAS), 0);
}

static void sparse_areas_that_are_not_there_are_not_read(void **state)
{
    struct vfio_area areas[2 * MAX_AREAS];

    (void)state;
    assert_int_equal(areas_of(sparse_answer(1000), areas, 2 * MAX_AREAS), MAX_AREAS);
}

static void sparse_areas_outside_of_the_region_are_left_out(void **state)
{
    struct region_answer answer = sparse_answer(4);
    struct vfio_area areas[MAX_AREAS];

    (void)state;
    answer.areas[0].offset = 4 * PPU_MIB;
    answer.areas[1].size = UINT64_MAX;
    answer.areas[2].offset = UINT64_MAX;
    assert_int_equal(areas_of(answer, areas, MAX_AREAS), 1);
    assert_int_equal(areas[0].offset, answer.areas[3].offset);
}

/* ---- chains ---- */

static void broken_chains_end(void **state)
{
    const uint32_t next[] = { 1, 3, ANSWER_BYTES - 4, ANSWER_BYTES, ANSWER_BYTES + 8, UINT32_MAX, 64 /* itself */ };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(next); i++) {
        char bytes[ANSWER_BYTES] = { 0 };
        struct vfio_info_cap_header header = { .id = 7, .next = next[i] };
        memcpy(bytes + 64, &header, sizeof(header));
        void *answer = answer_copy(bytes, sizeof(bytes));
        assert_null(vfio_capability(answer, sizeof(bytes), 64, 8, sizeof(header)));
        assert_non_null(vfio_capability(answer, sizeof(bytes), 64, 7, sizeof(header)));
        assert_null(vfio_capability(answer, sizeof(bytes), 64, 7, ANSWER_BYTES));
        free(answer);
    }
}

/* ---- bus addresses ---- */

struct range_case {
    const char *what;
    uint32_t count;
    struct vfio_iova_range ranges[2];
    bool found;
    uint64_t start, bytes;
};

struct iommu_answer {
    struct vfio_iommu_type1_info info;
    struct vfio_info_cap_header capability;
    uint32_t nr_iovas;
    uint32_t reserved;
    struct vfio_iova_range ranges[2];
};
_Static_assert(offsetof(struct iommu_answer, ranges) - offsetof(struct iommu_answer, capability) ==
                   offsetof(struct vfio_iommu_type1_info_cap_iova_range, iova_ranges),
               "as the kernel lays it out");

static bool range_of(const struct range_case *test, struct vfio_area *range)
{
    struct iommu_answer answer = {
        .info = { .argsz = sizeof(answer),
                  .flags = VFIO_IOMMU_INFO_CAPS,
                  .cap_offset = offsetof(struct iommu_answer, capability) },
        .capability = { .id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE },
        .nr_iovas = test->count,
    };

    memcpy(answer.ranges, test->ranges, sizeof(answer.ranges));
    struct iommu_answer *copy = answer_copy(&answer, sizeof(answer));
    bool found = vfio_bus_range(&copy->info, range);
    free(copy);
    return found;
}

static void bus_range_is_the_largest_usable_one(void **state)
{
    static const struct range_case cases[] = {
        { "Arm's, around the MSI page",
          2,
          { { 0, 0x7ffffff }, { 0x8100000, 0xffffffffffff } },
          true,
          0x8200000,
          0x1000000000000 - 0x8200000 },
        { "all of 64 bits", 1, { { 0, UINT64_MAX } }, true, PPU_VFIO_BUS_MIN, PPU_VFIO_BUS_LIMIT - PPU_VFIO_BUS_MIN },
        { "the first is larger",
          2,
          { { 0x1000000, 0x8ffffff }, { 0x9000000, 0x9ffffff } },
          true,
          0x1000000,
          0x8000000 },
        { "a count too large", 1000, { { 0x200000, 0x5fffff }, { 0, 0 } }, true, 0x200000, 0x400000 },
        { "no ranges", 0, { { 0, 0 } }, false, 0, 0 },
        { "less than an aligned page", 1, { { 0x200001, 0x5ffffe } }, false, 0, 0 },
        { "above the device's reach", 1, { { PPU_VFIO_BUS_LIMIT, UINT64_MAX } }, false, 0, 0 },
        { "the wrong way round", 1, { { 0x8000000, 0x4000000 } }, false, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct vfio_area range;
        bool found = range_of(&cases[i], &range);
        print_message("# %s\n", cases[i].what);
        assert_int_equal(found, cases[i].found);
        if (found) {
            assert_int_equal(range.offset, cases[i].start);
            assert_int_equal(range.bytes, cases[i].bytes);
        }
    }
}

static void kernel_that_names_no_ranges_is_noticed(void **state)
{
    struct vfio_iommu_type1_info info = { .argsz = sizeof(info) };
    struct vfio_area range;

    (void)state;
    assert_false(vfio_bus_range(&info, &range));
    info.flags = VFIO_IOMMU_INFO_CAPS;
    assert_false(vfio_bus_range(&info, &range));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "region without mapping has no area", region_without_mmap_has_no_area, NULL, NULL, NULL },
        { "region without chain is one area", region_without_chain_is_one_area, NULL, NULL, NULL },
        { "sparse areas are found behind other capabilities", sparse_areas_are_found_behind_other_capabilities, NULL,
          NULL, NULL },
        { "sparse areas that are not there are not read", sparse_areas_that_are_not_there_are_not_read, NULL, NULL,
          NULL },
        { "sparse areas outside of the region are left out", sparse_areas_outside_of_the_region_are_left_out, NULL,
          NULL, NULL },
        { "broken chains end", broken_chains_end, NULL, NULL, NULL },
        { "bus range is the largest usable one", bus_range_is_the_largest_usable_one, NULL, NULL, NULL },
        { "kernel that names no ranges is noticed", kernel_that_names_no_ranges_is_noticed, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("vfio-chain", tests, NULL, NULL);
}
