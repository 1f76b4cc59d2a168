/* SPDX-License-Identifier: MIT */
#include "tests/firmware/mock_hal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/hal.h"
#include "ppu/base.h"
#include "ppu/macros.h"
#include "tests/firmware/coroutine.h"

#define STACK_BYTES (256u * PPU_KIB)

struct mock mock;

extern uint8_t __start_fw_dma[], __stop_fw_dma[];

static struct coroutine firmware;
static struct coroutine test;                /* whoever settles: an actor of an order has a stack of its own */
static _Alignas(16) char stack[STACK_BYTES]; /* the firmware's */
static bool running;
static bool stopping;

#define R(name) mock.reg[PPU_REG_##name / 4]

/* ---- Memory. ---- */

void *mock_at(uint64_t va)
{
    assert_true(va >= MOCK_MEMORY_VA && va < MOCK_MEMORY_VA + MOCK_MEMORY_BYTES);
    return mock.memory + (va - MOCK_MEMORY_VA);
}

static uint16_t find(uint32_t space, uint64_t address, uint64_t len_bytes, uint8_t **memory)
{
    uint64_t base = 0;
    uint64_t size = 0;
    if (space == PPU_SPACE_VRAM) {
        *memory = mock.vram;
        size = MOCK_VRAM_BYTES;
    } else if (space == PPU_SPACE_MCU) {
        *memory = __start_fw_dma;
        base = PPU_MCU_DTCM;
        size = (uintptr_t)__stop_fw_dma - (uintptr_t)__start_fw_dma;
    } else if (space < R(CONTEXTS) && (mock.reg[PPU_REG_CTX_ROOT / 4 + space] & 1)) {
        bool vram = address >= MOCK_VRAM_VA;
        *memory = vram ? mock.vram : mock.memory;
        base = vram ? MOCK_VRAM_VA : MOCK_MEMORY_VA;
        size = vram ? MOCK_VRAM_BYTES : MOCK_MEMORY_BYTES;
    }
    if (address < base || address - base >= size || len_bytes > size - (address - base)) {
        return PPU_FAULT_UNMAPPED;
    }
    *memory += address - base;
    return 0;
}

static uint16_t copy_now(struct ppu_dma_desc *desc)
{
    uint8_t *from;
    uint8_t *to;
    desc->result = desc->src;
    desc->result_access = PPU_ACCESS_READ;
    uint16_t status = find(desc->src_space, desc->src, desc->len_bytes, &from);
    if (status) {
        return status;
    }
    desc->result = desc->dst;
    desc->result_access = PPU_ACCESS_WRITE;
    status = find(desc->dst_space, desc->dst, desc->len_bytes, &to);
    if (!status) {
        memmove(to, from, desc->len_bytes);
    }
    return status;
}

void mock_touch(uint64_t va)
{
    for (uint32_t i = 0; i < PPU_MAX_ARMED; i++) {
        if (mock.sem[i].armed && mock.sem[i].va == va) {
            struct ppu_touch_event event = { .entry = i, .tag = mock.sem[i].tag };
            mock.sem[i].armed = false;
            mock_push(PPU_RING_TOUCH, &event);
        }
    }
}

static uint16_t sem_release(struct ppu_dma_desc *desc)
{
    uint8_t *memory;
    desc->result = desc->dst;
    desc->result_access = PPU_ACCESS_WRITE;
    uint16_t status = find(desc->dst_space, desc->dst, sizeof(struct ppu_sem), &memory);
    if (status) {
        return status;
    }
    struct ppu_sem *sem = (struct ppu_sem *)(void *)memory;
    if (desc->flags & PPU_DMA_FLAG_TIME) {
        sem->time_ns = mock.now_ns;
    }
    sem->payload = desc->value;
    mock_touch(desc->dst);
    return 0;
}

