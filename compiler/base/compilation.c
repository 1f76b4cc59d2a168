/* SPDX-License-Identifier: MIT */
#include "compiler/base/compilation.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <string.h>

static _Noreturn void end(struct compilation *compilation, enum ppu_compile_status status)
{
    bytes_print(&compilation->log, "\n");
    compilation->status = status;
    longjmp(compilation->escape, 1);
}

void compilation_fail(struct compilation *compilation, enum ppu_compile_status status, const char *format, ...)
{
    va_list args;

    bytes_print(&compilation->log, "%s: error: ", compilation->source_name);
    va_start(args, format);
    bytes_vprint(&compilation->log, format, args);
    va_end(args);
    end(compilation, status);
}

static const char *skip_spaces(const char *text)
{
    while (*text == ' ') {
        text++;
    }
    return text;
}

static uint32_t value_line(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) ? LLVMGetDebugLocLine(value) : 0;
}

/* A variable has no place in the source, but what uses it has. */
static LLVMValueRef user_with_line(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        if (value_line(LLVMGetUser(use)) != 0) {
            value = LLVMGetUser(use); /* uses stand in the order opposite to that of the source */
        }
    }
    return value;
}

/* As clang does: "file:line:column: error: ", as much of it as the IR knows. */
static void print_location(struct compilation *compilation, LLVMValueRef value)
{
    uint32_t line = value_line(value);

    bytes_print(&compilation->log, "%s:", compilation->source_name);
    if (line != 0) {
        bytes_print(&compilation->log, "%u:%u:", line, LLVMGetDebugLocColumn(value));
    }
    bytes_print(&compilation->log, " error: ");
}

void compilation_fail_at(struct compilation *compilation, enum ppu_compile_status status, LLVMValueRef at,
                         const char *format, ...)
{
    va_list args;

    print_location(compilation, value_line(at) != 0 ? at : user_with_line(at));
    va_start(args, format);
    bytes_vprint(&compilation->log, format, args);
    va_end(args);
    end(compilation, status);
}

void compilation_fail_value(struct compilation *compilation, const char *what, LLVMValueRef value)
{
    char *text = LLVMPrintValueToString(value);

    print_location(compilation, value);
    bytes_print(&compilation->log, "%s %.300s", what, skip_spaces(text));
    LLVMDisposeMessage(text);
    end(compilation, compilation->status != PPU_COMPILE_OK ? compilation->status : PPU_COMPILE_UNSUPPORTED);
}

bool compilation_dumps(const struct compilation *compilation, const char *name)
{
    const size_t len = strlen(name);

    for (const char *at = compilation->options->dump; at && *at != 0; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == len && strncmp(at, name, len) == 0) {
            return true;
        }
    }
    return false;
}
