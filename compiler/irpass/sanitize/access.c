/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/access.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/lower_printf.h"
#include "compiler/irpass/sanitize/object.h"
#include "compiler/irpass/sanitize/tag.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <stdio.h>
#include <string.h>

#define MARK "ppu.program"
#define HIDDEN "ppu.hidden"
#define MOST_JOINS 8u     /* phis and selections that a pointer comes through */
#define LIBRARY "__ppu"   /* begins the names of the device library's own variables and kernels */
#define COMPILER "ppu."   /* the same, of those that lower_warps makes for it */
#define PARAMETER ".addr" /* ends the names of variables that clang makes of a function's parameters */
#define TEXT_BYTES 1024u
#define NAME_BYTES 200

/* ---- operands ---- */

static LLVMValueRef access_operand(const struct access *access, int at)
{
    return at == NO_OPERAND ? NULL : LLVMGetOperand(access->insn, (unsigned)at);
}

LLVMValueRef access_pointer(const struct access *access)
{
    return access_operand(access, access->pointer_at);
}

LLVMValueRef access_value(const struct access *access)
{
    return access_operand(access, access->value_at);
}

LLVMValueRef access_length(const struct access *access)
{
    return access_operand(access, access->length_at);
}

/* ---- whose it is ---- */

void access_hide(struct compilation *compilation, LLVMValueRef insn)
{
    tag_set(compilation, insn, HIDDEN);
}

void access_mark(struct compilation *compilation, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            tag_set(compilation, i, MARK);
        }
    }
}

bool access_is_programs(const struct compilation *compilation, LLVMValueRef insn)
{
    return tag_has(compilation, insn, MARK);
}

bool access_is_librarys(LLVMValueRef root)
{
    size_t len;

    if (!LLVMIsAGlobalVariable(root)) {
        return false;
    }
    const char *name = LLVMGetValueName2(root, &len);
    return strncmp(name, LIBRARY, strlen(LIBRARY)) == 0 || strncmp(name, COMPILER, strlen(COMPILER)) == 0;
}

bool access_is_library_kernel(LLVMValueRef function)
{
    size_t len;

    return ir_is_kernel(function) && strncmp(LLVMGetValueName2(function, &len), LIBRARY, strlen(LIBRARY)) == 0;
}

bool access_reaches_global(const struct access *access)
{
    uint32_t space = ir_pointer_space(access_pointer(access));

    return space == SPACE_GLOBAL || space == SPACE_CONSTANT || space == SPACE_GENERIC;
}

/* ---- the text ---- */

static const char *action_of(const struct access *access)
{
    switch (LLVMGetInstructionOpcode(access->insn)) {
    case LLVMLoad:
        return LLVMGetOrdering(access->insn) == LLVMAtomicOrderingNotAtomic ? "load" : "atomic load";
    case LLVMStore:
        return LLVMGetOrdering(access->insn) == LLVMAtomicOrderingNotAtomic ? "store" : "atomic store";
    case LLVMCall:
        return access->pointer_at == 0 ? "store" : "load";
    default:
        return "atomic operation";
    }
}

static const char *space_name(LLVMValueRef pointer)
{
    static const char *const names[SPACE_COUNT] = { "private", "global", "constant", "local", "generic" };
    uint32_t space = ir_pointer_space(pointer);

    return space < SPACE_COUNT ? names[space] : "";
}

uint32_t access_argument(LLVMValueRef argument)
{
    uint32_t i = 0;

    while (LLVMGetParam(LLVMGetParamParent(argument), i) != argument) {
        i++;
    }
    return i;
}

/* What clang puts before the name of a variable in a kernel is the kernel's name and a dot. */
static const char *plain_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot[1] != 0 ? dot + 1 : name;
}

static void print_object(const struct access *access, char text[NAME_BYTES])
{
    size_t len = 0;
    const char *name = access->root ? LLVMGetValueName2(access->root, &len) : "";

    if (!access->root) {
        snprintf(text, NAME_BYTES, "%s pointer", space_name(access_pointer(access)));
    } else if (LLVMIsAArgument(access->root)) {
        snprintf(text, NAME_BYTES, "argument %u", access_argument(access->root));
    } else if (LLVMIsAGlobalVariable(access->root)) {
        snprintf(text, NAME_BYTES, "%s variable '%.100s'", space_name(access->root), plain_name(name));
    } else if (*name != 0) {
        size_t shown = PPU_MIN(len, (size_t)100), end = strlen(PARAMETER);
        shown -= shown > end && strcmp(name + len - end, PARAMETER) == 0 ? end : 0;
        snprintf(text, NAME_BYTES, "private variable '%.*s'", (int)shown, name);
    } else {
        snprintf(text, NAME_BYTES, "private variable");
    }
}

