/* SPDX-License-Identifier: MIT */
#include "emit.h"

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
    struct unit *unit;
    struct unit_kernel *kernel;
    struct mir *mir; /* of the kernel, then of each function */
    uint32_t first;  /* number of the kernel's first instruction in the code */
    struct emit_call *calls;
    uint32_t call_count;
    unsigned call_cap;
    uint32_t *start; /* of each block: its first instruction, from the kernel's first */
    struct emit_jump *jumps;
    uint32_t jump_count;
    unsigned jump_cap;
};

static uint32_t here(const struct emit *e)
{
    return (uint32_t)(e->unit->code.len / PPU_INSN_BYTES) - e->first;
}

static void note_line(struct emit *e, uint32_t line)
{
    struct unit_kernel *k = e->kernel;

    if (line == 0 || (k->line_count != 0 && k->lines[k->line_count - 1].line == line)) {
        return;
    }
    k->lines = arena_grow(&e->unit->arena, k->lines, sizeof(k->lines[0]), k->line_count, &k->line_cap);
    k->lines[k->line_count++] = (struct ppu_line_entry){ here(e), line };
}

/* ---- one instruction ---- */

static uint32_t number_of(const struct emit *e, struct mir_ref ref)
{
    const struct mir_reg *reg = &e->mir->regs[ref.reg];

    return reg->place + ref.sub + (reg->class == MIR_PRED && ref.negated ? PPU_PRED_NEGATE : 0);
}

static bool is_scalar(const struct emit *e, struct mir_ref ref)
{
    return ref.reg != 0 && mir_class_of(e->mir, ref) == MIR_SCALAR;
}

static void check_word(const struct emit *e, uint64_t word, const struct ppu_insn *insn)
{
    struct ppu_insn decoded;

    if (ppu_isa_decode(word, &decoded) != 0) {
        unit_fail(e->unit, PPU_COMPILE_UNSUPPORTED,
                  "internal error: kernel '%s': instruction '%s' cannot be encoded (%016llx)", e->mir->name,
                  ppu_isa_row(insn->op)->mnemonic, (unsigned long long)word);
    }
}

static void put_word(struct emit *e, struct ppu_insn insn, uint32_t line)
{
    uint64_t word = ppu_isa_encode(&insn);

    check_word(e, word, &insn);
    note_line(e, line);
    bytes_add(&e->unit->code, &word, sizeof(word));
    if (e->unit->code.lost) {
        longjmp(e->unit->no_memory, 1);
    }
    if (e->unit->code.len > PPU_MAX_CODE) {
        unit_fail(e->unit, PPU_COMPILE_TOO_LARGE, "the program needs more than %u bytes of code", PPU_MAX_CODE);
    }
}

static uint8_t guard_bits(const struct emit *e, struct mir_ref guard)
{
    return (uint8_t)(guard.reg == 0 ? 0 : PPU_GUARD_ON | number_of(e, guard));
}

/* Register numbers into the fields that decode as d, a, b, c. */
static void put_insn(struct emit *e, const struct mir_insn *insn)
{
    struct ppu_insn code = insn->code;

    code.guard = guard_bits(e, insn->guard);
    if (insn->d.reg != 0) {
        code.rd = (uint8_t)number_of(e, insn->d);
    }
    if (insn->a.reg != 0) {
        code.ra = (uint8_t)number_of(e, insn->a);
        code.a_scalar = is_scalar(e, insn->a);
    }
    if (insn->b.reg != 0) {
        code.rb = (uint8_t)number_of(e, insn->b);
        code.b_scalar = is_scalar(e, insn->b);
    }
    if (insn->c.reg != 0) {
        code.rc = (uint8_t)number_of(e, insn->c);
        code.c_scalar = is_scalar(e, insn->c);
    }
    if (insn->pred.reg != 0) {
        code.pred = (uint8_t)number_of(e, insn->pred);
    }
    if (insn->callee != 0) {
        e->calls = arena_grow(&e->unit->arena, e->calls, sizeof(e->calls[0]), e->call_count, &e->call_cap);
        e->calls[e->call_count++] = (struct emit_call){ here(e), insn->callee - 1 };
    }
    put_word(e, code, insn->line);
    if (insn->data != 0) {
        struct unit *unit = e->unit;
        unit->fixups =
            arena_grow(&unit->arena, unit->fixups, sizeof(unit->fixups[0]), unit->fixup_count, &unit->fixup_cap);
        unit->fixups[unit->fixup_count++] = (struct unit_fixup){ e->first + here(e) - 1, insn->data - 1 };
    }
}

