/* SPDX-License-Identifier: MIT */
/* Records what programs, firmware and devices do, from a program's start or on machines that already run. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/progress/progress.h"
#include "tools/trace/chrome.h"
#include "tools/trace/clock.h"
#include "tools/trace/follow.h"
#include "tools/trace/load.h"
#include "tools/trace/message.h"
#include "tools/trace/process.h"
#include "tools/trace/run.h"
#include "tools/trace/writer.h"

static const char usage[] =
    "Usage: ppu-trace [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "       ppu-trace [OPTION]... --pid PID\n"
    "       ppu-trace [OPTION]... --all\n"
    "       ppu-trace [OPTION]... --convert RECORD\n"
    "\n"
    "Records what PROGRAM and its PPUs do, or what programs do that already run: calls of OpenCL, commands, channels, tasks,\n"
    "CTAs, copies, semaphores, faults, interrupts, all by one clock. Ends with PROGRAM, or when it is interrupted.\n"
    "\n"
    "  -o, --output FILE  where to (default: ppu.trace). A name that ends in .json gets trace events in JSON, which\n"
    "                     ui.perfetto.dev and chrome://tracing open; any other a record, for ppu-report and --convert\n"
    "  --pid PID          record a process that already runs\n"
    "  --all              record all processes of this user that have PPUs, also those that start meanwhile\n"
    "  --seconds N        with --pid and --all: end after so long\n"
    "  --warps            record what each warp does, too: many records\n"
    "  --firmware         count the instructions that the microcontroller executes for each record of its firmware, and by\n"
    "                     function; for machines that PROGRAM starts\n"
    "  --convert RECORD   record nothing; make JSON of a record\n"
    "  --help             print this help\n"
    "  --version          print the version\n"
    "\n"
    "Exit status:\n"
    "  2    an option is wrong, or nothing can be recorded\n"
    "  126  PROGRAM cannot be executed\n"
    "  127  there is no PROGRAM\n"
    "  PROGRAM's, when it was executed (128 and the number of the signal that ended it); else 0\n";

struct options {
    const char *output;
    const char *convert;
    uint32_t pid; /* 0: none */
    bool all;
    unsigned long seconds; /* 0: no end */
    bool warps;
    bool firmware;
    char **program;
};

/* ---- options ---- */

