/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of an SM and of the warps on it, shared by the sm*, decode* and engine* files. All of it belongs to the one
 * thread that runs the SM, except what says otherwise; while the pool is paused it belongs to the holder of the host
 * lock.
 */
#ifndef QEMU_DEVICE_CORE_SM_STATE_H
#define QEMU_DEVICE_CORE_SM_STATE_H

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "ppu/isa.h"
#include "ppu/token.h"
#include "qemu-device/core/internal.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/cache_model.h"

#define SM_QUANTUM 4096u    /* warp instructions of a turn, at most */
#define SM_LOOK 32u         /* of them between two looks at the attention word, at most */
#define SHARE_QUANTUM 1024u /* the same where CTAs of several address spaces are side by side */
#define SM_SLICE_NS 10000u  /* virtual time of a slice; one warp instruction is 1 ns */
#define SM_SLICE_PART 512u  /* work of one call of sm_slice_run(): warp instructions and their memory transactions */
#define SM_ANY_WORK UINT64_MAX
#define SM_SLICE_TURN 8u /* warp instructions between two looks at how much has been done */
#define SM_TLB_SIZE 512u
#define SM_CODE_PAGES 16u
#define SM_PAGE_INSNS 512u
#define SM_NO_CTA UINT32_MAX
#define SM_WAIT_CHILDREN PPU_BARRIERS /* cwait is a barrier that the firmware opens */
#define SM_WAITS (PPU_BARRIERS + 1u)
#define EXEC_STEADY 32u /* vector registers that may be known to be steady: the first ones */
#define SM_MAX_WORDS 4u /* 32-bit words of one access */

/* A set of lanes: lane n is bit n % 32 of word n / 32. Words beyond the wave are zero. */
struct lanes {
    uint32_t m[PPU_MAX_WAVE_WORDS];
};

/* ---- translations: sm/tlb.c ---- */
#define TLB_VALID (1ull << 11) /* below the page offset, above the context number */
struct tlb_entry {
    uint64_t tag;  /* page address | context | TLB_VALID; 0: none */
    uint64_t mask; /* address bits that the tag compares */
    uint64_t frame;
    bool system;
    bool write;
    bool atomic;
};

/* A page that an access was found in, for those that follow. */
struct page {
    uint64_t first;
    uint64_t bytes; /* 0: none yet */
    uint8_t *host;
};

#define FOUND_READS 4u /* loads that are neighbours in a program are mostly of different buffers */

/* Where accesses of each kind were last, which they mostly stay. */
struct tlb_found {
    uint64_t key;                                    /* of the tags of their pages; 0: there are none */
    struct page reads[FOUND_READS], writes, atomics; /* of loads by where they stand in the program */
    struct page lines;                               /* of lines that the model of the caches looked at */
};

/* 64 KiB pages two apart by a power of two must not share an entry. */
static inline uint32_t sm_tlb_index(uint64_t va)
{
    uint64_t page = va / PPU_PAGE_64K;

    return (uint32_t)((page ^ page >> 9) % SM_TLB_SIZE);
}

/* Where one piece of an access lies. */
struct place {
    uint8_t *host; /* NULL: system memory */
    uint64_t bus;  /* bus address, or VRAM offset */
};

/* ---- decoded code: decode.c ---- */
struct exec;
struct code_insn;
struct lanes;
enum step;
typedef enum step engine_op(struct exec *x, const struct code_insn *code, const struct lanes *mask);

#define CODE_SAME_A 1u /* source a is the same for all lanes: a scalar register, or the immediate */
#define CODE_SAME_B 2u
#define CODE_SAME_C 4u
#define CODE_MODIFIED 8u /* sources are negated or made absolute */
#define CODE_NOT_PLAIN UINT16_MAX

struct code_insn {
    engine_op *op; /* NULL: not decoded yet, or it has a fault */
    union {
        uint32_t imm[2];       /* operand b of the immediate form, of arithmetic */
        uint64_t word;         /* of one that has a fault */
        engine_op *unmodelled; /* of an access to memory: its operation when caches are not modelled */
    };
    struct ppu_insn insn;
    uint16_t plain; /* as vregs; CODE_NOT_PLAIN: engine_execute() must look at it */
    uint16_t fault; /* 0, or what executing it raises */
    uint16_t vregs; /* one more than the highest vector register it names */
    uint8_t kinds;  /* CODE_SAME_*, CODE_MODIFIED */
    bool known : 1;
    bool steady : 1; /* its operation says itself whether what it writes is steady */
    uint32_t keeps;  /* bit n: vector register n is as steady behind it as before, or `steady` */
};
_Static_assert(sizeof(struct code_insn) == 64, "a line of the host's cache");

struct code_page {
    uint64_t tag; /* address of the page | context | valid; 0: none */
    const uint8_t *bytes;
    struct code_insn insn[SM_PAGE_INSNS];
};

/* Decoded instructions of a task that lie in one page. */
struct code_window {
    const struct code_insn *insn; /* the first */
    uint32_t first;               /* its number */
    uint32_t count;               /* 0: none */
    uint64_t start;               /* dist_task.start of the task */
};

/* ---- accesses to system memory: sm/system.c ---- */
enum sys_state {
    SYS_NONE = 0,
    SYS_QUEUED = 1, /* SM: waits for the main loop; may be taken back by compare-and-swap */
    SYS_BUSY = 2,   /* main loop */
    SYS_DONE = 3,   /* main loop: results are there */
};

enum sys_kind {
    SYS_LOAD = 1,
    SYS_STORE = 2,
    SYS_ATOMIC = 3,
    SYS_RELEASE = 4, /* semaphore */
};

