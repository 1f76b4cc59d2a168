/* SPDX-License-Identifier: MIT */
/* Tests work queues: threads put work into a channel of the PPU's own, in rounds, and use entries again and again. */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"

#define MAX_THREADS 10240u
#define MAX_WORK 10240u

struct creator_params {
    uint64_t queue, tmd, counters, scratch;
    uint32_t each, may_wait, end, stream;
};

struct counters {
    uint32_t launched, full, never, to_come, end;
    uint32_t ran;
    uint32_t reserved[10];
    uint32_t number[MAX_WORK]; /* in the order they ran */
};

struct work {
    struct api *api;
    struct ppu_workq *queue;
    const struct ppu_kernel *kernel, *starter, *spoiler;
    struct ppu_memory *memory; /* TMD */
    struct ppu_memory *shared; /* counters */
    struct counters *counters;
    struct creator_params params;
};

/* A queue, and the kernels. */
static struct work work_new(struct api *api, const struct ppu_workq_options *options)
{
    struct work work = {
        .api = api,
        .kernel = api_kernel(api, api->context, "creator", "creator"),
        .starter = api_kernel(api, api->context, "creator", "starter"),
        .spoiler = api_kernel(api, api->context, "creator", "spoiler"),
    };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 } };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 2, .ctas = 8 }));
    check(ppu_workq_create(api->channel, options, &work.queue));
    work.memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    work.shared = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct counters));
    work.counters = ppu_memory_host(work.shared);
    check(
        ppu_kernel_describe(api_kernel(api, api->context, "creator", "noted"), &launch, ppu_memory_host(work.memory)));
    work.params = (struct creator_params){
        .queue = ppu_workq_va(work.queue).va,
        .tmd = api_va(api, work.memory),
        .counters = api_va(api, work.shared),
        .scratch = api_va(api, api_memory(api, PPU_MEMORY_VRAM, MAX_THREADS * 64)),
        .each = 1,
        .end = 1,
        .stream = 0,
    };
    return work;
}

/* Launches `ctas` of `threads` creators as a round, and waits for its end (C2). */
static enum ppu_err round_of(struct work *work, uint32_t ctas, uint32_t threads)
{
    const struct ppu_launch launch = {
        .grid = { ctas },
        .cta = { threads },
        .params = &work->params,
        .param_bytes = sizeof(work->params),
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    memset(work->counters, 0, sizeof(*work->counters));
    work->counters->to_come = ctas * threads;
    check(ppu_block_begin(work->api->channel, &block));
    ppu_block_launch(block, work->api->stream, work->kernel, &launch);
    ppu_block_round(block, work->queue);
    check(ppu_block_submit(block, &event));
    return ppu_event_wait(&event, LONG_NS);
}

/* Every number once; those of a thread in the order it made them. */
static void whole(const struct work *work, uint32_t threads)
{
    static uint32_t next[MAX_THREADS];
    const struct counters *counters = work->counters;
    uint32_t each = work->params.each;

    assert_int_equal(counters->full, 0);
    assert_int_equal(counters->never, 0);
    assert_int_equal(counters->launched, threads * each);
    assert_int_equal(counters->ran, threads * each);
    memset(next, 0, sizeof(next));
    for (uint32_t i = 0; i < counters->ran; i++) {
        uint32_t thread = counters->number[i] / each;
        assert_true(thread < threads);
        assert_int_equal(counters->number[i] % each, next[thread]);
        next[thread]++;
    }
}

static void run_whole(struct work *work, uint32_t ctas, uint32_t threads)
{
    enum ppu_err err = round_of(work, ctas, threads);

    check(ppu_workq_error(work->queue, NULL));
    check(err);
    whole(work, ctas * threads);
}

static void one_thread(void **state)
{
    struct work work = work_new(*state, NULL);

    run_whole(&work, 1, 1);
    assert_int_equal(work.counters->end, 0);
    work.params.each = 20;
    run_whole(&work, 1, 1);
    check(ppu_workq_destroy(work.queue));
}

static void many_threads(void **state)
{
    struct work work = work_new(*state, &(struct ppu_workq_options){ .entries = 3000 });

    run_whole(&work, 1, 64);
    work.params.each = 3;
    run_whole(&work, 4, 64);
    work.params.stream = UINT32_MAX;
    work.params.each = 1;
    run_whole(&work, 8, 128);
    check(ppu_workq_destroy(work.queue));
}

/* ---- rings that are used again and again (C3, C4) ---- */

/* Work that itself makes work: launched through the queue, so that entries come free while it runs. */
static void run_through(struct work *work, struct ppu_memory *memory, uint32_t ctas, uint32_t threads)
{
    struct api *api = work->api;
    const struct ppu_launch creators = { .grid = { ctas }, .cta = { threads } };
    const struct {
        uint64_t queue, tmd, params, result;
        uint32_t param_bytes, zero;
    } params = {
        .queue = work->params.queue,
        .tmd = api_va(api, memory),
        .params = api_va(api, memory) + 1024,
        .result = api_va(api, memory) + 2048,
        .param_bytes = sizeof(work->params),
    };
    const struct ppu_launch starter = {
        .grid = { 1 },
        .cta = { 32 },
        .params = &params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    memset(work->counters, 0, sizeof(*work->counters));
    work->counters->to_come = ctas * threads;
    work->params.may_wait = 1;
    check(ppu_kernel_describe(work->kernel, &creators, ppu_memory_host(memory)));
    memcpy((char *)ppu_memory_host(memory) + 1024, &work->params, sizeof(work->params));
    api_set_word(memory, 2048, 77);
    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, work->starter, &starter);
    ppu_block_round(block, work->queue);
    check(ppu_block_submit(block, &event));
    enum ppu_err err = ppu_event_wait(&event, LONG_NS);
    check(ppu_workq_error(work->queue, NULL));
    check(err);
    assert_int_equal(api_word(memory, 2048), 0);
    whole(work, ctas * threads);
}

/* Rings so small that everything waits, of counts that are and are not powers of two, at the wrap of the counters. */
static void small_rings(void **state)
{
    static const struct {
        uint32_t entries, before_wrap;
    } rings[] = { { 4, 3 }, { 5, 11 }, { 6, 1 }, { 7, 30 }, { 8, 8 }, { 64, 100 } };
    struct api *api = *state;
    struct work work = work_new(api, NULL);
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rings); i++) {
        const struct ppu_workq_options options = {
            .entries = rings[i].entries,
            .first = ppu_workq_period(rings[i].entries) - rings[i].before_wrap,
        };
        check(ppu_workq_destroy(work.queue));
        check(ppu_workq_create(api->channel, &options, &work.queue));
        work.params.queue = ppu_workq_va(work.queue).va;
        work.params.each = 10;
        run_through(&work, memory, 1, 1);
        run_through(&work, memory, 1, 32);
        run_through(&work, memory, 4, 16);
    }
    check(ppu_workq_destroy(work.queue));
}

