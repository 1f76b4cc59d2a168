/* SPDX-License-Identifier: MIT */
/* Tests the admin queue: every operation with every bad argument, then random requests, blocks and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

static int setup(void **state)
{
    (void)state;
    mock_start();
    return 0;
}

#define PT 0xfffffffeu /* stands for the first offset of the page-table pool */

#define QUEUE (24u * PPU_MIB) /* VRAM for a work queue */

struct bad_request {
    const char *what;
    uint16_t op;
    uint32_t arg[PPU_ADMIN_ARGS];
    uint16_t status;
    uint32_t payload;
};

/* Context 0 is open, channel 0 belongs to it. */
static const struct bad_request bad_requests[] = {
    { "operation 0", 0, { 0 }, PPU_FAULT_ADMIN_OP, 0 },
    { "operation 99", 99, { 0 }, PPU_FAULT_ADMIN_OP, 99 },
    { "operation 65535", 65535, { 0 }, PPU_FAULT_ADMIN_OP, 65535 },
    { "query of no key", PPU_ADMIN_QUERY, { 0xfff }, PPU_FAULT_NO_KEY, 0xfff },
    { "query of no channel",
      PPU_ADMIN_QUERY,
      { PPU_KEY_CHANNEL_STATE, MOCK_CHANNELS },
      PPU_FAULT_NO_OBJECT,
      MOCK_CHANNELS },
    { "query of no context", PPU_ADMIN_QUERY, { PPU_KEY_CONTEXT_TASKS, 1 }, PPU_FAULT_NO_OBJECT, 1 },
    { "argument too many", PPU_ADMIN_QUERY, { PPU_KEY_BLOCKS, 0, 1 }, PPU_FAULT_ADMIN_ARG, 2 },
    { "last argument too many", PPU_ADMIN_QUERY, { [11] = 1 }, PPU_FAULT_ADMIN_ARG, 11 },
    { "root outside the pool", PPU_ADMIN_CONTEXT_CREATE, { 4096 }, PPU_FAULT_ADMIN_ARG, 0 },
    { "root not aligned", PPU_ADMIN_CONTEXT_CREATE, { PT + 8 }, PPU_FAULT_ADMIN_ARG, 0 },
    { "area below the heap", PPU_ADMIN_CONTEXT_CREATE, { PT, 4096 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "area not aligned", PPU_ADMIN_CONTEXT_CREATE, { PT, MOCK_VRAM_BYTES - 65536 + 64 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "area beyond VRAM", PPU_ADMIN_CONTEXT_CREATE, { PT, MOCK_VRAM_BYTES - 4096 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "destroy of no context", PPU_ADMIN_CONTEXT_DESTROY, { 3 }, PPU_FAULT_NO_OBJECT, 3 },
    { "destroy of a context beyond", PPU_ADMIN_CONTEXT_DESTROY, { UINT32_MAX }, PPU_FAULT_NO_OBJECT, UINT32_MAX },
    { "destroy of a context in use", PPU_ADMIN_CONTEXT_DESTROY, { 0 }, PPU_FAULT_IN_USE, 0 },
    { "channel of no context", PPU_ADMIN_CHANNEL_CREATE, { 1, 0x100000, 0, 4, 0, 0 }, PPU_FAULT_NO_OBJECT, 1 },
    { "ring not aligned", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100004, 0, 4, 0, 0 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "ring beyond 48 bits", PPU_ADMIN_CHANNEL_CREATE, { 0, 0, 0x10000, 4, 0, 0 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "ring ends beyond 48 bits",
      PPU_ADMIN_CHANNEL_CREATE,
      { 0, 0xfffffff8, 0xffff, 2, 0, 0 },
      PPU_FAULT_ADMIN_ARG,
      3 },
    { "ring of one entry", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100000, 0, 1, 0, 0 }, PPU_FAULT_ADMIN_ARG, 3 },
    { "ring too long", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100000, 0, (1 << 20) + 1, 0, 0 }, PPU_FAULT_ADMIN_ARG, 3 },
    { "no such priority", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100000, 0, 4, 8, 0 }, PPU_FAULT_ADMIN_ARG, 4 },
    { "the admin vector", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100000, 0, 4, 0, 1 }, PPU_FAULT_ADMIN_ARG, 5 },
    { "no such vector", PPU_ADMIN_CHANNEL_CREATE, { 0, 0x100000, 0, 4, 0, 32 }, PPU_FAULT_ADMIN_ARG, 5 },
    { "destroy of a closed channel", PPU_ADMIN_CHANNEL_DESTROY, { 1 }, PPU_FAULT_NO_OBJECT, 1 },
    { "reset of a channel beyond", PPU_ADMIN_CHANNEL_RESET, { MOCK_CHANNELS }, PPU_FAULT_NO_OBJECT, MOCK_CHANNELS },
    { "queue of no context", PPU_ADMIN_WORKQ_CREATE, { 1, 0, 1, QUEUE, 4, 128, 0, 0, 0 }, PPU_FAULT_NO_OBJECT, 1 },
    { "queue not aligned", PPU_ADMIN_WORKQ_CREATE, { 0, 64, 1, QUEUE, 4, 128, 0, 0, 0 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "queue beyond 48 bits", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 0x10000, QUEUE, 4, 128 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "queue in the protected range", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, 0x10000, 4, 128 }, PPU_FAULT_ADMIN_ARG, 3 },
    { "queue beyond VRAM", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, 0xffff0000u, 4, 128 }, PPU_FAULT_ADMIN_ARG, 3 },
    { "queue of three entries", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 3, 128 }, PPU_FAULT_ADMIN_ARG, 4 },
    { "queue too long", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 65537, 128 }, PPU_FAULT_ADMIN_ARG, 4 },
    { "blocks too small", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 4, 64 }, PPU_FAULT_ADMIN_ARG, 5 },
    { "blocks too large", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 4, 4160 }, PPU_FAULT_ADMIN_ARG, 5 },
    { "queue of no priority", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 4, 128, 8 }, PPU_FAULT_ADMIN_ARG, 6 },
    { "queue with the admin vector", PPU_ADMIN_WORKQ_CREATE, { 0, 0, 1, QUEUE, 4, 128, 0, 1 }, PPU_FAULT_ADMIN_ARG, 7 },
    { "queue that begins beyond its period",
      PPU_ADMIN_WORKQ_CREATE,
      { 0, 0, 1, QUEUE, 4, 128, 0, 0, 0x80000000u },
      PPU_FAULT_ADMIN_ARG,
      8 },
    { "streams of no context", PPU_ADMIN_STREAMS, { 1, QUEUE, 64 }, PPU_FAULT_NO_OBJECT, 1 },
    { "fewer streams", PPU_ADMIN_STREAMS, { 0, QUEUE, 31 }, PPU_FAULT_ADMIN_ARG, 2 },
    { "too many streams", PPU_ADMIN_STREAMS, { 0, QUEUE, PPU_MAX_STREAMS + 1 }, PPU_FAULT_ADMIN_ARG, 2 },
    { "streams in the protected range", PPU_ADMIN_STREAMS, { 0, 0x10000, 64 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "streams beyond VRAM", PPU_ADMIN_STREAMS, { 0, MOCK_VRAM_BYTES - 64, 64 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "streams not aligned", PPU_ADMIN_STREAMS, { 0, QUEUE + 2, 64 }, PPU_FAULT_ADMIN_ARG, 1 },
    { "flush of no context", PPU_ADMIN_MMU_FLUSH, { 2 }, PPU_FAULT_NO_OBJECT, 2 },
};

static void bad_requests_are_answered(void **state)
{
    (void)state;
    uint32_t context = mock_context();
    uint32_t channel = mock_channel(context, 0x100000, 4, 0, 0);
    assert_int_equal(context + channel, 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad_requests); i++) {
        const struct bad_request *bad = &bad_requests[i];
        uint32_t arg[PPU_ADMIN_ARGS];
        memcpy(arg, bad->arg, sizeof(arg));
        if (arg[0] - PT < 0x1000 && bad->op == PPU_ADMIN_CONTEXT_CREATE && arg[0] != 4096) {
            arg[0] += mock_info()->pt_base - PT;
        }
        struct ppu_admin_msg reply = mock_admin(bad->op, arg, PPU_ADMIN_ARGS);
        print_message("# %s\n", bad->what);
        assert_int_equal(reply.status, bad->status);
        assert_int_equal(reply.payload, bad->payload);
    }
}

