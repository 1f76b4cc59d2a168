/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory instructions. One pass of 32 lanes at a time: first every address is checked and translated, then, when no
 * lane faults, the accesses are done. Lanes that reach system memory hand their accesses to the main loop and stay
 * pending; the warp waits for them.
 */
#include "qemu-device/core/engine/memory.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/sem.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/slow.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/cache_lines.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/pending_adds_order.h"
#include "qemu-device/core/sm/registers.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/system.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

enum space {
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_UNIFIED,
};

#define SEM_TIME_OFFSET 8u
#define F32_NAN 0x7fc00000u
#define F64_NAN 0x7ff8000000000000ull

/* One instruction's accesses of one pass. */
struct batch {
    enum space space;
    enum ppu_access access;
    uint32_t pass;
    uint32_t lanes;
    uint32_t bytes; /* of a lane's whole access */
    uint32_t align;
    uint32_t words;  /* pieces of a lane's access */
    uint32_t system; /* lanes with a piece in system memory */
    struct translation translation[PPU_LANES][SM_MAX_WORDS];
};

static uint32_t batch_lane(const struct batch *b, uint32_t bit)
{
    return b->pass * PPU_LANES + bit;
}

static enum space space_of(uint32_t op)
{
    switch (op) {
    case PPU_OP_LDS:
    case PPU_OP_STS:
    case PPU_OP_ATOMS:
        return SPACE_SHARED;
    case PPU_OP_LDL:
    case PPU_OP_STL:
        return SPACE_LOCAL;
    case PPU_OP_LDP:
        return SPACE_PARAM;
    case PPU_OP_LDU:
    case PPU_OP_STU:
    case PPU_OP_ATOMU:
        return SPACE_UNIFIED;
    default:
        return SPACE_GLOBAL;
    }
}

static bool is_store(uint32_t op)
{
    return op == PPU_OP_STG || op == PPU_OP_STS || op == PPU_OP_STL || op == PPU_OP_STU;
}

/* ---- addresses ---- */

/* Address of a lane's piece: pieces follow each other, but those of a gather have an offset register each. */
static uint64_t lane_address(const struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint32_t piece)
{
    bool gather = insn->format == PPU_FMT_GATHER;
    uint32_t offset_reg = insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb + (gather ? piece : 0);
    uint64_t address = (uint64_t)(int64_t)insn->imm;

    if (insn->format == PPU_FMT_SEM) {
        address = 0; /* the immediate is operand b */
    }
    if (insn->wa == 2) {
        address += exec_read64(x, insn->ra, insn->a_scalar, lane);
    } else if (insn->wa == 1) {
        address += exec_read(x, insn->ra, insn->a_scalar, lane);
    }
    if (insn->lane_off || gather) {
        address += ppu_isa_lane_offset(insn->indexed, ppu_isa_bytes(insn), exec_read(x, offset_reg, false, lane));
    }
    address += gather ? 0 : piece * 4u;
    return insn->wa == 2 ? address : (uint32_t)address;
}

static uint16_t range_check(uint64_t offset, uint32_t bytes, uint32_t limit, uint16_t fault)
{
    return offset > limit || bytes > limit - offset ? fault : 0;
}

/* Local memory is interleaved by words, so that lanes that use the same offset are neighbours. */
uint64_t engine_local_va(const struct exec *x, uint32_t lane, uint32_t offset)
{
    const struct dist_task *task = x->task;
    uint64_t cta_base = (uint64_t)x->cta->cta.local_backing * task->cta_threads * task->tmd.local_bytes;
    uint64_t thread = (uint64_t)x->w->number * x->wave + lane;

    return task->tmd.local_va + cta_base + ((uint64_t)(offset / 4) * task->cta_threads + thread) * 4 + offset % 4;
}