/* ---- ends of blocks ---- */

static void put_jump(struct emit *e, enum ppu_op op, struct mir_ref guard, uint32_t block, uint32_t line)
{
    struct ppu_insn code = { .op = (uint8_t)op, .format = ppu_isa_row(op)->format, .guard = guard_bits(e, guard) };

    if (code.format == PPU_FMT_TARGET) {
        code.immed = 1;
        e->jumps = arena_grow(&e->unit->arena, e->jumps, sizeof(e->jumps[0]), e->jump_count, &e->jump_cap);
        e->jumps[e->jump_count++] = (struct emit_jump){ here(e), block };
    }
    put_word(e, code, line);
}

static bool has_token(const struct emit *e, uint32_t block)
{
    for (uint32_t t = 0; t < e->mir->flow->token_count; t++) {
        if (e->mir->flow->tokens[t].block == block) {
            return true;
        }
    }
    return false;
}

/* A block that does nothing but end, or go on to one: jumps to it end instead. */
static bool only_ends(const struct emit *e, uint32_t block)
{
    const struct mir_block *b = &e->mir->blocks[block];

    while (b->count == 0 && b->end == MIR_JUMP && !has_token(e, block) && e->mir->flow->blocks[block].succ[0] > block) {
        block = e->mir->flow->blocks[block].succ[0];
        b = &e->mir->blocks[block];
    }
    return b->end == MIR_EXIT && b->count == 0;
}

/* A block that only goes on: jumps to it go there. A loop always has a block with more: its end, or a yield. */
static bool only_jumps(const struct emit *e, uint32_t block)
{
    const struct mir_block *b = &e->mir->blocks[block];

    return block != 0 && b->end == MIR_JUMP && b->count == 0 && e->mir->flow->blocks[block].succ[0] != block &&
           !has_token(e, block);
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
    return block != 0 && (only_ends(e, block) || (only_jumps(e, block) && !is_target(e, block)));
}

/* An edge as code: how lanes go (exit, sync, brk or bra), and where to. */
struct edge {
    enum ppu_op op;
    uint32_t to;
};

static struct edge edge_of(const struct emit *e, uint32_t from, uint32_t to)
{
    const struct flow_token *wait = flow_wait(e->mir->flow, from, to);

    for (uint32_t n = 0; n < e->mir->flow->count && wait == NULL && !only_ends(e, to) && is_left_out(e, to); n++) {
        from = to;
        to = e->mir->flow->blocks[from].succ[0];
        wait = flow_wait(e->mir->flow, from, to);
    }
    if (only_ends(e, to)) {
        return (struct edge){ PPU_OP_EXIT, to };
    }
    return (struct edge){ wait == NULL ? PPU_OP_BRA : wait->is_break ? PPU_OP_BRK : PPU_OP_SYNC, to };
}

static uint32_t next_block(const struct emit *e, uint32_t block)
{
    do {
        block++;
    } while (block < e->mir->flow->count && is_left_out(e, block));
    return block;
}

static void put_edge(struct emit *e, uint32_t from, uint32_t to, uint32_t line)
{
    struct edge edge = edge_of(e, from, to);

    if (edge.op != PPU_OP_BRA || edge.to != next_block(e, from)) {
        put_jump(e, edge.op, (struct mir_ref){ 0 }, edge.to, line);
    }
}

/*
 * Which edge of a branch is not guarded. Lanes that end must do so before the others go on, and those that fall
 * through go first: so the side that waits or ends is guarded, or what falls through behind a branch backwards. Of two
 * branches the one to the next block is left out.
 */
static bool goes_second(const struct emit *e, uint32_t b, struct edge first, struct edge second)
{
    if (first.op == PPU_OP_BRA && second.op == PPU_OP_BRA) {
        return first.to == next_block(e, b);
    }
    if (first.op == PPU_OP_BRA) {
        return first.to > b;
    }
    return second.op == PPU_OP_BRA && second.to <= b;
}

