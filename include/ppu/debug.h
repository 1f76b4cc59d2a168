/* SPDX-License-Identifier: MIT */
/*
 * Defines how a debugger asks the device (docs/spec/debugger.md). The box lies in the state area (state.h), so that
 * whoever can write VRAM is a debugger: the owner of the device, who has all of it anyway. Threads cannot reach it.
 *
 * A debugger makes itself the owner, writes a request, and adds 1 to `asked`; the device writes the answer and then
 * makes `answered` the same. The device copies a request before it looks at it. An owner that does not change `alive`
 * for PPU_DEBUG_ALIVE_NS is gone: its breakpoints are removed and all tasks go on.
 */
#ifndef PPU_DEBUG_H
#define PPU_DEBUG_H

#include "ppu/base.h"
#include "ppu/limits.h"
#include "ppu/token.h"

#define PPU_DEBUG_VERSION 3u
#define PPU_DEBUG_ALIVE_NS 3000000000ull
#define PPU_DEBUG_LOOK_NS 2000000u /* of the host: the device looks at the box so often while it has an owner */
#define PPU_DEBUG_DATA 8192u       /* bytes of an answer, at most */
#define PPU_DEBUG_WRITE 512u       /* bytes of one write, at most */
#define PPU_DEBUG_BREAKS 256u
#define PPU_DEBUG_WATCHES 16u
#define PPU_DEBUG_RANGES 16u
#define PPU_DEBUG_HELD 128u  /* tasks that stand alone, at most; more stop their contexts */
#define PPU_DEBUG_EVENTS 64u /* stops that are kept */
#define PPU_DEBUG_ALL UINT32_MAX
#define PPU_DEBUG_ANY_LANE UINT32_MAX
#define PPU_DEBUG_NO_WARP UINT32_MAX

enum ppu_debug_op {
#define PPU_DEBUG_OP(name, number, takes, doc) PPU_DEBUG_DO_##name = (number),
#include "ppu/debug_op.def"
};

enum ppu_debug_status {
    PPU_DEBUG_OK = 0,
    PPU_DEBUG_BAD_REQUEST = 1, /* no such operation, or a member that is out of its bounds */
    PPU_DEBUG_NO_SUCH_WARP = 2,
    PPU_DEBUG_NOT_MAPPED = 3, /* an address that the task cannot reach; system memory, which is not read */
    PPU_DEBUG_RUNS = 4,       /* the task does not stand still */
    PPU_DEBUG_NO_RECORD = 5,  /* nothing is recorded: RECORD was not asked for */
    PPU_DEBUG_UNORDERED = 6,  /* SMs run on threads of the host, whose order is not known */
    PPU_DEBUG_PAST = 7,       /* what is past is not changed */
    PPU_DEBUG_NO_ROOM = 8,    /* the host has no memory for it */
    PPU_DEBUG_STATUSES = 9,
};

/* Memories, as enum ppu_debug_space (debug_info.h) numbers them. */
enum ppu_debug_memory {
    PPU_DEBUG_OF_LANE = 0,   /* local memory of `lane`, from 0 on */
    PPU_DEBUG_OF_TASK = 1,   /* the task's address space */
    PPU_DEBUG_OF_CTA = 3,    /* shared memory */
    PPU_DEBUG_OF_LAUNCH = 5, /* parameters; cannot be written */
};

/* What stops warps besides breakpoints; bits. */
#define PPU_DEBUG_AT_ENTRY (1u << 0)      /* before the first instruction of a task's first CTA */
#define PPU_DEBUG_AT_FAULT (1u << 1)      /* before a fault is reported */
#define PPU_DEBUG_AT_DIVERGENCE (1u << 2) /* after an instruction at which lanes parted */
#define PPU_DEBUG_AT_CHILD (1u << 3)      /* as AT_ENTRY, of tasks that threads launched alone */
#define PPU_DEBUG_AT_BITS 15u

