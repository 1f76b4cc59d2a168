/* SPDX-License-Identifier: MIT */
/* Tests the microcontroller in its container: held, released, locked up, its windows, its interrupts to the host. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/dma.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "tests/qemu/client.h"
#include "tests/qemu/fw/probe.h"
#include "tests/qemu/qemu.h"

#define COPIED 0x100000u             /* VRAM offset */
#define DESC (PPU_MCU_DTCM + 0x8000) /* that the MCU leaves alone */
#define PCI_INTERRUPT_LINE 0x3c
#define RAM_WORD (QEMU_RAM + 0x100000)

static const char *const one_ppu[] = { "--ppu", ONE_PPU, NULL };

static uint32_t boots(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, boots));
}

static void hold_and_release(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    for (uint32_t cycle = 1; cycle <= 50; cycle++) {
        assert_int_equal(boots(&ppu), cycle);
        assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0), PPU_MAGIC);
        probe_hold(&ppu);
        assert_int_equal(ppu_read(&ppu, PPU_REG_BOOT_STATUS), 0);
        probe_start(&ppu);
    }
    qemu_stop(qemu);
}

static void hold_a_busy_one(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    for (int cycle = 0; cycle < 10; cycle++) {
        probe_ask(&ppu, PROBE_COUNT, 0, 0);
        sleep_ms(2);
        probe_hold(&ppu);
        uint32_t count = probe_field(&ppu, offsetof(struct probe_mailbox, result[0]));
        sleep_ms(2);
        assert_int_equal(probe_field(&ppu, offsetof(struct probe_mailbox, result[0])), count);
        ppu_vram_write(&ppu, PROBE_MAILBOX, PROBE_IDLE);
        probe_start(&ppu);
    }
    qemu_stop(qemu);
}

static void windows_follow_the_mcu(void **state)
{
    static const uint32_t windows[] = { PPU_BAR0_ITCM + 0x8000, PPU_BAR0_DTCM + 0x8000,
                                        PPU_BAR0_DTCM + PPU_MCU_DTCM_BYTES - 4 };
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    probe_hold(&ppu);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(windows); i++) {
        ppu_write(&ppu, windows[i], 0x1000 + i);
        assert_int_equal(ppu_read(&ppu, windows[i]), 0x1000 + i);
    }
    probe_start(&ppu);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(windows); i++) {
        ppu_write(&ppu, windows[i], 0xbad);
        assert_int_equal(ppu_read(&ppu, windows[i]), 0x1000 + i);
    }
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_DTCM + 0x8000, 0x600d);
    assert_int_equal(ppu_read(&ppu, windows[1]), 0x600d);
    probe_hold(&ppu);
    ppu_write(&ppu, windows[1], 0x1234);
    assert_int_equal(ppu_read(&ppu, windows[1]), 0x1234);
    qemu_stop(qemu);
}

static void lock_up(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    for (uint32_t time = 1; time <= 3; time++) {
        probe_ask(&ppu, PROBE_LOCK_UP, 0, 0);
        ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_LOCKUP);
        assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_LOCKUPS), time);
        assert_true(ppu_read(&ppu, PPU_REG_VECTOR_PENDING) & 1u << PPU_VECTOR_ERROR);
        ppu_write(&ppu, PPU_REG_VECTOR_PENDING, UINT32_MAX);
        ppu_vram_write(&ppu, PROBE_MAILBOX, PROBE_IDLE);
        probe_hold(&ppu);
        probe_start(&ppu);
        assert_int_equal(boots(&ppu), time + 1);
    }
    qemu_stop(qemu);
}

/* A vector table of zeros or of random words: whatever happens, the host can start over. */
static void hopeless_images(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    uint32_t rng = test_seed();
    (void)state;

    for (int image = 0; image < 20; image++) {
        for (uint32_t offset = 0; offset < 1024; offset += 4) {
            rng = rng * 1664525u + 1013904223u;
            ppu_write(&ppu, PPU_BAR0_ITCM + offset, image == 0 ? 0 : rng);
        }
        ppu_write(&ppu, PPU_REG_MCU_CONTROL, 1);
        sleep_ms(5);
        probe_hold(&ppu);
    }
    probe_load(&ppu);
    probe_start(&ppu);
    assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0), PPU_MAGIC);
    qemu_stop(qemu);
}

