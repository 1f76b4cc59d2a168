/* SPDX-License-Identifier: MIT */
/*
 * Tests built-in functions against the host's, computed in long double, by differences in units of the last place.
 * PPU_ULP=FILE writes the table of the largest differences, with what every_float.c found.
 */
#include "ppu/macros.h"
#include "tests/compiler/builtins.h"
#include "tests/compiler/device.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1024u
#define VECTOR_COUNT 240u /* in vectors of any width */
#define EVERY_FLOAT "tests/compiler/every_float.txt"

/* ---- arguments ---- */

static const double corners[] = { 0.0,     -0.0,     1.0,   -1.0,   0.5,  -0.5,     2.0,       3.0,  10.0,
                                  FLT_MIN, -FLT_MIN, 1e-40, -1e-40, M_PI, M_PI / 2, -M_PI / 4, 88.7, -87.3,
                                  1e5,     3.5,      1e30,  -1e30,  7.0,  INFINITY, -INFINITY, NAN };
#define CORNERS PPU_ARRAY_SIZE(corners)

static uint64_t mixed(uint64_t n)
{
    n = (n + 1) * 0x9e3779b97f4a7c15ull;
    return n ^ n >> 29;
}

/* Corner values, all pairs of them for two arguments; then numbers of many sizes, and where most functions do
 * something. */
static double argument(uint32_t i, uint32_t which, bool wide)
{
    uint64_t bits = mixed(i * BUILTIN_ARGUMENTS + which);
    float narrow;
    double value;

    if (i < CORNERS * CORNERS) {
        return corners[which == 0 ? i % CORNERS : (i / CORNERS + (which - 1) * 5) % CORNERS];
    }
    if (i % 2 == 0) {
        return ldexp((double)(int32_t)bits, -27);
    }
    if (wide) {
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    memcpy(&narrow, &bits, sizeof(narrow));
    return (double)narrow;
}

/* The argument as the function gets it. */
static double given(const struct builtin *f, uint32_t i, uint32_t which, bool wide)
{
    double value = argument(i, which, wide);

    if (f->integer && which == 1) {
        return isnan(value) ? 2 : trunc(fmax(fmin(value, 200), -200));
    }
    if (f->positive && which == 0) {
        value = fabs(value);
    }
    return wide ? value : (double)(float)value;
}

/* ---- kernels ---- */

#define KERNEL_BYTES 500u
#define BATCH 12u /* functions of vectors in one program: code has its limit */

/* A kernel of a function of one number (width 1) or of vectors. */
static size_t put_kernel(char *text, const struct builtin *f, bool wide, uint32_t width)
{
    const char *type = wide ? "double" : "float";
    char arguments[200] = "";
    size_t at = 0;

    for (uint32_t a = 0; a < builtin_arguments(f); a++) {
        char number[32], vector[32];
        sprintf(number, "%c[i]", 'x' + (char)a);
        sprintf(vector, "vload%u(i, %c)", width, 'x' + (char)a);
        at += (size_t)sprintf(arguments + at, "%s%s", a != 0 ? ", " : "", f->integer && a == 1 ? "convert_int" : "");
        at += width == 1 || !(f->integer && a == 1) ? 0 : (size_t)sprintf(arguments + at, "%u", width);
        at += (size_t)sprintf(arguments + at, "(%s)", width == 1 ? number : vector);
    }
    at = (size_t)sprintf(text,
                         "__kernel void %s_%s(__global %s *o, __global const %s *x, __global const %s *y, "
                         "__global const %s *z) { size_t i = get_global_id(0); ",
                         wide ? "d" : "f", f->name, type, type, type, type);
    return at + (size_t)(width == 1
                             ? sprintf(text + at, "o[i] = %s%s(%s); }\n", f->via ? "of_" : "", f->name, arguments)
                             : sprintf(text + at, "vstore%u(%s(%s), i, o); }\n", width, f->name, arguments));
}

static void load_kernels(struct device *device, bool wide)
{
    char *helpers = device_read("../builtins.cl"), *source = malloc(strlen(helpers) + builtin_count * KERNEL_BYTES);
    size_t at = 0;

    assert_non_null(source);
    at += (size_t)sprintf(source, "#define T %s\n%s", wide ? "double" : "float", helpers);
    for (uint32_t f = 0; f < builtin_count; f++) {
        at += builtins[f].narrow && wide ? 0 : put_kernel(source + at, &builtins[f], wide, 1);
    }
    free(helpers);
    device_load(device, source, "-cl-std=CL1.2");
    free(source);
}

struct buffers {
    uint8_t *out;
    uint8_t *in[BUILTIN_ARGUMENTS];
};

static struct buffers new_launch(struct device *device, const struct builtin *f, bool wide, uint32_t count)
{
    struct buffers b;
    char kernel[64];

    snprintf(kernel, sizeof(kernel), "%s_%s", wide ? "d" : "f", f->name);
    device_kernel(device, kernel);
    b.out = device_buffer(device, 0, count * (wide ? 8 : 4));
    for (uint32_t a = 0; a < BUILTIN_ARGUMENTS; a++) {
        b.in[a] = device_buffer(device, 1 + a, a < builtin_arguments(f) ? count * (wide ? 8 : 4) : 4);
    }
    return b;
}

static void put_number(uint8_t *at, uint32_t i, bool wide, double value)
{
    float narrow = (float)value;

    if (wide) {
        memcpy(at + 8 * (size_t)i, &value, 8);
    } else {
        memcpy(at + 4 * (size_t)i, &narrow, 4);
    }
}

static double get_number(const uint8_t *at, uint32_t i, bool wide)
{
    double value;
    float narrow;

    if (wide) {
        memcpy(&value, at + 8 * (size_t)i, 8);
        return value;
    }
    memcpy(&narrow, at + 4 * (size_t)i, 4);
    return (double)narrow;
}

static void put_arguments(const struct buffers *b, const struct builtin *f, bool wide)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t a = 0; a < builtin_arguments(f); a++) {
            put_number(b->in[a], i, wide, given(f, i, a, wide));
        }
    }
}

