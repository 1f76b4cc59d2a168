/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what kernels have done since a moment, so that a debugger can go back to it (debug/replay.h): which warp
 * executed when, and the pages of VRAM as they were before kernels wrote them first. It exists only where a debugger
 * asked for it, and only where SMs run in slices: all of it belongs to the holder of the host lock.
 */
#ifndef QEMU_DEVICE_CORE_HISTORY_H
#define QEMU_DEVICE_CORE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/debug.h"

struct core;

#define HISTORY_PAGE 4096u
#define HISTORY_PAGES 16384u     /* at most; it begins anew when there would be more, as for what follows */
#define HISTORY_TURNS (1u << 20) /* turns of warps and CTAs that were taken */
#define HISTORY_UNITS (1u << 24) /* instructions and CTAs that were taken */
#define HISTORY_TAKES UINT16_MAX /* in place of a warp: the SM took a CTA */
#define HISTORY_NO_UNIT UINT64_MAX

/* What one warp executed behind another. */
struct history_turn {
    uint16_t sm;
    uint16_t warp;
    uint32_t units;
};

/* State of SMs and distributor, as debug/rewind.c puts it together. */
struct history_state {
    uint8_t *bytes;
    size_t used, room;
};

enum history_phase {
    HISTORY_STANDS = 0,
    HISTORY_SEEKS,     /* executes all again from the begin on, to find where to go back to */
    HISTORY_GOES_BACK, /* executes again until it is there */
    HISTORY_GOES_ON,   /* executes again from there on, until something stops it or the present has come */
};

struct history {
    void (*come_back)(struct core *core, enum ppu_debug_turning why);
    bool begun;   /* `base` is there: what is executed is kept */
    bool past;    /* the state is not the present one, which is kept in `present` */
    bool runs;    /* what is executed now was executed before */
    bool broken;  /* and does something else than it did */
    bool checked; /* it has been executed again up to the present, and did the same */
    enum history_phase phase;
    uint32_t most_units, most_pages; /* history begins anew when there would be more */
    uint64_t units;                  /* that were executed since the begin */
    uint64_t at;                     /* of them, where the state is; `units`: the present */
    struct history_turn *turn;
    uint32_t turns, turns_room;
    uint32_t turn_at, turn_done; /* the next unit */
    struct history_state base, present;
    uint64_t digest;   /* of the present */
    uint32_t *page_of; /* of each page of VRAM: which one it is of those kept, and 1 more; 0: none */
    uint32_t pages, pages_room, present_pages;
    uint64_t *page;  /* VRAM offset of each */
    uint8_t *before; /* what was there at the begin */
    uint8_t *after;  /* and is there in the present; of `present_pages` */
    uint8_t *here;   /* and was there when the state came to stand in the past; of `here_pages` */
    uint32_t here_pages;
    /* what is sought */
    struct ppu_debug_request wish;
    uint32_t context;
    uint64_t until;  /* units: the last hit before it */
    uint64_t target; /* where it was, or HISTORY_NO_UNIT */
    struct ppu_debug_event event;
    const uint8_t *sought; /* memory, with BACK_MEMORY */
    bool was_inside;       /* of the ranges; the instruction that the warp has executed before */
};

/* At most so many instructions and pages are kept. False: the host has no memory. */
bool history_new(struct core *core, uint32_t most_units, uint32_t most_pages);
/* Nothing is kept any more. A reset, or another state was loaded: only memory is as in the present again. */
void history_free(struct core *core);
/* It begins anew with what is executed next. */
void history_empty(struct core *core);

/* A kernel does what others see, and what cannot be taken back: history begins behind it. False: it must not be done,
 * as it was not when the same was executed first. */
bool history_effect(struct core *core);
/* Somebody else than a kernel changes what tasks do or memory that they see: the present comes back before, and history
 * begins behind it. */
void history_outside(struct core *core);
/* The present comes back. */
void history_return(struct core *core);
/* True: what is executed now was executed before, so that nobody is told. */
bool history_runs(const struct core *core);
/* True: the state is not the present one, or will not be soon. */
bool history_is_away(const struct core *core);

/* A page is written by a kernel for the first time, perhaps: bytes of VRAM. */
void history_keep(struct core *core, uint64_t off, uint64_t bytes);
/* A warp has executed an instruction, or (HISTORY_TAKES) an SM has taken a CTA. */
void history_add(struct core *core, uint32_t sm, uint32_t warp);
/* The present is left; false: the host has no memory. */
bool history_leave(struct core *core);
/* Puts back the pages as they were at the begin, or as they are in the present. */
void history_put_before(struct core *core);
void history_put_after(struct core *core);
/* The state stands in the past from now on; what others write into the pages meanwhile is kept (false: the host has no
 * memory for that). It is left. */
bool history_stand(struct core *core);
void history_go(struct core *core);

#endif
