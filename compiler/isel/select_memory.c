/* SPDX-License-Identifier: MIT */
/* Selects addresses, loads, stores, private and shared variables. */
#include "compiler/isel/select_memory.h"

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/memcpy_call.h"
#include "compiler/base/const_data.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"

#include <inttypes.h>
#include <string.h>

#define OFFSET_MIN (-(1 << 18)) /* of the constant in a memory instruction */
#define OFFSET_MAX ((1 << 18) - 1)
#define MOST_OFFSETS 64u /* the last ones, which may be used again: a kernel may have thousands */
/* Address 0 of shared and local memory is left free: no object has the address of a null pointer. */
#define FIRST_OBJECT 16u

/* ---- objects ---- */

/* Place of a new object in memory that grows, at most `limit` bytes of it. */
static uint32_t reserve_memory(struct isel *s, uint32_t *used, LLVMTypeRef type, uint64_t count, uint32_t align,
                               uint32_t limit, LLVMValueRef value)
{
    uint64_t bytes = LLVMABISizeOfType(s->compilation->layout, type) * count;
    uint32_t at = ppu_align_up(*used != 0 ? *used : FIRST_OBJECT, PPU_MAX(align, 4));

    if (bytes > limit || at + bytes > limit) {
        compilation_fail_at(s->compilation, PPU_COMPILE_TOO_LARGE, value,
                            "'%s' has a variable of %" PRIu64 " bytes in %s memory, where %u of %u bytes are left",
                            s->ir->name, bytes, limit == PPU_MAX_LOCAL ? "private" : "local", limit - at, limit);
    }
    *used = (uint32_t)(at + bytes);
    return at;
}

static struct element shared_variable(struct isel *s, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < s->kernel->shared_count; i++) {
        if (s->kernel->shared[i].variable == variable) {
            return element_number(s->kernel->shared[i].offset);
        }
    }
    uint32_t align = LLVMGetAlignment(variable);
    uint32_t at = reserve_memory(s, &s->kernel->shared_bytes, LLVMGlobalGetValueType(variable), 1, PPU_MAX(align, 16),
                                 PPU_MAX_SHARED, variable);
    s->kernel->shared = arena_grow(&s->compilation->arena, s->kernel->shared, sizeof(s->kernel->shared[0]),
                                   s->kernel->shared_count, &s->kernel->shared_cap);
    s->kernel->shared[s->kernel->shared_count++] = (struct data_symbol){ variable, at };
    return element_number(at);
}

/* A parameter's word; `offset` need not be aligned to more than its size. */
struct element select_parameter(struct isel *s, uint32_t offset, uint32_t words)
{
    struct mir_insn insn = mir_insn(PPU_OP_LDP);

    insn.code.width = words == 2 ? PPU_WIDTH_B64 : PPU_WIDTH_B32;
    insn.code.wd = (uint8_t)words;
    insn.code.wa = insn.code.wb = 0;
    insn.code.no_base = 1;
    insn.code.imm = (int32_t)(offset & ~3u);
    insn.code.scalar = s->scalar;
    insn.d = select_new(s, words);
    select_add(s, &insn);
    return element_register(insn.d, words);
}

/* A field of the implicit arguments, at this offset in their structure. */
struct element select_implicit_arg(struct isel *s, uint32_t offset, uint32_t words)
{
    if (s->kernel->implicit_at == 0) { /* which means that nothing is read: not where they may lie */
        s->kernel->implicit_at = s->kernel->explicit_bytes != 0
                                     ? ppu_align_up(s->kernel->explicit_bytes, PPU_IMPLICIT_ALIGN)
                                     : PPU_IMPLICIT_ALIGN;
    }
    return select_parameter(s, s->kernel->implicit_at + offset, words);
}

static struct mir_ref code_base(struct isel *s)
{
    if (s->code_base.reg == 0) {
        s->code_base = select_implicit_arg(s, offsetof(struct ppu_implicit_args, code_va), 2).ref;
    }
    return s->code_base;
}

/* Address of a variable that kernels write: the program's have one base. */
static struct element written_variable(struct isel *s, LLVMValueRef variable)
{
    uint32_t block = s->block, value = s->number;
    bool scalar = s->scalar;

    if (s->variable_base.reg == 0) {
        s->block = s->ir->flow->count;
        s->number = IR_NO_VALUE;
        s->scalar = !s->function;
        s->variable_base = select_implicit_arg(s, offsetof(struct ppu_implicit_args, variables_va), 2).ref;
        s->block = block;
        s->number = value;
        s->scalar = scalar;
    }
    struct element element = element_register(s->variable_base, 2);
    element.add = const_data_written(s->compilation, variable);
    return element;
}

/* Where the arguments lie that are outside of the parameters. */
static struct mir_ref block_base(struct isel *s)
{
    uint32_t block = s->block, value = s->number;
    bool scalar = s->scalar;

