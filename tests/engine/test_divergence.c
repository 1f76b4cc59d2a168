/* SPDX-License-Identifier: MIT */
/*
 * Tests random structured programs against a model that runs one thread at a time and knows no warps: branches, loops,
 * breaks, continues, calls, early exits, with yields anywhere (E3 to E6, E9, E12).
 */
#include "ppu/macros.h"
#include "tests/engine/rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS 150u
#define VALUES 4u /* registers v1 to v4 of a thread */
#define MAX_NODES 400u
#define MAX_DEPTH 5u
#define FUNCTIONS 3u
#define COUNTER_REG 20u /* of a loop, one a depth */
#define LINK_REG 30u    /* of a call, one a function */
#define TEXT_BYTES 65536u
#define THREADS 150u
#define CTAS 2u

enum kind {
    OP,     /* x[a] = x[a] * k + x[b] */
    BRANCH, /* if */
    LOOP,
    BREAK,    /* if */
    CONTINUE, /* if */
    LEAVE,    /* exit if */
    CALL,
    YIELD,
};

/* One statement; bodies are lists. */
struct node {
    enum kind kind;
    uint32_t a;
    uint32_t b;
    uint32_t k;
    uint32_t body;
    uint32_t other;
    uint32_t next; /* 0: last */
};

struct program {
    uint64_t *random;
    struct node node[MAX_NODES];
    uint32_t nodes;
    uint32_t main;
    uint32_t function[FUNCTIONS];
    char *text;
    size_t len;
    uint32_t labels;
};

/* ---- making a program ---- */

static uint32_t make_list(struct program *p, uint32_t depth, bool in_loop, uint32_t callable);

static uint32_t make_node(struct program *p, uint32_t depth, bool in_loop, uint32_t callable)
{
    static const enum kind deep[] = { BRANCH, BRANCH, LOOP };
    uint32_t index = p->nodes++, pick = random_below(p->random, 16);
    struct node *n = &p->node[index];

    *n = (struct node){
        .kind = OP,
        .a = 1 + random_below(p->random, VALUES),
        .b = 1 + random_below(p->random, VALUES),
        .k = (uint32_t)random_next(p->random) | 1u,
    };
    if (pick < 6 && depth < MAX_DEPTH && p->nodes < MAX_NODES / 2) {
        enum kind kind = deep[random_below(p->random, 3)];
        uint32_t body = make_list(p, depth + 1, in_loop || kind == LOOP, callable);
        uint32_t other = kind == BRANCH ? make_list(p, depth + 1, in_loop, callable) : 0;
        n->kind = kind;
        n->body = body;
        n->other = other;
    } else if (pick == 6 && in_loop) {
        n->kind = BREAK;
    } else if (pick == 7 && in_loop) {
        n->kind = CONTINUE;
    } else if (pick == 8 && callable < FUNCTIONS) {
        n->kind = CALL;
        n->k = callable + random_below(p->random, FUNCTIONS - callable);
    } else if (pick == 9 && depth > 1 && random_below(p->random, 4) == 0) {
        n->kind = LEAVE;
    } else if (pick == 10) {
        n->kind = YIELD;
    }
    return index;
}

static uint32_t make_list(struct program *p, uint32_t depth, bool in_loop, uint32_t callable)
{
    uint32_t first = 0, last = 0;

    for (uint32_t left = 1 + random_below(p->random, 4); left != 0 && p->nodes < MAX_NODES - 1; left--) {
        uint32_t index = make_node(p, depth, in_loop, callable);
        if (last != 0) {
            p->node[last].next = index;
        } else {
            first = index;
        }
        last = index;
    }
    return first;
}

/* ---- its text ---- */

static void emit(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void emit(struct program *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    p->len += (size_t)vsnprintf(p->text + p->len, TEXT_BYTES - p->len, format, args);
    va_end(args);
    assert_true(p->len < TEXT_BYTES);
}

/* p0 = some bits of x[a] are zero; about one thread in four. */
static void emit_condition(struct program *p, const struct node *n)
{
    emit(p, "shr v10, v%u, %u\nand v10, v10, 3\nisetp.eq p0, v10, 0\n", n->a, n->k % 29);
}

static void emit_store(struct program *p)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        emit(p, "stg.b32 v%u, [s0+v11+%u]\n", i + 1, 4 * i);
    }
    emit(p, "exit\n");
}

static void emit_list(struct program *p, uint32_t index, uint32_t depth, uint32_t loop);

static void emit_loop(struct program *p, const struct node *n, uint32_t depth)
{
    uint32_t label = p->labels++, counter = COUNTER_REG + depth;

    emit(p, "and v%u, v%u, 7\npbrk end%u\nhead%u: isetp.eq p0, v%u, 0\n@p0 brk end%u\nsub v%u, v%u, 1\n", counter, n->a,
         label, label, counter, label, counter, counter);
    emit(p, "pcont next%u\n", label);
    emit_list(p, n->body, depth + 1, label);
    emit(p, "cont next%u\nnext%u: bra head%u\nend%u:\n", label, label, label, label);
}

