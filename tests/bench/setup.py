#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how long a bare machine takes to the demo's verdict and to the last line of the tests, with nothing in any
cache.

Each is the first command in a minimal Debian 12 of its own (tools/fresh/run): packages, QEMU and the guest are fetched too.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# command of README.md, row, seconds it may take
ROWS = (("make demo", "setup.cold_demo_s", 360), ("make test", "setup.cold_test_s", 1200))


def environment():
    """As a person would have it who types the command: not as a child of the make that runs the benchmarks."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def measure(command, scratch):
    results = Path(scratch, "results.json")
    done = subprocess.run([TOP / "tools/fresh/run", "--cold", "--only", command, "--json", results], env=environment(),
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:])
    return json.loads(results.read_text())[0]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        for command, name, budget in ROWS:
            result = measure(command, scratch)
            print(json.dumps({"name": name, "value": result["seconds"], "unit": "s", "better": "lower", "budget": budget,
                              "note": f"{command} first on a bare Debian 12, {os.cpu_count()} processors, of which it used "
                                      f"{result['processor_seconds']} s; {result['verdict']}"}), flush=True)


if __name__ == "__main__":
    main()
