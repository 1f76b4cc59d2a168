/* SPDX-License-Identifier: MIT */
/* Shares a mailbox with the device of a QEMU in a test, and does by hand what a client does with it. */
#ifndef TESTS_QEMU_CLIENT_H
#define TESTS_QEMU_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/mailbox.h"
#include "tests/qemu/qemu.h"

#define ONE_PPU "vram-size=32M,sm-threads=1"
#define CLIENT_VRAM_BYTES 0x100000u

/* The MCU runs the test firmware. */
struct client {
    struct ppu_mailbox *mailbox;
    volatile uint8_t *vram; /* the first CLIENT_VRAM_BYTES */
    int notify;
    struct qemu *qemu;
    struct ppu ppu;
};

/* A QEMU with one PPU whose MCU runs the test firmware; the caller's. `args` as qemu_start() takes them. */
struct qemu *qemu_start_probe(struct ppu *ppu, const char *const *args);

void client_start(struct client *client);
void client_stop(const struct client *client);
/* A register as the MCU reads it. */
uint32_t client_mcu_sees(const struct client *client, uint32_t reg);
/* Doorbells are in the mailbox that nobody has taken. */
bool client_left_in(const struct client *client);
/* The next byte from the device; -1: none came for seconds. */
int client_wait_byte(int fd);

#endif
