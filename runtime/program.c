/* SPDX-License-Identifier: MIT */
#include "runtime/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/loop_check.h"
#include "runtime/error.h"
#include "runtime/file.h"
#include "runtime/profile.h"

/* Code, kernels, lines and names; an image beyond it is no program. */
#define IMAGE_MAX_BYTES ((size_t)UINT32_MAX - 1) /* its header counts them in 32 bits */

static enum ppu_err check_image(struct ppu_program *program, const void *image, size_t bytes, struct ppu_error *error)
{
    program->image = malloc(bytes > 0 ? bytes : 1);
    if (!program->image) {
        return error_set(error, PPU_ERR_NO_MEMORY, "load a program: not enough memory for its %zu bytes", bytes);
    }
    memcpy(program->image, image, bytes);
    const char *why = ppu_program_open(program->image, bytes, &program->view);
    if (why) {
        return error_set(error, PPU_ERR_BAD_IMAGE, "load a program: %s", why);
    }
    return PPU_OK;
}

/* Says of the first kernel that needs what the device has not. */
static enum ppu_err check_device(const struct ppu_program *program, struct ppu_error *error)
{
    const struct ppu_program_view *view = &program->view;

    for (uint32_t i = 0; i < view->header->kernels; i++) {
        const struct ppu_kernel_entry *entry = &view->kernels[i];
        bool needs = (entry->flags & PPU_TMD_SUBVECTOR) != 0 || entry->shared_vregs != 0;
        if (needs && !(ppu_device_info(program->context->device)->features & PPU_FEATURE_SUBVECTOR)) {
            return error_set(error, PPU_ERR_BAD_IMAGE,
                             "load a program: kernel '%s' needs sub-vector mode, which this device has not; segments "
                             "of the forms duplicate and loop run without it",
                             view->text + entry->name);
        }
    }
    return PPU_OK;
}

/* Says which instruction is wrong, and where it comes from as far as the image knows. */
static enum ppu_err refuse_loop(const struct ppu_program_view *view, const struct ppu_loop_code *loops,
                                const struct ppu_loop_error *why, struct ppu_error *error)
{
    const uint32_t line = ppu_program_line(view, why->insn);
    char at[24] = "", loop[48] = "";
    struct ppu_insn insn = { 0 };

    (void)ppu_loop_insn(loops, why->insn, &insn);
    if (line != 0) {
        snprintf(at, sizeof(at), ", line %u", line);
    }
    if (why->begin != PPU_LOOP_NONE) {
        snprintf(loop, sizeof(loop), ", which begins at instruction %u", why->begin);
    }
    return error_set(error, PPU_ERR_BAD_IMAGE, "load a program: instruction %u%s: '%s' %s%s", why->insn, at,
                     ppu_isa_row(insn.op)->mnemonic, why->what, loop);
}

/* Loops over parts of a warp are whole, and nothing is in them that they must not have (D7). */
static enum ppu_err check_loops(const struct ppu_program *program, struct ppu_error *error)
{
    const struct ppu_program_view *view = &program->view;
    const uint32_t kernels = view->header->kernels;
    struct ppu_loop_code loops = { .code = view->code, .count = view->header->code_bytes / PPU_INSN_BYTES };
    struct ppu_loop_error why = { 0 };
    enum ppu_err err = PPU_OK;

    if (!ppu_loops_present(loops.code, loops.count)) {
        return PPU_OK;
    }
    uint32_t *entries = calloc(kernels + 1u, sizeof(*entries));
    loops.flags = calloc(loops.count, sizeof(loops.flags[0]));
    loops.loop_of = calloc(loops.count, sizeof(loops.loop_of[0]));
    loops.queued = calloc(loops.count, sizeof(loops.queued[0]));
    if (!entries || !loops.flags || !loops.loop_of || !loops.queued) {
        err = error_set(error, PPU_ERR_NO_MEMORY, "load a program: not enough memory to check its loops");
    } else {
        for (uint32_t i = 0; i < kernels; i++) {
            entries[i] = view->kernels[i].entry / PPU_INSN_BYTES;
        }
        if (!ppu_loops_check(&loops, entries, kernels, &why)) {
            err = refuse_loop(view, &loops, &why, error);
        }
    }
    free(entries);
    free(loops.flags);
    free(loops.loop_of);
    free(loops.queued);
    return err;
}

static enum ppu_err load_code(struct ppu_program *program, struct ppu_error *error)
{
    uint32_t bytes = program->view.header->code_bytes;

