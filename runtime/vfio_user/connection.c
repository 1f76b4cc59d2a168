/* SPDX-License-Identifier: MIT */
#include "runtime/vfio_user/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ppu/macros.h"

#define HEADER_BYTES sizeof(struct ppu_vfu_header)
#define CLOSE_PATIENCE_MS 5000 /* until the server has reset the PPU and closed its end */

bool connection_open(struct connection *connection, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return false;
    }
    connection->socket = fd;
    return true;
}

/* The next client finds the PPU free when this returns. */
void connection_close(struct connection *connection)
{
    if (connection->socket < 0) {
        return;
    }
    struct pollfd end = { .fd = connection->socket, .events = POLLIN };
    char rest[256];

    shutdown(connection->socket, SHUT_WR);
    while (poll(&end, 1, CLOSE_PATIENCE_MS) > 0 && recv(connection->socket, rest, sizeof(rest), MSG_DONTWAIT) > 0) {
    }
    close(connection->socket);
    connection->socket = -1;
}

/* ---- sending ---- */

static void skip_sent(struct msghdr *message, size_t bytes)
{
    while (message->msg_iovlen > 0 && bytes >= message->msg_iov->iov_len) {
        bytes -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (message->msg_iovlen > 0) {
        message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + bytes;
        message->msg_iov->iov_len -= bytes;
    }
}

/* False: the server has gone. */
static bool send_request(struct connection *connection, const struct request *request, uint32_t flags)
{
    struct ppu_vfu_header header = {
        .id = ++connection->last_id,
        .command = request->command,
        .bytes = (uint32_t)(HEADER_BYTES + request->body_bytes + request->data_bytes),
        .flags = flags,
    };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PPU_VFU_MAX_FDS * sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(request->fd_count * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
    struct iovec parts[3] = { { &header, HEADER_BYTES },
                              { (void *)(uintptr_t)request->body, request->body_bytes },
                              { (void *)(uintptr_t)request->data, request->data_bytes } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = PPU_ARRAY_SIZE(parts) };

    if (request->fd_count > 0) {
        memcpy(CMSG_DATA(&control.head), request->fds, request->fd_count * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(request->fd_count * sizeof(int));
    }
    while (message.msg_iovlen > 0) {
        ssize_t sent = sendmsg(connection->socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        if (sent > 0) {
            skip_sent(&message, (size_t)sent);
            message.msg_control = NULL;
            message.msg_controllen = 0;
        }
    }
    return true;
}

/* ---- receiving ---- */

/* Keeps the first descriptor where one is wanted, and no other. */
static void take_descriptors(struct msghdr *received, int *wanted)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(received); control; control = CMSG_NXTHDR(received, control)) {
        size_t count = control->cmsg_type == SCM_RIGHTS ? (control->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(control) + i * sizeof(fd), sizeof(fd));
            if (wanted && *wanted < 0) {
                *wanted = fd;
            } else {
                close(fd);
            }
        }
    }
}

/* False: the server has gone. */
static bool receive_bytes(struct connection *connection, void *to, size_t bytes, int *fd)
{
    while (bytes > 0) {
        union {
            struct cmsghdr head;
            char bytes[CMSG_SPACE(PPU_VFU_MAX_FDS * sizeof(int))];
        } control;
        struct iovec part = { to, bytes };
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
        };
        ssize_t got = recvmsg(connection->socket, &message, MSG_CMSG_CLOEXEC);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        if (got > 0) {
            take_descriptors(&message, fd);
            to = (char *)to + got;
            bytes -= (size_t)got;
        }
    }
    return true;
}

/* What follows a header that is no reply to the request cannot be understood. */
static bool is_reply(const struct connection *connection, const struct request *request,
                     const struct ppu_vfu_header *header)
{
    const bool failed = (header->flags & PPU_VFU_ERROR) != 0;
    const size_t most = HEADER_BYTES + request->reply_bytes + request->reply_data_bytes;

    return (header->flags & PPU_VFU_TYPE) == PPU_VFU_REPLY && header->command == request->command &&
           header->bytes >= HEADER_BYTES && (failed ? header->bytes == HEADER_BYTES : header->bytes <= most) &&
           header->id == connection->last_id;
}

static int receive_reply(struct connection *connection, const struct request *request)
{
    struct ppu_vfu_header header;

    if (!receive_bytes(connection, &header, HEADER_BYTES, request->reply_fd) ||
        !is_reply(connection, request, &header)) {
        return EPIPE;
    }
    if ((header.flags & PPU_VFU_ERROR) != 0) {
        return header.error != 0 ? (int)header.error : EPIPE;
    }
    const size_t bytes = header.bytes - HEADER_BYTES;
    if (bytes < request->reply_bytes ||
        !receive_bytes(connection, request->reply, request->reply_bytes, request->reply_fd) ||
        !receive_bytes(connection, request->reply_data, bytes - request->reply_bytes, request->reply_fd)) {
        return EPIPE;
    }
    return 0;
}

/* ---- requests ---- */

int connection_ask(struct connection *connection, const struct request *request)
{
    int error = EPIPE;

    if (request->reply_fd) {
        *request->reply_fd = -1;
    }
    pthread_mutex_lock(&connection->lock);
    if (!connection->gone) {
        error = send_request(connection, request, 0) ? receive_reply(connection, request) : EPIPE;
        connection->gone = error == EPIPE;
    }
    pthread_mutex_unlock(&connection->lock);
    return error;
}

void connection_post(struct connection *connection, const struct request *request)
{
    pthread_mutex_lock(&connection->lock);
    if (!connection->gone) {
        connection->gone = !send_request(connection, request, PPU_VFU_NO_REPLY);
    }
    pthread_mutex_unlock(&connection->lock);
}

bool connection_is_gone(struct connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    bool gone = connection->gone;
    pthread_mutex_unlock(&connection->lock);
    return gone;
}
