/* SPDX-License-Identifier: MIT */
/*
 * Surface: BAR0, BAR2 and BAR4 as a guest has them, and the microcontroller's registers, descriptors and memory as any
 * firmware has them.
 *
 * An input begins as a guest: it reads all registers and doorbells, writes all that do not stop the machine, writes to
 * its own memory, rings in the mailbox that a client shares, and takes bus mastering away and gives it back, while
 * tasks run. When it goes no further, the victim's task must end as if it were alone. But most take the MCU over after
 * a while: then the firmware is silent, and the input reads and writes any register from both sides, VRAM anywhere, the
 * MCU's memory, starts tasks in slots, submits descriptors, holds and resets. No access may lead the device out of its
 * memory or make it work without a bound; a reset must bring all registers to what they are after each reset; and the
 * state of before must load again and run.
 *
 * Not here: what QEMU does before an access gets to the core (the target `qemu`).
 */
#include <stdlib.h>
#include <string.h>

#include "ppu/channel.h"
#include "ppu/dma.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "ppu/mmu.h"
#include "tests/fuzz/world.h"

#define MOST_ACTIONS 48u
#define MOST_STEPS 200u
#define RESET_STEPS 2000u
#define TMD_BYTES 0x400u /* a descriptor and parameters behind it, in the protected range */
#define MAPS 32u         /* VRAM of the machine in 1 MiB */

enum access { NO, RO, RW, WO, W1C };
static const struct row {
    const char *name;
    uint32_t offset, count;
    enum access access[2]; /* by enum core_side */
} rows[] = {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) { #name, offset, count, { host, mcu } },
#include "ppu/regs.def"
#undef PPU_REG
};
#define ROWS PPU_ARRAY_SIZE(rows)

static struct fuzz_input meanwhile; /* what is accessed while the device reads system memory */
static uint32_t after_reset[2][PPU_REG_SPACE / 4];
static bool reset_is_known;

static uint32_t reg_read(enum core_side side, uint32_t offset)
{
    return core_reg_read(stepped_core(), side, offset);
}

/* ---- what an input chooses ---- */

/* A register's offset mostly, sometimes not quite. */
static uint32_t any_offset(struct fuzz_input *input)
{
    const uint8_t how = fuzz_u8(input);
    const struct row *row = &rows[fuzz_below(input, ROWS)];
    const uint32_t index = row->count == 1 ? 0 : fuzz_u8(input) % row->count;

    if (how >= 250) {
        return fuzz_u32(input);
    }
    return row->offset + 4 * index + (how >= 240 ? how % 4u : 0);
}

/* Somewhere in VRAM that something lies at. */
static uint32_t offset_anywhere(struct fuzz_input *input)
{
    static const uint32_t regs[] = {
        PPU_REG_RING_BASE,      PPU_REG_RING_BASE + 4, PPU_REG_RING_BASE + 8, PPU_REG_RING_BASE + 12,
        PPU_REG_RING_BASE + 16, PPU_REG_TRACE_BASE,    PPU_REG_PROT_BASE,     PPU_REG_PROT_LIMIT,
        PPU_REG_TOKEN_BASE,     PPU_REG_CTX_ROOT,      PPU_REG_CTX_SAVE,      PPU_REG_CTX_SAVE + 4,
        PPU_REG_CTX_SAVE + 8,
    };
    const uint8_t which = fuzz_u8(input);

    switch (which % 4) {
    case 0:
        return world->area[which / 4 % WORLD_AREAS].vram_offset;
    case 1:
        return world->unused + which / 4 % 16u * TMD_BYTES;
    case 2:
        return which & 0x80u ? world->root : world->pool;
    default:
        return reg_read(CORE_MCU, regs[which / 4 % PPU_ARRAY_SIZE(regs)]);
    }
}

static uint32_t any_value(struct fuzz_input *input, uint32_t present)
{
    const uint8_t how = fuzz_u8(input);

    if (how < 128) {
        return world_value(input, present);
    }
    return offset_anywhere(input) + (how < 200 ? 0 : how < 230 ? how % 16u * PPU_PAGE_64K : fuzz_u8(input) * 64u);
}