    if (s->block_base.reg == 0) {
        s->block = s->ir->flow->count;
        s->number = IR_NO_VALUE;
        s->scalar = true;
        s->block_base = select_parameter(s, s->kernel->implicit_at - (uint32_t)sizeof(uint64_t), 2).ref;
        s->block = block;
        s->number = value;
        s->scalar = scalar;
    }
    return s->block_base;
}

/* From an offset into the block to the address. */
static struct element in_block(struct isel *s, struct element offset)
{
    struct element address = element_register(block_base(s), 2);

    if (offset.kind != ELEMENT_REGISTER) {
        address.add = (uint32_t)offset.add;
        return address;
    }
    struct mir_ref reg = select_reg(s, offset);
    if (mir_class_of(s->mir, reg) == MIR_VECTOR) {
        address.lane = reg;
        return address;
    }
    return select_op3(s, PPU_OP_MADWU, element_register(reg, 1), element_number(1), address);
}

static struct mir_ref add_code_base(struct isel *s, struct mir_ref base, uint32_t index)
{
    struct mir_insn insn = mir_insn(PPU_OP_ADD64);

    insn.a = base;
    insn.code.immed = 1;
    insn.data = index + 1;
    insn.d = select_new(s, 2);
    select_add(s, &insn);
    return insn.d;
}

/*
 * Address of a constant variable behind the code: kept like a constant of the pool, or made where it is used when there
 * is no pool.
 */
static struct element constant_variable(struct isel *s, LLVMValueRef variable)
{
    uint32_t index = const_data_variable(s->compilation, variable), block = s->block, value = s->number;
    bool scalar = s->scalar, keeps = s->function || s->pool_limit != 0;

    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (s->pool[i].data == index + 1) {
            return element_register(s->pool[i].ref, 2);
        }
    }
    s->block = s->ir->flow->count;
    s->number = IR_NO_VALUE;
    s->scalar = !s->function;
    struct mir_ref base = code_base(s), ref = keeps ? add_code_base(s, base, index) : base;
    s->block = block;
    s->number = value;
    s->scalar = scalar;
    if (!keeps) {
        return element_register(add_code_base(s, base, index), 2);
    }
    s->pool = arena_grow(&s->compilation->arena, s->pool, sizeof(s->pool[0]), s->pool_count, &s->pool_cap);
    s->pool_words += 2;
    s->pool[s->pool_count++] = (struct constant){ .words = 2, .ref = ref, .data = index + 1 };
    return element_register(ref, 2);
}

/* ---- offsets ---- */

/* The integer that an index is made from by widening, and how. */
static LLVMValueRef narrow_index(LLVMValueRef index, bool *is_signed)
{
    bool sext = ir_is_instruction(index, LLVMSExt), zext = ir_is_instruction(index, LLVMZExt);

    *is_signed = !zext;
    if (!sext && !zext) {
        return NULL;
    }
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(index, 0));
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 32 &&
                   LLVMGetIntTypeWidth(type) > 1
               ? LLVMGetOperand(index, 0)
               : NULL;
}

static uint32_t log2_of(uint64_t value)
{
    uint32_t log = 0;

    while (log < 63 && value >> log != 1) {
        log++;
    }
    return log;
}

/* index * size in 32 bits */
static struct element scaled(struct isel *s, struct element index, uint64_t size)
{
    if (index.kind != ELEMENT_REGISTER) {
        return element_number((uint32_t)(index.add * size));
    }
    if (size == 1) {
        return index;
    }
    return PPU_IS_POWER_OF_TWO(size) ? select_op(s, PPU_OP_SHL, index, element_number(log2_of(size)))
                                     : select_op(s, PPU_OP_MUL, index, element_number((uint32_t)size));
}

/* An integer's low 32 bits, extended as its type says. */
static struct element index_word(struct isel *s, LLVMValueRef index)
{
    bool is_signed;
    LLVMValueRef narrow = narrow_index(index, &is_signed);
    LLVMValueRef source = narrow ? narrow : index;
    uint32_t bits = ir_bits(s->compilation, LLVMTypeOf(source));
    struct element element = select_element(s, source, 0);

    if (bits < 32) {
        element = select_extend(s, element, bits, is_signed);
    }
    if (element.words == 2) {
        element =
            element_half(element.kind == ELEMENT_REGISTER ? element_register(select_reg(s, element), 2) : element, 0);
    }
    return element;
}

bool select_is_scalar(const struct isel *s, struct mir_ref ref)
{
    return ref.reg != 0 && mir_class_of(s->mir, ref) == MIR_SCALAR;
}

/*
 * True when the offset may be kept apart as the unsigned 32-bit offset of each lane: its bound is known, or it leads
 * forward within one object, and none is larger than PPU_MAX_OBJECT.
 */
static bool fits_lane(const struct isel *s, struct element base, LLVMValueRef index, uint64_t size, LLVMValueRef gep)
{
    return base.kind == ELEMENT_REGISTER && base.lane.reg == 0 && select_is_scalar(s, base.ref) && !s->scalar &&
           (bounds_most(s->ir, index) <= UINT32_MAX / size ||
            (s->block < s->ir->flow->count && bounds_natural(s->ir, index, s->block) &&
             bounds_inside(s->ir, gep, LLVMGetOperand(gep, 0), s->block)));
}

