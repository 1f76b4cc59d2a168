/* SPDX-License-Identifier: MIT */
/*
 * Searches a graph breadth first: each level of the graph is a grid, and the nodes of a level say how large the next
 * one is. Three ways to launch the next grid are measured side by side:
 *
 *  - the CPU waits for each grid, reads how many nodes it found, and launches the next;
 *  - a work queue: the last thread of each grid puts the next one into a queue of the PPU's own (C3), and the CPU waits
 *    once;
 *  - nested streams: one thread launches each grid as its child, waits for it, and looks (B7), and the CPU waits once.
 *
 * usage: bfs [KERNELS [NODES]]     KERNELS: build/kernels/bfs.ppu
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ppu.h"
#include "ppu/tmd.h"

#define CTA 128u /* threads; bfs.s counts on it */
#define NOT_FOUND UINT32_MAX
#define ROUNDS 5u
#define SECONDS_60 60000000000ull

#define TRY(call)                                                           \
    do {                                                                    \
        enum ppu_err tried = (call);                                        \
        if (tried != PPU_OK) {                                              \
            fprintf(stderr, "bfs: %s: %s\n", #call, ppu_error_text(tried)); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

/* Edges of node n: edges[offsets[n]] to edges[offsets[n + 1]], the numbers of other nodes. */
struct graph {
    const char *name;
    uint32_t nodes;
    uint32_t *offsets, *edges;
};

/* As bfs.s reads it. */
struct search {
    uint64_t offsets, edges, level, order;
    uint64_t queue, tmd, params;
    uint32_t found, ctas_left, grids, status;
};

struct visit_params {
    uint64_t search;
    uint32_t first, end, level, queued;
    uint64_t zero;
};

/* What threads and the CPU share. Threads copy the first two 16 bytes at a time. */
struct vram {
    struct ppu_tmd tmd;
    struct visit_params next;
    struct search search;
};

struct ppu {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_workq *queue;
    struct ppu_program *program;
    const struct ppu_kernel *visit, *walk;
    struct ppu_memory *memory, *offsets, *edges, *level, *order;
    struct vram *vram;
    uint64_t va; /* of vram->search */
};

/* ---- graphs ---- */

static uint32_t random_below(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

static void *allocate(size_t count)
{
    uint32_t *words = malloc(count * sizeof(*words));

    if (!words) {
        fprintf(stderr, "bfs: no memory for %zu words\n", count);
        exit(1);
    }
    return words;
}

/* Eight edges a node, to anywhere: few levels, most nodes in two of them. */
static struct graph random_graph(uint32_t nodes)
{
    struct graph graph = { "random", nodes, allocate(nodes + 1), allocate(8 * (size_t)nodes) };
    uint64_t state = 1;

    for (uint32_t i = 0; i <= nodes; i++) {
        graph.offsets[i] = 8 * i;
    }
    for (uint32_t i = 0; i < 8 * nodes; i++) {
        graph.edges[i] = random_below(&state, nodes);
    }
    return graph;
}

/* A long road 64 nodes wide, with edges to the neighbours on all four sides: a level a step, each of at most 64
 * nodes. */
static struct graph road_graph(uint32_t nodes)
{
    struct graph graph = { "road", nodes, allocate(nodes + 1), allocate(4 * (size_t)nodes) };
    uint32_t count = 0;

    for (uint32_t i = 0; i < nodes; i++) {
        graph.offsets[i] = count;
        if (i % 64 != 0) {
            graph.edges[count++] = i - 1;
        }
        if (i % 64 != 63 && i + 1 < nodes) {
            graph.edges[count++] = i + 1;
        }
        if (i >= 64) {
            graph.edges[count++] = i - 64;
        }
        if (i + 64 < nodes) {
            graph.edges[count++] = i + 64;
        }
    }
    graph.offsets[nodes] = count;
    return graph;
}

/* The levels as this processor finds them. Returns how many there are. */
static uint32_t reference(const struct graph *graph, uint32_t *level)
{
    uint32_t *order = allocate(graph->nodes), found = 1, deepest = 0;

    memset(level, 0xff, graph->nodes * sizeof(*level));
    level[0] = 0;
    order[0] = 0;
    for (uint32_t i = 0; i < found; i++) {
        deepest = level[order[i]];
        for (uint32_t e = graph->offsets[order[i]]; e < graph->offsets[order[i] + 1]; e++) {
            uint32_t node = graph->edges[e];
            if (level[node] == NOT_FOUND) {
                level[node] = deepest + 1;
                order[found++] = node;
            }
        }
    }
    free(order);
    return deepest + 1;
}

/* ---- the PPU ---- */

static void ppu_begin(struct ppu *ppu, const char *kernels)
{
    struct ppu_error error;

    if (ppu_open(&ppu->device, &error) != PPU_OK) {
        fprintf(stderr, "bfs: %s\n", error.text);
        exit(1);
    }
    TRY(ppu_context_create(ppu->device, &ppu->context));
    TRY(ppu_context_nest(ppu->context, NULL));
    TRY(ppu_channel_create(ppu->context, NULL, &ppu->channel));
    TRY(ppu_stream_create(ppu->channel, &ppu->stream));
    TRY(ppu_workq_create(ppu->channel, NULL, &ppu->queue));
    if (ppu_program_load_file(ppu->context, kernels, &ppu->program, &error) != PPU_OK) {
        fprintf(stderr, "bfs: %s\n", error.text);
        exit(1);
    }
    TRY(ppu_kernel_find(ppu->program, "visit", &ppu->visit));
    TRY(ppu_kernel_find(ppu->program, "walk", &ppu->walk));
    TRY(ppu_memory_create(ppu->context, PPU_MEMORY_VRAM, sizeof(*ppu->vram), &ppu->memory));
    ppu->vram = ppu_memory_host(ppu->memory);
    ppu->va = ppu_memory_va(ppu->memory, ppu->context).va + offsetof(struct vram, search);
}

static void ppu_end(struct ppu *ppu)
{
    TRY(ppu_workq_destroy(ppu->queue));
    TRY(ppu_channel_destroy(ppu->channel));
    ppu_stream_destroy(ppu->stream);
    ppu_program_unload(ppu->program);
    TRY(ppu_memory_free(ppu->memory));
    TRY(ppu_context_destroy(ppu->context));
    ppu_device_close(ppu->device);
}

static uint64_t upload(const struct ppu *ppu, const uint32_t *words, size_t count, struct ppu_memory **memory)
{
    TRY(ppu_memory_create(ppu->context, PPU_MEMORY_VRAM, count * sizeof(*words), memory));
    if (words) {
        memcpy(ppu_memory_host(*memory), words, count * sizeof(*words));
    }
    return ppu_memory_va(*memory, ppu->context).va;
}

static void graph_upload(struct ppu *ppu, const struct graph *graph)
{
    struct search *search = &ppu->vram->search;

    search->offsets = upload(ppu, graph->offsets, graph->nodes + 1, &ppu->offsets);
    search->edges = upload(ppu, graph->edges, graph->offsets[graph->nodes], &ppu->edges);
    search->level = upload(ppu, NULL, graph->nodes, &ppu->level);
    search->order = upload(ppu, NULL, graph->nodes, &ppu->order);
    search->queue = ppu_workq_va(ppu->queue).va;
    search->tmd = ppu_memory_va(ppu->memory, ppu->context).va + offsetof(struct vram, tmd);
    search->params = ppu_memory_va(ppu->memory, ppu->context).va + offsetof(struct vram, next);
}

static void graph_drop(const struct ppu *ppu)
{
    TRY(ppu_memory_free(ppu->offsets));
    TRY(ppu_memory_free(ppu->edges));
    TRY(ppu_memory_free(ppu->level));
    TRY(ppu_memory_free(ppu->order));
}

/* ---- three ways to search ---- */

static void finish_search(struct ppu *ppu, const struct ppu_event *event)
{
    struct ppu_error error;

    if (ppu_event_wait(event, SECONDS_60) != PPU_OK) {
        if (ppu_workq_error(ppu->queue, &error) != PPU_OK) {
            fprintf(stderr, "bfs: work queue: %s\n", error.text);
        }
        ppu_event_error(event, &error);
        fprintf(stderr, "bfs: %s\n", error.text);
        exit(1);
    }
}

static struct ppu_launch visit_launch(const struct visit_params *params)
{
    return (struct ppu_launch){
        .grid = { (params->end - params->first + CTA - 1) / CTA },
        .cta = { CTA },
        .params = params,
        .param_bytes = sizeof(*params),
    };
}

static void by_cpu(struct ppu *ppu)
{
    struct visit_params params = { .search = ppu->va, .end = 1 };

    while (params.first < params.end) {
        const struct ppu_launch launch = visit_launch(&params);
        struct ppu_event event;
        TRY(ppu_stream_launch(ppu->stream, ppu->visit, &launch, &event));
        finish_search(ppu, &event);
        ppu->vram->search.grids++;
        params.first = params.end;
        params.end = ppu->vram->search.found;
        params.level++;
    }
}

static void by_queue(struct ppu *ppu)
{
    const struct visit_params params = { .search = ppu->va, .end = 1, .queued = 1 };
    const struct ppu_launch launch = visit_launch(&params);
    struct ppu_block *block;
    struct ppu_event event;

    TRY(ppu_kernel_describe(ppu->visit, &launch, &ppu->vram->tmd));
    ppu->vram->search.ctas_left = 1;
    ppu->vram->search.grids = 1;
    TRY(ppu_block_begin(ppu->channel, &block));
    ppu_block_launch(block, ppu->stream, ppu->visit, &launch);
    ppu_block_round(block, ppu->queue);
    TRY(ppu_block_submit(block, &event));
    finish_search(ppu, &event);
}

static void by_nest(struct ppu *ppu)
{
    const struct visit_params child = { .search = ppu->va, .end = 1 };
    const struct ppu_launch visit = visit_launch(&child);
    const uint64_t params[] = { ppu->va, 0 };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_event event;

    TRY(ppu_kernel_describe(ppu->visit, &visit, &ppu->vram->tmd));
    TRY(ppu_stream_launch(ppu->stream, ppu->walk, &launch, &event));
    finish_search(ppu, &event);
}

static const struct {
    const char *name;
    void (*search)(struct ppu *ppu);
} ways[] = {
    { "the CPU, when it has seen the last one's end", by_cpu },
    { "the last thread, by the work queue", by_queue },
    { "a thread that waits for its children", by_nest },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* ---- measuring ---- */

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void reset(struct ppu *ppu, const struct graph *graph)
{
    uint32_t *level = ppu_memory_host(ppu->level), *order = ppu_memory_host(ppu->order);

    memset(level, 0xff, graph->nodes * sizeof(*level));
    level[0] = 0;
    order[0] = 0;
    ppu->vram->search.found = 1;
    ppu->vram->search.grids = 0;
    ppu->vram->search.status = 0;
}

/* Searches `graph` in all ways, in turn. Returns how many of them found other levels than the reference. */
static uint32_t compare_searches(struct ppu *ppu, const struct graph *graph)
{
    uint32_t *expected = allocate(graph->nodes), wrong = 0;
    uint32_t levels = reference(graph, expected);
    double ms[WAYS][ROUNDS];
    bool same[WAYS] = { false };

    graph_upload(ppu, graph);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (size_t way = 0; way < WAYS; way++) {
            reset(ppu, graph);
            double began = now_ms();
            ways[way].search(ppu);
            ms[way][round] = now_ms() - began;
            bool equal = memcmp(ppu_memory_host(ppu->level), expected, graph->nodes * sizeof(*expected)) == 0 &&
                         ppu->vram->search.grids == levels && ppu->vram->search.status == 0;
            same[way] = equal && (round == 0 || same[way]);
        }
    }
    printf("\n%s graph: %u nodes, %u edges, %u levels, so %u grids\n", graph->name, graph->nodes,
           graph->offsets[graph->nodes], levels, levels);
    printf("  %-46s %10s %12s\n", "each grid is launched by", "time", "a level");
    for (size_t way = 0; way < WAYS; way++) {
        qsort(ms[way], ROUNDS, sizeof(ms[way][0]), by_time);
        double median = ms[way][ROUNDS / 2];
        printf("  %-46s %7.2f ms %9.1f us   %s\n", ways[way].name, median, median * 1e3 / levels,
               same[way] ? "ok" : "WRONG");
        wrong += !same[way];
    }
    graph_drop(ppu);
    free(expected);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : "build/kernels/bfs.ppu";
    uint32_t nodes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1u << 15, wrong = 0;
    struct ppu ppu = { 0 };

    if (argc > 3 || nodes < 128 || nodes > 1u << 24) {
        fprintf(stderr, "usage: bfs [KERNELS [NODES]]    NODES: 128 to 16777216\n");
        return 2;
    }
    ppu_begin(&ppu, kernels);
    struct graph graphs[] = { random_graph(nodes), road_graph(nodes) };
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        wrong += compare_searches(&ppu, &graphs[i]);
        free(graphs[i].offsets);
        free(graphs[i].edges);
    }
    ppu_end(&ppu);
    printf("\n%s\n", wrong == 0 ? "All levels are those that the CPU alone finds."
                                : "Some levels are not those that the CPU alone finds.");
    return wrong != 0;
}