static void reset_request(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    probe_do(&ppu, PROBE_RESET, 0, 0);
    for (int ms = 0; boots(&ppu) != 2 && ms < 5000; ms++) {
        sleep_ms(1);
    }
    assert_int_equal(boots(&ppu), 2);
    ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_RUNNING);
    ppu_expect(&ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
    qemu_stop(qemu);
}

/* What was pending when the MCU is released reaches it. */
static void lines_survive_release(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    (void)state;

    probe_load(&ppu);
    ppu_write(&ppu, PPU_REG_ADMIN_DOORBELL, 1);
    probe_start(&ppu);
    for (int ms = 0; probe_field(&ppu, offsetof(struct probe_mailbox, beats)) == 0 && ms < 5000; ms++) {
        sleep_ms(1);
    }
    assert_int_equal(probe_field(&ppu, offsetof(struct probe_mailbox, beats)), 1);
    qemu_stop(qemu);
}

static void vectors(void **state)
{
    int notify[2];
    char spec[16];
    const char *args[] = { "--ppu", ONE_PPU, "--notify", spec, NULL };
    struct ppu ppu;
    (void)state;

    /* The end for QEMU must survive exec; ours does no harm there. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, notify), 0);
    snprintf(spec, sizeof(spec), "fd:%d", notify[1]);
    struct qemu *qemu = qemu_start_probe(&ppu, args);
    close(notify[1]);
    for (uint32_t vector = 0; vector < PPU_MAX_VECTORS; vector++) {
        uint64_t address = RAM_WORD + 4 * vector;

        qemu_write(qemu, address, 0);
        ppu_route_vector(&ppu, vector, address, 0xcafe0000 + vector);
        probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, vector);
        assert_int_equal(qemu_read(qemu, address), 0xcafe0000 + vector);
        assert_int_equal(client_wait_byte(notify[0]), vector);
        assert_int_equal(ppu_read(&ppu, PPU_REG_VECTOR_PENDING), 1u << vector);
        ppu_write(&ppu, PPU_REG_VECTOR_PENDING, 1u << vector);
        assert_int_equal(ppu_read(&ppu, PPU_REG_VECTOR_PENDING), 0);
    }
    /* An unread client loses bytes, never QEMU. */
    for (int i = 0; i < 2000; i++) {
        probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 5);
    }
    assert_int_equal(client_wait_byte(notify[0]), 5);
    close(notify[0]);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 5);
    assert_int_equal(ppu_read(&ppu, PPU_REG_VECTOR_PENDING), 1u << 5);
    qemu_stop(qemu);
}

/* ---- the mailbox, by a client that does all of it by hand ---- */

static void mailbox_doorbells(void **state)
{
    const uint8_t byte = 0;
    struct client client;
    (void)state;

    client_start(&client);
    assert_false(ppu_mailbox_ring(client.mailbox, 37, 5));
    sleep_ms(5);
    assert_true(client_left_in(&client));
    assert_int_equal(write(client.notify, &byte, 1), 1);
    for (unsigned ms = 0; client_left_in(&client) && ms < 5000; ms++) {
        sleep_ms(1);
    }
    assert_false(client_left_in(&client));
    assert_int_equal(client_mcu_sees(&client, PPU_REG_DB_PENDING + 4), 1u << 5);
    assert_int_equal(client_mcu_sees(&client, PPU_REG_GP_PUT + 4 * 37), 5);
    /* The host's next access comes after what it rang before. */
    assert_false(ppu_mailbox_ring(client.mailbox, 37, 6));
    assert_false(ppu_mailbox_ring(client.mailbox, 0, 7));
    assert_int_equal(qemu_read(client.qemu, client.ppu.bar[PPU_BAR_DOORBELLS] + 37 * PPU_DOORBELL_STRIDE), 6);
    assert_int_equal(client_mcu_sees(&client, PPU_REG_GP_PUT), 7);
    client_stop(&client);
}

static void mailbox_vectors(void **state)
{
    struct client client;
    (void)state;

    client_start(&client);
    struct pollfd ready = (struct pollfd){ .fd = client.notify, .events = POLLIN };
    probe_do(&client.ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 9);
    assert_int_equal(client_wait_byte(client.notify), 9);
    assert_int_equal(ppu_mailbox_take(&client.mailbox->vectors), 1u << 9);
    ppu_mailbox_look(&client.mailbox->client_looks, true);
    probe_do(&client.ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 9);
    probe_do(&client.ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 31);
    assert_int_equal(ppu_mailbox_take(&client.mailbox->vectors), 1u << 9 | 1u << 31);
    assert_int_equal(poll(&ready, 1, 0), 0);
    client_stop(&client);
}

