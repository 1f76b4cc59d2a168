/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/uninit.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/bounds.h"
#include "compiler/irpass/sanitize/elements.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "compiler/irpass/sanitize/object.h"
#include "compiler/irpass/sanitize/tag.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#define MARKS "__ppu_sanitizer_marks"
#define MARKS_VARIABLE "__ppu_marks" /* begins the names of variables */
#define KEPT "ppu.kept"
#define LIFE_BEGINS "llvm.lifetime.start."
#define LOCAL_BYTES_MOST 32768u   /* of variables in local memory with their marks: what every device has */
#define PRIVATE_BYTES_MOST 16384u /* of a function's variables that get marks */

/* A variable whose bytes have marks: an array beside it, of as many bytes. */
struct marked {
    LLVMValueRef variable, marks;
};

struct marked_list {
    struct marked *list;
    uint32_t count;
    unsigned cap;
};

struct checker {
    struct emitter emitter;
    LLVMValueRef function;
    struct bounds *bounds;       /* of each argument */
    struct marked_list *locals;  /* variables of the module in local memory */
    struct marked_list privates; /* of the function */
};

/* Where the marks of an access lie. */
struct spot {
    LLVMValueRef at;          /* pointer to the first; may lead anywhere where `ok` does not hold */
    LLVMValueRef ok;          /* NULL: always */
    LLVMValueRef base, bytes; /* of the object, for reports */
    bool is_private;
};

static void add_marked(struct compilation *compilation, struct marked_list *to, LLVMValueRef variable,
                       LLVMValueRef marks)
{
    to->list = arena_grow(&compilation->arena, to->list, sizeof(to->list[0]), to->count, &to->cap);
    to->list[to->count++] = (struct marked){ variable, marks };
}

static LLVMValueRef marks_of(const struct marked_list *in, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->list[i].variable == variable) {
            return in->list[i].marks;
        }
    }
    return NULL;
}

static LLVMTypeRef byte_type(const struct compilation *compilation)
{
    return LLVMInt8TypeInContext(compilation->llvm);
}

/* ---- before variables are promoted ---- */

static bool is_of_call(LLVMValueRef insn, const char *prefix)
{
    return ir_is_instruction(insn, LLVMCall) && strncmp(ir_callee(insn), prefix, strlen(prefix)) == 0;
}

static bool uses(LLVMValueRef user, LLVMValueRef value)
{
    for (int i = 0; i < LLVMGetNumOperands(user); i++) {
        if (LLVMGetOperand(user, (unsigned)i) == value) {
            return true;
        }
    }
    return false;
}

/* True when the first that happens to the variable is a store of all of it, and it begins once. */
static bool is_set_at_once(const struct compilation *compilation, LLVMValueRef variable)
{
    LLVMBasicBlockRef entry = LLVMGetInstructionParent(variable);

    for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_of_call(user, LIFE_BEGINS) && LLVMGetInstructionParent(user) != entry) {
            return false;
        }
    }
    for (LLVMValueRef i = LLVMGetNextInstruction(variable); i; i = LLVMGetNextInstruction(i)) {
        if (uses(i, variable) && !is_of_call(i, LIFE_BEGINS)) {
            return ir_is_instruction(i, LLVMStore) && LLVMGetOperand(i, 1) == variable &&
                   LLVMStoreSizeOfType(compilation->layout, LLVMTypeOf(LLVMGetOperand(i, 0))) >=
                       LLVMStoreSizeOfType(compilation->layout, LLVMGetAllocatedType(variable));
        }
    }
    return false;
}

/* What inlining makes of an argument by value is nobody's, but the program reads it. */
static bool program_reads(const struct compilation *compilation, LLVMValueRef pointer)
{
    bool reads = false;

    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use && !reads; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        reads = ir_is_instruction(user, LLVMGetElementPtr)
                    ? program_reads(compilation, user)
                    : ir_is_instruction(user, LLVMLoad) && access_is_programs(compilation, user);
    }
    return reads;
}