struct sys_word {
    uint64_t bus;
    uint64_t data;    /* in: value, or operand; out: value read */
    uint64_t operand; /* compare-and-swap: the value to compare with */
    uint8_t *host;    /* not NULL: this word of a mixed access lies in VRAM */
    uint8_t lane;
    uint8_t word;
    uint8_t bytes;
};

struct sys_request {
    uint32_t state; /* enum sys_state; SM and main loop, atomic */
    uint32_t kind;
    uint32_t count;
    uint32_t done; /* words performed; less than count: the bus refused the next */
    uint32_t aop;
    uint32_t lanes;
    uint32_t pass;
    bool with_time;
    struct sys_word word[PPU_LANES * SM_MAX_WORDS];
};

/* ---- caches, when they are modelled: sm/cache.c ---- */
#define CACHE_WINDOW 1024u /* lines that a warp loads until what it is known by is worth half */
#define CACHE_LOCKS 64u
#define CACHE_MOST_LINES                                                                         \
    (PPU_MAX_WAVE * SM_MAX_WORDS) /* of an instruction: gathers, or pieces that lie in two lines \
                                   */

/*
 * How well the first level has served a warp of late (D8): lines that it loaded, and those of them that were not there.
 * Both are halved when `loads` reaches CACHE_WINDOW, so that the ratio is of some 1,500 lines, the latest most.
 */
struct cache_window {
    uint32_t loads;
    uint32_t misses;
};

/* The second level; its sets are shared by SM threads. */
struct cache_l2 {
    struct cache cache;
    pthread_mutex_t lock[CACHE_LOCKS]; /* of set n: n modulo CACHE_LOCKS; below all others */
};

/* Virtual addresses of lines that an instruction touches, each once in a pass. */
struct cache_lines {
    uint32_t count;
    uint32_t begin;  /* of those of the pass and piece looked at now */
    uint64_t seen;   /* line modulo 64 of each of them */
    uint16_t at[64]; /* where in va[] the latest of these is */
    uint64_t va[CACHE_MOST_LINES];
};

/* ---- sub-vector mode: engine/subvector.c ---- */
/*
 * A segment that a warp runs part by part (D3). Parts below `part` are through, those above come later; lanes of both
 * are disabled for PPU_REASON_PART.
 */
struct parts {
    bool on;
    bool loop;    /* by SVBEGIN: the masks of the other parts are in scalars from `scalar` on, too */
    bool ended;   /* a part has come to the end: `end` is known */
    uint8_t part; /* that runs */
    uint8_t scalar;
    uint16_t shared; /* registers behind the private ones that parts share (D4) */
    uint32_t floor;  /* tokens that were queued at the begin and stay */
    uint32_t begin;  /* the instruction that each part begins at */
    uint32_t end;    /* where the warp goes on behind the segment */
    struct lanes entered;
};

/* ---- the control unit: sm/mode.c ---- */
#define SM_PROBE 32u /* segments of a task, of which one runs in normal mode to be looked at */

/* What an SM knows of a task's segments that leave their mode open (D8). */
struct mode {
    uint64_t start;             /* dist_task.start of the task */
    struct cache_window normal; /* lines that its segments loaded in normal mode */
    uint32_t segments;          /* since the rate is known, modulo 2^32 */
    bool parts;                 /* what was chosen last */
};

#define SM_ROWS (PPU_MAX_VREGS + 1u) /* of registers; one more, as they are looked up by pairs */

/* ---- warps ---- */
enum warp_state {
    WARP_FREE = 0,
    WARP_READY = 1,
    WARP_BARRIER = 2, /* every live lane waits at a barrier */
    WARP_SYSTEM = 3,  /* an access to system memory is under way */
    WARP_STALLED = 4, /* tries its instruction again: a ring is full, or a test hook holds it */
    WARP_FAULTED = 5, /* its fault has not been reported yet: the fault ring is full */
    WARP_DONE = 6,    /* no live lane */
};

struct warp {
    uint8_t state;
    uint8_t passes;  /* wave / 32 */
    uint8_t number;  /* within the CTA */
    bool partial;    /* the instruction at pc has been done but for the lanes in `pending` */
    bool held;       /* by a test hook, at a MARK already recorded */
    bool measured;   /* it is in a segment in normal mode, of whose loads `segment` is */
    bool sampled;    /* that is predicted: each instruction goes through engine_execute() */
    bool turned;     /* `active` is another set than what lanes are counted for */
    bool yields;     /* it has come to a YIELDN: yield_turns[] holds something */
    bool fresh;      /* it has not had a turn, and was not one that did elsewhere */
    uint8_t section; /* instructions the critical section may still have, 0: in none (B4) */
    uint32_t cta;    /* index of its CTA on the SM */
    uint32_t pc;     /* in instructions from the code base */
    uint64_t word;   /* partial or held: the instruction, as it was when it began */
    struct lanes active;
    struct lanes live; /* have not ended */
    struct lanes pending;
    struct lanes pred[PPU_PREDS];
    uint8_t reason[PPU_MAX_WAVE]; /* enum ppu_token_type or ppu_reason of each lane */
    uint32_t token_cap;
    uint32_t token_first; /* entry at the front */
    uint32_t token_count;
    uint32_t yield_count; /* yield tokens queued: the truth when summary bits are stale */
    uint64_t random;      /* state of the generator of YIELDP and YIELDQ; not 0 */
    struct cache_window window;
    struct cache_window segment; /* of the segment in normal mode that it is in */
    struct parts parts;
    struct ppu_fault_event fault;
    uint32_t sreg[PPU_SREGS];
    uint32_t yield_turns[PPU_MAX_WAVE]; /* of each lane: YIELDNs since it last yielded by one */
    uint32_t wait_pc[PPU_MAX_WAVE];     /* where a disabled lane goes on */
    uint8_t barrier[PPU_MAX_WAVE];      /* number of the barrier that a waiting lane waits at */
};

