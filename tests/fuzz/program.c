/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/program.h"

#include <string.h>

/* ---- from an input ---- */

struct taking {
    struct program *program;
    uint8_t open[PROGRAM_DEPTH]; /* statements that wait for their END */
    uint32_t depth;
};

static uint32_t variable(uint8_t byte, uint32_t first, uint32_t count)
{
    return first + byte % count;
}

/* The innermost loop that is open; PROGRAM_STATEMENTS: there is none. */
static uint32_t open_loop(const struct taking *taking)
{
    for (uint32_t i = taking->depth; i > 0; i--) {
        if (taking->program->statement[taking->open[i - 1]].kind == PROGRAM_LOOP) {
            return taking->open[i - 1];
        }
    }
    return PROGRAM_STATEMENTS;
}

static void close_one(struct taking *taking)
{
    struct program *program = taking->program;
    uint32_t begin = taking->open[--taking->depth];

    program->statement[program->count] = (struct program_statement){ .kind = PROGRAM_END, .other = (uint8_t)begin };
    program->statement[begin].other = (uint8_t)program->count++;
}

/* The branch's second side begins; its IF points here, this to the END. */
static void turn_to_else(struct taking *taking)
{
    struct program *program = taking->program;
    uint32_t at = program->count++;

    program->statement[at] = (struct program_statement){ .kind = PROGRAM_ELSE };
    program->statement[taking->open[taking->depth - 1]].other = (uint8_t)at;
    taking->open[taking->depth - 1] = (uint8_t)at;
}

static void add(struct taking *taking, struct fuzz_input *input, enum program_kind kind)
{
    struct program_statement *new = &taking->program->statement[taking->program->count++];
    uint8_t flags = fuzz_u8(input);

    *new = (struct program_statement){ .kind = (uint8_t)kind, .op = fuzz_u8(input) };
    new->to = (uint8_t)variable(fuzz_u8(input), 0, PROGRAM_VARIABLES);
    new->a = fuzz_u8(input);
    new->to_constant = flags & 1u;
    new->b = new->to_constant ? 0 : fuzz_u8(input);
    new->constant = !new->to_constant ? 0 : flags & 2u ? fuzz_u32(input) : (uint32_t)(int32_t)(int8_t)fuzz_u8(input);
}

static bool opens(uint8_t kind)
{
    return kind == PROGRAM_IF || kind == PROGRAM_LOOP;
}

static void take_one(struct taking *taking, struct fuzz_input *input)
{
    static const uint8_t kinds[] = { PROGRAM_ASSIGN, PROGRAM_ASSIGN, PROGRAM_ASSIGN,   PROGRAM_ASSIGN, PROGRAM_PUT,
                                     PROGRAM_GET,    PROGRAM_LOAD,   PROGRAM_EXCHANGE, PROGRAM_IF,     PROGRAM_LOOP,
                                     PROGRAM_BREAK,  PROGRAM_ELSE,   PROGRAM_END };
    uint8_t kind = kinds[fuzz_u8(input) % sizeof(kinds)];
    bool possible = !(opens(kind) && taking->depth == PROGRAM_DEPTH) &&
                    !(kind == PROGRAM_EXCHANGE && taking->depth > 0) &&
                    !(kind == PROGRAM_BREAK && open_loop(taking) == PROGRAM_STATEMENTS);

    if (kind == PROGRAM_END || kind == PROGRAM_ELSE) {
        if (taking->depth == 0) {
            return;
        }
        uint32_t top = taking->depth - 1;
        bool is_if = taking->program->statement[taking->open[top]].kind == PROGRAM_IF;
        if (kind == PROGRAM_ELSE && is_if) {
            turn_to_else(taking);
        } else {
            close_one(taking);
        }
        return;
    }
    add(taking, input, possible ? (enum program_kind)kind : PROGRAM_ASSIGN);
    if (possible && kind == PROGRAM_BREAK) {
        taking->program->statement[taking->program->count - 1].other = (uint8_t)open_loop(taking);
    }
    if (possible && opens(kind)) {
        taking->open[taking->depth++] = (uint8_t)(taking->program->count - 1);
    }
}

