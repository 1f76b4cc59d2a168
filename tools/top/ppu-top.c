/* SPDX-License-Identifier: MIT */
/* Shows live what the PPUs do that programs of this user have open: on the terminal, as text, as JSON. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/state/why.h"
#include "tools/top/screen.h"
#include "tools/trace/clock.h"
#include "tools/trace/message.h"

#define DELAY_MS 1000u
#define DELAY_MOST_MS 3600000u
#define ANSWER_MS 3000u
#define STATUS_NONE 3
#define STATUS_GONE 4

static const char usage[] =
    "Usage: ppu-top [OPTION]...\n"
    "\n"
    "Shows what the PPUs do that programs of this user have open: load and occupancy of each SM, contexts with memory and\n"
    "time, channels, tasks and why they do not run, load of microcontroller and host threads. It reads memory alone: no\n"
    "PPU has a second owner, and none is held up. On a terminal it goes on until q is pressed; h tells the keys.\n"
    "\n"
    "  -l, --list         print a list of the PPUs; so it does without options, too, where there is no terminal\n"
    "      --once         print one sheet, of two samples, as text, or as JSON with --json\n"
    "      --json         print samples as JSON, an object a line, until interrupted\n"
    "  -d, --delay SECONDS  time between samples (default: 1)\n"
    "  -p, --pid PID      show the PPUs of this process alone\n"
    "      --why TASK     say why a task does not run; its handle is a number, as the sheet shows it\n"
    "      --vram FILE    with --why and --state: read an image of VRAM instead, as the debugger writes it\n"
    "      --state OFFSET where the state area lies in there\n"
    "      --help         print this help\n"
    "      --version      print the version\n"
    "\n"
    "Exit status:\n"
    "  0  it was shown\n"
    "  2  an option is wrong, or nothing can be shown\n"
    "  3  no program of this user has a PPU open, or no PPU has the task\n"
    "  4  every PPU went away, or none answered\n";

enum form {
    FORM_DEFAULT, /* the screen on a terminal, else the list */
    FORM_LIST,
    FORM_ONCE,
    FORM_JSON,
    FORM_JSON_ONCE,
};

struct options {
    bool list, once, json;
    uint32_t pid;
    uint32_t delay_ms;
    const char *why;
    const char *vram;
    const char *state;
};

/* ---- options ---- */

static uint32_t read_delay(const char *text)
{
    char *end = NULL;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0.01) || seconds > DELAY_MOST_MS / 1000.0) {
        message_fail("read the options: --delay takes seconds from 0.01 to %u, not %s", DELAY_MOST_MS / 1000, text);
    }
    return (uint32_t)(seconds * 1000);
}

static void read_option(struct options *options, int option)
{
    switch (option) {
    case 'l':
        options->list = true;
        break;
    case 'o':
        options->once = true;
        break;
    case 'j':
        options->json = true;
        break;
    case 'd':
        options->delay_ms = read_delay(optarg);
        break;
    case 'p':
        options->pid = (uint32_t)message_number("--pid", optarg, 1, INT32_MAX);
        break;
    case 'w':
        options->why = optarg;
        break;
    case 'v':
        options->vram = optarg;
        break;
    case 's':
        options->state = optarg;
        break;
    case 'h':
        message_help(usage);
    case 'V':
        message_version();
    default:
        message_bad_option();
    }
}

static struct options read_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "list", no_argument, NULL, 'l' },
        { "once", no_argument, NULL, 'o' },
        { "json", no_argument, NULL, 'j' },
        { "delay", required_argument, NULL, 'd' },
        { "pid", required_argument, NULL, 'p' },
        { "why", required_argument, NULL, 'w' },
        { "vram", required_argument, NULL, 'v' },
        { "state", required_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    struct options options = { .delay_ms = DELAY_MS };

    for (int option; (option = getopt_long(argc, argv, "ld:p:hV", known, NULL)) != -1;) {
        read_option(&options, option);
    }
    if (argv[optind]) {
        message_fail("read the options: %s is no option", argv[optind]);
    }
    if (options.list + (options.once || options.json) + !!options.why > 1) {
        message_fail("read the options: --list, --once or --json, and --why exclude each other");
    }
    if (!!options.vram != !!options.state || (options.vram && !options.why)) {
        message_fail("read the options: --vram and --state go together, and with --why");
    }
    return options;
}

static enum form form_of(const struct options *options)
{
    return options->json   ? (options->once ? FORM_JSON_ONCE : FORM_JSON)
           : options->once ? FORM_ONCE
           : options->list ? FORM_LIST
                           : FORM_DEFAULT;
}

/* ---- samples ---- */

