/* SPDX-License-Identifier: MIT */
/* Programs as LLVM IR. Variables are memory of the thread at first, as clang leaves them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/program.h"

struct emitter {
    FILE *out;
    uint32_t values; /* names so far */
};

static const char *const int_names[PROGRAM_INT_OPS] = { "add",  "sub",  "mul",  "and",  "or",    "xor",
                                                        "shl",  "lshr", "ashr", "udiv", "urem",  "sdiv",
                                                        "srem", "smin", "umax", "slt",  "ctpop", "fshl" };
static const char *const float_names[PROGRAM_FLOAT_OPS] = { "fadd", "fsub", "fmul", "less" };

static const char *type_of(uint32_t variable)
{
    return variable < PROGRAM_INTS ? "i32" : variable < PROGRAM_INTS + PROGRAM_LONGS ? "i64" : "float";
}

static uint32_t next(struct emitter *e)
{
    return e->values++;
}

static uint32_t load(struct emitter *e, uint32_t variable)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = load %s, ptr %%x%u\n", value, type_of(variable), variable);
    return value;
}

static void store(struct emitter *e, uint32_t variable, uint32_t value)
{
    fprintf(e->out, "  store %s %%v%u, ptr %%x%u\n", type_of(variable), value, variable);
}

/* value = op type a, constant */
static uint32_t with(struct emitter *e, const char *op, const char *type, uint32_t a, int64_t constant)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = %s %s %%v%u, %" PRId64 "\n", value, op, type, a, constant);
    return value;
}

static uint32_t with_value(struct emitter *e, const char *op, const char *type, uint32_t a, uint32_t b)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = %s %s %%v%u, %%v%u\n", value, op, type, a, b);
    return value;
}

static uint32_t cast(struct emitter *e, const char *op, const char *from, uint32_t a, const char *to)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = %s %s %%v%u to %s\n", value, op, from, a, to);
    return value;
}

/* ---- operations ---- */

static uint32_t call_int(struct emitter *e, uint32_t op, const char *type, uint32_t a, uint32_t b)
{
    uint32_t value = next(e);

    if (op == 16) {
        fprintf(e->out, "  %%v%u = call %s @llvm.ctpop.%s(%s %%v%u)\n", value, type, type, type, a);
    } else if (op == 17) {
        fprintf(e->out, "  %%v%u = call %s @llvm.fshl.%s(%s %%v%u, %s %%v%u, %s %%v%u)\n", value, type, type, type, a,
                type, a, type, b);
    } else {
        fprintf(e->out, "  %%v%u = call %s @llvm.%s.%s(%s %%v%u, %s %%v%u)\n", value, type, int_names[op], type, type,
                a, type, b);
    }
    return value;
}

static uint32_t int_op(struct emitter *e, uint32_t op, const char *type, uint32_t a, uint32_t b)
{
    int64_t bits = type[1] == '6' ? 64 : 32;

    switch (op) {
    case 6:
    case 7:
    case 8:
        return with_value(e, int_names[op], type, a, with(e, "and", type, b, bits - 1));
    case 9:
    case 10:
        return with_value(e, int_names[op], type, a, with(e, "or", type, b, 1));
    case 11:
    case 12:
        return with_value(e, int_names[op], type, a, with(e, "or", type, with(e, "and", type, b, 0xffff), 1));
    case 15: {
        uint32_t less = with_value(e, "icmp slt", type, a, b);
        return cast(e, "zext", "i1", less, type);
    }
    case 13:
    case 14:
    case 16:
    case 17:
        return call_int(e, op, type, a, b);
    default:
        return with_value(e, int_names[op], type, a, b);
    }
}

static uint32_t choose(struct emitter *e, uint32_t condition, const char *type, uint32_t yes, uint32_t no)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = select i1 %%v%u, %s %%v%u, %s %%v%u\n", value, condition, type, yes, type, no);
    return value;
}

/* There is one NaN. */
static uint32_t float_bits(struct emitter *e, uint32_t a)
{
    uint32_t bits = cast(e, "bitcast", "float", a, "i32");
    uint32_t is_nan = with_value(e, "fcmp uno", "float", a, a);
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = select i1 %%v%u, i32 2143289344, i32 %%v%u\n", value, is_nan, bits);
    return value;
}

