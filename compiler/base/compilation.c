/* SPDX-License-Identifier: MIT */
#include "compiler/base/compilation.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <string.h>

static _Noreturn void end(struct unit *unit, enum ppu_compile_status status)
{
    bytes_print(&unit->log, "\n");
    unit->status = status;
    longjmp(unit->escape, 1);
}

void unit_fail(struct unit *unit, enum ppu_compile_status status, const char *format, ...)
{
    va_list args;

    bytes_print(&unit->log, "%s: error: ", unit->source_name);
    va_start(args, format);
    bytes_vprint(&unit->log, format, args);
    va_end(args);
    end(unit, status);
}

static const char *skip_spaces(const char *text)
{
    while (*text == ' ') {
        text++;
    }
    return text;
}

/* As clang does: "file:line:column: error: ", as much of it as the IR knows. */
static void print_place(struct unit *unit, LLVMValueRef value)
{
    uint32_t line = LLVMIsAInstruction(value) != NULL ? LLVMGetDebugLocLine(value) : 0;

    bytes_print(&unit->log, "%s:", unit->source_name);
    if (line != 0) {
        bytes_print(&unit->log, "%u:%u:", line, LLVMGetDebugLocColumn(value));
    }
    bytes_print(&unit->log, " error: ");
}

void unit_fail_value(struct unit *unit, const char *what, LLVMValueRef value)
{
    char *text = LLVMPrintValueToString(value);

    print_place(unit, value);
    bytes_print(&unit->log, "%s %.300s", what, skip_spaces(text));
    LLVMDisposeMessage(text);
    end(unit, unit->status != PPU_COMPILE_OK ? unit->status : PPU_COMPILE_UNSUPPORTED);
}

bool unit_dumps(const struct unit *unit, const char *name)
{
    const size_t len = strlen(name);

    for (const char *at = unit->options->dump; at != NULL && *at != 0; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == len && strncmp(at, name, len) == 0) {
            return true;
        }
    }
    return false;
}
