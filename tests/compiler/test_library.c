/* SPDX-License-Identifier: MIT */
/* Tests the shards of the device library: each is found by what it has, is whole, and is small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/base/primitive.h"
#include "compiler/frontend/library.h"
#include "ppu/macros.h"

#define MOST_FUNCTIONS 800u /* of a shard, called ones included */

struct shard {
    LLVMContextRef llvm;
    LLVMModuleRef module;
};

static struct shard read_shard(uint32_t number)
{
    const struct library bitcode = library_shard(number);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)bitcode.bytes, bitcode.len_bytes, "shard", 0);
    struct shard shard = { LLVMContextCreate(), NULL };

    assert_int_equal(LLVMParseBitcodeInContext2(shard.llvm, buffer, &shard.module), 0);
    LLVMDisposeMemoryBuffer(buffer);
    return shard;
}

static void drop_shard(struct shard *shard)
{
    LLVMDisposeModule(shard->module);
    LLVMContextDispose(shard->llvm);
}

static const char *name_of(LLVMValueRef function)
{
    size_t len;

    return LLVMGetValueName2(function, &len);
}

/*
 * What a program's module has to know of the device: an instruction, or of the kernels that are enqueued, or what a
 * library of sanitizers has for kernels that are checked.
 */
static bool is_left_to_compiler(LLVMValueRef function)
{
    return LLVMGetIntrinsicID(function) != 0 || primitive_find(name_of(function)) != PRIMITIVE_NONE ||
           strncmp(name_of(function), "__ppu_enqueued", strlen("__ppu_enqueued")) == 0 ||
           strncmp(name_of(function), "__ppu_sanitizer", strlen("__ppu_sanitizer")) == 0;
}

static void shards_are_whole(void **state)
{
    uint32_t largest = 0;

    (void)state;
    assert_true(library_shards() > 10);
    for (uint32_t i = 0; i < library_shards(); i++) {
        struct shard shard = read_shard(i);
        uint32_t own = 0, functions = 0;
        for (LLVMValueRef f = LLVMGetFirstFunction(shard.module); f; f = LLVMGetNextFunction(f)) {
            if (LLVMIsDeclaration(f) && !is_left_to_compiler(f)) {
                fail_msg("shard %u lacks %s", i, name_of(f));
            }
            functions += !LLVMIsDeclaration(f);
            own += !LLVMIsDeclaration(f) && library_find(name_of(f)) == i;
        }
        assert_true(own > 0);
        if (functions > MOST_FUNCTIONS) {
            fail_msg("shard %u has %u functions", i, functions);
        }
        largest = PPU_MAX(largest, functions);
        drop_shard(&shard);
    }
    print_message("# %u shards, at most %u functions\n", library_shards(), largest);
}

/* Of each family one, with types in its name, and one of ours that only the compiler calls. */
static const char *const names[] = {
    "_Z3sind",       "_Z13convert_char4Dv4_f", "_Z5clampDv16_jS_S_", "_Z6vload3mPU3AS1Kf",   "_Z4fminDhDh",
    "_Z7barrierj",   "_Z12convert_halff",      "_Z13get_global_idj", "_Z11bit_reverseDv8_t", "_Z6mul_hiii",
    "__ppu_clc_sin",
};

static void functions_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        uint32_t number = library_find(names[i]);
        if (number >= library_shards()) {
            fail_msg("no shard has %s", names[i]);
        }
        struct shard shard = read_shard(number);
        LLVMValueRef function = LLVMGetNamedFunction(shard.module, names[i]);
        assert_true(function && !LLVMIsDeclaration(function));
        drop_shard(&shard);
    }
    assert_int_equal(library_find(""), library_shards());
    assert_int_equal(library_find("_Z3sin"), library_shards());
    assert_int_equal(library_find("zzzz"), library_shards());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "shards are whole and small, and each has functions of its own", shards_are_whole, NULL, NULL, NULL },
        { "functions are found by their names, and nothing else is", functions_are_found, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
