/* SPDX-License-Identifier: MIT */
/* Gives a program of a study its OpenCL device, and ends it with a sentence when something fails. */
#ifndef EXPERIMENTS_PROGRAMS_DEVICE_H
#define EXPERIMENTS_PROGRAMS_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdint.h>

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
};

/* Ends the program when `error` is one. */
void need(cl_int error, const char *what);
/* Ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...);
/* A number of the command line that is one of `least` to `most`. */
uint32_t number_of(const char *text, const char *name, uint32_t least, uint32_t most);

struct device device_open(void);
/* Sets a policy (ppu/policy.def) for the whole device: `text` is NAME=VALUE. */
void device_set_policy(const struct device *device, const char *text);
cl_kernel device_kernel(const struct device *device, const char *source, const char *options, const char *name);
cl_mem device_buffer(const struct device *device, size_t bytes, void *host);
/* Runs a kernel over `global` work-items in groups of `local`. Returns the time of the device that it and all that it
 * has launched took. */
uint64_t device_run_ns(const struct device *device, cl_kernel kernel, size_t global, size_t local);
void device_read(const struct device *device, cl_mem buffer, void *to, size_t bytes);

#endif
