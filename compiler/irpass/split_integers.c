/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/split_integers.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/part_access.h"
#include "ppu/macros.h"

#include <string.h>

#define WORD_BITS 32u
#define MOST_BITS 64u     /* of an integer that selection has registers for */
#define MOST_ARGUMENTS 3u /* of an intrinsic for vectors */

/* An instruction whose result is such an integer, and the words of that: the lowest first, zeros above the width. */
struct wide_value {
    LLVMValueRef value; /* NULL: this entry of the table is free */
    LLVMValueRef *words;
};

struct splitter {
    struct part_access access;
    LLVMBuilderRef builder; /* that of `access` */
    LLVMTypeRef word;
    struct wide_value *table; /* a hash table */
    unsigned count, cap;      /* `cap` is a power of two */
};

static LLVMTypeRef integer_of(const struct splitter *splitter, uint32_t bits)
{
    return LLVMIntTypeInContext(splitter->access.compilation->llvm, bits);
}

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static uint32_t width_of_element(LLVMTypeRef type)
{
    LLVMTypeRef element = is_vector(type) ? LLVMGetElementType(type) : type;

    return LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0;
}

static uint32_t count_words(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

/* A vector of wide integers is one integer of all their whole words, lowest first. Other vectors have no width. */
static uint32_t width_of(LLVMTypeRef type)
{
    uint32_t bits = width_of_element(type);

    if (!is_vector(type)) {
        return bits;
    }
    return bits > MOST_BITS ? count_words(bits) * WORD_BITS * LLVMGetVectorSize(type) : 0;
}

static bool is_wide(LLVMTypeRef type)
{
    return width_of(type) > MOST_BITS;
}

static LLVMValueRef *new_words(struct splitter *splitter, uint32_t bits)
{
    return arena_new(&splitter->access.compilation->arena, LLVMValueRef, count_words(bits));
}

static void copy_words(LLVMValueRef *to, LLVMValueRef *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static LLVMValueRef number(const struct splitter *splitter, uint32_t value)
{
    return LLVMConstInt(splitter->word, value, false);
}

/* ---- the table ---- */

static struct wide_value *find(const struct splitter *splitter, LLVMValueRef value)
{
    uint64_t hash = (uint64_t)(uintptr_t)value * 0x9e3779b97f4a7c15ull;

    for (unsigned i = (unsigned)(hash >> 32);; i++) {
        struct wide_value *entry = &splitter->table[i & (splitter->cap - 1)];
        if (!entry->value || entry->value == value) {
            return entry;
        }
    }
}

static void grow_table(struct splitter *splitter)
{
    struct wide_value *old = splitter->table;
    unsigned old_cap = splitter->cap;

    splitter->cap = PPU_MAX(2 * old_cap, 64u);
    splitter->table = arena_new(&splitter->access.compilation->arena, struct wide_value, splitter->cap);
    for (unsigned i = 0; i < old_cap; i++) {
        if (old[i].value) {
            *find(splitter, old[i].value) = old[i];
        }
    }
}

static void add_wide(struct splitter *splitter, LLVMValueRef value, LLVMValueRef *words)
{
    if (2 * splitter->count >= splitter->cap) {
        grow_table(splitter);
    }
    *find(splitter, value) = (struct wide_value){ value, words };
    splitter->count++;
}

/* ---- words ---- */

static void make_words(struct splitter *splitter, LLVMValueRef insn);
static LLVMValueRef *words_of_constant(struct splitter *splitter, LLVMValueRef value, uint32_t bits);

/* True: the constant is a vector that is seen as an integer. LLVM folds that for no integer above 64 bits. */
static bool is_vector_cast(LLVMValueRef value)
{
    return LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(value, 0))) == LLVMVectorTypeKind;
}

/* The bits of an element of a constant vector: zeros where it has no value. */
static uint64_t element_bits(const struct splitter *splitter, LLVMValueRef vector, unsigned i, uint32_t width)
{
    LLVMValueRef element = LLVMGetAggregateElement(vector, i);

    if (LLVMIsUndef(element)) {
        return 0;
    }
    element = LLVMConstBitCast(element, integer_of(splitter, width));
    if (!LLVMIsAConstantInt(element)) {
        compilation_fail_value(splitter->access.compilation, "compile a value: there is no code for", vector);
    }
    return LLVMConstIntGetZExtValue(element);
}

static void words_of_vector(struct splitter *splitter, LLVMValueRef vector, uint32_t bits, LLVMValueRef *words)
{
    unsigned elements = LLVMGetVectorSize(LLVMTypeOf(vector));
    uint32_t width = bits / elements;
    uint32_t *values = arena_new(&splitter->access.compilation->arena, uint32_t, count_words(bits));

    if (width > MOST_BITS || (width & (width - 1)) != 0) {
        compilation_fail_value(splitter->access.compilation, "compile a value: there is no code for", vector);
    }
    for (unsigned i = 0; i < elements; i++) {
        uint64_t value = element_bits(splitter, vector, i, width);
        values[i * width / WORD_BITS] |= (uint32_t)value << i * width % WORD_BITS;
        if (width > WORD_BITS) {
            values[i * width / WORD_BITS + 1] = (uint32_t)(value >> WORD_BITS);
        }
    }
    for (uint32_t i = 0; i < count_words(bits); i++) {
        words[i] = number(splitter, values[i]);
    }
}

