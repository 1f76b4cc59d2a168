/* SPDX-License-Identifier: MIT */
#include "tools/asm/command.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/version.h"
#include "tools/asm/file.h"
#include "tools/asm/response.h"
#include "tools/progress/progress.h"

static const char *command_name;

static void print_version(FILE *file, struct argp_state *state)
{
    (void)state;
    fprintf(file, "%s (PPU) %s\n", command_name, PPU_VERSION);
}

void command_begin(const char *name, int *argc, char ***argv)
{
    command_name = name;
    (*argv)[0] = (char *)(uintptr_t)name; /* what getopt's messages begin with */
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_FAILURE;
    const char *why = response_expand(argc, argv);
    if (why) {
        command_fail("read the options: %s", why);
        exit(EXIT_FAILURE);
    }
}

bool command_fail(const char *format, ...)
{
    char *sentence = NULL, *line = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&sentence, format, args) >= 0 && asprintf(&line, "%s: error: %s", command_name, sentence) >= 0) {
        command_print_diagnostics(line);
    }
    va_end(args);
    free(sentence);
    free(line);
    return false;
}

/* ---- messages ---- */

static bool is_coloured(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) && (!none || *none == 0) && terminal && strcmp(terminal, "dumb") != 0;
}

static void print_coloured(const char *line, int len)
{
    static const struct {
        const char *word, *colour;
    } kinds[] = { { " error: ", "31" }, { " warning: ", "35" }, { " note: ", "36" } };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(kinds); i++) {
        const char *at = memmem(line, (size_t)len, kinds[i].word, strlen(kinds[i].word));
        if (at) {
            int prefix = (int)(at - line), word = (int)strlen(kinds[i].word);
            fprintf(stderr, "\033[1m%.*s\033[%sm%.*s\033[0m%.*s\n", prefix, line, kinds[i].colour, word, at,
                    len - prefix - word, at + word);
            return;
        }
    }
    fprintf(stderr, "%.*s\n", len, line);
}

void command_print_diagnostics(const char *lines)
{
    bool coloured = is_coloured();

    progress_end();
    while (*lines != 0) {
        int len = (int)strcspn(lines, "\n");
        if (coloured) {
            print_coloured(lines, len);
        } else {
            fprintf(stderr, "%.*s\n", len, lines);
        }
        lines += len + (lines[len] == '\n');
    }
}

/* ---- lists and files ---- */

void *command_grow(void *list, uint32_t count, size_t size)
{
    void *bigger = reallocarray(list, (size_t)count + 1, size);

    if (!bigger) {
        command_fail("read the options: out of memory");
        exit(EXIT_FAILURE);
    }
    memset((char *)bigger + count * size, 0, size);
    return bigger;
}

char *command_read(const char *path, size_t *len_bytes)
{
    struct stat info;

    if (strcmp(path, "-") == 0) {
        return file_read_stream(stdin, len_bytes);
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    return file_read(path, len_bytes);
}

void command_show_progress(const char *what, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;

    if (!standard || !isatty(STDIN_FILENO)) {
        progress_begin("%s %s", what, standard ? "standard input" : path);
    }
}

bool command_write(const char *path, const void *bytes, size_t len_bytes)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, len_bytes, file) == len_bytes;
    int why = errno;

    if (file && (standard ? fflush(file) : fclose(file)) != 0) {
        why = errno;
        written = false;
    }
    if (!written) {
        command_fail("write %s: %s", standard ? "standard output" : path, strerror(why));
    }
    if (!written && file && !standard) {
        remove(path);
    }
    return written;
}

char *command_output_name(const char *input, const char *ending)
{
    const char *slash = strrchr(input, '/');
    const char *dot = strrchr(slash ? slash : input, '.');
    const char *stem = strcmp(input, "-") == 0 ? "a" : input;
    char *name = NULL;

    int len = (int)(dot && stem == input ? (size_t)(dot - input) : strlen(stem));
    if (asprintf(&name, "%.*s%s", len, stem, ending) < 0) {
        command_fail("write the output: out of memory");
        exit(EXIT_FAILURE);
    }
    return name;
}
