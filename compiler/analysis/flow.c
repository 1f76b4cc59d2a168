/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/flow.h"

#include <string.h>

/*
 * Lanes meet early where at least so many instructions follow until all have met. A function has a bounded number of
 * such tokens, as all of them may be queued at once.
 */
#define LEAST_WORK 4u
#define MOST_EARLY 16u

static struct flow_region region_new(struct arena *arena, uint32_t begin, uint32_t end)
{
    begin -= begin % 64;
    return (struct flow_region){ begin, end, arena_new(arena, uint64_t, (end - begin + 63) / 64) };
}

static bool region_has(const struct flow_region *region, uint32_t block)
{
    const uint32_t at = block - region->begin;

    return block >= region->begin && block < region->end && (region->bits[at / 64] >> at % 64 & 1);
}

static void region_add(const struct flow_region *region, uint32_t block)
{
    const uint32_t at = block - region->begin;

    region->bits[at / 64] |= 1ull << at % 64;
}

/* Takes its blocks from `from` on away, and perhaps some before. */
static void region_clear(const struct flow_region *region, uint32_t from)
{
    const uint32_t first = (from - region->begin) / 64, words = (region->end - region->begin + 63) / 64;

    memset(region->bits + first, 0, (words - first) * sizeof(region->bits[0]));
}

/* The first of its blocks from `from` on; its end: there is none. */
static uint32_t region_next(const struct flow_region *region, uint32_t from)
{
    uint32_t at = from > region->begin ? from - region->begin : 0;
    const uint32_t count = region->end - region->begin;

    while (at < count) {
        const uint64_t left = region->bits[at / 64] >> at % 64;
        if (left != 0) {
            return region->begin + at + (uint32_t)__builtin_ctzll(left);
        }
        at = (at / 64 + 1) * 64;
    }
    return region->end;
}

/* ---- numbering ---- */

struct walk {
    uint32_t count;
    const uint32_t (*succ)[2];
    const uint32_t *succs;

    const uint32_t *depth_of;
    uint32_t *order;
    uint32_t *number; /* old to new */
};

/* Successor to visit first, and so to place last: the one that leaves more loops. */
static uint32_t first_to_visit(const struct walk *walk, uint32_t block)
{
    if (walk->succs[block] < 2) {
        return 0;
    }
    if (!walk->depth_of) {
        return 1;
    }
    return walk->depth_of[walk->succ[block][0]] < walk->depth_of[walk->succ[block][1]] ? 0 : 1;
}

/* Reverse postorder of what can be reached; how many that are. */
static uint32_t number_blocks(struct arena *arena, struct walk *walk)
{
    uint32_t *stack = arena_new(arena, uint32_t, walk->count + 1);
    uint8_t *state = arena_new(arena, uint8_t, walk->count); /* successors visited + 1 */
    uint32_t top = 0, left = walk->count;

    stack[top++] = 0;
    state[0] = 1;
    while (top != 0) {
        uint32_t block = stack[top - 1], visited = state[block] - 1u;
        if (visited == walk->succs[block]) {
            walk->order[--left] = block;
            top--;
            continue;
        }
        state[block]++;
        uint32_t next = walk->succ[block][first_to_visit(walk, block) ^ visited];
        if (state[next] == 0) {
            state[next] = 1;
            stack[top++] = next;
        }
    }
    memmove(walk->order, walk->order + left, (walk->count - left) * sizeof(walk->order[0]));
    for (uint32_t i = 0; i < walk->count; i++) {
        walk->number[i] = FLOW_NONE;
    }
    for (uint32_t i = 0; i < walk->count - left; i++) {
        walk->number[walk->order[i]] = i;
    }
    return walk->count - left;
}

static void add_pred(struct arena *arena, struct flow_block *block, uint32_t pred, unsigned *cap)
{
    block->preds = arena_grow(arena, block->preds, sizeof(block->preds[0]), block->pred_count, cap);
    block->preds[block->pred_count++] = pred;
}

