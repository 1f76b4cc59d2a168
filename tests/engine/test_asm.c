/* SPDX-License-Identifier: MIT */
/* Tests instruction words, assembler, disassembler, program images, and tokens. */
#include "ppu/macros.h"
#include "ppu/token.h"
#include "tests/engine/rig.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_A_ROW 400
#define RANDOM_WORDS 400000

static uint64_t word_of(const struct ppuasm_image *image)
{
    struct ppu_program_view view;
    uint64_t word;

    assert_null(ppu_program_open(image->bytes, image->len_bytes, &view));
    assert_int_equal(view.header->code_bytes, PPU_INSN_BYTES);
    memcpy(&word, view.code, sizeof(word));
    return word;
}

/* Word -> text -> word. */
static void round_trip(uint64_t word)
{
    char text[PPUASM_TEXT_BYTES], message[PPUASM_MESSAGE_BYTES];
    struct ppuasm_image image;

    ppuasm_disassemble(word, text);
    if (!ppuasm_assemble(text, "text", &image, message)) {
        fail_msg("%016llx '%s': %s", (unsigned long long)word, text, message);
        return;
    }
    if (word_of(&image) != word) {
        fail_msg("%016llx '%s' became %016llx", (unsigned long long)word, text, (unsigned long long)word_of(&image));
    }
    free(image.bytes);
}

/* Random words of an opcode, cut down to the bits its format has, so that many are legal. */
static uint64_t random_word(uint64_t *random, uint32_t op)
{
    const struct ppu_isa_row *row = ppu_isa_row(op);
    struct ppu_isa_shape shape = ppu_isa_shape(row);
    bool immed = shape.forms == PPU_FORM_IMMEDIATE || (shape.forms == PPU_FORM_BOTH && random_below(random, 2) != 0);
    bool scalar = (row->flags & PPU_IF_V) || ((row->flags & PPU_IF_S) && random_below(random, 2) != 0);
    uint64_t fields = shape.bits[immed];
    bool indexed = ppu_isa_may_index(row->format) && random_below(random, 2) != 0;
    uint64_t word = (random_next(random) & fields) | op | (uint64_t)scalar << 8 | (uint64_t)(immed || indexed) << 31;

    if (random_below(random, 2) != 0) {
        word |= (uint64_t)(PPU_GUARD_ON | random_below(random, 16)) << 9;
    }
    if (random_below(random, 2) != 0) {
        /* Scalar registers are below 64 and aligned. */
        word &= ~(0xc3ull << 14 | 0xc3ull << 22 | (immed ? 0 : 0xc3ull << 32 | 0xc3ull << 41));
        word |= scalar && !immed ? (fields & (1ull << 30 | 1ull << 40 | 1ull << 49)) : scalar ? fields & 1ull << 30 : 0;
    }
    if (row->format == PPU_FMT_AI || op == PPU_OP_BAR || op == PPU_OP_SVENTER) {
        word &= ~(0xfffffff0ull << 32); /* small immediates only */
    }
    return word;
}

/* Instructions of every format, as they are encoded for good; and the bits that make no instruction of them when they
 * flip. */
