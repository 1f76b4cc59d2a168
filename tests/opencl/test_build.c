/* SPDX-License-Identifier: MIT */
/* Tests building in parts, in the background, and from the cache, and what binaries hold. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl/build/fnv.h"
#include "ppu/macros.h"
#include "tests/opencl/compiler_joined.h"
#include "tests/opencl/fixture.h"
#include "tests/opencl/store.h"

static const char *const main_source =
    "#include \"parts/scale.h\"\n"
    "kernel void k(global int *o) { o[get_global_id(0)] = scale((int)get_global_id(0)) + OFFSET; }\n";
static const char *const scale_header = "int scale(int x);\n#define OFFSET 5\n";
static const char *const scale_source = "int scale(int x) { return FACTOR * x; }\n";

static cl_program source_of(struct fixture *f, const char *text)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    return program;
}

static cl_program compiled(struct fixture *f, const char *text, const char *options, const char *header_name,
                           const char *header_text)
{
    cl_program program = source_of(f, text);
    cl_program header = header_text ? source_of(f, header_text) : NULL;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;

    check(clCompileProgram(program, 1, &f->device, options, !!header, header ? &header : NULL,
                           header ? &header_name : NULL, NULL, NULL));
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    if (header) {
        check(clReleaseProgram(header));
    }
    return program;
}

/* Runs kernel k on 64 ints: each is factor * i + offset. */
static void expect(struct fixture *f, cl_program program, int factor, int offset)
{
    cl_int error = CL_SUCCESS;
    const size_t global = 64;
    int out[64];

    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) {
        assert_int_equal(out[i], factor * i + offset);
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
}

static void parts_are_linked(void **state)
{
    struct fixture *f = *state;
    cl_program parts[2] = { compiled(f, main_source, "", "parts/scale.h", scale_header),
                            compiled(f, scale_source, "-DFACTOR=3", NULL, NULL) };
    cl_int error = CL_SUCCESS;

    cl_program whole = clLinkProgram(f->context, 1, &f->device, "", 2, parts, NULL, NULL, &error);
    check(error);
    expect(f, whole, 3, 5);
    check(clReleaseProgram(whole));
    check(clReleaseProgram(parts[0]));
    check(clReleaseProgram(parts[1]));
}

static unsigned char *binary_of(cl_program program, size_t *bytes)
{
    check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes), bytes, NULL));
    unsigned char *binary = malloc(*bytes);
    assert_non_null(binary);
    check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
    return binary;
}

static cl_program reloaded(struct fixture *f, cl_program program)
{
    size_t bytes = 0;
    cl_int status = 0, error = CL_SUCCESS;
    const unsigned char *binary = binary_of(program, &bytes);

    cl_program again = clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &binary, &status, &error);
    check(error);
    check(status);
    ((unsigned char *)(uintptr_t)binary)[bytes / 2] ^= 4;
    assert_null(clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &binary, &status, &error));
    assert_int_equal(error, CL_INVALID_BINARY);
    free((void *)(uintptr_t)binary);
    check(clReleaseProgram(program));
    return again;
}