/* Results for each number, in float and double: what elements of vectors are compared with. */
static double (*kept[2])[COUNT];

/* The largest difference, and the arguments that give it. */
static double measure(struct device *device, uint32_t which, bool wide, double worst_at[BUILTIN_ARGUMENTS])
{
    const struct builtin *f = &builtins[which];
    struct buffers b = new_launch(device, f, wide, COUNT);
    double worst = 0;

    put_arguments(&b, f, wide);
    device_run_threads(device, COUNT, 64);
    for (uint32_t i = 0; i < COUNT; i++) {
        double x[BUILTIN_ARGUMENTS] = { given(f, i, 0, wide), given(f, i, 1, wide), given(f, i, 2, wide) };
        kept[wide][which][i] = get_number(b.out, i, wide);
        double error = builtin_error(f, x, kept[wide][which][i], wide);
        if (error > worst) {
            worst = error;
            memcpy(worst_at, x, sizeof(x));
        }
    }
    return worst;
}

static double (*results)[2]; /* of each function, in float and double */

static uint32_t check(struct device *device, uint32_t f, bool wide)
{
    double limit = (double)(wide ? builtins[f].wide_ulp : builtins[f].ulp), at[BUILTIN_ARGUMENTS] = { 0 };
    double worst = measure(device, f, wide, at);

    results[f][wide] = worst;
    if (worst > limit + 0.5) {
        print_message("# %s of %s: %.2f ulp at %a, %a, %a; limit %g\n", builtins[f].name, wide ? "double" : "float",
                      worst, at[0], at[1], at[2], limit);
    }
    return worst > limit + 0.5;
}

static void precise(struct device *device, bool wide)
{
    uint32_t misses = 0;

    load_kernels(device, wide);
    for (uint32_t f = 0; f < builtin_count; f++) {
        misses += builtins[f].narrow && wide ? 0 : check(device, f, wide);
    }
    assert_int_equal(misses, 0);
}

static void floats(void **state)
{
    precise(*state, false);
}

static void doubles(void **state)
{
    precise(*state, true);
}

/* ---- vectors ---- */

static bool has_vectors(const struct builtin *f, bool wide)
{
    return !f->via && !(f->narrow && wide);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? 1 : bits;
}

/* Whether each element is what the function gives for it alone. */
static bool elements_agree(struct device *device, uint32_t which, bool wide, uint32_t width)
{
    const struct builtin *f = &builtins[which];
    struct buffers b = new_launch(device, f, wide, COUNT);

    put_arguments(&b, f, wide);
    device_run(device, 1, 1, VECTOR_COUNT / width, 1);
    for (uint32_t i = 0; i < VECTOR_COUNT; i++) {
        double got = get_number(b.out, i, wide);
        if (bits_of(got) != bits_of(kept[wide][which][i])) {
            print_message("# %s of %s%u: element %u is %a, alone %a\n", f->name, wide ? "double" : "float", width, i,
                          got, kept[wide][which][i]);
            return false;
        }
    }
    return true;
}

