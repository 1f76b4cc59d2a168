#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how compilation grows with a kernel's size: kernels of 1, 2, 4 and 8 thousand statements, written at random,
a tenth of them loops; and what it costs to compile a kernel that checks itself.

The time is that of the processor, which does not depend on what else the machine does, and the least of some runs. A
kernel without operations is taken off: what starting costs does not grow.
"""

import json
import os
import random
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
THOUSANDS = (1, 2, 4, 8)
RUNS = 3
GROWTH_BUDGET = 1.2  # of linear, from the smallest to the largest
VALUES = 24  # that live at a time
# Statements of one operation or a few; `{a}` and `{b}` are values, `{n}` is a small number.
FORMS = (
    "f{a} = fma(f{b}, in[(i + {n}) & mask], f{a});",
    "f{a} = f{a} * 1.5f + f{b};",
    "f{a} = fmax(f{a}, f{b} - {n}.0f);",
    "u{a} = u{a} * 1103515245u + u{b};",
    "u{a} ^= u{b} >> {n};",
    "u{a} = rotate(u{a}, u{b}) + {n}u;",
    "if (u{a} > u{b}) {{ f{a} += {n}.0f; }}",
    "out[(u{a} + {n}) & mask] = f{b};",
    "f{a} = sqrt(fabs(f{b})) + (float)(u{a} & 255u);",
    "for (uint k = 0; k < (u{a} & 7u); k++) {{ f{b} += in[(u{b} + k) & mask]; }}",
)

# Kernels that check themselves: source, most ms.
CHECKED = {
    "saxpy": ("kernel void k(global float *y, global const float *x, float a) "
              "{ size_t i = get_global_id(0); y[i] += a * x[i]; }", 80),
    "enqueue": ("void block(global int *out, int level)\n"
                "{\n"
                "    atomic_inc(&out[level]);\n"
                "    if (level < 4)\n"
                "        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4),\n"
                "                       ^{ block(out, level + 1); });\n"
                "}\n"
                "kernel void k(global int *out) { block(out, 0); }\n", 500),
}


def kernel(statements):
    """The source of a kernel with so many statements, the same each time."""
    drawn = random.Random(statements)
    lines = ["kernel void k(global const float *in, global float *out, uint mask)", "{", "uint i = get_global_id(0);"]
    lines += [f"float f{v} = in[(i + {v}) & mask]; uint u{v} = i * {v + 1}u;" for v in range(VALUES)]
    lines += [drawn.choice(FORMS).format(a=drawn.randrange(VALUES), b=drawn.randrange(VALUES), n=drawn.randrange(1, 31))
              for _ in range(statements)]
    lines += [f"out[(i + {v}) & mask] = f{v} + (float)u{v};" for v in range(VALUES)]
    return "\n".join(lines + ["}", ""])


def compile_once(source, options=()):
    """Seconds of the processor, clang's too, and the largest process's MiB."""
    process = subprocess.Popen([TOP / "build/plain/tools/ppucc", "-w", *options, "-o", os.devnull, source],
                               stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"ppucc ends with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure(folder, statements):
    source = Path(folder, f"{statements}.cl")
    source.write_text(kernel(statements))
    return min(compile_once(source) for _ in range(RUNS))


def measure_checked(folder):
    for name, (text, budget) in CHECKED.items():
        source = Path(folder, f"{name}.cl")
        source.write_text(text)
        plain = min(compile_once(source, ["-cl-std=CL3.0"]) for _ in range(RUNS))
        checked = min(compile_once(source, ["-cl-std=CL3.0", "-fsanitize=all"]) for _ in range(RUNS))
        row(f"checked_ms.{name}", checked[0] * 1e3, "ms", budget,
            f"processor time with -fsanitize=all, clang included; without {plain[0] * 1e3:.0f} ms; "
            f"the largest process has {checked[1]:.0f} MiB")


def row(name, value, unit, budget, note):
    print(json.dumps({"name": f"compiler.{name}", "value": float(f"{value:.4g}"), "unit": unit, "better": "lower",
                      "budget": budget, "note": note}), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        start, _ = measure(folder, 0)
        seconds = {}
        for n in THOUSANDS:
            seconds[n], mib = measure(folder, n * 1000)
            row(f"loops_ms.{n}", seconds[n] * 1e3, "ms", None,
                f"processor time, clang included; {n},000 statements, the largest process has {mib:.0f} MiB")
        measure_checked(folder)
    small, large = THOUSANDS[0], THOUSANDS[-1]
    growth = (seconds[large] - start) / (seconds[small] - start) / (large / small)
    row("loops.growth", growth, "ratio", GROWTH_BUDGET,
        f"from {small} to {large} thousand statements, against linear; without {start * 1e3:.0f} ms of starting")


if __name__ == "__main__":
    main()
