/* SPDX-License-Identifier: MIT */
#include "firmware/admin.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/context.h"
#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/policy.h"
#include "firmware/quota.h"
#include "firmware/shared.h"
#include "firmware/stats.h"
#include "firmware/task.h"
#include "firmware/taskq.h"
#include "firmware/timer.h"
#include "firmware/tmdq.h"
#include "firmware/trace.h"
#include "firmware/vector.h"
#include "firmware/workq.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/save.h"
#include "ppu/taskq.h"

/* The host need not tell that it took replies: while requests wait for room, it is looked for. */
#define ROOM_RETRY_NS TIMER_NS_PER_MS

static struct ppu_admin_queue *queue;
static uint32_t request_head;
static uint32_t reply_tail;
static struct admin_ticket tickets[PPU_ADMIN_ENTRIES];
static uint32_t tickets_used;
static struct timer room_timer;

static void look_for_room(struct timer *timer)
{
    (void)timer;
    (void)admin_requests(PPU_ADMIN_ENTRIES);
}

void admin_init(void)
{
    queue = hal_vram(layout.admin_queue);
    memset(queue, 0, sizeof(*queue));
    request_head = 0;
    reply_tail = 0;
    memset(tickets, 0, sizeof(tickets));
    tickets_used = 0;
    room_timer = (struct timer){ .fire = look_for_room };
}

void admin_answer(struct admin_ticket *ticket, enum ppu_fault status, uint32_t payload)
{
    struct ppu_admin_msg *reply = &queue->reply[reply_tail % PPU_ADMIN_ENTRIES];
    *reply = (struct ppu_admin_msg){
        .head = { PPU_ADMIN_VERSION, sizeof(*reply) },
        .op = ticket->op,
        .status = (uint16_t)status,
        .seq = ticket->seq,
        .payload = payload,
    };
    if (status == PPU_FAULT_NONE) {
        memcpy(reply->arg, ticket->result, sizeof(reply->arg));
    }
    shared_publish(&queue->reply_tail, ++reply_tail);
    trace_write(PPU_TRACE_ADMIN, 0, ticket->op, status, ticket->seq);
    ticket->used = false;
    tickets_used--;
    vector_raise(PPU_VECTOR_ADMIN, PPU_NO_CHANNEL, 0);
}

/* ---- Operations. Each answers its ticket or hands it on. ---- */

static void refuse_argument(struct admin_ticket *ticket, uint32_t index)
{
    admin_answer(ticket, PPU_FAULT_ADMIN_ARG, index);
}

static void answer_value(struct admin_ticket *ticket, uint64_t value)
{
    ticket->result[0] = (uint32_t)value;
    ticket->result[1] = (uint32_t)(value >> 32);
    admin_answer(ticket, PPU_FAULT_NONE, 0);
}

static void query_channel(struct admin_ticket *ticket, uint32_t key, uint32_t object)
{
    const struct channel *channel = channel_at(object);
    if (!channel) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, object);
        return;
    }
    switch (key) {
    case PPU_KEY_CHANNEL_STATE:
        answer_value(ticket, channel->state);
        break;
    case PPU_KEY_CHANNEL_PENDING:
        answer_value(ticket, channel->pending);
        break;
    case PPU_KEY_CHANNEL_FAULT_CODE:
        answer_value(ticket, channel_last_fault(channel)->code);
        break;
    case PPU_KEY_CHANNEL_FAULT_ADDRESS:
        answer_value(ticket, channel_last_fault(channel)->address);
        break;
    default:
        answer_value(ticket, channel_last_fault(channel)->pc);
        break;
    }
}

static void query_count(struct admin_ticket *ticket, uint32_t counter, uint32_t object)
{
    const struct channel *channel = channel_at(object);
    if (!channel) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, object);
        return;
    }
    answer_value(ticket, channel_counts(channel)->count[counter]);
}

static void query_context(struct admin_ticket *ticket, uint32_t object)
{
    if (!context_is_open(object)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, object);
        return;
    }
    answer_value(ticket, context_task_count(object));
}

