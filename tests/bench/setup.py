#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a fresh clone takes to the demo's verdict when the cache is empty: QEMU and the guest are fetched and built.

Debian's packages count too when they are not installed yet, as on a bare machine.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUDGET_S = 480


def environment(cache):
    """As a person would have it who types `make demo`: not as a child of the make that runs the benchmarks."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return inherited | {"PPU_CACHE": str(cache)}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        clone, cache = Path(scratch, "clone"), Path(scratch, "cache")
        began = time.monotonic()
        subprocess.run(["git", "clone", "--quiet", TOP, clone], check=True)
        done = subprocess.run(["make", "demo"], cwd=clone, env=environment(cache), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        seconds = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:])
    verdict = done.stdout.strip().rsplit("\n", 1)[-1]
    print(json.dumps({"name": "setup.cold_s", "value": round(seconds), "unit": "s", "better": "lower", "budget": BUDGET_S,
                      "note": f"git clone to the demo's verdict, empty cache, {os.cpu_count()} processors; {verdict}"}))


if __name__ == "__main__":
    main()