/* A variable that holds a pointer is promoted: else nothing would be known of the object that it leads to. */
static bool is_candidate(const struct compilation *compilation, LLVMValueRef variable)
{
    return ir_is_instruction(variable, LLVMAlloca) &&
           (access_is_programs(compilation, variable) || program_reads(compilation, variable)) &&
           LLVMGetInstructionParent(variable) ==
               LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(variable))) &&
           LLVMGetTypeKind(LLVMGetAllocatedType(variable)) != LLVMPointerTypeKind &&
           object_bytes(compilation, variable) != 0 && !is_set_at_once(compilation, variable);
}

/* What a volatile load reads keeps its place in memory. */
void uninit_keep(struct compilation *compilation, LLVMValueRef function)
{
    if ((compilation->options->sanitize & PPU_SANITIZE_UNINIT) == 0 || access_is_library_kernel(function)) {
        return;
    }
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (is_candidate(compilation, i)) {
            LLVMPositionBuilderBefore(builder, next);
            LLVMValueRef load = LLVMBuildLoad2(builder, byte_type(compilation), i, "");
            LLVMSetVolatile(load, 1);
            tag_set(compilation, load, KEPT);
            tag_set(compilation, i, KEPT);
        }
    }
    LLVMDisposeBuilder(builder);
}

static void remove_keeper(LLVMValueRef insn, void *opaque)
{
    const struct compilation *compilation = opaque;

    if (ir_is_instruction(insn, LLVMLoad) && tag_has(compilation, insn, KEPT)) {
        LLVMInstructionEraseFromParent(insn);
    }
}

/* ---- variables that get marks ---- */

static void hide(const struct checker *c, LLVMValueRef insn)
{
    access_hide(c->emitter.compilation, insn);
}

static void set_marks(const struct checker *c, LLVMValueRef at, LLVMValueRef length, uint8_t mark)
{
    LLVMValueRef value = LLVMConstInt(byte_type(c->emitter.compilation), mark, 0);

    hide(c, LLVMBuildMemSet(c->emitter.builder, at, value, length, 1));
}

static void mark_private(struct checker *c, LLVMValueRef variable, uint64_t bytes)
{
    LLVMTypeRef type = LLVMArrayType2(byte_type(c->emitter.compilation), bytes);

    emit_behind(&c->emitter, variable);
    LLVMValueRef marks = LLVMBuildAlloca(c->emitter.builder, type, MARKS_VARIABLE);
    LLVMSetAlignment(marks, LLVMGetAlignment(variable));
    set_marks(c, marks, emit_number(&c->emitter, bytes), 0);
    for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_of_call(user, LIFE_BEGINS)) { /* a new one, each time */
            emit_before(&c->emitter, user);
            set_marks(c, marks, emit_number(&c->emitter, bytes), 0);
        }
    }
    add_marked(c->emitter.compilation, &c->privates, variable, marks);
}

static void mark_privates(struct checker *c)
{
    uint64_t used = 0;

    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(c->function)), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!ir_is_instruction(i, LLVMAlloca) || !tag_has(c->emitter.compilation, i, KEPT) || object_escapes(i)) {
            continue;
        }
        const uint64_t bytes = object_bytes(c->emitter.compilation, i);
        if (bytes <= PRIVATE_BYTES_MOST - used) {
            used += bytes;
            mark_private(c, i, bytes);
        }
    }
}

