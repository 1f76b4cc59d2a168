#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the runner of the benchmarks: what it writes, and what it refuses."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

GOOD = {"name": "fw.x", "value": 400, "unit": "instructions", "better": "lower"}


def run(*commands):
    """(exit status, standard output, standard error, rows)"""
    with tempfile.TemporaryDirectory() as scratch:
        benchmarks, results = Path(scratch, "list"), Path(scratch, "bench.json")
        benchmarks.write_text("".join(f" bench{n}\t{command}\n" for n, command in enumerate(commands)))
        done = subprocess.run([TOP / "tests/bench/run", "--list", benchmarks, "--results", results],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr, json.loads(results.read_text())


def prints(*rows):
    return "; ".join(f"echo '{json.dumps(row)}'" for row in rows)


def test_rows_have_all_keys():
    status, output, _, rows = run("echo measuring; " + prints(GOOD), prints(GOOD | {"name": "fw.y", "peer": "pocl"}))
    assert status == 0 and "fw.x" in output
    assert [list(row) for row in rows] == [["name", "value", "unit", "better", "budget", "peer", "note"]] * 2
    assert rows[0]["budget"] is None and rows[1]["peer"] == "pocl"


def test_budgets():
    for better, value, budget, missed in (("lower", 400, 400, False), ("lower", 401, 400, True),
                                          ("higher", 0.8, 0.8, False), ("higher", 0.79, 0.8, True)):
        status, output, _, _ = run(prints(GOOD | {"better": better, "value": value, "budget": budget}))
        assert (status != 0) == missed and ("MISSED" in output) == missed, (better, value, budget, output)


def test_refused():
    for wrong in (GOOD | {"value": "fast"}, GOOD | {"value": None}, GOOD | {"better": "faster"}, GOOD | {"extra": 1},
                  GOOD | {"budget": "400"}, GOOD | {"value": True}, {"name": "fw.x"}):
        status, _, errors, rows = run(prints(wrong))
        assert status != 0 and "bench0" in errors and not rows, (wrong, errors)


def test_failures():
    for command in ("true", "exit 3", "kill -SEGV $$", "echo '{\"name\": '", prints(GOOD) + "; exit 1"):
        status, _, errors, _ = run(command)
        assert status != 0 and "bench0" in errors, command
    status, _, errors, _ = run(prints(GOOD), prints(GOOD))
    assert status != 0 and "two rows" in errors


tap.main([
    ("rows are completed with null", test_rows_have_all_keys),
    ("a missed budget is shown and fails", test_budgets),
    ("rows that are no measurement are refused", test_refused),
    ("benchmarks that fail or say nothing are reported", test_failures),
])
