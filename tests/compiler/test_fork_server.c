/* SPDX-License-Identifier: MIT */
/* Tests runs of a program by a process that has loaded it already: what it gets, says, and how it may end. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/forkserver/forkserver.h"
#include "compiler/frontend/fork_server.h"
#include "compiler/ppu_compiler.h"
#include "ppu/macros.h"

#define TEXT_BYTES 8192
#define THREADS 4
#define RUNS 40 /* of a thread */
#define PATIENCE_MS 5000

static char program[PATH_MAX], library[PATH_MAX], quick_library[PATH_MAX];

struct files {
    FILE *in, *out, *err;
};

static struct files open_files(void)
{
    const struct files files = { tmpfile(), tmpfile(), tmpfile() };

    assert_true(files.in && files.out && files.err);
    return files;
}

static void close_files(struct files *files)
{
    fclose(files->in);
    fclose(files->out);
    fclose(files->err);
}

static void read_text(FILE *file, char text[TEXT_BYTES])
{
    rewind(file);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = 0;
}

static bool run_by(const char *server, const char *const *words, const struct files *files, uint32_t most_ms,
                   struct fork_server_end *end)
{
    const int streams[] = { fileno(files->in), fileno(files->out), fileno(files->err) };

    return fork_server_run(server, words, streams, most_ms, end);
}

/* What a run says of itself. */
struct said {
    int pid, parent;
    char word[100], variable[100], folder[PATH_MAX];
};

static bool ask(const char *server, const char *word, struct said *said)
{
    const char *const words[] = { program, "say", word, NULL };
    struct files files = open_files();
    struct fork_server_end end;
    char text[TEXT_BYTES];
    bool run = run_by(server, words, &files, 0, &end);

    *said = (struct said){ .pid = 0 };
    if (run) {
        assert_true(!end.late && WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
        read_text(files.out, text);
        assert_int_equal(
            sscanf(text, "%d %d %99s %99s %4095s", &said->pid, &said->parent, said->word, said->variable, said->folder),
            5);
    }
    close_files(&files);
    return run;
}

/* False: it is still there after a while. */
static bool is_gone(int pid)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        char path[64], state = 0;
        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        FILE *file = fopen(path, "r");
        int got = file ? fscanf(file, "%*d %*s %c", &state) : 0;
        if (file) {
            fclose(file);
        }
        if (got != 1 || state == 'Z') {
            return true;
        }
        usleep(1000);
    }
    return false;
}

/* ---- what a run gets ---- */

