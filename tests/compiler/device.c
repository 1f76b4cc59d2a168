/* SPDX-License-Identifier: MIT */
#include "tests/compiler/device.h"

#include "ppu/macros.h"
#include "tests/compiler/kept.h"
#include "tests/engine/reference.h"
#include "tools/asm/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES_AT 0x1f0000u /* in the data area: the program's variables */

/* Everything that may be a segment is one where more registers than so many are needed. */
#define SEGMENTS(how, above)                                                                        \
    {                                                                                               \
        .form = PPU_SEGMENTS_##how, .threshold_kind = PPU_THRESHOLD_REGISTERS, .threshold = (above) \
    }

const struct device_variant device_variants[] = {
    { "as it comes", "", 32, 0, 0, { 0 } },
    { "without optimisation", "-cl-opt-disable", 32, 0, 0, { 0 } },
    { "12 vector registers", "", 32, 12, 0, { 0 } },
    { "12 scalar registers", "", 32, 0, 12, { 0 } },
    { "waves of 64", "", 64, 0, 0, { 0 } },
    { "waves of 128, few registers", "", 128, 16, 12, { 0 } },
    { "few registers, no optimisation", "-cl-opt-disable", 32, 12, 10, { 0 } },
    { "waves of 64, segments", "", 64, 0, 0, SEGMENTS(ENTER, 3) },
    { "waves of 128, segments from the beginning, few registers",
      "",
      128,
      16,
      12,
      { .form = PPU_SEGMENTS_ENTER, .threshold_kind = PPU_THRESHOLD_REGISTERS, .threshold = 0, .inverted = 1 } },
    { "waves of 128, segments in loops", "", 128, 0, 0, SEGMENTS(LOOP, 2) },
    { "waves of 64, segments in loops, few registers", "", 64, 12, 12, SEGMENTS(LOOP, 0) },
    { "waves of 64, segments twice", "", 64, 0, 0, SEGMENTS(DUPLICATE, 4) },
    { "waves of 128, segments four times, few registers", "", 128, 16, 12, SEGMENTS(DUPLICATE, 2) },
};
const uint32_t device_variant_count = PPU_ARRAY_SIZE(device_variants);

struct device *device_new(void)
{
    struct device *device = calloc(1, sizeof(*device));

    assert_non_null(device);
    device->rig = rig_new(0);
    device->variant = &device_variants[0];
    return device;
}

void device_free(struct device *device)
{
    rig_free(device->rig);
    free(device);
}

int device_setup(void **state)
{
    *state = device_new();
    return 0;
}

int device_teardown(void **state)
{
    device_free(*state);
    return 0;
}

char *device_read(const char *file)
{
    char path[256];
    size_t len;

    snprintf(path, sizeof(path), "tests/compiler/kernels/%s", file);
    char *text = file_read(path, &len);
    if (!text) {
        fail_msg("cannot read %s", path);
    }
    return text;
}

/* The program's arguments, kept for kernels in assembly that take the same. */
static void keep_layouts(struct device *device)
{
    const struct ppu_program_view *program = &device->rig->program;

    device->layout_count = 0;
    for (uint32_t k = 0; k < program->header->kernels; k++) {
        const struct ppu_kernel_entry *kernel = &program->kernels[k];
        struct device_layout *layout = &device->layouts[device->layout_count];
        if (device->layout_count < DEVICE_LAYOUTS && kernel->argument_count <= DEVICE_ARGUMENTS) {
            snprintf(layout->name, sizeof(layout->name), "%s", program->text + kernel->name);
            layout->count = kernel->argument_count;
            memcpy(layout->arguments, &program->arguments[kernel->argument_first],
                   layout->count * sizeof(layout->arguments[0]));
            device->layout_count++;
        }
    }
}

