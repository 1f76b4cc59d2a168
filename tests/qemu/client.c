/* SPDX-License-Identifier: MIT */
#include "tests/qemu/client.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/qemu/fw/probe.h"

#define MAILBOX_BYTES 65536u
#define VRAM_BYTES (32u << 20) /* of ONE_PPU */

struct qemu *qemu_start_probe(struct ppu *ppu, const char *const *args)
{
    struct qemu *qemu = qemu_start(args);

    *ppu = ppu_map(qemu, 0);
    probe_load(ppu);
    probe_start(ppu);
    return qemu;
}

/* A file of so many bytes that is mapped up to `mapped`; its path for QEMU in `path`. The descriptor, the caller's. */
static int share(const char *name, size_t bytes, size_t mapped, void **at, char path[32])
{
    const int memory = memfd_create(name, 0);

    assert_int_equal(ftruncate(memory, (off_t)bytes), 0);
    *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_ptr_not_equal(*at, MAP_FAILED);
    snprintf(path, 32, "/proc/self/fd/%d", memory);
    return memory;
}

void client_start(struct client *client)
{
    int notify[2];
    char spec[16], mailbox_path[32], vram_path[32];
    void *mailbox, *vram;
    const char *args[] = { "--ppu",      ONE_PPU,       "--notify", spec, "--mailbox-file",
                           mailbox_path, "--vram-file", vram_path,  NULL };
    const int mailbox_file = share("mailbox", MAILBOX_BYTES, MAILBOX_BYTES, &mailbox, mailbox_path);
    const int vram_file = share("vram", VRAM_BYTES, CLIENT_VRAM_BYTES, &vram, vram_path);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, notify), 0);
    snprintf(spec, sizeof(spec), "fd:%d", notify[1]);
    client->mailbox = mailbox;
    client->vram = vram;
    client->qemu = qemu_start_probe(&client->ppu, args);
    client->notify = notify[0];
    close(notify[1]);
    close(mailbox_file);
    close(vram_file);
}

void client_stop(const struct client *client)
{
    qemu_stop(client->qemu);
    munmap(client->mailbox, MAILBOX_BYTES);
    munmap((void *)(uintptr_t)client->vram, CLIENT_VRAM_BYTES);
    close(client->notify);
}

uint32_t client_mcu_sees(const struct client *client, uint32_t reg)
{
    return probe_do(&client->ppu, PROBE_READ, PPU_MCU_REGS + reg, 0);
}

bool client_left_in(const struct client *client)
{
    return ppu_mailbox_is_rung(client->mailbox);
}

int client_wait_byte(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    uint8_t byte;

    if (poll(&ready, 1, 5000) != 1 || read(fd, &byte, 1) != 1) {
        return -1;
    }
    return byte;
}
