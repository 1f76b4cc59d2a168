/* SPDX-License-Identifier: MIT */
/*
 * Defines what a kernel that checks itself (docs/spec/sanitizers.md) shares with who launches it. A report is a record
 * of printf (image.h) whose format describes the place in the source. Its fields follow the mark, each begun by
 * PPU_SANITIZER_SEPARATOR: check, action, bytes of the access (0: it varies), file, line, column, kernel, object.
 */
#ifndef PPU_SANITIZER_H
#define PPU_SANITIZER_H

#include "ppu/tmd.h"

#define PPU_SANITIZER_MARK "\001ppu-sanitizer"
#define PPU_SANITIZER_SEPARATOR '\037'
/* Actions of the check `barrier`: whose work-items have to come. */
#define PPU_SANITIZER_GROUP "group"
#define PPU_SANITIZER_SUB_GROUP "sub-group"
#define PPU_SANITIZER_FIELDS 8u

/* Bits of what is checked. */
#define PPU_SANITIZER(name, bit, text, what) PPU_SANITIZE_##name = 1u << (bit),
enum ppu_sanitize {
#include "ppu/sanitizer.def"
};

/*
 * Says where the object behind a kernel's pointer argument lies. One for each argument that is memory
 * (ppu_argument_is_memory()), the first PPU_SANITIZER_BOUNDED of a kernel, behind the implicit arguments of one that
 * PPU_KERNEL_BOUNDED asks for them. The launcher writes them.
 */
struct ppu_sanitizer_bounds {
    uint64_t base;  /* address, or offset in shared memory; a multiple of PPU_SANITIZER_ALIGN */
    uint64_t bytes; /* PPU_SANITIZER_ANY: not known; 0: there is no object */
    uint64_t marks; /* where those of its bytes lie, as `base`; 0: all of them count as written */
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_bounds, 24);

#define PPU_SANITIZER_BOUNDED 128u
#define PPU_SANITIZER_ALIGN 16u
#define PPU_SANITIZER_ANY 0x7fffffffffffffffull
#define PPU_SANITIZER_WRITTEN 0xffu /* mark of a byte that was written since its object was made; 0: it was not */

/* Memory that no pointer may reach although it is mapped, or may be: [begin, end). */
struct ppu_sanitizer_range {
    uint64_t begin, end;
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_range, 16);

#define PPU_SANITIZER_RANGE_STEP 2048u /* the first of the search: a power of two */
#define PPU_SANITIZER_RANGES 4095u     /* the most; twice the step less one */

/* An object in global memory that has a mark for each byte: [begin, end), and where the marks lie. */
struct ppu_sanitizer_marked {
    uint64_t begin, end, marks;
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_marked, 24);

#define PPU_SANITIZER_MARKED_STEP 512u /* as those of ranges */
#define PPU_SANITIZER_MARKED 1023u

/* Lies behind the words of the launch's printf buffer; written by the host. */
struct ppu_sanitizer_table {
    uint32_t count;
    uint32_t marked_count;
    struct ppu_sanitizer_range ranges[PPU_SANITIZER_RANGES];  /* by their beginnings; they do not overlap */
    struct ppu_sanitizer_marked marked[PPU_SANITIZER_MARKED]; /* the same */
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_table, 90080);

#define PPU_SANITIZER_CELL_ROWS 1024u
#define PPU_SANITIZER_ROW_CELLS 128u
#define PPU_SANITIZER_CELLS (PPU_SANITIZER_CELL_ROWS * PPU_SANITIZER_ROW_CELLS)

/*
 * A note of a work-item says who, when, and where in the source: number of the group, id in it, barriers passed,
 * kernels enqueued (both stay at their most), format + 1. Groups of kernels that kernels enqueue are numbered on from
 * those of the launch.
 */
