#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests deterministic mode: guest, microcontroller and SMs under one instruction count."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

HOG = "while True: pass"


def run_demo(share, place):
    """(console, the device's trace) of one run"""
    console, trace = place / "console", place / "trace"
    done = subprocess.run(
        [TOP / "tools/guest-run", "--deterministic", "--timeout", "150", "--share", share, "--console", console,
         "--env", "PPU_FIRMWARE=ppufw.bin", "--", "--trace", "ppu_*", "--log-file", trace, "--",
         guests.PROGRAMS / "demo", "kernels.ppu"], capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done
    return console.read_bytes(), trace.read_bytes()


def first_difference(one, other):
    lines = zip(one.split(b"\n"), other.split(b"\n"))
    return next(((number, a, b) for number, (a, b) in enumerate(lines, 1) if a != b), (len(one), len(other)))


def test_two_runs():
    with tempfile.TemporaryDirectory() as scratch:
        share, first, second = (Path(scratch, name) for name in ("share", "first", "second"))
        first.mkdir()
        second.mkdir()
        subprocess.run([TOP / "demo/prepare", share], check=True)
        one = run_demo(share, first)
        # The second run shares its processors with something else.
        hog = subprocess.Popen([sys.executable, "-c", HOG])
        try:
            other = run_demo(share, second)
        finally:
            hog.kill()
            hog.wait()
    assert re.search(rb"^PASSED: [1-9]\d* checks, 0 failed", one[0], re.M), one[0]
    assert one[1].count(b"doorbell page") > 400 and one[1].count(b": vector") > 200, one[1][-1000:]
    for a, b in zip(one, other):
        assert a == b, first_difference(a, b)


tap.main([("two runs of the demo give the same console and the same trace, byte by byte [A1 A14]", test_two_runs)])
