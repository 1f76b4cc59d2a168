#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a level of a breadth-first search of 575 levels, by who launches its grid, beside QEMU
(examples/libppu/bfs.c).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
WAYS = (("cpu", "the CPU", None), ("workq", "the last thread, by the work queue", 200), ("nested", "a thread that waits", 200))
WANTED = 25


def levels(text, way):
    """us a level of the road graph"""
    road = text[text.index("road graph"):]
    assert "575 levels" in road, road
    return float(re.search(rf"^  {way}.*? ms +(\d+\.\d) us   ok$", road, re.MULTILINE)[1])


def main():
    done = subprocess.run([TOP / "build/plain/tools/bfs", TOP / "build/kernels/bfs.ppu"], capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        return done.returncode
    for name, way, budget in WAYS:
        note = "575 grids of at most 64 nodes, median of 5 searches"
        print(json.dumps({"name": f"bfs.level_us.{name}", "value": levels(done.stdout, way), "unit": "us", "better": "lower",
                          "budget": budget, "note": note + (f"; wanted {WANTED}" if budget else "")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
