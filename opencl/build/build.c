/* SPDX-License-Identifier: MIT */
/*
 * Builds, compiles and links programs. A build is described first, and then made without a lock: by the calling thread
 * or, when the program wants to be called back, by a thread of its own. Its result is then put into the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/program.h"
#include "opencl/api/sanitize.h"
#include "opencl/build/cache.h"
#include "opencl/build/compile_thread.h"
#include "opencl/build/foreign.h"
#include "opencl/build/spirv.h"
#include "opencl/build/target.h"
#include "ppu/macros.h"

typedef void(CL_CALLBACK *build_notify)(cl_program, void *);

struct build {
    cl_program program; /* in use */
    /* Makes the binary; `made` gets it, and the log. */
    cl_int (*make)(const struct build *build, struct binary *made, char **log);
    char *given;                        /* options as the program says them */
    char *options;                      /* the same with what the environment adds */
    uint32_t threshold;                 /* of the device */
    struct ppu_compile_header *headers; /* texts of programs; names and list are ours */
    cl_program *header_programs;        /* in use */
    uint32_t header_count;
    struct binary *inputs; /* copies */
    uint32_t input_count;
    bool library; /* linking makes one */
    build_notify notify;
    void *user;
};

/* ---- life ---- */

static void build_free(struct build *build)
{
    for (uint32_t i = 0; i < build->header_count; i++) {
        free((char *)(uintptr_t)build->headers[i].name);
        object_drop(build->header_programs[i]);
    }
    for (uint32_t i = 0; i < build->input_count; i++) {
        binary_free(&build->inputs[i]);
    }
    free(build->headers);
    free(build->header_programs);
    free(build->inputs);
    free(build->given);
    free(build->options);
    object_drop(build->program);
    free(build);
}

/* What a debugger asks for (PPU_DEBUG_KERNELS=1) behind the options, which it frees. */
static char *debug_options(char *options)
{
    const char *text = secure_getenv("PPU_DEBUG_KERNELS");
    char *both = NULL;

    if (!options || !text || strcmp(text, "1") != 0) {
        return options;
    }
    const int bytes = asprintf(&both, "%s -g -cl-opt-disable", options);
    free(options);
    return bytes < 0 ? NULL : both;
}

static struct build *build_new(cl_program program, const char *options, build_notify notify, void *user)
{
    struct build *build = calloc(1, sizeof(*build));

    if (!build) {
        return NULL;
    }
    object_use(program);
    build->program = program;
    build->threshold = target_threshold(program->context);
    build->given = strdup(options ? options : "");
    build->options = debug_options(sanitize_options(options ? options : ""));
    build->notify = notify;
    build->user = user;
    if (!build->given || !build->options) {
        build_free(build);
        return NULL;
    }
    return build;
}

/* ---- what is made ---- */

/* `failure`: what a program that cannot be made is to this function; `options`: what wrong options are. */
static cl_int compile_error(enum ppu_compile_status status, cl_int failure, cl_int options)
{
    switch (status) {
    case PPU_COMPILE_OK:
        return CL_SUCCESS;
    case PPU_COMPILE_BAD_OPTIONS:
        return options;
    case PPU_COMPILE_NO_TOOL:
        return CL_COMPILER_NOT_AVAILABLE;
    case PPU_COMPILE_NO_MEMORY:
        return CL_OUT_OF_HOST_MEMORY;
    default:
        return failure;
    }
}

/* NULL from a compiler that is not there: why it is not. */
static char *take_log(struct ppu_compiled *compiled)
{
    char *log = compiled->log;

    compiled->log = NULL;
    if (!log && !compiler_get() && asprintf(&log, "error: %s\n", compiler_trouble()) < 0) {
        log = NULL;
    }
    return log;
}

/* The options of a compilation to an image. */
static struct ppu_compile_options image_options(const struct build *build)
{
    return target_options(build->program->context, build->threshold, build->options);
}

static enum ppu_compile_status compile_cached(const struct build *build, struct ppu_compiled *image)
{
    const struct _cl_program *program = build->program;
    const struct ppu_compile_options options = image_options(build);
    enum ppu_compile_status status = PPU_COMPILE_OK;
    char target[TARGET_TEXT_BYTES];
    struct cache_key key;

    target_text(&options, target);
    cache_key_init(&key, program->source, program->source_bytes, build->options, target);
    if (!cache_find(&key, image)) {
        const struct compiler *compiler = compile_thread_compiler();
        status =
            compiler ? compiler->compile(program->source, program->source_bytes, &options, image) : PPU_COMPILE_NO_TOOL;
        if (status == PPU_COMPILE_OK) {
            cache_store(&key, image);
        }
    }
    cache_key_free(&key);
    return status;
}

