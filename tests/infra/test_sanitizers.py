#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs that make mistakes on purpose: the variants for sanitizers end with a report of each."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

# variant, mistake, what the report says, a function that it must name
MISTAKES = [
    ("tsan", "race", "data race", "count"),
    ("tsan", "late_race", "data race", "late_race"),
    ("asan", "overflow", "heap-buffer-overflow", "overflow"),
    ("asan", "freed", "heap-use-after-free", "freed"),
    ("asan", "returned", "stack-use-after-return", "returned"),
    ("asan", "leak", "detected memory leaks", "leak"),
    ("asan", "signed_sum", "signed integer overflow", "signed_sum"),
    ("asan", "unterminated", "heap-buffer-overflow", "unterminated"),
]


def reports(variant, mistake, report, function):
    done = subprocess.run([TOP / f"build/{variant}/tests/seeded", mistake], capture_output=True, text=True, timeout=30)
    assert done.returncode != 0, "it ended as if nothing were wrong"
    assert report in done.stderr, done.stderr
    assert f" in {function} " in done.stderr or f" {function} " in done.stderr, done.stderr


tap.main([(f"{variant} reports {mistake}", lambda row=(variant, mistake, *rest): reports(*row))
          for variant, mistake, *rest in MISTAKES])
