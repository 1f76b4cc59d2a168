/* SPDX-License-Identifier: MIT */
#include "tests/engine/reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/isa.h"
#include "ppu/mmu.h"
#include "tests/engine/models.h"

#define STEPS_MAX 20000000u /* of a task, over all threads */
#define SOURCES 3u
#define EXITS_MAX 32u

enum thread_state {
    RUNS,
    AT_BARRIER,
    AT_WARP_OP,
    AT_BEGIN, /* of a segment: all of the warp together, or each for itself */
    AT_PART,  /* before its part of the segment, or behind it */
    ENDED,
};

/* A segment that the parts of a warp run one after the other (D3). */
struct segment {
    bool on;
    uint32_t part;                        /* that runs */
    uint32_t begin;                       /* the instruction that each part begins at */
    uint32_t end;                         /* behind the segment, when a part has come there */
    uint32_t v[PPU_MAX_VREGS][PPU_LANES]; /* shared registers, from tmd->vregs on */
};

struct thread {
    enum thread_state state;
    uint32_t id;
    uint32_t pc;
    uint32_t preds; /* bit n: predicate n */
    uint32_t v[PPU_MAX_VREGS];
    uint8_t *local;
    uint32_t exits; /* exit tokens that name the thread, the nearest last */
    uint32_t exit_at[EXITS_MAX];
};

struct run {
    const struct reference *r;
    struct ppu_insn *insn; /* the code, decoded */
    uint16_t *fault;
    uint32_t threads;
    uint32_t warps;
    struct thread *thread;
    uint32_t (*s)[PPU_SREGS]; /* of each warp */
    struct segment *segment;  /* of each warp */
    uint8_t *shared;
    uint32_t cta[3];
    uint32_t size[3]; /* threads of the CTA */
    uint32_t steps;
    uint64_t thread_insns;
    const char *why;
};

static const char *give_up(struct run *run, const char *why)
{
    if (!run->why) {
        run->why = why;
    }
    return run->why;
}

/* ---- registers ---- */

static uint32_t *scalars(const struct run *run, const struct thread *t)
{
    return run->s[t->id / run->r->tmd->wave];
}

static struct segment *segment_of(const struct run *run, const struct thread *t)
{
    return &run->segment[t->id / run->r->tmd->wave];
}

/* A thread's own register, or the word of one that parts share now. */
static uint32_t *vector(const struct run *run, struct thread *t, uint32_t reg)
{
    struct segment *segment = segment_of(run, t);
    const bool shared = segment->on && reg >= run->r->tmd->vregs;

    return shared ? &segment->v[reg][t->id % PPU_LANES] : &t->v[reg];
}

static uint32_t *word(const struct run *run, const struct thread *t, uint32_t reg, bool scalar)
{
    return scalar ? &scalars(run, t)[reg] : vector(run, &run->thread[t->id], reg);
}

static uint64_t read_reg(const struct run *run, const struct thread *t, uint32_t reg, bool scalar, uint32_t words)
{
    const uint32_t low = *word(run, t, reg, scalar);

    return words == 2 ? low | (uint64_t)*word(run, t, reg + 1, scalar) << 32 : low;
}

static void write_reg(struct run *run, struct thread *t, uint32_t reg, bool scalar, uint32_t words, uint64_t value)
{
    *word(run, t, reg, scalar) = (uint32_t)value;
    if (words == 2) {
        *word(run, t, reg + 1, scalar) = (uint32_t)(value >> 32);
    }
}

static bool pred(const struct thread *t, uint32_t operand)
{
    bool value = t->preds >> (operand & PPU_GUARD_PRED) & 1u;

    return operand & PPU_PRED_NEGATE ? !value : value;
}

static void set_pred(struct thread *t, uint32_t number, bool value)
{
    t->preds = (t->preds & ~(1u << number)) | (uint32_t)value << number;
}

static bool guarded(const struct thread *t, const struct ppu_insn *insn)
{
    return insn->guard == 0 || pred(t, insn->guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE));
}

static uint64_t immediate(const struct ppu_insn *insn)
{
    if ((ppu_isa_row(insn->op)->flags & PPU_IF_X) && insn->wb == 2) {
        return (uint64_t)(uint32_t)insn->imm << 32;
    }
    return (uint64_t)(int64_t)insn->imm;
}

static uint64_t with_sign(uint64_t bits, uint32_t words, bool negate, bool absolute)
{
    uint64_t sign = words == 2 ? 1ull << 63 : 1u << 31;

    bits = absolute ? bits & ~sign : bits;
    return negate ? bits ^ sign : bits;
}