static void refused_when_full(void **state)
{
    struct work work = work_new(*state, &(struct ppu_workq_options){ .entries = 16 });

    /* While the kernel runs the queue stands at Acquire X: what does not fit never will, however long one waits. */
    for (uint32_t may_wait = 0; may_wait < 2; may_wait++) {
        work.params.each = 10;
        work.params.may_wait = may_wait;
        work.params.end = 0;
        check(round_of(&work, 1, 1));
        assert_int_equal(work.counters->launched, 7);
        assert_int_equal(work.counters->full, 3);
        assert_int_equal(work.counters->ran, 7);
    }
    check(ppu_workq_destroy(work.queue));
}

/* ---- rounds that nobody ends (C5), and what goes wrong (C6) ---- */

static void nobody_ends(void **state)
{
    struct work work = work_new(*state, NULL);

    work.params.end = 0;
    for (uint32_t i = 0; i < 20; i++) {
        work.params.each = i % 4;
        run_whole(&work, 1, 40);
        assert_int_equal(ppu_workq_shared(work.queue)->round, i + 2);
    }
    check(ppu_workq_destroy(work.queue));
}

static enum ppu_err spoil(struct work *work, uint32_t how, uint32_t *result)
{
    struct api *api = work->api;
    const struct {
        uint64_t queue;
        uint32_t how, zero;
        uint64_t result;
    } params = { work->params.queue, how, 0, work->params.counters };
    const struct ppu_launch launch = {
        .grid = { 1 },
        .cta = { 32 },
        .params = &params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    work->counters->launched = 77;
    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, work->spoiler, &launch);
    ppu_block_round(block, work->queue);
    check(ppu_block_submit(block, &event));
    enum ppu_err err = ppu_event_wait(&event, LONG_NS);
    *result = work->counters->launched;
    return err;
}

/* What a thread put into the queue faults the queue, by its entry; the channel that waits is told, and both work
 * again. */
static void spoiled(void **state)
{
    static const struct {
        uint32_t how;
        enum ppu_fault fault;
        uint64_t entry; /* GP_GET */
    } cases[] = {
        { 0, PPU_FAULT_WORKQ_HOLE, 0 },
        { 1, PPU_FAULT_BLOCK_HEADER, 1 },
        { 2, PPU_FAULT_BLOCK_MEMORY, 1 },
    };
    struct api *api = *state;
    struct work work = work_new(api, NULL);
    struct ppu_error error;
    uint32_t result = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        assert_int_equal(spoil(&work, cases[i].how, &result), ppu_fault_error(PPU_FAULT_WORKQ_FAILED));
        assert_int_equal(result, 0);
        ppu_channel_error(api->channel, &error);
        assert_int_equal(error.record.code, PPU_FAULT_WORKQ_FAILED);
        assert_int_equal(error.record.address, ppu_workq_channel(work.queue));
        ppu_workq_error(work.queue, &error);
        assert_int_equal(error.record.code, cases[i].fault);
        assert_int_equal(error.record.pc >> 32, cases[i].entry);
        /* Who comes too late is told as well. */
        check(ppu_channel_reset(api->channel));
        assert_int_equal(spoil(&work, 3, &result), ppu_fault_error(PPU_FAULT_WORKQ_FAILED));
        check(ppu_channel_reset(api->channel));
        check(ppu_workq_reset(work.queue));
        run_whole(&work, 2, 20);
        assert_int_equal(ppu_workq_shared(work.queue)->round, 2);
        check(ppu_workq_reset(work.queue));
    }
    check(spoil(&work, 3, &result));
    assert_int_equal(result, 2);
    assert_int_equal(spoil(&work, 4, &result), ppu_fault_error(PPU_FAULT_BAD_START));
    check(ppu_channel_reset(api->channel));
    check(ppu_workq_reset(work.queue));
    run_whole(&work, 2, 20);
    check(ppu_workq_destroy(work.queue));
}