/* Memory of a work-group begins as zeros, and so do its marks. */
static void mark_locals(struct compilation *compilation, struct marked_list *to)
{
    uint64_t used = 0;

    for (LLVMValueRef g = LLVMGetFirstGlobal(compilation->module), next; g; g = next) {
        next = LLVMGetNextGlobal(g);
        const uint64_t bytes = ir_pointer_space(g) == SPACE_LOCAL ? object_bytes(compilation, g) : 0;
        if (bytes == 0 || access_is_librarys(g) || object_escapes(g) || bytes > (LOCAL_BYTES_MOST - used) / 2) {
            continue;
        }
        LLVMTypeRef type = LLVMArrayType2(byte_type(compilation), bytes);
        LLVMValueRef marks = LLVMAddGlobalInAddressSpace(compilation->module, type, MARKS_VARIABLE, SPACE_LOCAL);
        LLVMSetLinkage(marks, LLVMInternalLinkage);
        LLVMSetInitializer(marks, LLVMConstNull(type));
        LLVMSetAlignment(marks, LLVMGetAlignment(g));
        used += 2 * bytes;
        add_marked(compilation, to, g, marks);
    }
}

/* ---- where the marks of an access lie ---- */

static bool is_false(LLVMValueRef ok)
{
    return LLVMIsAConstantInt(ok) && LLVMConstIntGetZExtValue(ok) == 0;
}

/* The object has marks beside it. */
static bool find_beside(struct checker *c, const struct access *access, LLVMValueRef marks, struct spot *spot)
{
    const struct emitter *e = &c->emitter;
    LLVMValueRef offset = object_offset(e->compilation, e->builder, access_pointer(access), access->root);
    LLVMValueRef bytes = emit_number(e, object_bytes(e->compilation, access->root));
    LLVMValueRef ok = bounds_hold(e, access, offset, bytes);

    if (is_false(ok)) {
        return false;
    }
    *spot = (struct spot){ .at = LLVMBuildGEP2(e->builder, byte_type(e->compilation), marks, &offset, 1, ""),
                           .ok = LLVMIsAConstantInt(ok) ? NULL : ok,
                           .base = LLVMBuildPtrToInt(e->builder, access->root, emit_i64(e), ""),
                           .bytes = bytes,
                           .is_private = ir_is_instruction(access->root, LLVMAlloca) };
    return true;
}

static LLVMValueRef pointer_at(const struct checker *c, LLVMValueRef number, uint32_t space)
{
    LLVMTypeRef type = LLVMPointerTypeInContext(c->emitter.compilation->llvm, space);

    return LLVMBuildIntToPtr(c->emitter.builder, number, type, "");
}

/* The launch says where the marks of an argument's object lie. */
static bool find_argument(struct checker *c, const struct access *access, struct spot *spot)
{
    const struct emitter *e = &c->emitter;
    const uint32_t space = ir_pointer_space(access->root);
    uint32_t number = 0;

    while (LLVMGetParam(c->function, number) != access->root) {
        number++;
    }
    const struct bounds *bounds = &c->bounds[number];
    if (!bounds->marks || (space == SPACE_LOCAL && object_escapes(access->root))) {
        return false;
    }
    LLVMValueRef offset = object_offset(e->compilation, e->builder, access_pointer(access), access->root);
    LLVMValueRef inside = bounds_hold(e, access, offset, bounds->bytes);
    LLVMValueRef has = LLVMBuildICmp(e->builder, LLVMIntNE, bounds->marks, emit_number(e, 0), "");
    LLVMValueRef at = LLVMBuildAdd(e->builder, bounds->marks, offset, "");
    *spot = (struct spot){ .at = pointer_at(c, at, space == SPACE_LOCAL ? SPACE_LOCAL : SPACE_GLOBAL),
                           .ok = LLVMBuildAnd(e->builder, inside, has, ""),
                           .base = bounds->base,
                           .bytes = bounds->bytes };
    return true;
}

/* Nothing is known of the pointer: the launch has a list of what has marks. */
static void find_listed(struct checker *c, const struct access *access, struct spot *spot)
{
    const struct emitter *e = &c->emitter;
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = {
        LLVMBuildPtrToInt(e->builder, access_pointer(access), emit_i64(e), ""), bounds_length(e, access)
    };
    LLVMValueRef at = emit_call(e, MARKS, emit_i64(e), arguments, 2);

    *spot = (struct spot){ .at = pointer_at(c, at, SPACE_GLOBAL),
                           .ok = LLVMBuildICmp(e->builder, LLVMIntNE, at, emit_number(e, 0), ""),
                           .base = emit_number(e, 0),
                           .bytes = emit_number(e, 0) };
}