/* Operands a, b, c with their modifiers. */
static void read_sources(const struct run *run, const struct thread *t, const struct ppu_insn *insn,
                         uint64_t out[SOURCES])
{
    out[0] = insn->wa != 0 ? read_reg(run, t, insn->ra, insn->a_scalar, insn->wa) : 0;
    out[1] = insn->immed ? immediate(insn) : insn->wb != 0 ? read_reg(run, t, insn->rb, insn->b_scalar, insn->wb) : 0;
    out[2] = insn->wc != 0 ? read_reg(run, t, insn->rc, insn->c_scalar, insn->wc) : 0;
    out[0] = with_sign(out[0], insn->wa, insn->fmod & PPU_FMOD_NEG_A, insn->fmod & PPU_FMOD_ABS_A);
    out[1] = with_sign(out[1], insn->wb, insn->fmod & PPU_FMOD_NEG_B, insn->fmod & PPU_FMOD_ABS_B);
    out[2] = with_sign(out[2], insn->wc, insn->fmod & PPU_FMOD_NEG_C, false);
}

/* ---- operations of one thread ---- */

static bool compare_int(uint32_t kind, uint64_t a, uint64_t b, uint32_t words)
{
    int64_t sa = words == 2 ? (int64_t)a : (int32_t)a, sb = words == 2 ? (int64_t)b : (int32_t)b;

    a = words == 2 ? a : (uint32_t)a;
    b = words == 2 ? b : (uint32_t)b;
    switch (kind) {
#define PPU_ICMP(name, text, number, expression) \
    case number:                                 \
        return expression;
#include "ppu/isa.def"
    default:
        return false;
    }
}

static bool compare_float(uint32_t kind, double a, double b)
{
    switch (kind) {
#define PPU_FCMP(name, text, number, expression) \
    case number:                                 \
        return expression;
#include "ppu/isa.def"
    default:
        return false;
    }
}

static bool compare(const struct ppu_insn *insn, const uint64_t in[SOURCES])
{
    switch (insn->op) {
    case PPU_OP_FSETP:
        return compare_float(insn->cmp, (double)reference_f(in[0]), (double)reference_f(in[1]));
    case PPU_OP_DSETP:
        return compare_float(insn->cmp, reference_d(in[0]), reference_d(in[1]));
    default:
        return compare_int(insn->cmp, in[0], in[1], insn->wa);
    }
}

static uint32_t special(const struct run *run, const struct thread *t, uint32_t sr)
{
    const struct ppu_tmd *tmd = run->r->tmd;

    switch (sr) {
    case PPU_SR_TID_X:
        return t->id % run->size[0];
    case PPU_SR_TID_Y:
        return t->id / run->size[0] % run->size[1];
    case PPU_SR_TID_Z:
        return t->id / (run->size[0] * run->size[1]);
    case PPU_SR_CTA_X:
    case PPU_SR_CTA_Y:
    case PPU_SR_CTA_Z:
        return run->cta[sr - PPU_SR_CTA_X];
    case PPU_SR_NTID_X:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
        return tmd->cta[sr - PPU_SR_NTID_X];
    case PPU_SR_SIZE_X:
    case PPU_SR_SIZE_Y:
    case PPU_SR_SIZE_Z:
        return run->size[sr - PPU_SR_SIZE_X];
    case PPU_SR_LAST_X:
    case PPU_SR_LAST_Y:
    case PPU_SR_LAST_Z:
        return tmd->edge[sr - PPU_SR_LAST_X] ? tmd->edge[sr - PPU_SR_LAST_X] : tmd->cta[sr - PPU_SR_LAST_X];
    case PPU_SR_NCTA_X:
    case PPU_SR_NCTA_Y:
    case PPU_SR_NCTA_Z:
        return tmd->grid[sr - PPU_SR_NCTA_X];
    case PPU_SR_TASK:
        return tmd->task;
    case PPU_SR_TID:
        return t->id;
    case PPU_SR_LANE:
        return t->id % tmd->wave;
    case PPU_SR_WARP:
        return t->id / tmd->wave;
    case PPU_SR_WAVE:
        return tmd->wave;
    case PPU_SR_CORRELATION:
        return tmd->correlation;
    case PPU_SR_SHARED_BYTES:
        return tmd->shared_bytes;
    case PPU_SR_LOCAL_BYTES:
        return tmd->local_bytes;
    case PPU_SR_NEST_LO:
        return (uint32_t)tmd->nest_va;
    case PPU_SR_NEST_HI:
        return (uint32_t)(tmd->nest_va >> 32);
    case PPU_SR_DEPTH:
        return tmd->depth;
    default:
        return 0; /* the position in a queue; the place to be saved in of a task that has none */
    }
}

/* What an operation without memory, branch or other lanes gives. */
static uint64_t value_of(const struct run *run, const struct thread *t, const struct ppu_insn *insn,
                         const uint64_t in[SOURCES])
{
    switch (insn->format) {
    case PPU_FMT_SEL:
        return pred(t, insn->pred) ? in[0] : in[1];
    case PPU_FMT_SR:
        return special(run, t, insn->ra);
    case PPU_FMT_CVT:
        return reference_convert(in[0], insn->stype, insn->dtype, insn->round, insn->sat);
    case PPU_FMT_D:
        return t->preds; /* P2R; ACTIVE is an operation of the warp */
    default:
        return reference_models[insn->op](in[0], in[1], in[2]);
    }
}

