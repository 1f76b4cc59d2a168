/* SPDX-License-Identifier: MIT */
#include "opencl/build/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl/build/compiler_dl.h"

#define WHO "a variant, or a module that this installation has not compiled, is compiled in a process of its own"

/* How it went. */
struct outcome {
    int error;  /* of starting it; 0: none */
    bool late;  /* it was ended */
    int status; /* of waitpid() */
};

/* The process's. */
struct streams {
    int in, out;
    int err; /* -1: nobody reads it */
};

/* ---- files ---- */

static bool write_all(int file, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = write(file, (const uint8_t *)data + done, bytes - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

static bool write_request(int file, enum foreign_make make, const struct ppu_compile_options *options,
                          const struct ppu_compile_module *modules, uint32_t count)
{
    struct foreign_request request = {
        .magic = FOREIGN_MAGIC, .version = FOREIGN_VERSION, .make = make, .modules = count
    };

    foreign_put_options(&request, options);
    bool written = write_all(file, &request, sizeof(request));

    for (uint32_t i = 0; i < count && written; i++) {
        const uint64_t bytes = modules[i].len_bytes;
        written = write_all(file, &bytes, sizeof(bytes));
    }
    for (uint32_t i = 0; i < count && written; i++) {
        written = write_all(file, modules[i].bitcode, modules[i].len_bytes);
    }
    return written;
}

/* Once nobody writes to it any more. NULL: there is nothing. */
static uint8_t *read_answer(int file, size_t *bytes)
{
    struct stat info;

    if (fstat(file, &info) != 0 || info.st_size <= 0 || (uint64_t)info.st_size > FOREIGN_MOST_BYTES) {
        return NULL;
    }
    *bytes = (size_t)info.st_size;
    uint8_t *data = malloc(*bytes);
    if (data && pread(file, data, *bytes, 0) != (ssize_t)*bytes) {
        free(data);
        data = NULL;
    }
    return data;
}

/* ---- the process ---- */

/* Where the dynamic linker looks is the program's to say, unless it has raised privileges; the rest is
 * not passed on. */
static int spawn(pid_t *pid, char *const *words, const struct streams *streams)
{
    const char *libraries = secure_getenv("LD_LIBRARY_PATH");
    char variable[8192], *environment[] = { NULL, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    if (libraries && snprintf(variable, sizeof(variable), "LD_LIBRARY_PATH=%s", libraries) < (int)sizeof(variable)) {
        environment[0] = variable;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, streams->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams->out, STDOUT_FILENO);
    if (streams->err >= 0) {
        posix_spawn_file_actions_adddup2(&actions, streams->err, STDERR_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(pid, words[0], &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns when it has ended, by itself or by force. */
static void await_process(pid_t pid, struct outcome *outcome)
{
    struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
    int ready = ended.fd >= 0 ? poll(&ended, 1, FOREIGN_PATIENCE_MS) : 0;

    while (ready < 0 && errno == EINTR) {
        ready = poll(&ended, 1, FOREIGN_PATIENCE_MS);
    }
    if (ready <= 0) {
        outcome->late = true;
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &outcome->status, 0) < 0 && errno == EINTR) {
    }
    if (ended.fd >= 0) {
        close(ended.fd);
    }
}

/* `word`: what stands behind its name; NULL: nothing. */
static struct outcome run_child(const struct streams *streams, const char *word)
{
    struct outcome outcome = { 0, false, 0 };
    char path[PATH_MAX];
    char *const words[] = { path, (char *)(uintptr_t)word, NULL };
    pid_t pid = 0;

    outcome.error = foreign_path(path) ? spawn(&pid, words, streams) : ENOENT;
    if (outcome.error == 0) {
        await_process(pid, &outcome);
    }
    return outcome;
}

/* ---- the result ---- */

static enum ppu_compile_status __attribute__((format(printf, 3, 4)))
say(struct ppu_compiled *made, enum ppu_compile_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (vasprintf(&made->log, format, args) < 0) {
        made->log = NULL;
    }
    va_end(args);
    return made->log ? status : PPU_COMPILE_NO_MEMORY;
}

static enum ppu_compile_status take_answer(const uint8_t *data, const struct foreign_answer *answer,
                                           struct ppu_compiled *made)
{
    const uint8_t *bytes = data + sizeof(*answer), *log = bytes + answer->made_bytes;

    made->bytes = answer->made_bytes > 0 ? malloc(answer->made_bytes) : NULL;
    made->log = calloc(1, answer->log_bytes + 1);
    if ((answer->made_bytes > 0 && !made->bytes) || !made->log) {
        compiler_free(made);
        return PPU_COMPILE_NO_MEMORY;
    }
    if (answer->made_bytes > 0) {
        memcpy(made->bytes, bytes, answer->made_bytes);
        made->len_bytes = answer->made_bytes;
    }
    memcpy(made->log, log, answer->log_bytes);
    return (enum ppu_compile_status)answer->status;
}

/* `who`: what the process is for. */
static enum ppu_compile_status explain(const struct outcome *outcome, const char *who, struct ppu_compiled *made)
{
    if (outcome->error != 0) {
        return say(made, PPU_COMPILE_NO_TOOL, "error: %s, which cannot be started: %s\n", who,
                   strerror(outcome->error));
    }
    if (outcome->late) {
        return say(made, PPU_COMPILE_BAD_SOURCE, "error: %s, which has not ended in %d s\n", who,
                   FOREIGN_PATIENCE_MS / 1000);
    }
    if (WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == FOREIGN_UNCONFINED) {
        return say(made, PPU_COMPILE_NO_TOOL, "error: %s, whose rights this system cannot take away\n", who);
    }
    if (WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == FOREIGN_NO_TRANSLATOR) {
        return say(made, PPU_COMPILE_NO_TOOL, "error: %s, whose program cannot be executed\n", who);
    }
    if (WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGXCPU) {
        return say(made, PPU_COMPILE_BAD_SOURCE, "error: %s, which needed more than %u s of a processor\n", who,
                   FOREIGN_CPU_S);
    }
    if (WIFSIGNALED(outcome->status)) {
        return say(made, PPU_COMPILE_BAD_SOURCE, "error: %s, which ended by signal %d: %s\n", who,
                   WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
    }
    return say(made, PPU_COMPILE_BAD_SOURCE, "error: %s, which ended without an answer, status %d\n", who,
               WEXITSTATUS(outcome->status));
}

static enum ppu_compile_status compile_foreign(int in, int out, struct ppu_compiled *made)
{
    const struct outcome outcome = run_child(&(struct streams){ in, out, -1 }, NULL);
    struct foreign_answer answer;
    size_t bytes = 0;
    uint8_t *data = outcome.error == 0 ? read_answer(out, &bytes) : NULL;
    bool answered = data && foreign_read_answer(data, bytes, &answer);
    enum ppu_compile_status status = answered ? take_answer(data, &answer, made) : explain(&outcome, WHO, made);

    free(data);
    return status;
}

/* A file without a name, apart from those of the standard streams, whose places it takes in the process. */
static int make_file(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    if (file >= 0 && file <= STDERR_FILENO) {
        int other = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(file);
        file = other;
    }
    return file;
}

static void close_file(int file)
{
    if (file >= 0) {
        close(file);
    }
}

enum ppu_compile_status foreign_compile(enum foreign_make make, const struct ppu_compile_options *options,
                                        const struct ppu_compile_module *modules, uint32_t count,
                                        struct ppu_compiled *made)
{
    int in = make_file("ppu-modules"), out = make_file("ppu-made");
    enum ppu_compile_status status = PPU_COMPILE_NO_MEMORY;
    size_t bytes = sizeof(struct foreign_request);

    *made = (struct ppu_compiled){ NULL, 0, NULL };
    for (uint32_t i = 0; i < count; i++) {
        bytes += sizeof(uint64_t) + modules[i].len_bytes;
    }
    if (count > FOREIGN_MOST_MODULES || bytes > FOREIGN_MOST_BYTES) {
        status =
            say(made, PPU_COMPILE_TOO_LARGE, "error: " WHO ", which takes at most %u modules of %zu bytes together\n",
                FOREIGN_MOST_MODULES, FOREIGN_MOST_BYTES);
    } else if (in >= 0 && out >= 0 && write_request(in, make, options, modules, count)) {
        status = compile_foreign(in, out, made);
    }
    close_file(in);
    close_file(out);
    return status;
}

static uint8_t *put(uint8_t *at, const void *data, size_t bytes)
{
    return (uint8_t *)memcpy(at, data, bytes) + bytes;
}

/* As the process takes them apart; to be freed. NULL: no memory. */
static uint8_t *write_facts(const struct ppu_compile_facts *facts, size_t *bytes)
{
    const struct foreign_facts head = { facts->argument_count,
                                        facts->pair_count,
                                        { facts->work_group[0], facts->work_group[1], facts->work_group[2] },
                                        facts->small_ids };
    const size_t argument_bytes = facts->argument_count * sizeof(facts->arguments[0]);
    const size_t pair_bytes = facts->pair_count * sizeof(facts->pairs[0]), name_bytes = strlen(facts->kernel) + 1;

    *bytes = sizeof(head) + argument_bytes + pair_bytes + name_bytes;
    uint8_t *made = malloc(*bytes);
    if (made) {
        uint8_t *at = put(made, &head, sizeof(head));
        at = put(at, facts->arguments, argument_bytes);
        at = put(at, facts->pairs, pair_bytes);
        put(at, facts->kernel, name_bytes);
    }
    return made;
}

enum ppu_compile_status foreign_compile_variant(const struct ppu_compile_options *options,
                                                const struct ppu_compile_module *module, struct ppu_compiled *made)
{
    struct ppu_compile_module modules[2] = { { NULL, 0 }, *module };
    uint8_t *facts = write_facts(options->facts, &modules[0].len_bytes);

    *made = (struct ppu_compiled){ NULL, 0, NULL };
    modules[0].bitcode = facts;
    enum ppu_compile_status status =
        facts ? foreign_compile(FOREIGN_VARIANT, options, modules, 2, made) : PPU_COMPILE_NO_MEMORY;
    free(facts);
    return status;
}

/* ---- intermediate language ---- */

#define TRANSLATED "SPIR-V is translated in a process of its own"

/* What the translator has said, as one text; to be freed. NULL: nothing, or no memory. */
static char *read_text(int file)
{
    size_t bytes = 0;
    uint8_t *data = read_answer(file, &bytes);
    char *text = data ? malloc(bytes + 1) : NULL;

    if (text) {
        memcpy(text, data, bytes);
        text[bytes] = '\0';
    }
    free(data);
    return text;
}

static enum ppu_compile_status take_bitcode(const struct outcome *outcome, const struct streams *streams,
                                            struct ppu_compiled *made)
{
    bool done = outcome->error == 0 && !outcome->late && WIFEXITED(outcome->status) &&
                WEXITSTATUS(outcome->status) == EXIT_SUCCESS;
    char *text = outcome->error == 0 ? read_text(streams->err) : NULL;
    enum ppu_compile_status status = PPU_COMPILE_OK;

    if (done && (made->bytes = read_answer(streams->out, &made->len_bytes))) {
        made->log = strdup("");
    } else if (text && *text != '\0') {
        status = say(made, PPU_COMPILE_BAD_SOURCE, "error: translate SPIR-V: %s", text);
    } else {
        status = explain(outcome, TRANSLATED, made);
    }
    free(text);
    return status;
}

enum ppu_compile_status foreign_translate(const char *translator, const void *il, size_t bytes,
                                          struct ppu_compiled *bitcode)
{
    const struct streams streams = { make_file("ppu-spirv"), make_file("ppu-bitcode"), make_file("ppu-said") };
    enum ppu_compile_status status = PPU_COMPILE_NO_MEMORY;

    *bitcode = (struct ppu_compiled){ NULL, 0, NULL };
    if (bytes > FOREIGN_MOST_BYTES) {
        status = say(bitcode, PPU_COMPILE_TOO_LARGE, "error: " TRANSLATED ", which takes at most %zu bytes\n",
                     FOREIGN_MOST_BYTES);
    } else if (streams.in >= 0 && streams.out >= 0 && streams.err >= 0 && write_all(streams.in, il, bytes) &&
               lseek(streams.in, 0, SEEK_SET) == 0) {
        const struct outcome outcome = run_child(&streams, translator);
        status = take_bitcode(&outcome, &streams, bitcode);
    }
    close_file(streams.in);
    close_file(streams.out);
    close_file(streams.err);
    return status;
}