/* The builder stands before the access. False: what it reaches has no marks. */
static bool find_spot(struct checker *c, const struct access *access, bool writes, struct spot *spot)
{
    if (access->bytes == 0 && !access_length(access)) {
        return false;
    }
    if (!access->root) {
        if (!access_reaches_global(access) || (!writes && !access_is_programs(c->emitter.compilation, access->insn))) {
            return false;
        }
        find_listed(c, access, spot);
        return true;
    }
    if (LLVMIsAArgument(access->root)) {
        return find_argument(c, access, spot);
    }
    const struct marked_list *in = LLVMIsAGlobalVariable(access->root) ? c->locals : &c->privates;
    LLVMValueRef marks = marks_of(in, access->root);
    return marks && find_beside(c, access, marks, spot);
}

/* ---- marks as values ---- */

/* An integer for each element, of as many bits. NULL: elements are no whole bytes. */
static LLVMTypeRef marks_type(const struct checker *c, LLVMTypeRef type)
{
    const struct compilation *compilation = c->emitter.compilation;
    const uint64_t bytes = LLVMStoreSizeOfType(compilation->layout, type);
    const uint32_t count = elements_count(type);

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
        return bytes <= 8 ? LLVMIntTypeInContext(compilation->llvm, (unsigned)bytes * 8) : NULL;
    }
    if (bytes % count != 0 || bytes / count > 8 || count > ELEMENTS_MOST) {
        return NULL;
    }
    return LLVMVectorType(LLVMIntTypeInContext(compilation->llvm, (unsigned)(bytes / count * 8)), count);
}

static LLVMValueRef load_marks(const struct checker *c, const struct access *access, const struct spot *spot,
                               LLVMTypeRef type)
{
    LLVMValueRef marks = LLVMBuildLoad2(c->emitter.builder, type, spot->at, "");

    LLVMSetAlignment(marks, LLVMGetAlignment(access->insn));
    hide(c, marks);
    return marks;
}

static void store_marks(const struct checker *c, const struct access *access, const struct spot *spot,
                        LLVMValueRef marks)
{
    LLVMValueRef store = LLVMBuildStore(c->emitter.builder, marks, spot->at);

    LLVMSetAlignment(store, LLVMGetAlignment(access->insn));
    hide(c, store);
}

/* ---- reads ---- */

static LLVMTypeRef moved_type(const struct access *access)
{
    LLVMValueRef value = access_value(access);

    return LLVMTypeOf(value ? value : access->insn);
}

/* True where one of the bytes that the read needs was not written. */
static LLVMValueRef lacks_marks(const struct checker *c, LLVMValueRef marks, uint32_t needed)
{
    LLVMBuilderRef builder = c->emitter.builder;
    const uint32_t count = elements_count(LLVMTypeOf(marks));
    LLVMValueRef all = NULL;

    if (LLVMGetTypeKind(LLVMTypeOf(marks)) != LLVMVectorTypeKind) {
        return LLVMBuildICmp(builder, LLVMIntNE, marks, LLVMConstAllOnes(LLVMTypeOf(marks)), "");
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((needed >> i & 1) != 0) {
            LLVMValueRef one = LLVMBuildExtractElement(builder, marks, emit_word(&c->emitter, i), "");
            all = all ? LLVMBuildAnd(builder, all, one, "") : one;
        }
    }
    return LLVMBuildICmp(builder, LLVMIntNE, all, LLVMConstAllOnes(LLVMTypeOf(all)), "");
}

static void locate_access(const struct checker *c, const struct access *access)
{
    LLVMSetCurrentDebugLocation2(c->emitter.builder, LLVMInstructionGetDebugLoc(access->insn));
}