uint32_t access_format(struct compilation *compilation, LLVMValueRef insn, const char *check, const char *action,
                       uint64_t bytes, const char *object)
{
    char text[TEXT_BYTES];
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(insn));
    uint32_t file_len = 0;
    size_t kernel_len;
    const char *file = LLVMGetDebugLocFilename(insn, &file_len);
    const char *kernel = LLVMGetValueName2(function, &kernel_len);
    const char s = PPU_SANITIZER_SEPARATOR;

    snprintf(text, sizeof(text), "%s%c%s%c%s%c%u%c%.*s%c%u%c%u%c%.*s%c%s", PPU_SANITIZER_MARK, s, check, s, action, s,
             (uint32_t)bytes, s, file ? (int)PPU_MIN(file_len, (uint32_t)NAME_BYTES) : 0, file ? file : "", s,
             LLVMGetDebugLocLine(insn), s, LLVMGetDebugLocColumn(insn), s, (int)PPU_MIN(kernel_len, (size_t)NAME_BYTES),
             kernel, s, object);
    return printf_format(compilation, text);
}

/* ---- finding ---- */

uint32_t access_describe(struct compilation *compilation, const struct access *access, const char *check)
{
    char object[NAME_BYTES];

    print_object(access, object);
    return access_format(compilation, access->insn, check, action_of(access), access->bytes, object);
}

static void add_access(struct compilation *compilation, struct accesses *to, struct access access, const char *check)
{
    access.root = object_root(access_pointer(&access));
    access.format = check ? access_describe(compilation, &access, check) : 0;
    to->list = arena_grow(&compilation->arena, to->list, sizeof(to->list[0]), to->count, &to->cap);
    to->list[to->count++] = access;
}

/* memcpy, memmove and memset of the program or of what inlining left. */
static void find_copies(struct compilation *compilation, LLVMValueRef insn, const char *check, struct accesses *to)
{
    const char *name = ir_callee(insn);
    const bool copies = strncmp(name, "llvm.memcpy.", 12) == 0 || strncmp(name, "llvm.memmove.", 13) == 0;

    if (!copies && strncmp(name, "llvm.memset.", 12) != 0) {
        return;
    }
    LLVMValueRef length = LLVMGetOperand(insn, 2);
    const bool constant = LLVMIsAConstantInt(length);
    struct access access = { .insn = insn,
                             .value_at = NO_OPERAND,
                             .length_at = constant ? NO_OPERAND : 2,
                             .bytes = constant ? LLVMConstIntGetZExtValue(length) : 0 };
    for (int i = 0; i < (copies ? 2 : 1); i++) {
        access.pointer_at = (int8_t)i;
        add_access(compilation, to, access, check);
    }
}

static void find_in(struct compilation *compilation, LLVMValueRef insn, const char *check, struct accesses *to)
{
    struct access access = { .insn = insn, .value_at = NO_OPERAND, .length_at = NO_OPERAND };

    if (tag_has(compilation, insn, HIDDEN)) {
        return;
    }
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMLoad:
        break;
    case LLVMStore:
        access.pointer_at = 1;
        access.value_at = 0;
        break;
    case LLVMAtomicRMW:
        access.value_at = 1;
        break;
    case LLVMAtomicCmpXchg:
        access.value_at = 2;
        break;
    case LLVMCall:
        find_copies(compilation, insn, check, to);
        return;
    default:
        return;
    }
    LLVMValueRef moved = access.value_at == NO_OPERAND ? insn : access_value(&access);
    access.bytes = LLVMStoreSizeOfType(compilation->layout, LLVMTypeOf(moved));
    add_access(compilation, to, access, check);
}

/* ---- the library's own memory ---- */

/* True when the function was given the pointer, on some way, or has the variable. */
static bool is_given(LLVMValueRef pointer, uint32_t joins)
{
    LLVMValueRef base = ir_base(pointer);
    const bool phi = ir_is_instruction(base, LLVMPHI);
    bool given = LLVMIsAArgument(base) || LLVMIsAGlobalVariable(base) || ir_is_instruction(base, LLVMAlloca);

    if (phi || ir_is_instruction(base, LLVMSelect)) {
        const uint32_t ways = phi ? LLVMCountIncoming(base) : 2;
        given = joins == MOST_JOINS;
        for (uint32_t i = 0; i < ways && !given; i++) {
            given = is_given(phi ? LLVMGetIncomingValue(base, i) : LLVMGetOperand(base, i + 1), joins + 1);
        }
    }
    return given;
}

static void hide_own(LLVMValueRef insn, void *opaque)
{
    struct compilation *compilation = opaque;
    struct accesses found = { .list = NULL };

    find_in(compilation, insn, NULL, &found);
    if (found.count != 0 && !is_given(access_pointer(&found.list[0]), 0)) {
        access_hide(compilation, insn);
    }
}

void access_hide_own(struct compilation *compilation, LLVMValueRef function)
{
    ir_each_instruction(function, hide_own, compilation);
}

void access_find(struct compilation *compilation, LLVMValueRef function, const char *check, struct accesses *to)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            find_in(compilation, i, check, to);
        }
    }
}
