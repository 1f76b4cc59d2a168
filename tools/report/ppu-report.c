/* SPDX-License-Identifier: MIT */
/* Shows a record of ppu-trace as one page for a browser, or as a picture. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/progress/progress.h"
#include "tools/report/page.h"
#include "tools/trace/load.h"
#include "tools/trace/message.h"

static const char usage[] =
    "Usage: ppu-report [OPTION]... RECORD\n"
    "\n"
    "Makes one page of HTML from a record of ppu-trace or ppu-prof: a timeline to zoom, move and search in, counters over\n"
    "time, a table of kernels, faults, trees of launches by threads, sources with what was counted, and a flame graph of the\n"
    "firmware. The page needs no network and no other file.\n"
    "\n"
    "  -o, --output FILE  where to (default: ppu.html, or ppu.svg)\n"
    "  --limits RECORD    compare kernels with what this host can do: with a record of examples/libppu/limits.c\n"
    "  --svg              make a picture of the timeline in SVG instead\n"
    "  --lanes N          with --svg: draw at most N of the slices that lie beside each other on a track\n"
    "  --flame            make the flame graph of the firmware in SVG instead\n"
    "  --help             print this help\n"
    "  --version          print the version\n"
    "\n"
    "Exit status:\n"
    "  0    the page was written\n"
    "  2    an option is wrong, the record cannot be read, or the page not written\n";

enum picture {
    PICTURE_NONE, /* a page */
    PICTURE_TIMELINE,
    PICTURE_FLAME,
};

struct options {
    const char *output;
    const char *limits; /* NULL: kernels are compared with nothing */
    const char *record;
    enum picture picture;
    uint32_t lanes; /* of each track, in a picture */
};

static struct options report_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' }, { "limits", required_argument, NULL, 'l' },
        { "lanes", required_argument, NULL, 'n' },  { "svg", no_argument, NULL, 's' },
        { "flame", no_argument, NULL, 'f' },        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },      { 0 },
    };
    struct options options = { .lanes = UINT32_MAX };

    for (int option; (option = getopt_long(argc, argv, "o:hV", known, NULL)) != -1;) {
        switch (option) {
        case 'o':
            options.output = optarg;
            break;
        case 'l':
            options.limits = optarg;
            break;
        case 'n':
            options.lanes = (uint32_t)message_number("--lanes", optarg, 1, UINT32_MAX);
            break;
        case 's':
            options.picture = PICTURE_TIMELINE;
            break;
        case 'f':
            options.picture = PICTURE_FLAME;
            break;
        case 'h':
            message_help(usage);
        case 'V':
            message_version();
        default:
            message_bad_option();
        }
    }
    if (argc - optind != 1) {
        message_fail("read the options: %s", argc == optind ? "show which record?" : "one record at a time");
    }
    options.record = argv[optind];
    options.output = options.output ? options.output : options.picture == PICTURE_NONE ? "ppu.html" : "ppu.svg";
    return options;
}

static void write_report(const struct options *options, const struct page *page)
{
    FILE *file = fopen(options->output, "we");
    bool written = file && (options->picture == PICTURE_TIMELINE ? svg_write(file, page->timeline, options->lanes)
                            : options->picture == PICTURE_FLAME  ? flame_write(file, page->stacks)
                                                                 : page_write(file, page));
    int reason = errno;

    if (file && fclose(file) != 0) {
        written = false;
        reason = errno;
    }
    if (!written) {
        message_fail("write %s: %s", options->output, strerror(reason));
    }
}

/* What ppu-report compares kernels with; one that has no counts is refused. */
static void load_limits(struct timeline *limits, const char *path)
{
    bool known = false;

    load_timeline(limits, path);
    for (uint32_t i = 0; i < limits->kernels; i++) {
        known |= limits->kernel[i].count[PPU_COUNTER_TRANSACTIONS] != 0 && limits->kernel[i].run_ns != 0;
    }
    if (!known) {
        message_fail("read %s: it has no kernel whose time and counts are known, and so no limits", path);
    }
}

int main(int argc, char **argv)
{
    struct timeline timeline, limits = { .sections = 0 };
    struct profile profile;
    struct stacks stacks;

    message_begin("ppu-report", argv);
    const struct options options = report_options(argc, argv);
    progress_begin("read %s", options.record);
    int fd = load_open(options.record);
    load_timeline_file(&timeline, fd, options.record);
    load_profile_file(&profile, fd, options.record);
    load_stacks_file(&stacks, fd, options.record);
    close(fd);
    progress_end();
    if (options.picture == PICTURE_FLAME && stacks.nodes == 0) {
        message_fail("read %s: it has no stacks of the firmware: ppu-trace --firmware counts them", options.record);
    }
    if (options.limits) {
        load_limits(&limits, options.limits);
    }
    const struct page page = { &timeline, &profile, &stacks, options.limits ? &limits : NULL };
    progress_begin("write %s", options.output);
    write_report(&options, &page);
    progress_end();
    profile_free(&profile);
    stacks_free(&stacks);
    timeline_free(&timeline);
    timeline_free(&limits);
    return 0;
}
