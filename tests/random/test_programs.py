#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how random programs are run: which results of another implementation count, and the record of long runs."""

import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests/random")]
import record  # noqa: E402
import tap  # noqa: E402

programs = SourceFileLoader("programs", str(TOP / "tests/random/programs")).load_module()


def with_record(function):
    with tempfile.TemporaryDirectory() as folder:
        function(Path(folder) / "record.txt")


def sums(path):
    record.add(range(100, 200), 2, ["pocl"], 30, 1, path)
    record.add(range(150, 250), 26, [], 60, 0, path)
    record.add(range(0, 10), 2, ["pocl", "oclgrind"], 3510, 2, path)
    assert record.report(path) == ["160 programs, 3 differed, 1.00 hours of a processor",
                                   "on a device core: 2,820 runs",
                                   "in each variant of the compiler: 100 programs",
                                   "on pocl: 110 programs", "on oclgrind: 10 programs", "on ppu: 0 programs",
                                   "the first seed beyond them: 250"], record.report(path)


def nothing(path):
    assert record.report(path)[0] == "0 programs, 0 differed, 0.00 hours of a processor"


def broken(path):
    path.write_text("# a comment\n2026-01-01 seeds 1 to 2: some\n")
    try:
        record.read(path)
    except ValueError as error:
        assert "this is no line of a record: 2026-01-01 seeds 1 to 2: some" in str(error)
    else:
        raise AssertionError("a broken line was read")


def other(wrong):
    """What is run of another implementation that is wrong with these options, and what is told of it."""
    asked = []

    def command(words, *_limit, **_more):
        asked.append(words[-2])
        if words[-2] in wrong:
            raise programs.Failed("differs")

    kept, programs.command = programs.command, command
    options = SimpleNamespace(others_wrong=[])
    try:
        programs.run_other(options, "Portable", "-cl-std=CL3.0", {}, Path("."), [5, 9])
        return asked, options.others_wrong, False
    except programs.Failed:
        return asked, options.others_wrong, True
    finally:
        programs.command = kept


def unoptimised_suffices():
    assert other([]) == (["-cl-std=CL3.0 -cl-opt-disable"], [], False)


def optimised_forgives():
    assert other(["-cl-std=CL3.0 -cl-opt-disable"]) == (
        ["-cl-std=CL3.0 -cl-opt-disable", "-cl-std=CL3.0"], ["Portable: 5 to 9"], False)


def has_every_way():
    """Two batches that follow each other have each variant with facts and without; one has both at each size of waves."""
    options = SimpleNamespace(all=False, each=True)
    first, second = programs.variants_of(options, 0), programs.variants_of(options, programs.BATCH)
    assert sorted(first + second) == sorted(f"{v}{f}" for v in range(programs.VARIANTS) for f in ("", "f")), first + second
    kinds = {}
    listed = subprocess.run([programs.TOOLS / "random-device", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in listed.splitlines():
        number, wave, disabled = line.split(" ")
        kinds.setdefault(disabled or wave, []).append(int(number))
    assert sum(len(numbers) for numbers in kinds.values()) == programs.VARIANTS, listed
    assert kinds.keys() == {"-cl-opt-disable", "32", "64", "128"}, listed
    for numbers in kinds.values():
        assert {name.endswith("f") for name in first if int(name.rstrip("f")) in numbers} == {True, False}, (numbers, first)


def each_or_all():
    words = [programs.TOP / "tests/random/programs", "--each", "--all", "--count", "1"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 2 and "not allowed with argument" in done.stdout, done.stdout


def both_count():
    assert other(["-cl-std=CL3.0 -cl-opt-disable", "-cl-std=CL3.0"])[2]


tap.main([("a record sums programs once, and runs as often as they were", lambda: with_record(sums)),
          ("without a record nothing was run", lambda: with_record(nothing)),
          ("a line that is none of a record is told", lambda: with_record(broken)),
          ("another implementation that agrees without optimising is not run again", unoptimised_suffices),
          ("one that agrees only when it optimises is told", optimised_forgives),
          ("with --each a program has facts and none at each size of waves", has_every_way),
          ("--each and --all are two ways of which one is meant", each_or_all),
          ("one that never agrees counts", both_count)])
