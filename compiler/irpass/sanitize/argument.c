/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/argument.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/calls.h"
#include "compiler/irpass/sanitize/elements.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "compiler/irpass/sanitize/tag.h"
#include "ppu/isa.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"
#include "ppu/surface.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT "__ppu_sanitizer_report"
#define AGREES "__ppu_sanitizer_agrees"
#define LANE_IS "__ppu_sanitizer_lane"
#define CHANNELS_ARE "__ppu_sanitizer_channels"
#define RESERVATION_IS "__ppu_sanitizer_reservation"
#define TEXEL_IS "__ppu_sanitizer_texel"
#define MANGLED "_Z" /* begins clang's names of overloaded functions: then the length of the name, and types */
#define PIPE "_pipe" /* in the names of clang's functions of pipes, which two underscores begin */
#define RESERVED_FORM \
    "_4" /* ends those of them that read and write what is reserved; the other form has two parameters */
#define LIBRARY "__ppu_" /* begins what lower_enqueue makes of others */
#define LOOKS "ppu.looks"
#define HALF_BYTES 2u
#define NAME_BYTES 100u
#define DIMENSIONS 3u

enum rule {
    ORDERED,      /* it is not above the next one, which both may be vectors */
    RISING,       /* it is below the next one */
    FIELD,        /* with the next one it is at most the bits of an element of the first operand */
    ALIGNED,      /* the pointer is aligned to an element of what moves, or to the vector */
    NOT_ZERO,     /* it is not zero */
    NOT_POSITIVE, /* it is at most zero */
    LOCAL_ID,     /* it and those behind it are a local id of the work-group */
    SAMPLER,      /* a sampler without filter, and without normalized coordinates where these are integers */
    CLUSTER,      /* it is a power of two, and at most the wave */
    PACKET,       /* it is below the packets of the reservation before it */
    LANE,         /* it is a lane of the warp, and the same for those that are together */
    CHANNELS,     /* the image has channels of the function's type */
    TEXEL,        /* coordinates behind it, that are integers, lie in the image where nothing says what is outside */
    RESERVED,     /* it is a reservation of the pipe before it, for what the function does, that is not committed */
    SAME,         /* it is the same for all work-items of the group */
    BEGINS,       /* none: a copy begins */
    BEGUN,        /* it is at most the copies that this work-item has begun */
};

#define LAST (-1)

static const struct row {
    const char *name;
    enum rule rule;
    int at;
    const char *phrase;
} rows[] = {
#define ARGUMENT(name, rule, at, phrase) { name, rule, at, phrase },
#include "compiler/irpass/sanitize/argument.def"
};

/* One call, and a rule about it. */
struct call {
    struct emitter e;
    LLVMValueRef insn;
    const struct row *row;
    char name[NAME_BYTES]; /* as the source has it */
    const char *types;     /* of the parameters, mangled; "": not known */
};

/* Numbers that break a rule: `wrong` says whether they do. */
struct numbers {
    LLVMValueRef wrong, first, second;
};

/* ---- names ---- */

/* The source's name of a function of pipes. False: it is none that is given a reservation. */
static bool read_pipe_name(struct call *call, const char *name)
{
    const char *pipe = strstr(name, PIPE), *end = pipe ? pipe + strlen(PIPE) : NULL;

    if (!end || strncmp(name, "__", 2) != 0 || (*end != '\0' && strcmp(end, RESERVED_FORM) != 0)) {
        return false;
    }
    snprintf(call->name, NAME_BYTES, "%.*s", (int)(end - name - 2), name + 2);
    return true;
}

/* False: no function that OpenCL C declares. */
static bool read_name(struct call *call)
{
    const char *name = ir_callee(call->insn);
    char *end;

    call->types = "";
    if (read_pipe_name(call, name)) {
        return true;
    }
    if (strncmp(name, LIBRARY, strlen(LIBRARY)) == 0) {
        snprintf(call->name, NAME_BYTES, "%s", name + strlen(LIBRARY));
        return true;
    }
    if (strncmp(name, MANGLED, strlen(MANGLED)) != 0) {
        return false;
    }
    const unsigned long len = strtoul(name + strlen(MANGLED), &end, 10);
    if (len == 0 || len >= NAME_BYTES || len > strlen(end)) {
        return false;
    }
    snprintf(call->name, NAME_BYTES, "%.*s", (int)len, end);
    call->types = end + len;
    return true;
}

