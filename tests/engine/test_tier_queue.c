/* SPDX-License-Identifier: MIT */
/* Checks the order in which a device asks for translations. A peer is in place of the program that translates. */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/tier/unit.h"
#include "tests/engine/rig.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 64u
#define FIRST 1u /* the loop whose answer takes long: the others are asked for meanwhile */
#define SMS 1u

/* The peer: it answers nothing but "not kept" and "failed", and notes which loop was asked for. */
struct peer {
    int socket;
    pthread_t thread;
    sem_t began;         /* FIRST was asked for */
    sem_t go_on;         /* it may be answered */
    sem_t said;          /* once for each answer */
    uint32_t made[MOST]; /* loops that were to be made, or kept ones looked for, by their names, in that order */
    bool kept[MOST];
    uint32_t count;
};

static void *serve(void *opaque)
{
    struct peer *const peer = opaque;
    struct tier_request request;
    static struct tier_unit unit;

    while (tier_receive(peer->socket, &request, sizeof(request)) && request.bytes <= sizeof(unit) &&
           tier_receive(peer->socket, &unit, request.bytes) && peer->count < MOST) {
        const bool kept = request.how == TIER_KEPT_ONLY;
        const struct tier_answer answer = { .result = kept ? TIER_NOT_KEPT : TIER_FAILED };

        peer->kept[peer->count] = kept;
        peer->made[peer->count++] = unit.insns;
        if (unit.insns == FIRST && !kept) {
            sem_post(&peer->began);
            sem_wait(&peer->go_on);
        }
        if (!tier_send(peer->socket, &answer, sizeof(answer))) {
            break;
        }
        sem_post(&peer->said);
    }
    close(peer->socket);
    return NULL;
}

struct queue {
    struct peer peer;
    struct tier *tier;
    struct tier_entry *entry[MOST];
};

static void wait_for(sem_t *semaphore, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        assert_int_equal(sem_wait(semaphore), 0);
    }
}

/* A loop of so many instructions, which are its name; its kernel is of that context. */
static void seek(struct queue *queue, uint32_t name, uint32_t context)
{
    static struct tier_unit unit;

    unit.wave = 128;
    unit.insns = name;
    struct tier_entry *const counted = tier_count(queue->tier, &unit);
    assert_non_null(counted);
    queue->entry[name] = tier_seek(queue->tier, &unit, counted, context);
    assert_non_null(queue->entry[name]);
}

static enum tier_state state_of(const struct queue *queue, uint32_t name)
{
    const struct tier_translation *translation;

    return tier_look(queue->entry[name], &translation);
}

/* The state is that of the answer some time after the peer has sent it. */
static void wait_while(const struct queue *queue, uint32_t name, enum tier_state state)
{
    while (state_of(queue, name) == state) {
        sched_yield();
    }
}

static void seek_and_wait(struct queue *queue, uint32_t name, uint32_t context)
{
    seek(queue, name, context);
    wait_for(&queue->peer.said, 1);
    wait_while(queue, name, TIER_IS_SOUGHT);
    assert_int_equal(state_of(queue, name), TIER_IS_ABSENT);
}

static void translate(struct queue *queue, uint32_t name, uint32_t context)
{
    tier_translate(queue->tier, queue->entry[name], tier_hot_times(128), context);
    assert_int_equal(state_of(queue, name), TIER_IS_ASKED);
}

static void begin(struct queue *queue)
{
    struct core_config config;
    int ends[2];

    memset(queue, 0, sizeof(*queue));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    queue->peer.socket = ends[1];
    sem_init(&queue->peer.began, 0, 0);
    sem_init(&queue->peer.go_on, 0, 0);
    sem_init(&queue->peer.said, 0, 0);
    assert_int_equal(pthread_create(&queue->peer.thread, NULL, serve, &queue->peer), 0);
    core_config_default(&config);
    config.sms = SMS;
    config.engine_tier_socket = ends[0];
    queue->tier = tier_new(&config);
    assert_non_null(queue->tier);
}

/* From here on its thread waits for the answer for the first loop, of context 0, which is being made. */
static void hold(struct queue *queue)
{
    seek_and_wait(queue, FIRST, 0);
    translate(queue, FIRST, 0);
    wait_for(&queue->peer.began, 1);
    queue->peer.count = 0;
}

/* So many are answered behind the first. */
static void let_go(struct queue *queue, uint32_t answers)
{
    sem_post(&queue->peer.go_on);
    wait_for(&queue->peer.said, 1 + answers);
}

static void end(struct queue *queue)
{
    for (uint32_t i = 0; i < MOST; i++) {
        if (queue->entry[i]) {
            tier_give(queue->tier, queue->entry[i], 0);
        }
    }
    tier_free(queue->tier);
    pthread_join(queue->peer.thread, NULL);
    sem_destroy(&queue->peer.began);
    sem_destroy(&queue->peer.go_on);
    sem_destroy(&queue->peer.said);
}

/* `names`: the loops, in the order in which they are to be made. */
static void expect_order(const struct queue *queue, const uint32_t *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (queue->peer.made[i] != names[i]) {
            fail_msg("answer %u was for loop %u, and should be for %u", i, queue->peer.made[i], names[i]);
        }
    }
}

/* Programs whose kernels follow one another leave loops behind that nobody executes any more. */
static void newest_first(void **state)
{
    static const uint32_t order[] = { 5, 4, 3, 2 };
    struct queue queue;

    (void)state;
    begin(&queue);
    for (uint32_t name = 2; name <= 5; name++) {
        seek_and_wait(&queue, name, 0);
    }
    hold(&queue);
    for (uint32_t name = 2; name <= 5; name++) {
        translate(&queue, name, 0);
    }
    let_go(&queue, PPU_ARRAY_SIZE(order));
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    end(&queue);
}

/* What may be kept is there in a millisecond. */
static void kept_before_made(void **state)
{
    static const uint32_t order[] = { 5, 4, 3, 2 };
    struct queue queue;

    (void)state;
    begin(&queue);
    seek_and_wait(&queue, 2, 0);
    seek_and_wait(&queue, 3, 0);
    hold(&queue);
    seek(&queue, 4, 0);
    translate(&queue, 2, 0);
    seek(&queue, 5, 0);
    translate(&queue, 3, 0);
    let_go(&queue, PPU_ARRAY_SIZE(order));
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(order); i++) {
        assert_int_equal(queue.peer.kept[i], i < 2);
    }
    end(&queue);
}

/* Context 7 asks for one loop behind ten of context 3 and in front of ten more. */
static void contexts_in_turn(void **state)
{
    static const uint32_t order[] = { 31, 40, 30 };
    struct queue queue;

    (void)state;
    begin(&queue);
    hold(&queue);
    for (uint32_t name = 10; name < 20; name++) {
        seek(&queue, name, 3);
    }
    seek(&queue, 40, 7);
    for (uint32_t name = 20; name < 32; name++) {
        seek(&queue, name, 3);
    }
    let_go(&queue, 23);
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    end(&queue);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "of a context, the loop taken last is translated first", newest_first, NULL, NULL, NULL },
        { "what may be kept is looked for before anything is translated", kept_before_made, NULL, NULL, NULL },
        { "contexts are answered in turn, however much one asks for", contexts_in_turn, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