static void encodings_are_frozen(void **state)
{
    static const struct {
        const char *text;
        uint64_t word, illegal;
    } rows[] = {
        { "@!p5 nop", 0x0000000000003a01, 0xffffffffffffe100 },
        { "rdtime v254", 0x00000000003f8007, 0xffffffffffc05f00 },
        { "mov v255, s63", 0x0000013f003fc002, 0xfffffec07fc01f00 },
        { "mov64 s62, -2", 0xfffffffe800f8103, 0x00000000fff05e00 },
        { "not s63, s21", 0x00000000454fc123, 0xfffffffff0301e00 },
        { "add v200, v100, v255", 0x000000ff19320010, 0xffffff0040001f00 },
        { "add s40, s50, -559038737", 0xdeadbeefcc8a0110, 0x00000000f0301e00 },
        { "madw v254, v85, s42, v170", 0x0001552a157f8031, 0xfffe02c0c0005f00 },
        { "fsub v129, -|v66|, -|v33|", 0x003c002110a04059, 0xffc3fe0040001f00 },
        { "ffma v129, -|v66|, -|v33|, -s15", 0x007e1e2110a0405c, 0xff818000c0001f00 },
        { "fadd v129, s63, 0x3f800000", 0x3f800000cfe04058, 0x00000000b0001f00 },
        { "sel v129, v66, v33, !p5", 0x0034002110a04004, 0xffc3fe00c0001f00 },
        { "rdsr v129, %depth", 0x0000000005e04006, 0xfffffffffa001f00 },
        { "isetp.geu.s p5, s42, s21", 0x000001154a934188, 0xffffffc0702c1e00 },
        { "dsetp.nan p5, -|v84|, -|v168|", 0x003c00a8151b408b, 0xffc3ff0140641f00 },
        { "isetp64.lt p7, v84, -3", 0xfffffffd9505c089, 0x00000000c0701f00 },
        { "pxor p5, !p2, !p7", 0x0000000f0281408e, 0xfffffff0fc3e1f00 },
        { "voteany p5, !p2", 0x000000000281409f, 0xfffffffffc3e1f00 },
        { "ballot s21, !p5", 0x00000000034541a0, 0xfffffffffc301e00 },
        { "ballot v21, !p5", 0x00000000034540a0, 0xfffffffffc001e00 },
        { "r2p v170, 165", 0x000000a5aa800090, 0xffffff00c03fdf00 },
        { "cvt.f64.s64.rtn.sat v170, v84", 0x2de80000152a8080, 0xd217ffffc0405f00 },
        { "readlane s42, v255, s21", 0x000001153fca819c, 0xffffffc040301f00 },
        { "readlane s42, v255, 63", 0x0000003fbfca819c, 0x00000000c0301f00 },
        { "readfirst s42, v255", 0x000000003fca819d, 0xffffffffc0301f00 },
        { "ldg.b128 v252, [s62+v170*16-5]", 0xffff6eaacfbf00a8, 0x000019007040df00 },
        { "stg.u16 v252, [v170+131071]", 0x3fffe2002abf00a9, 0x000018ffc0401f00 },
        { "ldp.b64 s62, [1028]", 0x00809500000f81ae, 0x00001afffff05e00 },
        { "gather.n3 v252, [s62+v84-262144]", 0x800002544fbf00b1, 0x00001c03f040df00 },
        { "atomg.fadd.b64.seq_cst.cta v170, [s62+v85*8], v84", 0x0a6aaa54cfaa80b2, 0xf596010170405f00 },
        { "atomu.cas.acq_rel.dev _, [v170], v84", 0x15a400542a8000b4, 0xea1bff01c07fdf00 },
        { "fence.seq_cst.cta", 0x0a000000000000b5, 0xf5ffffffffffdf00 },
        { "bar 15", 0x0000000f800000c0, 0xfffffff0ffffdf00 },
        { "brx v170", 0x000000002a8000da, 0xffffffffc03fdf00 },
        { "trap.s s21", 0x00000115000001c7, 0xffffffc07fffde00 },
        { "trap -7", 0xfffffff9800000c7, 0x00000000ffffde00 },
        { "tstart.s s42, s21", 0x000001154a8001c1, 0xffffffc0703fde00 },
        { "tstart v170, 77", 0x0000004daa8000c1, 0x00000000403fdf00 },
        { "semrel.s [s62], s21", 0x000001154f8001c2, 0xffffffc0707fde00 },
        { "semrelt [v170], -1", 0xffffffffaa8000c3, 0x00000000c07fdf00 },
        { "bra .-2", 0xfffffffe800000d8, 0x00000000ffffdf00 },
        { "jmp 4294967295", 0xffffffff800000d9, 0x00000000ffffdf00 },
        { "call v170, .+77", 0x0000004d802a80dc, 0x00000000ffc01f00 },
    };
    bool seen[PPU_FMT_COUNT] = { false };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        char text[PPUASM_TEXT_BYTES];
        struct ppu_insn insn;

        round_trip(rows[i].word);
        ppuasm_disassemble(rows[i].word, text);
        assert_string_equal(text, rows[i].text);
        for (uint32_t bit = 8; bit < 64; bit++) {
            bool illegal = ppu_isa_decode(rows[i].word ^ 1ull << bit, &insn) == PPU_FAULT_ILLEGAL;
            if (illegal != (rows[i].illegal >> bit & 1)) {
                fail_msg("%s: with bit %u flipped it is %s", text, bit, illegal ? "illegal" : "an instruction");
            }
        }
        assert_int_equal(ppu_isa_decode(rows[i].word, &insn), 0);
        seen[insn.format] = true;
    }
    for (uint32_t format = 0; format < PPU_FMT_COUNT; format++) {
        assert_true(seen[format]);
    }
}

