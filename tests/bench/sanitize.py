#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what it costs that kernels check themselves, against the same kernels without checks, and against Oclgrind.

The kernels are those of tests/bench/engine.py, the SMs on one host thread. Runs with and without checks are
interleaved. Prints rows for tests/bench/run.
"""

import json
import statistics
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/bench"))
import engine  # noqa: E402

ROUNDS, RUNS = 3, 3
# check: most times the seconds without it
CHECKS = {"address": 3, "race": 15, "barrier": 3, "uninit": 15, "argument": 3, "lost": 1.5}
# kernel: size, and Oclgrind's
SIZES = {"saxpy": (1 << 20, 64 << 10), "sgemm": (128, 64), "mandelbrot": (256, 64), "histogram": (1 << 20, 64 << 10),
         "bfs": (64 << 10, 16 << 10)}
OCLGRIND_FLOOR = 20


def row(name, value, better, budget, note):
    print(json.dumps({"name": f"sanitize.{name}", "value": float(f"{value:.4g}"), "unit": "ratio", "better": better,
                      "budget": budget, "note": note}), flush=True)


def run(checks, kernel, size, runs, platform="ppu"):
    prefix, environment, name = engine.PLATFORMS[platform]
    engine.PLATFORMS["checked"] = (prefix + (["--data-races"] if platform == "oclgrind" else []),
                                   {**environment, **({"PPU_SANITIZE": checks} if checks else {})}, name)
    return engine.run("checked", kernel, size, runs)


def cost(check, kernel):
    """Times the seconds, and times the warp instructions."""
    plain, checked = [], []
    for _ in range(ROUNDS):
        plain.append(run("", kernel, SIZES[kernel][0], RUNS))
        checked.append(run(check, kernel, SIZES[kernel][0], RUNS))
    if len({one.hash for one in plain + checked}) != 1:
        raise RuntimeError(f"{kernel}: {check} changes what it computes")
    seconds = [statistics.median(one.seconds for one in several) for several in (plain, checked)]
    return seconds[1] / seconds[0], checked[-1].instructions / plain[-1].instructions


def main():
    for check, most in CHECKS.items():
        costs = {kernel: cost(check, kernel) for kernel in SIZES}
        mean = engine.geometric_mean([seconds for seconds, _ in costs.values()])
        instructions = engine.geometric_mean([count for _, count in costs.values()])
        row(f"{check}.cost", mean, "lower", most,
            f"geometric mean; of warp instructions {instructions:.3g}; "
            + ", ".join(f"{kernel} {seconds:.3g}" for kernel, (seconds, _) in costs.items()))
    ratios = []
    for kernel, (size, small) in SIZES.items():
        slow, fast = run("", kernel, small, 1, "oclgrind"), run("address,race", kernel, size, RUNS)
        ratios.append(fast.items / fast.seconds / (slow.items / slow.seconds))
    row("vs_oclgrind", engine.geometric_mean(ratios), "higher", OCLGRIND_FLOOR,
        "geometric mean of rates: address and race, Oclgrind with --data-races; least "
        f"{min(ratios):.3g}, {min(zip(ratios, SIZES))[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
