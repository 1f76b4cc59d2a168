/* SPDX-License-Identifier: MIT */
/* Assembles source text into a program image (ppu-as). */
#include "tools/asm/command.h"
#include "tools/asm/file.h"
#include "tools/asm/ppuasm.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_DEFSYM = 0x100, OPTION_MD, OPTION_UNCHECKED };

static const char doc[] =
    "Assembles each FILE, one after the other, into one program image of the PPU. With no FILE, or when FILE is -, "
    "standard input is read.\v"
    "@FILE stands for the options and names in FILE. An error is told as file:line:column: error: sentence.\n\n"
    "Exit status:\n"
    "  0  the image was written\n"
    "  1  it was not: an error in the source or the options, or a file that cannot be read or written\n\n"
    "docs/spec/isa.md describes the language.";

static const struct argp_option options[] = {
    { NULL, 'o', "IMAGE", 0,
      "write the image there (default: the first FILE with .ppu for its ending; a.ppu for standard input)", 0 },
    { NULL, 'I', "DIR", 0, "look there too for files that .include names", 0 },
    { "defsym", OPTION_DEFSYM, "SYMBOL=NUMBER", 0, "as .set SYMBOL, NUMBER before the first line", 0 },
    { "MD", OPTION_MD, "FILE", 0, "write there, as a rule of make, which files the image was made from", 0 },
    { "unchecked", OPTION_UNCHECKED, NULL, 0,
      "take sub-vector loops as they are; programs with wrong ones are not loaded", 0 },
    { 0 },
};

struct command {
    const char *output;
    const char *dependencies;
    struct ppuasm_input *inputs;
    struct ppuasm_symbol *symbols;
    const char **folders;
    char **included;
    uint32_t input_count, symbol_count, folder_count, included_count;
    bool unchecked;
};

static void add_symbol(struct command *command, struct argp_state *state, char *text)
{
    char *equals = strchr(text, '='), *end = NULL;
    struct ppuasm_symbol symbol = { .name = text };

    if (!equals || !ppuasm_symbol_name(text, (size_t)(equals - text))) {
        argp_error(state, "--defsym %s: expected NAME=NUMBER, with a name that is no register's", text);
        return;
    }
    errno = 0;
    symbol.value = equals[1] == '-' ? strtoll(equals + 1, &end, 0) : (int64_t)strtoull(equals + 1, &end, 0);
    if (errno != 0 || end == equals + 1 || *end != 0) {
        argp_error(state, "--defsym %s: '%s' is no number of 64 bits", text, equals + 1);
    }
    *equals = 0;
    command->symbols = command_grow(command->symbols, command->symbol_count, sizeof(symbol));
    command->symbols[command->symbol_count++] = symbol;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct command *command = state->input;

    switch (key) {
    case 'o':
        command->output = text;
        return 0;
    case 'I':
        command->folders = command_grow(command->folders, command->folder_count, sizeof(*command->folders));
        command->folders[command->folder_count++] = text;
        return 0;
    case OPTION_DEFSYM:
        add_symbol(command, state, text);
        return 0;
    case OPTION_MD:
        command->dependencies = text;
        return 0;
    case OPTION_UNCHECKED:
        command->unchecked = true;
        return 0;
    case ARGP_KEY_ARG:
        command->inputs = command_grow(command->inputs, command->input_count, sizeof(*command->inputs));
        command->inputs[command->input_count++].name = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- texts ---- */

static bool read_inputs(struct command *command)
{
    for (uint32_t i = 0; i < command->input_count; i++) {
        struct ppuasm_input *input = &command->inputs[i];
        size_t len = 0;
        char *text = command_read(input->name, &len);
        if (!text) {
            return command_fail("read %s: %s", input->name, strerror(errno));
        }
        if (strlen(text) != len) {
            return command_fail("read %s: it is no text: a zero byte is in it", input->name);
        }
        input->text = text;
        input->name = strcmp(input->name, "-") == 0 ? "<stdin>" : input->name;
    }
    return true;
}

static bool read_included(struct command *command, const char *folder, const char *name, char **path, char **text)
{
    size_t len = 0;

    if (asprintf(path, "%s%s%s", folder, *folder != 0 ? "/" : "", name) < 0) {
        *path = NULL;
        return false;
    }
    *text = file_read(*path, &len);
    if (!*text || strlen(*text) != len) {
        free(*text);
        free(*path);
        *path = *text = NULL;
        return false;
    }
    command->included = command_grow(command->included, command->included_count, sizeof(*command->included));
    command->included[command->included_count++] = strdup(*path);
    return true;
}

static bool include(void *closure, const char *name, char **path, char **text)
{
    struct command *command = closure;
    bool found = read_included(command, "", name, path, text);

    for (uint32_t i = 0; i < command->folder_count && !found && name[0] != '/'; i++) {
        found = read_included(command, command->folders[i], name, path, text);
    }
    return found;
}

static void report(void *closure, const char *message)
{
    (void)closure;
    command_print_diagnostics(message);
}

/* ---- outputs ---- */

static bool write_dependencies(const struct command *command)
{
    FILE *file = fopen(command->dependencies, "w");

    if (!file) {
        return command_fail("write %s: %s", command->dependencies, strerror(errno));
    }
    fputs(command->output, file);
    putc(':', file);
    for (uint32_t i = 0; i < command->input_count; i++) {
        bool named = strcmp(command->inputs[i].name, "<stdin>") != 0;
        fprintf(file, "%s%s", named ? " " : "", named ? command->inputs[i].name : "");
    }
    for (uint32_t i = 0; i < command->included_count; i++) {
        fprintf(file, " %s", command->included[i]);
    }
    putc('\n', file);
    return fclose(file) == 0 || command_fail("write %s: %s", command->dependencies, strerror(errno));
}

static bool assemble_files(struct command *command)
{
    const struct ppuasm_source source = {
        .inputs = command->inputs,
        .input_count = command->input_count,
        .symbols = command->symbols,
        .symbol_count = command->symbol_count,
        .include = include,
        .report = report,
        .closure = command,
        .check = !command->unchecked,
    };
    struct ppuasm_image image;

    command_show_progress("assemble", command->inputs[0].name);
    if (!read_inputs(command) || !ppuasm_assemble_source(&source, &image)) {
        return false;
    }
    bool done = command_write(command->output, image.bytes, image.len_bytes);
    free(image.bytes);
    return done && (!command->dependencies || write_dependencies(command));
}

int main(int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, "[FILE...]", doc, NULL, NULL, NULL };
    static struct command command;

    command_begin("ppu-as", &argc, &argv);
    if (argp_parse(&argp, argc, argv, 0, NULL, &command) != 0) {
        return EXIT_FAILURE;
    }
    if (command.input_count == 0) {
        command.inputs = command_grow(command.inputs, 0, sizeof(*command.inputs));
        command.inputs[command.input_count++].name = "-";
    }
    if (!command.output) {
        command.output = command_output_name(command.inputs[0].name, ".ppu");
    }
    return assemble_files(&command) ? EXIT_SUCCESS : EXIT_FAILURE;
}
