/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/remote/guard.h"

#include <string.h>
#include <sys/socket.h>

#include "ppu/guard.h"

void guard_client_comes(int guard, uint32_t ppu, int client)
{
    struct ppu_guard_message message = { .ppu = ppu, .comes = 1 };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
    struct iovec data = { &message, sizeof(message) };
    const struct msghdr head = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };

    if (guard >= 0) {
        memcpy(CMSG_DATA(&control.head), &client, sizeof(client));
        (void)!sendmsg(guard, &head, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void guard_client_goes(int guard, uint32_t ppu)
{
    const struct ppu_guard_message message = { .ppu = ppu };

    if (guard >= 0) {
        (void)!send(guard, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}
