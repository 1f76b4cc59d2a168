/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    char name[ASM_NAME_BYTES];
    uint32_t insn;
};

struct assembly {
    struct asm_insn *insns;
    struct symbol *labels;
    struct ppu_kernel_entry *kernels;
    char *text; /* names, each with its final zero */
    size_t insn_count, insn_cap;
    size_t label_count, label_cap;
    size_t kernel_count, kernel_cap;
    size_t text_len, text_cap;
    bool no_memory;
};

/* Room for one more element of an array; NULL: out of memory. */
static void *grow(void *array, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap ? *cap * 2 : 64;
    void *bigger;

    if (count < *cap) {
        return array;
    }
    bigger = realloc(array, wanted * size);
    if (bigger) {
        *cap = wanted;
    }
    return bigger;
}

#define GROW(as, array, count, cap)                                                       \
    do {                                                                                  \
        void *bigger_ = grow((as)->array, (as)->count, &(as)->cap, sizeof(*(as)->array)); \
        if (!bigger_) {                                                                   \
            (as)->no_memory = true;                                                       \
            return;                                                                       \
        }                                                                                 \
        (as)->array = bigger_;                                                            \
    } while (0)

static void add_insn(struct assembly *as, const struct asm_insn *insn)
{
    GROW(as, insns, insn_count, insn_cap);
    as->insns[as->insn_count++] = *insn;
}

static void add_char(struct assembly *as, char c)
{
    GROW(as, text, text_len, text_cap);
    as->text[as->text_len++] = c;
}

/* Offset of the name within the text. */
static uint32_t add_text(struct assembly *as, const char *name, size_t len)
{
    uint32_t at = (uint32_t)as->text_len;

    for (size_t i = 0; i < len; i++) {
        add_char(as, name[i]);
    }
    add_char(as, 0);
    return at;
}

static const struct symbol *find_label(const struct assembly *as, const char *name, size_t len)
{
    for (size_t i = 0; i < as->label_count; i++) {
        if (strlen(as->labels[i].name) == len && memcmp(as->labels[i].name, name, len) == 0) {
            return &as->labels[i];
        }
    }
    return NULL;
}

static void add_label(struct assembly *as, struct cursor *cur, const char *name, size_t len)
{
    if (len >= ASM_NAME_BYTES) {
        cursor_fail(cur, name, "name is too long");
        return;
    }
    if (find_label(as, name, len)) {
        cursor_fail(cur, name, "label '%.*s' is there already", (int)len, name);
        return;
    }
    GROW(as, labels, label_count, label_cap);
    memcpy(as->labels[as->label_count].name, name, len);
    as->labels[as->label_count].name[len] = 0;
    as->labels[as->label_count++].insn = (uint32_t)as->insn_count;
}

/* ---- directives ---- */

static void add_kernel(struct assembly *as, struct cursor *cur)
{
    size_t len = 0;
    const char *name = cursor_name(cur, &len);

    if (!name) {
        cursor_fail(cur, cur->at, "expected the kernel's name");
        return;
    }
    for (size_t i = 0; i < as->kernel_count; i++) {
        const char *other = as->text + as->kernels[i].name;
        if (strlen(other) == len && memcmp(other, name, len) == 0) {
            cursor_fail(cur, name, "kernel '%.*s' is there already", (int)len, name);
            return;
        }
    }
    GROW(as, kernels, kernel_count, kernel_cap);
    as->kernels[as->kernel_count++] = (struct ppu_kernel_entry){
        .name = add_text(as, name, len),
        .entry = (uint32_t)as->insn_count * PPU_INSN_BYTES,
        .wave = PPU_LANES,
    };
}

static uint32_t directive_number(struct cursor *cur, uint32_t min, uint32_t max)
{
    int64_t value = 0;
    const char *at;

    cursor_space(cur);
    at = cur->at;
    if (!cursor_number(cur, &value) || value < min || value > max) {
        cursor_fail(cur, at, "expected a number from %u to %u", min, max);
    }
    return (uint32_t)value;
}