static void do_preds(struct thread *t, const struct ppu_insn *insn, const uint64_t in[SOURCES])
{
    bool a = pred(t, insn->ra), b = pred(t, insn->rb);

    switch (insn->op) {
    case PPU_OP_PAND:
        set_pred(t, insn->rd, a && b);
        return;
    case PPU_OP_POR:
        set_pred(t, insn->rd, a || b);
        return;
    case PPU_OP_PXOR:
        set_pred(t, insn->rd, a != b);
        return;
    default: /* R2P */
        for (uint32_t i = 0; i < PPU_PREDS; i++) {
            if ((uint32_t)insn->imm >> i & 1u) {
                set_pred(t, i, in[0] >> i & 1u);
            }
        }
        return;
    }
}

/* ---- memory ---- */

static uint64_t address_of(const struct run *run, const struct thread *t, const struct ppu_insn *insn, uint32_t piece)
{
    uint64_t address = (uint64_t)(int64_t)insn->imm;
    uint32_t offset = insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb;

    if (insn->wa != 0) {
        address += read_reg(run, t, insn->ra, insn->a_scalar, insn->wa);
    }
    if (insn->format == PPU_FMT_GATHER) {
        address += read_reg(run, t, insn->rb + piece, false, 1);
    } else {
        int64_t size = insn->format == PPU_FMT_ATOM ? 4 << insn->wide : (int64_t)ppu_width_bytes(insn->width);
        if (insn->lane_off) {
            uint32_t own = (uint32_t)read_reg(run, t, offset, false, 1);
            address += insn->indexed ? (uint64_t)((int32_t)own * size) : own;
        }
        address += (uint64_t)piece * 4;
    }
    return insn->wa == 2 ? address : (uint32_t)address;
}

static uint8_t *within(uint8_t *base, uint64_t size, uint64_t at, uint32_t bytes)
{
    return at <= size && bytes <= size - at ? base + at : NULL;
}

static uint8_t *global(const struct reference *r, uint64_t address, uint32_t bytes, bool store)
{
    uint64_t code_bytes = (uint64_t)r->insns * PPU_INSN_BYTES, at = address - r->tmd->code_va;

    if (r->reads_code && !store && at < code_bytes) {
        return within((uint8_t *)(uintptr_t)r->code, code_bytes, at, bytes);
    }
    return within(r->global, r->global_bytes, address - r->global_va, bytes);
}

static bool is_load(uint32_t op)
{
    return op == PPU_OP_LDG || op == PPU_OP_LDU || op == PPU_OP_GATHER;
}

static uint8_t *unified(const struct run *run, const struct thread *t, uint64_t address, uint32_t bytes, bool store)
{
    const struct reference *r = run->r;
    uint64_t window = address & PPU_WINDOW_MASK;

    if (window == PPU_SHARED_WINDOW) {
        return within(run->shared, r->tmd->shared_bytes, (uint32_t)address, bytes);
    }
    if (window == PPU_LOCAL_WINDOW) {
        return within(t->local, r->tmd->local_bytes, (uint32_t)address, bytes);
    }
    return global(r, address, bytes, store);
}

/* The bytes an access reaches; NULL: none. Parameters are only read. */
static uint8_t *memory_of(const struct run *run, const struct thread *t, const struct ppu_insn *insn, uint32_t piece,
                          uint32_t bytes)
{
    const struct reference *r = run->r;
    uint64_t address = address_of(run, t, insn, piece);

    if (address % bytes != 0) {
        return NULL;
    }
    switch (insn->op) {
    case PPU_OP_LDS:
    case PPU_OP_STS:
    case PPU_OP_ATOMS:
        return within(run->shared, r->tmd->shared_bytes, address, bytes);
    case PPU_OP_LDL:
    case PPU_OP_STL:
        return within(t->local, r->tmd->local_bytes, address, bytes);
    case PPU_OP_LDP:
        return within((uint8_t *)(uintptr_t)r->params, r->tmd->param_bytes, address, bytes);
    case PPU_OP_LDU:
    case PPU_OP_STU:
    case PPU_OP_ATOMU:
        return unified(run, t, address, bytes, !is_load(insn->op));
    default:
        return global(r, address, bytes, !is_load(insn->op));
    }
}

static uint32_t extended(uint32_t value, uint32_t width)
{
    return width == PPU_WIDTH_S8    ? (uint32_t)(int32_t)(int8_t)value
           : width == PPU_WIDTH_S16 ? (uint32_t)(int32_t)(int16_t)value
                                    : value;
}