/* Some functions from `first` on, in one program; the number of the next is returned. */
static uint32_t check_batch(struct device *device, uint32_t first, bool wide, uint32_t width, uint32_t *misses)
{
    char *source = calloc(BATCH, KERNEL_BYTES);
    uint32_t count = 0, end = first;
    size_t at = 0;

    assert_non_null(source);
    for (; end < builtin_count && count < BATCH; end++) {
        if (has_vectors(&builtins[end], wide)) {
            at += put_kernel(source + at, &builtins[end], wide, width);
            count++;
        }
    }
    if (count != 0) {
        device_load(device, source, "-cl-std=CL1.2");
    }
    for (uint32_t f = first; f < end; f++) {
        *misses += has_vectors(&builtins[f], wide) && !elements_agree(device, f, wide, width);
    }
    free(source);
    return end;
}

/* PPU_LONG: all widths in both types, which takes a minute. */
static void vectors(void **state)
{
    static const struct {
        uint32_t width;
        bool wide;
        bool always;
    } forms[] = { { 3, false, true },  { 16, false, true }, { 3, true, true },  { 2, false, false },
                  { 4, false, false }, { 8, false, false }, { 2, true, false }, { 4, true, false },
                  { 8, true, false },  { 16, true, false } };
    uint32_t misses = 0;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(forms); i++) {
        bool taken = forms[i].always || getenv("PPU_LONG");
        for (uint32_t f = 0; taken && f < builtin_count;) {
            f = check_batch(*state, f, forms[i].wide, forms[i].width, &misses);
        }
    }
    assert_int_equal(misses, 0);
}

/* ---- the table ---- */

static void put_cell(FILE *file, double worst, float limit)
{
    if (isinf((double)limit)) {
        fprintf(file, " %.2f | - |", worst);
    } else {
        fprintf(file, " %.2f | %g |", worst, (double)limit);
    }
}

/* What every_float.c found for a function; nothing when it did not run it. */
static void put_every_float(FILE *file, const char *name)
{
    FILE *found = fopen(EVERY_FLOAT, "r");
    char line[128], of[64], worst[64], cell[64] = "";

    while (found && fgets(line, sizeof(line), found)) {
        if (sscanf(line, "%63s %63s", of, worst) == 2 && strcmp(of, name) == 0) {
            snprintf(cell, sizeof(cell), "%s", worst);
        }
    }
    fprintf(file, " %s |", cell);
    if (found) {
        fclose(found);
    }
}

static void write_table(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file) {
        fail_msg("%s cannot be written", path);
        return;
    }
    fprintf(file,
            "<!-- SPDX-License-Identifier: MIT -->\n"
            "# Precision of built-in functions\n\n"
            "The table has the largest difference from the exact result in units of the last place, over %u\n"
            "sets of arguments. All pairs of corner values come first (zeros, ones, subnormals, multiples of pi,\n"
            "bounds of the exponent, infinities, NaN), then numbers of every size. Beside it is the\n"
            "specification's limit, or - where it has none. 0.00 is the exact result, rounded. Functions of\n"
            "vectors (`acos` ...) give those of their elements; those of `native_*` and `half_*` are these.\n"
            "\n"
            "Functions of one float are also run over all 4,294,967,296 of them (`make ulp`, which takes hours\n"
            "and skips functions that have a number). Their numbers stand in the column *every float*.\n"
            "\n"
            "| function | arguments | every float | float | limit | double | limit |\n|---|---|---|---|---|---|---|\n",
            COUNT);
    for (uint32_t f = 0; f < builtin_count; f++) {
        if (builtins[f].via || builtins[f].narrow) {
            continue;
        }
        fprintf(file, "| `%s` | %u |", builtins[f].name, builtin_arguments(&builtins[f]));
        put_every_float(file, builtins[f].name);
        put_cell(file, results[f][0], builtins[f].ulp);
        put_cell(file, results[f][1], builtins[f].wide_ulp);
        fputc('\n', file);
    }
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "functions of float are as precise as OpenCL asks", floats, device_setup, device_teardown, NULL },
        { "functions of double are as precise as OpenCL asks", doubles, device_setup, device_teardown, NULL },
        { "functions of vectors are those of their elements", vectors, device_setup, device_teardown, NULL },
    };

    results = calloc(builtin_count, sizeof(*results));
    kept[0] = calloc(builtin_count, sizeof(*kept[0]));
    kept[1] = calloc(builtin_count, sizeof(*kept[1]));
    if (!results || !kept[0] || !kept[1]) {
        return EXIT_FAILURE;
    }
    int failed = cmocka_run_group_tests_name("compiler: built-in functions", tests, NULL, NULL);

    if (getenv("PPU_ULP")) {
        write_table(getenv("PPU_ULP"));
    }
    free(results);
    free(kept[0]);
    free(kept[1]);
    return failed;
}
