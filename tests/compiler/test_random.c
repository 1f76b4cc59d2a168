/* SPDX-License-Identifier: MIT */
/*
 * Tests random kernels, compiled in every variant and run on the device and on the reference executor, against the
 * same text compiled by the host's compiler and by pocl. PPU_SEED chooses the first program, PPU_RANDOM_PROGRAMS how
 * many there are.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS 3u
#define THREADS 70u
#define FINE 4u             /* results a thread that are compared in units of the last place */
#define RESULTS (1u + FINE) /* words a thread: the exact ones' sum, then those */
#define VARIABLES 8u
#define MAX_TEXT 60000u

/* ---- programs ---- */

/* Variables v0 ... v7, one of each type, and an array a[16]. Arithmetic is unsigned where it may overflow. */
static const char *const types[VARIABLES] = { "uint", "uint", "int", "ulong", "uchar", "ushort", "float", "long" };
#define FLOAT_VARIABLE 6u

struct fine;

struct writer {
    char *text;
    size_t len;
    uint64_t random;
    uint32_t depth;
    uint32_t loops; /* names of loop counters */
    const struct fine *fine[FINE];
};

static uint32_t pick(struct writer *w, uint32_t n)
{
    return (uint32_t)(random_next(&w->random) >> 7) % n;
}

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(w->text + w->len, MAX_TEXT - w->len, format, args);
    va_end(args);
    assert_true(n >= 0 && w->len + (size_t)n < MAX_TEXT);
    w->len += (size_t)n;
}

/* An unsigned value of 32 bits. */
static void put_value(struct writer *w, uint32_t depth)
{
    static const char *const binary[] = { "+", "-", "*", "&", "|", "^" };
    static const char *const compare[] = { "<", "<=", "==", "!=", ">", ">=" };

    static const char *const functions[] = { "min((uint)v%u, (uint)v%u)",         "max((uint)v%u, (uint)v%u)",
                                             "abs_diff((uint)v%u, (uint)v%u)",    "add_sat((uint)v%u, (uint)v%u)",
                                             "sub_sat((uint)v%u, (uint)v%u)",     "hadd((uint)v%u, (uint)v%u)",
                                             "rhadd((uint)v%u, (uint)v%u)",       "mul_hi((uint)v%u, (uint)v%u)",
                                             "rotate((uint)v%u, (uint)v%u)",      "(clz((uint)v%u) + (uint)v%u)",
                                             "(popcount((uint)v%u) * (uint)v%u)", "mul24(v%u & 4095, v%u & 4095)" };

    switch (depth == 0 ? pick(w, 4) : pick(w, 17)) {
    case 0:
        put(w, "%uu", pick(w, 2) != 0 ? pick(w, 20) : (uint32_t)random_next(&w->random));
        return;
    case 1:
    case 2:
        put(w, "(uint)v%u", pick(w, FLOAT_VARIABLE));
        return;
    case 3:
        put(w, "a[v%u & 15]", pick(w, 3));
        return;
    case 4:
        put(w, "((uint)v%u / ((uint)v%u | 1u))", pick(w, 6), pick(w, 6));
        return;
    case 5:
        put(w, "(uint)(v2 %% (int)((v%u & 127) + 3))", pick(w, 2));
        return;
    case 6:
        put(w, "(uint)((v3 >> (v%u & 63)) * 77u)", pick(w, 2));
        return;
    case 7:
        put(w, "(uint)(v7 >> %u)", pick(w, 63));
        return;
    case 8:
        put(w, "(");
        put_value(w, depth - 1);
        put(w, " %s (v%u & 31))", pick(w, 2) != 0 ? "<<" : ">>", pick(w, 2));
        return;
    case 9:
        put(w, "(v%u %s v%u ? ", pick(w, 2), compare[pick(w, 6)], pick(w, 2));
        put_value(w, depth - 1);
        put(w, " : ");
        put_value(w, depth - 1);
        put(w, ")");
        return;
    case 10:
        put(w, "(uint)((char)v%u * (short)v%u)", pick(w, 6), pick(w, 6));
        return;
    case 12:
    case 13:
        put(w, functions[pick(w, PPU_ARRAY_SIZE(functions))], pick(w, 2), pick(w, 2));
        return;
    case 14:
        put(w, "(uint)%s(v6, (float)v%u)", pick(w, 2) != 0 ? "isless" : "isunordered", pick(w, 5));
        return;
    case 11:
        put(w, "bits(v6 %s (float)v%u)", pick(w, 2) != 0 ? "*" : "-", pick(w, 5));
        return;
    default:
        put(w, "(");
        put_value(w, depth - 1);
        put(w, " %s ", binary[pick(w, 6)]);
        put_value(w, depth - 1);
        put(w, ")");
        return;
    }
}

