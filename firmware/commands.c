/* SPDX-License-Identifier: MIT */
#include "firmware/commands.h"

#include "firmware/channel.h"
#include "firmware/completion.h"
#include "firmware/copy.h"
#include "firmware/dma.h"
#include "firmware/hal.h"
#include "firmware/launch.h"
#include "firmware/timer.h"
#include "firmware/trace.h"
#include "firmware/vector.h"
#include "firmware/wdu.h"
#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/sem.h"

#define RETEST_FIRST_US 100u /* an acquire that did not pass is tested again, as a channel's (sem.h) */
#define RETEST_MOST_US 10000u
#define LOOKED_AT 6u    /* words of a command: the longest has so many, and of a NOP none is looked at */
#define IN_A_ROW 4u     /* commands of a list before those of others */
#define SEED_BYTES 256u /* a fill begins with so many, and then doubles them */

/* Lies where a grid has its parameters, or behind the room for them. */
struct commands {
    uint32_t count;  /* words */
    uint32_t next;   /* the command that is executed, or will be */
    uint64_t filled; /* bytes of it that are done or under way, when it is a fill */
    uint64_t position;
    uint32_t word[];
};
_Static_assert(sizeof(struct commands) + PPU_ENQUEUE_MAX_WORDS * 4u <= PPU_MAX_PARAM, "any list has room");
_Static_assert(sizeof(struct commands) + PPU_ENQUEUE_GRID_WORDS * 4u == PPU_ENQUEUE_GRID_BYTES, "any beside a grid");

struct list_node commands_ready;
struct list_node commands_acquiring;
static struct list_node starved; /* tasks at a copy for which there was no room */
static struct timer retest;
static uint32_t retest_us;
static FW_DMA struct ppu_sem sem;
static FW_DMA uint32_t seed[SEED_BYTES / sizeof(uint32_t)];

static void look_again(struct timer *unused);

void commands_init(void)
{
    list_init(&commands_ready);
    list_init(&commands_acquiring);
    list_init(&starved);
    retest = (struct timer){ .fire = look_again };
    retest_us = RETEST_FIRST_US;
}

static struct commands *commands_of(const struct task *task)
{
    uint32_t room = task_has_nest(task) ? PPU_NEST_MAX_PARAM : PPU_MAX_PARAM;
    return hal_vram((ppu_vram_t){ task->params.off + (task->listed ? room - PPU_ENQUEUE_GRID_BYTES : 0) });
}

static uint32_t most_words(const struct task *task)
{
    return task->listed ? PPU_ENQUEUE_GRID_WORDS : PPU_ENQUEUE_MAX_WORDS;
}

static ppu_va_t va_of(const uint32_t *data)
{
    return (ppu_va_t){ data[0] | (uint64_t)data[1] << 32 };
}

/* ---- commands ---- */

enum step {
    STEP_NEXT,  /* go on with the next one */
    STEP_WAITS, /* go on with the next one when it has ended */
    STEP_AGAIN, /* the same once more, when somebody says so */
    STEP_FAULT, /* the task has ended */
};

static enum step fail(struct task *task, enum ppu_fault code, uint64_t address, uint8_t access)
{
    struct ppu_error_record record = {
        .code = (uint16_t)code,
        .access = access,
        .address = address,
        .pc = commands_of(task)->position,
        .correlation = task->correlation,
    };
    channel_fail(task->channel, &record); /* which cancels all tasks of the channel, this one too */
    return STEP_FAULT;
}

static enum step fail_memory(struct task *task, enum ppu_fault code)
{
    struct dma_failure failure = dma_failure();
    return fail(task, code, failure.address, failure.access);
}

static enum step start_copy(struct task *task, ppu_va_t from, ppu_va_t to, uint32_t bytes)
{
    switch (copy_start_of(task, commands_of(task)->position, from, to, bytes)) {
    case COPY_STARTED:
        return bytes ? STEP_WAITS : STEP_NEXT;
    case COPY_NO_ROOM:
        list_push_back(&starved, &task->node);
        return STEP_AGAIN;
    default:
        return fail_memory(task, PPU_FAULT_COPY_MEMORY);
    }
}

static enum step command_NOP(struct task *task, const uint32_t *data)
{
    (void)task;
    (void)data;
    return STEP_NEXT;
}

static enum step command_COPY(struct task *task, const uint32_t *data)
{
    return start_copy(task, va_of(data), va_of(data + 2), data[4]);
}