/* Finds the words of a constant vector of wide integers. */
static void words_of_elements(struct splitter *splitter, LLVMValueRef vector, LLVMValueRef *words)
{
    uint32_t bits = width_of_element(LLVMTypeOf(vector)), count = count_words(bits);

    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++) {
        copy_words(words + i * count, words_of_constant(splitter, LLVMGetAggregateElement(vector, i), bits), count);
    }
}

static LLVMValueRef *words_of_constant(struct splitter *splitter, LLVMValueRef value, uint32_t bits)
{
    LLVMValueRef *words = new_words(splitter, bits);
    bool defined = !!LLVMIsAConstantInt(value);

    if (is_vector(LLVMTypeOf(value)) && !LLVMIsAConstantExpr(value)) {
        words_of_elements(splitter, value, words);
        return words;
    }
    if (is_vector_cast(value)) {
        words_of_vector(splitter, LLVMGetOperand(value, 0), bits, words);
        return words;
    }
    if (!defined && !LLVMIsUndef(value)) {
        compilation_fail_value(splitter->access.compilation, "compile a value: there is no code for", value);
    }
    for (uint32_t i = 0; i < count_words(bits); i++) {
        LLVMValueRef shift = LLVMConstInt(LLVMTypeOf(value), i * WORD_BITS, false);
        words[i] = defined ? LLVMBuildTrunc(splitter->builder, LLVMBuildLShr(splitter->builder, value, shift, ""),
                                            splitter->word, "")
                           : number(splitter, 0);
    }
    return words;
}

/* The words of a wide operand. The builder stays where it is. */
static LLVMValueRef *words_of(struct splitter *splitter, LLVMValueRef value)
{
    uint32_t bits = width_of(LLVMTypeOf(value));

    if (LLVMIsConstant(value)) {
        return words_of_constant(splitter, value, bits);
    }
    if (splitter->count == 0 || !find(splitter, value)->value) {
        LLVMBasicBlockRef block = LLVMGetInsertBlock(splitter->builder);
        struct part_access access = splitter->access;
        make_words(splitter, value);
        splitter->access = access;
        LLVMPositionBuilder(splitter->builder, block, access.insn);
    }
    return find(splitter, value)->words;
}

/* Makes zeros of what is above the width. */
static void mask_last(const struct splitter *splitter, LLVMValueRef *words, uint32_t bits)
{
    uint32_t last = count_words(bits) - 1;

    if (bits % WORD_BITS != 0) {
        words[last] = LLVMBuildAnd(splitter->builder, words[last], number(splitter, (1u << bits % WORD_BITS) - 1), "");
    }
}

/* Makes the last word's sign of the width's: for what is signed. */
static LLVMValueRef signed_last(const struct splitter *splitter, LLVMValueRef *words, uint32_t bits)
{
    LLVMValueRef last = words[count_words(bits) - 1];

    if (bits % WORD_BITS != 0) {
        LLVMValueRef above = number(splitter, WORD_BITS - bits % WORD_BITS);
        last = LLVMBuildAShr(splitter->builder, LLVMBuildShl(splitter->builder, last, above, ""), above, "");
    }
    return last;
}

/* One integer of at most 64 bits, from two words. */
static LLVMValueRef join(const struct splitter *splitter, LLVMValueRef low, LLVMValueRef high, LLVMTypeRef type)
{
    LLVMTypeRef both = integer_of(splitter, MOST_BITS);
    LLVMValueRef above = LLVMBuildShl(splitter->builder, LLVMBuildZExt(splitter->builder, high, both, ""),
                                      LLVMConstInt(both, WORD_BITS, false), "");
    LLVMValueRef joined = LLVMBuildOr(splitter->builder, LLVMBuildZExt(splitter->builder, low, both, ""), above, "");

    return LLVMBuildTrunc(splitter->builder, joined, type, ""); /* the value itself when it is as wide */
}

static LLVMValueRef narrowed(const struct splitter *splitter, LLVMValueRef *words, LLVMTypeRef type)
{
    return width_of(type) <= WORD_BITS ? LLVMBuildTrunc(splitter->builder, words[0], type, "")
                                       : join(splitter, words[0], words[1], type);
}

/* The two words of an integer of at most 64 bits. */
static void part(const struct splitter *splitter, LLVMValueRef value, bool is_signed, LLVMValueRef words[2])
{
    LLVMTypeRef both = integer_of(splitter, MOST_BITS);
    LLVMValueRef all = is_signed ? LLVMBuildSExt(splitter->builder, value, both, "")
                                 : LLVMBuildZExt(splitter->builder, value, both, "");

    words[0] = LLVMBuildTrunc(splitter->builder, all, splitter->word, "");
    all = LLVMBuildLShr(splitter->builder, all, LLVMConstInt(both, WORD_BITS, false), "");
    words[1] = LLVMBuildTrunc(splitter->builder, all, splitter->word, "");
}

