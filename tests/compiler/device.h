/* SPDX-License-Identifier: MIT */
/*
 * Compiles programs in OpenCL C and runs them on a device core (tests/engine/rig.h). A ring of variants makes the
 * compiler take its rarer paths: few registers, no optimisation, other waves.
 */
#ifndef TESTS_COMPILER_DEVICE_H
#define TESTS_COMPILER_DEVICE_H

#include "compiler/ppu_compiler.h"
#include "tests/engine/rig.h"

struct device_variant {
    const char *name;
    const char *options;
    uint32_t wave;
    uint32_t max_vregs;
    uint32_t max_sregs;
    struct ppu_compile_subvector subvector;
};

extern const struct device_variant device_variants[];
extern const uint32_t device_variant_count;

#define DEVICE_LAYOUTS 8u
#define DEVICE_ARGUMENTS 16u

/* Arguments of a kernel as the compiler laid them out. */
struct device_layout {
    char name[32];
    struct ppu_argument_entry arguments[DEVICE_ARGUMENTS];
    uint32_t count;
};

struct device {
    struct rig *rig;
    struct device_layout layouts[DEVICE_LAYOUTS]; /* of the program that was compiled last */
    uint32_t layout_count;
    uint64_t warp_insns; /* that all runs executed */
    uint64_t *counts;    /* of each instruction, threads that execute it on the reference executor; NULL: not kept */
    uint64_t accesses;   /* loads and stores of all threads on the reference executor */
    void (*watch)(void *opaque, uint32_t thread, uint32_t insn, const uint8_t *local); /* of the reference executor */
    void *watch_opaque;
    const struct device_variant *variant;
    struct ppu_kernel_entry kernel;
    uint8_t params[PPU_MAX_PARAM];
    uint8_t *block; /* of arguments that are not there, the first of the data; NULL: none */
    uint64_t global_offset[3];
    enum ppu_tmd_mode mode; /* of segments that leave it open */
    uint64_t printf_va;     /* of the launch's buffer; 0: none */
    uint32_t data_used;     /* bytes of the data area that buffers take */
    struct outcome outcome;
    struct ppu_tmd tmd; /* of the last run */
};

struct device *device_new(void);
void device_free(struct device *device);

/* For cmocka: a test whose state is a new device. */
int device_setup(void **state);
int device_teardown(void **state);

/* Compiles and loads; the test fails with the log when that fails. */
void device_load(struct device *device, const char *source, const char *options);
/* The same from bitcode, for launches of which the facts hold (NULL: any). */
void device_load_bitcode(struct device *device, const struct ppu_compiled *bitcode,
                         const struct ppu_compile_facts *facts);
/* The same from tests/compiler/kernels/<name>.cl. */
void device_load_file(struct device *device, const char *name, const char *options);
/* The program in tests/compiler/kernels/<name>.s, whose kernels take the arguments of those compiled last. */
void device_load_assembly(struct device *device, const char *name);
/* Text of a file there, malloc()ed. */
char *device_read(const char *file);

/* A new launch of a kernel: no buffers, no arguments. */
void device_kernel(struct device *device, const char *name);
/* A buffer of the launch, zeroed, as the host sees it; also sets argument `index` to its address. */
void *device_buffer(struct device *device, uint32_t index, uint32_t bytes);
void device_value(struct device *device, uint32_t index, const void *value, uint32_t bytes);
void device_int(struct device *device, uint32_t index, int32_t value);
void device_float(struct device *device, uint32_t index, float value);
/* Shared memory for a __local argument, behind what the kernel declares. */
void device_local(struct device *device, uint32_t index, uint32_t bytes);
/* Runs gx x gy CTAs of x x y threads; the test fails when the task faults. */
void device_run(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y);
/* Fails the test, naming variant and element, when they differ. */
void device_expect(const struct device *device, const char *what, uint32_t i, int32_t got, int32_t wanted);
/*
 * The same on the reference executor (tests/engine/reference.h), on a copy of the data: call it before device_run().
 * The copy, data_used bytes, malloc()ed.
 */
uint8_t *device_reference(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y);
/* The same; *why: why the executor gave up, or NULL. */
uint8_t *device_try_reference(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y,
                              const char **why);
/* Runs one-dimensionally at least `threads` threads. */
void device_run_threads(struct device *device, uint32_t threads, uint32_t cta);

#endif