#define PPU_SANITIZER_NOTE_GROUP 42u
#define PPU_SANITIZER_NOTE_ID 32u
#define PPU_SANITIZER_NOTE_BARRIERS 20u
#define PPU_SANITIZER_NOTE_WHEN 16u /* barriers, and below them what was enqueued */
#define PPU_SANITIZER_IDS 0x3ffu
#define PPU_SANITIZER_GROUPS (1u << 22)
#define PPU_SANITIZER_EPOCHS 0xfffu /* barriers that are told apart; behind the last nothing is reported */
#define PPU_SANITIZER_ENQUEUES                                                                                         \
    0xfu                              /* the same of what one work-item enqueues; behind the last it comes before that \
                                       */
#define PPU_SANITIZER_FORMATS 0xffffu /* places that can be noted, and a mask of format + 1 */

/* A kernel that a kernel has enqueued; the first is the launch. Whoever enqueues writes it. */
struct ppu_sanitizer_node {
    uint32_t first;                    /* number of its first group; 0: it is not known yet */
    uint32_t work_groups;              /* how many it has */
    uint32_t parent;                   /* node */
    uint32_t by;                       /* group and id of the work-item that enqueued it, as a note has them, */
    uint32_t when;                     /* and when */
    uint32_t waited;                   /* nodes below it that the enqueuing group has enqueued have ended before */
    uint64_t after;                    /* PPU_SANITIZER_AFTER: what else comes before it */
    uint32_t stream;                   /* of its parent's, + 1; 0: none */
    uint32_t grid[2], cta[2], edge[2]; /* in x and y; `edge`: threads of the last group */
    uint32_t reserved;
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_node, 64);

#define PPU_SANITIZER_NODES 1024u
#define PPU_SANITIZER_NODE_GROUPS (1u << 14) /* the most of a node that is looked at */
#define PPU_SANITIZER_STREAMS 64u
/* Sets of nodes whose ends, and those of all below them, something comes after: node n is bit n modulo BITS. */
#define PPU_SANITIZER_AFTER_BITS 61u
#define PPU_SANITIZER_AFTER_PARENT (1ull << 61)  /* and after the ends of its parent's work-items */
#define PPU_SANITIZER_AFTER_LEARNED (1ull << 62) /* and after what other nodes come after */
#define PPU_SANITIZER_AFTER_ALL (1ull << 63)     /* it may come after anything */

/*
 * Notes what was done to a place in memory, or by a work-group. Lies behind the table; zeros when a launch begins.
 * A cell is an index. Places that follow one another have cells that do: a row is of 128 places. Threads write cells
 * as device-lib/opencl/sanitize/race.cl says.
 */
struct ppu_sanitizer_cells {
    uint32_t used[PPU_SANITIZER_CELL_ROWS]; /* not 0: the row is no longer zeros */
    uint64_t key[PPU_SANITIZER_CELLS];      /* 0: it is free */
    uint64_t write[PPU_SANITIZER_CELLS];
    uint64_t read[PPU_SANITIZER_CELLS], other_read[PPU_SANITIZER_CELLS];
    uint64_t update[PPU_SANITIZER_CELLS], other_update[PPU_SANITIZER_CELLS]; /* by atomic operations that write */
    uint64_t numbers;  /* nodes, above 32 bits of groups, that have been given out; 0: nothing was enqueued */
    uint64_t acquired; /* not 0: some work-item has learned of others by an atomic operation or a fence */
    uint64_t streams[PPU_SANITIZER_STREAMS]; /* PPU_SANITIZER_AFTER: of what streams have, by a hash of theirs */
    struct ppu_sanitizer_node node[PPU_SANITIZER_NODES];
};
PPU_ASSERT_SIZE(struct ppu_sanitizer_cells, 6361616);