/* ---- memory ---- */

static uint32_t bytes_at(uint32_t bytes, uint32_t at)
{
    return PPU_MIN(bytes - at, WORD_BITS / 8);
}

static LLVMValueRef load_word(const struct splitter *splitter, uint32_t at, uint32_t bytes)
{
    LLVMValueRef word = NULL;

    for (uint32_t done = 0, step; done < bytes; done += step) {
        step = bytes - done == 3 ? 2 : bytes - done;
        LLVMValueRef piece = part_access_load(&splitter->access, integer_of(splitter, 8 * step), at + done);
        piece = LLVMBuildZExt(splitter->builder, piece, splitter->word, "");
        piece = done ? LLVMBuildShl(splitter->builder, piece, number(splitter, 8 * done), "") : piece;
        word = word ? LLVMBuildOr(splitter->builder, word, piece, "") : piece;
    }
    return word;
}

static void store_word(const struct splitter *splitter, LLVMValueRef word, uint32_t at, uint32_t bytes)
{
    for (uint32_t done = 0, step; done < bytes; done += step) {
        step = bytes - done == 3 ? 2 : bytes - done;
        LLVMValueRef piece = done ? LLVMBuildLShr(splitter->builder, word, number(splitter, 8 * done), "") : word;
        piece = LLVMBuildTrunc(splitter->builder, piece, integer_of(splitter, 8 * step), "");
        part_access_store(&splitter->access, piece, at + done);
    }
}

static void load_words(const struct splitter *splitter, uint32_t bits, LLVMValueRef *words)
{
    uint32_t bytes = (bits + 7) / 8;

    for (uint32_t at = 0; at < bytes; at += WORD_BITS / 8) {
        words[at / (WORD_BITS / 8)] = load_word(splitter, at, bytes_at(bytes, at));
    }
}

static void store_words(const struct splitter *splitter, uint32_t bits, LLVMValueRef *words)
{
    uint32_t bytes = (bits + 7) / 8;

    for (uint32_t at = 0; at < bytes; at += WORD_BITS / 8) {
        store_word(splitter, words[at / (WORD_BITS / 8)], at, bytes_at(bytes, at));
    }
}

/* ---- operations ---- */

/* The word that lies `bits` below word `i`, with what `outside` says beyond the ends. */
static LLVMValueRef word_at(LLVMValueRef *words, uint32_t count, int64_t i, LLVMValueRef outside)
{
    return i >= 0 && i < count ? words[i] : outside;
}

/* All words, moved up (`left`) or down by a constant; `fill` comes from above. */
static void shift_by(const struct splitter *splitter, LLVMValueRef *words, uint32_t count, bool left, uint32_t amount,
                     LLVMValueRef fill, LLVMValueRef *out)
{
    int64_t whole = amount / WORD_BITS;
    uint32_t rest = amount % WORD_BITS;

    for (uint32_t i = 0; i < count; i++) {
        int64_t from = left ? i - whole : i + whole;
        LLVMValueRef near = word_at(words, count, from, fill);
        LLVMValueRef next = word_at(words, count, left ? from - 1 : from + 1, fill);
        if (rest == 0) {
            out[i] = near;
            continue;
        }
        LLVMValueRef low = left ? next : near, high = left ? near : next;
        uint32_t down = left ? WORD_BITS - rest : rest;
        out[i] = LLVMBuildOr(splitter->builder, LLVMBuildLShr(splitter->builder, low, number(splitter, down), ""),
                             LLVMBuildShl(splitter->builder, high, number(splitter, WORD_BITS - down), ""), "");
    }
}

/* By an amount that only the program knows: by each power of two that is in it. */
static void shift(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);
    LLVMValueRef *from = words_of(splitter, LLVMGetOperand(insn, 0)), by = LLVMGetOperand(insn, 1);
    LLVMValueRef fill = number(splitter, 0), amount = words_of(splitter, by)[0];
    uint32_t count = count_words(bits);

    copy_words(words, from, count);
    if (opcode == LLVMAShr) {
        words[count - 1] = signed_last(splitter, words, bits);
        fill = LLVMBuildAShr(splitter->builder, words[count - 1], number(splitter, WORD_BITS - 1), "");
    }
    LLVMValueRef *moved = new_words(splitter, bits);
    for (uint32_t step = 1; step < bits; step *= 2) {
        LLVMValueRef bit = LLVMBuildAnd(splitter->builder, amount, number(splitter, step), "");
        LLVMValueRef is_set = LLVMBuildICmp(splitter->builder, LLVMIntNE, bit, number(splitter, 0), "");
        shift_by(splitter, words, count, opcode == LLVMShl, step, fill, moved);
        for (uint32_t i = 0; i < count; i++) {
            words[i] = LLVMBuildSelect(splitter->builder, is_set, moved[i], words[i], "");
        }
    }
}

