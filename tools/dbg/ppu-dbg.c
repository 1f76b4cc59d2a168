/* SPDX-License-Identifier: MIT */
/* Debugs the kernels of a program: stops them, steps them, and prints their variables. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/dbg/commands.h"
#include "tools/trace/message.h"

#define LINE_BYTES 1024u
#define LOOK_MS 20
#define ORDERS_MOST 64u

static const char usage[] =
    "Usage: ppu-dbg [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "       ppu-dbg [OPTION]... --pid PROCESS\n"
    "\n"
    "Debugs the kernels that PROGRAM executes on a PPU. Commands come from the options, then from standard input; `help`\n"
    "lists them. OpenCL kernels are compiled with -g -cl-opt-disable, so that each variable has a value at each line.\n"
    "\n"
    "  -x, --command FILE        execute the commands of a file first\n"
    "  -e, --eval-command TEXT   execute a command first; -ex is the same\n"
    "  -p, --pid PROCESS         debug a program that runs already, with PPU_DEBUG_KERNELS=1\n"
    "      --batch               end when these are done\n"
    "      --as-built            compile kernels as PROGRAM says: lines with -g, few variables\n"
    "      --record              record what kernels do, so that it can be taken back (reverse-step)\n"
    "      --help                print this help\n"
    "      --version             print the version\n"
    "\n"
    "Exit status:\n"
    "  0    all was done\n"
    "  1    with --batch: a command failed\n"
    "  2    an option is wrong\n";

struct options {
    struct {
        bool is_file;
        const char *text;
    } order[ORDERS_MOST];
    uint32_t orders;
    const char *attach; /* to a process; NULL: a program is started */
    bool batch;
    bool as_built;
    bool records;
};

static void add_order(struct options *options, bool is_file, const char *text)
{
    if (options->orders == ORDERS_MOST) {
        message_fail("read the options: more than %u commands; put them into a file, and name it with -x", ORDERS_MOST);
    }
    options->order[options->orders].is_file = is_file;
    options->order[options->orders++].text = text;
}

static struct options parse(int argc, char **argv)
{
    enum { BATCH = 256, AS_BUILT, RECORD };
    static const struct option known[] = {
        { "command", required_argument, NULL, 'x' },
        { "eval-command", required_argument, NULL, 'e' },
        { "batch", no_argument, NULL, BATCH },
        { "as-built", no_argument, NULL, AS_BUILT },
        { "record", no_argument, NULL, RECORD },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { "pid", required_argument, NULL, 'p' },
        { 0 },
    };
    static char eval[] = "--eval-command";
    struct options options = { .orders = 0 };

    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        bool takes = strcmp(argv[i], "-x") == 0 || strcmp(argv[i], "-e") == 0 || strcmp(argv[i], "-ex") == 0 ||
                     strcmp(argv[i], "-p") == 0 || strcmp(argv[i], "--pid") == 0;
        argv[i] = strcmp(argv[i], "-ex") == 0 ? eval : argv[i];
        i += takes || strcmp(argv[i], "--command") == 0 || strcmp(argv[i], "--eval-command") == 0;
    }
    for (int option; (option = getopt_long(argc, argv, "+x:e:p:hV", known, NULL)) != -1;) {
        switch (option) {
        case 'x':
        case 'e':
            add_order(&options, option == 'x', optarg);
            break;
        case 'p':
            options.attach = optarg;
            break;
        case BATCH:
            options.batch = true;
            break;
        case AS_BUILT:
            options.as_built = true;
            break;
        case RECORD:
            options.records = true;
            break;
        case 'h':
            message_help(usage);
        case 'V':
            message_version();
        default:
            message_bad_option();
        }
    }
    return options;
}

/* The program is served while nobody types. False: standard input has ended. */
static bool read_line(struct session *session, char line[LINE_BYTES])
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

    if (isatty(STDIN_FILENO)) {
        fputs("(ppu-dbg) ", stdout);
    }
    fflush(stdout);
    while (poll(&input, 1, session->pid != 0 ? LOOK_MS : -1) <= 0) {
        if (session->pid != 0) {
            (void)session_serve(session, 0);
        }
        if (isatty(STDIN_FILENO) && session_interrupted()) { /* a script's is for its next command */
            fputs("\n(ppu-dbg) ", stdout);
            fflush(stdout);
        }
    }
    return fgets(line, LINE_BYTES, stdin);
}

int main(int argc, char **argv)
{
    static struct session session;
    char line[LINE_BYTES];
    bool go_on = true, failed = false;

    message_begin("ppu-dbg", argv);
    const struct options options = parse(argc, argv);
    session.start.program = argv + optind;
    session.out = stdout;
    session.errors = stderr;
    session.as_built = options.as_built;
    session.records = options.records;
    session.stop_at = PPU_DEBUG_AT_FAULT;
    setvbuf(stdin, NULL, _IONBF, 0); /* poll() sees what is left */
    session_catch_interrupts();
    if (options.attach) {
        snprintf(line, sizeof(line), "attach %s", options.attach);
        (void)command_execute(&session, line);
        failed = session.failed;
    }
    for (uint32_t i = 0; i < options.orders && go_on; i++) {
        go_on = options.order[i].is_file ? command_file(&session, options.order[i].text)
                                         : command_execute(&session, options.order[i].text);
        failed = failed || session.failed;
    }
    while (go_on && !options.batch && read_line(&session, line)) {
        go_on = command_execute(&session, line);
    }
    session_free(&session);
    return options.batch && failed ? 1 : 0;
}
