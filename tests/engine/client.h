/* SPDX-License-Identifier: MIT */
/* Asks the debug server of a rig's device, as its debugger. What fails fails the test. */
#ifndef TESTS_ENGINE_CLIENT_H
#define TESTS_ENGINE_CLIENT_H

#include "ppu/debug.h"
#include "tests/engine/rig.h"

#define CLIENT_PROCESS 4711u

/* The host's time that the device is told. */
extern uint64_t client_now_ns;

struct ppu_debug_box *client_box(const struct rig *rig);
/* The device looks at the box; false: it has no owner. */
bool client_look(struct rig *rig);
void client_attach(struct rig *rig);
void client_detach(struct rig *rig);

/* How the device answers a request; client_order(): it must do it. */
enum ppu_debug_status client_ask(struct rig *rig, const struct ppu_debug_request *request);
void client_order(struct rig *rig, const struct ppu_debug_request *request);
/* Sets a breakpoint before an instruction, counted from the begin of the code. */
void client_break(struct rig *rig, uint32_t number, uint32_t insn, uint32_t lane);
void client_go(struct rig *rig);
/* What stops besides: PPU_DEBUG_AT_*. */
void client_stop_at(struct rig *rig, uint32_t flags);
/* Waits until there are more events than that; returns the first of them. */
struct ppu_debug_event client_event(struct rig *rig, uint32_t so_far);

uint32_t client_warps(struct rig *rig, uint32_t slot, struct ppu_debug_warp *warps, uint32_t most);
/* The warp of slot 0 that is named. */
struct ppu_debug_warp client_warp(struct rig *rig, const struct ppu_debug_at *at);
void client_vector(struct rig *rig, const struct ppu_debug_at *at, uint32_t reg, uint32_t values[PPU_LANES]);
enum ppu_debug_status client_read(struct rig *rig, const struct ppu_debug_at *at, enum ppu_debug_memory space,
                                  uint32_t lane, uint64_t address, uint32_t *word);
enum ppu_debug_status client_write(struct rig *rig, const struct ppu_debug_at *at, enum ppu_debug_memory space,
                                   uint32_t lane, uint64_t address, uint32_t word);

#endif