void program_take(struct program *program, struct fuzz_input *input)
{
    struct taking taking = { .program = program };

    program->count = 0;
    while (!fuzz_ended(input) && program->count < PROGRAM_STATEMENTS - PROGRAM_DEPTH - 1) {
        take_one(&taking, input);
    }
    while (taking.depth > 0) {
        close_one(&taking);
    }
}

/* ---- interpreted ---- */

struct thread {
    uint32_t i[PROGRAM_INTS];
    uint64_t l[PROGRAM_LONGS];
    float f[PROGRAM_FLOATS];
    uint32_t array[PROGRAM_PRIVATE];
};

static uint64_t int_of(const struct thread *thread, uint8_t number, bool is_long)
{
    return is_long ? thread->l[number % PROGRAM_LONGS] : thread->i[number % PROGRAM_INTS];
}

static uint64_t rotate(uint64_t value, uint32_t by, uint32_t bits)
{
    return by == 0 ? value : value << by | value >> (bits - by);
}

static uint64_t extended(uint64_t value, uint32_t bits)
{
    return bits == 64 ? value : (uint64_t)(int64_t)(int32_t)value;
}

/* Operands and result are the low `bits`. */
static uint64_t int_op(uint8_t op, uint64_t a, uint64_t b, uint32_t bits)
{
    uint32_t shift = (uint32_t)b & (bits - 1);
    int64_t sa = (int64_t)extended(a, bits), sb = (int64_t)extended(b, bits);

    switch (op % PROGRAM_INT_OPS) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a & b;
    case 4:
        return a | b;
    case 5:
        return a ^ b;
    case 6:
        return a << shift;
    case 7:
        return a >> shift;
    case 8:
        return (uint64_t)(sa >> shift);
    case 9:
        return a / (b | 1);
    case 10:
        return a % (b | 1);
    case 11:
        return (uint64_t)(sa / ((sb & 0xffff) | 1));
    case 12:
        return (uint64_t)(sa % ((sb & 0xffff) | 1));
    case 13:
        return sa < sb ? (uint64_t)sa : (uint64_t)sb;
    case 14:
        return a > b ? a : b;
    case 15:
        return sa < sb;
    case 16:
        return (uint64_t)__builtin_popcountll(a);
    default:
        return rotate(a, shift, bits);
    }
}

/* The machine's float operations round to nearest, and keep denormals. */
static float float_op(uint8_t op, float a, float b)
{
    switch (op % PROGRAM_FLOAT_OPS) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    default:
        return a < b ? a : b;
    }
}

static uint64_t second(const struct program_statement *s, const struct thread *thread, bool is_long)
{
    return s->to_constant ? (is_long ? extended(s->constant, 32) : s->constant) : int_of(thread, s->b, is_long);
}

/* There is one NaN. */
static uint32_t float_bits(float value)
{
    uint32_t bits = 0x7fc00000u;

    if (value == value) {
        memcpy(&bits, &value, sizeof(bits));
    }
    return bits;
}

static void assign(const struct program_statement *s, struct thread *thread)
{
    if (s->to < PROGRAM_INTS) {
        if (s->op >= 240) { /* from the other kinds */
            thread->i[s->to] = (uint32_t)thread->l[s->a % PROGRAM_LONGS];
        } else if (s->op >= 224) {
            thread->i[s->to] = float_bits(thread->f[s->a % PROGRAM_FLOATS]);
        } else {
            thread->i[s->to] = (uint32_t)int_op(s->op, int_of(thread, s->a, false), second(s, thread, false), 32);
        }
    } else if (s->to < PROGRAM_INTS + PROGRAM_LONGS) {
        uint64_t *to = &thread->l[s->to - PROGRAM_INTS];
        *to = s->op >= 240   ? thread->i[s->a % PROGRAM_INTS]
              : s->op >= 224 ? extended(thread->i[s->a % PROGRAM_INTS], 32)
                             : int_op(s->op, int_of(thread, s->a, true), second(s, thread, true), 64);
    } else {
        float *to = &thread->f[s->to - PROGRAM_INTS - PROGRAM_LONGS];
        *to = s->op >= 224 ? (float)(int32_t)thread->i[s->a % PROGRAM_INTS]
                           : float_op(s->op, thread->f[s->a % PROGRAM_FLOATS], thread->f[s->b % PROGRAM_FLOATS]);
    }
}