static void put_assignment(struct writer *w)
{
    static const char *const floats[] = { "v6 + 1.5f",
                                          "v6 * 0.75f",
                                          "(float)v2 / 3.0f",
                                          "v6 - (float)v4",
                                          "(float)v0 * 1e-3f",
                                          "v6 / (v6 * v6 + 1.0f)",
                                          "fma(v6, 0.7f, (float)v2)",
                                          "sqrt(fabs(v6))",
                                          "floor(v6 * 0.3f) + trunc(v6 * 0.7f)",
                                          "rint(v6) - ceil((float)v2 * 0.4f)",
                                          "fmod(v6, 3.7f)",
                                          "copysign(fmin(v6, 1.5f), (float)v2)",
                                          "ldexp(v6, v4 & 15)",
                                          "(float)((double)v6 * 1.1 + (double)v2)" };
    uint32_t variable = pick(w, VARIABLES + 2);

    if (variable == FLOAT_VARIABLE) {
        put(w, "v6 = %s;\n", floats[pick(w, PPU_ARRAY_SIZE(floats))]);
        return;
    }
    if (variable >= VARIABLES) {
        put(w, "a[(");
        put_value(w, 1);
        put(w, ") & 15] = ");
    } else if (variable == 3 || variable == 7) {
        put(w, "v%u = (%s)(v3 * %uu + ", variable, types[variable], 1 + pick(w, 1000));
        put_value(w, 2);
        put(w, ");\n");
        return;
    } else {
        put(w, "v%u = (%s)", variable, types[variable]);
    }
    put_value(w, 3);
    put(w, ";\n");
}

static void put_block(struct writer *w, bool in_loop);

static void put_statement(struct writer *w, bool in_loop)
{
    uint32_t kind = w->depth < 4 ? pick(w, 12) : 11, loop = w->loops++;

    switch (kind) {
    case 0:
    case 1:
    case 2:
        put(w, "if ((");
        put_value(w, 1);
        put(w, ") %% %uu < %uu) {\n", 2 + pick(w, 5), 1 + pick(w, 3));
        put_block(w, in_loop);
        if (pick(w, 2) != 0) {
            put(w, "} else {\n");
            put_block(w, in_loop);
        }
        put(w, "}\n");
        return;
    case 3:
    case 4:
        put(w, "for (uint i%u = 0; i%u < (%s & %uu) + 1u; i%u++) {\n", loop, loop, pick(w, 2) != 0 ? "v1" : "7u",
            3 + pick(w, 5), loop);
        put_block(w, true);
        put(w, "}\n");
        return;
    case 5:
        put(w, "switch ((");
        put_value(w, 1);
        put(w, ") %% 5u) {\n");
        for (uint32_t c = 0; c < 4; c++) {
            put(w, "case %u:\n", c);
            put_block(w, false);
            put(w, "%s", pick(w, 4) != 0 ? "break;\n" : "");
        }
        put(w, "default:\n");
        put_assignment(w);
        put(w, "}\n");
        return;
    case 6:
        if (in_loop) {
            put(w, "if (((");
            put_value(w, 1);
            put(w, ") & 7u) == 3u) { %s; }\n", pick(w, 2) != 0 ? "break" : "continue");
            return;
        }
        /* fall through */
    default:
        put_assignment(w);
        return;
    }
}

