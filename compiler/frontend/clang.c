/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/clang.h"

#include "compiler/base/enqueue_flag.h"
#include "compiler/frontend/fork_server.h"
#include "compiler/frontend/headers.h"
#include "compiler/frontend/options.h"
#include "ppu/child.h"
#include "ppu/macros.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS (256u + PPU_COMPILE_OWN_WORDS)

/* The device has all of OpenCL C 1.2, and of 3.0 what is named here. */
#define EXTENSIONS                                                                                                                                      \
    "-cl-ext=-all,+cl_khr_fp64,+cl_khr_fp16,+cl_khr_byte_addressable_store,+cl_khr_global_int32_base_atomics,"                                          \
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,"                                                                           \
    "+cl_khr_local_int32_extended_atomics,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"                                                   \
    "+__opencl_c_program_scope_global_variables,+__opencl_c_fp64,+__opencl_c_int64,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel," \
    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices,"                                            \
    "+__opencl_c_device_enqueue,+__opencl_c_images,+__opencl_c_3d_image_writes,+__opencl_c_read_write_images,"                                          \
    "+cl_khr_3d_image_writes,+cl_khr_depth_images,+__opencl_c_subgroups,+cl_khr_subgroups,+__opencl_c_pipes"

/*
 * What clang's header defines for every SPIR target, and this machine has not. It is the first that clang reads: only
 * the source can take it back.
 */
static const char *const absent[] = {
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "cl_ext_float_atomics",
    "cl_khr_kernel_clock",
};

/* These extend OpenCL C (docs/spec/opencl.md). */
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define FLAG(name, value) "#define PPU_ENQUEUE_FLAGS_" #name " " TEXT(value) "\n"
#define PRIORITY_FLAG "#define PPU_ENQUEUE_FLAGS_PRIORITY(n) ((((n)&7) + 1) << " TEXT(PPU_ENQUEUE_PRIORITY_SHIFT) ")\n"
_Static_assert(PPU_PRIORITIES == 8, "a priority is the low bits of the macro's argument");
static const char prologue[] =
    "#define cl_ppu_yield 1\n"
    "void __attribute__((convergent)) ppu_yield(void);\n"
    "void __attribute__((convergent)) ppu_yield_every(unsigned int);\n"
    "void __attribute__((convergent)) ppu_yield_chance(unsigned int);\n"
    "#define cl_ppu_nested_streams 1\n"
    "#define cl_ppu_task_queues 1\n"
    "void ppu_wait_children(void);\n"
    "__global void *ppu_heap_take(unsigned int);\n"
    "int ppu_heap_give(__global void *);\n"
    "int ppu_release_semaphore(__global void *, unsigned int);\n"
    "#ifdef __opencl_c_device_enqueue\n"
    "queue_t ppu_create_stream(void);\n"
    "int ppu_destroy_stream(queue_t);\n"
    "int ppu_push_entry(queue_t, const void *, unsigned int);\n"
    "int ppu_close_entries(queue_t);\n"
    "__global void *ppu_entry_data(queue_t);\n"
    "int ppu_free_entry(queue_t);\n"
    "int ppu_start_entry(queue_t);\n"
    "queue_t ppu_reserve_work(queue_t, unsigned int);\n"
    "int ppu_publish_work(queue_t);\n"
    "int ppu_enqueue_copy(queue_t, __global void *, const __global void *, unsigned long);\n"
    "int ppu_enqueue_wait(queue_t);\n"
    "int ppu_enqueue_acquire(queue_t, __global void *, unsigned int);\n"
    "int ppu_enqueue_release(queue_t, __global void *, unsigned int);\n"
    "int ppu_wait_room(queue_t, unsigned int);\n"
    "unsigned int ppu_work_round(queue_t);\n"
    "int ppu_end_round(queue_t, unsigned int);\n"
    "#endif\n" FLAG(WORK, ENQUEUE_WORK) FLAG(ENTRY, ENQUEUE_ENTRY) FLAG(HEAD, PPU_ENQUEUE_HEAD) PRIORITY_FLAG;

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
    "-o",
    "-",
};

