/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the device core: everything of the PPU that is hardware, without QEMU. QEMU's glue and the joined test
 * process each give it VRAM and a struct core_host_ops.
 *
 * The host lock: QEMU's big lock, or a mutex of the joined process. Functions say
 * [lock] when the caller holds it, [any] when any thread may call. SM threads never
 * take it and never call a host operation marked [lock].
 */
#ifndef QEMU_DEVICE_CORE_CORE_H
#define QEMU_DEVICE_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/regs.h"

struct core;
struct ppu_mailbox;

/* Size of a machine (A1, A8). core_config_check() says what is wrong with one. */
struct core_config {
    uint64_t vram_bytes; /* power of two, PPU_MIN_VRAM to 1 TiB */
    uint32_t channels;   /* 1 to PPU_MAX_CHANNELS */
    uint32_t contexts;   /* 1 to PPU_MAX_CONTEXTS */
    uint32_t slots;      /* 1 to PPU_MAX_SLOTS */
    uint32_t gpcs;       /* divides sms */
    uint32_t sms;        /* 1 to PPU_MAX_SMS */
    uint32_t sm_warps;   /* passes of 32 lanes an SM holds, 32 to 256 */
    uint32_t sm_ctas;
    uint32_t sm_vregs;      /* 32-bit registers, over all lanes; at least 32 * 256 */
    uint32_t sm_shared;     /* bytes, at least PPU_MAX_SHARED */
    uint32_t sm_threads;    /* host threads that run SMs; 0: slices on the virtual clock */
    uint32_t engine_level;  /* of x86-64 that the SMs' engine uses: 2 to 4; 1: plain C; 0: the best that the host has */
    uint32_t engine_tier;   /* hot loops are translated: 0 never, 1 beside their execution, 2 before they go on */
    int engine_tier_socket; /* leads to the program that translates, the core's to close; -1: all is interpreted */
    uint32_t instance;
    bool test_hooks;
    bool subvector;      /* there is hardware for sub-vector mode (D10) */
    bool cache_model;    /* caches are modelled and counted (A10); sizes in bytes, all powers of two: */
    uint32_t cache_line; /* 32 to 1024 */
    uint32_t l1_bytes;   /* of an SM; at least l1_ways lines */
    uint32_t l1_ways;    /* 1 to 64 */
    uint32_t l15_bytes;  /* of a GPC: instructions and parameters */
    uint32_t l15_ways;
    uint32_t l2_bytes; /* of all SMs together */
    uint32_t l2_ways;
    uint32_t gpc_tlb; /* entries of a GPC's TLB */
    uint32_t gpc_tlb_ways;
};

struct core_host_ops {
    /* Access system memory through the PCI function. They return false when the bus refused. [lock] */
    bool (*dma_read)(void *opaque, uint64_t bus, void *buf, uint32_t len_bytes);
    bool (*dma_write)(void *opaque, uint64_t bus, const void *buf, uint32_t len_bytes);
    /* Sets an interrupt line of the MCU (enum ppu_irq). [lock] */
    void (*mcu_irq)(void *opaque, uint32_t line, bool level);
    /* Asks for the MCU to be released or held; answered by core_mcu_state(). [lock] */
    void (*mcu_run)(void *opaque, bool run);
    /* Sends an MSI-X vector to the host. [lock] */
    void (*raise_vector)(void *opaque, uint32_t vector);
    /* DEVICE_RESET was written: reset the whole function, core_reset() included. [lock] */
    void (*function_reset)(void *opaque);
    /* Host pointer to MCU memory [addr, addr + len) in DTCM, NULL when it is not all there. [lock] */
    void *(*mcu_mem)(void *opaque, uint32_t mcu_addr, uint32_t len_bytes);
    void (*log_char)(void *opaque, char c);                  /* [lock] */
    void (*guest_error)(void *opaque, const char *sentence); /* [lock] */
    /* One timer on the virtual clock: call core_timer() at deadline_ns; UINT64_MAX: off. [lock] */
    void (*timer_set)(void *opaque, uint64_t deadline_ns);
    uint64_t (*now_ns)(void *opaque); /* virtual clock [any] */
    /* Processor time of the host that the MCU has used; NULL: it is not known. [lock] */
    uint64_t (*mcu_cpu_ns)(void *opaque);
    void (*kick)(void *opaque); /* call core_bottom_half() soon, with the lock held [any] */
    /* Makes [off, off + len_bytes) of VRAM zeros, at most CORE_CLEAR_BYTES; both are multiples of 1 MiB. [lock] */
    void (*vram_clear)(void *opaque, uint64_t off, uint64_t len_bytes);
    /* Bytes from `off` on that are zeros already, as far as the host can tell without a look at them; NULL: it cannot.
     * [lock] */
    uint64_t (*vram_zeros)(void *opaque, uint64_t off);
    /* VRAM is to be cleared: nobody but the core may reach it, until false. [lock] */
    void (*vram_hide)(void *opaque, bool hide);
};