static cl_int make_from_source(const struct build *build, struct binary *made, char **log)
{
    struct ppu_compiled image = { NULL, 0, NULL };
    enum ppu_compile_status status = compile_cached(build, &image);

    *log = take_log(&image);
    if (status == PPU_COMPILE_OK) {
        binary_of_image(made, &image);
    }
    compiler_free(&image);
    return compile_error(status, CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS);
}

static enum ppu_compile_status copy_bitcode(const struct ppu_compile_module *module, struct ppu_compiled *copy)
{
    *copy = (struct ppu_compiled){ malloc(module->len_bytes + 1), module->len_bytes, NULL };
    if (!copy->bytes) {
        return PPU_COMPILE_NO_MEMORY;
    }
    memcpy(copy->bytes, module->bitcode, module->len_bytes);
    return PPU_COMPILE_OK;
}

/* Modules as one; what comes from elsewhere is read in a process of its own. */
static enum ppu_compile_status join_modules(const struct build *build, const struct ppu_compile_module *modules,
                                            bool foreign, struct ppu_compiled *whole)
{
    if (build->input_count == 1 && !build->library) {
        return copy_bitcode(&modules[0], whole);
    }
    if (foreign) {
        const struct ppu_compile_options options = image_options(build);
        return foreign_compile(FOREIGN_LIBRARY, &options, modules, build->input_count, whole);
    }
    const struct compiler *compiler = compile_thread_compiler();
    return compiler ? compiler->link(modules, build->input_count, whole) : PPU_COMPILE_NO_TOOL;
}

static enum ppu_compile_status make_image(const struct build *build, const struct ppu_compiled *whole, bool foreign,
                                          struct ppu_compiled *image)
{
    const struct ppu_compile_module module = { whole->bytes, whole->len_bytes };
    struct ppu_compile_options options = image_options(build);
    const struct compiler *compiler = compile_thread_compiler();
    enum ppu_compile_status status = compiler ? compiler->read_target(&options, image) : PPU_COMPILE_NO_TOOL;

    if (status != PPU_COMPILE_OK) {
        return status;
    }
    compiler_free(image);
    options.options = NULL;
    return foreign ? foreign_compile(FOREIGN_IMAGE, &options, &module, 1, image)
                   : compiler->compile_bitcode(whole->bytes, whole->len_bytes, &options, image);
}

static bool has_foreign(const struct build *build)
{
    bool foreign = false;

    for (uint32_t i = 0; i < build->input_count; i++) {
        foreign |= build->inputs[i].foreign;
    }
    return foreign;
}

/* Takes the program's image, or the library; an executable keeps the bitcode for variants. */
static cl_int take_made(const struct build *build, struct binary *made, struct ppu_compiled *whole,
                        struct ppu_compiled *image, bool foreign)
{
    if (build->library) {
        return binary_of_module(made, CL_PROGRAM_BINARY_TYPE_LIBRARY, whole, foreign);
    }
    binary_of_image(made, image);
    made->foreign = foreign;
    made->module = *whole;
    *whole = (struct ppu_compiled){ NULL, 0, NULL };
    return CL_SUCCESS;
}

/* `failure`: what modules that cannot be used are to this function. */
static cl_int make_of_inputs(const struct build *build, struct binary *made, char **log, cl_int failure, cl_int options)
{
    struct ppu_compile_module *modules = calloc(build->input_count, sizeof(modules[0]));
    struct ppu_compiled whole = { NULL, 0, NULL }, image = { NULL, 0, NULL };
    bool foreign = has_foreign(build);

    if (!modules) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < build->input_count; i++) {
        modules[i] = binary_module(&build->inputs[i]);
    }
    enum ppu_compile_status status = join_modules(build, modules, foreign, &whole);
    bool joined = status == PPU_COMPILE_OK;
    free(modules);
    if (joined && !build->library) {
        status = make_image(build, &whole, foreign, &image);
    }
    *log = take_log(joined && !build->library ? &image : &whole);
    cl_int error = compile_error(status, failure, options);
    if (error == CL_SUCCESS) {
        error = take_made(build, made, &whole, &image, foreign);
    }
    compiler_free(&whole);
    compiler_free(&image);
    return error;
}

