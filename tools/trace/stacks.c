/* SPDX-License-Identifier: MIT */
#include "tools/trace/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "tools/trace/record_file.h"

#define DEEPEST 256u
#define MOST_NODES (1u << 22)

/* ---- reading ---- */

static uint32_t add_node(struct stacks *stacks, uint32_t parent, uint32_t name)
{
    uint32_t number = stacks->nodes++;

    stacks->node = list_more(stacks->node, number, sizeof(*stacks->node));
    stacks->node[number] = (struct stacks_node){ .name = name, .parent = parent };
    if (number != 0) {
        stacks->node[number].sibling = stacks->node[parent].child;
        stacks->node[parent].child = number;
    }
    return number;
}

static uint32_t callee_of(struct stacks *stacks, uint32_t parent, const char *name, size_t bytes)
{
    uint32_t text = texts_add(&stacks->texts, name, bytes);
    uint64_t key = (uint64_t)parent << 32 | text;
    uint32_t found = map_get(&stacks->by_name, key);

    if (found == MAP_NONE && stacks->nodes < MOST_NODES) {
        found = add_node(stacks, parent, text);
        map_set(&stacks->by_name, key, found);
    }
    return found == MAP_NONE ? parent : found;
}

static void take_line(struct stacks *stacks, uint32_t device, const char *line, size_t bytes)
{
    const char *space = memrchr(line, ' ', bytes);
    char number[24] = "";

    if (!space || bytes - (size_t)(space - line) > sizeof(number)) {
        return;
    }
    memcpy(number, space + 1, bytes - (size_t)(space + 1 - line));
    uint32_t node = device;
    for (const char *at = line; at < space;) {
        const char *ends = memchr(at, ';', (size_t)(space - at));
        ends = ends ? ends : space;
        node = callee_of(stacks, node, at, (size_t)(ends - at));
        at = ends + 1;
    }
    stacks->node[node].insns += strtoull(number, NULL, 10);
}

static void take_stacks(struct stacks *stacks, const struct record_stacks *head, const char *text, size_t bytes)
{
    char name[32];

    if (stacks->nodes == 0) {
        add_node(stacks, 0, texts_format(&stacks->texts, "all"));
    }
    int length = snprintf(name, sizeof(name), "PPU %u", head->device);
    uint32_t device = callee_of(stacks, 0, name, (size_t)length);
    stacks->missing += head->missing;
    for (const char *end = text + bytes, *ends; text < end; text = ends + 1) {
        ends = memchr(text, '\n', (size_t)(end - text));
        ends = ends ? ends : end;
        take_line(stacks, device, text, (size_t)(ends - text));
    }
}

static void total_up(struct stacks *stacks)
{
    for (uint32_t i = stacks->nodes; i-- > 0;) {
        stacks->node[i].total += stacks->node[i].insns;
        if (i != 0) {
            stacks->node[stacks->node[i].parent].total += stacks->node[i].total;
        }
    }
}

void stacks_of_counts(struct stacks *stacks, const struct mcu_counts *counts)
{
    *stacks = (struct stacks){ .nodes = 0 };
    for (uint32_t tree = 0; tree < counts->head->trees; tree++) {
        const struct mcu_counts_tree *of = &mcu_counts_trees(counts->head)[tree];
        const struct record_stacks head = { .device = tree, .insns = of->insns, .missing = of->missing };
        char *text = NULL;
        size_t bytes = 0;
        FILE *to = of->insns != 0 ? open_memstream(&text, &bytes) : NULL;
        if (to) {
            mcu_counts_fold(counts, tree, to);
            fclose(to);
            take_stacks(stacks, &head, text, bytes);
        }
        free(text);
    }
    total_up(stacks);
}

const char *stacks_read(struct stacks *stacks, const void *bytes, size_t size)
{
    struct record record;
    struct record_chunk chunk;
    const uint8_t *content = NULL;
    const char *why = record_open(&record, bytes, size);
    bool cut = false;

    *stacks = (struct stacks){ .nodes = 0 };
    while (!why && record_next(&record, &chunk, &content, &cut)) {
        struct record_stacks head;
        if (chunk.kind == RECORD_STACKS && chunk.bytes >= sizeof(head)) {
            memcpy(&head, content, sizeof(head));
            take_stacks(stacks, &head, (const char *)content + sizeof(head), chunk.bytes - sizeof(head));
        }
    }
    total_up(stacks);
    return why;
}

void stacks_free(struct stacks *stacks)
{
    texts_free(&stacks->texts);
    map_free(&stacks->by_name);
    free(stacks->node);
    *stacks = (struct stacks){ .nodes = 0 };
}

/* ---- what is made of them ---- */

static bool is_outermost(const struct stacks *stacks, uint32_t node)
{
    for (uint32_t at = stacks->node[node].parent; at != 0; at = stacks->node[at].parent) {
        if (stacks->node[at].name == stacks->node[node].name) {
            return false;
        }
    }
    return true;
}

static int compare_functions(const void *a, const void *b)
{
    const struct stacks_function *first = a, *second = b;

    if (first->insns != second->insns) {
        return first->insns > second->insns ? -1 : 1;
    }
    return first->name < second->name ? -1 : first->name > second->name;
}

struct stacks_function *stacks_functions(const struct stacks *stacks, uint32_t *count)
{
    struct stacks_function *functions = list_more(NULL, 0, sizeof(*functions));
    struct map of_name = { .size = 0 };

    *count = 0;
    for (uint32_t i = 1; i < stacks->nodes; i++) {
        const struct stacks_node *node = &stacks->node[i];
        if (node->parent == 0) {
            continue; /* a PPU */
        }
        uint32_t at = map_get(&of_name, node->name);
        if (at == MAP_NONE) {
            at = (*count)++;
            functions = list_more(functions, at, sizeof(*functions));
            functions[at] = (struct stacks_function){ .name = node->name };
            map_set(&of_name, node->name, at);
        }
        functions[at].insns += node->insns;
        functions[at].total += is_outermost(stacks, i) ? node->total : 0;
    }
    map_free(&of_name);
    if (*count > 0) {
        qsort(functions, *count, sizeof(*functions), compare_functions);
    }
    return functions;
}

void stacks_fold(const struct stacks *stacks, FILE *to)
{
    for (uint32_t i = 1; i < stacks->nodes; i++) {
        uint32_t stack[DEEPEST], depth = 0;
        for (uint32_t at = i; at != 0 && depth < DEEPEST && stacks->node[i].insns != 0; at = stacks->node[at].parent) {
            stack[depth++] = at;
        }
        while (depth > 0) {
            depth--;
            fprintf(to, "%s%s", stacks->texts.text[stacks->node[stack[depth]].name], depth > 0 ? ";" : "");
        }
        if (stacks->node[i].insns != 0) {
            fprintf(to, " %llu\n", (unsigned long long)stacks->node[i].insns);
        }
    }
}