static uint16_t sem_arm(struct ppu_dma_desc *desc)
{
    uint8_t *memory;
    desc->result = desc->src;
    desc->result_access = PPU_ACCESS_READ;
    uint16_t status = find(desc->src_space, desc->src, sizeof(struct ppu_sem), &memory);
    if (status) {
        return status;
    }
    assert_true(desc->entry < PPU_MAX_ARMED);
    mock.sem[desc->entry].armed = true;
    mock.sem[desc->entry].va = desc->src;
    mock.sem[desc->entry].tag = desc->tag;
    desc->result = ((struct ppu_sem *)(void *)memory)->payload;
    return 0;
}

static void submit(uint32_t address)
{
    uint8_t *memory;
    assert_int_equal(find(PPU_SPACE_MCU, address, sizeof(struct ppu_dma_desc), &memory), 0);
    struct ppu_dma_desc *desc = (struct ppu_dma_desc *)(void *)memory;
    switch (desc->op) {
    case PPU_DMA_COPY:
        desc->status = desc->len_bytes > PPU_COPY_SYNC_MAX ? PPU_FAULT_BAD_DESC : copy_now(desc);
        break;
    case PPU_DMA_COPY_QUEUED:
        desc->status = mock.copies == R(COPIES) ? PPU_FAULT_COPY_QUEUE_FULL : PPU_FAULT_NONE;
        if (!desc->status) {
            mock.copy[mock.copies++] = *desc;
        }
        break;
    case PPU_DMA_SEM_RELEASE:
        desc->status = sem_release(desc);
        break;
    case PPU_DMA_SEM_ARM:
        desc->status = sem_arm(desc);
        break;
    default:
        fail_msg("descriptor with op %u", desc->op);
    }
}

/* ---- Rings and slots. ---- */

void mock_push(enum ppu_ring_id id, const void *entry)
{
    uint32_t size = mock.reg[PPU_REG_RING_SIZE / 4 + id];
    uint8_t *ring = mock.vram + mock.reg[PPU_REG_RING_BASE / 4 + id];
    struct ppu_ring_header *header = (struct ppu_ring_header *)(void *)ring;
    assert_true(header->tail - header->head < size);
    memcpy(ring + sizeof(*header) + (header->tail & (size - 1)) * PPU_RING_ENTRY_BYTES, entry, PPU_RING_ENTRY_BYTES);
    header->tail++;
    R(IRQ_PENDING) |= 1u << PPU_IRQ_EVENT;
}

static uint64_t slot_run_ns(uint32_t slot)
{
    bool runs = mock.slot_task[slot] && !mock.slot_waits[slot];
    return mock.slot_run_ns[slot] + (runs ? mock.now_ns - mock.slot_since_ns[slot] : 0);
}

void mock_slot_room(uint32_t slot, bool room)
{
    mock.slot_run_ns[slot] = slot_run_ns(slot);
    mock.slot_since_ns[slot] = mock.now_ns;
    mock.slot_waits[slot] = !room;
}

void mock_slot_step(uint32_t slot)
{
    mock.slot_step_ns[slot] = slot_run_ns(slot);
}

void mock_slot_event(uint32_t slot, enum ppu_slot_event_kind kind, uint32_t arg)
{
    struct ppu_slot_event event = { .kind = kind, .slot = slot, .task = mock.slot_task[slot], .arg = arg };
    assert_true(mock.slot_task[slot] != 0);
    if (kind != PPU_SLOT_WAITS) {
        mock_slot_room(slot, false);
        mock.slot_task[slot] = 0;
    }
    mock_push(PPU_RING_SLOT, &event);
}

static void slot_start(uint32_t slot, uint32_t offset)
{
    assert_int_equal(mock.slot_task[slot], 0);
    assert_true(offset + sizeof(struct ppu_tmd) <= R(PROT_LIMIT));
    mock.slot_task[slot] = offset;
    mock.slot_run_ns[slot] = mock.slot_step_ns[slot] = 0;
    mock.slot_since_ns[slot] = mock.now_ns;
    mock.slot_waits[slot] = false;
    const struct ppu_tmd *tmd = (const struct ppu_tmd *)(const void *)(mock.vram + offset);
    mock.reg[PPU_REG_SLOT_RANK / 4 + slot] = tmd->priority;
    mock.start_log[mock.started++ % 4096] = tmd->correlation;
}

