/* SPDX-License-Identifier: MIT */
#include "examples/cluster/rank.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void rank_fail(const struct rank *rank, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "rank %d of %d: %s\n", rank->number, rank->ranks, text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void rank_need(const struct rank *rank, cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        rank_fail(rank, "%s: error %d", what, error);
    }
}

int rank_number(const struct rank *rank, int argc, char **argv, int index, int normal, int least, int most)
{
    char *end = NULL;

    if (index >= argc) {
        return normal;
    }
    long number = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || number < least || number > most) {
        rank_fail(rank, "read the arguments: '%s': expected a number from %d to %d", argv[index], least, most);
    }
    return (int)number;
}

static void build(struct rank *rank, const char *source)
{
    char log[2000] = "";
    cl_int error;

    rank->program = clCreateProgramWithSource(rank->context, 1, &source, NULL, &error);
    rank_need(rank, error, "clCreateProgramWithSource");
    if (clBuildProgram(rank->program, 1, &rank->device, "", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(rank->program, rank->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        rank_fail(rank, "clBuildProgram: %s", log);
    }
}

/* Whether the ranks of this machine have to share its processors. */
static int is_crowded(void)
{
    MPI_Comm here;
    int ranks = 0;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks);
    MPI_Comm_free(&here);
    return ranks > sysconf(_SC_NPROCESSORS_ONLN);
}

struct rank rank_begin(int *argc, char ***argv, const char *source)
{
    struct rank rank = { .number = 0 };
    cl_platform_id platform;
    cl_int error;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
    MPI_Comm_size(MPI_COMM_WORLD, &rank.ranks);
    rank.crowded = is_crowded();
    rank_need(&rank, clGetPlatformIDs(1, &platform, NULL), "find an OpenCL platform: clGetPlatformIDs");
    rank_need(&rank, clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &rank.device, NULL), "find a GPU: clGetDeviceIDs");
    rank.context = clCreateContext(NULL, 1, &rank.device, NULL, NULL, &error);
    rank_need(&rank, error, "clCreateContext");
    rank.queue = clCreateCommandQueueWithProperties(rank.context, rank.device, NULL, &error);
    rank_need(&rank, error, "clCreateCommandQueueWithProperties");
    build(&rank, source);
    return rank;
}

void rank_end(struct rank *rank)
{
    clReleaseProgram(rank->program);
    clReleaseCommandQueue(rank->queue);
    clReleaseContext(rank->context);
    MPI_Finalize();
}

cl_kernel rank_kernel(const struct rank *rank, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(rank->program, name, &error);

    rank_need(rank, error, "clCreateKernel");
    return kernel;
}

cl_mem rank_buffer(const struct rank *rank, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(rank->context, CL_MEM_READ_WRITE, bytes, NULL, &error);

    rank_need(rank, error, "clCreateBuffer");
    return buffer;
}

void rank_read(const struct rank *rank, cl_mem buffer, size_t offset, size_t bytes, void *to)
{
    rank_need(rank, clEnqueueReadBuffer(rank->queue, buffer, CL_TRUE, offset, bytes, to, 0, NULL, NULL),
              "clEnqueueReadBuffer");
}

void rank_write(const struct rank *rank, cl_mem buffer, size_t offset, size_t bytes, const void *from)
{
    rank_need(rank, clEnqueueWriteBuffer(rank->queue, buffer, CL_TRUE, offset, bytes, from, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
}

void rank_launch(const struct rank *rank, cl_kernel kernel, size_t width, size_t height, size_t local)
{
    const size_t global[2] = { width, height }, group[2] = { local, local };
    cl_event done;

    rank_need(rank, clEnqueueNDRangeKernel(rank->queue, kernel, 2, NULL, global, group, 0, NULL, &done),
              "clEnqueueNDRangeKernel");
    rank_need(rank, clWaitForEvents(1, &done), "wait for a kernel: clWaitForEvents");
    clReleaseEvent(done);
}

/* A message of a rank that is ready, too, has come after fewer looks. Behind more of them the others compute. */
#define LOOKS_AWAKE 200

void rank_swap(const struct rank *rank, MPI_Comm group, const uint32_t *out, int to, uint32_t *in, int from, int words)
{
    const struct timespec pause = { .tv_nsec = 50000 };
    MPI_Request both[2];
    int done = 0;

    MPI_Irecv(in, words, MPI_UINT32_T, from, 0, group, &both[0]);
    MPI_Isend(out, words, MPI_UINT32_T, to, 0, group, &both[1]);
    for (int looks = 0; rank->crowded && !done; looks++) {
        MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
        if (!done && looks >= LOOKS_AWAKE) {
            nanosleep(&pause, NULL);
        }
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

unsigned long long rank_most(unsigned long long bytes)
{
    unsigned long long most = 0;

    MPI_Allreduce(&bytes, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

double rank_longest(double seconds)
{
    double longest = 0;

    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}
