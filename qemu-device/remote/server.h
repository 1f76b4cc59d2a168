/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves a PCI function to a client by vfio-user. The server owns what the client has given it: mapped memory, eventfds
 * of vectors, half a message. The function itself is behind operations, so nothing here knows of QEMU.
 *
 * All of it runs under one lock, which is the caller's. Whatever a client sends gets an error or ends the connection;
 * it makes no function wait.
 */
#ifndef QEMU_DEVICE_REMOTE_SERVER_H
#define QEMU_DEVICE_REMOTE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/vfio_user.h"

struct remote_server;

/* A region of the function. What can be mapped is in a file, at the offset that it has in the region, from
 * `file_offset` on. */
struct remote_region {
    uint64_t bytes; /* 0: the function has no such region */
    int fd;         /* -1: nothing can be mapped */
    uint64_t file_offset;
    uint64_t map_offset; /* the part that can be mapped */
    uint64_t map_bytes;
};

struct remote_ops {
    /* An access inside of the region. False: the function does not take it. */
    bool (*read)(void *opaque, uint32_t region, uint64_t offset, void *buf, uint32_t bytes);
    bool (*write)(void *opaque, uint32_t region, uint64_t offset, const void *buf, uint32_t bytes);
    void (*reset)(void *opaque);
    /* The client did what no right client does; a sentence for a person. */
    void (*complain)(void *opaque, const char *sentence);
};

/* NULL: no memory. */
struct remote_server *remote_server_new(const struct remote_ops *ops, void *opaque);
void remote_server_free(struct remote_server *server);
/* What is there from now on; the descriptor stays the caller's. */
void remote_server_set_region(struct remote_server *server, uint32_t index, const struct remote_region *region);

/* A client has connected; the socket is the server's, until it is detached. */
void remote_server_attach(struct remote_server *server, int socket);
bool remote_server_is_attached(const struct remote_server *server);
/* Ends the connection, and forgets all that was the client's. */
void remote_server_detach(struct remote_server *server);
/*
 * Tells a client that there is another, as the answer to its VERSION, and leaves it to the client to close: QEMU's is
 * ended by a server that does. True: the client has gone, and the socket is closed.
 */
bool remote_server_refuse(int socket);

/* The socket can be read or written: serves some messages. False: the connection is to be ended. */
bool remote_server_serve(struct remote_server *server);
/* A reply did not fit the socket. Until it has gone no message is read. */
bool remote_server_wants_room(const struct remote_server *server);

/* An MSI-X vector was raised. */
void remote_server_raise(struct remote_server *server, uint32_t vector);
/* Accesses of the function to the client's memory. False: the client has not mapped all of it. */
bool remote_server_dma_read(struct remote_server *server, uint64_t bus, void *buf, uint32_t bytes);
bool remote_server_dma_write(struct remote_server *server, uint64_t bus, const void *buf, uint32_t bytes);
/* For a person: mappings of memory, files of memory. */
void remote_server_counts(const struct remote_server *server, uint32_t *mappings, uint32_t *files);

#endif