static void query_time(struct admin_ticket *ticket, uint32_t object)
{
    if (!context_is_open(object)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, object);
        return;
    }
    answer_value(ticket, hal_read(PPU_REG_CTX_TIME_US + 4 * object));
}

static void query_quota(struct admin_ticket *ticket, uint32_t key, uint32_t object)
{
    uint32_t context = object & 0xffffu;
    uint32_t resource = object >> 16;
    if (!context_is_open(context) || resource >= PPU_RESOURCES) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, object);
        return;
    }
    const struct quota *quota = &quota_pools[resource].of[context];
    answer_value(ticket, key == PPU_KEY_CONTEXT_HELD ? quota->held : quota->most);
}

static void query_policy(struct admin_ticket *ticket, uint32_t number)
{
    if (number >= PPU_POLICIES) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, number);
        return;
    }
    answer_value(ticket, policy_value(number));
}

static void admin_QUERY(struct admin_ticket *ticket, const uint32_t *arg)
{
    uint32_t key = arg[0];
    switch (key) {
    case PPU_KEY_DOORBELLS:
    case PPU_KEY_BLOCKS:
    case PPU_KEY_LAUNCHES:
    case PPU_KEY_COMPLETIONS:
    case PPU_KEY_INTERRUPTS:
    case PPU_KEY_FAULTS:
    case PPU_KEY_COPIES:
    case PPU_KEY_RECENTRED:
        answer_value(ticket, stats[key]);
        break;
    case PPU_KEY_TASKS_FREE:
        answer_value(ticket, task_count_free());
        break;
    case PPU_KEY_TASKS_TOTAL:
        answer_value(ticket, layout.tasks);
        break;
    case PPU_KEY_POLICY:
        query_policy(ticket, arg[1]);
        break;
    case PPU_KEY_CHANNEL_STATE:
    case PPU_KEY_CHANNEL_PENDING:
    case PPU_KEY_CHANNEL_FAULT_CODE:
    case PPU_KEY_CHANNEL_FAULT_ADDRESS:
    case PPU_KEY_CHANNEL_FAULT_PC:
        query_channel(ticket, key, arg[1]);
        break;
#define PPU_COUNTER(name, number, doc)                   \
    case PPU_KEY_CHANNEL_##name:                         \
        query_count(ticket, PPU_COUNTER_##name, arg[1]); \
        break;
#include "ppu/counter.def"
#undef PPU_COUNTER
    case PPU_KEY_CONTEXT_TASKS:
        query_context(ticket, arg[1]);
        break;
    case PPU_KEY_CONTEXT_TIME_US:
        query_time(ticket, arg[1]);
        break;
    case PPU_KEY_CONTEXT_HELD:
    case PPU_KEY_CONTEXT_QUOTA:
        query_quota(ticket, key, arg[1]);
        break;
    default:
        admin_answer(ticket, PPU_FAULT_NO_KEY, key);
        break;
    }
}

/* [off, off + bytes) within [from, end). */
static bool lies_in(uint64_t off, uint64_t bytes, uint64_t from, uint64_t end)
{
    return off >= from && off <= end && bytes <= end - off;
}

/* End of what the firmware reaches. */
static uint64_t reachable_vram(void)
{
    return caps.vram_bytes < (1ull << 30) ? caps.vram_bytes : 1ull << 30;
}

static void admin_CONTEXT_CREATE(struct admin_ticket *ticket, const uint32_t *arg)
{
    uint32_t root = arg[0];
    uint32_t pool_end = layout.pt_base.off + layout.pt_bytes;
    if (root % PPU_PT_ALIGN || root < layout.pt_base.off || root >= pool_end) {
        refuse_argument(ticket, 0);
        return;
    }
    if (arg[1] % PPU_SWITCH_ALIGN ||
        !lies_in(arg[1], hal_read(PPU_REG_SWITCH_BYTES), layout.heap_base, caps.vram_bytes)) {
        refuse_argument(ticket, 1);
        return;
    }
    if (!context_open((ppu_vram_t){ root }, (ppu_vram_t){ arg[1] }, &ticket->result[0])) {
        admin_answer(ticket, PPU_FAULT_NO_RESOURCE, 0);
        return;
    }
    admin_answer(ticket, PPU_FAULT_NONE, 0);
}

static void admin_CONTEXT_DESTROY(struct admin_ticket *ticket, const uint32_t *arg)
{
    if (!context_is_open(arg[0])) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, arg[0]);
        return;
    }
    enum ppu_fault refused = context_close(arg[0], ticket);
    if (refused) {
        admin_answer(ticket, refused, arg[0]);
    }
}

