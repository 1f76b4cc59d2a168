/* SPDX-License-Identifier: MIT */
/*
 * Defines the program image, which the assembler and the compiler write and the runtime loads. Little-endian:
 *
 *   struct ppu_program_header
 *   struct ppu_kernel_entry [kernels]
 *   struct ppu_line_entry [lines]      sorted by instruction; may be none
 *   struct ppu_argument_entry [arguments]   of all kernels; may be none
 *   uint32_t [formats]                 printf's format strings: offsets into text; may be none
 *   struct ppu_address_entry [addresses]   of variables, in variables; may be none
 *   text [text_bytes]                  names, each with a final zero
 *   zeros up to a multiple of 8
 *   code [code_bytes]                  position-independent; the TMD's code_va is where it is put
 *   variables [variable_bytes - zero_bytes]   program-scope variables that kernels write: what they hold before the
 *                                      first launch, but the zeros at the end; each loaded program has its own
 *
 * Nothing in an image is trusted: ppu_program_open() checks all of it once.
 */
#ifndef PPU_IMAGE_H
#define PPU_IMAGE_H

#include "ppu/isa.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"
#include "ppu/tmd.h"

#define PPU_PROGRAM_MAGIC 0x4b555050u /* "PPUK" */
#define PPU_PROGRAM_VERSION 7u
#define PPU_PROGRAM_CODE_ALIGN 8u
#define PPU_MAX_VARIABLES PPU_MAX_OBJECT
#define PPU_IMPLICIT_ALIGN 8u   /* of struct ppu_implicit_args in the parameters */
#define PPU_MAX_ELEMENT_LOG2 7u /* the largest type has 128 bytes */

struct ppu_program_header {
    uint32_t magic;
    struct ppu_struct_header head; /* PPU_PROGRAM_VERSION, sizeof(struct ppu_program_header) */
    uint32_t isa_version;          /* PPU_ISA_VERSION */
    uint32_t image_bytes;
    uint32_t kernels;
    uint32_t lines;
    uint32_t text_bytes;
    uint32_t code_bytes; /* multiple of 8, at most PPU_MAX_CODE */
    uint32_t source;     /* offset into text: name of the source file, or the empty name */
    uint32_t arguments;
    uint32_t formats;
    uint32_t variable_bytes; /* multiple of 8, at most PPU_MAX_VARIABLES */
    uint32_t addresses;
    uint32_t debug_bytes; /* 0: none */
    uint32_t zero_bytes;  /* of the variables, at their end: zeros that the image does not hold; multiple of 8 */
    uint32_t reserved[1]; /* zero */
};
PPU_ASSERT_SIZE(struct ppu_program_header, 64);

/* Bits of ppu_kernel_entry.assumes. */
#define PPU_KERNEL_SMALL_IDS (1u << 0) /* per dimension: global offset + threads of the grid <= PPU_MAX_SMALL_ID */
#define PPU_KERNEL_BOUNDED \
    (1u << 1) /* struct ppu_sanitizer_bounds of the arguments that are memory lie behind the implicit ones */
#define PPU_KERNEL_CELLS (1u << 2) /* it notes in struct ppu_sanitizer_cell what was done to memory */
#define PPU_KERNEL_MARKS (1u << 3) /* it marks the bytes that it writes (struct ppu_sanitizer_bounds) */
#define PPU_KERNEL_ASSUMES (PPU_KERNEL_SMALL_IDS | PPU_KERNEL_BOUNDED | PPU_KERNEL_CELLS | PPU_KERNEL_MARKS)

/* Bits of ppu_kernel_entry.allows. */
#define PPU_KERNEL_ANY_CTA (1u << 0) /* no thread sees its CTA: launches may have CTAs of any size */
#define PPU_KERNEL_RAGGED (1u << 1)  /* the last CTA of each dimension may have fewer threads than the others */
#define PPU_KERNEL_ALLOWS (PPU_KERNEL_ANY_CTA | PPU_KERNEL_RAGGED)