static void every_row_round_trips(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t op = 0; op < PPU_ISA_OPS; op++) {
        uint32_t legal = 0;

        if (!ppu_isa_row(op)->mnemonic) {
            continue;
        }
        for (uint32_t i = 0; i < WORDS_A_ROW; i++) {
            struct ppu_insn insn;
            uint64_t word = random_word(&random, op);

            if (ppu_isa_decode(word, &insn) == PPU_FAULT_ILLEGAL) {
                continue;
            }
            legal++;
            assert_true(ppu_isa_encode(&insn) == word);
            round_trip(word);
        }
        if (legal == 0) {
            fail_msg("no legal word of %s was tried", ppu_isa_row(op)->mnemonic);
        }
    }
}

/* Whatever decodes encodes to the same bits: no bit of a legal word is ignored. */
static void random_words_round_trip(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t i = 0; i < RANDOM_WORDS; i++) {
        struct ppu_insn insn;
        uint64_t word = random_next(&random);

        if (i % 2 != 0) {
            word = random_word(&random, (uint32_t)word % PPU_ISA_OPS) ^ 1ull << random_below(&random, 64);
        }
        if (ppu_isa_decode(word, &insn) != PPU_FAULT_ILLEGAL) {
            assert_true(ppu_isa_encode(&insn) == word);
        }
        if (i % 64 == 0) {
            round_trip(word);
        }
    }
}

static void zero_is_illegal(void **state)
{
    struct ppu_insn insn;

    (void)state;
    assert_int_equal(ppu_isa_decode(0, &insn), PPU_FAULT_ILLEGAL);
    assert_int_equal(ppu_isa_decode(UINT64_MAX, &insn), PPU_FAULT_ILLEGAL);
}

/* Names are the key of assembler and documentation: no two rows share one. */
static void names_are_unique(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < PPU_ISA_OPS; a++) {
        for (uint32_t b = a + 1; b < PPU_ISA_OPS && ppu_isa_row(a)->mnemonic; b++) {
            assert_true(!ppu_isa_row(b)->mnemonic || strcmp(ppu_isa_row(a)->mnemonic, ppu_isa_row(b)->mnemonic) != 0);
        }
    }
}

