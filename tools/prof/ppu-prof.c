/* SPDX-License-Identifier: MIT */
/* Profiles kernels by source line and instruction, and prints their sources with what was counted. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/prof/annotate.h"
#include "tools/prof/functions.h"
#include "tools/progress/progress.h"
#include "tools/trace/load.h"
#include "tools/trace/message.h"
#include "tools/trace/run.h"
#include "tools/trace/source.h"
#include "tools/trace/writer.h"

#define PERIOD 1009u /* a prime: loops do not keep step with it */
#define ENTRIES 65536u

static const char usage[] =
    "Usage: ppu-prof [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "       ppu-prof [OPTION]... --read RECORD\n"
    "\n"
    "Counts what kernels of PROGRAM execute, by source line and by instruction: warp instructions, the lanes that are active\n"
    "at each, memory transactions of each, branches that diverge, and stalls. Prints the sources with these numbers beside\n"
    "them, variants of a program and work that threads launch apart.\n"
    "\n"
    "  --exact            count every instruction; slow. Default: samples\n"
    "  --period N         one sample in about N warp instructions (default: 1009)\n"
    "  --entries N        instructions that each PPU has room for, a power of two (default: 65536)\n"
    "  --insns            print the instructions of each line, too\n"
    "  --firmware         count what the microcontroller executes, too, by the functions of its firmware; for machines that\n"
    "                     PROGRAM starts\n"
    "  --folded FILE      write the stacks of these functions there, for programs that draw flame graphs\n"
    "  --whole            print what was not executed, too\n"
    "  --source FOLDER    look for sources of compiled programs there first\n"
    "  -o, --output FILE  keep the record, for --read, ppu-report and ppu-trace --convert\n"
    "  --read RECORD      run nothing; print the profile of a record\n"
    "  --help             print this help\n"
    "  --version          print the version\n"
    "\n"
    "The text goes to standard error when PROGRAM runs, and to standard output with --read.\n"
    "\n"
    "Exit status:\n"
    "  2    an option is wrong, or there is no profile\n"
    "  126  PROGRAM cannot be executed\n"
    "  127  there is no PROGRAM\n"
    "  PROGRAM's, when it was executed (128 and the number of the signal that ended it); else 0\n";

struct options {
    struct annotate_options annotate;
    uint32_t period;
    uint32_t entries;
    const char *output; /* NULL: the record is not kept */
    const char *read;
    bool firmware;
    const char *folded; /* NULL: stacks are not written */
    char **program;
};

/* ---- options ---- */

static uint32_t read_entries(const char *text)
{
    uint32_t entries = (uint32_t)message_number("--entries", text, PPU_PROFILE_LEAST, PPU_PROFILE_MOST);

    if (!PPU_IS_POWER_OF_TWO(entries)) {
        message_fail("read the options: --entries %s is no power of two", text);
    }
    return entries;
}

static struct options parse(int argc, char **argv)
{
    enum { EXACT = 256, EVERY, ROOM, INSNS, WHOLE, SOURCE, READ, FIRMWARE, FOLDED };
    static const struct option known[] = {
        { "exact", no_argument, NULL, EXACT },
        { "period", required_argument, NULL, EVERY },
        { "entries", required_argument, NULL, ROOM },
        { "insns", no_argument, NULL, INSNS },
        { "whole", no_argument, NULL, WHOLE },
        { "source", required_argument, NULL, SOURCE },
        { "firmware", no_argument, NULL, FIRMWARE },
        { "folded", required_argument, NULL, FOLDED },
        { "output", required_argument, NULL, 'o' },
        { "read", required_argument, NULL, READ },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    struct options options = { .period = PERIOD, .entries = ENTRIES };

    for (int option; (option = getopt_long(argc, argv, "+o:hV", known, NULL)) != -1;) {
        switch (option) {
        case EXACT:
            options.period = PPU_PROFILE_EXACT;
            break;
        case EVERY:
            options.period = (uint32_t)message_number("--period", optarg, 2, PPU_PROFILE_PERIOD_MOST);
            break;
        case ROOM:
            options.entries = read_entries(optarg);
            break;
        case INSNS:
            options.annotate.insns = true;
            break;
        case WHOLE:
            options.annotate.whole = true;
            break;
        case SOURCE:
            source_look_in(optarg);
            break;
        case FIRMWARE:
            options.firmware = true;
            break;
        case FOLDED:
            options.folded = optarg;
            break;
        case 'o':
            options.output = optarg;
            break;
        case READ:
            options.read = optarg;
            break;
        case 'h':
            message_help(usage);
        case 'V':
            message_version();
        default:
            message_bad_option();
        }
    }
    options.program = argv + optind;
    return options;
}

static struct options read_options(int argc, char **argv)
{
    struct options options = parse(argc, argv);

