/* SPDX-License-Identifier: MIT */
/*
 * Tests what each pass makes of a small kernel: tests/compiler/passes/<name>.cl says in its first comment which pass
 * is looked at, and in its last one what that prints, word for word. PPU_UPDATE=1 writes that anew, to be read and
 * judged.
 */
#include "tests/compiler/device.h"

#include "ppu/macros.h"
#include "tools/asm/file.h"
#include "tools/ppucc/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED "\n/* prints\n"

/* The name after "pass: " in the first comment. */
static const char *dump_of(const char *text)
{
    static char name[32];
    const char *at = strstr(text, "pass: ");

    if (!at || sscanf(at + 6, "%31[a-z0-9-]", name) != 1) {
        fail_msg("no pass is named");
    }
    return name;
}

static uint32_t registers_of(const char *text)
{
    const char *at = strstr(text, "registers: ");

    return at ? (uint32_t)strtoul(at + 11, NULL, 10) : 0;
}

/* What the program says of its launches, as ppucc takes it; NULL: nothing. */
static const struct ppu_compile_facts *facts_of(const char *text, struct facts_text *facts)
{
    char line[100];
    const char *at = strstr(text, "facts: ");

    if (!at) {
        return NULL;
    }
    assert_int_equal(sscanf(at + 7, "%99[^\n]", line), 1);
    assert_true(facts_parse(line, facts));
    return &facts->facts;
}

/* Of LLVM's text the functions' bodies, without the numbers of its metadata. */
static char *only_bodies(char *text)
{
    char *out = calloc(1, strlen(text) + 1), *to = out;
    bool inside = false;

    assert_non_null(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *end = strstr(line, ", !");
        inside |= strncmp(line, "define ", 7) == 0;
        if (end) {
            *end = 0;
        }
        if (inside && strncmp(line, "define ", 7) != 0) {
            to += sprintf(to, "%s\n", line);
        }
        inside &= line[0] != '}';
    }
    return out;
}

/* What the pass options->dump prints for the program, malloc()ed. */
static char *printed(const char *text, struct ppu_compile_options *options)
{
    char *dumped = NULL;
    size_t len = 0;
    struct ppu_compiled image;

    options->dump_file = open_memstream(&dumped, &len);
    assert_non_null(options->dump_file);
    enum ppu_compile_status status = ppu_compile(text, strlen(text), options, &image);
    fclose(options->dump_file);
    if (status != PPU_COMPILE_OK) {
        fail_msg("%s", image.log);
    }
    ppu_compiled_free(&image);
    return dumped;
}

/* What the pass that the program names prints for it, malloc()ed. */
static char *printed_as_named(const char *text)
{
    struct facts_text facts;
    struct ppu_compile_options options = { .dump = dump_of(text),
                                           .max_vregs = registers_of(text),
                                           .facts = facts_of(text, &facts) };
    char *dumped = printed(text, &options);

    if (strcmp(options.dump, "ir") == 0) {
        char *bodies = only_bodies(dumped);
        free(dumped);
        return bodies;
    }
    return dumped;
}

static void update(const char *path, const char *text, const char *expected, const char *got)
{
    FILE *file = fopen(path, "w");
    int len = expected ? (int)(expected - text) : (int)strlen(text) - 1;

    assert_non_null(file);
    fprintf(file, "%.*s%s%s*/\n", len, text, EXPECTED, got);
    fclose(file);
}

static void check(void **state)
{
    const char *name = *state;
    char path[100];
    size_t len;

    snprintf(path, sizeof(path), "tests/compiler/passes/%s.cl", name);
    char *text = file_read(path, &len);
    if (!text) {
        fail_msg("cannot read %s", path);
        return;
    }
    char *got = printed_as_named(text), *expected = strstr(text, EXPECTED);
    if (getenv("PPU_UPDATE")) {
        update(path, text, expected, got);
    } else {
        assert_non_null(expected);
        expected += strlen(EXPECTED);
        size_t got_len = strlen(got);
        if (strncmp(expected, got, got_len) != 0 || strcmp(expected + got_len, "*/\n") != 0) {
            fail_msg("%s: the pass prints\n%s", path, got);
        }
    }
    free(got);
    free(text);
}

