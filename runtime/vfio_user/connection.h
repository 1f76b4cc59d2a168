/* SPDX-License-Identifier: MIT */
/* Speaks vfio-user with the process that has a PPU (ppu/vfio_user.h), as a client. */
#ifndef RUNTIME_VFIO_USER_CONNECTION_H
#define RUNTIME_VFIO_USER_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "ppu/vfio_user.h"

struct connection {
    int socket;           /* -1: none */
    pthread_mutex_t lock; /* of all below, and of the order of messages */
    uint16_t last_id;
    bool gone;
};

/* A request and room for its reply. What is not named is zero, but for the descriptors. */
struct request {
    uint16_t command;
    const void *body;
    size_t body_bytes;
    const void *data; /* behind the body */
    size_t data_bytes;
    const int *fds; /* stay the caller's */
    size_t fd_count;
    void *reply; /* body of the reply; as many bytes must come */
    size_t reply_bytes;
    void *reply_data; /* behind it; no more bytes may come */
    size_t reply_data_bytes;
    int *reply_fd; /* a descriptor that comes along, else -1; NULL: none is wanted */
};

/* False with errno: nobody listens there. */
bool connection_open(struct connection *connection, const char *path);
void connection_close(struct connection *connection);
/* Returns 0 or a number of errno: the server's, or EPIPE when it has gone or sent what is no answer. */
int connection_ask(struct connection *connection, const struct request *request);
/* The server takes it before whatever is asked later, and says nothing. */
void connection_post(struct connection *connection, const struct request *request);
bool connection_is_gone(struct connection *connection);

#endif