static uint16_t locate_piece(const struct exec *x, const struct batch *b, enum space space, uint32_t lane,
                             uint64_t address, struct translation *translation)
{
    switch (space) {
    case SPACE_SHARED:
        *translation = (struct translation){ .host = x->shared + address };
        return 0;
    case SPACE_PARAM:
        /* Nothing stores through it. */
        *translation = (struct translation){ .host = x->vram + (x->task->params - x->vram) + address };
        return 0;
    case SPACE_LOCAL:
        return sm_translate(x->sm, x->task->tmd.context, engine_local_va(x, lane, (uint32_t)address), b->access,
                            translation);
    default:
        return sm_translate(x->sm, x->task->tmd.context, address, b->access, translation);
    }
}

/* Translates the address of one piece of `bytes` bytes; a fault code otherwise. */
static uint16_t locate(const struct exec *x, const struct batch *b, uint32_t lane, uint64_t address,
                       struct translation *translation, uint32_t bytes)
{
    const struct ppu_tmd *tmd = &x->task->tmd;
    enum space space = b->space;
    uint16_t fault = 0;

    if (address % b->align != 0) {
        return PPU_FAULT_MISALIGNED;
    }
    if (space == SPACE_UNIFIED) {
        uint64_t window = address & PPU_WINDOW_MASK;
        space = window == PPU_SHARED_WINDOW ? SPACE_SHARED : window == PPU_LOCAL_WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
        address = space == SPACE_GLOBAL ? address : (uint32_t)address;
    }
    if (space == SPACE_SHARED) {
        fault = range_check(address, bytes, tmd->shared_bytes, PPU_FAULT_SHARED_RANGE);
    } else if (space == SPACE_LOCAL) {
        fault = range_check(address, bytes, tmd->local_bytes, PPU_FAULT_LOCAL_RANGE);
    } else if (space == SPACE_PARAM) {
        fault = range_check(address, bytes, tmd->param_bytes, PPU_FAULT_PARAM_RANGE);
    }
    return fault != 0 ? fault : locate_piece(x, b, space, lane, address, translation);
}

/* All pieces of a lane's access; a fault is of the first piece, or of the one that cannot be reached (`bad`). */
static uint16_t locate_lane(const struct exec *x, const struct ppu_insn *insn, struct batch *b, uint32_t bit,
                            uint64_t *bad)
{
    uint32_t lane = batch_lane(b, bit);
    uint32_t bytes = b->words == 1 ? b->bytes : 4;
    uint16_t fault = 0;

    for (uint32_t word = 0; word < b->words && fault == 0; word++) {
        struct translation *translation = &b->translation[bit][word];

        *bad = lane_address(x, insn, lane, word);
        fault = locate(x, b, lane, *bad, translation, bytes);
        if (fault == 0 && !translation->host) {
            b->system |= 1u << bit;
        }
    }
    return fault;
}

/* All lanes of the batch; STEP_FAULT names the lanes that share the lowest one's fault. */
static enum step locate_all(struct exec *x, const struct ppu_insn *insn, struct batch *b)
{
    uint16_t code = 0;
    uint32_t bad = 0;
    uint64_t address = 0;

    b->system = 0;
    for (uint32_t left = b->lanes; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(left);
        uint64_t bad_address = 0;
        uint16_t fault = locate_lane(x, insn, b, bit, &bad_address);

        if (fault != 0 && code == 0) {
            code = fault;
            address = bad_address;
        }
        bad |= fault != 0 && fault == code ? 1u << bit : 0;
    }
    return code != 0 ? engine_fault(x, code, b->access, address, b->pass, bad) : STEP_NEXT;
}

/* ---- transactions (counter.h) ---- */

/* The part of a lane's address that is its own. */
static uint64_t own_part(const struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint32_t piece)
{
    if (insn->format == PPU_FMT_GATHER) {
        return exec_read(x, insn->rb + piece, false, lane);
    }
    if (insn->lane_off) {
        return ppu_isa_lane_offset(insn->indexed, ppu_isa_bytes(insn),
                                   exec_read(x, insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb, false, lane));
    }
    return insn->wa == 0 || insn->a_scalar ? 0
           : insn->wa == 2                 ? exec_read64(x, insn->ra, false, lane)
                                           : exec_read(x, insn->ra, false, lane);
}