/* One instruction accesses so many bytes at the address, and does nothing else with it. */
static bool accesses_whole(const struct isel *s, LLVMValueRef user, LLVMValueRef address, uint64_t size)
{
    bool load = ir_is_instruction(user, LLVMLoad), store = ir_is_instruction(user, LLVMStore);

    if (!(load || store || ir_is_instruction(user, LLVMAtomicRMW)) || (store && LLVMGetOperand(user, 0) == address)) {
        return false;
    }
    LLVMTypeRef type = LLVMTypeOf(load ? user : LLVMGetOperand(user, store ? 0 : 1));
    LLVMTypeRef one = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
    return LLVMStoreSizeOfType(s->compilation->layout, type) == size && LLVMGetAlignment(user) >= PPU_MIN(size, 4) &&
           (one == type || LLVMStoreSizeOfType(s->compilation->layout, one) >= 4);
}

static bool is_constant_step(LLVMValueRef user)
{
    bool all = ir_is_instruction(user, LLVMGetElementPtr);

    for (int i = 1; all && i < LLVMGetNumOperands(user); i++) {
        all = LLVMIsAConstantInt(LLVMGetOperand(user, (unsigned)i));
    }
    return all;
}

/* Whether all that is done with an address, or a constant away from it, is to access so many bytes there. */
static bool is_accessed_whole(const struct isel *s, LLVMValueRef address, uint64_t size)
{
    for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!(is_constant_step(user) ? is_accessed_whole(s, user, size) : accesses_whole(s, user, address, size))) {
            return false;
        }
    }
    return true;
}

/*
 * True when the index itself may be what each lane has, as a signed number of accesses. An index of which only the
 * offset is known to fit is not negative, and a half of it fits.
 */
static bool is_index(const struct isel *s, struct element base, LLVMValueRef index, uint64_t size, LLVMValueRef gep,
                     bool fits)
{
    bool is_signed = false;
    bool narrow = narrow_index(index, &is_signed) && is_signed;

    return base.kind == ELEMENT_REGISTER && base.lane.reg == 0 && select_is_scalar(s, base.ref) && !s->scalar &&
           PPU_IS_POWER_OF_TWO(size) && size <= 16 && (fits ? size > 1 : narrow) && is_accessed_whole(s, gep, size);
}

/*
 * from + index * size in 32 bits, made once where that is before all its uses. `from` is a register of one word, or
 * none: 0.
 */
static struct mir_ref index_offset(struct isel *s, struct mir_ref from, LLVMValueRef index, uint64_t size)
{
    const uint32_t first = s->offset_count > MOST_OFFSETS ? s->offset_count - MOST_OFFSETS : 0;

    for (uint32_t i = s->block < s->ir->flow->count ? first : s->offset_count; i < s->offset_count; i++) {
        const struct offset *known = &s->offsets[i];
        if (known->index == index && known->size == size && known->from.reg == from.reg &&
            known->from.sub == from.sub && known->scalar == s->scalar &&
            flow_dominates(s->ir->flow, known->block, s->block)) {
            return known->ref;
        }
    }
    const struct mir_ref none = { 0 };
    const struct element offset = from.reg == 0 ? scaled(s, index_word(s, index), size)
                                                : select_op(s, PPU_OP_ADD, element_register(from, 1),
                                                            element_register(index_offset(s, none, index, size), 1));
    const struct mir_ref ref = select_reg(s, offset);
    if (s->block < s->ir->flow->count) {
        s->offsets =
            arena_grow(&s->compilation->arena, s->offsets, sizeof(s->offsets[0]), s->offset_count, &s->offset_cap);
        s->offsets[s->offset_count++] = (struct offset){ index, size, from, s->scalar, s->block, ref };
    }
    return ref;
}

static struct element add_index(struct isel *s, struct element base, LLVMValueRef index, uint64_t size,
                                LLVMValueRef gep)
{
    bool is_signed;
    LLVMValueRef narrow = narrow_index(index, &is_signed);
    uint64_t add = base.kind == ELEMENT_REGISTER ? base.add : 0;

    if (base.words == 1) {
        const struct mir_ref none = { 0 };
        const bool is_register = base.kind == ELEMENT_REGISTER;
        add = base.add;
        base = element_register(index_offset(s, is_register ? base.ref : none, index, size), 1);
        base.add = (uint32_t)add;
        return base;
    }
    bool fits = fits_lane(s, base, index, size, gep), by_index = is_index(s, base, index, size, gep, fits);
    if (fits || by_index) {
        base.lane =
            by_index ? select_reg(s, index_word(s, index)) : index_offset(s, (struct mir_ref){ 0 }, index, size);
        base.lane_size = by_index ? (uint8_t)size : 0;
        if (mir_class_of(s->mir, base.lane) == MIR_VECTOR) {
            return base;
        }
        base.lane = (struct mir_ref){ 0 };
        base.lane_size = 0;
    }
    if (base.kind == ELEMENT_REGISTER) {
        base.add = 0;
    }
    if (narrow && size <= UINT32_MAX) {
        base = select_op3(s, is_signed ? PPU_OP_MADW : PPU_OP_MADWU, index_word(s, index),
                          element_number((uint32_t)size), base);
    } else if (size == 1) {
        base = select_op(s, PPU_OP_ADD64, base, select_element(s, index, 0));
    } else {
        struct element wide = select_element(s, index, 0);
        wide = wide.words == 2 ? wide : select_widen(s, wide, ir_bits(s->compilation, LLVMTypeOf(index)), 2, true);
        base = select_op3(s, PPU_OP_MAD64, wide, element_constant(size, 2), base);
    }
    base.add = add;
    return base;
}

