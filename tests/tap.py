# SPDX-License-Identifier: MIT
"""Runs tests written in Python: functions that raise when they fail, reported as TAP."""

import sys
import traceback


def run(cases):
    """Runs cases, a list of (name, function), prints TAP and returns the exit status."""
    failed = 0
    print(f"1..{len(cases)}")
    for number, (name, function) in enumerate(cases, 1):
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Exception as why:  # a failed assertion, or the test itself is broken: either way it has not passed
            failed += 1
            print(f"not ok {number} - {name}")
            # What is wrong comes before the calls that led there, as a summary shows the first lines alone.
            lines = "".join([*traceback.format_exception_only(why), *traceback.format_exception(why)[:-1]]).splitlines()
            print("".join(f"# {line}\n" for line in lines), end="", flush=True)
    return 1 if failed else 0


def main(cases):
    sys.exit(run(cases))