static void put_block(struct writer *w, bool in_loop)
{
    w->depth++;
    for (uint32_t n = 1 + pick(w, 4); n != 0; n--) {
        put_statement(w, in_loop);
    }
    w->depth--;
}

/* Functions that need not be exact, of exact arguments: how far they may be from the host's. */
struct fine {
    const char *call;
    uint32_t ulp;
};

static const struct fine fines[] = {
    { "fine_sin(v6)", 4 },
    { "fine_cos(v6)", 4 },
    { "fine_tan((float)v2 * 0.125f)", 5 },
    { "fine_exp((float)v2 * 0.25f)", 3 },
    { "fine_exp2(v6)", 3 },
    { "fine_log(fabs(v6))", 3 },
    { "fine_log2((float)v0)", 3 },
    { "fine_cbrt(v6)", 2 },
    { "fine_tanh((float)v2 * 0.01f)", 5 },
    { "fine_atan(v6)", 5 },
    { "fine_atan2(v6, (float)v2)", 6 },
    { "fine_pow(fabs(v6), 0.37f)", 16 },
    { "fine_hypot(v6, (float)v1)", 4 },
    { "fine_erf(v6)", 16 },
};

static void put_program(struct writer *w)
{
    put(w, "__kernel void test(__global const uint *in, __global uint *out, uint uniform) {\n"
           "uint id = get_global_id(0); uint a[16];\n"
           "uint v0 = in[id], v1 = uniform; int v2 = (int)id - 9; ulong v3 = in[id] * 12345678901ul;\n"
           "uchar v4 = in[id] >> 3; ushort v5 = id * 99u; float v6 = (float)id * 0.5f; long v7 = -(long)in[id];\n"
           "for (uint i = 0; i < 16; i++) { a[i] = i * uniform + id; }\n");
    for (uint32_t n = 6; n != 0; n--) {
        put_block(w, false);
    }
    for (uint32_t i = 0; i < FINE; i++) {
        w->fine[i] = &fines[pick(w, PPU_ARRAY_SIZE(fines))];
        put(w, "out[id * %uu + %uu] = bits(%s);\n", RESULTS, 1 + i, w->fine[i]->call);
    }
    put(w,
        "for (uint i = 0; i < 16; i++) { v0 = v0 * 31u + a[i]; }\n"
        "out[id * %uu] = v0 + v1 * 3u + (uint)v2 * 5u + (uint)(v3 >> 20) * 7u + (uint)v3 + v4 * 11u + v5 * 13u + "
        "bits(v6) * 17u + (uint)v7 * 19u + (uint)((ulong)v7 >> 32) * 23u;\n}\n",
        RESULTS);
}

/* ---- the host's ---- */

static const char device_prelude[] = "#pragma OPENCL FP_CONTRACT OFF\n"
                                     "#define fine_sin sin\n#define fine_cos cos\n#define fine_tan tan\n"
                                     "#define fine_exp exp\n#define fine_exp2 exp2\n#define fine_log log\n"
                                     "#define fine_log2 log2\n#define fine_cbrt cbrt\n#define fine_tanh tanh\n"
                                     "#define fine_atan atan\n#define fine_atan2 atan2\n#define fine_pow pow\n"
                                     "#define fine_hypot hypot\n#define fine_erf erf\n"
                                     "uint bits(float f) { return f == f ? as_uint(f) : 0x7fc00000u; }\n";