static struct element add_offset(struct element base, int64_t offset)
{
    base.add += (uint64_t)offset;
    if (base.words == 1) {
        base.add = (uint32_t)base.add;
    }
    return base;
}

static struct element offset_by(struct isel *s, struct element base, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

    if (base.kind == ELEMENT_UNDEFINED) {
        base = element_constant(0, base.words);
    }
    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            uint32_t member = (uint32_t)LLVMConstIntGetZExtValue(index);
            base = add_offset(base, (int64_t)LLVMOffsetOfElement(s->compilation->layout, type, member));
            type = LLVMStructGetTypeAtIndex(type, member);
            continue;
        }
        if (i > 1) {
            type = LLVMGetElementType(type);
        }
        uint64_t size = LLVMABISizeOfType(s->compilation->layout, type);
        if (LLVMIsAConstantInt(index)) {
            base = add_offset(base, LLVMConstIntGetSExtValue(index) * (int64_t)size);
        } else if (size != 0) {
            base = add_index(s, base, index, size, gep);
        }
    }
    return base;
}

static bool is_operation(LLVMValueRef value, LLVMOpcode opcode)
{
    return ir_is_instruction(value, opcode) || (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == opcode);
}

/* ---- address spaces ---- */

static uint64_t window_of(uint32_t space)
{
    return space == SPACE_LOCAL ? PPU_SHARED_WINDOW : PPU_LOCAL_WINDOW;
}

/* Null stays null: objects never lie at 0, so the window is added where the offset is not 0. */
static struct element cast_space(struct isel *s, struct element element, uint32_t from, uint32_t to)
{
    bool from_offset = from == SPACE_LOCAL || from == SPACE_PRIVATE;
    bool to_offset = to == SPACE_LOCAL || to == SPACE_PRIVATE;

    if (from_offset == to_offset) {
        return element;
    }
    if (element.kind != ELEMENT_REGISTER) {
        uint64_t window = to_offset || element.add == 0 ? 0 : window_of(from);
        return element_constant(element.add | window, to_offset ? 1 : 2);
    }
    element = element_register(select_reg(s, element), element.words);
    if (to_offset) {
        return element_half(element, 0);
    }
    struct mir_ref wide = select_new(s, 2);
    struct element any = select_op(s, PPU_OP_MINU, element, element_number(1));
    struct element high = select_op(s, PPU_OP_MUL, any, element_number((uint32_t)(window_of(from) >> 32)));
    select_copy(s, wide, element, 1);
    select_copy(s, mir_sub(wide, 1), high, 1);
    return element_register(wide, 2);
}

struct element select_pointer(struct isel *s, LLVMValueRef pointer)
{
    if (LLVMIsAGlobalVariable(pointer)) {
        if (ir_pointer_space(pointer) == SPACE_LOCAL) {
            return shared_variable(s, pointer);
        }
        return LLVMIsGlobalConstant(pointer) ? constant_variable(s, pointer) : written_variable(s, pointer);
    }
    if (is_operation(pointer, LLVMGetElementPtr)) {
        return offset_by(s, select_element(s, LLVMGetOperand(pointer, 0), 0), pointer);
    }
    if (is_operation(pointer, LLVMAddrSpaceCast)) {
        LLVMValueRef from = LLVMGetOperand(pointer, 0);
        return cast_space(s, select_element(s, from, 0), ir_pointer_space(from), ir_pointer_space(pointer));
    }
    if (is_operation(pointer, LLVMIntToPtr)) {
        struct element element = select_element(s, LLVMGetOperand(pointer, 0), 0);
        return ir_bits(s->compilation, LLVMTypeOf(pointer)) == 32 ? element_half(element, 0) : element;
    }
    compilation_fail_value(s->compilation, "compile a value: there is no code for the address", pointer);
}

/* The pointer as an offset into the memory that it is cast from: without the way through the generic space. */
static struct element inner_pointer(struct isel *s, LLVMValueRef pointer)
{
    if (ir_pointer_space(pointer) != SPACE_GENERIC) {
        return select_element(s, pointer, 0);
    }
    LLVMValueRef from = LLVMGetOperand(pointer, 0);
    if (is_operation(pointer, LLVMGetElementPtr)) {
        return offset_by(s, inner_pointer(s, from), pointer);
    }
    return select_element(s, from, 0);
}

