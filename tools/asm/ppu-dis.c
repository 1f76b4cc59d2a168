/* SPDX-License-Identifier: MIT */
/* ppu-dis: program image in, text out that ppu-as takes back. */
#include "file.h"
#include "ppu/image.h"
#include "ppuasm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What depends on a value. */
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

/* What a compiled program says of itself. */
static void print_arguments(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel)
{
    static const char *const kinds[PPU_ARGUMENT_KINDS] = { "value", "global", "constant", "local" };

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct ppu_argument_entry *a = &view->arguments[kernel->argument_first + i];
        printf("# %u: %s %s, %u bytes, %s%s%s%s\n", a->offset, view->text + a->type, view->text + a->name, a->bytes,
               kinds[a->kind], a->references & PPU_REFERENCE_READ ? ", read" : "",
               a->references & PPU_REFERENCE_WRITE ? ", written" : "",
               a->references & PPU_REFERENCE_ESCAPES ? ", escapes" : "");
        if (a->kind == PPU_ARGUMENT_VALUE) {
            print_value(a);
        } else if (a->references != 0) {
            printf("#    %u bytes at least, indexed by%s%s%s%s\n", 1u << a->element_log2,
                   a->references & PPU_REFERENCE_BY_THREAD ? " threads" : "",
                   a->references & PPU_REFERENCE_BY_LOOP ? " loops" : "",
                   a->references & PPU_REFERENCE_BY_ANY ? " anything" : "",
                   a->references & PPU_REFERENCE_APART ? ", each thread its own" : "");
            if (a->reach.low < a->reach.high) {
                printf("#    each work-item %d to %d, step %d\n", a->reach.low, a->reach.high, a->reach.step);
            }
        }
    }
    if (kernel->launch_at) {
        printf("# %u: launch facts\n", kernel->launch_at);
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
}

static void print_line(const struct ppu_program_view *view, uint32_t insn, uint32_t *last)
{
    uint32_t line = ppu_program_line(view, insn);

    if (line != *last) {
        printf("# line %u\n", line);
    }
    *last = line;
}

static void print_program(const struct ppu_program_view *view)
{
    uint32_t line = 0;

    print_header(view);
    for (uint32_t at = 0; at < view->header->code_bytes; at += PPU_INSN_BYTES) {
        char text[PPUASM_TEXT_BYTES];
        uint64_t word;

        for (uint32_t i = 0; i < view->header->kernels; i++) {
            if (view->kernels[i].entry == at) {
                ppuasm_print_kernel(view, &view->kernels[i], stdout);
                print_arguments(view, &view->kernels[i]);
            }
        }
        print_line(view, at / PPU_INSN_BYTES, &line);
        memcpy(&word, view->code + at, sizeof(word));
        ppuasm_disassemble(word, text);
        printf("    %-48s # %u: %016llx\n", text, at / PPU_INSN_BYTES, (unsigned long long)word);
    }
}

int main(int argc, char **argv)
{
    struct ppu_program_view view;
    const char *why;
    size_t len = 0;
    char *image;

    if (argc != 2 || argv[1][0] == '-') {
        bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs("usage: ppu-dis IMAGE\nPrints the program image as text.\n", help ? stdout : stderr);
        return help ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    image = file_read(argv[1], &len);
    if (!image) {
        fprintf(stderr, "ppu-dis: %s: %s\n", argv[1], strerror(errno));
        return EXIT_FAILURE;
    }
    why = ppu_program_open(image, len, &view);
    if (why) {
        fprintf(stderr, "ppu-dis: %s: %s\n", argv[1], why);
    } else {
        print_program(&view);
    }
    free(image);
    return why ? EXIT_FAILURE : EXIT_SUCCESS;
}