static void admin_CHANNEL_CREATE(struct admin_ticket *ticket, const uint32_t *arg)
{
    uint32_t context = arg[0];
    ppu_va_t ring = { arg[1] | (uint64_t)arg[2] << 32 };
    uint32_t entries = arg[3];
    uint32_t priority = arg[4];
    uint32_t vector = arg[5];
    if (!context_is_open(context)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, context);
    } else if (ring.va % PPU_GP_ENTRY_BYTES || ring.va >> PPU_VA_BITS) {
        refuse_argument(ticket, 1);
    } else if (entries < PPU_GP_MIN_ENTRIES || entries > PPU_GP_MAX_ENTRIES ||
               (ring.va + (uint64_t)entries * PPU_GP_ENTRY_BYTES - 1) >> PPU_VA_BITS) {
        refuse_argument(ticket, 3);
    } else if (priority >= PPU_PRIORITIES) {
        refuse_argument(ticket, 4);
    } else if (vector && (vector < PPU_VECTOR_FIRST_CHANNEL || vector >= caps.vectors)) {
        refuse_argument(ticket, 5);
    } else {
        struct channel *channel = channel_open(context, ring, entries, priority, vector);
        ticket->result[0] = channel ? channel_index(channel) : 0;
        admin_answer(ticket, channel ? PPU_FAULT_NONE : quota_refusal(PPU_RESOURCE_CHANNELS, context), context);
    }
}

static void end_channel(struct admin_ticket *ticket, uint32_t index)
{
    struct channel *channel = channel_at(index);
    if (!channel || channel->state == PPU_CHANNEL_CLOSED) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, index);
    } else if (channel->ending) {
        admin_answer(ticket, PPU_FAULT_IN_USE, index);
    } else {
        channel_end(channel, ticket);
    }
}

static void admin_CHANNEL_DESTROY(struct admin_ticket *ticket, const uint32_t *arg)
{
    end_channel(ticket, arg[0]);
}

static void admin_CHANNEL_RESET(struct admin_ticket *ticket, const uint32_t *arg)
{
    end_channel(ticket, arg[0]);
}

static void admin_MMU_FLUSH(struct admin_ticket *ticket, const uint32_t *arg)
{
    if (!context_is_open(arg[0])) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, arg[0]);
        return;
    }
    context_flush(arg[0], ticket);
}

/* Index of the first argument about save areas that cannot be; PPU_ADMIN_ARGS: all can. */
static uint32_t wrong_in_saves(const struct nest_plan *plan)
{
    if (plan->places > PPU_SAVE_PLACES) {
        return 9;
    }
    if (plan->state_bytes % PPU_SAVE_ALIGN || plan->state_bytes > PPU_NEST_MAX_STATE ||
        !plan->state_bytes != !plan->places) {
        return 8;
    }
    if (plan->save_bytes < (uint64_t)plan->depth * plan->state_bytes || !plan->save_bytes != !plan->places) {
        return 7;
    }
    if (plan->save.off % PPU_SAVE_ALIGN ||
        (plan->places && !lies_in(plan->save.off, plan->save_bytes, layout.heap_base, reachable_vram()))) {
        return 6;
    }
    return PPU_ADMIN_ARGS;
}