/* The sum, or with `negative` the difference: that of the other's complement and 1. */
static void sum(const struct splitter *splitter, LLVMValueRef *a, LLVMValueRef *b, bool negative, uint32_t count,
                LLVMValueRef *words)
{
    LLVMTypeRef both = integer_of(splitter, MOST_BITS);
    LLVMValueRef carry = LLVMConstInt(both, negative, false);

    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef other = negative ? LLVMBuildNot(splitter->builder, b[i], "") : b[i];
        LLVMValueRef all = LLVMBuildAdd(splitter->builder, LLVMBuildZExt(splitter->builder, a[i], both, ""),
                                        LLVMBuildZExt(splitter->builder, other, both, ""), "");
        all = LLVMBuildAdd(splitter->builder, all, carry, "");
        words[i] = LLVMBuildTrunc(splitter->builder, all, splitter->word, "");
        carry = LLVMBuildLShr(splitter->builder, all, LLVMConstInt(both, WORD_BITS, false), "");
    }
}

/* Word by word as on paper: no sum of a product, a word and a carry has more than 64 bits. */
static void product(const struct splitter *splitter, LLVMValueRef *a, LLVMValueRef *b, uint32_t count,
                    LLVMValueRef *words)
{
    LLVMTypeRef both = integer_of(splitter, MOST_BITS);

    for (uint32_t i = 0; i < count; i++) {
        words[i] = number(splitter, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef carry = LLVMConstNull(both);
        for (uint32_t j = 0; i + j < count; j++) {
            LLVMValueRef all = LLVMBuildMul(splitter->builder, LLVMBuildZExt(splitter->builder, a[i], both, ""),
                                            LLVMBuildZExt(splitter->builder, b[j], both, ""), "");
            all = LLVMBuildAdd(splitter->builder, all, LLVMBuildZExt(splitter->builder, words[i + j], both, ""), "");
            all = LLVMBuildAdd(splitter->builder, all, carry, "");
            words[i + j] = LLVMBuildTrunc(splitter->builder, all, splitter->word, "");
            carry = LLVMBuildLShr(splitter->builder, all, LLVMConstInt(both, WORD_BITS, false), "");
        }
    }
}

static void compute(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);
    LLVMValueRef *a = words_of(splitter, LLVMGetOperand(insn, 0)), *b = words_of(splitter, LLVMGetOperand(insn, 1));
    uint32_t count = count_words(bits);

    if (opcode == LLVMAdd || opcode == LLVMSub) {
        sum(splitter, a, b, opcode == LLVMSub, count, words);
    } else if (opcode == LLVMMul) {
        product(splitter, a, b, count, words);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            words[i] = LLVMBuildBinOp(splitter->builder, opcode, a[i], b[i], "");
        }
    }
}

static void extend(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMValueRef from = LLVMGetOperand(insn, 0), two[2], *all = two, fill = number(splitter, 0);
    uint32_t narrow = width_of(LLVMTypeOf(from)), count = 2;
    bool is_signed = LLVMGetInstructionOpcode(insn) == LLVMSExt;

    if (narrow > MOST_BITS) {
        all = words_of(splitter, from);
        count = count_words(narrow);
    } else {
        part(splitter, from, is_signed, two);
    }
    copy_words(words, all, count);
    if (is_signed) {
        words[count - 1] = narrow > MOST_BITS ? signed_last(splitter, words, narrow) : words[count - 1];
        fill = LLVMBuildAShr(splitter->builder, words[count - 1], number(splitter, WORD_BITS - 1), "");
    }
    for (uint32_t i = count; i < count_words(bits); i++) {
        words[i] = fill;
    }
}

/* The integer's words are the elements of this vector; NULL: it is no whole number of them. */
static LLVMTypeRef vector_of_words(const struct splitter *splitter, uint32_t bits)
{
    return bits % WORD_BITS == 0 ? LLVMVectorType(splitter->word, count_words(bits)) : NULL;
}

static bool cast_to_words(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMTypeRef type = vector_of_words(splitter, bits);

    if (is_wide(LLVMTypeOf(LLVMGetOperand(insn, 0)))) {
        copy_words(words, words_of(splitter, LLVMGetOperand(insn, 0)), count_words(bits));
        return true;
    }
    if (type) {
        LLVMValueRef vector = LLVMBuildBitCast(splitter->builder, LLVMGetOperand(insn, 0), type, "");
        for (uint32_t i = 0; i < count_words(bits); i++) {
            words[i] = LLVMBuildExtractElement(splitter->builder, vector, number(splitter, i), "");
        }
    }
    return !!type;
}

/* ---- elements of vectors ---- */

/* True where the index says that it is the element's. A constant one makes a constant. */
static LLVMValueRef is_index(const struct splitter *splitter, LLVMValueRef index, uint32_t element)
{
    LLVMValueRef own = LLVMConstInt(LLVMTypeOf(index), element, false);

    return LLVMBuildICmp(splitter->builder, LLVMIntEQ, index, own, "");
}

