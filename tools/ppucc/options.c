/* SPDX-License-Identifier: MIT */
#include "tools/ppucc/options.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/image.h"
#include "ppu/macros.h"
#include "tools/asm/command.h"

enum {
    OPTION_WAVE = 0x100,
    OPTION_VREGS,
    OPTION_SREGS,
    OPTION_DUMP,
    OPTION_STATS,
    OPTION_SVG,
    OPTION_FACTS,
    OPTION_FORM,
    OPTION_THRESHOLD,
    OPTION_RUN,
    OPTION_DEFAULT,
    OPTION_SM,
    OPTION_CHECK,
    OPTION_MD,
    OPTION_MMD,
    OPTION_MF,
    OPTION_MT,
    OPTION_SYSTEM,
    OPTION_NAME,
};

static const char doc[] =
    "Compiles OpenCL C to a program image of the PPU. Each FILE is a source, or bitcode (*.bc) that -c made; all of them "
    "become one program. FILE may be -, standard input.\v"
    "@FILE stands for the options and names in FILE. Messages have clang's form, file:line:column: error: sentence.\n\n"
    "Without -o the image goes to the first FILE's name with .ppu for its ending, in the current folder; none is written when "
    "only --stats, --stats-svg or --dump is asked for.\n\n"
    "Environment:\n"
    "  PPU_CLANG  the clang that is run (default: clang-19)\n"
    "  NO_COLOR   when it is not empty, messages have no colours\n\n"
    "Exit status:\n"
    "  0  what was asked for was made; there may be warnings\n"
    "  1  it was not: an error in a source or in the options, or a file that cannot be read or written\n\n"
    "docs/spec/compiler.md says what the language covers.";

static const struct argp_option options[] = {
    { NULL, 'o', "FILE", 0, "write the output there; - is standard output", 1 },
    { NULL, 'c', NULL, 0, "make bitcode of each FILE, which is not optimised yet", 1 },
    { NULL, 'S', NULL, 0, "print assembly with the lines of the source, to standard output unless -o is given", 1 },
    { NULL, 'E', NULL, 0, "print each source after the preprocessor, to standard output unless -o is given", 1 },
    { "-fsyntax-only", 0, NULL, OPTION_DOC, "check the sources, and write nothing", 1 },
    { "fsyntax-only", OPTION_CHECK, NULL, OPTION_HIDDEN, NULL, 1 },
    { NULL, 'x', "LANGUAGE", 0, "take the files that follow as cl or ir, whatever their names", 1 },

    { NULL, 'D', "NAME[=TEXT]", 0, "define a macro", 2 },
    { NULL, 'U', "NAME", 0, "forget a macro, also one of the compiler's own; a later -D defines it again", 2 },
    { NULL, 'I', "DIR", 0, "look there for files that are included", 2 },
    { "-isystem DIR", 0, NULL, OPTION_DOC, "look there behind the folders of -I, without warnings about what is there",
      2 },
    { "isystem", OPTION_SYSTEM, "DIR", OPTION_HIDDEN, NULL, 2 },
    { NULL, 'O', "LEVEL", OPTION_HIDDEN, NULL, 2 },
    { "-O0, -O1, -O2, -O3, -Os", 0, NULL, OPTION_DOC,
      "-O0 compiles with fewer passes, as -cl-opt-disable does; the others are all the default; the last one counts",
      2 },
    { "own-name", OPTION_NAME, NULL, OPTION_HIDDEN, NULL, 7 },
    { "-fsanitize=LIST", 0, NULL, OPTION_DOC,
      "let kernels check themselves: address, race, barrier, uninit, argument, lost, or all (docs/spec/sanitizers.md)",
      2 },
    { "-cl-...", 0, NULL, OPTION_DOC, "options of clBuildProgram, -w, -Werror, -g and -ffp-contract too", 2 },

    { "-MD", 0, NULL, OPTION_DOC, "also write, as a rule of make, which files each source includes", 3 },
    { "MD", OPTION_MD, NULL, OPTION_HIDDEN, NULL, 3 },
    { "-MMD", 0, NULL, OPTION_DOC, "the same without the compiler's own files", 3 },
    { "MMD", OPTION_MMD, NULL, OPTION_HIDDEN, NULL, 3 },
    { "-MF FILE", 0, NULL, OPTION_DOC, "write that rule there (default: the output's name with .d for its ending)", 3 },
    { "MF", OPTION_MF, "FILE", OPTION_HIDDEN, NULL, 3 },
    { "-MT TARGET", 0, NULL, OPTION_DOC, "the rule's target (default: the output)", 3 },
    { "MT", OPTION_MT, "TARGET", OPTION_HIDDEN, NULL, 3 },

    { "wave", OPTION_WAVE, "N", 0, "threads a warp: 32, 64 or 128 (default 32)", 4 },
    { "vregs", OPTION_VREGS, "N", 0, "use at most so many vector registers", 4 },
    { "sregs", OPTION_SREGS, "N", 0, "use at most so many scalar registers", 4 },
    { "facts", OPTION_FACTS, "FACTS", 0,
      "compile one kernel for launches of which this is known: \"KERNEL FACT...\", as PPU_ALIAS_PRINT shows them", 4 },
    { "subvector", OPTION_FORM, "FORM", 0,
      "parts of a wave run through segments one by one: off, enter, duplicate, loop, may (default off)", 5 },
    { "subvector-threshold", OPTION_THRESHOLD, "N", 0,
      "segments need more registers than N, than N% of those there are, or occupancy (default)", 5 },
    { "subvector-run", OPTION_RUN, "N", 0, "runs of N instructions, not of those above the threshold", 5 },
    { "subvector-default", OPTION_DEFAULT, "MODE", 0, "the mode that tasks start in: normal or inverted", 5 },
    { "subvector-sm", OPTION_SM, "VREGS,WARPS", 0, "what an SM holds, for the occupancy", 5 },

    { "stats", OPTION_STATS, NULL, 0, "print numbers of each kernel", 6 },
    { "stats-svg", OPTION_SVG, "FILE", 0, "draw the curves and segments of all kernels", 6 },
    { "dump", OPTION_DUMP, "NAME", 0,
      "print what the pass of that name made (docs/spec/compiler.md lists them), or ir, flow; may be repeated", 6 },
    { 0 },
};

