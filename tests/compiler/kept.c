/* SPDX-License-Identifier: MIT */
#include "tests/compiler/kept.h"

#include "compiler/base/bytes.h"
#include "tests/device-core/board.h"

#include <stdlib.h>
#include <string.h>

#define KEPT 64u /* the oldest goes first */

/* What was asked for, as bytes, and what came of it. */
struct kept {
    struct bytes question;
    struct ppu_compiled made;
};

static struct kept all[KEPT];
static uint32_t kept_before; /* how many, those that went too */

static const struct kept *find(const struct bytes *question)
{
    for (uint32_t i = 0; i < KEPT; i++) {
        const struct bytes *other = &all[i].question;
        if (all[i].made.bytes && other->len == question->len && memcmp(other->at, question->at, question->len) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static void keep(const struct bytes *question, const struct ppu_compiled *made)
{
    struct kept *kept = &all[kept_before++ % KEPT];

    bytes_free(&kept->question);
    ppu_compiled_free(&kept->made);
    kept->question = *question;
    kept->made = *made;
}

static struct ppu_compiled copy_of(const struct ppu_compiled *made)
{
    struct ppu_compiled copy = { malloc(made->len_bytes), made->len_bytes, strdup(made->log) };

    assert_non_null(copy.bytes);
    assert_non_null(copy.log);
    memcpy(copy.bytes, made->bytes, made->len_bytes);
    return copy;
}

#define ADD(question, value) bytes_add(question, &(value), sizeof(value))

static void add_facts(struct bytes *question, const struct ppu_compile_facts *facts)
{
    bytes_text(question, facts->kernel);
    ADD(question, facts->argument_count);
    bytes_add(question, facts->arguments, facts->argument_count * sizeof(facts->arguments[0]));
    ADD(question, facts->pair_count);
    bytes_add(question, facts->pairs, facts->pair_count * sizeof(facts->pairs[0]));
    ADD(question, facts->work_group);
    ADD(question, facts->small_ids);
}

static struct bytes question_of(const char *what, const void *input, size_t len_bytes,
                                const struct ppu_compile_options *options)
{
    struct bytes question = { .at = NULL };

    bytes_text(&question, what);
    bytes_text(&question, options->name ? options->name : "");
    bytes_text(&question, options->options ? options->options : "");
    ADD(&question, options->wave);
    ADD(&question, options->max_vregs);
    ADD(&question, options->max_sregs);
    ADD(&question, options->subvector);
    ADD(&question, len_bytes);
    bytes_add(&question, input, len_bytes);
    if (options->facts) {
        add_facts(&question, options->facts);
    }
    assert_false(question.lost);
    return question;
}

/* Ends a question: the kept answer, or the new one, which is kept when it is one. */
static enum ppu_compile_status answer(struct bytes *question, const struct kept *kept, enum ppu_compile_status status,
                                      struct ppu_compiled *made)
{
    if (kept) {
        *made = copy_of(&kept->made);
    }
    if (kept || status != PPU_COMPILE_OK) {
        bytes_free(question);
        return status;
    }
    struct ppu_compiled copy = copy_of(made);
    keep(question, &copy);
    return status;
}

enum ppu_compile_status kept_source(const char *source, const struct ppu_compile_options *options,
                                    struct ppu_compiled *made)
{
    /* What clang does depends on nothing else. */
    const struct ppu_compile_options clangs = { .name = options->name, .options = options->options };
    struct bytes question = question_of("source", source, strlen(source), &clangs);
    const struct kept *kept = find(&question);
    enum ppu_compile_status status = kept ? PPU_COMPILE_OK : ppu_compile_source(source, strlen(source), &clangs, made);

    return answer(&question, kept, status, made);
}

enum ppu_compile_status kept_image(const struct ppu_compiled *bitcode, const struct ppu_compile_options *options,
                                   struct ppu_compiled *made)
{
    struct bytes question = question_of("bitcode", bitcode->bytes, bitcode->len_bytes, options);
    const struct kept *kept = find(&question);
    enum ppu_compile_status status =
        kept ? PPU_COMPILE_OK : ppu_compile_bitcode(bitcode->bytes, bitcode->len_bytes, options, made);

    return answer(&question, kept, status, made);
}