/* The address in memory of a lane's piece; false: it is in the SM. */
static bool memory_address(const struct exec *x, enum space space, uint32_t lane, uint64_t *address)
{
    if (space == SPACE_UNIFIED) {
        uint64_t window = *address & PPU_WINDOW_MASK;
        space = window == PPU_SHARED_WINDOW ? SPACE_SHARED : window == PPU_LOCAL_WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
    }
    if (space == SPACE_LOCAL) {
        *address = engine_local_va(x, lane, (uint32_t)*address);
    }
    return space == SPACE_LOCAL || space == SPACE_GLOBAL;
}

/* Lanes whose pieces lie apart from one another, as those of a gather and of local memory, make
 * transactions a piece. */
static void count_batch(struct exec *x, const struct ppu_insn *insn, const struct batch *b)
{
    bool apart = b->space == SPACE_LOCAL || insn->format == PPU_FMT_GATHER;
    uint32_t bytes = b->space == SPACE_LOCAL ? (uint32_t)sizeof(uint32_t) : b->bytes;

    if (b->space == SPACE_SHARED || b->space == SPACE_PARAM) {
        return;
    }
    for (uint32_t piece = 0; piece < (apart ? b->words : 1); piece++) {
        uint64_t address[PPU_LANES] = { 0 }, own[PPU_LANES] = { 0 };
        uint32_t set = 0;

        for (uint32_t left = b->lanes; left != 0; left &= left - 1) {
            uint32_t bit = (uint32_t)__builtin_ctz(left), lane = batch_lane(b, bit);

            address[bit] = lane_address(x, insn, lane, piece);
            own[bit] = b->space == SPACE_LOCAL ? 0 : own_part(x, insn, lane, piece);
            set |= memory_address(x, b->space, lane, &address[bit]) ? 1u << bit : 0;
        }
        count_pass(x, set, address, own, bytes);
    }
}

/* ---- lines of the caches ---- */

bool engine_mem_cached(const struct ppu_insn *insn)
{
    switch (insn->op) {
    case PPU_OP_LDG:
    case PPU_OP_STG:
    case PPU_OP_LDL:
    case PPU_OP_STL:
    case PPU_OP_LDU:
    case PPU_OP_STU:
    case PPU_OP_GATHER:
    case PPU_OP_ATOMG:
    case PPU_OP_ATOMU:
    case PPU_OP_SEMREL:
    case PPU_OP_SEMRELT:
        return true;
    default:
        return false;
    }
}

enum ppu_access engine_mem_access(const struct ppu_insn *insn)
{
    if (insn->format == PPU_FMT_ATOM) {
        return PPU_ACCESS_ATOMIC;
    }
    return insn->format == PPU_FMT_SEM || is_store(insn->op) ? PPU_ACCESS_WRITE : PPU_ACCESS_READ;
}

/* Bytes of a lane's access, in pieces of one word that may lie apart from one another, or whole. */
static uint32_t access_bytes(const struct ppu_insn *insn)
{
    if (insn->format == PPU_FMT_SEM) {
        return sizeof(struct ppu_sem);
    }
    return ppu_isa_bytes(insn);
}

void engine_mem_lines(const struct exec *x, const struct ppu_insn *insn, uint32_t pass, uint32_t set,
                      struct cache_lines *lines)
{
    const uint32_t line_bytes = x->sm->config->cache_line, bytes = access_bytes(insn);
    const uint32_t piece_bytes = bytes < sizeof(uint32_t) ? bytes : (uint32_t)sizeof(uint32_t);

    for (uint32_t piece = 0; piece * piece_bytes < bytes; piece++) {
        uint64_t va[PPU_LANES] = { 0 };
        uint32_t reaching = 0;

        for (uint32_t left = set; left != 0; left &= left - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctz(left), lane = pass * PPU_LANES + bit;

            va[bit] = lane_address(x, insn, lane, piece);
            reaching |= memory_address(x, space_of(insn->op), lane, &va[bit]) ? 1u << bit : 0;
        }
        cache_lines_each(lines, line_bytes, va, reaching, piece_bytes);
    }
}

