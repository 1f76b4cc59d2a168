/* SPDX-License-Identifier: MIT */
/* Speaks vfio-user word by word, right or wrong, for tests of servers. */
#ifndef TESTS_REMOTE_CLIENT_H
#define TESTS_REMOTE_CLIENT_H

#include <stddef.h>

#include "ppu/vfio_user.h"

/* What came back; `fd` is -1 when none came along. */
struct client_reply {
    struct ppu_vfu_header header;
    uint8_t body[PPU_VFU_BODY_BYTES];
    int fd;
};

/* Sends one message in one piece; the header's id and number of bytes are made up. */
void client_send(int socket, uint16_t command, uint32_t flags, const void *body, size_t bytes, const int *fds,
                 size_t fd_count);
/* Receives one message, waiting for it; 0: the server has closed the connection. */
size_t client_receive(int socket, struct client_reply *reply);
/* The body of a VERSION that a server takes; returns its bytes. */
size_t client_version(uint8_t body[128]);

#endif
