#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests programs that end while a thread of the ICD compiles (exit_program.c)."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402


PROGRAM = TOP / "build/plain/tests/opencl-exit"
VENDORS = {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
NEVER = "1000000"
PATIENCE_S = 20


def run(wanted, cache, **environment):
    """(how often LLVM asked exit() for something, how often after the ICD)"""
    done = subprocess.run([PROGRAM, str(wanted)], capture_output=True, text=True, timeout=60,
                          env=os.environ | environment | VENDORS | {"PPU_CACHE": cache})
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
            assert run(wanted, str(used), PPU_ALIAS_WAIT="never")[0] >= wanted  # it compiles at once


def machines(session):
    """Processes of QEMU in the session."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = status.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name.startswith("qemu") and int(rest.split()[3]) == session and rest.split()[0] != "Z":
            found.add(status.parent.name)
    return found


def until(wanted, what):
    end = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def test_machine_ends():
    """One program ends by itself, one is killed while it waits for what never comes."""
    for argument, kill in (("0", False), (NEVER, True)):
        program = subprocess.Popen([PROGRAM, argument], start_new_session=True, stdout=subprocess.DEVNULL,
                                   env=os.environ | VENDORS | {"PPU_CACHE": "off"})
        until(lambda: machines(program.pid), "no machine was started")
        if kill:
            program.kill()
        program.wait(timeout=60)
        until(lambda: not machines(program.pid), "the machine goes on")


tap.main([
    ("the first use starts a machine, which ends with the program, killed or not", test_machine_ends),
    ("exit() waits for threads that compile before it does what LLVM asked for [F6]", test_order),
    ("a program ends well whenever it ends while LLVM is loaded or used [F6]", test_ends),
])
