/* SPDX-License-Identifier: MIT */
#include "tools/translator/serve.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/translator/level.h"
#include "tools/translator/make.h"
#include "tools/translator/store.h"

/* False: the device has gone, or sends what is no request. */
static bool receive_request(int socket, struct tier_request *request, struct tier_unit *unit)
{
    memset(unit, 0, sizeof(*unit));
    return tier_receive(socket, request, sizeof(*request)) && request->bytes <= sizeof(*unit) &&
           tier_receive(socket, unit, request->bytes);
}

static bool is_unit(const struct tier_unit *unit, size_t bytes)
{
    return unit->insns != 0 && unit->insns <= TIER_MAX_INSNS && bytes == tier_unit_bytes(unit);
}

/* ---- code that is asked for ---- */

#define GONE SERVE_MOST_SOCKETS /* no device's number */

/* In the order of asking. */
struct job {
    struct job *next;
    size_t device; /* its number among the sockets, or GONE */
    uint64_t tag;
    bool always;
    bool begun;
    struct making making;
    struct tier_unit unit;
};

struct server {
    struct serve_sockets *sockets; /* -1 in place of one that has closed */
    size_t open;                   /* of them */
    const char *module;
    int folder;
    uint32_t most_made; /* at once */
    uint32_t making;    /* jobs that have begun */
    struct job *jobs;
};

/* One processor is left to kernels, where there are several. */
static uint32_t most_made(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

    return count <= 2 ? 1 : PPU_MIN((uint32_t)count - 1, TIER_MOST_MADE);
}

static void job_end(struct server *server, struct job **at)
{
    struct job *const job = *at;

    server->making -= job->begun;
    *at = job->next;
    free(job);
}

/* The device has gone, or says what is no request. What has begun and is kept is for the next process. */
static void drop(struct server *server, size_t device)
{
    close(server->sockets->socket[device]);
    server->sockets->socket[device] = -1;
    server->open--;
    for (struct job **at = &server->jobs; *at;) {
        if ((*at)->device != device) {
            at = &(*at)->next;
        } else if ((*at)->begun && !(*at)->always) {
            (*at)->device = GONE;
            at = &(*at)->next;
        } else {
            if ((*at)->begun) {
                make_abandon(&(*at)->making);
            }
            job_end(server, at);
        }
    }
}

static bool reply(const struct server *server, size_t device, uint64_t tag, const struct tier_answer *answer,
                  const uint8_t *code)
{
    const struct tier_reply reply = { .tag = tag, .most_made = server->most_made, .answer = *answer };
    const int socket = server->sockets->socket[device];

    return tier_send(socket, &reply, sizeof(reply)) && tier_send(socket, code, answer->bytes);
}

/* What has failed is not kept: another time it may not. `at`: where the job stands. */
static void finish(struct server *server, struct job **at)
{
    struct job *const job = *at;
    const struct tier_answer *const answer = &job->making.answer;
    uint8_t *const code = job->making.code;
    const size_t device = job->device;

    if (!job->always && (answer->result == TIER_MADE || answer->result == TIER_NOT_WORTH)) {
        store_keep(server->folder, server->module, &job->unit, answer, code);
    }
    const bool sent = device == GONE || reply(server, device, job->tag, answer, code);
    free(code);
    job_end(server, at);
    if (!sent) {
        drop(server, device);
    }
}

/* The first that waits, where there is room for it. False: there is none, or no room. */
static bool begin_job(struct server *server)
{
    struct job **at = &server->jobs;

    while (*at && (*at)->begun) {
        at = &(*at)->next;
    }
    if (!*at || server->making == server->most_made) {
        return false;
    }
    (*at)->begun = make_begin(&(*at)->making, server->module, &(*at)->unit, (*at)->always);
    server->making += (*at)->begun;
    if (!(*at)->begun) {
        finish(server, at);
    }
    return true;
}

/* False: a device asks for more than it may. */
static bool add_job(struct server *server, size_t device, const struct tier_request *request,
                    const struct tier_unit *unit)
{
    struct job **at = &server->jobs;
    uint32_t count = 0;

    for (; *at; at = &(*at)->next) {
        count += (*at)->device == device;
    }
    *at = count < server->most_made ? calloc(1, sizeof(**at)) : NULL;
    if (!*at) {
        return false;
    }
    (*at)->device = device;
    (*at)->tag = request->tag;
    (*at)->always = request->how == TIER_ALWAYS;
    (*at)->unit = *unit;
    return true;
}

/* ---- requests ---- */

