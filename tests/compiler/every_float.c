/* SPDX-License-Identifier: MIT */
/*
 * Puts every float through each built-in function of one argument.
 *
 *   every-float [--step N] [--results FILE] [NAME...]
 *
 * Prints a line for each function as it ends (TAP); the exit status tells whether one misses its limit. --step N takes
 * every N-th float only; it should be odd. --results FILE keeps what was found over all floats: functions that have a
 * line there are left out, unless they are named, so that a run that was ended goes on where it was.
 *
 * Each result is compared with one that is computed quickly, in double (quick.h); where the difference is the largest
 * so far, or no number, and for one float of every SAMPLE-th piece, both are measured as test_builtins.c does it, in
 * long double.
 */
#include "tests/compiler/builtins.h"
#include "tests/compiler/device.h"
#include "tests/compiler/quick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH 262144u /* floats */
#define GROUP 1024u
#define PIECE 1024u /* floats that are compared at once */
#define SAMPLE 5u   /* pieces; with a prime number of them all places in one come in turn */
#define QUICK_MARGIN 0.001
#define FLOATS (1ull << 32)
#define WAVE 128u
#define RESULTS_BYTES 65536u

#ifdef __x86_64__
#define EACH_LEVEL __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define EACH_LEVEL
#endif

/* What is known of a function. */
struct found {
    double worst; /* units of the last place */
    float at;
};

/* ---- differences in double ---- */

#define LEAST_EXPONENT ((int64_t)(1023 - 126) << 52) /* of a normal float, in the bits of a double */
#define SCALE_OF_ONE ((uint64_t)(2 * 1023 + 23) << 52)

/* Differences in a float's last place, too large by half where a result rounds up to a power of two. */
EACH_LEVEL static void quick_errors(const float *restrict got, const double *restrict wanted, double *restrict error,
                                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double value = (double)got[i], exact = wanted[i];
        int64_t exponent = (int64_t)(bits_of(exact) & 0x7ffull << 52);
        double ulps = fabs(value - exact) *
                      of_bits(SCALE_OF_ONE - (uint64_t)(exponent > LEAST_EXPONENT ? exponent : LEAST_EXPONENT));
        error[i] = value == (double)(float)exact || (value != value && exact != exact) ? 0 : ulps;
    }
}

EACH_LEVEL static bool any_above(const double *error, double limit, uint32_t count)
{
    uint64_t above = 0;

    for (uint32_t i = 0; i < count; i++) {
        above |= (uint64_t) !(error[i] <= limit);
    }
    return above != 0;
}

/* ---- a function ---- */

struct run {
    struct device *device;
    const struct builtin *f;
    quick_model quick; /* NULL: every result is measured in long double */
    uint64_t step;
    struct found found;
};