void mock_flush_done(void)
{
    struct ppu_slot_event event = { .kind = PPU_SLOT_FLUSHED, .arg = R(MMU_FLUSH_TAG) };
    mock.flushes--;
    mock_push(PPU_RING_SLOT, &event);
}

void mock_copy_end(uint16_t status, uint64_t done_bytes)
{
    assert_true(mock.copies > 0);
    struct ppu_dma_desc copy = mock.copy[0];
    memmove(mock.copy, mock.copy + 1, --mock.copies * sizeof(mock.copy[0]));
    struct ppu_copy_event event = { .tag = copy.tag, .status = status, .done_bytes = done_bytes };
    if (!status) {
        event.done_bytes = copy.len_bytes;
        event.status = copy_now(&copy);
        event.address = copy.result;
    }
    mock_push(PPU_RING_COPY, &event);
}

static void cancel_copies(uint32_t tag)
{
    uint32_t count = mock.copies;
    struct ppu_dma_desc copies[PPU_MAX_COPIES];
    memcpy(copies, mock.copy, sizeof(copies));
    mock.copies = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (copies[i].tag == tag) {
            struct ppu_copy_event event = { .tag = copies[i].tag, .status = PPU_FAULT_CANCELLED };
            mock_push(PPU_RING_COPY, &event);
        } else {
            mock.copy[mock.copies++] = copies[i];
        }
    }
}

/* ---- Traces. ---- */

static void trace_begin(uint32_t offset)
{
    const struct ppu_trace_ring head = {
        .head = { PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) },
        .size = R(FW_TRACE_SIZE),
    };
    R(FW_TRACE_BASE) = offset;
    memcpy(mock.vram + offset, &head, sizeof(head));
}

static void trace_add(uint32_t address)
{
    uint8_t *memory;
    assert_int_equal(find(PPU_SPACE_MCU, address, sizeof(struct ppu_trace_words), &memory), 0);
    struct ppu_trace_words *words = (struct ppu_trace_words *)(void *)memory;
    struct ppu_trace_ring *ring = (struct ppu_trace_ring *)(void *)(mock.vram + R(FW_TRACE_BASE));
    struct ppu_trace_record *records = (struct ppu_trace_record *)(void *)(ring + 1);
    words->time_ns = mock.now_ns;
    if (R(FW_TRACE_SIZE)) {
        records[ring->tail & (R(FW_TRACE_SIZE) - 1)] = (struct ppu_trace_record){
            .version = PPU_TRACE_VERSION,
            .size_bytes = sizeof(records[0]),
            .type = (uint16_t)words->type,
            .correlation = words->correlation,
            .time_ns = words->time_ns,
            .id = { words->id[0], words->id[1], words->id[2] },
            .sequence = ring->tail,
        };
        ring->tail++;
    }
}

/* ---- Registers. ---- */

/* A channel that was rung, at or after R(DB_TAKE) if there is one. */
static uint32_t doorbell_next(void)
{
    const uint32_t first = R(DB_TAKE), words = PPU_MAX_CHANNELS / 32;
    for (uint32_t i = 0; i <= words; i++) {
        const uint32_t word = (first / 32 + i) % words;
        const uint32_t pending =
            mock.reg[PPU_REG_DB_PENDING / 4 + word] & (i == 0 ? UINT32_MAX << first % 32 : UINT32_MAX);
        if (pending != 0) {
            return 32 * word + (uint32_t)__builtin_ctz(pending);
        }
    }
    return PPU_DB_NONE;
}

static bool in_array(uint32_t reg, uint32_t first, uint32_t count, uint32_t *index)
{
    *index = (reg - first) / 4;
    return reg >= first && *index < count;
}

#define IN(name) in_array(reg, PPU_REG_##name, PPU_REGS_##name, &index)

