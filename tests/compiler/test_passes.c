/* SPDX-License-Identifier: MIT */
/*
 * What each pass makes of a small kernel: tests/compiler/passes/<name>.cl says in its first comment which pass is
 * looked at, and in its last one what that prints, word for word. PPU_UPDATE=1 writes that anew, to be read and judged.
 */
#include "tests/compiler/device.h"

#include "tools/asm/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED "\n/* prints\n"

/* The name after "pass: " in the first comment. */
static const char *dump_of(const char *text)
{
    static char name[32];
    const char *at = strstr(text, "pass: ");

    if (at == NULL || sscanf(at + 6, "%31[a-z-]", name) != 1) {
        fail_msg("no pass is named");
    }
    return name;
}

static uint32_t registers_of(const char *text)
{
    const char *at = strstr(text, "registers: ");

    return at != NULL ? (uint32_t)strtoul(at + 11, NULL, 10) : 0;
}

/* Of LLVM's text the functions' bodies, without the numbers of its metadata. */
static char *only_bodies(char *text)
{
    char *out = calloc(1, strlen(text) + 1), *to = out;
    bool inside = false;

    assert_non_null(out);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *end = strstr(line, ", !");
        inside |= strncmp(line, "define ", 7) == 0;
        if (end != NULL) {
            *end = 0;
        }
        if (inside && strncmp(line, "define ", 7) != 0) {
            to += sprintf(to, "%s\n", line);
        }
        inside &= line[0] != '}';
    }
    return out;
}

/* What the pass prints for the program, malloc()ed. */
static char *printed(const char *text, const char *dump)
{
    char *dumped = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&dumped, &len);
    const struct ppu_compile_options options = { .dump = dump, .dump_file = file, .max_vregs = registers_of(text) };
    struct ppu_compiled image;

    assert_non_null(file);
    enum ppu_compile_status status = ppu_compile(text, strlen(text), &options, &image);
    fclose(file);
    if (status != PPU_COMPILE_OK) {
        fail_msg("%s", image.log);
    }
    ppu_compiled_free(&image);
    if (strcmp(dump, "ir") == 0) {
        char *bodies = only_bodies(dumped);
        free(dumped);
        return bodies;
    }
    return dumped;
}

static void update(const char *path, const char *text, const char *expected, const char *got)
{
    FILE *file = fopen(path, "w");
    int len = expected != NULL ? (int)(expected - text) : (int)strlen(text) - 1;

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
    if (text == NULL) {
        fail_msg("cannot read %s", path);
        return;
    }
    char *got = printed(text, dump_of(text)), *expected = strstr(text, EXPECTED);
    if (getenv("PPU_UPDATE") != NULL) {
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

#define TEST(file, what)                                   \
    {                                                      \
        what, check, NULL, NULL, (void *)(uintptr_t)(file) \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("flow", "flow: loops, tokens, convergent blocks [E3][E11]"),
        TEST("select", "selection: scalar and vector registers [A7]"),
        TEST("combine", "combination: products with sums, joined parameters [A7]"),
        TEST("lane", "selection: offsets of lanes [A7]"),
        TEST("guard", "guarding: short sides [A7]"),
        TEST("schedule", "scheduling: loads [A7]"),
        TEST("assign", "assignment: spills [A7]"),
        TEST("remake", "assignment: values made again [A7]"),
        TEST("tidy", "tidying: common copies [A7]"),
        TEST("strength", "strength reduction: pointers [A7]"),
        TEST("offsets", "strength reduction: offsets of lanes [A7]"),
        TEST("branches", "selection: what branches tell of indexes [A7]"),
        TEST("yield", "yields: critical sections [E8]"),
    };

    return cmocka_run_group_tests_name("compiler: passes", tests, NULL, NULL);
}
