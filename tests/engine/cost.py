#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what divergence costs, in instructions of the host (callgrind).

Warps that never diverge: the same kernel runs on the engine and on an engine that cannot diverge (uniform_branch.c).
Each is counted whole, and without the turns of its loop, so that the loop alone is known too.

A token queue moved back to the middle: two halves of a warp yield to each other, in queues of 4 entries, which are
moved every second time, and of so many that they never are.

Yields by chance: what it costs that some of the lanes now and then pass once more.

A wait for a token that is not queued: one lane asks, and the others wait with a token each, few of them or all. The
summary bits of the first token say that there is none of the type.

Prints TAP, or with --bench rows for tests/bench/run.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 60
LIMIT_PERCENT = 1.0
FEW_TOKENS, MANY_TOKENS = 4, 4096
CHANCE = 256  # YIELD_CHANCE after a reset
FEW_WAIT, ALL_WAIT, WAITS = 1, 31, 2000
MOVES = 2000  # 2 * COUNTED_ROUNDS of bench_divergence.c, every second one


def count(program, *arguments):
    """Host instructions of one run, below the function that runs a warp."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                        "--toggle-collect=engine_run", program, *map(str, arguments)], check=True, capture_output=True)
        for line in out.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1])
    raise ValueError("callgrind gave no count")


def row(name, value, unit, note, **more):
    """A line for tests/bench/run."""
    print(json.dumps({"name": f"divergence.{name}", "value": value, "unit": unit, "better": "lower", "note": note} | more))


def chance_percent(program, kernel):
    """What it costs that yields let some lanes pass now and then."""
    return round(100 * (count(program, kernel, MANY_TOKENS, CHANCE) / count(program, kernel, MANY_TOKENS, 0) - 1), 2)


def wait_instructions(program, lanes):
    """Host instructions of a wait for a token that is not there, with so many others queued."""
    return (count(program, "waits", lanes, WAITS) - count(program, "waits", lanes, 0)) / WAITS


def main():
    """Measures, prints; 1 when the limit is passed."""
    engine, uniform_engine, queues = (arg for arg in sys.argv[1:] if arg != "--bench")
    whole, uniform = (count(program, TURNS) for program in (engine, uniform_engine))
    loop, uniform_loop = whole - count(engine, 0), uniform - count(uniform_engine, 0)
    percent, loop_percent = 100 * (whole / uniform - 1), 100 * (loop / uniform_loop - 1)
    if "--bench" in sys.argv:
        row("uniform_percent", round(percent, 3), "%",
            "host instructions that warps which never diverge pay for divergence (callgrind)")
        row("recentre_instructions", round((count(queues, "yields", FEW_TOKENS, 0) - count(queues, "yields", MANY_TOKENS, 0)) / MOVES),
            "instructions", "of the host, to move a short token queue back to the middle (callgrind)")
        row("chance_percent", chance_percent(queues, "yields"), "%",
            "host instructions that two halves of a warp which yield to each other pay for chance (callgrind)", budget=3)
        row("chance_together_percent", chance_percent(queues, "together"), "%",
            "the same, lanes that yield together (callgrind)", budget=10)
        row("search_instructions", round(wait_instructions(queues, ALL_WAIT) - wait_instructions(queues, FEW_WAIT), 1), "instructions",
            "of the host, that 30 more tokens queued cost a wait for a token that is not there (callgrind)", budget=20)
        return 0
    good = max(percent, loop_percent) <= LIMIT_PERCENT
    print(f"1..1\n# {whole} host instructions with divergence, {uniform} without: {percent:.3f} %; "
          f"the loop alone: {loop_percent:.3f} %")
    print(f"{'ok' if good else 'not ok'} 1 - warps that never diverge pay at most {LIMIT_PERCENT:g} %")
    return 0 if good else 1


sys.exit(main())
