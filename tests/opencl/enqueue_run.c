/* SPDX-License-Identifier: MIT */
#include "tests/opencl/enqueue_run.h"

#include <stdlib.h>

cl_command_queue run_default_queue(struct fixture *f)
{
    const cl_queue_properties wanted[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    cl_int error = CL_SUCCESS;

    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error);
    check(error);
    return queue;
}

struct run *run_prepare(struct fixture *f, const char *source, const char *options)
{
    struct run *run = calloc(1, sizeof(*run));
    const cl_int zero = 0;
    cl_int error = CL_SUCCESS;
    char log[4000] = "";

    assert_non_null(run);
    run->f = f;
    run->device_queue = run_default_queue(f);
    run->program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);
    check(error);
    error = clBuildProgram(run->program, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(run->program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    run->kernel = clCreateKernel(run->program, "k", &error);
    check(error);
    run->buffer = fixture_buffer(f, 0, sizeof(run->out), NULL);
    check(clEnqueueFillBuffer(f->queue, run->buffer, &zero, sizeof(zero), 0, sizeof(run->out), 0, NULL, NULL));
    check(clSetKernelArg(run->kernel, 0, sizeof(run->buffer), &run->buffer));
    return run;
}

cl_int run_launch(struct run *run, size_t items, size_t group)
{
    cl_event event = NULL;
    cl_int status = 1;

    check(clEnqueueNDRangeKernel(run->f->queue, run->kernel, 1, NULL, &items, group != 0 ? &group : NULL, 0, NULL,
                                 &event));
    clWaitForEvents(1, &event);
    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    check(clReleaseEvent(event));
    check(clEnqueueReadBuffer(run->f->queue, run->buffer, CL_TRUE, 0, sizeof(run->out), run->out, 0, NULL, NULL));
    return status;
}

void run_finish(struct run *run)
{
    check(clReleaseMemObject(run->buffer));
    check(clReleaseKernel(run->kernel));
    check(clReleaseProgram(run->program));
    check(clReleaseCommandQueue(run->device_queue));
    free(run);
}

struct run *run_done(void **state, const char *source, const char *options, size_t items, size_t group)
{
    struct run *run = run_prepare(*state, source, options);

    assert_int_equal(run_launch(run, items, group), CL_COMPLETE);
    return run;
}