static float float_of(uint64_t n)
{
    uint32_t bits = (uint32_t)n;
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static double measure(struct run *run, float x, float got)
{
    double error = builtin_error(run->f, (double[BUILTIN_ARGUMENTS]){ (double)x }, (double)got, false);

    if (error > run->found.worst) {
        run->found = (struct found){ error, x };
    }
    return error;
}

/* The quick model may not hide what the other would find. */
static void check_quick(struct run *run, float x, float got, double quick)
{
    double error = measure(run, x, got);

    if (error > quick + QUICK_MARGIN) {
        fail_msg("%s: the quick model finds %g ulp at %a, not %g", run->f->name, quick, (double)x, error);
    }
}

/* Results of PIECE floats from number `first` on. */
static void compare_piece(struct run *run, uint64_t first, const float *got)
{
    double x[PIECE], wanted[PIECE], error[PIECE];
    uint64_t sample = first / PIECE % PIECE;

    for (uint32_t i = 0; i < PIECE; i++) {
        x[i] = (double)float_of((first + i) * run->step);
    }
    run->quick(x, wanted, PIECE);
    quick_errors(got, wanted, error, PIECE);
    if (first / PIECE % SAMPLE == 0) {
        check_quick(run, (float)x[sample], got[sample], error[sample]);
    }
    if (any_above(error, run->found.worst, PIECE)) {
        for (uint32_t i = 0; i < PIECE; i++) {
            if (!(error[i] <= run->found.worst)) {
                measure(run, (float)x[i], got[i]);
            }
        }
    }
}

static void compare_each(struct run *run, uint64_t first, const float *got)
{
    for (uint32_t i = 0; i < PIECE; i++) {
        measure(run, float_of((first + i) * run->step), got[i]);
    }
}

/* The floats with numbers first, first + step ... of one launch. */
static void run_launch(struct run *run, uint64_t first)
{
    struct device *device = run->device;

    device_kernel(device, "all");
    const float *got = device_buffer(device, 0, LAUNCH * sizeof(float));
    device_int(device, 1, (int32_t)(uint32_t)(first * run->step));
    device_int(device, 2, (int32_t)(uint32_t)run->step);
    device_run_threads(device, LAUNCH, GROUP);
    for (uint32_t i = 0; i < LAUNCH; i += PIECE) {
        (run->quick ? compare_piece : compare_each)(run, first + i, got + i);
    }
}

static void load_kernel(struct device *device, const struct builtin *f)
{
    char *helpers = device_read("../builtins.cl"), *source = malloc(strlen(helpers) + 400);

    assert_non_null(source);
    sprintf(source,
            "#define T float\n%s\n"
            "kernel void all(global float *o, uint first, uint step) { uint i = get_global_id(0); "
            "o[i] = %s%s(as_float(first + i * step)); }\n",
            helpers, f->via ? "of_" : "", f->name);
    device_load(device, source, "-cl-std=CL1.2");
    free(source);
    free(helpers);
}

static struct found run_function(struct device *device, const struct builtin *f, uint64_t step)
{
    struct run run = { .device = device, .f = f, .quick = quick_find(f->name), .step = step };
    uint64_t count = FLOATS / step;

    load_kernel(device, f);
    for (uint64_t first = 0; first < count; first += LAUNCH) {
        run_launch(&run, first);
    }
    return run.found;
}

/* ---- what was found before ---- */

static char *read_results(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    char *text = calloc(1, RESULTS_BYTES);

    assert_non_null(text);
    if (file) {
        text[fread(text, 1, RESULTS_BYTES - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

/* The line of a function, its end in *end; NULL: there is none. */
static char *find_line(char *text, const char *name, char **end)
{
    for (char *line = text; *line != '\0'; line = *end) {
        size_t len = strcspn(line, "\n");
        *end = line + len + (line[len] == '\n');
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ') {
            return line;
        }
    }
    return NULL;
}

static bool is_known(const char *path, const char *name)
{
    char *text = read_results(path), *end;
    bool known = find_line(text, name, &end);

    free(text);
    return known;
}

/* In place of the line that was there, or behind the last. */
static void keep_result(const char *path, const char *name, struct found found)
{
    char *text = read_results(path), *end, *line = find_line(text, name, &end);
    FILE *file = fopen(path, "w");

    if (!file) {
        fail_msg("%s cannot be written", path);
        return;
    }
    if (text[0] == '\0') {
        fprintf(
            file,
            "# SPDX-License-Identifier: MIT\n# function, largest difference over all floats in ulp, where: make ulp\n");
    }
    fprintf(file, "%.*s", (int)(line ? line - text : (ptrdiff_t)strlen(text)), text);
    fprintf(file, "%s %.2f %a\n", name, found.worst, (double)found.at);
    fprintf(file, "%s", line ? end : "");
    fclose(file);
    free(text);
}

/* ---- all of them ---- */

struct options {
    uint64_t step;
    const char *results;
    char **names; /* none: all functions */
    int name_count;
};

/* Native and half functions are those without the word: over all floats only when they are named. */
static bool is_wanted(const struct options *options, const struct builtin *f)
{
    if (options->name_count == 0) {
        return f->one && (options->step > 1 || !f->narrow) && !is_known(options->results, f->name);
    }
    for (int i = 0; i < options->name_count; i++) {
        if (strcmp(options->names[i], f->name) == 0) {
            return f->one;
        }
    }
    return false;
}

/* Whether all keep their limits. */
static bool run_wanted(struct device *device, const struct options *options)
{
    uint32_t done = 0, missed = 0;

    for (uint32_t i = 0; i < builtin_count; i++) {
        const struct builtin *f = &builtins[i];
        if (is_wanted(options, f)) {
            struct found found = run_function(device, f, options->step);
            bool good = found.worst <= (double)f->ulp + 0.5;
            printf("%sok %u - %s is within %.2f ulp, at %a\n", good ? "" : "not ", ++done, f->name, found.worst,
                   (double)found.at);
            fflush(stdout);
            missed += !good;
            if (options->results && options->step == 1) {
                keep_result(options->results, f->name, found);
            }
        }
    }
    printf("1..%u\n", done);
    return missed == 0;
}

int main(int argc, char **argv)
{
    struct options options = { .step = 1 };
    int at = 1;

    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--step") == 0) {
            options.step = strtoull(argv[at + 1], NULL, 0);
        } else if (strcmp(argv[at], "--results") == 0) {
            options.results = argv[at + 1];
        } else {
            break;
        }
    }
    if ((at < argc && argv[at][0] == '-') || options.step == 0) {
        fprintf(stderr, "every-float [--step N] [--results FILE] [NAME...]\n");
        return EXIT_FAILURE;
    }
    options.names = argv + at;
    options.name_count = argc - at;
    struct device *device = device_new();
    device->variant = &(struct device_variant){ .name = "every float", .options = "", .wave = WAVE };
    bool good = run_wanted(device, &options);
    device_free(device);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
