/* SPDX-License-Identifier: MIT */
/* Executes a program that can do no more than it must: for ppu-run, which starts QEMU by it. */
#include "tools/confine/confine.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/version.h"

#define MOST_PATHS 256u

static const char usage[] =
    "Usage: ppu-confine [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Executes PROGRAM with a filter of system calls, no capabilities and no way to get any, a network of its own that leads\n"
    "nowhere, and no files but those named here (where the kernel has Landlock). What it could do then: docs/security.md.\n"
    "\n"
    "  --read PATH      a file, or all below a folder, to be read and executed\n"
    "  --write PATH     the same, to be written too\n"
    "  --sockets DIR    sockets can be made in this folder\n"
    "  --guard N        PROGRAM has a guard at this descriptor, which ends its clients' connections when it has died\n"
    "  --tcp            sockets can listen at an address of the network, which stays that of the caller\n"
    "  --help           print this help\n"
    "  --version        print the version\n"
    "\n"
    "Exit status:\n"
    "  2    an option is wrong\n"
    "  126  something cannot be given up, or PROGRAM cannot be executed\n"
    "  PROGRAM's, when it was executed\n";

/* Lists what programs need that are linked with the C library and glib. */
static const struct confine_path everywhere[] = {
    { "/usr", CONFINE_READ },
    { "/lib", CONFINE_READ },
    { "/lib64", CONFINE_READ },
    { "/etc/ld.so.cache", CONFINE_READ },
    { "/etc/localtime", CONFINE_READ },
    { "/proc/self", CONFINE_READ },
    { "/sys/devices/system", CONFINE_READ },
    { "/sys/kernel/mm", CONFINE_READ },
    { "/dev/null", CONFINE_WRITE },
    { "/dev/urandom", CONFINE_READ },
};
#define EVERYWHERE PPU_ARRAY_SIZE(everywhere)

struct wanted {
    struct confine_path path[MOST_PATHS];
    size_t paths;
    bool tcp;
    int guard; /* descriptor; 0: none is wanted */
};

/* "ppu-confine: OPERATION OBJECT: WHY"; the object may be "". */
static void fail(int status, const char *operation, const char *object, const char *why)
{
    fprintf(stderr, "ppu-confine: %s%s%s: %s\n", operation, *object != 0 ? " " : "", object, why);
    exit(status);
}

static void add_path(struct wanted *wanted, const char *path, enum confine_access access)
{
    if (wanted->paths == MOST_PATHS) {
        fail(2, "read the options", "", "there are too many paths");
    }
    wanted->path[wanted->paths++] = (struct confine_path){ path, access };
}

static int descriptor(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number <= STDERR_FILENO || number > INT_MAX) {
        fail(2, "read the options", text, "--guard names no descriptor above 2");
    }
    return (int)number;
}

/* Arguments from the program on. */
static char **parse_arguments(int argc, char **argv, struct wanted *wanted)
{
    static const struct option options[] = {
        { "read", required_argument, NULL, CONFINE_READ },
        { "write", required_argument, NULL, CONFINE_WRITE },
        { "sockets", required_argument, NULL, CONFINE_SOCKETS },
        { "guard", required_argument, NULL, 'g' },
        { "tcp", no_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };

    for (int option; (option = getopt_long(argc, argv, "+hV", options, NULL)) != -1;) {
        switch (option) {
        case 'g':
            wanted->guard = descriptor(optarg);
            break;
        case 't':
            wanted->tcp = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        case 'V':
            puts("ppu-confine (PPU) " PPU_VERSION);
            exit(0);
        case '?':
            fail(2, "read the options", "", "--help tells which there are");
            break;
        default:
            add_path(wanted, optarg, (enum confine_access)option);
        }
    }
    if (optind >= argc) {
        fail(2, "read the options", "", "which program? It stands behind --");
    }
    return argv + optind;
}

/* In this order: each step may need what the next takes. */
static void confine(const struct wanted *wanted)
{
    const char *failed = wanted->guard != 0 ? confine_guard(wanted->guard) : NULL;

    failed = failed ? failed : confine_rights(wanted->tcp);
    failed = failed ? failed : confine_files(wanted->path, wanted->paths);
    failed = failed ? failed : confine_calls(wanted->tcp);
    if (failed) {
        fail(126, "confine the program:", failed, strerror(errno));
    }
}

int main(int argc, char **argv)
{
    static char name[] = "ppu-confine";
    static struct wanted wanted;

    if (argc > 0) {
        argv[0] = name; /* what getopt's messages begin with */
    }
    char **program = parse_arguments(argc, argv, &wanted);

    add_path(&wanted, program[0], CONFINE_READ);
    for (size_t i = 0; i < EVERYWHERE; i++) {
        add_path(&wanted, everywhere[i].path, everywhere[i].access);
    }
    confine(&wanted);
    execv(program[0], program);
    fail(126, "execute", program[0], strerror(errno));
}