struct address select_address_of(struct isel *s, LLVMValueRef pointer)
{
    struct address address = { ir_memory_of(pointer), { .kind = ELEMENT_UNDEFINED } };
    bool inner = ir_pointer_space(pointer) == SPACE_GENERIC &&
                 (address.memory == IR_SHARED || address.memory == IR_LOCAL || address.memory == IR_PARAM);

    address.at = inner ? inner_pointer(s, pointer) : select_element(s, pointer, 0);
    if (address.at.kind == ELEMENT_UNDEFINED) {
        address.at = element_constant(0, address.at.words);
    }
    if (address.memory == IR_PARAM && s->kernel->has_block) {
        address = (struct address){ IR_GLOBAL, in_block(s, address.at) };
    }
    return address;
}

/* ---- loads and stores ---- */

static enum ppu_op memory_op(enum ir_memory memory, bool store)
{
    switch (memory) {
    case IR_GLOBAL:
        return store ? PPU_OP_STG : PPU_OP_LDG;
    case IR_SHARED:
        return store ? PPU_OP_STS : PPU_OP_LDS;
    case IR_LOCAL:
        return store ? PPU_OP_STL : PPU_OP_LDL;
    case IR_PARAM:
        return PPU_OP_LDP;
    default:
        return store ? PPU_OP_STU : PPU_OP_LDU;
    }
}

/* Fills base, lane offset and constant of a memory instruction. */
static void set_address(struct isel *s, struct mir_insn *insn, struct address address, uint32_t offset)
{
    struct element at = address.at;
    int64_t constant = at.words == 1 ? (int64_t)(int32_t)at.add + offset : (int64_t)(at.add + offset);
    bool fits = constant >= OFFSET_MIN && constant <= OFFSET_MAX;

    if (at.kind != ELEMENT_REGISTER && at.words == 1 && fits) {
        insn->code.no_base = 1;
        insn->code.wa = insn->code.wb = 0;
        insn->code.imm = (int32_t)constant;
        return;
    }
    bool other_index = at.lane.reg != 0 && at.lane_size != 0 && at.lane_size != ppu_isa_bytes(&insn->code);
    if (at.kind != ELEMENT_REGISTER || !fits || other_index) {
        at = element_register(select_reg(s, add_offset(at, offset)), at.words);
        constant = 0;
    }
    insn->code.wa = at.words;
    insn->a = at.ref;
    insn->code.wb = at.lane.reg != 0;
    insn->code.lane_off = insn->code.wb;
    insn->code.indexed = at.lane.reg != 0 && at.lane_size != 0;
    insn->b = at.lane;
    insn->code.imm = (int32_t)constant;
}

static struct mir_insn access_insn(enum ir_memory memory, bool store, enum ppu_width width, bool ordered)
{
    struct mir_insn insn = mir_insn(memory_op(memory, store));

    insn.code.width = (uint8_t)width;
    insn.code.wd = (uint8_t)ppu_width_words(width);
    insn.ordered = ordered;
    return insn;
}

struct mir_ref select_load_words(struct isel *s, struct address address, uint32_t offset, enum ppu_width width,
                                 bool ordered)
{
    struct mir_insn insn = access_insn(address.memory, false, width, ordered);

    set_address(s, &insn, address, offset);
    insn.d = select_new(s, insn.code.wd);
    insn.code.scalar = s->scalar;
    select_add(s, &insn);
    return insn.d;
}

/* Data in a scalar register is stored once for the warp when the address is one for all lanes too. */
void select_store_words(struct isel *s, struct address address, uint32_t offset, enum ppu_width width,
                        struct mir_ref data, bool ordered)
{
    struct mir_insn insn = access_insn(address.memory, true, width, ordered);
    bool scalar_form = address.memory == IR_GLOBAL || address.memory == IR_SHARED;

    set_address(s, &insn, address, offset);
    if (select_is_scalar(s, data)) {
        insn.code.scalar = scalar_form && (insn.a.reg == 0 || select_is_scalar(s, insn.a)) && insn.b.reg == 0;
        if (!insn.code.scalar) {
            struct mir_ref copy = select_new(s, insn.code.wd);
            for (uint32_t word = 0; word < insn.code.wd; word++) {
                select_copy(s, mir_sub(copy, word), element_register(mir_sub(data, word), 1), 1);
            }
            data = copy;
        }
    }
    insn.d = data;
    select_add(s, &insn);
}

enum ppu_width select_width(uint32_t words)
{
    return words == 4 ? PPU_WIDTH_B128 : words == 2 ? PPU_WIDTH_B64 : PPU_WIDTH_B32;
}

static uint32_t chunk_of(uint32_t words)
{
    return words >= 4 ? 4 : words >= 2 ? 2 : 1;
}

/* A value that is less aligned than a word, put together from bytes or halves. */
static struct element load_pieces(struct isel *s, struct address address, uint32_t offset, uint32_t bytes,
                                  uint32_t align)
{
    uint32_t step = PPU_MIN(align, bytes);
    struct element word = element_number(0);

    for (uint32_t at = 0; at < bytes; at += step) {
        struct element part = element_register(
            select_load_words(s, address, offset + at, step == 1 ? PPU_WIDTH_U8 : PPU_WIDTH_U16, false), 1);
        part.above = ABOVE_ZEROS;
        if (at == 0) {
            word = part;
        } else {
            word = select_op(s, PPU_OP_OR, word, select_op(s, PPU_OP_SHL, part, element_number(8 * at)));
        }
    }
    return word;
}

