#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The test runner must notice every way in which a test program can go wrong."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

# what a program does, and the summary line it must lead to
BEHAVIOURS = {
    "passes": ("echo 1..2; echo 'ok 1 - a'; echo 'ok 2 - b'", "2 passed, 0 failed"),
    "fails": ("echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 - b'; exit 1", "1 passed, 1 failed"),
    "fails but exits with 0": ("echo 1..1; echo 'not ok 1 - a'", "0 passed, 1 failed"),
    "crashes after its tests": ("echo 1..1; echo 'ok 1 - a'; kill -SEGV $$", "1 passed, 1 failed"),
    "crashes before its plan": ("kill -ABRT $$", "0 passed, 1 failed"),
    "prints nothing": ("true", "0 passed, 1 failed"),
    "prints no plan": ("echo 'ok 1 - a'", "1 passed, 1 failed"),
    "prints fewer tests than planned": ("echo 1..3; echo 'ok 1 - a'", "1 passed, 1 failed"),
    "prints more tests than planned": ("echo 1..1; echo 'ok 1 - a'; echo 'ok 2 - b'", "2 passed, 1 failed"),
    "exits with an error although all passed": ("echo 1..1; echo 'ok 1 - a'; exit 3", "1 passed, 1 failed"),
    "cannot be started": ("/nonexistent/program", "0 passed, 1 failed"),
    "prints two plans": ("echo 1..1; echo 'ok 1 - a'; echo 1..1; echo 'ok 1 - b'", "2 passed, 0 failed"),
    "skips a test": ("echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 # SKIP b'", "1 passed, 0 failed"),
    "prints bytes that are no text": ("echo 1..1; printf '\\377\\n'; echo 'ok 1 - a'", "1 passed, 0 failed"),
}


def run(*lines):
    """(exit status, output, results) of the runner for list lines of (name, limit, mode, command)."""
    with tempfile.TemporaryDirectory() as scratch:
        tests, results = Path(scratch, "list"), Path(scratch, "results.json")
        tests.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
        done = subprocess.run(
            [TOP / "tests/run", "--list", tests, "--results", results],
            capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, json.loads(results.read_text())


def check_behaviour(command, summary):
    status, output, _ = run(("program", 10, "parallel", command))
    assert output.splitlines()[-1] == summary, output
    assert (status == 0) == summary.endswith(" 0 failed"), status


def test_hanging_program():
    start = time.monotonic()
    status, output, _ = run(("hangs", 1, "parallel", "echo 1..1; sleep 50 & sleep 50"))
    assert time.monotonic() - start < 20
    assert status != 0 and "still running after 1 s" in output, output


def test_left_over_process():
    with tempfile.NamedTemporaryFile() as mark:
        run(("leaves", 10, "parallel",
             f"(sleep 1; echo alive > {mark.name}) >/dev/null & echo 1..1; echo 'ok 1 - a'"))
        time.sleep(1.5)
        assert mark.read() == b""


def test_output_of_failure_is_shown():
    _, output, _ = run(("fails", 10, "parallel", "echo why it failed; echo 1..1; echo 'not ok 1 - a'"),
                       ("passes", 10, "parallel", "echo all is well; echo 1..1; echo 'ok 1 - a'"))
    assert "why it failed" in output and "failed: a" in output
    assert "all is well" not in output


def test_requirement_tags():
    _, _, results = run(("tags", 10, "parallel",
                         "echo 1..3; echo 'ok 1 - full at count - 1 [A2, C10]'; echo 'not ok 2 - x[3] is y [B4]';"
                         "echo 'ok 3 - index [A2] is not at the end'"))
    assert [case["requirements"] for case in results] == [["A2", "C10"], ["B4"], []], results
    assert [case["status"] for case in results] == ["passed", "failed", "passed"]


def test_serial_tests_run_alone():
    with tempfile.TemporaryDirectory() as scratch:
        alone = f"mkdir {scratch}/busy && sleep 0.3 && rmdir {scratch}/busy && echo 1..1 && echo 'ok 1 - a'"
        status, output, _ = run(*[(f"serial {n}", 10, "serial", alone) for n in range(3)])
        assert status == 0, output


def registered(word):
    """Names of the tests `make test T=word` would run."""
    show = "show-tests: ; @printf '%s\\n' $(filter-out %.list,$(TEST_TARGETS))"
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "-s", "-f", "Makefile", "-f", "-", "show-tests", f"T={word}"], cwd=TOP, input=show,
                          env=environment, capture_output=True, text=True, timeout=60, check=True).stdout.split()


def test_selection():
    everything, some = registered(""), registered("ring")
    assert 0 < len(some) < len(everything), (some, everything)
    assert all("ring" in name for name in some), some
    assert set(name for name in everything if "device-core-ring" in name) <= set(some)
    assert registered("no-such-test") == []


def test_nothing_to_run():
    status, output, _ = run()
    assert status != 0 and output.endswith("0 passed, 0 failed\n")


tap.main(
    [(f"a program that {name} is counted as {summary}",
      lambda command=command, summary=summary: check_behaviour(command, summary))
     for name, (command, summary) in BEHAVIOURS.items()] + [
        ("a program that hangs is ended and counted as failed", test_hanging_program),
        ("processes that a program leaves behind are ended", test_left_over_process),
        ("only the output of failures is shown", test_output_of_failure_is_shown),
        ("requirement numbers are taken from the end of names", test_requirement_tags),
        ("serial tests run one after the other", test_serial_tests_run_alone),
        ("make test runs every test, or those with a word in their name", test_selection),
        ("running nothing is a failure", test_nothing_to_run),
    ])
