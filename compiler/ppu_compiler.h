/* SPDX-License-Identifier: MIT */
/*
 * Compiles OpenCL C, or LLVM IR made from it, to a program image (ppu/image.h) (E8, E11). No global state; calls from
 * several threads do not disturb each other. docs/spec/compiler.md says what the language covers.
 */
#ifndef COMPILER_PPU_COMPILER_H
#define COMPILER_PPU_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ppu_compile_status {
    PPU_COMPILE_OK = 0,
    PPU_COMPILE_BAD_SOURCE,  /* the program is wrong; the log says where, in clang's form */
    PPU_COMPILE_BAD_OPTIONS, /* an option is not one of OpenCL's */
    PPU_COMPILE_UNSUPPORTED, /* the program needs what this machine or compiler lacks; the log names it */
    PPU_COMPILE_TOO_LARGE,   /* code, registers, shared or local memory beyond the machine's limits */
    PPU_COMPILE_NO_TOOL,     /* clang cannot be run */
    PPU_COMPILE_NO_MEMORY,
};

/* Says what ppu_compile_source() makes. */
enum ppu_compile_front {
    PPU_FRONT_BITCODE = 0,
    PPU_FRONT_PREPROCESSED, /* the source after the preprocessor */
    PPU_FRONT_FILES,        /* a rule of make that names the files it includes */
    PPU_FRONT_USER_FILES,   /* the same without those of the compiler */
};

#define PPU_COMPILE_CLANG "clang-19"
/* Build option: work-items of a sub-group, 32, 64 or 128 (docs/spec/opencl.md). */
#define PPU_COMPILE_SUB_GROUP_SIZE "-cl-ppu-sub-group-size="
/* Build option: entries of a warp's token queue, 1 to PPU_MAX_TOKENS (docs/spec/opencl.md). */
#define PPU_COMPILE_TOKEN_ENTRIES "-cl-ppu-token-entries="
/* Build options of how parts of a wave run (docs/spec/opencl.md). */
#define PPU_COMPILE_SEGMENTS "-cl-ppu-segments="
#define PPU_COMPILE_SEGMENT_THRESHOLD "-cl-ppu-segment-threshold="
#define PPU_COMPILE_DEFAULT_MODE "-cl-ppu-default-mode="
/* Build option: what kernels check of themselves, words of ppu/sanitizer.def or `all` (docs/spec/sanitizers.md). */
#define PPU_COMPILE_SANITIZE "-fsanitize="
#define PPU_COMPILE_CLANG_VARIABLE "PPU_CLANG"
#define PPU_COMPILE_OWN_WORDS 100u

/* A text that the source may include by its name, before any file of that name. */
struct ppu_compile_header {
    const char *name; /* relative, without ".." */
    const char *text;
    size_t len_bytes;
};

/* How the memory behind two arguments lies. */
enum ppu_relation {
    PPU_RELATION_UNKNOWN = 0, /* it may overlap anyhow */
    PPU_RELATION_IDENTICAL,   /* the same bytes, from the same address on */
    PPU_RELATION_DISJOINT,    /* nothing that a work-item writes through one it reaches through the other */
    PPU_RELATION_OVERLAP,     /* anything between; the addresses have a distance */
    PPU_RELATION_COUNT,
};

#define PPU_DISTANCE_MAX 16 /* elements: distances beyond it are not told apart */

/*
 * A pair of arguments, first < second. `distance`: second's address - first's, in elements of 1 << element_log2 bytes,
 * rounded down when it is not a whole number of them (`exact` is false then), and no further from 0 than
 * PPU_DISTANCE_MAX, which stands for all beyond. `start`, `bytes`: where what they have in common begins behind the
 * first's address, and behind the second's, and its length: whoever reaches beside it through one reaches nothing that
 * is reached through the other; 0 bytes: not known. Meaningful when they overlap.
 */
struct ppu_compile_pair {
    uint8_t first, second;
    uint8_t relation; /* enum ppu_relation */
    uint8_t element_log2;
    int8_t distance;
    uint8_t exact;
    uint8_t reserved[2]; /* 0, as pairs are compared as bytes */
    int64_t start[2];
    uint64_t bytes;
};