#define PPU_SANITIZER_KEY_GLOBAL (1ull << 63) /* width and address */
#define PPU_SANITIZER_KEY_LOCAL (1ull << 62)  /* width, group and offset */
#define PPU_SANITIZER_KEY_GROUP (1ull << 61)  /* group */
#define PPU_SANITIZER_KEY_BARRIER (1ull << 60)
#define PPU_SANITIZER_KEY_CALL (1ull << 59) /* number of the call, group */
/* The bit of a key that says what it is. */
#define PPU_SANITIZER_KEYS                                                                                      \
    (PPU_SANITIZER_KEY_GLOBAL | PPU_SANITIZER_KEY_LOCAL | PPU_SANITIZER_KEY_GROUP | PPU_SANITIZER_KEY_BARRIER | \
     PPU_SANITIZER_KEY_CALL)
#define PPU_SANITIZER_CALLS 64u         /* arguments of a group that are compared among its work-items */
#define PPU_SANITIZER_CALL_GROUPS 1024u /* of so many groups */

/* Bits of what lies behind the words of the launch's printf buffer (ppu_implicit_args.tables). */
#define PPU_SANITIZER_HAS_RANGES (1u << 0) /* struct ppu_sanitizer_table */
#define PPU_SANITIZER_HAS_CELLS (1u << 1)  /* that, and the cells behind it */
#define PPU_SANITIZER_HAS_MARKED (1u << 2) /* the table says which objects have marks */
/* Bits beside them: what is known of the launch. */
#define PPU_SANITIZER_DISJOINT (1u << 3) /* the objects of pointer arguments do not overlap */
#define PPU_SANITIZER_FLAT (1u << 4)     /* get_global_id(0) tells work-items apart */
/* Above them lies the number of the first group, but of the launch's own kernel; NO_GROUPS: nothing is noted of it. */
#define PPU_SANITIZER_FIRST_GROUP 8u
#define PPU_SANITIZER_NO_GROUPS 0xffffffu
#define PPU_SANITIZER_CLOCK (1u << 31) /* of when a work-item enqueues: it is known */

/* Bits of what an access that is noted may race with, beside stores. */
#define PPU_SANITIZER_NOTE_LOCAL (1u << 0)   /* it is of local memory */
#define PPU_SANITIZER_NOTE_READS (1u << 1)   /* the kernel notes loads of it, that are not atomic */
#define PPU_SANITIZER_NOTE_UPDATES (1u << 2) /* and atomic operations that write */

/* How a report shows its two numbers, in place of the bytes of an access: those of built-in functions. */
enum ppu_sanitizer_number {
    PPU_SANITIZER_SIGNED,
    PPU_SANITIZER_UNSIGNED,
    PPU_SANITIZER_REAL, /* bits of doubles */
    PPU_SANITIZER_ADDRESSES,
    PPU_SANITIZER_ALONE, /* with a sign, and no second one */
    PPU_SANITIZER_NOTHING,
    PPU_SANITIZER_CODE, /* bits, and no second number */
};

/* Kinds of functions of images, by what they read and write. */
enum ppu_sanitizer_channels {
    PPU_SANITIZER_FLOATS,
    PPU_SANITIZER_SIGNED_CHANNELS,
    PPU_SANITIZER_UNSIGNED_CHANNELS,
};

/* Words of a record behind its head; 64-bit numbers take two, the low one first. */
enum ppu_sanitizer_word {
    PPU_SANITIZER_ADDRESS = 0, /* or the first number of a built-in function */
    PPU_SANITIZER_BASE = 2,    /* of the object, or the second number */
    PPU_SANITIZER_BYTES = 4,   /* of the object */
    PPU_SANITIZER_VALUE = 6,   /* that was to be stored */
    PPU_SANITIZER_GLOBAL_ID = 8,
    PPU_SANITIZER_LOCAL_ID = 14, /* one word each, as the following */
    PPU_SANITIZER_GROUP_ID = 17,
    PPU_SANITIZER_OTHER_FORMAT = 20, /* + 1, of the other side; 0: there is none */
    PPU_SANITIZER_OTHER_LOCAL_ID = 21,
    PPU_SANITIZER_OTHER_GROUP_ID = 24,
    PPU_SANITIZER_WORDS = 27,
};

#endif