static const char host_prelude[] =
    "#include <string.h>\n#include <math.h>\n#undef isless\n#undef isunordered\n"
    "#define FINE(name) static float fine_##name(float x) { return (float)__builtin_##name((double)x); }\n"
    "#define FINE2(name) static float fine_##name(float x, float y) { return (float)__builtin_##name((double)x, (double)y); }\n"
    "FINE(sin) FINE(cos) FINE(tan) FINE(exp) FINE(exp2) FINE(log) FINE(log2) FINE(cbrt) FINE(tanh) FINE(atan) FINE(erf)\n"
    "FINE2(atan2) FINE2(pow) FINE2(hypot)\n"
    "#define floor __builtin_floorf\n#define ceil __builtin_ceilf\n#define trunc __builtin_truncf\n"
    "#define rint __builtin_rintf\n#define fmod __builtin_fmodf\n#define fmin __builtin_fminf\n"
    "#define copysign __builtin_copysignf\n#define ldexp __builtin_ldexpf\n"
    "#define isless __builtin_isless\n#define isunordered __builtin_isunordered\n"
    "#define fma __builtin_fmaf\n#define sqrt __builtin_sqrtf\n#define fabs __builtin_fabsf\n"
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;\n"
    "#define char signed char\n#define __kernel\n#define __global\n"
    "static uint min(uint a, uint b) { return a < b ? a : b; }\n"
    "static uint max(uint a, uint b) { return a > b ? a : b; }\n"
    "static uint abs_diff(uint a, uint b) { return a > b ? a - b : b - a; }\n"
    "static uint add_sat(uint a, uint b) { return a + b < a ? ~0u : a + b; }\n"
    "static uint sub_sat(uint a, uint b) { return a > b ? a - b : 0; }\n"
    "static uint hadd(uint a, uint b) { return ((ulong)a + b) >> 1; }\n"
    "static uint rhadd(uint a, uint b) { return ((ulong)a + b + 1) >> 1; }\n"
    "static uint mul_hi(uint a, uint b) { return (ulong)a * b >> 32; }\n"
    "static uint mul24(uint a, uint b) { return a * b; }\n"
    "static uint rotate(uint a, uint b) { b &= 31; return b ? a << b | a >> (32 - b) : a; }\n"
    "static uint clz(uint a) { return a ? __builtin_clz(a) : 32; }\n"
    "static uint popcount(uint a) { return __builtin_popcount(a); }\n"
    "static uint id_now; static uint get_global_id(uint d) { return d == 0 ? id_now : 0; }\n"
    "static uint bits(float f) { uint u; memcpy(&u, &f, 4); return f == f ? u : 0x7fc00000u; }\n";

static const char host_end[] = "void run(uint n, const uint *in, uint *out, uint uniform) "
                               "{ for (id_now = 0; id_now < n; id_now++) { test(in, out, uniform); } }\n";

typedef void (*host_run)(uint32_t n, const uint32_t *in, uint32_t *out, uint32_t uniform);

