/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the function to clients of vfio-user (remote/server.h): a virtual machine, or libppu. It listens at a socket;
 * one client at a time has the function, which is reset, and gets other VRAM, when the client goes.
 */
#include "qemu/osdep.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "exec/address-spaces.h"
#include "hw/pci/pci.h"
#include "migration/blocker.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/sockets.h"

#include "ppu.h"
#include "remote/guard.h"
#include "remote/server.h"
#include "trace.h"

#define WAITING_CLIENTS 8

struct ppu_remote {
    struct remote_server *server;
    int listener;
    int client;                     /* the server's socket, watched by the main loop; -1: none */
    AddressSpace bar[PCI_ROM_SLOT]; /* wherever the client has its BARs */
    bool has_bar[PCI_ROM_SLOT];
    Error *blocker; /* of snapshots, which would lack the client's half */
};

/* ---- configuration space ---- */

/* The largest access from `offset` on that configuration space takes. */
static uint32_t config_part(uint64_t offset, uint32_t bytes)
{
    return offset % 4 == 0 && bytes >= 4 ? 4 : offset % 2 == 0 && bytes >= 2 ? 2 : 1;
}

static bool config_read(PPUState *s, uint64_t offset, uint8_t *buf, uint32_t bytes)
{
    PCIDevice *pci = PCI_DEVICE(s);

    for (uint32_t part; bytes > 0; offset += part, buf += part, bytes -= part) {
        part = config_part(offset, bytes);
        stn_le_p(buf, part, pci->config_read(pci, offset, part));
    }
    return true;
}

/* Where BARs lie is the client's matter: here they would lie in the address space of nobody. */
static bool is_bar(uint64_t offset)
{
    return offset >= PCI_BASE_ADDRESS_0 && offset < PCI_CARDBUS_CIS;
}

static bool config_write(PPUState *s, uint64_t offset, const uint8_t *buf, uint32_t bytes)
{
    PCIDevice *pci = PCI_DEVICE(s);

    for (uint32_t part; bytes > 0; offset += part, buf += part, bytes -= part) {
        part = config_part(offset, bytes);
        if (!is_bar(offset)) {
            pci->config_write(pci, offset, ldn_le_p(buf, part), part);
        }
    }
    return true;
}

/* ---- what the server asks of the function ---- */

static bool bar_access(PPUState *s, uint32_t region, uint64_t offset, void *buf, uint32_t bytes, bool write)
{
    return region < PCI_ROM_SLOT && s->remote->has_bar[region] &&
           address_space_rw(&s->remote->bar[region], offset, MEMTXATTRS_UNSPECIFIED, buf, bytes, write) == MEMTX_OK;
}

static bool remote_read(void *opaque, uint32_t region, uint64_t offset, void *buf, uint32_t bytes)
{
    PPUState *s = opaque;

    trace_ppu_remote_access(s->config.instance, "reads", region, offset, bytes);
    return region == PPU_VFU_CONFIG_REGION ? config_read(opaque, offset, buf, bytes)
                                           : bar_access(opaque, region, offset, buf, bytes, false);
}

static bool remote_write(void *opaque, uint32_t region, uint64_t offset, const void *buf, uint32_t bytes)
{
    PPUState *s = opaque;

    trace_ppu_remote_access(s->config.instance, "writes", region, offset, bytes);
    return region == PPU_VFU_CONFIG_REGION ? config_write(opaque, offset, buf, bytes)
                                           : bar_access(opaque, region, offset, (void *)buf, bytes, true);
}

static void remote_reset(void *opaque)
{
    PPUState *s = opaque;

    trace_ppu_reset(s->config.instance, "client");
    pci_device_reset(PCI_DEVICE(s));
}

static void remote_complain(void *opaque, const char *sentence)
{
    PPUState *s = opaque;

    qemu_log_mask(LOG_GUEST_ERROR, "ppu%u: %s\n", s->config.instance, sentence);
}

static const struct remote_ops remote_ops = {
    .read = remote_read,
    .write = remote_write,
    .reset = remote_reset,
    .complain = remote_complain,
};

/* ---- what the function asks of the client ---- */