/* Describes what is known of one argument. */
struct ppu_compile_argument {
    uint8_t separate;   /* every other such argument that it has no pair with is disjoint from it */
    uint8_t align_log2; /* of the address it holds; 0: unknown */
    uint8_t constant;   /* its value is `value`, in every launch */
    uint8_t above_ids;  /* of an integer of 32 or 64 bits: bit d: as a signed number it is above all global ids in */
                        /* dimension d, and those are below PPU_MAX_SMALL_ID */
    uint64_t value;     /* its bytes, little-endian */
};

/*
 * Facts about the launches that a kernel is compiled for (F1 to F5): what is compiled is right only where all of them
 * hold, and holds that kernel alone unless others are needed for it. Nothing in it is an address.
 */
struct ppu_compile_facts {
    const char *kernel;
    const struct ppu_compile_argument *arguments; /* one for each; may be fewer */
    uint32_t argument_count;
    const struct ppu_compile_pair *pairs; /* others: disjoint when both are separate, else unknown */
    uint32_t pair_count;
    uint32_t work_group[3]; /* threads that all work-groups have in a dimension; 0: any */
    uint32_t small_ids;     /* 1: all global ids are below PPU_MAX_SMALL_ID */
};

/* How parts of a wave run through segments of a kernel one after the other (D7). */
enum ppu_subvector_form {
    PPU_SEGMENTS_OFF = 0,
    PPU_SEGMENTS_ENTER,     /* instructions before and behind; parts share registers inside */
    PPU_SEGMENTS_DUPLICATE, /* a copy of the segment for each part; needs nothing of the machine */
    PPU_SEGMENTS_LOOP,      /* a loop over the parts, masks in scalar registers */
    PPU_SEGMENTS_MAY,       /* as the first, where the launch or the control unit decides */
};

/* The number of registers that a segment must need more of (D9). */
enum ppu_subvector_threshold {
    PPU_THRESHOLD_OCCUPANCY = 0, /* what lets the most waves be resident for at most 5 % more passes */
    PPU_THRESHOLD_REGISTERS,     /* a number: a constant, or what a register of the device holds */
    PPU_THRESHOLD_PERCENT,       /* of the registers that the kernel may use */
    PPU_THRESHOLD_DEVICE,        /* as OCCUPANCY, for kernels that need more than a number, and not above it */
};

struct ppu_compile_subvector {
    enum ppu_subvector_form form;
    enum ppu_subvector_threshold threshold_kind;
    uint32_t threshold; /* registers or percent */
    uint32_t run;       /* instructions of a run (D9); 0: to where the need crosses the threshold */
    uint32_t inverted;  /* the task starts in sub-vector mode, and what is no segment is marked (D11); form ENTER */
    uint32_t no_mode;   /* the device has no sub-vector mode: the forms enter and may are refused (D10) */
    uint32_t sm_vregs;  /* registers an SM of the device has over all lanes; 0: as the default device */
    uint32_t sm_warps;  /* warps an SM of the device holds, in passes; 0: as the default device */
    FILE *svg;          /* curve and segments of each kernel, as a picture; NULL: none */
};

