/* SPDX-License-Identifier: MIT */
/* Tests the process that compiles modules from elsewhere: it ends in every way there is, and the log says which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "opencl/build/compiler_dl.h"
#include "opencl/build/foreign.h"
#include "ppu/macros.h"

static char program[64]; /* what is started; a script */

bool foreign_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s", program) > 0;
}

static void write_script(const char *text)
{
    FILE *file = fopen(program, "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    chmod(program, 0700);
}

static int open_folder(void **state)
{
    static char folder[] = "/tmp/ppu-foreign-XXXXXX";

    strcpy(folder, "/tmp/ppu-foreign-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof(program), "%s/script", folder);
    *state = folder;
    return 0;
}

static int close_folder(void **state)
{
    remove(program);
    rmdir(*state);
    return 0;
}

static const struct {
    const char *script;
    enum ppu_compile_status status;
    const char *says;
} ends[] = {
    { "exit 0", PPU_COMPILE_BAD_SOURCE, "which ended without an answer, status 0" },
    { "exit 1", PPU_COMPILE_BAD_SOURCE, "which ended without an answer, status 1" },
    { "exit 3", PPU_COMPILE_NO_TOOL, "whose rights this system cannot take away" },
    { "kill -SEGV $$", PPU_COMPILE_BAD_SOURCE, "which ended by signal 11: Segmentation fault" },
    { "kill -ABRT $$", PPU_COMPILE_BAD_SOURCE, "which ended by signal 6: Aborted" },
    { "kill -XCPU $$", PPU_COMPILE_BAD_SOURCE, "which needed more than 60 s of a processor" },
    { "sleep 100", PPU_COMPILE_BAD_SOURCE, "which has not ended in 1 s" },
    { "echo this is no answer at all, whatever it may be", PPU_COMPILE_BAD_SOURCE, "without an answer, status 0" },
    { "head -c 70000000 /dev/zero", PPU_COMPILE_BAD_SOURCE, "without an answer, status 0" },
};

static const struct ppu_compile_options options = { .wave = 128 };

static enum ppu_compile_status compile(struct ppu_compiled *made)
{
    const struct ppu_compile_module modules[] = { { "ab", 2 }, { "cde", 3 } };

    return foreign_compile(FOREIGN_IMAGE, &options, modules, 2, made);
}

static void ends_are_told(void **state)
{
    uint32_t misses = 0;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(ends); i++) {
        struct ppu_compiled made;
        write_script(ends[i].script);
        enum ppu_compile_status status = compile(&made);
        if (status != ends[i].status || made.bytes || !made.log || !strstr(made.log, ends[i].says) ||
            strncmp(made.log, "error: ", 7) != 0) {
            print_error("%s: status %d: %s\n", ends[i].script, (int)status, made.log ? made.log : "no log");
            misses++;
        }
        compiler_free(&made);
    }
    assert_int_equal(misses, 0);
}

/* Facts reach the process as they were, and what is malformed is refused: every cut, every value of every byte. */
static void facts_are_passed(void **state)
{
    const struct ppu_compile_argument arguments[] = { { 1, 4, 0, 0, 0 }, { 0, 0, 1, 5, 40 } };
    const struct ppu_compile_pair pair = { 0, 1, PPU_RELATION_OVERLAP, 2, -3, 1, { 0, 0 }, { -8, 4 }, 24 };
    const struct ppu_compile_facts facts = { "kernel", arguments, 2, &pair, 1, { 64, 2, 1 }, 1 };
    const struct ppu_compile_options with = { .wave = 128, .max_vregs = 17, .facts = &facts };
    const struct ppu_compile_module bitcode = { "BC", 2 };
    static struct ppu_compile_module modules[FOREIGN_MOST_MODULES];
    static struct foreign_facts_room room;
    struct foreign_request request;
    struct ppu_compile_facts read = { .kernel = "" };
    struct ppu_compiled made;
    uint8_t bytes[512];
    char path[128], script[300];

    snprintf(path, sizeof(path), "%s/said", (char *)*state);
    snprintf(script, sizeof(script), "cat /proc/self/fd/0 >%s; kill -SEGV $$", path);
    write_script(script);
    assert_int_equal(foreign_compile_variant(&with, &bitcode, &made), PPU_COMPILE_BAD_SOURCE);
    assert_non_null(strstr(made.log, "which ended by signal 11"));
    compiler_free(&made);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t count = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    remove(path);
    assert_true(foreign_read_request(bytes, count, &request, modules));
    assert_int_equal(request.make, FOREIGN_VARIANT);
    assert_int_equal(request.max_vregs, 17);
    assert_memory_equal(modules[1].bitcode, "BC", 2);
    assert_true(foreign_read_facts(&modules[0], &room, &read));
    assert_string_equal(read.kernel, "kernel");
    assert_int_equal(read.argument_count, 2);
    assert_memory_equal(read.arguments, arguments, sizeof(arguments));
    assert_int_equal(read.pair_count, 1);
    assert_memory_equal(read.pairs, &pair, sizeof(pair));
    assert_memory_equal(read.work_group, facts.work_group, sizeof(facts.work_group));
    assert_int_equal(read.small_ids, 1);
    for (size_t at = 0; at < modules[0].len_bytes * 257; at++) {
        size_t left = at < modules[0].len_bytes ? at : modules[0].len_bytes;
        uint8_t *copy = malloc(left + 1);
        assert_non_null(copy);
        memcpy(copy, modules[0].bitcode, left);
        if (left == modules[0].len_bytes) {
            copy[(at - left) / 256] = (uint8_t)at;
        }
        const struct ppu_compile_module damaged = { copy, left };
        bool good = foreign_read_facts(&damaged, &room, &read);
        assert_true(!good || strlen(read.kernel) < left);
        assert_true(!good || left == modules[0].len_bytes);
        free(copy);
    }
}

static void it_may_be_missing(void **state)
{
    struct ppu_compiled made;

    (void)state;
    remove(program);
    assert_int_equal(compile(&made), PPU_COMPILE_NO_TOOL);
    assert_non_null(strstr(made.log, "which cannot be started: No such file or directory"));
    compiler_free(&made);
}

/* Neither more files nor variables than it needs. */
static void little_is_passed_on(void **state)
{
    struct ppu_compiled made;
    char path[128], text[2000] = "", script[300];

    snprintf(path, sizeof(path), "%s/said", (char *)*state);
    snprintf(script, sizeof(script), "(echo $SECRET; ls /proc/self/fd; cat /proc/self/environ) >%s", path);
    write_script(script);
    setenv("SECRET", "known", 1);
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    int open_file = dup(STDOUT_FILENO);
    assert_int_equal(compile(&made), PPU_COMPILE_BAD_SOURCE);
    compiler_free(&made);
    close(open_file);
    unsetenv("SECRET");
    unsetenv("LD_LIBRARY_PATH");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    remove(path);
    assert_null(strstr(text, "known"));
    assert_non_null(strstr(text, "LD_LIBRARY_PATH=/nowhere"));
    assert_null(strstr(text, "\n5\n")); /* 3: the folder that ls reads, 4: nothing */
}

static void too_much_is_refused(void **state)
{
    static const uint8_t byte = 0;
    struct ppu_compile_module *modules = calloc(FOREIGN_MOST_MODULES + 1, sizeof(*modules));
    struct ppu_compiled made;

    (void)state;
    assert_non_null(modules);
    write_script("exit 0");
    assert_int_equal(foreign_compile(FOREIGN_LIBRARY, &options, modules, FOREIGN_MOST_MODULES + 1, &made),
                     PPU_COMPILE_TOO_LARGE);
    assert_non_null(strstr(made.log, "at most 1024 modules"));
    compiler_free(&made);
    modules[0] = (struct ppu_compile_module){ &byte, FOREIGN_MOST_BYTES };
    assert_int_equal(foreign_compile(FOREIGN_LIBRARY, &options, modules, 1, &made), PPU_COMPILE_TOO_LARGE);
    compiler_free(&made);
    free(modules);
}

/* ---- what is passed ---- */

static size_t make_request(uint8_t *at)
{
    const struct foreign_request request = {
        .magic = FOREIGN_MAGIC, .version = FOREIGN_VERSION, .make = FOREIGN_IMAGE, .wave = 128, .modules = 2
    };
    static const uint8_t modules[] = { 'a', 'b', 'c', 'd', 'e' };
    const uint64_t sizes[] = { 2, 3 };

    memcpy(at, &request, sizeof(request));
    memcpy(at + sizeof(request), sizes, sizeof(sizes));
    memcpy(at + sizeof(request) + sizeof(sizes), modules, sizeof(modules));
    return sizeof(request) + sizeof(sizes) + sizeof(modules);
}

/* Every cut, and every value of every byte: modules lie within it, or it is refused. */
static void requests_are_checked(void **state)
{
    static struct ppu_compile_module modules[FOREIGN_MOST_MODULES];
    uint8_t right[128];
    size_t bytes = make_request(right);
    struct foreign_request request;

    (void)state;
    assert_true(foreign_read_request(right, bytes, &request, modules));
    assert_int_equal(request.modules, 2);
    assert_memory_equal(modules[1].bitcode, "cde", 3);
    for (size_t left = 0; left < bytes; left++) {
        uint8_t *copy = malloc(left + 1);
        assert_non_null(copy);
        memcpy(copy, right, left);
        assert_false(foreign_read_request(copy, left, &request, modules));
        free(copy);
    }
    for (size_t at = 0; at < bytes * 256; at++) {
        uint8_t *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, right, bytes);
        copy[at / 256] = (uint8_t)at;
        if (foreign_read_request(copy, bytes, &request, modules)) {
            for (uint32_t i = 0; i < request.modules; i++) {
                const uint8_t *module = modules[i].bitcode;
                assert_true(module >= copy && module + modules[i].len_bytes <= copy + bytes);
            }
        }
        free(copy);
    }
}