static void errors_name_line_and_column(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "frobnicate v1", "t.s:1:1: error: no such instruction" },
        { "nop\n  add v1, v2\n", "t.s:2:13: error: expected ','" },
        { "add v1, v2, v256", "t.s:1:13: error: no such register" },
        { "add s64, s2, 1", "t.s:1:5: error: no such register" },
        { "add v1, v2, 4294967296", "t.s:1:13: error: number does not fit in 32 bits" },
        { "add.f32 v1, v2, v3", "t.s:1:5: error: add has no modifier 'f32' here" },
        { "ldg v1, [v2]", "t.s:1:1: error: ldg needs a modifier" },
        { "ldg.b32 v1, [v3]", "t.s:1:1: error: operands do not fit ldg" },
        { "ldg.b32 v1, [v2+262144]", "t.s:1:17: error: offset does not fit in 19 bits" },
        { "ldg.b32 v1, [s2+v2*2]", "t.s:1:20: error: an index counts accesses of 4 bytes" },
        { "atomg.add.b64 _, [s2+v2*4], v4", "t.s:1:25: error: an index counts accesses of 8 bytes" },
        { "gather.n2 v4, [s2+v2*4]", "t.s:1:22: error: this instruction has no index" },
        { "add s1, v2, 1", "t.s:1:1: error: operands do not fit add" },
        { "bra nowhere", "t.s:1:5: error: no label 'nowhere'" },
        { "a: nop\na: nop", "t.s:2:1: error: label 'a' is there already" },
        { "isetp.lt v1, v2, v3", "t.s:1:10: error: expected a predicate p0 to p7" },
        { "@p8 nop", "t.s:1:2: error: expected a predicate p0 to p7" },
        { "rdsr v1, %nothing", "t.s:1:10: error: no such special register" },
        { "nop nop", "t.s:1:5: error: text after the instruction" },
        { ".vregs 4", "t.s:1:1: error: no such directive, or it needs a .kernel before it" },
        { ".kernel a\n.vregs 257\nnop", "t.s:2:8: error: expected a number from 1 to 256" },
        { ".kernel a\nnop\n.kernel a\nnop", "t.s:3:9: error: kernel 'a' is there already" },
        { ".kernel a\nnop\n.kernel b", "t.s:1:1: error: kernel 'b' has no instructions" },
        { "# nothing", "t.s:1:1: error: no instructions, or too many" },
        { "bar 16", "t.s:1:1: error: operands do not fit bar" },
        { ".set v1, 3", "t.s:1:6: error: expected a name that is no register's" },
        { ".set A, 1\n.set B, A\nadd v1, v2, C", "t.s:3:13: error: expected a register or a number" },
        { ".include \"x.s\"", "t.s:1:10: error: 'x.s' cannot be read" },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char message[PPUASM_MESSAGE_BYTES] = "";
        struct ppuasm_image image;

        assert_false(ppuasm_assemble(cases[i].text, "t.s", &image, message));
        assert_null(image.bytes);
        if (strncmp(message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("'%s' gave '%s', not '%s'", cases[i].text, message, cases[i].message);
        }
    }
}

/* Texts made of pieces of instructions: an error or an image, never a crash. */
static void scrambled_texts(void **state)
{
    static const char *const pieces[] = { "add",
                                          ".b32",
                                          " ",
                                          "v1",
                                          "s2",
                                          ",",
                                          "[",
                                          "]",
                                          "+",
                                          "-",
                                          "0x",
                                          "99",
                                          "@",
                                          "p1",
                                          "!",
                                          "\n",
                                          ".kernel",
                                          " k",
                                          ":",
                                          "bra",
                                          "ldg",
                                          "|",
                                          "_",
                                          "cvt",
                                          ".f32",
                                          "1.5",
                                          "isetp",
                                          ".lt",
                                          "#",
                                          "%tid.x",
                                          ".word",
                                          "atomg",
                                          ".add",
                                          "\t",
                                          "v999",
                                          "exit",
                                          ".set",
                                          "SIZE",
                                          ".include \"x\"",
                                          "99999999999999999999" };
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        char text[512] = "", message[PPUASM_MESSAGE_BYTES];
        struct ppuasm_image image;
        size_t len = 0;

        for (uint32_t n = random_below(&random, 20); n != 0; n--) {
            const char *piece = pieces[random_below(&random, PPU_ARRAY_SIZE(pieces))];
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", piece);
        }
        if (ppuasm_assemble(text, "t.s", &image, message)) {
            struct ppu_program_view view;
            assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
            free(image.bytes);
        }
    }
}

static const char sample[] = ".kernel one\n.vregs 9\n.shared 64\n.local 32\n.param 16\n.tokens 7\n.cta 8 4 2\n"
                             "nop\nbra end\nend: exit\n.kernel two\nexit\n";