/* One statement that is no branch, loop or exchange. */
static void run_simple(const struct program_statement *s, struct thread *thread, const uint32_t *in)
{
    switch (s->kind) {
    case PROGRAM_ASSIGN:
        assign(s, thread);
        break;
    case PROGRAM_PUT:
        thread->array[thread->i[s->b % PROGRAM_INTS] % PROGRAM_PRIVATE] = thread->i[s->a % PROGRAM_INTS];
        break;
    case PROGRAM_GET:
        thread->i[s->to % PROGRAM_INTS] = thread->array[thread->i[s->a % PROGRAM_INTS] % PROGRAM_PRIVATE];
        break;
    case PROGRAM_LOAD:
        thread->i[s->to % PROGRAM_INTS] = in[thread->i[s->a % PROGRAM_INTS] % PROGRAM_THREADS];
        break;
    default:
        break;
    }
}

static bool condition(const struct program_statement *s, const struct thread *thread)
{
    uint32_t value = thread->i[s->a % PROGRAM_INTS];

    return s->op & 1u ? value % 2 != 0 : (int32_t)value < (int32_t)thread->i[s->to % PROGRAM_INTS];
}

static uint32_t turns_of(const struct program_statement *s, const struct thread *thread)
{
    return thread->i[s->a % PROGRAM_INTS] % PROGRAM_TURNS + (s->op & 1u);
}

/* From `at` to the next exchange, or to the end; where it stopped. */
static uint32_t run_thread(const struct program *program, uint32_t at, struct thread *thread, const uint32_t *in)
{
    uint32_t left[PROGRAM_STATEMENTS] = { 0 }; /* turns of loops */

    while (at < program->count && program->statement[at].kind != PROGRAM_EXCHANGE) {
        const struct program_statement *s = &program->statement[at];
        switch (s->kind) {
        case PROGRAM_IF:
            at = condition(s, thread) ? at + 1 : s->other + 1u;
            break;
        case PROGRAM_ELSE: /* the first side has ended */
            at = s->other + 1u;
            break;
        case PROGRAM_LOOP:
            left[at] = turns_of(s, thread);
            at = left[at] > 0 ? at + 1 : s->other + 1u;
            break;
        case PROGRAM_END: {
            bool again = program->statement[s->other].kind == PROGRAM_LOOP && --left[s->other] > 0;
            at = again ? s->other + 1u : at + 1;
            break;
        }
        case PROGRAM_BREAK:
            at = condition(s, thread) ? program->statement[s->other].other + 1u : at + 1;
            break;
        default:
            run_simple(s, thread, in);
            at++;
            break;
        }
    }
    return at;
}

static void exchange(const struct program_statement *s, struct thread *threads)
{
    uint32_t group[PROGRAM_THREADS];

    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        group[i] = threads[i].i[s->a % PROGRAM_INTS];
    }
    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        threads[i].i[s->to % PROGRAM_INTS] = group[(i + s->op) % PROGRAM_THREADS];
    }
}

void program_interpret(const struct program *program, const uint32_t *in,
                       uint64_t out[PROGRAM_THREADS][PROGRAM_VARIABLES])
{
    struct thread threads[PROGRAM_THREADS] = { 0 };
    uint32_t at = 0;

    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        threads[i].i[0] = i;
        threads[i].i[1] = in[i];
        threads[i].l[0] = i * 0x100000001ull;
        threads[i].f[0] = (float)(int32_t)i;
    }
    for (;;) {
        uint32_t reached = at;
        for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
            reached = run_thread(program, at, &threads[i], in);
        }
        if (reached >= program->count) {
            break;
        }
        exchange(&program->statement[reached], threads);
        at = reached + 1;
    }
    memset(out, 0, sizeof(uint64_t) * PROGRAM_THREADS * PROGRAM_VARIABLES);
    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        for (uint32_t v = 0; v < PROGRAM_INTS; v++) {
            out[i][v] = threads[i].i[v];
        }
        memcpy(&out[i][PROGRAM_INTS], threads[i].l, sizeof(threads[i].l));
        for (uint32_t v = 0; v < PROGRAM_FLOATS; v++) {
            out[i][PROGRAM_INTS + PROGRAM_LONGS + v] = float_bits(threads[i].f[v]);
        }
    }
}