/* The builder stands before the access, whose marks lie there. */
static void check_marks(struct checker *c, const struct access *access, const struct spot *spot, uint32_t needed)
{
    const struct emitter *e = &c->emitter;
    LLVMTypeRef type = marks_type(c, moved_type(access));
    LLVMValueRef end = access->insn;

    if (spot->ok) {
        end = guard_beside(e->compilation, e->builder, end, spot->ok);
        locate_access(c, access);
    }
    LLVMValueRef lacks = lacks_marks(c, load_marks(c, access, spot, type), needed);
    guard_beside(e->compilation, e->builder, end, lacks);
    locate_access(c, access);
    LLVMValueRef address = LLVMBuildPtrToInt(e->builder, access_pointer(access), emit_i64(e), "");
    emit_report(e, access_describe(e->compilation, access, "uninit"), address, spot->base, spot->bytes, NULL);
}

/* A copy from one private variable to another takes the marks along: arguments of functions, members of structures. */
static LLVMValueRef copied_to(const struct checker *c, LLVMValueRef load)
{
    LLVMUseRef use = LLVMGetFirstUse(load);
    LLVMValueRef store = use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;

    if (!store || !ir_is_instruction(load, LLVMLoad) || !ir_is_instruction(store, LLVMStore) ||
        LLVMGetOperand(store, 0) != load) {
        return NULL;
    }
    LLVMValueRef from = object_root(LLVMGetOperand(load, 0)), to = object_root(LLVMGetOperand(store, 1));
    return from && to && marks_of(&c->privates, from) && marks_of(&c->privates, to) ? store : NULL;
}

/* An exchange whose result nobody looks at is a store. */
static bool is_plain_exchange(LLVMValueRef insn)
{
    return ir_is_instruction(insn, LLVMAtomicRMW) && LLVMGetAtomicRMWBinOp(insn) == LLVMAtomicRMWBinOpXchg &&
           !LLVMGetFirstUse(insn);
}

static void check_read(struct checker *c, const struct access *access)
{
    const bool loads = ir_is_instruction(access->insn, LLVMLoad);
    const uint32_t needed = loads ? elements_needed(access->insn) : !is_plain_exchange(access->insn);
    struct spot spot;

    if (needed == 0 || !marks_type(c, moved_type(access)) || copied_to(c, access->insn)) {
        return;
    }
    emit_before(&c->emitter, access->insn);
    if (find_spot(c, access, false, &spot)) {
        check_marks(c, access, &spot, needed);
    }
}

/* ---- writes ---- */

static void mark_elements(struct checker *c, const struct access *access, const struct spot *spot, LLVMTypeRef type,
                          uint32_t written)
{
    LLVMTypeRef element = LLVMGetElementType(type);
    const uint64_t bytes = LLVMStoreSizeOfType(c->emitter.compilation->layout, element);

    for (uint32_t i = 0; i < elements_count(type); i++) {
        if ((written >> i & 1) != 0) {
            LLVMValueRef offset = emit_number(&c->emitter, i * bytes);
            struct spot one = *spot;
            one.at = LLVMBuildGEP2(c->emitter.builder, byte_type(c->emitter.compilation), spot->at, &offset, 1, "");
            LLVMValueRef store = LLVMBuildStore(c->emitter.builder, LLVMConstAllOnes(element), one.at);
            LLVMSetAlignment(store, (unsigned)PPU_MIN(bytes, (uint64_t)LLVMGetAlignment(access->insn)));
            hide(c, store);
        }
    }
}

/* The marks that a copy brings with it; NULL: what is stored was computed, and is written. */
static LLVMValueRef marks_brought(struct checker *c, const struct access *access, LLVMTypeRef type)
{
    LLVMValueRef load = access_value(access);
    struct access from = { .insn = load, .value_at = NO_OPERAND, .length_at = NO_OPERAND, .bytes = access->bytes };
    struct spot spot;

    if (!ir_is_instruction(load, LLVMLoad) || copied_to(c, load) != access->insn) {
        return NULL;
    }
    from.root = object_root(access_pointer(&from));
    emit_before(&c->emitter, load);
    LLVMValueRef marks = NULL;
    if (find_spot(c, &from, false, &spot) && !spot.ok) {
        marks = load_marks(c, &from, &spot, type);
    }
    emit_before(&c->emitter, access->insn);
    return marks;
}