static void link_blocks(struct flow *flow, const struct walk *walk)
{
    unsigned *caps = arena_new(flow->arena, unsigned, flow->count);

    flow->blocks = arena_new(flow->arena, struct flow_block, flow->count);
    for (uint32_t i = 0; i < flow->count; i++) {
        struct flow_block *block = &flow->blocks[i];
        uint32_t old = walk->order[i];
        block->loop = FLOW_NONE;
        block->succs = walk->succs[old];
        for (uint32_t s = 0; s < block->succs; s++) {
            block->succ[s] = walk->number[walk->succ[old][s]];
            add_pred(flow->arena, &flow->blocks[block->succ[s]], i, &caps[block->succ[s]]);
        }
    }
}

/* ---- dominators, loops ---- */

static uint32_t meet_up(const struct flow *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b) {
            a = flow->blocks[a].idom;
        } else {
            b = flow->blocks[b].idom;
        }
    }
    return a;
}

static void find_dominators(struct flow *flow)
{
    bool changed = true;

    for (uint32_t i = 1; i < flow->count; i++) {
        flow->blocks[i].idom = FLOW_NONE;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 1; i < flow->count; i++) {
            uint32_t idom = FLOW_NONE;
            for (uint32_t p = 0; p < flow->blocks[i].pred_count; p++) {
                uint32_t pred = flow->blocks[i].preds[p];
                if (flow->blocks[pred].idom != FLOW_NONE) {
                    idom = idom == FLOW_NONE ? pred : meet_up(flow, idom, pred);
                }
            }
            changed |= idom != flow->blocks[i].idom;
            flow->blocks[i].idom = idom;
        }
    }
}

/* A block has a higher number than its dominators. */
static void number_dominators(struct flow *flow)
{
    uint32_t *free_number = arena_new(flow->arena, uint32_t, flow->count); /* for the next that it dominates */

    for (uint32_t b = 0; b < flow->count; b++) {
        flow->blocks[b].dom_count = 1;
    }
    for (uint32_t b = flow->count; b-- > 1;) {
        flow->blocks[flow->blocks[b].idom].dom_count += flow->blocks[b].dom_count;
    }
    free_number[0] = 1;
    for (uint32_t b = 1; b < flow->count; b++) {
        struct flow_block *block = &flow->blocks[b];
        block->dom_number = free_number[block->idom];
        free_number[block->idom] += block->dom_count;
        free_number[b] = block->dom_number + 1;
    }
}

bool flow_dominates(const struct flow *flow, uint32_t a, uint32_t b)
{
    return flow->blocks[b].dom_number - flow->blocks[a].dom_number < flow->blocks[a].dom_count;
}

bool flow_in_loop(const struct flow *flow, uint32_t loop, uint32_t block)
{
    uint32_t at = flow->blocks[block].loop;

    while (at != FLOW_NONE && at != loop) {
        at = flow->loops[at].parent;
    }
    return at == loop;
}

uint32_t flow_depth(const struct flow *flow, uint32_t block)
{
    uint32_t loop = flow->blocks[block].loop;

    return loop == FLOW_NONE ? 0 : flow->loops[loop].depth;
}

/* The blocks that reach `latch` without passing the loop's header belong to the loop. */
static void fill_loop(struct flow *flow, uint32_t loop, uint32_t latch, uint32_t *stack)
{
    uint32_t top = 0;

    stack[top++] = latch;
    while (top != 0) {
        uint32_t block = stack[--top];
        if (flow_in_loop(flow, loop, block)) {
            continue;
        }
        /* Loops are found outer first: what lies in an inner one is moved there. */
        flow->blocks[block].loop = loop;
        for (uint32_t p = 0; p < flow->blocks[block].pred_count; p++) {
            stack[top++] = flow->blocks[block].preds[p];
        }
    }
}

/* False: an edge goes back to a block that does not dominate its start. */
static bool find_loops(struct flow *flow)
{
    uint32_t edges = 0;

    for (uint32_t i = 0; i < flow->count; i++) {
        edges += flow->blocks[i].succs;
    }
    uint32_t *stack = arena_new(flow->arena, uint32_t, edges + flow->count + 1);
    for (uint32_t head = 0; head < flow->count; head++) {
        struct flow_block *block = &flow->blocks[head];
        uint32_t loop = FLOW_NONE, entry = FLOW_NONE;
        for (uint32_t p = 0; p < block->pred_count; p++) {
            if (block->preds[p] < head) {
                entry = block->preds[p];
                continue;
            }
            if (!flow_dominates(flow, head, block->preds[p])) {
                return false;
            }
            if (loop == FLOW_NONE) {
                flow->loops =
                    arena_grow(flow->arena, flow->loops, sizeof(flow->loops[0]), flow->loop_count, &flow->loop_cap);
                loop = flow->loop_count++;
                flow->loops[loop] =
                    (struct flow_loop){ head, FLOW_NONE, block->loop, flow_depth(flow, head) + 1, head };
                block->loop = loop;
            }
            fill_loop(flow, loop, block->preds[p], stack);
        }
        if (loop != FLOW_NONE) {
            flow->loops[loop].preheader = entry;
        }
    }
    return true;
}