/* It has begun the instruction at pc and goes on with it: with this one, whatever the code has become meanwhile. */
static inline bool warp_begun(const struct warp *w)
{
    return w->partial || w->held;
}

/* Makes yield_turns[] hold something: most warps never need it. */
static inline void warp_yields(struct warp *w)
{
    if (!w->yields) {
        memset(w->yield_turns, 0, sizeof(w->yield_turns));
        w->yields = true;
    }
}

/* ---- register and shared files, token queues: sm/file.c ---- */
enum sm_file_id {
    SM_FILE_VREGS = 0,
    SM_FILE_SHARED = 1,
    SM_FILE_OWN = 2,    /* files below lie in memory of the SM */
    SM_FILE_TOKENS = 2, /* in the protected range of VRAM */
    SM_FILE_COUNT = 3,
};

struct sm_block {
    size_t off;
    size_t len;
};

struct sm_file {
    uint8_t *bytes;
    size_t cap;
    size_t tail;           /* blocks lie below it */
    struct sm_block spare; /* below it too, and nobody's: what the last CTA left */
    uint64_t spare_for;    /* dist_task.start of the task that need not find zeros there; 0: none */
};

/* What a prologue did in a CTA: see struct prologue. */
struct prologue_done {
    uint32_t warp; /* that ran it */
    uint32_t sreg[PPU_SREGS];
    uint32_t vreg[EXEC_STEADY]; /* lane 0 of registers that are steady */
};

struct sm_cta {
    bool used;
    struct dist_cta cta;
    struct sm_block block[SM_FILE_COUNT];
    uint32_t warp[PPU_MAX_CTA_THREADS / PPU_LANES]; /* indices of its warps on the SM */
    uint32_t warps_left;
    uint32_t threads_left;      /* that have not ended */
    uint32_t waiting;           /* at barriers, all together */
    uint32_t barrier[SM_WAITS]; /* threads waiting at each */
    bool must_save;             /* every thread left waits for children (B7) */
    uint64_t count[PPU_COUNTERS];
    uint64_t settled[PPU_COUNTERS]; /* what of it the SM has */
    uint32_t begun;                 /* instructions of the prologue that `done` comes of; 0: of none */
    struct prologue_done done;
};

/*
 * The first instructions of a program, as far as they do the same for every warp of a CTA but for the numbers of its
 * threads: they load parameters, look where the CTA is, and compute with that. Vector registers they write are those
 * numbers plus something that is the same for all. One warp of a CTA executes them, the others get what it got.
 */
struct prologue {
    uint32_t insns; /* 0: none that would be worth it */
    uint32_t sregs; /* scalar registers that they may have written are below */
    uint32_t vregs; /* bit n: vector register n is written */
};

/* What is known of a task's program when a CTA of it has ended. */
struct program {
    uint64_t start; /* dist_task.start; 0: of none */
    bool writes_first;
    struct prologue prologue;
};

/*
 * Relaxed additions whose old values nobody wants, to words of VRAM that lie close together: they are summed up here
 * and added to memory before this SM does anything else with these words, orders accesses, waits, or tells of the end
 * of what added. Written by the SM's thread alone.
 */
#define SUMS_STEP 2048u
#define SUMS_BYTES (2u * SUMS_STEP)
struct sums {
    uint8_t *base;        /* in VRAM, of value[0]; NULL: there are none */
    uint32_t first, last; /* words that may not be 0 */
    uint32_t value[SUMS_BYTES / sizeof(uint32_t)];
};

/* One warp being executed. What is the task's stays for its next warp. */
struct exec {
    struct core *core;
    struct sm *sm;
    struct sm_cta *cta;
    struct warp *w;
    const struct dist_task *task;
    uint64_t start; /* dist_task.start of the task that this was made for; 0: of none */
    uint32_t index; /* of the warp on the SM */
    uint32_t wave;
    uint32_t passes;
    uint32_t stride;   /* words from the registers of a warp to those of the next */
    uint32_t vregs;    /* of a lane, with those that parts share now */
    uint32_t plain;    /* instructions that name no register from here on need not be looked at: vregs, or 0 for none */
    uint64_t whole[2]; /* struct lanes of all lanes of the wave */
    uint64_t tlb_key;  /* what tags have beside the address */
    uint8_t *vram;
    uint32_t *vreg; /* private registers [register][lane], then shared ones [register][lane of a part] */
    const uint32_t
        *rows; /* where in there each register's begin; a shared one's is as far before as its part is behind */
    uint8_t *shared;
    const struct code_insn *code;
    bool looped;                /* the warp has jumped back in this turn */
    uint32_t steady;            /* bit n: vector register n of lane i is that of lane 0 + i * step[n] */
    uint32_t step[EXEC_STEADY]; /* of registers that are steady */
    struct tlb_found *found;
    uint32_t lanes;   /* active, when count_begin() or count_turn() looked last */
    uint32_t counted; /* instructions of this turn that LANES has */
};

/*
 * How the address spaces share the SM: who has had less time goes first. Time is that of the host thread, or of slices,
 * in which an instruction takes 1 ns.
 */
