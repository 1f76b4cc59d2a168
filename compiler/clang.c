/* SPDX-License-Identifier: MIT */
#include "clang.h"

#include "enqueue.h"
#include "headers.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 256u
#define LAST_ARGUMENTS 2u /* behind the options */

/* What the device has: all of OpenCL C 1.2 but images, and of 3.0 what is named here. */
#define EXTENSIONS                                                                                                                                      \
    "-cl-ext=-all,+cl_khr_fp64,+cl_khr_byte_addressable_store,+cl_khr_global_int32_base_atomics,"                                                       \
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,"                                                                           \
    "+cl_khr_local_int32_extended_atomics,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"                                                   \
    "+__opencl_c_program_scope_global_variables,+__opencl_c_fp64,+__opencl_c_int64,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel," \
    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices,"                                            \
    "+__opencl_c_device_enqueue"

/*
 * What clang's header defines for every SPIR target, and this machine has not. It is the first that clang reads: only
 * the source can take it back.
 */
static const char *const absent[] = {
    "__IMAGE_SUPPORT__",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_read_write_images",
    "__opencl_c_work_group_collective_functions",
    "cl_ext_float_atomics",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
};

/* What we have beyond OpenCL C (docs/spec/opencl.md). */
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
static const char prologue[] = "#define cl_ppu_nested_streams 1\n"
                               "#define PPU_ENQUEUE_FLAGS_WORK " TEXT(ENQUEUE_WORK) "\n"
                                                                                    "void ppu_wait_children(void);\n"
                                                                                    "#ifdef __opencl_c_device_enqueue\n"
                                                                                    "queue_t ppu_create_stream(void);\n"
                                                                                    "int ppu_destroy_stream(queue_t);\n"
                                                                                    "#endif\n";

static const char *const fixed_arguments[] = {
    "-x",
    "cl",
    "-target",
    "spir64",
    "-O2",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    EXTENSIONS,
    "-cl-kernel-arg-info",
    "-D__OPENCL_VERSION__=300",
    "-gline-tables-only",
    "-Wno-atomic-alignment",
    "-fno-caret-diagnostics",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
};

/* ---- options ---- */

struct arguments {
    const char *list[MAX_ARGUMENTS + 1];
    uint32_t count;
    char *text; /* of the options, cut into words */
};

/* Options of clBuildProgram that take the next word too. */
static bool takes_word(const char *option)
{
    return strcmp(option, "-D") == 0 || strcmp(option, "-I") == 0;
}

/* Everything else could name files to write or libraries to load. */
static bool is_allowed(const char *option)
{
    static const char *const names[] = {
        "-cl-single-precision-constant",
        "-cl-denorms-are-zero",
        "-cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-opt-disable",
        "-cl-strict-aliasing",
        "-cl-mad-enable",
        "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only",
        "-cl-fast-relaxed-math",
        "-cl-uniform-work-group-size",
        "-cl-no-subgroup-ifp",
        "-cl-kernel-arg-info",
        "-w",
        "-Werror",
        "-g",
        "-ffp-contract=off",
        "-ffp-contract=on",
    };

    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], option) == 0) {
            return true;
        }
    }
    return takes_word(option) || strncmp(option, "-D", 2) == 0 || strncmp(option, "-I", 2) == 0 ||
           strncmp(option, "-cl-std=", 8) == 0;
}

/* Cuts the text at spaces that are not in quotes, and takes the quotes away. */
static char *next_word(char **at)
{
    char *word = *at, *to;
    char quote = 0;

    while (*word == ' ' || *word == '\t' || *word == '\n') {
        word++;
    }
    if (*word == 0) {
        return NULL;
    }
    to = word;
    for (*at = word; **at != 0 && (quote != 0 || (**at != ' ' && **at != '\t' && **at != '\n')); (*at)++) {
        if (quote == 0 && (**at == '"' || **at == '\'')) {
            quote = **at;
        } else if (**at == quote && quote != 0) {
            quote = 0;
        } else {
            *to++ = **at;
        }
    }
    *at += **at != 0;
    *to = 0;
    return word;
}

static bool ignored(const char *option)
{
    /* clang knows no such option, and they mean nothing here. */
    return strcmp(option, "-cl-no-subgroup-ifp") == 0 || strcmp(option, "-g") == 0 ||
           strcmp(option, "-cl-kernel-arg-info") == 0 || strcmp(option, "-cl-opt-disable") == 0;
}

static enum ppu_compile_status add_options(struct arguments *arguments, const char *options, struct bytes *log)
{
    char *at, *word;
    bool pending = false;

