/* SPDX-License-Identifier: MIT */
/* ppucc: OpenCL C to a program image, and what the compiler made on the way. */
#include "facts.h"
#include "file.h"
#include "ppu/image.h"
#include "ppu_compiler.h"
#include "ppuasm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ppucc [OPTION]... FILE.cl [-- BUILD-OPTION...]\n"
    "Compiles OpenCL C (or bitcode: FILE.bc) to a program image.\n"
    "  -o FILE        the image (default: none is written)\n"
    "  -S             print assembly, with the lines of the source\n"
    "  --bitcode FILE write the front end's bitcode and stop\n"
    "  --stats        print numbers of each kernel\n"
    "  --wave N       threads a warp: 32, 64, 128\n"
    "  --vregs N, --sregs N   use at most so many registers\n"
    "  --dump PASS    print what a pass made: ir, flow, select, combine, guard, schedule, assign,\n"
    "                 subvector; may be repeated\n"
    "  --subvector=off|enter|duplicate|loop|may   parts of a wave run through segments one by one\n"
    "  --subvector-threshold=N|N%|occupancy       segments need more registers than this\n"
    "  --subvector-run=N                          runs of N instructions, not of those above the threshold\n"
    "  --subvector-default=normal|inverted        the mode that tasks start in\n"
    "  --subvector-sm=VREGS,WARPS                 what an SM holds, for the occupancy\n"
    "  --stats-svg FILE                           the curves and segments of all kernels as a picture\n"
    "  --facts FACTS  compile one kernel for launches of which this is known: \"KERNEL FACT...\",\n"
    "                 as PPU_ALIAS_PRINT shows them\n"
    "What follows -- is given to the compiler as clBuildProgram's options.\n";

struct command {
    const char *input;
    const char *output;
    const char *bitcode;
    bool assembly;
    char build_options[4096];
    struct ppu_compile_options options;
    struct facts_text facts;
};

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "ppucc: %s: %s\n", what, why);
    return false;
}

static bool add_dump(struct command *command, const char *name)
{
    static const struct {
        const char *name;
        uint32_t dump;
    } passes[] = { { "ir", PPU_DUMP_IR },         { "flow", PPU_DUMP_FLOW },
                   { "select", PPU_DUMP_SELECT }, { "combine", PPU_DUMP_COMBINE },
                   { "guard", PPU_DUMP_GUARD },   { "schedule", PPU_DUMP_SCHEDULE },
                   { "assign", PPU_DUMP_ASSIGN }, { "subvector", PPU_DUMP_SUBVECTOR } };

    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        if (strcmp(passes[i].name, name) == 0) {
            command->options.dump |= passes[i].dump;
            return true;
        }
    }
    return fail(name, "no such pass (see --help)");
}

static bool set_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    return (*text != 0 && *end == 0 && value <= 256) || fail(text, "not a number that fits");
}

static bool set_run(struct command *command, const char *text)
{
    return set_number(text, &command->options.subvector.run);
}

static bool set_form(struct command *command, const char *text)
{
    static const char *const names[] = { "off", "enter", "duplicate", "loop", "may" };

    for (uint32_t form = 0; form < sizeof(names) / sizeof(names[0]); form++) {
        if (strcmp(text, names[form]) == 0) {
            command->options.subvector.form = (enum ppu_subvector_form)form;
            return true;
        }
    }
    return fail(text, "no such form (see --help)");
}

static bool set_threshold(struct command *command, const char *text)
{
    struct ppu_compile_subvector *subvector = &command->options.subvector;
    char *end;

    if (strcmp(text, "occupancy") == 0) {
        subvector->threshold_kind = PPU_THRESHOLD_OCCUPANCY;
        return true;
    }
    subvector->threshold = (uint32_t)strtoul(text, &end, 10);
    subvector->threshold_kind = *end == '%' ? PPU_THRESHOLD_PERCENT : PPU_THRESHOLD_REGISTERS;
    return (end != text && (*end == 0 || strcmp(end, "%") == 0) && subvector->threshold <= PPU_MAX_VREGS) ||
           fail(text, "not a threshold (see --help)");
}

static bool set_sm(struct command *command, const char *text)
{
    struct ppu_compile_subvector *subvector = &command->options.subvector;
    int end = 0;

    return (sscanf(text, "%u,%u%n", &subvector->sm_vregs, &subvector->sm_warps, &end) == 2 && text[end] == 0) ||
           fail(text, "not two numbers");
}

static bool set_default(struct command *command, const char *text)
{
    command->options.subvector.inverted = strcmp(text, "inverted") == 0;
    return command->options.subvector.inverted || strcmp(text, "normal") == 0 ||
           fail(text, "no such mode (see --help)");
}

/* --subvector=... and its kin. */
static bool set_subvector(struct command *command, const char *option)
{
    static const struct {
        const char *name;
        bool (*set)(struct command *command, const char *text);
    } options[] = { { "--subvector=", set_form },
                    { "--subvector-threshold=", set_threshold },
                    { "--subvector-run=", set_run },
                    { "--subvector-default=", set_default },
                    { "--subvector-sm=", set_sm } };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        size_t len = strlen(options[i].name);
        if (strncmp(option, options[i].name, len) == 0) {
            return options[i].set(command, option + len);
        }
    }
    return fail(option, "no such option (see --help)");
}

static bool open_svg(struct command *command, const char *path)
{
    command->options.subvector.svg = fopen(path, "w");
    return command->options.subvector.svg != NULL || fail(path, strerror(errno));
}