static void kernel_directive(struct cursor *cur, struct ppu_kernel_entry *kernel, const char *name, size_t len)
{
#define IS(text) (len == sizeof(text) - 1 && memcmp(name, text, len) == 0)
    if (IS(".vregs")) {
        kernel->vregs = (uint16_t)directive_number(cur, 1, PPU_MAX_VREGS);
    } else if (IS(".shared_vregs")) {
        kernel->shared_vregs = (uint16_t)directive_number(cur, 0, PPU_MAX_VREGS);
    } else if (IS(".wave")) {
        kernel->wave = (uint8_t)directive_number(cur, PPU_LANES, PPU_MAX_WAVE);
        if (kernel->wave != 32 && kernel->wave != 64 && kernel->wave != 128) {
            cursor_fail(cur, name, "wave is 32, 64 or 128");
        }
    } else if (IS(".shared")) {
        kernel->shared_bytes = directive_number(cur, 0, PPU_MAX_SHARED);
    } else if (IS(".local")) {
        kernel->local_bytes = directive_number(cur, 0, PPU_MAX_LOCAL);
        if (kernel->local_bytes % 16u) {
            cursor_fail(cur, name, "local bytes are a multiple of 16");
        }
    } else if (IS(".param")) {
        kernel->param_bytes = directive_number(cur, 0, PPU_MAX_PARAM);
    } else if (IS(".tokens")) {
        kernel->token_count = (uint16_t)directive_number(cur, 0, PPU_MAX_TOKENS);
    } else if (ppuasm_flag(name, len) != 0) {
        kernel->flags |= ppuasm_flag(name, len);
    } else if (IS(".cta")) {
        for (unsigned i = 0; i < 3; i++) {
            kernel->cta[i] = directive_number(cur, 1, PPU_MAX_CTA_DIM);
        }
        if ((uint64_t)kernel->cta[0] * kernel->cta[1] * kernel->cta[2] > PPU_MAX_CTA_THREADS) {
            cursor_fail(cur, name, "CTA has too many threads");
        }
    } else {
        cursor_fail(cur, name, "no such directive");
    }
#undef IS
}

static void directive(struct assembly *as, struct cursor *cur, const char *name, size_t len)
{
    if (len == 7 && memcmp(name, ".kernel", 7) == 0) {
        add_kernel(as, cur);
    } else if (len == 5 && memcmp(name, ".word", 5) == 0) {
        struct asm_insn insn = { .line = cur->line };
        int64_t value = 0;
        cursor_space(cur);
        if (!cursor_number(cur, &value)) {
            cursor_fail(cur, cur->at, "expected a number");
        }
        insn.word = (uint64_t)value;
        add_insn(as, &insn);
    } else if (as->kernel_count == 0) {
        cursor_fail(cur, name, "no such directive, or it needs a .kernel before it");
    } else {
        kernel_directive(cur, &as->kernels[as->kernel_count - 1], name, len);
    }
    if (!cursor_done(cur)) {
        cursor_fail(cur, cur->at, "text after the directive");
    }
}

static void assemble_line(struct assembly *as, struct cursor *cur)
{
    struct asm_insn insn = { .line = cur->line };

    for (;;) {
        const char *save = cur->at, *name;
        size_t len = 0;

        if (cursor_done(cur)) {
            return;
        }
        name = cursor_name(cur, &len);
        if (name && cursor_take(cur, ':')) {
            add_label(as, cur, name, len);
            continue;
        }
        if (name && name[0] == '.') {
            directive(as, cur, name, len);
            return;
        }
        cur->at = save;
        if (parse_insn(cur, &insn)) {
            add_insn(as, &insn);
        }
        return;
    }
}

/* ---- whole text ---- */

static bool resolve(struct assembly *as, const char *file, char *message)
{
    for (size_t i = 0; i < as->insn_count; i++) {
        struct asm_insn *insn = &as->insns[i];
        const struct symbol *label;
        uint32_t imm;

        if (insn->target == TARGET_NONE) {
            continue;
        }
        label = find_label(as, insn->label, strlen(insn->label));
        if (!label) {
            snprintf(message, PPUASM_MESSAGE_BYTES, "%.96s:%u:%u: no label '%s'", file, insn->line, insn->column,
                     insn->label);
            return false;
        }
        imm = insn->target == TARGET_RELATIVE ? label->insn - (uint32_t)i : label->insn;
        insn->word |= (uint64_t)imm << 32;
    }
    return true;
}

/* Highest vector register any instruction names, for kernels without .vregs. */
static uint16_t vregs_used(const struct assembly *as)
{
    uint32_t top = 1;

    for (size_t i = 0; i < as->insn_count; i++) {
        struct ppu_insn insn;
        if (ppu_isa_decode(as->insns[i].word, &insn) != PPU_FAULT_ILLEGAL && ppu_isa_vregs(&insn) > top) {
            top = ppu_isa_vregs(&insn);
        }
    }
    return (uint16_t)(top > PPU_MAX_VREGS ? PPU_MAX_VREGS : top);
}

static size_t write_lines(const struct assembly *as, struct ppu_line_entry *lines)
{
    size_t count = 0;

    for (size_t i = 0; i < as->insn_count; i++) {
        if (i == 0 || as->insns[i].line != as->insns[i - 1].line) {
            if (lines) {
                lines[count] = (struct ppu_line_entry){ (uint32_t)i, as->insns[i].line };
            }
            count++;
        }
    }
    return count;
}