    arguments->text = strdup(options != NULL ? options : "");
    if (arguments->text == NULL) {
        return PPU_COMPILE_NO_MEMORY;
    }
    for (at = arguments->text; (word = next_word(&at)) != NULL;) {
        if (!pending && !is_allowed(word)) {
            bytes_print(log, "error: '%s' is not an option of clBuildProgram\n", word);
            return PPU_COMPILE_BAD_OPTIONS;
        }
        if (arguments->count == MAX_ARGUMENTS - LAST_ARGUMENTS) {
            bytes_print(log, "error: more than %u options\n", MAX_ARGUMENTS);
            return PPU_COMPILE_BAD_OPTIONS;
        }
        pending = !pending && takes_word(word);
        if (!ignored(word)) {
            arguments->list[arguments->count++] = word;
        }
    }
    if (pending) {
        bytes_print(log, "error: the last option needs a word behind it\n");
        return PPU_COMPILE_BAD_OPTIONS;
    }
    return PPU_COMPILE_OK;
}

static const char *program(const struct ppu_compile_options *options)
{
    const char *path = options->clang != NULL ? options->clang : getenv(PPU_COMPILE_CLANG_VARIABLE);

    return path != NULL && *path != 0 ? path : PPU_COMPILE_CLANG;
}

/* ---- the child ---- */

/* Its input and outputs are files without names: nobody need read while another writes. */
struct streams {
    FILE *in, *out, *err;
};

static void close_streams(struct streams *streams)
{
    FILE *const files[] = { streams->in, streams->out, streams->err };

    for (int i = 0; i < 3; i++) {
        if (files[i] != NULL) {
            fclose(files[i]);
        }
    }
}

/* `path`: where the source goes that clang opens itself; NULL: it reads the stream. */
static bool open_streams(struct streams *streams, const char *path, const char *source, size_t len_bytes,
                         const char *name)
{
    *streams = (struct streams){ path != NULL ? fopen(path, "w+b") : tmpfile(), tmpfile(), tmpfile() };
    if (streams->in == NULL || streams->out == NULL || streams->err == NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        fprintf(streams->in, "#undef %s\n", absent[i]);
    }
    fputs(prologue, streams->in);
    fputs("# 1 \"", streams->in);
    for (; *name != 0; name++) {
        if (*name == '"' || *name == '\\') {
            fputc('\\', streams->in);
        }
        fputc(*name == '\n' ? ' ' : *name, streams->in);
    }
    fputs("\"\n", streams->in);
    fwrite(source, 1, len_bytes, streams->in);
    return fflush(streams->in) == 0 && fseek(streams->in, 0, SEEK_SET) == 0;
}

/* Exit status of clang, -1: it could not be run. */
static int run(const char *path, const char *const *arguments, const struct streams *streams)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1, error;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->in), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->err), 2);
    error = posix_spawnp(&pid, path, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

static void read_stream(FILE *file, struct bytes *bytes)
{
    char part[16384];
    size_t len;

    rewind(file);
    while ((len = fread(part, 1, sizeof(part), file)) != 0) {
        bytes_add(bytes, part, len);
    }
}

static enum ppu_compile_status run_on(const struct arguments *arguments, struct streams *streams, struct bytes *bitcode,
                                      struct bytes *log)
{
    int status = run(arguments->list[0], arguments->list, streams);

    read_stream(streams->err, log);
    read_stream(streams->out, bitcode);
    if (status < 0) {
        bytes_print(log, "error: '%s' cannot be run\n", arguments->list[0]);
        return PPU_COMPILE_NO_TOOL;
    }
    return status != 0 ? PPU_COMPILE_BAD_SOURCE : PPU_COMPILE_OK;
}

/* The source's own headers first, then those of -I, then those of the program's folder. */
static void add_source(struct arguments *arguments, const struct headers *headers)
{
    if (headers->folder != NULL) {
        arguments->list[arguments->count++] = "-I.";
    }
    arguments->list[arguments->count++] = headers->folder != NULL ? headers->source : "-";
}

static void add_fixed(struct arguments *arguments, const struct headers *headers)
{
    for (uint32_t i = 0; i < sizeof(fixed_arguments) / sizeof(fixed_arguments[0]); i++) {
        arguments->list[arguments->count++] = fixed_arguments[i];
    }
    if (headers->folder != NULL) {
        arguments->list[arguments->count++] = "-I";
        arguments->list[arguments->count++] = headers->folder;
    }
}

enum ppu_compile_status clang_run(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                  struct bytes *bitcode, struct bytes *log)
{
    struct arguments arguments = { .list = { program(options) }, .count = 1 };
    struct streams streams = { NULL, NULL, NULL };
    struct headers headers;
    enum ppu_compile_status result = headers_write(&headers, options, log);

    if (result == PPU_COMPILE_OK) {
        add_fixed(&arguments, &headers);
        result = add_options(&arguments, options->options, log);
        add_source(&arguments, &headers);
    }
    if (result == PPU_COMPILE_OK && !open_streams(&streams, headers.source, source, len_bytes,
                                                  options->name != NULL ? options->name : "kernel.cl")) {
        bytes_print(log, "error: no temporary file: %s\n", strerror(errno));
        result = PPU_COMPILE_NO_TOOL;
    }
    if (result == PPU_COMPILE_OK) {
        result = run_on(&arguments, &streams, bitcode, log);
    }
    close_streams(&streams);
    headers_remove(&headers);
    free(arguments.text);
    return bitcode->lost || log->lost ? PPU_COMPILE_NO_MEMORY : result;
}