struct sm_share {
    uint32_t spaces;   /* of which there are CTAs */
    uint32_t sole;     /* the one, when there is one */
    uint64_t since_ns; /* time that is not yet anybody's begins here; 0: the SM does not run */
    uint64_t insns;    /* executed, ever */
    uint16_t ctas[PPU_MAX_CONTEXTS];
    uint64_t turn_ns[PPU_MAX_CONTEXTS]; /* what each has had beside others, from where the least had when it came */
    uint64_t time_ns[PPU_MAX_CONTEXTS]; /* what each has had; atomic */
};

struct sm {
    struct core *core;
    const struct core_config *config;
    uint8_t *vram;
    const struct engine_build *build;
    uint32_t number;
    uint32_t attention;                    /* any thread, atomic: look at kills, flushes, pause */
    uint32_t has_work;                     /* any thread, atomic: dist_take() may succeed */
    uint32_t system;                       /* any thread, atomic: requests queued */
    uint32_t system_warp;                  /* whose request the main loop looks at first */
    uint64_t flush[PPU_MAX_CONTEXTS / 64]; /* any thread, atomic */
    uint64_t count[PPU_COUNTERS];          /* atomic, written by the SM's thread: count_settle() */
    uint32_t next_warp;                    /* round robin */
    uint32_t turns;                        /* of warps since a CTA was taken */
    struct sm_share share;
    uint32_t ctas_used;
    uint32_t warps_used;
    struct dist_room used;           /* by CTAs, but for their number */
    uint64_t started[PPU_MAX_SLOTS]; /* dist_task.start of the task whose code was seen last */
    struct sm_file file[SM_FILE_COUNT];
    struct cache_l2 *l2; /* NULL: caches are not modelled */
    struct cache l1;     /* without a model: what samples are shown */
    struct mode mode[PPU_MAX_SLOTS];
    struct sm_cta *cta;                         /* sm_ctas */
    struct warp *warp;                          /* sm_warps */
    struct sys_request *sys;                    /* one a warp */
    uint32_t rows[PPU_MAX_WAVE_WORDS][SM_ROWS]; /* exec.rows of a warp of n passes in normal mode: of n - 1 */
    uint32_t part_rows[SM_ROWS];                /* of the warp that was in sub-vector mode last */
    uint64_t part_rows_key;                     /* what they are for; 0: nothing */
    struct tlb_entry tlb[SM_TLB_SIZE];
    struct tlb_found found;    /* until translations are dropped */
    struct code_page *code;    /* SM_CODE_PAGES */
    struct code_window window; /* of the turn before; until pages change */
    struct code_insn begun;    /* of decode_begun() */
    struct program program;
    struct exec exec; /* the warp of the turn */
    struct sums sums;
    struct dist_ends ends; /* that the distributor has not been told of */
};

struct sm_worker {
    pthread_t thread;
    struct sm_pool *pool;
    uint32_t number;
    bool parked; /* under the pool's lock */
};

/* sm_threads 0: a slice that has begun. The SMs have their turns one after the other, in parts. */
struct sm_slice {
    bool underway;
    uint64_t begin_ns;
    uint32_t sm;       /* whose turn it is */
    uint32_t executed; /* warp instructions of its turn so far */
    uint32_t longest;  /* of the turns so far */
    uint32_t activity; /* enum sm_activity: the most of the turns so far */
};

struct sm_pool {
    struct core *core;
    struct sm *sm;
    uint32_t sms;
    struct cache_l2 l2; /* when caches are modelled */
    uint32_t workers;
    struct sm_worker *worker;
    pthread_mutex_t lock; /* below all others; guards what follows */
    pthread_cond_t wake;  /* workers wait */
    pthread_cond_t idle;  /* whoever pauses waits */
    uint64_t epoch;       /* counts reasons to look again */
    bool paused;
    bool quit;
    uint32_t parked;
    uint64_t slice_ns;     /* sm_threads 0: deadline of the next slice; host lock */
    uint64_t spent_ns;     /* sm_threads 0: the last slice lasted until then, whatever woke the SMs since; host lock */
    struct sm_slice slice; /* host lock */
    uint32_t stirred;      /* sm_threads 0: somebody called sm_wake(); atomic */
    uint32_t system_sm;    /* whose requests the main loop looks at first; host lock */
};

/* What an instruction did. */
enum step {
    STEP_NEXT,  /* go on behind it */
    STEP_MOVED, /* w->pc is set */
    STEP_STOP,  /* not done: w->state says what it waits for */
    STEP_ENDED, /* done, and the warp cannot go on now */
    STEP_FAULT, /* sm_fault() was called */
};

#ifdef __has_feature
#define SM_FILE_SHADED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SM_FILE_SHADED 1
#else
#define SM_FILE_SHADED 0
#endif

/*
 * The engine for a level of the host's instruction set: engine/inner/loop.c.inc. The thread sanitizer sees the plain
 * one, which is the same source: between which accesses there are races does not depend on the level. So do fuzz
 * targets, whose coverage must not depend on the host.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !(defined(__clang__) && SM_FILE_SHADED)
#define ENGINE_HAS_LEVELS 1
#endif
struct engine_build {
    uint32_t (*run)(struct exec *x, uint32_t budget);  /* as engine_run(), of a warp that can go on */
    engine_op *(*op_of)(const struct code_insn *code); /* what executes an instruction without fault; `op` is not set */
    engine_op *(*modelled_op_of)(const struct code_insn *code); /* the same when caches are modelled */
};
extern const struct engine_build engine_build_plain, engine_build_v2, engine_build_v3, engine_build_v4;

