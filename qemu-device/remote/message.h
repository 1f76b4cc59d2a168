/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives the messages of a client, which come in pieces of any length, and sends replies, as far as sockets have
 * room. */
#ifndef QEMU_DEVICE_REMOTE_MESSAGE_H
#define QEMU_DEVICE_REMOTE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/vfio_user.h"

enum message_state {
    MESSAGE_PART,  /* the rest has not come yet */
    MESSAGE_WHOLE, /* until message_drop() */
    MESSAGE_GONE,  /* the client has closed its end */
    MESSAGE_WRONG, /* no message begins like that; what follows cannot be understood */
};

/* A message that comes in. Zeros at first, but for `body`. */
struct message {
    struct ppu_vfu_header header;
    uint32_t received; /* bytes */
    uint32_t fd_count;
    int fd[PPU_VFU_MAX_FDS]; /* descriptors that came with it; -1: somebody else has it */
    uint8_t *body;           /* PPU_VFU_BODY_BYTES */
};

/* Receives without waiting. */
enum message_state message_receive(struct message *message, int socket);
/* Forgets the message and closes its descriptors. */
void message_drop(struct message *message);
static inline uint32_t message_body_bytes(const struct message *message)
{
    return message->header.bytes - (uint32_t)sizeof(message->header);
}

/* A reply that goes out. Zeros at first, but for `body`. */
struct reply {
    struct ppu_vfu_header header;
    uint32_t sent; /* bytes; equal to header.bytes: all */
    int fd;        /* goes along, and stays ours; -1: none */
    uint8_t *body; /* PPU_VFU_BODY_BYTES */
};

static inline bool reply_is_sent(const struct reply *reply)
{
    return reply->sent == reply->header.bytes;
}
/* Sends what there is room for. False: the client has gone. */
bool reply_send(struct reply *reply, int socket);

#endif