/* ---- what blocks made by threads hold (C6) ---- */

#define PIECE 70000u /* bytes copied */
#define SEM_AT 256u  /* in `words` */

struct post {
    struct work work;
    const struct ppu_kernel *kernel;
    struct ppu_memory *words, *source, *target;
    struct ppu_sem *sems;
    uint32_t used; /* words of the block so far */
};

static struct post post_new(struct api *api)
{
    struct post post = { .work = work_new(api, NULL), .kernel = api_kernel(api, api->context, "creator", "poster") };

    post.words = api_memory(api, PPU_MEMORY_VRAM, 4096);
    post.source = api_memory(api, PPU_MEMORY_VRAM, PIECE);
    post.target = api_memory(api, PPU_MEMORY_SYSTEM, PIECE);
    post.sems = (struct ppu_sem *)(void *)((char *)ppu_memory_host(post.words) + SEM_AT);
    return post;
}

static uint64_t sem_va(struct post *post, uint32_t sem)
{
    return api_va(post->work.api, post->words) + SEM_AT + 16 * sem;
}

static void add(struct post *post, uint32_t method, const uint64_t *addresses, uint32_t count, const uint32_t *rest,
                uint32_t more)
{
    uint32_t *words = ppu_memory_host(post->words);

    words[post->used++] = PPU_METHOD_WORD(method, 2 * count + more);
    memcpy(words + post->used, addresses, 8 * count);
    post->used += 2 * count;
    memcpy(words + post->used, rest, 4 * more);
    post->used += more;
}

static void add_sem(struct post *post, uint32_t method, uint64_t va, uint32_t value)
{
    const uint32_t rest[] = { value, 0 };

    add(post, method, &va, 1, rest, 2);
}

static void add_plain(struct post *post, uint32_t method)
{
    uint32_t *words = ppu_memory_host(post->words);

    words[post->used++] = PPU_METHOD_WORD(method, 0);
}

static void add_copy(struct post *post, uint64_t source, uint64_t target, uint32_t bytes)
{
    const uint64_t addresses[] = { source, target };

    add(post, PPU_METHOD_COPY, addresses, 2, &bytes, 1);
}

/* Has a thread put the block into the queue, in a round. The event is the round's end. */
static struct ppu_event post_block(struct post *post, uint32_t too_many)
{
    struct api *api = post->work.api;
    const struct {
        uint64_t queue, words;
        uint32_t count, too_many;
        uint64_t result;
    } params = { post->work.params.queue, api_va(api, post->words), post->used, too_many, post->work.params.counters };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params) };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, post->kernel, &launch);
    ppu_block_round(block, post->work.queue);
    check(ppu_block_submit(block, &event));
    post->used = 0;
    return event;
}

/* Copies run, wait-for-idle waits for them, a release tells of them, launches follow. */
static void post_copies(void **state)
{
    struct post post = post_new(*state);
    struct api *api = post.work.api;
    struct ppu_memory *counted = api_memory(api, PPU_MEMORY_VRAM, 4096);
    unsigned char *source = ppu_memory_host(post.source);
    const struct ppu_launch launch = { .grid = { 3 }, .cta = { 64 } };
    struct ppu_tmd *tmd = ppu_memory_host(post.work.memory);
    const uint64_t addresses[] = { api_va(api, counted), api_va(api, counted) + 64 };

    for (uint32_t round = 1; round <= 5; round++) {
        for (uint32_t i = 0; i < PIECE; i++) {
            source[i] = (unsigned char)(i * 7 + i / 251 + round);
        }
        check(ppu_kernel_describe(api_kernel(api, api->context, "counter", "counter"), &launch, tmd));
        memcpy((char *)tmd + 1024, addresses, sizeof(addresses));
        tmd->param_va = api_va(api, post.work.memory) + 1024;
        tmd->param_bytes = sizeof(addresses);
        const uint64_t task = api_va(api, post.work.memory);
        const uint32_t no_stream = PPU_STREAM_NONE;
        add(&post, PPU_METHOD_LAUNCH, &task, 1, &no_stream, 1);
        add_copy(&post, api_va(api, post.source), api_va(api, post.target), PIECE);
        add_plain(&post, PPU_METHOD_WAIT_IDLE);
        add_copy(&post, api_va(api, counted), sem_va(&post, 1), 4);
        add_plain(&post, PPU_METHOD_WAIT_IDLE);
        add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 0), round);
        const struct ppu_event event = post_block(&post, 0);
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(post.work.counters->launched, 0);
        assert_int_equal(post.sems[0].payload, round);
        assert_int_equal(post.sems[1].payload, round * 3 * 64);
        assert_memory_equal(ppu_memory_host(post.target), source, PIECE);
    }
    check(ppu_workq_destroy(post.work.queue));
}