/* ---- a guest that keeps to its own ---- */

/* Registers that a host may write and that concern all: they stop the machine, and the victim with it. */
static bool stops(uint32_t offset)
{
    return offset == PPU_REG_MCU_CONTROL || offset == PPU_REG_DEVICE_RESET;
}

static void guest_write(struct fuzz_input *input)
{
    const uint32_t offset = any_offset(input);
    const uint32_t value = world_value(input, reg_read(CORE_HOST, offset));

    if (!stops(offset)) {
        stepped_reg_write(offset, value);
    }
}

static void guest_doorbell(struct fuzz_input *input)
{
    const uint8_t how = fuzz_u8(input);
    const uint32_t channel = how < 128 ? world->channel[how % WORLD_CHANNELS] : fuzz_u16(input);
    const uint32_t offset = how % 8 < 6 ? PPU_DB_PUT + how % 3u * 4u : fuzz_u16(input);

    (void)core_doorbell_read(stepped_core(), (uint64_t)channel * PPU_DOORBELL_STRIDE + offset);
    if (channel != world->victim_channel) {
        stepped_doorbell(channel, offset, fuzz_u8(input) & 1u ? fuzz_u32(input) : fuzz_u8(input));
    }
}

/* A client beside QEMU: the mailbox that it shares with the device. */
static void client_rings(struct fuzz_input *input)
{
    const uint32_t victims = world->victim_channel;
    struct ppu_mailbox *const mailbox = calloc(1, sizeof(*mailbox));

    for (uint32_t i = 0; i < PPU_MAILBOX_SUMMARY; i++) {
        mailbox->words[i] = fuzz_u8(input) & 1u ? fuzz_u32(input) : ~0u;
    }
    for (uint32_t left = fuzz_u8(input) % 8u; left != 0; left--) {
        mailbox->rung[fuzz_u8(input) % PPU_MAILBOX_WORDS] ^= 1u << fuzz_u8(input) % 32u;
        mailbox->put[fuzz_u16(input) % PPU_MAX_CHANNELS] = fuzz_u8(input);
    }
    mailbox->rung[victims / 32u] &= ~(1u << victims % 32u);
    core_mailbox_serve(stepped_core(), mailbox);
    free(mailbox);
}

static void act_as_guest(struct fuzz_input *input, uint32_t *steps)
{
    const uint8_t what = fuzz_u8(input);
    uint32_t pass = 1 + what / 16u;

    switch (what % 16) {
    case 0:
    case 1:
    case 2:
        (void)reg_read(CORE_HOST, any_offset(input));
        break;
    case 3:
    case 4:
        guest_write(input);
        break;
    case 5:
        guest_doorbell(input);
        break;
    case 6:
        world_scribble(input);
        break;
    case 7:
        stepped_bus_master(what & 0x80u);
        break;
    case 8:
    case 9:
        world_submit(input);
        break;
    case 10:
    case 11:
        world_launch(what / 16u, fuzz_u8(input), PPU_STREAM_NONE);
        break;
    case 12:
        client_rings(input);
        break;
    default:
        pass = pass < *steps ? pass : *steps;
        *steps -= pass;
        stepped_run(pass);
        break;
    }
}

/* ---- who has the MCU ---- */

static void store(uint32_t at_offset, uint32_t word)
{
    const uint64_t vram = (uint64_t)MAPS * PPU_MIB;

    if (at_offset <= vram - sizeof(word)) {
        memcpy(stepped_vram() + at_offset, &word, sizeof(word));
    }
}

static void store_somewhere(struct fuzz_input *input)
{
    const uint32_t at_offset = offset_anywhere(input) + (fuzz_u8(input) & 1u ? fuzz_u16(input) : fuzz_u8(input)) * 4u;

    store(at_offset, any_value(input, 0));
}

static void write_reg(struct fuzz_input *input)
{
    const uint32_t offset = any_offset(input);
    const enum core_side side = fuzz_u8(input) % 4 == 0 ? CORE_HOST : CORE_MCU;

    core_reg_write(stepped_core(), side, offset, any_value(input, reg_read(side, offset)));
}