/* The operand b of an integer operation: a variable, or a constant. */
static uint32_t second(struct emitter *e, const struct program_statement *s, bool is_long)
{
    if (!s->to_constant) {
        return load(e, is_long ? PROGRAM_INTS + s->b % PROGRAM_LONGS : s->b % PROGRAM_INTS);
    }
    uint32_t value = next(e);
    fprintf(e->out, "  %%v%u = or %s 0, %d\n", value, is_long ? "i64" : "i32", (int32_t)s->constant);
    return value;
}

static uint32_t assign_int(struct emitter *e, const struct program_statement *s)
{
    if (s->op >= 240) {
        return cast(e, "trunc", "i64", load(e, PROGRAM_INTS + s->a % PROGRAM_LONGS), "i32");
    }
    if (s->op >= 224) {
        return float_bits(e, load(e, PROGRAM_INTS + PROGRAM_LONGS + s->a % PROGRAM_FLOATS));
    }
    uint32_t a = load(e, s->a % PROGRAM_INTS);
    return int_op(e, s->op % PROGRAM_INT_OPS, "i32", a, second(e, s, false));
}

static uint32_t assign_long(struct emitter *e, const struct program_statement *s)
{
    if (s->op >= 224) {
        return cast(e, s->op >= 240 ? "zext" : "sext", "i32", load(e, s->a % PROGRAM_INTS), "i64");
    }
    uint32_t a = load(e, PROGRAM_INTS + s->a % PROGRAM_LONGS);
    return int_op(e, s->op % PROGRAM_INT_OPS, "i64", a, second(e, s, true));
}

static uint32_t assign_float(struct emitter *e, const struct program_statement *s)
{
    if (s->op >= 224) {
        return cast(e, "sitofp", "i32", load(e, s->a % PROGRAM_INTS), "float");
    }
    uint32_t a = load(e, PROGRAM_INTS + PROGRAM_LONGS + s->a % PROGRAM_FLOATS);
    uint32_t b = load(e, PROGRAM_INTS + PROGRAM_LONGS + s->b % PROGRAM_FLOATS);
    uint32_t op = s->op % PROGRAM_FLOAT_OPS;
    return op < 3 ? with_value(e, float_names[op], "float", a, b)
                  : choose(e, with_value(e, "fcmp olt", "float", a, b), "float", a, b);
}

static void assign(struct emitter *e, const struct program_statement *s)
{
    store(e, s->to,
          s->to < PROGRAM_INTS                   ? assign_int(e, s)
          : s->to < PROGRAM_INTS + PROGRAM_LONGS ? assign_long(e, s)
                                                 : assign_float(e, s));
}

/* ---- memory ---- */

/* Address of element %v<index> modulo `count` of an array. */
static uint32_t element(struct emitter *e, const char *space, const char *array, uint32_t index, uint32_t count)
{
    uint32_t inside = with(e, "urem", "i32", index, count);
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = getelementptr i32, ptr%s %s, i32 %%v%u\n", value, space, array, inside);
    return value;
}

static void store_to(struct emitter *e, const char *space, uint32_t value, uint32_t at)
{
    fprintf(e->out, "  store i32 %%v%u, ptr%s %%v%u\n", value, space, at);
}

static uint32_t load_from(struct emitter *e, const char *space, uint32_t at)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = load i32, ptr%s %%v%u\n", value, space, at);
    return value;
}

static uint32_t copy_of(struct emitter *e, const char *name)
{
    uint32_t value = next(e);

    fprintf(e->out, "  %%v%u = or i32 %s, 0\n", value, name);
    return value;
}

static void barrier(struct emitter *e)
{
    fprintf(e->out, "  call spir_func void @_Z7barrierj(i32 1) #1\n");
}

static void exchange(struct emitter *e, const struct program_statement *s)
{
    uint32_t own = load(e, s->a % PROGRAM_INTS);
    uint32_t tid = copy_of(e, "%tid");

    store_to(e, " addrspace(3)", own, element(e, " addrspace(3)", "@group", tid, PROGRAM_THREADS));
    barrier(e);
    uint32_t other = with(e, "add", "i32", tid, s->op);
    uint32_t got = load_from(e, " addrspace(3)", element(e, " addrspace(3)", "@group", other, PROGRAM_THREADS));
    store(e, s->to % PROGRAM_INTS, got);
    barrier(e);
}