/* Bits of ppu_kernel_entry.gains: what the time of a launch depends on. */
#define PPU_KERNEL_GAINS_WORK_GROUP (1u << 0) /* it asks for the CTA's size, which code made for one may know (F4) */
#define PPU_KERNEL_GAINS_LARGE_CTAS (1u << 1) /* it has no loops: to begin and end a CTA takes much of its time */
#define PPU_KERNEL_GAINS_SMALL_IDS (1u << 2)  /* it computes with all 64 bits of global ids */
#define PPU_KERNEL_GAINS_ROWS \
    (1u << 3) /* threads of a warp leave its loops together: warps are best rows of the grid */
#define PPU_KERNEL_GAINS \
    (PPU_KERNEL_GAINS_WORK_GROUP | PPU_KERNEL_GAINS_LARGE_CTAS | PPU_KERNEL_GAINS_SMALL_IDS | PPU_KERNEL_GAINS_ROWS)

struct ppu_kernel_entry {
    uint32_t name;           /* offset into text */
    uint32_t entry;          /* byte offset into the code, multiple of 8 */
    uint16_t vregs;          /* vector registers a lane, 1 to 256 */
    uint8_t wave;            /* threads a warp: 32, 64 or 128 */
    uint8_t assumes;         /* PPU_KERNEL_*: what its launches must keep to */
    uint16_t flags;          /* PPU_TMD_* that the kernel needs */
    uint16_t token_count;    /* 0: the default */
    uint32_t shared_bytes;   /* a CTA */
    uint32_t local_bytes;    /* a thread, multiple of 16 */
    uint32_t param_bytes;    /* what the kernel reads of its parameters */
    uint32_t cta[3];         /* threads a CTA the kernel was made for, a 0 behind the first is 1; 0, 0, 0: any */
    uint32_t implicit_at;    /* where struct ppu_implicit_args lies in the parameters, multiple of 8; 0: not read */
    uint32_t argument_first; /* of the argument entries, which no two kernels share */
    uint32_t argument_count; /* 0 when the kernel does not say; they lie one behind the other, and before the implicit
                                ones */
    uint32_t attributes;     /* offset into text: as the source spells them, spaces between; 0: none */
    uint32_t allows;         /* PPU_KERNEL_ANY_CTA, PPU_KERNEL_RAGGED: what may be done with its launches */
    uint16_t shared_vregs;   /* registers that parts share in sub-vector mode (tmd.h) */
    uint16_t gains;          /* PPU_KERNEL_GAINS_* */
};
PPU_ASSERT_SIZE(struct ppu_kernel_entry, 64);

/*
 * Answers what a compiled kernel may ask about its launch. The launcher writes it into the parameters, behind the
 * arguments, when the entry says where. What most kernels ask comes first: it is often read with the last argument.
 */
struct ppu_implicit_args {
    uint64_t global_offset[3]; /* added to the thread's number in the grid */
    uint64_t code_va;          /* as the TMD's: constant data lies behind the code */
    uint64_t printf_va;        /* struct ppu_printf_buffer; 0: printf writes nothing */
    uint64_t variables_va;     /* the program's variables; 0: it has none */
    uint32_t work_dim;         /* dimensions of the launch, 1 to 3 */
    uint32_t tables;           /* PPU_SANITIZER_HAS_*: what lies behind the words of the printf buffer */
};
PPU_ASSERT_SIZE(struct ppu_implicit_args, 56);

/* Where the bounds lie in the parameters of a kernel that asks for them. */
static inline uint32_t ppu_kernel_bounds_at(const struct ppu_kernel_entry *kernel)
{
    return kernel->implicit_at + (uint32_t)sizeof(struct ppu_implicit_args);
}

/* True when a kernel may be launched with so many threads in a dimension, numbered from the offset on. */
static inline int ppu_kernel_takes_ids(const struct ppu_kernel_entry *kernel, uint64_t offset, uint64_t threads)
{
    uint64_t most = kernel->assumes & PPU_KERNEL_SMALL_IDS ? PPU_MAX_SMALL_ID : PPU_MAX_ID;

    return offset <= most && threads <= most - offset;
}

/* Says what an argument is; the number of ppu_argument_entry.kind. */
enum ppu_argument_kind {
#define PPU_ARGUMENT_KIND(name, number, least, most, align, what) PPU_ARGUMENT_##name = (number),
#include "ppu/argument.def"
    PPU_ARGUMENT_KINDS
};

