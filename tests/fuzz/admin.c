/* SPDX-License-Identifier: MIT */
/*
 * Surface: admin messages with hostile contents, and the words of the admin queue.
 *
 * The driver is trusted with what it may name, so the messages name no object of the victim. Every request must be
 * answered once, with a status that fault.def knows; the victim's task must end as if it were alone. An input that
 * begins with an odd byte writes over the queue itself: then only the firmware's own rules and the victim are looked
 * at.
 */
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "tests/fuzz/world.h"

#define MOST_ACTIONS 32u
#define MOST_STEPS 400u
#define END_STEPS 4000u
#define SEQ 0x40000000u

/* What an argument is. */
enum kind { RAW, CONTEXT, CHANNEL, ROOT, VA_LO, VA_HI, PLACE, SAVES, COUNT, SMALL, KEY };

/* Of each operation (admin.def), in order. */
static const uint8_t kinds[][PPU_ADMIN_ARGS] = {
    [PPU_ADMIN_QUERY] = { KEY, SMALL },
    [PPU_ADMIN_CONTEXT_CREATE] = { ROOT, PLACE },
    [PPU_ADMIN_CONTEXT_DESTROY] = { CONTEXT },
    [PPU_ADMIN_CHANNEL_CREATE] = { CONTEXT, VA_LO, VA_HI, COUNT, SMALL, SMALL },
    [PPU_ADMIN_CHANNEL_DESTROY] = { CHANNEL },
    [PPU_ADMIN_CHANNEL_RESET] = { CHANNEL },
    [PPU_ADMIN_MMU_FLUSH] = { CONTEXT },
    [PPU_ADMIN_NEST_OPEN] = { CONTEXT, VA_LO, VA_HI, PLACE, COUNT, SMALL, SAVES, COUNT, COUNT, SMALL },
    [PPU_ADMIN_WORKQ_CREATE] = { CONTEXT, VA_LO, VA_HI, PLACE, COUNT, COUNT, SMALL, SMALL, RAW },
    [PPU_ADMIN_TASKQ_OPEN] = { CONTEXT, PLACE, COUNT, COUNT },
    [PPU_ADMIN_TASKQ_CLOSE] = { SMALL },
    [PPU_ADMIN_TASKQ_REOPEN] = { SMALL },
    [PPU_ADMIN_POLICY] = { SMALL, COUNT },
    [PPU_ADMIN_QUOTA] = { CONTEXT, SMALL, COUNT },
    [PPU_ADMIN_STREAMS] = { CONTEXT, PLACE, COUNT },
};
#define OPERATIONS PPU_ARRAY_SIZE(kinds)

static uint32_t asked;    /* requests so far */
static uint32_t answered; /* bit n: the n-th is */
static uint32_t mapped;   /* the area that the address, place and so on of a message are about */

static uint32_t not_victims(uint32_t number, uint32_t victims, uint32_t otherwise)
{
    return number == victims ? otherwise : number;
}

static uint32_t argument(struct fuzz_input *input, enum kind kind)
{
    uint8_t how = fuzz_u8(input);
    const struct world_area *area = &world->area[mapped];

    switch (kind) {
    case CONTEXT:
        return not_victims(how < 128 ? world->context : how % 16u, world->victim_context, world->context);
    case CHANNEL:
        return not_victims(how < 128 ? world->channel[how % 2u] : how % 16u, world->victim_channel, world->channel[0]);
    case ROOT: /* the last tables of the pool are nobody's */
        return how < 64    ? world->root
               : how < 192 ? world->pool + world->pool_bytes - (how % 16u + 1) * PPU_PT_BYTES
                           : fuzz_u32(input) | 1u;
    case VA_LO:
        return how < 192 ? (uint32_t)area->va : fuzz_u32(input);
    case VA_HI:
        return how < 192 ? (uint32_t)(area->va >> 32) : how;
    case PLACE:
        return how < 224 ? area->vram_offset : ~(uint32_t)fuzz_u16(input);
    case SAVES:
        return how < 128 ? world->saves : how < 192 ? 0 : ~(uint32_t)fuzz_u16(input);
    case COUNT:
        return how < 32 ? how : how < 160 ? 1u << how % 20u : how < 224 ? how * 16u : fuzz_u32(input);
    case KEY:
        return how < 250 ? how : fuzz_u32(input);
    case SMALL:
        return how < 240 ? how % 36u : fuzz_u32(input);
    default:
        return how < 128 ? how : fuzz_u32(input);
    }
}