static void emit_branch(struct program *p, const struct node *n, uint32_t depth, uint32_t loop)
{
    uint32_t label = p->labels++;

    emit_condition(p, n);
    emit(p, "ssy join%u\n@p0 bra else%u\n", label, label);
    emit_list(p, n->body, depth + 1, loop);
    emit(p, "sync join%u\nelse%u:\n", label, label);
    emit_list(p, n->other, depth + 1, loop);
    emit(p, "sync join%u\njoin%u:\n", label, label);
}

static void emit_leave(struct program *p, const struct node *n)
{
    uint32_t label = p->labels++;

    emit_condition(p, n);
    emit(p, "ssy stay%u\n@!p0 sync stay%u\n", label, label);
    emit_store(p);
    emit(p, "stay%u:\n", label);
}

static void emit_node(struct program *p, const struct node *n, uint32_t depth, uint32_t loop)
{
    switch (n->kind) {
    case OP:
        emit(p, "mul v10, v%u, 0x%x\nadd v%u, v10, v%u\n", n->a, n->k, n->a, n->b);
        return;
    case BRANCH:
        emit_branch(p, n, depth, loop);
        return;
    case LOOP:
        emit_loop(p, n, depth);
        return;
    case BREAK:
        emit_condition(p, n);
        emit(p, "@p0 brk end%u\n", loop);
        return;
    case CONTINUE:
        emit_condition(p, n);
        emit(p, "@p0 cont next%u\n", loop);
        return;
    case LEAVE:
        emit_leave(p, n);
        return;
    case CALL:
        emit(p, "call v%u, f%u\n", LINK_REG + n->k, n->k);
        return;
    case YIELD:
        emit(p, "yield\n");
        return;
    }
}

static void emit_list(struct program *p, uint32_t index, uint32_t depth, uint32_t loop)
{
    for (; index != 0; index = p->node[index].next) {
        emit_node(p, &p->node[index], depth, loop);
    }
}

static void make_program(struct program *p, uint64_t *random)
{
    p->random = random;
    p->nodes = 1;
    p->labels = 1;
    p->len = 0;
    p->main = make_list(p, 0, false, 0);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        p->function[f] = make_list(p, MAX_DEPTH - 1, false, f + 1);
    }
    emit(p, ".kernel k\n.vregs 40\nldp.b64 s0, [0]\nrdsr v0, %%tid\nrdsr s4, %%cta.x\nrdsr s5, %%ntid.x\n"
            "mad v0, s4, s5, v0\nshl v11, v0, 4\n");
    for (uint32_t i = 0; i < VALUES; i++) {
        emit(p, "add v%u, v0, %u\nmul v%u, v%u, 0x9e3779b1\n", i + 1, i * 1000 + 1, i + 1, i + 1);
    }
    emit_list(p, p->main, 0, 0);
    emit_store(p);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        emit(p, "f%u:\n", f);
        emit_list(p, p->function[f], MAX_DEPTH + 1 + f, 0);
        emit(p, "ret v%u\n", LINK_REG + f);
    }
}

/* ---- one thread of it ---- */

enum signal {
    GO_ON,
    BROKE,
    CONTINUED,
    LEFT,
};

static bool condition(const struct node *n, const uint32_t *x)
{
    return (x[n->a] >> (n->k % 29) & 3u) == 0;
}

static enum signal run_list(const struct program *p, uint32_t index, uint32_t *x);

static enum signal run_loop(const struct program *p, const struct node *n, uint32_t *x)
{
    for (uint32_t left = x[n->a] & 7u; left != 0; left--) {
        enum signal signal = run_list(p, n->body, x);
        if (signal == BROKE) {
            break;
        }
        if (signal == LEFT) {
            return LEFT;
        }
    }
    return GO_ON;
}

static enum signal run_node(const struct program *p, const struct node *n, uint32_t *x)
{
    switch (n->kind) {
    case OP:
        x[n->a] = x[n->a] * n->k + x[n->b];
        return GO_ON;
    case BRANCH:
        return run_list(p, condition(n, x) ? n->other : n->body, x);
    case LOOP:
        return run_loop(p, n, x);
    case BREAK:
        return condition(n, x) ? BROKE : GO_ON;
    case CONTINUE:
        return condition(n, x) ? CONTINUED : GO_ON;
    case LEAVE:
        return condition(n, x) ? LEFT : GO_ON;
    case CALL:
        return run_list(p, p->function[n->k], x);
    default:
        return GO_ON;
    }
}

static enum signal run_list(const struct program *p, uint32_t index, uint32_t *x)
{
    for (; index != 0; index = p->node[index].next) {
        enum signal signal = run_node(p, &p->node[index], x);
        if (signal != GO_ON) {
            return signal;
        }
    }
    return GO_ON;
}

/* Runs the loaded program with token queues of so many entries. */
static struct outcome run_program(struct rig *rig, uint16_t tokens, uint32_t wave)
{
    uint64_t params[2] = { DATA_VA, 0 };
    struct ppu_tmd tmd = rig_tmd(rig, "k");

    tmd.token_count = tokens;
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, CTAS, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    memset(rig_data(rig, 0), 0, CTAS * THREADS * VALUES * sizeof(uint32_t));
    return rig_run(rig, &tmd);
}