/* Index of the first argument that cannot be; PPU_ADMIN_ARGS: all can. */
static uint32_t wrong_in_plan(const struct nest_plan *plan)
{
    if (plan->va.va % PPU_NEST_ALIGN ||
        (plan->va.va + PPU_NEST_BYTES(PPU_NEST_MAX_TASKS, PPU_NEST_MAX_DEPTH)) >> PPU_VA_BITS) {
        return 1;
    }
    if (!PPU_IS_POWER_OF_TWO(plan->tasks) || plan->tasks < PPU_NEST_MIN_TASKS || plan->tasks > PPU_NEST_MAX_TASKS) {
        return 4;
    }
    if (plan->depth < 1 || plan->depth > PPU_NEST_MAX_DEPTH || plan->depth > plan->tasks) {
        return 5;
    }
    if (plan->vram.off % PPU_NEST_ALIGN ||
        !lies_in(plan->vram.off, PPU_NEST_BYTES(plan->tasks, plan->depth), layout.heap_base, reachable_vram())) {
        return 3;
    }
    return wrong_in_saves(plan);
}

static void admin_NEST_OPEN(struct admin_ticket *ticket, const uint32_t *arg)
{
    struct nest_plan plan = {
        .context = arg[0],
        .va = { arg[1] | (uint64_t)arg[2] << 32 },
        .vram = { arg[3] },
        .tasks = arg[4],
        .depth = arg[5],
        .save = { arg[6] },
        .save_bytes = arg[7],
        .state_bytes = arg[8],
        .places = arg[9],
    };
    uint32_t wrong = wrong_in_plan(&plan);
    if (!context_is_open(plan.context)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, plan.context);
    } else if (wrong < PPU_ADMIN_ARGS) {
        refuse_argument(ticket, wrong);
    } else {
        admin_answer(ticket, nest_open(&plan), plan.context);
    }
}

/* Index of the first argument of WORKQ_CREATE that cannot be; PPU_ADMIN_ARGS: all can. */
static uint32_t wrong_in_workq(const struct workq_plan *plan)
{
    uint64_t vram_end = reachable_vram();
    if (plan->entries < PPU_WORKQ_MIN_ENTRIES || plan->entries > PPU_WORKQ_MAX_ENTRIES) {
        return 4;
    }
    if (plan->block_bytes % PPU_WORKQ_BLOCK_ALIGN || plan->block_bytes < PPU_WORKQ_MIN_BLOCK ||
        plan->block_bytes > PPU_WORKQ_MAX_BLOCK) {
        return 5;
    }
    uint64_t bytes = ppu_workq_bytes(plan->entries, plan->block_bytes);
    if (plan->va.va % PPU_WORKQ_ALIGN || (plan->va.va + bytes) >> PPU_VA_BITS) {
        return 1;
    }
    if (plan->vram.off % PPU_WORKQ_ALIGN || !lies_in(plan->vram.off, bytes, layout.heap_base, vram_end)) {
        return 3;
    }
    if (plan->priority >= PPU_PRIORITIES) {
        return 6;
    }
    if (plan->vector && (plan->vector < PPU_VECTOR_FIRST_CHANNEL || plan->vector >= caps.vectors)) {
        return 7;
    }
    return plan->first < ppu_workq_period(plan->entries) ? PPU_ADMIN_ARGS : 8;
}

/* It needs a channel, too. */
static enum ppu_fault refusal_of_workq(uint32_t context)
{
    enum ppu_fault refusal = quota_refusal(PPU_RESOURCE_WORKQS, context);
    return refusal == PPU_FAULT_QUOTA ? refusal : quota_refusal(PPU_RESOURCE_CHANNELS, context);
}

static void admin_WORKQ_CREATE(struct admin_ticket *ticket, const uint32_t *arg)
{
    struct workq_plan plan = {
        .context = arg[0],
        .va = { arg[1] | (uint64_t)arg[2] << 32 },
        .vram = { arg[3] },
        .entries = arg[4],
        .block_bytes = arg[5],
        .priority = arg[6],
        .vector = arg[7],
        .first = arg[8],
    };
    uint32_t wrong = wrong_in_workq(&plan);
    if (!context_is_open(plan.context)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, plan.context);
    } else if (wrong < PPU_ADMIN_ARGS) {
        refuse_argument(ticket, wrong);
    } else {
        const struct channel *channel = workq_create(&plan);
        ticket->result[0] = channel ? channel_index(channel) : 0;
        admin_answer(ticket, channel ? PPU_FAULT_NONE : refusal_of_workq(plan.context), plan.context);
    }
}

