/* SPDX-License-Identifier: MIT */
#include "tests/engine/client.h"
#include "ppu/macros.h"
#include "ppu/state.h"
#include "qemu-device/core/debugger.h"

#include <string.h>

#define AREA_AT 0x280000u
#define STEPS 20000u

uint64_t client_now_ns;

struct ppu_debug_box *client_box(const struct rig *rig)
{
    return &((struct ppu_state *)(void *)(rig->board->vram + AREA_AT))->debug;
}

bool client_look(struct rig *rig)
{
    return core_debug(rig->board->core, client_now_ns);
}

void client_attach(struct rig *rig)
{
    memset(rig->board->vram + AREA_AT, 0, sizeof(struct ppu_state));
    mcu_write(rig->board, PPU_REG_STATE_BASE, AREA_AT);
    assert_false(client_look(rig));
    client_box(rig)->owner = CLIENT_PROCESS;
    assert_true(client_look(rig));
    assert_int_equal(client_box(rig)->serves, CLIENT_PROCESS);
    assert_int_equal(client_box(rig)->version, PPU_DEBUG_VERSION);
}

void client_detach(struct rig *rig)
{
    client_box(rig)->owner = 0;
    assert_false(client_look(rig));
    assert_int_equal(client_box(rig)->serves, 0);
}

/* ---- requests ---- */

enum ppu_debug_status client_ask(struct rig *rig, const struct ppu_debug_request *request)
{
    struct ppu_debug_box *box = client_box(rig);

    box->request = *request;
    box->asked++;
    assert_true(client_look(rig));
    assert_int_equal(box->answered, box->asked);
    board_settle(rig->board);
    return box->answer.status;
}

void client_order(struct rig *rig, const struct ppu_debug_request *request)
{
    assert_int_equal(client_ask(rig, request), PPU_DEBUG_OK);
}

void client_break(struct rig *rig, uint32_t number, uint32_t insn, uint32_t lane)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BREAK,
                                                   .number = number,
                                                   .context = CONTEXT,
                                                   .address = CODE_VA + (uint64_t)insn * PPU_INSN_BYTES,
                                                   .lane = lane });
}

void client_go(struct rig *rig)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_GO, .context = CONTEXT });
}

void client_stop_at(struct rig *rig, uint32_t flags)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_STOP_AT, .context = CONTEXT, .flags = flags });
}

/* Until there are more events than that; the latest is returned. */
struct ppu_debug_event client_event(struct rig *rig, uint32_t so_far)
{
    struct ppu_debug_event event = { 0 };

    for (uint32_t i = 0; i < STEPS && client_look(rig) && client_box(rig)->events <= so_far; i++) {
        rig_step(rig);
    }
    assert_true(client_box(rig)->events > so_far);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_EVENTS, .number = so_far + 1 });
    assert_true(client_box(rig)->answer.bytes >= sizeof(event));
    memcpy(&event, client_box(rig)->answer.data, sizeof(event));
    assert_int_equal(event.number, so_far + 1);
    assert_int_equal(event.context, CONTEXT);
    return event;
}

uint32_t client_warps(struct rig *rig, uint32_t slot, struct ppu_debug_warp *warps, uint32_t most)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_WARPS, .slot = slot });
    const uint32_t count = client_box(rig)->answer.bytes / (uint32_t)sizeof(*warps);
    assert_true(count <= most);
    memcpy(warps, client_box(rig)->answer.data, count * sizeof(*warps));
    return count;
}

struct ppu_debug_warp client_warp(struct rig *rig, const struct ppu_debug_at *at)
{
    struct ppu_debug_warp warps[16];
    const uint32_t count = client_warps(rig, 0, warps, PPU_ARRAY_SIZE(warps));

    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(&warps[i].at, at, sizeof(*at)) == 0) {
            return warps[i];
        }
    }
    fail_msg("the warp is not there");
    return warps[0];
}

void client_vector(struct rig *rig, const struct ppu_debug_at *at, uint32_t reg, uint32_t values[PPU_LANES])
{
    client_order(rig,
                 &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_READ_VECTOR, .at = *at, .number = reg, .count = 1 });
    assert_int_equal(client_box(rig)->answer.bytes, PPU_LANES * sizeof(uint32_t));
    memcpy(values, client_box(rig)->answer.data, PPU_LANES * sizeof(uint32_t));
}

enum ppu_debug_status client_read(struct rig *rig, const struct ppu_debug_at *at, enum ppu_debug_memory space,
                                  uint32_t lane, uint64_t address, uint32_t *word)
{
    enum ppu_debug_status status = client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_READ_MEMORY,
                                                                                .at = *at,
                                                                                .space = space,
                                                                                .lane = lane,
                                                                                .address = address,
                                                                                .count = sizeof(*word) });

    memcpy(word, client_box(rig)->answer.data, sizeof(*word));
    return status;
}

enum ppu_debug_status client_write(struct rig *rig, const struct ppu_debug_at *at, enum ppu_debug_memory space,
                                   uint32_t lane, uint64_t address, uint32_t word)
{
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_WRITE_MEMORY,
                                         .at = *at,
                                         .space = space,
                                         .lane = lane,
                                         .address = address,
                                         .count = sizeof(word) };

    memcpy(request.data, &word, sizeof(word));
    return client_ask(rig, &request);
}