static void check_results(struct rig *rig, const struct program *p)
{
    const uint32_t(*out)[VALUES] = rig_data(rig, 0);

    for (uint32_t t = 0; t < CTAS * THREADS; t++) {
        uint32_t x[VALUES + 1] = { 0 };

        for (uint32_t v = 0; v < VALUES; v++) {
            x[v + 1] = (t + v * 1000 + 1) * 0x9e3779b1u;
        }
        run_list(p, p->main, x);
        if (memcmp(out[t], &x[1], sizeof(out[t])) != 0) {
            print_error("%s\n", p->text);
            fail_msg("thread %u: %08x, not %08x", t, out[t][0], x[1]);
        }
    }
}

static struct program *program_new(void)
{
    struct program *p = calloc(1, sizeof(*p));

    p->text = malloc(TEXT_BYTES);
    return p;
}

static void program_free(struct program *p)
{
    free(p->text);
    free(p);
}

static void structured_programs(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();
    struct program *p = program_new();

    for (uint32_t i = 0; i < PROGRAMS; i++) {
        make_program(p, &random);
        rig_load_text(rig, p->text);
        assert_int_equal(run_program(rig, PPU_MAX_TOKENS, PPU_LANES << i % 3).event.kind, PPU_SLOT_DONE);
        check_results(rig, p);
    }
    assert_int_equal(rig->recentred, 0);
    program_free(p);
}

/*
 * Queues as small as each program allows, so that they come to the ends of their space again and again: whoever moves
 * them, results, instructions and what does not fit are the same.
 */
static void both_recentre_alike(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();
    struct program *p = program_new();
    uint32_t with_answers = 0;

    for (uint32_t i = 0; i < PROGRAMS / 3; i++) {
        uint16_t tokens = 1;
        make_program(p, &random);
        rig_load_text(rig, p->text);
        for (bool fits = false; !fits; tokens *= 2) {
            mcu_write(rig->board, PPU_REG_TOKEN_HANDLER, PPU_TOKEN_BY_SM);
            rig_step(rig); /* answers what warps have asked that were killed since */
            const uint64_t before = rig->recentred;
            const struct outcome sm = run_program(rig, tokens, PPU_LANES << i % 3);
            assert_int_equal(rig->recentred, before);
            mcu_write(rig->board, PPU_REG_TOKEN_HANDLER, PPU_TOKEN_BY_FIRMWARE);
            const struct outcome firmware = run_program(rig, tokens, PPU_LANES << i % 3);
            assert_int_equal(firmware.event.kind, sm.event.kind);
            fits = sm.event.kind == PPU_SLOT_DONE;
            if (fits) {
                assert_int_equal(firmware.event.warp_insns, sm.event.warp_insns);
                check_results(rig, p);
                with_answers += rig->recentred != before;
            } else {
                assert_int_equal(firmware.fault.code, sm.fault.code);
                assert_int_equal(firmware.fault.code, PPU_FAULT_TOKEN_FULL);
            }
        }
    }
    assert_true(with_answers > PROGRAMS / 12);
    program_free(p);
}

/* ---- single operations ---- */

static void run_text(struct rig *rig, const char *body, uint32_t threads, uint32_t *out)
{
    uint64_t params[2] = { DATA_VA, 0 };
    char text[2048];

    snprintf(text, sizeof(text), ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %%tid\nshl v1, v0, 2\nmov v2, 0\n%s\n", body);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 1, 1, threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    memset(rig_data(rig, 0), 0xee, threads * sizeof(*out));
    rig_run_done(rig, &tmd);
    memcpy(out, rig_data(rig, 0), threads * sizeof(*out));
}

/* Lanes of one SSY meet again: the ballot behind the join sees all of them. */
static void sync_joins(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "and v3, v0, 3\nssy join\nisetp.eq p0, v3, 0\n@p0 bra a\nisetp.eq p0, v3, 1\n@p0 bra b\nsync join\n"
             "a: sync join\nb: sync join\njoin: active s4\nstg.b32 s4, [s0]\nmov v2, s4\nstg.b32 v2, [s0+v1]\nexit",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], UINT32_MAX);
    }
}

/*
 * Lanes that come by different ways, and at different times, are together behind a WSYNC, also where no token names
 * them all. Lanes that have ended are not waited for.
 */
static void wsync_joins(void **state)
{
    static const char *const ways[] = {
        ("and v3, v0, 3\nisetp.eq p0, v3, 0\n@p0 bra a\nisetp.eq p0, v3, 1\n@p0 bra b\nbra join\n"
         "a: yield\nyield\nbra join\nb: yieldn 1\nbra join\n"),
        "mov v3, v0\nmore: isetp.eq p0, v3, 0\n@p0 bra join\nsub v3, v3, 1\nyield\nbra more\n",
        "isetp.ltu p0, v0, 32\n@!p0 exit\nand v3, v0, 1\nisetp.eq p0, v3, 0\n@p0 bra join\nyield\n",
    };
    static const struct {
        uint32_t threads, together;
    } cases[] = { { 32, UINT32_MAX }, { 32, UINT32_MAX }, { 32, UINT32_MAX }, { 7, 0x7f }, { 7, 0x7f }, { 7, 0x7f } };
    uint32_t out[32];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char text[512];
        snprintf(text, sizeof(text), "%sjoin: wsync\nactive v2\nstg.b32 v2, [s0+v1]\nexit", ways[i % 3]);
        run_text(*state, text, cases[i].threads, out);
        for (uint32_t lane = 0; lane < cases[i].threads; lane++) {
            if (out[lane] != cases[i].together) {
                fail_msg("way %u: lane %u passes with %#x", i % 3, lane, out[lane]);
            }
        }
    }
}