static void resources_run_out(void **state)
{
    (void)state;
    const uint32_t root[] = { mock_info()->pt_base, mock_info()->heap_base };
    for (uint32_t i = 0; i < MOCK_CONTEXTS; i++) {
        assert_int_equal(mock_context(), i);
    }
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_CREATE, root, 2).status, PPU_FAULT_NO_RESOURCE);
    for (uint32_t i = 0; i < MOCK_CHANNELS; i++) { /* one is kept for each of the others */
        uint32_t context = i < MOCK_CHANNELS - MOCK_CONTEXTS ? 0 : i % MOCK_CONTEXTS;
        assert_int_equal(mock_channel(context, 0x100000, 4, 0, 0), i);
    }
    const uint32_t create[] = { 0, 0x100000, 0, 4, 0, 0 };
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_CREATE, create, 6).status, PPU_FAULT_NO_RESOURCE);
    const uint32_t seven[] = { 7 };
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_DESTROY, seven, 1).status, 0);
    assert_int_equal(mock_channel(0, 0x100000, 4, 0, 0), 7);
}

static void flushes_are_answered_in_order(void **state)
{
    (void)state;
    mock_context();
    mock_context();
    mock.hold_flushes = true;
    struct ppu_admin_msg request = { .head = { PPU_ADMIN_VERSION, sizeof(request) }, .op = PPU_ADMIN_MMU_FLUSH };
    struct ppu_admin_msg reply;
    for (uint32_t i = 0; i < 10; i++) {
        request.seq = 100 + i;
        request.arg[0] = i % 2;
        mock_admin_send(&request);
    }
    assert_false(mock_admin_reply(&reply));
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(mock.flushes, 1);
        mock_flush_done();
        mock_settle();
        assert_true(mock_admin_reply(&reply));
        assert_int_equal(reply.seq, 100 + i);
        assert_int_equal(reply.status, 0);
    }
    /* Nobody waits for this acknowledgement. */
    mock.flushes = 1;
    mock_flush_done();
    mock_settle();
    assert_false(mock_admin_reply(&reply));
}

