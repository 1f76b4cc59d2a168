/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/remote/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "qemu-device/remote/dma_table.h"
#include "qemu-device/remote/message.h"
#include "qemu-device/remote/vector_events.h"

#define MAPPABLE_PART_BYTES \
    (sizeof(struct vfio_region_info_cap_sparse_mmap) + sizeof(struct vfio_region_sparse_mmap_area))
#define MESSAGES_A_TURN 64u /* of one client, before others have their turn */

struct remote_server {
    struct remote_ops ops;
    void *opaque;
    int socket;       /* -1: no client */
    bool has_version; /* the client has said its version */
    struct remote_region region[PPU_VFU_REGIONS];
    struct message message;
    struct reply reply;
    struct dma_table dma;
    struct vector_events events;
};

/* ---- bodies ---- */

/* The structure at the start of the body; false: the body is shorter. */
static bool take_body(const struct message *message, void *to, uint32_t bytes)
{
    if (message_body_bytes(message) < bytes) {
        return false;
    }
    memcpy(to, message->body, bytes);
    return true;
}

static void put_body(struct reply *reply, const void *from, uint32_t bytes)
{
    memcpy(reply->body + (reply->header.bytes - sizeof(reply->header)), from, bytes);
    reply->header.bytes += bytes;
}

/* ---- commands: each returns 0 or a number of errno, and has put a body into the reply, if any ---- */

static int command_version(struct remote_server *server, struct message *message)
{
    static const struct ppu_vfu_version ours = { PPU_VFU_MAJOR, PPU_VFU_MINOR };
    struct ppu_vfu_version version;
    char text[128];

    if (server->has_version || !take_body(message, &version, sizeof(version)) || version.major != PPU_VFU_MAJOR) {
        return EINVAL;
    }
    int length = snprintf(text, sizeof(text), "{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u}}",
                          PPU_VFU_MAX_FDS, PPU_VFU_MAX_TRANSFER);
    put_body(&server->reply, &ours, sizeof(ours));
    put_body(&server->reply, text, (uint32_t)length + 1);
    server->has_version = true;
    return 0;
}

static int command_dma_map(struct remote_server *server, struct message *message)
{
    struct ppu_vfu_dma_map map;

    if (!take_body(message, &map, sizeof(map)) || message->fd_count > 1 || map.bytes == 0) {
        return EINVAL;
    }
    const struct dma_mapping mapping = {
        .bus = map.bus,
        .last = map.bus + (map.bytes - 1),
        .readable = (map.flags & VFIO_DMA_MAP_FLAG_READ) != 0,
        .writable = (map.flags & VFIO_DMA_MAP_FLAG_WRITE) != 0,
        .offset = map.offset,
    };
    return dma_table_map(&server->dma, &mapping, message->fd_count != 0 ? message->fd[0] : -1);
}

static int command_dma_unmap(struct remote_server *server, struct message *message)
{
    struct ppu_vfu_dma_unmap unmap;
    int error = 0;

    if (!take_body(message, &unmap, sizeof(unmap)) || (unmap.flags & ~VFIO_DMA_UNMAP_FLAG_ALL) != 0) {
        return EINVAL;
    }
    if ((unmap.flags & VFIO_DMA_UNMAP_FLAG_ALL) != 0) {
        error = unmap.bus == 0 && unmap.bytes == 0 ? 0 : EINVAL;
        if (error == 0) {
            dma_table_clear(&server->dma);
        }
    } else {
        error = unmap.bytes != 0 ? dma_table_unmap(&server->dma, unmap.bus, unmap.bus + (unmap.bytes - 1)) : EINVAL;
    }
    put_body(&server->reply, &unmap, sizeof(unmap));
    return error;
}

/* As the kernel: the answer begins with how many bytes there are, whatever the client has room for. */
static int command_device_info(struct remote_server *server, struct message *message)
{
    const struct {
        uint32_t argsz, flags, regions, irqs;
    } info = { 16, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI, PPU_VFU_REGIONS, PPU_VFU_IRQS };
    uint32_t argsz;

    if (!take_body(message, &argsz, sizeof(argsz)) || argsz < sizeof(info)) {
        return EINVAL;
    }
    put_body(&server->reply, &info, sizeof(info));
    return 0;
}

/* Which part of a region can be mapped, when it is not all of it. */
static void put_mappable_part(struct reply *reply, const struct remote_region *region)
{
    const struct vfio_region_info_cap_sparse_mmap head = {
        .header = { .id = VFIO_REGION_INFO_CAP_SPARSE_MMAP, .version = 1 }, .nr_areas = 1
    };
    const struct vfio_region_sparse_mmap_area area = { region->map_offset, region->map_bytes };

    put_body(reply, &head, sizeof(head));
    put_body(reply, &area, sizeof(area));
}