#define FRONT_WORDS 2

static const char *const front_arguments[][FRONT_WORDS] = {
    [PPU_FRONT_BITCODE] = { "-emit-llvm", "-c" },
    [PPU_FRONT_PREPROCESSED] = { "-E" },
    [PPU_FRONT_FILES] = { "-M" },
    [PPU_FRONT_USER_FILES] = { "-MM" },
};

/* ---- arguments ---- */

struct arguments {
    const char *list[MAX_ARGUMENTS + 1];
    uint32_t count;
};

static void add_argument(struct arguments *arguments, const char *word)
{
    assert(arguments->count < MAX_ARGUMENTS);
    arguments->list[arguments->count++] = word;
}

/* A program with more rights than who started it does not run what that one names. */
static bool is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

static const char *program(const struct ppu_compile_options *options)
{
    const char *path = options->clang ? options->clang : secure_getenv(PPU_COMPILE_CLANG_VARIABLE);

    if (path && *path != 0) {
        return path;
    }
    return is_privileged() ? "/usr/bin/" PPU_COMPILE_CLANG : PPU_COMPILE_CLANG;
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
        if (files[i]) {
            fclose(files[i]);
        }
    }
}

/* A byte-order mark is nothing where a file begins, and what stands before the source here moves it from there. */
static size_t mark_bytes(const char *source, size_t len_bytes)
{
    static const char mark[] = "\xef\xbb\xbf";

    return len_bytes >= strlen(mark) && memcmp(source, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

/* `path`: where the source goes that clang opens itself; NULL: it reads the stream. */
static bool open_streams(struct streams *streams, const char *path, const char *source, size_t len_bytes,
                         const char *name)
{
    *streams = (struct streams){ path ? fopen(path, "w+b") : tmpfile(), tmpfile(), tmpfile() };
    if (!streams->in || !streams->out || !streams->err) {
        return false;
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(absent); i++) {
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
    size_t mark = mark_bytes(source, len_bytes);
    fwrite(source + mark, 1, len_bytes - mark, streams->in);
    return fflush(streams->in) == 0 && fseek(streams->in, 0, SEEK_SET) == 0;
}

/* Returns when it has ended. False: it was too late, and has been ended. */
static bool await_clang(pid_t pid, uint32_t most_ms)
{
    struct pollfd ended = { .fd = most_ms != 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, .events = POLLIN };
    int ready = 1;

    if (ended.fd < 0) { /* waitpid() is enough */
        return true;
    }
    do {
        ready = poll(&ended, 1, (int)most_ms);
    } while (ready < 0 && errno == EINTR);
    close(ended.fd);
    if (ready == 0) {
        kill(pid, SIGKILL);
    }
    return ready != 0;
}

/* Starts it as a process of its own. 0, or why it could not be run. */
static int spawn_clang(const char *const *arguments, const struct streams *streams, uint32_t most_ms,
                       struct fork_server_end *end)
{
    static char *bare[] = { "PATH=/usr/bin:/bin", NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->in), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->err), 2);
    int error = posix_spawnp(&pid, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments,
                             is_privileged() ? bare : environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return error;
    }
    end->late = !await_clang(pid, most_ms);
    while (waitpid(pid, &end->status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* What a run that did not come to its end has left is nothing. */
static bool clear_streams(const struct streams *streams)
{
    return ftruncate(fileno(streams->out), 0) == 0 && ftruncate(fileno(streams->err), 0) == 0 &&
           lseek(fileno(streams->out), 0, SEEK_SET) == 0 && lseek(fileno(streams->err), 0, SEEK_SET) == 0 &&
           lseek(fileno(streams->in), 0, SEEK_SET) == 0;
}

/* Exit status of clang; -1: it could not be run, errno says why, or 0: it was ended. */
static int run_clang(const char *server, const char *const *arguments, const struct streams *streams, uint32_t most_ms)
{
    const int files[] = { fileno(streams->in), fileno(streams->out), fileno(streams->err) };
    struct fork_server_end end = { false, -1 };

    if (!fork_server_run(server, arguments, files, most_ms, &end)) {
        errno = clear_streams(streams) ? spawn_clang(arguments, streams, most_ms, &end) : errno;
        if (errno != 0) {
            return -1;
        }
    }
    errno = end.late ? ETIMEDOUT : WIFEXITED(end.status) ? ENOENT : 0; /* 127: who spawns did not find it */
    return !end.late && WIFEXITED(end.status) && WEXITSTATUS(end.status) != 127 ? WEXITSTATUS(end.status) : -1;
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

static enum ppu_compile_status run_on(const struct arguments *arguments, struct streams *streams,
                                      const struct ppu_compile_options *options, struct bytes *bitcode,
                                      struct bytes *log)
{
    const uint32_t most_ms = options->clang_ms;
    int status = run_clang(options->fork_server, arguments->list, streams, most_ms), why = errno;

    read_stream(streams->err, log);
    read_stream(streams->out, bitcode);
    if (status < 0 && why == ETIMEDOUT) {
        bytes_print(log, "error: run '%s': it has not ended in %u ms\n", arguments->list[0], most_ms);
        return PPU_COMPILE_NO_TOOL;
    }
    if (status < 0) {
        bytes_print(
            log, "error: run '%s': %s; install " PPU_COMPILE_CLANG ", or name it in " PPU_COMPILE_CLANG_VARIABLE "\n",
            arguments->list[0], why != 0 ? strerror(why) : "it was ended by a signal");
        return PPU_COMPILE_NO_TOOL;
    }
    return status != 0 ? PPU_COMPILE_BAD_SOURCE : PPU_COMPILE_OK;
}

static void add_fixed(struct arguments *arguments, const struct headers *headers, enum ppu_compile_front front)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(fixed_arguments); i++) {
        add_argument(arguments, fixed_arguments[i]);
    }
    for (uint32_t i = 0; i < FRONT_WORDS && front_arguments[front][i]; i++) {
        add_argument(arguments, front_arguments[front][i]);
    }
    if (headers->folder) {
        add_argument(arguments, headers->option);
    }
}

/* The source's own headers first, then those of -I, then those of the program's folder. */
static void add_all(struct arguments *arguments, const struct headers *headers, const struct options *options,
                    const struct ppu_compile_options *wanted)
{
    add_fixed(arguments, headers, wanted->front);
    if (options->target.sanitize != 0) { /* reports name variables */
        add_argument(arguments, "-fno-discard-value-names");
    }
    for (uint32_t i = 0; i < wanted->own_count && i < PPU_COMPILE_OWN_WORDS; i++) {
        add_argument(arguments, wanted->own_words[i]);
    }
    for (uint32_t i = 0; i < options->count; i++) {
        add_argument(arguments, options->word[i]);
    }
    if (headers->folder) {
        add_argument(arguments, "-I.");
    }
    add_argument(arguments, "--");
    add_argument(arguments, headers->folder ? headers->source : "-");
}

enum ppu_compile_status clang_run(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                  struct bytes *bitcode, struct bytes *log)
{
    struct arguments arguments = { .list = { program(options) }, .count = 1 };
    struct options words = { .count = 0 };
    struct streams streams = { NULL, NULL, NULL };
    struct headers headers;
    enum ppu_compile_status result = headers_write(&headers, options, log);

    if (result == PPU_COMPILE_OK) {
        result = options_read(&words, options->options, log);
    }
    if (result == PPU_COMPILE_OK) {
        add_all(&arguments, &headers, &words, options);
    }
    if (result == PPU_COMPILE_OK &&
        !open_streams(&streams, headers.source, source, len_bytes, options->name ? options->name : "kernel.cl")) {
        bytes_print(log, "error: write a temporary file for clang: %s; TMPDIR names the folder\n", strerror(errno));
        result = PPU_COMPILE_NO_TOOL;
    }
    if (result == PPU_COMPILE_OK) {
        result = run_on(&arguments, &streams, options, bitcode, log);
    }
    close_streams(&streams);
    headers_remove(&headers);
    options_free(&words);
    return bitcode->lost || log->lost ? PPU_COMPILE_NO_MEMORY : result;
}