void hal_write(uint32_t reg, uint32_t value)
{
    uint32_t index;
    assert_true(reg < PPU_REG_SPACE && reg % 4 == 0);
    mock.accesses++;
    if (reg == PPU_REG_DMA_SUBMIT) {
        submit(value);
    } else if (reg == PPU_REG_VECTOR_RAISE) {
        assert_true(value < PPU_MAX_VECTORS);
        mock.raised[value]++;
    } else if (reg == PPU_REG_DB_TAKE) {
        assert_true(value < PPU_MAX_CHANNELS);
        mock.reg[PPU_REG_DB_PENDING / 4 + value / 32] &= ~(1u << value % 32);
        R(DB_TAKE) = (value + 1) % PPU_MAX_CHANNELS;
    } else if (IN(SLOT_START)) {
        slot_start(index, value);
    } else if (IN(SLOT_CONTROL)) {
        mock.slot_command[index] = value;
        if (value == PPU_SLOT_CMD_KILL && mock.slot_task[index] && !mock.hold_kills) {
            mock_slot_event(index, PPU_SLOT_KILLED, 0);
        }
    } else if (reg == PPU_REG_SLOT_LINGER) {
        R(SLOT_LINGER) = value;
        for (; !value && mock.lingering; mock.lingering &= mock.lingering - 1) {
            mock_slot_event((uint32_t)__builtin_ctzll(mock.lingering), PPU_SLOT_PARKED, 0);
        }
    } else if (IN(RING_BASE)) {
        mock.reg[reg / 4] = value;
        memset(mock.vram + value, 0, sizeof(struct ppu_ring_header));
    } else if (reg == PPU_REG_MMU_FLUSH) {
        mock.flushes++;
        if (!mock.hold_flushes) {
            mock_flush_done();
        }
    } else if (reg == PPU_REG_DMA_CANCEL) {
        cancel_copies(value);
    } else if (reg == PPU_REG_SEM_DISARM) {
        assert_true(value < PPU_MAX_ARMED);
        mock.sem[value].armed = false;
    } else if (reg == PPU_REG_FW_TRACE_BASE) {
        trace_begin(value);
    } else if (reg == PPU_REG_FW_TRACE_ADD) {
        trace_add(value);
    } else if (reg == PPU_REG_MARK) {
        assert_true(value < 16 * 16);
        mock.marks[value & 15]++;
    } else if (reg == PPU_REG_LOG_PUTC) {
        mock.log[mock.log_used++ % (sizeof(mock.log) - 1)] = (char)value;
    } else {
        mock.reg[reg / 4] = value;
    }
}

uint32_t hal_read(uint32_t reg)
{
    assert_true(reg < PPU_REG_SPACE && reg % 4 == 0);
    mock.accesses++;
    if (reg == PPU_REG_HOOK_FAIL_ALLOC) {
        return R(HOOK_FAIL_ALLOC) ? R(HOOK_FAIL_ALLOC)-- : 0;
    }
    if (reg == PPU_REG_DB_NEXT) {
        return doorbell_next();
    }
    uint32_t index;
    if (IN(SLOT_RUN_US)) {
        return (uint32_t)(slot_run_ns(index) / 1000);
    }
    if (IN(SLOT_STATE)) {
        return mock.slot_task[index] ? PPU_SLOT_RUNNING : PPU_SLOT_FREE;
    }
    if (IN(SLOT_STILL_US)) {
        return (uint32_t)((slot_run_ns(index) - mock.slot_step_ns[index]) / 1000);
    }
    return mock.reg[reg / 4];
}

void *hal_vram(ppu_vram_t vram)
{
    assert_true(vram.off < MOCK_VRAM_BYTES);
    return mock.vram + vram.off;
}

uint32_t hal_mcu_address(const void *object)
{
    uintptr_t address = (uintptr_t)object;
    assert_true(address >= (uintptr_t)__start_fw_dma && address < (uintptr_t)__stop_fw_dma);
    return PPU_MCU_DTCM + (uint32_t)(address - (uintptr_t)__start_fw_dma);
}

uint64_t hal_time(void)
{
    return mock.now_ns;
}