static void take_image(struct device *device, enum ppu_compile_status status, struct ppu_compiled *image)
{
    if (status != PPU_COMPILE_OK) {
        fail_msg("%s: %s: %s", device->variant->name, ppu_compile_status_text(status), image->log);
    }
    free(image->log);
    rig_load_image(device->rig, (struct ppuasm_image){ image->bytes, image->len_bytes });
    keep_layouts(device);
    uint8_t *const parts[] = { rig_code(device->rig), rig_data(device->rig, VARIABLES_AT) };
    const uint64_t va[] = { CODE_VA, DATA_VA + VARIABLES_AT };
    memcpy(parts[PPU_PROGRAM_VARIABLES], device->rig->program.variables,
           ppu_program_held_bytes(device->rig->program.header));
    memset(parts[PPU_PROGRAM_VARIABLES] + ppu_program_held_bytes(device->rig->program.header), 0,
           device->rig->program.header->zero_bytes);
    ppu_program_relocate(&device->rig->program, parts, va);
}

void device_load_bitcode(struct device *device, const struct ppu_compiled *bitcode,
                         const struct ppu_compile_facts *facts)
{
    const struct ppu_compile_options options = {
        .options = device->variant->options,
        .wave = device->variant->wave,
        .max_vregs = device->variant->max_vregs,
        .max_sregs = device->variant->max_sregs,
        .subvector = device->variant->subvector,
        .facts = facts,
    };
    struct ppu_compiled image;

    take_image(device, kept_image(bitcode, &options, &image), &image);
}

void device_load(struct device *device, const char *source, const char *options)
{
    const struct device_variant *variant = device->variant;
    char all[512];
    struct ppu_compile_options compile = {
        .name = "test.cl",
        .options = all,
        .wave = variant->wave,
        .max_vregs = variant->max_vregs,
        .max_sregs = variant->max_sregs,
        .subvector = variant->subvector,
    };
    struct ppu_compiled bitcode, image;

    snprintf(all, sizeof(all), "%s %s", variant->options, options ? options : "");
    enum ppu_compile_status status = kept_source(source, &compile, &bitcode);
    if (status != PPU_COMPILE_OK) {
        take_image(device, status, &bitcode);
    }
    take_image(device, kept_image(&bitcode, &compile, &image), &image);
    ppu_compiled_free(&bitcode);
}

void device_load_file(struct device *device, const char *name, const char *options)
{
    char file[64];

    snprintf(file, sizeof(file), "%s.cl", name);
    char *text = device_read(file);
    device_load(device, text, options);
    free(text);
}

void device_load_assembly(struct device *device, const char *name)
{
    char file[64];

    snprintf(file, sizeof(file), "%s.s", name);
    char *text = device_read(file);
    rig_load_text(device->rig, text);
    free(text);
}

void device_kernel(struct device *device, const char *name)
{
    const struct ppu_kernel_entry *kernel = ppu_program_kernel(&device->rig->program, name);

    if (!kernel) {
        fail_msg("the program has no kernel %s", name);
        return;
    }
    device->kernel = *kernel;
    device->data_used = 0;
    memset(device->params, 0, sizeof(device->params));
    device->block = NULL;
    uint32_t outside =
        ppu_arguments_outside(device->rig->program.arguments + kernel->argument_first, kernel->argument_count);
    if (outside != 0) {
        const uint64_t va = DATA_VA;
        device->block = memset(rig_data(device->rig, 0), 0, outside);
        device->data_used = ppu_align_up(outside, 256);
        assert_true(device->data_used <= DATA_BYTES);
        memcpy(device->params + ppu_kernel_block_at(kernel), &va, sizeof(va));
    }
}

static const struct ppu_argument_entry *argument(const struct device *device, uint32_t index)
{
    if (device->kernel.argument_count == 0) {
        for (uint32_t i = 0; i < device->layout_count; i++) {
            const struct device_layout *layout = &device->layouts[i];
            if (strcmp(layout->name, device->rig->program.text + device->kernel.name) == 0 && index < layout->count) {
                return &layout->arguments[index];
            }
        }
    }
    assert_true(index < device->kernel.argument_count);
    return &device->rig->program.arguments[device->kernel.argument_first + index];
}

void device_value(struct device *device, uint32_t index, const void *value, uint32_t bytes)
{
    const struct ppu_argument_entry *entry = argument(device, index);

    assert_int_equal(entry->bytes, bytes);
    memcpy(entry->offset < PPU_MAX_PARAM ? device->params + entry->offset
                                         : device->block + entry->offset - PPU_MAX_PARAM,
           value, bytes);
}

