#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels of many kinds on the PPU's engine and on pocl, in one process, outputs compared.

The PPU's SMs are on one host thread, and pocl has one. A run that is not counted comes first: what is translated in it
is kept, and the run that counts finds it, as pocl finds what it has compiled. Prints rows for tests/bench/run.
With --check it runs small sizes once and prints TAP: whether both give the same.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ROUNDS, RUNS = 5, 4
GEOMEAN_FLOOR, GEOMEAN_WANTED, LEAST_FLOOR, LEAST_WANTED = 1.2, 2, 0.6, 0.9
POCL = Path("/etc/OpenCL/vendors/pocl.icd")


def environment(folder):
    """Environment in which programs find both a PPU, its SMs on one host thread, and pocl with one thread."""
    launcher = Path(folder) / "ppu-run"
    launcher.write_text(f"#!/bin/sh\nexec {TOP}/tools/ppu-run --sm-threads 1 \"$@\"\n")
    launcher.chmod(0o755)
    vendors = Path(folder) / "vendors"
    vendors.mkdir()
    (vendors / "ppu.icd").write_text((TOP / "build/opencl/ppu.icd").read_text())
    (vendors / "pocl.icd").write_text(POCL.read_text())
    return {**os.environ, "OCL_ICD_VENDORS": f"{vendors}/", "PPU_RUN": str(launcher), "POCL_MAX_PTHREAD_COUNT": "1",
            "POCL_CACHE_DIR": f"{folder}/cache"}


def run(rounds, runs, small, kernels):
    """A dictionary of kernels: seconds of the PPU and of pocl."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(TOP / "build/plain/tools/bench-set"), "PPU", "Portable", str(rounds), str(runs), str(small)]
        result = {}
        for kernel in kernels or [None]:
            done = subprocess.run(command + ([kernel] if kernel else []), cwd=TOP, stdin=subprocess.DEVNULL,
                                  env=environment(Path(tempfile.mkdtemp(dir=folder))), capture_output=True, text=True)
            for line in done.stdout.splitlines():
                name, ppu, pocl = line.split()
                result[name] = (float(ppu), float(pocl))
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
        return result


def row(name, value, budget, note):
    print(json.dumps({"name": f"engine.set.{name}", "value": float(f"{value:.4g}"), "unit": "ratio",
                      "better": "higher", "budget": budget, "note": note}), flush=True)


def check():
    print("1..1", flush=True)
    try:
        count = len(run(1, 1, 1, []))
    except RuntimeError as error:
        print(f"not ok 1 - the PPU and pocl give the same for the second set of kernels\n# {error}")
        return 1
    print(f"ok 1 - the PPU and pocl give the same for the second set of kernels # {count} kernels")
    return 0


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    ratios = {}
    run(ROUNDS, RUNS, 0, sys.argv[1:])
    for kernel, (ppu, pocl) in run(ROUNDS, RUNS, 0, sys.argv[1:]).items():
        ratios[kernel] = pocl / ppu
        row(f"{kernel}.vs_pocl", pocl / ppu, None,
            f"{ppu * 1e3:.3f} ms; pocl {pocl * 1e3:.3f} ms; medians of {ROUNDS} rounds, each the best of {RUNS} runs")
    least = min(ratios, key=ratios.get)
    row("geomean", math.exp(sum(map(math.log, ratios.values())) / len(ratios)), GEOMEAN_FLOOR,
        f"{len(ratios)} kernels; wanted {GEOMEAN_WANTED}")
    row("least", ratios[least], LEAST_FLOOR, f"{least}; wanted {LEAST_WANTED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