static void put_branch(struct emit *e, uint32_t b)
{
    const struct flow_block *block = &e->mir->flow->blocks[b];
    struct mir_ref cond = e->mir->blocks[b].cond;
    struct edge edges[2] = { edge_of(e, b, block->succ[0]), edge_of(e, b, block->succ[1]) };
    uint32_t line = e->mir->blocks[b].line, guarded = 0;

    if (edges[0].op == edges[1].op && edges[0].to == edges[1].to) {
        put_edge(e, b, block->succ[0], line);
        return;
    }
    if (goes_second(e, b, edges[0], edges[1])) {
        guarded = 1;
        cond.negated = !cond.negated;
    }
    put_jump(e, edges[guarded].op, cond, edges[guarded].to, line);
    put_edge(e, b, block->succ[1 - guarded], line);
}

static void put_tokens(struct emit *e, uint32_t b)
{
    const struct flow *flow = e->mir->flow;

    for (uint32_t t = 0; t < flow->token_count; t++) {
        if (flow->tokens[t].block == b && !only_ends(e, flow->tokens[t].target)) {
            put_jump(e, flow->tokens[t].is_break ? PPU_OP_PBRK : PPU_OP_SSY, (struct mir_ref){ 0 },
                     flow->tokens[t].target, e->mir->blocks[b].line);
        }
    }
}

/* A function keeps its return address in its frame; v0 has it before and after. */
static void put_return_access(struct emit *e, bool store, uint32_t line)
{
    struct mir_insn insn = mir_insn(store ? PPU_OP_STL : PPU_OP_LDL);

    insn.code.width = PPU_WIDTH_B32;
    insn.code.wd = 1;
    insn.code.wa = insn.code.wb = 0;
    insn.code.no_base = 1;
    insn.code.imm = (int32_t)e->mir->return_at;
    put_word(e, insn.code, line);
}

static void put_return(struct emit *e, uint32_t line)
{
    put_return_access(e, false, line);
    put_word(e, mir_insn(PPU_OP_RET).code, line);
}

static void put_block(struct emit *e, uint32_t b)
{
    const struct mir_block *block = &e->mir->blocks[b];

    e->start[b] = here(e);
    if (is_left_out(e, b)) {
        return;
    }
    for (uint32_t i = 0; i < block->count; i++) {
        put_insn(e, &block->insns[i]);
    }
    put_tokens(e, b);
    switch (block->end) {
    case MIR_EXIT:
        put_jump(e, PPU_OP_EXIT, (struct mir_ref){ 0 }, 0, block->line);
        break;
    case MIR_RETURN:
        put_return(e, block->line);
        break;
    case MIR_JUMP:
        put_edge(e, b, e->mir->flow->blocks[b].succ[0], block->line);
        break;
    case MIR_BRANCH:
        put_branch(e, b);
        break;
    }
}

static void set_distance(const struct emit *e, uint32_t insn, uint32_t target)
{
    uint8_t *code = e->unit->code.at + (size_t)e->first * PPU_INSN_BYTES;
    int32_t distance = (int32_t)(target - insn);

    memcpy(code + (size_t)insn * PPU_INSN_BYTES + 4, &distance, sizeof(distance));
}

/* One graph of blocks; the number of its first instruction. */
static uint32_t put_graph(struct emit *e, struct mir *mir, bool is_function)
{
    uint32_t begin = here(e);

    e->mir = mir;
    e->start = arena_new(&e->unit->arena, uint32_t, mir->flow->count);
    e->jump_count = 0;
    if (is_function) {
        put_return_access(e, true, 0);
    }
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        put_block(e, b);
    }
    for (uint32_t j = 0; j < e->jump_count; j++) {
        set_distance(e, e->jumps[j].insn, e->start[e->jumps[j].block]);
    }
    return begin;
}

void emit_kernel(struct unit *unit, struct unit_kernel *kernel, struct mir *mir)
{
    struct emit e = { .unit = unit, .kernel = kernel, .first = (uint32_t)(unit->code.len / PPU_INSN_BYTES) };
    uint32_t *begins = arena_new(&unit->arena, uint32_t, kernel->function_count + 1);

    kernel->entry = e.first * PPU_INSN_BYTES;
    put_graph(&e, mir, false);
    for (uint32_t f = 0; f < kernel->function_count; f++) {
        begins[f] = put_graph(&e, kernel->functions[f].mir, true);
    }
    for (uint32_t c = 0; c < e.call_count; c++) {
        set_distance(&e, e.calls[c].insn, begins[e.calls[c].function]);
    }
}
