#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests StarPU on several PPUs of one machine. Skipped where StarPU is not installed."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

TILES = TOP / "build/plain/tools/tiles"
ABSENT = None if TILES.exists() else "there is no StarPU; 'make tiles' installs it"


def run(*arguments, ppus=1):
    with tempfile.TemporaryDirectory() as home:
        settings = {"STARPU_NOPENCL": str(ppus), "PPU_DEVICES": str(ppus), "STARPU_HOME": home, "STARPU_SILENT": "1",
                    "PPU_RUN_OPTIONS": "--sm-threads 1", "OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
        return subprocess.run([TILES, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=150, env=os.environ | settings)


def spread(work, tasks):
    for ppus in (1, 2, 4):
        done = run(work, 128, 32, ppus=ppus)
        match = re.search(rf"{ppus} PPUs: [\d.]+ ms; tasks ([\d +]+); error (\S+)", done.stdout)
        assert done.returncode == 0 and match, done
        each = [int(count) for count in match[1].split("+")]
        assert len(each) == ppus and sum(each) == tasks and all(each), each


def bad_arguments():
    for arguments, word in ((("sum",), "usage"), (("product", 100, 64), "must be a multiple"), (("product", "x"), "expected")):
        done = run(*arguments)
        assert done.returncode == 2 and word in done.stderr, done


if __name__ == "__main__":
    skip = f" # SKIP {ABSENT}" if ABSENT else ""
    tap.main([(name + skip, (lambda: None) if ABSENT else test) for name, test in (
        ("StarPU spreads a product over 1, 2 and 4 PPUs, and it is right", lambda: spread("product", 64)),
        ("StarPU spreads a Cholesky factorisation over 1, 2 and 4 PPUs, and it is right", lambda: spread("cholesky", 20)),
        ("the program says what is wrong with its arguments", bad_arguments),
    )])