/* ---- one piece ---- */

static uint32_t piece_bytes(const struct batch *b)
{
    return PPU_MIN(b->bytes, 4);
}

static uint32_t read_piece(const uint8_t *host, uint32_t bytes)
{
    return bytes == 1 ? vram_read8(host) : bytes == 2 ? vram_read16(host) : vram_read32(host);
}

static void write_piece(uint8_t *host, uint32_t bytes, uint32_t value)
{
    if (bytes == 1) {
        vram_write8(host, (uint8_t)value);
    } else if (bytes == 2) {
        vram_write16(host, (uint16_t)value);
    } else {
        vram_write32(host, value);
    }
}

/* Width of one value that a load or store moves. */
static uint32_t value_width(const struct ppu_insn *insn)
{
    return insn->format == PPU_FMT_GATHER ? (uint32_t)PPU_WIDTH_B32 : insn->width;
}

static uint32_t value_words(const struct ppu_insn *insn)
{
    return insn->format == PPU_FMT_GATHER ? insn->width + 1u : ppu_width_words(insn->width);
}

static uint32_t extended(uint32_t value, uint32_t width)
{
    return width == PPU_WIDTH_S8    ? (uint32_t)(int32_t)(int8_t)value
           : width == PPU_WIDTH_S16 ? (uint32_t)(int32_t)(int16_t)value
                                    : value;
}

/* ---- requests to the main loop ---- */

static struct sys_request *request_new(struct exec *x, enum sys_kind kind, const struct batch *b)
{
    struct sys_request *request = &x->sm->sys[x->index];

    request->kind = kind;
    request->count = 0;
    request->done = 0;
    request->lanes = b->system;
    request->pass = b->pass;
    return request;
}

static struct sys_word *request_add(struct sys_request *request, const struct translation *translation, uint32_t bit,
                                    uint32_t word, uint32_t bytes)
{
    struct sys_word *w = &request->word[request->count++];

    *w = (struct sys_word){
        .bus = translation->bus,
        .host = translation->host,
        .lane = (uint8_t)bit,
        .word = (uint8_t)word,
        .bytes = (uint8_t)bytes,
    };
    return w;
}

/* The lanes of the request stay pending, and so do all of the passes behind this one. */
static enum step request_post(struct exec *x, const struct batch *b, const struct lanes *left)
{
    engine_leave(x, left);
    x->w->pending.m[b->pass] = b->system;
    x->w->state = WARP_SYSTEM;
    sm_system_post(x);
    return STEP_STOP;
}

/* ---- loads and stores ---- */

static void do_words(struct exec *x, const struct ppu_insn *insn, const struct batch *b, uint32_t bit, bool store)
{
    uint32_t lane = batch_lane(b, bit);

    for (uint32_t word = 0; word < b->words; word++) {
        uint8_t *host = b->translation[bit][word].host;
        if (store) {
            write_piece(host, piece_bytes(b), exec_read(x, insn->rd + word, insn->scalar, lane));
        } else {
            exec_write(x, insn->rd + word, insn->scalar, lane,
                       extended(read_piece(host, piece_bytes(b)), value_width(insn)));
        }
    }
}

static void request_words(struct exec *x, const struct ppu_insn *insn, const struct batch *b, bool store)
{
    struct sys_request *request = request_new(x, store ? SYS_STORE : SYS_LOAD, b);

    for (uint32_t left = b->system; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(left);
        for (uint32_t word = 0; word < b->words; word++) {
            struct sys_word *w = request_add(request, &b->translation[bit][word], bit, word, piece_bytes(b));
            if (store) {
                w->data = exec_read(x, insn->rd + word, insn->scalar, batch_lane(b, bit));
            }
        }
    }
}