struct ppu_compile_options {
    const char *name;    /* of the source, in messages and in the image; NULL: "kernel.cl" */
    const char *options; /* as given to clBuildProgram; NULL: none */
    /*
     * Words for clang before those of `options`, which nobody checks: of ppucc's command line alone, -U and -isystem.
     * At most PPU_COMPILE_OWN_WORDS, and 0 for what comes from a program.
     */
    const char *const *own_words;
    uint32_t own_count;
    const char *clang; /* NULL: $PPU_COMPILE_CLANG_VARIABLE, else PPU_COMPILE_CLANG of the path */
    uint32_t clang_ms; /* that clang may take before it is ended; 0: as long as it likes */
    /*
     * A path of ppu-forkserver.so: clang is loaded once, by a process that forks for each run and ends with this one,
     * or when it has had nothing to do for a while. What cannot be run so is started as ever. NULL: always.
     */
    const char *fork_server;
    const struct ppu_compile_header *headers;
    uint32_t header_count;
    enum ppu_compile_front front;
    uint32_t wave;        /* threads a warp: 32, 64, 128; 0: 32 */
    uint32_t tokens;      /* entries of a warp's token queue, at most PPU_MAX_TOKENS; 0: PPU_TOKENS_DEFAULT */
    uint32_t max_vregs;   /* vector registers a lane that may be used; 0: PPU_MAX_VREGS */
    uint32_t max_sregs;   /* scalar registers; 0: PPU_SREGS */
    uint32_t debug;       /* 1: the image gets debug information (docs/spec/debugger.md), as by -g */
    uint32_t unoptimised; /* 1: as by -cl-opt-disable */
    /*
     * What is printed, names separated by commas: what a pass of ir_pass.def or mir_pass.def has made; `ir`: the IR
     * that selection takes; `flow`: blocks, loops, convergence, tokens; `stats`: a line of numbers for each kernel, and
     * its curve of live registers. NULL: nothing.
     */
    const char *dump;
    FILE *dump_file;                       /* NULL: standard output */
    const struct ppu_compile_facts *facts; /* NULL: right for every launch */
    struct ppu_compile_subvector subvector;
    uint32_t sanitize; /* PPU_SANITIZE_*: what kernels check of themselves */
};

/* Bytes and log are malloc()ed; ppu_compiled_free() frees them, also after an error. */
struct ppu_compiled {
    uint8_t *bytes; /* image or bitcode; NULL after an error */
    size_t len_bytes;
    char *log; /* diagnostics, also warnings; never NULL after a call */
};

/* OpenCL C to LLVM bitcode, not yet optimised, without the built-in functions: what is worth keeping in a cache. */
enum ppu_compile_status ppu_compile_source(const char *source, size_t len_bytes,
                                           const struct ppu_compile_options *options, struct ppu_compiled *bitcode);

/*
 * Bitcode of ppu_compile_source() to an image. The bitcode is trusted as much as the compiler's own output: LLVM may
 * end the process for what is damaged. What comes from elsewhere is for ppu-foreign (foreign/foreign.h).
 */
enum ppu_compile_status ppu_compile_bitcode(const void *bitcode, size_t len_bytes,
                                            const struct ppu_compile_options *options, struct ppu_compiled *image);

/* Modules of ppu_compile_source() to one; the log names what is there twice. */
struct ppu_compile_module {
    const void *bitcode;
    size_t len_bytes;
};
enum ppu_compile_status ppu_compile_link(const struct ppu_compile_module *modules, uint32_t count,
                                         struct ppu_compiled *bitcode);

/* ppu_compile_source() and ppu_compile_bitcode(). */
enum ppu_compile_status ppu_compile(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                    struct ppu_compiled *image);

void ppu_compiled_free(struct ppu_compiled *compiled);

/* BAD_OPTIONS: one of them is not allowed, and the log says which. Nothing is made but the log. */
enum ppu_compile_status ppu_compile_check_options(const char *options, struct ppu_compiled *checked);

/*
 * Overwrites wave, subvector, debug, unoptimised and sanitize with what the build options of options->options say of
 * them. BAD_OPTIONS: the log says which one is wrong, and nothing is changed.
 */
enum ppu_compile_status ppu_compile_read_target(struct ppu_compile_options *options, struct ppu_compiled *checked);

/*
 * Makes all that LLVM keeps for the process and takes away in exit(): whoever waits there for threads that compile
 * must have asked for it (atexit) after this call, so that the wait comes first.
 */
void ppu_compile_prepare(void);

/* True when ppu_compile_options.dump may name it. */
bool ppu_compile_can_dump(const char *name);

/* A sentence for the status; the log says more. */
const char *ppu_compile_status_text(enum ppu_compile_status status);

#ifdef __cplusplus
}
#endif

#endif
