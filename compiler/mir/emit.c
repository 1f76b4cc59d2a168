/* SPDX-License-Identifier: MIT */
#include "compiler/mir/emit.h"

#include "compiler/debug/site.h"
#include "compiler/mir/functions.h"
#include "compiler/mir/subvector/insert.h"

#include <string.h>

struct emit_jump {
    uint32_t insn; /* from the kernel's first */
    uint32_t block;
};

struct emit_call {
    uint32_t insn;
    uint32_t function;
};

struct emit {
    struct compilation *compilation;
    struct kernel_info *kernel;
    struct mir *mir; /* of the kernel, then of each function */
    uint32_t first;  /* number of the kernel's first instruction in the code */
    struct emit_call *calls;
    uint32_t call_count;
    unsigned call_cap;
    uint32_t loop; /* the begin of the loop over parts that is open */
    uint32_t outer_loop;
    uint32_t *start; /* of each block: its first instruction, from the kernel's first */
    struct emit_jump *jumps;
    uint32_t jump_count;
    unsigned jump_cap;
};

static uint32_t here(const struct emit *e)
{
    return (uint32_t)(e->compilation->code.len / PPU_INSN_BYTES) - e->first;
}

static void note_site(struct emit *e, uint32_t site)
{
    struct kernel_info *k = e->kernel;
    const uint32_t line = site_line(e->compilation, site);

    if (k->debug) {
        debug_code_note(e->compilation, k->debug, here(e), site);
    }
    if (line == 0 || (k->line_count != 0 && k->lines[k->line_count - 1].line == line)) {
        return;
    }
    k->lines = arena_grow(&e->compilation->arena, k->lines, sizeof(k->lines[0]), k->line_count, &k->line_cap);
    k->lines[k->line_count++] = (struct ppu_line_entry){ here(e), line };
}

/* ---- one instruction ---- */

static uint32_t register_number(const struct emit *e, struct mir_ref ref)
{
    const struct mir_reg *reg = &e->mir->regs[ref.reg];

    return reg->phys + ref.sub + (reg->class == MIR_PRED && ref.negated ? PPU_PRED_NEGATE : 0);
}

static bool ref_is_scalar(const struct emit *e, struct mir_ref ref)
{
    return ref.reg != 0 && mir_class_of(e->mir, ref) == MIR_SCALAR;
}

static void check_word(const struct emit *e, uint64_t word, const struct ppu_insn *insn)
{
    struct ppu_insn decoded;

    if (ppu_isa_decode(word, &decoded) != 0) {
        compilation_fail(e->compilation, PPU_COMPILE_UNSUPPORTED,
                         "internal error: kernel '%s': instruction '%s' cannot be encoded (%016llx)", e->mir->name,
                         ppu_isa_row(insn->op)->mnemonic, (unsigned long long)word);
    }
}

static void put_word(struct emit *e, struct ppu_insn insn, uint32_t site)
{
    uint64_t word = ppu_isa_encode(&insn);

    check_word(e, word, &insn);
    note_site(e, site);
    bytes_add(&e->compilation->code, &word, sizeof(word));
    if (e->compilation->code.lost) {
        longjmp(e->compilation->no_memory, 1);
    }
    if (e->compilation->code.len > PPU_MAX_CODE) {
        compilation_fail(e->compilation, PPU_COMPILE_TOO_LARGE, "the program needs more than %u bytes of code",
                         PPU_MAX_CODE);
    }
}

static uint8_t guard_bits(const struct emit *e, struct mir_ref guard)
{
    return (uint8_t)(guard.reg == 0 ? 0 : PPU_GUARD_ON | register_number(e, guard));
}

