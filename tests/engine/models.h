/* SPDX-License-Identifier: MIT */
/*
 * Says what each arithmetic operation does to one lane, in plain C that shares nothing with the engine. Operands and
 * results are 64 bits; operations of 32 bits use and define the low halves.
 */
#ifndef TESTS_ENGINE_MODELS_H
#define TESTS_ENGINE_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/isa.h"

typedef uint64_t reference_model(uint64_t a, uint64_t b, uint64_t c);

/* NULL: not an arithmetic operation. */
extern reference_model *const reference_models[PPU_ISA_OPS];

/* CVT: types are enum ppu_type, rounding enum ppu_round. */
uint64_t reference_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat);

float reference_f(uint64_t bits);
double reference_d(uint64_t bits);
/* A NaN becomes the one that results have. */
uint64_t reference_of_f(float value);
uint64_t reference_of_d(double value);

#endif