/* An address space, or one of those that are none. */
static uint32_t any_space(struct fuzz_input *input)
{
    const uint8_t which = fuzz_u8(input);

    return which < 160 ? PPU_SPACE_VRAM + which % 3u : which < 224 ? world->context : fuzz_u32(input);
}

static uint64_t any_address(struct fuzz_input *input, uint32_t space)
{
    const uint8_t how = fuzz_u8(input);

    if (how >= 240) {
        return fuzz_u64(input);
    }
    switch (space) {
    case PPU_SPACE_VRAM:
        return offset_anywhere(input) + how;
    case PPU_SPACE_MCU:
        return PPU_MCU_DTCM + how * 4u;
    case PPU_SPACE_BUS:
        return JOINED_BUS_BASE + how * 512u;
    default:
        return world_address(input);
    }
}

static void submit(struct fuzz_input *input)
{
    const uint32_t at = PPU_MCU_DTCM + fuzz_u8(input) * 8u;
    void *const at_offset = joined_mcu_mem(NULL, at, sizeof(struct ppu_dma_desc));
    const uint8_t op = fuzz_u8(input), length = fuzz_u8(input);
    struct ppu_dma_desc desc = {
        .op = op < 240 ? op % 7u : op,
        .flags = fuzz_u8(input),
        .src_space = any_space(input),
        .dst_space = any_space(input),
        .len_bytes = length < 128   ? length
                     : length < 240 ? length * 1024u
                                    : fuzz_u64(input),
        .tag = fuzz_u8(input),
        .value = fuzz_u8(input),
        .entry = fuzz_u8(input) % 4 != 0 ? op / 8u : fuzz_u32(input),
    };

    desc.src = any_address(input, desc.src_space);
    desc.dst = any_address(input, desc.dst_space);
    if (at_offset) {
        memcpy(at_offset, &desc, sizeof(desc));
    }
    core_reg_write(stepped_core(), CORE_MCU, PPU_REG_DMA_SUBMIT, at);
}

/* A task that could run, changed a little, in a slot. */
static void start_task(struct fuzz_input *input)
{
    const uint8_t which = fuzz_u8(input);
    const uint32_t at = world->unused + which % 8u * TMD_BYTES;
    const struct world_area *memory = &world->area[WORLD_AREA_MEMORY];
    struct ppu_tmd tmd = world->kernel[fuzz_below(input, world->kernels)].tmd;
    uint32_t words[sizeof(tmd) / 4];

    memcpy(stepped_vram() + at + TMD_BYTES / 2, memory->host + (tmd.param_va - memory->va), tmd.param_bytes);
    tmd.context = (uint16_t)world->context;
    tmd.params_vram = at + TMD_BYTES / 2;
    if (which & 0x80u) {
        tmd.save_vram = world->saves;
        tmd.save_bytes = 0x4000;
        tmd.save_count = 1 + which % 4u;
    }
    memcpy(words, &tmd, sizeof(words));
    for (uint32_t changes = fuzz_below(input, 4); changes != 0; changes--) {
        const uint32_t word = fuzz_below(input, sizeof(words) / 4);
        words[word] = any_value(input, words[word]);
    }
    memcpy(stepped_vram() + at, words, sizeof(words));
    core_reg_write(stepped_core(), CORE_MCU, PPU_REG_SLOT_START + which / 8u % 4u * 4u, at);
}

/* It is saved, and loaded when it may be. */
static void move(void)
{
    const char *why = NULL;
    size_t bytes = 0;

    core_pause(stepped_core());
    uint8_t *state = core_save(stepped_core(), &bytes);
    (void)core_load(stepped_core(), state, bytes, &why);
    free(state);
    core_resume(stepped_core());
}