/* The first bytes at once; then each step copies what is there behind itself, twice as much as the one before. */
static enum step command_FILL(struct task *task, const uint32_t *data)
{
    struct commands *commands = commands_of(task);
    ppu_va_t to = va_of(data);
    uint64_t bytes = data[2];
    if (commands->filled == 0) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(seed); i++) {
            seed[i] = data[3];
        }
        commands->filled = PPU_MIN(bytes, SEED_BYTES);
        if (bytes && dma_store(task->context, &seed, to, (uint32_t)commands->filled)) {
            return fail_memory(task, PPU_FAULT_COPY_MEMORY);
        }
    }
    if (commands->filled >= bytes) {
        commands->filled = 0;
        return STEP_NEXT;
    }
    uint64_t more = PPU_MIN(commands->filled, bytes - commands->filled);
    enum step step = start_copy(task, to, (ppu_va_t){ to.va + commands->filled }, (uint32_t)more);
    if (step == STEP_WAITS) {
        commands->filled += more;
        return STEP_AGAIN; /* when the copy has ended */
    }
    return step;
}

static enum step command_SEM_RELEASE(struct task *task, const uint32_t *data)
{
    ppu_va_t at = va_of(data);
    if (dma_release_semaphore(task->context, at, data[2], data[3])) {
        return fail_memory(task, PPU_FAULT_SEM_MEMORY);
    }
    trace_write(PPU_TRACE_SEM_RELEASE, task->correlation, channel_index(task->channel), data[2], data[0]);
    commands_sem_released();
    return STEP_NEXT;
}

static void retest_later(void)
{
    if (!retest.heap_index) {
        timer_start(&retest, retest_us * TIMER_NS_PER_US);
    }
}

static enum step command_SEM_ACQUIRE(struct task *task, const uint32_t *data)
{
    if (dma_fetch(task->context, va_of(data), &sem, sizeof(sem))) {
        return fail_memory(task, PPU_FAULT_SEM_MEMORY);
    }
    if (ppu_sem_passes(PPU_SEM_COMPARE(data[3]), sem.payload, data[2])) {
        trace_write(PPU_TRACE_SEM_ACQUIRE, task->correlation, channel_index(task->channel), data[2], data[0] | 1u);
        return STEP_NEXT;
    }
    list_push_back(&commands_acquiring, &task->node);
    retest_later();
    return STEP_AGAIN;
}

static enum step command_INTERRUPT(struct task *task, const uint32_t *data)
{
    (void)data;
    if (task->channel->vector) {
        vector_raise(task->channel->vector, channel_index(task->channel), task->correlation);
    }
    return STEP_NEXT;
}

/* The list goes on when the grid has ended. A list that was written over may say so again, or without a grid. */
static enum step command_LAUNCH(struct task *task, const uint32_t *data)
{
    if (task->begun) {
        return fail(task, PPU_FAULT_METHOD_DATA, data[-1], 0);
    }
    task->begun = true;
    task->commands = false;
    launch_grid(task);
    wdu_dispatch();
    return STEP_WAITS;
}

/* ---- lists of them ---- */

static bool any_data(const uint32_t *data)
{
    (void)data;
    return true;
}

static bool aligned_sem(const uint32_t *data)
{
    return data[0] % PPU_SEM_ALIGN == 0;
}

static bool good_release(const uint32_t *data)
{
    return aligned_sem(data) && !(data[3] & ~PPU_DMA_FLAG_TIME);
}

static bool good_acquire(const uint32_t *data)
{
    return aligned_sem(data) && data[3] <= PPU_SEM_GREATER_EQUAL;
}

static bool good_fill(const uint32_t *data)
{
    return data[0] % sizeof(uint32_t) == 0 && data[2] % sizeof(uint32_t) == 0;
}

/* Data words of each method. */
enum {
#define PPU_METHOD(name, id, count, title, doc) COUNT_##name = (count),
#include "ppu/method.def"
#undef PPU_METHOD
};

#define COMMAND(name, good) [PPU_METHOD_##name] = { command_##name, good, COUNT_##name }

static const struct command {
    enum step (*run)(struct task *task, const uint32_t *data);
    bool (*good)(const uint32_t *data);
    uint32_t count; /* of data words, or PPU_METHOD_ANY_COUNT */
} kinds[] = {
    COMMAND(NOP, any_data),    COMMAND(SEM_ACQUIRE, good_acquire), COMMAND(SEM_RELEASE, good_release),
    COMMAND(COPY, any_data),   COMMAND(FILL, good_fill),           COMMAND(INTERRUPT, any_data),
    COMMAND(LAUNCH, any_data),
};