/* Anything may be in there, at any time. */
static void mailbox_noise(void **state)
{
    uint32_t seed = test_seed();
    struct client client;
    (void)state;

    client_start(&client);
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t *word = (uint32_t *)(void *)client.mailbox;
        for (uint32_t i = 0; i < sizeof(*client.mailbox) / 4; i++) {
            seed = seed * 1664525u + 1013904223u;
            __atomic_store_n(&word[i], seed, __ATOMIC_RELAXED);
        }
        (void)!write(client.notify, word, seed >> 24);
        assert_int_equal(ppu_read(&client.ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    }
    assert_int_equal(client_mcu_sees(&client, PPU_REG_MAGIC), PPU_MAGIC);
    client_stop(&client);
}

static void set_window(const struct ppu *ppu, uint64_t bus)
{
    probe_do(ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_WINDOW_LO, (uint32_t)bus);
    probe_do(ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_WINDOW_HI, (uint32_t)(bus >> 32));
}

static uint32_t faults(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, faults));
}

static void window_reaches_system_memory(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    qemu_write(qemu, RAM_WORD, 0x11223344);
    set_window(&ppu, RAM_WORD);
    assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_WINDOW, 0), 0x11223344);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_WINDOW + PPU_MCU_WINDOW_BYTES - 4, 0x55667788);
    assert_int_equal(qemu_read(qemu, RAM_WORD + PPU_MCU_WINDOW_BYTES - 4), 0x55667788);
    assert_int_equal(faults(&ppu), 0);
    qemu_stop(qemu);
}

static void bus_master_off(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    qemu_write(qemu, RAM_WORD, 0x11223344);
    set_window(&ppu, RAM_WORD);
    ppu_route_vector(&ppu, 3, RAM_WORD + 4, 0xcafe);
    qemu_write(qemu, RAM_WORD + 4, 0);
    ppu_set_bus_master(&ppu, false);
    probe_do(&ppu, PROBE_READ, PPU_MCU_WINDOW, 0);
    assert_int_equal(faults(&ppu), 1);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_WINDOW, 0xbad);
    assert_int_equal(faults(&ppu), 2);
    assert_int_equal(qemu_read(qemu, RAM_WORD), 0x11223344);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 3);
    assert_int_equal(qemu_read(qemu, RAM_WORD + 4), 0);
    ppu_set_bus_master(&ppu, true);
    assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_WINDOW, 0), 0x11223344);
    qemu_stop(qemu);
}

/*
 * A DMA that reaches the function's own configuration space gets to the mailbox while the core takes no doorbells: they
 * stay for whoever comes next. The CPUs stand still until all of it is prepared.
 */
static void doorbells_outlive_a_dma_to_itself(void **state)
{
    struct ppu_dma_desc desc = {
        .op = PPU_DMA_COPY, .src_space = PPU_SPACE_VRAM, .src = COPIED, .dst_space = PPU_SPACE_BUS, .len_bytes = 4
    };
    struct client client;
    (void)state;

    client_start(&client);
    ppu_vram_write(&client.ppu, COPIED, 0x2a);
    for (uint32_t i = 0; i < sizeof(desc) / 4; i++) {
        uint32_t word;

        desc.dst = client.ppu.config + PCI_INTERRUPT_LINE;
        memcpy(&word, (const uint8_t *)&desc + 4 * i, 4);
        probe_do(&client.ppu, PROBE_WRITE, DESC + 4 * i, word);
    }
    qemu_qmp(client.qemu, "{\"execute\": \"stop\"}");
    probe_ask(&client.ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_DMA_SUBMIT, DESC);
    assert_false(ppu_mailbox_ring(client.mailbox, 37, 5));
    qemu_qmp(client.qemu, "{\"execute\": \"cont\"}");
    probe_wait(&client.ppu);
    assert_int_equal(qemu_read(client.qemu, client.ppu.config + PCI_INTERRUPT_LINE) & 0xff, 0x2a);
    assert_int_equal(client_mcu_sees(&client, PPU_REG_DB_PENDING + 4), 1u << 5);
    assert_int_equal(client_mcu_sees(&client, PPU_REG_GP_PUT + 4 * 37), 5);
    client_stop(&client);
}