static void find_ends(struct flow *flow)
{
    for (uint32_t b = 0; b < flow->count; b++) {
        for (uint32_t at = flow->blocks[b].loop; at != FLOW_NONE; at = flow->loops[at].parent) {
            flow->loops[at].end = b + 1;
        }
    }
}

static struct flow *flow_of_walk(struct arena *arena, struct walk *walk)
{
    struct flow *flow = arena_new(arena, struct flow, 1);

    flow->arena = arena;
    flow->count = number_blocks(arena, walk);
    link_blocks(flow, walk);
    find_dominators(flow);
    number_dominators(flow);
    if (!find_loops(flow)) {
        return NULL;
    }
    find_ends(flow);
    return flow;
}

struct flow *flow_new(struct arena *arena, uint32_t count, const uint32_t (*succ)[2], const uint32_t *succs,
                      uint32_t *order)
{
    uint32_t *number = arena_new(arena, uint32_t, count), *depth = arena_new(arena, uint32_t, count);
    struct walk walk = { count, succ, succs, NULL, order, number };
    struct flow *flow = flow_of_walk(arena, &walk);

    if (!flow) {
        return NULL;
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        depth[order[i]] = flow_depth(flow, i);
    }

    walk.depth_of = depth;
    flow = flow_of_walk(arena, &walk);
    if (flow) {
        flow->convergent = arena_new(arena, bool, flow->count);
        flow->leaks = arena_new(arena, bool, flow->count);
    }
    return flow;
}

/* ---- reconvergence ---- */

/*
 * One level: the blocks of a loop (or of the whole function) that lie in no inner loop, and inner loops, each as one
 * node named by its header. Without back edges, so that every edge goes to a higher number.
 */
struct level {
    struct flow *flow;
    uint32_t loop;            /* FLOW_NONE: the function */
    uint32_t *ipdom;          /* node: nearest post-dominator; flow->count is the level's end */
    struct flow_region found; /* of find_region(): nodes */
};

/* The node of a block, FLOW_NONE: it lies outside. */
static uint32_t level_node(const struct level *level, uint32_t block)
{
    const struct flow *flow = level->flow;
    uint32_t at = flow->blocks[block].loop, node = block;

    while (at != level->loop) {
        if (at == FLOW_NONE) {
            return FLOW_NONE;
        }
        node = flow->loops[at].header;
        at = flow->loops[at].parent;
    }
    return node;
}

/* The loop that a node stands for, FLOW_NONE: it is a block of its own. */
static uint32_t node_loop(const struct level *level, uint32_t node)
{
    uint32_t loop = level->flow->blocks[node].loop;

    return loop == level->loop ? FLOW_NONE : loop;
}

static uint32_t level_begin(const struct level *level)
{
    return level->loop == FLOW_NONE ? 0 : level->flow->loops[level->loop].header;
}

static uint32_t level_end(const struct level *level)
{
    return level->loop == FLOW_NONE ? level->flow->count : level->flow->loops[level->loop].end;
}

/* The first number behind the blocks of a node. */
static uint32_t node_end(const struct level *level, uint32_t node)
{
    uint32_t loop = node_loop(level, node);

    return loop == FLOW_NONE ? node + 1 : level->flow->loops[loop].end;
}

static bool in_node(const struct level *level, uint32_t node, uint32_t block)
{
    uint32_t loop = node_loop(level, node);

    return loop == FLOW_NONE ? block == node : flow_in_loop(level->flow, loop, block);
}