/* Lanes that wait for one another at different places never go on: a fault, with the lanes that came last. */
static void wsync_that_nobody_comes_to(void **state)
{
    static const struct {
        const char *text;
        uint32_t threads, insn; /* of the fault */
        uint32_t lanes;
    } cases[] = {
        { "isetp.ltu p0, v0, 8\n@p0 bra low\nwsync\nexit\nlow: wsync\nexit", 32, 4, 0xff },
        { "isetp.ltu p0, v0, 8\n@p0 bra low\nwsync\nexit\nlow: bar 0\nexit", 32, 2, 0xffffff00 },
        { "isetp.ltu p0, v0, 8\n@p0 bra low\nbar 0\nexit\nlow: wsync\nexit", 32, 4, 0xff },
        { "isetp.eq p0, v0, 0\n@p0 bra a\nisetp.eq p0, v0, 1\n@p0 bra b\nisetp.eq p0, v0, 2\n@p0 exit\nwsync\nexit\n"
          "a: wsync\nexit\nb: yield\nyield\nwsync\nexit",
          7, 12, 0x2 },
        { "isetp.eq p0, v0, 40\n@p0 bra a\nwsync\nexit\na: wsync\nexit", 41, 4, 0x100 },
    };
    struct rig *rig = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char text[512];

        snprintf(text, sizeof(text), ".kernel k\nrdsr v0, %%tid.x\n%s\n", cases[i].text);
        rig_load_text(rig, text);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        tmd.wave = cases[i].threads > 32 ? 64 : 32;
        rig_shape(&tmd, 1, 1, cases[i].threads, 1);
        const struct outcome outcome = rig_run(rig, &tmd);
        assert_true(outcome.faulted);
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_int_equal(outcome.fault.code, PPU_FAULT_BARRIER);
        assert_int_equal(outcome.fault.address, PPU_BARRIERS);
        assert_int_equal(outcome.fault.pc, CODE_VA + tmd.entry + (cases[i].insn + 1) * PPU_INSN_BYTES);
        assert_int_equal(outcome.fault.lanes, cases[i].lanes);
    }
}

static void indirect_branches(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "and v3, v0, 3\nadd v3, v3, 1\nbrx v3\nbra a\nbra b\nbra c\n"
             "mov v2, 40\nstg.b32 v2, [s0+v1]\nexit\na: mov v2, 10\nstg.b32 v2, [s0+v1]\nexit\n"
             "b: mov v2, 20\nstg.b32 v2, [s0+v1]\nexit\nc: mov v2, 30\nstg.b32 v2, [s0+v1]\nexit",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], 10 * (lane % 4 + 1));
    }
}

/* EXIT waits for the exit token; a second EXIT, without one, ends the thread (E12). */
static void exit_tokens(void **state)
{
    uint32_t out[40];

    run_text(*state,
             "pexit cleanup\nisetp.ltu p0, v0, 20\n@p0 exit\nadd v2, v2, 5\nexit\n"
             "cleanup: add v2, v2, 1\nactive s4\nstg.b32 v2, [s0+v1]\nexit",
             40, out);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(out[i], i < 20 ? 1 : 6);
    }
}

/* A yield between PEXIT and EXIT may let the exit token go: then EXIT ends the thread (E12). */
static void exit_after_a_yield(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "and v3, v0, 1\nisetp.ne p0, v3, 0\npexit cleanup\n@p0 bra odd\nexit\nodd: yield\nexit\n"
             "cleanup: add v2, v2, 1\nstg.b32 v2, [s0+v1]\nexit",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], lane % 2 ? 0xeeeeeeee : 1);
    }
}

/* Lanes that yield at one address go on together, whoever came first (E6); a yield not taken changes nothing. */
static void yields_merge(void **state)
{
    static const struct {
        const char *yield;
        uint32_t even; /* who is active behind it, for even lanes and for odd ones */
        uint32_t odd;
    } cases[] = {
        { "yield", UINT32_MAX, UINT32_MAX },    { "yieldn 1", UINT32_MAX, UINT32_MAX },
        { "yieldq 0", UINT32_MAX, UINT32_MAX }, { "yieldp 0", 0x55555555, 0xaaaaaaaa },
        { "yieldn 2", 0x55555555, 0xaaaaaaaa },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint32_t out[32];
        char body[512];

        snprintf(body, sizeof(body),
                 "and v3, v0, 1\nisetp.ne p0, v3, 0\n@p0 bra meet\nmeet: nop\n%s\nactive s4\nmov v2, s4\n"
                 "stg.b32 v2, [s0+v1]\nexit",
                 cases[i].yield);
        run_text(*state, body, 32, out);
        for (uint32_t lane = 0; lane < 32; lane++) {
            assert_int_equal(out[lane], lane % 2 ? cases[i].odd : cases[i].even);
        }
    }
}

