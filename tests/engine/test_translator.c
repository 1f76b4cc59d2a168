/* SPDX-License-Identifier: MIT */
/*
 * Tests the program that translates loops by what it answers: what it keeps and for whom, requests that are none, loops
 * that make no sense, and what it may still do.
 */
#define _GNU_SOURCE
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/tier/translator.h"
#include "qemu-device/core/tier/unit.h"
#include "tests/device-core/translator.h"
#include "tests/engine/rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MODULE "build/plain/ppu-tier.so"
#define UNITS 40u
#define PATH_BYTES 512u

static struct {
    struct tier_unit unit; /* a loop, as a machine has asked for it */
    char folder[PATH_BYTES];
} all;

/* ---- a loop to ask for ---- */

static const char loop[] =
    ".kernel k\n.vregs 8\nldp.b64 s0, [0]\nmov s8, 0\nmov v2, 1\nmov v3, 2\nmov v4, 3\n"
    "loop: mad v2, v2, v3, v4\nxor v3, v3, v2\nadd v4, v4, v2\nmul v2, v2, v4\nadd s8, s8, 1\nisetp.ne.s p0, s8, 99\n"
    "@p0 bra loop\nexit\n";

/* Takes the first request of a machine, and goes. */
static void *take_request(void *opaque)
{
    const int *const socket = opaque;
    struct tier_request request;

    memset(&all.unit, 0, sizeof(all.unit));
    if (tier_receive(*socket, &request, sizeof(request)) && request.bytes <= sizeof(all.unit)) {
        (void)tier_receive(*socket, &all.unit, request.bytes);
    }
    close(*socket);
    return NULL;
}

static int setup(void **state)
{
    struct core_config config = board_small_config(1);
    const uint64_t data = DATA_VA;
    pthread_t thread;
    int ends[2];

    (void)state;
    snprintf(all.folder, sizeof(all.folder), "/tmp/ppu-translator-XXXXXX");
    assert_non_null(mkdtemp(all.folder));
    assert_int_equal(setenv("PPU_CACHE", all.folder, 1), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, take_request, &ends[1]), 0);
    config.sms = 1;
    config.engine_tier = TIER_AT_ONCE;
    config.engine_tier_socket = ends[0];
    struct rig *rig = rig_new_config(&config);
    rig_load_text(rig, loop);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 1, 1, 32, 1);
    rig_params(rig, 0, &tmd, &data, sizeof(data));
    rig_run_done(rig, &tmd);
    rig_free(rig);
    pthread_join(thread, NULL);
    assert_int_equal(all.unit.insns, 7);
    return 0;
}

/* ---- the folder ---- */

static void entries_folder(char path[PATH_BYTES + 8])
{
    snprintf(path, PATH_BYTES + 8, "%s/loops", all.folder);
}