/* True for arguments that are addresses of memory. These have bounds in a kernel that asks for them, in their order. */
static inline int ppu_argument_is_memory(uint8_t kind)
{
    return kind == PPU_ARGUMENT_GLOBAL || kind == PPU_ARGUMENT_CONSTANT || kind == PPU_ARGUMENT_LOCAL;
}

/* True for a kind whose value is the address of an image's descriptor. */
static inline int ppu_argument_is_image(uint32_t kind)
{
    return kind >= PPU_ARGUMENT_IMAGE1D && kind <= PPU_ARGUMENT_IMAGE3D;
}

/* Qualifiers of what a pointer points to, and what a kernel does with an image or a pipe;
 * bits of ppu_argument_entry.qualifiers. */
#define PPU_ARGUMENT_CONST (1u << 0)
#define PPU_ARGUMENT_RESTRICT (1u << 1)
#define PPU_ARGUMENT_VOLATILE (1u << 2)
#define PPU_ARGUMENT_READS (1u << 3)
#define PPU_ARGUMENT_WRITES (1u << 4)
#define PPU_ARGUMENT_PIPE (1u << 5) /* the address of a struct ppu_pipe (pipe.h) */
#define PPU_ARGUMENT_QUALIFIERS 0x3fu

/* Bits of ppu_argument_entry.references (F1). */
#define PPU_REFERENCE_READ (1u << 0)
#define PPU_REFERENCE_WRITE (1u << 1)
#define PPU_REFERENCE_ESCAPES (1u << 2) /* the address is kept or given away: more references may come of it */
#define PPU_REFERENCE_BOUND (1u << 3)   /* of a value: some loop's end depends on it */
#define PPU_REFERENCE_IDS(dimension) (1u << (4 + (dimension))) /* of a value: global ids are compared with it */
/* These say how memory is indexed, where the argument is no value. With none of them the index is the same for all
 * threads. */
#define PPU_REFERENCE_BY_THREAD (1u << 4) /* sums of the thread's numbers times what is the same for all */
#define PPU_REFERENCE_BY_LOOP (1u << 5)   /* and of counters of loops */
#define PPU_REFERENCE_BY_ANY (1u << 6)    /* by memory, or in some way that is not known */
#define PPU_REFERENCE_DISJOINT (1u << 7)  /* threads with another number in dimension 0 reach other bytes (F8) */

/*
 * Says what a work-item reaches through an argument: bytes [low, high) from step * get_global_id(0) behind the address.
 * Not known where low equals high. What is reached elsewhere, or by other numbers of the work-item, is never known.
 */
struct ppu_reach {
    int32_t step, low, high;
};
PPU_ASSERT_SIZE(struct ppu_reach, 12);

struct ppu_argument_entry {
    uint32_t name;   /* offset into text */
    uint32_t type;   /* offset into text: as the source spells it */
    uint32_t offset; /* into the parameters; from PPU_MAX_PARAM on: PPU_MAX_PARAM and into the block of arguments */
    uint32_t bytes;
    uint8_t kind;         /* enum ppu_argument_kind */
    uint8_t qualifiers;   /* PPU_ARGUMENT_CONST ..., PPU_ARGUMENT_READS ... */
    uint8_t references;   /* PPU_REFERENCE_*: what the kernel may do with the memory at an address */
    uint8_t element_log2; /* of memory: the size of the smallest access, 1 << element_log2 bytes; at most 7 */
    struct ppu_reach reach;
};
PPU_ASSERT_SIZE(struct ppu_argument_entry, 32);

/*
 * Arguments that the parameters have no room for lie in a block of memory, which the launcher writes for each launch.
 * Its address, PPU_BLOCK_ALIGN-aligned, is in the parameters, in front of the implicit arguments. Returns the bytes of
 * the block that a kernel with these arguments has; 0: none.
 */
#define PPU_BLOCK_ALIGN 128u
static inline uint32_t ppu_arguments_outside(const struct ppu_argument_entry *argument, uint32_t count)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (argument[i].offset >= PPU_MAX_PARAM) { /* they lie one behind the other */
            bytes = argument[i].offset - PPU_MAX_PARAM + argument[i].bytes;
        }
    }
    return bytes;
}