static void extract_words(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMValueRef vector = LLVMGetOperand(insn, 0), index = LLVMGetOperand(insn, 1), *from = words_of(splitter, vector);
    uint32_t count = count_words(bits);

    copy_words(words, from, count);
    for (uint32_t e = 1; e < LLVMGetVectorSize(LLVMTypeOf(vector)); e++) {
        LLVMValueRef is_own = is_index(splitter, index, e);
        for (uint32_t i = 0; i < count; i++) {
            words[i] = LLVMBuildSelect(splitter->builder, is_own, from[e * count + i], words[i], "");
        }
    }
}

static void insert_words(struct splitter *splitter, LLVMValueRef insn, LLVMValueRef *words)
{
    LLVMValueRef element = LLVMGetOperand(insn, 1), index = LLVMGetOperand(insn, 2);
    LLVMValueRef *old = words_of(splitter, LLVMGetOperand(insn, 0)), *new = words_of(splitter, element);
    uint32_t count = count_words(width_of(LLVMTypeOf(element)));

    for (uint32_t e = 0; e < LLVMGetVectorSize(LLVMTypeOf(insn)); e++) {
        LLVMValueRef is_own = is_index(splitter, index, e);
        for (uint32_t i = 0; i < count; i++) {
            words[e * count + i] = LLVMBuildSelect(splitter->builder, is_own, new[i], old[e * count + i], "");
        }
    }
}

static void shuffle_words(struct splitter *splitter, LLVMValueRef insn, LLVMValueRef *words)
{
    LLVMValueRef *sides[2] = { words_of(splitter, LLVMGetOperand(insn, 0)),
                               words_of(splitter, LLVMGetOperand(insn, 1)) };
    uint32_t elements = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(insn, 0)));
    uint32_t count = count_words(width_of_element(LLVMTypeOf(insn)));

    for (unsigned e = 0; e < LLVMGetNumMaskElements(insn); e++) {
        int chosen = LLVMGetMaskValue(insn, e); /* negative: none */
        uint32_t from = chosen < 0 ? 0 : (uint32_t)chosen;
        LLVMValueRef *side = from < elements ? sides[0] + from * count : sides[1] + (from - elements) * count;
        copy_words(words + e * count, side, count);
    }
}

/* ---- choices ---- */

static bool is_signed_predicate(LLVMIntPredicate predicate)
{
    return predicate == LLVMIntSGT || predicate == LLVMIntSGE || predicate == LLVMIntSLT || predicate == LLVMIntSLE;
}

static LLVMValueRef equal(const struct splitter *splitter, LLVMValueRef *a, LLVMValueRef *b, uint32_t count,
                          LLVMIntPredicate predicate)
{
    LLVMValueRef differ = number(splitter, 0);

    for (uint32_t i = 0; i < count; i++) {
        differ = LLVMBuildOr(splitter->builder, differ, LLVMBuildXor(splitter->builder, a[i], b[i], ""), "");
    }
    return LLVMBuildICmp(splitter->builder, predicate, differ, number(splitter, 0), "");
}

/* The highest words that differ decide. Words below the last have no sign. */
static LLVMValueRef ordered(const struct splitter *splitter, LLVMValueRef *a, LLVMValueRef *b, uint32_t count,
                            LLVMIntPredicate predicate)
{
    static const LLVMIntPredicate unsigned_ones[] = {
        [LLVMIntSGT] = LLVMIntUGT, [LLVMIntSGE] = LLVMIntUGE, [LLVMIntSLT] = LLVMIntULT, [LLVMIntSLE] = LLVMIntULE
    };
    LLVMIntPredicate below = is_signed_predicate(predicate) ? unsigned_ones[predicate] : predicate;
    LLVMValueRef result = LLVMBuildICmp(splitter->builder, below, a[0], b[0], "");

    for (uint32_t i = 1; i < count; i++) {
        LLVMValueRef same = LLVMBuildICmp(splitter->builder, LLVMIntEQ, a[i], b[i], "");
        LLVMValueRef here = LLVMBuildICmp(splitter->builder, i == count - 1 ? predicate : below, a[i], b[i], "");
        result = LLVMBuildSelect(splitter->builder, same, result, here, "");
    }
    return result;
}

static LLVMValueRef compare(struct splitter *splitter, LLVMValueRef a, LLVMValueRef b, LLVMIntPredicate predicate)
{
    const LLVMValueRef given[2] = { a, b };
    uint32_t bits = width_of(LLVMTypeOf(a)), count = count_words(bits);
    LLVMValueRef *sides[2];

    for (uint32_t side = 0; side < 2; side++) {
        sides[side] = new_words(splitter, bits);
        copy_words(sides[side], words_of(splitter, given[side]), count);
        if (is_signed_predicate(predicate)) {
            sides[side][count - 1] = signed_last(splitter, sides[side], bits);
        }
    }
    return predicate == LLVMIntEQ || predicate == LLVMIntNE ? equal(splitter, sides[0], sides[1], count, predicate)
                                                            : ordered(splitter, sides[0], sides[1], count, predicate);
}