enum step engine_mem(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes left = insn->scalar ? lanes_one(lanes_first(mask)) : *mask;
    bool store = is_store(insn->op);
    struct batch b;

    pending_adds_order_any(x->sm);
    b.space = space_of(insn->op);
    b.access = store ? PPU_ACCESS_WRITE : PPU_ACCESS_READ;
    b.bytes = ppu_width_bytes(value_width(insn));
    b.align = PPU_MIN(b.bytes, 4);
    b.words = value_words(insn);
    for (b.pass = 0; b.pass < x->passes; b.pass++) {
        b.lanes = left.m[b.pass];
        if (locate_all(x, insn, &b) == STEP_FAULT) {
            return STEP_FAULT;
        }
        count_batch(x, insn, &b);
        for (uint32_t bits = b.lanes & ~b.system; bits != 0; bits &= bits - 1) {
            do_words(x, insn, &b, (uint32_t)__builtin_ctz(bits), store);
        }
        if (b.system != 0) {
            request_words(x, insn, &b, store);
            return request_post(x, &b, &left);
        }
        left.m[b.pass] = 0;
    }
    return STEP_NEXT;
}

/* ---- atomics ---- */

static uint64_t add_float(uint64_t a, uint64_t b, bool wide)
{
    uint32_t bits, low_a = (uint32_t)a, low_b = (uint32_t)b;
    double da, db;
    float fa, fb;

    if (wide) {
        memcpy(&da, &a, sizeof(da));
        memcpy(&db, &b, sizeof(db));
        da += db;
        memcpy(&a, &da, sizeof(a));
        return da != da ? F64_NAN : a;
    }
    memcpy(&fa, &low_a, sizeof(fa));
    memcpy(&fb, &low_b, sizeof(fb));
    fa += fb;
    memcpy(&bits, &fa, sizeof(bits));
    return fa != fa ? F32_NAN : bits;
}

/* A failed exchange means that another thread made progress. */
static uint64_t rmw_float(uint8_t *host, uint64_t value, bool wide)
{
    for (;;) {
        uint64_t former = wide ? vram_load_acquire64(host) : vram_load_acquire32(host);
        uint64_t wanted = add_float(former, value, wide);
        uint64_t seen = wide ? vram_cas64(host, former, wanted) : vram_cas32(host, (uint32_t)former, (uint32_t)wanted);
        if (seen == former) {
            return former;
        }
    }
}

#define RMW(bits)                                                                            \
    static uint64_t rmw##bits(uint8_t *host, uint32_t aop, uint64_t value, uint64_t compare) \
    {                                                                                        \
        uint##bits##_t v = (uint##bits##_t)value;                                            \
                                                                                             \
        switch (aop) {                                                                       \
        case PPU_AOP_ADD:                                                                    \
            return vram_rmw_add##bits(host, v);                                              \
        case PPU_AOP_MIN:                                                                    \
            return vram_rmw_smin##bits(host, v);                                             \
        case PPU_AOP_MAX:                                                                    \
            return vram_rmw_smax##bits(host, v);                                             \
        case PPU_AOP_MINU:                                                                   \
            return vram_rmw_min##bits(host, v);                                              \
        case PPU_AOP_MAXU:                                                                   \
            return vram_rmw_max##bits(host, v);                                              \
        case PPU_AOP_AND:                                                                    \
            return vram_rmw_and##bits(host, v);                                              \
        case PPU_AOP_OR:                                                                     \
            return vram_rmw_or##bits(host, v);                                               \
        case PPU_AOP_XOR:                                                                    \
            return vram_rmw_xor##bits(host, v);                                              \
        case PPU_AOP_XCHG:                                                                   \
            return vram_rmw_xchg##bits(host, v);                                             \
        case PPU_AOP_CAS:                                                                    \
            return vram_cas##bits(host, (uint##bits##_t)compare, v);                         \
        default:                                                                             \
            return rmw_float(host, value, bits == 64);                                       \
        }                                                                                    \
    }
RMW(32)
RMW(64)

uint64_t engine_rmw(uint8_t *host, uint32_t aop, uint32_t bytes, uint64_t value, uint64_t compare)
{
    return bytes == 8 ? rmw64(host, aop, value, compare) : rmw32(host, aop, value, compare);
}

