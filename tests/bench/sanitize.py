#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what it costs that kernels check themselves, and compares that with Oclgrind.

A cost is the time of a kernel with checks beside the interpreter's time for the same kernel without them; its note has
the same beside code of the host. The kernels are those of tests/bench/engine.py, the SMs on one host thread. Runs with
and without checks are interleaved. Prints rows for tests/bench/run.
"""

import json
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/bench"))
import engine  # noqa: E402

ROUNDS, RUNS = 3, 3
# check: most times the interpreter's seconds without it
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


class Cost(NamedTuple):
    """How many times what it is without checks."""
    interpreted: float  # the seconds
    translated: float  # the seconds
    instructions: float  # of warps


def cost(check, kernel):
    def of(checks, platform="ppu"):
        return run(checks, kernel, SIZES[kernel][0], RUNS, platform)

    rounds = [(of("", "interpreter"), of(""), of(check)) for _ in range(ROUNDS)]
    if len({one.hash for several in rounds for one in several}) != 1:
        raise RuntimeError(f"{kernel}: {check} changes what it computes")
    interpreted, plain, checked = (statistics.median(one.seconds for one in several) for several in zip(*rounds))
    return Cost(checked / interpreted, checked / plain, rounds[-1][2].instructions / rounds[-1][1].instructions)


def main():
    for check, most in CHECKS.items():
        costs = {kernel: cost(check, kernel) for kernel in SIZES}
        mean = Cost(*(engine.geometric_mean(several) for several in zip(*costs.values())))
        row(f"{check}.cost", mean.interpreted, "lower", most,
            f"geometric mean; beside code of the host {mean.translated:.3g}, of warp instructions {mean.instructions:.3g}; "
            + ", ".join(f"{kernel} {one.interpreted:.3g}" for kernel, one in costs.items()))
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