    if (!options.read == !*options.program) {
        message_fail("read the options: %s", options.read ? "a program and --read exclude each other"
                                                          : "profile what? Name a program or --read");
    }
    if (options.read && options.firmware) {
        message_fail("read the options: --firmware goes with a program; --read shows what its record has");
    }
    if (options.folded && !options.firmware && !options.read) {
        message_fail("read the options: --folded goes with --firmware, or with --read");
    }
    if (options.read && options.output) {
        message_fail("read the options: --output goes with a program; --read has its record");
    }
    return options;
}

/* ---- records ---- */

static void write_folded(const char *path, const struct stacks *stacks)
{
    FILE *file = fopen(path, "we");

    if (file) {
        stacks_fold(stacks, file);
    }
    if (!file || fflush(file) != 0 || ferror(file) || fclose(file) != 0) {
        message_fail("write %s: %s", path, strerror(errno));
    }
}

static void print_stacks(FILE *to, const struct options *options, const struct stacks *stacks)
{
    if (options->folded) {
        write_folded(options->folded, stacks);
    }
    if (stacks->nodes != 0) {
        functions_print(to, stacks);
    }
}

/* Counts of a machine of its own (ppu-run --mcu-counts); false: it is a record. */
static bool print_counts(int fd, const struct options *options)
{
    struct mcu_counts counts;
    struct stacks stacks;

    if (mcu_counts_open(&counts, fd)) {
        return false;
    }
    stacks_of_counts(&stacks, &counts);
    if (stacks.nodes == 0) {
        message_fail("read %s: the microcontrollers have executed nothing", options->read);
    }
    print_stacks(stdout, options, &stacks);
    stacks_free(&stacks);
    mcu_counts_close(&counts);
    return true;
}

static void print_record(FILE *to, int fd, const char *path, const struct options *all)
{
    const struct annotate_options *options = &all->annotate;
    struct profile profile;
    struct stacks stacks;

    progress_begin("read %s", path);
    load_profile_file(&profile, fd, path);
    load_stacks_file(&stacks, fd, path);
    progress_end();
    if (all->folded && stacks.nodes == 0) {
        message_fail("write %s: the record has no stacks of the firmware: --firmware counts them", all->folded);
    }
    if (!profile.known && stacks.nodes == 0) {
        message_fail("read %s: it has no profile: no PPU was opened, or none had %s", path,
                     "room in its memory for the table, or the record is ppu-trace's");
    }
    if (profile.known) {
        annotate_print(to, &profile, options);
    }
    print_stacks(to, all, &stacks);
    profile_free(&profile);
    stacks_free(&stacks);
    if (fflush(to) != 0) {
        message_fail("write the profile: %s", strerror(errno));
    }
}

static int read_record(const struct options *options)
{
    int fd = load_open(options->read);

    if (!print_counts(fd, options)) {
        print_record(stdout, fd, options->read, options);
    }
    close(fd);
    return 0;
}

static int profile_program(const struct options *options)
{
    const char *name = options->output ? options->output : "a temporary file";
    static struct watch watch;
    struct writer_state writer = { .file = options->output ? fopen(options->output, "w+e") : tmpfile() };
    struct watch_sink sink = writer_sink;
    const uint64_t began_ns = clock_now_ns();

    if (!writer.file || !record_begin(writer.file)) {
        message_fail("write %s: %s", name, strerror(errno));
    }
    sink.opaque = &writer;
    watch.sink = &sink;
    watch.profile_period = options->period;
    watch.profile_entries = options->entries;
    watch.count_firmware = options->firmware;
    int status = run_program(&watch, options->program);
    watch_end(&watch);
    const struct record_end end = { began_ns, clock_now_ns() };
    bool written =
        !writer.failed && record_write(writer.file, RECORD_END, &end, sizeof(end), NULL, 0) && fflush(writer.file) == 0;
    if (!written) {
        message_fail("write %s: %s", name, strerror(writer.failed ? writer.reason : errno));
    }
    if (status != 126 && status != 127) {
        print_record(stderr, fileno(writer.file), name, options);
    }
    fclose(writer.file);
    return status;
}

int main(int argc, char **argv)
{
    message_begin("ppu-prof", argv);
    const struct options options = read_options(argc, argv);
    if (options.read) {
        return read_record(&options);
    }
    run_catch_signals();
    return profile_program(&options);
}