/* What begins at the first of `left` words; NULL: nothing that may stand in a list. */
static inline __attribute__((always_inline)) const struct command *command_at(const uint32_t *word, uint32_t left)
{
    uint32_t id = PPU_METHOD_ID(*word), count = PPU_METHOD_COUNT(*word);
    if ((*word & PPU_METHOD_RESERVED_MASK) || id >= PPU_ARRAY_SIZE(kinds) || !kinds[id].run || count >= left) {
        return NULL;
    }
    bool right_count = kinds[id].count == PPU_METHOD_ANY_COUNT || kinds[id].count == count;
    return right_count && kinds[id].good(word + 1) ? &kinds[id] : NULL;
}

/* A list has one launch, into its own TMDQ, and is short then. */
static bool good_launch(const uint32_t *word, uint32_t count, uint32_t stream, uint32_t before)
{
    return word[3] == stream && before == COMMANDS_NO_LAUNCH && count <= PPU_ENQUEUE_GRID_WORDS;
}

uint32_t commands_check(const uint32_t *words, uint32_t count, uint32_t stream, uint32_t *launch)
{
    *launch = COMMANDS_NO_LAUNCH;
    for (uint32_t at = 0; at < count; at += 1u + PPU_METHOD_COUNT(words[at])) {
        const struct command *command = command_at(&words[at], count - at);
        if (!command) {
            return at;
        }
        if (command->run == command_LAUNCH) {
            if (!good_launch(&words[at], count, stream, *launch)) {
                return at;
            }
            *launch = at;
        }
    }
    return COMMANDS_GOOD;
}

void commands_put(struct task *task, const uint32_t *words, uint32_t count, uint64_t position)
{
    struct commands *commands = commands_of(task);
    *commands = (struct commands){ .count = count, .position = position };
    task->commands = true;
    if (task->listed && PPU_METHOD_ID(words[0]) == PPU_METHOD_LAUNCH) {
        commands->next = 1u + COUNT_LAUNCH;
        task->commands = false;
        task->begun = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        __atomic_store_n(&commands->word[i], words[i], __ATOMIC_RELAXED); /* or the loop is a call of memcpy */
    }
}

void commands_go_on(struct task *task)
{
    list_push_back(&commands_ready, &task->node);
}

/* What is executed is a copy of the words: they lie where a process that has all of VRAM could change them. */
static inline enum step step_command(struct task *task, struct commands *commands, uint32_t count)
{
    uint32_t next = commands->next, left = count - next;
    uint32_t word[LOOKED_AT] = { 0 };
    for (uint32_t i = 0; i < PPU_MIN(left, LOOKED_AT); i++) {
        word[i] = __atomic_load_n(&commands->word[next + i], __ATOMIC_RELAXED);
    }
    const struct command *command = command_at(word, left);
    if (!command) {
        return fail(task, PPU_FAULT_METHOD_DATA, word[0], 0);
    }
    enum step step = command->run(task, word + 1);
    if (step == STEP_NEXT || step == STEP_WAITS) {
        commands->next = next + 1u + PPU_METHOD_COUNT(word[0]);
    }
    return step;
}

/* A list that ends completes before the host, which may have been told, asks for anything. */
static void step_task(struct task *task)
{
    struct commands *commands = commands_of(task);
    uint32_t count = PPU_MIN(commands->count, most_words(task));
    for (uint32_t i = 0; i < IN_A_ROW; i++) {
        if (commands->next >= count) {
            completion_defer(task);
            return;
        }
        if (step_command(task, commands, count) != STEP_NEXT) {
            return;
        }
    }
    commands_go_on(task);
}

bool commands_follow(struct task *task)
{
    if (!task->listed || task->commands || task->fault || !task->channel ||
        commands_of(task)->next >= commands_of(task)->count) {
        return false;
    }
    task->commands = true;
    task_enter(task, TASK_PARKED);
    commands_go_on(task);
    return true;
}

bool commands_run(uint32_t most)
{
    for (uint32_t i = 0; i < most && !list_empty(&commands_ready); i++) {
        step_task(PPU_CONTAINER_OF(list_take_front(&commands_ready), struct task, node));
    }
    return !list_empty(&commands_ready);
}

/* ---- what they wait for ---- */

static void all_go_on(struct list_node *from)
{
    if (!list_empty(from)) {
        struct list_node *first = from->next, *last = from->prev;
        list_init(from);
        first->prev = commands_ready.prev;
        commands_ready.prev->next = first;
        last->next = &commands_ready;
        commands_ready.prev = last;
    }
}

void commands_copy_ended(void)
{
    all_go_on(&starved);
}

void commands_test_again(void)
{
    retest_us = RETEST_FIRST_US;
    all_go_on(&commands_acquiring);
}

static void look_again(struct timer *unused)
{
    (void)unused;
    retest_us = PPU_MIN(2u * retest_us, RETEST_MOST_US);
    all_go_on(&commands_acquiring);
}