/* Where the block's address lies in the parameters of a kernel that has one. */
static inline uint32_t ppu_kernel_block_at(const struct ppu_kernel_entry *kernel)
{
    return kernel->implicit_at - (uint32_t)sizeof(uint64_t);
}

/*
 * Holds what printf writes. Records follow each other from `words` on. A record has the number of its words with this
 * one, the number of the format, and the arguments. A 32-bit argument has one word; a 64-bit one and a string, which is
 * an address, have two.
 */
struct ppu_printf_buffer {
    uint32_t capacity; /* words that there is room for; written by the host */
    uint32_t used;     /* words that were asked for: more than capacity when records were lost; threads add to it */
    uint32_t words[];
};
PPU_ASSERT_SIZE(struct ppu_printf_buffer, 8);

/* Names the two parts of a program that is loaded. */
enum ppu_program_part {
    PPU_PROGRAM_CODE,
    PPU_PROGRAM_VARIABLES,
    PPU_PROGRAM_PARTS,
};

/* Eight bytes to which the address of a part of the program is added when it is loaded. */
struct ppu_address_entry {
    uint32_t at; /* where they lie in their part; not aligned */
    uint16_t in; /* enum ppu_program_part: where they lie */
    uint16_t of; /* enum ppu_program_part: whose address it is */
};
PPU_ASSERT_SIZE(struct ppu_address_entry, 8);

struct ppu_line_entry {
    uint32_t insn; /* from this instruction on ... */
    uint32_t line; /* ... code comes from this line */
};
PPU_ASSERT_SIZE(struct ppu_line_entry, 8);

/* An image that was checked. Points into the caller's buffer, which must be 4-byte aligned and stay unchanged. */
struct ppu_program_view {
    const struct ppu_program_header *header;
    const struct ppu_kernel_entry *kernels;
    const struct ppu_line_entry *lines;
    const struct ppu_argument_entry *arguments;
    const uint32_t *formats;
    const struct ppu_address_entry *addresses;
    const char *text;
    const uint8_t *code;
    const uint8_t *variables;
    const uint8_t *debug; /* nobody has checked what is in it */
};

/* True when a kernel may be made for CTAs of so many threads. */
static inline int ppu_cta_ok(const uint32_t cta[3])
{
    uint64_t threads = 1;

    if (cta[0] == 0) {
        return cta[1] == 0 && cta[2] == 0;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (cta[i] > PPU_MAX_CTA_DIM) {
            return 0;
        }
        threads *= cta[i] ? cta[i] : 1;
    }
    return threads <= PPU_MAX_CTA_THREADS;
}