/* The window onto the function's own BARs: refused, whatever is behind. */
static void window_onto_itself(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    (void)state;

    set_window(&ppu, ppu.bar[PPU_BAR_REGS]);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_WINDOW + PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    assert_int_equal(faults(&ppu), 1);
    set_window(&ppu, ppu.bar[PPU_BAR_DOORBELLS]);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_WINDOW, 1);
    assert_int_equal(faults(&ppu), 2);
    ppu_route_vector(&ppu, 2, ppu.bar[PPU_BAR_REGS] + PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 2);
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    assert_int_equal(boots(&ppu), 1);
    qemu_stop(qemu);
}

static void register_storm(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = qemu_start_probe(&ppu, one_ppu);
    uint32_t seed = test_seed();
    (void)state;

    for (uint32_t round = 0; round < 10; round++) {
        probe_ask(&ppu, PROBE_STORM, 5000, seed + round);
        sleep_ms(20);
        ppu_write(&ppu, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
        ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
        probe_load(&ppu);
        probe_start(&ppu);
        assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0), PPU_MAGIC);
    }
    qemu_stop(qemu);
}

static void two_at_once(void **state)
{
    static const char *const args[] = { "--ppu", ONE_PPU, "--ppu", "vram-size=64M,sms=1,gpcs=1,sm-threads=1", NULL };
    struct qemu *qemu = qemu_start(args);
    struct ppu ppu[2] = { ppu_map(qemu, 0), ppu_map(qemu, 1) };
    (void)state;

    for (int i = 0; i < 2; i++) {
        probe_load(&ppu[i]);
        probe_start(&ppu[i]);
        assert_int_equal(probe_do(&ppu[i], PROBE_READ, PPU_MCU_REGS + PPU_REG_INSTANCE, 0), i);
    }
    probe_ask(&ppu[0], PROBE_LOCK_UP, 0, 0);
    ppu_expect(&ppu[0], PPU_REG_MCU_STATE, PPU_MCU_LOCKUP);
    assert_int_equal(probe_do(&ppu[1], PROBE_READ, PPU_MCU_REGS + PPU_REG_INSTANCE, 0), 1);
    ppu_write(&ppu[1], PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    ppu_expect(&ppu[1], PPU_REG_MCU_STATE, PPU_MCU_HELD);
    assert_int_equal(ppu_read(&ppu[0], PPU_REG_MCU_STATE), PPU_MCU_LOCKUP);
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "the MCU is held and released fifty times", hold_and_release, NULL, NULL, NULL },
        { "a busy MCU stands still when it is held", hold_a_busy_one, NULL, NULL, NULL },
        { "the MCU's memories are written only while it is held", windows_follow_the_mcu, NULL, NULL, NULL },
        { "QEMU survives a lockup and the MCU starts again", lock_up, NULL, NULL, NULL },
        { "QEMU survives images of random words", hopeless_images, NULL, NULL, NULL },
        { "the MCU may ask for its own reset", reset_request, NULL, NULL, NULL },
        { "an interrupt from before the release is taken", lines_survive_release, NULL, NULL, NULL },
        { "every vector reaches memory, notify and VECTOR_PENDING [A1]", vectors, NULL, NULL, NULL },
        { "doorbells in the mailbox are rung, before what the host does next", mailbox_doorbells, NULL, NULL, NULL },
        { "vectors are in the mailbox, and told when nobody looks", mailbox_vectors, NULL, NULL, NULL },
        { "QEMU survives any mailbox", mailbox_noise, NULL, NULL, NULL },
        { "doorbells in the mailbox outlive a DMA to the function itself [A2]", doorbells_outlive_a_dma_to_itself, NULL,
          NULL, NULL },
        { "the window reaches system memory [A1]", window_reaches_system_memory, NULL, NULL, NULL },
        { "without bus mastering nothing leaves the function [A1]", bus_master_off, NULL, NULL, NULL },
        { "the function does not reach its own registers by DMA [A1]", window_onto_itself, NULL, NULL, NULL },
        { "random writes by the MCU leave a device that resets", register_storm, NULL, NULL, NULL },
        { "a locked-up PPU does not disturb the other [A8]", two_at_once, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
