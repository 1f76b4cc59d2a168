#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs a busy run, how fast records are followed, and how long the page of a million records takes.

The firmware and the device record always. So what recording costs is processor time of the program and of the tool,
each process by itself: what the machine takes differs from run to run by more. It is compared with the time that the
run takes without the tool.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOLS = TOP / "build/plain/tools"
ENVIRONMENT = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
BUSY = {"bfs": [TOOLS / "bfs", TOP / "build/kernels/bfs.ppu", "20000"], "quicksort": [TOOLS / "quicksort", "300000"]}
COUNTED = [sys.executable, __file__, "--own"]
RECORDS, ROUNDS = 1_000_000, 8
COST_MOST, BUILD_MOST_S = 5, 10


def row(name, value, unit, better, budget, note):
    print(json.dumps({"name": name, "value": float(f"{value:.4g}"), "unit": unit, "better": better, "budget": budget,
                      "note": note}), flush=True)


def run(*command):
    """Elapsed time, and processor time of the command and of the programs it has waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=TOP, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0 or "missing" in done.stderr:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_own(path, command):
    """Runs a command; what its process used itself, in ticks, is added to a file. A machine that it starts is not in."""
    pid = os.posix_spawn(command[0], command, os.environ)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    field = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{int(field[11]) + int(field[12])}\n")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def own_s(path, *command):
    """Elapsed time of a command, and processor time of all processes in it that are counted."""
    Path(path).write_text("", encoding="utf-8")
    elapsed_s, _ = run(*COUNTED, path, *command)
    return elapsed_s, sum(int(line) for line in Path(path).read_text().split()) / os.sysconf("SC_CLK_TCK")


def cost(folder):
    """The worst program: processor time that recording adds, of the run's time. Runs alternate; means are compared."""
    shares, counted = {}, f"{folder}/counted"
    for name, command in BUSY.items():
        elapsed, added = [], []
        for _ in range(ROUNDS):
            plain_s, own_plain_s = own_s(counted, *command)
            _, own_traced_s = own_s(counted, TOOLS / "ppu-trace", "-o", f"{folder}/{name}", "--", *COUNTED, counted,
                                    *command)
            elapsed.append(plain_s)
            added.append(own_traced_s - own_plain_s)
        shares[name] = 100 * max(statistics.mean(added), 0) / statistics.median(elapsed)
    return max(shares.values()), ", ".join(f"{name} {share:.2f}" for name, share in shares.items())


def main():
    if sys.argv[1:2] == ["--own"]:
        return count_own(sys.argv[2], sys.argv[3:])
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