static void do_memory(struct run *run, struct thread *t, const struct ppu_insn *insn)
{
    bool store = insn->op == PPU_OP_STG || insn->op == PPU_OP_STS || insn->op == PPU_OP_STL || insn->op == PPU_OP_STU;
    bool gather = insn->format == PPU_FMT_GATHER;
    uint32_t width = gather ? (uint32_t)PPU_WIDTH_B32 : insn->width;
    uint32_t words = gather ? insn->width + 1u : ppu_width_words(width);
    uint32_t bytes = words == 1 ? ppu_width_bytes(width) : 4;
    uint32_t value[4] = { 0 };

    if (run->r->accesses) {
        *run->r->accesses += insn->op != PPU_OP_LDP;
    }
    for (uint32_t i = 0; i < words; i++) {
        uint8_t *bytes_at = memory_of(run, t, insn, i, bytes);

        if (!bytes_at) {
            give_up(run, "access beyond the memory there is");
            return;
        }
        if (store) {
            value[i] = (uint32_t)read_reg(run, t, insn->rd + i, insn->scalar, 1);
            memcpy(bytes_at, &value[i], bytes);
        } else {
            memcpy(&value[i], bytes_at, bytes);
        }
    }
    for (uint32_t i = 0; i < words && !store; i++) {
        write_reg(run, t, insn->rd + i, insn->scalar, 1, extended(value[i], width));
    }
}

static uint64_t modified(const struct ppu_insn *insn, uint64_t m, uint64_t b, uint64_t second)
{
    uint32_t words = 1u + insn->wide;

    switch (insn->aop) {
    case PPU_AOP_ADD:
        return m + b;
    case PPU_AOP_MIN:
        return compare_int(PPU_ICMP_LT, b, m, words) ? b : m;
    case PPU_AOP_MAX:
        return compare_int(PPU_ICMP_GT, b, m, words) ? b : m;
    case PPU_AOP_MINU:
        return b < m ? b : m;
    case PPU_AOP_MAXU:
        return b > m ? b : m;
    case PPU_AOP_AND:
        return m & b;
    case PPU_AOP_OR:
        return m | b;
    case PPU_AOP_XOR:
        return m ^ b;
    case PPU_AOP_XCHG:
        return b;
    case PPU_AOP_CAS:
        return m == b ? second : m;
    default:
        return insn->wide ? reference_of_d(reference_d(m) + reference_d(b))
                          : reference_of_f(reference_f(m) + reference_f(b));
    }
}

static void do_atomic(struct run *run, struct thread *t, const struct ppu_insn *insn)
{
    uint32_t words = 1u + insn->wide;
    uint8_t *bytes_at = memory_of(run, t, insn, 0, 4 * words);
    uint64_t b = read_reg(run, t, insn->rb, insn->b_scalar, words), second = 0, before = 0;

    if (!bytes_at) {
        give_up(run, "atomic beyond the memory there is");
        return;
    }
    if (insn->aop == PPU_AOP_CAS) {
        second = read_reg(run, t, insn->rb + words, insn->b_scalar, words);
    }
    memcpy(&before, bytes_at, 4 * words);
    uint64_t after = modified(insn, before, b, second);
    memcpy(bytes_at, &after, 4 * words);
    if (!insn->no_old) {
        write_reg(run, t, insn->rd, false, words, before);
    }
}

/* ---- transfers of control ---- */

static void do_branch(struct run *run, struct thread *t, const struct ppu_insn *insn)
{
    uint32_t target = t->pc + (uint32_t)insn->imm;
    uint32_t a = insn->wa != 0 ? (uint32_t)read_reg(run, t, insn->ra, insn->a_scalar, 1) : 0;

    switch (insn->op) {
    case PPU_OP_BRA:
    case PPU_OP_SYNC:
    case PPU_OP_BRK:
    case PPU_OP_CONT:
        t->pc = target;
        return;
    case PPU_OP_JMP:
        t->pc = (uint32_t)insn->imm;
        return;
    case PPU_OP_BRX:
        t->pc += a;
        return;
    case PPU_OP_JMX:
    case PPU_OP_RET:
    case PPU_OP_LONGJMP:
        t->pc = a;
        return;
    case PPU_OP_CALL:
        write_reg(run, t, insn->rd, false, 1, t->pc + 1);
        t->pc = target;
        return;
    case PPU_OP_EXIT:
        if (t->exits != 0) {
            t->pc = t->exit_at[--t->exits];
        } else {
            t->state = ENDED;
        }
        return;
    case PPU_OP_PEXIT:
        if (t->exits == EXITS_MAX) {
            give_up(run, "more exit tokens than the reference keeps");
            return;
        }
        t->exit_at[t->exits++] = target;
        t->pc++;
        return;
    case PPU_OP_SVLEAVE:
    case PPU_OP_SVEND:
        t->state = segment_of(run, t)->on ? AT_PART : RUNS;
        t->pc++;
        return;
    default: /* pushes, yields, begins of segments that each thread goes into for itself */
        t->pc++;
        return;
    }
}

