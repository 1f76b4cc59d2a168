#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how random programs are run by other implementations, and which of their results count."""

import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests/random")]
import tap  # noqa: E402

programs = SourceFileLoader("programs", str(TOP / "tests/random/programs")).load_module()


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


def both_count():
    assert other(["-cl-std=CL3.0 -cl-opt-disable", "-cl-std=CL3.0"])[2]


tap.main([("another implementation that agrees without optimising is not run again", unoptimised_suffices),
          ("one that agrees only when it optimises is told", optimised_forgives),
          ("one that never agrees counts", both_count)])