/* A block that waits for the CPU, tells it by an interrupt that it got there, and goes on when it is answered. */
static void post_interrupts(void **state)
{
    struct post post = post_new(*state);
    struct api *api = post.work.api;

    for (uint32_t round = 1; round <= 10; round++) {
        struct ppu_block *block = NULL;
        add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 0), round);
        add_plain(&post, PPU_METHOD_INTERRUPT);
        add_sem(&post, PPU_METHOD_SEM_ACQUIRE, sem_va(&post, 1), round);
        add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 2), round);
        const struct ppu_event event = post_block(&post, 0);
        check(ppu_workq_wait(post.work.queue, &post.sems[0], round, LONG_NS));
        assert_false(ppu_event_done(&event));
        assert_int_equal(post.sems[2].payload, round - 1);
        assert_int_equal(ppu_workq_wait(post.work.queue, &post.sems[2], round, SHORT_NS), PPU_ERR_TIMEOUT);
        struct ppu_channel *answers = NULL;
        check(ppu_channel_create(api->context, NULL, &answers));
        check(ppu_block_begin(answers, &block));
        ppu_block_release(block, (ppu_va_t){ sem_va(&post, 1) }, round, false);
        check(ppu_block_submit(block, NULL));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(post.sems[2].payload, round);
        check(ppu_channel_destroy(answers));
    }
    check(ppu_workq_destroy(post.work.queue));
}

/* Each way in which a block can be wrong: the queue alone faults, by the entry; both channels work again after a
 * reset. */
static void post_malformed(void **state)
{
    static const struct {
        uint32_t method;
        uint64_t address; /* 0: a good one */
        uint32_t too_many;
        enum ppu_fault fault;
    } cases[] = {
        { 0xff0, 0, 0, PPU_FAULT_METHOD_UNKNOWN },
        { PPU_METHOD_SEM_RELEASE, 8, 0, PPU_FAULT_SEM_ALIGN },
        { PPU_METHOD_SEM_RELEASE, 0x7fff00000000, 0, PPU_FAULT_SEM_MEMORY },
        { PPU_METHOD_SEM_ACQUIRE, 0x7fff00000000, 0, PPU_FAULT_SEM_MEMORY },
        { PPU_METHOD_COPY, 0x7fff00000000, 0, PPU_FAULT_COPY_MEMORY },
        { PPU_METHOD_LAUNCH, 0x7fff00000000, 0, PPU_FAULT_TMD_MEMORY },
        { PPU_METHOD_LAUNCH, 8, 0, PPU_FAULT_TMD_ALIGN },
        { PPU_METHOD_LAUNCH, 0, 0, PPU_FAULT_TMD_VERSION },
        { PPU_METHOD_WAIT_IDLE, 0, 0, PPU_FAULT_METHOD_COUNT },
        { PPU_METHOD_INTERRUPT, 0, 0, PPU_FAULT_METHOD_COUNT },
        { PPU_METHOD_NOP, 0, 2000, PPU_FAULT_BLOCK_LENGTH },
    };
    struct post post = post_new(*state);
    struct api *api = post.work.api;
    struct ppu_error error;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const uint64_t good = api_va(api, post.source), address = cases[i].address;
        const uint32_t none = PPU_STREAM_NONE;
        switch (cases[i].method) {
        case PPU_METHOD_SEM_RELEASE:
        case PPU_METHOD_SEM_ACQUIRE:
            add_sem(&post, cases[i].method, address < 16 ? sem_va(&post, 0) + address : address, 1);
            break;
        case PPU_METHOD_COPY:
            add_copy(&post, address, good, 64);
            break;
        case PPU_METHOD_LAUNCH: {
            const uint64_t task = address < 64 ? good + address : address;
            add(&post, PPU_METHOD_LAUNCH, &task, 1, &none, 1);
            break;
        }
        default:
            add(&post, cases[i].method, &good, 1, &none, 0);
        }
        add_plain(&post, PPU_METHOD_WAIT_IDLE);
        const struct ppu_event event = post_block(&post, cases[i].too_many);
        assert_int_equal(ppu_event_wait(&event, LONG_NS), ppu_fault_error(PPU_FAULT_WORKQ_FAILED));
        ppu_workq_error(post.work.queue, &error);
        assert_int_equal(error.record.code, cases[i].fault);
        assert_int_equal(error.record.channel, ppu_workq_channel(post.work.queue));
        assert_int_equal(error.record.pc >> 32, 1);
        ppu_channel_error(api->channel, &error);
        assert_int_equal(error.record.code, PPU_FAULT_WORKQ_FAILED);
        check(ppu_channel_reset(api->channel));
        check(ppu_workq_reset(post.work.queue));
    }
    run_whole(&post.work, 2, 20);
    check(ppu_workq_destroy(post.work.queue));
}

/* ---- the blocks that threads fill (C9) ---- */

#define POOL 8u /* entries, and so blocks */

static struct post pool_new(struct api *api)
{
    struct post post = post_new(api);

    check(ppu_workq_destroy(post.work.queue));
    check(ppu_workq_create(api->channel, &(struct ppu_workq_options){ .entries = POOL }, &post.work.queue));
    post.work.params.queue = ppu_workq_va(post.work.queue).va;
    return post;
}

