/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the engine for the level of the host's instruction set. */
#ifndef QEMU_DEVICE_CORE_ENGINE_LEVELS_H
#define QEMU_DEVICE_CORE_ENGINE_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/file.h"

struct exec;
struct tier_translation;

/*
 * The engine for a level of the host's instruction set: engine/inner/loop.c.inc. The thread sanitizer sees the plain
 * one, which is the same source: between which accesses there are races does not depend on the level. So do fuzz
 * targets, whose coverage must not depend on the host.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !(defined(__clang__) && SM_FILE_SHADED)
#define ENGINE_HAS_LEVELS 1
#endif

struct engine_level_ops {
    uint32_t (*run)(struct exec *x, uint32_t budget); /* as engine_run(), of a warp that can go on */
    /* For engine_whole_begin() and engine_whole_run(). */
    const struct code_insn *(*whole_code)(struct exec *x, const struct tier_translation **translation);
    uint32_t (*run_whole)(struct exec *x, const struct code_insn *code, const struct tier_translation *translation,
                          uint32_t *done);
    engine_op *(*op_of)(const struct code_insn *code); /* what executes an instruction without fault; `op` is not set */
    engine_op *(*modelled_op_of)(const struct code_insn *code); /* the same when caches are modelled */
};

extern const struct engine_level_ops engine_level_ops_plain, engine_level_ops_v2, engine_level_ops_v3,
    engine_level_ops_v4;

/* The engine of engine_level(). */
const struct engine_level_ops *engine_choose(uint32_t wanted);

#define ENGINE_LEVEL_MOST 4u

/* 0 is replaced by the best level that the host has; 0: the host has not what is wanted. */
uint32_t engine_level(uint32_t wanted);

#endif