/* ---- sm.c ---- */
/* What an SM has left to do. */
enum sm_activity {
    SM_IDLE = 0,    /* until somebody wakes it */
    SM_STALLED = 1, /* warps try again after a while */
    SM_BUSY = 2,
};
/* Runs warps for about `budget` instructions; returns how many it executed. */
uint32_t sm_run(struct sm *sm, uint32_t budget, enum sm_activity *activity);
/* The same, but ends when instructions and memory transactions are `work` together, or somewhat more. */
uint32_t sm_run_part(struct sm *sm, uint32_t budget, uint64_t work, enum sm_activity *activity);
static inline bool sm_attention(const struct sm *sm)
{
    return __atomic_load_n(&sm->attention, __ATOMIC_RELAXED) != 0;
}
/* There may be a CTA to take, now that this SM has given something back. */
static inline void sm_has_room(struct sm *sm)
{
    if (__atomic_load_n(&sm->has_work, __ATOMIC_RELAXED) == 0) { /* which nobody else makes 0 */
        __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST);
    }
}
/* Takes a CTA from the distributor. False: there is none, or no room for it. */
bool sm_take_cta(struct sm *sm);
/* The CTA leaves the SM so that others get its room; false: it cannot yet. */
bool sm_leave(struct sm *sm, struct sm_cta *cta);
bool sm_can_run(const struct sm *sm, uint32_t index);
/* Answers kills and flushes that are pending. */
void sm_answer(struct sm *sm);
static inline void sm_attend(struct sm *sm)
{
    if (sm_attention(sm)) {
        sm_answer(sm);
    }
}
void sm_drop_all(struct sm *sm); /* as after reset; the distributor is not told */
/* What is left for another CTA. */
struct dist_room sm_room(const struct sm *sm);
/* Gives back what a CTA holds on the SM; sm_cta.used is false afterwards. */
void sm_cta_free(struct sm *sm, struct sm_cta *cta);
/* Puts a CTA whose `cta` and `warp` are set onto the SM; its warps get their start state. */
void sm_cta_place(struct sm *sm, struct sm_cta *cta);
/* The same for a CTA whose `cta` alone is set. */
void sm_cta_begin(struct sm *sm, struct sm_cta *cta);
bool sm_new(struct sm *sm, struct core *core, uint32_t number, struct cache_l2 *l2); /* NULL: none is modelled */
void sm_free(struct sm *sm);

/* ---- sm/share.c ---- */
/* The SM begins to run: its time is somebody's from now on. Or it stops. */
void share_begin(struct sm *sm);
void share_end(struct sm *sm);
/* A CTA of the address space is here, or has left. */
void share_came(struct sm *sm, uint32_t context);
void share_left(struct sm *sm, uint32_t context);
/* As a warp's turn, when there are CTAs of several address spaces: the time is its own's. */
uint32_t share_pick(struct sm *sm);
void share_charge(struct sm *sm, uint32_t context);
/* Takes off CTAs so that a slot which claims a place gets it; false: some cannot leave yet. */
bool share_make_room(struct sm *sm);

/* ---- sm/pending_adds.c ---- */
/* Adds the sums to memory. */
void sums_empty(struct sm *sm);
/* Makes room for words from `least` to the one at `most`, addresses of the host; false: they are too far apart. */
bool sums_open(struct sm *sm, uintptr_t least, uintptr_t most);
/* Before an access to VRAM: what is to be added there comes first. `host` NULL: there is none. */
static inline void sums_meet(struct sm *sm, const uint8_t *host, size_t bytes)
{
    const struct sums *const sums = &sm->sums;

    if (__builtin_expect(sums->base != NULL, 0) && host != NULL &&
        (uintptr_t)host < (uintptr_t)sums->base + ((size_t)sums->last + 1) * sizeof(uint32_t) &&
        (uintptr_t)host + bytes > (uintptr_t)sums->base + (size_t)sums->first * sizeof(uint32_t)) {
        sums_empty(sm);
    }
}
/* The same before an access that may lie anywhere. */
static inline void sums_meet_any(struct sm *sm)
{
    if (__builtin_expect(sm->sums.base != NULL, 0)) {
        sums_empty(sm);
    }
}

/* ---- sm/pending_ends.c ---- */
/* Keeps the end of a CTA, which has left the SM. Its memory transactions need not be performed yet. */
void ends_hold(struct sm *sm, const struct dist_cta *ended, const uint64_t count[PPU_COUNTERS]);
/* What was done here is seen by others: sums are added to memory, then ends are told of. */
void ends_settle(struct sm *sm);

/* ---- sm/pool.c ---- */
void sm_pool_service_slices(struct core *core); /* sm_threads 0: what threads would do when woken [lock] */
static inline bool sm_pool_in_slices(const struct sm_pool *pool)
{
    return pool->workers == 0;
}
static inline bool sm_pool_paused(const struct sm_pool *pool)
{
    return !sm_pool_in_slices(pool) && __atomic_load_n(&pool->paused, __ATOMIC_RELAXED);
}

/* ---- sm/save.c ---- */
/* Every thread left waits for children: the CTA leaves the SM. */
void sm_save_waiting(struct sm *sm, struct sm_cta *cta);
/* The slot is evicted: the CTA leaves the SM if it has a place. False: it cannot yet. */
bool sm_save_evicted(struct sm *sm, struct sm_cta *cta);
/* Others get the room of the CTA, which leaves the SM. False: it cannot yet. */
bool sm_save_switched(struct sm *sm, struct sm_cta *cta);
/* Gives a CTA that was just placed the state it was saved with; a state that cannot be is a fault of its task. */
void sm_save_restore(struct sm *sm, struct sm_cta *cta);