/* NULL when the entry is usable, else why not. */
static inline const char *ppu_kernel_check(const struct ppu_program_header *header,
                                           const struct ppu_kernel_entry *kernel)
{
    if (kernel->name >= header->text_bytes) {
        return "kernel name lies beyond the text";
    }
    if (kernel->entry % PPU_INSN_BYTES || kernel->entry >= header->code_bytes) {
        return "kernel entry is misaligned or beyond the code";
    }
    if (kernel->vregs < 1 || kernel->vregs > PPU_MAX_VREGS) {
        return "kernel has no or too many vector registers";
    }
    if (!ppu_shared_vregs_ok(kernel->vregs, kernel->shared_vregs)) {
        return "kernel has shared vector registers that do not go with its private ones";
    }
    if (kernel->wave != 32 && kernel->wave != 64 && kernel->wave != 128) {
        return "kernel has a wave that is not 32, 64 or 128";
    }
    if (kernel->shared_bytes > PPU_MAX_SHARED || kernel->param_bytes > PPU_MAX_PARAM ||
        kernel->local_bytes > PPU_MAX_LOCAL || kernel->local_bytes % 16u) {
        return "kernel has too much memory, or local memory that is not a multiple of 16";
    }
    if (kernel->token_count > PPU_MAX_TOKENS || (kernel->flags & ~(PPU_TMD_FLAGS | PPU_TMD_MAY_WAIT))) {
        return "kernel has a token count or flag that does not exist";
    }
    if (!ppu_cta_ok(kernel->cta)) {
        return "kernel has a CTA with too many threads, or with none in its first dimension alone";
    }
    if (kernel->implicit_at % PPU_IMPLICIT_ALIGN || kernel->implicit_at > PPU_MAX_PARAM ||
        (kernel->implicit_at && kernel->implicit_at + sizeof(struct ppu_implicit_args) > kernel->param_bytes)) {
        return "kernel has its implicit arguments outside of its parameters";
    }
    if ((kernel->assumes & PPU_KERNEL_BOUNDED) &&
        (kernel->implicit_at == 0 || ppu_kernel_bounds_at(kernel) > kernel->param_bytes)) {
        return "kernel has bounds of its arguments outside of its parameters";
    }
    if (kernel->argument_count > header->arguments ||
        kernel->argument_first > header->arguments - kernel->argument_count) {
        return "kernel has arguments that the image does not describe";
    }
    if (kernel->assumes & ~PPU_KERNEL_ASSUMES) {
        return "kernel assumes something that does not exist";
    }
    if (kernel->allows & ~PPU_KERNEL_ALLOWS) {
        return "kernel allows something that does not exist";
    }
    if (kernel->gains & ~PPU_KERNEL_GAINS) {
        return "kernel gains from something that does not exist";
    }
    if (kernel->attributes >= header->text_bytes) {
        return "kernel attributes lie beyond the text";
    }
    return NULL;
}

/* Says what a kind allows. */
struct ppu_argument_rule {
    uint32_t least, most, align;
};
static const struct ppu_argument_rule ppu_argument_rules[PPU_ARGUMENT_KINDS] = {
#define PPU_ARGUMENT_KIND(name, number, least, most, align, what) [PPU_ARGUMENT_##name] = { (least), (most), (align) },
#include "ppu/argument.def"
};

static inline const char *ppu_argument_check(const struct ppu_program_header *header,
                                             const struct ppu_argument_entry *argument)
{
    if (argument->name >= header->text_bytes || argument->type >= header->text_bytes) {
        return "argument name lies beyond the text";
    }
    if (argument->kind >= PPU_ARGUMENT_KINDS || (argument->qualifiers & ~PPU_ARGUMENT_QUALIFIERS)) {
        return "argument has a kind or qualifier that does not exist";
    }
    if (argument->bytes < ppu_argument_rules[argument->kind].least ||
        argument->bytes > ppu_argument_rules[argument->kind].most) {
        return "argument has a size that its kind cannot have";
    }
    if (argument->offset % ppu_argument_rules[argument->kind].align) {
        return "argument is misaligned for its kind";
    }
    uint64_t end = (uint64_t)argument->offset + argument->bytes;
    if (end > (argument->offset < PPU_MAX_PARAM ? PPU_MAX_PARAM : (uint64_t)PPU_MAX_PARAM + PPU_MAX_OBJECT)) {
        return "argument lies outside of the parameters";
    }
    if (argument->element_log2 > PPU_MAX_ELEMENT_LOG2) {
        return "argument has larger elements than there are";
    }
    if (argument->reach.low > argument->reach.high) {
        return "argument's reach ends before it begins";
    }
    return NULL;
}

/*
 * Arguments lie one behind the other, within what the kernel reads of its parameters, before its implicit arguments and
 * the address of those outside, which lie one behind the other, too.
 */
static inline const char *ppu_kernel_arguments_check(const struct ppu_kernel_entry *kernel,
                                                     const struct ppu_argument_entry *argument)
{
    uint32_t limit = kernel->implicit_at ? kernel->implicit_at : kernel->param_bytes, memories = 0;
    uint32_t ends[2] = { 0, PPU_MAX_PARAM }; /* of those in the parameters, and outside */

    if (ppu_arguments_outside(argument, kernel->argument_count) != 0) {
        if (kernel->implicit_at == 0) {
            return "kernel has arguments outside of its parameters without their address";
        }
        limit = ppu_kernel_block_at(kernel);
    }
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        uint32_t *end = &ends[argument[i].offset >= PPU_MAX_PARAM];
        memories += ppu_argument_is_memory(argument[i].kind);
        if (argument[i].offset < *end) {
            return "argument overlaps the one before it, or lies before it";
        }
        *end = argument[i].offset + argument[i].bytes;
        if (ends[0] > limit) {
            return "argument lies outside of its kernel's parameters, or in the implicit arguments";
        }
    }
    if ((kernel->assumes & PPU_KERNEL_BOUNDED) &&
        PPU_MIN(memories, PPU_SANITIZER_BOUNDED) >
            (kernel->param_bytes - ppu_kernel_bounds_at(kernel)) / sizeof(struct ppu_sanitizer_bounds)) {
        return "kernel has bounds of its arguments outside of its parameters";
    }
    return NULL;
}