/* Calls `use`, if any, with the path of each entry; how many there are. */
static uint32_t each_entry(void (*use)(const char *path))
{
    char folder[PATH_BYTES + 8], path[PATH_BYTES + 300];
    uint32_t count = 0;

    entries_folder(folder);
    DIR *dir = opendir(folder);
    for (struct dirent *item = dir ? readdir(dir) : NULL; item; item = readdir(dir)) {
        if (strstr(item->d_name, ".ppuc")) {
            snprintf(path, sizeof(path), "%s/%s", folder, item->d_name);
            count++;
            if (use) {
                use(path);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static void remove_entry(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void flip_last_bit(const char *path)
{
    const int file = open(path, O_RDWR);
    struct stat info;
    uint8_t byte;

    assert_true(file >= 0 && fstat(file, &info) == 0);
    assert_int_equal(pread(file, &byte, 1, info.st_size - 1), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, info.st_size - 1), 1);
    close(file);
}

static int teardown(void **state)
{
    char path[PATH_BYTES + 16];

    (void)state;
    each_entry(remove_entry);
    snprintf(path, sizeof(path), "%s/loops/.key", all.folder);
    (void)unlink(path);
    entries_folder(path);
    (void)rmdir(path);
    return rmdir(all.folder);
}

static int clean(void **state)
{
    (void)state;
    each_entry(remove_entry);
    return 0;
}

/* ---- requests ---- */

/* The next reply, which must have that tag. False: the program has closed. */
static bool hear(int socket, uint64_t tag, struct tier_answer *answer, uint8_t *code)
{
    struct tier_reply reply;

    if (!tier_receive(socket, &reply, sizeof(reply)) || reply.answer.bytes > TIER_MAX_CODE ||
        !tier_receive(socket, code, reply.answer.bytes)) {
        return false;
    }
    assert_int_equal(reply.tag, tag);
    assert_in_range(reply.most_made, 1, TIER_MOST_MADE);
    *answer = reply.answer;
    return true;
}

/* Sends a request as it is. False: the program has closed. */
static bool ask(int socket, const struct tier_request *request, const void *unit, struct tier_answer *answer,
                uint8_t *code)
{
    return send(socket, request, sizeof(*request), MSG_NOSIGNAL) == (ssize_t)sizeof(*request) &&
           send(socket, unit, request->bytes, MSG_NOSIGNAL) == (ssize_t)request->bytes &&
           hear(socket, request->tag, answer, code);
}

/* What is answered to a good request for the unit. */
static uint32_t ask_unit(int socket, const struct tier_unit *unit, bool kept, uint8_t *code, uint32_t *bytes)
{
    static uint64_t tag = 1ull << 40;
    const struct tier_request request = { tier_layout(), (uint32_t)tier_unit_bytes(unit),
                                          kept ? TIER_KEPT_ONLY : TIER_WORTH, tag++ };
    struct tier_answer answer = { 0 };

    assert_true(ask(socket, &request, unit, &answer, code));
    *bytes = answer.bytes;
    return answer.result;
}

static void nothing_without_a_request(void **state)
{
    char folder[PATH_BYTES + 8];
    pid_t pid;
    int status;

    (void)state;
    const int socket = translator_start(MODULE, &pid);
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    close(socket);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    entries_folder(folder);
    assert_int_equal(access(folder, F_OK), -1);
}

static void kept_for_the_next(void **state)
{
    uint8_t *const first = malloc(TIER_MAX_CODE), *const second = malloc(TIER_MAX_CODE);
    struct tier_unit other = all.unit;
    uint32_t bytes, again;

    (void)state;
    assert_true(first && second);
    int socket = translator_start(MODULE, NULL);
    assert_int_equal(ask_unit(socket, &all.unit, true, first, &bytes), TIER_NOT_KEPT);
    assert_int_equal(ask_unit(socket, &all.unit, false, first, &bytes), TIER_MADE);
    assert_int_equal(ask_unit(socket, &all.unit, true, second, &again), TIER_MADE);
    assert_int_equal(again, bytes);
    close(socket);
    assert_int_equal(each_entry(NULL), 1);

    socket = translator_start(MODULE, NULL);
    assert_int_equal(ask_unit(socket, &all.unit, true, second, &again), TIER_MADE);
    assert_int_equal(again, bytes);
    assert_memory_equal(first, second, bytes);
    other.wave = 64;
    assert_int_equal(ask_unit(socket, &other, true, second, &again), TIER_NOT_KEPT);
    /* What somebody has changed is none of ours, and is made again. */
    each_entry(flip_last_bit);
    assert_int_equal(ask_unit(socket, &all.unit, true, second, &again), TIER_NOT_KEPT);
    assert_int_equal(ask_unit(socket, &all.unit, false, second, &again), TIER_MADE);
    assert_memory_equal(first, second, bytes);
    close(socket);
    free(first);
    free(second);
}

/* A loop of the longest kind, which takes LLVM the fraction of a second. */
static struct tier_unit long_unit(void)
{
    struct tier_unit unit = all.unit;
    const uint32_t last = TIER_MAX_INSNS - 2, body = all.unit.insns - 2;

    for (uint32_t i = 0; i < last; i++) {
        unit.insn[i] = all.unit.insn[i % body];
    }
    unit.insn[last] = all.unit.insn[body];
    unit.insn[last + 1] = all.unit.insn[body + 1];
    unit.insn[last + 1].insn.imm = -(int32_t)(last + 1);
    unit.insns = TIER_MAX_INSNS;
    return unit;
}

static void kept_beside_made(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    const struct tier_unit unit = long_unit();
    struct tier_answer answer = { .result = TIER_RESULTS };
    uint32_t bytes;

    (void)state;
    assert_non_null(code);
    const int socket = translator_start(MODULE, NULL);
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
    assert_true(translator_ask(socket, 1, &unit, TIER_WORTH));
    assert_true(translator_ask(socket, 2, &all.unit, TIER_KEPT_ONLY));
    assert_true(translator_ask(socket, 3, &all.unit, TIER_WORTH));
    assert_true(translator_ask(socket, 4, &unit, TIER_KEPT_ONLY));
    for (uint64_t tag = 2; tag <= 3; tag++) {
        assert_true(hear(socket, tag, &answer, code));
        assert_int_equal(answer.result, TIER_MADE);
        assert_int_equal(answer.bytes, bytes);
    }
    assert_true(hear(socket, 4, &answer, code));
    assert_int_equal(answer.result, TIER_NOT_KEPT);
    assert_true(hear(socket, 1, &answer, code));
    assert_int_equal(answer.result, TIER_MADE);
    assert_int_equal(ask_unit(socket, &unit, true, code, &bytes), TIER_MADE);
    close(socket);
    free(code);
}

/* It says how many loops it makes at once, and takes no more. */
static void no_more_than_said(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    const struct tier_unit unit = long_unit();
    struct tier_reply reply = { .tag = 0 };

    (void)state;
    assert_non_null(code);
    const int socket = translator_start(MODULE, NULL);
    assert_true(translator_ask(socket, 0, &unit, TIER_KEPT_ONLY));
    assert_true(tier_receive(socket, &reply, sizeof(reply)));
    assert_int_equal(reply.answer.result, TIER_NOT_KEPT);
    for (uint32_t i = 0; i < reply.most_made; i++) {
        assert_true(translator_ask(socket, i, &unit, TIER_ALWAYS));
    }
    for (uint32_t i = 0; i < reply.most_made; i++) {
        struct tier_reply made = { .tag = 0 };
        assert_true(tier_receive(socket, &made, sizeof(made)) && tier_receive(socket, code, made.answer.bytes));
        assert_int_equal(made.answer.result, TIER_MADE);
    }
    for (uint32_t i = 0; i <= reply.most_made; i++) {
        assert_true(translator_ask(socket, i, &unit, TIER_ALWAYS));
    }
    assert_int_equal(recv(socket, &reply, 1, 0), 0);
    close(socket);
    free(code);
}

/* Asks for code that takes long, and goes when it has begun. The program ends well. */
static void leave_behind(enum tier_how how)
{
    const struct tier_unit unit = long_unit();
    struct tier_reply reply;
    pid_t pid;
    int status;

    const int socket = translator_start(MODULE, &pid);
    assert_true(translator_ask(socket, 0, &unit, how));
    assert_true(translator_ask(socket, 1, &unit, TIER_KEPT_ONLY)); /* its reply says that the first has begun */
    assert_true(translator_hear(socket, &reply));
    assert_int_equal(reply.answer.result, TIER_NOT_KEPT);
    close(socket);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A program that ends before the code is there finds it when it runs again. */
static void begun_for_the_next(void **state)
{
    (void)state;
    leave_behind(TIER_WORTH);
    assert_int_equal(each_entry(NULL), 1);
}

/* The device goes while code is made that is not kept: that goes too, and so does the program. */
static void nothing_for_nobody(void **state)
{
    int status;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    leave_behind(TIER_ALWAYS);
    /* What makes code to its end ends otherwise, as nobody reads it. Programs of other tests have ended well. */
    while (wait(&status) > 0) {
        assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    }
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* What a test has made of each loop is not what others are to get. */
static void only_what_pays(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    struct tier_unit unit = all.unit;
    struct tier_request request = { tier_layout(), 0, TIER_ALWAYS, 3 };
    struct tier_answer answer = { 0 };
    uint32_t bytes;

    (void)state;
    assert_non_null(code);
    /* The last instruction of the loop alone. */
    unit.insn[0] = unit.insn[unit.insns - 2];
    unit.insn[1] = unit.insn[unit.insns - 1];
    unit.insn[1].insn.imm = -1;
    unit.insns = 2;
    request.bytes = (uint32_t)tier_unit_bytes(&unit);
    const int socket = translator_start(MODULE, NULL);
    assert_true(ask(socket, &request, &unit, &answer, code));
    assert_int_equal(answer.result, TIER_MADE);
    assert_int_equal(each_entry(NULL), 0);
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
    assert_int_equal(each_entry(NULL), 1);
    request.bytes = (uint32_t)tier_unit_bytes(&all.unit);
    request.how = TIER_HOWS;
    assert_true(ask(socket, &request, &all.unit, &answer, code));
    assert_int_equal(answer.result, TIER_NOT_WORTH);
    close(socket);
    free(code);
}

static void kept_by_nobody(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    uint32_t bytes;

    (void)state;
    assert_non_null(code);
    assert_int_equal(setenv("PPU_CACHE", "off", 1), 0);
    const int socket = translator_start(MODULE, NULL);
    assert_int_equal(setenv("PPU_CACHE", all.folder, 1), 0);
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
    assert_int_equal(ask_unit(socket, &all.unit, true, code, &bytes), TIER_NOT_KEPT);
    assert_int_equal(each_entry(NULL), 0);
    close(socket);
    free(code);
}

static void requests_that_are_none(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    struct tier_unit unit = all.unit;
    struct tier_request request = { tier_layout() + 1, (uint32_t)tier_unit_bytes(&unit), 0, UINT64_MAX };
    struct tier_answer answer = { 0 };
    uint32_t bytes;

    (void)state;
    assert_non_null(code);
    int socket = translator_start(MODULE, NULL);
    assert_true(ask(socket, &request, &unit, &answer, code));
    assert_int_equal(answer.result, TIER_OTHER);
    request.layout = tier_layout();
    for (uint32_t insns = 0; insns <= TIER_MAX_INSNS + 1; insns += TIER_MAX_INSNS + 1) {
        unit.insns = insns;
        assert_true(ask(socket, &request, &unit, &answer, code));
        assert_int_equal(answer.result, TIER_NOT_WORTH);
    }
    unit.insns = all.unit.insns;
    request.bytes--;
    assert_true(ask(socket, &request, &unit, &answer, code));
    assert_int_equal(answer.result, TIER_NOT_WORTH);
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
    /* Larger than any unit: nothing of it is read. */
    request.bytes = sizeof(unit) + 1;
    assert_int_equal(send(socket, &request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
    assert_int_equal(recv(socket, &answer, sizeof(answer), 0), 0);
    close(socket);
    free(code);
}

/* A module that cannot be loaded is told, and what is kept is answered. */
static void without_a_module(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    uint32_t bytes;

    (void)state;
    assert_non_null(code);
    const int socket = translator_start("build/plain/no-such-module.so", NULL);
    assert_int_equal(ask_unit(socket, &all.unit, true, code, &bytes), TIER_NOT_KEPT);
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_NO_MODULE);
    close(socket);
    free(code);
}

static void hostile_loops(void **state)
{
    uint64_t random = random_seed();
    uint8_t *const code = malloc(TIER_MAX_CODE);
    uint32_t bytes, result;

    (void)state;
    assert_non_null(code);
    const int socket = translator_start(MODULE, NULL);
    for (uint32_t left = random_rounds(UNITS); left != 0; left--) {
        struct tier_unit unit = { .wave = PPU_LANES << random_below(&random, 3),
                                  .insns = 1 + random_below(&random, 24) };
        if (random_below(&random, 2) == 0) {
            unit = all.unit; /* a good loop, with some bytes that are not */
            for (uint32_t n = 1 + random_below(&random, 6); n != 0; n--) {
                const uint32_t at = random_below(&random, (uint32_t)sizeof(unit.insn[0]) * unit.insns);
                ((uint8_t *)unit.insn)[at] = (uint8_t)random_below(&random, 256);
            }
        } else {
            random_bytes(&random, (uint8_t *)unit.insn, sizeof(unit.insn[0]) * unit.insns);
        }
        result = ask_unit(socket, &unit, false, code, &bytes);
        assert_true(result == TIER_MADE || result == TIER_NOT_WORTH || result == TIER_FAILED);
    }
    assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
    close(socket);
    free(code);
}

/* ---- what it may do ---- */

/* The line of /proc/PID/status that begins with `name` says `value`. */
static bool status_says(const char *text, const char *name, const char *value)
{
    const char *line = strstr(text, name);

    return line && strncmp(line + strlen(name), value, strlen(value)) == 0;
}

static void gives_up_rights(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    char path[64], text[4096];
    uint32_t bytes;
    pid_t pid;

    (void)state;
    assert_non_null(code);
    const int socket = translator_start(MODULE, &pid);
    assert_int_equal(ask_unit(socket, &all.unit, true, code, &bytes), TIER_NOT_KEPT); /* it has begun */
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_true(status_says(text, "Seccomp:\t", "2"));
    assert_true(status_says(text, "NoNewPrivs:\t", "1"));
    assert_true(status_says(text, "CapEff:\t", "0000000000000000"));
    close(socket);
    free(code);
}

/* Processes whose parent it is, and how many of these run: they are there though they have ended, until it waits. */
static uint32_t count_children(pid_t parent, uint32_t *run)
{
    DIR *const all_processes = opendir("/proc");
    uint32_t count = 0;

    assert_non_null(all_processes);
    *run = 0;
    for (struct dirent *entry; (entry = readdir(all_processes));) {
        char path[sizeof(entry->d_name) + 16], program[64], state = '\0';
        int of = 0;
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *const file = fopen(path, "r");
        if (!file) {
            continue; /* none, or gone meanwhile */
        }
        if (fscanf(file, "%*d (%63[^)]) %c %d", program, &state, &of) == 3 && of == parent) {
            count++;
            *run += state != 'Z';
        }
        fclose(file);
    }
    closedir(all_processes);
    return count;
}

/* So nobody else has the number of a process that is killed, whatever it has answered. */
static void ends_processes(void **state)
{
    uint8_t *const code = malloc(TIER_MAX_CODE);
    uint32_t bytes, run;
    pid_t pid;

    (void)state;
    assert_non_null(code);
    const int socket = translator_start(MODULE, &pid);
    for (uint32_t n = 1; n <= TIER_MOST_MADE + 2; n++) {
        assert_int_equal(ask_unit(socket, &all.unit, false, code, &bytes), TIER_MADE);
        each_entry(flip_last_bit); /* it is made again */
        assert_int_equal(count_children(pid, &run), n < TIER_MOST_MADE ? n : TIER_MOST_MADE);
    }
    for (uint32_t wait = 0; run != 0; wait++) {
        assert_true(wait < 5000);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        (void)count_children(pid, &run);
    }
    close(socket);
    free(code);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "without a request there is not even a folder", nothing_without_a_request, NULL, NULL, NULL },
        { "a translation is kept for the next process, as it was written", kept_for_the_next, clean, NULL, NULL },
        { "what is kept is answered while code is made", kept_beside_made, clean, NULL, NULL },
        { "a device that has more made than it may is left", no_more_than_said, clean, NULL, NULL },
        { "what has begun is made for the next process", begun_for_the_next, clean, NULL, NULL },
        { "nothing is made for nobody", nothing_for_nobody, clean, NULL, NULL },
        { "what is translated for tests is not kept", only_what_pays, clean, NULL, NULL },
        { "without a cache nothing is kept", kept_by_nobody, clean, NULL, NULL },
        { "requests that are none are told so", requests_that_are_none, clean, NULL, NULL },
        { "a module that is not there is told", without_a_module, clean, NULL, NULL },
        { "loops that make no sense end nothing", hostile_loops, clean, NULL, NULL },
        { "each of its processes is killed, and waited for later", ends_processes, clean, NULL, NULL },
        { "the program gives up rights, and all calls but some", gives_up_rights, clean, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