/* ---- sm_snapshot.c ---- */
struct snap;
/* State of a CTA but for what it is and where on the SM it lies; get() checks it: false, it cannot be. */
void sm_snap_put(const struct sm *sm, const struct sm_cta *cta, struct snap *snap);
bool sm_snap_get(struct sm *sm, struct sm_cta *cta, struct snap *snap);

/* ---- sm/file.c ---- */
/* Zeros; by the host's library, whose way is sooner done than what compilers put in place of a call. */
void sm_file_clear(void *bytes, size_t len);
bool sm_file_init(struct sm *sm);
void sm_file_free(struct sm *sm);
/* Room in all files for a CTA that fits by count; other CTAs' blocks may move. */
void sm_file_take(struct sm *sm, struct sm_cta *cta);
/* Finds where the token queues lie now; only while the SM has no CTA. */
void sm_file_find_tokens(struct sm *sm);
/* A warp's token queue. */
static inline uint8_t *sm_file_tokens(const struct sm *sm, const struct sm_cta *cta, uint32_t number)
{
    const struct dist_task *task = cta->cta.task;
    const size_t warp_bytes = (size_t)task->token_cap * PPU_TOKEN_WORDS(task->tmd.wave) * sizeof(uint32_t);

    return sm->file[SM_FILE_TOKENS].bytes + cta->block[SM_FILE_TOKENS].off + number * warp_bytes;
}
void sm_file_give(struct sm *sm, struct sm_cta *cta);
/*
 * In builds with the address sanitizer, what is nobody's in a file is forbidden, and while a warp runs all that is not
 * the warp's: an access to a neighbour's block is an error. From enter() to leave() x->w runs.
 */
#if SM_FILE_SHADED
void sm_file_enter(const struct exec *x);
void sm_file_leave(const struct sm *sm);
#else
static inline void sm_file_enter(const struct exec *x)
{
    (void)x;
}
static inline void sm_file_leave(const struct sm *sm)
{
    (void)sm;
}
#endif

/* ---- sm/tlb.c ---- */
/* 0, or the fault code of an access of at most 16 bytes inside one page. */
uint16_t sm_translate(struct sm *sm, uint32_t context, uint64_t va, enum ppu_access access, struct place *out);
void sm_tlb_drop(struct sm *sm, uint32_t context);
void sm_tlb_drop_all(struct sm *sm);
/* Pages of a context, which is named as in tags. */
static inline struct tlb_found *sm_tlb_found(struct sm *sm, uint64_t key)
{
    if (sm->found.key != key) {
        memset(&sm->found, 0, sizeof(sm->found));
        sm->found.key = key;
    }
    return &sm->found;
}

/* The page that an address has just been found in, in VRAM. */
static inline struct page exec_page(const struct exec *x, uint64_t va)
{
    const struct tlb_entry *entry = &x->sm->tlb[sm_tlb_index(va)];
    const uint64_t below = PPU_PAGE_4K - 1;

    return (struct page){ entry->tag & ~below, (~entry->mask | below) + 1, x->vram + entry->frame };
}

/* ---- decode.c ---- */
/* Instruction at pc of the task; NULL: *fault and *va say why it cannot be fetched. */
const struct code_insn *decode_fetch(struct sm *sm, const struct dist_task *task, uint32_t pc, uint16_t *fault,
                                     uint64_t *va);
/* Makes sm->window that of the task with the instruction at pc; none: as decode_fetch(). Stays until the next call of
 * either. */
void decode_window(struct sm *sm, const struct dist_task *task, uint32_t pc);
/* The same if it has been decoded and has no fault; else NULL. */
const struct code_insn *decode_known(const struct sm *sm, const struct dist_task *task, uint32_t pc);
/* decode_writes.c: true when no warp of the task can read a vector register that it has not written. */
bool decode_writes_first(const struct sm *sm, const struct dist_task *task);
/* decode_prologue.c: of the task's program, as far as it has been decoded. */
struct prologue decode_prologue(const struct sm *sm, const struct dist_task *task);
/* An instruction that a warp has begun (warp.word), whatever stands in memory now. Stays until the next call. */
const struct code_insn *decode_begun(struct sm *sm, uint64_t word);
void decode_drop(struct sm *sm, uint32_t context);
void decode_drop_all(struct sm *sm);

/* ---- sm/system.c ---- */
void sm_system_post(struct exec *x);                    /* SM: hands over the request that x->sm->sys[x->index] holds */
bool sm_system_take_back(struct sm *sm, uint32_t warp); /* SM: false when the main loop is at it */

/* ---- engine/slow.c ---- */
/* Runs a ready warp for at most `budget` instructions; returns how many it executed. */
uint32_t engine_run(struct sm *sm, uint32_t index, uint32_t budget);
/* The instruction at the warp's pc, whatever it is. */
enum step engine_execute(struct exec *x);
/* An instruction that has been checked, with lanes to execute it. */
enum step engine_dispatch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* The engine of engine_level(). */
const struct engine_build *engine_choose(uint32_t wanted);
/* The main loop has answered: finishes the access, without going on. */
void engine_settle(struct sm *sm, uint32_t index);
enum step engine_fault(struct exec *x, uint16_t code, enum ppu_access access, uint64_t address, uint32_t pass,
                       uint32_t lanes);
/* The instruction is one that must not stand here. */
enum step engine_insn_fault(struct exec *x, uint16_t code, const struct lanes *mask);
/* The instruction waits after it has begun: lanes of it are left. */
void engine_leave(struct exec *x, const struct lanes *left);
void engine_barrier_open(struct sm *sm, struct sm_cta *cta);
/* These lanes have arrived at a barrier, or ended: opens it, or calls it a fault, when nobody else will come. */
void engine_barrier_check(struct exec *x, const struct lanes *mask);