/* A thread executes the instruction. */
static void count_insn(struct run *run, uint32_t pc)
{
    run->thread_insns++;
    if (run->r->counts) {
        run->r->counts[pc]++;
    }
}

/* ---- operations of a warp ---- */

static bool of_warp(const struct ppu_insn *insn)
{
    switch (insn->op) {
    case PPU_OP_SHFL:
    case PPU_OP_SHFLUP:
    case PPU_OP_SHFLDN:
    case PPU_OP_SHFLX:
    case PPU_OP_VOTEALL:
    case PPU_OP_VOTEANY:
    case PPU_OP_BALLOT:
    case PPU_OP_ACTIVE:
        return true;
    case PPU_OP_SVBEGIN:
    case PPU_OP_SVEND:
    case PPU_OP_SVBEGIN64: /* with an SVBEGIN behind it, which begins the segment here */
    case PPU_OP_SVEND64:
        return false; /* the masks in their scalars are nobody's */
    default:
        return insn->scalar;
    }
}

/* What `sventer 256 + n` begins, if anything, is not known here: each thread has the registers for itself. */
static bool begins_segment(const struct ppu_insn *insn)
{
    return insn->op == PPU_OP_SVBEGIN || (insn->op == PPU_OP_SVENTER && !(insn->imm & (int32_t)PPU_SUBVECTOR_MAY));
}

static uint32_t source_lane(const struct ppu_insn *insn, uint32_t lane, uint32_t by, uint32_t wave)
{
    switch (insn->op) {
    case PPU_OP_SHFL:
        return by % wave;
    case PPU_OP_SHFLUP:
        return by > lane ? lane : lane - by;
    case PPU_OP_SHFLDN:
        return (uint64_t)lane + by >= wave ? lane : lane + by;
    default:
        return (lane ^ by) >= wave ? lane : lane ^ by;
    }
}

struct warp_op {
    struct run *run;
    const struct ppu_insn *insn;
    struct thread *first; /* thread of lane 0 */
    uint32_t wave;
    uint32_t lanes;            /* that exist */
    uint32_t from, to;         /* of those that run: all, or a part */
    bool active[PPU_MAX_WAVE]; /* execute */
    struct thread *lowest;     /* active */
};

/* A lane's register; lanes without a thread have zeros. All parts have the same words of one that they share. */
static uint32_t lane_reg(const struct warp_op *op, uint32_t lane, uint32_t reg)
{
    struct segment *segment = segment_of(op->run, op->first);

    if (segment->on && reg >= op->run->r->tmd->vregs) {
        return segment->v[reg][lane % PPU_LANES];
    }
    return lane < op->lanes ? op->first[lane].v[reg] : 0;
}

static void do_shuffle(const struct warp_op *op)
{
    const struct ppu_insn *insn = op->insn;
    uint32_t value[PPU_MAX_WAVE] = { 0 };

    for (uint32_t lane = op->from; lane < op->to; lane++) {
        uint64_t in[SOURCES];

        read_sources(op->run, &op->first[lane], insn, in);
        uint32_t from = source_lane(insn, lane, (uint32_t)in[1], op->wave);
        value[lane] = insn->a_scalar ? (uint32_t)in[0] : lane_reg(op, from, insn->ra);
    }
    for (uint32_t lane = op->from; lane < op->to; lane++) {
        if (op->active[lane]) {
            write_reg(op->run, &op->first[lane], insn->rd, false, 1, value[lane]);
        }
    }
}

static void do_vote(const struct warp_op *op)
{
    bool all = true, any = false;

    for (uint32_t lane = 0; lane < op->lanes; lane++) {
        if (op->active[lane]) {
            bool has = pred(&op->first[lane], op->insn->ra);
            all = all && has;
            any = any || has;
        }
    }
    for (uint32_t lane = 0; lane < op->lanes; lane++) {
        if (op->active[lane]) {
            set_pred(&op->first[lane], op->insn->rd, op->insn->op == PPU_OP_VOTEALL ? all : any);
        }
    }
}

static void do_ballot(const struct warp_op *op)
{
    uint32_t mask[PPU_MAX_WAVE / PPU_LANES] = { 0 };

    for (uint32_t lane = 0; lane < op->lanes; lane++) {
        bool has = op->insn->op == PPU_OP_ACTIVE || pred(&op->first[lane], op->insn->ra);
        mask[lane / PPU_LANES] |= (uint32_t)(op->active[lane] && has) << lane % PPU_LANES;
    }
    if (op->insn->scalar) {
        memcpy(&scalars(op->run, op->first)[op->insn->rd], mask, op->wave / 8);
        return;
    }
    for (uint32_t lane = op->from; lane < op->to; lane++) {
        for (uint32_t word = 0; op->active[lane] && word < op->wave / PPU_LANES; word++) {
            write_reg(op->run, &op->first[lane], op->insn->rd + word, false, 1, mask[word]);
        }
    }
}

