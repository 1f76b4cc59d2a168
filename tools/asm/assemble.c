/* SPDX-License-Identifier: MIT */
/* Assembles a source: directives, labels and instructions become a program image. */
#include "ppu/loop_check.h"
#include "ppu/macros.h"
#include "tools/asm/internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDES_MOST 32u     /* deep */
#define INCLUDES_IN_ALL 4096u /* a few files that include each other some times would take for ever */
#define ERRORS_MOST 20u

struct label {
    char name[ASM_NAME_BYTES];
    uint32_t insn;
};

struct assembly {
    const struct ppuasm_source *source;
    struct asm_insn *insns;
    struct label *labels;
    struct ppu_kernel_entry *kernels;
    char *text;   /* names, each with its final zero */
    char **files; /* names of the texts */
    struct asm_symbols symbols;
    size_t insn_count, insn_cap;
    size_t label_count, label_cap;
    size_t kernel_count, kernel_cap;
    size_t text_len, text_cap;
    size_t file_count, file_cap;
    uint32_t file, depth, includes; /* of the text that is read */
    uint32_t errors;
    bool no_memory;
};

static void assemble_text(struct assembly *as, const char *text, const char *name);

/* Room for one more element of an array; NULL: out of memory. */
static void *grow(void *array, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap ? *cap * 2 : 64;

    if (count < *cap) {
        return array;
    }
    void *bigger = realloc(array, wanted * size);
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

static const struct label *find_label(const struct assembly *as, const char *name, size_t len)
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
    if (symbols_find(&as->symbols, name, len)) {
        cursor_fail(cur, name, "'%.*s' is a symbol", (int)len, name);
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

static void word_directive(struct assembly *as, struct cursor *cur)
{
    struct asm_insn insn = { .file = as->file, .line = cur->line };
    int64_t value = 0;

    cursor_space(cur);
    if (!cursor_number(cur, &value)) {
        cursor_fail(cur, cur->at, "expected a number");
    }
    insn.word = (uint64_t)value;
    add_insn(as, &insn);
}

bool ppuasm_symbol_name(const char *name, size_t len)
{
    bool numbered = len > 1 && strchr("vsp", name[0]);

    for (size_t i = 1; i < len && numbered; i++) {
        numbered = name[i] >= '0' && name[i] <= '9';
    }
    return len != 0 && len < ASM_NAME_BYTES && !numbered && (isalpha((unsigned char)name[0]) || name[0] == '_') &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") >= len &&
           !(len == 1 && name[0] == '_');
}

static void add_symbol(struct assembly *as, const char *name, size_t len, int64_t value)
{
    struct asm_symbol *symbol = NULL;

    for (size_t i = 0; i < as->symbols.count; i++) {
        if (strlen(as->symbols.list[i].name) == len && memcmp(as->symbols.list[i].name, name, len) == 0) {
            symbol = &as->symbols.list[i];
        }
    }
    if (!symbol) {
        GROW(as, symbols.list, symbols.count, symbols.cap);
        symbol = &as->symbols.list[as->symbols.count++];
        memcpy(symbol->name, name, len);
        symbol->name[len] = 0;
    }
    symbol->value = value;
}

/* .set NAME, NUMBER: from here on the name stands for the number. */
static void set_directive(struct assembly *as, struct cursor *cur)
{
    size_t len = 0;
    int64_t value = 0;
    const char *name = cursor_name(cur, &len);

    if (!name || !ppuasm_symbol_name(name, len)) {
        cursor_fail(cur, name ? name : cur->at, "expected a name that is no register's");
    } else if (find_label(as, name, len)) {
        cursor_fail(cur, name, "'%.*s' is a label", (int)len, name);
    } else if (!cursor_take(cur, ',')) {
        cursor_fail(cur, cur->at, "expected ','");
    } else {
        cursor_space(cur);
        if (!cursor_number(cur, &value)) {
            cursor_fail(cur, cur->at, "expected a number");
        }
        add_symbol(as, name, len, value);
    }
}

/* .include "FILE": its text stands here. */
static void include_directive(struct assembly *as, struct cursor *cur)
{
    char name[256], *path = NULL, *text = NULL;
    const char *end;

    cursor_space(cur);
    const char *begin = cur->at;
    end = begin < cur->end && *begin == '"' ? memchr(begin + 1, '"', (size_t)(cur->end - begin - 1)) : NULL;
    if (!end || (size_t)(end - begin) > sizeof(name) || end == begin + 1) {
        cursor_fail(cur, begin, "expected the name of a file in quotes");
        return;
    }
    snprintf(name, sizeof(name), "%.*s", (int)(end - begin - 1), begin + 1);
    cur->at = end + 1;
    if (as->depth == INCLUDES_MOST) {
        cursor_fail(cur, begin, "files include each other %u deep", INCLUDES_MOST);
    } else if (as->includes == INCLUDES_IN_ALL) {
        cursor_fail(cur, begin, "more than %u files are included", INCLUDES_IN_ALL);
    } else if (!as->source->include || !as->source->include(as->source->closure, name, &path, &text)) {
        cursor_fail(cur, begin, "'%.128s' cannot be read: no such file here or in a folder of -I", name);
    } else if (cursor_done(cur)) {
        as->includes++;
        assemble_text(as, text, path);
    }
    free(path);
    free(text);
}

static void directive(struct assembly *as, struct cursor *cur, const char *name, size_t len)
{
    static const struct {
        const char *name;
        void (*take)(struct assembly *as, struct cursor *cur);
    } directives[] = { { ".kernel", add_kernel },
                       { ".word", word_directive },
                       { ".set", set_directive },
                       { ".include", include_directive } };
    size_t i = 0;

    while (i < PPU_ARRAY_SIZE(directives) &&
           (strlen(directives[i].name) != len || memcmp(directives[i].name, name, len) != 0)) {
        i++;
    }
    if (i < PPU_ARRAY_SIZE(directives)) {
        directives[i].take(as, cur);
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
    struct asm_insn insn = { .file = as->file, .line = cur->line };

    for (;;) {
        const char *save = cur->at;
        size_t len = 0;

        if (cursor_done(cur)) {
            return;
        }
        const char *name = cursor_name(cur, &len);
        if (name && cursor_take(cur, ':')) {
            add_label(as, cur, name, len);
            continue;
        }
        if (name && name[0] == '.') {
            directive(as, cur, name, len);
            return;
        }
        cur->at = save;
        cursor_space(cur);
        insn.start = (uint32_t)(cur->at - cur->start) + 1u;
        if (parse_insn(cur, &insn)) {
            add_insn(as, &insn);
        }
        return;
    }
}

/* ---- errors ---- */

static void report(struct assembly *as, const char *message)
{
    if (as->errors++ < ERRORS_MOST) {
        as->source->report(as->source->closure, message);
    }
}

__attribute__((format(printf, 5, 6))) static void report_at(struct assembly *as, const char *file, uint32_t line,
                                                            uint32_t column, const char *format, ...)
{
    char message[PPUASM_MESSAGE_BYTES];
    int n = snprintf(message, sizeof(message), "%.96s:%u:%u: error: ", file, line, column);
    va_list args;

    va_start(args, format);
    vsnprintf(message + n, sizeof(message) - (size_t)n, format, args);
    va_end(args);
    report(as, message);
}

/* ---- whole text ---- */

static void resolve(struct assembly *as)
{
    for (size_t i = 0; i < as->insn_count; i++) {
        struct asm_insn *insn = &as->insns[i];
        const struct label *label;

        if (insn->target == TARGET_NONE) {
            continue;
        }
        label = find_label(as, insn->label, strlen(insn->label));
        if (!label) {
            report_at(as, as->files[insn->file], insn->line, insn->column, "no label '%s'", insn->label);
            continue;
        }
        uint32_t imm = insn->target == TARGET_RELATIVE ? label->insn - (uint32_t)i : label->insn;
        insn->word |= (uint64_t)imm << 32;
    }
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
    return (uint16_t)PPU_MIN(top, PPU_MAX_VREGS);
}

/* The image names one file: what others gave has no line. */
static uint32_t line_of(const struct asm_insn *insn)
{
    return insn->file == 0 ? insn->line : 0;
}

static size_t write_lines(const struct assembly *as, struct ppu_line_entry *lines)
{
    size_t count = 0;

    for (size_t i = 0; i < as->insn_count; i++) {
        if (i == 0 || line_of(&as->insns[i]) != line_of(&as->insns[i - 1])) {
            if (lines) {
                lines[count] = (struct ppu_line_entry){ (uint32_t)i, line_of(&as->insns[i]) };
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
    size_t code_at = ppu_align_up64(text_at + as->text_len, PPU_PROGRAM_CODE_ALIGN);
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

static void add_file(struct assembly *as, const char *name)
{
    GROW(as, files, file_count, file_cap);
    as->files[as->file_count] = strdup(name);
    as->no_memory = as->no_memory || !as->files[as->file_count];
    as->file_count += !as->no_memory;
}

static void assemble_text(struct assembly *as, const char *text, const char *name)
{
    const uint32_t before = as->file;
    uint32_t line = 1;

    as->file = (uint32_t)as->file_count;
    add_file(as, name);
    as->depth++;
    for (const char *at = text; *at && !as->no_memory; line++) {
        char message[PPUASM_MESSAGE_BYTES];
        size_t len = strcspn(at, "\n");
        struct cursor cur = { .start = at, .at = at, .end = at + len, .file = name, .line = line };
        cur.symbols = &as->symbols;
        cur.message = message;
        assemble_line(as, &cur);
        if (cur.failed) {
            report(as, message);
        }
        at += len + (at[len] == '\n');
    }
    as->depth--;
    as->file = before;
}

static void check_kernels(struct assembly *as, const char *file)
{
    uint16_t vregs = vregs_used(as);

    for (size_t i = 0; i < as->kernel_count; i++) {
        if (as->kernels[i].entry >= as->insn_count * PPU_INSN_BYTES) {
            report_at(as, file, 1, 1, "kernel '%.64s' has no instructions", as->text + as->kernels[i].name);
        }
        as->kernels[i].vregs = as->kernels[i].vregs ? as->kernels[i].vregs : vregs;
        if (!ppu_shared_vregs_ok(as->kernels[i].vregs, as->kernels[i].shared_vregs)) {
            report_at(as, file, 1, 1, "kernel '%.64s': .vregs does not go with shared registers",
                      as->text + as->kernels[i].name);
        }
    }
}

static void report_loop(struct assembly *as, const struct ppu_loop_error *error)
{
    const struct asm_insn *insn = &as->insns[error->insn];
    const uint32_t begin = error->begin != PPU_LOOP_NONE ? as->insns[error->begin].line : 0;
    struct ppu_insn decoded = { 0 };

    (void)ppu_isa_decode(insn->word, &decoded);
    report_at(as, as->files[insn->file], insn->line, insn->start, begin != 0 ? "'%s' %s (of line %u)" : "'%s' %s",
              ppu_isa_row(decoded.op)->mnemonic, error->what, begin);
}

/* Loops over parts are whole, and nothing is in them that they must not have (D7). */
static void check_loops(struct assembly *as, const uint8_t *code, struct ppu_loop_code *loops)
{
    uint32_t *entries = calloc(as->kernel_count + 1, sizeof(*entries));
    struct ppu_loop_error error = { 0 };

    loops->code = code;
    loops->flags = calloc(loops->count, 1);
    loops->loop_of = calloc(loops->count, sizeof(loops->loop_of[0]));
    loops->queued = calloc(loops->count, sizeof(loops->queued[0]));
    if (!entries || !loops->flags || !loops->loop_of || !loops->queued) {
        as->no_memory = true;
    } else {
        for (size_t i = 0; i < as->kernel_count; i++) {
            entries[i] = as->kernels[i].entry / PPU_INSN_BYTES;
        }
        if (!ppu_loops_check(loops, entries, (uint32_t)as->kernel_count, &error)) {
            report_loop(as, &error);
        }
    }
    free(entries);
    free(loops->flags);
    free(loops->loop_of);
    free(loops->queued);
}

static void check_code(struct assembly *as, const struct ppuasm_image *image)
{
    struct ppu_loop_code loops = { .count = (uint32_t)as->insn_count };
    const uint8_t *code = image->bytes + image->len_bytes - as->insn_count * PPU_INSN_BYTES;

    if (as->errors == 0 && ppu_loops_present(code, loops.count)) {
        check_loops(as, code, &loops);
    }
}

static void assemble_all(struct assembly *as)
{
    const struct ppuasm_source *source = as->source;
    const char *last = source->inputs[source->input_count - 1].name;

    for (uint32_t i = 0; i < source->symbol_count; i++) {
        add_symbol(as, source->symbols[i].name, strlen(source->symbols[i].name), source->symbols[i].value);
    }
    for (uint32_t i = 0; i < source->input_count; i++) {
        assemble_text(as, source->inputs[i].text, source->inputs[i].name);
    }
    if (as->errors == 0 && !as->no_memory && (as->insn_count == 0 || as->insn_count > PPU_MAX_CODE / PPU_INSN_BYTES)) {
        report_at(as, last, 1, 1, "no instructions, or too many");
    }
    if (as->errors == 0 && !as->no_memory) {
        resolve(as);
        check_kernels(as, last);
    }
}

static void assembly_free(struct assembly *as)
{
    for (size_t i = 0; i < as->file_count; i++) {
        free(as->files[i]);
    }
    free(as->files);
    free(as->insns);
    free(as->labels);
    free(as->kernels);
    free(as->text);
    free(as->symbols.list);
}

bool ppuasm_assemble_source(const struct ppuasm_source *source, struct ppuasm_image *image)
{
    struct assembly as = { .source = source };
    const char *name = source->inputs[0].name;
    uint32_t text = add_text(&as, name, strlen(name));

    *image = (struct ppuasm_image){ 0 };
    assemble_all(&as);
    if (as.no_memory || (as.errors == 0 && !write_image(&as, text, image))) {
        report_at(&as, name, 1, 1, "out of memory");
    }
    if (as.errors == 0 && source->check) {
        check_code(&as, image);
        if (as.errors != 0 || as.no_memory) {
            free(image->bytes);
            *image = (struct ppuasm_image){ 0 };
        }
        if (as.no_memory) {
            report_at(&as, name, 1, 1, "out of memory");
        }
    }
    if (as.errors > ERRORS_MOST) {
        char message[PPUASM_MESSAGE_BYTES];
        snprintf(message, sizeof(message), "%.96s: error: %u more errors", name, as.errors - ERRORS_MOST);
        source->report(source->closure, message);
    }
    assembly_free(&as);
    return as.errors == 0;
}

/* ---- one text ---- */

static void keep_first(void *closure, const char *message)
{
    char *kept = closure;

    if (kept[0] == 0) {
        snprintf(kept, PPUASM_MESSAGE_BYTES, "%s", message);
    }
}

bool ppuasm_assemble(const char *text, const char *file, struct ppuasm_image *image, char *message)
{
    const struct ppuasm_input input = { file, text };
    const struct ppuasm_source source = {
        .inputs = &input,
        .input_count = 1,
        .report = keep_first,
        .closure = message,
    };

    message[0] = 0;
    return ppuasm_assemble_source(&source, image);
}
