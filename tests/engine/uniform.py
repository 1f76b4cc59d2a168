#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What warps that never diverge pay for divergence, in instructions of the host (callgrind).

The same kernel runs on the engine and on an engine that cannot diverge (uniform_branch.c). Each is counted twice, with
the kernel's loop run and with no turn of it, so that what the bench does besides falls out; the whole, with the start
and the end of every warp, is counted too. Prints TAP, or with --bench a row for tests/bench/run.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 60
LIMIT_PERCENT = 1.0


def count(program, turns):
    """Instructions of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                        "--toggle-collect=engine_run", program, str(turns)], check=True, capture_output=True)
        for line in out.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1])
    raise ValueError("callgrind gave no count")


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--bench"]
    whole, uniform = (count(program, TURNS) for program in args)
    loop, uniform_loop = (total - count(program, 0) for total, program in zip((whole, uniform), args))
    percent = 100.0 * (whole - uniform) / uniform
    loop_percent = 100.0 * (loop - uniform_loop) / uniform_loop
    if "--bench" in sys.argv:
        print(f'{{"name": "divergence.uniform_percent", "value": {percent:.3g}, "unit": "%", "better": "lower", '
              f'"note": "host instructions that warps which never diverge pay for divergence (callgrind)"}}')
        return 0
    print("1..1")
    print(f"# {whole} host instructions with divergence, {uniform} without: {percent:.3f} %; "
          f"the loop alone: {loop_percent:.3f} %")
    good = max(percent, loop_percent) <= LIMIT_PERCENT
    print(f"{'ok' if good else 'not ok'} 1 - warps that never diverge pay at most {LIMIT_PERCENT:g} % [E1]")
    return 0 if good else 1


sys.exit(main())
