#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the counters cost, in instructions of the host (callgrind): the engine beside one that does not count.

Prints TAP, or with --bench rows for tests/bench/run.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = ("saxpy", "product", "escape", "search", "histogram")
LIMIT_PERCENT = 3.0


def count(program, kernel):
    """Host instructions of one run of a kernel, below the function that runs an SM."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                        "--toggle-collect=sm_run", program, kernel], check=True, capture_output=True)
        for line in out.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1])
    raise ValueError("callgrind gave no count")


def main():
    """Measures, prints; 1 when the limit is passed."""
    counted, uncounted = (arg for arg in sys.argv[1:] if arg != "--bench")
    cost = {kernel: (count(counted, kernel), count(uncounted, kernel)) for kernel in KERNELS}
    percent = {kernel: 100 * (with_them / without - 1) for kernel, (with_them, without) in cost.items()}
    mean = sum(percent.values()) / len(percent)
    if "--bench" in sys.argv:
        print(json.dumps({"name": "engine.counters_cost", "value": round(mean, 3), "unit": "%", "better": "lower",
                          "note": "host instructions for the counters, mean of five kernels (callgrind)"}))
        return 0
    for kernel, (with_them, without) in cost.items():
        print(f"# {kernel}: {with_them} host instructions, {without} without counters: {percent[kernel]:.3f} %")
    good = mean <= LIMIT_PERCENT
    print(f"1..1\n# mean of the kernels: {mean:.3f} %")
    print(f"{'ok' if good else 'not ok'} 1 - counters cost at most {LIMIT_PERCENT:g} % host instructions [A10]")
    return 0 if good else 1


sys.exit(main())