static void mark_written(struct checker *c, const struct access *access)
{
    LLVMTypeRef type = marks_type(c, moved_type(access));
    struct spot spot;
    const bool stores = ir_is_instruction(access->insn, LLVMStore);
    const uint32_t all = (uint32_t)((1ull << elements_count(moved_type(access))) - 1);
    const uint32_t written = stores ? elements_written(access->insn) & all : all;

    LLVMValueRef brought = stores && type ? marks_brought(c, access, type) : NULL;
    emit_before(&c->emitter, access->insn);
    if (written == 0 || !find_spot(c, access, true, &spot)) {
        return;
    }
    if (spot.ok) {
        guard_beside(c->emitter.compilation, c->emitter.builder, access->insn, spot.ok);
        locate_access(c, access);
    }
    if (!type) {
        set_marks(c, spot.at, bounds_length(&c->emitter, access), PPU_SANITIZER_WRITTEN);
    } else if (written == all) {
        store_marks(c, access, &spot, brought ? brought : LLVMConstAllOnes(type));
    } else {
        mark_elements(c, access, &spot, type, written);
    }
}

/* ---- copies ---- */

/* Marks what memset sets, or a copy: `from` is what that reads. The marks go along, and nothing is looked at. */
static void copy_marks(struct checker *c, const struct access *to, const struct access *from)
{
    const struct emitter *e = &c->emitter;
    struct spot written, read;

    emit_before(e, to->insn);
    if (!find_spot(c, to, true, &written)) {
        return;
    }
    const bool has_read = from && find_spot(c, from, false, &read);
    LLVMValueRef end = to->insn, length = bounds_length(e, to);
    if (written.ok) {
        end = guard_beside(e->compilation, e->builder, end, written.ok);
        locate_access(c, to);
    }
    set_marks(c, written.at, length, PPU_SANITIZER_WRITTEN);
    if (has_read) {
        if (read.ok) {
            guard_beside(e->compilation, e->builder, end, read.ok);
            locate_access(c, to);
        }
        hide(c, LLVMBuildMemCpy(e->builder, written.at, 1, read.at, 1, length));
    }
}

/* ---- functions ---- */

static void check_access(struct checker *c, const struct accesses *accesses, uint32_t i)
{
    const struct access *access = &accesses->list[i];
    const bool more = i + 1 < accesses->count;

    if (ir_is_instruction(access->insn, LLVMCall)) {
        if (access->pointer_at == 0) {
            copy_marks(c, access, more && access[1].insn == access->insn ? &access[1] : NULL);
        }
        return;
    }
    if (!ir_is_instruction(access->insn, LLVMStore)) {
        check_read(c, access);
    }
    if (access->value_at != NO_OPERAND) {
        mark_written(c, access);
    }
}

static void check_function(struct compilation *compilation, LLVMValueRef function, struct marked_list *locals)
{
    struct checker c = { .emitter = { compilation, LLVMCreateBuilderInContext(compilation->llvm) },
                         .function = function,
                         .locals = locals };
    struct accesses accesses = { .count = 0 };

    ir_each_instruction(function, remove_keeper, compilation);
    mark_privates(&c);
    access_find(compilation, function, NULL, &accesses);
    c.bounds = bounds_read(&c.emitter, function);
    for (uint32_t i = 0; i < accesses.count; i++) {
        check_access(&c, &accesses, i);
    }
    LLVMDisposeBuilder(c.emitter.builder);
}

void uninit_check(struct compilation *compilation)
{
    struct marked_list locals = { .count = 0 };

    mark_locals(compilation, &locals);
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && !access_is_library_kernel(f)) {
            check_function(compilation, f, &locals);
        }
    }
}
