/* SPDX-License-Identifier: MIT */
#include "tests/opencl/apart.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static FILE *memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

    if (!file && fd >= 0) {
        close(fd);
    }
    return file;
}

/* There may be none, at NULL. */
static void write_bytes(FILE *file, const void *at, size_t bytes)
{
    if (bytes != 0) {
        fwrite(at, 1, bytes, file);
    }
}

static bool write_request(FILE *file, const void *bitcode, size_t len_bytes, const struct ppu_compile_options *options)
{
    static const struct ppu_compile_facts none;
    const struct ppu_compile_facts *facts = options->facts ? options->facts : &none;
    struct apart_request request = {
        .options = *options,
        .facts = *facts,
        .name_bytes = text_bytes(options->name),
        .options_bytes = text_bytes(options->options),
        .kernel_bytes = text_bytes(facts->kernel),
        .bitcode_bytes = len_bytes,
    };

    request.options.name = request.options.options = request.options.clang = request.options.fork_server = NULL;
    request.options.headers = NULL;
    request.options.header_count = 0;
    request.options.facts = NULL;
    request.facts.kernel = NULL;
    request.facts.arguments = NULL;
    request.facts.pairs = NULL;
    fwrite(&request, sizeof(request), 1, file);
    write_bytes(file, options->name, request.name_bytes);
    write_bytes(file, options->options, request.options_bytes);
    write_bytes(file, facts->kernel, request.kernel_bytes);
    write_bytes(file, facts->arguments, facts->argument_count * sizeof(facts->arguments[0]));
    write_bytes(file, facts->pairs, facts->pair_count * sizeof(facts->pairs[0]));
    write_bytes(file, bitcode, len_bytes);
    return fflush(file) == 0 && ferror(file) == 0 && fseek(file, 0, SEEK_SET) == 0;
}

/* Whether it ran to its end and was content. */
static bool run_program(FILE *request, FILE *answer)
{
    char *arguments[] = { (char[]){ APART_PROGRAM }, NULL };
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    posix_spawn_file_actions_adddup2(&actions, fileno(request), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(answer), 1);
    bool started = posix_spawn(&pid, APART_PROGRAM, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (started && waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool read_answer(FILE *file, enum ppu_compile_status *status, struct ppu_compiled *image)
{
    struct apart_answer answer;

    if (fseek(file, 0, SEEK_SET) != 0 || fread(&answer, sizeof(answer), 1, file) != 1) {
        return false;
    }
    *status = (enum ppu_compile_status)answer.status;
    *image = (struct ppu_compiled){ answer.len_bytes != 0 ? malloc(answer.len_bytes) : NULL, answer.len_bytes,
                                    calloc(1, answer.log_bytes + 1) };
    return (image->bytes || answer.len_bytes == 0) && image->log &&
           fread(image->bytes, 1, answer.len_bytes, file) == answer.len_bytes &&
           fread(image->log, 1, answer.log_bytes, file) == answer.log_bytes;
}

/* ---- answers that are kept ---- */

#define NAME_BYTES 128u

/* Each request has a file, named by what it says. */
static bool name_answer(FILE *request, char name[NAME_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t piece[4096], digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    size_t bytes;
    int end = snprintf(name, NAME_BYTES, "%s/", APART_ANSWERS);

    sha256_init(&hash);
    while ((bytes = fread(piece, 1, sizeof(piece), request)) != 0) {
        sha256_update(&hash, bytes, piece);
    }
    sha256_digest(&hash, sizeof(digest), digest);
    for (uint32_t i = 0; i < sizeof(digest); i++) {
        name[end++] = digits[digest[i] >> 4];
        name[end++] = digits[digest[i] & 15];
    }
    name[end] = 0;
    return fseek(request, 0, SEEK_SET) == 0;
}

/* Several tests may keep one at a time: it is there as a whole or not. */
static void keep_answer(FILE *answer, const char *name)
{
    char own[NAME_BYTES], piece[4096];
    size_t bytes;

    snprintf(own, sizeof(own), "%s.%ld", name, (long)getpid());
    FILE *file = fopen(own, "w");
    if (!file) {
        return;
    }
    rewind(answer);
    while ((bytes = fread(piece, 1, sizeof(piece), answer)) != 0) {
        fwrite(piece, 1, bytes, file);
    }
    const bool is_whole = ferror(file) == 0;
    if (fclose(file) != 0 || !is_whole || rename(own, name) != 0) {
        unlink(own);
    }
}

static bool answer_request(FILE *request, enum ppu_compile_status *status, struct ppu_compiled *image)
{
    char name[NAME_BYTES];

    if (!name_answer(request, name)) {
        return false;
    }
    FILE *answer = fopen(name, "r");
    const bool is_kept = !!answer;
    answer = is_kept ? answer : memory_file("answer");
    const bool done = answer && (is_kept || run_program(request, answer)) && read_answer(answer, status, image);
    if (done && !is_kept) {
        keep_answer(answer, name);
    }
    if (answer) {
        fclose(answer);
    }
    return done;
}

enum ppu_compile_status apart_bitcode(const void *bitcode, size_t len_bytes, const struct ppu_compile_options *options,
                                      struct ppu_compiled *image)
{
    static const struct ppu_compile_options none;
    enum ppu_compile_status status = PPU_COMPILE_OK;

    options = options ? options : &none;
    if (options->dump || options->subvector.svg) { /* which are written in this process */
        return ppu_compile_bitcode(bitcode, len_bytes, options, image);
    }
    FILE *request = memory_file("request");
    bool done =
        request && write_request(request, bitcode, len_bytes, options) && answer_request(request, &status, image);
    if (!done) {
        fprintf(stderr, "%s: cannot be run, or did not end well\n", APART_PROGRAM);
        abort();
    }
    fclose(request);
    return status;
}
