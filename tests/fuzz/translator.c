/* SPDX-License-Identifier: MIT */
/*
 * Surface: the socket between a device and the program that translates loops, from both ends; the pipe from the process
 * that makes code; translations that are kept.
 *
 * An input is either requests of a device, which the program answers, or an answer, which the device takes. Requests
 * have any length, layout and unit, and end anywhere; the process that makes code answers as the input says. What must
 * hold: each request that came whole has the one answer that a model of the program has for it, also from what was kept
 * of requests before; a device maps no other code than that of an answer to what it has asked for.
 */
/* The program calls others in their place (translator.mk). */
#undef pipe2
#undef fork
#undef dlopen
#undef dlsym
#undef syscall
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "qemu-device/core/tier/translator.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"
#include "tools/translator/level.h"
#include "tools/translator/serve.h"
#include "tools/translator/store.h"

#define MODULE "/proc/self/exe" /* a file that is there; it is not loaded */
#define REQUESTS 4u
#define CODE_BYTES 256u
#define FEW_INSNS 12u

/* What the other end sends. */
static struct {
    uint8_t at[(REQUESTS + 1) * (sizeof(struct tier_request) + sizeof(struct tier_unit))];
    size_t count;
} sent;

/* An answer with its code, and how much of it comes. */
struct reply {
    struct tier_answer answer;
    uint8_t code[CODE_BYTES];
    size_t bytes; /* of both, that come */
};

static struct reply made[REQUESTS]; /* what the process that makes code says, one after the other */
static uint32_t made_taken;

/* ---- what the input says ---- */

static struct tier_unit unit_of(struct fuzz_input *input)
{
    struct tier_unit unit = { .wave = PPU_LANES << fuzz_u8(input) % 3u,
                              .straight = fuzz_u8(input) % 4u,
                              .insns = 1 + fuzz_below(input, FEW_INSNS) };
    const uint8_t how = fuzz_u8(input);

    fuzz_bytes(input, unit.insn, how / 16u);
    if (how % 8 == 7) {
        unit.insns = how & 0x80u ? fuzz_u32(input) : TIER_MAX_INSNS + 1 - how / 16u;
    }
    return unit;
}

/* Mostly one that belongs to the unit. */
static struct reply reply_of(struct fuzz_input *input, const struct tier_unit *unit)
{
    const uint8_t how = fuzz_u8(input), most = fuzz_u8(input);
    struct reply reply = { .answer = { .wave = unit->wave, .insns = unit->insns } };
    struct tier_answer *const answer = &reply.answer;

    answer->result = how & 1u ? TIER_MADE : how / 2u % 8u;
    answer->bytes = answer->result == TIER_MADE ? 1 + fuzz_u8(input) : 0;
    answer->entry = answer->bytes != 0 ? fuzz_below(input, answer->bytes) : 0;
    answer->vregs = fuzz_u8(input);
    answer->ends = how / 16u % 4u == 3;
    fuzz_bytes(input, reply.code, answer->bytes);
    if (how >= 0xc0u) { /* a field that does not */
        uint32_t words[sizeof(*answer) / 4];
        memcpy(words, answer, sizeof(words));
        words[fuzz_below(input, PPU_ARRAY_SIZE(words))] ^= fuzz_u32(input);
        memcpy(answer, words, sizeof(words));
    }
    reply.bytes = sizeof(*answer) + PPU_MIN(answer->bytes, CODE_BYTES);
    reply.bytes = most < 0xe0u ? reply.bytes : reply.bytes * (most - 0xe0u) / 32u;
    return reply;
}

/* Nothing of it is missing, and it is about the unit: by what request.h says, not by its function. */
static bool is_whole(const struct reply *reply, const struct tier_unit *unit, enum tier_how how)
{
    const struct tier_answer *const answer = &reply->answer;
    const bool may_end = unit->straight == TIER_ROWS || unit->straight == TIER_ANYWHERE;

    if (reply->bytes != sizeof(*answer) + answer->bytes) {
        return false;
    }
    switch (answer->result) {
    case TIER_MADE:
        return answer->bytes != 0 && answer->entry < answer->bytes && answer->wave == unit->wave &&
               answer->insns == unit->insns && (answer->ends == 0 || (answer->ends == 1 && may_end));
    case TIER_NOT_KEPT:
        return answer->bytes == 0 && how == TIER_KEPT_ONLY;
    case TIER_NOT_WORTH:
    case TIER_FAILED:
    case TIER_NO_MODULE:
    case TIER_OTHER:
        return answer->bytes == 0;
    default:
        return false;
    }
}

/* ---- the process that makes code ---- */

static int made_end = -1;

static uint64_t same_layout(void)
{
    return tier_layout();
}

static bool prepare(enum tier_level level)
{
    return level != TIER_LEVEL_NONE;
}

/* What the program calls. */
int fake_pipe2(int ends[2], int flags);
pid_t fake_fork(void);
void *fake_dlopen(const char *path, int flags);
void *fake_dlsym(void *library, const char *name);
long fake_syscall(long number, ...);

