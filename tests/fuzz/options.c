/* SPDX-License-Identifier: MIT */
/*
 * Surface: build options, as clBuildProgram gets them.
 *
 * An input is the text. Each word that clang would be given must be allowed by itself, and must be made of what the
 * text says; a text that is refused must be told why.
 */
#include "compiler/frontend/options.h"

#include <stdlib.h>
#include <string.h>

#include "tests/compiler/allowed.h"
#include "tests/fuzz/input.h"

/* Characters come from the text, in its order. */
static void must_come_from(const struct options *options, const char *text)
{
    for (uint32_t i = 0; i < options->count; i++) {
        for (const char *c = options->word[i]; *c != 0; c++) {
            text = strchr(text, *c);
            if (!text) {
                fuzz_found("word '%s' is not what the options say", options->word[i]);
                return;
            }
            text++;
        }
    }
}

/* An error comes last. A note before it shows the option that it is about, whatever that says. */
static bool ends_with_error(const struct bytes *log)
{
    static const char note[] = " is another vendor's, and changes nothing here\n";
    const size_t len = sizeof(note) - 1;

    return log->len != 0 && (log->len < len || memcmp(log->at + log->len - len, note, len) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = malloc(count + 1);
    struct bytes log = { .at = NULL };
    struct options options;

    memcpy(text, bytes, count);
    text[count] = 0;
    enum ppu_compile_status status = options_read(&options, text, &log);
    for (uint32_t i = 0; status == PPU_COMPILE_OK && i < options.count; i++) {
        if (!options_allows(options.word[i])) {
            fuzz_found("clang is given '%s'", options.word[i]);
        }
    }
    if ((status == PPU_COMPILE_OK) == ends_with_error(&log)) {
        fuzz_found("status %d with a log of %zu bytes", (int)status, log.len);
    }
    if (status == PPU_COMPILE_OK) {
        must_come_from(&options, text);
    }
    options_free(&options);
    bytes_free(&log);
    free(text);
    return 0;
}
