/* SPDX-License-Identifier: MIT */
/* Finds which files on disk programs were made of: a file's text stands in the source that a program tells. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dbg/session.h"
#include "tools/trace/source.h"

static uint32_t count_lines(const char *text, size_t bytes)
{
    uint32_t lines = 0;

    for (size_t i = 0; i < bytes; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

static struct known_file *find_known(struct session *session, const char *path)
{
    for (uint32_t i = 0; i < session->files; i++) {
        if (strcmp(session->file[i].path, path) == 0) {
            return &session->file[i];
        }
    }
    return NULL;
}

static struct known_file *add_known(struct session *session, const char *path)
{
    struct known_file *bigger = reallocarray(session->file, (size_t)session->files + 1, sizeof(*bigger));

    if (!bigger) {
        return NULL;
    }
    session->file = bigger;
    bigger[session->files] = (struct known_file){ .path = strdup(path) };
    return bigger[session->files].path ? &bigger[session->files++] : NULL;
}

bool session_know_file(struct session *session, const char *path)
{
    char *text = source_read(path);
    size_t bytes = text ? strlen(text) : 0;
    struct known_file *file = text ? find_known(session, path) : NULL;

    if (text && !file) {
        file = add_known(session, path);
    }
    if (!file) {
        free(text);
        return false;
    }
    while (bytes != 0 && isspace((unsigned char)text[bytes - 1])) {
        text[--bytes] = 0;
    }
    free(file->text);
    file->text = text;
    file->lines = count_lines(text, bytes) + 1;
    return true;
}

bool session_file_in(const struct known_file *file, const struct loaded *loaded, uint32_t *before)
{
    const char *source = file->text[0] != 0 ? loaded->source : NULL;
    const char *at = source ? strstr(source, file->text) : NULL;

    while (at && at != source && at[-1] != '\n') {
        at = strstr(at + 1, file->text);
    }
    if (at) {
        *before = count_lines(source, (size_t)(at - source));
    }
    return at;
}

/* The path ends with this name, at the border of a folder. */
static bool ends_with(const char *path, const char *name)
{
    const size_t bytes = strlen(path), name_bytes = strlen(name);

    return bytes >= name_bytes && strcmp(path + bytes - name_bytes, name) == 0 &&
           (bytes == name_bytes || path[bytes - name_bytes - 1] == '/');
}

const struct known_file *session_file_of(const struct session *session, const struct loaded *loaded, const char *name,
                                         uint32_t *line)
{
    const char *source = loaded->info ? info_source(loaded->info) : NULL;
    const bool is_main = !name || !source || strcmp(name, source) == 0;
    uint32_t before;

    for (uint32_t i = 0; is_main && i < session->files; i++) {
        const struct known_file *file = &session->file[i];
        if (session_file_in(file, loaded, &before) && *line > before && *line <= before + file->lines) {
            *line -= before;
            return file;
        }
    }
    for (uint32_t i = 0; name && i < session->files; i++) {
        if (ends_with(session->file[i].path, name)) {
            return &session->file[i];
        }
    }
    return NULL;
}
