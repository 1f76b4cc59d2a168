/* SPDX-License-Identifier: MIT */
#include "tests/engine/liar.h"

#include "ppu/dma.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/save.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"

#include <stdlib.h>
#include <string.h>

#define SAVE_AT 0x200000u
#define SAVE_STRIDE 0x4000u
#define PLACES 8u
#define NEST_CTAS 6u
#define AREA_AT (HEAP_AT + 0x100000u)

/* Even CTAs of `nest` wait for children, odd ones run. Of `segments`, warp 0 waits at a barrier, warp 1 is in a
 * segment. */
static const char program[] = ".kernel nest\n.vregs 4\n.shared 256\n.local 16\n"
                              "rdsr s0, %cta.x\nand s0, s0, 1\nisetp.eq p0, s0, 0\n@p0 bra wait\nspin: bra spin\n"
                              "wait: cwait\nexit\n"
                              ".kernel segments\n.vregs 96\n.shared_vregs 8\n"
                              "rdsr s0, %warp\nisetp.eq p0, s0, 0\n@p0 bra wait2\nsventer 8\nagain: bra again\n"
                              "svleave\nwait2: bar 0\nexit\n"
                              ".kernel gang\n.vregs 2\nspin2: bra spin2\n";

static void queue_copies(struct board *board)
{
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = DATA_AT,
                                 .dst = DATA_AT + PPU_MIB,
                                 .len_bytes = PPU_MIB / 2 };

    assert_int_equal(submit(board, &desc), 0);
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_SEM_ARM, .src_space = PPU_SPACE_VRAM, .src = DATA_AT, .entry = 17, .tag = 0x17
    };
    assert_int_equal(submit(board, &desc), 0);
}

static void start_all(struct rig *rig)
{
    rig_load_text(rig, program);
    struct ppu_tmd nest = rig_tmd(rig, "nest");
    struct ppu_tmd segments = rig_tmd(rig, "segments");
    struct ppu_tmd gang = rig_tmd(rig, "gang");
    rig_shape(&nest, NEST_CTAS, 1, 32, 1);
    nest.save_vram = SAVE_AT;
    nest.save_bytes = SAVE_STRIDE;
    nest.save_count = PLACES;
    segments.wave = 64;
    rig_shape(&segments, 100, 1, 128, 1);
    gang.flags |= PPU_TMD_CORESIDENT;
    rig_shape(&gang, 2, 1, 32, 1);
    rig_start(rig, 0, &nest);
    board_advance(rig->board, 60000);
    rig_start(rig, 1, &segments);
    board_advance(rig->board, 60000);
    queue_copies(rig->board);
    start_task(rig->board, 2, &gang);
}

/* The next CTA of the slot on the SMs behind `after`; NULL: from the first on. */
static struct sm_cta *find_cta(struct core *core, uint32_t slot, const struct sm_cta *after, struct sm **on)
{
    struct sm_pool *pool = *core_sm_pool(core);
    bool seen = !after;

    for (uint32_t n = 0; n < pool->sms * core->config.sm_ctas; n++) {
        struct sm *sm = &pool->sm[n / core->config.sm_ctas];
        struct sm_cta *cta = &sm->cta[n % core->config.sm_ctas];

        if (seen && cta->used && cta->cta.task->slot == slot) {
            *on = sm;
            return cta;
        }
        seen = seen || cta == after;
    }
    fail_msg("slot %u has no such CTA", slot);
    return NULL;
}

static void liar_find(struct liar *l)
{
    uint64_t saved;

    l->saved = &l->core->dist.slot[0];
    l->plain = &l->core->dist.slot[1];
    l->gang = &l->core->dist.slot[2];
    saved = l->saved->save_waiting;
    assert_true(__builtin_popcountll(saved) >= 2);
    l->place[0] = (uint32_t)__builtin_ctzll(saved);
    l->place[1] = (uint32_t)__builtin_ctzll(saved & (saved - 1));
    l->waiter = find_cta(l->core, 0, NULL, &l->sm);
    l->second = find_cta(l->core, 0, l->waiter, &l->sm);
    l->other = find_cta(l->core, 1, NULL, &l->sm);
    l->warp = &l->sm->warp[l->other->warp[0]];
    l->part = &l->sm->warp[l->other->warp[1]];
    assert_true(l->warp->state == WARP_BARRIER && l->part->segment.on && l->plain->next < l->plain->total);
}

void liar_new(struct liar *l)
{
    l->rig = rig_new(0);
    l->core = l->rig->board->core;
    start_all(l->rig);
    core_pause(l->core);
    liar_find(l);
}

void liar_free(struct liar *l)
{
    rig_free(l->rig);
}

void liar_memories(struct rig *to, const struct rig *from)
{
    memcpy(to->board->vram, from->board->vram, MACHINE_VRAM);
    memcpy(to->board->root, from->board->root, sizeof(to->board->root));
    to->board->now_ns = from->board->now_ns;
}

/* ---- lies ---- */

/* Another CTA of `plain` is in the area of its address space. */
static void take_off(struct liar *l, uint64_t number)
{
    struct dist_slot *slot = l->plain;
    const uint32_t context = slot->task.tmd.context % PPU_MAX_CONTEXTS;

    if (slot->switched == 0) {
        reg_set(l->core, PPU_REG_CTX_SAVE + 4 * context, AREA_AT);
        assert_true(switch_open(l->core, context, AREA_AT));
    }
    slot->switched_cta = realloc(slot->switched_cta, (slot->switched + 1) * sizeof(slot->switched_cta[0]));
    slot->switched_cta[slot->switched++] =
        (struct dist_switched){ number, 0, switch_take(l->core, &slot->task, false), false };
}

