/* SPDX-License-Identifier: MIT */
/* Disassembles a program image into text that ppu-as takes back (ppu-dis). */
#include "ppu/image.h"
#include "tools/asm/command.h"
#include "tools/asm/ppuasm.h"
#include "tools/progress/progress.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints what depends on a value. */
static void print_value(const struct ppu_argument_entry *argument)
{
    if (argument->references & PPU_REFERENCE_BOUND) {
        printf("#    a loop ends by it\n");
    }
    for (unsigned dimension = 0; dimension < 3; dimension++) {
        if (argument->references & PPU_REFERENCE_IDS(dimension)) {
            printf("#    global ids of dimension %u are compared with it\n", dimension);
        }
    }
}

/* Prints what a compiled program says of itself. */
static void print_arguments(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel)
{
    static const char *const kinds[PPU_ARGUMENT_KINDS] = { "value", "global", "constant", "local", "queue", "sampler" };

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct ppu_argument_entry *a = &view->arguments[kernel->argument_first + i];
        bool outside = a->offset >= PPU_MAX_PARAM;
        printf("# %s%u: %s %s, %u bytes, %s%s%s%s\n", outside ? "outside, " : "",
               outside ? a->offset - PPU_MAX_PARAM : a->offset, view->text + a->type, view->text + a->name, a->bytes,
               kinds[a->kind] ? kinds[a->kind] : "image", a->references & PPU_REFERENCE_READ ? ", read" : "",
               a->references & PPU_REFERENCE_WRITE ? ", written" : "",
               a->references & PPU_REFERENCE_ESCAPES ? ", escapes" : "");
        if (a->kind == PPU_ARGUMENT_VALUE) {
            print_value(a);
        } else if (a->references != 0) {
            printf("#    %u bytes at least, indexed by%s%s%s%s\n", 1u << a->element_log2,
                   a->references & PPU_REFERENCE_BY_THREAD ? " threads" : "",
                   a->references & PPU_REFERENCE_BY_LOOP ? " loops" : "",
                   a->references & PPU_REFERENCE_BY_ANY ? " anything" : "",
                   a->references & PPU_REFERENCE_DISJOINT ? ", each thread its own" : "");
            if (a->reach.low < a->reach.high) {
                printf("#    each work-item %d to %d, step %d\n", a->reach.low, a->reach.high, a->reach.step);
            }
        }
    }
    if (ppu_arguments_outside(&view->arguments[kernel->argument_first], kernel->argument_count) != 0) {
        printf("# %u: address of the arguments outside\n", ppu_kernel_block_at(kernel));
    }
    if (kernel->implicit_at) {
        printf("# %u: implicit arguments\n", kernel->implicit_at);
    }
}

static void print_header(const struct ppu_program_view *view)
{
    if (view->text[view->header->source]) {
        printf("# from %s\n", view->text + view->header->source);
    }
    for (uint32_t i = 0; i < view->header->formats; i++) {
        const char *format = view->text + view->formats[i];
        printf("# format %u: ", i);
        for (; *format; format++) {
            if (*format == '\n') {
                fputs("\\n", stdout);
            } else {
                putchar(*format);
            }
        }
        putchar('\n');
    }
    if (view->header->variable_bytes) {
        printf("# %u bytes of variables\n", view->header->variable_bytes);
    }
    for (uint32_t i = 0; i < view->header->addresses; i++) {
        static const char *const parts[] = { [PPU_PROGRAM_CODE] = "code", [PPU_PROGRAM_VARIABLES] = "variables" };
        const struct ppu_address_entry *address = &view->addresses[i];
        printf("# byte %u of %s: an address in %s\n", address->at, parts[address->in], parts[address->of]);
    }
}

static void print_line(const struct ppu_program_view *view, uint32_t insn, uint32_t *last)
{
    uint32_t line = ppu_program_line(view, insn);

    if (line != *last && line != 0) {
        printf("# line %u\n", line);
    }
    *last = line;
}

struct command {
    const char **inputs;
    const char *kernel; /* NULL: all */
    uint32_t input_count;
    bool list, plain;
};

static uint32_t kernel_end(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel)
{
    uint32_t end = view->header->code_bytes;

    for (uint32_t i = 0; i < view->header->kernels; i++) {
        if (view->kernels[i].entry > kernel->entry && view->kernels[i].entry < end) {
            end = view->kernels[i].entry;
        }
    }
    return end;
}