/* Number of the block that a thread was given last: one of those that the queue was made with. */
static uint32_t pool_block(const struct post *post)
{
    const struct ppu_workq_head *shared = ppu_workq_shared(post->work.queue);
    uint64_t va = 0;

    memcpy(&va, &post->work.counters->end, sizeof(va));
    assert_true(va >= post->work.params.queue + shared->block_at);
    uint64_t offset = va - post->work.params.queue - shared->block_at;
    assert_int_equal(offset % shared->block_bytes, 0);
    assert_true(offset / shared->block_bytes < POOL);
    return (uint32_t)(offset / shared->block_bytes);
}

static const void *pool_words(const struct post *post, uint32_t block)
{
    const struct ppu_workq_head *shared = ppu_workq_shared(post->work.queue);

    return (const char *)(const void *)shared + shared->block_at + (size_t)block * shared->block_bytes;
}

/* A thread of another channel, and of no round, posts a release of semaphore `sem`. 0, or why it got no block. */
static uint32_t pool_take(struct post *post, struct ppu_stream *stream, uint32_t sem)
{
    struct api *api = post->work.api;
    struct ppu_event event;

    add_sem(post, PPU_METHOD_SEM_RELEASE, sem_va(post, sem), 1);
    const struct {
        uint64_t queue, words;
        uint32_t count, too_many;
        uint64_t result;
    } params = { post->work.params.queue, api_va(api, post->words), post->used, 0, post->work.params.counters };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params) };
    post->used = 0;
    check(ppu_stream_launch(stream, post->kernel, &launch, &event));
    check(ppu_event_wait(&event, LONG_NS));
    return post->work.counters->launched;
}

/* Blocks are handed out again and again, all of them, and no others. */
static void blocks_come_from_a_pool(void **state)
{
    struct post post = pool_new(*state);
    uint32_t taken[POOL] = { 0 };

    for (uint32_t round = 1; round <= 3 * POOL; round++) {
        add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 0), round);
        const struct ppu_event event = post_block(&post, 0);
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(post.work.counters->launched, 0);
        assert_int_equal(post.sems[0].payload, round);
        taken[pool_block(&post)]++;
    }
    for (uint32_t i = 0; i < POOL; i++) {
        assert_true(taken[i] >= 2);
    }
    check(ppu_workq_destroy(post.work.queue));
}

/* While the queue stands at an entry, no thread gets that entry's block or one behind it; afterwards all of them. */
static void blocks_return_when_passed(void **state)
{
    struct post post = pool_new(*state);
    struct api *api = post.work.api;
    struct ppu_channel *other = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_block *answer = NULL;
    uint32_t given[POOL] = { 0 }, count = 0;
    char before[64];

    check(ppu_channel_create(api->context, NULL, &other));
    check(ppu_stream_create(other, &stream));
    add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 0), 1);
    add_sem(&post, PPU_METHOD_SEM_ACQUIRE, sem_va(&post, 1), 1);
    const struct ppu_event event = post_block(&post, 0);
    const uint64_t deadline_ns = deadline_after(LONG_NS);
    while (__atomic_load_n(&post.sems[0].payload, __ATOMIC_ACQUIRE) != 1) {
        assert_true(deadline_left(deadline_ns) != 0);
    }
    uint32_t held = pool_block(&post);
    given[held]++;
    memcpy(before, pool_words(&post, held), sizeof(before));
    while (pool_take(&post, stream, 2 + count) == 0) {
        given[pool_block(&post)]++;
        assert_true(++count < POOL);
    }
    assert_int_equal(post.work.counters->launched, 1); /* too few are free */
    assert_int_equal(count, (POOL - 1 - 2 - 1) / 2);   /* two entries each, besides the held one's two and Acquire X */
    for (uint32_t i = 0; i < POOL; i++) {
        assert_true(given[i] <= 1);
    }
    assert_memory_equal(pool_words(&post, held), before, sizeof(before));
    assert_int_equal(post.sems[2].payload, 0);
    check(ppu_block_begin(other, &answer));
    ppu_block_release(answer, (ppu_va_t){ sem_va(&post, 1) }, 1, false);
    check(ppu_block_submit(answer, NULL));
    check(ppu_event_wait(&event, LONG_NS));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(post.sems[2 + i].payload, 1);
    }
    for (uint32_t round = 0; given[held] == 1; round++) {
        assert_true(round < 2 * POOL);
        add_sem(&post, PPU_METHOD_SEM_RELEASE, sem_va(&post, 0), round);
        const struct ppu_event next = post_block(&post, 0);
        check(ppu_event_wait(&next, LONG_NS));
        given[pool_block(&post)]++;
    }
    check(ppu_stream_destroy(stream));
    check(ppu_channel_destroy(other));
    check(ppu_workq_destroy(post.work.queue));
}

static void bad_arguments(void **state)
{
    static const struct ppu_workq_options bad[] = {
        { .entries = 3 },
        { .entries = PPU_WORKQ_MAX_ENTRIES + 1 },
        { .block_bytes = 64 },
        { .block_bytes = 200 },
        { .block_bytes = 8192 },
        { .priority = PPU_PRIORITIES },
        { .entries = 100, .first = 0x80000000u / 100 * 100 },
    };
    struct api *api = *state;
    struct ppu_channel *other = NULL;
    struct ppu_workq *queue = NULL;
    struct ppu_block *block = NULL;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        assert_int_equal(ppu_workq_create(api->channel, &bad[i], &queue), PPU_ERR_BAD_ARG);
        assert_null(queue);
    }
    check(ppu_workq_create(api->channel, NULL, &queue));
    check(ppu_channel_create(api->context, NULL, &other));
    check(ppu_block_begin(other, &block));
    ppu_block_round(block, queue);
    assert_int_equal(ppu_block_submit(block, NULL), PPU_ERR_BAD_ARG);
    /* An acquire may name none but a queue's channel. */
    check(ppu_block_begin(other, &block));
    ppu_block_acquire(block, ppu_workq_va(queue), 1, PPU_SEM_FROM(ppu_channel_index(other)));
    check(ppu_block_submit(block, NULL));
    struct ppu_error error;
    assert_int_not_equal(api_wait_fault(other, &error), PPU_OK);
    assert_int_equal(error.record.code, PPU_FAULT_METHOD_DATA);
    check(ppu_channel_destroy(other));
    check(ppu_workq_destroy(queue));
}