static int command_region_info(struct remote_server *server, struct message *message)
{
    struct vfio_region_info info;

    if (!take_body(message, &info, sizeof(info)) || info.argsz < sizeof(info) || info.index >= PPU_VFU_REGIONS) {
        return EINVAL;
    }
    const struct remote_region *region = &server->region[info.index];
    const bool maps = region->fd >= 0, parts = maps && region->map_bytes != region->bytes;
    const uint32_t room = info.argsz;
    info.flags = region->bytes != 0 ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
    info.flags |= (maps ? VFIO_REGION_INFO_FLAG_MMAP : 0) | (parts ? VFIO_REGION_INFO_FLAG_CAPS : 0);
    info.argsz = (uint32_t)(sizeof(info) + (parts ? MAPPABLE_PART_BYTES : 0));
    info.cap_offset = parts && room >= info.argsz ? (uint32_t)sizeof(info) : 0;
    info.size = region->bytes;
    info.offset = region->file_offset;
    put_body(&server->reply, &info, sizeof(info));
    if (info.cap_offset != 0) {
        put_mappable_part(&server->reply, region);
    }
    server->reply.fd = region->fd;
    return 0;
}

static int command_irq_info(struct remote_server *server, struct message *message)
{
    struct vfio_irq_info info;

    if (!take_body(message, &info, sizeof(info)) || info.argsz < sizeof(info) || info.index >= PPU_VFU_IRQS) {
        return EINVAL;
    }
    const bool msix = info.index == VFIO_PCI_MSIX_IRQ_INDEX;
    info.argsz = sizeof(info);
    info.flags = msix ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE : 0;
    info.count = msix ? PPU_MAX_VECTORS : 0;
    put_body(&server->reply, &info, sizeof(info));
    return 0;
}

/* Kinds of interrupts that the function does not have can be switched off. */
static int command_set_irqs(struct remote_server *server, struct message *message)
{
    struct vfio_irq_set set;

    if (!take_body(message, &set, sizeof(set)) || set.index >= PPU_VFU_IRQS) {
        return EINVAL;
    }
    if (set.index != VFIO_PCI_MSIX_IRQ_INDEX) {
        return set.count == 0 ? 0 : EINVAL;
    }
    return vector_events_set(&server->events, &set, message->body + sizeof(set),
                             message_body_bytes(message) - sizeof(set), message->fd, message->fd_count);
}

static bool is_in_region(const struct remote_server *server, const struct ppu_vfu_access *access)
{
    if (access->region >= PPU_VFU_REGIONS || access->bytes == 0 || access->bytes > PPU_VFU_MAX_TRANSFER) {
        return false;
    }
    const uint64_t bytes = server->region[access->region].bytes;
    return access->offset <= bytes && access->bytes <= bytes - access->offset;
}

static int command_region_read(struct remote_server *server, struct message *message)
{
    struct ppu_vfu_access access;

    if (!take_body(message, &access, sizeof(access)) || !is_in_region(server, &access)) {
        return EINVAL;
    }
    struct reply *reply = &server->reply;
    put_body(reply, &access, sizeof(access));
    if (!server->ops.read(server->opaque, access.region, access.offset, reply->body + sizeof(access), access.bytes)) {
        return EIO;
    }
    reply->header.bytes += access.bytes;
    return 0;
}

static int command_region_write(struct remote_server *server, struct message *message)
{
    struct ppu_vfu_access access;

    if (!take_body(message, &access, sizeof(access)) || !is_in_region(server, &access) ||
        message_body_bytes(message) - sizeof(access) < access.bytes) {
        return EINVAL;
    }
    put_body(&server->reply, &access, sizeof(access));
    return server->ops.write(server->opaque, access.region, access.offset, message->body + sizeof(access), access.bytes)
               ? 0
               : EIO;
}

/* Vectors stay connected, as after a reset of the function by the kernel. */
static int command_reset(struct remote_server *server, struct message *message)
{
    (void)message;
    server->ops.reset(server->opaque);
    return 0;
}

typedef int command_function(struct remote_server *server, struct message *message);

static command_function *const commands[] = {
    [PPU_VFU_VERSION] = command_version,           [PPU_VFU_DMA_MAP] = command_dma_map,
    [PPU_VFU_DMA_UNMAP] = command_dma_unmap,       [PPU_VFU_DEVICE_INFO] = command_device_info,
    [PPU_VFU_REGION_INFO] = command_region_info,   [PPU_VFU_IRQ_INFO] = command_irq_info,
    [PPU_VFU_SET_IRQS] = command_set_irqs,         [PPU_VFU_REGION_READ] = command_region_read,
    [PPU_VFU_REGION_WRITE] = command_region_write, [PPU_VFU_RESET] = command_reset,
};

static int run_command(struct remote_server *server, struct message *message)
{
    const uint16_t command = message->header.command;

    if (!server->has_version && command != PPU_VFU_VERSION) {
        return EPROTO;
    }
    if (command >= PPU_ARRAY_SIZE(commands) || !commands[command]) {
        return ENOTSUP;
    }
    return commands[command](server, message);
}

/* ---- the connection ---- */

