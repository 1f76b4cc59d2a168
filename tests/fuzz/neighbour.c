/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/neighbour.h"

#include <string.h>

#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "tests/fuzz/input.h"

#define VA 0x10000000ull
#define BEGIN_TURNS 400u
#define TEXT_MAGIC 0x5ec2e700u /* each victim has words of its own in their place */
#define TEXT_SHARED_MAGIC 0xa5c3a500u

/* v0 its place in shared memory, v1 counts, v2 what it reads there, v4 to v15 magic words. */
static const char text[] =
    ".kernel k\n.vregs 16\n.shared 1024\nrdsr v0, %tid\nmul v0, v0, 16\nmov v1, 0\nmov v2, 0\nmov v3, 0x5ec2e703\n"
    "mov v4, 0x5ec2e704\nmov v5, 0x5ec2e705\nmov v6, 0x5ec2e706\nmov v7, 0x5ec2e707\nmov v8, 0x5ec2e708\n"
    "mov v9, 0x5ec2e709\nmov v10, 0x5ec2e70a\nmov v11, 0x5ec2e70b\nmov v12, 0x5ec2e70c\nmov v13, 0x5ec2e70d\n"
    "mov v14, 0x5ec2e70e\nmov v15, 0xa5c3a50f\nsts.b32 v15, [v0]\nagain: add v1, v1, 1\nlds.b32 v2, [v0]\n"
    "isetp.ne p0, v2, v15\n@p0 trap 7\nbra again\n";

static struct ppuasm_image image;

void neighbour_assembled(const char *source, struct ppuasm_image *out, struct ppu_program_view *view)
{
    char message[PPUASM_MESSAGE_BYTES] = "";

    if (!out->bytes && !ppuasm_assemble(source, "text", out, message)) {
        fuzz_found("%s", message);
    }
    if (ppu_program_open(out->bytes, out->len_bytes, view)) {
        fuzz_found("a program of the target does not open");
    }
}

static struct sm *only_sm(const struct board *board)
{
    return &(*core_sm_pool(board->core))->sm[0];
}

void neighbour_run(struct board *board, uint32_t insns)
{
    enum sm_activity activity;

    sm_run(only_sm(board), insns, &activity);
}

void neighbour_map(struct board *board)
{
    map_page(board, NEIGHBOUR_CONTEXT, VA, NEIGHBOUR_AT, PPU_PTE_64K, 0);
}

/* Puts the victim's words in the place of those of the text. */
static void write_code(const struct neighbour *victim, const struct ppu_program_view *view)
{
    uint64_t *const code = (uint64_t *)(void *)(victim->board->vram + NEIGHBOUR_AT + victim->code_at);

    memcpy(code, view->code, view->header->code_bytes);
    for (uint32_t i = 0; i < view->header->code_bytes / PPU_INSN_BYTES; i++) {
        const uint32_t imm = (uint32_t)(code[i] >> 32), magic = imm & NEIGHBOUR_MASK;

        if (magic == TEXT_MAGIC || magic == TEXT_SHARED_MAGIC) {
            const uint32_t own = magic == TEXT_MAGIC ? victim->magic : victim->shared_magic;

            code[i] = (uint32_t)code[i] | (uint64_t)(own | (imm & ~NEIGHBOUR_MASK)) << 32;
        }
    }
}

void neighbour_start(const struct neighbour *victim)
{
    struct ppu_tmd tmd = good_tmd(1, 1, 1, NEIGHBOUR_WAVE);
    struct ppu_program_view view;

    neighbour_assembled(text, &image, &view);
    write_code(victim, &view);
    tmd.code_va = VA + victim->code_at;
    tmd.code_bytes = view.header->code_bytes;
    tmd.context = NEIGHBOUR_CONTEXT;
    tmd.vregs = NEIGHBOUR_VREGS;
    tmd.wave = NEIGHBOUR_WAVE;
    tmd.shared_bytes = 1024;
    tmd.params_vram = PARAMS_AT + PPU_MAX_PARAM;
    start_task(victim->board, NEIGHBOUR_SLOT, &tmd);
    board_settle(victim->board);
}

/* NULL: it is not on the SM. */
static const struct sm_cta *its_cta(const struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->tmd.context == NEIGHBOUR_CONTEXT) {
            return &sm->cta[i];
        }
    }
    return NULL;
}

static const uint32_t *words_of(const struct sm *sm, const struct sm_cta *cta, uint32_t file)
{
    return (const uint32_t *)(const void *)(sm->file[file].bytes + cta->block[file].off);
}

void neighbour_begin(const struct neighbour *victim)
{
    const struct sm *const sm = only_sm(victim->board);

    for (uint32_t turns = 0; turns < BEGIN_TURNS; turns++) {
        const struct sm_cta *const cta = its_cta(sm);

        if (cta && words_of(sm, cta, SM_FILE_VREGS)[NEIGHBOUR_WAVE] != 0) {
            return;
        }
        neighbour_run(victim->board, cta ? 64 : 1);
    }
    fuzz_found("the victim does not begin beside the attacker");
}

uint32_t neighbour_check(const struct neighbour *victim)
{
    const struct sm *const sm = only_sm(victim->board);
    const struct sm_cta *const cta = its_cta(sm);

    if (!cta) {
        fuzz_found("the victim is not on the SM");
        return 0; /* for who does not know that it does not return */
    }
    const uint32_t *v = words_of(sm, cta, SM_FILE_VREGS);
    const uint32_t *shared = words_of(sm, cta, SM_FILE_SHARED);
    for (uint32_t i = 0; i < NEIGHBOUR_VREGS * NEIGHBOUR_WAVE; i++) {
        const uint32_t reg = i / NEIGHBOUR_WAVE, lane = i % NEIGHBOUR_WAVE;
        const uint32_t wanted = reg == 0    ? 16 * lane
                                : reg == 1  ? v[NEIGHBOUR_WAVE]
                                : reg == 2  ? v[2 * NEIGHBOUR_WAVE]
                                : reg == 15 ? victim->shared_magic + reg
                                            : victim->magic + reg;
        if (v[i] != wanted) {
            fuzz_found("register %u of the victim's lane %u is 0x%x, not 0x%x", reg, lane, v[i], wanted);
        }
        if (reg == 2 && shared[4 * lane] != victim->shared_magic + 15) {
            fuzz_found("the victim's shared memory has 0x%x", shared[4 * lane]);
        }
    }
    return v[NEIGHBOUR_WAVE];
}