static struct element join_halves(struct isel *s, struct element low, struct element high)
{
    struct mir_ref wide = select_new(s, 2);

    select_copy(s, wide, low, 1);
    select_copy(s, mir_sub(wide, 1), high, 1);
    return element_register(wide, 2);
}

/* Pointers to shared and private memory take 64 bits in memory, of which the upper half is 0, and a word in
 * registers. */
static bool is_narrow(struct isel *s, LLVMTypeRef type, uint32_t index, uint32_t bytes)
{
    return bytes == 8 && ir_bits(s->compilation, select_element_type(s, type, index)) <= 32;
}

/* Elements of whole words, in as few loads as there can be. */
static void load_elements(struct isel *s, LLVMValueRef load, struct address address, uint32_t words, bool ordered)
{
    uint32_t kept = is_narrow(s, LLVMTypeOf(load), 0, 4 * words) ? 1 : words;
    uint32_t count = select_elements(s, LLVMTypeOf(load)), total = count * words;

    for (uint32_t at = 0; at < total;) {
        uint32_t chunk = chunk_of(total - at);
        struct mir_ref data = select_load_words(s, address, 4 * at, select_width(chunk), ordered);
        for (uint32_t i = 0; i < chunk; i += words) {
            select_set(s, load, (at + i) / words, element_register(mir_sub(data, i), kept));
        }
        at += chunk;
    }
}

void select_outside(struct isel *s, uint32_t number)
{
    uint32_t offset = s->kernel->arguments[number].offset, own = s->number;
    LLVMValueRef argument = s->ir->values[number];
    LLVMTypeRef type = LLVMTypeOf(argument);
    bool scalar = s->scalar;

    if (offset < PPU_MAX_PARAM || ir_is_byval(argument) || s->loaded_in[number] == s->block + 1) {
        return;
    }
    struct address address = { IR_GLOBAL, in_block(s, element_number(offset - PPU_MAX_PARAM)) };
    s->number = number;
    s->scalar = s->ir->scalar[number] && s->block < s->ir->flow->count && s->ir->flow->convergent[s->block];
    for (uint32_t e = 0; e < select_elements(s, type); e++) {
        LLVMTypeRef one = select_element_type(s, type, e);
        uint32_t bits = ir_bits(s->compilation, one);
        uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->compilation->layout, one);
        struct element element =
            bits < 32
                ? load_pieces(s, address, e * bytes, bytes, bytes)
                : element_register(select_load_words(s, address, e * bytes, select_width(bits > 32 ? 2 : 1), false),
                                   bits > 32 ? 2 : 1);
        select_set(s, argument, e, element);
    }
    s->number = own;
    s->scalar = scalar;
    s->loaded_in[number] = s->block + 1;
}

static void fence(struct isel *s, uint32_t order, uint32_t scope)
{
    struct mir_insn insn = mir_insn(PPU_OP_FENCE);

    insn.code.order = (uint8_t)order;
    insn.code.scope = (uint8_t)scope;
    select_add(s, &insn);
}

uint32_t select_order(LLVMAtomicOrdering ordering)
{
    switch (ordering) {
    case LLVMAtomicOrderingAcquire:
        return PPU_ORDER_ACQUIRE;
    case LLVMAtomicOrderingRelease:
        return PPU_ORDER_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
        return PPU_ORDER_ACQ_REL;
    case LLVMAtomicOrderingSequentiallyConsistent:
        return PPU_ORDER_SEQ_CST;
    default:
        return PPU_ORDER_RELAXED;
    }
}

uint32_t select_scope(enum ir_memory memory)
{
    return memory == IR_SHARED ? PPU_SCOPE_OF_CTA : PPU_SCOPE_OF_SYSTEM;
}

static bool flat_type(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind;
}