static void do_read_lane(const struct warp_op *op)
{
    const struct ppu_insn *insn = op->insn;
    uint32_t lane = op->lowest->id % op->wave;

    if (insn->op == PPU_OP_READLANE) {
        uint64_t in[SOURCES];
        read_sources(op->run, op->lowest, insn, in);
        lane = (uint32_t)in[1] % op->wave;
    }
    scalars(op->run, op->first)[insn->rd] = lane_reg(op, lane, insn->ra);
}

/* A scalar form: once, as the lowest active lane sees it; a comparison writes every lane's predicate. */
static void do_scalar(const struct warp_op *op)
{
    const struct ppu_insn *insn = op->insn;
    uint64_t in[SOURCES];

    if (insn->format == PPU_FMT_MEM) {
        do_memory(op->run, op->lowest, insn);
        return;
    }
    read_sources(op->run, op->lowest, insn, in);
    if (insn->format != PPU_FMT_SETP) {
        write_reg(op->run, op->lowest, insn->rd, true, insn->wd, value_of(op->run, op->lowest, insn, in));
        return;
    }
    for (uint32_t lane = 0; lane < op->lanes; lane++) {
        set_pred(&op->first[lane], insn->rd, compare(insn, in));
    }
}

static void do_warp_op(const struct warp_op *op)
{
    switch (op->insn->format) {
    case PPU_FMT_VOTE:
        do_vote(op);
        return;
    case PPU_FMT_BALLOT:
        do_ballot(op);
        return;
    case PPU_FMT_LANE:
    case PPU_FMT_FIRST:
        do_read_lane(op);
        return;
    default:
        break;
    }
    if (op->insn->op == PPU_OP_ACTIVE) {
        do_ballot(op);
    } else if (op->insn->scalar) {
        do_scalar(op);
    } else {
        do_shuffle(op);
    }
}

/* The threads of a warp that run together: all of it, or the part that is at its segment. */
static struct warp_op threads_of(struct run *run, uint32_t warp)
{
    const struct segment *segment = &run->segment[warp];
    const uint32_t wave = run->r->tmd->wave, at = warp * wave;
    struct warp_op op = { .run = run, .first = &run->thread[at], .wave = wave };

    op.lanes = run->threads - at < wave ? run->threads - at : wave;
    op.from = segment->on ? segment->part * PPU_LANES : 0;
    op.to = segment->on && op.from + PPU_LANES < op.lanes ? op.from + PPU_LANES : op.lanes;
    return op;
}

/* All of them that have not ended stand in this state at one instruction: its number, or UINT32_MAX. */
static uint32_t stand_at(const struct warp_op *op, enum thread_state state)
{
    uint32_t pc = UINT32_MAX;

    for (uint32_t lane = op->from; lane < op->to; lane++) {
        const struct thread *t = &op->first[lane];

        if (t->state == ENDED) {
            continue;
        }
        if (t->state != state || (pc != UINT32_MAX && t->pc != pc)) {
            return UINT32_MAX;
        }
        pc = t->pc;
    }
    return pc;
}

/* True when the warp stood together at such an operation, which has been done. */
static bool release_warp(struct run *run, uint32_t warp)
{
    struct warp_op op = threads_of(run, warp);
    const uint32_t pc = stand_at(&op, AT_WARP_OP);

    if (pc == UINT32_MAX) {
        return false;
    }
    op.insn = &run->insn[pc];
    for (uint32_t lane = op.to; lane-- != op.from;) {
        struct thread *t = &op.first[lane];

        op.active[lane] = t->state != ENDED && guarded(t, op.insn);
        op.lowest = op.active[lane] ? t : op.lowest;
    }
    if (op.lowest) {
        do_warp_op(&op);
    }
    for (uint32_t lane = op.from; lane < op.to; lane++) {
        if (op.first[lane].state != ENDED) {
            op.first[lane].state = RUNS;
            op.first[lane].pc++;
            count_insn(run, pc);
        }
    }
    return true;
}

/* ---- segments ---- */

static bool has_threads(const struct warp_op *op, uint32_t part)
{
    for (uint32_t lane = part * PPU_LANES; lane < (part + 1) * PPU_LANES && lane < op->lanes; lane++) {
        if (op->first[lane].state != ENDED) {
            return true;
        }
    }
    return false;
}

/* The first part from `part` on that has threads begins; false: none is left. */
static bool begin_part(struct run *run, uint32_t warp, uint32_t part)
{
    struct segment *segment = &run->segment[warp];
    const struct warp_op op = threads_of(run, warp);

    while (part * PPU_LANES < op.lanes && !has_threads(&op, part)) {
        part++;
    }
    if (part * PPU_LANES >= op.lanes) {
        return false;
    }
    segment->part = part;
    for (uint32_t lane = part * PPU_LANES; lane < (part + 1) * PPU_LANES && lane < op.lanes; lane++) {
        if (op.first[lane].state != ENDED) {
            op.first[lane].state = RUNS;
            op.first[lane].pc = segment->begin;
        }
    }
    return true;
}

