#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks traceability: the specification has all requirements, and the report says for each what the tests say."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SPECIFICATION = TOP / "docs/spec/requirements.md"
NUMBERS = {"A": 15, "B": 15, "C": 9, "D": 11, "E": 12, "F": 9}


def report(*cases, partial=True):
    """(exit status, {number: (tests, what is said of them)}, the last line, standard error)"""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as results:
        json.dump([{"program": "p", "name": "n", "status": status, "requirements": numbers}
                   for status, numbers in cases], results)
        results.flush()
        command = [TOP / "tools/requirements", *(["--partial"] if partial else []), SPECIFICATION, results.name]
        done = subprocess.run(command, capture_output=True, text=True)
    *lines, last = done.stdout.splitlines()
    found = [re.fullmatch(r"(\S+) .* (\d+) tests  (.+)", line).groups() for line in lines]
    return done.returncode, {number: (int(tests), outcome) for number, tests, outcome in found}, last, done.stderr


def test_all_are_there():
    _, lines, _, _ = report()
    assert list(lines) == [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]
    assert set(lines.values()) == {(0, "none")}


def test_outcomes():
    status, lines, last, _ = report(("passed", ["A1", "B4"]), ("passed", ["A1"]), ("skipped", ["C1"]),
                                    ("passed", ["C2"]), ("skipped", ["C2"]))
    assert status == 0 and lines["A1"] == (2, "passed") and lines["B4"] == (1, "passed")
    assert lines["C1"] == (1, "skipped (1 of them)") and lines["C2"] == (2, "skipped (1 of them)")
    assert last == "71 requirements: 2 passed, 0 failed, 2 with tests that were skipped, 67 without a test"
    status, lines, _, _ = report(("passed", ["A1"]), ("skipped", ["A1"]), ("failed", ["A1"]))
    assert status != 0 and lines["A1"] == (3, "failed (1 of them)")


def test_none():
    everything = [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]
    assert report(("passed", everything), partial=False)[0] == 0
    assert report(("passed", everything[1:]), partial=False)[0] != 0
    assert report(("passed", everything[1:]))[0] == 0


def test_unknown_number():
    status, _, _, errors = report(("passed", ["A99"]))
    assert status != 0 and "A99" in errors


def test_every_tag_is_known():
    """Names of tests in the sources, also those that tests make out of pieces: no bracket names what there is not."""
    text = SPECIFICATION.read_text(encoding="utf-8")
    for path in sorted((TOP / "tests").rglob("*")):
        if path.suffix in (".c", ".py", ".cpp", ".sh") and path.parent.name != "infra":
            for brackets in re.findall(r"((?:\[[A-F]\d+(?:[ ,]+[A-F]\d+)*\]\s*)+)[\"'\\]", path.read_text(encoding="utf-8")):
                for number in re.findall(r"[A-F]\d+", brackets):
                    assert f"\n### {number} " in text, (path, number)


tap.main([
    ("every requirement has a line, in order", test_all_are_there),
    ("a line says passed, failed, skipped or none", test_outcomes),
    ("a requirement without a test is an error when all tests ran", test_none),
    ("a test that names an unknown requirement is an error", test_unknown_number),
    ("the names of tests name requirements that there are", test_every_tag_is_known),
])