/* Copies of one process run; each has the words, the environment and the folder of its moment. */
static void runs_as_asked(void **state)
{
    struct said first, second;
    char here[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    unsetenv("SERVED");
    assert_true(ask(library, "one", &first));
    assert_string_equal(first.word, "one");
    assert_string_equal(first.variable, "-");
    assert_string_equal(first.folder, here);
    setenv("SERVED", "later", 1);
    assert_int_equal(chdir("/tmp"), 0);
    assert_true(ask(library, "two", &second));
    assert_int_equal(chdir(here), 0);
    unsetenv("SERVED");
    assert_string_equal(second.word, "two");
    assert_string_equal(second.variable, "later");
    assert_string_equal(second.folder, "/tmp");
    assert_int_equal(first.parent, second.parent);
    assert_int_not_equal(first.pid, second.pid);
    assert_int_not_equal(first.parent, getpid());
}

static void streams_are_its_own(void **state)
{
    const char *const words[] = { program, "copy", NULL };
    struct files files = open_files();
    struct fork_server_end end;
    char text[TEXT_BYTES];

    (void)state;
    fputs("some text", files.in);
    rewind(files.in);
    assert_true(run_by(library, words, &files, 0, &end));
    assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
    read_text(files.out, text);
    assert_string_equal(text, "some text");
    read_text(files.err, text);
    assert_string_equal(text, "copied");
    close_files(&files);
}

/* A program's wait() finds no child. */
static void leaves_no_child(void **state)
{
    struct said said;

    (void)state;
    assert_true(ask(library, "x", &said));
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- how a run may end ---- */

static void ends_as_it_does(void **state)
{
    const char *const fails[] = { program, "exit", "7", NULL }, *const crashes[] = { program, "abort", NULL };
    struct files files = open_files();
    struct fork_server_end end;
    struct said before, after;

    (void)state;
    assert_true(ask(library, "x", &before));
    assert_true(run_by(library, fails, &files, 0, &end));
    assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
    assert_true(run_by(library, crashes, &files, 0, &end));
    assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    assert_true(ask(library, "x", &after));
    assert_int_equal(before.parent, after.parent);
    close_files(&files);
}

static void late_run_is_ended(void **state)
{
    const char *const sleeps[] = { program, "sleep", NULL };
    struct files files = open_files();
    struct fork_server_end end;
    char text[TEXT_BYTES];

    (void)state;
    assert_true(run_by(library, sleeps, &files, 300, &end));
    assert_true(end.late);
    read_text(files.out, text);
    assert_true(atoi(text) > 0 && is_gone(atoi(text)));
    close_files(&files);
}

static void *run_many(void *failures)
{
    for (int i = 0; i < RUNS; i++) {
        struct said said;
        char word[16];
        snprintf(word, sizeof(word), "w%d", i);
        if (!ask(library, word, &said) || strcmp(said.word, word) != 0) {
            ++*(int *)failures;
        }
    }
    return NULL;
}

static void threads_share_it(void **state)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = { 0 };

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &failures[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

/* ---- how the server may end ---- */

static void killed_server_is_replaced(void **state)
{
    struct said before, after;

    (void)state;
    assert_true(ask(library, "x", &before));
    kill(before.parent, SIGKILL);
    assert_true(is_gone(before.parent));
    assert_true(ask(library, "y", &after));
    assert_int_not_equal(before.parent, after.parent);
}

/* The run that it was in has not come to its end, and is ended. */
static void server_dies_during_run(void **state)
{
    const char *const sleeps[] = { program, "sleep", NULL };
    struct files files = open_files();
    struct fork_server_end end;
    struct said said;
    char text[TEXT_BYTES];

    (void)state;
    assert_true(ask(library, "x", &said));
    pid_t killer = fork();
    if (killer == 0) {
        usleep(300000);
        kill(said.parent, SIGKILL);
        _exit(0);
    }
    assert_false(run_by(library, sleeps, &files, 0, &end));
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    read_text(files.out, text);
    assert_true(atoi(text) > 0 && is_gone(atoi(text)));
    close_files(&files);
}

/* A copy of this process has a server of its own, which ends with it. */
static void ends_with_its_process(void **state)
{
    struct said here, there;
    int ends[2];

    (void)state;
    assert_true(ask(library, "x", &here));
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        bool asked = ask(library, "y", &there);
        _exit(asked && write(ends[1], &there, sizeof(there)) == (ssize_t)sizeof(there) ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &there, sizeof(there)), sizeof(there));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_not_equal(here.parent, there.parent);
    assert_true(is_gone(there.parent));
    assert_false(kill(here.parent, 0) != 0);
    close(ends[0]);
    close(ends[1]);
}

static void idle_server_ends(void **state)
{
    struct said before, after;
    char copy[] = "/tmp/ppu-served-XXXXXX", command[2 * PATH_MAX];

    (void)state;
    close(mkstemp(copy)); /* another program, so that this library's server is started */
    snprintf(command, sizeof(command), "cp %s %s", program, copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(copy, 0700), 0);
    char *const kept = strdup(program);
    snprintf(program, sizeof(program), "%s", copy);
    assert_true(ask(quick_library, "x", &before));
    assert_true(is_gone(before.parent));
    assert_true(ask(quick_library, "y", &after));
    assert_int_not_equal(before.parent, after.parent);
    snprintf(program, sizeof(program), "%s", kept);
    free(kept);
    remove(copy);
}

/* ---- what cannot be served ---- */

static void others_are_not_run(void **state)
{
    char script[] = "/tmp/ppu-script-XXXXXX", mark[64];
    const char *const scripts[] = { script, NULL }, *const nothing[] = { "/nowhere/program", NULL };
    const char *const says[] = { program, "say", NULL };
    struct files files = open_files();
    struct fork_server_end end;

    (void)state;
    close(mkstemp(script));
    snprintf(mark, sizeof(mark), "%s.ran", script);
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\ntouch %s\n", mark);
    fclose(file);
    chmod(script, 0700);
    assert_false(run_by(library, scripts, &files, 0, &end));
    assert_int_not_equal(access(mark, F_OK), 0);
    assert_false(run_by(library, nothing, &files, 0, &end));
    assert_false(run_by(NULL, says, &files, 0, &end));
    assert_false(run_by("/nowhere/ppu-forkserver.so", says, &files, 0, &end));
    setenv("LD_PRELOAD", "libm.so.6", 1);
    assert_false(run_by(library, says, &files, 0, &end));
    unsetenv("LD_PRELOAD");
    close_files(&files);
    remove(script);
}

/* ---- clang ---- */

static const char source[] = "kernel void k(global int *p) { p[get_global_id(0)] = VALUE; }";

static void clang_makes_the_same(void **state)
{
    const struct ppu_compile_options plain = { .options = "-DVALUE=3" };
    struct ppu_compile_options served = plain;
    struct ppu_compiled expected, made;

    (void)state;
    served.fork_server = library;
    assert_int_equal(ppu_compile(source, strlen(source), &plain, &expected), PPU_COMPILE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ppu_compile(source, strlen(source), &served, &made), PPU_COMPILE_OK);
        assert_int_equal(made.len_bytes, expected.len_bytes);
        assert_memory_equal(made.bytes, expected.bytes, made.len_bytes);
        ppu_compiled_free(&made);
    }
    ppu_compiled_free(&expected);
    served.options = NULL;
    assert_int_equal(ppu_compile(source, strlen(source), &served, &made), PPU_COMPILE_BAD_SOURCE);
    assert_non_null(strstr(made.log, "undeclared identifier 'VALUE'"));
    ppu_compiled_free(&made);
}

/* Where there can be no server, clang is started as ever, and what a server began counts for nothing. */
static void clang_goes_without(void **state)
{
    const struct ppu_compile_options options = { .options = "-DVALUE=3", .fork_server = "/nowhere/ppu-forkserver.so" };
    struct ppu_compiled made;

    (void)state;
    assert_int_equal(ppu_compile(source, strlen(source), &options, &made), PPU_COMPILE_OK);
    ppu_compiled_free(&made);
}

static void set_path(char path[PATH_MAX], const char *name)
{
    char here[PATH_MAX / 2];

    snprintf(path, PATH_MAX, "%s/build/plain/%s", getcwd(here, sizeof(here)), name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_as_asked),
        cmocka_unit_test(streams_are_its_own),
        cmocka_unit_test(leaves_no_child),
        cmocka_unit_test(ends_as_it_does),
        cmocka_unit_test(late_run_is_ended),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(killed_server_is_replaced),
        cmocka_unit_test(server_dies_during_run),
        cmocka_unit_test(ends_with_its_process),
        cmocka_unit_test(idle_server_ends),
        cmocka_unit_test(others_are_not_run),
        cmocka_unit_test(clang_makes_the_same),
        cmocka_unit_test(clang_goes_without),
    };

    unsetenv("LD_PRELOAD");
    set_path(program, "tools/served-program");
    set_path(library, "ppu-forkserver.so");
    set_path(quick_library, "ppu-forkserver-quick.so");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
