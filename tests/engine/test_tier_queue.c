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
#define ROUNDS 20u
#define STEPS 120u

/* The peer: it answers nothing but "not kept" and "failed", and notes which loop was asked for. */
struct peer {
    int socket;
    pthread_t thread;
    uint32_t most_made;  /* at once, as it says */
    sem_t began;         /* a loop was asked for that is not answered before let_go() */
    sem_t said;          /* once for each other answer */
    uint32_t made[MOST]; /* loops that were to be made, or kept ones looked for, by their names, in that order */
    bool kept[MOST];
    uint32_t count;
    uint32_t to_hold; /* so many that are to be made from now on */
    uint64_t held[MOST];
    uint32_t held_name[MOST];
    uint32_t held_count;
    uint32_t let_go; /* of them; atomic */
    bool crowded;    /* more was to be made at once than it had said */
};

static bool say(const struct peer *peer, uint64_t tag, enum tier_result result)
{
    const struct tier_reply reply = { .tag = tag,
                                      .most_made = __atomic_load_n(&peer->most_made, __ATOMIC_RELAXED),
                                      .answer = { .result = result } };

    return tier_send(peer->socket, &reply, sizeof(reply));
}

/* False: the device has gone. */
static bool answer(struct peer *peer, const struct tier_request *request, uint32_t name)
{
    const bool kept = request->how == TIER_KEPT_ONLY;

    peer->kept[peer->count] = kept;
    peer->made[peer->count++] = name;
    if (!kept && peer->to_hold != 0) {
        const uint32_t open = peer->held_count - __atomic_load_n(&peer->let_go, __ATOMIC_ACQUIRE);
        peer->crowded = peer->crowded || open >= __atomic_load_n(&peer->most_made, __ATOMIC_RELAXED);
        peer->to_hold--;
        peer->held_name[peer->held_count] = name;
        peer->held[peer->held_count++] = request->tag;
        sem_post(&peer->began);
        return true;
    }
    const bool said = say(peer, request->tag, kept ? TIER_NOT_KEPT : TIER_FAILED);
    sem_post(&peer->said);
    return said;
}