uint32_t hal_take_events(void)
{
    uint32_t events = R(IRQ_PENDING);
    R(IRQ_PENDING) = 0;
    return events;
}

bool hal_wait(uint32_t *events)
{
    if (!R(IRQ_PENDING)) {
        coroutine_switch(&firmware, &test);
    }
    *events = hal_take_events();
    return !stopping;
}

_Noreturn void hal_crash(const char *file, uint32_t line)
{
    fprintf(stderr, "firmware: assertion failed at %s:%u\n", file, (unsigned)line);
    abort();
}

const uint8_t *hal_build_id(void)
{
    static const uint8_t id[PPU_BUILD_ID_BYTES] = { 0xb1, 0xd0 };
    return id;
}

/* ---- Life. ---- */

static void run(void)
{
    firmware_main();
    coroutine_switch(&firmware, &test);
}

static void reset_registers(void)
{
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) \
    for (uint32_t i = 0; i < (count); i++) {                             \
        mock.reg[(offset) / 4 + i] = (reset);                            \
    }
#include "ppu/regs.def"
#undef PPU_REG
}

void mock_reset(void)
{
    uint8_t *vram = mock.vram ? mock.vram : malloc(MOCK_VRAM_BYTES);
    memset(&mock, 0, sizeof(mock));
    memset(vram, 0xa5, MOCK_VRAM_BYTES); /* the firmware relies on nothing */
    mock.vram = vram;
    mock.now_ns = 1000;
    reset_registers();
    R(VRAM_SIZE_LO) = MOCK_VRAM_BYTES;
    R(CHANNELS) = MOCK_CHANNELS;
    R(CONTEXTS) = MOCK_CONTEXTS;
    R(SLOTS) = MOCK_SLOTS;
    R(SMS) = 4;
    R(SM_WARPS) = 64;
    R(SM_VREGS) = 65536;
    R(SM_SHARED) = PPU_MAX_SHARED;
    R(ARMED) = PPU_MAX_ARMED;
    R(COPIES) = PPU_MAX_COPIES;
    R(SWITCH_BYTES) = 64 * PPU_KIB;
}

static void start(void)
{
    stopping = false;
    running = true;
    coroutine_begin(&firmware, stack, sizeof(stack), run);
    mock_settle();
    assert_int_equal(R(BOOT_STATUS), PPU_BOOT_READY);
}

void mock_start(void)
{
    mock_reset();
    start();
}

void mock_start_with_hooks(void)
{
    mock_reset();
    R(FEATURES) = PPU_FEATURE_TEST_HOOKS | PPU_FEATURE_SUBVECTOR;
    start();
}

void mock_start_with_slots(uint32_t slots, uint32_t contexts)
{
    mock_reset();
    R(SLOTS) = slots;
    R(CONTEXTS) = contexts;
    start();
}

void mock_start_with_channels(uint32_t channels)
{
    mock_reset();
    R(CHANNELS) = channels;
    start();
}

void mock_settle(void)
{
    coroutine_switch(&test, &firmware);
}

void mock_stop(void)
{
    if (running) {
        stopping = true;
        R(IRQ_PENDING) = 0;
        mock_settle();
        running = false;
    }
    free(mock.vram);
    mock.vram = NULL;
}

int mock_setup(void **state)
{
    (void)state;
    mock_reset();
    return 0;
}

int mock_teardown(void **state)
{
    (void)state;
    mock_stop();
    return 0;
}

void mock_advance(uint64_t ns)
{
    uint64_t end = mock.now_ns + ns;
    for (;;) {
        uint64_t deadline = R(TIMER_LO) | (uint64_t)R(TIMER_HI) << 32;
        if (deadline > end) {
            break;
        }
        mock.now_ns = PPU_MAX(deadline, mock.now_ns);
        R(TIMER_LO) = UINT32_MAX;
        R(TIMER_HI) = UINT32_MAX;
        R(IRQ_PENDING) |= 1u << PPU_IRQ_TIMER;
        mock_settle();
    }
    mock.now_ns = end;
    mock_settle();
}