/* Makes the binary of a program that was loaded, whose own binary is the only input. */
static cl_int make_from_binary(const struct build *build, struct binary *made, char **log)
{
    if (build->inputs[0].type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
        *made = build->inputs[0];
        build->inputs[0] = (struct binary){ .at = NULL };
        return CL_SUCCESS;
    }
    return make_of_inputs(build, made, log, CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS);
}

/* ---- of intermediate language ---- */

/* The module as the translator reads it, with its specialization constants as they are now; to be freed. NULL: no
 * memory. */
static uint8_t *copy_il(cl_program program, size_t *bytes)
{
    pthread_mutex_lock(&program->lock);
    uint8_t *il = spirv_respell(program->specialized, program->il_bytes, bytes);
    pthread_mutex_unlock(&program->lock);
    return il;
}

/* Options are those of a program from source, and refused like its own. */
static enum ppu_compile_status translate(const struct build *build, struct ppu_compiled *bitcode)
{
    const struct compiler *compiler = compile_thread_compiler();
    char path[PATH_MAX];

    if (!compiler || !spirv_translator(path)) {
        return PPU_COMPILE_NO_TOOL;
    }
    enum ppu_compile_status status = compiler->check_options(build->options, bitcode);
    char *notes = bitcode->log;
    size_t bytes = 0;
    uint8_t *il = status == PPU_COMPILE_OK ? copy_il(build->program, &bytes) : NULL;
    if (il) {
        status = foreign_translate(path, il, bytes, bitcode);
    } else if (status == PPU_COMPILE_OK) {
        status = PPU_COMPILE_NO_MEMORY;
    }
    if (il && (!bitcode->log || *bitcode->log == '\0')) {
        free(bitcode->log);
        bitcode->log = notes;
    } else if (il) {
        free(notes);
    }
    free(il);
    return status;
}

/* Nobody here has compiled it, so the bitcode is foreign, as what it was translated from is. */
static cl_int make_from_il(const struct build *build, struct binary *made, char **log)
{
    struct ppu_compiled bitcode = { NULL, 0, NULL }, image = { NULL, 0, NULL };
    enum ppu_compile_status status = translate(build, &bitcode);

    if (status == PPU_COMPILE_OK) {
        status = make_image(build, &bitcode, true, &image);
    }
    *log = take_log(image.log && *image.log != '\0' ? &image : &bitcode);
    cl_int error = compile_error(status, CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS);
    if (error == CL_SUCCESS) {
        error = take_made(build, made, &bitcode, &image, true);
    }
    compiler_free(&bitcode);
    compiler_free(&image);
    return error;
}

static cl_int make_object_of_il(const struct build *build, struct binary *made, char **log)
{
    struct ppu_compiled bitcode = { NULL, 0, NULL };
    enum ppu_compile_status status = translate(build, &bitcode);
    cl_int error = compile_error(status, CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_COMPILER_OPTIONS);

    *log = take_log(&bitcode);
    if (error == CL_SUCCESS) {
        error = binary_of_module(made, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, &bitcode, true);
    }
    compiler_free(&bitcode);
    return error;
}

/* ---- */

static cl_int make_object(const struct build *build, struct binary *made, char **log)
{
    const struct _cl_program *program = build->program;
    const struct ppu_compile_options options = {
        .options = build->options,
        .fork_server = fork_server_path(),
        .headers = build->headers,
        .header_count = build->header_count,
    };
    struct ppu_compiled bitcode = { NULL, 0, NULL };
    const struct compiler *compiler = compile_thread_compiler();
    enum ppu_compile_status status =
        compiler ? compiler->compile_source(program->source, program->source_bytes, &options, &bitcode)
                 : PPU_COMPILE_NO_TOOL;
    cl_int error = compile_error(status, CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_COMPILER_OPTIONS);

    *log = take_log(&bitcode);
    if (error == CL_SUCCESS) {
        error = binary_of_module(made, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, &bitcode, false);
    }
    compiler_free(&bitcode);
    return error;
}

static cl_int make_linked(const struct build *build, struct binary *made, char **log)
{
    return make_of_inputs(build, made, log, CL_LINK_PROGRAM_FAILURE, CL_INVALID_LINKER_OPTIONS);
}

/* ---- putting it into the program ---- */

/* INVALID_OPERATION: it is being built, or has kernels. */
static cl_int begin_build(struct build *build)
{
    cl_program program = build->program;
    cl_int error = CL_INVALID_OPERATION;

    pthread_mutex_lock(&program->lock);
    if (!program->building && program->kernels == 0) {
        error = CL_SUCCESS;
        program->building = true;
        program->status = CL_BUILD_IN_PROGRESS;
        program_set_text(&program->options, build->given);
        program->threshold = build->threshold;
        program_set_text(&program->log, "");
        program_forget(program);
    }
    pthread_mutex_unlock(&program->lock);
    return error;
}

