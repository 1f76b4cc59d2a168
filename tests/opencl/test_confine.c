/* SPDX-License-Identifier: MIT */
/*
 * Tests what a process can still do when it has given up its rights: each attempt in a child, which tells by its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/foreign/confine.h"
#include "opencl/build/foreign.h"
#include "ppu/macros.h"

#define DONE 0
#define REFUSED 1

static int spare; /* a file that is open before */

static int told(bool done)
{
    return done ? DONE : REFUSED;
}

static int opens(void)
{
    return told(open("/dev/null", O_RDONLY) >= 0);
}

static int writes_elsewhere(void)
{
    return told(write(spare, "x", 1) == 1 || pwrite(spare, "x", 1, 0) == 1);
}

static int reads(void)
{
    char byte;

    return told(pread(spare, &byte, 1, 0) >= 0);
}

static int connects(void)
{
    return told(socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static int forks(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    return told(pid > 0);
}

static int executes(void)
{
    char *const arguments[] = { (char *)(uintptr_t) "true", NULL };

    execv("/bin/true", arguments);
    return REFUSED;
}

static int signals_others(void)
{
    return told(kill(getppid(), 0) == 0);
}

static int removes(void)
{
    return told(unlink("/tmp/ppu-confine-nothing") == 0 || errno == ENOENT);
}

static int makes_code(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return told(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
                mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0);
}

static int takes_too_much(void)
{
    return told(mmap(NULL, FOREIGN_MEMORY_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
                MAP_FAILED);
}

static int raises_limits(void)
{
    const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

    return told(setrlimit(RLIMIT_AS, &limit) == 0);
}

static int takes_memory(void)
{
    char *memory = malloc(100u << 20);
    bool taken = memory;

    if (taken) {
        memory[50u << 20] = 1;
    }
    free(memory);
    return told(taken);
}

static int answers(void)
{
    return told(pwrite(STDOUT_FILENO, "x", 1, 0) == 1);
}

static int creates(void)
{
    return told(open("/tmp/ppu-confine-nothing", O_WRONLY | O_CREAT, 0600) >= 0 || open("/dev/null", O_RDWR) >= 0);
}

static int says(void)
{
    return told(write(STDOUT_FILENO, "x", 1) == 1);
}

struct attempt {
    const char *what;
    int (*attempt)(void);
    int expected;
};

static const struct attempt attempts[] = {
    { "opens a file", opens, REFUSED },
    { "writes to a file that is open", writes_elsewhere, REFUSED },
    { "reads a file that is open", reads, REFUSED },
    { "makes a socket", connects, REFUSED },
    { "starts a process", forks, REFUSED },
    { "becomes another program", executes, REFUSED },
    { "signals another process", signals_others, REFUSED },
    { "removes a file", removes, REFUSED },
    { "makes memory executable", makes_code, REFUSED },
    { "takes more memory than it may", takes_too_much, REFUSED },
    { "raises its limits", raises_limits, REFUSED },
    { "takes memory", takes_memory, DONE },
    { "answers", answers, DONE },
};

static const struct attempt of_translator[] = {
    { "opens a file to write", creates, REFUSED },
    { "writes to a file that is open", writes_elsewhere, REFUSED },
    { "makes a socket", connects, REFUSED },
    { "starts a process", forks, REFUSED },
    { "signals another process", signals_others, REFUSED },
    { "removes a file", removes, REFUSED },
    { "takes more memory than it may", takes_too_much, REFUSED },
    { "raises its limits", raises_limits, REFUSED },
    { "takes memory", takes_memory, DONE },
    { "opens a file to read", opens, DONE },
    { "becomes another program", executes, DONE }, /* which ends well */
    { "answers", says, DONE },
};

/* Exit status of the attempt. */
static int try(bool (*give_up)(void), int (*attempt)(void))
{
    pid_t pid = fork();
    int status = -1;

    assert_true(pid >= 0);
    if (pid == 0) {
        int output = memfd_create("output", 0);
        dup2(output, STDOUT_FILENO);
        _exit(give_up() ? attempt() : 100);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void try_all(bool (*give_up)(void), const struct attempt *list, size_t count)
{
    uint32_t misses = 0;

    spare = memfd_create("spare", 0);
    assert_true(spare >= 0);
    for (size_t i = 0; i < count; i++) {
        int status = try(give_up, list[i].attempt);
        if (status != list[i].expected) {
            print_error("%s: status %d\n", list[i].what, status);
            misses++;
        }
    }
    close(spare);
    assert_int_equal(misses, 0);
}

static void rights_are_gone(void **state)
{
    (void)state;
    try_all(confine, attempts, PPU_ARRAY_SIZE(attempts));
}

static void translator_reads_and_answers(void **state)
{
    (void)state;
    try_all(confine_translator, of_translator, PPU_ARRAY_SIZE(of_translator));
}

/* As a library that finds memory broken does. */
static int aborts(void)
{
    abort();
}

static void it_can_still_abort(void **state)
{
    (void)state;
    assert_int_equal(try(confine, aborts), -SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "what compiling does not need is refused, the rest is not [F6]", rights_are_gone, NULL, NULL, NULL },
        { "the translator of SPIR-V can read, and answer, and no more [F6]", translator_reads_and_answers, NULL, NULL,
          NULL },
        { "it can still end itself [F6]", it_can_still_abort, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