/* Calls `visit` for each edge that leaves a node, but for those to the end of a thread, where nobody meets: its
 * target's node, the end for a back edge, FLOW_NONE out of the level. */
static void node_edges(const struct level *level, uint32_t node,
                       void (*visit)(void *arg, uint32_t from, uint32_t to, uint32_t to_node), void *arg)
{
    const struct flow *flow = level->flow;
    uint32_t loop = node_loop(level, node), end = node_end(level, node);

    for (uint32_t b = node; b < end; b++) {
        if (!in_node(level, node, b)) {
            continue;
        }
        if (flow->blocks[b].succs == 0) {
            visit(arg, b, FLOW_NONE, flow->count);
        }
        for (uint32_t s = 0; s < flow->blocks[b].succs; s++) {
            uint32_t to = flow->blocks[b].succ[s];
            if ((in_node(level, node, to) && !(loop == FLOW_NONE && to == node)) || (flow->ends && flow->ends[to])) {
                continue;
            }
            bool back = level->loop != FLOW_NONE && to == flow->loops[level->loop].header;
            visit(arg, b, to, back ? flow->count : level_node(level, to));
        }
    }
}

struct meet {
    const uint32_t *ipdom;
    uint32_t at;      /* FLOW_NONE: no edge yet */
    uint32_t targets; /* different ones */
    uint32_t last;
    bool leaves; /* some edge goes out of the level */
};

static void meet_edge(void *arg, uint32_t from, uint32_t to, uint32_t to_node)
{
    struct meet *meet = arg;

    (void)from;
    (void)to;
    if (to_node == FLOW_NONE) {
        meet->leaves = true;
        return;
    }
    meet->targets += meet->at == FLOW_NONE || to_node != meet->last;
    meet->last = to_node;
    if (meet->at == FLOW_NONE) {
        meet->at = to_node;
        return;
    }
    while (meet->at != to_node) {
        if (meet->at < to_node) {
            meet->at = meet->ipdom[meet->at];
        } else {
            to_node = meet->ipdom[to_node];
        }
    }
}

/* What lanes pass from a node on. */
struct search {
    const struct level *level;
    uint32_t stop;
    uint32_t end; /* of all blocks found */
};

static void search_node(struct search *search, uint32_t node)
{
    const uint32_t end = node_end(search->level, node);

    region_add(&search->level->found, node);
    search->end = end > search->end ? end : search->end;
}

static void search_edge(void *arg, uint32_t from, uint32_t to, uint32_t to_node)
{
    struct search *search = arg;

    (void)from;
    (void)to;
    if (to_node != FLOW_NONE && to_node < search->level->flow->count && to_node != search->stop) {
        search_node(search, to_node);
    }
}

/* Blocks from the node on, without `stop` and what is behind it. */
static struct flow_region find_region(const struct level *level, uint32_t node, uint32_t stop)
{
    const struct flow_region *found = &level->found;
    struct search search = { level, stop, 0 };

    region_clear(found, node);
    search_node(&search, node);
    /* Edges go to higher numbers: one pass finds all. */
    for (uint32_t n = node; n < found->end; n = region_next(found, n + 1)) {
        node_edges(level, n, search_edge, &search);
    }
    const struct flow_region blocks = region_new(level->flow->arena, node, search.end);
    for (uint32_t n = node; n < found->end; n = region_next(found, n + 1)) {
        const uint32_t end = node_end(level, n);
        for (uint32_t b = n; b < end; b++) {
            if (in_node(level, n, b)) {
                region_add(&blocks, b);
            }
        }
    }
    return blocks;
}

/* A token that was pushed before the node, for the same meeting, serves it too. */
static bool covered(const struct flow *flow, uint32_t first_token, uint32_t node, uint32_t target)
{
    for (uint32_t t = first_token; t < flow->token_count; t++) {
        const struct flow_token *token = &flow->tokens[t];
        if (token->target == target && region_has(&token->region, node) && flow_dominates(flow, token->block, node)) {
            return true;
        }
    }
    return false;
}

static void add_token(struct flow *flow, struct flow_token token)
{
    flow->tokens = arena_grow(flow->arena, flow->tokens, sizeof(flow->tokens[0]), flow->token_count, &flow->token_cap);
    flow->tokens[flow->token_count++] = token;
}

