/* SPDX-License-Identifier: MIT */
/* Ends the connections of a server's clients in order when the server has died (include/ppu/guard.h). */
#define _GNU_SOURCE
#include "tools/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "ppu/guard.h"

/* -1: the PPU has no client. */
static int clients[PPU_GUARD_CLIENTS];

/*
 * A socket that is closed with unread data in it gives its peer an error. The shutdown comes first: nothing can be
 * added then to what is thrown away.
 */
static void end_connection(uint32_t ppu)
{
    char thrown_away[4096];

    if (clients[ppu] >= 0) {
        shutdown(clients[ppu], SHUT_RDWR);
        while (recv(clients[ppu], thrown_away, sizeof(thrown_away), MSG_DONTWAIT) > 0) {
        }
        close(clients[ppu]);
        clients[ppu] = -1;
    }
}

static int socket_of(struct msghdr *head)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(head);
    int socket = -1;

    if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof(socket))) {
        memcpy(&socket, CMSG_DATA(control), sizeof(socket));
    }
    return socket;
}

/* False: the server has gone. */
static bool hear(int server)
{
    struct ppu_guard_message message = { 0 };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = { &message, sizeof(message) };
    struct msghdr head = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };
    ssize_t got = recvmsg(server, &head, MSG_CMSG_CLOEXEC);

    if (got < 0 && errno == EINTR) {
        return true;
    }
    if (got != (ssize_t)sizeof(message) || message.ppu >= PPU_GUARD_CLIENTS) {
        return got > 0;
    }
    end_connection(message.ppu);
    clients[message.ppu] = socket_of(&head);
    return true;
}

/* Nothing else that was inherited stays open: somebody may wait for its end. */
static void keep_only(int descriptor)
{
    if (descriptor > 0) {
        (void)close_range(0, (unsigned)descriptor - 1, 0);
    }
    (void)close_range((unsigned)descriptor + 1, ~0u, 0);
}

static _Noreturn void guard(int server)
{
    setsid(); /* what ends the server from a terminal is not for the guard */
    keep_only(server);
    if (!confine_rights(false) && !confine_files(NULL, 0) && !confine_calls(false)) {
        while (hear(server)) {
        }
        for (uint32_t i = 0; i < PPU_GUARD_CLIENTS; i++) {
            end_connection(i);
        }
    }
    _exit(0);
}

const char *confine_guard(int descriptor)
{
    int ends[2];

    if (fcntl(descriptor, F_GETFD) >= 0) {
        errno = EBUSY;
        return "start a guard";
    }
    /* Messages keep their borders; the server's end goes on to what is executed. */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
        return "start a guard";
    }
    memset(clients, 0xff, sizeof(clients));
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        guard(ends[1]);
    }
    close(ends[1]);
    if (pid < 0 || dup2(ends[0], descriptor) < 0) {
        return "start a guard";
    }
    close(ends[0]);
    return NULL;
}