    enum ppu_err err = ppu_memory_alloc(program->context->device, PPU_MEMORY_VRAM, bytes, &program->code);
    if (err == PPU_OK) {
        memcpy(ppu_memory_host(program->code), program->view.code, bytes);
        err = ppu_memory_map(program->code, program->context, PPU_MAP_READ_ONLY, &program->code_va);
    }
    return err == PPU_OK
               ? err
               : error_set(error, err, "load a program: no room for %u bytes of code: %s", bytes, ppu_error_text(err));
}

static enum ppu_err load_variables(struct ppu_program *program, struct ppu_error *error)
{
    uint32_t bytes = program->view.header->variable_bytes;

    if (bytes == 0) {
        return PPU_OK;
    }
    enum ppu_err err = ppu_memory_alloc(program->context->device, PPU_MEMORY_VRAM, bytes, &program->variables);
    if (err == PPU_OK) {
        /* The memory is made of zeros, as the variables' last bytes are. */
        memcpy(ppu_memory_host(program->variables), program->view.variables,
               ppu_program_held_bytes(program->view.header));
        err = ppu_memory_map(program->variables, program->context, 0, &program->variables_va);
    }
    return err == PPU_OK ? err
                         : error_set(error, err, "load a program: no room for %u bytes of variables: %s", bytes,
                                     ppu_error_text(err));
}

static void write_addresses(struct ppu_program *program)
{
    uint8_t *const bytes[] = {
        [PPU_PROGRAM_CODE] = ppu_memory_host(program->code),
        [PPU_PROGRAM_VARIABLES] = program->variables ? ppu_memory_host(program->variables) : NULL,
    };
    const uint64_t va[] = {
        [PPU_PROGRAM_CODE] = program->code_va.va, [PPU_PROGRAM_VARIABLES] = program->variables_va.va
    };

    ppu_program_relocate(&program->view, bytes, va);
}

static enum ppu_err make_kernels(struct ppu_program *program, struct ppu_error *error)
{
    uint32_t count = program->view.header->kernels;

    program->kernels = calloc(count > 0 ? count : 1, sizeof(program->kernels[0]));
    if (!program->kernels) {
        return error_set(error, PPU_ERR_NO_MEMORY, "load a program: not enough memory for %u kernels", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct ppu_kernel_entry *entry = &program->view.kernels[i];
        program->kernels[i] = (struct ppu_kernel){ program, entry, recorder_add_kernel(program, entry) };
    }
    return PPU_OK;
}

enum ppu_err ppu_program_unload(struct ppu_program *program)
{
    if (!program) {
        return PPU_OK;
    }
    profile_program_unloaded(program);
    enum ppu_err err = ppu_memory_free(program->code), other = ppu_memory_free(program->variables);
    free(program->kernels);
    free(program->image);
    free(program);
    return err != PPU_OK ? err : other;
}

enum ppu_err ppu_program_load(struct ppu_context *context, const void *image, size_t bytes, struct ppu_program **out,
                              struct ppu_error *error)
{
    struct ppu_program *program = calloc(1, sizeof(*program));

    *out = NULL;
    if (!program) {
        return error_set(error, PPU_ERR_NO_MEMORY, "load a program: not enough memory");
    }
    program->context = context;
    enum ppu_err err = check_image(program, image, bytes, error);
    if (err == PPU_OK) {
        err = check_device(program, error);
    }
    if (err == PPU_OK) {
        err = check_loops(program, error);
    }
    if (err == PPU_OK) {
        err = load_code(program, error);
    }
    if (err == PPU_OK) {
        err = load_variables(program, error);
    }
    if (err == PPU_OK) {
        write_addresses(program);
    }
    if (err == PPU_OK) {
        err = make_kernels(program, error);
    }
    if (err != PPU_OK) {
        ppu_program_unload(program);
        return err;
    }
    profile_program_loaded(program);
    *out = program;
    return PPU_OK;
}

enum ppu_err ppu_program_load_file(struct ppu_context *context, const char *path, struct ppu_program **out,
                                   struct ppu_error *error)
{
    void *image = NULL;
    size_t bytes = 0;

    *out = NULL;
    enum ppu_err err = file_read("load the program", path, IMAGE_MAX_BYTES, &image, &bytes, error);
    if (err == PPU_OK) {
        err = ppu_program_load(context, image, bytes, out, error);
        free(image);
    }
    return err;
}

ppu_va_t ppu_program_code_va(const struct ppu_program *program)
{
    return program->code_va;
}

enum ppu_err ppu_kernel_find(struct ppu_program *program, const char *name, const struct ppu_kernel **out)
{
    const struct ppu_kernel_entry *entry = ppu_program_kernel(&program->view, name);

    *out = entry ? &program->kernels[entry - program->view.kernels] : NULL;
    return entry ? PPU_OK : PPU_ERR_NOT_FOUND;
}