/* ---- options of clBuildProgram ---- */

static void add_build_option(struct command *command, const char *name, const char *value)
{
    command->build = command_grow(command->build, command->build_count, sizeof(*command->build));
    command->build[command->build_count++] = (struct build_option){ name, value };
}

/* Each character in quotes: the word stays one, whatever is in it. */
static void write_build_option(struct command *command, const char *name, const char *value)
{
    const char *const parts[] = { name, value };
    size_t used = command->build_options ? strlen(command->build_options) : 0;
    char *text = realloc(command->build_options, used + 3 * (strlen(name) + strlen(value)) + sizeof("\"\" "));

    if (!text) {
        command_fail("read the options: out of memory");
        exit(EXIT_FAILURE);
    }
    char *at = text + used + sprintf(text + used, "\"\"");
    for (int i = 0; i < 2; i++) {
        for (const char *c = parts[i]; *c != 0; c++) {
            char quote = *c == '"' ? '\'' : '"';
            at += sprintf(at, "%c%c%c", quote, *c, quote);
        }
    }
    at[0] = ' ';
    at[1] = 0;
    command->build_options = text;
}

/* True for options that are words by themselves. The compiler's list says which there are. */
static bool is_build_option(const char *word)
{
    return strncmp(word, "-cl-", 4) == 0 || (strncmp(word, "-f", 2) == 0 && strcmp(word, "-fsyntax-only") != 0) ||
           strncmp(word, "-W", 2) == 0 || strcmp(word, "-w") == 0 || strcmp(word, "-g") == 0;
}

