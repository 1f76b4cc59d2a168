/* SPDX-License-Identifier: MIT */
#include "tests/remote/client.h"

#include <string.h>
#include <sys/socket.h>

#include "ppu/macros.h"

static uint16_t last_id;

void client_send(int socket, uint16_t command, uint32_t flags, const void *body, size_t bytes, const int *fds,
                 size_t fd_count)
{
    struct ppu_vfu_header header = {
        .id = ++last_id, .command = command, .bytes = (uint32_t)(sizeof(header) + bytes), .flags = flags
    };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(4 * PPU_VFU_MAX_FDS * sizeof(int))];
    } control = {
        .head = { .cmsg_len = CMSG_LEN(fd_count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)(uintptr_t)body, bytes } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

    if (fd_count != 0) {
        memcpy(CMSG_DATA(&control.head), fds, fd_count * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    }
    (void)!sendmsg(socket, &message, MSG_NOSIGNAL);
}

size_t client_receive(int socket, struct client_reply *reply)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { &reply->header, sizeof(reply->header) };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };

    reply->fd = -1;
    if (recvmsg(socket, &message, MSG_WAITALL) != (ssize_t)sizeof(reply->header)) {
        return 0;
    }
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first) {
        memcpy(&reply->fd, CMSG_DATA(first), sizeof(reply->fd));
    }
    const size_t bytes = reply->header.bytes - sizeof(reply->header);
    return bytes == 0 || recv(socket, reply->body, bytes, MSG_WAITALL) == (ssize_t)bytes ? reply->header.bytes : 0;
}

size_t client_version(uint8_t body[128])
{
    static const char text[] = "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576}}";
    const struct ppu_vfu_version version = { PPU_VFU_MAJOR, PPU_VFU_MINOR };

    memcpy(body, &version, sizeof(version));
    memcpy(body + sizeof(version), text, sizeof(text));
    return sizeof(version) + sizeof(text);
}
