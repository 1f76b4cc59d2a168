#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that end while a thread of the ICD compiles (exit.c)."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402


def run(wanted, cache, **environment):
    """(how often LLVM asked exit() for something, how often after the ICD)"""
    done = subprocess.run([TOP / "build/plain/tests/opencl-exit", str(wanted)], capture_output=True, text=True, timeout=60,
                          env=os.environ | environment | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": cache})
    assert done.returncode == 0, (wanted, done)
    return [int(word) for word in done.stdout.split()]


def test_order():
    asked, late = run(0, "off", PPU_ALIAS_WAIT="1")
    assert asked > 10 and late == 0, (asked, late)


def test_ends():
    """The kernel is found in the cache, so LLVM is loaded by the thread that compiles its variant."""
    with tempfile.TemporaryDirectory() as folder:
        full, used = Path(folder, "full"), Path(folder, "used")
        assert run(0, str(full), PPU_ALIAS="off")[0] > 0
        shutil.copytree(full, used)
        asked, _ = run(0, str(used), PPU_ALIAS_WAIT="1")
        for wanted in (1, asked // 2, asked - 1, asked):
            shutil.rmtree(used)
            shutil.copytree(full, used)
            assert run(wanted, str(used))[0] >= wanted


tap.main([
    ("exit() waits for threads that compile before it does what LLVM asked for [F6]", test_order),
    ("a program ends well whenever it ends while LLVM is loaded or used [F6]", test_ends),
])
