#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels from one OpenCL source on the PPU's engine and, beside it, on pocl and Oclgrind, outputs compared.

The PPU runs as OpenCL's ICD runs it, its SMs on one host thread; pocl has one thread on one processor. Rounds of all
platforms are interleaved; each gives its best of some runs, and the median of the rounds is the result. Oclgrind is so
slow that it runs smaller sizes: there work items' inner iterations a second are compared.

The PPU has a cache of its own, which begins empty. A run that is not counted waits for the variant of its launches, so
that all rounds find it there, as pocl finds what it has compiled. Hot loops are translated in the first round.

Prints rows for tests/bench/run.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
ROUNDS = 5
RUNS = 10  # code for a launch's facts is compiled beside the first of them
# name: size, Oclgrind's size, floor against pocl, wanted
KERNELS = {
    "saxpy": (4 << 20, 64 << 10, 0.4, 0.6),
    "sgemm": (256, 64, 1.5, 2),
    "mandelbrot": (512, 64, 1.1, 1.5),
    "histogram": (4 << 20, 64 << 10, 0.7, 0.9),
    "bfs": (256 << 10, 16 << 10, 0.15, 0.3),
}
FLOOR_POCL, WANTED_POCL, FLOOR_OCLGRIND, WANTED_OCLGRIND = 0.5, 0.8, 250, 400
TWO_FLOOR, TWO_WANTED = 1.6, 1.8


def ppu_environment(folder, threads, tier=1):
    """Environment in which programs find a PPU whose SMs have so many host threads."""
    launcher = Path(folder) / f"ppu-run-{threads}-{tier}"
    launcher.write_text(f"#!/bin/sh\nexec {TOP}/tools/ppu-run --sm-threads {threads} --engine-tier {tier} \"$@\"\n")
    launcher.chmod(0o755)
    return {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_RUN": str(launcher), "PPU_CACHE": f"{folder}/cache"}


LAUNCHERS = tempfile.TemporaryDirectory()
PLATFORMS = {
    "ppu": ([], ppu_environment(LAUNCHERS.name, 1), "PPU"),
    "ppu2": ([], ppu_environment(LAUNCHERS.name, 2), "PPU"),
    "interpreter": ([], ppu_environment(LAUNCHERS.name, 1, 0), "PPU"),
    "pocl": (["taskset", "-c", "1"], {"POCL_MAX_PTHREAD_COUNT": "1"}, "Portable"),
    "oclgrind": (["oclgrind"], {}, "Oclgrind"),
}


class Run(NamedTuple):
    seconds: float
    items: float  # work items' inner iterations
    hash: str  # of the output
    instructions: int  # of warps; 0: the platform has none


def run(platform, kernel, size, runs, **variables):
    """The best of some runs."""
    prefix, environment, name = PLATFORMS[platform]
    command = [*prefix, str(TOP / "build/plain/tools/bench-kernels"), name, kernel, str(size), str(runs)]
    done = subprocess.run(command, cwd=TOP, env={**os.environ, **environment, **variables}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    lines = [line.split() for line in done.stdout.splitlines()]
    hashes = {line[2] for line in lines}
    if len(hashes) != 1:
        raise RuntimeError(f"{kernel} on {platform} gives something else each time")
    best = min(lines, key=lambda line: float(line[0]))
    return Run(float(best[0]), float(best[1]), hashes.pop(), int(best[3]))


def row(name, value, budget, note):
    print(json.dumps({"name": f"engine.{name}", "value": float(f"{value:.4g}"), "unit": "ratio", "better": "higher",
                      "budget": budget, "note": note}), flush=True)


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def main():
    pocl_ratios, oclgrind_ratios, tier_ratios = [], [], []
    for kernel, (size, small, floor, wanted) in KERNELS.items():
        platforms = ["ppu", "interpreter", "pocl"] + (["ppu2"] if kernel in ("sgemm", "mandelbrot") else [])
        runs = {platform: [] for platform in platforms}
        run("ppu", kernel, size, 1, PPU_ALIAS_WAIT="always")
        for _ in range(ROUNDS):
            for platform in platforms:
                runs[platform].append(run(platform, kernel, size, RUNS))
        if len({one.hash for several in runs.values() for one in several}) != 1:
            print(f"{kernel}: outputs differ", file=sys.stderr)
            return 1
        median = {platform: statistics.median(one.seconds for one in several) for platform, several in runs.items()}
        items, instructions = runs["ppu"][-1].items, runs["ppu"][-1].instructions
        ratio = median["pocl"] / median["ppu"]
        pocl_ratios.append(ratio)
        row(f"{kernel}.vs_pocl", ratio, floor,
            f"{median['ppu'] * 1e3:.2f} ms, {instructions / median['ppu'] * 1e-6:.1f} M warp instructions/s, "
            f"{items / median['ppu'] * 1e-6:.0f} M items/s, waves of 128; pocl {median['pocl'] * 1e3:.2f} ms; "
            f"wanted {wanted}; medians of {ROUNDS}")
        tier_ratios.append(median["interpreter"] / median["ppu"])
        row(f"tier.{kernel}", tier_ratios[-1], None,
            f"loops translated, against interpreted: {median['interpreter'] * 1e3:.2f} ms; "
            f"pocl takes {median['pocl'] / median['interpreter']:.3g} times that")
        if "ppu2" in median:
            row(f"{kernel}.two_threads", median["ppu"] / median["ppu2"], TWO_FLOOR,
                f"two host threads for the SMs: {median['ppu2'] * 1e3:.2f} ms; wanted {TWO_WANTED}")
        slow, fast = run("oclgrind", kernel, small, 1), run("ppu", kernel, small, 1)
        if fast.hash != slow.hash:
            print(f"{kernel}: Oclgrind's output differs", file=sys.stderr)
            return 1
        slow_rate = slow.items / slow.seconds
        ratio = items / median["ppu"] / slow_rate
        oclgrind_ratios.append(ratio)
        row(f"{kernel}.vs_oclgrind", ratio, None, f"rates; Oclgrind {slow_rate * 1e-6:.3f} M items/s at size {small}")
    row("tier.worst", min(tier_ratios), None, "the least of the rows before; wanted 0.95")
    row("geomean.vs_pocl", geometric_mean(pocl_ratios), FLOOR_POCL, f"wanted {WANTED_POCL}")
    row("geomean.vs_oclgrind", geometric_mean(oclgrind_ratios), FLOOR_OCLGRIND, f"wanted {WANTED_OCLGRIND}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