/* ---- reservations of any size, published in any order (C3, C6) ---- */

/* The first `count` semaphores were released in that order. */
static void released_in_order(const struct ppu_sem *sems, const uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(sems[order[i]].payload, 0);
        assert_true(i == 0 || sems[order[i]].time_ns > sems[order[i - 1]].time_ns);
    }
}

static void every_size(void **state)
{
    static const uint32_t entries[] = { 4, 5, 33, 64 };
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "creator", "batch");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_sem *sems = ppu_memory_host(memory);
    uint32_t order[64];

    for (uint32_t i = 0; i < 64; i++) {
        order[i] = i;
    }
    for (size_t e = 0; e < PPU_ARRAY_SIZE(entries); e++) {
        const struct ppu_workq_options options = { .entries = entries[e], .first = entries[e] / 2 };
        struct ppu_workq *queue = NULL;
        check(ppu_workq_create(api->channel, &options, &queue));
        for (uint32_t n = 1; n <= entries[e] - 2; n++) {
            const struct {
                uint64_t queue, sems, result;
                uint32_t count, zero;
            } params = { ppu_workq_va(queue).va, api_va(api, memory), api_va(api, memory) + 2048, n, 0 };
            const struct ppu_launch launch = {
                .grid = { 1 },
                .cta = { 32 },
                .params = &params,
                .param_bytes = sizeof(params),
            };
            struct ppu_block *block = NULL;
            struct ppu_event event;
            memset(sems, 0, 2048);
            check(ppu_block_begin(api->channel, &block));
            ppu_block_launch(block, api->stream, kernel, &launch);
            ppu_block_round(block, queue);
            check(ppu_block_submit(block, &event));
            check(ppu_event_wait(&event, LONG_NS));
            bool fits = n + 1 <= PPU_WORKQ_MOST(entries[e]);
            assert_int_equal(api_word(memory, 2048), fits ? 0 : 2);
            released_in_order(sems, order, fits ? n : 0);
        }
        check(ppu_workq_destroy(queue));
    }
}

#define PERMUTED 16u

/* Threads that publish in an order of the test's choice. */
struct permutation {
    struct api *api;
    const struct ppu_kernel *kernel;
    struct ppu_workq *queue;
    struct ppu_memory *memory;
    struct ppu_sem *sems;
    uint32_t *turns, *counters;
};

enum { TURN_AT = 2048 };

static struct permutation permutation_new(struct api *api)
{
    struct permutation p = {
        .api = api,
        .kernel = api_kernel(api, api->context, "creator", "permuted"),
        .memory = api_memory(api, PPU_MEMORY_VRAM, 4096),
    };

    p.sems = ppu_memory_host(p.memory);
    p.turns = (uint32_t *)(void *)(p.sems + PERMUTED);
    p.counters = p.turns + PERMUTED;
    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 1, .ctas = 8 }));
    check(ppu_workq_create(api->channel, &(struct ppu_workq_options){ .entries = 4 * PERMUTED + 3 }, &p.queue));
    return p;
}

/* Launches them; nobody publishes before TURN_AT is `first`. */
static struct ppu_event permutation_start(struct permutation *p, uint64_t *random, uint32_t first,
                                          uint32_t *correlation)
{
    const uint64_t va = api_va(p->api, p->memory);
    const struct {
        uint64_t queue, sems, turns, counters, turn;
    } params = { ppu_workq_va(p->queue).va, va, va + sizeof(*p->sems) * PERMUTED,
                 va + (sizeof(*p->sems) + 4) * PERMUTED, va + TURN_AT };
    const struct ppu_launch launch = {
        .grid = { 4 },
        .cta = { PERMUTED / 4 },
        .params = &params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    memset(p->sems, 0, 4096);
    for (uint32_t i = 0; i < PERMUTED; i++) {
        uint32_t j = api_random(random) % (i + 1);
        p->turns[i] = p->turns[j];
        p->turns[j] = first + i;
    }
    check(ppu_block_begin(p->api->channel, &block));
    *correlation = ppu_block_correlation(block);
    ppu_block_launch(block, p->api->stream, p->kernel, &launch);
    ppu_block_round(block, p->queue);
    check(ppu_block_submit(block, &event));
    return event;
}

/* The work ran in the order of the reservations, which began at counter `base`. */
static void permutation_check(const struct permutation *p, uint32_t base)
{
    uint32_t order[PERMUTED];

    for (uint32_t i = 0; i < PERMUTED; i++) {
        uint32_t position = ppu_workq_distance(base, p->counters[i], ppu_workq_shared(p->queue)->period);
        assert_int_equal(position % 2, 0);
        assert_true(position / 2 < PERMUTED);
        order[position / 2] = i;
    }
    released_in_order(p->sems, order, PERMUTED);
}

static void any_order(void **state)
{
    struct permutation p = permutation_new(*state);
    uint64_t random = api_seed();
    uint32_t correlation = 0;

    for (int round = 0; round < (machine_is_slow() ? 3 : 20); round++) {
        uint32_t base = ppu_workq_shared(p.queue)->soft_put;
        struct ppu_event event = permutation_start(&p, &random, 0, &correlation);
        check(ppu_event_wait(&event, LONG_NS));
        permutation_check(&p, base);
    }
    check(ppu_workq_destroy(p.queue));
}

/* Times that a task with this correlation (0: any) got a slot, since record `from` of the firmware's trace. */
static uint32_t starts_of(const struct api *api, uint32_t from, uint32_t correlation)
{
    struct ppu_trace_record record;
    uint32_t starts = 0;

    while (ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &from, &record, 1) == 1) {
        starts += record.type == PPU_TRACE_TASK_START && (correlation == 0 || record.correlation == correlation);
    }
    return starts;
}

