#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what python3-pyopencl offers with numpy. Run by tests/opencl/programs when the package is there."""

import sys
import time
import traceback

import numpy as np
import pyopencl as cl
import pyopencl.array
import pyopencl.clrandom
from pyopencl.algorithm import RadixSort, copy_if
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

COUNT = 20000
TRANSPOSE = """
kernel void transpose(global float *to, global const float *from, uint width, uint height, local float *tile)
{
    uint bx = get_group_id(0) * 16, by = get_group_id(1) * 16, x = get_local_id(0), y = get_local_id(1);
    tile[y * 17 + x] = from[(by + y) * width + bx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[(bx + y) * height + by + x] = tile[x * 17 + y];
}
"""

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)


def on_device(values):
    return cl.array.to_device(queue, values)


def arithmetic():
    for kind in (np.int32, np.int64, np.float32, np.float64, np.complex64):
        values = np.arange(COUNT).astype(kind)
        there = on_device(values)
        assert np.allclose((2 * there + there * there).get(), 2 * values + values * values)


def sums():
    values = np.random.rand(COUNT).astype(np.float32)
    there = on_device(values)
    assert np.isclose(cl.array.sum(there).get(), values.sum(), rtol=1e-4)
    assert np.isclose(cl.array.dot(there, there).get(), values @ values, rtol=1e-4)
    assert cl.array.max(there).get() == values.max()


def elementwise():
    kernel = ElementwiseKernel(context, "float a, float *x, float *y", "y[i] = a * x[i] + x[i] * x[i]")
    x = np.random.rand(COUNT).astype(np.float32)
    y = on_device(np.zeros_like(x))
    kernel(np.float32(5), on_device(x), y)
    assert np.allclose(y.get(), 5 * x + x * x)


def reduction():
    kernel = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]",
                             arguments="__global float *x, __global float *y")
    x, y = np.random.rand(2, COUNT).astype(np.float32)
    assert np.isclose(kernel(on_device(x), on_device(y)).get(), x @ y, rtol=1e-4)


def scan():
    values = np.random.randint(0, 100, COUNT).astype(np.int32)
    there = on_device(values)
    InclusiveScanKernel(context, np.int32, "a + b", neutral="0")(there)
    assert (there.get() == np.cumsum(values)).all()


def sort():
    values = np.random.randint(0, 1 << 30, COUNT).astype(np.int32)
    (ordered,), _ = RadixSort(context, "int *a", key_expr="a[i]", sort_arg_names=["a"])(on_device(values))
    assert (ordered.get() == np.sort(values)).all()


def filter_values():
    values = np.random.randint(0, 1000, COUNT).astype(np.int32)
    kept, count, _ = copy_if(on_device(values), "ary[i] > 300")
    wanted = values[values > 300]
    assert (kept.get()[:count.get()] == wanted).all()


def random_numbers():
    for generator in (cl.clrandom.PhiloxGenerator, cl.clrandom.ThreefryGenerator):
        made = generator(context)
        assert 0.48 < made.uniform(queue, COUNT, np.float32).get().mean() < 0.52
        assert abs(made.normal(queue, COUNT, np.float64).get().mean()) < 0.05


def shared_memory():
    there = cl.svm_empty(context, cl.svm_mem_flags.READ_WRITE, COUNT, np.int32)
    program = cl.Program(context, "kernel void k(global int *a) { a[get_global_id(0)] = get_global_id(0); }").build()
    program.k(queue, (COUNT,), None, cl.SVM(there))
    with cl.SVM(there).map_ro(queue) as mapped:
        assert (mapped == np.arange(COUNT)).all()


def transposition():
    values = np.random.rand(64, 96).astype(np.float32)
    result = np.empty((96, 64), np.float32)
    source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    target = cl.Buffer(context, 0, values.nbytes)
    program = cl.Program(context, TRANSPOSE).build()
    event = program.transpose(queue, (96, 64), (16, 16), target, source, np.uint32(96), np.uint32(64), cl.LocalMemory(4 * 16 * 17))
    cl.enqueue_copy(queue, result, target)
    assert (result == values.T).all() and event.profile.end > event.profile.start


def main():
    failed = 0
    for case in (arithmetic, sums, elementwise, reduction, scan, sort, filter_values, random_numbers, shared_memory, transposition):
        begun = time.monotonic()
        try:
            case()
            print(f"ok {case.__name__}, {time.monotonic() - begun:.1f} s", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {case.__name__}\n{traceback.format_exc()}", flush=True)
    return min(failed, 1)


sys.exit(main())