/* Requests beyond what the replies have room for stay in the queue, and none is answered twice. */
static void full_reply_ring_waits(void **state)
{
    (void)state;
    struct ppu_admin_msg request = { .head = { PPU_ADMIN_VERSION, sizeof(request) }, .op = PPU_ADMIN_QUERY };
    struct ppu_admin_msg reply;
    request.arg[0] = PPU_KEY_BLOCKS;
    for (uint32_t i = 0; i < 2 * PPU_ADMIN_ENTRIES; i++) {
        request.seq = i;
        mock_admin_send(&request);
    }
    for (uint32_t i = 0; i < PPU_ADMIN_ENTRIES; i++) {
        assert_true(mock_admin_reply(&reply));
        assert_int_equal(reply.seq, i);
    }
    assert_false(mock_admin_reply(&reply));
    mock_advance(1000000); /* the host tells nothing: room is looked for */
    for (uint32_t i = 0; i < PPU_ADMIN_ENTRIES; i++) {
        assert_true(mock_admin_reply(&reply));
        assert_int_equal(reply.seq, PPU_ADMIN_ENTRIES + i);
    }
    assert_false(mock_admin_reply(&reply));
}

static void allocation_hook(void **state)
{
    (void)state;
    const uint32_t root[] = { mock_info()->pt_base, mock_info()->heap_base };
    mock_stop();
    mock_start_with_hooks();
    mock.reg[PPU_REG_HOOK_FAIL_ALLOC / 4] = 2;
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_CREATE, root, 2).status, 0);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_CREATE, root, 2).status, PPU_FAULT_NO_RESOURCE);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_CREATE, root, 2).status, 0);
    /* A launch whose record could not be had is tried again. */
    struct stream s = stream_open(0, 0, 16, 7, 0);
    struct ppu_tmd tmd = mock_tmd(1);
    mock.reg[PPU_REG_HOOK_FAIL_ALLOC / 4] = 1;
    stream_launch(&s, MOCK_MEMORY_VA + 0xf0000, &tmd, 0);
    stream_submit(&s);
    assert_int_equal(mock.started, 0);
    mock_advance(100000);
    assert_int_equal(mock.started, 1);
}

static void random_requests(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct ppu_admin_msg reply;
    for (uint32_t i = 0; i < 20000; i++) {
        struct ppu_admin_msg request = { .head = { PPU_ADMIN_VERSION, sizeof(request) }, .seq = i };
        request.op = (uint16_t)random_below(&seed, 14);
        for (uint32_t n = 0; n < 1 + random_below(&seed, 7) && n < PPU_ADMIN_ARGS; n++) {
            request.arg[n] = random_below(&seed, 3) ? random_below(&seed, 10) : (uint32_t)random_next(&seed);
        }
        if (random_below(&seed, 4) == 0 && request.op == PPU_ADMIN_CONTEXT_CREATE) {
            memset(request.arg, 0, sizeof(request.arg));
            request.arg[0] = mock_info()->pt_base;
            request.arg[1] = mock_info()->heap_base;
        }
        if (random_below(&seed, 8) == 0) {
            ((uint8_t *)&request)[random_below(&seed, 16)] ^= (uint8_t)(1 << random_below(&seed, 8));
        }
        uint32_t seq = request.seq;
        mock_admin_send(&request);
        assert_true(mock_admin_reply(&reply));
        assert_int_equal(reply.seq, seq);
        assert_false(mock_admin_reply(&reply));
    }
}