/* Register numbers into the fields that decode as d, a, b, c. */
static void put_insn(struct emit *e, const struct mir_insn *insn)
{
    struct ppu_insn code = insn->code;

    code.guard = guard_bits(e, insn->guard);
    if (insn->d.reg != 0) {
        code.rd = (uint8_t)register_number(e, insn->d);
    }
    if (insn->a.reg != 0) {
        code.ra = (uint8_t)register_number(e, insn->a);
        code.a_scalar = ref_is_scalar(e, insn->a);
    }
    if (insn->b.reg != 0) {
        code.rb = (uint8_t)register_number(e, insn->b);
        code.b_scalar = ref_is_scalar(e, insn->b);
    }
    if (insn->c.reg != 0) {
        code.rc = (uint8_t)register_number(e, insn->c);
        code.c_scalar = ref_is_scalar(e, insn->c);
    }
    if (insn->pred.reg != 0) {
        code.pred = (uint8_t)register_number(e, insn->pred);
    }
    if (insn->callee != 0) {
        e->calls = arena_grow(&e->compilation->arena, e->calls, sizeof(e->calls[0]), e->call_count, &e->call_cap);
        e->calls[e->call_count++] = (struct emit_call){ here(e), insn->callee - 1 };
    }
    put_word(e, code, insn->site);
    if (insn->data != 0) {
        struct compilation *compilation = e->compilation;
        compilation->fixups = arena_grow(&compilation->arena, compilation->fixups, sizeof(compilation->fixups[0]),
                                         compilation->fixup_count, &compilation->fixup_cap);
        compilation->fixups[compilation->fixup_count++] = (struct code_fixup){ e->first + here(e) - 1, insn->data - 1 };
    }
}

/* ---- ends of blocks ---- */

static void put_jump(struct emit *e, enum ppu_op op, struct mir_ref guard, uint32_t block, uint32_t site)
{
    struct ppu_insn code = { .op = (uint8_t)op, .format = ppu_isa_row(op)->format, .guard = guard_bits(e, guard) };

    if (code.format == PPU_FMT_TARGET) {
        code.immed = 1;
        e->jumps = arena_grow(&e->compilation->arena, e->jumps, sizeof(e->jumps[0]), e->jump_count, &e->jump_cap);
        e->jumps[e->jump_count++] = (struct emit_jump){ here(e), block };
    }
    put_word(e, code, site);
}

/* A block that only goes on: jumps to it go there. A loop always has a block with more: its end, or a yield. */
static bool only_jumps(const struct emit *e, uint32_t block)
{
    const struct mir_block *b = &e->mir->blocks[block];

    return block != 0 && b->end == MIR_JUMP && b->count == 0 && e->mir->flow->blocks[block].succ[0] != block &&
           !flow_has_token(e->mir->flow, block);
}

static bool is_target(const struct emit *e, uint32_t block)
{
    for (uint32_t t = 0; t < e->mir->flow->token_count; t++) {
        if (e->mir->flow->tokens[t].target == block) {
            return true;
        }
    }
    return false;
}

/* Nothing is emitted for the block. */
static bool is_left_out(const struct emit *e, uint32_t block)
{
    return block != 0 && (mir_only_ends(e->mir, block) || (only_jumps(e, block) && !is_target(e, block)));
}

/* An edge as code: how lanes go (exit, sync, brk, cont or bra), and where to. */
struct edge {
    enum ppu_op op;
    uint32_t to;
    bool early; /* they wait for those that go the same way */
};

static struct edge edge_of(const struct emit *e, uint32_t from, uint32_t to)
{
    static const enum ppu_op waits[] = {
        [FLOW_JOIN] = PPU_OP_SYNC, [FLOW_BREAK] = PPU_OP_BRK, [FLOW_CONTINUE] = PPU_OP_CONT
    };
    const struct flow_token *wait = flow_wait(e->mir->flow, from, to);

    for (uint32_t n = 0; n < e->mir->flow->count && !wait && !mir_only_ends(e->mir, to) && is_left_out(e, to); n++) {
        from = to;
        to = e->mir->flow->blocks[from].succ[0];
        wait = flow_wait(e->mir->flow, from, to);
    }
    if (mir_only_ends(e->mir, to)) {
        return (struct edge){ PPU_OP_EXIT, to, false };
    }
    return (struct edge){ wait ? waits[wait->meeting] : PPU_OP_BRA, to, wait && wait->early };
}

static uint32_t next_block(const struct emit *e, uint32_t block)
{
    do {
        block++;
    } while (block < e->mir->flow->count && is_left_out(e, block));
    return block;
}

static void put_edge(struct emit *e, uint32_t from, uint32_t to, uint32_t site)
{
    struct edge edge = edge_of(e, from, to);

    if (edge.op != PPU_OP_BRA || edge.to != next_block(e, from)) {
        put_jump(e, edge.op, (struct mir_ref){ 0 }, edge.to, site);
    }
}

/* All lanes go the same way: the branch's predicate was set for the whole warp, just before. */
static bool is_uniform(const struct emit *e, uint32_t b)
{
    const struct mir_block *block = &e->mir->blocks[b];

    for (uint32_t i = block->count; i-- != 0;) {
        if (block->insns[i].d.reg == block->cond.reg) {
            return block->insns[i].code.scalar;
        }
    }
    return false;
}