static bool write_image(const struct assembly *as, uint32_t source, struct ppuasm_image *image)
{
    size_t lines = write_lines(as, NULL);
    size_t code_bytes = as->insn_count * PPU_INSN_BYTES;
    size_t lines_at = sizeof(struct ppu_program_header) + as->kernel_count * sizeof(struct ppu_kernel_entry);
    size_t text_at = lines_at + lines * sizeof(struct ppu_line_entry);
    size_t code_at = (text_at + as->text_len + PPU_PROGRAM_CODE_ALIGN - 1) & ~(size_t)(PPU_PROGRAM_CODE_ALIGN - 1);
    struct ppu_program_header header = {
        .magic = PPU_PROGRAM_MAGIC,
        .head = { PPU_PROGRAM_VERSION, sizeof(struct ppu_program_header) },
        .isa_version = PPU_ISA_VERSION,
        .image_bytes = (uint32_t)(code_at + code_bytes),
        .kernels = (uint32_t)as->kernel_count,
        .lines = (uint32_t)lines,
        .text_bytes = (uint32_t)as->text_len,
        .code_bytes = (uint32_t)code_bytes,
        .source = source,
    };

    image->len_bytes = code_at + code_bytes;
    image->bytes = calloc(1, image->len_bytes);
    if (!image->bytes) {
        return false;
    }
    memcpy(image->bytes, &header, sizeof(header));
    if (as->kernel_count) {
        memcpy(image->bytes + sizeof(header), as->kernels, as->kernel_count * sizeof(struct ppu_kernel_entry));
    }
    write_lines(as, (struct ppu_line_entry *)(void *)(image->bytes + lines_at));
    memcpy(image->bytes + text_at, as->text, as->text_len);
    for (size_t i = 0; i < as->insn_count; i++) {
        for (unsigned byte = 0; byte < PPU_INSN_BYTES; byte++) {
            image->bytes[code_at + i * PPU_INSN_BYTES + byte] = (uint8_t)(as->insns[i].word >> (8 * byte));
        }
    }
    return true;
}

static bool assemble_text(struct assembly *as, const char *text, const char *file, char *message)
{
    uint32_t line = 1;

    for (const char *at = text; *at; line++) {
        size_t len = strcspn(at, "\n");
        struct cursor cur = { .start = at, .at = at, .end = at + len, .file = file, .line = line, .message = message };
        assemble_line(as, &cur);
        if (cur.failed) {
            return false;
        }
        if (as->no_memory) {
            snprintf(message, PPUASM_MESSAGE_BYTES, "%.96s:%u:1: out of memory", file, line);
            return false;
        }
        at += len + (at[len] == '\n');
    }
    if (as->insn_count == 0 || as->insn_count > PPU_MAX_CODE / PPU_INSN_BYTES) {
        snprintf(message, PPUASM_MESSAGE_BYTES, "%.96s:%u:1: no instructions, or too many", file, line);
        return false;
    }
    return resolve(as, file, message);
}

static bool check_kernels(struct assembly *as, const char *file, char *message)
{
    uint16_t vregs = vregs_used(as);

    for (size_t i = 0; i < as->kernel_count; i++) {
        if (as->kernels[i].entry >= as->insn_count * PPU_INSN_BYTES) {
            snprintf(message, PPUASM_MESSAGE_BYTES, "%.96s:1:1: kernel '%.64s' has no instructions", file,
                     as->text + as->kernels[i].name);
            return false;
        }
        as->kernels[i].vregs = as->kernels[i].vregs ? as->kernels[i].vregs : vregs;
        if (!ppu_shared_vregs_ok(as->kernels[i].vregs, as->kernels[i].shared_vregs)) {
            snprintf(message, PPUASM_MESSAGE_BYTES,
                     "%.96s:1:1: kernel '%.64s': .vregs does not go with shared registers", file,
                     as->text + as->kernels[i].name);
            return false;
        }
    }
    return true;
}

bool ppuasm_assemble(const char *text, const char *file, struct ppuasm_image *image, char *message)
{
    struct assembly as = { 0 };
    uint32_t source = add_text(&as, file, strlen(file));
    bool ok = assemble_text(&as, text, file, message) && check_kernels(&as, file, message);

    *image = (struct ppuasm_image){ 0 };
    if (ok && (as.no_memory || !write_image(&as, source, image))) {
        snprintf(message, PPUASM_MESSAGE_BYTES, "%.96s:1:1: out of memory", file);
        ok = false;
    }
    free(as.insns);
    free(as.labels);
    free(as.kernels);
    free(as.text);
    return ok;
}