/* A file of our own making in the folder, with its path. */
static void write_file(const char *folder, const char *name, char path[64], const void *bytes, size_t len)
{
    snprintf(path, 64, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void pocl_results(const char *source, const uint32_t *in, uint32_t *out, uint32_t uniform)
{
    char folder[] = "/tmp/ppu-pocl-XXXXXX", program[64], data[64], command[300];

    assert_non_null(mkdtemp(folder));
    write_file(folder, "test.cl", program, source, strlen(source));
    write_file(folder, "data", data, in, 4 * THREADS);
    snprintf(command, sizeof(command), "POCL_CACHE_DIR=%s/cache build/plain/tools/pocl_run %s %s %u %u", folder,
             program, data, uniform, RESULTS);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): names of our own making */
    FILE *file = fopen(data, "rb");
    assert_non_null(file);
    assert_int_equal(fread(out, 4, RESULTS * THREADS, file), RESULTS * THREADS);
    fclose(file);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder of our own making */
}

static void host_results(const char *text, const uint32_t *in, uint32_t *out, uint32_t uniform)
{
    char folder[] = "/tmp/ppu-random-XXXXXX", path[64], library[64], command[256];
    host_run run;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/host.c", folder);
    snprintf(library, sizeof(library), "%s/host.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s", host_prelude, text, host_end);
    fclose(file);
    snprintf(command, sizeof(command), "gcc -O1 -w -fwrapv -ffp-contract=off -shared -fPIC -o %s %s -lm", library,
             path);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a compiler, with names of our own making */
    void *handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    *(void **)(&run) = dlsym(handle, "run");
    assert_non_null(run);
    run(THREADS, in, out, uniform);
    dlclose(handle);
    unlink(path);
    unlink(library);
    rmdir(folder);
}

/* ---- both ---- */

/* Floats in the order of their size, as integers: neighbours differ by 1. */
static int64_t ordinal_of(uint32_t bits)
{
    return bits >> 31 ? -(int64_t)(bits & 0x7fffffff) : (int64_t)bits;
}

static bool is_fine(uint32_t got, uint32_t wanted, uint32_t ulp)
{
    int64_t distance = ordinal_of(got) - ordinal_of(wanted);

    if (got == 0x7fc00000 || wanted == 0x7fc00000) {
        return got == wanted;
    }
    return distance >= -(int64_t)ulp && distance <= (int64_t)ulp;
}

/* Fails when results are not the host's. */
static void compare_results(const struct writer *w, const char *whose, uint64_t seed, const uint32_t *got,
                            const uint32_t *expected)
{
    for (uint32_t i = 0; i < RESULTS * THREADS; i++) {
        uint32_t part = i % RESULTS;
        if (part == 0 ? got[i] != expected[i] : !is_fine(got[i], expected[i], w->fine[part - 1]->ulp)) {
            fail_msg("PPU_SEED=%llu, %s: thread %u has 0x%x as result %u, the host 0x%x\n%s", (unsigned long long)seed,
                     whose, i / RESULTS, got[i], part, expected[i], w->text);
        }
    }
}

static void check_variant(struct device *device, const char *source, const struct writer *w, uint64_t seed,
                          const uint32_t *in, const uint32_t *expected, uint32_t uniform)
{
    device_load(device, source, NULL);
    device_kernel(device, "test");
    memcpy(device_buffer(device, 0, 4 * THREADS), in, 4 * THREADS);
    uint32_t *out = device_buffer(device, 1, 4 * RESULTS * THREADS);
    device_value(device, 2, &uniform, sizeof(uniform));
    uint32_t out_at = (uint32_t)((uint8_t *)out - (uint8_t *)rig_data(device->rig, 0));
    /* The reference executor waits with scalar operations for the whole warp; copies for its parts do not. */
    bool copies = device->variant->subvector.form == PPU_SEGMENTS_DUPLICATE;
    uint8_t *reference = copies ? NULL : device_reference(device, 2, 1, THREADS / 2, 1);
    device_run(device, 2, 1, THREADS / 2, 1);
    bool same = copies || memcmp(reference + out_at, out, 4 * RESULTS * THREADS) == 0;
    free(reference);
    if (!same) {
        fail_msg("PPU_SEED=%llu, %s: the reference executor differs\n%s", (unsigned long long)seed,
                 device->variant->name, w->text);
    }
    compare_results(w, device->variant->name, seed, out, expected);
}

static void check_program(struct device *device, uint64_t seed)
{
    struct writer w = { .text = malloc(MAX_TEXT), .random = seed * 0x9e3779b97f4a7c15ull + 1 };
    uint32_t in[THREADS], expected[RESULTS * THREADS], pocl[RESULTS * THREADS], uniform = (uint32_t)seed * 7 % 23;

    assert_non_null(w.text);
    put_program(&w);
    for (uint32_t i = 0; i < THREADS; i++) {
        in[i] = (uint32_t)random_next(&w.random);
    }
    host_results(w.text, in, expected, uniform);
    char *source = malloc(sizeof(device_prelude) + w.len + 1);
    assert_non_null(source);
    snprintf(source, sizeof(device_prelude) + w.len + 1, "%s%s", device_prelude, w.text);
    pocl_results(source, in, pocl, uniform);
    compare_results(&w, "pocl", seed, pocl, expected);
    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        check_variant(device, source, &w, seed, in, expected, uniform);
    }
    free(source);
    free(w.text);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void random_programs(void **state)
{
    uint64_t seed = number_of("PPU_SEED", 1), count = number_of("PPU_RANDOM_PROGRAMS", PROGRAMS);

    for (uint64_t i = 0; i < count; i++) {
        check_program(*state, seed + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "random kernels, built-in functions too, compute what the host computes [E3][E11]", random_programs,
          device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: random kernels", tests, NULL, NULL);
}