static void select_load(struct isel *s, LLVMValueRef load)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    struct address address = select_address_of(s, LLVMGetOperand(load, 0));
    uint32_t bits = ir_bits(s->compilation, select_element_type(s, type, 0)), align = LLVMGetAlignment(load);
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->compilation->layout, select_element_type(s, type, 0));
    LLVMAtomicOrdering ordering = LLVMGetOrdering(load);
    bool is_atomic = ordering != LLVMAtomicOrderingNotAtomic, ordered = LLVMGetVolatile(load) || is_atomic;

    if (!flat_type(type) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) ||
        (LLVMGetTypeKind(type) == LLVMVectorTypeKind && bits % 8 != 0)) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", load);
    }
    if (select_order(ordering) == PPU_ORDER_SEQ_CST) {
        fence(s, PPU_ORDER_SEQ_CST, select_scope(address.memory));
    }
    if (is_atomic && bytes == 8 && address.memory != IR_LOCAL && address.memory != IR_PARAM) {
        select_set(s, load, 0,
                   select_atomic(s, address, PPU_AOP_OR, element_constant(0, 2), select_order(ordering), true));
        return;
    }
    if (bytes >= 4 && align >= 4) {
        load_elements(s, load, address, bytes / 4, ordered);
    } else {
        for (uint32_t i = 0; i < select_elements(s, type); i++) {
            struct element element = load_pieces(s, address, i * bytes, PPU_MIN(bytes, 4), align);
            if (bytes == 8 && !is_narrow(s, type, i, bytes)) {
                element = join_halves(s, element, load_pieces(s, address, i * bytes + 4, 4, align));
            }
            if (bits == 1) {
                element = select_compare(s, PPU_OP_ISETP, PPU_ICMP_NE,
                                         select_op(s, PPU_OP_AND, element, element_number(1)), element_number(0));
            }
            select_set(s, load, i, element);
        }
    }
    if (is_atomic && select_order(ordering) != PPU_ORDER_RELAXED) {
        fence(s, PPU_ORDER_ACQUIRE, select_scope(address.memory));
    }
}

static void store_pieces(struct isel *s, struct address address, uint32_t offset, uint32_t bytes, uint32_t align,
                         struct element word)
{
    uint32_t step = PPU_MIN(align, bytes);

    for (uint32_t at = 0; at < bytes; at += step) {
        struct element part = at == 0 ? word : select_op(s, PPU_OP_SHR, word, element_number(8 * at));
        select_store_words(s, address, offset + at, step == 1 ? PPU_WIDTH_U8 : PPU_WIDTH_U16, select_reg(s, part),
                           false);
    }
}

/* Element of a value as memory has it, `words` words wide. */
static struct element memory_element(struct isel *s, LLVMValueRef value, uint32_t index, uint32_t words)
{
    struct element element = select_element(s, value, index);

    return element.words < words ? select_widen(s, element, 32, words, false) : element;
}

/* True when `count` words from element `first` on are a run of one register that may be stored as it is. */
static bool is_run(struct isel *s, LLVMValueRef value, uint32_t first, uint32_t words, uint32_t count)
{
    struct element element = select_element(s, value, first);

    if (element.words < words || element.kind != ELEMENT_REGISTER || element.ref.sub % count != 0 || element.add != 0 ||
        element.lane.reg != 0) {
        return false;
    }
    for (uint32_t i = 1; i < count / words; i++) {
        struct element next = select_element(s, value, first + i);
        if (next.kind != ELEMENT_REGISTER || next.ref.reg != element.ref.reg ||
            next.ref.sub != element.ref.sub + i * words || next.add != 0) {
            return false;
        }
    }
    return true;
}

/* Elements [first, first + count / words) in one register. */
static struct mir_ref gather_words(struct isel *s, LLVMValueRef value, uint32_t first, uint32_t words, uint32_t count)
{
    if (is_run(s, value, first, words, count)) {
        return select_element(s, value, first).ref;
    }
    if (count == words) {
        return select_reg(s, memory_element(s, value, first, words));
    }
    struct mir_ref data = select_new(s, count);
    for (uint32_t i = 0; i < count; i += words) {
        select_copy(s, mir_sub(data, i), memory_element(s, value, first + i / words, words), words);
    }
    return data;
}

static void select_store(struct isel *s, LLVMValueRef store)
{
    LLVMValueRef value = LLVMGetOperand(store, 0);
    LLVMTypeRef type = LLVMTypeOf(value);
    struct address address = select_address_of(s, LLVMGetOperand(store, 1));
    uint32_t bits = ir_bits(s->compilation, select_element_type(s, type, 0)), align = LLVMGetAlignment(store);
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->compilation->layout, select_element_type(s, type, 0));
    LLVMAtomicOrdering ordering = LLVMGetOrdering(store);
    bool is_atomic = ordering != LLVMAtomicOrderingNotAtomic, ordered = LLVMGetVolatile(store) || is_atomic;

    s->scalar = false;
    if (!flat_type(type) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || address.memory == IR_PARAM ||
        (LLVMGetTypeKind(type) == LLVMVectorTypeKind && bits % 8 != 0)) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", store);
    }
    if (is_atomic && bytes == 8 && address.memory != IR_LOCAL) {
        select_atomic(s, address, PPU_AOP_XCHG, memory_element(s, value, 0, 2), select_order(ordering), false);
        return;
    }
    if (is_atomic && select_order(ordering) != PPU_ORDER_RELAXED) {
        fence(s, PPU_ORDER_RELEASE, select_scope(address.memory));
    }
    uint32_t words = bytes / 4, total = words * select_elements(s, type);
    for (uint32_t at = 0; words != 0 && align >= 4 && at < total;) {
        uint32_t chunk = chunk_of(total - at);
        select_store_words(s, address, 4 * at, select_width(chunk), gather_words(s, value, at / words, words, chunk),
                           ordered);
        at += chunk;
    }
    for (uint32_t i = 0; (words == 0 || align < 4) && i < select_elements(s, type); i++) {
        struct element element = memory_element(s, value, i, words);
        if (bits == 1) {
            element = select_choose(s, element, element_number(1), element_number(0));
        }
        if (bytes == 8 && element.kind == ELEMENT_REGISTER) {
            element = element_register(select_reg(s, element), 2);
        }
        store_pieces(s, address, i * bytes, PPU_MIN(bytes, 4), align, bytes == 8 ? element_half(element, 0) : element);
        if (bytes == 8) {
            store_pieces(s, address, i * bytes + 4, 4, align, element_half(element, 1));
        }
    }
    if (select_order(ordering) == PPU_ORDER_SEQ_CST) {
        fence(s, PPU_ORDER_SEQ_CST, select_scope(address.memory));
    }
}