static bool set_value(struct command *command, const char *option, const char *value)
{
    if (strcmp(option, "-o") == 0) {
        command->output = value;
    } else if (strcmp(option, "--bitcode") == 0) {
        command->bitcode = value;
    } else if (strcmp(option, "--wave") == 0) {
        return set_number(value, &command->options.wave);
    } else if (strcmp(option, "--vregs") == 0) {
        return set_number(value, &command->options.max_vregs);
    } else if (strcmp(option, "--sregs") == 0) {
        return set_number(value, &command->options.max_sregs);
    } else if (strcmp(option, "--dump") == 0) {
        return add_dump(command, value);
    } else if (strcmp(option, "--stats-svg") == 0) {
        return open_svg(command, value);
    } else if (strcmp(option, "--facts") == 0) {
        command->options.facts = &command->facts.facts;
        return facts_parse(value, &command->facts) || fail(value, "malformed facts (see docs/spec/alias.md)");
    } else {
        return fail(option, "no such option (see --help)");
    }
    return true;
}

static bool parse(struct command *command, int argc, char **argv)
{
    int i = 1;

    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-') {
            command->input = argv[i];
        } else if (strcmp(argv[i], "-S") == 0) {
            command->assembly = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            command->options.dump |= PPU_DUMP_STATS;
        } else if (strncmp(argv[i], "--subvector", 11) == 0) {
            if (!set_subvector(command, argv[i])) {
                return false;
            }
        } else if (i + 1 == argc) {
            return fail(argv[i], "no such option, or nothing behind it (see --help)");
        } else {
            const char *option = argv[i++];
            if (!set_value(command, option, argv[i])) {
                return false;
            }
        }
    }
    for (i++; i < argc; i++) {
        size_t used = strlen(command->build_options), room = sizeof(command->build_options) - used;
        int len = snprintf(command->build_options + used, room, "%s ", argv[i]);
        if (len < 0 || (size_t)len >= room) {
            return fail(argv[i], "too many options");
        }
    }
    command->options.options = command->build_options;
    command->options.name = command->input;
    return command->input != NULL || fail("no file", "see --help");
}

static bool write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(bytes, 1, len, file) == len;

    if (file != NULL && fclose(file) != 0) {
        written = false;
    }
    return written || fail(path, strerror(errno));
}

/* Line `number` of a text, without its end. */
static void print_source_line(const char *source, uint32_t number)
{
    for (uint32_t line = 1; line < number && source != NULL; line++) {
        source = strchr(source, '\n');
        source = source != NULL ? source + 1 : NULL;
    }
    if (source != NULL) {
        printf("# %4u %.*s\n", number, (int)strcspn(source, "\n"), source);
    }
}

static uint32_t code_end(const struct ppu_program_view *view, uint32_t kernel)
{
    return kernel + 1 < view->header->kernels ? view->kernels[kernel + 1].entry : view->header->code_bytes;
}

static void print_kernel(const struct ppu_program_view *view, uint32_t kernel, const char *source)
{
    const struct ppu_kernel_entry *entry = &view->kernels[kernel];
    uint32_t last = 0;

    ppuasm_print_kernel(view, entry, stdout);
    for (uint32_t at = entry->entry; at < code_end(view, kernel); at += PPU_INSN_BYTES) {
        uint32_t line = ppu_program_line(view, at / PPU_INSN_BYTES);
        char text[PPUASM_TEXT_BYTES];
        uint64_t word;

        if (line != last && source != NULL) {
            print_source_line(source, line);
        }
        last = line;
        memcpy(&word, view->code + at, sizeof(word));
        ppuasm_disassemble(word, text);
        printf("    %-48s # %u\n", text, at / PPU_INSN_BYTES);
    }
}

static bool deliver(const struct command *command, const struct ppu_compiled *image, const char *source)
{
    struct ppu_program_view view;
    const char *why = ppu_program_open(image->bytes, image->len_bytes, &view);

    if (why != NULL) {
        return fail("internal error", why);
    }
    for (uint32_t k = 0; command->assembly && k < view.header->kernels; k++) {
        print_kernel(&view, k, source);
    }
    return command->output == NULL || write_file(command->output, image->bytes, image->len_bytes);
}

static bool is_bitcode(const char *path)
{
    size_t len = strlen(path);

    return len > 3 && strcmp(path + len - 3, ".bc") == 0;
}

static bool compile(const struct command *command, const char *source, size_t len)
{
    struct ppu_compiled made;
    enum ppu_compile_status status;
    bool done;

    if (is_bitcode(command->input)) {
        status = ppu_compile_bitcode(source, len, &command->options, &made);
        source = NULL;
    } else if (command->bitcode != NULL) {
        status = ppu_compile_source(source, len, &command->options, &made);
    } else {
        status = ppu_compile(source, len, &command->options, &made);
    }
    fputs(made.log, stderr);
    if (status != PPU_COMPILE_OK) {
        done = fail(command->input, ppu_compile_status_text(status));
    } else if (command->bitcode != NULL) {
        done = write_file(command->bitcode, made.bytes, made.len_bytes);
    } else {
        done = deliver(command, &made, source);
    }
    ppu_compiled_free(&made);
    return done;
}

int main(int argc, char **argv)
{
    static struct command command;
    size_t len;
    char *source;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (!parse(&command, argc, argv)) {
        return EXIT_FAILURE;
    }
    source = file_read(command.input, &len);
    if (source == NULL) {
        fail(command.input, strerror(errno));
        return EXIT_FAILURE;
    }
    bool done = compile(&command, source, len);
    free(source);
    if (command.options.subvector.svg != NULL && fclose(command.options.subvector.svg) != 0) {
        done = fail("picture", strerror(errno));
    }
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
