/* SPDX-License-Identifier: MIT */
/*
 * Surface: OpenCL binaries, SPIR-V, and what programs and the process for modules from elsewhere say to each
 * other.
 *
 * The first byte says which: a binary as it is; a module whose sum is right, with or without this user's tag; a
 * request; an answer; SPIR-V. What is accepted must lie within the bytes, and a module is this user's only with the
 * right tag.
 */
#include "opencl/build/binary.h"

#include <stdlib.h>
#include <string.h>

#include "cache/origin.h"
#include "opencl/build/fnv.h"
#include "opencl/build/foreign.h"
#include "opencl/build/spirv.h"
#include "ppu/image.h"
#include "tests/fuzz/input.h"

#define HEADER_BYTES 64u
#define MOST 1024u

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("PPU_CACHE", "off", 1); /* the key of this process */
    return 0;
}

static void must_be_within(const void *piece, size_t bytes, const uint8_t *whole, size_t count)
{
    const uint8_t *at = piece;

    if (at < whole || bytes > count || (size_t)(at - whole) > count - bytes) {
        fuzz_found("a piece of %zu bytes lies outside of %zu", bytes, count);
    }
}

static cl_int copy(struct binary *binary, const uint8_t *bytes, size_t count)
{
    const char *why = NULL;
    cl_int error = binary_copy(binary, bytes, count, &why);

    if (error == CL_INVALID_BINARY && !why) {
        fuzz_found("a binary is refused without a reason");
    }
    return error;
}

static void try_binary(const uint8_t *bytes, size_t count)
{
    struct binary binary;

    if (count == 0 || copy(&binary, bytes, count) != CL_SUCCESS) {
        return;
    }
    if (binary.type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
        const struct ppu_compile_module module = binary_module(&binary);
        must_be_within(module.bitcode, module.len_bytes, binary.at, binary.bytes);
        if (!binary.foreign) {
            fuzz_found("a module of %zu bytes has this user's tag", count);
        }
    }
    binary_free(&binary);
}

/* A module that says it was made here is believed just when it was. */
static void try_module(struct fuzz_input *input)
{
    uint8_t bitcode[MOST];
    size_t count = fuzz_below(input, 64);
    uint32_t change = fuzz_below(input, HEADER_BYTES + 64);
    uint8_t by = fuzz_u8(input);
    bool foreign = fuzz_below(input, 2) == 1;
    struct binary made, again;

    fuzz_bytes(input, bitcode, count);
    const struct ppu_compiled compiled = { bitcode, count, NULL };
    if (binary_of_module(&made, CL_PROGRAM_BINARY_TYPE_LIBRARY, &compiled, foreign) != CL_SUCCESS) {
        return;
    }
    if (change < made.bytes) {
        made.at[change] ^= by;
    }
    bool changed = change < made.bytes && by != 0;
    const uint64_t sum = fnv_of(made.at + HEADER_BYTES, count);
    memcpy(made.at + 24, &sum, sizeof(sum));
    if (change >= 24 && change < 32) {
        changed = false; /* which has made it right again */
    }
    if (copy(&again, made.at, made.bytes) == CL_SUCCESS) {
        if (again.foreign != (foreign || changed)) {
            fuzz_found("byte %u changed by %u: foreign is %d", change, by, again.foreign);
        }
        binary_free(&again);
    } else if (!changed) {
        fuzz_found("a module that was made is refused");
    }
    binary_free(&made);
}

static void try_request(const uint8_t *bytes, size_t count)
{
    static struct ppu_compile_module modules[FOREIGN_MOST_MODULES];
    static struct foreign_facts_room room;
    struct foreign_request request;
    struct ppu_compile_facts facts;

    if (!foreign_read_request(bytes, count, &request, modules)) {
        return;
    }
    for (uint32_t i = 0; i < request.modules; i++) {
        must_be_within(modules[i].bitcode, modules[i].len_bytes, bytes, count);
    }
    if (request.make == FOREIGN_VARIANT && foreign_read_facts(&modules[0], &room, &facts)) {
        must_be_within(facts.kernel, strlen(facts.kernel) + 1, bytes, count);
    }
}

static void try_answer(const uint8_t *bytes, size_t count)
{
    struct foreign_answer answer;

    if (foreign_read_answer(bytes, count, &answer) && sizeof(answer) + answer.made_bytes + answer.log_bytes != count) {
        fuzz_found("an answer of %zu bytes is taken for one of others", count);
    }
}

/*
 * What the translator is given is a module too. It may be shorter: vectors made of more parts than they have end early.
 */
static void try_respelling(const uint8_t *il, size_t count)
{
    size_t bytes = 0;
    void *made = spirv_respell(il, count, &bytes);

    if (made && spirv_wrong(made, bytes)) {
        fuzz_found("a module of %zu bytes that is wrong is made of one that is not", bytes);
    }
    free(made);
}

/* Constants lie within a module that is not wrong, and one that is set is still there. */
static void try_spirv(struct fuzz_input *input)
{
    static const uint32_t head[] = { 0x07230203u, 0x10000, 0, 100, 0 };
    uint8_t value[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    size_t left = (size_t)(input->end - input->at) / sizeof(uint32_t) * sizeof(uint32_t), count = left + sizeof(head);
    uint8_t *il = malloc(count);
    struct spirv_constant constant;

    memcpy(il, head, sizeof(head));
    fuzz_bytes(input, il + sizeof(head), left);
    for (uint32_t id = 0; id < 4 && !spirv_wrong(il, count); id++) {
        if (spirv_find_constant(il, count, id, &constant)) {
            if (constant.bytes == 0) {
                fuzz_found("a constant of %u bytes", constant.bytes);
            }
            must_be_within(il + constant.word * sizeof(uint32_t), constant.is_bool ? 4 : 12 + constant.bytes, il,
                           count);
            if (constant.bytes <= sizeof(value)) {
                spirv_set_constant(il, &constant, value);
            }
        }
    }
    if (!spirv_wrong(il, count)) {
        try_respelling(il, count);
    }
    free(il);
}

/* The heads that nearly every input would fail at. */
static void try_with_head(void (*function)(const uint8_t *bytes, size_t count), struct fuzz_input *input)
{
    static const uint32_t head[] = { FOREIGN_MAGIC, FOREIGN_VERSION };
    size_t left = (size_t)(input->end - input->at), count = left + sizeof(head);
    uint8_t *bytes = malloc(count);

    memcpy(bytes, head, sizeof(head));
    fuzz_bytes(input, bytes + sizeof(head), left);
    function(bytes, count);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);

    switch (fuzz_below(&input, 7)) {
    case 0:
        try_module(&input);
        break;
    case 1:
        try_request(input.at, (size_t)(input.end - input.at));
        break;
    case 2:
        try_with_head(try_request, &input);
        break;
    case 3:
        try_with_head(try_answer, &input);
        break;
    case 5:
        try_spirv(&input);
        break;
    case 4:
        try_answer(input.at, (size_t)(input.end - input.at));
        break;
    default:
        try_binary(input.at, (size_t)(input.end - input.at));
    }
    return 0;
}
