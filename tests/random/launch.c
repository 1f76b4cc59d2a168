/* SPDX-License-Identifier: MIT */
#include "tests/random/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *path)
{
    perror(path);
    exit(EXIT_FAILURE);
}

char *launch_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long len;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (len = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0 ||
        !(text = calloc((size_t)len + 1, 1)) || fread(text, 1, (size_t)len, file) != (size_t)len) {
        die(path);
    }
    fclose(file);
    return text;
}

struct launches launch_find(const char *source)
{
    static const char mark[] = "// launch ";
    struct launches found = { .at = NULL };

    for (const char *at = strstr(source, mark); at; at = strstr(at + 1, mark)) {
        struct launch *more = realloc(found.at, (found.count + 1) * sizeof(*more));
        struct launch *launch = more ? &more[found.count] : NULL;
        if (!launch || sscanf(at + sizeof(mark) - 1, "%31s %u %u %u %u", launch->name, &launch->groups, &launch->x,
                              &launch->y, &launch->uniform) != 5) { /* NOLINT(cert-err34-c): our own generator's */
            die(mark);
            return found;
        }
        launch->items = launch->groups * launch->x * launch->y;
        found.at = more;
        found.count++;
    }
    return found;
}

void launch_input(const struct launch *launch, uint32_t *in)
{
    uint64_t state = launch->uniform + 0x9e3779b97f4a7c15ull * (1 + strlen(launch->name));

    for (uint32_t i = 0; i < launch->items; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        in[i] = (uint32_t)(state >> 33) >> (i % 5 * 7); /* of all sizes */
    }
}

size_t launch_words(const struct launch *launch)
{
    return (size_t)launch->items * LAUNCH_RESULTS + LAUNCH_SUMS;
}

void launch_write(const char *path, const uint32_t *words, size_t count)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(words, sizeof(*words), count, file) != count || fclose(file) != 0) {
        die(path);
    }
}
