#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
""".ci/run with a make and a tools/fresh/run that do what a test says: its last line counts everything, and nothing is hidden."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PASS, FAIL, CRASH = "echo 5 passed, 0 failed", "echo 4 passed, 2 failed; exit 1", "echo no summary; exit 2"
CAN, CANNOT = "echo 1 passed, 0 failed", "echo no namespaces; exit 1"
# what it is, make test, whether a root can be made, make fresh; the last line, status
CASES = (
    ("all pass", PASS, CAN, PASS, "10 passed, 0 failed", 0),
    ("tests fail, the rest runs", FAIL, CAN, PASS, "9 passed, 2 failed", 1),
    ("a command of the README fails", PASS, CAN, FAIL, "9 passed, 2 failed", 1),
    ("the tests end without a summary", CRASH, CAN, PASS, "5 passed, 1 failed", 1),
    ("packages cannot be made", PASS, CAN, CRASH, "5 passed, 1 failed", 1),
    ("a summary without failures, and a status", PASS + "; exit 1", CAN, PASS, "10 passed, 1 failed", 1),
    ("no root can be made", PASS, CANNOT, FAIL, "5 passed, 0 failed", 0),
)


def script(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def check(tests, possible, fresh, last, status):
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        (top / ".ci").mkdir()
        shutil.copy(TOP / ".ci/run", top / ".ci/run")
        script(top / "bin/make", f'echo "make $*"\ncase $1 in\ntest) {tests};;\nfresh) {fresh};;\nesac')
        script(top / "tools/fresh/run", possible)
        done = subprocess.run([top / ".ci/run"], capture_output=True, text=True, timeout=50,
                              env=os.environ | {"PATH": f"{top}/bin:{os.environ['PATH']}"})
        lines = done.stdout.strip().split("\n")
        assert (lines[-1], done.returncode) == (last, status), done.stdout
        assert lines[0] == "make test", lines
        if possible == CANNOT:
            assert "not run: make fresh" in done.stdout and "no namespaces" in done.stdout, done.stdout
        else:
            assert "make fresh FRESH=--without 'make test'" in lines, lines


tap.main([(name, lambda case=case: check(*case)) for name, *case in CASES])