static void sleep_ms(uint32_t ms)
{
    struct timespec left = { ms / 1000, (long)(ms % 1000) * CLOCK_NS_PER_MS };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* Two samples, so that loads are known. */
static void sample_twice(struct devices *devices, uint32_t delay_ms)
{
    devices_look(devices);
    devices_sample(devices, ANSWER_MS);
    if (devices->count != 0) {
        sleep_ms(delay_ms);
        devices_sample(devices, ANSWER_MS);
    }
}

static int status_of(const struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        if (device_is_shown(devices->device[i])) {
            return 0;
        }
    }
    return devices->count == 0 ? STATUS_NONE : STATUS_GONE;
}

static void check_output(bool written)
{
    if (!written || fflush(stdout) != 0) {
        message_fail("write the output: %s", strerror(errno));
    }
}

static int show_once(struct devices *devices, enum form form, uint32_t delay_ms)
{
    const struct sheet_options sheet = { .each_sm = true, .idle = true };
    bool written = true;

    sample_twice(devices, delay_ms);
    if (form == FORM_JSON_ONCE) {
        written = sheet_json(stdout, devices);
    } else if (form == FORM_ONCE) {
        sheet_write(stdout, devices, &sheet);
    } else {
        sheet_list(stdout, devices);
    }
    check_output(written);
    return status_of(devices);
}

/* Goes on until it is interrupted or, with --pid, until the process has no PPU any more. */
static int show_json(struct devices *devices, uint32_t delay_ms)
{
    bool shown = false;

    for (;;) {
        devices_look(devices);
        devices_sample(devices, ANSWER_MS);
        check_output(sheet_json(stdout, devices));
        if (devices->pid != 0 && devices->count == 0) {
            return shown ? STATUS_GONE : STATUS_NONE;
        }
        shown |= devices->count != 0;
        sleep_ms(delay_ms);
    }
}

static int show_screen(struct devices *devices, uint32_t delay_ms)
{
    if (!screen_run(devices, delay_ms)) {
        message_fail("show the screen: the terminal %s is not known; --once and --json need none",
                     getenv("TERM") ? getenv("TERM") : "(TERM is not set)");
    }
    return 0;
}

/* ---- why ---- */

static bool say_why(const struct view *view, const char *before, uint32_t task)
{
    struct ppu_why why;

    why_task(view, task, &why);
    if (why.reason != PPU_WHY_NO_TASK) {
        printf("%stask 0x%x %s (%s)\n", before, task, why.text, why_name(why.reason));
    }
    return why.reason != PPU_WHY_NO_TASK;
}

static int why_in_devices(struct devices *devices, uint32_t task)
{
    uint32_t found = 0;

    devices_look(devices);
    devices_sample(devices, ANSWER_MS);
    for (uint32_t i = 0; i < devices->count; i++) {
        const struct device *device = devices->device[i];
        char before[64];
        snprintf(before, sizeof(before), "PPU %u of %u: ", device->info.instance, device->pid);
        found += device_is_shown(device) && say_why(&device->now, before, task);
    }
    if (found == 0) {
        message_print("look for task 0x%x: no PPU has it; it has completed, or never was", task);
    }
    return found ? 0 : STATUS_NONE;
}

static uint8_t *read_image(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *image = size > 0 ? malloc((size_t)size) : NULL;

    if (!image || fseek(file, 0, SEEK_SET) != 0 || fread(image, 1, (size_t)size, file) != (size_t)size) {
        message_fail("read %s: %s", path, errno ? strerror(errno) : "it is empty");
    }
    fclose(file);
    *bytes = (size_t)size;
    return image;
}

static int why_in_image(const struct options *options, uint32_t task)
{
    size_t bytes = 0;
    uint8_t *image = read_image(options->vram, &bytes);
    struct view view;
    uint32_t at = (uint32_t)message_number("--state", options->state, 1, UINT32_MAX);
    const char *why = view_take(&view, image, bytes, at);

    if (why) {
        message_fail("read the state in %s: %s", options->vram, why);
    }
    bool found = say_why(&view, "", task);
    if (!found) {
        printf("task 0x%x: it has completed, or never was (NO_TASK)\n", task);
    }
    view_free(&view);
    free(image);
    return found ? 0 : STATUS_NONE;
}

int main(int argc, char **argv)
{
    message_begin("ppu-top", argv);
    const struct options options = read_options(argc, argv);
    struct devices devices = { .pid = options.pid };
    int status;

    if (options.why) {
        uint32_t task = (uint32_t)message_number("--why", options.why, 1, UINT32_MAX);
        status = options.vram ? why_in_image(&options, task) : why_in_devices(&devices, task);
    } else if (form_of(&options) == FORM_JSON) {
        status = show_json(&devices, options.delay_ms);
    } else if (form_of(&options) == FORM_DEFAULT && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        status = show_screen(&devices, options.delay_ms);
    } else {
        status = show_once(&devices, form_of(&options), options.delay_ms);
    }
    devices_free(&devices);
    return status;
}
