#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels that read and write images on the PPU's engine and, beside it, on pocl, outputs compared.

The PPU runs as OpenCL's ICD runs it, its SMs on one host thread; pocl has one thread on one processor. The platforms
take turns, so that both see the same load of the machine.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FLOOR = 0.5
ROUNDS, RUNS = 3, 5
# name: what it is, whether all platforms must compute the same bits
KERNELS = {
    "copy": ("8-bit fractions, one read and one write", True),
    "copy_float": ("floats, one read and one write", True),
    "count": ("8-bit integers of one channel, one read and one write", True),
    "blur": ("8-bit fractions, 25 reads and one write", False),
    "scale": ("floats, one read of four texels and one write", False),
}


def environments(folder):
    launcher = Path(folder, "ppu-run")
    launcher.write_text(f"#!/bin/sh\nexec {TOP}/tools/ppu-run --sm-threads 1 \"$@\"\n")
    launcher.chmod(0o755)
    return {"PPU": ([], {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_RUN": str(launcher)}),
            "Portable": (["taskset", "-c", "1"], {"POCL_MAX_PTHREAD_COUNT": "1"})}


def run(place, platform, kernel):
    """The best time of some runs, and the hash of what they computed."""
    prefix, environment = place
    done = subprocess.run([*prefix, str(TOP / "build/plain/tools/bench-images"), platform, kernel, str(RUNS)], cwd=TOP,
                          env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{kernel} on {platform}: {done.stderr.strip()}")
    lines = [line.split() for line in done.stdout.splitlines()]
    hashes = {line[1] for line in lines}
    if len(hashes) != 1:
        raise RuntimeError(f"{kernel} on {platform} gives something else each time")
    return min(float(line[0]) for line in lines), hashes.pop()


def main():
    with tempfile.TemporaryDirectory() as folder:
        places = environments(folder)
        for kernel, (what, same) in KERNELS.items():
            runs = {platform: [] for platform in places}
            for _ in range(ROUNDS):
                for platform, place in places.items():
                    runs[platform].append(run(place, platform, kernel))
            if same and len({one[1] for several in runs.values() for one in several}) != 1:
                print(f"{kernel}: outputs differ", file=sys.stderr)
                return 1
            median = {platform: statistics.median(one[0] for one in several) for platform, several in runs.items()}
            ratio = median["Portable"] / median["PPU"]
            print(json.dumps({"name": f"opencl.image.{kernel}.vs_pocl", "value": float(f"{ratio:.4g}"), "unit": "ratio",
                              "better": "higher", "budget": FLOOR,
                              "note": f"{what}: {median['PPU'] * 1e3:.2f} ms, pocl {median['Portable'] * 1e3:.2f} ms"}),
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