/*
 * Which edge of a branch is not guarded. Lanes that end must do so before the others go on, and those that fall
 * through go first: so the side that waits or ends is guarded, or what falls through behind a branch backwards that
 * all lanes take or none. Where they part, those that stay in the loop would need a token; they have it where those
 * that leave would go on without waiting, had they nobody to wait for. Of two branches the one to the next block is
 * left out.
 */
static bool goes_second(const struct emit *e, uint32_t b, struct edge first, struct edge second)
{
    if (first.op == PPU_OP_BRA && second.op == PPU_OP_BRA) {
        return first.to == next_block(e, b);
    }
    if (first.op == PPU_OP_BRA) {
        return first.to > b || !(second.early || is_uniform(e, b));
    }
    return second.op == PPU_OP_BRA && second.to <= b && (first.early || is_uniform(e, b));
}

/*
 * Lanes that leave a loop at different times, with something to do on their way: were they to wait until the others
 * have left, the queue would need a token for each of them.
 */
static bool leaves_loop(const struct emit *e, uint32_t b, struct edge leaving, struct edge staying)
{
    const struct flow *flow = e->mir->flow;
    uint32_t loop = flow->blocks[b].loop;

    return leaving.op == PPU_OP_BRA && staying.op == PPU_OP_BRA && loop != FLOW_NONE && !flow->convergent[b] &&
           !flow_in_loop(flow, loop, leaving.to) && flow_in_loop(flow, loop, staying.to);
}

static void put_branch(struct emit *e, uint32_t b)
{
    const struct flow_block *block = &e->mir->flow->blocks[b];
    struct mir_ref cond = e->mir->blocks[b].cond;
    struct edge edges[2] = { edge_of(e, b, block->succ[0]), edge_of(e, b, block->succ[1]) };
    uint32_t site = e->mir->blocks[b].site, guarded = 0;

    if (edges[0].op == edges[1].op && edges[0].to == edges[1].to) {
        put_edge(e, b, block->succ[0], site);
        return;
    }
    if (goes_second(e, b, edges[0], edges[1])) {
        guarded = 1;
        cond.negated = !cond.negated;
    }
    if (leaves_loop(e, b, edges[guarded], edges[1 - guarded])) { /* those that fall through go first */
        cond.negated = !cond.negated;
        put_jump(e, PPU_OP_BRA, cond, edges[1 - guarded].to, site);
        put_jump(e, PPU_OP_BRA, (struct mir_ref){ 0 }, edges[guarded].to, site);
        return;
    }
    put_jump(e, edges[guarded].op, cond, edges[guarded].to, site);
    put_edge(e, b, block->succ[1 - guarded], site);
}

static void put_tokens(struct emit *e, uint32_t b)
{
    static const enum ppu_op pushes[] = {
        [FLOW_JOIN] = PPU_OP_SSY, [FLOW_BREAK] = PPU_OP_PBRK, [FLOW_CONTINUE] = PPU_OP_PCONT
    };
    const struct flow *flow = e->mir->flow;

    for (uint32_t t = 0; t < flow->token_count; t++) {
        if (flow->tokens[t].block == b && !mir_only_ends(e->mir, flow->tokens[t].target)) {
            put_jump(e, pushes[flow->tokens[t].meeting], (struct mir_ref){ 0 }, flow->tokens[t].target,
                     e->mir->blocks[b].site);
        }
    }
}

/* A function keeps its return address in its frame; v0 has it before and after. */
static void put_return_access(struct emit *e, bool store, uint32_t site)
{
    struct mir_insn insn = mir_insn(store ? PPU_OP_STL : PPU_OP_LDL);

    insn.code.width = PPU_WIDTH_B32;
    insn.code.wd = 1;
    insn.code.wa = insn.code.wb = 0;
    insn.code.no_base = 1;
    insn.code.imm = (int32_t)e->mir->return_at;
    put_word(e, insn.code, site);
}

static void put_return(struct emit *e, uint32_t site)
{
    put_return_access(e, false, site);
    put_word(e, mir_insn(PPU_OP_RET).code, site);
}

static void set_distance(const struct emit *e, uint32_t insn, uint32_t target)
{
    uint8_t *code = e->compilation->code.at + (size_t)e->first * PPU_INSN_BYTES;
    int32_t distance = (int32_t)(target - insn);

    memcpy(code + (size_t)insn * PPU_INSN_BYTES + 4, &distance, sizeof(distance));
}

