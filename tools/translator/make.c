/* SPDX-License-Identifier: MIT */
#include "tools/translator/make.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/confine/confine.h"
#include "tools/translator/level.h"

/* A loop of the longest kind takes some 2 s and 100 MB of these. */
#define MOST_CPU_S 20u
#define MOST_MEMORY (4ull << 30)
#define PATIENCE_MS 60000

/* ---- the module ---- */

/* LLVM starts once, for all processes that are forked. */
static const struct tier_module *load(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct tier_module *const module = library ? dlsym(library, TIER_MODULE_SYMBOL) : NULL;

    return module && module->layout() == tier_layout() && module->prepare(level_of_host()) ? module : NULL;
}

/* ---- the process of a loop ---- */

static bool write_answer(int to, const void *from, size_t bytes)
{
    const uint8_t *at = from;

    while (bytes != 0) {
        const ssize_t put = write(to, at, bytes);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

static void limit(__rlimit_resource_t resource, rlim_t most)
{
    const struct rlimit limits = { most, most };

    (void)setrlimit(resource, &limits);
}

static _Noreturn void translate(const struct tier_module *module, const struct tier_unit *unit, bool always, int to)
{
    struct tier_code_bytes code = { 0 };
    struct tier_answer answer = { .result = TIER_NOT_WORTH };

    limit(RLIMIT_CPU, MOST_CPU_S);
    limit(RLIMIT_AS, MOST_MEMORY);
    limit(RLIMIT_CORE, 0);
    if (!confine_computing(to) && module->translate(unit, always, &code) && code.bytes <= TIER_MAX_CODE) {
        answer = (struct tier_answer){ .result = TIER_MADE,
                                       .bytes = (uint32_t)code.bytes,
                                       .entry = (uint32_t)code.entry,
                                       .vregs = code.vregs,
                                       .wave = code.wave,
                                       .insns = code.insns,
                                       .ends = code.ends };
    }
    const bool told = write_answer(to, &answer, sizeof(answer)) && write_answer(to, code.at, answer.bytes);
    _exit(told ? 0 : 1);
}

/* ---- this side ---- */

uint64_t make_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void become_failed(struct making *making)
{
    free(making->code);
    making->code = NULL;
    making->answer = (struct tier_answer){ .result = TIER_FAILED };
}

/*
 * Ends the process, which may be there for ever, whatever it has answered. Nobody else gets its number before it is
 * waited for. That takes no time when it has ended, so others end in between.
 */
static void end_process(const struct making *making)
{
    static pid_t ending[TIER_MOST_MADE];
    static size_t next;

    close(making->from);
    (void)syscall(SYS_tgkill, making->pid, making->pid, SIGKILL);
    if (ending[next] != 0) {
        (void)waitpid(ending[next], NULL, 0);
    }
    ending[next] = making->pid;
    next = (next + 1) % TIER_MOST_MADE;
}

void make_abandon(struct making *making)
{
    end_process(making);
    become_failed(making);
}

/* Where the next bytes go, and how many may come; 0: it is whole. */
static size_t next_part(struct making *making, uint8_t **to)
{
    const size_t header = sizeof(making->answer);

    if (making->got < header) {
        *to = (uint8_t *)&making->answer + making->got;
        return header - making->got;
    }
    *to = making->code ? making->code + (making->got - header) : NULL;
    return header + making->answer.bytes - making->got;
}

/* The first part has come; false: it is no answer, or there is no memory. */
static bool begin_code(struct making *making)
{
    if (!tier_is_answer(&making->answer, making->unit, TIER_WORTH)) {
        return false;
    }
    making->code = making->answer.bytes != 0 ? malloc(making->answer.bytes) : NULL;
    return making->answer.bytes == 0 || making->code;
}

/* What has come; 0: the end came first, or it takes too long; negative: there may be more later. */
static ssize_t read_some(const struct making *making, uint8_t *to, size_t bytes)
{
    const ssize_t got = read(making->from, to, bytes);

    if (got >= 0) {
        return got;
    }
    return errno == EINTR || (errno == EAGAIN && make_clock_ms() < making->until_ms) ? -1 : 0;
}

bool make_go_on(struct making *making)
{
    uint8_t *to;

    for (size_t bytes; (bytes = next_part(making, &to)) != 0;) {
        const ssize_t got = read_some(making, to, bytes);
        if (got < 0) {
            return false;
        }
        making->got += (size_t)got;
        if (got == 0 || (making->got == sizeof(making->answer) && !begin_code(making))) {
            make_abandon(making);
            return true;
        }
    }
    end_process(making);
    return true;
}

static bool start_process(struct making *making, const struct tier_module *module, bool always)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        translate(module, making->unit, always, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    making->pid = pid;
    making->from = ends[0];
    making->until_ms = make_clock_ms() + PATIENCE_MS;
    return true;
}

bool make_begin(struct making *making, const char *module, const struct tier_unit *unit, bool always)
{
    static const struct tier_module *loaded;
    static bool tried;

    *making = (struct making){ .unit = unit };
    if (!tried) {
        tried = true;
        (void)signal(SIGCHLD, SIG_DFL); /* end_process() waits for those of loops, also where nobody did before */
        loaded = load(module);
    }
    if (!loaded) {
        making->answer = (struct tier_answer){ .result = TIER_NO_MODULE };
        return false;
    }
    if (!start_process(making, loaded, always)) {
        become_failed(making);
        return false;
    }
    return true;
}
