/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/options.h"

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/sanitizer_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Says what clang is given for an option. An option that is not here could name files to write or libraries to load. */
enum meaning {
    OPTION_WORD,          /* the word */
    OPTION_NOTHING,       /* nothing: clang knows no such option, and it means nothing here */
    OPTION_VENDOR,        /* nothing: another vendor's option, of which the log has a note */
    OPTION_VENDOR_VALUE,  /* the same, with a value in the word */
    OPTION_VENDOR_BEHIND, /* the same, with a value in the next word */
    OPTION_MACRO,         /* the word, with the definition in it or behind it */
    OPTION_FOLDER,        /* the same with a folder of headers */
    OPTION_VALUE,         /* the word, with the value in it */
    OPTION_UNOPTIMISED,   /* nothing: the passes of the compiler are fewer */
    OPTION_DEBUG,         /* the word; debug information is wanted */
    OPTION_SIZE,          /* nothing, as for the next ones: the compiler itself reads the value. Work-items of a wave */
    OPTION_TOKENS,        /* entries of a warp's token queue */
    OPTION_FORM,          /* how parts of a wave run through segments */
    OPTION_THRESHOLD,     /* registers above which there are segments */
    OPTION_MODE,          /* in which tasks begin */
    OPTION_SANITIZE,      /* what kernels check of themselves */
};

static const struct option {
    const char *name;
    enum meaning meaning;
} known[] = {
    { "-D", OPTION_MACRO },
    { "-I", OPTION_FOLDER },
    { "-cl-std=", OPTION_VALUE },
    { "-cl-single-precision-constant", OPTION_WORD },
    { "-cl-denorms-are-zero", OPTION_WORD },
    { "-cl-fp32-correctly-rounded-divide-sqrt", OPTION_WORD },
    { "-cl-opt-disable", OPTION_UNOPTIMISED },
    { "-cl-strict-aliasing", OPTION_WORD },
    { "-cl-mad-enable", OPTION_WORD },
    { "-cl-no-signed-zeros", OPTION_WORD },
    { "-cl-unsafe-math-optimizations", OPTION_WORD },
    { "-cl-finite-math-only", OPTION_WORD },
    { "-cl-fast-relaxed-math", OPTION_WORD },
    { "-cl-uniform-work-group-size", OPTION_WORD },
    { "-cl-no-subgroup-ifp", OPTION_NOTHING },
    { PPU_COMPILE_SUB_GROUP_SIZE, OPTION_SIZE },
    { PPU_COMPILE_TOKEN_ENTRIES, OPTION_TOKENS },
    { PPU_COMPILE_SEGMENTS, OPTION_FORM },
    { PPU_COMPILE_SEGMENT_THRESHOLD, OPTION_THRESHOLD },
    { PPU_COMPILE_DEFAULT_MODE, OPTION_MODE },
    { PPU_COMPILE_SANITIZE, OPTION_SANITIZE },
    { "-cl-kernel-arg-info", OPTION_NOTHING },
    { "-w", OPTION_WORD },
    { "-Werror", OPTION_WORD },
    { "-g", OPTION_DEBUG },
    { "-ffp-contract=off", OPTION_WORD },
    { "-ffp-contract=on", OPTION_WORD },
    { "-cl-nv-verbose", OPTION_VENDOR },
    { "-cl-nv-maxrregcount=", OPTION_VENDOR_VALUE },
    { "-cl-nv-opt-level=", OPTION_VENDOR_VALUE },
    { "-cl-nv-allow-expensive-optimizations", OPTION_VENDOR },
    { "-cl-intel-128-GRF-per-thread", OPTION_VENDOR },
    { "-cl-intel-256-GRF-per-thread", OPTION_VENDOR },
    { "-cl-intel-enable-auto-large-GRF-mode", OPTION_VENDOR },
    { "-cl-intel-greater-than-4GB-buffer-required", OPTION_VENDOR },
    { "-cl-intel-no-prera-scheduling", OPTION_VENDOR },
    { "-fbin-exe", OPTION_VENDOR },
    { "-fbin-source", OPTION_VENDOR },
    { "-fbin-llvmir", OPTION_VENDOR },
    { "-fno-bin-exe", OPTION_VENDOR },
    { "-fno-bin-source", OPTION_VENDOR },
    { "-fno-bin-llvmir", OPTION_VENDOR },
    { "-O0", OPTION_VENDOR },
    { "-O1", OPTION_VENDOR },
    { "-O2", OPTION_VENDOR },
    { "-O3", OPTION_VENDOR },
    { "-O4", OPTION_VENDOR },
    { "-O5", OPTION_VENDOR },
    { "-fbin-amdil", OPTION_VENDOR },
    { "-fbin-as", OPTION_VENDOR },
    { "-fno-bin-amdil", OPTION_VENDOR },
    { "-fno-bin-as", OPTION_VENDOR },
    { "-save-temps", OPTION_VENDOR },
    { "-save-temps=", OPTION_VENDOR_VALUE },
    { "-s", OPTION_VENDOR_BEHIND },
};