static bool is_row_of(const struct row *row, const char *name)
{
    const size_t len = strcspn(row->name, "*");

    return strncmp(row->name, name, len) == 0 && (row->name[len] == '*' || name[len] == '\0');
}

/* True when elements of the first parameter are integers with a sign. */
static bool is_signed(const struct call *call)
{
    const char *type = call->types;

    if (strncmp(type, "Dv", 2) == 0) {
        type += strcspn(type, "_") + 1;
    }
    return *type != '\0' && !!strchr("acsilx", *type);
}

/* ---- numbers ---- */

static LLVMValueRef call_operand(const struct call *call, int at)
{
    const int count = (int)LLVMGetNumArgOperands(call->insn);

    return LLVMGetOperand(call->insn, (unsigned)(at == LAST ? count - 1 : at));
}

static LLVMTypeRef element_type(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static bool is_real(LLVMValueRef value)
{
    return LLVMGetTypeKind(element_type(LLVMTypeOf(value))) != LLVMIntegerTypeKind;
}

static LLVMValueRef element(const struct call *call, LLVMValueRef value, uint32_t i)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind
               ? LLVMBuildExtractElement(call->e.builder, value, emit_word(&call->e, i), "")
               : value;
}

/* In 64 bits, as the report has it: of a double, its bits. */
static LLVMValueRef widen(const struct call *call, LLVMValueRef value)
{
    if (!is_real(value)) {
        return LLVMBuildIntCast2(call->e.builder, value, emit_i64(&call->e), is_signed(call), "");
    }
    LLVMTypeRef real = LLVMDoubleTypeInContext(call->e.compilation->llvm);
    return LLVMBuildBitCast(call->e.builder, LLVMBuildFPCast(call->e.builder, value, real, ""), emit_i64(&call->e), "");
}

static struct numbers numbers_of(const struct call *call, LLVMValueRef wrong, LLVMValueRef first, LLVMValueRef second)
{
    return (struct numbers){ wrong, LLVMBuildIntCast2(call->e.builder, first, emit_i64(&call->e), 0, ""),
                             LLVMBuildIntCast2(call->e.builder, second, emit_i64(&call->e), 0, "") };
}

/* What breaks a rule first, of the numbers so far and others. */
static struct numbers either(const struct call *call, struct numbers one, struct numbers other)
{
    LLVMBuilderRef builder = call->e.builder;

    if (!one.wrong) {
        return other;
    }
    return (struct numbers){ LLVMBuildOr(builder, one.wrong, other.wrong, ""),
                             LLVMBuildSelect(builder, one.wrong, one.first, other.first, ""),
                             LLVMBuildSelect(builder, one.wrong, one.second, other.second, "") };
}

static LLVMValueRef is_disordered(const struct call *call, LLVMValueRef first, LLVMValueRef second)
{
    LLVMBuilderRef builder = call->e.builder;

    if (!is_real(first)) {
        return LLVMBuildICmp(builder, is_signed(call) ? LLVMIntSGT : LLVMIntUGT, first, second, "");
    }
    /* Edges that are no numbers do not rise. */
    return LLVMBuildFCmp(builder, call->row->rule == RISING ? LLVMRealUGE : LLVMRealOGT, first, second, "");
}

static struct numbers compare_elements(const struct call *call)
{
    LLVMValueRef low = call_operand(call, call->row->at), high = call_operand(call, call->row->at + 1);
    const uint32_t count = elements_count(LLVMTypeOf(low));
    struct numbers all = { .wrong = NULL };

    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef first = element(call, low, i), second = element(call, high, i);
        struct numbers one = { is_disordered(call, first, second), widen(call, first), widen(call, second) };
        all = either(call, all, one);
    }
    return all;
}