/* ---- sets of lanes ---- */
static inline bool lanes_any(const struct lanes *a)
{
    return (a->m[0] | a->m[1] | a->m[2] | a->m[3]) != 0;
}
static inline struct lanes lanes_and(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] & b->m[0], a->m[1] & b->m[1], a->m[2] & b->m[2], a->m[3] & b->m[3] } };
}
static inline struct lanes lanes_or(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] | b->m[0], a->m[1] | b->m[1], a->m[2] | b->m[2], a->m[3] | b->m[3] } };
}
static inline struct lanes lanes_without(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] & ~b->m[0], a->m[1] & ~b->m[1], a->m[2] & ~b->m[2], a->m[3] & ~b->m[3] } };
}
static inline bool lanes_equal(const struct lanes *a, const struct lanes *b)
{
    return a->m[0] == b->m[0] && a->m[1] == b->m[1] && a->m[2] == b->m[2] && a->m[3] == b->m[3];
}
/* Without an instruction for it, which not every host has. */
static inline uint32_t lanes_count(const struct lanes *a)
{
    uint64_t bytes = 0;

    for (uint32_t word = 0; word < PPU_MAX_WAVE_WORDS; word += 2) {
        uint64_t pairs = a->m[word] | (uint64_t)a->m[word + 1] << 32;
        pairs -= pairs >> 1 & 0x5555555555555555ull;
        pairs = (pairs & 0x3333333333333333ull) + (pairs >> 2 & 0x3333333333333333ull);
        bytes += (pairs + (pairs >> 4)) & 0x0f0f0f0f0f0f0f0full;
    }
    return (uint32_t)(bytes * 0x0101010101010101ull >> 56);
}
/* Lowest lane of a set that is not empty. */
static inline uint32_t lanes_first(const struct lanes *a)
{
    uint32_t word = 0;

    while (word + 1 < PPU_MAX_WAVE_WORDS && a->m[word] == 0) {
        word++;
    }
    return word * PPU_LANES + (uint32_t)__builtin_ctz(a->m[word] | 1u << 31);
}
static inline void lanes_set(struct lanes *a, uint32_t lane)
{
    a->m[lane / PPU_LANES] |= 1u << (lane % PPU_LANES);
}
static inline bool lanes_has(const struct lanes *a, uint32_t lane)
{
    return (a->m[lane / PPU_LANES] >> (lane % PPU_LANES)) & 1u;
}
static inline struct lanes lanes_one(uint32_t lane)
{
    struct lanes one = { { 0 } };

    lanes_set(&one, lane);
    return one;
}
/* The first `count` lanes. */
static inline struct lanes lanes_below(uint32_t count)
{
    const uint64_t low = count < 64 ? (1ull << count) - 1 : UINT64_MAX;
    const uint64_t high = count < 64 ? 0 : count < 128 ? (1ull << (count - 64)) - 1 : UINT64_MAX;

    return (struct lanes){ { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32) } };
}
/* Runs a statement for each lane of a set, lowest first. */
#define LANES_EACH(set, lane)                                     \
    for (uint32_t word_ = 0; word_ < PPU_MAX_WAVE_WORDS; word_++) \
        for (uint32_t left_ = (set)->m[word_], lane = 0;          \
             left_ != 0 && ((lane) = word_ * PPU_LANES + (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

#ifdef ENGINE_UNCOUNTED /* tests/engine/cost.py: an engine to compare with */
#define COUNTED false
#else
#define COUNTED true
#endif
/* ---- counters.c: a turn of a warp is counted from count_begin() to count_end(), for its CTA ---- */
static inline void count_begin(struct exec *x)
{
    if (COUNTED) {
        x->w->turned = false;
        x->lanes = memcmp(&x->w->active, x->whole, sizeof(x->whole)) == 0 ? x->wave : lanes_count(&x->w->active);
    }
}
/* The active lanes have changed, to so many, with the last of `done` instructions of this turn. */
static inline void count_turn(struct exec *x, uint32_t done, uint32_t lanes)
{
    x->cta->count[PPU_COUNTER_LANES] += (uint64_t)(done - x->counted) * x->lanes;
    x->counted = done;
    x->w->turned = false;
    x->lanes = lanes;
}
static inline void count_end(struct exec *x, uint32_t done)
{
    if (COUNTED) {
        x->cta->count[PPU_COUNTER_LANES] += (uint64_t)(done - x->counted) * x->lanes;
        x->cta->count[PPU_COUNTER_INSNS] += done;
    }
}
/* The SM gets what was counted for the CTA since it did last. */
void count_settle(struct sm *sm, struct sm_cta *cta);
static inline void count_one(struct exec *x, enum ppu_counter counter)
{
    x->cta->count[counter]++;
}
/* Transactions of the lanes of a pass (counter.h): `own` is what each adds to an address that is else the same for all.
 */
void count_pass(struct exec *x, uint32_t set, const uint64_t address[PPU_LANES], const uint64_t own[PPU_LANES],
                uint32_t bytes);
static inline void count_transactions(struct exec *x, uint32_t count)
{
    if (COUNTED) {
        x->cta->count[PPU_COUNTER_TRANSACTIONS] += count;
    }
}
/* Appends them at buf[at], with a line's end; returns the new end, beyond `size` when it was cut. */
size_t counters_text(const uint64_t count[PPU_COUNTERS], char *buf, size_t size, size_t at);
/* Lines that `bytes` bytes touch. */
static inline uint32_t count_lines(uint64_t address, uint32_t bytes)
{
    return ((uint32_t)address % PPU_TRANSACTION_BYTES + bytes + PPU_TRANSACTION_BYTES - 1) / PPU_TRANSACTION_BYTES;
}

/* ---- sm/cache.c: the model of the caches (A10) ---- */
bool cache_l2_init(struct cache_l2 *l2, const struct core_config *config);
void cache_l2_free(struct cache_l2 *l2);
/* A pass, or a piece of it, begins: lines seen before count again. */
static inline void cache_lines_begin(struct cache_lines *lines)
{
    lines->begin = lines->count;
    lines->seen = 0;
}
/* Adds the lines that `bytes` bytes touch; line_bytes is the machine's. */
void cache_lines_add(struct cache_lines *lines, uint32_t line_bytes, uint64_t va, uint32_t bytes);
/* The same for each lane of a set. */
void cache_lines_each(struct cache_lines *lines, uint32_t line_bytes, const uint64_t va[PPU_LANES], uint32_t set,
                      uint32_t bytes);
/* An instruction has accessed them in this order. */
void cache_account(struct exec *x, const struct cache_lines *lines, enum ppu_access access);

/* ---- engine/levels.c ---- */
#define ENGINE_LEVEL_MOST 4u
/* 0 is replaced by the best level that the host has; 0: the host has not what is wanted. */
uint32_t engine_level(uint32_t wanted);

/* ---- engine/convert.c ---- */
uint64_t engine_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat);

/* ---- engine/lane.c: predicates, special registers, cross-lane ---- */
uint32_t engine_special(const struct exec *x, uint32_t sr, uint32_t lane);
bool engine_lane(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);

/* ---- engine/memory.c ---- */
enum step engine_mem(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
enum step engine_atomic(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
enum step engine_release(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* True: the instruction may access memory through the caches. */
bool engine_mem_cached(const struct ppu_insn *insn);
/* The lines that lanes of a pass will touch. */
void engine_mem_lines(const struct exec *x, const struct ppu_insn *insn, uint32_t pass, uint32_t set,
                      struct cache_lines *lines);
enum ppu_access engine_mem_access(const struct ppu_insn *insn);
/* Address of the word of a lane's local memory. */
uint64_t engine_local_va(const struct exec *x, uint32_t lane, uint32_t offset);
uint64_t engine_rmw(uint8_t *host, uint32_t aop, uint32_t bytes, uint64_t value, uint64_t compare);
/* The request of the warp is done: writes results; STEP_NEXT, or STEP_FAULT. */
enum step engine_mem_finish(struct exec *x, const struct ppu_insn *insn);

/* ---- engine/branch.c: divergence (E) ---- */
enum step engine_branch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* Lets lanes go on when none is active; false: the warp waits at a barrier or is done. */
bool engine_pop(struct exec *x);
void engine_disable(struct warp *w, const struct lanes *set, uint32_t reason, uint32_t pc);
void engine_enable(struct warp *w, const struct lanes *set, uint32_t pc);
/* Drops tokens at the front that nobody waits for (E5). */
void engine_drop_stale(struct exec *x);

/* ---- engine/subvector.c: sub-vector mode (D3 to D8) ---- */
/* SVENTER, SVLEAVE, SVBEGIN, SVEND. */
enum step engine_parts(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* No lane of the running part is left in the segment: the next part goes on, or all behind the end; false: none is
 * left. */
bool engine_parts_next(struct exec *x);
/* Lanes of the part that runs, wherever in the segment they are. */
struct lanes engine_parts_running(const struct warp *w);
/* A warp of the task starts: in sub-vector mode, if the task says so (D6). */
void engine_parts_start(struct warp *w, const struct dist_task *task);
/* Registers as the warp has them in normal mode. */
static inline void exec_rows(struct exec *x)
{
    x->steady = 0;
    x->plain = x->vregs = x->task->tmd.vregs;
    x->rows = x->sm->rows[x->passes - 1];
}
/* Registers as the warp's mode has them. */
void engine_parts_rows(struct exec *x);
void engine_parts_init(struct sm *sm);

/* ---- sm/mode.c ---- */
/* A segment that leaves its mode open begins: true, it is to run part by part. */
bool sm_mode_parts(struct exec *x);
/* A segment that was measured ends. */
void sm_mode_end(struct exec *x);

/* ---- registers ---- */
/* Checked in builds with the address sanitizer: what an instruction names was checked before it is executed. */
static inline void exec_has(const struct exec *x, uint32_t reg)
{
#if SM_FILE_SHADED
    assert(reg < x->vregs);
#else
    (void)x, (void)reg;
#endif
}
static inline uint32_t *exec_vreg(const struct exec *x, uint32_t reg)
{
    exec_has(x, reg);
    return x->vreg + x->rows[reg];
}
/* Value of a source register of one lane. */
static inline uint32_t exec_read(const struct exec *x, uint32_t reg, bool scalar, uint32_t lane)
{
    return scalar ? x->w->sreg[reg] : exec_vreg(x, reg)[lane];
}
static inline uint64_t exec_read64(const struct exec *x, uint32_t reg, bool scalar, uint32_t lane)
{
    return exec_read(x, reg, scalar, lane) | (uint64_t)exec_read(x, reg + 1, scalar, lane) << 32;
}
static inline void exec_write(struct exec *x, uint32_t reg, bool scalar, uint32_t lane, uint32_t value)
{
    if (scalar) {
        x->w->sreg[reg] = value;
    } else {
        exec_vreg(x, reg)[lane] = value;
    }
}

#endif