/* ---- statements; block n begins with statement n ---- */

static uint32_t condition(struct emitter *e, const struct program_statement *s)
{
    uint32_t a = load(e, s->a % PROGRAM_INTS);

    if (s->op & 1u) {
        return cast(e, "trunc", "i32", a, "i1");
    }
    return with_value(e, "icmp slt", "i32", a, load(e, s->to % PROGRAM_INTS));
}

static void branch(struct emitter *e, uint32_t condition_value, uint32_t yes, uint32_t no)
{
    fprintf(e->out, "  br i1 %%v%u, label %%s%u, label %%s%u\n", condition_value, yes, no);
}

static void go(struct emitter *e, uint32_t to)
{
    fprintf(e->out, "  br label %%s%u\n", to);
}

static void begin_loop(struct emitter *e, const struct program_statement *s, uint32_t at)
{
    uint32_t turns = with(e, "urem", "i32", load(e, s->a % PROGRAM_INTS), PROGRAM_TURNS);

    turns = with(e, "add", "i32", turns, s->op & 1u);
    fprintf(e->out, "  store i32 %%v%u, ptr %%t%u\n", turns, at);
    branch(e, with(e, "icmp ne", "i32", turns, 0), at + 1, s->other + 1u);
}

static void end(struct emitter *e, const struct program *program, const struct program_statement *s, uint32_t at)
{
    if (program->statement[s->other].kind != PROGRAM_LOOP) {
        go(e, at + 1);
        return;
    }
    uint32_t left = next(e);
    fprintf(e->out, "  %%v%u = load i32, ptr %%t%u\n", left, s->other);
    left = with(e, "sub", "i32", left, 1);
    fprintf(e->out, "  store i32 %%v%u, ptr %%t%u\n", left, s->other);
    branch(e, with(e, "icmp ne", "i32", left, 0), s->other + 1u, at + 1);
}

static void memory(struct emitter *e, const struct program_statement *s)
{
    uint32_t a = load(e, s->a % PROGRAM_INTS);

    if (s->kind == PROGRAM_PUT) {
        uint32_t index = load(e, s->b % PROGRAM_INTS);
        store_to(e, "", a, element(e, "", "%array", index, PROGRAM_PRIVATE));
    } else if (s->kind == PROGRAM_GET) {
        store(e, s->to % PROGRAM_INTS, load_from(e, "", element(e, "", "%array", a, PROGRAM_PRIVATE)));
    } else {
        uint32_t at = element(e, " addrspace(1)", "%in", a, PROGRAM_THREADS);
        store(e, s->to % PROGRAM_INTS, load_from(e, " addrspace(1)", at));
    }
}

static void statement(struct emitter *e, const struct program *program, uint32_t at)
{
    const struct program_statement *s = &program->statement[at];

    fprintf(e->out, "s%u:\n", at);
    switch (s->kind) {
    case PROGRAM_IF:
        branch(e, condition(e, s), at + 1, s->other + 1u);
        return;
    case PROGRAM_ELSE:
        go(e, s->other + 1u);
        return;
    case PROGRAM_LOOP:
        begin_loop(e, s, at);
        return;
    case PROGRAM_END:
        end(e, program, s, at);
        return;
    case PROGRAM_BREAK:
        branch(e, condition(e, s), program->statement[s->other].other + 1u, at + 1);
        return;
    case PROGRAM_ASSIGN:
        assign(e, s);
        break;
    case PROGRAM_EXCHANGE:
        exchange(e, s);
        break;
    default:
        memory(e, s);
        break;
    }
    go(e, at + 1);
}

/* ---- the kernel ---- */

