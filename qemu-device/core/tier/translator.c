/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "qemu-device/core/tier/translator.h"
#include "qemu-device/core/tier/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Never writable and executable at once. False: no memory, or the program has gone; nothing is mapped. */
static bool receive_code(int socket, const struct tier_answer *answer, struct tier_translation *out)
{
    struct tier_pace *const pace = calloc(1, sizeof(*pace));
    void *const memory =
        pace ? mmap(NULL, answer->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

    if (memory == MAP_FAILED) {
        free(pace);
        return false;
    }
    if (!tier_receive(socket, memory, answer->bytes) || mprotect(memory, answer->bytes, PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, answer->bytes);
        free(pace);
        return false;
    }
    *out = (struct tier_translation){
        .vregs = answer->vregs,
        .wave = answer->wave,
        .insns = answer->insns,
        .ends = answer->ends != 0,
        .memory = memory,
        .bytes = answer->bytes,
        .pace = pace,
    };
    const uintptr_t code = (uintptr_t)memory + answer->entry;
    memcpy(&out->code, &code, sizeof(out->code));
    return true;
}

bool translator_ask(int socket, uint64_t tag, const struct tier_unit *unit, enum tier_how how)
{
    const struct tier_request request = {
        .layout = tier_layout(),
        .bytes = (uint32_t)tier_unit_bytes(unit),
        .how = how,
        .tag = tag,
    };

    return tier_send(socket, &request, sizeof(request)) && tier_send(socket, unit, request.bytes);
}

bool translator_hear(int socket, struct tier_reply *reply)
{
    return tier_receive(socket, reply, sizeof(*reply)) && reply->most_made - 1 < TIER_MOST_MADE;
}

int translator_take(int socket, const struct tier_answer *answer, const struct tier_unit *unit, enum tier_how how,
                    struct tier_translation *out)
{
    const bool taken =
        tier_is_answer(answer, unit, how) && (answer->result != TIER_MADE || receive_code(socket, answer, out));

    return taken ? (int)answer->result : -1;
}

void translation_free(struct tier_translation *translation)
{
    munmap(translation->memory, translation->bytes);
    free(translation->pace);
}