/* Flags of a breakpoint. */
#define PPU_DEBUG_OF_ONE_CTA (1u << 0) /* only warps of the CTA at `cta` */
/* Flags of HALT, GO and SCOPE. */
#define PPU_DEBUG_ONE_TASK (1u << 0) /* the task `number` (ppu_debug_task.task) of a context alone */
/* Flags of a step. */
#define PPU_DEBUG_IN_RANGE (1u << 0) /* until an instruction that lies in no range; else one instruction */
/* Flags of RECORD. */
#define PPU_DEBUG_RECORDS (1u << 0)

/* What is sought backwards (`flags` of BACK): the last before what the state is now. */
enum ppu_debug_back {
    PPU_DEBUG_BACK_INSN = 0,     /* instruction of the warp in which the lane was active */
    PPU_DEBUG_BACK_OUT = 1,      /* the same, outside of the ranges */
    PPU_DEBUG_BACK_ENTRY = 2,    /* the same, with which it came into the ranges; it may be the one that it is at */
    PPU_DEBUG_BACK_STOP = 3,     /* breakpoint that a warp came to, or change of watched memory */
    PPU_DEBUG_BACK_REGISTER = 4, /* instruction that wrote vector register `number` of the lane */
    PPU_DEBUG_BACK_MEMORY = 5,   /* instruction that wrote one of `count` bytes */
    PPU_DEBUG_BACKS = 6,
};

/* Names a warp that is on an SM. A CTA that has left since is found by `start` and `cta` not being its own. */
struct ppu_debug_at {
    uint32_t sm;
    uint32_t warp; /* index on the SM */
    uint64_t start;
    uint64_t cta;
};
PPU_ASSERT_SIZE(struct ppu_debug_at, 24);

/* Instructions from the code's base. */
struct ppu_debug_range {
    uint32_t first, end;
};

struct ppu_debug_request {
    uint32_t op; /* enum ppu_debug_op */
    uint32_t slot;
    struct ppu_debug_at at;
    uint32_t number;
    uint32_t count;
    uint32_t context;
    uint32_t space; /* enum ppu_debug_memory */
    uint32_t lane;
    uint32_t flags;
    uint64_t address;
    uint64_t value;
    uint32_t lanes[PPU_MAX_WAVE_WORDS];
    uint32_t cta[3];
    uint32_t ranges;
    struct ppu_debug_range range[PPU_DEBUG_RANGES];
    uint8_t data[PPU_DEBUG_WRITE];
};

struct ppu_debug_answer {
    uint32_t status; /* enum ppu_debug_status */
    uint32_t bytes;  /* of data */
    uint32_t more;   /* elements behind these */
    uint32_t reserved;
    uint8_t data[PPU_DEBUG_DATA];
};

struct ppu_debug_task {
    uint32_t slot;
    uint32_t halted;
    uint64_t start; /* counts the tasks that the device has started */
    uint64_t code_va;
    uint32_t code_bytes;
    uint32_t entry; /* as the TMD's */
    uint32_t context;
    uint32_t task; /* handle of the firmware's record */
    uint32_t depth;
    uint32_t wave;
    uint32_t vregs;
    uint32_t shared_bytes;
    uint32_t local_bytes;
    uint32_t param_bytes;
    uint32_t ctas; /* on SMs */
    uint32_t cta[3];
    uint32_t grid[3];
    uint32_t reserved;
    uint64_t waiting; /* a bit for each place of its save area (save.h) with a CTA that waits for children */
};
PPU_ASSERT_SIZE(struct ppu_debug_task, 104);

enum ppu_debug_state {
    PPU_DEBUG_READY = 1,
    PPU_DEBUG_BARRIER = 2, /* every live lane waits at a barrier */
    PPU_DEBUG_SYSTEM = 3,  /* an access to system memory is under way */
    PPU_DEBUG_STALLED = 4, /* it tries its instruction again: a ring is full */
    PPU_DEBUG_FAULT = 5,   /* its fault has not been reported yet */
    PPU_DEBUG_DONE = 6,    /* no live lane; its CTA has others */
};

