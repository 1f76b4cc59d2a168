/* SPDX-License-Identifier: MIT */
/* Gives each rank of an MPI job a PPU of its own, through OpenCL, and ends the whole job with a sentence. */
#ifndef EXAMPLES_CLUSTER_RANK_H
#define EXAMPLES_CLUSTER_RANK_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct rank {
    int number, ranks;
    int crowded; /* this machine has more ranks than processors */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

/* Begins MPI, and builds the program on this rank's PPU. */
struct rank rank_begin(int *argc, char ***argv, const char *source);
void rank_end(struct rank *rank);
/* Ends the job: all of its ranks. */
__attribute__((noreturn, format(printf, 2, 3))) void rank_fail(const struct rank *rank, const char *format, ...);
void rank_need(const struct rank *rank, cl_int error, const char *what);
/* A number of the command line, from `least` to `most`. */
int rank_number(const struct rank *rank, int argc, char **argv, int index, int normal, int least, int most);

cl_kernel rank_kernel(const struct rank *rank, const char *name);
cl_mem rank_buffer(const struct rank *rank, size_t bytes);
void rank_read(const struct rank *rank, cl_mem buffer, size_t offset, size_t bytes, void *to);
void rank_write(const struct rank *rank, cl_mem buffer, size_t offset, size_t bytes, const void *from);
/* Over a range of two dimensions; returns when the kernel has ended well. */
void rank_launch(const struct rank *rank, cl_kernel kernel, size_t width, size_t height, size_t local);
/*
 * Sends `words` to one rank of the group and receives as many from another, as MPI_Sendrecv() does. Where ranks
 * share processors, one that waits sleeps in between, so that the others and their PPUs can work.
 */
void rank_swap(const struct rank *rank, MPI_Comm group, const uint32_t *out, int to, uint32_t *in, int from, int words);
/* The longest time that a rank took, in all ranks. */
double rank_longest(double seconds);
/* The most bytes that a rank has sent, in all ranks. */
unsigned long long rank_most(unsigned long long bytes);

#endif