#define CORE_CLEAR_BYTES (2u << 20) /* of VRAM, cleared at once */

enum core_side {
    CORE_HOST = 0,
    CORE_MCU = 1,
};

/* NULL when usable, else a sentence that names the property. */
const char *core_config_check(const struct core_config *config);
/* SMs of a GPC have numbers one after the other. */
static inline uint32_t core_gpc_of(const struct core_config *config, uint32_t sm)
{
    return sm / (config->sms / config->gpcs);
}
/* Defaults of every property. */
void core_config_default(struct core_config *config);

/*
 * Makes a device in its reset state with SM threads paused (core_resume() lets them
 * go). `vram` has config->vram_bytes, is page-aligned, stays the caller's and must
 * outlive the core. NULL: out of memory.
 */
struct core *core_new(const struct core_config *config, void *vram, const struct core_host_ops *ops, void *opaque);
void core_free(struct core *core);

/*
 * Power-on, system reset, FLR: kills what runs, drops copies, asks for the MCU to be
 * held, resets registers. When the MCU is held VRAM is cleared, a part in each
 * bottom half; until that is done VRAM is hidden and the MCU stays held. [lock]
 */
void core_reset(struct core *core);

/* Registers; offset in bytes, 32-bit accesses only, any offset allowed. [lock] */
uint32_t core_reg_read(struct core *core, enum core_side side, uint32_t offset);
void core_reg_write(struct core *core, enum core_side side, uint32_t offset, uint32_t value);

/* BAR2; offset in bytes. [lock] */
uint32_t core_doorbell_read(struct core *core, uint64_t offset);
void core_doorbell_write(struct core *core, uint64_t offset, uint32_t value);
/* Rings what is in a mailbox (ppu/mailbox.h), in which another process writes at the same time. [lock] */
void core_mailbox_serve(struct core *core, struct ppu_mailbox *mailbox);

/* Bus address of the MCU's window onto system memory. [lock] */
uint64_t core_window_base(const struct core *core);

/* Tells the core what the MCU really does now. [lock] */
void core_mcu_state(struct core *core, enum ppu_mcu_state state);

/* Answers to ops->kick and ops->timer_set. [lock] */
void core_bottom_half(struct core *core);
/* The same but for accesses of SMs to system memory. True: there are such, which core_bottom_half() does. [lock] */
bool core_answer_events(struct core *core);
void core_timer(struct core *core);

/* Brings the state area (ppu/state.h) up to date when a reader has asked; true: one had. To be called now and then,
 * often after it was true. [lock] */
bool core_show(struct core *core);

/* The SMs and the copy engine stand still after core_pause() until core_resume(). Nestable: no. [lock] */
void core_pause(struct core *core);
void core_resume(struct core *core);

/*
 * State without VRAM and MCU memories, while paused: a versioned byte string.
 * core_save() returns a malloc()ed buffer, the caller's. core_load() checks the state
 * as a whole before any of it takes effect; false with a sentence in *error, valid
 * until the next call, when it is not one of a device like this: nothing has changed
 * then. [lock]
 */
uint8_t *core_save(struct core *core, size_t *len_bytes);
bool core_load(struct core *core, const uint8_t *buf, size_t len_bytes, const char **error);

/* State for a person, many lines; a malloc()ed string, the caller's. [lock] */
char *core_state_text(struct core *core);

#endif