/* What a wait without its token drops: never a token that somebody waits for, and all before it that nobody does. */
static void drops_stop_at_those_who_wait(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "and v3, v0, 1\nisetp.ne p0, v3, 0\nssy meet\n@p0 bra odd\nsync meet\n"
             "odd: ssy never\nsync other\nother: sync meet\nnever: trap 1\n"
             "meet: active s4\nmov v2, s4\nstg.b32 v2, [s0+v1]\nexit",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], UINT32_MAX);
    }
}

/* A token a turn that nobody will wait for does not fill the queue, for each way of going on without a token. */
static void stale_tokens_are_dropped(void **state)
{
    static const char *const ways[] = { "sync next", "brk next", "cont next", "ret v5", "longjmp v5" };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(ways); i++) {
        uint32_t out[32];
        char body[512];

        snprintf(body, sizeof(body),
                 "mov v4, 1000\nmov v5, 10\nloop: ssy never\npbrk never\n%s\nnever: trap 1\n"
                 "next: sub v4, v4, 1\nisetp.ne p0, v4, 0\n@p0 bra loop\nstg.b32 v4, [s0+v1]\nexit",
                 ways[i]);
        run_text(*state, body, 32, out);
        assert_int_equal(out[31], 0);
    }
}

/* SYNC, BRK, CONT and RET without a token are branches (E5, E12). */
static void waits_without_tokens(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "sync a\ntrap 1\na: brk b\ntrap 2\nb: cont c\ntrap 3\nc: mov v5, 0\nadd v2, v2, 9\n"
             "isetp.ltu p0, v0, 7\n@p0 sync d\nadd v2, v2, 1\nd: stg.b32 v2, [s0+v1]\nexit",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], lane < 7 ? 9 : 10);
    }
}

/* A yield in a callee drops the call token; RET finds its way by the return address (E12). */
static void return_after_a_yield(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "call v8, f\nadd v2, v2, 100\nstg.b32 v2, [s0+v1]\nexit\n"
             "f: isetp.ltu p0, v0, 9\n@p0 bra g\nadd v2, v2, 1\nyield\nadd v2, v2, 1\nret v8\n"
             "g: add v2, v2, 7\nyield\nret v8",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], lane < 9 ? 107 : 102);
    }
}

/* ---- the queue in memory ---- */

static uint64_t bits_of(const uint8_t *bytes, uint32_t from, uint32_t count)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < count; i++) {
        value |= (uint64_t)(bytes[(from + i) / 8] >> (from + i) % 8 & 1u) << i;
    }
    return value;
}

/* A token as E2 lays it out: summary bits count from `summary`, the mask is all that follows `mask`. */
static void check_token(const uint8_t *token, uint32_t wave, uint32_t type, uint32_t address, uint32_t summary)
{
    uint32_t small = wave == 32;

    assert_int_equal(bits_of(token, 0, small ? 4 : 8), type);
    assert_int_equal(bits_of(token, small ? 36 : 8, small ? 22 : 32), address);
    assert_int_equal(bits_of(token, small ? 58 : 40, 4), summary);
    assert_int_equal(bits_of(token, small ? 62 : 48, small ? 2 : 16), 0);
    for (uint32_t lane = 0; lane < wave; lane++) {
        bool set = type != PPU_TOKEN_DIVERGE || lane % 2 == 0;
        assert_int_equal(bits_of(token, (small ? 4 : 64) + lane, 1), set);
    }
    if (wave == 128) {
        assert_int_equal(bits_of(token, 192, 64), 0);
    }
}

/* While a warp stands still its tokens are in the protected range of VRAM, the front in the middle of its space. */
static void tokens_are_in_memory(void **state)
{
    static const uint32_t token_bytes[] = { 8, 16, 32 };
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\nrdsr v0, %tid\nand v1, v0, 1\nisetp.eq p0, v1, 0\npbrk end\nssy end\n"
                       "@p0 bra other\nmark 77\nother: sync end\nend: exit\n");
    for (uint32_t i = 0; i < 3; i++) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        uint32_t wave = PPU_LANES << i, middle = 6;
        struct outcome outcome;
        const uint8_t *queue = rig->board->vram + TOKENS_AT;

        tmd.wave = (uint8_t)wave;
        tmd.token_count = 2 * (uint16_t)middle;
        rig_shape(&tmd, 1, 1, wave, 1);
        memset(rig->board->vram + TOKENS_AT, 0xff, TOKENS_BYTES);
        host_write(rig->board, PPU_REG_HOOK_HOLD_MARK, 77);
        rig_start(rig, 0, &tmd);
        for (uint32_t step = 0; step < 100 && host_read(rig->board, PPU_REG_HOOK_HELD) == 0; step++) {
            rig_step(rig);
        }
        assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 1);
        check_token(queue + (middle - 3) * token_bytes[i], wave, PPU_TOKEN_DIVERGE, 7, PPU_TOKEN_SUM_SYNC);
        check_token(queue + (middle - 2) * token_bytes[i], wave, PPU_TOKEN_SYNC, 8, PPU_TOKEN_SUM_SYNC);
        check_token(queue + (middle - 1) * token_bytes[i], wave, PPU_TOKEN_BRK, 8, 0);
        assert_int_equal(queue[(middle - 4) * token_bytes[i]], 0xff);
        assert_int_equal(queue[middle * token_bytes[i]], 0xff);
        host_write(rig->board, PPU_REG_HOOK_RELEASE, 1);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    }
}

