/* SPDX-License-Identifier: MIT */
/*
 * Finds shards of the device library: functions whose names follow each other, so that those of one name for many types
 * are together. A program calls few names, each for a few types.
 */
#include "tools/mklibrary/shards.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/library_file.h"
#include "ppu/macros.h"

#define SHARD_FUNCTIONS 256u /* of a shard, and those of the last one's name */

/* One that programs, or the compiler, may call. */
struct function {
    const char *name; /* of the library */
    const char *base; /* the source's name in it */
    size_t base_len;
    uint32_t shard;
};

struct functions {
    struct function *list;
    uint32_t count, shards;
};

static void *need(void *memory)
{
    if (!memory) {
        fputs("mklibrary: not enough memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* ---- names ---- */

/* Mangled names are _Z, the length of the source's name, that name, and types. */
static void find_base(struct function *function)
{
    char *base = NULL;
    const unsigned long len = strncmp(function->name, "_Z", 2) == 0 ? strtoul(function->name + 2, &base, 10) : 0;

    function->base = len != 0 ? base : function->name;
    function->base_len = len != 0 ? len : strlen(function->name);
}

/* libclc's own functions call these: nobody else does. */
static bool is_internal(const struct function *function)
{
    static const char prefix[] = "__clc_";

    return strncmp(function->base, prefix, strlen(prefix)) == 0;
}

static int compare_bases(const struct function *a, const struct function *b)
{
    const int order = strncmp(a->base, b->base, PPU_MIN(a->base_len, b->base_len));

    return order != 0 ? order : (a->base_len > b->base_len) - (a->base_len < b->base_len);
}

static int by_base(const void *a, const void *b)
{
    const struct function *const one = a, *const other = b;
    const int order = compare_bases(one, other);

    return order != 0 ? order : strcmp(one->name, other->name);
}

static int by_name(const void *a, const void *b)
{
    const struct function *const one = a, *const other = b;

    return strcmp(one->name, other->name);
}

static struct functions list_functions(LLVMModuleRef library)
{
    struct functions functions = { .count = 0 };
    uint32_t most = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        most++;
    }
    functions.list = need(calloc(most + 1u, sizeof(functions.list[0])));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        struct function function = { .name = LLVMGetValueName2(f, &len) };
        find_base(&function);
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage && !is_internal(&function)) {
            functions.list[functions.count++] = function;
        }
    }
    return functions;
}

/* Numbers the shards of functions that are sorted by their bases. */
static void number_shards(struct functions *functions)
{
    uint32_t begin = 0;

    for (uint32_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->list[i];
        if (i - begin >= SHARD_FUNCTIONS && compare_bases(function - 1, function) != 0) {
            begin = i;
            functions->shards++;
        }
        function->shard = functions->shards;
    }
    functions->shards += functions->count != 0;
}

/* ---- shards ---- */

/* A module that declares them gets them from the library, and what they call. */
static LLVMMemoryBufferRef cut(LLVMMemoryBufferRef whole, const struct functions *functions, uint32_t shard)
{
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("library", llvm), library;
    LLVMMemoryBufferRef view =
        LLVMCreateMemoryBufferWithMemoryRange(LLVMGetBufferStart(whole), LLVMGetBufferSize(whole), "library", 0);

    if (LLVMGetBitcodeModuleInContext2(llvm, view, &library) != 0) {
        fputs("mklibrary: the library cannot be read again\n", stderr);
        exit(EXIT_FAILURE);
    }
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(library));
    LLVMSetTarget(module, LLVMGetTarget(library));
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->list[i];
        if (function->shard == shard) {
            LLVMValueRef there = LLVMGetNamedFunction(library, function->name);
            LLVMAddFunction(module, function->name, LLVMGlobalGetValueType(there));
        }
    }
    if (LLVMLinkModules2(module, library) != 0) {
        fputs("mklibrary: a shard cannot be linked\n", stderr);
        exit(EXIT_FAILURE);
    }
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(llvm);
    return bitcode;
}

/* ---- the file ---- */

static uint32_t write_names(FILE *file, const struct functions *functions, uint32_t text)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->list[i];
        const struct library_name name = { text, function->shard };
        fwrite(&name, sizeof(name), 1, file);
        text += (uint32_t)strlen(function->name) + 1;
    }
    return text;
}

static void write_texts(FILE *file, const struct functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        fwrite(functions->list[i].name, strlen(functions->list[i].name) + 1, 1, file);
    }
}

static void write_zeros(FILE *file, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputc(0, file);
    }
}

static void write_library(FILE *file, const struct functions *functions, LLVMMemoryBufferRef *bitcodes)
{
    const struct library_head head = { functions->count, functions->shards };
    const uint32_t text = (uint32_t)(sizeof(head) + functions->count * sizeof(struct library_name) +
                                     functions->shards * sizeof(struct library_shard));

    fwrite(&head, sizeof(head), 1, file);
    const uint32_t end = write_names(file, functions, text);
    uint32_t at = end;
    for (uint32_t i = 0; i < functions->shards; i++) {
        const struct library_shard shard = { (uint32_t)ppu_align_up64(at, LIBRARY_ALIGN),
                                             (uint32_t)LLVMGetBufferSize(bitcodes[i]) };
        fwrite(&shard, sizeof(shard), 1, file);
        at = shard.at + shard.bytes;
    }
    write_texts(file, functions);
    at = end;
    for (uint32_t i = 0; i < functions->shards; i++) {
        const uint32_t begin = (uint32_t)ppu_align_up64(at, LIBRARY_ALIGN);
        write_zeros(file, begin - at);
        fwrite(LLVMGetBufferStart(bitcodes[i]), LLVMGetBufferSize(bitcodes[i]), 1, file);
        at = begin + (uint32_t)LLVMGetBufferSize(bitcodes[i]);
    }
}

bool shards_write(LLVMModuleRef library, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        return false;
    }
    struct functions functions = list_functions(library);
    LLVMMemoryBufferRef whole = LLVMWriteBitcodeToMemoryBuffer(library);
    qsort(functions.list, functions.count, sizeof(functions.list[0]), by_base);
    number_shards(&functions);
    LLVMMemoryBufferRef *bitcodes = need(calloc(functions.shards + 1u, sizeof(LLVMMemoryBufferRef)));
    for (uint32_t i = 0; i < functions.shards; i++) {
        bitcodes[i] = cut(whole, &functions, i);
    }
    qsort(functions.list, functions.count, sizeof(functions.list[0]), by_name);
    write_library(file, &functions, bitcodes);
    for (uint32_t i = 0; i < functions.shards; i++) {
        LLVMDisposeMemoryBuffer(bitcodes[i]);
    }
    LLVMDisposeMemoryBuffer(whole);
    free(bitcodes);
    free(functions.list);
    const bool failed = ferror(file) != 0;
    return fclose(file) == 0 && !failed;
}