static struct numbers compare_field(const struct call *call)
{
    const struct emitter *e = &call->e;
    const uint32_t bits = LLVMGetIntTypeWidth(element_type(LLVMTypeOf(call_operand(call, 0))));
    LLVMValueRef offset = LLVMBuildZExt(e->builder, call_operand(call, call->row->at), emit_i64(e), "");
    LLVMValueRef count = LLVMBuildZExt(e->builder, call_operand(call, call->row->at + 1), emit_i64(e), "");
    LLVMValueRef end = LLVMBuildAdd(e->builder, offset, count, "");

    return (struct numbers){ LLVMBuildICmp(e->builder, LLVMIntUGT, end, emit_number(e, bits), ""), offset, count };
}

static LLVMValueRef special_register(const struct call *call, uint32_t number)
{
    LLVMValueRef argument = emit_word(&call->e, number);

    return emit_call(&call->e, "__ppu_sr", emit_i32(&call->e), &argument, 1);
}

static struct numbers compare_local_id(const struct call *call)
{
    static const uint32_t sizes[DIMENSIONS] = { PPU_SR_SIZE_X, PPU_SR_SIZE_Y, PPU_SR_SIZE_Z };
    const uint32_t count = LLVMGetNumArgOperands(call->insn) - (uint32_t)call->row->at;
    LLVMBuilderRef builder = call->e.builder;
    struct numbers all = { .wrong = NULL };

    for (uint32_t i = 0; i < PPU_MIN(count, DIMENSIONS); i++) {
        LLVMValueRef id = call_operand(call, call->row->at + (int)i);
        LLVMValueRef size = LLVMBuildIntCast2(builder, special_register(call, sizes[i]), LLVMTypeOf(id), 0, "");
        all = either(call, all, numbers_of(call, LLVMBuildICmp(builder, LLVMIntUGE, id, size, ""), id, size));
    }
    return all;
}

static struct numbers compare_cluster(const struct call *call)
{
    LLVMBuilderRef builder = call->e.builder;
    LLVMValueRef size = call_operand(call, LAST), most = special_register(call, PPU_SR_WAVE);
    LLVMValueRef less = LLVMBuildSub(builder, size, emit_word(&call->e, 1), "");
    LLVMValueRef more = LLVMBuildAnd(builder, size, less, ""), none = emit_word(&call->e, 0);
    /* A size of zero is above the most, less one. */
    LLVMValueRef wrong = LLVMBuildOr(builder, LLVMBuildICmp(builder, LLVMIntUGE, less, most, ""),
                                     LLVMBuildICmp(builder, LLVMIntNE, more, none, ""), "");

    return numbers_of(call, wrong, size, most);
}

/* What is no reservation has so many packets that no index is reported beside it. */
static struct numbers compare_packet(const struct call *call)
{
    const struct emitter *e = &call->e;
    LLVMValueRef count = LLVMBuildLShr(e->builder, call_operand(call, call->row->at - 1), emit_number(e, 32), "");
    LLVMValueRef index = LLVMBuildZExt(e->builder, call_operand(call, call->row->at), emit_i64(e), "");

    return numbers_of(call, LLVMBuildICmp(e->builder, LLVMIntUGE, index, count, ""), index, count);
}

static struct numbers compare_with_zero(const struct call *call)
{
    LLVMValueRef value = call_operand(call, call->row->at), zero = LLVMConstNull(LLVMTypeOf(value));
    LLVMIntPredicate wrong = call->row->rule == NOT_ZERO ? LLVMIntEQ : LLVMIntSGT;

    return numbers_of(call, LLVMBuildICmp(call->e.builder, wrong, value, zero, ""), value, zero);
}