/* ---- Host side. ---- */

const struct ppu_fw_info *mock_info(void)
{
    return (const struct ppu_fw_info *)(void *)(mock.vram + R(FW_INFO));
}

void mock_doorbell(uint32_t channel, uint32_t put)
{
    mock.reg[PPU_REG_GP_PUT / 4 + channel] = put;
    mock.reg[PPU_REG_DB_PENDING / 4 + channel / 32] |= 1u << channel % 32;
    R(IRQ_PENDING) |= 1u << PPU_IRQ_DOORBELL;
    mock_settle();
}

static struct ppu_admin_queue *admin_queue(void)
{
    return (struct ppu_admin_queue *)(void *)(mock.vram + mock_info()->admin_queue);
}

void mock_admin_send(const struct ppu_admin_msg *request)
{
    struct ppu_admin_queue *queue = admin_queue();
    queue->request[queue->request_tail % PPU_ADMIN_ENTRIES] = *request;
    queue->request_tail++;
    R(IRQ_PENDING) |= 1u << PPU_IRQ_ADMIN;
    mock_settle();
}

bool mock_admin_reply(struct ppu_admin_msg *reply)
{
    struct ppu_admin_queue *queue = admin_queue();
    if (queue->reply_head == queue->reply_tail) {
        return false;
    }
    *reply = queue->reply[queue->reply_head % PPU_ADMIN_ENTRIES];
    queue->reply_head++;
    return true;
}

struct ppu_admin_msg mock_admin(uint16_t op, const uint32_t *arg, uint32_t args)
{
    static uint32_t seq;
    seq++;
    struct ppu_admin_msg message = { .head = { PPU_ADMIN_VERSION, sizeof(message) }, .op = op, .seq = seq };
    memcpy(message.arg, arg, args * sizeof(arg[0]));
    mock_admin_send(&message);
    struct ppu_admin_msg reply = { .seq = 0 };
    assert_true(mock_admin_reply(&reply));
    assert_int_equal(reply.seq, seq);
    assert_int_equal(reply.op, op);
    return reply;
}

uint64_t mock_query(uint32_t key, uint32_t object)
{
    const uint32_t arg[] = { key, object };
    struct ppu_admin_msg reply = mock_admin(PPU_ADMIN_QUERY, arg, 2);
    assert_int_equal(reply.status, 0);
    return reply.arg[0] | (uint64_t)reply.arg[1] << 32;
}

bool mock_error(struct ppu_error_record *record)
{
    struct ppu_error_ring *ring = (struct ppu_error_ring *)(void *)(mock.vram + mock_info()->error_ring);
    if (ring->head == ring->tail) {
        return false;
    }
    *record = ring->entry[ring->head++ % PPU_ERROR_RING_ENTRIES];
    return true;
}

uint32_t mock_context(void)
{
    const uint32_t arg[] = { mock_info()->pt_base, mock_info()->heap_base };
    struct ppu_admin_msg reply = mock_admin(PPU_ADMIN_CONTEXT_CREATE, arg, 2);
    assert_int_equal(reply.status, 0);
    return reply.arg[0];
}

uint32_t mock_channel(uint32_t context, uint64_t ring_va, uint32_t entries, uint32_t priority, uint32_t vector)
{
    const uint32_t arg[] = { context, (uint32_t)ring_va, (uint32_t)(ring_va >> 32), entries, priority, vector };
    struct ppu_admin_msg reply = mock_admin(PPU_ADMIN_CHANNEL_CREATE, arg, 6);
    assert_int_equal(reply.status, 0);
    return reply.arg[0];
}

struct ppu_tmd mock_tmd(uint32_t correlation)
{
    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .priority = 3,
        .code_va = MOCK_MEMORY_VA,
        .code_bytes = 64,
        .vregs = 16,
        .wave = 32,
        .cta = { 32, 1, 1 },
        .grid = { 4, 1, 1 },
        .correlation = correlation,
    };
}