/* Jumps noted from `first` on go where their blocks are now. */
static void resolve_jumps(struct emit *e, uint32_t first)
{
    for (uint32_t j = first; j < e->jump_count; j++) {
        set_distance(e, e->jumps[j].insn, e->start[e->jumps[j].block]);
    }
    e->jump_count = first;
}

static void put_end(struct emit *e, uint32_t b)
{
    const struct mir_block *block = &e->mir->blocks[b];

    put_tokens(e, b);
    switch (block->end) {
    case MIR_EXIT:
        put_jump(e, PPU_OP_EXIT, (struct mir_ref){ 0 }, 0, block->site);
        break;
    case MIR_RETURN:
        put_return(e, block->site);
        break;
    case MIR_JUMP:
        put_edge(e, b, e->mir->flow->blocks[b].succ[0], block->site);
        break;
    case MIR_BRANCH:
        put_branch(e, b);
        break;
    }
}

/* ---- segments ---- */

/* A position in the graph: before an instruction of a block, or its end. */
struct position {
    uint32_t block;
    uint32_t insn;
};

static const struct mir_insn *insn_at(const struct emit *e, struct position at)
{
    return &e->mir->blocks[at.block].insns[at.insn];
}

static bool is_segment_end(const struct emit *e, struct position at)
{
    return at.insn < e->mir->blocks[at.block].count && subvector_ends(insn_at(e, at));
}

static struct position segment_end(const struct emit *e, struct position at)
{
    while (!is_segment_end(e, at)) {
        at = at.insn < e->mir->blocks[at.block].count ? (struct position){ at.block, at.insn + 1 }
                                                      : (struct position){ at.block + 1, 0 };
    }
    return at;
}

static uint32_t put_sync(struct emit *e, enum ppu_op op, struct mir_ref guard, uint32_t site)
{
    struct ppu_insn code = { .op = (uint8_t)op, .format = ppu_isa_row(op)->format, .guard = guard_bits(e, guard) };

    code.immed = 1;
    put_word(e, code, site);
    return here(e) - 1;
}

static void put_code(struct emit *e, struct position at, struct position to);

/* The lanes of one part go on, the others wait behind the copy. `border`: of the segment, before the copy. */
static void put_copy(struct emit *e, uint32_t part, const struct mir_insn *border, struct position from,
                     struct position to)
{
    struct mir_insn is_part = mir_insn(PPU_OP_ISETP);
    struct mir_ref others = border->pred;
    uint32_t jumps = e->jump_count;

    if (part != 0) { /* of the first it is known already */
        is_part.code.immed = 1;
        is_part.code.imm = (int32_t)part;
        is_part.code.cmp = PPU_ICMP_EQ;
        is_part.a = border->a;
        is_part.d = border->pred;
        is_part.site = border->site;
        put_insn(e, &is_part);
    }
    others.negated = true;
    uint32_t token = put_sync(e, PPU_OP_SSY, (struct mir_ref){ 0 }, border->site);
    uint32_t wait = put_sync(e, PPU_OP_SYNC, others, border->site);
    put_code(e, from, to);
    if (to.insn == 0) { /* a jump there goes to the copy's own end */
        e->start[to.block] = here(e);
    }
    uint32_t meet = put_sync(e, PPU_OP_SYNC, (struct mir_ref){ 0 }, border->site);
    resolve_jumps(e, jumps);
    set_distance(e, token, here(e));
    set_distance(e, wait, here(e));
    set_distance(e, meet, here(e));
}

/* A copy of the segment for each part; where it goes on. */
static struct position put_copies(struct emit *e, struct position begin)
{
    struct position from = { begin.block, begin.insn + 1 }, end = segment_end(e, begin);

    for (uint32_t part = 0; part < subvector_parts(e->compilation); part++) {
        put_copy(e, part, insn_at(e, part == 0 ? begin : end), from, end);
    }
    return (struct position){ end.block, end.insn + 1 };
}

/* Begin or end of one loop over two parts, which name each other; `begin`: where the loop's begin is. */
static void put_loop_insn(struct emit *e, const struct mir_insn *insn, uint32_t *begin)
{
    uint32_t at = here(e);

    put_insn(e, insn);
    if (subvector_begins(insn)) {
        *begin = at;
    } else {
        set_distance(e, at, *begin + 1);
        set_distance(e, *begin, at + 1);
    }
}