static bool is_header(const struct level *level, uint32_t block)
{
    return level->loop != FLOW_NONE && block == level->flow->loops[level->loop].header;
}

/* The block ends a turn of the level's loop; the edge back may have an empty block of its own. */
static bool ends_turn(const struct level *level, uint32_t block)
{
    const struct flow *flow = level->flow;

    for (uint32_t s = 0; s < flow->blocks[block].succs; s++) {
        uint32_t to = flow->blocks[block].succ[s];
        bool empty = flow->work && flow->work[to] == 0 && flow->blocks[to].succs == 1;
        if (is_header(level, to) || (empty && is_header(level, flow->blocks[to].succ[0]))) {
            return true;
        }
    }
    return false;
}

/* An inner loop may be left for the next turn of the loop around. */
static enum flow_meeting meeting_of(const struct level *level, uint32_t node, uint32_t target)
{
    if (node_loop(level, node) == FLOW_NONE) {
        return FLOW_JOIN;
    }
    return ends_turn(level, target) ? FLOW_CONTINUE : FLOW_BREAK;
}

/* Lanes that part at the node come to the block by several ways, or at several times. */
static bool comes_split(const struct level *level, uint32_t node, uint32_t block)
{
    const struct flow_block *b = &level->flow->blocks[block];

    return in_node(level, node, b->idom) && (b->pred_count > 1 || node_loop(level, node) != FLOW_NONE);
}

/* There is enough to do for lanes that come to the block, before all meet. */
static bool is_worth(const struct flow *flow, uint32_t block, uint32_t end, const struct flow_region *region)
{
    uint32_t work = 0;

    for (uint32_t b = block; b < end && b < region->end && work < LEAST_WORK; b = region_next(region, b + 1)) {
        if (flow_dominates(flow, block, b)) {
            work += flow->work[b];
        }
    }
    return work >= LEAST_WORK;
}

/*
 * Blocks that only some of the lanes pass, at several times: they meet there too. The last block comes first, so that
 * the token of the first one is in front.
 */
static void meet_early(struct level *level, uint32_t node, uint32_t target, const struct flow_region *region,
                       uint32_t first_token)
{
    struct flow *flow = level->flow;
    uint32_t end = target < flow->count ? target : level_end(level), loop = node_loop(level, node);
    uint32_t at = loop == FLOW_NONE ? node : flow->loops[loop].preheader;

    uint32_t b = end < region->end ? end : region->end;

    while (b-- > node_end(level, node) && flow->early_count < MOST_EARLY) {
        if (region_has(region, b) && level_node(level, b) == b && comes_split(level, node, b) &&
            is_worth(flow, b, end, region) && !covered(flow, first_token, node, b)) {
            add_token(flow,
                      (struct flow_token){ at, b, meeting_of(level, node, b), true, find_region(level, node, b) });
            flow->early_count++;
        }
    }
}

/* Lanes part at the node: they meet at `target`, the level's end when that is flow->count. */
static void part(struct level *level, uint32_t node, uint32_t target, uint32_t first_token)
{
    struct flow *flow = level->flow;
    uint32_t loop = node_loop(level, node);
    const struct flow_region region = find_region(level, node, target);
    bool regular = true;

    for (uint32_t b = node; b < region.end; b = region_next(&region, b + 1)) {
        regular &= flow_dominates(flow, node, b);
        if (b != node || loop != FLOW_NONE) {
            flow->convergent[b] = false;
        }
    }
    const bool shared = target < flow->count && covered(flow, first_token, node, target);
    /* Lanes that come into the region from elsewhere parted in that of the token, and meet at its target, too. */
    flow->leaks[node] |= !regular && !shared;
    if (target < flow->count && !shared) {
        uint32_t at = loop == FLOW_NONE ? node : flow->loops[loop].preheader;
        add_token(flow, (struct flow_token){ at, target, meeting_of(level, node, target), false, region });
    }
    if (flow->work) {
        meet_early(level, node, target, &region, first_token);
    }
}