static void image_tells_its_kernels(void **state)
{
    struct ppuasm_image image;
    struct ppu_program_view view;
    char message[PPUASM_MESSAGE_BYTES];

    (void)state;
    assert_true(ppuasm_assemble(sample, "sample.s", &image, message));
    assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
    const struct ppu_kernel_entry *one = ppu_program_kernel(&view, "one");
    const struct ppu_kernel_entry *two = ppu_program_kernel(&view, "two");
    assert_non_null(one);
    assert_non_null(two);
    assert_null(ppu_program_kernel(&view, "on"));
    assert_int_equal(one->entry, 0);
    assert_int_equal(two->entry, 24);
    assert_int_equal(one->vregs, 9);
    assert_int_equal(two->vregs, 1);
    assert_int_equal(one->shared_bytes, 64);
    assert_int_equal(one->local_bytes, 32);
    assert_int_equal(one->param_bytes, 16);
    assert_int_equal(one->token_count, 7);
    assert_int_equal(one->cta[1], 4);
    assert_string_equal(view.text + view.header->source, "sample.s");
    assert_int_equal(ppu_program_line(&view, 1), 9);
    assert_int_equal(ppu_program_line(&view, 3), 12);
    free(image.bytes);
}

/* Private and shared registers go together, and a disassembled kernel says both (D4, D6). */
static void kernels_of_parts(void **state)
{
    static const struct {
        uint32_t vregs, shared;
        bool good;
    } cases[] = { { 8, 12, true }, { 252, 4, true },  { 4, 252, true }, { 7, 0, true },
                  { 7, 1, false }, { 252, 5, false }, { 256, 1, false } };
    char message[PPUASM_MESSAGE_BYTES], text[128];

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppuasm_image image;
        struct ppu_program_view view;

        snprintf(text, sizeof(text), ".kernel k\n.vregs %u\n.shared_vregs %u\n.subvector\nexit\n", cases[i].vregs,
                 cases[i].shared);
        if (!ppuasm_assemble(text, "text", &image, message)) {
            assert_false(cases[i].good);
            assert_non_null(strstr(message, "shared registers"));
            continue;
        }
        assert_true(cases[i].good);
        assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
        assert_int_equal(view.kernels[0].vregs, cases[i].vregs);
        assert_int_equal(view.kernels[0].shared_vregs, cases[i].shared);
        assert_int_equal(view.kernels[0].flags, PPU_TMD_SUBVECTOR);
        free(image.bytes);
    }
}

/* Any byte may be wrong, any end missing: open() says so or what it shows is in bounds. */
static void corrupted_images(void **state)
{
    struct ppuasm_image image;
    char message[PPUASM_MESSAGE_BYTES];
    uint64_t random = random_seed();

    (void)state;
    assert_true(ppuasm_assemble(sample, "sample.s", &image, message));
    for (uint32_t i = 0; i < 20000; i++) {
        size_t len = i % 4 == 0 ? random_below(&random, (uint32_t)image.len_bytes) : image.len_bytes;
        uint8_t *copy = malloc(len + 1);
        struct ppu_program_view view;

        memcpy(copy, image.bytes, len);
        for (uint32_t n = i % 4; n != 0 && len != 0; n--) {
            copy[random_below(&random, (uint32_t)len)] = (uint8_t)random_next(&random);
        }
        if (!ppu_program_open(copy, len, &view)) {
            (void)ppu_program_kernel(&view, "two");
            (void)ppu_program_line(&view, 3);
            assert_true(view.code + view.header->code_bytes == copy + len);
        } else {
            assert_true(len != image.len_bytes || memcmp(copy, image.bytes, len) != 0);
        }
        free(copy);
    }
    free(image.bytes);
}

/* ---- what is left out ---- */

/* Names, titles and docs of everything that software can ask of the device. */
static const struct spoken {
    const char *name, *title, *doc;
} spoken[] = {
#define PPU_INSN(name, mnemonic, opcode, format, widths, flags, built, doc) { #name, mnemonic, doc },
#define PPU_SR(name, text, number, of, most, doc) { #name, text, doc },
#include "ppu/isa.def"
#define PPU_METHOD(name, id, count, title, doc) { #name, title, doc },
#include "ppu/method.def"
#undef PPU_METHOD
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) { #name, "", doc },
#include "ppu/regs.def"
#undef PPU_REG
};

/* Begins of words. */
static const char *const left_out[] = {
    "textur",  "tex",     "sampler", "mipmap",       "raster",      "rop",     "vertex", "vertices", "fragment",
    "pixel",   "shade",   "render",  "triangle",     "primitive",   "tessell", "blend",  "stencil",  "viewport",
    "graphic", "display", "scanout", "frame_buffer", "framebuffer", "crtc",    "cursor", "vga",      "hdmi",
};