static uint32_t wrong_in_taskq(const struct taskq_plan *plan)
{
    uint64_t bytes = PPU_TASKQ_BYTES(plan->entries, plan->entry_bytes);
    if (!PPU_IS_POWER_OF_TWO(plan->entries) || plan->entries < PPU_TASKQ_MIN_ENTRIES ||
        plan->entries > PPU_TASKQ_MAX_ENTRIES) {
        return 2;
    }
    if (plan->entry_bytes % PPU_TASKQ_ENTRY_ALIGN || plan->entry_bytes < sizeof(struct ppu_taskq_entry) ||
        plan->entry_bytes > PPU_TASKQ_MAX_ENTRY_BYTES) {
        return 3;
    }
    if (plan->vram.off % PPU_TASKQ_ALIGN || !lies_in(plan->vram.off, bytes, layout.heap_base, reachable_vram())) {
        return 1;
    }
    return PPU_ADMIN_ARGS;
}

static void admin_TASKQ_OPEN(struct admin_ticket *ticket, const uint32_t *arg)
{
    struct taskq_plan plan = { .context = arg[0], .vram = { arg[1] }, .entries = arg[2], .entry_bytes = arg[3] };
    uint32_t wrong = wrong_in_taskq(&plan);
    if (!context_is_open(plan.context)) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, plan.context);
    } else if (wrong < PPU_ADMIN_ARGS) {
        refuse_argument(ticket, wrong);
    } else {
        bool opened = taskq_open(&plan, &ticket->result[0]);
        admin_answer(ticket, opened ? PPU_FAULT_NONE : quota_refusal(PPU_RESOURCE_TASKQS, plan.context), plan.context);
    }
}

static void admin_TASKQ_CLOSE(struct admin_ticket *ticket, const uint32_t *arg)
{
    admin_answer(ticket, taskq_close(arg[0]), arg[0]);
}

static void admin_TASKQ_REOPEN(struct admin_ticket *ticket, const uint32_t *arg)
{
    admin_answer(ticket, taskq_reopen(arg[0]), arg[0]);
}

static void admin_POLICY(struct admin_ticket *ticket, const uint32_t *arg)
{
    if (policy_set(arg[0], arg[1])) {
        admin_answer(ticket, PPU_FAULT_NONE, 0);
    } else {
        refuse_argument(ticket, arg[0] < PPU_POLICIES);
    }
}

static void admin_QUOTA(struct admin_ticket *ticket, const uint32_t *arg)
{
    if (!context_is_open(arg[0])) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, arg[0]);
    } else if (arg[1] >= PPU_RESOURCES) {
        refuse_argument(ticket, 1);
    } else if (!quota_set(arg[0], arg[1], arg[2])) {
        refuse_argument(ticket, 2);
    } else {
        admin_answer(ticket, PPU_FAULT_NONE, 0);
    }
}

static void admin_STREAMS(struct admin_ticket *ticket, const uint32_t *arg)
{
    uint32_t at = arg[1], count = arg[2];
    if (!context_is_open(arg[0])) {
        admin_answer(ticket, PPU_FAULT_NO_OBJECT, arg[0]);
    } else if (count > PPU_MAX_STREAMS || count < tmdq_count(arg[0])) {
        refuse_argument(ticket, 2);
    } else if (at % sizeof(ppu_task_t) ||
               !lies_in(at, count * sizeof(ppu_task_t), layout.heap_base, reachable_vram())) {
        refuse_argument(ticket, 1);
    } else {
        tmdq_move(arg[0], (ppu_vram_t){ at }, count);
        admin_answer(ticket, PPU_FAULT_NONE, 0);
    }
}

struct operation {
    void (*run)(struct admin_ticket *ticket, const uint32_t *arg);
    uint32_t args; /* words used */
};