static void ask(struct fuzz_input *input)
{
    uint8_t op = fuzz_u8(input);
    struct ppu_admin_msg request = {
        .head = { PPU_ADMIN_VERSION, sizeof(request) },
        .op = op < 240 ? op % (OPERATIONS + 1) : op,
        .seq = SEQ + asked,
    };
    uint8_t wrong = fuzz_u8(input);

    mapped = wrong % 2 == 0 ? WORLD_AREA_MEMORY : wrong / 2 % WORLD_AREAS;
    mapped = world->area[mapped].vram_offset != 0 ? mapped : WORLD_AREA_MEMORY;
    for (uint32_t i = 0; i < PPU_ADMIN_ARGS; i++) {
        uint8_t kind = request.op < OPERATIONS ? kinds[request.op][i] : RAW;
        request.arg[i] = kind != RAW ? argument(input, (enum kind)kind) : 0;
    }
    if (wrong >= 240) {
        uint8_t *byte = (uint8_t *)&request + wrong % 8u;
        *byte ^= fuzz_u8(input);
    } else if (wrong >= 224) {
        request.arg[wrong % PPU_ADMIN_ARGS] ^= fuzz_u8(input);
    }
    if (wrong >= 224) { /* it may be another operation now, or name what is the victim's */
        request.arg[0] = not_victims(request.arg[0], world->victim_context, world->context);
        request.arg[0] = not_victims(request.arg[0], world->victim_channel, world->channel[0]);
    }
    asked += stepped_request(&request);
}

static void take_replies(void)
{
    struct ppu_admin_msg reply;

    while (stepped_reply(&reply)) {
        uint32_t number = reply.seq - SEQ;
        if (number >= asked || number >= 32 || answered >> number & 1u) {
            fuzz_found("a reply that nobody waits for: operation %u, seq 0x%x", reply.op, reply.seq);
        }
        if (reply.status != PPU_FAULT_NONE && ppu_fault_name(reply.status)[0] == '?') {
            fuzz_found("operation %u is answered with status %u, which is none", reply.op, reply.status);
        }
        answered |= 1u << number;
    }
}

/* Words of the queue that the host writes, or should not. */
static void scribble_queue(struct fuzz_input *input)
{
    uint8_t *queue = stepped_admin_queue();
    uint32_t offset = fuzz_u16(input) * 4u % sizeof(struct ppu_admin_queue);
    uint32_t word = 0;

    offset = offset < 0x80u || fuzz_u8(input) & 1u ? offset : offset % 8u;
    memcpy(&word, queue + offset, sizeof(word));
    word = world_value(input, word);
    memcpy(queue + offset, &word, sizeof(word));
}

static void act(struct fuzz_input *input, bool over_queue, uint32_t *steps)
{
    uint8_t what = fuzz_u8(input);
    uint32_t pass = 1 + what / 8u;

    switch (what % 8) {
    case 0:
        world_launch(what / 8u, fuzz_u8(input), PPU_STREAM_NONE);
        break;
    case 1:
        if (over_queue) {
            scribble_queue(input);
            stepped_reg_write(PPU_REG_ADMIN_DOORBELL, 1);
        } else {
            take_replies();
        }
        break;
    case 2:
        stepped_doorbell(not_victims(what / 8u, world->victim_channel, PPU_MAX_CHANNELS - 1u), PPU_DB_PUT,
                         fuzz_u8(input));
        break;
    case 3:
        pass = pass < *steps ? pass : *steps;
        *steps -= pass;
        stepped_run(pass);
        break;
    default:
        if (asked < 31) {
            ask(input);
        }
        break;
    }
}

static void all_are_answered(void)
{
    for (uint32_t i = 0; i < END_STEPS && answered != (1u << asked) - 1u; i++) {
        bool rests = stepped_run(1);
        take_replies();
        if (rests && answered != (1u << asked) - 1u) {
            fuzz_found("the machine rests, and of %u requests these are not answered: 0x%x", asked,
                       ~answered & ((1u << asked) - 1u));
        }
    }
    if (answered != (1u << asked) - 1u) {
        fuzz_found("of %u requests these are not answered: 0x%x", asked, ~answered & ((1u << asked) - 1u));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    bool over_queue = fuzz_u8(&input) & 1u;
    uint32_t steps = MOST_STEPS;

    world_restore();
    asked = answered = 0;
    world_victim_begins();
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&input); i++) {
        act(&input, over_queue, &steps);
    }
    if (!over_queue) {
        all_are_answered();
    }
    world_check_victim();
    return 0;
}
