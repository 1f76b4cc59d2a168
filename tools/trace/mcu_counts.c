/* SPDX-License-Identifier: MIT */
#include "tools/trace/mcu_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ppu/macros.h"

#define DEEPEST 256u

/* ---- opening ---- */

static const char *why_not(const struct mcu_counts_head *head, size_t bytes)
{
    if (bytes < sizeof(*head) || memcmp(head->magic, MCU_COUNTS_MAGIC, sizeof(head->magic)) != 0) {
        return "it has no counts of microcontrollers in it";
    }
    if (head->head.version != MCU_COUNTS_VERSION || head->head.size_bytes != sizeof(*head)) {
        return "it has another version of the format";
    }
    if (head->trees > MCU_COUNTS_MOST_TREES || head->name_bytes > MCU_COUNTS_NAME_BYTES || head->name_bytes % 8 != 0 ||
        head->functions > head->name_bytes || bytes < mcu_counts_bytes(head->name_bytes, head->trees)) {
        return "it is too short for what it says of itself";
    }
    return NULL;
}

/* False: there are fewer names than functions. */
static bool find_names(struct mcu_counts *counts)
{
    const char *at = (const char *)(counts->head + 1), *end = at + counts->head->name_bytes;

    for (uint32_t i = 0; i < counts->head->functions; i++) {
        const char *ends = memchr(at, 0, (size_t)(end - at));
        if (!ends) {
            return false;
        }
        counts->name[i] = at;
        at = ends + 1;
    }
    return true;
}

const char *mcu_counts_open(struct mcu_counts *counts, int fd)
{
    struct stat status;

    *counts = (struct mcu_counts){ .head = NULL };
    if (fstat(fd, &status) != 0) {
        return strerror(errno);
    }
    void *map = status.st_size > 0 ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (map == MAP_FAILED) {
        return status.st_size > 0 ? strerror(errno) : "it is empty";
    }
    counts->head = map;
    counts->bytes = (size_t)status.st_size;
    const char *why = why_not(map, counts->bytes);
    counts->name = why ? NULL : calloc((size_t)counts->head->functions + 1, sizeof(*counts->name));
    if (!why && (!counts->name || !find_names(counts))) {
        why = counts->name ? "its names are cut off" : "not enough memory";
    }
    if (why) {
        mcu_counts_close(counts);
    }
    return why;
}

void mcu_counts_close(struct mcu_counts *counts)
{
    if (counts->head) {
        munmap((void *)(uintptr_t)counts->head, counts->bytes);
    }
    free(counts->name);
    *counts = (struct mcu_counts){ .head = NULL };
}

/* ---- stacks ---- */

/* The functions from the root to the node; a parent has a lower number, or the file is malformed. */
static uint32_t stack_of(const struct mcu_counts_tree *tree, uint32_t node, uint32_t stack[DEEPEST])
{
    uint32_t depth = 0;

    for (uint32_t at = node; at != 0 && depth < DEEPEST;) {
        uint32_t parent = tree->node[at].parent;
        stack[depth++] = tree->node[at].function;
        at = parent < at ? parent : 0;
    }
    return depth;
}

void mcu_counts_fold(const struct mcu_counts *counts, uint32_t number, FILE *to)
{
    const struct mcu_counts_tree *tree = &mcu_counts_trees(counts->head)[number];
    uint32_t nodes = __atomic_load_n(&tree->nodes, __ATOMIC_ACQUIRE); /* partner: the plugin's release */
    uint32_t stack[DEEPEST];

    for (uint32_t node = 1; node < PPU_MIN(nodes, MCU_COUNTS_NODES); node++) {
        uint64_t insns = __atomic_load_n(&tree->node[node].insns, __ATOMIC_RELAXED);
        if (insns == 0) {
            continue;
        }
        for (uint32_t i = stack_of(tree, node, stack); i-- > 0;) {
            uint32_t function = stack[i];
            fprintf(to, "%s%s", function < counts->head->functions ? counts->name[function] : "?", i > 0 ? ";" : "");
        }
        fprintf(to, " %llu\n", (unsigned long long)insns);
    }
}
