/* SPDX-License-Identifier: MIT */
#include "runtime/native/mailbox.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "runtime/look.h"

#define ALL_VECTORS (~0u)
#define SETTLE_LOOK_NS 20000u

/* Bytes say nothing; when they fill the socket, QEMU has some to read and will look. */
static void wake_up(const struct mailbox *mailbox)
{
    const uint8_t byte = 0;

    (void)!send(mailbox->notify, &byte, sizeof(byte), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool mailbox_settle(const struct mailbox *mailbox, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = deadline_after(timeout_ns);

    while (!ppu_mailbox_may_reach(mailbox->shared)) {
        if (deadline_left(deadline_ns) == 0) {
            return false;
        }
        sleep_ns(SETTLE_LOOK_NS);
    }
    return true;
}

void mailbox_ring(struct mailbox *mailbox, uint32_t channel, uint32_t put)
{
    ppu_mailbox_quiet(mailbox->shared, false);
    if (!ppu_mailbox_ring(mailbox->shared, channel, put)) {
        wake_up(mailbox);
    }
}

/* Takes the bytes that are there. False: QEMU has gone. */
static bool drain(int fd)
{
    uint8_t bytes[512];
    ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Bytes may be there for vectors that were taken long ago. */
static uint32_t sleep_until(struct mailbox *mailbox, uint64_t deadline_ns)
{
    struct pollfd poll_fd = { .fd = mailbox->notify, .events = POLLIN };
    uint32_t vectors = 0;

    while ((vectors = ppu_mailbox_take(&mailbox->shared->vectors)) == 0) {
        uint64_t left_ns = deadline_left(deadline_ns);
        struct timespec timeout = { .tv_sec = (time_t)(left_ns / NS_PER_S), .tv_nsec = (long)(left_ns % NS_PER_S) };
        if (ppoll(&poll_fd, 1, &timeout, NULL) <= 0) {
            break;
        }
        if (!drain(mailbox->notify)) {
            return ALL_VECTORS;
        }
        if (left_ns == 0) { /* bytes may come without an end */
            return ppu_mailbox_take(&mailbox->shared->vectors);
        }
    }
    return vectors;
}

uint32_t mailbox_wait(struct mailbox *mailbox, uint64_t timeout_ns)
{
    uint64_t began_ns = clock_ns();
    uint64_t deadline_ns = deadline_after(timeout_ns);
    uint32_t vectors = look_for_vectors(mailbox->shared, &mailbox->poll, began_ns, timeout_ns);

    if (vectors == 0) {
        vectors = sleep_until(mailbox, deadline_ns);
    }
    ppu_poll_end(&mailbox->poll, clock_ns() - began_ns);
    return vectors;
}