/* Bytes that the pointer must be aligned to. */
static uint32_t alignment_of(const struct call *call)
{
    LLVMTypeRef moved = LLVMTypeOf(strncmp(call->name, "vstore", 6) == 0 ? call_operand(call, 0) : call->insn);
    const uint32_t elements = elements_count(moved);

    if (!strstr(call->name, "_half")) {
        return (uint32_t)LLVMStoreSizeOfType(call->e.compilation->layout, element_type(moved));
    }
    return !strstr(call->name, "a_half") ? HALF_BYTES : HALF_BYTES * (elements == 3 ? 4 : elements);
}

/* What the module knows of a constant pointer is its alignment. */
static struct numbers compare_alignment(const struct call *call)
{
    const struct emitter *e = &call->e;
    const uint32_t bytes = alignment_of(call);

    if (LLVMIsConstant(call_operand(call, LAST)) || bytes == 1) {
        return (struct numbers){ .wrong = NULL };
    }
    LLVMValueRef address = LLVMBuildPtrToInt(e->builder, call_operand(call, LAST), emit_i64(e), "");
    tag_set(e->compilation, address, LOOKS);
    LLVMValueRef rest = LLVMBuildAnd(e->builder, address, emit_number(e, bytes - 1), "");
    LLVMValueRef wrong = LLVMBuildICmp(e->builder, LLVMIntNE, rest, emit_number(e, 0), "");
    return (struct numbers){ wrong, address, emit_number(e, bytes) };
}

static bool has_sampler(const struct call *call)
{
    return !!strstr(call->types, "11ocl_sampler");
}

static LLVMValueRef coordinates(const struct call *call)
{
    return call_operand(call, has_sampler(call) ? 2 : 1);
}

static bool is_function_of_integers(const char *name)
{
    const size_t len = strlen(name);

    return name[len - 1] == 'i';
}

static struct numbers compare_sampler(const struct call *call)
{
    const struct emitter *e = &call->e;
    const uint32_t filtered = PPU_SAMPLER_LINEAR, more = PPU_SAMPLER_LINEAR | PPU_SAMPLER_NORMALIZED;

    if (!has_sampler(call) || (is_real(coordinates(call)) && !is_function_of_integers(call->name))) {
        return (struct numbers){ .wrong = NULL };
    }
    LLVMValueRef sampler = call_operand(call, call->row->at), none = emit_number(e, 0);
    LLVMValueRef bits =
        LLVMBuildAnd(e->builder, sampler, emit_number(e, is_real(coordinates(call)) ? filtered : more), "");
    return numbers_of(call, LLVMBuildICmp(e->builder, LLVMIntNE, bits, none, ""), sampler, none);
}

static struct numbers call_compare(const struct call *call)
{
    switch (call->row->rule) {
    case SAMPLER:
        return compare_sampler(call);
    case ORDERED:
    case RISING:
        return compare_elements(call);
    case FIELD:
        return compare_field(call);
    case ALIGNED:
        return compare_alignment(call);
    case LOCAL_ID:
        return compare_local_id(call);
    case CLUSTER:
        return compare_cluster(call);
    case PACKET:
        return compare_packet(call);
    default:
        return compare_with_zero(call);
    }
}

/* ---- before the library is linked ---- */

/* PPU_SANITIZER_SIGNED ... */
static uint32_t shown_as(const struct call *call)
{
    switch (call->row->rule) {
    case ORDERED:
    case RISING:
        return is_real(call_operand(call, 0)) ? PPU_SANITIZER_REAL
               : is_signed(call)              ? PPU_SANITIZER_SIGNED
                                              : PPU_SANITIZER_UNSIGNED;
    case NOT_ZERO:
    case NOT_POSITIVE:
        return PPU_SANITIZER_ALONE;
    case CHANNELS:
    case SAMPLER:
    case RESERVED:
        return PPU_SANITIZER_CODE;
    case ALIGNED:
        return PPU_SANITIZER_ADDRESSES;
    case SAME:
        return is_pointer(call_operand(call, call->row->at)) ? PPU_SANITIZER_ADDRESSES : PPU_SANITIZER_SIGNED;
    default:
        return PPU_SANITIZER_SIGNED;
    }
}