/* More urgent tasks take every slot while threads have reserved and not published: these are saved, and go on later. */
static void evicted_between(void **state)
{
    struct api *api = *state;
    struct permutation p = permutation_new(api);
    const struct ppu_kernel *spin = api_kernel(api, api->context, "spin", "spin_until");
    const uint64_t flag = api_va(api, p.memory) + TURN_AT + 4;
    const struct ppu_launch urgent = {
        .grid = { 1 },
        .cta = { 1 },
        .params = &flag,
        .param_bytes = sizeof(flag),
        .priority = PPU_PRIORITIES - 1,
    };
    uint32_t slots = ppu_device_info(api->device)->slots, correlation = 0;
    uint64_t random = api_seed();
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream[PPU_MAX_SLOTS];

    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .priority = PPU_PRIORITIES - 1 }, &channel));
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_create(channel, &stream[i]));
    }
    for (int round = 0; round < 3; round++) {
        uint32_t base = ppu_workq_shared(p.queue)->soft_put;
        uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);
        struct ppu_event event = permutation_start(&p, &random, 1, &correlation);
        struct ppu_event urgent_done;
        struct ppu_block *block = NULL;
        /* All have reserved. */
        while (ppu_workq_distance(base, __atomic_load_n(&ppu_workq_shared(p.queue)->soft_put, __ATOMIC_ACQUIRE),
                                  ppu_workq_shared(p.queue)->period) != 2 * PERMUTED) {
            assert_int_equal(ppu_channel_error(api->channel, NULL), PPU_OK);
        }
        check(ppu_block_begin(channel, &block));
        for (uint32_t i = 0; i < slots; i++) {
            ppu_block_launch(block, stream[i], spin, &urgent);
        }
        check(ppu_block_submit(block, &urgent_done));
        uint64_t deadline_ns = deadline_after(LONG_NS);
        while (starts_of(api, from, 0) < 1 + slots) {
            assert_true(deadline_left(deadline_ns) != 0);
        }
        api_set_word(p.memory, TURN_AT, 1);     /* who is saved cannot see it */
        api_set_word(p.memory, TURN_AT + 4, 1); /* the urgent ones end */
        check(ppu_event_wait(&urgent_done, LONG_NS));
        check(ppu_event_wait(&event, LONG_NS));
        assert_true(starts_of(api, from, correlation) >= 2);
        permutation_check(&p, base);
    }
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
    check(ppu_channel_destroy(channel));
    check(ppu_workq_destroy(p.queue));
}

/* ---- what the kernel is told (C7) ---- */

/* What the kernel `told` of tests/kernels/creator.s writes. */
struct told {
    uint64_t queue;
    uint32_t soft_put, shadow_put, entries, period;
};

static struct told tell(struct work *work, const struct ppu_kernel *kernel, struct ppu_memory *memory, bool round)
{
    struct api *api = work->api;
    const uint64_t params[2] = { ppu_workq_va(work->queue).va, api_va(api, memory) };
    const struct ppu_launch launch = {
        .grid = { 1 },
        .cta = { 32 },
        .params = params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    memset(ppu_memory_host(memory), 0xee, sizeof(struct told));
    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, kernel, &launch);
    if (round) {
        ppu_block_round(block, work->queue);
    }
    check(ppu_block_submit(block, &event));
    check(ppu_event_wait(&event, LONG_NS));
    return *(const struct told *)ppu_memory_host(memory);
}