struct ppu_debug_warp {
    struct ppu_debug_at at;
    uint32_t slot;
    uint32_t number; /* within the CTA */
    uint32_t cta[3];
    uint32_t pc;     /* in instructions from the code's base */
    uint8_t state;   /* enum ppu_debug_state */
    uint8_t passes;  /* wave / 32 */
    uint8_t stopped; /* it has stopped itself: enum ppu_debug_why; 0: because others did */
    uint8_t parts;   /* 1: it runs a segment part by part */
    uint32_t active[PPU_MAX_WAVE_WORDS];
    uint32_t live[PPU_MAX_WAVE_WORDS];
    uint32_t threads[3]; /* of its CTA */
    uint32_t reserved[2];
};
PPU_ASSERT_SIZE(struct ppu_debug_warp, 104);

struct ppu_debug_lane {
    uint32_t reason; /* enum ppu_token_type or ppu_reason */
    uint32_t wait;   /* where it goes on */
    uint32_t barrier;
};

enum ppu_debug_why {
    PPU_DEBUG_AT_BREAK = 1, /* id: the breakpoint */
    PPU_DEBUG_AT_WATCH = 2, /* id: the watchpoint; value[0] was, value[1] is there; no warp: somebody else's write */
    PPU_DEBUG_STEPPED = 3,
    PPU_DEBUG_ENTERED = 4,
    PPU_DEBUG_FAULTED = 5, /* id: code of fault.def; value[0]: the address */
    PPU_DEBUG_DIVERGED = 6,
    PPU_DEBUG_ENDED = 7,  /* what was stepped has ended or left its SM */
    PPU_DEBUG_WRITES = 8, /* it has gone back; the instruction writes what was sought */
    PPU_DEBUG_TURNED = 9, /* id: enum ppu_debug_turning */
};

/* Why the way back or forth has come to an end. */
enum ppu_debug_turning {
    PPU_DEBUG_BEGIN = 0,      /* of what is recorded */
    PPU_DEBUG_PRESENT = 1,    /* what is executed next was not executed before */
    PPU_DEBUG_INTERFERED = 2, /* the present has come back: somebody changes tasks or their memory */
    PPU_DEBUG_DIFFERED = 3,   /* the same: executed again the kernels did something else */
};

/* What is recorded; all in instructions and CTAs that were taken. */
struct ppu_debug_record {
    uint64_t units;
    uint64_t at;    /* `units`: the present */
    uint32_t pages; /* of 4 KiB */
    uint32_t reserved;
};
PPU_ASSERT_SIZE(struct ppu_debug_record, 24);

/* Why a context stands still: one of its warps has stopped. */
struct ppu_debug_event {
    uint32_t number;        /* from 1 on */
    uint32_t why;           /* enum ppu_debug_why */
    struct ppu_debug_at at; /* warp PPU_DEBUG_NO_WARP: none */
    uint32_t context;
    uint32_t slot;
    uint32_t pc;
    uint32_t id;
    uint64_t value[2];
};
PPU_ASSERT_SIZE(struct ppu_debug_event, 64);

struct ppu_debug_box {
    uint32_t version;  /* PPU_DEBUG_VERSION; device, while it looks */
    uint32_t owner;    /* process of the debugger, which makes it so from 0; 0 again when it leaves; atomic */
    uint32_t alive;    /* the owner changes it */
    uint32_t session;  /* counts debuggers that have come; device */
    uint32_t asked;    /* owner, release */
    uint32_t answered; /* device, release */
    uint32_t events;   /* stops so far; device */
    uint32_t serves;   /* the owner that the device serves; device */
    struct ppu_debug_request request;
    struct ppu_debug_answer answer;
};

#endif