/* Runs a program of waves of 32 up to mark 77, and tells the queue from its first token on. */
static const uint8_t *held_queue(struct rig *rig, const char *text, uint32_t middle)
{
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");

    tmd.token_count = 2 * (uint16_t)middle;
    rig_shape(&tmd, 1, 1, 32, 1);
    host_write(rig->board, PPU_REG_HOOK_HOLD_MARK, 77);
    rig_start(rig, 0, &tmd);
    for (uint32_t step = 0; step < 100 && host_read(rig->board, PPU_REG_HOOK_HELD) == 0; step++) {
        rig_step(rig);
    }
    assert_int_equal(host_read(rig->board, PPU_REG_HOOK_HELD), 1);
    return rig->board->vram + TOKENS_AT;
}

static void let_go(struct rig *rig)
{
    struct outcome outcome;

    host_write(rig->board, PPU_REG_HOOK_RELEASE, 1);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
}

static uint32_t mask_of(const uint8_t *token)
{
    return (uint32_t)bits_of(token, 4, 32);
}

/* What each operation pushes: type, address and mask; branches on which lanes agree push nothing (E9). */
static void operations_push(void **state)
{
    static const struct {
        const char *text; /* behind an instruction that gets the lane's number */
        uint32_t type;    /* of the token that is pushed; PPU_TOKEN_NONE: none is */
        uint32_t address, mask;
    } cases[] = {
        { "ssy end\nmark 77\nend: exit", PPU_TOKEN_SYNC, 3, UINT32_MAX },
        { "pbrk end\nmark 77\nend: exit", PPU_TOKEN_BRK, 3, UINT32_MAX },
        { "pcont end\nmark 77\nend: exit", PPU_TOKEN_CONT, 3, UINT32_MAX },
        { "pexit end\nmark 77\nend: exit", PPU_TOKEN_EXIT, 3, UINT32_MAX },
        { "call v5, f\nexit\nf: mark 77\nexit", PPU_TOKEN_CALL, 2, UINT32_MAX },
        { "isetp.ltu p0, v0, 8\n@p0 exit\npcont end\nmark 77\nend: exit", PPU_TOKEN_CONT, 5, 0xffffff00u },
        { "isetp.ltu p0, v0, 8\n@p0 bra other\nmark 77\nother: exit", PPU_TOKEN_DIVERGE, 4, 0xff },
        { "isetp.ltu p0, v0, 8\n@p0 jmp 4\nmark 77\nexit", PPU_TOKEN_DIVERGE, 4, 0xff },
        { "isetp.geu p0, v0, 0\n@p0 bra over\nexit\nover: mark 77\nexit", PPU_TOKEN_NONE, 0, 0 },
        { "isetp.ltu p0, v0, 0\n@p0 bra over\nmark 77\nover: exit", PPU_TOKEN_NONE, 0, 0 },
        { "jmp 2\nmark 77\nexit", PPU_TOKEN_NONE, 0, 0 },
        { "mov v1, 2\nbrx v1\nexit\nmark 77\nexit", PPU_TOKEN_NONE, 0, 0 },
        { "mov v1, 4\njmx v1\nexit\nmark 77\nexit", PPU_TOKEN_NONE, 0, 0 },
    };
    struct rig *rig = *state;
    const uint32_t middle = 6;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char text[256];

        snprintf(text, sizeof(text), ".kernel k\nrdsr v0, %%tid\n%s\n", cases[i].text);
        memset(rig->board->vram + TOKENS_AT, 0xff, TOKENS_BYTES);
        const uint8_t *front = held_queue(rig, text, middle) + (middle - 1) * 8;
        const bool pushed = cases[i].type != PPU_TOKEN_NONE;
        assert_int_equal(front[-8], 0xff);
        assert_int_equal(front[0] != 0xff, pushed);
        if (pushed) {
            assert_int_equal(bits_of(front, 0, 4), cases[i].type);
            assert_int_equal(bits_of(front, 36, 22), cases[i].address);
            assert_int_equal(mask_of(front), cases[i].mask);
        }
        let_go(rig);
    }
}

/* An indirect branch to three targets pushes two tokens, of the lanes that do not go first (E9). */
static void indirect_branches_push(void **state)
{
    static const char *const texts[] = { "add v1, v1, 1\nbrx v1", "add v1, v1, 4\njmx v1" };
    const uint32_t middle = 6;
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(texts); i++) {
        uint32_t targets = 0;
        char text[256];

        snprintf(text, sizeof(text), ".kernel k\nrdsr v0, %%tid\nremu v1, v0, 3\n%s\nmark 77\nmark 77\nmark 77\nexit\n",
                 texts[i]);
        memset(rig->board->vram + TOKENS_AT, 0xff, TOKENS_BYTES);
        const uint8_t *front = held_queue(rig, text, middle) + (middle - 2) * 8;
        assert_int_equal(front[-8], 0xff);
        for (const uint8_t *token = front; token < front + 16; token += 8) {
            const uint32_t rest = (uint32_t)bits_of(token, 36, 22) - 4; /* the first mark is the fifth instruction */
            assert_int_equal(bits_of(token, 0, 4), PPU_TOKEN_DIVERGE);
            assert_true(rest < 3 && (targets >> rest & 1u) == 0);
            targets |= 1u << rest;
            for (uint32_t lane = 0; lane < 32; lane++) {
                assert_int_equal(mask_of(token) >> lane & 1u, lane % 3 == rest);
            }
        }
        let_go(rig);
    }
}