/* Stands for what is done when what the function calls has been inlined: only then is it known in which kernel. */
static void put_mark(const struct call *call, LLVMValueRef *arguments, uint32_t count)
{
    char name[sizeof(ARGUMENT_CALL) + NAME_BYTES + 32];

    snprintf(name, sizeof(name), ARGUMENT_CALL "%u.%u.%s", (uint32_t)(call->row - rows), shown_as(call), call->name);
    emit_call(&call->e, name, LLVMVoidTypeInContext(call->e.compilation->llvm), arguments, count);
}

/* Pointers stay what they are, as their objects would else be taken for such whose address goes anywhere. */
static void mark_operand(const struct call *call)
{
    LLVMValueRef value = call_operand(call, call->row->at);
    LLVMTypeRef generic = LLVMPointerTypeInContext(call->e.compilation->llvm, SPACE_GENERIC);

    if (!is_pointer(value)) {
        value = LLVMBuildIntCast2(call->e.builder, value, emit_i64(&call->e), 1, "");
    } else if (ir_pointer_space(value) != SPACE_GENERIC) {
        value = LLVMBuildAddrSpaceCast(call->e.builder, value, generic, "");
    }
    put_mark(call, &value, 1);
}

/* The image, its sampler or 0, and three coordinates. The second one of an array of lines is a layer. */
static void mark_texel(const struct call *call)
{
    const struct emitter *e = &call->e;
    LLVMValueRef none = emit_word(e, 0), arguments[5] = { call_operand(call, 0), emit_number(e, 0), none, none, none };
    const bool lines = strncmp(call->types, "20ocl_image1d_array", 19) == 0;

    if (is_real(coordinates(call))) {
        return;
    }
    if (has_sampler(call)) {
        arguments[1] = call_operand(call, 1);
    }
    const uint32_t count = elements_count(LLVMTypeOf(coordinates(call)));
    for (uint32_t i = 0; i < PPU_MIN(count, DIMENSIONS); i++) {
        arguments[2 + i + (lines && i == 1)] = element(call, coordinates(call), i);
    }
    put_mark(call, arguments, 5);
}

/* Work-items whose access is not aligned leave it out, as the machine would end the kernel. */
static void mark_wrong(const struct call *call)
{
    LLVMBuilderRef builder = call->e.builder;
    struct numbers numbers = call_compare(call);

    if (!numbers.wrong || (LLVMIsAConstantInt(numbers.wrong) && LLVMConstIntGetZExtValue(numbers.wrong) == 0)) {
        return;
    }
    if (call->row->rule == ALIGNED) {
        guard_instruction(call->e.compilation, builder, call->insn, LLVMBuildNot(builder, numbers.wrong, ""));
    } else {
        guard_beside(call->e.compilation, builder, call->insn, numbers.wrong);
    }
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call->insn));
    put_mark(call, (LLVMValueRef[]){ numbers.first, numbers.second }, 2);
}

static void mark_call(struct call *call)
{
    emit_before(&call->e, call->insn);
    if (call->row->rule == BEGINS) {
        put_mark(call, NULL, 0);
    } else if (call->row->rule == CHANNELS) {
        put_mark(call, (LLVMValueRef[]){ call_operand(call, 0) }, 1);
    } else if (call->row->rule == TEXEL) {
        mark_texel(call);
    } else if (call->row->rule == RESERVED) {
        put_mark(call, (LLVMValueRef[]){ call_operand(call, 0), call_operand(call, call->row->at) }, 2);
    } else if (call->row->rule < LANE) {
        mark_wrong(call);
    } else if (call->row->at < (int)LLVMGetNumArgOperands(call->insn)) {
        mark_operand(call);
    }
}