int fake_pipe2(int ends[2], int flags)
{
    const int result = pipe2(ends, flags);

    made_end = result == 0 ? ends[1] : -1;
    return result;
}

/* This process is the parent; the other one has said everything, and has ended. */
pid_t fake_fork(void)
{
    const struct reply *const reply = &made[made_taken++];
    uint8_t bytes[sizeof(reply->answer) + CODE_BYTES];

    memcpy(bytes, &reply->answer, sizeof(reply->answer));
    memcpy(bytes + sizeof(reply->answer), reply->code, CODE_BYTES);
    if (made_end < 0 || write(made_end, bytes, reply->bytes) != (ssize_t)reply->bytes) {
        fuzz_found("the target cannot answer");
    }
    return getpid();
}

void *fake_dlopen(const char *path, int flags)
{
    (void)flags;
    return (void *)(uintptr_t)path;
}

void *fake_dlsym(void *library, const char *name)
{
    static const struct tier_module module = { same_layout, prepare, NULL };

    (void)library;
    (void)name;
    return (void *)(uintptr_t)&module;
}

/* tgkill() of a process that has answered wrong. */
long fake_syscall(long number, ...)
{
    return number < 0;
}

/* ---- requests, and what must be answered ---- */

static const uint64_t tag_key = 0x9e3779b97f4a7c15; /* tags are any numbers */

struct kept {
    struct tier_unit unit;
    struct reply reply;
};

static struct {
    struct kept kept[REQUESTS];
    uint32_t count;
    bool keeps;
    uint32_t made;                 /* of made[] */
    struct reply answer[REQUESTS]; /* which must come, in order */
    uint32_t answers;
} model;

static void put(const void *from, size_t bytes)
{
    memcpy(sent.at + sent.count, from, bytes);
    sent.count += bytes;
}

static const struct reply *find_kept(const struct tier_unit *unit)
{
    for (uint32_t i = 0; i < model.count; i++) {
        if (memcmp(&model.kept[i].unit, unit, sizeof(*unit)) == 0) {
            return &model.kept[i].reply;
        }
    }
    return NULL;
}

/* The process is asked; what it says wrong is that it has failed. */
static struct reply make(struct fuzz_input *input, const struct tier_unit *unit, bool keep)
{
    const struct reply reply = made[model.made++] = reply_of(input, unit);

    if (!is_whole(&reply, unit, TIER_WORTH)) {
        return (struct reply){ .answer = { .result = TIER_FAILED } };
    }
    if (keep && model.keeps && (reply.answer.result == TIER_MADE || reply.answer.result == TIER_NOT_WORTH)) {
        model.kept[model.count++] = (struct kept){ *unit, reply };
    }
    return reply;
}

static struct reply answer_to(struct fuzz_input *input, const struct tier_request *request,
                              const struct tier_unit *unit)
{
    if (request->layout != tier_layout()) {
        return (struct reply){ .answer = { .result = TIER_OTHER } };
    }
    if (level_of_host() == TIER_LEVEL_NONE || unit->insns == 0 || unit->insns > TIER_MAX_INSNS ||
        request->bytes != tier_unit_bytes(unit) || request->how >= TIER_HOWS) {
        return (struct reply){ .answer = { .result = TIER_NOT_WORTH } };
    }
    if (request->how == TIER_ALWAYS) {
        return make(input, unit, false);
    }
    const struct reply *const kept = find_kept(unit);
    if (kept) {
        return *kept;
    }
    if (request->how == TIER_KEPT_ONLY) {
        return (struct reply){ .answer = { .result = TIER_NOT_KEPT } };
    }
    return make(input, unit, true);
}

/* Puts a request into what is sent; false: the program closes, as it is none. */
static bool put_request(struct fuzz_input *input, const struct tier_unit *former, struct tier_unit *unit)
{
    const uint8_t how = fuzz_u8(input);
    struct tier_request request = { tier_layout(), 0, how % TIER_HOWS, model.answers ^ tag_key };
    struct tier_unit read = { .wave = 0 };

    *unit = how & 0x10u ? *former : unit_of(input);
    request.bytes = (uint32_t)PPU_MIN(offsetof(struct tier_unit, insn) + (uint64_t)unit->insns * sizeof(unit->insn[0]),
                                      sizeof(*unit));
    request.layout ^= how >= 0xf0u ? fuzz_u64(input) : 0;
    request.how = how / 16u == 0xe ? fuzz_u32(input) : request.how;
    if (how / 16u == 0xd) {
        request.bytes = fuzz_below(input, 4) == 0 ? fuzz_u32(input) : fuzz_below(input, sizeof(*unit) + 2u);
    }
    put(&request, sizeof(request));
    if (request.bytes > sizeof(*unit)) {
        put(unit, sizeof(*unit)); /* and more than the program has room for */
        put(&request, sizeof(request));
        return false;
    }
    put(unit, request.bytes);
    memcpy(&read, unit, request.bytes);
    model.answer[model.answers++] = answer_to(input, &request, &read);
    return true;
}

