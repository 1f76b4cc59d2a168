/* SPDX-License-Identifier: MIT */
/* Compiles OpenCL C to a program image (ppucc), and prints what the compiler made on the way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/asm/command.h"
#include "tools/ppucc/listing.h"
#include "tools/ppucc/options.h"
#include "tools/progress/progress.h"

/* Holds what is known of one input: its text, and what became of it. */
struct unit {
    const struct input *input;
    const char *name; /* in messages */
    char *text;
    size_t len_bytes;
    char *build_options; /* with the folder of the source */
    struct ppu_compile_module module;
};

/* ---- reading ---- */

/* Quoted includes begin in the source's folder, though clang reads the source from a stream. */
static char *with_own_folder(const char *options, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *all = NULL;

    options = options ? options : "";
    if (!slash || strpbrk(path, "\"'")) {
        return strdup(options);
    }
    int len = slash == path ? 1 : (int)(slash - path);
    return asprintf(&all, "\"-I%s%.*s\" %s", path[0] == '/' ? "" : "./", len, path, options) >= 0 ? all : NULL;
}

static bool unit_read(struct unit *unit, const struct command *command, const struct input *input)
{
    *unit = (struct unit){ .input = input, .name = strcmp(input->path, "-") == 0 ? "<stdin>" : input->path };
    unit->text = command_read(input->path, &unit->len_bytes);
    if (!unit->text) {
        return command_fail("read %s: %s", input->path, strerror(errno));
    }
    unit->build_options = with_own_folder(command->build_options, input->path);
    return unit->build_options || command_fail("compile %s: out of memory", unit->name);
}

static void unit_free(struct unit *unit)
{
    if (unit->module.bitcode != unit->text) {
        free((void *)(uintptr_t)unit->module.bitcode);
    }
    free(unit->text);
    free(unit->build_options);
}

static struct ppu_compile_options options_of(const struct command *command, const struct unit *unit)
{
    struct ppu_compile_options options = command->options;

    options.options = unit->build_options;
    options.name = unit->name;
    return options;
}

/* ---- compiling ---- */

/* Prints the log; where that has no word, the status says it. */
static bool is_made(enum ppu_compile_status status, const struct ppu_compiled *made, const char *name)
{
    progress_end();
    command_print_diagnostics(made->log);
    if (status != PPU_COMPILE_OK && made->log[0] == 0) {
        command_fail("compile %s: %s", name, ppu_compile_status_text(status));
    }
    return status == PPU_COMPILE_OK;
}

/* The front end's output, in `made`, which is to be freed in any case. */
static bool run_front(const struct command *command, const struct unit *unit, enum ppu_compile_front front,
                      struct ppu_compiled *made)
{
    struct ppu_compile_options options = options_of(command, unit);

    options.front = front;
    progress_begin("compile %s", unit->name);
    return is_made(ppu_compile_source(unit->text, unit->len_bytes, &options, made), made, unit->name);
}

static bool make_bitcode(const struct command *command, struct unit *unit)
{
    struct ppu_compiled made;

    if (input_is_bitcode(unit->input)) {
        unit->module = (struct ppu_compile_module){ unit->text, unit->len_bytes };
        return true;
    }
    bool done = run_front(command, unit, PPU_FRONT_BITCODE, &made);
    if (done) {
        unit->module = (struct ppu_compile_module){ made.bytes, made.len_bytes };
        made.bytes = NULL;
    }
    ppu_compiled_free(&made);
    return done;
}

/* ---- which files a source includes ---- */

static const char *output_of(const struct command *command, const struct input *input)
{
    const char *slash = strrchr(input->path, '/');

    if (command->output) {
        return command->output;
    }
    return command_output_name(slash ? slash + 1 : input->path, command->stage == STAGE_BITCODE ? ".bc" : ".ppu");
}

/* clang's rule is one of standard input, for "-.o": what stands behind that is right. */
static bool print_files(const struct command *command, const struct unit *unit, FILE *file)
{
    struct ppu_compiled made;
    bool done = true;

    if (unit->input->path[0] != '-' || unit->input->path[1] != 0) {
        fprintf(file, " %s", unit->input->path);
    }
    if (!input_is_bitcode(unit->input)) {
        done = run_front(command, unit, command->files, &made);
        const char *colon = done ? memmem(made.bytes, made.len_bytes, ".o:", 3) : NULL;
        if (colon) {
            size_t len = made.len_bytes - (size_t)(colon + 3 - (const char *)made.bytes);
            len -= len != 0 && made.bytes[made.len_bytes - 1] == '\n';
            fwrite(colon + 3, 1, len, file);
        }
        ppu_compiled_free(&made);
    }
    return done;
}

static bool write_files(const struct command *command, const struct unit *units, uint32_t count)
{
    const char *output = output_of(command, units->input);
    const char *path = command->files_output ? command->files_output : command_output_name(output, ".d");
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    bool done = file || command_fail("write %s: out of memory", path);

    if (file) {
        fprintf(file, "%s:", command->files_target ? command->files_target : output);
        for (uint32_t i = 0; i < count; i++) {
            done = print_files(command, &units[i], file) && done;
        }
        putc('\n', file);
        done = fclose(file) == 0 && done && command_write(path, text, len);
    }
    free(text);
    return done;
}

/* ---- outputs of each source ---- */