/* Places the tokens of one level; true: lanes leave it at different times. */
static bool reconverge_level(struct flow *flow, uint32_t loop, const bool *parts, uint32_t *ipdom)
{
    struct level level = { flow, loop, ipdom, { 0 } };
    uint32_t first_token = flow->token_count;
    bool leaves = false;

    level.found = region_new(flow->arena, level_begin(&level), level_end(&level));
    for (uint32_t n = level_end(&level); n-- != level_begin(&level);) {
        struct meet meet = { ipdom, FLOW_NONE, 0, FLOW_NONE, false };
        if (level_node(&level, n) != n) {
            continue;
        }
        node_edges(&level, n, meet_edge, &meet);
        ipdom[n] = meet.at == FLOW_NONE ? flow->count : meet.at;
        leaves |= parts[n] && meet.leaves;
    }
    for (uint32_t n = level_begin(&level); n < level_end(&level); n++) {
        struct meet meet = { ipdom, FLOW_NONE, 0, FLOW_NONE, false };
        if (!parts[n] || level_node(&level, n) != n) {
            continue;
        }
        node_edges(&level, n, meet_edge, &meet);
        if (meet.targets > 1 || (meet.targets == 1 && node_loop(&level, n) != FLOW_NONE)) {
            part(&level, n, meet.at, first_token);
        }
    }
    return leaves;
}

/*
 * Nothing behind a block is convergent in which lanes that parted yield, or where regions cross. Nor is it behind and
 * in one in which lanes yield that are together: some of them, by chance, go on.
 */
static void leak(struct flow *flow, const bool *breaks)
{
    bool *seen = arena_new(flow->arena, bool, flow->count);
    bool changed = true;

    for (uint32_t b = 0; b < flow->count; b++) {
        bool yields = flow->yields && flow->yields[b];
        flow->convergent[b] &= !yields;
        seen[b] = flow->leaks[b] || (breaks[b] && !flow->convergent[b]);
    }
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < flow->count; b++) {
            for (uint32_t s = 0; seen[b] && s < flow->blocks[b].succs; s++) {
                uint32_t to = flow->blocks[b].succ[s];
                changed |= !seen[to];
                seen[to] = true;
                flow->convergent[to] = false;
            }
        }
    }
}

void flow_reconverge(struct flow *flow, const bool *divergent, const bool *breaks)
{
    bool *parts = arena_new(flow->arena, bool, flow->count);
    bool *loop_parts = arena_new(flow->arena, bool, flow->loop_count + 1);
    uint32_t *ipdom = arena_new(flow->arena, uint32_t, flow->count + 1);

    flow->token_count = flow->early_count = 0;
    for (uint32_t b = 0; b < flow->count; b++) {
        flow->convergent[b] = !flow->guarded || !flow->guarded[b];
    }
    memset(flow->leaks, false, flow->count);
    flow->divergent = divergent;
    /* Inner loops first; a header stands for its loop only on the level outside. */
    for (uint32_t l = flow->loop_count + 1; l-- != 0;) {
        uint32_t loop = l == 0 ? FLOW_NONE : l - 1;
        memcpy(parts, divergent, flow->count);
        for (uint32_t inner = 0; inner < flow->loop_count; inner++) {
            if (flow->loops[inner].parent == loop) {
                parts[flow->loops[inner].header] = loop_parts[inner];
            }
        }
        bool leaves = reconverge_level(flow, loop, parts, ipdom);
        if (loop != FLOW_NONE) {
            loop_parts[loop] = leaves;
            for (uint32_t b = flow->loops[loop].header; leaves && b < flow->loops[loop].end; b++) {
                flow->convergent[b] &= !flow_in_loop(flow, loop, b);
            }
        }
    }
    leak(flow, breaks);
    if (flow->parted) {
        memset(flow->convergent, false, flow->count);
    }
}

struct flow *flow_copy(const struct flow *flow)
{
    struct flow *copy = arena_new(flow->arena, struct flow, 1);

    *copy = *flow;
    copy->blocks = arena_new(flow->arena, struct flow_block, flow->count);
    memcpy(copy->blocks, flow->blocks, flow->count * sizeof(flow->blocks[0]));
    copy->token_cap = flow->token_count;
    copy->tokens = arena_new(flow->arena, struct flow_token, flow->token_count + 1);
    if (flow->token_count != 0) {
        memcpy(copy->tokens, flow->tokens, flow->token_count * sizeof(flow->tokens[0]));
    }
    return copy;
}