static struct options read_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' },  { "pid", required_argument, NULL, 'p' },
        { "all", no_argument, NULL, 'a' },           { "seconds", required_argument, NULL, 's' },
        { "convert", required_argument, NULL, 'c' }, { "warps", no_argument, NULL, 'w' },
        { "firmware", no_argument, NULL, 'f' },      { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },       { 0 },
    };
    struct options options = { .output = NULL };

    for (int option; (option = getopt_long(argc, argv, "+o:hV", known, NULL)) != -1;) {
        switch (option) {
        case 'o':
            options.output = optarg;
            break;
        case 'p':
            options.pid = (uint32_t)message_number("--pid", optarg, 1, INT32_MAX);
            break;
        case 'a':
            options.all = true;
            break;
        case 's':
            options.seconds = message_number("--seconds", optarg, 1, 1000000);
            break;
        case 'c':
            options.convert = optarg;
            break;
        case 'w':
            options.warps = true;
            break;
        case 'f':
            options.firmware = true;
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
    int what = (options.pid != 0) + options.all + !!options.convert + !!*options.program;
    if (what != 1) {
        message_fail("read the options: %s", what == 0 ? "record what? Name a program, --pid, --all or --convert"
                                                       : "a program, --pid, --all and --convert exclude each other");
    }
    if (options.seconds != 0 && !options.all && options.pid == 0) {
        message_fail("read the options: --seconds goes with --pid and --all; a program ends by itself");
    }
    if (options.firmware && !*options.program) {
        message_fail("read the options: --firmware goes with a program, whose machine counts from its start");
    }
    options.output = options.output ? options.output : options.convert ? "ppu.json" : "ppu.trace";
    return options;
}

static bool wants_json(const char *path)
{
    size_t bytes = strlen(path);

    return bytes >= 5 && strcmp(path + bytes - 5, ".json") == 0;
}

/* ---- files ---- */

static void write_json(const char *path, const struct timeline *timeline)
{
    FILE *file = fopen(path, "we");
    bool written = file && chrome_write(file, timeline);
    int reason = errno;

    if (file && fclose(file) != 0) {
        written = false;
        reason = errno;
    }
    if (!written) {
        message_fail("write %s: %s", path, strerror(reason));
    }
}

static FILE *open_record(const char *path)
{
    FILE *file = wants_json(path) ? tmpfile() : fopen(path, "w+e");

    if (!file || !record_begin(file)) {
        message_fail("write %s: %s", path, strerror(errno));
    }
    return file;
}

/* Ends the record, and makes JSON of it when that is wanted. */
static void close_record(struct writer_state *writer, const char *path, uint64_t began_ns)
{
    const struct record_end end = { began_ns, clock_now_ns() };

    bool written = !writer->failed && record_write(writer->file, RECORD_END, &end, sizeof(end), NULL, 0) &&
                   fflush(writer->file) == 0;
    if (!written) {
        message_fail("write %s: %s", path, strerror(writer->failed ? writer->reason : errno));
    }
    if (wants_json(path)) {
        struct timeline timeline;
        progress_begin("write %s", path);
        load_timeline_file(&timeline, fileno(writer->file), path);
        write_json(path, &timeline);
        timeline_free(&timeline);
        progress_end();
    } else if (writer->lost > 0) {
        message_print("record %s: %llu records are missing; they were overwritten before they were read", path,
                      (unsigned long long)writer->lost);
    }
    fclose(writer->file);
}

/* ---- processes that already run ---- */

static bool is_process_watched(const struct watch *watch, uint32_t pid)
{
    for (uint32_t i = 0; i < watch->processes; i++) {
        if (watch->process[i].pid == pid) {
            return true;
        }
    }
    return false;
}

static void watch_pid(void *opaque, uint32_t pid)
{
    struct watch *watch = opaque;
    uint32_t number = 0;
    int fd = is_process_watched(watch, pid) ? -1 : attach_open_recorder(pid);
    const char *why = fd >= 0 ? watch_process(watch, fd, false, &number) : NULL;

    if (why) {
        message_print("record process %u: %s", pid, why);
    }
}

static void watch_one(struct watch *watch, uint32_t pid)
{
    int fd = attach_open_recorder(pid);
    uint32_t number = 0;

    if (fd < 0) {
        message_fail("record process %u: %s", pid,
                     !process_is_there(pid) ? "there is no such process"
                     : errno == EACCES      ? "it belongs to somebody else, or may not be looked at"
                                            : "it has not opened a PPU, or may not be looked at");
    }
    const char *why = watch_process(watch, fd, false, &number);
    if (why) {
        message_fail("record process %u: %s", pid, why);
    }
}

static void follow_running(struct watch *watch, const struct options *options, uint64_t began_ns)
{
    uint64_t end_ns = options->seconds ? began_ns + options->seconds * CLOCK_NS_PER_S : UINT64_MAX;
    uint64_t look_ns = 0;
    uint32_t pause_ms = 0;

    for (uint64_t now_ns; run_interrupted() == 0 && (now_ns = clock_now_ns()) < end_ns;) {
        if (options->all && now_ns >= look_ns) {
            process_each(watch_pid, watch);
            look_ns = now_ns + CLOCK_NS_PER_S / 4;
        }
        pause_ms = follow_pause_ms(pause_ms, watch_poll(watch, now_ns + RUN_WANTED_NS));
        const struct timespec pause = { 0, (long)(pause_ms * CLOCK_NS_PER_MS) };
        nanosleep(&pause, NULL);
        if (options->pid != 0 && !process_is_there(options->pid)) {
            break;
        }
    }
    while (watch_poll(watch, 0) > 0) {
    }
}

static int record_running(struct watch *watch, const struct options *options, uint64_t began_ns)
{
    if (options->pid != 0) {
        watch_one(watch, options->pid);
        progress_begin("record process %u", options->pid);
    } else {
        progress_begin("record all processes");
    }
    follow_running(watch, options, began_ns);
    progress_end();
    return 0;
}

/* ---- main ---- */

static int convert(const struct options *options)
{
    struct timeline timeline;

    if (!wants_json(options->output)) {
        message_fail("read the options: --convert makes JSON: --output %s does not end in .json", options->output);
    }
    progress_begin("convert %s", options->convert);
    load_timeline(&timeline, options->convert);
    write_json(options->output, &timeline);
    timeline_free(&timeline);
    progress_end();
    return 0;
}

static int record(const struct options *options)
{
    static struct watch watch;
    struct writer_state writer = { .file = open_record(options->output) };
    struct watch_sink sink = writer_sink;
    const uint64_t began_ns = clock_now_ns();

    sink.opaque = &writer;
    watch.sink = &sink;
    watch.warps = options->warps;
    watch.count_firmware = options->firmware;
    int status =
        options->program[0] ? run_program(&watch, options->program) : record_running(&watch, options, began_ns);
    if (writer.devices == 0) {
        message_print("record %s: no PPU was opened", options->program[0] ? options->program[0] : "processes");
    }
    if (watch.failed) {
        message_print("record %s: not enough memory: some of it is not recorded", options->output);
    }
    watch_end(&watch);
    close_record(&writer, options->output, began_ns);
    return status;
}

int main(int argc, char **argv)
{
    message_begin("ppu-trace", argv);
    const struct options options = read_options(argc, argv);
    if (options.convert) {
        return convert(&options);
    }
    run_catch_signals();
    return record(&options);
}
