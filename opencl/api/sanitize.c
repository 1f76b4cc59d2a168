/* SPDX-License-Identifier: MIT */
#include "opencl/api/sanitize.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/ppu_compiler.h"
#include "opencl/api/allocation.h"
#include "opencl/api/marks.h"
#include "ppu/sanitizer.h"
#include "ppu/sanitizer_words.h"

#define LIST_BYTES 100u /* of words; a longer one has a word twice */

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static const char *wanted; /* words; NULL: none */
static int exit_status;    /* 0: the program's own */
static uint32_t sites;     /* that were reported */
static bool finds_races;

void sanitize_count_site(void)
{
    __atomic_add_fetch(&sites, 1, __ATOMIC_RELAXED);
}

/* Registered before the program begins, so it runs behind the program's own functions. */
static void summarize(void)
{
    const uint32_t count = __atomic_load_n(&sites, __ATOMIC_RELAXED);

    if (count == 0) {
        return;
    }
    fprintf(stderr, "ppu: kernels did something wrong at %u place%s\n", count, count == 1 ? "" : "s");
    if (exit_status != 0) {
        fflush(NULL);
        _exit(exit_status);
    }
}

static void read_exit_status(void)
{
    const char *text = secure_getenv(SANITIZE_EXIT_VARIABLE);
    char *end = NULL;
    const long status = text ? strtol(text, &end, 10) : 0;

    if (text && (*text == '\0' || *end != '\0' || status < 1 || status > 255)) {
        fprintf(stderr,
                "OpenCL on the PPU: read " SANITIZE_EXIT_VARIABLE
                ": '%.40s' is no number from 1 to 255; the program's own exit "
                "status is kept\n",
                text);
        return;
    }
    exit_status = (int)status;
}

/* What is made from now on is remembered as far as these checks need it. */
static void begin_checks(uint32_t checks)
{
    allocation_begin();
    if ((checks & PPU_SANITIZE_RACE) != 0) {
        __atomic_store_n(&finds_races, true, __ATOMIC_RELAXED);
    }
    if ((checks & PPU_SANITIZE_UNINIT) != 0) {
        marks_begin();
    }
}

/* Begins with the checks that build options ask for; what is wrong in them is told by the build. */
static void begin_options(const char *options)
{
    char list[LIST_BYTES];

    for (const char *at = options; (at = strstr(at, PPU_COMPILE_SANITIZE));) {
        at += strlen(PPU_COMPILE_SANITIZE);
        snprintf(list, sizeof(list), "%.*s", (int)strcspn(at, " \t\n\"'"), at);
        begin_checks(ppu_sanitizer_words(list));
    }
}

static void read_variables(void)
{
    const char *text = secure_getenv(SANITIZE_VARIABLE);

    read_exit_status();
    atexit(summarize);
    if (!text || *text == '\0') {
        return;
    }
    wanted = text;
    if (ppu_sanitizer_words(text) == 0) { /* builds fail, and their logs say it too */
        fprintf(stderr, "OpenCL on the PPU: read " SANITIZE_VARIABLE ": '%.200s' %s\n", text,
                ppu_sanitizer_words_wrong);
        return;
    }
    begin_checks(ppu_sanitizer_words(text));
}

void sanitize_begin(void)
{
    pthread_once(&begun, read_variables);
}

bool sanitize_finds_races(void)
{
    return __atomic_load_n(&finds_races, __ATOMIC_RELAXED);
}

/* Passes only the first word of a variable that is wrong: it is refused, and cannot be another option. */
char *sanitize_options(const char *options)
{
    char *both = NULL;

    sanitize_begin();
    begin_options(options);
    if (!wanted) {
        return strdup(options);
    }
    return asprintf(&both, "%s " PPU_COMPILE_SANITIZE "%.*s", options, (int)strcspn(wanted, " \t\n\"'"), wanted) < 0
               ? NULL
               : both;
}