/* True: *answer and *code are what is said at once. */
static bool answer_at_once(const struct server *server, const struct tier_request *request,
                           const struct tier_unit *unit, struct tier_answer *answer, uint8_t **code)
{
    *code = NULL;
    if (request->layout != tier_layout()) {
        *answer = (struct tier_answer){ .result = TIER_OTHER };
    } else if (level_of_host() == TIER_LEVEL_NONE || !is_unit(unit, request->bytes) || request->how >= TIER_HOWS) {
        *answer = (struct tier_answer){ .result = TIER_NOT_WORTH };
    } else if (request->how != TIER_ALWAYS && store_find(server->folder, server->module, unit, answer, code)) {
        return true;
    } else if (request->how == TIER_KEPT_ONLY) {
        *answer = (struct tier_answer){ .result = TIER_NOT_KEPT };
    } else {
        return false;
    }
    return true;
}

static bool take_request(struct server *server, size_t device)
{
    struct tier_answer answer;
    struct tier_request request;
    struct tier_unit unit;
    uint8_t *code;

    if (!receive_request(server->sockets->socket[device], &request, &unit)) {
        return false;
    }
    if (!answer_at_once(server, &request, &unit, &answer, &code)) {
        return add_job(server, device, &request, &unit);
    }
    const bool sent = reply(server, device, request.tag, &answer, code);
    free(code);
    return sent;
}

/* Takes descriptors away from those that have closed, and counts how many are left. `asked`: set when one has a
 * request. */
static size_t drop_closed(struct pollfd *wait, size_t count, bool *asked)
{
    size_t open = 0;

    for (size_t i = 0; i < count; i++) {
        char byte;
        if (wait[i].fd >= 0 && wait[i].revents != 0) {
            const bool has = recv(wait[i].fd, &byte, 1, MSG_PEEK) > 0;
            *asked = *asked || has;
            wait[i].fd = has ? wait[i].fd : -1;
        }
        open += wait[i].fd >= 0;
    }
    return open;
}

bool serve_await(const struct serve_sockets *sockets)
{
    struct pollfd wait[SERVE_MOST_SOCKETS];
    bool asked = false;

    for (size_t i = 0; i < sockets->count; i++) {
        wait[i] = (struct pollfd){ .fd = sockets->socket[i], .events = POLLIN };
    }
    do {
        if (poll(wait, sockets->count, -1) < 0 && errno != EINTR) {
            return false;
        }
    } while (drop_closed(wait, sockets->count, &asked) != 0 && !asked);
    return asked;
}

/* Until there is something to do. `wait`: the sockets, and jobs that have begun, in their order. */
static void wait_for_any(const struct server *server, struct pollfd wait[SERVE_MOST_SOCKETS + TIER_MOST_MADE])
{
    size_t count = server->sockets->count;
    uint64_t until_ms = UINT64_MAX;

    for (size_t i = 0; i < count; i++) {
        wait[i] = (struct pollfd){ .fd = server->sockets->socket[i], .events = POLLIN };
    }
    for (const struct job *job = server->jobs; job; job = job->next) {
        if (job->begun) {
            wait[count++] = (struct pollfd){ .fd = job->making.from, .events = POLLIN };
            until_ms = PPU_MIN(until_ms, job->making.until_ms);
        }
    }
    const uint64_t now_ms = make_clock_ms();
    const int most_ms = until_ms == UINT64_MAX ? -1 : until_ms > now_ms ? (int)(until_ms - now_ms) : 0;
    if (poll(wait, count, most_ms) < 0) {
        for (size_t i = 0; i < count; i++) {
            wait[i].revents = 0;
        }
    }
}

/* What has ended goes before what is asked next. It may take a device's other jobs with it: then the rest waits. */
static void go_on(struct server *server)
{
    const size_t open = server->open;

    for (struct job **at = &server->jobs; server->open == open && *at;) {
        if ((*at)->begun && make_go_on(&(*at)->making)) {
            finish(server, at);
        } else {
            at = &(*at)->next;
        }
    }
}

void serve(struct serve_sockets *sockets, const char *module, int folder)
{
    struct server server = {
        .sockets = sockets, .open = sockets->count, .module = module, .folder = folder, .most_made = most_made()
    };
    struct pollfd wait[SERVE_MOST_SOCKETS + TIER_MOST_MADE];

    while (server.open != 0 || server.jobs) {
        while (begin_job(&server)) {
        }
        wait_for_any(&server, wait);
        go_on(&server);
        for (size_t i = 0; i < sockets->count; i++) {
            if (sockets->socket[i] >= 0 && wait[i].revents != 0 && !take_request(&server, i)) {
                drop(&server, i);
            }
        }
    }
}
