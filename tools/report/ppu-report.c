/* SPDX-License-Identifier: MIT */
/* Shows a record of ppu-trace as one page for a browser, or as a picture. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/report/page.h"
#include "tools/trace/load.h"
#include "tools/trace/message.h"

static const char usage[] =
    "Usage: ppu-report [OPTION]... RECORD\n"
    "\n"
    "Makes one page of HTML from a record of ppu-trace or ppu-prof: a timeline to zoom, move and search in, counters over\n"
    "time, a table of kernels, faults, trees of launches by threads, and sources with what was counted. The page needs no network and no other file.\n"
    "\n"
    "  -o, --output FILE  where to (default: ppu.html, or ppu.svg)\n"
    "  --svg              make a picture of the timeline in SVG instead\n"
    "  --help             print this help\n"
    "  --version          print the version\n"
    "\n"
    "Exit status:\n"
    "  0    the page was written\n"
    "  2    an option is wrong, the record cannot be read, or the page not written\n";

static void write_report(const char *path, const struct timeline *timeline, const struct profile *profile, bool svg)
{
    FILE *file = fopen(path, "we");
    bool written = file && (svg ? svg_write(file, timeline) : page_write(file, timeline, profile));
    int reason = errno;

    if (file && fclose(file) != 0) {
        written = false;
        reason = errno;
    }
    if (!written) {
        message_fail("write %s: %s", path, strerror(reason));
    }
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' },
        { "svg", no_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    const char *output = NULL;
    struct timeline timeline;
    struct profile profile;
    bool svg = false;

    message_begin("ppu-report", argv);
    for (int option; (option = getopt_long(argc, argv, "o:hV", known, NULL)) != -1;) {
        switch (option) {
        case 'o':
            output = optarg;
            break;
        case 's':
            svg = true;
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
    int fd = load_open(argv[optind]);
    load_timeline_file(&timeline, fd, argv[optind]);
    load_profile_file(&profile, fd, argv[optind]);
    close(fd);
    write_report(output ? output : svg ? "ppu.svg" : "ppu.html", &timeline, &profile, svg);
    profile_free(&profile);
    timeline_free(&timeline);
    return 0;
}
