/* SPDX-License-Identifier: MIT */
#include "tools/asm/response.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/asm/file.h"

#define FILES_MOST 1000 /* a file that names itself ends here */

struct words {
    char **list;
    int count, cap;
};

static bool add_word(struct words *words, char *word)
{
    if (words->count + 1 >= words->cap) {
        int cap = 2 * words->cap + 64;
        char **bigger = realloc(words->list, (size_t)cap * sizeof(*bigger));
        if (!bigger) {
            return false;
        }
        words->list = bigger;
        words->cap = cap;
    }
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
    return true;
}

/* Takes one word off the text, which is written over: a word is never longer than what it is read from. */
static char *take_word(char **text)
{
    char *at = *text, *to, quote = 0;

    while (isspace((unsigned char)*at)) {
        at++;
    }
    char *word = to = at;
    if (*at == 0) {
        return NULL;
    }
    for (; *at != 0 && (quote != 0 || !isspace((unsigned char)*at)); at++) {
        if (*at == '\\' && at[1] != 0) {
            *to++ = *++at;
        } else if (quote == 0 && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else if (*at == quote && quote != 0) {
            quote = 0;
        } else {
            *to++ = *at;
        }
    }
    *text = at + (*at != 0);
    *to = 0;
    return word;
}

static bool add_file(struct words *words, char *text, int *files)
{
    char *word;

    while ((word = take_word(&text))) {
        size_t len = 0;
        char *inner = word[0] == '@' && ++*files < FILES_MOST ? file_read(word + 1, &len) : NULL;
        if (!(inner ? add_file(words, inner, files) : add_word(words, word))) {
            return false;
        }
    }
    return true;
}

const char *response_expand(int *argc, char ***argv)
{
    struct words words = { NULL, 0, 0 };
    int files = 0;

    for (int i = 0; i < *argc; i++) {
        size_t len = 0;
        char *text = i != 0 && (*argv)[i][0] == '@' && ++files < FILES_MOST ? file_read((*argv)[i] + 1, &len) : NULL;
        if (!(text ? add_file(&words, text, &files) : add_word(&words, (*argv)[i]))) {
            return "out of memory";
        }
    }
    if (files >= FILES_MOST) {
        return "response files (@FILE) that name each other, or too many";
    }
    *argc = words.count;
    *argv = words.list;
    return NULL;
}