/* Bytes of a text with its final zero, when that is among the first `most`, else more than `most`. */
static inline uint32_t ppu_text_bytes(const char *text, uint32_t most)
{
    uint32_t bytes = 1;

    while (bytes <= most && text[bytes - 1u]) {
        bytes++;
    }
    return bytes;
}

/* All kernels. Their names and arguments take room of their own: no list of them is larger than the image. */
static inline const char *ppu_kernels_check(const struct ppu_program_view *view)
{
    const struct ppu_program_header *header = view->header;
    uint32_t text_left = header->text_bytes, arguments_left = header->arguments;

    for (uint32_t i = 0; i < header->kernels; i++) {
        const struct ppu_kernel_entry *kernel = &view->kernels[i];
        const char *why = ppu_kernel_check(header, kernel);
        if (why) {
            return why;
        }
        uint32_t name_bytes = ppu_text_bytes(view->text + kernel->name, text_left);
        if (name_bytes > text_left || kernel->argument_count > arguments_left) {
            return "kernels share names or arguments";
        }
        text_left -= name_bytes;
        arguments_left -= kernel->argument_count;
        why = ppu_kernel_arguments_check(kernel, view->arguments + kernel->argument_first);
        if (why) {
            return why;
        }
    }
    return NULL;
}

/* Bytes of the variables that the image holds. */
static inline uint32_t ppu_program_held_bytes(const struct ppu_program_header *header)
{
    return header->variable_bytes - header->zero_bytes;
}

static inline int ppu_address_ok(const struct ppu_program_header *header, const struct ppu_address_entry *address)
{
    uint32_t bytes = address->in == PPU_PROGRAM_CODE ? header->code_bytes : ppu_program_held_bytes(header);

    return address->in < PPU_PROGRAM_PARTS && address->of < PPU_PROGRAM_PARTS && bytes >= sizeof(uint64_t) &&
           address->at <= bytes - sizeof(uint64_t);
}