/* Two that would be there, but for one thing. */
static struct dist_switched *take_off_two(struct liar *l)
{
    l->plain->next += 2;
    take_off(l, l->plain->next - 2);
    take_off(l, l->plain->next - 1);
    return l->plain->switched_cta;
}

#define LIE(words, ...)                             \
    static void LIE_NAME(__LINE__)(struct liar * l) \
    {                                               \
        (void)(__VA_ARGS__);                        \
    }
#define LIE_NAME(line) LIE_JOIN(lie_, line)
#define LIE_JOIN(a, b) a##b
#include "tests/engine/lies.def"
#undef LIE

const struct lie lies[] = {
#define LIE(words, ...) { __LINE__, words, LIE_NAME(__LINE__) },
#include "tests/engine/lies.def"
#undef LIE
};
const uint32_t lies_count = PPU_ARRAY_SIZE(lies);

/* ---- any field ---- */

enum object_kind { OF_SLOT, OF_CTA, OF_WARP, OF_SM };

/* Numbers that a snapshot has, where the lies are: what a liar would change. */
#define FIELD(kind, type, member)                                               \
    {                                                                           \
        kind, offsetof(struct type, member), sizeof(((struct type *)0)->member) \
    }
static const struct field {
    enum object_kind kind;
    size_t offset, bytes;
} fields[] = {
    FIELD(OF_SLOT, dist_slot, state),
    FIELD(OF_SLOT, dist_slot, next),
    FIELD(OF_SLOT, dist_slot, ctas_done),
    FIELD(OF_SLOT, dist_slot, in_flight),
    FIELD(OF_SLOT, dist_slot, save_used),
    FIELD(OF_SLOT, dist_slot, save_ready),
    FIELD(OF_SLOT, dist_slot, save_waiting),
    FIELD(OF_SLOT, dist_slot, save_told),
    FIELD(OF_SLOT, dist_slot, local_used[0]),
    FIELD(OF_SLOT, dist_slot, save[0]),
    FIELD(OF_SLOT, dist_slot, save[1]),
    FIELD(OF_SLOT, dist_slot, task.tmd_off),
    FIELD(OF_SLOT, dist_slot, task.tmd.save_vram),
    FIELD(OF_SLOT, dist_slot, task.tmd.save_bytes),
    FIELD(OF_SLOT, dist_slot, task.tmd.grid),
    FIELD(OF_SLOT, dist_slot, task.tmd.context),
    FIELD(OF_SLOT, dist_slot, task.tmd.flags),
    FIELD(OF_SLOT, dist_slot, task.tmd.local_bytes),
    FIELD(OF_SLOT, dist_slot, task.tmd.code_bytes),
    FIELD(OF_CTA, sm_cta, cta.number),
    FIELD(OF_CTA, sm_cta, cta.id),
    FIELD(OF_CTA, sm_cta, cta.local_backing),
    FIELD(OF_CTA, sm_cta, cta.save),
    FIELD(OF_CTA, sm_cta, barrier),
    FIELD(OF_WARP, warp, state),
    FIELD(OF_WARP, warp, section),
    FIELD(OF_WARP, warp, pc),
    FIELD(OF_WARP, warp, word),
    FIELD(OF_WARP, warp, active),
    FIELD(OF_WARP, warp, live),
    FIELD(OF_WARP, warp, pending),
    FIELD(OF_WARP, warp, pred),
    FIELD(OF_WARP, warp, reason),
    FIELD(OF_WARP, warp, wait_pc),
    FIELD(OF_WARP, warp, barrier),
    FIELD(OF_WARP, warp, window),
    FIELD(OF_WARP, warp, segment),
    FIELD(OF_WARP, warp, segment.part),
    FIELD(OF_WARP, warp, segment.shared),
    FIELD(OF_WARP, warp, segment.floor),
    FIELD(OF_WARP, warp, segment.begin),
    FIELD(OF_WARP, warp, segment.end),
    FIELD(OF_WARP, warp, segment.entered),
    FIELD(OF_WARP, warp, sreg),
    FIELD(OF_SM, sm, next_warp),
    FIELD(OF_SM, sm, turns),
    FIELD(OF_SM, sm, flush),
    FIELD(OF_SM, sm, mode[0].normal),
};

static uint8_t *object_of(const struct liar *l, enum object_kind kind, uint32_t n)
{
    switch (kind) {
    case OF_SLOT:
        return (uint8_t *)&l->core->dist.slot[n % 3];
    case OF_CTA:
        return (uint8_t *)(n % 2 ? l->waiter : l->other);
    case OF_WARP:
        return (uint8_t *)(n % 2 ? l->part : l->warp);
    default:
        return (uint8_t *)l->sm;
    }
}

static uint64_t changed(uint64_t old, uint32_t how, uint64_t value, uint32_t width)
{
    switch (how % LIAR_WAYS) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return old ^ 1ull << value % (8 * width);
    case 3:
        return 0;
    case 4:
        return UINT64_MAX;
    case 5:
        return value % 256;
    default:
        return value;
    }
}

void liar_change(struct liar *l, uint32_t field, uint32_t place, uint32_t how, uint64_t value)
{
    const struct field *f = &fields[field % PPU_ARRAY_SIZE(fields)];
    const uint32_t wanted = 1u << (how / LIAR_WAYS) % 4, width = wanted < f->bytes ? wanted : (uint32_t)f->bytes;
    uint8_t *at = object_of(l, f->kind, place) + f->offset + place / 6 % (f->bytes / width) * width;
    uint64_t number = 0;

    memcpy(&number, at, width);
    number = changed(number, how, value, width);
    memcpy(at, &number, width);
}
