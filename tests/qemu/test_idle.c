/* SPDX-License-Identifier: MIT */
/*
 * Tests who serves doorbells in the mailbox and accesses of SMs to system memory: the MCU while it looks, and the main
 * loop where a firmware of the user's own computes for long without an access to the function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/image.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "ppu/tmd.h"
#include "tests/qemu/client.h"
#include "tests/qemu/fw/probe.h"
#include "tools/asm/ppuasm.h"

#define PATIENCE_MS 2000u
#define BEATS 20u     /* waits so short that the MCU looks in the next */
#define ATTEMPTS 100u /* to ring while the MCU computes and has not been found out */
#define CHANNEL 3u

/* In VRAM. The first 2 MiB are the firmware's, and virtual addresses from 0 on are the second. */
#define PROT_BASE 0x100000u
#define PROT_LIMIT 0x200000u
#define RING_AT PROT_BASE
#define RING_ENTRIES 16u
#define TABLES_AT 0x110000u /* one of each level, the root first */
#define TMD_AT 0x120000u
#define PARAMS_AT 0x121000u
#define TOKENS_AT 0x140000u
#define CODE_AT 0x200000u
#define OUT_VA 0x100000u
#define OUT_AT (CODE_AT + OUT_VA)
#define SYS_VA PPU_PAGE_2M
#define SYS_BUS (QEMU_RAM + PPU_PAGE_2M)
#define CONTEXT 1u
#define VALUE 0x1234u
#define LOADS 100u

static uint32_t counted(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, result[0]));
}

/* Rings as libppu does, until it is taken. True: the device had said that it looks. */
static bool ring(const struct client *client)
{
    static uint32_t put;
    const bool looks = ppu_mailbox_ring(client->mailbox, CHANNEL, ++put);

    if (!looks) {
        assert_int_equal(write(client->notify, "", 1), 1);
    }
    for (uint32_t us = 0; client_left_in(client); us += 10) {
        assert_true(us < 1000u * PATIENCE_MS);
        nanosleep(&(struct timespec){ 0, 10000 }, NULL);
    }
    return looks;
}

static void end_request(const struct ppu *ppu)
{
    ppu_vram_write(ppu, PROBE_MAILBOX + offsetof(struct probe_mailbox, op), PROBE_IDLE);
    probe_do(ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0);
}

static bool computes(const struct client *client)
{
    const volatile struct probe_mailbox *const mailbox = (const volatile void *)(client->vram + PROBE_MAILBOX);

    return mailbox->result[0] != 0;
}

/* True: a doorbell was rung when the MCU computed and had said that it looks. */
static bool ring_a_computing_mcu(const struct client *client)
{
    ppu_vram_write(&client->ppu, PROBE_MAILBOX + offsetof(struct probe_mailbox, result[0]), 0);
    probe_ask(&client->ppu, PROBE_COMPUTE, BEATS, 0);
    while (!computes(client)) {
        ring(client);
    }
    const bool looked = ring(client);
    end_request(&client->ppu);
    return looked;
}

static void doorbells_reach_a_computing_mcu(void **state)
{
    struct client client;
    bool looked = false;
    (void)state;

    client_start(&client);
    for (uint32_t i = 0; i < ATTEMPTS && !looked; i++) {
        sleep_ms(i); /* a MCU that has looked on a crowded machine does not for a while */
        looked = ring_a_computing_mcu(&client);
    }
    assert_true(looked);
    client_stop(&client);
}

/* Rings until the firmware, which may not wait yet, does what it was asked for. */
static void begin(const struct ppu *ppu)
{
    for (uint32_t ms = 0; counted(ppu) == 0 && ms < PATIENCE_MS; ms++) {
        ppu_write(ppu, PPU_REG_ADMIN_DOORBELL, 1);
        sleep_ms(1);
    }
}

static bool device_looks(const struct client *client, bool expected)
{
    for (uint32_t ms = 0; ppu_mailbox_is_looked_at(&client->mailbox->device_looks) != expected && ms < PATIENCE_MS;
         ms++) {
        sleep_ms(1);
    }
    return ppu_mailbox_is_looked_at(&client->mailbox->device_looks);
}

/* Events come so fast that the firmware never waits: doorbells do not wait for a turn of the main loop. */
static void mcu_that_works_for_long_looks(void **state)
{
    struct client client;
    (void)state;

    client_start(&client);
    probe_ask(&client.ppu, PROBE_ACCESS, 1, 0);
    sleep_ms(5); /* so long a wait has no look in it */
    assert_false(device_looks(&client, false));
    begin(&client.ppu);
    assert_true(device_looks(&client, true));
    assert_true(ppu_mailbox_ring(client.mailbox, CHANNEL, 1));
    for (uint32_t ms = 0; client_left_in(&client) && ms < PATIENCE_MS; ms++) {
        sleep_ms(1);
    }
    assert_false(client_left_in(&client));
    assert_true(device_looks(&client, true));
    end_request(&client.ppu);
    assert_false(device_looks(&client, false));
    client_stop(&client);
}

/* ---- SMs that load from system memory ---- */

static void mcu_write(const struct ppu *ppu, uint32_t reg, uint32_t value)
{
    probe_do(ppu, PROBE_WRITE, PPU_MCU_REGS + reg, value);
}

static void put64(const struct ppu *ppu, uint32_t at, uint64_t value)
{
    ppu_vram_write(ppu, at, (uint32_t)value);
    ppu_vram_write(ppu, at + 4, (uint32_t)(value >> 32));
}