void argument_mark(struct compilation *compilation, LLVMValueRef function)
{
    struct call call = { .e = { compilation, NULL } };

    if ((compilation->options->sanitize & PPU_SANITIZE_ARGUMENT) == 0) {
        return;
    }
    struct call_list list = { .compilation = compilation };
    calls_add(&list, function);
    call.e.builder = LLVMCreateBuilderInContext(compilation->llvm);
    for (uint32_t i = 0; i < list.count; i++) {
        call.insn = list.insns[i];
        const bool is_known = read_name(&call);
        for (uint32_t r = 0; r < PPU_ARRAY_SIZE(rows) && is_known; r++) {
            call.row = &rows[r];
            if (is_row_of(call.row, call.name)) {
                mark_call(&call);
            }
        }
    }
    LLVMDisposeBuilder(call.e.builder);
}

bool argument_looks(LLVMValueRef insn)
{
    const unsigned kind =
        LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(insn)), LOOKS, (unsigned)strlen(LOOKS));

    return LLVMGetMetadata(insn, kind);
}

/* ---- when all has been inlined ---- */

/* Variables of a kernel; NULL in other functions, which do not know who has called what before. */
struct counts {
    LLVMValueRef compared; /* values that are compared among the group's work-items */
    LLVMValueRef begun;    /* copies */
};

/* False: the call is no mark. */
static bool read_mark(struct call *call, uint32_t *shown)
{
    const char *name = ir_callee(call->insn);
    uint32_t row = 0;
    int len = 0;

    if (strncmp(name, ARGUMENT_CALL, strlen(ARGUMENT_CALL)) != 0 ||
        sscanf(name + strlen(ARGUMENT_CALL), "%u.%u.%n", &row, shown, &len) != 2 || row >= PPU_ARRAY_SIZE(rows)) {
        return false;
    }
    call->row = &rows[row];
    snprintf(call->name, NAME_BYTES, "%s", name + strlen(ARGUMENT_CALL) + len);
    return true;
}

/* Finds what compares values, lowered or not. */
static void find_comparison(LLVMValueRef insn, void *opaque)
{
    struct call call = { .insn = insn };
    bool *found = opaque;
    uint32_t shown;

    if (!*found && ir_is_instruction(insn, LLVMCall)) {
        *found = strcmp(ir_callee(insn), AGREES) == 0 || (read_mark(&call, &shown) && call.row->rule == SAME);
    }
}

bool argument_compares(LLVMValueRef kernel)
{
    bool found = false;

    ir_each_instruction(kernel, find_comparison, &found);
    return found;
}

static LLVMValueRef format_of(const struct call *call, uint32_t shown)
{
    const struct emitter *e = &call->e;

    return emit_word(e, access_format(e->compilation, call->insn, "argument", call->name, shown, call->row->phrase));
}

static LLVMValueRef count_up(const struct emitter *e, LLVMValueRef variable)
{
    LLVMValueRef now = LLVMBuildLoad2(e->builder, emit_i32(e), variable, "");

    LLVMBuildStore(e->builder, LLVMBuildAdd(e->builder, now, emit_word(e, 1), ""), variable);
    return now;
}

static void compare_begun(const struct call *call, const struct counts *counts, uint32_t shown)
{
    const struct emitter *e = &call->e;
    LLVMValueRef wanted = call_operand(call, 0), begun = LLVMBuildLoad2(e->builder, emit_i32(e), counts->begun, "");

    begun = LLVMBuildZExt(e->builder, begun, emit_i64(e), "");
    guard_beside(e->compilation, e->builder, call->insn, LLVMBuildICmp(e->builder, LLVMIntSGT, wanted, begun, ""));
    LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(call->insn));
    emit_call(e, REPORT, LLVMVoidTypeInContext(e->compilation->llvm),
              (LLVMValueRef[]){ format_of(call, shown), wanted, begun, emit_number(e, 0), emit_number(e, 0) }, 5);
}

static void compare_with_others(const struct call *call, const struct counts *counts, uint32_t shown)
{
    const struct emitter *e = &call->e;
    LLVMValueRef value = call_operand(call, 0);

    if (is_pointer(value)) {
        value = LLVMBuildPtrToInt(e->builder, value, emit_i64(e), "");
    }
    emit_call(e, AGREES, LLVMVoidTypeInContext(e->compilation->llvm),
              (LLVMValueRef[]){ format_of(call, shown), count_up(e, counts->compared), value }, 3);
}