static void select_words(struct splitter *splitter, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no,
                         LLVMValueRef *words)
{
    LLVMValueRef *a = words_of(splitter, yes), *b = words_of(splitter, no);

    for (uint32_t i = 0; i < count_words(width_of(LLVMTypeOf(yes))); i++) {
        words[i] = LLVMBuildSelect(splitter->builder, condition, a[i], b[i], "");
    }
}

/* The smaller or the larger of two. */
static void choose_words(struct splitter *splitter, LLVMValueRef call, LLVMIntPredicate predicate, LLVMValueRef *words)
{
    LLVMValueRef a = LLVMGetOperand(call, 0), b = LLVMGetOperand(call, 1);

    select_words(splitter, compare(splitter, a, b, predicate), a, b, words);
}

/* Two integers beside each other, moved by a constant: the upper or the lower one of them. */
static bool shift_beside(struct splitter *splitter, LLVMValueRef call, bool left, uint32_t bits, LLVMValueRef *words)
{
    LLVMValueRef amount = words_of(splitter, LLVMGetOperand(call, 2))[0];
    LLVMValueRef *high = words_of(splitter, LLVMGetOperand(call, 0)),
                 *low = words_of(splitter, LLVMGetOperand(call, 1));
    LLVMValueRef *up = new_words(splitter, bits), *down = new_words(splitter, bits);

    if (!LLVMIsAConstantInt(amount)) {
        return false;
    }
    uint32_t by = (uint32_t)LLVMConstIntGetZExtValue(amount) % bits, rest = bits - by;
    shift_by(splitter, high, count_words(bits), true, left ? by : rest, number(splitter, 0), up);
    shift_by(splitter, low, count_words(bits), false, left ? rest : by, number(splitter, 0), down);
    for (uint32_t i = 0; i < count_words(bits); i++) {
        words[i] = LLVMBuildOr(splitter->builder, up[i], down[i], "");
    }
    return true;
}

static bool call_intrinsic(struct splitter *splitter, LLVMValueRef call, uint32_t bits, LLVMValueRef *words)
{
    static const struct choice {
        const char *name;
        LLVMIntPredicate predicate;
    } choices[] = {
        { "llvm.umin.", LLVMIntULT },
        { "llvm.umax.", LLVMIntUGT },
        { "llvm.smin.", LLVMIntSLT },
        { "llvm.smax.", LLVMIntSGT },
    };
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &len);

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(choices); i++) {
        if (strncmp(name, choices[i].name, strlen(choices[i].name)) == 0) {
            choose_words(splitter, call, choices[i].predicate, words);
            return true;
        }
    }
    bool left = strncmp(name, "llvm.fshl.", strlen("llvm.fshl.")) == 0;
    return (left || strncmp(name, "llvm.fshr.", strlen("llvm.fshr.")) == 0) &&
           shift_beside(splitter, call, left, bits, words);
}

static void freeze_words(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    LLVMValueRef *from = words_of(splitter, LLVMGetOperand(insn, 0));

    for (uint32_t i = 0; i < count_words(bits); i++) {
        words[i] = LLVMBuildFreeze(splitter->builder, from[i], "");
    }
}

/* ---- instructions that make such an integer ---- */

/* Their operands are given when all blocks are done. */
static void begin_phi(struct splitter *splitter, uint32_t bits, LLVMValueRef *words)
{
    for (uint32_t i = 0; i < count_words(bits); i++) {
        words[i] = LLVMBuildPhi(splitter->builder, splitter->word, "");
    }
}

static bool make(struct splitter *splitter, LLVMValueRef insn, uint32_t bits, LLVMValueRef *words)
{
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMLoad:
        if (!part_access_begin(&splitter->access, insn)) {
            return false;
        }
        load_words(splitter, bits, words);
        return true;
    case LLVMTrunc:
        copy_words(words, words_of(splitter, LLVMGetOperand(insn, 0)), count_words(bits));
        return true;
    case LLVMZExt:
    case LLVMSExt:
        extend(splitter, insn, bits, words);
        return true;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
        compute(splitter, insn, bits, words);
        return true;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        shift(splitter, insn, bits, words);
        return true;
    case LLVMSelect:
        select_words(splitter, LLVMGetOperand(insn, 0), LLVMGetOperand(insn, 1), LLVMGetOperand(insn, 2), words);
        return true;
    case LLVMCall:
        return !is_vector(LLVMTypeOf(insn)) && call_intrinsic(splitter, insn, bits, words);
    case LLVMFreeze:
        freeze_words(splitter, insn, bits, words);
        return true;
    case LLVMBitCast:
        return cast_to_words(splitter, insn, bits, words);
    case LLVMExtractElement:
        extract_words(splitter, insn, bits, words);
        return true;
    case LLVMInsertElement:
        insert_words(splitter, insn, words);
        return true;
    case LLVMShuffleVector:
        shuffle_words(splitter, insn, words);
        return true;
    default:
        return false;
    }
}