static bool takes_next(const char *word)
{
    static const char *const names[] = { "-o", "-x", "-D", "-U", "-I", "-isystem", "-MF", "-MT" };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (strcmp(word, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Takes them out of the words, which argp would read letter by letter. */
static int take_build_options(struct command *command, int argc, char **argv)
{
    int left = 1;
    bool files = false;

    for (int i = 1; i < argc; i++) {
        files = files || strcmp(argv[i], "--") == 0;
        if (!files && is_build_option(argv[i])) {
            add_build_option(command, argv[i], "");
            continue;
        }
        argv[left++] = argv[i];
        if (!files && takes_next(argv[i]) && i + 1 < argc) {
            argv[left++] = argv[++i];
        }
    }
    argv[left] = NULL;
    return left;
}

/* ---- values ---- */

/* Says what is wrong with the options, and ends the process. */
static void __attribute__((format(printf, 2, 3))) refuse_option(struct argp_state *state, const char *format, ...)
{
    char *sentence = NULL;
    va_list args;

    va_start(args, format);
    command_fail("%s", vasprintf(&sentence, format, args) >= 0 ? sentence : "read the options: out of memory");
    va_end(args);
    free(sentence);
    argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
}

/* A word for clang that is no option of clBuildProgram: here the user's own clang is run for the user. */
static void add_own_word(struct argp_state *state, struct command *command, const char *option, const char *value)
{
    char *word = NULL;

    if (asprintf(&word, "%s%s", option, value) < 0) {
        command_fail("read the options: out of memory");
        exit(EXIT_FAILURE);
    }
    if (command->options.own_count == PPU_COMPILE_OWN_WORDS) {
        refuse_option(state, "%s: more than %u of -U and -isystem", word, PPU_COMPILE_OWN_WORDS);
    }
    command->own = command_grow(command->own, command->options.own_count, sizeof(*command->own));
    command->own[command->options.own_count++] = word;
    command->options.own_words = command->own;
}

/* clang gets -U before -D: what was defined up to here is forgotten now. */
static void undefine(struct argp_state *state, struct command *command, const char *name)
{
    const size_t len = strcspn(name, "(=");
    uint32_t kept = 0;

    if (len == 0 || name[len] != 0) {
        refuse_option(state, "-U %s: expected the name of a macro", name);
    }
    for (uint32_t i = 0; i < command->build_count; i++) {
        const struct build_option option = command->build[i];
        const bool same = strcmp(option.name, "-D") == 0 && strcspn(option.value, "(=") == len &&
                          strncmp(option.value, name, len) == 0;
        if (!same) {
            command->build[kept++] = option;
        }
    }
    command->build_count = kept;
    add_own_word(state, command, "-U", name);
}

static void add_system_folder(struct argp_state *state, struct command *command, const char *folder)
{
    if (folder[0] == 0) {
        refuse_option(state, "-isystem: expected the name of a folder");
    }
    add_own_word(state, command, "-isystem", folder);
}

static void set_level(struct argp_state *state, struct command *command, const char *level)
{
    if (strlen(level) != 1 || !strchr("0123s", level[0])) {
        refuse_option(state, "-O%s: expected -O0, -O1, -O2, -O3 or -Os", level);
    }
    command->unoptimised = level[0] == '0';
}

static void set_number(struct argp_state *state, const char *option, const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != 0 || value > 256) {
        refuse_option(state, "--%s %s: expected a number from 0 to 256", option, text);
    }
    *number = (uint32_t)value;
}

/* The number of the name in a list that ends with NULL. */
static uint32_t choose(struct argp_state *state, const char *option, const char *text, const char *const *names)
{
    uint32_t number = 0;

    while (names[number] && strcmp(names[number], text) != 0) {
        number++;
    }
    if (!names[number]) {
        char list[128] = "";
        for (uint32_t i = 0; i < number; i++) {
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i == 0 ? "" : ", ", names[i]);
        }
        refuse_option(state, "%s %s: expected one of: %s", option, text, list);
    }
    return number;
}

static void set_threshold(struct argp_state *state, struct ppu_compile_subvector *subvector, const char *text)
{
    char *end;

    if (strcmp(text, "occupancy") == 0) {
        subvector->threshold_kind = PPU_THRESHOLD_OCCUPANCY;
        return;
    }
    subvector->threshold = (uint32_t)strtoul(text, &end, 10);
    subvector->threshold_kind = *end == '%' ? PPU_THRESHOLD_PERCENT : PPU_THRESHOLD_REGISTERS;
    if (end == text || (*end != 0 && strcmp(end, "%") != 0) || subvector->threshold > PPU_MAX_VREGS) {
        refuse_option(state, "--subvector-threshold %s: expected N, N%% or occupancy", text);
    }
}

static void set_sm(struct argp_state *state, struct ppu_compile_subvector *subvector, const char *text)
{
    int end = 0;

    if (sscanf(text, "%u,%u%n", &subvector->sm_vregs, &subvector->sm_warps, &end) != 2 || text[end] != 0) {
        refuse_option(state, "--subvector-sm %s: expected two numbers, VREGS,WARPS", text);
    }
}

static void set_facts(struct argp_state *state, struct command *command, const char *text)
{
    command->options.facts = &command->facts.facts;
    if (!facts_parse(text, &command->facts)) {
        refuse_option(state, "--facts '%s': malformed; docs/spec/alias.md says how facts are written", text);
    }
}

static void add_dump(struct argp_state *state, struct command *command, const char *name)
{
    const size_t len = strlen(command->dump);
    const int added = snprintf(command->dump + len, sizeof(command->dump) - len, "%s%s", len != 0 ? "," : "", name);

    if (!ppu_compile_can_dump(name)) {
        refuse_option(state, "--dump '%s': no such pass; docs/spec/compiler.md lists them", name);
    }
    if (added >= (int)(sizeof(command->dump) - len)) {
        refuse_option(state, "--dump '%s': too many names", name);
    }
    command->options.dump = command->dump;
}

static void set_form(struct argp_state *state, struct command *command, const char *text)
{
    static const char *const names[] = { "off", "enter", "duplicate", "loop", "may", NULL };

    command->options.subvector.form = (enum ppu_subvector_form)choose(state, "--subvector", text, names);
}

static void set_default(struct argp_state *state, struct command *command, const char *text)
{
    static const char *const names[] = { "normal", "inverted", NULL };

    command->options.subvector.inverted = choose(state, "--subvector-default", text, names);
}

static void set_language(struct argp_state *state, struct command *command, const char *text)
{
    static const char *const names[] = { "none", "cl", "ir", NULL };

    command->language = (enum language)choose(state, "-x", text, names);
}

static void set_stage(struct argp_state *state, struct command *command, enum stage stage)
{
    if (command->stage != STAGE_IMAGE && command->stage != stage) {
        refuse_option(state, "-c, -S, -E and -fsyntax-only exclude each other");
    }
    command->stage = stage;
}

static void add_input(struct command *command, const char *path)
{
    command->inputs = command_grow(command->inputs, command->input_count, sizeof(*command->inputs));
    command->inputs[command->input_count++] = (struct input){ path, command->language };
}

bool input_is_bitcode(const struct input *input)
{
    size_t len = strlen(input->path);

    return input->language == LANGUAGE_BITCODE ||
           (input->language == LANGUAGE_BY_NAME && len > 3 && strcmp(input->path + len - 3, ".bc") == 0);
}

/* ---- parsing ---- */

static char own_name[] = "ppucc: error";

/* Options that say what is made, and from what. */
static error_t parse_output(int key, char *text, struct argp_state *state)
{
    struct command *command = state->input;

    switch (key) {
    case 'o':
        command->output = text;
        return 0;
    case 'c':
        set_stage(state, command, STAGE_BITCODE);
        return 0;
    case 'S':
        set_stage(state, command, STAGE_ASSEMBLY);
        return 0;
    case 'E':
        set_stage(state, command, STAGE_PREPROCESSED);
        return 0;
    case OPTION_CHECK:
        set_stage(state, command, STAGE_CHECKED);
        return 0;
    case 'x':
        set_language(state, command, text);
        return 0;
    case 'D':
        add_build_option(command, "-D", text);
        return 0;
    case 'U':
        undefine(state, command, text);
        return 0;
    case 'O':
        set_level(state, command, text);
        return 0;
    case OPTION_SYSTEM:
        add_system_folder(state, command, text);
        return 0;
    case OPTION_NAME: /* getopt's sentences begin with it; argp's have the name that was there before */
        state->argv[0] = own_name;
        return 0;
    case 'I':
        add_build_option(command, "-I", text);
        return 0;
    case OPTION_MD:
        command->files = PPU_FRONT_FILES;
        return 0;
    case OPTION_MMD:
        command->files = PPU_FRONT_USER_FILES;
        return 0;
    case OPTION_MF:
        command->files_output = text;
        return 0;
    case OPTION_MT:
        command->files_target = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Options of the machine and of the compiler's passes. */
static error_t parse_machine(int key, char *text, struct argp_state *state)
{
    struct command *command = state->input;
    struct ppu_compile_options *wanted = &command->options;

    switch (key) {
    case OPTION_WAVE:
        set_number(state, "wave", text, &wanted->wave);
        return 0;
    case OPTION_VREGS:
        set_number(state, "vregs", text, &wanted->max_vregs);
        return 0;
    case OPTION_SREGS:
        set_number(state, "sregs", text, &wanted->max_sregs);
        return 0;
    case OPTION_FACTS:
        set_facts(state, command, text);
        return 0;
    case OPTION_FORM:
        set_form(state, command, text);
        return 0;
    case OPTION_THRESHOLD:
        set_threshold(state, &wanted->subvector, text);
        return 0;
    case OPTION_RUN:
        set_number(state, "subvector-run", text, &wanted->subvector.run);
        return 0;
    case OPTION_DEFAULT:
        set_default(state, command, text);
        return 0;
    case OPTION_SM:
        set_sm(state, &wanted->subvector, text);
        return 0;
    case OPTION_STATS:
        add_dump(state, command, "stats");
        return 0;
    case OPTION_SVG:
        command->svg = text;
        return 0;
    case OPTION_DUMP:
        add_dump(state, command, text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Refuses what does not go together. */
static void check_options(struct argp_state *state, const struct command *command)
{
    bool each = command->stage == STAGE_BITCODE || command->stage == STAGE_PREPROCESSED;

    if (command->input_count == 0) {
        refuse_option(state, "no input files");
    }
    if (each && command->output && command->input_count > 1 && command->stage == STAGE_BITCODE) {
        refuse_option(state, "-o %s: one name for the bitcode of %u files", command->output, command->input_count);
    }
    if (command->files == PPU_FRONT_BITCODE && (command->files_output || command->files_target)) {
        refuse_option(state, "-MF and -MT need -MD or -MMD");
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        add_input(state->input, text);
        return 0;
    case ARGP_KEY_END:
        check_options(state, state->input);
        return 0;
    default:
        return parse_output(key, text, state) == 0 ? 0 : parse_machine(key, text, state);
    }
}

void options_parse(struct command *command, int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, "FILE...", doc, NULL, NULL, NULL };

    static char names_itself[] = "--own-name";
    char **all = calloc((size_t)argc + 2, sizeof(*all));

    if (!all) {
        command_fail("read the options: out of memory");
        exit(EXIT_FAILURE);
    }
    all[0] = argv[0];
    all[1] = names_itself;
    memcpy(all + 2, argv + 1, (size_t)(argc - 1) * sizeof(*all));
    argv = all;
    argc = take_build_options(command, argc + 1, argv);
    if (argp_parse(&argp, argc, argv, ARGP_LONG_ONLY | ARGP_IN_ORDER, NULL, command) != 0) {
        exit(EXIT_FAILURE);
    }
    if (command->unoptimised) {
        add_build_option(command, "-cl-opt-disable", "");
    }
    for (uint32_t i = 0; i < command->build_count; i++) {
        write_build_option(command, command->build[i].name, command->build[i].value);
    }
    command->options.options = command->build_options;
}
