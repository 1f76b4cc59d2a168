#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what the counters cost, in instructions of the host (callgrind): the engine beside one that does not count,
and what the model of the caches costs when it is on.

Prints TAP, or with --bench rows for tests/bench/run.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = ("saxpy", "product", "escape", "search", "histogram")
LIMIT_PERCENT = 3.0
LIMIT_MODEL = 2.0


def count(program, kernel, model="0"):
    """Host instructions of one run of a kernel, below the function in which an SM runs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                        "--toggle-collect=sm_run_part", program, kernel], check=True, capture_output=True,
                       env=dict(os.environ, PPU_CACHE_MODEL=model))
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
    model = {kernel: count(counted, kernel, "1") / cost[kernel][0] for kernel in KERNELS}
    model_mean = math.exp(sum(map(math.log, model.values())) / len(model))
    if "--bench" in sys.argv:
        print(json.dumps({"name": "engine.counters_cost", "value": round(mean, 3), "unit": "%", "better": "lower",
                          "note": "host instructions for the counters, mean of five kernels (callgrind)"}))
        print(json.dumps({"name": "engine.cache_model_cost", "value": round(model_mean, 3), "unit": "x",
                          "better": "lower", "budget": LIMIT_MODEL,
                          "note": "host instructions with cache-model=on over those without, geometric mean of five "
                                  "kernels (callgrind): " + ", ".join(f"{k} {v:.2f}" for k, v in model.items())}))
        return 0
    for kernel, (with_them, without) in cost.items():
        print(f"# {kernel}: {with_them} host instructions, {without} without counters: {percent[kernel]:.3f} %; "
              f"{model[kernel]:.3f} times as many with the caches modelled")
    print(f"1..2\n# means of the kernels: {mean:.3f} %, {model_mean:.3f} times")
    results = ((max(percent.values()) <= LIMIT_PERCENT,
                f"counters cost at most {LIMIT_PERCENT:g} % host instructions, and so they do with no model [A10]"),
               (model_mean <= LIMIT_MODEL, f"the model of the caches costs at most {LIMIT_MODEL:g} times [A10]"))
    for number, (good, name) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
    return 0 if all(good for good, name in results) else 1


sys.exit(main())
