/* SPDX-License-Identifier: MIT */
#include "tools/translator/make.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/* False: the end came first, or it takes too long. */
static bool read_all(int from, void *to, size_t bytes)
{
    uint8_t *at = to;

    while (bytes != 0) {
        struct pollfd wait = { .fd = from, .events = POLLIN };
        const int ready = poll(&wait, 1, PATIENCE_MS);
        const ssize_t got = ready > 0 ? read(from, at, bytes) : ready;
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool read_answer(int from, const struct tier_unit *unit, struct tier_answer *answer, uint8_t **code)
{
    if (!read_all(from, answer, sizeof(*answer)) || !tier_is_answer(answer, unit, TIER_WORTH)) {
        return false;
    }
    *code = answer->bytes != 0 ? malloc(answer->bytes) : NULL;
    return answer->bytes == 0 || (*code && read_all(from, *code, answer->bytes));
}

/* False: *answer and *code have nothing. */
static bool make_in_process(const struct tier_module *module, const struct tier_unit *unit, bool always,
                            struct tier_answer *answer, uint8_t **code)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        translate(module, unit, always, ends[1]);
    }
    close(ends[1]);
    const bool made = pid > 0 && read_answer(ends[0], unit, answer, code);
    close(ends[0]);
    if (pid > 0 && !made) {
        (void)syscall(SYS_tgkill, pid, pid, SIGKILL); /* it may be there for ever */
    }
    return made;
}

void make_code(const char *module, const struct tier_unit *unit, bool always, struct tier_answer *answer,
               uint8_t **code)
{
    static const struct tier_module *loaded;
    static bool tried;

    *code = NULL;
    if (!tried) {
        tried = true;
        (void)signal(SIGCHLD, SIG_IGN); /* nobody asks how the processes of loops have ended */
        loaded = load(module);
    }
    if (!loaded) {
        *answer = (struct tier_answer){ .result = TIER_NO_MODULE };
    } else if (!make_in_process(loaded, unit, always, answer, code)) {
        free(*code);
        *code = NULL;
        *answer = (struct tier_answer){ .result = TIER_FAILED };
    }
}