/* Which of them begins a word of the text, or NULL. Underlines and points of names divide words. */
static const char *word_left_out(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        bool begins = isalpha((unsigned char)*at) && (at == text || !isalpha((unsigned char)at[-1]));

        for (size_t i = 0; begins && i < PPU_ARRAY_SIZE(left_out); i++) {
            if (strncasecmp(at, left_out[i], strlen(left_out[i])) == 0) {
                return left_out[i];
            }
        }
    }
    return NULL;
}

static void nothing_of_graphics(void **state)
{
    (void)state;
    assert_string_equal(word_left_out("Bytes of a FRAME_BUFFER"), "frame_buffer");
    assert_string_equal(word_left_out("RASTER_TOP"), "raster");
    assert_null(word_left_out("convertible property of context"));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(spoken); i++) {
        const char *const texts[] = { spoken[i].name, spoken[i].title, spoken[i].doc };

        for (size_t n = 0; n < PPU_ARRAY_SIZE(texts); n++) {
            const char *word = word_left_out(texts[n]);
            if (word) {
                fail_msg("%s: '%s' has '%s', which is of what is left out", spoken[i].name, texts[n], word);
            }
        }
    }
}

static void tokens_keep_their_fields(void **state)
{
    static const uint32_t waves[] = { 32, 64, 128 };
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t wave = waves[i % 3], words[PPU_TOKEN_MAX_WORDS], wide = wave == 32 ? 0x3fffff : UINT32_MAX;
        struct ppu_token token = { .type = random_below(&random, PPU_TOKEN_TYPES),
                                   .summary = random_below(&random, 16) };
        struct ppu_token back;

        token.address = (uint32_t)random_next(&random) & wide;
        for (uint32_t w = 0; w < PPU_WAVE_WORDS(wave); w++) {
            token.mask[w] = (uint32_t)random_next(&random);
        }
        ppu_token_pack(wave, &token, words);
        ppu_token_unpack(wave, words, &back);
        assert_memory_equal(&back, &token, sizeof(token));
        if (wave == 32) {
            uint64_t bits = words[0] | (uint64_t)words[1] << 32;
            assert_int_equal(bits & 15, token.type);
            assert_int_equal(bits >> 4 & UINT32_MAX, token.mask[0]);
            assert_int_equal(bits >> 36 & 0x3fffff, token.address);
            assert_int_equal(bits >> 58, token.summary);
        } else {
            uint64_t low = words[0] | (uint64_t)words[1] << 32;
            assert_int_equal(low & 0xff, token.type);
            assert_int_equal(low >> 8 & UINT32_MAX, token.address);
            assert_int_equal(low >> 40, token.summary);
            assert_int_equal(words[2], token.mask[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every operation survives disassembly and assembly", every_row_round_trips, NULL, NULL, NULL },
        { "encodings are frozen", encodings_are_frozen, NULL, NULL, NULL },
        { "no bit of a legal word is ignored", random_words_round_trip, NULL, NULL, NULL },
        { "memory full of zeros or ones is illegal", zero_is_illegal, NULL, NULL, NULL },
        { "a kernel says which registers its parts share [D4][D6]", kernels_of_parts, NULL, NULL, NULL },
        { "no two operations share a name", names_are_unique, NULL, NULL, NULL },
        { "errors of the assembler name line and column", errors_name_line_and_column, NULL, NULL, NULL },
        { "scrambled texts do no harm to the assembler", scrambled_texts, NULL, NULL, NULL },
        { "a program image tells its kernels and lines [A11]", image_tells_its_kernels, NULL, NULL, NULL },
        { "corrupted program images do no harm [A11]", corrupted_images, NULL, NULL, NULL },
        { "no instruction, method or register is of graphics, textures or a display [A15]", nothing_of_graphics, NULL,
          NULL, NULL },
        { "tokens have the layout of every wave size [E2]", tokens_keep_their_fields, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("engine: assembler", tests, NULL, NULL);
}
