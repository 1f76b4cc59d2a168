#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests .ci/run with a make and a tools/fresh/run that do what a test says: its last line counts everything, and
nothing is hidden.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

LINT = "echo 1 passed, 0 failed"
PASS, FAIL, CRASH = "echo 5 passed, 0 failed", "echo 4 passed, 2 failed; exit 1", "echo no summary; exit 2"
CAN, CANNOT = "echo 1 passed, 0 failed", "echo no namespaces; exit 1"
# what it is, make test, make lint, whether a root can be made, make fresh; the last line, status
CASES = (
    ("all pass", PASS, LINT, CAN, PASS, "11 passed, 0 failed", 0),
    ("tests fail, the rest runs", FAIL, LINT, CAN, PASS, "10 passed, 2 failed", 1),
    ("an analyser finds something", PASS, FAIL, CAN, PASS, "14 passed, 2 failed", 1),
    ("a command of the README fails", PASS, LINT, CAN, FAIL, "10 passed, 2 failed", 1),
    ("the tests end without a summary", CRASH, LINT, CAN, PASS, "6 passed, 1 failed", 1),
    ("packages cannot be made", PASS, LINT, CAN, CRASH, "6 passed, 1 failed", 1),
    ("a summary without failures, and a status", PASS + "; exit 1", LINT, CAN, PASS, "11 passed, 1 failed", 1),
    ("no root can be made", PASS, LINT, CANNOT, FAIL, "6 passed, 0 failed", 0),
)


def script(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def check(tests, lint, possible, fresh, last, status):
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        (top / ".ci").mkdir()
        shutil.copy(TOP / ".ci/run", top / ".ci/run")
        script(top / "bin/make", f'echo "make $*"\ncase $1 in\ntest) {tests};;\nlint) {lint};;\nfresh) {fresh};;\nesac')
        script(top / "tools/fresh/run", possible)
        done = subprocess.run([top / ".ci/run"], capture_output=True, text=True, timeout=50,
                              env=os.environ | {"PATH": f"{top}/bin:{os.environ['PATH']}"})
        lines = done.stdout.strip().split("\n")
        assert (lines[-1], done.returncode) == (last, status), done.stdout
        assert lines[0] == "make test" and "make lint" in lines, lines
        if possible == CANNOT:
            assert "not run: make fresh" in done.stdout and "no namespaces" in done.stdout, done.stdout
        else:
            assert "make fresh FRESH=--without 'make test'" in lines, lines


tap.main([(name, lambda case=case: check(*case)) for name, *case in CASES])
