#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traceability: the specification has all requirements, and the report says for each what the tests say."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SPECIFICATION = TOP / "docs/spec/requirements.md"
NUMBERS = {"A": 15, "B": 15, "C": 9, "D": 11, "E": 12, "F": 9}


def report(*cases):
    """(exit status, {number: last word of its line}, standard error)"""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as results:
        json.dump([{"program": "p", "name": "n", "status": status, "requirements": numbers}
                   for status, numbers in cases], results)
        results.flush()
        done = subprocess.run([TOP / "tools/requirements", SPECIFICATION, results.name], capture_output=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines()[:-1]]
    return done.returncode, {words[0]: (int(words[-3]), words[-1]) for words in lines}, done.stderr


def test_all_are_there():
    _, lines, _ = report()
    assert list(lines) == [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]
    assert set(lines.values()) == {(0, "none")}


def test_outcomes():
    status, lines, _ = report(("passed", ["A1", "B4"]), ("passed", ["A1"]), ("skipped", ["C1"]))
    assert status == 0 and lines["A1"] == (2, "passed") and lines["B4"] == (1, "passed") and lines["C1"] == (0, "none")
    status, lines, _ = report(("passed", ["A1"]), ("failed", ["A1"]))
    assert status != 0 and lines["A1"] == (2, "failed")


def test_unknown_number():
    status, _, errors = report(("passed", ["A99"]))
    assert status != 0 and "A99" in errors


tap.main([
    ("every requirement has a line, in order", test_all_are_there),
    ("a line says passed, failed or none", test_outcomes),
    ("a test that names an unknown requirement is an error", test_unknown_number),
])