/* Operand of a lane; compare-and-swap has two: what to compare with, then what to store. */
static uint64_t atomic_operand(const struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint32_t which)
{
    uint32_t reg = insn->rb + (which << insn->wide);

    return insn->wide ? exec_read64(x, reg, insn->b_scalar, lane) : exec_read(x, reg, insn->b_scalar, lane);
}

static void atomic_operands(const struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint64_t *value,
                            uint64_t *compare)
{
    bool cas = insn->aop == PPU_AOP_CAS;

    *compare = cas ? atomic_operand(x, insn, lane, 0) : 0;
    *value = atomic_operand(x, insn, lane, cas);
}

static void atomic_result(struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint64_t former)
{
    if (insn->no_old) {
        return;
    }
    exec_write(x, insn->rd, false, lane, (uint32_t)former);
    if (insn->wide) {
        exec_write(x, insn->rd + 1u, false, lane, (uint32_t)(former >> 32));
    }
}

static void request_atomics(struct exec *x, const struct ppu_insn *insn, const struct batch *b)
{
    struct sys_request *request = request_new(x, SYS_ATOMIC, b);

    request->aop = insn->aop;
    for (uint32_t left = b->system; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(left);
        struct sys_word *w = request_add(request, &b->translation[bit][0], bit, 0, b->bytes);
        atomic_operands(x, insn, batch_lane(b, bit), &w->data, &w->operand);
    }
}

enum step engine_atomic(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes left = *mask;
    struct batch b;

    pending_adds_order_any(x->sm);
    b.space = space_of(insn->op);
    b.access = PPU_ACCESS_ATOMIC;
    b.bytes = 4u << insn->wide;
    b.align = b.bytes;
    b.words = 1;
    for (b.pass = 0; b.pass < x->passes; b.pass++) {
        b.lanes = left.m[b.pass];
        if (locate_all(x, insn, &b) == STEP_FAULT) {
            return STEP_FAULT;
        }
        count_batch(x, insn, &b);
        for (uint32_t bits = b.lanes & ~b.system; bits != 0; bits &= bits - 1) {
            uint32_t bit = (uint32_t)__builtin_ctz(bits);
            uint64_t value, compare;

            atomic_operands(x, insn, batch_lane(&b, bit), &value, &compare);
            atomic_result(x, insn, batch_lane(&b, bit),
                          engine_rmw(b.translation[bit][0].host, insn->aop, b.bytes, value, compare));
        }
        if (b.system != 0) {
            request_atomics(x, insn, &b);
            return request_post(x, &b, &left);
        }
        left.m[b.pass] = 0;
    }
    return STEP_NEXT;
}

/* ---- what an instruction is about to write ---- */

static bool batch_writes(struct exec *x, const struct ppu_insn *insn, struct batch *b, const uint8_t *first,
                         uint32_t bytes)
{
    const uint32_t piece = b->words == 1 ? b->bytes : (uint32_t)sizeof(uint32_t);
    bool writes = false;
    uint64_t bad;

    for (uint32_t left = b->lanes; left != 0 && !writes; left &= left - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(left);
        const bool reaches = locate_lane(x, insn, b, bit, &bad) == 0;
        for (uint32_t word = 0; reaches && word < b->words; word++) {
            const uint8_t *at = b->translation[bit][word].host;
            writes = writes || (at && at < first + bytes && first < at + piece);
        }
    }
    return writes;
}

bool engine_mem_writes(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask, const uint8_t *first,
                       uint32_t bytes)
{
    const bool atomic = insn->format == PPU_FMT_ATOM;
    struct lanes left = insn->scalar ? lanes_one(lanes_first(mask)) : *mask;
    struct batch b = { .space = space_of(insn->op), .access = engine_mem_access(insn), .system = 0 };
    bool writes = false;

    if (!atomic && !is_store(insn->op)) {
        return false;
    }
    b.bytes = atomic ? 4u << insn->wide : ppu_width_bytes(value_width(insn));
    b.align = atomic ? b.bytes : PPU_MIN(b.bytes, 4);
    b.words = atomic ? 1 : value_words(insn);
    for (b.pass = 0; b.pass < x->passes && !writes; b.pass++) {
        b.lanes = left.m[b.pass];
        writes = batch_writes(x, insn, &b, first, bytes);
    }
    return writes;
}

