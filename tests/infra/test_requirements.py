#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks traceability: the specification has all requirements, and the report says for each what the tests say."""

import json
import os
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
EVERYTHING = [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]


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
    assert list(lines) == EVERYTHING
    assert set(lines.values()) == {(0, "none")}


def test_outcomes():
    _, lines, last, _ = report(("passed", ["A1", "B4"]), ("passed", ["A1"]), ("skipped", ["C1"]),
                               ("passed", ["C2"]), ("skipped", ["C2"]))
    assert lines["A1"] == (2, "passed") and lines["B4"] == (1, "passed")
    assert lines["C1"] == (1, "skipped (1 of them)") and lines["C2"] == (2, "skipped (1 of them)")
    assert last == "71 requirements: 2 passed, 0 failed, 2 with tests that were skipped, 67 without a test"
    status, lines, _, _ = report(("passed", ["A1"]), ("skipped", ["A1"]), ("failed", ["A1"]))
    assert status != 0 and lines["A1"] == (3, "failed (1 of them)")


def test_all_skipped():
    """One that ran is enough; with none nothing is shown, also when only some of the tests were to run."""
    for partial in (False, True):
        others = ("passed", [number for number in EVERYTHING if number != "C1"])
        assert report(others, ("passed", ["C1"]), ("skipped", ["C1"]), partial=partial)[0::3] == (0, "")
        status, lines, _, errors = report(others, ("skipped", ["C1"]), ("skipped", ["C1"]), partial=partial)
        assert status == 1 and lines["C1"] == (2, "skipped (2 of them)")
        assert errors == "requirements: every test of C1 was skipped: nothing shows that it is met\n", errors


def test_no_results():
    """No run, and one that ended while it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        for text in (None, "[{\"program\""):
            if text is not None:
                results.write_text(text)
            done = subprocess.run([TOP / "tools/requirements", SPECIFICATION, results], capture_output=True, text=True)
            assert done.returncode == 1 and done.stdout == "", done
            assert done.stderr.startswith(f"requirements: read the results of the tests: {results}: "), done


def test_earlier_run():
    """The rule of make with a runner that ends before it has written: the results of another run are not reported."""
    rule = re.search(r"^requirements: .*\n((?:\t.*\n)+)", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tests", "tools", "build", "docs/spec"):
            Path(folder, name).mkdir(parents=True)
        Path(folder, "docs/spec/requirements.md").write_text(SPECIFICATION.read_text(encoding="utf-8"))
        (Path(folder, "tools") / "requirements").symlink_to(TOP / "tools/requirements")
        runner = Path(folder, "tests/run")
        cases = json.dumps([{"program": "p", "name": "n", "status": "passed", "requirements": EVERYTHING}])
        Path(folder, "Makefile").write_text(f"Q := @\nBUILD := build\nPATIENCE := 1\nrequirements:\n{rule}")
        for commands, status in ((f"cat >build/test-results.json <<'END'\n{cases}\nEND", 0), ("kill -KILL $$", 2)):
            runner.write_text(f"#!/bin/sh\n{commands}\n")
            runner.chmod(0o755)
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
            done = subprocess.run(["make", "requirements"], cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == status, done
            assert ("71 requirements: 71 passed" in done.stdout) == (status == 0), done


def test_none():
    assert report(("passed", EVERYTHING), partial=False)[0] == 0
    assert report(("passed", EVERYTHING[1:]), partial=False)[0] != 0
    assert report(("passed", EVERYTHING[1:]))[0] == 0


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
    ("a requirement of which every test was skipped is an error", test_all_skipped),
    ("a run that left no results is an error", test_no_results),
    ("results of an earlier run are not reported", test_earlier_run),
    ("a test that names an unknown requirement is an error", test_unknown_number),
    ("the names of tests name requirements that there are", test_every_tag_is_known),
])