/* What the function reads or writes: read_imagei, write_imageui ... */
static enum ppu_sanitizer_channels channels_of(const char *name)
{
    const size_t len = strlen(name);

    return !is_function_of_integers(name) ? PPU_SANITIZER_FLOATS
           : name[len - 2] == 'u'         ? PPU_SANITIZER_UNSIGNED_CHANNELS
                                          : PPU_SANITIZER_SIGNED_CHANNELS;
}

/* In functions that are called, `counts` has no variables. */
static void lower_mark(const struct call *call, const struct counts *counts, uint32_t shown)
{
    const struct emitter *e = &call->e;
    LLVMTypeRef nothing = LLVMVoidTypeInContext(e->compilation->llvm);

    emit_before(e, call->insn);
    switch (call->row->rule) {
    case SAME:
        if (counts->compared) {
            compare_with_others(call, counts, shown);
        }
        break;
    case BEGINS:
        if (counts->begun) {
            count_up(e, counts->begun);
        }
        break;
    case BEGUN:
        if (counts->begun) {
            compare_begun(call, counts, shown);
        }
        break;
    case CHANNELS:
        emit_call(
            e, CHANNELS_ARE, nothing,
            (LLVMValueRef[]){ format_of(call, shown), call_operand(call, 0), emit_word(e, channels_of(call->name)) },
            3);
        break;
    case TEXEL:
        emit_call(e, TEXEL_IS, nothing,
                  (LLVMValueRef[]){ format_of(call, shown), call_operand(call, 0), call_operand(call, 1),
                                    call_operand(call, 2), call_operand(call, 3), call_operand(call, 4) },
                  6);
        break;
    case RESERVED:
        emit_call(e, RESERVATION_IS, nothing,
                  (LLVMValueRef[]){ format_of(call, shown), call_operand(call, 0), call_operand(call, 1),
                                    emit_word(e, !!strstr(call->name, "read_")) },
                  4);
        break;
    case LANE:
        emit_call(e, LANE_IS, nothing,
                  (LLVMValueRef[]){ format_of(call, shown),
                                    LLVMBuildTrunc(e->builder, call_operand(call, 0), emit_i32(e), "") },
                  2);
        break;
    default:
        emit_report(e, (uint32_t)LLVMConstIntGetZExtValue(format_of(call, shown)), call_operand(call, 0),
                    call_operand(call, 1), emit_number(e, 0), NULL);
    }
    LLVMInstructionEraseFromParent(call->insn);
}

static LLVMValueRef new_count(const struct emitter *e)
{
    LLVMValueRef count = LLVMBuildAlloca(e->builder, emit_i32(e), "");

    LLVMBuildStore(e->builder, emit_word(e, 0), count);
    return count;
}

/* True when a function that is called, and not written into the kernel, begins copies. */
static bool begins_elsewhere(const struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        if (strncmp(LLVMGetValueName2(f, &len), ARGUMENT_CALL, strlen(ARGUMENT_CALL)) != 0 ||
            !strstr(LLVMGetValueName2(f, &len), ".async_")) {
            continue;
        }
        for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use)) {
            if (!ir_is_kernel(LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(use))))) {
                return true;
            }
        }
    }
    return false;
}

void argument_check(struct compilation *compilation, LLVMValueRef function)
{
    struct call_list list = { .compilation = compilation };
    struct call call = { .e = { compilation, LLVMCreateBuilderInContext(compilation->llvm) } };
    struct counts counts = { .compared = NULL };
    uint32_t shown = 0;

    calls_add(&list, function);
    if (sanitize_has_cells(compilation, function)) {
        LLVMPositionBuilderBefore(call.e.builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
        counts.compared = new_count(&call.e);
        counts.begun = begins_elsewhere(compilation) ? NULL : new_count(&call.e);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        call.insn = list.insns[i];
        if (read_mark(&call, &shown)) {
            lower_mark(&call, &counts, shown);
        }
    }
    LLVMDisposeBuilder(call.e.builder);
}
