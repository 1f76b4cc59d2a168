/* SPDX-License-Identifier: MIT */
#include "tools/dbg/frames.h"

#include <string.h>

#include "ppu/isa.h"
#include "ppu/macros.h"

bool frames_is_call(const struct loaded *loaded, uint32_t insn, uint32_t *target)
{
    struct ppu_insn code;
    uint64_t word;

    if (insn >= loaded->view.header->code_bytes / PPU_INSN_BYTES) {
        return false;
    }
    memcpy(&word, loaded->view.code + (size_t)insn * PPU_INSN_BYTES, sizeof(word));
    if (ppu_isa_decode(word, &code) != 0 || code.op != PPU_OP_CALL) {
        return false;
    }
    *target = insn + (uint32_t)code.imm;
    return true;
}

/* A function's first instruction puts the register with the return address into memory. */
static bool read_return(struct session *session, const struct info_function *function, uint32_t insn, uint32_t *back)
{
    const uint32_t lane = session->focus.lane;
    const struct ppu_debug_request request = {
        .op = PPU_DEBUG_DO_READ_VECTOR, .at = session->focus.warp.at, .number = PPU_DEBUG_RETURN_VREG, .count = 1
    };

    if (insn != function->begin) {
        return session_read(session, PPU_DEBUG_PRIVATE, function->return_at, back, sizeof(*back));
    }
    if (!box_done(&session->box, &request) || session->box.answer.bytes < (lane + 1) * sizeof(*back)) {
        return false;
    }
    memcpy(back, session->box.answer.data + lane * sizeof(*back), sizeof(*back));
    return true;
}

/* The call of the function that the instruction is in; false: nobody has called it, or that is not known. */
static bool find_call(struct session *session, const struct loaded *loaded, uint32_t insn, uint32_t *call)
{
    struct info_function function;
    uint32_t back = 0, target;

    if (!info_function(loaded->info, insn, &function) || !function.is_called ||
        !read_return(session, &function, insn, &back)) {
        return false;
    }
    *call = back - 1;
    return frames_is_call(loaded, *call, &target) && target == function.begin; /* memory may have been written over */
}

static uint32_t list_lane(struct session *session, const struct loaded *loaded, struct frame *frames, uint32_t most)
{
    struct info_frame inlined[INFO_DEPTH];
    uint32_t insn = session->focus.warp.pc, count = 0, here;

    do {
        here = info_frames(loaded->info, insn, inlined);
        for (uint32_t i = 0; i < here && count < most; i++) {
            frames[count++] = (struct frame){ inlined[i], insn, i };
        }
    } while (here != 0 && count < most && find_call(session, loaded, insn, &insn));
    return count;
}

/* Each call is a request to the device, so no more are followed than are wanted. */
static uint32_t list_most(struct session *session, struct frame *frames, uint32_t most)
{
    const struct loaded *loaded = session_loaded(session);
    struct focus *focus = &session->focus;
    const uint32_t lane = focus->lane;

    if (!loaded || !loaded->info) {
        return 0;
    }
    if (!session_is_active(&focus->warp, lane)) { /* it waits elsewhere: the function is that of those that are here */
        focus->lane = session_first_active(&focus->warp);
    }
    const uint32_t count = list_lane(session, loaded, frames, most);
    focus->lane = lane;
    return count;
}

uint32_t frames_list(struct session *session, struct frame frames[INFO_DEPTH])
{
    return list_most(session, frames, INFO_DEPTH);
}

bool frames_chosen(struct session *session, struct frame *frame)
{
    struct frame frames[INFO_DEPTH];
    const uint32_t chosen = session->focus.frame;

    if (chosen >= INFO_DEPTH || list_most(session, frames, chosen + 1) <= chosen) {
        return false;
    }
    *frame = frames[chosen];
    return true;
}
