/* SPDX-License-Identifier: MIT */
/* Filters system calls (seccomp). */
#include "ppu/macros.h"
#include "tools/confine/confine.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

/* None of these reaches a device: terminals are asked and set, descriptors made to block or not. */
static const unsigned long requests[] = { TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO };

static const int calls[] = {
#define CALL(name) SCMP_SYS(name),
#include "tools/confine/calls.def"
#undef CALL
};

static int allow_calls(scmp_filter_ctx filter)
{
    int error = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(calls) && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(requests) && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, requests[i], 0));
    }
    return error;
}

static int allow_sockets(scmp_filter_ctx filter, bool tcp)
{
    static const int families[] = { AF_UNIX, AF_INET, AF_INET6 };
    int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0));

    for (size_t i = 0; i < (tcp ? 3u : 1u) && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i], 0));
    }
    return error;
}

static scmp_filter_ctx filter_new(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    if (!filter) {
        errno = ENOMEM;
    }
    return filter;
}

/* `error`: of the rules. */
static const char *filter_load(scmp_filter_ctx filter, int error)
{
    error = error != 0 ? error : seccomp_load(filter);
    seccomp_release(filter);
    errno = -error;
    return error == 0 ? NULL : "the filter of system calls";
}

const char *confine_calls(bool tcp)
{
    scmp_filter_ctx filter = filter_new();

    if (!filter) {
        return "a filter of system calls";
    }
    int error = allow_calls(filter);
    error = error != 0 ? error : allow_sockets(filter, tcp);
    /* The C library asks for this one first, and takes the older one when it is not there. */
    error = error != 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return filter_load(filter, error);
}

const char *confine_computing(int output)
{
    static const int computing[] = {
        SCMP_SYS(brk),        SCMP_SYS(mmap),          SCMP_SYS(munmap),       SCMP_SYS(mremap),
        SCMP_SYS(madvise),    SCMP_SYS(futex),         SCMP_SYS(sched_yield),  SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(getpid),     SCMP_SYS(gettid),        SCMP_SYS(rt_sigreturn), SCMP_SYS(getrandom),
        SCMP_SYS(exit_group), SCMP_SYS(clock_gettime), SCMP_SYS(sigaltstack),  SCMP_SYS(rt_sigaction),
        SCMP_SYS(sysinfo),    SCMP_SYS(exit),          SCMP_SYS(gettimeofday),
    };
    scmp_filter_ctx filter = filter_new();
    int error = 0;

    if (!filter) {
        return "a filter of system calls";
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(computing) && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, computing[i], 0);
    }
    error = error != 0 ? error
                       : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
                                          SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)output, 0));
    /* A process may end itself, and no other. */
    error = error != 0 ? error
                       : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                          SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    return filter_load(filter, error);
}
