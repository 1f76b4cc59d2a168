/* SPDX-License-Identifier: MIT */
#include "tools/translator/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

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

/* What has failed is not kept: another time it may not. */
static void answer_unit(const struct tier_request *request, const struct tier_unit *unit, const char *module,
                        int folder, struct tier_answer *answer, uint8_t **code)
{
    if (level_of_host() == TIER_LEVEL_NONE || !is_unit(unit, request->bytes) || request->how >= TIER_HOWS) {
        *answer = (struct tier_answer){ .result = TIER_NOT_WORTH };
    } else if (request->how == TIER_ALWAYS) {
        make_code(module, unit, true, answer, code);
    } else if (store_find(folder, module, unit, answer, code)) {
        return;
    } else if (request->how == TIER_KEPT_ONLY) {
        *answer = (struct tier_answer){ .result = TIER_NOT_KEPT };
    } else {
        make_code(module, unit, false, answer, code);
        if (answer->result == TIER_MADE || answer->result == TIER_NOT_WORTH) {
            store_keep(folder, module, unit, answer, *code);
        }
    }
}

static bool serve_one(int socket, const char *module, int folder)
{
    struct tier_answer answer = { .result = TIER_OTHER };
    struct tier_request request;
    struct tier_unit unit;
    uint8_t *code = NULL;

    if (!receive_request(socket, &request, &unit)) {
        return false;
    }
    if (request.layout == tier_layout()) {
        answer_unit(&request, &unit, module, folder, &answer, &code);
    }
    const bool sent = tier_send(socket, &answer, sizeof(answer)) && tier_send(socket, code, answer.bytes);
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

void serve(struct serve_sockets *sockets, const char *module, int folder)
{
    struct pollfd wait[SERVE_MOST_SOCKETS];
    size_t open = sockets->count;

    for (size_t i = 0; i < sockets->count; i++) {
        wait[i] = (struct pollfd){ .fd = sockets->socket[i], .events = POLLIN };
    }
    while (open != 0 && (poll(wait, sockets->count, -1) > 0 || errno == EINTR)) {
        for (size_t i = 0; i < sockets->count; i++) {
            if (wait[i].fd >= 0 && wait[i].revents != 0 && !serve_one(wait[i].fd, module, folder)) {
                close(wait[i].fd);
                wait[i].fd = -1;
                open--;
            }
        }
    }
}