static void make_words(struct splitter *splitter, LLVMValueRef insn)
{
    uint32_t bits = width_of(LLVMTypeOf(insn));
    LLVMValueRef *words = new_words(splitter, bits);

    LLVMPositionBuilderBefore(splitter->builder, insn);
    splitter->access.insn = insn;
    if (LLVMIsAPHINode(insn)) {
        begin_phi(splitter, bits, words);
    } else if (LLVMIsAInstruction(insn) && make(splitter, insn, bits, words)) {
        mask_last(splitter, words, bits);
    } else {
        compilation_fail_value(splitter->access.compilation, "compile a value: there is no code for", insn);
    }
    add_wide(splitter, insn, words);
}

static void finish_phi(struct splitter *splitter, const struct wide_value *phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi->value); i++) {
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi->value, i);
        splitter->access.insn = LLVMGetBasicBlockTerminator(block);
        LLVMPositionBuilderBefore(splitter->builder, splitter->access.insn);
        LLVMValueRef *words = words_of(splitter, LLVMGetIncomingValue(phi->value, i));
        for (uint32_t w = 0; w < count_words(width_of(LLVMTypeOf(phi->value))); w++) {
            LLVMAddIncoming(phi->words[w], &words[w], &block, 1);
        }
    }
}

/* ---- instructions that use one ---- */

/* NULL: there is no code for this cast. */
static LLVMValueRef cast_from_words(struct splitter *splitter, LLVMValueRef insn)
{
    uint32_t bits = width_of(LLVMTypeOf(LLVMGetOperand(insn, 0)));
    LLVMTypeRef type = vector_of_words(splitter, bits);

    if (!type) {
        return NULL;
    }
    LLVMValueRef *words = words_of(splitter, LLVMGetOperand(insn, 0)), vector = LLVMGetPoison(type);
    for (uint32_t i = 0; i < count_words(bits); i++) {
        vector = LLVMBuildInsertElement(splitter->builder, vector, words[i], number(splitter, i), "");
    }
    return LLVMBuildBitCast(splitter->builder, vector, LLVMTypeOf(insn), "");
}

static void use_words(struct splitter *splitter, LLVMValueRef insn)
{
    LLVMValueRef first = LLVMGetOperand(insn, 0), made = NULL;

    LLVMPositionBuilderBefore(splitter->builder, insn);
    splitter->access.insn = insn;
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMStore:
        if (part_access_begin(&splitter->access, insn)) {
            store_words(splitter, width_of(LLVMTypeOf(first)), words_of(splitter, first));
            LLVMInstructionEraseFromParent(insn);
            return;
        }
        break;
    case LLVMTrunc:
        made = narrowed(splitter, words_of(splitter, first), LLVMTypeOf(insn));
        break;
    case LLVMICmp:
        made = compare(splitter, first, LLVMGetOperand(insn, 1), LLVMGetICmpPredicate(insn));
        break;
    case LLVMBitCast:
        made = cast_from_words(splitter, insn);
        break;
    default:
        break;
    }
    if (!made) {
        compilation_fail_value(splitter->access.compilation, "compile a value: there is no code for", insn);
    }
    LLVMReplaceAllUsesWith(insn, made);
    LLVMInstructionEraseFromParent(insn);
}

static bool uses_wide(LLVMValueRef insn)
{
    for (int i = 0; i < LLVMGetNumOperands(insn); i++) {
        if (is_wide(LLVMTypeOf(LLVMGetOperand(insn, (unsigned)i)))) {
            return true;
        }
    }
    return false;
}

/* ---- vectors ---- */

/* True: the call is of an intrinsic whose operands all have the type of its result. */
static bool is_uniform_call(LLVMValueRef insn)
{
    if (!ir_is_instruction(insn, LLVMCall) || LLVMGetIntrinsicID(LLVMGetCalledValue(insn)) == 0 ||
        LLVMGetNumArgOperands(insn) == 0 || LLVMGetNumArgOperands(insn) > MOST_ARGUMENTS) {
        return false;
    }
    for (unsigned i = 0; i < LLVMGetNumArgOperands(insn); i++) {
        if (LLVMTypeOf(LLVMGetOperand(insn, i)) != LLVMTypeOf(insn)) {
            return false;
        }
    }
    return true;
}

/* True: the instruction does the same with each element of its operands, and some have wide ones. */
static bool is_elementwise(LLVMValueRef insn)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);

    return is_vector(LLVMTypeOf(insn)) && (is_wide(LLVMTypeOf(insn)) || uses_wide(insn)) &&
           (LLVMIsABinaryOperator(insn) || opcode == LLVMTrunc || opcode == LLVMZExt || opcode == LLVMSExt ||
            opcode == LLVMICmp || opcode == LLVMSelect || is_uniform_call(insn));
}

static LLVMValueRef operand_of_element(const struct splitter *splitter, LLVMValueRef insn, uint32_t operand, uint32_t e)
{
    LLVMValueRef all = LLVMGetOperand(insn, operand);

    return is_vector(LLVMTypeOf(all)) ? LLVMBuildExtractElement(splitter->builder, all, number(splitter, e), "") : all;
}