static bool is_bus_master(PPUState *s)
{
    return pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

bool ppu_remote_dma(PPUState *s, uint64_t bus, void *buf, uint32_t len_bytes, bool write)
{
    struct remote_server *server = s->remote->server;

    return is_bus_master(s) && (write ? remote_server_dma_write(server, bus, buf, len_bytes)
                                      : remote_server_dma_read(server, bus, buf, len_bytes));
}

void ppu_remote_raise(PPUState *s, uint32_t vector)
{
    remote_server_raise(s->remote->server, vector);
}

/* ---- clients ---- */

static void set_mappable(PPUState *s, uint32_t index, uint64_t bytes, int fd)
{
    const struct remote_region region = { .bytes = bytes, .fd = fd, .map_bytes = bytes };

    remote_server_set_region(s->remote->server, index, &region);
}

static void set_memory(PPUState *s)
{
    set_mappable(s, PPU_BAR_VRAM, s->config.vram_bytes, s->vram_fd);
    set_mappable(s, PPU_BAR_MAILBOX, memory_region_size(&s->mailbox_bar), s->mailbox_fd);
}

static void end_client(PPUState *s)
{
    struct ppu_remote *remote = s->remote;

    trace_ppu_remote_client(s->config.instance, "goes");
    qemu_set_fd_handler(remote->client, NULL, NULL, NULL);
    remote->client = -1;
    remote_server_detach(remote->server);
    guard_client_goes(s->guard, s->config.instance);
    if (!ppu_vram_renew(s) || !ppu_mailbox_renew(s)) {
        /* The client that has gone could still look at what the next one does, and ring for it. */
        error_report("ppu%u: make memory for the next client: %s; no further client is served", s->config.instance,
                     strerror(errno));
        qemu_set_fd_handler(remote->listener, NULL, NULL, NULL);
        close(remote->listener);
    }
    set_memory(s);
    pci_device_reset(PCI_DEVICE(s));
    migrate_del_blocker(&remote->blocker);
}

static void serve_client(void *opaque);

static void watch_client(PPUState *s)
{
    const bool waits = remote_server_wants_room(s->remote->server);

    qemu_set_fd_handler(s->remote->client, waits ? NULL : serve_client, waits ? serve_client : NULL, s);
}

static void serve_client(void *opaque)
{
    PPUState *s = opaque;

    if (remote_server_serve(s->remote->server)) {
        watch_client(s);
    } else {
        end_client(s);
    }
}

static bool block_snapshots(PPUState *s)
{
    Error *error = NULL;

    error_setg(&s->remote->blocker, "ppu%u: a client of vfio-user has it, whose half of the state would be missing",
               s->config.instance);
    if (migrate_add_blocker(&s->remote->blocker, &error) != 0) {
        error_report_err(error);
        return false;
    }
    return true;
}

/* The main loop may see a new client before the end of the one before it. */
static bool client_has_gone(const struct ppu_remote *remote)
{
    struct pollfd end = { .fd = remote->client, .events = POLLRDHUP };

    return remote->client >= 0 && poll(&end, 1, 0) > 0;
}

static unsigned refused; /* clients that have yet to be told */

static void refuse_client(void *opaque)
{
    int client = GPOINTER_TO_INT(opaque);

    qemu_set_fd_handler(client, NULL, NULL, NULL);
    if (remote_server_refuse(client)) {
        refused--;
    } else {
        qemu_set_fd_handler(client, refuse_client, NULL, opaque);
    }
}

/* A client that says nothing is kept, but not a hundred of them. */
static void begin_refusal(int client)
{
    if (refused == WAITING_CLIENTS) {
        close(client);
        return;
    }
    refused++;
    qemu_set_fd_handler(client, refuse_client, NULL, GINT_TO_POINTER(client));
}

static void accept_client(void *opaque)
{
    PPUState *s = opaque;
    struct ppu_remote *remote = s->remote;
    int client = accept4(remote->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (client < 0) {
        return;
    }
    if (client_has_gone(remote)) {
        end_client(s);
    }
    if (remote->client >= 0 || !block_snapshots(s)) {
        begin_refusal(client);
        return;
    }
    trace_ppu_remote_client(s->config.instance, "comes");
    remote->client = client;
    guard_client_comes(s->guard, s->config.instance, client);
    remote_server_attach(remote->server, client);
    watch_client(s);
}

/* ---- set-up ---- */

/* A path, or fd:N for a socket that listens already. -1 with an error. */
static int listen_at(const char *path, Error **errp)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *number;
    int listener;

    if (strstart(path, "fd:", &number)) {
        if (qemu_strtoi(number, NULL, 10, &listener) != 0 || !fd_is_socket(listener)) {
            error_setg(errp, "ppu: vfio-user: '%s' names no socket", path);
            return -1;
        }
        return listener;
    }
    if (strlen(path) >= sizeof(address.sun_path)) {
        error_setg(errp, "ppu: vfio-user: the path of a socket has less than %zu bytes: '%s'", sizeof(address.sun_path),
                   path);
        return -1;
    }
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, WAITING_CLIENTS) != 0) {
        error_setg_errno(errp, errno, "ppu: vfio-user: listen at '%s'", path);
        return -1;
    }
    return listener;
}

static void add_bar(PPUState *s, uint32_t index, MemoryRegion *memory, const char *name)
{
    const struct remote_region region = { .bytes = memory_region_size(memory), .fd = -1 };

    address_space_init(&s->remote->bar[index], memory, name);
    s->remote->has_bar[index] = true;
    remote_server_set_region(s->remote->server, index, &region);
}

static void add_regions(PPUState *s)
{
    const struct remote_region config = { .bytes = PCIE_CONFIG_SPACE_SIZE, .fd = -1 };

    add_bar(s, PPU_BAR_REGS, &s->bar0, "ppu-remote-regs");
    add_bar(s, PPU_BAR_DOORBELLS, &s->doorbells, "ppu-remote-doorbells");
    add_bar(s, PPU_BAR_MAILBOX, &s->mailbox_bar, "ppu-remote-mailbox");
    add_bar(s, PPU_BAR_VRAM, s->vram, "ppu-remote-vram");
    set_memory(s);
    remote_server_set_region(s->remote->server, PPU_VFU_CONFIG_REGION, &config);
}

bool ppu_remote_init(PPUState *s, Error **errp)
{
    if (!s->vfio_user_path) {
        return true;
    }
    int listener = listen_at(s->vfio_user_path, errp);
    if (listener < 0) {
        return false;
    }
    struct ppu_remote *remote = g_new0(struct ppu_remote, 1);
    remote->listener = listener;
    remote->client = -1;
    remote->server = remote_server_new(&remote_ops, s);
    s->remote = remote;
    if (!remote->server) {
        error_setg(errp, "ppu: vfio-user: not enough memory");
        return false;
    }
    add_regions(s);
    qemu_set_fd_handler(listener, accept_client, NULL, s);
    return true;
}
