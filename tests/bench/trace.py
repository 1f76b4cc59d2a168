#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs a busy run, how fast records are followed, and how long the page of a million records takes.

The firmware and the device record always. So what recording costs is processor time of the program and of the tool;
it is compared with the time that the run takes without them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOLS = TOP / "build/plain/tools"
ENVIRONMENT = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
BUSY = {"bfs": [TOOLS / "bfs", TOP / "build/kernels/bfs.ppu", "20000"], "quicksort": [TOOLS / "quicksort", "300000"]}
RECORDS, ROUNDS = 1_000_000, 5
COST_MOST, BUILD_MOST_S = 5, 10


def row(name, value, unit, better, budget, note):
    print(json.dumps({"name": name, "value": float(f"{value:.4g}"), "unit": unit, "better": better, "budget": budget,
                      "note": note}), flush=True)


def run(*command):
    """Elapsed time, and processor time of the command and of the programs it has waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=TOP, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cost(folder):
    """The worst program: processor time that recording adds, of the run's time."""
    shares = {}
    for name, command in BUSY.items():
        plain, watched = [], []
        for _ in range(ROUNDS):
            plain.append(run(*command))
            watched.append(run(TOOLS / "ppu-trace", "-o", f"{folder}/{name}", "--", *command))
        added_s = max(min(one[1] for one in watched) - min(one[1] for one in plain), 0)
        shares[name] = 100 * added_s / min(one[0] for one in plain)
    return max(shares.values()), ", ".join(f"{name} {share:.2f}" for name, share in shares.items())


def main():
    with tempfile.TemporaryDirectory() as folder:
        worst, note = cost(folder)
        row("trace.cost_percent", worst, "percent", "lower", COST_MOST, note)
        rate = subprocess.run([TOOLS / "bench-trace", f"{folder}/rate"], capture_output=True, text=True, check=True)
        row("trace.records_per_s", float(rate.stdout), "records/s", "higher", None,
            "followed from a recorder into a file, by one thread")
        subprocess.run([TOOLS / "bench-trace", f"{folder}/large", str(RECORDS)], check=True)
        elapsed_s, busy_s = run(TOOLS / "ppu-report", "-o", f"{folder}/large.html", f"{folder}/large")
        size = Path(folder, "large.html").stat().st_size
        row("report.build_s", elapsed_s, "s", "lower", BUILD_MOST_S,
            f"{RECORDS} records, {size / 1e6:.0f} MB, {busy_s:.2f} s of a processor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
