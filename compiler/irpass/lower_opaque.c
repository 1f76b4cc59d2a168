/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_opaque.h"

#include "ppu/macros.h"

#include <llvm-c/IRReader.h>
#include <string.h>

#define EVENT "target(\"spirv.DeviceEvent\")"
#define ADDRESS "ptr addrspace(1)"
#define DESCRIPTOR "ptr addrspace(2)"

/* `open`: the type has parameters, and ends with the next parenthesis. */
static const struct {
    const char *from, *to;
    bool open;
} opaque_types[] = {
    { "bitcast (i64 -1 to " EVENT ")", "inttoptr (i64 -1 to " ADDRESS ")", false }, /* CLK_NULL_EVENT */
    { "target(\"spirv.Queue\")", ADDRESS, false },
    { EVENT, ADDRESS, false },
    { "target(\"spirv.Image\",", DESCRIPTOR, true },
    { "target(\"spirv.Sampler\")", "i64", false },
    { "target(\"spirv.Pipe\",", ADDRESS, true },
    { "target(\"spirv.ReserveId\")", "i64", false },
};

static bool is_opaque(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMTargetExtTypeKind;
}

/* Every value of such a type comes from a function or goes to one. */
static bool has_opaque_types(const struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        LLVMTypeRef type = LLVMGlobalGetValueType(f);
        bool has = is_opaque(LLVMGetReturnType(type));
        for (uint32_t i = 0; i < LLVMCountParams(f); i++) {
            has |= is_opaque(LLVMTypeOf(LLVMGetParam(f, i)));
        }
        if (has) {
            return true;
        }
    }
    return false;
}

/* Returns the length of the type that the text begins with, and what replaces it; 0: there is none. */
static size_t find_type(const char *text, const char *end, const char **to)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(opaque_types); i++) {
        size_t len = strlen(opaque_types[i].from);
        if (len <= (size_t)(end - text) && memcmp(text, opaque_types[i].from, len) == 0) {
            const char *last = opaque_types[i].open ? memchr(text + len, ')', (size_t)(end - text) - len) : NULL;
            *to = opaque_types[i].to;
            return last ? (size_t)(last - text) + 1 : len;
        }
    }
    return 0;
}

/* Bytes of the text before the next place where a type may begin, at least one. */
static size_t len_before_type(const char *text, const char *end)
{
    const char *at = text + 1;

    while (at < end && *at != 'b' && *at != 't') { /* each begins with one of these */
        at++;
    }
    return (size_t)(at - text);
}

/* Quotes within strings and names are written otherwise, so that nothing else can look like such a type. */
static void replace_types(struct bytes *text, const char *from)
{
    const char *end = from + strlen(from);

    while (from < end) {
        const char *to = NULL;
        size_t len = find_type(from, end, &to);
        if (len > 0) {
            bytes_add(text, to, strlen(to));
        } else {
            len = len_before_type(from, end);
            bytes_add(text, from, len);
        }
        from += len;
    }
    bytes_add_zeros(text, 1);
}

/* LLVM's interface for C cannot change the type of a value: the module is written and read again. */
void lower_opaque_types(struct compilation *compilation)
{
    struct bytes text = { .at = NULL };
    char *message = NULL;

    if (!has_opaque_types(compilation)) {
        return;
    }
    char *written = LLVMPrintModuleToString(compilation->module);
    replace_types(&text, written);
    LLVMDisposeMessage(written);
    if (text.lost) {
        bytes_free(&text);
        longjmp(compilation->no_memory, 1);
    }
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((char *)text.at, text.len - 1, "retyped");
    bytes_free(&text);
    LLVMDisposeModule(compilation->module);
    compilation->module = NULL;
    if (LLVMParseIRInContext(compilation->llvm, buffer, &compilation->module, &message) != 0) {
        bytes_print(&compilation->log, "%s\n", message);
        LLVMDisposeMessage(message);
        compilation->module = NULL;
        compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED,
                         "queues, events, images or samplers are used in a way that is not supported");
    }
    compilation->layout = LLVMGetModuleDataLayout(compilation->module);
}
