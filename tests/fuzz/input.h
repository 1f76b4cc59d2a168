/* SPDX-License-Identifier: MIT */
/*
 * Gives every fuzz target what it needs: libFuzzer's entry points, and an input that is taken field by field.
 */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A target defines the first, and the others where it needs them. 0: the input is done; -1: it is not worth keeping. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned int seed);
/* libFuzzer's own mutations, for a target's. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t most);

/* The bytes not yet taken. After the last one there are zeros, so that each prefix of an input is an input. */
struct fuzz_input {
    const uint8_t *at;
    const uint8_t *end;
};

struct fuzz_input fuzz_input(const uint8_t *bytes, size_t count);
bool fuzz_ended(const struct fuzz_input *input);
uint8_t fuzz_u8(struct fuzz_input *input);
uint16_t fuzz_u16(struct fuzz_input *input);
uint32_t fuzz_u32(struct fuzz_input *input);
uint64_t fuzz_u64(struct fuzz_input *input);
/* Less than `limit`, which is not 0; takes as many bytes as the limit needs. */
uint32_t fuzz_below(struct fuzz_input *input, uint32_t limit);
void fuzz_bytes(struct fuzz_input *input, void *to, size_t count);

/* The target has found something: prints the sentence and ends the process, so that the input is kept. */
_Noreturn void fuzz_found(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