/* ---- the lists ---- */

static const struct row {
    const char *name;
    const char *needs; /* names separated by commas */
} rows[] = {
#define IR_PASS(name, condition, kind, what, does, needs) { #name, needs },
#include "compiler/irpass/ir_pass.def"
#undef IR_PASS
#define MIR_PASS(name, condition, what, does, needs) { #name, needs },
#include "compiler/mir/mir_pass.def"
#undef MIR_PASS
};

/* How many of the first `count` passes have the name. */
static uint32_t passes_named(const char *name, size_t len, size_t count)
{
    uint32_t named = 0;

    for (size_t i = 0; i < count; i++) {
        named += strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0;
    }
    return named;
}

static void needs_stand_above(void **state)
{
    const size_t count = PPU_ARRAY_SIZE(rows);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(passes_named(rows[i].name, strlen(rows[i].name), count), 1);
        for (const char *at = rows[i].needs; *at != 0; at += strspn(at, ", ")) {
            size_t len = strcspn(at, ",");
            if (passes_named(at, len, i) != 1) {
                fail_msg("%s needs %.*s, which does not stand above it", rows[i].name, (int)len, at);
            }
            at += len;
        }
    }
}

/* The next function of the sanitizers' libraries that the text defines; NULL: there is none. `line` begins with it. */
static const char *next_check(const char *text, char *line, size_t room)
{
    static const char begin[] = "\ndefine internal ";

    for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin)) {
        snprintf(line, room, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        if (strstr(line, "@__ppu_sanitizer_")) {
            return at + 1;
        }
    }
    return NULL;
}

static const char small_kernel[] =
    "kernel void k(global int *a, local int *b) { b[0] = a[get_global_id(0)]; barrier(1); a[0] = b[0]; }";

static char *printed_checked(const char *source, const char *dump)
{
    struct ppu_compile_options options = { .sanitize = PPU_SANITIZE_RACE | PPU_SANITIZE_UNINIT, .dump = dump };

    return printed(source, &options);
}

static void only_called_checks_stay(void **state)
{
    char *text = printed_checked(small_kernel, "drop-checks"), line[1000];
    uint32_t functions = 0;

    (void)state;
    for (const char *at = text; (at = next_check(at, line, sizeof(line))); functions++) {
        char *name = strchr(line, '@');
        strchr(name, '(')[1] = 0;
        if (!strstr(strstr(text, name) + 1, name)) {
            fail_msg("%s is not called", name);
        }
    }
    assert_in_range(functions, 1, 20);
    free(text);
}

static void checks_are_not_optimised_again(void **state)
{
    static const char *const with[] = { "skip-checks", "llvm-default" };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(with); i++) {
        char *text = printed_checked(small_kernel, with[i]);
        assert_non_null(strstr(text, " optnone "));
        free(text);
    }
    char *text = printed_checked(small_kernel, "include-checks");
    assert_null(strstr(text, "optnone"));
    free(text);
}

/* Sums of as many words of an array, malloc()ed. */
static char *large_kernel(uint32_t words)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);

    assert_non_null(file);
    fprintf(file, "kernel void k(global int *a) { int s = 0; for (int i = 0; i < a[0]; i++) {");
    for (uint32_t i = 0; i < words; i++) {
        fprintf(file, "s += a[i * %u];", i + 2);
    }
    fprintf(file, "} a[1] = s; }");
    fclose(file);
    return text;
}

static void assert_runs(const char *source, const char *pass, bool runs, bool checked)
{
    struct ppu_compile_options options = { .dump = pass };
    char *text = checked ? printed_checked(source, pass) : printed(source, &options);

    assert_int_equal(*text != 0, runs);
    free(text);
}