static cl_int put_binary(cl_program program, struct binary *made, char *log, cl_int error)
{
    pthread_mutex_lock(&program->lock);
    if (log) {
        program_set_text(&program->log, log);
    }
    /* A binary that was loaded stays, whatever comes of it. */
    if (program->source || program->il || error == CL_SUCCESS) {
        binary_free(&program->binary);
        program->binary = *made;
    }
    if (error == CL_SUCCESS && program->binary.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
        error = program_load(program);
    }
    program->status = error == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    program->building = false;
    pthread_mutex_unlock(&program->lock);
    return error;
}

/* ---- threads ---- */

static cl_int build_run(struct build *build)
{
    struct binary made = { .at = NULL };
    char *log = NULL;
    cl_int error = build->make(build, &made, &log);

    error = put_binary(build->program, &made, log, error);
    free(log);
    if (build->notify) {
        build->notify(build->program, build->user);
    }
    build_free(build);
    return error;
}

static void build_thread(void *opaque)
{
    build_run(opaque);
}

/* Runs a build that has begun. With a callback the result is in the program. */
static cl_int build_go(struct build *build)
{
    return build->notify && compile_thread_start(build_thread, build) ? CL_SUCCESS : build_run(build);
}

/* ---- build ---- */

static cl_int check_build(cl_program program, cl_uint count, const cl_device_id *devices, bool notify, const void *user)
{
    if (!object_is(program, OBJECT_program)) {
        return CL_INVALID_PROGRAM;
    }
    return context_check_devices(program->context, count, devices, notify, user);
}

/* A link that failed has left none. */
static cl_int take_own_binary(struct build *build)
{
    cl_program program = build->program;
    const char *why = NULL;

    build->inputs = calloc(1, sizeof(build->inputs[0]));
    if (!build->inputs) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    build->input_count = 1;
    pthread_mutex_lock(&program->lock);
    cl_int error = program->binary.at ? binary_copy(&build->inputs[0], program->binary.at, program->binary.bytes, &why)
                                      : CL_INVALID_BINARY;
    if (error == CL_SUCCESS && program->binary.module.bytes) {
        bool copied = binary_copy_recipe(&build->inputs[0], &program->binary);
        error = copied ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    pthread_mutex_unlock(&program->lock);
    return error;
}

/* Begins it and goes, unless there is an error already. */
static cl_int build_start(struct build *build, cl_int error)
{
    if (error == CL_SUCCESS) {
        error = begin_build(build);
    }
    if (error == CL_SUCCESS) {
        return build_go(build);
    }
    build_free(build);
    return error;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      build_notify notify, void *user)
{
    cl_int error = check_build(program, count, devices, notify, user);

    if (error != CL_SUCCESS) {
        return error;
    }
    struct build *build = build_new(program, options, notify, user);
    if (!build) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    build->make = program->source ? make_from_source : program->il ? make_from_il : make_from_binary;
    return build_start(build, program->source || program->il ? CL_SUCCESS : take_own_binary(build));
}

/* ---- compile ---- */

static cl_int check_headers(cl_uint count, const cl_program *programs, const char **names)
{
    if ((count == 0) != !programs || (count == 0) != !names) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(programs[i], OBJECT_program) || !programs[i]->source) {
            return CL_INVALID_PROGRAM;
        }
        if (!names[i]) {
            return CL_INVALID_VALUE;
        }
    }
    return CL_SUCCESS;
}

static bool take_headers(struct build *build, cl_uint count, const cl_program *programs, const char **names)
{
    build->headers = calloc(count + 1u, sizeof(build->headers[0]));
    build->header_programs = calloc(count + 1u, sizeof(cl_program));
    if (!build->headers || !build->header_programs) {
        return false;
    }
    for (cl_uint i = 0; i < count; i++) {
        char *name = strdup(names[i]);
        if (!name) {
            return false;
        }
        object_use(programs[i]);
        build->header_programs[i] = programs[i];
        build->headers[i] = (struct ppu_compile_header){ name, programs[i]->source, programs[i]->source_bytes };
        build->header_count++;
    }
    return true;
}

cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                        cl_uint header_count, const cl_program *headers, const char **names, build_notify notify,
                        void *user)
{
    cl_int error = check_build(program, count, devices, notify, user);

    if (error == CL_SUCCESS) {
        error = check_headers(header_count, headers, names);
    }
    if (error == CL_SUCCESS && !program->source && !program->il) {
        error = CL_INVALID_OPERATION;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    struct build *build = build_new(program, options, notify, user);
    if (!build) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    build->make = program->il ? make_object_of_il : make_object;
    return build_start(build, take_headers(build, header_count, headers, names) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
}

/* ---- link ---- */

static cl_int check_link_options(const char *options, bool *library)
{
    static const char *const names[] = {
        "-cl-denorms-are-zero", "-cl-no-signed-zeros",   "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only", "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp",
        "-create-library",      "-enable-link-options",
    };
    static const char ours[] = "-cl-ppu-";
    bool open = false;

    *library = false;
    for (options += strspn(options, " \t\n"); *options != '\0'; options += strspn(options, " \t\n")) {
        size_t length = strcspn(options, " \t\n"), i = 0;
        if (strncmp(options, ours, strlen(ours)) == 0 ||
            strncmp(options, PPU_COMPILE_SANITIZE, strlen(PPU_COMPILE_SANITIZE)) == 0) {
            options += length; /* the build reads its value */
            continue;
        }
        while (i < PPU_ARRAY_SIZE(names) && (strlen(names[i]) != length || strncmp(names[i], options, length) != 0)) {
            i++;
        }
        if (i == PPU_ARRAY_SIZE(names)) {
            return CL_INVALID_LINKER_OPTIONS;
        }
        *library |= strcmp(names[i], "-create-library") == 0;
        open |= strcmp(names[i], "-enable-link-options") == 0;
        options += length;
    }
    return open && !*library ? CL_INVALID_LINKER_OPTIONS : CL_SUCCESS;
}

static cl_int check_inputs(cl_context context, cl_uint count, const cl_program *programs)
{
    if (count == 0 || !programs) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(programs[i], OBJECT_program) || programs[i]->context != context) {
            return CL_INVALID_PROGRAM;
        }
    }
    return CL_SUCCESS;
}

static cl_int copy_module(struct binary *to, cl_program from)
{
    const char *why = NULL;

    pthread_mutex_lock(&from->lock);
    cl_program_binary_type type = from->binary.type;
    bool is_module = type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
    cl_int error = from->building || !is_module ? CL_INVALID_OPERATION
                                                : binary_copy(to, from->binary.at, from->binary.bytes, &why);
    pthread_mutex_unlock(&from->lock);
    return error;
}

static cl_int take_inputs(struct build *build, cl_uint count, const cl_program *programs)
{
    cl_int error = CL_SUCCESS;

    build->inputs = calloc(count, sizeof(build->inputs[0]));
    if (!build->inputs) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < count && error == CL_SUCCESS; i++) {
        error = copy_module(&build->inputs[i], programs[i]);
        build->input_count += error == CL_SUCCESS;
    }
    return error;
}

static cl_int check_link(cl_context context, cl_uint count, const cl_device_id *devices, cl_uint input_count,
                         const cl_program *inputs, bool notify, const void *user)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    cl_int error = context_check_devices(context, count, devices, notify, user);
    return error != CL_SUCCESS ? error : check_inputs(context, input_count, inputs);
}

/* A link that has begun has a program, which says how it ended. */
static cl_program link_begin(cl_context context, const char *options, cl_uint input_count, const cl_program *inputs,
                             build_notify notify, void *user, cl_int *error)
{
    cl_program program = program_new(context);
    struct build *build = program ? build_new(program, options, notify, user) : NULL;

    *error = CL_OUT_OF_HOST_MEMORY;
    if (build) {
        build->make = make_linked;
        *error = check_link_options(build->given, &build->library);
    }
    if (*error == CL_SUCCESS) {
        *error = take_inputs(build, input_count, inputs);
    }
    if (*error == CL_SUCCESS) {
        begin_build(build); /* nobody else knows it */
        *error = build_go(build);
        return program;
    }
    if (build) {
        build_free(build);
    }
    if (program) {
        clReleaseProgram(program);
    }
    return NULL;
}

cl_program clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices, const char *options,
                         cl_uint input_count, const cl_program *inputs, build_notify notify, void *user,
                         cl_int *errcode)
{
    cl_program program = NULL;
    cl_int error = check_link(context, count, devices, input_count, inputs, notify, user);

    if (error == CL_SUCCESS) {
        program = link_begin(context, options, input_count, inputs, notify, user, &error);
    }
    if (errcode) {
        *errcode = error;
    }
    return program;
}
