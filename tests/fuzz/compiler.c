/* SPDX-License-Identifier: MIT */
/*
 * Surface: LLVM IR of OpenCL kernels, as clang makes it, into the compiler's back end.
 *
 * An input is how the compiler is called, and a program (program.h). It must be compiled, in every way; its image must
 * be good; and on the device each thread must end with what the interpreted program says. An operation that is not
 * reached would show nothing, so all variables are results.
 */
#include "tests/fuzz/program.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device.h"

static struct device *device;

/* Bitcode of a text that must be IR. */
static LLVMMemoryBufferRef bitcode_of(const char *text)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef source = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "program");
    LLVMModuleRef module = NULL;
    char *message = NULL;

    if (LLVMParseIRInContext(context, source, &module, &message)) {
        fuzz_found("the target writes wrong IR: %s\n%s", message, text);
    }
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return bitcode;
}

static void compare(const struct program *program, const uint64_t *got, const uint32_t *in, const char *text,
                    const char *variant)
{
    uint64_t wanted[PROGRAM_THREADS][PROGRAM_VARIABLES];

    program_interpret(program, in, wanted);
    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        for (uint32_t v = 0; v < PROGRAM_VARIABLES; v++) {
            if (got[i * PROGRAM_VARIABLES + v] != wanted[i][v]) {
                fprintf(stderr, "%s", text);
                fuzz_found("%s: thread %u, variable %u is 0x%llx, not 0x%llx", variant, i, v,
                           (unsigned long long)got[i * PROGRAM_VARIABLES + v], (unsigned long long)wanted[i][v]);
            }
        }
    }
}

static void run(const struct program *program, const char *text)
{
    LLVMMemoryBufferRef buffer = bitcode_of(text);
    struct ppu_compiled bitcode = { (uint8_t *)(uintptr_t)LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), NULL };
    uint32_t in[PROGRAM_THREADS];

    device_load_bitcode(device, &bitcode, NULL); /* ends the program when it is refused */
    LLVMDisposeMemoryBuffer(buffer);
    device_kernel(device, "k");
    const uint64_t *out = device_buffer(device, 0, PROGRAM_THREADS * PROGRAM_VARIABLES * sizeof(uint64_t));
    uint32_t *words = device_buffer(device, 1, sizeof(in));
    for (uint32_t i = 0; i < PROGRAM_THREADS; i++) {
        in[i] = words[i] = i * 0x9e3779b9u;
    }
    device_run(device, 1, 1, PROGRAM_THREADS, 1);
    compare(program, out, in, text, device->variant->name);
}

/* Set-up is no coverage of an input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    device = device_new();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    struct program program;

    device->variant = &device_variants[fuzz_u8(&input) % device_variant_count];
    program_take(&program, &input);
    char *text = program_ir(&program);
    run(&program, text);
    free(text);
    return 0;
}