static void large_kernels_get_fewer_passes(void **state)
{
    static const char *const pipelines[] = { "llvm-default", "llvm-large", "llvm-brief" };
    static const struct {
        uint32_t words;
        bool checked;
        const char *runs;
    } cases[] = {
        { 1, false, "llvm-default" }, { 400, false, "llvm-default" }, { 3000, false, "llvm-large" },
        { 1, true, "llvm-default" },  { 400, true, "llvm-brief" },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char *kernel = large_kernel(cases[i].words);
        for (size_t n = 0; n < PPU_ARRAY_SIZE(pipelines); n++) {
            assert_runs(kernel, pipelines[n], strcmp(pipelines[n], cases[i].runs) == 0, cases[i].checked);
        }
        free(kernel);
    }
}

/* The register allocator took a register without uses for one that can be rematerialized at each of them. */
static void registers_without_uses(void **state)
{
    struct ppu_compile_options options = { .options = "-cl-opt-disable", .max_vregs = 12, .max_sregs = 10 };
    struct ppu_compiled image;
    size_t len;
    char *text = file_read("tests/compiler/kernels/unread.cl", &len);

    (void)state;
    assert_non_null(text);
    if (ppu_compile(text, len, &options, &image) != PPU_COMPILE_OK) {
        fail_msg("%s", image.log);
    }
    ppu_compiled_free(&image);
    free(text);
}

#define TEST(file, what)                                   \
    {                                                      \
        what, check, NULL, NULL, (void *)(uintptr_t)(file) \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "each pass stands below those that it needs", needs_stand_above, NULL, NULL, NULL },
        { "functions of checks that nothing calls are dropped", only_called_checks_stay, NULL, NULL, NULL },
        { "functions of checks are not optimised again", checks_are_not_optimised_again, NULL, NULL, NULL },
        { "large kernels get fewer passes", large_kernels_get_fewer_passes, NULL, NULL, NULL },
        { "registers that nobody reads are spilled", registers_without_uses, NULL, NULL, NULL },
        TEST("flow", "flow: loops, tokens, convergent blocks [E3][E11]"),
        TEST("isel", "isel: scalar and vector registers"),
        TEST("lane_offsets", "isel: offsets of lanes"),
        TEST("shared_offsets", "isel: offsets into shared memory"),
        TEST("bounds", "isel: what branches tell of indexes"),
        TEST("peephole", "peephole: products with sums, dead code"),
        TEST("param_loads", "param-loads: neighbouring parameters"),
        TEST("if_convert", "if-convert: short sides"),
        TEST("if_convert_ways", "if-convert: ways that part twice"),
        TEST("if_convert_barrier", "if-convert: longer sides between barriers"),
        TEST("if_convert_exit", "if-convert: threads that end before others"),
        TEST("duplicate_ends", "duplicate-ends: the short way of several"),
        TEST("schedule", "schedule: loads"),
        TEST("spill", "regalloc: spills"),
        TEST("rematerialize", "regalloc: rematerialization"),
        TEST("hoist", "hoist: common copies"),
        TEST("distribute_products", "distribute-products: turns at constant distances"),
        TEST("id_ranges", "id-ranges: a loop over the items of a work-group"),
        TEST("hoist_launch", "hoist-launch: a loop whose step is the size of the grid"),
        TEST("hoist_uniform", "hoist-uniform: addresses of the whole warp"),
        TEST("strength_reduce", "strength-reduce: pointers"),
        TEST("loop_offsets", "strength-reduce: offsets of lanes"),
        TEST("yield", "yield-wait-loops: critical sections [E8]"),
        TEST("yield_barrier", "yield-unbounded-loops: turns with a barrier [E8]"),
    };

    return cmocka_run_group_tests_name("compiler: passes", tests, NULL, NULL);
}