/* ---- semaphores (C8): time first, then the payload with release order ---- */

static uint32_t release_value(const struct exec *x, const struct ppu_insn *insn, uint32_t lane)
{
    return insn->immed ? (uint32_t)insn->imm : exec_read(x, insn->rb, insn->b_scalar, lane);
}

static void release_one(struct exec *x, const struct ppu_insn *insn, const struct translation *translation,
                        uint32_t value)
{
    if (insn->op == PPU_OP_SEMRELT) {
        vram_write64(translation->host + SEM_TIME_OFFSET, core_now(x->core));
    }
    vram_store_release32(translation->host, value);
    semtab_touch(x->core, false, translation->bus);
}

static void request_releases(struct exec *x, const struct ppu_insn *insn, const struct batch *b)
{
    struct sys_request *request = request_new(x, SYS_RELEASE, b);

    request->with_time = insn->op == PPU_OP_SEMRELT;
    for (uint32_t left = b->system; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(left);
        struct sys_word *w = request_add(request, &b->translation[bit][0], bit, 0, 4);
        w->data = release_value(x, insn, batch_lane(b, bit));
    }
}

enum step engine_release(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes left = insn->scalar ? lanes_one(lanes_first(mask)) : *mask;
    struct batch b;

    if (!history_effect(x->core)) {
        return STEP_STOP;
    }
    b.space = SPACE_GLOBAL;
    b.access = PPU_ACCESS_WRITE;
    b.bytes = sizeof(struct ppu_sem);
    b.align = PPU_SEM_ALIGN;
    b.words = 1;
    for (b.pass = 0; b.pass < x->passes; b.pass++) {
        b.lanes = left.m[b.pass];
        if (locate_all(x, insn, &b) == STEP_FAULT) {
            return STEP_FAULT;
        }
        count_batch(x, insn, &b);
        for (uint32_t bits = b.lanes & ~b.system; bits != 0; bits &= bits - 1) {
            uint32_t bit = (uint32_t)__builtin_ctz(bits);
            release_one(x, insn, &b.translation[bit][0], release_value(x, insn, batch_lane(&b, bit)));
        }
        if (b.system != 0) {
            request_releases(x, insn, &b);
            return request_post(x, &b, &left);
        }
        left.m[b.pass] = 0;
    }
    return STEP_NEXT;
}

/* ---- answers of the main loop ---- */

static void word_finish(struct exec *x, const struct ppu_insn *insn, const struct sys_request *request,
                        const struct sys_word *word)
{
    uint32_t lane = request->pass * PPU_LANES + word->lane;

    if (request->kind == SYS_LOAD) {
        exec_write(x, insn->rd + word->word, insn->scalar, lane, extended((uint32_t)word->data, value_width(insn)));
    } else if (request->kind == SYS_ATOMIC) {
        atomic_result(x, insn, lane, word->data);
    }
}

enum step engine_mem_finish(struct exec *x, const struct ppu_insn *insn)
{
    struct sys_request *request = &x->sm->sys[x->index];
    struct lanes finished = { { 0 } };
    enum ppu_access access = request->kind == SYS_LOAD     ? PPU_ACCESS_READ
                             : request->kind == SYS_ATOMIC ? PPU_ACCESS_ATOMIC
                                                           : PPU_ACCESS_WRITE;

    __atomic_store_n(&request->state, SYS_NONE, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < request->done; i++) {
        word_finish(x, insn, request, &request->word[i]);
    }
    if (request->done < request->count) {
        const struct sys_word *word = &request->word[request->done];
        return engine_fault(x, PPU_FAULT_BUS, access, word->bus, request->pass, 1u << word->lane);
    }
    finished.m[request->pass] = request->lanes;
    x->w->pending = lanes_without(&x->w->pending, &finished);
    x->w->partial = lanes_any(&x->w->pending);
    return x->w->partial ? STEP_STOP : STEP_NEXT;
}