static const struct operation operations[] = {
    [PPU_ADMIN_QUERY] = { admin_QUERY, 2 },
    [PPU_ADMIN_CONTEXT_CREATE] = { admin_CONTEXT_CREATE, 2 },
    [PPU_ADMIN_CONTEXT_DESTROY] = { admin_CONTEXT_DESTROY, 1 },
    [PPU_ADMIN_CHANNEL_CREATE] = { admin_CHANNEL_CREATE, 6 },
    [PPU_ADMIN_CHANNEL_DESTROY] = { admin_CHANNEL_DESTROY, 1 },
    [PPU_ADMIN_CHANNEL_RESET] = { admin_CHANNEL_RESET, 1 },
    [PPU_ADMIN_MMU_FLUSH] = { admin_MMU_FLUSH, 1 },
    [PPU_ADMIN_NEST_OPEN] = { admin_NEST_OPEN, 10 },
    [PPU_ADMIN_WORKQ_CREATE] = { admin_WORKQ_CREATE, 9 },
    [PPU_ADMIN_TASKQ_OPEN] = { admin_TASKQ_OPEN, 4 },
    [PPU_ADMIN_POLICY] = { admin_POLICY, 2 },
    [PPU_ADMIN_TASKQ_CLOSE] = { admin_TASKQ_CLOSE, 1 },
    [PPU_ADMIN_TASKQ_REOPEN] = { admin_TASKQ_REOPEN, 1 },
    [PPU_ADMIN_QUOTA] = { admin_QUOTA, 3 },
    [PPU_ADMIN_STREAMS] = { admin_STREAMS, 3 },
};
#define OPERATIONS PPU_ARRAY_SIZE(operations)

/* ---- The queue. ---- */

static struct admin_ticket *ticket_new(const struct ppu_admin_msg *request)
{
    for (uint32_t i = 0; i < PPU_ADMIN_ENTRIES; i++) {
        if (!tickets[i].used) {
            tickets[i] = (struct admin_ticket){ .used = true, .op = request->op, .seq = request->seq };
            tickets_used++;
            return &tickets[i];
        }
    }
    return NULL;
}

static void perform(const struct ppu_admin_msg *request)
{
    struct admin_ticket *ticket = ticket_new(request);
    FW_ASSERT(ticket);
    if (request->head.version != PPU_ADMIN_VERSION || request->head.size_bytes != sizeof(*request) ||
        request->op >= OPERATIONS || !operations[request->op].run || request->status || request->payload) {
        admin_answer(ticket, PPU_FAULT_ADMIN_OP, request->op);
        return;
    }
    for (uint32_t i = operations[request->op].args; i < PPU_ADMIN_ARGS; i++) {
        if (request->arg[i]) {
            refuse_argument(ticket, i);
            return;
        }
    }
    operations[request->op].run(ticket, request->arg);
}

/* True when a request taken now can be answered whatever happens: replies not read and those to come fit the ring. */
static bool has_reply_room(void)
{
    uint32_t unread = reply_tail - shared_read(&queue->reply_head);
    return unread < PPU_ADMIN_ENTRIES && tickets_used < PPU_ADMIN_ENTRIES - unread;
}

static uint32_t requests_waiting(void)
{
    uint32_t waiting = shared_read(&queue->request_tail) - request_head;
    if (waiting > PPU_ADMIN_ENTRIES) {
        log_print("admin: request_tail is %u entries beyond request_head; skipped\n", (unsigned)waiting);
        request_head += waiting;
        shared_publish(&queue->request_head, request_head);
        return 0;
    }
    return waiting;
}

bool admin_requests(uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        if (requests_waiting() == 0) {
            return false;
        }
        if (!has_reply_room()) {
            timer_start(&room_timer, ROOM_RETRY_NS);
            return false;
        }
        struct ppu_admin_msg request = queue->request[request_head % PPU_ADMIN_ENTRIES];
        shared_publish(&queue->request_head, ++request_head);
        perform(&request);
    }
    return true;
}
