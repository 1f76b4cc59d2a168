/* SPDX-License-Identifier: MIT */
/*
 * Surface: text given to ppu-as, and instruction words given to ppu-dis.
 *
 * An input is a source text and, behind a zero, one that it may include. What is accepted must be a program image that
 * opens; each of its words, and each word that the input's own bytes make, must be printed as text that is assembled to
 * the same word again. The bytes are also code whose sub-vector loops are looked at, as programs' are that are loaded.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/loop_check.h"
#include "tests/fuzz/input.h"
#include "tools/asm/ppuasm.h"

#define MOST_WORDS 64u

static void must_open(const struct ppuasm_image *image, struct ppu_program_view *view)
{
    const char *why = ppu_program_open(image->bytes, image->len_bytes, view);

    if (why) {
        fuzz_found("the assembler's image is refused: %s", why);
    }
}

/* An instruction may be refused as text only when the words cannot be the same: then it is printed as ".word". */
static void must_come_back(uint64_t word)
{
    char line[PPUASM_TEXT_BYTES];
    char text[PPUASM_TEXT_BYTES + 32];
    char message[PPUASM_MESSAGE_BYTES] = "";
    struct ppuasm_image image;
    struct ppu_program_view view;
    uint64_t again = 0;

    ppuasm_disassemble(word, line);
    snprintf(text, sizeof(text), ".kernel k\n%s\n", line);
    if (!ppuasm_assemble(text, "text", &image, message)) {
        fuzz_found("%#llx is printed as '%s': %s", (unsigned long long)word, line, message);
    }
    must_open(&image, &view);
    memcpy(&again, view.code, sizeof(again));
    free(image.bytes);
    if (again != word) {
        fuzz_found("%#llx is printed as '%s', which is %#llx", (unsigned long long)word, line,
                   (unsigned long long)again);
    }
}

static void try_words(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < MOST_WORDS && (i + 1) * sizeof(uint64_t) <= count; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        must_come_back(word);
    }
}

/* What one text is made of: it may include the other. */
struct texts {
    char *main;
    char *included;
    uint32_t reported;
    bool checked; /* its loops are looked at */
};

static bool include(void *closure, const char *name, char **path, char **text)
{
    const struct texts *texts = closure;

    if (name[0] == '/') { /* one that is not there */
        return false;
    }
    *path = strdup("included");
    *text = strdup(texts->included);
    return true;
}

static void report(void *closure, const char *message)
{
    struct texts *texts = closure;

    if (message[0] == 0) {
        fuzz_found("an error without a sentence");
    }
    texts->reported++;
}

static void try_text(struct texts *texts)
{
    const struct ppuasm_input input = { "main", texts->main };
    const struct ppuasm_symbol symbol = { "GIVEN", 7 };
    const struct ppuasm_source source = { .inputs = &input,
                                          .input_count = 1,
                                          .symbols = &symbol,
                                          .symbol_count = 1,
                                          .include = include,
                                          .report = report,
                                          .closure = texts,
                                          .check = texts->checked };
    struct ppuasm_image image;
    struct ppu_program_view view;
    bool accepted = ppuasm_assemble_source(&source, &image);

    if (accepted == (texts->reported != 0)) {
        fuzz_found("a text is %s with %u errors", accepted ? "accepted" : "refused", texts->reported);
    }
    if (accepted) {
        must_open(&image, &view);
        try_words(view.code, view.header->code_bytes);
        free(image.bytes);
    }
}

/* Any words are code whose loops are looked at, from any begin. */
static void try_loops(const uint8_t *bytes, size_t count)
{
    const uint32_t words = (uint32_t)(count / PPU_INSN_BYTES);
    struct ppu_loop_code loops = { .code = bytes, .count = words };
    const uint32_t entries[] = { 0, words / 2, words };
    struct ppu_loop_error error = { 0 };

    loops.flags = calloc(words + 1u, sizeof(loops.flags[0]));
    loops.loop_of = calloc(words + 1u, sizeof(loops.loop_of[0]));
    loops.queued = calloc(words + 1u, sizeof(loops.queued[0]));
    if (ppu_loops_check(&loops, entries, PPU_ARRAY_SIZE(entries), &error) != !error.what ||
        (error.what && error.insn >= words)) {
        fuzz_found("loops are refused at instruction %u of %u without a reason, or the other way round", error.insn,
                   words);
    }
    free(loops.flags);
    free(loops.loop_of);
    free(loops.queued);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    size_t first = strnlen((const char *)bytes, count);
    struct texts texts = { .main = malloc(count + 2) };

    memcpy(texts.main, bytes, count);
    memset(texts.main + count, 0, 2);
    texts.included = texts.main + first + 1;
    texts.checked = count % 2 != 0;
    try_text(&texts);
    try_loops(bytes, count);
    free(texts.main);
    try_words(bytes, count);
    return 0;
}
