#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the test runner, which must notice every way in which a test program can go wrong."""

import importlib.machinery
import importlib.util
import json
import os
import pty
import re
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


def run(*lines, options=()):
    """(exit status, output, results) of the runner for list lines of (name, limit, mode, command)."""
    with tempfile.TemporaryDirectory() as scratch:
        tests, results = Path(scratch, "list"), Path(scratch, "results.json")
        tests.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
        done = subprocess.run(
            [TOP / "tests/run", *options, "--list", tests, "--results", results],
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


def test_patience():
    status, output, _ = run(("hangs", 1, "parallel", "echo 1..1; sleep 50"), options=("--patience", "2"))
    assert status != 0 and "still running after 2 s" in output, output


def test_left_over_process():
    """Also one in a session of its own, as a debugger's program and QEMU's translator are."""
    for before in "", "setsid ":
        with tempfile.NamedTemporaryFile() as mark:
            run(("leaves", 10, "parallel",
                 f"{before}bash -c 'sleep 1; echo alive > {mark.name}' >/dev/null & sleep 0.3; echo 1..1; echo 'ok 1 - a'"))
            time.sleep(1.5)
            assert mark.read() == b"", before


def test_output_of_failure_is_shown():
    _, output, _ = run(("fails", 10, "parallel", "echo why it failed; echo 1..1; echo 'not ok 1 - a'"),
                       ("passes", 10, "parallel", "echo all is well; echo 1..1; echo 'ok 1 - a'"))
    assert "why it failed" in output and "failed: a" in output
    assert "all is well" not in output


def test_early_failure_of_long_output_is_shown():
    """A guest's hundreds of tests follow; the failure and what its test said lead, in front of the last lines."""
    _, output, _ = run(("long", 10, "parallel", "echo 1..602; echo 'ok 1 - a'; echo 'not ok 2 - b'; echo '# why it failed'; "
                        "for n in $(seq 600); do echo \"ok $n - c $n\"; done"))
    assert output.index("failed: b") < output.index("# why it failed") < output.index("c 600"), output
    assert "ok 300 - c 300" not in output


def test_processor_time():
    """What a test and its children worked is told beside how long it took."""
    work = f"timeout 1 {sys.executable} -c 'while True: pass'"
    _, output, _ = run(("works", 30, "parallel", f"{work}; echo 1..1; echo 'ok 1 - a'"),
                       ("sleeps", 30, "parallel", "sleep 1; echo 1..1; echo 'ok 1 - a'"))
    spent = {name: float(seconds) for name, seconds in re.findall(r"ok +(\w+): .*\(\d+\.\d s, processors (\d+\.\d) s\)", output)}
    assert spent["sleeps"] < spent["works"] <= 1.5 and spent["works"] > 0.05, output


# the end of a result's line, and the requirements it names
TAGGED = {
    "ok 1 - full at count - 1 [A2, C10]": ["A2", "C10"],
    "not ok 2 - x[3] is y [B4]": ["B4"],
    "ok 3 - index [A2] is not at the end": [],
    "ok 4 - several brackets [D2][D3] [D7]": ["D2", "D3", "D7"],
    "ok 5 - all the ways to write them [C1 C2][C3, C4] [C5,C6]": ["C1", "C2", "C3", "C4", "C5", "C6"],
    "ok 6 - only what ends the name [A1] is [B1][B2]": ["B1", "B2"],
    "ok 7 - the same one twice [A2][A2 A3]": ["A2", "A3"],
    "ok 8 - an index of two [D2][7]": [],
    "ok 9 - skipped as TAP says it [E1][E2] # SKIP no such host": ["E1", "E2"],
    "not ok 10 # SKIP skipped as cmocka says it [B9]": ["B9"],
}


def test_requirement_tags():
    lines = "".join(f"echo '{line}'; " for line in TAGGED)
    _, _, results = run(("tags", 10, "parallel", f"echo 1..{len(TAGGED)}; {lines}"))
    assert [case["requirements"] for case in results] == list(TAGGED.values()), results
    assert [case["status"] for case in results] == ["passed", "failed"] + 6 * ["passed"] + 2 * ["skipped"]
    assert [case["name"] for case in results][-2:] == ["skipped as TAP says it [E1][E2]", "skipped as cmocka says it [B9]"]


def test_serial_tests_run_alone():
    with tempfile.TemporaryDirectory() as scratch:
        alone = f"mkdir {scratch}/busy && sleep 0.3 && rmdir {scratch}/busy && echo 1..1 && echo 'ok 1 - a'"
        status, output, _ = run(*[(f"serial {n}", 10, "serial", alone) for n in range(3)])
        assert status == 0, output


def test_longest_limits_begin_first():
    with tempfile.NamedTemporaryFile("r") as begun:
        run(*[(f"limit {limit}", limit, "parallel", f"echo {limit} >>{begun.name}; echo 1..1; echo 'ok 1 - a'")
              for limit in (10, 40, 30, 41)], options=("--jobs", "1", "--more", "0"))
        assert begun.read().split() == ["41", "40", "30", "10"]


def runner():
    """The runner as a module."""
    loader = importlib.machinery.SourceFileLoader("runner", str(TOP / "tests/run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(module)
    return module


def test_more_begin_while_processors_are_idle():
    room = runner().Room(jobs=2, more=1)
    for idle, has_place in ((False, True), (False, True), (False, False), (True, True), (True, False)):
        room.processors.are_idle = lambda idle=idle: idle
        assert room.has_place() == has_place, (room.under_way, idle)
        room.under_way += has_place
    room.leave()
    assert room.under_way == 2 and room.has_place()


def test_idle_processors():
    """Half of one in a second is enough, and says nothing about the second after it; a tenth is not enough."""
    module = runner()
    now, idle = [100.0], [50.0]
    module.time = type("clock", (), {"monotonic": lambda: now[0]})
    module.Processors.idle = staticmethod(lambda: idle[0])
    processors = module.Processors()
    for seconds, free, expected in ((0.5, 0.5, False), (0.5, 0.0, True), (0.5, 0.5, False), (0.5, 0.1, True), (1.1, 0.1, False)):
        now[0] += seconds
        idle[0] += free
        assert processors.are_idle() == expected, (seconds, free)


def run_on_a_terminal(seconds):
    """What the runner writes there for a test that takes so long."""
    with tempfile.TemporaryDirectory() as scratch:
        tests, results = Path(scratch, "list"), Path(scratch, "results.json")
        tests.write_text(f"slow\t20\tparallel\tsleep {seconds}; echo 1..1; echo 'ok 1 - a'\n")
        controller, terminal = pty.openpty()
        with subprocess.Popen([TOP / "tests/run", "--list", tests, "--results", results], stdout=terminal, stderr=terminal):
            os.close(terminal)
            text = b""
            try:
                while piece := os.read(controller, 4096):
                    text += piece
            except OSError:  # the other end is closed
                pass
        os.close(controller)
        return text.decode()


def test_progress():
    text = run_on_a_terminal(3)
    assert "\r\033[K  0 of 1: slow 2 s" in text, text
    assert "\r\033[K  ok       slow: 1 passed (3." in text and text.endswith("1 passed, 0 failed\r\n"), text
    _, output, _ = run(("slow", 20, "parallel", "sleep 3; echo 1..1; echo 'ok 1 - a'"))
    assert "\r" not in output and "\033" not in output and len(output.splitlines()) == 2, output


def registered(word):
    """Names of the tests `make test T=word` would run."""
    show = "$(foreach test,$(filter-out %.list,$(TEST_TARGETS)),$(info $(test)))\nshow-tests: ; @:\n"
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
        ("a test may take as many times its limit as is said", test_patience),
        ("processes that a program leaves behind are ended", test_left_over_process),
        ("only the output of failures is shown", test_output_of_failure_is_shown),
        ("a failure early in a long output is shown first", test_early_failure_of_long_output_is_shown),
        ("the time of processors is told", test_processor_time),
        ("requirement numbers are taken from the end of names", test_requirement_tags),
        ("serial tests run one after the other", test_serial_tests_run_alone),
        ("tests with the longest limits begin first", test_longest_limits_begin_first),
        ("more tests run at once while processors are idle", test_more_begin_while_processors_are_idle),
        ("a processor is idle when nobody used it for a while", test_idle_processors),
        ("make test runs every test, or those with a word in their name", test_selection),
        ("what runs is shown on a terminal, and nowhere else", test_progress),
        ("running nothing is a failure", test_nothing_to_run),
    ])