/* Each token has the bits of the one behind it and that one's own: bits 58 sync, 59 divergence, 60 call, 61 yield. */
static void summaries_tell_what_is_behind(void **state)
{
    static const struct {
        uint32_t type, summary;
    } queue[] = { { PPU_TOKEN_SYNC, 0xf },
                  { PPU_TOKEN_DIVERGE, 0xd },
                  { PPU_TOKEN_CALL, 0x9 },
                  { PPU_TOKEN_BRK, 0x8 },
                  { PPU_TOKEN_YIELD, 0 } };
    const uint32_t middle = 6, front = 4; /* the yield is pushed at the back, where the middle begins */
    const uint8_t *at = held_queue(*state,
                                   ".kernel k\nrdsr v0, %tid\nand v1, v0, 1\nisetp.eq p0, v1, 0\n"
                                   "isetp.ltu p1, v0, 8\n@p1 yield\npbrk end\ncall v8, f\nend: exit\n"
                                   "f: @p0 bra other\nssy end\nmark 77\nother: ret v8\n",
                                   middle) +
                        (middle - front) * 8;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(queue); i++) {
        assert_int_equal(bits_of(at + 8 * i, 0, 4), queue[i].type);
        assert_int_equal(bits_of(at + 8 * i, 58, 4), queue[i].summary);
    }
    let_go(*state);
}

/* What a YIELD pushes behind a token later, that token's bits do not tell, nor those of tokens in front of it (E2). */
static void summaries_grow_old(void **state)
{
    const uint32_t middle = 6;
    const uint8_t *at = held_queue(*state,
                                   ".kernel k\nrdsr v0, %tid\nisetp.ltu p1, v0, 8\npbrk end\n@p1 yield\n"
                                   "call v8, f\nend: exit\nf: mark 77\nret v8\n",
                                   middle) +
                        (middle - 2) * 8;

    assert_int_equal(bits_of(at, 0, 4), PPU_TOKEN_CALL);
    assert_int_equal(bits_of(at, 58, 4), PPU_TOKEN_SUM_SYNC);
    assert_int_equal(bits_of(at + 8, 0, 4), PPU_TOKEN_BRK);
    assert_int_equal(bits_of(at + 8, 58, 4), 0);
    assert_int_equal(bits_of(at + 16, 0, 4), PPU_TOKEN_YIELD);
    let_go(*state);
}

/* The share of an SM bounds the queues of a CTA; without a usable place for them no task runs. */
static void queues_need_room(void **state)
{
    static const struct {
        uint32_t base;
        uint32_t bytes;
        bool error;
        bool runs;
    } cases[] = {
        { TOKENS_AT, 3 * 1024, false, true },
        { TOKENS_AT, 3 * 1024 - 64, false, false },
        { TOKENS_AT, 0, false, false },
        { TOKENS_AT + 4, 0x10000, true, true }, /* reserved bits: the register keeps what it had */
        { PROT_LIMIT - 64, 0x10000, true, false },
        { 0xffffffc0u, 0x10000, true, false },
        { HEAP_AT, 0x10000, true, false },
        { TOKENS_AT, TOKENS_BYTES, false, true },
    };
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\nyield\nexit\n");
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        mcu_write(rig->board, PPU_REG_TOKEN_BYTES, cases[i].bytes);
        mcu_write(rig->board, PPU_REG_TOKEN_BASE, cases[i].base);
        assert_int_equal(mcu_read(rig->board, PPU_REG_DEVICE_ERROR), cases[i].error ? PPU_DEVERR_ARG : 0);
        mcu_write(rig->board, PPU_REG_DEVICE_ERROR, PPU_DEVERR_ARG);
        struct outcome outcome = rig_run(rig, &tmd);
        assert_int_equal(outcome.event.kind, cases[i].runs ? PPU_SLOT_DONE : PPU_SLOT_REFUSED);
        assert_true(cases[i].runs || outcome.event.arg == PPU_FAULT_TMD_RESOURCES);
    }
}

/* A spinning lane lets the lane go on that it waits for, the n-th time, or when chance will have it. */
static void yields_now_and_then(void **state)
{
    static const struct {
        const char *yield;
        uint32_t turns; /* 0: some */
    } cases[] = {
        { "yield", 1 },    { "yieldn 0", 1 },          { "yieldn 1", 1 },
        { "yieldn 7", 7 }, { "yieldq 0", 1 },          { "yieldp 0xffffffff", 1 },
        { "yieldn 5", 5 }, { "yieldp 0x01000000", 0 }, { "yieldq 0xff000000", 0 },
    };
    uint32_t out[3], again[3];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char body[512];

        snprintf(body, sizeof(body),
                 "mov v4, 0\nstg.b32 v4, [s0+v1]\nisetp.eq p0, v0, 0\n@p0 bra late\nspin: add v2, v2, 1\n%s\n"
                 "ldg.b32 v3, [s0]\nisetp.eq p1, v3, 0\n@p1 bra spin\nstg.b32 v2, [s0+v1]\nexit\n"
                 "late: mov v3, 1\nstg.b32 v3, [s0]\nexit",
                 cases[i].yield);
        run_text(*state, body, 3, out);
        run_text(*state, body, 3, again);
        assert_memory_equal(out, again, sizeof(out));
        assert_int_equal(out[0], 1);
        assert_int_equal(out[1], out[2]);
        if (cases[i].turns != 0 ? out[1] != cases[i].turns : out[1] < 2) {
            fail_msg("%s: %u turns", cases[i].yield, out[1]);
        }
    }
}