static void *serve(void *opaque)
{
    struct peer *const peer = opaque;
    struct tier_request request;
    static struct tier_unit unit;

    while (tier_receive(peer->socket, &request, sizeof(request)) && request.bytes <= sizeof(unit) &&
           tier_receive(peer->socket, &unit, request.bytes) && peer->count < MOST &&
           answer(peer, &request, unit.insns)) {
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

static void begin(struct queue *queue, uint32_t most_made)
{
    struct core_config config;
    int ends[2];

    memset(queue, 0, sizeof(*queue));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    queue->peer.socket = ends[1];
    queue->peer.most_made = most_made;
    sem_init(&queue->peer.began, 0, 0);
    sem_init(&queue->peer.said, 0, 0);
    assert_int_equal(pthread_create(&queue->peer.thread, NULL, serve, &queue->peer), 0);
    core_config_default(&config);
    config.sms = SMS;
    config.engine_tier_socket = ends[0];
    queue->tier = tier_new(&config);
    assert_non_null(queue->tier);
}

/* From here on the first loop, of context 0, is being made. */
static void hold(struct queue *queue)
{
    seek_and_wait(queue, FIRST, 0);
    queue->peer.to_hold = 1;
    translate(queue, FIRST, 0);
    wait_for(&queue->peer.began, 1);
    queue->peer.count = 0;
}

/* What was held as that number is answered, and the device knows. */
static void let_go(struct queue *queue, uint32_t number)
{
    assert_true(number < queue->peer.held_count);
    __atomic_fetch_add(&queue->peer.let_go, 1, __ATOMIC_RELEASE);
    assert_true(say(&queue->peer, queue->peer.held[number], TIER_FAILED));
    wait_while(queue, queue->peer.held_name[number], TIER_IS_ASKED);
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
    begin(&queue, 1);
    for (uint32_t name = 2; name <= 5; name++) {
        seek_and_wait(&queue, name, 0);
    }
    hold(&queue);
    for (uint32_t name = 2; name <= 5; name++) {
        translate(&queue, name, 0);
    }
    let_go(&queue, 0);
    wait_for(&queue.peer.said, PPU_ARRAY_SIZE(order));
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    end(&queue);
}

/* What may be kept is there in a millisecond. */
static void kept_beside_made(void **state)
{
    static const uint32_t order[] = { 4, 5, 3, 2 };
    struct queue queue;

    (void)state;
    begin(&queue, 1);
    seek_and_wait(&queue, 2, 0);
    seek_and_wait(&queue, 3, 0);
    hold(&queue);
    seek_and_wait(&queue, 4, 0);
    translate(&queue, 2, 0);
    translate(&queue, 3, 0);
    seek_and_wait(&queue, 5, 0);
    assert_int_equal(state_of(&queue, FIRST), TIER_IS_ASKED);
    assert_int_equal(queue.peer.count, 2);
    let_go(&queue, 0);
    wait_for(&queue.peer.said, 2);
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(order); i++) {
        assert_int_equal(queue.peer.kept[i], i < 2);
    }
    end(&queue);
}

/* Of five loops three are made at once, and end in another order than they were asked for. */
static void several_at_once(void **state)
{
    static const uint32_t order[] = { 6, 5, 4, 7, 3, 2 };
    struct queue queue;

    (void)state;
    begin(&queue, 3);
    for (uint32_t name = 2; name <= 6; name++) {
        seek_and_wait(&queue, name, 0);
    }
    queue.peer.count = 0;
    queue.peer.to_hold = 5;
    translate(&queue, 6, 0);
    wait_for(&queue.peer.began, 1);
    translate(&queue, 5, 0);
    wait_for(&queue.peer.began, 1);
    translate(&queue, 4, 0);
    wait_for(&queue.peer.began, 1);
    translate(&queue, 2, 0);
    translate(&queue, 3, 0);
    seek_and_wait(&queue, 7, 0);
    assert_int_equal(queue.peer.held_count, 3);
    let_go(&queue, 1);
    assert_int_equal(state_of(&queue, 5), TIER_IS_NEVER);
    assert_int_equal(state_of(&queue, 6), TIER_IS_ASKED);
    assert_int_equal(state_of(&queue, 4), TIER_IS_ASKED);
    wait_for(&queue.peer.began, 1);
    let_go(&queue, 0);
    wait_for(&queue.peer.began, 1);
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    end(&queue);
}

/* Context 7 asks for one loop behind ten of context 3 and in front of ten more. */
static void contexts_in_turn(void **state)
{
    static const uint32_t order[] = { 31, 40, 30 };
    struct queue queue;

    (void)state;
    begin(&queue, 1);
    for (uint32_t name = 10; name < 32; name++) {
        seek_and_wait(&queue, name, 3);
    }
    seek_and_wait(&queue, 40, 7);
    hold(&queue);
    for (uint32_t name = 10; name < 20; name++) {
        translate(&queue, name, 3);
    }
    translate(&queue, 40, 7);
    for (uint32_t name = 20; name < 32; name++) {
        translate(&queue, name, 3);
    }
    let_go(&queue, 0);
    wait_for(&queue.peer.said, 23);
    expect_order(&queue, order, PPU_ARRAY_SIZE(order));
    end(&queue);
}

/* Loops of which some are asked for and some are being made, beside what the peer must have at that time. */
struct any {
    struct queue queue;
    uint64_t random;
    uint32_t sought;               /* names 1 to this */
    uint32_t asked, held;          /* how many were to be made, and have come to the peer */
    bool gone[MOST];               /* answers of held ones, by their numbers */
    uint32_t open;                 /* held ones without */
    uint32_t waits[MOST], waiting; /* names that are absent */
};

/* What there is room for has come. */
static void expect_held(struct any *any)
{
    while (any->open < any->queue.peer.most_made && any->held < any->asked) {
        wait_for(&any->queue.peer.began, 1);
        any->held++;
        any->open++;
    }
    assert_false(any->queue.peer.crowded);
}

static void answer_one(struct any *any)
{
    uint32_t number = random_below(&any->random, any->held);

    while (any->gone[number]) {
        number = (number + 1) % any->held;
    }
    any->gone[number] = true;
    any->open--;
    /* The device does not know before the reply that there is less room than before. */
    const uint32_t most = any->open + 1 + random_below(&any->random, 3);
    __atomic_store_n(&any->queue.peer.most_made, PPU_MIN(most, TIER_MOST_MADE), __ATOMIC_RELAXED);
    let_go(&any->queue, number);
}

static void do_one(struct any *any)
{
    const uint32_t what = random_below(&any->random, 3);

    if (what == 0 && any->sought < MOST / 2 - 1) {
        seek_and_wait(&any->queue, ++any->sought, random_below(&any->random, 4));
        any->waits[any->waiting++] = any->sought;
    } else if (what == 1 && any->waiting != 0) {
        const uint32_t which = random_below(&any->random, any->waiting);
        translate(&any->queue, any->waits[which], random_below(&any->random, 4));
        any->waits[which] = any->waits[--any->waiting];
        any->asked++;
    } else if (what == 2 && any->open != 0) {
        answer_one(any);
    }
    expect_held(any);
}

static void any_order(void **state)
{
    const uint64_t seed = random_seed();

    (void)state;
    for (uint32_t round = random_rounds(ROUNDS); round != 0; round--) {
        struct any any = { .random = seed + round };
        begin(&any.queue, 1 + random_below(&any.random, TIER_MOST_MADE - 3));
        any.queue.peer.to_hold = MOST;
        seek_and_wait(&any.queue, any.sought = 1, 0);
        any.waits[any.waiting++] = 1;
        for (uint32_t i = 0; i < STEPS; i++) {
            do_one(&any);
        }
        while (any.open != 0) {
            answer_one(&any);
            expect_held(&any);
        }
        assert_int_equal(any.held, any.asked);
        end(&any.queue);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "of a context, the loop taken last is translated first", newest_first, NULL, NULL, NULL },
        { "what may be kept is looked for while code is made", kept_beside_made, NULL, NULL, NULL },
        { "as much is made at once as the program says", several_at_once, NULL, NULL, NULL },
        { "in whatever order it answers, everything is asked for once", any_order, NULL, NULL, NULL },
        { "contexts are answered in turn, however much one asks for", contexts_in_turn, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