static void begin_segment(struct run *run, uint32_t warp, uint32_t begin)
{
    const struct warp_op op = threads_of(run, warp);

    for (uint32_t lane = 0; lane < op.lanes; lane++) {
        op.first[lane].state = op.first[lane].state != ENDED ? AT_PART : ENDED;
    }
    run->segment[warp].on = true;
    run->segment[warp].begin = begin;
    begin_part(run, warp, 0);
}

/* A warp stands at the begin of a segment, all threads together. */
static bool release_begin(struct run *run, uint32_t warp)
{
    const struct warp_op op = threads_of(run, warp);
    const uint32_t pc = run->segment[warp].on ? UINT32_MAX : stand_at(&op, AT_BEGIN);

    if (pc == UINT32_MAX) {
        return false;
    }
    for (uint32_t lane = 0; lane < op.lanes; lane++) {
        if (op.first[lane].state != ENDED) {
            count_insn(run, pc);
        }
    }
    begin_segment(run, warp, pc + 1);
    return true;
}

/* The part that ran is through: the next one begins, or all go on behind the segment. */
static bool release_part(struct run *run, uint32_t warp)
{
    struct segment *segment = &run->segment[warp];
    const struct warp_op op = threads_of(run, warp);
    const uint32_t pc = stand_at(&op, AT_PART);

    if (!segment->on || (pc == UINT32_MAX && has_threads(&op, segment->part))) {
        return false;
    }
    segment->end = pc != UINT32_MAX ? pc : segment->end;
    if (begin_part(run, warp, segment->part + 1)) {
        return true;
    }
    segment->on = false;
    for (uint32_t lane = 0; lane < op.lanes; lane++) {
        if (op.first[lane].state != ENDED) {
            op.first[lane].state = RUNS;
            op.first[lane].pc = segment->end;
        }
    }
    return true;
}

/*
 * Threads at the begin of a segment that the rest of their warp is not at go into it each for itself: those at the
 * first such begin in the program, for which the others may wait behind it.
 */
static bool release_loose(struct run *run, uint32_t warp)
{
    const struct warp_op op = threads_of(run, warp);
    uint32_t first = UINT32_MAX;

    for (uint32_t lane = 0; lane < op.lanes; lane++) {
        const struct thread *t = &op.first[lane];
        first = t->state == AT_BEGIN && t->pc < first ? t->pc : first;
    }
    for (uint32_t lane = 0; lane < op.lanes && first != UINT32_MAX; lane++) {
        struct thread *t = &op.first[lane];

        if (t->state == AT_BEGIN && t->pc == first) {
            count_insn(run, t->pc);
            t->state = RUNS;
            t->pc++;
        }
    }
    return first != UINT32_MAX;
}

/* ---- running ---- */

static void step(struct run *run, struct thread *t)
{
    const struct ppu_insn *insn = &run->insn[t->pc];
    uint64_t in[SOURCES];

    if (of_warp(insn)) {
        t->state = AT_WARP_OP;
        return;
    }
    if (begins_segment(insn)) {
        t->state = AT_BEGIN;
        return;
    }
    count_insn(run, t->pc);
    if (!guarded(t, insn)) {
        t->pc++;
        return;
    }
    if (ppu_isa_row(insn->op)->flags & PPU_IF_B) {
        do_branch(run, t, insn);
        return;
    }
    t->pc++;
    if (insn->op == PPU_OP_BAR) {
        t->state = AT_BARRIER;
        return;
    }
    switch (insn->format) {
    case PPU_FMT_NONE:
    case PPU_FMT_FENCE:
        return;
    case PPU_FMT_MEM:
    case PPU_FMT_GATHER:
        do_memory(run, t, insn);
        return;
    case PPU_FMT_ATOM:
        do_atomic(run, t, insn);
        return;
    case PPU_FMT_PLOP:
    case PPU_FMT_AI:
        read_sources(run, t, insn, in);
        do_preds(t, insn, in);
        return;
    case PPU_FMT_SETP:
        read_sources(run, t, insn, in);
        set_pred(t, insn->rd, compare(insn, in));
        return;
    default:
        break;
    }
    if (insn->format > PPU_FMT_CVT || (insn->format == PPU_FMT_D && insn->op != PPU_OP_P2R)) {
        give_up(run, "an operation the reference does not know");
        return;
    }
    read_sources(run, t, insn, in);
    write_reg(run, t, insn->rd, false, insn->wd, value_of(run, t, insn, in));
}

static void run_thread(struct run *run, struct thread *t)
{
    while (t->state == RUNS && !run->why) {
        if (t->pc >= run->r->insns || run->fault[t->pc] != 0) {
            give_up(run, "a thread left the code");
        } else if (run->steps++ == STEPS_MAX) {
            give_up(run, "the program does not end");
        } else {
            if (run->r->watch) {
                run->r->watch(run->r->opaque, t->id, t->pc, t->local);
            }
            step(run, t);
        }
    }
}