static LLVMValueRef call_element(const struct splitter *splitter, LLVMValueRef call, uint32_t e)
{
    LLVMValueRef arguments[MOST_ARGUMENTS], vector = LLVMGetCalledValue(call);
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(call));
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMValueRef one =
        LLVMGetIntrinsicDeclaration(splitter->access.compilation->module, LLVMGetIntrinsicID(vector), &type, 1);

    for (unsigned i = 0; i < count; i++) {
        arguments[i] = operand_of_element(splitter, call, i, e);
    }
    return LLVMBuildCall2(splitter->builder, LLVMGlobalGetValueType(one), one, arguments, count, "");
}

static LLVMValueRef compute_element(const struct splitter *splitter, LLVMValueRef insn, uint32_t e)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);

    if (opcode == LLVMCall) {
        return call_element(splitter, insn, e);
    }
    LLVMValueRef first = operand_of_element(splitter, insn, 0, e);
    if (LLVMIsACastInst(insn)) {
        return LLVMBuildCast(splitter->builder, opcode, first, LLVMGetElementType(LLVMTypeOf(insn)), "");
    }
    LLVMValueRef second = operand_of_element(splitter, insn, 1, e);
    if (opcode == LLVMICmp) {
        return LLVMBuildICmp(splitter->builder, LLVMGetICmpPredicate(insn), first, second, "");
    }
    return opcode == LLVMSelect
               ? LLVMBuildSelect(splitter->builder, first, second, operand_of_element(splitter, insn, 2, e), "")
               : LLVMBuildBinOp(splitter->builder, opcode, first, second, "");
}

/* Computes the elements of vectors one by one, so that later only moving is done with vectors. */
static void split_elements(const struct splitter *splitter, LLVMValueRef insn)
{
    LLVMValueRef made = LLVMGetPoison(LLVMTypeOf(insn));

    LLVMPositionBuilderBefore(splitter->builder, insn);
    for (uint32_t e = 0; e < LLVMGetVectorSize(LLVMTypeOf(insn)); e++) {
        LLVMValueRef element = compute_element(splitter, insn, e);
        made = LLVMBuildInsertElement(splitter->builder, made, element, number(splitter, e), "");
    }
    LLVMReplaceAllUsesWith(insn, made);
    LLVMInstructionEraseFromParent(insn);
}

/* ---- odd sizes ---- */

static bool is_odd(LLVMTypeRef type)
{
    uint32_t bits = width_of(type), bytes = (bits + 7) / 8;

    return bits != 0 && bits <= MOST_BITS && (bytes & (bytes - 1)) != 0;
}

static void split_odd(struct splitter *splitter, LLVMValueRef insn)
{
    LLVMValueRef words[2] = { number(splitter, 0), number(splitter, 0) };

    if (!part_access_begin(&splitter->access, insn) || !is_odd(part_access_type(&splitter->access))) {
        return;
    }
    uint32_t bits = PPU_MIN(width_of(part_access_type(&splitter->access)), MOST_BITS); /* two words at most */
    if (ir_is_instruction(insn, LLVMLoad)) {
        load_words(splitter, bits, words);
        LLVMReplaceAllUsesWith(insn, narrowed(splitter, words, LLVMTypeOf(insn)));
    } else {
        part(splitter, LLVMGetOperand(insn, 0), false, words);
        store_words(splitter, bits, words);
    }
    LLVMInstructionEraseFromParent(insn);
}

/* ---- the pass ---- */

static void split_vector(struct splitter *splitter, LLVMValueRef insn)
{
    if (is_elementwise(insn)) {
        split_elements(splitter, insn);
    }
}

static void split(struct splitter *splitter, LLVMValueRef insn)
{
    if (is_wide(LLVMTypeOf(insn))) {
        if (splitter->count == 0 || !find(splitter, insn)->value) {
            make_words(splitter, insn);
        }
    } else if (uses_wide(insn)) {
        use_words(splitter, insn);
    } else {
        split_odd(splitter, insn);
    }
}

static void finish(struct splitter *splitter)
{
    for (unsigned i = 0; i < splitter->cap; i++) {
        if (splitter->table[i].value && LLVMIsAPHINode(splitter->table[i].value)) {
            finish_phi(splitter, &splitter->table[i]);
        }
    }
    for (unsigned i = 0; i < splitter->cap; i++) {
        LLVMValueRef value = splitter->table[i].value;
        if (value) {
            LLVMReplaceAllUsesWith(value, LLVMGetPoison(LLVMTypeOf(value)));
            LLVMInstructionEraseFromParent(value);
        }
    }
}

static void each_instruction(struct splitter *splitter, LLVMValueRef function,
                             void (*split_one)(struct splitter *, LLVMValueRef))
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            split_one(splitter, i);
        }
    }
}

void split_integers(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    struct splitter splitter = { .access = { .compilation = compilation, .builder = builder },
                                 .builder = builder,
                                 .word = LLVMInt32TypeInContext(compilation->llvm) };

    each_instruction(&splitter, function, split_vector);
    each_instruction(&splitter, function, split);
    finish(&splitter);
    LLVMDisposeBuilder(builder);
}
