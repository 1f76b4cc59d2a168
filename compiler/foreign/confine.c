/* SPDX-License-Identifier: MIT */
#include "compiler/foreign/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compiler/foreign/foreign.h"
#include "ppu/macros.h"

/* The translator and its libraries. */
#define TRANSLATOR_FILES 16

static bool set_limits(rlim_t files)
{
    const struct {
        __rlimit_resource_t resource;
        rlim_t soft, hard;
    } limits[] = {
        { RLIMIT_AS, FOREIGN_MEMORY_BYTES, FOREIGN_MEMORY_BYTES },
        { RLIMIT_CPU, FOREIGN_CPU_S, FOREIGN_CPU_S + 1 }, /* SIGXCPU, then SIGKILL */
        { RLIMIT_FSIZE, FOREIGN_MOST_BYTES, FOREIGN_MOST_BYTES },
        { RLIMIT_NOFILE, files, files },
        { RLIMIT_CORE, 0, 0 },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(limits); i++) {
        const struct rlimit limit = { limits[i].soft, limits[i].hard };
        if (setrlimit(limits[i].resource, &limit) != 0) {
            return false;
        }
    }
    return true;
}

/* Memory, time, signals to itself, and the end. */
static bool allow_plain(scmp_filter_ctx filter)
{
    static const int calls[] = {
        SCMP_SYS(brk),          SCMP_SYS(munmap),    SCMP_SYS(mremap),      SCMP_SYS(madvise),
        SCMP_SYS(futex),        SCMP_SYS(exit),      SCMP_SYS(exit_group),  SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(getpid),    SCMP_SYS(gettid),      SCMP_SYS(clock_gettime),
        SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
        SCMP_SYS(getrusage),    SCMP_SYS(sysinfo),
    };
    bool added = true;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(calls); i++) {
        added &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) == 0;
    }
    return added;
}

static bool allow_some(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp output = SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0);
    const struct scmp_arg_cmp errors = SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO, 0);
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    const struct scmp_arg_cmp itself = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);

    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pwrite64), 1, output) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, errors) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, itself) == 0;
}

/* What the dynamic linker and the translator do: they read files, and write to the streams that they were given. */
static bool allow_reading(scmp_filter_ctx filter)
{
    static const int calls[] = {
        SCMP_SYS(read),
        SCMP_SYS(pread64),
        SCMP_SYS(lseek),
        SCMP_SYS(close),
        SCMP_SYS(fstat),
        SCMP_SYS(newfstatat),
        SCMP_SYS(access),
        SCMP_SYS(faccessat),
        SCMP_SYS(readlink),
        SCMP_SYS(readlinkat),
        SCMP_SYS(mmap),
        SCMP_SYS(mprotect),
        SCMP_SYS(execve),
        SCMP_SYS(arch_prctl),
        SCMP_SYS(rt_sigaction),
        SCMP_SYS(sigaltstack),
        SCMP_SYS(rseq),
        SCMP_SYS(set_tid_address),
        SCMP_SYS(set_robust_list),
    };
    const struct scmp_arg_cmp to_read = SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY);
    const struct scmp_arg_cmp own_limit = SCMP_A2(SCMP_CMP_EQ, 0, 0);
    bool added = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, to_read) == 0 &&
                 seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, own_limit) == 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(calls); i++) {
        added &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) == 0;
    }
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
        const struct scmp_arg_cmp output = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)stream, 0);
        added &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, output) == 0;
    }
    return added;
}

/* Everything else fails as if the user had no right to it. */
static bool filter_calls(bool (*allow)(scmp_filter_ctx))
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    if (!filter) {
        return false;
    }
    bool loaded = allow_plain(filter) && allow(filter) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return loaded;
}

bool confine(void)
{
    return prctl(PR_SET_DUMPABLE, 0) == 0 && set_limits(0) && filter_calls(allow_some);
}

bool confine_translator(void)
{
    return set_limits(TRANSLATOR_FILES) && filter_calls(allow_reading);
}