static void scribbled_indices(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct ppu_admin_queue *queue = (struct ppu_admin_queue *)(void *)(mock.vram + mock_info()->admin_queue);
    struct ppu_error_ring *errors = (struct ppu_error_ring *)(void *)(mock.vram + mock_info()->error_ring);
    for (uint32_t i = 0; i < 2000; i++) {
        queue->request_tail = (uint32_t)random_next(&seed);
        queue->reply_head = (uint32_t)random_next(&seed);
        errors->head = (uint32_t)random_next(&seed);
        mock.reg[PPU_REG_IRQ_PENDING / 4] |= 1u << PPU_IRQ_ADMIN;
        mock_doorbell(random_below(&seed, MOCK_CHANNELS), 1);
    }
    /* Once the words make sense again, it works. */
    queue->request_tail = queue->request_head;
    queue->reply_head = queue->reply_tail;
    assert_true(mock_query(PPU_KEY_FAULTS, 0) >= 2000);
}

/* Random words as blocks: each block is executed or faults, and a channel beside it goes on. */
static void random_blocks(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    uint32_t context = mock_context();
    struct stream good = stream_open(context, 1, 16, 7, 0);
    struct stream s = stream_open(context, 0, 16, 7, 0);
    struct ppu_error_record record;
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t *block = mock_at(s.block_va);
        uint32_t words = random_below(&seed, 200);
        for (uint32_t n = 0; n < words; n++) {
            uint32_t method = PPU_METHOD_WORD(random_below(&seed, 8), random_below(&seed, 6));
            uint32_t sane = random_below(&seed, 2) ? (uint32_t)(MOCK_MEMORY_VA + 16 * random_below(&seed, 0x1000)) : 0;
            block[s.len++] = random_below(&seed, 3) == 0 ? method
                             : random_below(&seed, 2)    ? sane
                                                         : (uint32_t)random_next(&seed);
        }
        stream_submit(&s);
        uint64_t channel_state = mock_query(PPU_KEY_CHANNEL_STATE, s.channel);
        uint64_t code = mock_query(PPU_KEY_CHANNEL_FAULT_CODE, s.channel);
        assert_int_equal(channel_state == PPU_CHANNEL_FAULTED, code != 0);
        assert_true(code != 0 || channel_state == PPU_CHANNEL_IDLE || channel_state == PPU_CHANNEL_PARKED ||
                    channel_state == PPU_CHANNEL_WAITING);
        while (mock.copies) {
            mock_copy_end(random_below(&seed, 4) ? 0 : PPU_FAULT_UNMAPPED, 0);
        }
        mock_settle();
        assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &s.channel, 1).status, 0);
        s.put = 0;
        stream_release(&good, MOCK_MEMORY_VA + 0xe0000, i);
        stream_submit(&good);
        assert_int_equal(((struct ppu_sem *)mock_at(MOCK_MEMORY_VA + 0xe0000))->payload, i);
        while (mock_error(&record)) {
            assert_int_equal(record.channel, s.channel);
        }
    }
}

/* Random events from the device's side, and random bytes over what the host can reach of the firmware's memory. */
static void random_events(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    uint32_t context = mock_context();
    struct stream s = stream_open(context, 0, 16, 7, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t event[PPU_RING_ENTRY_BYTES / 4];
        for (uint32_t n = 0; n < PPU_RING_ENTRY_BYTES / 4; n++) {
            event[n] = random_below(&seed, 2) ? random_below(&seed, 8) : (uint32_t)random_next(&seed);
        }
        mock_push((enum ppu_ring_id)random_below(&seed, PPU_RING_COUNT), event);
        mock_settle();
        if (mock_query(PPU_KEY_CHANNEL_STATE, s.channel) == PPU_CHANNEL_IDLE) {
            stream_acquire(&s, MOCK_MEMORY_VA + 0xe0000, 1, PPU_SEM_EQUAL);
            stream_submit(&s);
        }
    }
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("bad admin requests are answered with what is wrong", bad_requests_are_answered),
        TEST("contexts and channels run out with an error and come back", resources_run_out),
        TEST("flushes are answered when acknowledged, in order [A9]", flushes_are_answered_in_order),
        TEST("requests wait for room in the reply ring", full_reply_ring_waits),
        TEST("a failed allocation is an error or tried again", allocation_hook),
        TEST("random admin requests get one answer each", random_requests),
        TEST("scribbled queue indices are survived", scribbled_indices),
        TEST("random blocks are executed or fault, others unharmed [A2]", random_blocks),
        TEST("random events are survived [A5]", random_events),
    };
    return cmocka_run_group_tests_name("firmware: admin queue and random input", tests, NULL, NULL);
}