/* A library and an object, both saved and loaded before they are linked. */
static void libraries_are_kept(void **state)
{
    struct fixture *f = *state;
    cl_program part = compiled(f, scale_source, "-DFACTOR=7", NULL, NULL);
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    cl_int error = CL_SUCCESS;

    cl_program library =
        clLinkProgram(f->context, 0, NULL, "-create-library -enable-link-options", 1, &part, NULL, NULL, &error);
    check(error);
    check(clGetProgramBuildInfo(library, f->device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program all[2] = { reloaded(f, compiled(f, main_source, "", "parts/scale.h", scale_header)),
                          reloaded(f, library) };
    cl_program whole = clLinkProgram(f->context, 0, NULL, NULL, 2, all, NULL, NULL, &error);
    check(error);
    expect(f, whole, 7, 5);
    check(clReleaseProgram(whole));
    check(clReleaseProgram(all[0]));
    check(clReleaseProgram(all[1]));
    check(clReleaseProgram(part));
    /* One object alone can be built. */
    cl_program alone =
        reloaded(f, compiled(f, "kernel void k(global int *o) { o[get_global_id(0)] = 1; }", "", NULL, NULL));
    check(clBuildProgram(alone, 0, NULL, NULL, NULL, NULL));
    expect(f, alone, 0, 1);
    check(clReleaseProgram(alone));
}

static void wrong_parts_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_program part = compiled(f, main_source, "", "parts/scale.h", scale_header), source = source_of(f, "int x");
    cl_program twice[2] = { part, part };
    const char *up = "../up.h", *name = "a.h";
    char log[1000] = "";
    cl_int error = CL_SUCCESS;
    int user = 0;

    assert_int_equal(clCompileProgram(NULL, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clCompileProgram(source, 1, NULL, "", 0, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 1, &source, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 0, NULL, NULL, NULL, &user), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(source, 0, NULL, "--wrong", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_COMPILER_OPTIONS);
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 1, &source, &up, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    cl_program nobody = (cl_program)f->context;
    assert_int_equal(clCompileProgram(source, 0, NULL, "", 1, &nobody, &name, NULL, NULL), CL_INVALID_PROGRAM);
    assert_null(clLinkProgram(NULL, 0, NULL, "", 1, &part, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);
    assert_null(clLinkProgram(f->context, 0, NULL, "", 0, NULL, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clLinkProgram(f->context, 0, NULL, "", 1, &nobody, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_PROGRAM);
    assert_null(clLinkProgram(f->context, 0, NULL, "-enable-link-options", 1, &part, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_LINKER_OPTIONS);
    assert_null(clLinkProgram(f->context, 0, NULL, "-O3", 1, &part, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_LINKER_OPTIONS);
    assert_null(clLinkProgram(f->context, 0, NULL, "", 1, &source, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    /* What has begun has a program that tells: here a function is missing, there a kernel is there twice. */
    cl_program failed = clLinkProgram(f->context, 0, NULL, "", 1, &part, NULL, NULL, &error);
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE);
    check(clGetProgramBuildInfo(failed, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_non_null(strstr(log, "scale"));
    assert_int_equal(clBuildProgram(failed, 0, NULL, "", NULL, NULL), CL_INVALID_BINARY);
    assert_int_equal(clCompileProgram(failed, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
    check(clReleaseProgram(failed));
    failed = clLinkProgram(f->context, 0, NULL, "", 2, twice, NULL, NULL, &error);
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE);
    check(clReleaseProgram(failed));
    check(clReleaseProgram(part));
    check(clReleaseProgram(source));
}

/* ---- modules from elsewhere ---- */

#define TAG_AT 32u /* of the header: what only this user's programs can write */
#define SUM_AT 24u
#define HEADER_BYTES 64u
#define MUTANTS 24u

static cl_program load_bytes(struct fixture *f, const unsigned char *binary, size_t bytes)
{
    cl_int status = 0, error = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &binary, &status, &error);

    check(error);
    return program;
}

static bool is_tagged(cl_program program)
{
    static const unsigned char zeros[HEADER_BYTES - TAG_AT];
    size_t bytes = 0;
    unsigned char *binary = binary_of(program, &bytes);
    bool tagged = memcmp(binary + TAG_AT, zeros, sizeof(zeros)) != 0;

    free(binary);
    return tagged;
}

/* The same object as from another installation. */
static cl_program estranged(struct fixture *f, cl_program program)
{
    size_t bytes = 0;
    unsigned char *binary = binary_of(program, &bytes);

    binary[TAG_AT] ^= 1;
    cl_program foreign = load_bytes(f, binary, bytes);
    free(binary);
    check(clReleaseProgram(program));
    return foreign;
}

static void foreign_modules_are_used(void **state)
{
    struct fixture *f = *state;
    cl_program own = compiled(f, scale_source, "-DFACTOR=9", NULL, NULL);
    cl_program parts[2] = { estranged(f, compiled(f, main_source, "", "parts/scale.h", scale_header)), own };
    cl_int error = CL_SUCCESS;

    assert_true(is_tagged(own));
    cl_program whole = clLinkProgram(f->context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    check(error);
    expect(f, whole, 9, 5);
    check(clReleaseProgram(whole));
    /* What is made of it comes from elsewhere too. */
    cl_program library = clLinkProgram(f->context, 0, NULL, "-create-library", 2, parts, NULL, NULL, &error);
    check(error);
    assert_false(is_tagged(library));
    assert_int_equal(clBuildProgram(parts[0], 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    whole = clLinkProgram(f->context, 0, NULL, "", 1, &library, NULL, NULL, &error);
    check(error);
    expect(f, whole, 9, 5);
    check(clReleaseProgram(whole));
    check(clReleaseProgram(library));
    check(clReleaseProgram(parts[0]));
    check(clReleaseProgram(parts[1]));
}

static bool is_joined; /* the compiler is a part of this program */

bool compiler_joined_within(void)
{
    is_joined = true;
    return true;
}

/* Fails with CL_COMPILER_NOT_AVAILABLE, and tells why: nothing else compiles it. */
static void expect_no_process(struct fixture *f, cl_program foreign)
{
    char log[1000] = "";

    assert_int_equal(clBuildProgram(foreign, 0, NULL, NULL, NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
    check(clGetProgramBuildInfo(foreign, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_string_equal(log, "error: a variant, or a module that this installation has not compiled, is compiled in a "
                             "process of its own, which cannot be started: No such file or directory\n");
}

/* The joined machine looks for the process's program from the current folder on (compiler_joined.c). */
static void foreign_modules_need_their_process(void **state)
{
    static const char *const text = "kernel void k(global int *o) { o[get_global_id(0)] = 8; }";
    struct fixture *f = *state;
    char here[PATH_MAX], folder[] = "/tmp/ppu-build-XXXXXX";
    cl_program own = compiled(f, text, "", NULL, NULL), foreign = estranged(f, compiled(f, text, "", NULL, NULL));

    if (is_joined) {
        assert_non_null(getcwd(here, sizeof(here)));
        assert_non_null(mkdtemp(folder));
        assert_int_equal(chdir(folder), 0);
        expect_no_process(f, foreign);
        check(clBuildProgram(own, 0, NULL, NULL, NULL, NULL));
        assert_int_equal(chdir(here), 0);
        rmdir(folder);
        expect(f, own, 0, 8);
        check(clBuildProgram(foreign, 0, NULL, NULL, NULL, NULL)); /* the same module, with its process */
        expect(f, foreign, 0, 8);
    }
    check(clReleaseProgram(foreign));
    check(clReleaseProgram(own));
    if (!is_joined) {
        print_message("# a library finds the program beside itself\n");
        skip();
    }
}

static void set_sum(unsigned char *binary, size_t bytes)
{
    const uint64_t sum = fnv_of(binary + HEADER_BYTES, bytes - HEADER_BYTES);

    memcpy(binary + SUM_AT, &sum, sizeof(sum));
}

/* What LLVM makes of it is its own affair: the program goes on, and is told. */
static void damaged_modules_hurt_nobody(void **state)
{
    struct fixture *f = *state;
    cl_program object = compiled(f, "kernel void k(global int *o) { o[get_global_id(0)] = 1; }", "", NULL, NULL);
    uint64_t random = fixture_seed();
    size_t bytes = 0;
    unsigned char *binary = binary_of(object, &bytes), *mutant = malloc(bytes);
    uint32_t built = 0, refused = 0, crashed = 0;

    assert_non_null(mutant);
    for (uint32_t i = 0; i < MUTANTS; i++) {
        char log[1000] = "";
        memcpy(mutant, binary, bytes);
        for (uint32_t n = fixture_random(&random) % 4 + 1; n > 0; n--) {
            size_t at = HEADER_BYTES + fixture_random(&random) % (bytes - HEADER_BYTES);
            mutant[at] ^= (unsigned char)(1u << fixture_random(&random) % 8);
        }
        set_sum(mutant, bytes);
        cl_program program = load_bytes(f, mutant, bytes);
        cl_int error = clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        assert_true(error == CL_SUCCESS || (error == CL_BUILD_PROGRAM_FAILURE && log[0] != '\0'));
        crashed += !!strstr(log, "in a process of its own, which ");
        built += error == CL_SUCCESS;
        refused += error != CL_SUCCESS;
        check(clReleaseProgram(program));
    }
    print_message("# %u built, %u refused, %u of them by a process that ended\n", built, refused, crashed);
    assert_true(refused > 0);
    free(mutant);
    free(binary);
    check(clReleaseProgram(object));
}

/* ---- callbacks ---- */

struct told {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t calls;
    pthread_t thread;
};

static void CL_CALLBACK tell(cl_program program, void *user)
{
    struct told *told = user;

    (void)program;
    pthread_mutex_lock(&told->lock);
    told->calls++;
    told->thread = pthread_self();
    pthread_cond_signal(&told->changed);
    pthread_mutex_unlock(&told->lock);
}

static void await(struct told *told, uint32_t calls)
{
    pthread_mutex_lock(&told->lock);
    while (told->calls < calls) {
        pthread_cond_wait(&told->changed, &told->lock);
    }
    pthread_mutex_unlock(&told->lock);
}

/* The call returns while the compiler works; the program can be asked, but not be built or used. */
static void builds_go_on_alone(void **state)
{
    struct fixture *f = *state;
    struct told told = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    cl_program program = source_of(f, "kernel void k(global int *o) { o[get_global_id(0)] = 2; }");
    cl_program wrong = source_of(f, "kernel void k(global int *o) { o[0] = nothing; }");
    cl_build_status status = CL_BUILD_NONE;
    cl_int error = CL_SUCCESS;

    /* clang waits until somebody has made a file. */
    char gate[] = "/tmp/ppu-gate-XXXXXX", command[200];
    assert_non_null(mkdtemp(gate));
    snprintf(command, sizeof(command), "%s/clang", gate);
    FILE *script = fopen(command, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\nwhile [ ! -e %s/open ]; do sleep 0.01; done\nexec clang-19 \"$@\"\n", gate);
    fclose(script);
    chmod(command, 0700);
    setenv("PPU_CLANG", command, 1);
    check(clBuildProgram(program, 1, &f->device, "", tell, &told));
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_BUILD_IN_PROGRESS);
    assert_int_equal(clBuildProgram(program, 1, &f->device, "", tell, &told), CL_INVALID_OPERATION);
    assert_null(clCreateKernel(program, "k", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    assert_null(clLinkProgram(f->context, 0, NULL, "", 1, &program, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    snprintf(command, sizeof(command), "%s/open", gate);
    fclose(fopen(command, "w"));
    await(&told, 1);
    assert_false(pthread_equal(told.thread, pthread_self()));
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_BUILD_SUCCESS);
    expect(f, program, 0, 2);
    check(clBuildProgram(wrong, 0, NULL, "", tell, &told));
    await(&told, 2);
    check(clGetProgramBuildInfo(wrong, f->device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    /* A program may be given up while it is being built. */
    check(clBuildProgram(wrong, 0, NULL, "", tell, &told));
    check(clReleaseProgram(wrong));
    await(&told, 3);
    check(clReleaseProgram(program));
    unsetenv("PPU_CLANG");
    remove(command);
    snprintf(command, sizeof(command), "%s/clang", gate);
    remove(command);
    rmdir(gate);
}

/* ---- cache ---- */

static void damage_entry(const char *path)
{
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    fseek(file, -100, SEEK_END);
    int byte = fgetc(file);
    fseek(file, -100, SEEK_END);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void cut_entry(const char *path)
{
    assert_int_equal(truncate(path, 50), 0);
}

static void build_and_run(struct fixture *f, const char *text, const char *options, int value)
{
    cl_program program = source_of(f, text);

    check(clBuildProgram(program, 0, NULL, options, NULL, NULL));
    expect(f, program, 0, value);
    check(clReleaseProgram(program));
}

static void cache_spares_clang(void **state)
{
    static const char *const text = "kernel void k(global int *o) { o[get_global_id(0)] = VALUE; }";
    static const char *const dated = "kernel void k(global int *o) { o[get_global_id(0)] = sizeof(__DATE__) - 7; }";
    static const char *const including =
        "#include \"/dev/null\"\nkernel void k(global int *o) { o[get_global_id(0)] = 6; }";
    struct fixture *f = *state;
    struct store store;
    const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    store_open(&store);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 1);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 1);
    /* Another option or another compiler gets other entries. */
    build_and_run(f, text, "-DVALUE=2", 2);
    assert_int_equal(store_compilations(&store), 2);
    assert_int_equal(utimensat(AT_FDCWD, store.clang, times, 0), 0);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 3);
    /* Damaged entries are made again. */
    assert_int_equal(store_each(&store, damage_entry), 3);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 4);
    store_each(&store, cut_entry);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 5);
    build_and_run(f, text, "-DVALUE=1", 1);
    assert_int_equal(store_compilations(&store), 5);
    /* What depends on more than the key says is not kept. */
    for (long i = 1; i <= 2; i++) {
        build_and_run(f, dated, "", 5);
        build_and_run(f, including, "", 6);
        build_and_run(f, text, "-DVALUE=sizeof(__TIME__)", 9);
        assert_int_equal(store_compilations(&store), 5 + 3 * i);
    }
    store_close(&store);
}

/* ---- what a kernel says of itself ---- */

static void kernels_describe_themselves(void **state)
{
    static const char *const text =
        "kernel __attribute__((reqd_work_group_size(4, 2, 1))) __attribute__((work_group_size_hint(8, 1, 1)))\n"
        "__attribute__((vec_type_hint(uchar4)))\n"
        "void k(global const float4 *restrict a, volatile global int *b, constant uchar *c, local char *d, uint e) {}\n";
    static const struct {
        const char *type;
        cl_kernel_arg_address_qualifier address;
        cl_kernel_arg_type_qualifier qualifiers;
    } expected[] = {
        { "float4*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT },
        { "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE },
        { "uchar*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST },
        { "char*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE },
        { "uint", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE },
    };
    struct fixture *f = *state;
    cl_program program = source_of(f, text);
    char answer[200] = "";
    cl_kernel kernels[2] = { NULL, NULL };
    cl_uint count = 0;
    size_t group[3] = { 0, 0, 0 };

    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    assert_int_equal(clCreateKernelsInProgram(program, 0, kernels, &count), CL_INVALID_VALUE);
    check(clCreateKernelsInProgram(program, 0, NULL, &count));
    assert_int_equal(count, 1);
    check(clCreateKernelsInProgram(program, 2, kernels, &count));
    check(clGetKernelInfo(kernels[0], CL_KERNEL_ATTRIBUTES, sizeof(answer), answer, NULL));
    assert_string_equal(answer, "reqd_work_group_size(4,2,1) work_group_size_hint(8,1,1) vec_type_hint(uchar4)");
    check(
        clGetKernelWorkGroupInfo(kernels[0], f->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group), group, NULL));
    assert_int_equal(group[0] + 10 * group[1] + 100 * group[2], 124);
    for (cl_uint i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        cl_kernel_arg_address_qualifier address = 0;
        cl_kernel_arg_type_qualifier qualifiers = 0;
        check(clGetKernelArgInfo(kernels[0], i, CL_KERNEL_ARG_TYPE_NAME, sizeof(answer), answer, NULL));
        check(clGetKernelArgInfo(kernels[0], i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address), &address, NULL));
        check(clGetKernelArgInfo(kernels[0], i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifiers), &qualifiers, NULL));
        assert_string_equal(answer, expected[i].type);
        assert_int_equal(address, expected[i].address);
        assert_int_equal(qualifiers, expected[i].qualifiers);
    }
    assert_int_equal(clGetKernelArgInfo(kernels[0], 5, CL_KERNEL_ARG_NAME, 0, NULL, NULL), CL_INVALID_ARG_INDEX);
    check(clReleaseKernel(kernels[0]));
    check(clReleaseProgram(program));
}

/* Names of the optional parts of OpenCL C 3.0, and of extensions that change the language. */
static const char *const optional_names[] = {
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_device_enqueue",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "cl_ext_float_atomics",
    "cl_khr_byte_addressable_store",
    "cl_khr_extended_bit_ops",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroups",
};

#define OPTIONAL PPU_ARRAY_SIZE(optional_names)

static bool is_reported(struct fixture *f, const char *name)
{
    cl_name_version features[64];
    char extensions[8000] = "", word[100];
    size_t bytes = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_FEATURES, sizeof(features), features, &bytes));
    for (size_t i = 0; i < bytes / sizeof(features[0]); i++) {
        if (strcmp(features[i].name, name) == 0) {
            return true;
        }
    }
    check(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL));
    snprintf(word, sizeof(word), "%s ", name);
    return strstr(extensions, word);
}

/* A macro is there when the device says that it has what it stands for, and only then. */
static void macros_tell_what_there_is(void **state)
{
    struct fixture *f = *state;
    char text[8000] = "kernel void k(global int *o) {\n";
    cl_int error = CL_SUCCESS;
    const size_t one = 1;
    int out[OPTIONAL + 2];

    for (size_t i = 0; i < OPTIONAL; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "#ifdef %s\no[%zu] = 1;\n#endif\n",
                 optional_names[i], i);
    }
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "#ifdef __IMAGE_SUPPORT__\no[%zu] = 1;\n#endif\no[%zu] = __OPENCL_VERSION__;\n}\n", OPTIONAL,
             OPTIONAL + 1);
    cl_program program = source_of(f, text);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (size_t i = 0; i < OPTIONAL; i++) {
        if (out[i] != (int)is_reported(f, optional_names[i])) {
            fail_msg("%s: %d in the language", optional_names[i], out[i]);
        }
    }
    assert_int_equal(out[OPTIONAL], 1);
    assert_int_equal(out[OPTIONAL + 1], 300);
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

static void programs_need_no_kernel(void **state)
{
    struct fixture *f = *state;
    cl_program program = source_of(f, "int f(int x) { return x; }");
    size_t kernels = 1;
    cl_uint count = 1;
    cl_int error = CL_SUCCESS;

    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    check(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
    assert_int_equal(kernels, 0);
    check(clCreateKernelsInProgram(program, 0, NULL, &count));
    assert_int_equal(count, 0);
    assert_null(clCreateKernel(program, "f", &error));
    assert_int_equal(error, CL_INVALID_KERNEL_NAME);
    check(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("parts are compiled with headers and linked [F6]", parts_are_linked),
        cl_test("objects and libraries are saved, loaded and linked; damaged ones are refused [F6]",
                libraries_are_kept),
        cl_test("modules from elsewhere are compiled apart [F6]", foreign_modules_are_used),
        cl_test("modules from elsewhere are compiled by nobody but their process [F6]",
                foreign_modules_need_their_process),
        cl_test("damaged modules take no program along [F6]", damaged_modules_hurt_nobody),
        cl_test("wrong parts get their errors, and a failed link tells why [F6]", wrong_parts_are_refused),
        cl_test("a build with a callback goes on alone [F6]", builds_go_on_alone),
        cl_test("what was compiled once is found on disk, unless anything has changed [F5]", cache_spares_clang),
        cl_test("a kernel tells its arguments and attributes [F6]", kernels_describe_themselves),
        cl_test("macros of the language tell what the device reports [F6]", macros_tell_what_there_is),
        cl_test("a program without kernels can be built [F6]", programs_need_no_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