void *device_buffer(struct device *device, uint32_t index, uint32_t bytes)
{
    uint32_t at = device->data_used;
    uint64_t va = DATA_VA + at;

    device->data_used = (at + bytes + 255u) & ~255u;
    assert_true(device->data_used <= DATA_BYTES);
    device_value(device, index, &va, sizeof(va));
    return memset(rig_data(device->rig, at), 0, bytes);
}

void device_int(struct device *device, uint32_t index, int32_t value)
{
    device_value(device, index, &value, sizeof(value));
}

void device_float(struct device *device, uint32_t index, float value)
{
    device_value(device, index, &value, sizeof(value));
}

void device_local(struct device *device, uint32_t index, uint32_t bytes)
{
    uint64_t offset = (device->kernel.shared_bytes + 15u) & ~15u;

    if (offset == 0) {
        offset = 16;
    }
    device->kernel.shared_bytes = (uint32_t)offset + bytes;
    device_value(device, index, &offset, sizeof(offset));
}

/* The launch as a task, its parameters complete. */
static void describe(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y)
{
    const struct ppu_kernel_entry *kernel = &device->kernel;
    struct ppu_implicit_args implicit = { .code_va = CODE_VA,
                                          .variables_va = DATA_VA + VARIABLES_AT,
                                          .printf_va = device->printf_va,
                                          .work_dim = gy * y > 1 ? 2 : 1 };

    memcpy(implicit.global_offset, device->global_offset, sizeof(implicit.global_offset));
    if (kernel->implicit_at != 0) {
        memcpy(device->params + kernel->implicit_at, &implicit, sizeof(implicit));
    }
    device->tmd = rig_tmd(device->rig, device->rig->program.text + kernel->name);
    device->tmd.shared_bytes = kernel->shared_bytes;
    rig_shape(&device->tmd, gx, gy, x, y);
}

uint8_t *device_try_reference(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y, const char **why)
{
    uint8_t *copy = malloc(device->data_used + 1);
    const struct ppu_program_view *program = &device->rig->program;
    struct reference reference = { .code = (const uint64_t *)(const void *)program->code,
                                   .insns = program->header->code_bytes / PPU_INSN_BYTES,
                                   .tmd = &device->tmd,
                                   .params = device->params,
                                   .global = copy,
                                   .global_va = DATA_VA,
                                   .accesses = &device->accesses,
                                   .counts = device->counts,
                                   .watch = device->watch,
                                   .opaque = device->watch_opaque,
                                   .reads_code = true,
                                   .global_bytes = device->data_used };

    assert_non_null(copy);
    memcpy(copy, rig_data(device->rig, 0), device->data_used);
    describe(device, gx, gy, x, y);
    device->tmd.param_bytes = device->kernel.param_bytes;
    *why = reference_run(&reference);
    return copy;
}

uint8_t *device_reference(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y)
{
    const char *why;
    uint8_t *copy = device_try_reference(device, gx, gy, x, y, &why);

    if (why) {
        fail_msg("%s: reference: %s", device->variant->name, why);
    }
    return copy;
}

void device_run(struct device *device, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y)
{
    describe(device, gx, gy, x, y);
    struct ppu_tmd tmd = device->tmd;
    tmd.mode = (uint8_t)device->mode;
    rig_params(device->rig, 0, &tmd, device->params, device->kernel.param_bytes);
    device->outcome = rig_run(device->rig, &tmd);
    device->warp_insns += device->outcome.event.warp_insns;
    if (device->outcome.faulted || device->outcome.event.kind != PPU_SLOT_DONE) {
        const struct ppu_fault_event *fault = &device->outcome.fault;
        fail_msg("%s: fault 0x%x at instruction %u, address 0x%llx, lanes 0x%x", device->variant->name, fault->code,
                 (unsigned)((fault->pc - CODE_VA) / PPU_INSN_BYTES), (unsigned long long)fault->address, fault->lanes);
    }
}

void device_expect(const struct device *device, const char *what, uint32_t i, int32_t got, int32_t wanted)
{
    if (got != wanted) {
        fail_msg("%s, %s: element %u is %d, not %d", device->variant->name, what, i, got, wanted);
    }
}

void device_run_threads(struct device *device, uint32_t threads, uint32_t cta)
{
    device_run(device, (threads + cta - 1) / cta, 1, cta, 1);
}