/* ---- memcpy, memset ---- */

void select_memory_call(struct isel *s, LLVMValueRef call, const char *name)
{
    bool is_set = strncmp(name, "llvm.memset", 11) == 0;
    LLVMValueRef size = LLVMGetOperand(call, 2);
    uint32_t align = memcpy_call_align(call), done = 0;
    struct address to = select_address_of(s, LLVMGetOperand(call, 0)), from = to;
    struct element fill = element_number(0);
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : UINT64_MAX;

    s->scalar = false;
    if (bytes > MEMCPY_WRITTEN_OUT) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", call);
    }
    if (is_set) {
        fill = select_extend(s, select_element(s, LLVMGetOperand(call, 1), 0), 8, false);
        fill = fill.kind == ELEMENT_REGISTER ? select_op(s, PPU_OP_MUL, fill, element_number(0x01010101))
                                             : element_number((uint32_t)fill.add * 0x01010101u);
    } else {
        from = select_address_of(s, LLVMGetOperand(call, 1));
    }
    while (done < bytes) {
        uint32_t left = (uint32_t)bytes - done, most = align < 4 ? align : is_set ? 4 : 16, step = most;
        while (step > left) {
            step /= 2;
        }
        enum ppu_width width = step >= 4 ? select_width(step / 4) : step == 2 ? PPU_WIDTH_U16 : PPU_WIDTH_U8;
        struct mir_ref data = is_set ? select_reg(s, fill) : select_load_words(s, from, done, width, true);
        select_store_words(s, to, done, width, data, false);
        done += step;
    }
}

static struct address frame_address(uint32_t offset)
{
    return (struct address){ IR_LOCAL, element_number(offset) };
}

void select_put_all(struct isel *s, LLVMValueRef value, uint32_t offset)
{
    s->scalar = false;
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        struct element element = select_element(s, value, i);
        if (ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(value), i)) == 1) {
            element = select_choose(s, element, element_number(1), element_number(0));
        }
        if (element.kind != ELEMENT_UNDEFINED) {
            select_store_words(s, frame_address(offset + i * FUNCTION_ELEMENT_BYTES), 0, select_width(element.words),
                               select_reg(s, element), true);
        }
    }
}

void select_get_all(struct isel *s, LLVMValueRef value, uint32_t offset)
{
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        uint32_t bits = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(value), i)),
                 words = bits > 32 ? 2 : 1;
        struct element element = element_register(
            select_load_words(s, frame_address(offset + i * FUNCTION_ELEMENT_BYTES), 0, select_width(words), true),
            words);
        if (bits == 1) {
            element = select_compare(s, PPU_OP_ISETP, PPU_ICMP_NE, element, element_number(0));
        }
        select_set(s, value, i, element);
    }
}

static bool goes_to_phi(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        if (ir_is_instruction(LLVMGetUser(use), LLVMPHI)) {
            return true;
        }
    }
    return false;
}

bool select_memory(struct isel *s, LLVMValueRef value)
{
    LLVMValueRef count;

    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr:
        if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) {
            return false;
        }
        select_set(s, value, 0, select_pointer(s, value));
        if (goes_to_phi(value)) { /* made here, not at the end of the block that goes there */
            struct element made = select_element(s, value, 0);
            if (made.kind == ELEMENT_REGISTER) {
                select_set(s, value, 0, element_register(select_reg(s, made), made.words));
            }
        }
        return true;
    case LLVMAddrSpaceCast:
        select_set(s, value, 0, select_pointer(s, value));
        return true;
    case LLVMAlloca:
        count = LLVMGetOperand(value, 0);
        if (!LLVMIsAConstantInt(count)) {
            return false;
        }
        select_set(s, value, 0,
                   element_number(reserve_memory(s, &s->mir->local_bytes, LLVMGetAllocatedType(value),
                                                 LLVMConstIntGetZExtValue(count), LLVMGetAlignment(value),
                                                 PPU_MAX_LOCAL, value)));
        return true;
    case LLVMLoad:
        select_load(s, value);
        return true;
    case LLVMStore:
        select_store(s, value);
        return true;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        select_atomic_value(s, value);
        return true;
    case LLVMFence:
        fence(s, select_order(LLVMGetOrdering(value)), PPU_SCOPE_OF_SYSTEM);
        return true;
    default:
        return false;
    }
}