static void begin_reply(struct reply *reply, const struct ppu_vfu_header *asked)
{
    reply->header = (struct ppu_vfu_header){
        .id = asked->id, .command = asked->command, .bytes = sizeof(reply->header), .flags = PPU_VFU_REPLY
    };
    reply->sent = sizeof(reply->header);
    reply->fd = -1;
}

/* False: the client has gone. */
static bool answer(struct remote_server *server, struct message *message)
{
    struct reply *reply = &server->reply;

    begin_reply(reply, &message->header);
    int error = run_command(server, message);
    if (error != 0) {
        begin_reply(reply, &message->header);
        reply->header.flags |= PPU_VFU_ERROR;
        reply->header.error = (uint32_t)error;
    }
    const bool silent = (message->header.flags & PPU_VFU_NO_REPLY) != 0;
    message_drop(message);
    reply->sent = silent ? reply->header.bytes : 0;
    return reply_send(reply, server->socket);
}

bool remote_server_serve(struct remote_server *server)
{
    if (!reply_send(&server->reply, server->socket)) {
        return false;
    }
    for (uint32_t i = 0; i < MESSAGES_A_TURN && reply_is_sent(&server->reply); i++) {
        switch (message_receive(&server->message, server->socket)) {
        case MESSAGE_PART:
            return true;
        case MESSAGE_WHOLE:
            if (!answer(server, &server->message)) {
                return false;
            }
            break;
        case MESSAGE_WRONG:
            server->ops.complain(server->opaque, "end the connection: the client sent what is no message of vfio-user");
            return false;
        case MESSAGE_GONE:
            return false;
        }
    }
    return true;
}

bool remote_server_wants_room(const struct remote_server *server)
{
    return !reply_is_sent(&server->reply);
}

void remote_server_attach(struct remote_server *server, int socket)
{
    server->socket = socket;
    server->has_version = false;
}

bool remote_server_is_attached(const struct remote_server *server)
{
    return server->socket >= 0;
}

/* The client reads an end, and no error for what it has sent and nobody has read; whoever else has the socket open. */
static void end_connection(int socket)
{
    char thrown_away[4096];

    shutdown(socket, SHUT_RDWR);
    while (recv(socket, thrown_away, sizeof(thrown_away), MSG_DONTWAIT) > 0) {
    }
    close(socket);
}

void remote_server_detach(struct remote_server *server)
{
    if (server->socket >= 0) {
        end_connection(server->socket);
        server->socket = -1;
    }
    message_drop(&server->message);
    begin_reply(&server->reply, &server->message.header);
    vector_events_clear(&server->events);
    dma_table_clear(&server->dma);
}

bool remote_server_refuse(int socket)
{
    union {
        struct ppu_vfu_header header;
        uint8_t bytes[4096];
    } asked;
    ssize_t got = recv(socket, &asked, sizeof(asked), MSG_DONTWAIT);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(socket);
        return true;
    }
    if (got >= (ssize_t)sizeof(asked.header) && asked.header.command == PPU_VFU_VERSION) {
        const struct ppu_vfu_header busy = { .id = asked.header.id,
                                             .command = PPU_VFU_VERSION,
                                             .bytes = sizeof(busy),
                                             .flags = PPU_VFU_REPLY | PPU_VFU_ERROR,
                                             .error = EBUSY };
        (void)!send(socket, &busy, sizeof(busy), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return false;
}

/* ---- the function's side ---- */

void remote_server_raise(struct remote_server *server, uint32_t vector)
{
    vector_events_raise(&server->events, vector);
}

bool remote_server_dma_read(struct remote_server *server, uint64_t bus, void *buf, uint32_t bytes)
{
    return dma_table_read(&server->dma, bus, buf, bytes);
}

bool remote_server_dma_write(struct remote_server *server, uint64_t bus, const void *buf, uint32_t bytes)
{
    return dma_table_write(&server->dma, bus, buf, bytes);
}

void remote_server_counts(const struct remote_server *server, uint32_t *mappings, uint32_t *files)
{
    *mappings = server->dma.count;
    *files = server->dma.files.count;
}

void remote_server_set_region(struct remote_server *server, uint32_t index, const struct remote_region *region)
{
    server->region[index] = *region;
}

struct remote_server *remote_server_new(const struct remote_ops *ops, void *opaque)
{
    struct remote_server *server = calloc(1, sizeof(*server));

    if (!server) {
        return NULL;
    }
    server->ops = *ops;
    server->opaque = opaque;
    server->socket = -1;
    vector_events_init(&server->events);
    for (uint32_t i = 0; i < PPU_VFU_REGIONS; i++) {
        server->region[i].fd = -1;
    }
    server->message.body = calloc(1, PPU_VFU_BODY_BYTES);
    server->reply.body = calloc(1, PPU_VFU_BODY_BYTES);
    if (!server->message.body || !server->reply.body) {
        remote_server_free(server);
        return NULL;
    }
    begin_reply(&server->reply, &server->message.header);
    return server;
}

void remote_server_free(struct remote_server *server)
{
    if (server) {
        remote_server_detach(server);
        free(server->message.body);
        free(server->reply.body);
        free(server);
    }
}