static void print_insn(const struct command *command, const struct ppu_program_view *view, uint32_t at)
{
    char text[PPUASM_TEXT_BYTES];
    uint64_t word;

    memcpy(&word, view->code + at, sizeof(word));
    ppuasm_disassemble(word, text);
    if (command->plain) {
        printf("    %s\n", text);
    } else {
        printf("    %-48s # %u: %016llx\n", text, at / PPU_INSN_BYTES, (unsigned long long)word);
    }
}

static void print_code(const struct command *command, const struct ppu_program_view *view, uint32_t from, uint32_t to)
{
    uint32_t line = 0;

    for (uint32_t at = from; at < to; at += PPU_INSN_BYTES) {
        for (uint32_t i = 0; i < view->header->kernels; i++) {
            if (view->kernels[i].entry == at) {
                ppuasm_print_kernel(view, &view->kernels[i], stdout);
                print_arguments(view, &view->kernels[i]);
            }
        }
        print_line(view, at / PPU_INSN_BYTES, &line);
        print_insn(command, view, at);
    }
}

static void print_list(const struct ppu_program_view *view)
{
    for (uint32_t i = 0; i < view->header->kernels; i++) {
        const struct ppu_kernel_entry *kernel = &view->kernels[i];
        printf("%08x %8u %s\n", kernel->entry, kernel_end(view, kernel) - kernel->entry, view->text + kernel->name);
    }
}

static bool print_program(const struct command *command, const struct ppu_program_view *view, const char *path)
{
    const struct ppu_kernel_entry *kernel = command->kernel ? ppu_program_kernel(view, command->kernel) : NULL;

    if (command->kernel && !kernel) {
        return command_fail("disassemble %s: it has no kernel '%s'; --syms lists those it has", path, command->kernel);
    }
    if (command->input_count > 1) {
        printf("# %s\n", path);
    }
    if (command->list) {
        print_list(view);
    } else if (kernel) {
        print_code(command, view, kernel->entry, kernel_end(view, kernel));
    } else {
        print_header(view);
        print_code(command, view, 0, view->header->code_bytes);
    }
    return true;
}

static bool disassemble_file(const struct command *command, const char *path)
{
    struct ppu_program_view view;
    size_t len = 0;

    if (!isatty(STDOUT_FILENO)) {
        command_show_progress("disassemble", path);
    }
    char *image = command_read(path, &len);

    if (!image) {
        return command_fail("read %s: %s", path, strerror(errno));
    }
    const char *why = ppu_program_open(image, len, &view);
    bool done = why ? command_fail("disassemble %s: %s", path, why) : print_program(command, &view, path);
    free(image);
    progress_end();
    return done;
}

/* ---- options ---- */

enum { OPTION_PLAIN = 0x100 };

static const char doc[] =
    "Prints each program image FILE as text, which ppu-as takes back. With no FILE, or when FILE is -, standard input is "
    "read.\v"
    "@FILE stands for the options and names in FILE.\n\n"
    "Exit status:\n"
    "  0  all was printed\n"
    "  1  a FILE cannot be read, is no program image, or has no such kernel; or an option is unknown\n\n"
    "docs/spec/isa.md describes the language.";

static const struct argp_option options[] = {
    { "disassemble", 'd', "KERNEL", OPTION_ARG_OPTIONAL, "only this kernel (default: all)", 0 },
    { "syms", 't', NULL, 0, "list the kernels instead: offset and bytes of the code, name", 0 },
    { "no-show-raw-insn", OPTION_PLAIN, NULL, 0, "no numbers and words behind the instructions", 0 },
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct command *command = state->input;

    switch (key) {
    case 'd':
        command->kernel = text;
        return 0;
    case 't':
        command->list = true;
        return 0;
    case OPTION_PLAIN:
        command->plain = true;
        return 0;
    case ARGP_KEY_ARG:
        command->inputs = command_grow(command->inputs, command->input_count, sizeof(*command->inputs));
        command->inputs[command->input_count++] = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, "[FILE...]", doc, NULL, NULL, NULL };
    static struct command command;
    bool done = true;

    command_begin("ppu-dis", &argc, &argv);
    if (argp_parse(&argp, argc, argv, 0, NULL, &command) != 0) {
        return EXIT_FAILURE;
    }
    if (command.input_count == 0) {
        command.inputs = command_grow(command.inputs, 0, sizeof(*command.inputs));
        command.inputs[command.input_count++] = "-";
    }
    for (uint32_t i = 0; i < command.input_count; i++) {
        done = disassemble_file(&command, command.inputs[i]) && done;
    }
    if (fflush(stdout) != 0) {
        done = command_fail("write standard output: %s", strerror(errno));
    }
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