/* The predecessors of `block` without `gone`, and with `added` unless that is FLOW_NONE. */
static void change_preds(struct flow *flow, uint32_t block, uint32_t gone, uint32_t added)
{
    struct flow_block *b = &flow->blocks[block];
    uint32_t *preds = arena_new(flow->arena, uint32_t, b->pred_count + 1);
    uint32_t count = 0;

    for (uint32_t p = 0; p < b->pred_count; p++) {
        if (b->preds[p] != gone) {
            preds[count++] = b->preds[p];
        }
    }
    if (added != FLOW_NONE) {
        preds[count++] = added;
    }
    b->preds = preds;
    b->pred_count = count;
}

void flow_bypass(struct flow *flow, uint32_t block, const uint32_t *inside, uint32_t count, uint32_t join)
{
    struct flow_block *b = &flow->blocks[block];
    uint32_t kept = 0;

    for (uint32_t s = 0; s < b->succs; s++) {
        change_preds(flow, b->succ[s], block, FLOW_NONE);
    }
    change_preds(flow, join, block, block);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < flow->blocks[inside[i]].succs; s++) {
            change_preds(flow, flow->blocks[inside[i]].succ[s], inside[i], FLOW_NONE);
        }
        flow->blocks[inside[i]].succs = 1;
        flow->blocks[inside[i]].succ[0] = join;
    }
    for (uint32_t i = 0; i < count; i++) {
        flow->blocks[inside[i]].pred_count = 0;
    }
    b->succs = 1;
    b->succ[0] = join;
    for (uint32_t t = 0; t < flow->token_count; t++) {
        bool gone = flow->tokens[t].block == block && flow->tokens[t].target == join;
        for (uint32_t i = 0; i < count; i++) {
            gone |= flow->tokens[t].block == inside[i] || flow->tokens[t].target == inside[i];
        }
        if (!gone) {
            flow->tokens[kept++] = flow->tokens[t];
        }
    }
    flow->token_count = kept;
}

void flow_part(struct flow *flow, uint32_t block, uint32_t end)
{
    struct flow_block *b = &flow->blocks[block];

    b->succs = 2;
    b->succ[1] = b->succ[0];
    b->succ[0] = end;
    change_preds(flow, end, block, block);
}

bool flow_has_token(const struct flow *flow, uint32_t block)
{
    for (uint32_t t = 0; t < flow->token_count; t++) {
        if (flow->tokens[t].block == block) {
            return true;
        }
    }
    return false;
}

bool flow_may_wait(const struct flow_token *token, uint32_t from)
{
    return region_has(&token->region, from);
}

const struct flow_token *flow_wait(const struct flow *flow, uint32_t from, uint32_t to)
{
    for (uint32_t t = 0; t < flow->token_count; t++) {
        if (flow->tokens[t].target == to && flow_may_wait(&flow->tokens[t], from)) {
            return &flow->tokens[t];
        }
    }
    return NULL;
}

void flow_print(const struct flow *flow, const char *name, FILE *file)
{
    static const char *const waits[] = {
        [FLOW_JOIN] = " (sync)", [FLOW_BREAK] = " (brk)", [FLOW_CONTINUE] = " (cont)"
    };
    static const char *const pushes[] = { [FLOW_JOIN] = "ssy", [FLOW_BREAK] = "pbrk", [FLOW_CONTINUE] = "pcont" };

    fprintf(file, "flow of %s\n", name);
    for (uint32_t b = 0; b < flow->count; b++) {
        const struct flow_block *block = &flow->blocks[b];
        fprintf(file, "  b%u: depth %u, idom b%u, %s ->", b, flow_depth(flow, b), block->idom,
                flow->convergent[b] ? "convergent" : "divergent");
        for (uint32_t s = 0; s < block->succs; s++) {
            const struct flow_token *wait = flow_wait(flow, b, block->succ[s]);
            fprintf(file, " b%u%s", block->succ[s], !wait ? "" : waits[wait->meeting]);
        }
        fputc('\n', file);
    }
    for (uint32_t t = 0; t < flow->token_count; t++) {
        fprintf(file, "  %s at b%u for b%u\n", pushes[flow->tokens[t].meeting], flow->tokens[t].block,
                flow->tokens[t].target);
    }
}