/* Four parts take two loops, over halves of 64 lanes and in it over those of 32: their masks are three scalars. */
static void put_loop_border(struct emit *e, const struct mir_insn *insn)
{
    struct mir_insn inner = *insn, outer = *insn;
    const bool two = insn->code.wd > 1;

    inner.code.wd = 1;
    inner.d.sub = (uint8_t)(insn->d.sub + (two ? 2 : 0));
    outer.code.wd = 2;
    outer.code.op = subvector_begins(insn) ? PPU_OP_SVBEGIN64 : PPU_OP_SVEND64;
    if (two && subvector_begins(insn)) {
        put_loop_insn(e, &outer, &e->outer_loop);
    }
    put_loop_insn(e, &inner, &e->loop);
    if (two && subvector_ends(insn)) {
        put_loop_insn(e, &outer, &e->outer_loop);
    }
}

/* One instruction, or a whole segment; where it goes on. */
static struct position put_next(struct emit *e, struct position at)
{
    const struct mir_insn *insn = insn_at(e, at);
    bool border = subvector_begins(insn) || subvector_ends(insn);

    if (border && e->compilation->options->subvector.form == PPU_SEGMENTS_DUPLICATE) {
        return put_copies(e, at);
    }
    if (border && e->compilation->options->subvector.form == PPU_SEGMENTS_LOOP) {
        put_loop_border(e, insn);
    } else if (!border || here(e) != 0 || e->mir->entry != MIR_ENTRY_SEGMENT) {
        put_insn(e, insn);
    }
    return (struct position){ at.block, at.insn + 1 };
}

static void put_code(struct emit *e, struct position at, struct position to)
{
    while (at.block != to.block || at.insn != to.insn) {
        if (at.insn == 0) {
            e->start[at.block] = here(e);
        }
        if (at.insn == 0 && is_left_out(e, at.block)) {
            at = (struct position){ at.block + 1, 0 };
        } else if (at.insn == e->mir->blocks[at.block].count) {
            put_end(e, at.block);
            at = (struct position){ at.block + 1, 0 };
        } else {
            at = put_next(e, at);
        }
    }
}

/* The kernel begins as a segment, with or without one there. */
static void put_inverted_entry(struct emit *e)
{
    if (e->mir->entry == MIR_ENTRY_LEAVES) {
        put_word(e, mir_insn(PPU_OP_SVLEAVE).code, 0);
    }
}

/* Where the source of a graph's first instruction that has one is; 0: nowhere. */
static uint32_t first_site(const struct mir *mir)
{
    uint32_t site = 0;

    for (uint32_t b = 0; b < mir->flow->count && site == 0; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count && site == 0; i++) {
            site = mir->blocks[b].insns[i].site;
        }
        site = site != 0 ? site : mir->blocks[b].site;
    }
    return site;
}

/* One graph of blocks; the number of its first instruction. */
static uint32_t put_graph(struct emit *e, struct mir *mir, bool is_function)
{
    uint32_t begin = here(e);

    e->mir = mir;
    e->start = arena_new(&e->compilation->arena, uint32_t, mir->flow->count);
    e->jump_count = 0;
    if (is_function) {
        put_return_access(e, true, first_site(mir)); /* else it would have the line of what is before it */
    }
    put_inverted_entry(e);
    put_code(e, (struct position){ 0, 0 }, (struct position){ mir->flow->count, 0 });
    resolve_jumps(e, 0);
    if (e->kernel->debug) {
        const struct debug_body body = { mir->function, begin, here(e), mir->return_at, &mir->variables };
        debug_code_add_body(e->compilation, e->kernel->debug, &body);
    }
    return begin;
}

void emit_kernel(struct compilation *compilation, struct kernel_info *kernel, struct mir *mir)
{
    struct emit e = { .compilation = compilation,
                      .kernel = kernel,
                      .first = (uint32_t)(compilation->code.len / PPU_INSN_BYTES) };
    uint32_t *begins = arena_new(&compilation->arena, uint32_t, kernel->function_count + 1);

    kernel->entry = e.first * PPU_INSN_BYTES;
    if (compilation->options->debug != 0) {
        kernel->debug = arena_new(&compilation->arena, struct debug_code, 1);
    }
    put_graph(&e, mir, false);
    for (uint32_t f = 0; f < kernel->function_count; f++) {
        begins[f] = put_graph(&e, kernel->functions[f].mir, true);
    }
    for (uint32_t c = 0; c < e.call_count; c++) {
        set_distance(&e, e.calls[c].insn, begins[e.calls[c].function]);
    }
}
