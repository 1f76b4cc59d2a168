/* SPDX-License-Identifier: MIT */
#include "compiler/mir/mir_passes.h"

#include "compiler/mir/hoist.h"
#include "compiler/mir/if_convert.h"
#include "compiler/mir/mir_verify.h"
#include "compiler/mir/param_loads.h"
#include "compiler/mir/peephole.h"
#include "compiler/mir/regalloc.h"
#include "compiler/mir/schedule.h"
#include "compiler/mir/subvector/insert.h"
#include "ppu/macros.h"

#include <string.h>

#define POOL_WORDS 24u /* of constants in scalar registers, at first */
#define ATTEMPTS 16u

/* ---- the passes ---- */

/* One attempt at the passes. */
struct pipeline {
    const struct mir_input *input;
    struct register_limits limits;
    uint32_t pool; /* words of constants in scalar registers */
    bool again;    /* scalar registers do not suffice: selection begins again with other choices */
    struct mir *mir;
};

static void select_instructions(struct pipeline *p)
{
    const struct mir_input *input = p->input;

    p->mir = input->select(input->compilation, input->kernel, input->function, input->ir, p->pool);
}

static void run_peephole(struct pipeline *p)
{
    peephole(p->mir);
}

static void join_param_loads(struct pipeline *p)
{
    const struct kernel_info *kernel = p->input->kernel;

    param_loads_join(p->mir,
                     kernel->implicit_at != 0
                         ? kernel->implicit_at + (uint32_t)sizeof(struct ppu_implicit_args) + kernel->bounds_bytes
                         : kernel->explicit_bytes);
}

static void convert_branches(struct pipeline *p)
{
    if (!if_convert(p->mir)) {
        p->input->ir->bare = p->again = true;
    }
}

static void run_scheduler(struct pipeline *p)
{
    schedule_loads(p->mir, &p->limits);
}

static void insert_segments(struct pipeline *p)
{
    subvector_insert(p->mir, p->input->kernel);
}

static void allocate_registers(struct pipeline *p)
{
    bool fewer = false;

    p->again = !regalloc(p->mir, &p->limits, p->input->ir->force, &fewer);
    p->pool = p->again && fewer ? p->pool / 2 : p->pool;
}

static void hoist_copies(struct pipeline *p)
{
    hoist(p->mir);
}

static void drop_empty_segments(struct pipeline *p)
{
    subvector_drop_empty(p->mir);
}

/* ---- the list ---- */

enum mir_condition {
    MIR_ALWAYS,
    MIR_FIRST, /* joined parameters take scalar registers that nothing else can be kept out of */
    MIR_SEGMENTS,
};

static const struct mir_pass {
    const char *name;
    enum mir_condition condition;
    void (*run)(struct pipeline *p);
} passes[] = {
#define MIR_PASS(name, condition, what, does, needs) { #name, MIR_##condition, what },
#include "compiler/mir/mir_pass.def"
#undef MIR_PASS
};

bool mir_passes_have(const char *name)
{
    bool has = false;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(passes); i++) {
        has |= strcmp(passes[i].name, name) == 0;
    }
    return has;
}

static bool holds(const struct pipeline *p, enum mir_condition condition)
{
    return condition == MIR_ALWAYS || (condition == MIR_FIRST && p->pool == POOL_WORDS) ||
           (condition == MIR_SEGMENTS && p->input->segments);
}

/* All passes, until one says that selection must begin again. */
static void run_list(struct pipeline *p)
{
    p->again = false;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(passes) && !p->again; i++) {
        if (!holds(p, passes[i].condition)) {
            continue;
        }
        passes[i].run(p);
        if (!p->again) {
            if (compilation_dumps(p->input->compilation, passes[i].name)) {
                mir_print(p->mir, passes[i].name);
            }
            mir_verify(p->mir, passes[i].name);
        }
    }
}

static uint32_t or_limit(uint32_t wanted, uint32_t limit)
{
    return wanted != 0 && wanted < limit ? wanted : limit;
}

/* Keeps everything in vector registers but where code and variables lie. */
static void force_all(struct pipeline *p)
{
    memset(p->input->ir->force, true, p->input->ir->value_count);
    p->pool = 0;
}

/*
 * Scalar registers cannot be spilled: when they do not suffice, the values that cost least are kept in vector
 * registers, and selection begins again; in the end all are.
 */
struct mir *mir_passes_run(const struct mir_input *input)
{
    struct compilation *compilation = input->compilation;
    struct pipeline p = {
        .input = input,
        .limits = { { [MIR_VECTOR] = or_limit(compilation->options->max_vregs, PPU_MAX_VREGS),
                      [MIR_SCALAR] = or_limit(compilation->options->max_sregs, PPU_SREGS),
                      [MIR_PRED] = PPU_PREDS } },
        .pool = POOL_WORDS,
    };

    for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt == ATTEMPTS - 1) {
            force_all(&p);
        }
        ir_find_scalars(input->ir);
        if (attempt == 0 && compilation_dumps(compilation, "flow")) {
            flow_print(input->ir->flow, input->ir->name, compilation->dump);
        }
        run_list(&p);
        if (!p.again) {
            return p.mir;
        }
    }
    compilation_fail(compilation, PPU_COMPILE_TOO_LARGE, "kernel '%s' needs more scalar registers than there are",
                     input->ir->name);
}
