/* SPDX-License-Identifier: MIT */
/* Instruction words, assembler, disassembler, program images, tokens. */
#include "ppu/token.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const struct ppu_isa_shape *shape = ppu_isa_shape(row->format);
    bool immed = shape->forms == 2 || (shape->forms == 3 && random_below(random, 2) != 0);
    bool scalar = (row->flags & PPU_IF_V) || ((row->flags & PPU_IF_S) && random_below(random, 2) != 0);
    uint64_t fields =
        immed ? shape->imm_mask | 0xffffffff00000000ull : shape->mask | (uint64_t)ppu_isa_fmods(row) << 50;
    bool indexed = ppu_isa_may_index(row->format) && random_below(random, 2) != 0;
    uint64_t word = (random_next(random) & fields) | op | (uint64_t)scalar << 8 | (uint64_t)(immed || indexed) << 31;

    if (random_below(random, 2) != 0) {
        word |= (uint64_t)(PPU_GUARD_ON | random_below(random, 16)) << 9;
    }
    if (random_below(random, 2) != 0) {
        /* Scalar registers below 64, aligned. */
        word &= ~(0xc3ull << 14 | 0xc3ull << 22 | (immed ? 0 : 0xc3ull << 32 | 0xc3ull << 41));
        word |= scalar && !immed ? (fields & (1ull << 30 | 1ull << 40 | 1ull << 49)) : scalar ? fields & 1ull << 30 : 0;
    }
    if (row->format == PPU_FMT_AI || op == PPU_OP_BAR || op == PPU_OP_SVENTER) {
        word &= ~(0xfffffff0ull << 32); /* small immediates only */
    }
    return word;
}

static void every_row_round_trips(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t op = 0; op < PPU_ISA_OPS; op++) {
        uint32_t legal = 0;

        if (ppu_isa_row(op)->mnemonic == NULL) {
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
        for (uint32_t b = a + 1; b < PPU_ISA_OPS && ppu_isa_row(a)->mnemonic != NULL; b++) {
            assert_true(ppu_isa_row(b)->mnemonic == NULL ||
                        strcmp(ppu_isa_row(a)->mnemonic, ppu_isa_row(b)->mnemonic) != 0);
        }
    }
}

static void errors_name_their_place(void **state)
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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
            const char *piece = pieces[random_below(&random, sizeof(pieces) / sizeof(pieces[0]))];
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
    const struct ppu_kernel_entry *one, *two;
    char message[PPUASM_MESSAGE_BYTES];

    (void)state;
    assert_true(ppuasm_assemble(sample, "sample.s", &image, message));
    assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
    one = ppu_program_kernel(&view, "one");
    two = ppu_program_kernel(&view, "two");
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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
        if (ppu_program_open(copy, len, &view) == NULL) {
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
        { "every operation survives disassembly and assembly [A7]", every_row_round_trips, NULL, NULL, NULL },
        { "no bit of a legal word is ignored [A7]", random_words_round_trip, NULL, NULL, NULL },
        { "memory full of zeros or ones is illegal [A7]", zero_is_illegal, NULL, NULL, NULL },
        { "a kernel says which registers its parts share [D4][D6]", kernels_of_parts, NULL, NULL, NULL },
        { "no two operations share a name [A7]", names_are_unique, NULL, NULL, NULL },
        { "errors of the assembler name line and column [A7]", errors_name_their_place, NULL, NULL, NULL },
        { "scrambled texts do no harm to the assembler [A7]", scrambled_texts, NULL, NULL, NULL },
        { "a program image tells its kernels and lines [A11]", image_tells_its_kernels, NULL, NULL, NULL },
        { "corrupted program images do no harm [A11]", corrupted_images, NULL, NULL, NULL },
        { "tokens have the layout of every wave size [E2]", tokens_keep_their_fields, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("engine: assembler", tests, NULL, NULL);
}
