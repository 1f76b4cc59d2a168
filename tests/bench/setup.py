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


def main():
    with tempfile.TemporaryDirectory() as scratch:
        clone, cache = Path(scratch, "clone"), Path(scratch, "cache")
        began = time.monotonic()
        subprocess.run(["git", "clone", "--quiet", TOP, clone], check=True)
        done = subprocess.run(["make", "demo"], cwd=clone, env={**os.environ, "PPU_CACHE": str(cache)}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seconds = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:])
    verdict = done.stdout.strip().rsplit("\n", 1)[-1]
    print(json.dumps({"name": "setup.cold_s", "value": round(seconds), "unit": "s", "better": "lower", "budget": BUDGET_S,
                      "note": f"git clone to the demo's verdict, empty cache, {os.cpu_count()} processors; {verdict}"}))


if __name__ == "__main__":
    main()