/* True when it is about the machine code: clang gets nothing. */
static bool is_for_target(enum meaning meaning)
{
    return meaning >= OPTION_SIZE;
}

static bool is_of_vendor(enum meaning meaning)
{
    return meaning == OPTION_VENDOR || meaning == OPTION_VENDOR_VALUE || meaning == OPTION_VENDOR_BEHIND;
}

static bool has_value(enum meaning meaning)
{
    return meaning == OPTION_MACRO || meaning == OPTION_FOLDER || meaning == OPTION_VALUE ||
           meaning == OPTION_VENDOR_VALUE || is_for_target(meaning);
}

/* NULL: it is none. */
static const struct option *find_option(const char *word)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(known); i++) {
        bool begins = strncmp(word, known[i].name, strlen(known[i].name)) == 0;
        if (has_value(known[i].meaning) ? begins : strcmp(word, known[i].name) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

/* ---- words ---- */

/* Words are written over the text that they are read from, which is never shorter. */
struct reader {
    const char *at;
    char *to;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Writes the next word without its quotes, and a final zero. False: there is none; or `*open`: a quote has no end. */
static bool next_word(struct reader *reader, bool *open)
{
    char quote = 0;

    while (is_space(*reader->at)) {
        reader->at++;
    }
    if (*reader->at == 0) {
        return false;
    }
    for (; *reader->at != 0 && (quote != 0 || !is_space(*reader->at)); reader->at++) {
        if (quote == 0 && (*reader->at == '"' || *reader->at == '\'')) {
            quote = *reader->at;
        } else if (*reader->at == quote && quote != 0) {
            quote = 0;
        } else {
            *reader->to++ = *reader->at;
        }
    }
    reader->at += *reader->at != 0;
    *reader->to++ = 0;
    *open = quote != 0;
    return !*open;
}

/* ---- the machine code ---- */

static const char *const form_names[] = {
    [PPU_SEGMENTS_OFF] = "off",   [PPU_SEGMENTS_ENTER] = "enter", [PPU_SEGMENTS_DUPLICATE] = "duplicate",
    [PPU_SEGMENTS_LOOP] = "loop", [PPU_SEGMENTS_MAY] = "may",
};

/* -1: it is none of the names. */
static int find_form(const char *value)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(form_names); i++) {
        if (strcmp(value, form_names[i]) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Reads N, N%, occupancy or device; of the last the number stays as it is. */
static bool read_threshold(const char *value, enum ppu_subvector_threshold *kind, uint32_t *number)
{
    bool is_number = isdigit((unsigned char)value[0]);
    char *end = NULL;
    unsigned long count = is_number ? strtoul(value, &end, 10) : 0;

    if (is_number) {
        bool percent = strcmp(end, "%") == 0;
        *kind = percent ? PPU_THRESHOLD_PERCENT : PPU_THRESHOLD_REGISTERS;
        *number = (uint32_t)count;
        return (percent || *end == 0) && count <= (percent ? 100 : PPU_MAX_VREGS);
    }
    *kind = strcmp(value, "occupancy") == 0 ? PPU_THRESHOLD_OCCUPANCY : PPU_THRESHOLD_DEVICE;
    return *kind == PPU_THRESHOLD_OCCUPANCY || strcmp(value, "device") == 0;
}

static bool is_token_count(const char *value)
{
    char *end = NULL;
    unsigned long count = isdigit((unsigned char)value[0]) ? strtoul(value, &end, 10) : 0;

    return count >= 1 && count <= PPU_MAX_TOKENS && *end == 0;
}

static const char *target_wrong(enum meaning meaning, const char *value)
{
    enum ppu_subvector_threshold kind;
    uint32_t number;

    switch (meaning) {
    case OPTION_SIZE:
        return strcmp(value, "32") == 0 || strcmp(value, "64") == 0 || strcmp(value, "128") == 0
                   ? NULL
                   : "is not 32, 64 or 128";
    case OPTION_TOKENS:
        return is_token_count(value) ? NULL : "is not a number from 1 to 4096";
    case OPTION_FORM:
        return strcmp(value, "auto") == 0 || find_form(value) >= 0 ? NULL
                                                                   : "is not auto, off, enter, duplicate, loop or may";
    case OPTION_THRESHOLD:
        return read_threshold(value, &kind, &number) ? NULL : "is not a number up to 256, N%, occupancy or device";
    case OPTION_MODE:
        return strcmp(value, "normal") == 0 || strcmp(value, "inverted") == 0 ? NULL : "is not normal or inverted";
    case OPTION_SANITIZE:
        return ppu_sanitizer_words(value) != 0 ? NULL : ppu_sanitizer_words_wrong;
    default:
        return NULL;
    }
}

static void note_target(struct target_words *target, enum meaning meaning, const char *value)
{
    const char **const at[] = { [OPTION_SIZE] = &target->wave,
                                [OPTION_TOKENS] = &target->tokens,
                                [OPTION_FORM] = &target->form,
                                [OPTION_THRESHOLD] = &target->threshold,
                                [OPTION_MODE] = &target->mode };

    if (meaning == OPTION_SANITIZE) {
        target->sanitize |= ppu_sanitizer_words(value);
        return;
    }
    *at[meaning] = value;
}

void options_apply(const struct options *options, struct ppu_compile_options *to)
{
    const struct target_words *words = &options->target;
    struct ppu_compile_subvector *subvector = &to->subvector;

    to->debug = options->debug;
    to->unoptimised = options->unoptimised;
    if (words->wave) {
        to->wave = (uint32_t)strtoul(words->wave, NULL, 10);
    }
    if (words->tokens) {
        to->tokens = (uint32_t)strtoul(words->tokens, NULL, 10);
    }
    if (words->form && strcmp(words->form, "auto") != 0) {
        subvector->form = (enum ppu_subvector_form)find_form(words->form);
    }
    if (words->threshold) {
        read_threshold(words->threshold, &subvector->threshold_kind, &subvector->threshold);
    }
    if (words->mode) {
        subvector->inverted = strcmp(words->mode, "inverted") == 0;
    }
    to->sanitize |= words->sanitize;
}

/* ---- reading ---- */

/*
 * clang and its front end read files for words that begin with '@', and take what begins with '-' for an option, each
 * by rules of its own: a value must be neither, nor nothing.
 */
static const char *value_wrong(enum meaning meaning, const char *value)
{
    if (meaning == OPTION_MACRO && !isalpha((unsigned char)value[0]) && value[0] != '_') {
        return "is no definition of a macro";
    }
    if (meaning == OPTION_FOLDER && (value[0] == 0 || value[0] == '-' || value[0] == '@')) {
        return "is no name of a folder that is taken; './' before it may help";
    }
    return target_wrong(meaning, value);
}

/* The value that is not in the word follows it; both become one word. */
static enum ppu_compile_status complete(struct reader *reader, const struct option *option, char *word,
                                        struct bytes *log)
{
    char *value = word + strlen(option->name);
    bool open = false;

    if (*value == 0 && option->meaning != OPTION_VALUE && !is_for_target(option->meaning)) {
        reader->to = value; /* over the word's final zero */
        if (!next_word(reader, &open)) {
            bytes_print(log,
                        open ? "error: option '%s': a quote behind it has no end\n"
                             : "error: option '%s' needs a word behind it\n",
                        option->name);
            return PPU_COMPILE_BAD_OPTIONS;
        }
    }
    const char *why = value_wrong(option->meaning, value);
    if (why) {
        bytes_print(log, "error: option '%s': '%s' %s\n", option->name, value, why);
    }
    return why ? PPU_COMPILE_BAD_OPTIONS : PPU_COMPILE_OK;
}

/* Takes any value behind it. */
static enum ppu_compile_status take_vendors(const struct option *option, struct reader *reader, const char *word,
                                            struct bytes *log)
{
    bool open = false;

    if (option->meaning == OPTION_VENDOR_BEHIND && !next_word(reader, &open)) {
        bytes_print(log, "error: option '%s' needs a word behind it\n", word);
        return PPU_COMPILE_BAD_OPTIONS;
    }
    bytes_print(log, "note: option '%s' is another vendor's, and changes nothing here\n", word);
    return PPU_COMPILE_OK;
}

static enum ppu_compile_status take_option(struct options *options, struct reader *reader, char *word,
                                           struct bytes *log)
{
    const struct option *option = find_option(word);

    if (!option) {
        bytes_print(log, "error: '%s' is not an option of clBuildProgram\n", word);
        return PPU_COMPILE_BAD_OPTIONS;
    }
    options->unoptimised |= option->meaning == OPTION_UNOPTIMISED;
    if (option->meaning == OPTION_NOTHING || option->meaning == OPTION_UNOPTIMISED) {
        return PPU_COMPILE_OK;
    }
    if (is_of_vendor(option->meaning)) {
        return take_vendors(option, reader, word, log);
    }
    if (options->count == OPTIONS_MOST) {
        bytes_print(log, "error: more than %u options\n", OPTIONS_MOST);
        return PPU_COMPILE_BAD_OPTIONS;
    }
    if (is_for_target(option->meaning)) {
        note_target(&options->target, option->meaning, word + strlen(option->name));
        return complete(reader, option, word, log);
    }
    options->debug |= option->meaning == OPTION_DEBUG;
    options->word[options->count++] = word;
    return has_value(option->meaning) ? complete(reader, option, word, log) : PPU_COMPILE_OK;
}

enum ppu_compile_status options_read(struct options *options, const char *text, struct bytes *log)
{
    enum ppu_compile_status status = PPU_COMPILE_OK;
    bool open = false;

    options->count = 0;
    options->target = (struct target_words){ .wave = NULL };
    options->debug = options->unoptimised = false;
    options->text = strdup(text ? text : "");
    if (!options->text) {
        return PPU_COMPILE_NO_MEMORY;
    }
    struct reader reader = { options->text, options->text };
    for (char *word = reader.to; status == PPU_COMPILE_OK && next_word(&reader, &open); word = reader.to) {
        status = take_option(options, &reader, word, log);
    }
    if (open) {
        bytes_print(log, "error: a quote in the options has no end\n");
        status = PPU_COMPILE_BAD_OPTIONS;
    }
    return status;
}

void options_free(struct options *options)
{
    free(options->text);
    options->text = NULL;
    options->count = 0;
}