static void act_as_firmware(struct fuzz_input *input, uint32_t *steps)
{
    const uint8_t what = fuzz_u8(input);
    uint32_t pass = 1 + what / 16u;

    switch (what % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
        write_reg(input);
        break;
    case 4:
        (void)reg_read(CORE_MCU, any_offset(input));
        break;
    case 5:
    case 6:
        submit(input);
        break;
    case 7:
    case 8:
        start_task(input);
        break;
    case 9:
    case 10:
        store_somewhere(input);
        break;
    case 11:
        core_reg_write(stepped_core(), CORE_MCU, PPU_REG_SLOT_CONTROL + what / 16u % 4u * 4u, fuzz_u8(input) % 5u);
        break;
    case 12:
        if (what & 0x80u) {
            stepped_lock_up();
        } else if (what & 0x40u) {
            core_reset(stepped_core());
        } else {
            move();
        }
        break;
    case 13:
        act_as_guest(input, steps);
        break;
    default:
        pass = pass < *steps ? pass : *steps;
        *steps -= pass;
        stepped_run(pass);
        break;
    }
}

/* The device's own DMA leads back to it. */
static void access_within_dma(void *opaque)
{
    (void)opaque;
    if (!fuzz_ended(&meanwhile)) {
        write_reg(&meanwhile);
        (void)core_doorbell_read(stepped_core(), fuzz_u16(&meanwhile));
    }
}

/* ---- what must hold ---- */

/* Time goes on, and how often the MCU locked up is counted since power-on. */
static bool survives_reset(uint32_t offset)
{
    return offset == PPU_REG_TIME_LO || offset == PPU_REG_TIME_HI;
}

static void read_all(uint32_t values[2][PPU_REG_SPACE / 4])
{
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t side = CORE_HOST; side <= CORE_MCU; side++) {
            const bool readable = rows[i].access[side] != NO && rows[i].access[side] != WO;
            for (uint32_t n = 0; readable && n < rows[i].count && !survives_reset(rows[i].offset); n++) {
                const uint32_t offset = rows[i].offset + 4 * n;
                values[side][offset / 4] = reg_read((enum core_side)side, offset);
            }
        }
    }
}

static void reset(void)
{
    stepped_between(NULL, NULL);
    stepped_silence();
    core_reset(stepped_core());
    if (!stepped_run(RESET_STEPS)) {
        fuzz_found("the machine does not come to rest after a reset");
    }
    if (reg_read(CORE_HOST, PPU_REG_MCU_STATE) != PPU_MCU_HELD) {
        fuzz_found("after a reset the MCU's state is %u", reg_read(CORE_HOST, PPU_REG_MCU_STATE));
    }
}

static void check_reset(void)
{
    uint32_t values[2][PPU_REG_SPACE / 4] = { { 0 } };

    reset();
    read_all(values);
    for (uint32_t i = 0; i < 2 * PPU_REG_SPACE / 4; i++) {
        const uint32_t side = i / (PPU_REG_SPACE / 4), word = i % (PPU_REG_SPACE / 4);
        if (values[side][word] != after_reset[side][word]) {
            fuzz_found("after a reset the register at 0x%x is 0x%x, and not 0x%x, for side %u", word * 4,
                       values[side][word], after_reset[side][word], side);
        }
    }
    world_restore();
    world_victim_begins();
    world_check();
}

static void learn_reset(void)
{
    if (!reset_is_known) {
        world_restore();
        reset();
        read_all(after_reset);
        reset_is_known = true;
    }
}

/* Whoever has the MCU may lay other things over the token queues, which are poisoned while a warp runs. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allow_user_poisoning=0";
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count - count / 8);
    const uint8_t how = fuzz_u8(&input);
    const uint32_t guests = how % 4 == 0 ? MOST_ACTIONS : how / 4u % 16u;
    uint32_t steps = MOST_STEPS;

    learn_reset();
    world_restore();
    meanwhile = fuzz_input(bytes + count - count / 8, count / 8);
    world_victim_begins();
    for (uint32_t i = 0; i < guests && !fuzz_ended(&input); i++) {
        act_as_guest(&input, &steps);
    }
    if (guests < MOST_ACTIONS) {
        stepped_silence();
        stepped_between(access_within_dma, NULL);
    }
    for (uint32_t i = guests; i < MOST_ACTIONS && !fuzz_ended(&input); i++) {
        act_as_firmware(&input, &steps);
    }
    stepped_run(steps);
    if (guests < MOST_ACTIONS) {
        check_reset();
    } else {
        stepped_bus_master(true);
        world_check();
    }
    return 0;
}
