/* SPDX-License-Identifier: MIT */
/* Translates hot loops of kernels to code of the host for PPUs, as a process of its own: for ppu-run. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "cache/folder.h"
#include "ppu/macros.h"
#include "ppu/version.h"
#include "tools/confine/confine.h"
#include "tools/translator/serve.h"
#include "tools/translator/store.h"

#define PRIORITY 10 /* a tenth of a processor that kernels want too */

static const char usage[] =
    "Usage: ppu-translator --module FILE --socket N... [-- PROGRAM [ARGUMENT]...]\n"
    "\n"
    "Executes PROGRAM, and beside it a process that translates hot loops of kernels to code of the host. PROGRAM asks it at\n"
    "the descriptors that are named, one for each PPU (docs/design/engine.md). The process ends when they are closed. It\n"
    "opens no files but the module, what that is linked with, and the user's cache; it has no network and no capabilities,\n"
    "and a low priority.\n"
    "Without PROGRAM the descriptors are connected sockets, which are answered until the other ends close.\n"
    "\n"
    "  --module FILE    what makes code: ppu-tier.so\n"
    "  --socket N       a descriptor; at most 16\n"
    "  --help           print this help\n"
    "  --version        print the version\n"
    "\n"
    "Environment:\n"
    "  PPU_CACHE        a folder where translations are kept (default ~/.cache/ppu); off: none are\n"
    "\n"
    "Exit status:\n"
    "  2    an option is wrong\n"
    "  126  no process can be started, or PROGRAM cannot be executed\n"
    "  PROGRAM's, when it was executed\n";

static void give_up(int status, const char *operation, const char *object, const char *why)
{
    fprintf(stderr, "ppu-translator: %s%s%s: %s\n", operation, *object != 0 ? " " : "", object, why);
    exit(status);
}

static void add_socket(struct serve_sockets *sockets, const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number <= STDERR_FILENO || number > INT_MAX) {
        give_up(2, "read the options", text, "--socket names no descriptor above 2");
    }
    if (sockets->count == SERVE_MOST_SOCKETS) {
        give_up(2, "read the options", text, "there are too many sockets");
    }
    sockets->socket[sockets->count++] = (int)number;
}

/* Arguments from the program on. */
static char **parse_arguments(int argc, char **argv, struct serve_sockets *sockets, const char **module)
{
    static const struct option options[] = {
        { "module", required_argument, NULL, 'm' },
        { "socket", required_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };

    for (int option; (option = getopt_long(argc, argv, "+hV", options, NULL)) != -1;) {
        switch (option) {
        case 'm':
            *module = optarg;
            break;
        case 's':
            add_socket(sockets, optarg);
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        case 'V':
            puts("ppu-translator (PPU) " PPU_VERSION);
            exit(0);
        default:
            give_up(2, "read the options", "", "--help tells which there are");
        }
    }
    if (!*module || sockets->count == 0) {
        give_up(2, "read the options", "", "--module and --socket are needed");
    }
    return argv + optind;
}

/* ---- the process that translates ---- */

static bool is_ours(const struct serve_sockets *sockets, int descriptor)
{
    for (size_t i = 0; i < sockets->count; i++) {
        if (sockets->socket[i] == descriptor) {
            return true;
        }
    }
    return false;
}

/* Nothing else that was inherited stays open: somebody may wait for its end. What is printed goes nowhere. */
static void keep_only(const struct serve_sockets *sockets)
{
    int last = STDERR_FILENO;

    for (size_t i = 0; i < sockets->count; i++) {
        last = sockets->socket[i] > last ? sockets->socket[i] : last;
    }
    for (int i = 0; i < last; i++) {
        if (!is_ours(sockets, i)) {
            close(i);
        }
    }
    (void)close_range((unsigned)last + 1, ~0u, 0);
    while (open("/dev/null", O_RDWR) < STDERR_FILENO) {
    }
}

/* False: not all of it could be given up. */
static bool confine(const char *module, int folder)
{
    char cache[64];
    const struct confine_path paths[] = {
        { "/usr", CONFINE_READ },       { "/lib", CONFINE_READ },
        { "/lib64", CONFINE_READ },     { "/etc/ld.so.cache", CONFINE_READ },
        { "/proc/self", CONFINE_READ }, { "/sys/devices/system", CONFINE_READ },
        { "/dev/null", CONFINE_WRITE }, { module, CONFINE_READ },
        { cache, CONFINE_WRITE },
    };

    snprintf(cache, sizeof(cache), "/proc/self/fd/%d", folder);
    return !confine_rights(false) && !confine_files(paths, PPU_ARRAY_SIZE(paths) - (folder < 0)) &&
           !confine_calls(false);
}

static void run(struct serve_sockets *sockets, const char *module)
{
    keep_only(sockets);
    if (!serve_await(sockets)) {
        return; /* no loop was hot: no folder is made */
    }
    const int folder = cache_folder_open(STORE_FOLDER);
    if (confine(module, folder)) {
        serve(sockets, module, folder);
    }
}

/* ---- starting both ---- */

/*
 * What ends PROGRAM from a terminal is not for this process, which ends after it. A session of its own may be a group
 * of its own for the scheduler, beside which a process's priority says nothing.
 */
static void step_back(void)
{
    (void)setsid();
    (void)setpriority(PRIO_PROCESS, 0, PRIORITY);
    const int autogroup = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (autogroup >= 0) {
        (void)dprintf(autogroup, "%d", PRIORITY);
        close(autogroup);
    }
}

/* PROGRAM gets one end of each at the descriptor that was named. */
static void start_server(const struct serve_sockets *wanted, const char *module)
{
    struct serve_sockets ours = { .count = wanted->count }, theirs = { .count = wanted->count };

    for (size_t i = 0; i < wanted->count; i++) {
        int ends[2];
        if (fcntl(wanted->socket[i], F_GETFD) >= 0) {
            give_up(126, "start a translator", "", "a descriptor that --socket names is open");
        }
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
            give_up(126, "start a translator", "", strerror(errno));
        }
        ours.socket[i] = ends[0];
        theirs.socket[i] = ends[1];
    }
    const pid_t pid = fork();
    if (pid == 0) {
        step_back();
        run(&ours, module);
        _exit(0);
    }
    if (pid < 0) {
        give_up(126, "start a translator", "", strerror(errno));
    }
    for (size_t i = 0; i < wanted->count; i++) {
        close(ours.socket[i]);
        if (dup2(theirs.socket[i], wanted->socket[i]) < 0) {
            give_up(126, "start a translator", "", strerror(errno));
        }
        close(theirs.socket[i]);
    }
}

int main(int argc, char **argv)
{
    struct serve_sockets sockets = { .count = 0 };
    const char *module = NULL;
    char **const program = parse_arguments(argc, argv, &sockets, &module);

    if (!*program) {
        run(&sockets, module);
        return 0;
    }
    start_server(&sockets, module);
    execvp(program[0], program);
    give_up(126, "execute", program[0], strerror(errno));
}
