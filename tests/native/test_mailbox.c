/* SPDX-License-Identifier: MIT */
/*
 * Tests the mailbox between a client and the device, with a thread in the place of the device, and how long the two
 * look before they sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/deadline.h"
#include "runtime/native/mailbox.h"
#include "tests/firmware/random.h"

#define LOST_NS (20 * NS_PER_S) /* whoever sleeps so long was not woken up */
#define RINGERS 3u
#define RINGS 20000u
#define RAISES 20000u
#define SHORT_WAITS 8u

struct box {
    struct ppu_mailbox shared;
    struct mailbox client;
    int far; /* the device's end of the socket */
    uint64_t seed;
    uint32_t last[PPU_MAX_CHANNELS]; /* GP_PUT that the device took of each channel */
    uint32_t put[PPU_MAX_CHANNELS];  /* and that was rung */
    bool looked;                     /* the device's thread saw the client look */
    bool over;
};

static int box_open(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    int pair[2];

    *state = box;
    if (!box || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    box->client = (struct mailbox){ .shared = &box->shared, .notify = pair[0] };
    box->far = pair[1];
    box->seed = random_seed();
    return 0;
}

static int box_close(void **state)
{
    struct box *box = *state;

    close(box->client.notify);
    if (box->far >= 0) {
        close(box->far);
    }
    free(box);
    return 0;
}

/* ---- the device's side ---- */

static void device_take_word(struct box *box, uint32_t word)
{
    for (uint32_t rung = ppu_mailbox_take(&box->shared.rung[word]); rung != 0; rung &= rung - 1) {
        uint32_t channel = 32 * word + (uint32_t)__builtin_ctz(rung);
        uint32_t put = ppu_mailbox_put(&box->shared, channel);
        assert_true(put >= box->last[channel]);
        box->last[channel] = put;
    }
}

/* False: nothing was there. A channel's GP_PUT never goes back here. */
static bool device_take(struct box *box)
{
    const bool any = ppu_mailbox_is_rung(&box->shared);

    for (uint32_t i = 0; i < PPU_MAILBOX_SUMMARY; i++) {
        for (uint32_t words = ppu_mailbox_take(&box->shared.words[i]); words != 0; words &= words - 1) {
            device_take_word(box, 32 * i + (uint32_t)__builtin_ctz(words));
        }
    }
    return any;
}

static bool device_sleep(const struct box *box)
{
    struct pollfd poll_fd = { .fd = box->far, .events = POLLIN };
    uint8_t bytes[64];

    return poll(&poll_fd, 1, (int)(LOST_NS / NS_PER_MS)) == 1 && read(box->far, bytes, sizeof(bytes)) > 0;
}

/* Looks a few times, sleeps when that was in vain; until `over` is written and nothing is left. */
static void *device_serve(void *opaque)
{
    struct box *box = opaque;
    uint64_t seed = box->seed + 1;

    for (;;) {
        bool any = false;
        ppu_mailbox_look(&box->shared.device_looks, true);
        for (uint32_t left = random_below(&seed, 50); left > 0 && !any; left--) {
            any = device_take(box);
            sched_yield();
        }
        ppu_mailbox_look(&box->shared.device_looks, false);
        if (device_take(box) || any) {
            continue;
        }
        if (__atomic_load_n(&box->over, __ATOMIC_ACQUIRE)) {
            return box;
        }
        if (!device_sleep(box)) {
            return NULL;
        }
    }
}

struct ringer {
    struct box *box;
    uint32_t number;
};

/* Each has channels of its own, in the same words as the others'. */
static void *ring(void *opaque)
{
    const struct ringer *ringer = opaque;
    struct box *box = ringer->box;
    uint64_t seed = box->seed + 2 + ringer->number;

    for (uint32_t i = 0; i < RINGS; i++) {
        uint32_t channel = random_below(&seed, PPU_MAX_CHANNELS / RINGERS) * RINGERS + ringer->number;
        mailbox_ring(&box->client, channel, ++box->put[channel]);
        for (uint32_t pause = random_below(&seed, 100); pause > 97; pause--) {
            sched_yield();
        }
    }
    return NULL;
}

static void every_ring_is_seen(void **state)
{
    struct box *box = *state;
    struct ringer ringers[RINGERS];
    pthread_t device, threads[RINGERS];
    const uint8_t byte = 0;
    void *found = NULL;

    assert_int_equal(pthread_create(&device, NULL, device_serve, box), 0);
    for (uint32_t i = 0; i < RINGERS; i++) {
        ringers[i] = (struct ringer){ box, i };
        assert_int_equal(pthread_create(&threads[i], NULL, ring, &ringers[i]), 0);
    }
    for (uint32_t i = 0; i < RINGERS; i++) {
        pthread_join(threads[i], NULL);
    }
    __atomic_store_n(&box->over, true, __ATOMIC_RELEASE);
    /* Where there is no room, because the device has ended already or is behind, it needs no more to wake up. */
    (void)!send(box->client.notify, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    pthread_join(device, &found);
    assert_non_null(found);
    assert_memory_equal(box->last, box->put, sizeof(box->put));
}

/* ---- vectors ---- */

static void device_raise(const struct box *box, uint32_t vectors)
{
    const uint8_t byte = 0;

    if (!ppu_mailbox_raise((struct ppu_mailbox *)&box->shared, vectors)) {
        (void)!send(box->far, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

/* One vector after the other, each when the client has taken the one before. */
static void *raise_many(void *opaque)
{
    struct box *box = opaque;
    uint64_t seed = box->seed + 1;

    for (uint32_t i = 0; i < RAISES; i++) {
        uint64_t deadline_ns = deadline_after(LOST_NS);
        for (uint32_t pause = random_below(&seed, 200); pause > 190; pause--) {
            sched_yield();
        }
        device_raise(box, 1u << i % PPU_MAX_VECTORS);
        while (__atomic_load_n(&box->shared.vectors, __ATOMIC_ACQUIRE) != 0) {
            if (deadline_left(deadline_ns) == 0) {
                return NULL;
            }
            sched_yield();
        }
    }
    return box;
}

static void every_vector_is_seen(void **state)
{
    struct box *box = *state;
    pthread_t device;
    void *done = NULL;

    assert_int_equal(pthread_create(&device, NULL, raise_many, box), 0);
    for (uint32_t i = 0; i < RAISES; i++) {
        assert_int_equal(mailbox_wait(&box->client, LOST_NS), 1u << i % PPU_MAX_VECTORS);
    }
    pthread_join(device, &done);
    assert_non_null(done);
}

static void several_at_once(void **state)
{
    struct box *box = *state;

    device_raise(box, 1);
    device_raise(box, 0x80000000u);
    assert_int_equal(mailbox_wait(&box->client, LOST_NS), 0x80000001u);
    assert_int_equal(mailbox_wait(&box->client, NS_PER_MS), 0); /* bytes are left, vectors are not */
}

static void gone(void **state)
{
    struct box *box = *state;

    close(box->far);
    box->far = -1;
    assert_int_equal(mailbox_wait(&box->client, LOST_NS), ~0u);
    mailbox_ring(&box->client, 0, 1);
}

/* ---- how long it looks ---- */

struct later {
    struct box *box;
    uint64_t delay_ns;
};

static void *raise_later(void *opaque)
{
    const struct later *later = opaque;
    uint64_t deadline_ns = deadline_after(later->delay_ns);

    while (deadline_left(deadline_ns) != 0) {
        if (ppu_mailbox_is_looked_at(&later->box->shared.client_looks)) {
            later->box->looked = true;
        }
        sched_yield();
    }
    device_raise(later->box, 1);
    return NULL;
}

/* The client waits for a vector that comes later; how long, which may be less when this thread comes late. */
static uint64_t wait_long(struct box *box)
{
    struct later later = { box, 5 * NS_PER_MS };
    pthread_t device;

    box->looked = false;
    assert_int_equal(pthread_create(&device, NULL, raise_later, &later), 0);
    uint64_t before_ns = clock_ns();
    assert_int_equal(mailbox_wait(&box->client, LOST_NS), 1);
    uint64_t waited_ns = clock_ns() - before_ns;
    pthread_join(device, NULL);
    return waited_ns;
}

/* One look at the socket when the time is over: a QEMU that sends and sends could keep the client for ever. */
static void bytes_without_end(void **state)
{
    struct box *box = *state;
    uint8_t bytes[8192] = { 0 };

    assert_int_equal(send(box->far, bytes, sizeof(bytes), 0), sizeof(bytes));
    assert_int_equal(mailbox_wait(&box->client, 0), 0);
    assert_true(recv(box->client.notify, bytes, sizeof(bytes), MSG_DONTWAIT) > 0);
}

static void long_waits_sleep(void **state)
{
    struct box *box = *state;
    uint32_t long_waits = 0;

    box->client.poll.window_ns = PPU_POLL_MOST_NS;
    for (uint64_t deadline_ns = deadline_after(LOST_NS); long_waits < 10;) {
        bool may_look = box->client.poll.window_ns != 0;
        assert_true(deadline_left(deadline_ns) != 0);
        if (wait_long(box) > 2ull * PPU_POLL_MOST_NS) {
            assert_int_equal(box->client.poll.window_ns, 0);
            assert_true(may_look || !box->looked);
            long_waits += !may_look;
        }
    }
}

static void in_vain_it_sleeps(void **state)
{
    struct box *box = *state;

    box->client.poll.window_ns = PPU_POLL_MOST_NS;
    assert_int_equal(mailbox_wait(&box->client, NS_PER_MS), 0);
    assert_int_equal(box->shared.client_looks, 0);
    assert_int_equal(box->client.poll.window_ns, 0);
}

static void grows(void **state)
{
    struct ppu_poll poll = { 0 };
    uint32_t before = 0;
    (void)state;

    assert_int_equal(ppu_poll_begin(&poll, 1), 0);
    for (uint32_t i = 0; i < SHORT_WAITS; i++) {
        before = poll.window_ns;
        ppu_poll_end(&poll, PPU_POLL_MOST_NS);
        assert_true(poll.window_ns > before || before == PPU_POLL_MOST_NS);
        assert_in_range(poll.window_ns, PPU_POLL_FIRST_NS, PPU_POLL_MOST_NS);
    }
    assert_int_equal(before, PPU_POLL_MOST_NS);
    ppu_poll_end(&poll, 1);
    assert_int_equal(ppu_poll_begin(&poll, 1), PPU_POLL_MOST_NS);
    ppu_poll_end(&poll, PPU_POLL_MOST_NS + 1);
    assert_int_equal(ppu_poll_begin(&poll, 1), 0);
}

static void crowded(void **state)
{
    struct ppu_poll poll = { .window_ns = PPU_POLL_MOST_NS };
    uint64_t now_ns = 3 * NS_PER_S, pause_ns = PPU_POLL_LEAST_PAUSE_NS;
    (void)state;

    assert_int_equal(ppu_poll_begin(&poll, now_ns), PPU_POLL_MOST_NS);
    for (uint32_t i = 0; i < 12; i++) {
        ppu_poll_crowded(&poll, now_ns);
        ppu_poll_end(&poll, 1);
        assert_int_equal(ppu_poll_begin(&poll, now_ns + pause_ns - 1), 0);
        assert_int_equal(ppu_poll_begin(&poll, now_ns + pause_ns), PPU_POLL_MOST_NS);
        now_ns += 2 * pause_ns; /* it looks for as long as it has paused */
        pause_ns = 2 * pause_ns < PPU_POLL_MOST_PAUSE_NS ? 2 * pause_ns : PPU_POLL_MOST_PAUSE_NS;
    }
    ppu_poll_crowded(&poll, now_ns + 1);
    assert_int_equal(poll.pause_ns, PPU_POLL_LEAST_PAUSE_NS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "every doorbell is seen, looked for or told [A1]", every_ring_is_seen, box_open, box_close, NULL },
        { "every vector is seen, looked for or told [A1]", every_vector_is_seen, box_open, box_close, NULL },
        { "vectors that came before the wait, all at once", several_at_once, box_open, box_close, NULL },
        { "a device that has gone is all vectors", gone, box_open, box_close, NULL },
        { "bytes without an end do not make a wait longer", bytes_without_end, box_open, box_close, NULL },
        { "waits longer than the window have no look [A3]", long_waits_sleep, box_open, box_close, NULL },
        { "after a look in vain there is none [A3]", in_vain_it_sleeps, box_open, box_close, NULL },
        { "the window grows with short waits, up to its end, and is zero after a long one [A3]", grows, NULL, NULL,
          NULL },
        { "on a crowded processor nobody looks, longer each time, and not so long when it is not [A3]", crowded, NULL,
          NULL, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
