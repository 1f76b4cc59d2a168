/* SPDX-License-Identifier: MIT */
/* Runs ppu-foreign, the process that reads modules from elsewhere (foreign.h). Programs start it, not users. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/foreign/confine.h"
#include "compiler/foreign/foreign.h"

/* The bytes alone: nothing of them is looked at before the process is confined. */
static uint8_t *read_input(size_t *bytes)
{
    struct stat info;

    if (fstat(STDIN_FILENO, &info) != 0 || info.st_size <= 0 || (uint64_t)info.st_size > FOREIGN_MOST_BYTES) {
        return NULL;
    }
    *bytes = (size_t)info.st_size;
    uint8_t *data = malloc(*bytes);
    for (size_t done = 0; data && done < *bytes;) {
        ssize_t got = pread(STDIN_FILENO, data + done, *bytes - done, (off_t)done);
        if (got <= 0) {
            return NULL;
        }
        done += (size_t)got;
    }
    return data;
}

static bool write_at(off_t at, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = pwrite(STDOUT_FILENO, (const uint8_t *)data + done, bytes - done, at + (off_t)done);
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

static bool answer(enum ppu_compile_status status, const struct ppu_compiled *made)
{
    const struct foreign_answer head = {
        .magic = FOREIGN_MAGIC,
        .version = FOREIGN_VERSION,
        .status = status,
        .made_bytes = made->len_bytes,
        .log_bytes = made->log ? strlen(made->log) : 0,
    };

    return (!made->bytes || write_at(sizeof(head), made->bytes, made->len_bytes)) &&
           (!made->log || write_at((off_t)(sizeof(head) + made->len_bytes), made->log, head.log_bytes)) &&
           write_at(0, &head, sizeof(head));
}

static struct foreign_facts_room room;

static enum ppu_compile_status compile(const struct foreign_request *request, const struct ppu_compile_module *modules,
                                       struct ppu_compiled *made)
{
    struct ppu_compile_options options;
    struct ppu_compile_module whole = modules[0];
    enum ppu_compile_status status = PPU_COMPILE_OK;
    struct ppu_compile_facts facts;

    if (!foreign_take_options(request, &options)) {
        return PPU_COMPILE_BAD_OPTIONS;
    }
    if (request->make == FOREIGN_VARIANT) {
        options.facts = &facts;
        return foreign_read_facts(&modules[0], &room, &facts)
                   ? ppu_compile_bitcode(modules[1].bitcode, modules[1].len_bytes, &options, made)
                   : PPU_COMPILE_BAD_OPTIONS;
    }
    if (request->modules > 1 || request->make == FOREIGN_LIBRARY) {
        status = ppu_compile_link(modules, request->modules, made);
        whole = (struct ppu_compile_module){ made->bytes, made->len_bytes };
    }
    if (status == PPU_COMPILE_OK && request->make == FOREIGN_IMAGE) {
        status = ppu_compile_bitcode(whole.bitcode, whole.len_bytes, &options, made);
    }
    return status;
}

/* Does not return. */
static int become_translator(char **words)
{
    char *const arguments[] = { words[1], "-r", "--spirv-target-env=CL2.0", "/dev/stdin", "-o", "-", NULL };

    if (!confine_translator()) {
        return FOREIGN_UNCONFINED;
    }
    execv(words[1], arguments);
    return FOREIGN_NO_TRANSLATOR;
}

int main(int count, char **words)
{
    static struct ppu_compile_module modules[FOREIGN_MOST_MODULES];
    struct foreign_request request;
    struct ppu_compiled made = { .bytes = NULL };
    size_t bytes = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == FOREIGN_TRANSLATOR_WORDS) {
        return become_translator(words);
    }
    uint8_t *data = read_input(&bytes);
    if (!confine()) {
        return FOREIGN_UNCONFINED;
    }
    if (!data || !foreign_read_request(data, bytes, &request, modules)) {
        return EXIT_FAILURE;
    }
    enum ppu_compile_status status = compile(&request, modules, &made);
    return answer(status, &made) ? EXIT_SUCCESS : EXIT_FAILURE;
}