static void take_answers(int socket)
{
    for (uint32_t i = 0; i < model.answers; i++) {
        const struct reply *const wanted = &model.answer[i];
        struct reply got = { .bytes = 0 };
        struct tier_reply whole;
        if (!tier_receive(socket, &whole, sizeof(whole)) || whole.tag != (i ^ tag_key) ||
            whole.most_made - 1 >= TIER_MOST_MADE) {
            fuzz_found("request %u of %u has no reply", i, model.answers);
        }
        got.answer = whole.answer;
        if (memcmp(&got.answer, &wanted->answer, sizeof(got.answer)) != 0) {
            fuzz_found("request %u of %u has result %u instead of %u", i, model.answers, got.answer.result,
                       wanted->answer.result);
        }
        if (!tier_receive(socket, got.code, got.answer.bytes) ||
            memcmp(got.code, wanted->code, got.answer.bytes) != 0) {
            fuzz_found("request %u of %u has other code", i, model.answers);
        }
    }
    if (recv(socket, sent.at, 1, 0) > 0) {
        fuzz_found("there are more answers than requests");
    }
}

static void make_pair(int ends[2])
{
    const int room = 1 << 20;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) != 0) {
        fuzz_found("the target has no socket");
    }
}

static void ask_program(struct fuzz_input *input)
{
    const int folder = fuzz_u8(input) % 4u != 0 ? scratch_open(STORE_FOLDER) : -1;
    struct tier_unit former = { .wave = PPU_LANES }, unit = former;

    int ends[2];

    model.keeps = folder >= 0;
    make_pair(ends);
    for (uint32_t left = REQUESTS; left != 0 && !fuzz_ended(input) && put_request(input, &former, &unit); left--) {
        former = unit;
    }
    if (!tier_send(ends[0], sent.at, sent.count) || shutdown(ends[0], SHUT_WR) != 0) {
        fuzz_found("the target cannot send");
    }
    struct serve_sockets sockets = { { ends[1] }, 1 };
    if (serve_await(&sockets) != (sent.count != 0)) {
        fuzz_found("the program waits for nothing, or hears no request");
    }
    serve(&sockets, MODULE, folder);
    if (sent.count == 0) {
        close(ends[1]);
    }
    take_answers(ends[0]);
    close(ends[0]);
    if (folder >= 0) {
        scratch_close(folder, STORE_FOLDER);
    }
}

/* ---- a device, and an answer ---- */

static void answer_device(struct fuzz_input *input)
{
    const enum tier_how how = fuzz_u8(input) % TIER_HOWS;
    const struct tier_unit unit = { .wave = PPU_LANES << fuzz_u8(input) % 3u,
                                    .straight = fuzz_u8(input) % 4u,
                                    .insns = 1 + fuzz_below(input, FEW_INSNS) };
    const struct reply reply = reply_of(input, &unit);
    const uint8_t most = fuzz_u8(input);
    const struct tier_reply whole = { fuzz_u64(input), most < 0xf0u ? 1 + most % TIER_MOST_MADE : fuzz_u32(input),
                                      reply.answer };
    const size_t before = sizeof(whole) - sizeof(reply.answer);
    struct tier_translation got = { .memory = NULL };
    struct tier_reply heard;
    uint8_t bytes[sizeof(whole) + CODE_BYTES];
    int ends[2], result = -1;

    memcpy(bytes, &whole, sizeof(whole));
    memcpy(bytes + sizeof(whole), reply.code, CODE_BYTES);
    make_pair(ends);
    if (!tier_send(ends[0], bytes, reply.bytes != 0 ? before + reply.bytes : most % before) ||
        shutdown(ends[0], SHUT_WR) != 0) {
        fuzz_found("the target cannot send");
    }
    const bool hears = reply.bytes >= sizeof(reply.answer) && whole.most_made != 0 && whole.most_made <= TIER_MOST_MADE;
    if (translator_hear(ends[1], &heard) != hears || (hears && memcmp(&heard, &whole, sizeof(whole)) != 0)) {
        fuzz_found("the device hears something else");
    }
    if (hears) {
        result = translator_take(ends[1], &heard.answer, &unit, how, &got);
    }
    if (result != (hears && is_whole(&reply, &unit, how) ? (int)reply.answer.result : -1)) {
        fuzz_found("the device takes an answer for %d", result);
    }
    if (result == TIER_MADE) {
        uintptr_t entry;
        memcpy(&entry, &got.code, sizeof(entry));
        if (got.bytes != reply.answer.bytes || memcmp(got.memory, reply.code, got.bytes) != 0 ||
            entry != (uintptr_t)got.memory + reply.answer.entry) {
            fuzz_found("the device has other code");
        }
        translation_free(&got);
    }
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    scratch_choose();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);

    sent.count = 0;
    made_taken = 0;
    memset(&model, 0, sizeof(model));
    memset(made, 0, sizeof(made));
    (fuzz_u8(&input) % 4 == 0 ? answer_device : ask_program)(&input);
    return 0;
}