static bool preprocess(const struct command *command, const struct unit *unit, FILE *file)
{
    struct ppu_compiled made;
    bool done = run_front(command, unit, PPU_FRONT_PREPROCESSED, &made);

    if (done) {
        fwrite(made.bytes, 1, made.len_bytes, file);
    }
    ppu_compiled_free(&made);
    return done;
}

static bool preprocess_all(const struct command *command, const struct unit *units)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    bool done = file || command_fail("preprocess %s: out of memory", units->name);

    for (uint32_t i = 0; i < command->input_count && file; i++) {
        done = preprocess(command, &units[i], file) && done;
    }
    if (file) {
        done = fclose(file) == 0 && done && command_write(command->output ? command->output : "-", text, len);
    }
    free(text);
    return done;
}

static bool write_bitcodes(const struct command *command, const struct unit *units)
{
    bool done = true;

    for (uint32_t i = 0; i < command->input_count && done; i++) {
        done = command_write(output_of(command, units[i].input), units[i].module.bitcode, units[i].module.len_bytes) &&
               (command->files == PPU_FRONT_BITCODE || write_files(command, &units[i], 1));
    }
    return done;
}

/* ---- the program ---- */

static bool link_units(const struct command *command, const struct unit *units, struct ppu_compiled *linked)
{
    struct ppu_compile_module *modules = calloc(command->input_count, sizeof(*modules));

    if (!modules) {
        return command_fail("link %s: out of memory", units->name);
    }
    for (uint32_t i = 0; i < command->input_count; i++) {
        modules[i] = units[i].module;
    }
    progress_begin("link %s and others", units->name);
    bool done = is_made(ppu_compile_link(modules, command->input_count, linked), linked, units->name);
    free(modules);
    return done;
}

static bool write_listing(const struct command *command, const struct ppu_compiled *image, const char *source)
{
    struct ppu_program_view view;
    const char *why = ppu_program_open(image->bytes, image->len_bytes, &view);
    char *text = NULL;
    size_t len = 0;
    FILE *file = !why ? open_memstream(&text, &len) : NULL;

    if (!file) {
        return command_fail("list the program: %s", why ? why : "out of memory");
    }
    listing_print(&view, source, file);
    bool done = fclose(file) == 0 && command_write(command->output ? command->output : "-", text, len);
    free(text);
    return done;
}

static bool wants_image(const struct command *command)
{
    return command->output || (!command->options.dump && !command->svg);
}

static bool deliver(const struct command *command, const struct unit *units, const struct ppu_compiled *image)
{
    bool one = command->input_count == 1 && !input_is_bitcode(units->input);

    if (command->stage == STAGE_ASSEMBLY) {
        return write_listing(command, image, one ? units->text : NULL);
    }
    return !wants_image(command) ||
           (command_write(output_of(command, units->input), image->bytes, image->len_bytes) &&
            (command->files == PPU_FRONT_BITCODE || write_files(command, units, command->input_count)));
}

static bool make_program(const struct command *command, const struct unit *units)
{
    struct ppu_compile_options options = options_of(command, units);
    struct ppu_compiled linked = { NULL, 0, NULL }, image = { NULL, 0, NULL };
    struct ppu_compile_module module = units->module;
    bool done = true;

    if (command->input_count > 1) {
        done = link_units(command, units, &linked);
        module = (struct ppu_compile_module){ linked.bytes, linked.len_bytes };
    }
    if (done) {
        if (!command->options.dump) { /* which is printed meanwhile */
            progress_begin("compile %s", units->name);
        }
        done = is_made(ppu_compile_bitcode(module.bitcode, module.len_bytes, &options, &image), &image, units->name) &&
               deliver(command, units, &image);
    }
    ppu_compiled_free(&linked);
    ppu_compiled_free(&image);
    return done;
}

static bool compile_files(const struct command *command, struct unit *units)
{
    bool done = true;

    for (uint32_t i = 0; i < command->input_count; i++) {
        done = unit_read(&units[i], command, &command->inputs[i]) && done;
    }
    if (!done || command->stage == STAGE_PREPROCESSED) {
        return done && preprocess_all(command, units);
    }
    for (uint32_t i = 0; i < command->input_count; i++) {
        done = make_bitcode(command, &units[i]) && done;
    }
    if (!done || command->stage == STAGE_CHECKED) {
        return done;
    }
    return command->stage == STAGE_BITCODE ? write_bitcodes(command, units) : make_program(command, units);
}

/* The picture is written by the compiler. */
static bool run_with_svg(struct command *command, struct unit *units)
{
    FILE *svg = command->svg ? fopen(command->svg, "w") : NULL;

    if (command->svg && !svg) {
        return command_fail("write %s: %s", command->svg, strerror(errno));
    }
    command->options.subvector.svg = svg;
    bool done = compile_files(command, units);
    if (svg && fclose(svg) != 0) {
        done = command_fail("write %s: %s", command->svg, strerror(errno));
    }
    return done;
}

int main(int argc, char **argv)
{
    static struct command command;

    command_begin("ppucc", &argc, &argv);
    options_parse(&command, argc, argv);
    struct unit *units = calloc(command.input_count, sizeof(*units));
    bool done = units ? run_with_svg(&command, units) : command_fail("read the options: out of memory");
    for (uint32_t i = 0; i < command.input_count && units; i++) {
        unit_free(&units[i]);
    }
    free(units);
    if (fflush(stdout) != 0) {
        done = command_fail("write standard output: %s", strerror(errno));
    }
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
