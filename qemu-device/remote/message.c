/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "qemu-device/remote/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_BYTES ((uint32_t)sizeof(struct ppu_vfu_header))

union descriptors {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(PPU_VFU_MAX_FDS * sizeof(int))];
};

/* False: there are more than a message may have. */
static bool take_descriptors(struct message *message, struct msghdr *received)
{
    bool fit = (received->msg_flags & MSG_CTRUNC) == 0;

    for (struct cmsghdr *control = CMSG_FIRSTHDR(received); control; control = CMSG_NXTHDR(received, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(control) + i * sizeof(fd), sizeof(fd));
            if (message->fd_count < PPU_VFU_MAX_FDS) {
                message->fd[message->fd_count++] = fd;
            } else {
                close(fd);
                fit = false;
            }
        }
    }
    return fit;
}

/* Exactly the next part, so that no descriptor of the next message comes along. MESSAGE_WHOLE: it is complete. */
static enum message_state receive_part(struct message *message, int socket, uint8_t *to, uint32_t bytes)
{
    union descriptors control;
    struct iovec part = { .iov_base = to, .iov_len = bytes };
    struct msghdr received = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };
    ssize_t got = recvmsg(socket, &received, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (got < 0) {
        return errno == EAGAIN || errno == EINTR ? MESSAGE_PART : MESSAGE_GONE;
    }
    if (!take_descriptors(message, &received)) {
        return MESSAGE_WRONG;
    }
    message->received += (uint32_t)got;
    if (got == 0) {
        return MESSAGE_GONE;
    }
    return (uint32_t)got == bytes ? MESSAGE_WHOLE : MESSAGE_PART;
}

static bool header_is_usable(const struct ppu_vfu_header *header)
{
    return (header->flags & PPU_VFU_TYPE) == 0 && header->bytes >= HEADER_BYTES &&
           header->bytes - HEADER_BYTES <= PPU_VFU_BODY_BYTES;
}

enum message_state message_receive(struct message *message, int socket)
{
    enum message_state state = MESSAGE_WHOLE;

    if (message->received < HEADER_BYTES) {
        state = receive_part(message, socket, (uint8_t *)&message->header + message->received,
                             HEADER_BYTES - message->received);
        if (state == MESSAGE_WHOLE && !header_is_usable(&message->header)) {
            return MESSAGE_WRONG;
        }
    }
    if (state == MESSAGE_WHOLE && message->received < message->header.bytes) {
        state = receive_part(message, socket, message->body + (message->received - HEADER_BYTES),
                             message->header.bytes - message->received);
    }
    return state;
}

void message_drop(struct message *message)
{
    for (uint32_t i = 0; i < message->fd_count; i++) {
        if (message->fd[i] >= 0) {
            close(message->fd[i]);
        }
    }
    message->fd_count = message->received = 0;
}

/* What has not been sent yet, of the header and of the body. */
static size_t rest_of(struct reply *reply, struct iovec parts[2])
{
    if (reply->sent >= HEADER_BYTES) {
        parts[0] = (struct iovec){ reply->body + (reply->sent - HEADER_BYTES), reply->header.bytes - reply->sent };
        return 1;
    }
    parts[0] = (struct iovec){ (uint8_t *)&reply->header + reply->sent, HEADER_BYTES - reply->sent };
    parts[1] = (struct iovec){ reply->body, reply->header.bytes - HEADER_BYTES };
    return 2;
}

bool reply_send(struct reply *reply, int socket)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };

    while (!reply_is_sent(reply)) {
        struct iovec parts[2];
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = rest_of(reply, parts) };
        if (reply->fd >= 0 && reply->sent == 0) {
            memcpy(CMSG_DATA(&control.head), &reply->fd, sizeof(reply->fd));
            message.msg_control = &control;
            message.msg_controllen = sizeof(control);
        }
        ssize_t sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        reply->sent += (uint32_t)sent;
    }
    return true;
}