/* Lanes leave two functions and a loop at once; those that return meet the caller's token, and all meet at the end. */
static void long_jumps(void **state)
{
    uint32_t out[32];

    run_text(*state,
             "mov v9, 0\nmov v12, 11\nmov v2, 0\nssy end\ncall v8, f\nadd v2, v2, 100\nsync end\n"
             "land: add v2, v2, 7\nsync end\nend: active s4\nmov v3, s4\nadd v2, v2, v3\nstg.b32 v2, [s0+v1]\nexit\n"
             "f: pbrk out\nagain: add v9, v9, 1\nisetp.gtu p0, v0, 15\nisetp.eq p1, v9, 3\n@p1 brk out\n"
             "ssy join\n@p0 bra join2\nsync join\njoin2: call v10, g\nsync join\njoin: bra again\nout: ret v8\n"
             "g: longjmp v12",
             32, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], (lane > 15 ? 7u : 100u) + UINT32_MAX);
    }
}

/* A queue of few entries does what it can, and recentres at its ends (E7). */
static void small_queue(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd;
    struct outcome outcome;

    rig_load_text(rig, ".kernel k\nssy c\nssy b\nssy a\nsync a\na: sync b\nb: yield\nsync c\nc: yield\nyield\nexit\n");
    for (uint16_t tokens = 1; tokens < 8; tokens++) {
        tmd = rig_tmd(rig, "k");
        tmd.token_count = tokens;
        outcome = rig_run(rig, &tmd);
        assert_int_equal(outcome.faulted, tokens < 3);
        assert_true(tokens >= 3 || (outcome.fault.code == PPU_FAULT_TOKEN_FULL && outcome.fault.address == tokens));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "random structured programs do what single threads do [E3][E4][E5][E6][E9][E12]", structured_programs,
          rig_setup_slices, rig_teardown, NULL },
        { "lanes meet again at a sync [E3][E4]", sync_joins, rig_setup_slices, rig_teardown, NULL },
        { "indirect branches go to every target [E3][E9]", indirect_branches, rig_setup_slices, rig_teardown, NULL },
        { "exit waits for its token, then ends [E3][E12]", exit_tokens, rig_setup_slices, rig_teardown, NULL },
        { "a yield may take the exit token away [E6][E12]", exit_after_a_yield, rig_setup_slices, rig_teardown, NULL },
        { "lanes are together behind a wsync [E6][E11]", wsync_joins, rig_setup_slices, rig_teardown, NULL },
        { "lanes that wait for one another at different places are a fault [E6]", wsync_that_nobody_comes_to,
          rig_setup_slices, rig_teardown, NULL },
        { "lanes that yield at one place go on together [E6]", yields_merge, rig_setup_slices, rig_teardown, NULL },
        { "tokens that lanes wait for are not dropped [E5]", drops_stop_at_those_who_wait, rig_setup_slices,
          rig_teardown, NULL },
        { "tokens that nobody waits for are dropped [E4][E5]", stale_tokens_are_dropped, rig_setup_slices, rig_teardown,
          NULL },
        { "waits without a token are branches [E5]", waits_without_tokens, rig_setup_slices, rig_teardown, NULL },
        { "return after a yield in the callee [E12]", return_after_a_yield, rig_setup_slices, rig_teardown, NULL },
        { "tokens of a warp that stands still are in memory [E1][E2][E10]", tokens_are_in_memory, rig_setup_slices,
          rig_teardown, NULL },
        { "what pushes a token, and what is in it [E1][E3][E9]", operations_push, rig_setup_slices, rig_teardown,
          NULL },
        { "an indirect branch pushes a token for each further target [E9]", indirect_branches_push, rig_setup_slices,
          rig_teardown, NULL },
        { "a token tells which types are behind it [E10]", summaries_tell_what_is_behind, rig_setup_slices,
          rig_teardown, NULL },
        { "a yield behind a token makes its summary old, and nothing is lost by it [E2][E10]", summaries_grow_old,
          rig_setup_slices, rig_teardown, NULL },
        { "token queues need their room in memory [E1][E7]", queues_need_room, rig_setup_slices, rig_teardown, NULL },
        { "a yield every n-th time, or by chance [E6]", yields_now_and_then, rig_setup_slices, rig_teardown, NULL },
        { "long jumps leave loops and calls [E3][E5]", long_jumps, rig_setup_slices, rig_teardown, NULL },
        { "a small token queue recentres, a full one faults [E7]", small_queue, rig_setup_slices, rig_teardown, NULL },
        { "whoever recentres token queues, programs do the same [E7]", both_recentre_alike, rig_setup_slices,
          rig_teardown, NULL },
        { "the firmware recentres beside SMs that run [E7]", both_recentre_alike, rig_setup_threads, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: divergence", tests, NULL, NULL);
}
