/* SPDX-License-Identifier: MIT */
/*
 * Declares what the back end knows by name (compiler/base/primitive.def). Numbers are those of ppu/isa.h, which is
 * included for them.
 */
#ifndef DEVICE_LIB_OPENCL_PRIMITIVE_H
#define DEVICE_LIB_OPENCL_PRIMITIVE_H

#define PPU_SR(name, text, number, of, most, doc) PPU_SR_##name = number,
enum library_register {
#include "ppu/isa.def"
};
#define PPU_ORDER(name, text, number, doc) PPU_ORDER_##name = number,
enum library_order {
#include "ppu/isa.def"
};
#define PPU_SCOPE_OF(name, text, number, doc) PPU_SCOPE_OF_##name = number,
enum library_scope {
#include "ppu/isa.def"
};

#define PPU_ROUND(name, text, number, doc) PPU_ROUND_##name = number,
enum library_round {
#include "ppu/isa.def"
};

/* Numbers rounded as asked; `round` is a constant. */
float __attribute__((const)) __ppu_float_of_long(long x, uint round);
float __attribute__((const)) __ppu_float_of_ulong(ulong x, uint round);
float __attribute__((const)) __ppu_float_of_double(double x, uint round);
double __attribute__((const)) __ppu_double_of_long(long x, uint round);
double __attribute__((const)) __ppu_double_of_ulong(ulong x, uint round);

/* Offsets into struct ppu_implicit_args (ppu/image.h). */
#define LAUNCH_GLOBAL_OFFSET(dimension) (8u * (dimension))
#define IMPLICIT_CODE_VA 24u
#define IMPLICIT_PRINTF_VA 32u
#define IMPLICIT_VARIABLES_VA 40u
#define LAUNCH_WORK_DIM 48u
#define IMPLICIT_TABLES 52u

uint __attribute__((const)) __ppu_sr(uint number);
uint __attribute__((const)) __ppu_launch(uint offset);
void __attribute__((convergent)) __ppu_barrier(void);
void __ppu_fence(uint order, uint scope);
void __attribute__((convergent)) __ppu_wait_children(void);
/* Asks for a task in no TMDQ. */
void __attribute__((convergent)) __ppu_start(uint task);
/* A start request as it stands (include/ppu/workq.h, taskq.h): task 0 asks for entries of a work queue. */
void __attribute__((convergent)) __ppu_request(uint task, uint word);
/* Appends a task, whose status is there, to the TMDQ of that last_task, and asks for it when it is the first (B4). */
void __attribute__((convergent)) __ppu_follow(ulong last_task, uint task, ulong status);
/* Writes the device's time to a semaphore (ppu/sem.h). */
void __attribute__((convergent)) __ppu_stamp(ulong sem);
/* Releases a semaphore, which wakes a channel that waits for it. */
void __attribute__((convergent)) __ppu_release(ulong sem, uint payload);
long __attribute__((const)) __ppu_mulhi64(long a, long b);
ulong __attribute__((const)) __ppu_mulhiu64(ulong a, ulong b);
float __attribute__((const)) __ppu_exp2(float x);
float __attribute__((const)) __ppu_log2(float x);
float __attribute__((const)) __ppu_sin(float x);
float __attribute__((const)) __ppu_cos(float x);
float __attribute__((const)) __ppu_rsqrt(float x);
/* Bits of the half that a number is rounded to; `round` is a constant. */
uint __attribute__((const)) __ppu_half_of_float(float x, uint round);
uint __attribute__((const)) __ppu_half_of_double(double x, uint round);

/* Lanes of the warp: a register of another one, what all active ones say, a word of a set of lanes (a constant one). */
uint __attribute__((convergent)) __ppu_shuffle(uint x, uint lane);
uint __attribute__((convergent)) __ppu_shuffle_up(uint x, uint by);
uint __attribute__((convergent)) __ppu_shuffle_down(uint x, uint by);
uint __attribute__((convergent)) __ppu_shuffle_xor(uint x, uint by);
bool __attribute__((convergent)) __ppu_vote_all(bool x);
bool __attribute__((convergent)) __ppu_vote_any(bool x);
uint __attribute__((convergent)) __ppu_ballot(bool x, uint word);
uint __attribute__((convergent)) __ppu_active(uint word);
/* Waits until the lanes of the warp that have not ended are all here. */
void __attribute__((convergent)) __ppu_meet(void);
/* Local memory of the work-group: two values of 8 bytes a warp. */
local void *__attribute__((const)) __ppu_group_scratch(void);

/* Functions of OpenCL C: overloaded, and always written into their caller. */
#define BUILTIN __attribute__((overloadable, always_inline))

#endif