static void map_memory(const struct ppu *ppu)
{
    const uint64_t page = PPU_PTE_VALID | PPU_PTE_WRITE | PPU_PTE_SIZE(PPU_PTE_2M);

    for (uint32_t at = TABLES_AT; at < TABLES_AT + 3 * PPU_PT_BYTES; at += 8) {
        put64(ppu, at, 0);
    }
    put64(ppu, TABLES_AT, (TABLES_AT + PPU_PT_BYTES) | PPU_PTE_VALID);
    put64(ppu, TABLES_AT + PPU_PT_BYTES, (TABLES_AT + 2 * PPU_PT_BYTES) | PPU_PTE_VALID);
    put64(ppu, TABLES_AT + 2 * PPU_PT_BYTES, CODE_AT | page);
    put64(ppu, TABLES_AT + 2 * PPU_PT_BYTES + 8, SYS_BUS | page | PPU_PTE_SYSTEM);
    mcu_write(ppu, PPU_REG_CTX_ROOT + 4 * CONTEXT, TABLES_AT | 1);
}

static void set_up_device(const struct ppu *ppu)
{
    mcu_write(ppu, PPU_REG_PROT_LIMIT, PROT_LIMIT);
    mcu_write(ppu, PPU_REG_PROT_BASE, PROT_BASE);
    mcu_write(ppu, PPU_REG_RING_SIZE + 4 * PPU_RING_SLOT, RING_ENTRIES);
    mcu_write(ppu, PPU_REG_RING_BASE + 4 * PPU_RING_SLOT, RING_AT);
    mcu_write(ppu, PPU_REG_TOKEN_BYTES, PROT_LIMIT - TOKENS_AT);
    mcu_write(ppu, PPU_REG_TOKEN_BASE, TOKENS_AT);
    map_memory(ppu);
}

static void put_words(const struct ppu *ppu, uint32_t at, const void *words, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint32_t word;

        memcpy(&word, (const uint8_t *)words + i, 4);
        ppu_vram_write(ppu, at + i, word);
    }
}

/* Each of 64 threads adds up what it loads from a word of its own, and stores the sum. */
static void put_task(const struct ppu *ppu)
{
    static const char text[] = ".kernel k\n.vregs 8\n.param 16\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid\n"
                               "shl v1, v0, 6\nmov v2, 0\nmov v3, 0\nnext:\nldg.b32 v4, [s0+v1]\nadd v3, v3, v4\n"
                               "add v2, v2, 1\nisetp.ne p0, v2, 100\n@p0 bra next\nshl v0, v0, 2\n"
                               "stg.b32 v3, [s2+v0]\nexit\n";
    const uint64_t params[2] = { SYS_VA, OUT_VA };
    char message[PPUASM_MESSAGE_BYTES] = "";
    struct ppuasm_image image = { NULL, 0 };
    struct ppu_program_view program;

    if (!ppuasm_assemble(text, "text", &image, message) || ppu_program_open(image.bytes, image.len_bytes, &program)) {
        fail_msg("the kernel cannot be assembled: %s", message);
        return;
    }
    const struct ppu_kernel_entry *kernel = ppu_program_kernel(&program, "k");
    const struct ppu_tmd tmd = {
        .head = { .version = PPU_TMD_VERSION, .size_bytes = sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .priority = 1,
        .code_bytes = program.header->code_bytes,
        .entry = kernel->entry,
        .vregs = kernel->vregs,
        .wave = kernel->wave,
        .cta = { 64, 1, 1 },
        .grid = { 1, 1, 1 },
        .context = CONTEXT,
        .params_vram = PARAMS_AT,
        .param_bytes = sizeof(params),
    };
    put_words(ppu, CODE_AT, program.code, program.header->code_bytes);
    put_words(ppu, PARAMS_AT, params, sizeof(params));
    put_words(ppu, TMD_AT, &tmd, sizeof(tmd));
    free(image.bytes);
}

/* Both warps have. */
static bool has_stored(const struct ppu *ppu)
{
    return ppu_vram_read(ppu, OUT_AT) != 0 && ppu_vram_read(ppu, OUT_AT + 4 * 63) != 0;
}

static void loads_are_served_beside_a_computing_mcu(void **state)
{
    static const char *const args[] = { "--ppu", ONE_PPU, NULL };
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, args);
    (void)state;

    set_up_device(&ppu);
    put_task(&ppu);
    for (uint32_t lane = 0; lane < 64; lane++) {
        qemu_write(qemu, SYS_BUS + 64ull * lane, VALUE + lane);
        ppu_vram_write(&ppu, OUT_AT + 4 * lane, 0);
    }
    probe_ask(&ppu, PROBE_COMPUTE, 1, TMD_AT);
    begin(&ppu);
    for (uint32_t ms = 0; !has_stored(&ppu) && ms < PATIENCE_MS; ms++) {
        sleep_ms(1);
    }
    for (uint32_t lane = 0; lane < 64; lane++) {
        assert_int_equal(ppu_vram_read(&ppu, OUT_AT + 4 * lane), LOADS * (VALUE + lane));
    }
    assert_int_equal(ppu_read(&ppu, PPU_REG_DEVICE_ERROR), 0);
    end_request(&ppu);
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "a MCU that works for long without a wait takes doorbells itself [A2]", mcu_that_works_for_long_looks, NULL,
          NULL, NULL },
        { "doorbells in the mailbox reach a MCU that computes after it has looked [A2]",
          doorbells_reach_a_computing_mcu, NULL, NULL, NULL },
        { "loads of system memory are served while the MCU computes [A9]", loads_are_served_beside_a_computing_mcu,
          NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