static bool release_barrier(struct run *run)
{
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < run->threads; i++) {
        if (run->thread[i].state != ENDED && run->thread[i].state != AT_BARRIER) {
            return false;
        }
        waiting += run->thread[i].state == AT_BARRIER;
    }
    for (uint32_t i = 0; i < run->threads; i++) {
        run->thread[i].state = run->thread[i].state == AT_BARRIER ? RUNS : run->thread[i].state;
    }
    return waiting != 0;
}

static bool all_ended(const struct run *run)
{
    for (uint32_t i = 0; i < run->threads; i++) {
        if (run->thread[i].state != ENDED) {
            return false;
        }
    }
    return true;
}

static void start_cta(struct run *run, uint8_t *local)
{
    const struct ppu_tmd *tmd = run->r->tmd;

    memset(run->thread, 0, run->threads * sizeof(*run->thread));
    memset(run->s, 0, run->warps * sizeof(*run->s));
    memset(run->segment, 0, run->warps * sizeof(*run->segment));
    memset(run->shared, 0, tmd->shared_bytes + 1);
    for (uint32_t i = 0; i < run->threads; i++) {
        run->thread[i].id = i;
        run->thread[i].pc = tmd->entry / PPU_INSN_BYTES;
        run->thread[i].local = local + (size_t)i * tmd->local_bytes;
    }
    for (uint32_t warp = 0; warp < run->warps && (tmd->flags & PPU_TMD_SUBVECTOR); warp++) {
        begin_segment(run, warp, tmd->entry / PPU_INSN_BYTES);
    }
}

static void run_cta(struct run *run)
{
    while (!run->why && !all_ended(run)) {
        bool moved = false;

        for (uint32_t i = 0; i < run->threads; i++) {
            run_thread(run, &run->thread[i]);
        }
        for (uint32_t warp = 0; warp < run->warps; warp++) {
            moved = release_warp(run, warp) || release_begin(run, warp) || release_part(run, warp) || moved;
        }
        for (uint32_t warp = 0; warp < run->warps && !moved; warp++) {
            moved = release_loose(run, warp);
        }
        if (!moved && !release_barrier(run) && !all_ended(run)) {
            give_up(run, "threads wait for each other");
        }
    }
}

/* The last one of each dimension may have fewer threads. */
static void size_cta(struct run *run, const struct ppu_tmd *tmd)
{
    run->threads = 1;
    for (uint32_t i = 0; i < 3; i++) {
        bool edge = tmd->edge[i] != 0 && run->cta[i] + 1 == tmd->grid[i];
        run->size[i] = edge ? tmd->edge[i] : tmd->cta[i];
        run->threads *= run->size[i];
    }
    run->warps = (run->threads + tmd->wave - 1) / tmd->wave;
}

const char *reference_run(const struct reference *r)
{
    const struct ppu_tmd *tmd = r->tmd;
    uint64_t ctas = (uint64_t)tmd->grid[0] * tmd->grid[1] * tmd->grid[2];
    struct run run = { .r = r, .threads = (uint32_t)tmd->cta[0] * tmd->cta[1] * tmd->cta[2] };
    uint8_t *local = calloc(run.threads, tmd->local_bytes + 1u);

    run.warps = (run.threads + tmd->wave - 1) / tmd->wave;
    run.insn = calloc(r->insns, sizeof(*run.insn));
    run.fault = calloc(r->insns, sizeof(*run.fault));
    run.thread = calloc(run.threads, sizeof(*run.thread));
    run.s = calloc(run.warps, sizeof(*run.s));
    run.segment = calloc(run.warps, sizeof(*run.segment));
    run.shared = calloc(1, tmd->shared_bytes + 1u);
    if (!local || !run.insn || !run.fault || !run.thread || !run.s || !run.segment || !run.shared) {
        give_up(&run, "out of memory");
        ctas = 0;
    }
    for (uint32_t i = 0; i < r->insns && ctas != 0; i++) {
        run.fault[i] = ppu_isa_decode(r->code[i], &run.insn[i]);
    }
    for (uint64_t n = 0; n < ctas && !run.why; n++) {
        run.cta[0] = (uint32_t)(n % tmd->grid[0]);
        run.cta[1] = (uint32_t)(n / tmd->grid[0] % tmd->grid[1]);
        run.cta[2] = (uint32_t)(n / tmd->grid[0] / tmd->grid[1]);
        size_cta(&run, tmd);
        start_cta(&run, local);
        run_cta(&run);
    }
    if (r->thread_insns) {
        *r->thread_insns = run.thread_insns;
    }
    free(local);
    free(run.insn);
    free(run.fault);
    free(run.thread);
    free(run.s);
    free(run.segment);
    free(run.shared);
    return run.why;
}