static void answers_are_checked(void **state)
{
    static const struct {
        struct foreign_answer answer;
        bool right;
    } answers[] = {
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 3, 2 }, true },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_BAD_SOURCE, 0, 0, 5 }, true },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_BAD_SOURCE, 0, 3, 2 }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 0, 5 }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_NO_MEMORY + 1, 0, 0, 5 }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 6, UINT64_MAX }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 3, 1 }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 3, 3 }, false },
        { { FOREIGN_MAGIC, FOREIGN_VERSION + 1, PPU_COMPILE_OK, 0, 3, 2 }, false },
        { { 0, FOREIGN_VERSION, PPU_COMPILE_OK, 0, 3, 2 }, false },
    };
    uint8_t data[sizeof(struct foreign_answer) + 5] = { 0 };
    struct foreign_answer answer;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(answers); i++) {
        memcpy(data, &answers[i].answer, sizeof(answer));
        assert_int_equal(foreign_read_answer(data, sizeof(data), &answer), answers[i].right);
    }
    assert_false(foreign_read_answer(data, sizeof(answer) - 1, &answer));
}

#define folder_test(name, function)                     \
    {                                                   \
        name, function, open_folder, close_folder, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test("a process that ends without an answer is told by its end [F6]", ends_are_told),
        folder_test("a process that is not there is told [F6]", it_may_be_missing),
        folder_test("it is given nothing that it does not need [F6]", little_is_passed_on),
        folder_test("more than it takes is refused [F6]", too_much_is_refused),
        folder_test("requests are checked [F6]", requests_are_checked),
        folder_test("facts of variants are passed, and checked [F2][F6]", facts_are_passed),
        folder_test("answers are checked [F6]", answers_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