/* Checks all of an image; NULL and *view, or a sentence that says what is wrong. */
static inline const char *ppu_program_open(const void *image, size_t len_bytes, struct ppu_program_view *view)
{
    const struct ppu_program_header *header = (const struct ppu_program_header *)image;
    const uint8_t *bytes = (const uint8_t *)image;

    if (len_bytes < sizeof(*header) || header->magic != PPU_PROGRAM_MAGIC) {
        return "not a program image";
    }
    if (header->head.version != PPU_PROGRAM_VERSION || header->head.size_bytes != sizeof(*header)) {
        return "program image has an unknown version";
    }
    if (header->isa_version != PPU_ISA_VERSION) {
        return "program image is for another instruction set";
    }
    uint64_t kernels_end = sizeof(*header) + (uint64_t)header->kernels * sizeof(struct ppu_kernel_entry);
    uint64_t lines_end = kernels_end + (uint64_t)header->lines * sizeof(struct ppu_line_entry);
    uint64_t arguments_end = lines_end + (uint64_t)header->arguments * sizeof(struct ppu_argument_entry);
    uint64_t formats_end = arguments_end + (uint64_t)header->formats * sizeof(uint32_t);
    uint64_t addresses_end = formats_end + (uint64_t)header->addresses * sizeof(struct ppu_address_entry);
    uint64_t text_end = addresses_end + header->text_bytes;
    uint64_t code_at = ppu_align_up64(text_end, PPU_PROGRAM_CODE_ALIGN);
    if (header->variable_bytes % 8u || header->variable_bytes > PPU_MAX_VARIABLES || header->zero_bytes % 8u ||
        header->zero_bytes > header->variable_bytes) {
        return "program image has variables of a wrong size";
    }
    uint64_t debug_at = code_at + header->code_bytes + ppu_program_held_bytes(header);
    if (header->image_bytes != len_bytes || debug_at + header->debug_bytes != len_bytes) {
        return "program image is truncated or too long";
    }
    if (header->code_bytes % PPU_INSN_BYTES || header->code_bytes == 0 || header->code_bytes > PPU_MAX_CODE) {
        return "program image has no code, or code of a wrong size";
    }
    if (header->text_bytes == 0 || bytes[text_end - 1u] != 0 || header->source >= header->text_bytes) {
        return "program image has malformed text";
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(header->reserved); i++) {
        if (header->reserved[i]) {
            return "program image has something where zeros must be";
        }
    }
    view->header = header;
    view->kernels = (const struct ppu_kernel_entry *)(const void *)(bytes + sizeof(*header));
    view->lines = (const struct ppu_line_entry *)(const void *)(bytes + kernels_end);
    view->arguments = (const struct ppu_argument_entry *)(const void *)(bytes + lines_end);
    view->formats = (const uint32_t *)(const void *)(bytes + arguments_end);
    view->addresses = (const struct ppu_address_entry *)(const void *)(bytes + formats_end);
    view->text = (const char *)(bytes + addresses_end);
    view->code = bytes + code_at;
    view->variables = view->code + header->code_bytes;
    view->debug = bytes + debug_at;
    for (uint32_t i = 0; i < header->arguments; i++) {
        const char *why = ppu_argument_check(header, &view->arguments[i]);
        if (why) {
            return why;
        }
    }
    for (uint32_t i = 0; i < header->formats; i++) {
        if (view->formats[i] >= header->text_bytes) {
            return "printf format lies beyond the text";
        }
    }
    for (uint32_t i = 0; i < header->addresses; i++) {
        if (!ppu_address_ok(header, &view->addresses[i])) {
            return "program image has an address outside of what it loads";
        }
    }
    for (uint32_t i = 0; i < header->lines; i++) {
        if (view->lines[i].insn >= header->code_bytes / PPU_INSN_BYTES ||
            (i && view->lines[i].insn <= view->lines[i - 1u].insn)) {
            return "program image has a malformed line table";
        }
    }
    return ppu_kernels_check(view);
}

/*
 * Writes the addresses into a program that is being loaded: bytes[p] is what was copied from the image's part p, and
 * va[p] where it will be; NULL and 0 for variables that there are none of.
 */
static inline void ppu_program_relocate(const struct ppu_program_view *view, uint8_t *const bytes[PPU_PROGRAM_PARTS],
                                        const uint64_t va[PPU_PROGRAM_PARTS])
{
    for (uint32_t i = 0; i < view->header->addresses; i++) {
        const struct ppu_address_entry *address = &view->addresses[i];
        uint8_t *at = bytes[address->in] + address->at;
        uint64_t value = 0;
        for (uint32_t b = 0; b < sizeof(value); b++) {
            value |= (uint64_t)at[b] << (8u * b);
        }
        value += va[address->of];
        for (uint32_t b = 0; b < sizeof(value); b++) {
            at[b] = (uint8_t)(value >> (8u * b));
        }
    }
}

static inline int ppu_text_equal(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The kernel of that name, NULL when there is none. */
static inline const struct ppu_kernel_entry *ppu_program_kernel(const struct ppu_program_view *view, const char *name)
{
    for (uint32_t i = 0; i < view->header->kernels; i++) {
        if (ppu_text_equal(view->text + view->kernels[i].name, name)) {
            return &view->kernels[i];
        }
    }
    return NULL;
}

/* Source line of an instruction, 0 when it is not known. */
static inline uint32_t ppu_program_line(const struct ppu_program_view *view, uint32_t insn)
{
    uint32_t line = 0;

    for (uint32_t i = 0; i < view->header->lines && view->lines[i].insn <= insn; i++) {
        line = view->lines[i].line;
    }
    return line;
}

#endif