static void prologue(struct emitter *e, const struct program *program)
{
    fprintf(e->out, "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-"
                    "v1024:1024-G1\"\ntarget triple = \"spir64\"\n"
                    "@group = internal addrspace(3) global [64 x i32] undef, align 4\n"
                    "declare spir_func i64 @_Z13get_global_idj(i32) #1\n"
                    "declare spir_func void @_Z7barrierj(i32) #1\n"
                    "define spir_kernel void @k(ptr addrspace(1) align 8 %%out, ptr addrspace(1) align 4 %%in) #0 "
                    "!kernel_arg_addr_space !1 !kernel_arg_access_qual !2 !kernel_arg_type !3 !kernel_arg_base_type !3 "
                    "!kernel_arg_type_qual !4 {\n");
    for (uint32_t i = 0; i < PROGRAM_VARIABLES; i++) {
        fprintf(e->out, "  %%x%u = alloca %s\n  store %s %s, ptr %%x%u\n", i, type_of(i), type_of(i),
                i < PROGRAM_INTS + PROGRAM_LONGS ? "0" : "0.0", i);
    }
    for (uint32_t i = 0; i < program->count; i++) {
        if (program->statement[i].kind == PROGRAM_LOOP) {
            fprintf(e->out, "  %%t%u = alloca i32\n", i);
        }
    }
    fprintf(e->out, "  %%array = alloca [8 x i32]\n"
                    "  call void @llvm.memset.p0.i64(ptr align 4 %%array, i8 0, i64 32, i1 false)\n"
                    "  %%gid = call spir_func i64 @_Z13get_global_idj(i32 0) #1\n"
                    "  %%tid = trunc i64 %%gid to i32\n"
                    "  store i32 %%tid, ptr %%x0\n"
                    "  %%p1 = getelementptr i32, ptr addrspace(1) %%in, i64 %%gid\n"
                    "  %%in1 = load i32, ptr addrspace(1) %%p1\n"
                    "  store i32 %%in1, ptr %%x1\n"
                    "  %%wide = mul i64 %%gid, 4294967297\n"
                    "  store i64 %%wide, ptr %%x6\n"
                    "  %%float = sitofp i32 %%tid to float\n"
                    "  store float %%float, ptr %%x8\n"
                    "  br label %%s0\n");
}

static void epilogue(struct emitter *e, uint32_t count)
{
    fprintf(e->out, "s%u:\n  %%row = mul i64 %%gid, %u\n", count, PROGRAM_VARIABLES);
    for (uint32_t i = 0; i < PROGRAM_VARIABLES; i++) {
        uint32_t value = load(e, i);
        if (i < PROGRAM_INTS) {
            value = cast(e, "zext", "i32", value, "i64");
        } else if (i >= PROGRAM_INTS + PROGRAM_LONGS) {
            value = cast(e, "zext", "i32", float_bits(e, value), "i64");
        }
        fprintf(e->out,
                "  %%c%u = add i64 %%row, %u\n  %%o%u = getelementptr i64, ptr addrspace(1) %%out, i64 %%c%u\n"
                "  store i64 %%v%u, ptr addrspace(1) %%o%u\n",
                i, i, i, i, value, i);
    }
    fprintf(e->out, "  ret void\n}\n");
}

char *program_ir(const struct program *program)
{
    char *text = NULL;
    size_t bytes = 0;
    struct emitter e = { .out = open_memstream(&text, &bytes) };

    prologue(&e, program);
    for (uint32_t i = 0; i < program->count; i++) {
        statement(&e, program, i);
    }
    epilogue(&e, program->count);
    for (uint32_t long_ints = 0; long_ints < 2; long_ints++) {
        const char *type = long_ints ? "i64" : "i32";
        fprintf(e.out,
                "declare %s @llvm.ctpop.%s(%s)\ndeclare %s @llvm.fshl.%s(%s, %s, %s)\n"
                "declare %s @llvm.smin.%s(%s, %s)\ndeclare %s @llvm.umax.%s(%s, %s)\n",
                type, type, type, type, type, type, type, type, type, type, type, type, type, type, type, type);
    }
    fprintf(e.out, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
                   "attributes #0 = { convergent norecurse nounwind \"uniform-work-group-size\"=\"false\" }\n"
                   "attributes #1 = { convergent nounwind }\n"
                   "!opencl.ocl.version = !{!0}\n!0 = !{i32 3, i32 0}\n!1 = !{i32 1, i32 1}\n"
                   "!2 = !{!\"none\", !\"none\"}\n!3 = !{!\"ulong*\", !\"uint*\"}\n!4 = !{!\"\", !\"\"}\n");
    fclose(e.out);
    return text;
}