/* Whatever the counters have come to: the ring begins anywhere, and wraps. */
static void kernel_is_told(void **state)
{
    static const uint32_t entries[] = { 4, 7, 64, 1000 };
    struct work work = work_new(*state, NULL);
    const struct ppu_kernel *kernel = api_kernel(work.api, work.api->context, "creator", "told");
    struct ppu_memory *memory = api_memory(work.api, PPU_MEMORY_VRAM, sizeof(struct told));

    for (size_t i = 0; i < PPU_ARRAY_SIZE(entries); i++) {
        const uint32_t period = ppu_workq_period(entries[i]), first = i % 2 == 0 ? 5 : period - 2;
        const struct ppu_workq_options options = { .entries = entries[i], .first = first };

        check(ppu_workq_destroy(work.queue));
        check(ppu_workq_create(work.api->channel, &options, &work.queue));
        for (uint32_t round = 0; round < 4; round++) {
            const struct ppu_workq_head *head = ppu_workq_shared(work.queue);
            const struct told told = tell(&work, kernel, memory, false);

            assert_int_equal(told.queue, ppu_workq_va(work.queue).va);
            assert_int_equal(told.entries, entries[i]);
            assert_int_equal(told.period, period);
            /* GP_GET stands at the first entry; each round took one more, that of the end which the firmware adds. */
            assert_int_equal(told.soft_put, ppu_workq_add(first, 1 + round, period));
            assert_int_equal(told.shadow_put, ppu_workq_add(told.soft_put, entries[i] - 2, period));
            assert_int_equal(told.soft_put, head->soft_put);
            assert_int_equal(told.shadow_put, head->shadow_put);
            (void)tell(&work, kernel, memory, true);
        }
    }
    check(ppu_workq_destroy(work.queue));
}

#define BATCH 4000u

/* A million blocks in a long run: each executed once, in order, on a ring that they go round a thousand times. */
static void million(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "creator", "batch");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, BATCH * 16 + 64);
    struct ppu_sem *sems = ppu_memory_host(memory);
    const struct ppu_workq_options options = { .entries = BATCH + 3, .block_bytes = 128, .first = 77 };
    static uint32_t order[BATCH];
    struct ppu_workq *queue = NULL;

    for (uint32_t i = 0; i < BATCH; i++) {
        order[i] = i;
    }
    check(ppu_workq_create(api->channel, &options, &queue));
    const struct {
        uint64_t queue, sems, result;
        uint32_t count, zero;
    } params = { ppu_workq_va(queue).va, api_va(api, memory), api_va(api, memory) + BATCH * 16, BATCH, 0 };
    const struct ppu_launch launch = {
        .grid = { 1 },
        .cta = { 32 },
        .params = &params,
        .param_bytes = sizeof(params),
    };
    uint64_t before = 0;
    uint32_t rounds = api_rounds(machine_is_slow() ? 1 : 5);
    for (uint32_t i = 0; i <= rounds; i++) {
        struct ppu_block *block = NULL;
        struct ppu_event event;
        memset(sems, 0, BATCH * 16);
        check(ppu_block_begin(api->channel, &block));
        ppu_block_launch(block, api->stream, kernel, &launch);
        ppu_block_round(block, queue);
        check(ppu_block_submit(block, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(api_word(memory, BATCH * 16), 0);
        released_in_order(sems, order, BATCH);
        before = i == 0 ? api_query(api, PPU_KEY_BLOCKS, 0) : before;
    }
    /* A round is the CPU's block, the batch, the acquire behind it, and the end that the firmware adds. */
    assert_int_equal(api_query(api, PPU_KEY_BLOCKS, 0) - before, (uint64_t)rounds * (BATCH + 3));
    print_message("# %u blocks\n", rounds * BATCH);
    check(ppu_workq_destroy(queue));
}

static void ten_thousand(void **state)
{
    uint32_t ctas = machine_is_slow() ? 16 : 80;
    struct work work = work_new(*state, &(struct ppu_workq_options){
                                            .entries = machine_is_slow() ? 10007 : PPU_WORKQ_MAX_ENTRIES,
                                            .block_bytes = 320,
                                        });

    work.params.stream = UINT32_MAX;
    run_whole(&work, ctas, 125);
    run_whole(&work, ctas, 125);
    check(ppu_workq_destroy(work.queue));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("one thread fills a queue, round after round [C1, C2, C3, C5]", one_thread),
        api_test("threads of several CTAs fill a queue at once [C3]", many_threads),
        api_test("rings of any count serve for ever, also when work makes work [C3, C4]", small_rings),
        api_test("ten thousand threads on a ring of 64 Ki entries [C3]", ten_thousand),
        api_test("reservations of 1 to count - 3 blocks, and refusal above [C3, C4, C6]", every_size),
        api_test("work runs in the order of the reservations, whatever the order of the releases [C3]", any_order),
        api_test("threads evicted between reserving and publishing go on later [C3, C4]", evicted_between),
        api_test("a million blocks, each once and in order, in a long run [C3, C4]", million),
        api_test("what cannot fit is refused, not waited for [C4]", refused_when_full),
        api_test("a round that nobody ended is ended [C5]", nobody_ends),
        api_test("what a thread spoils faults the queue, and who waits for it is told [C6]", spoiled),
        api_test("blocks made by threads launch, copy and wait for idle [C6]", post_copies),
        api_test("blocks made by threads interrupt the CPU and wait for its answer [C2, C6]", post_interrupts),
        api_test("each malformed block of a thread faults its queue alone, by the entry [C6]", post_malformed),
        api_test("a kernel is told the queue, and finds soft and shadow GP_PUT through it [C7]", kernel_is_told),
        api_test("blocks come from a pool that is made with the queue [C9]", blocks_come_from_a_pool),
        api_test("a block is free again when its entry has been passed, and not before [C9]",
                 blocks_return_when_passed),
        api_test("bad arguments are refused", bad_arguments),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
