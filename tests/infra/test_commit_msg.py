#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the form of commit messages (tools/check/commit-msg): what it accepts, and what it says of the rest."""

import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

BODY = "\n\nA reader wants to know why.\n"
# (name, message, a word of what is said; None: accepted)
CASES = [
    ("a subject and a body", "core: bound the scrub of VRAM" + BODY, None),
    ("an area with a folder", "tests/infra: check messages" + BODY, None),
    ("comments of the editor are left out", "core: bound the scrub\n# what git says\n\nWhy.\n# Changes:\n", None),
    ("a merge has git's own words", "Merge branch 'main'\n", None),
    ("72 columns are accepted", "core: " + "x" * 66 + BODY, None),
    ("73 columns are not", "core: " + "x" * 67 + BODY, "73 columns"),
    ("no area", "bound the scrub of VRAM" + BODY, "area"),
    ("two ideas", "core: bound the scrub; clear the ring" + BODY, "several ideas"),
    ("a full stop", "core: bound the scrub." + BODY, "full stop"),
    ("no body", "core: bound the scrub\n", "no body"),
    ("no empty line", "core: bound the scrub\nbecause it takes long\n", "empty line"),
    ("a long line of the body", "core: bound the scrub\n\n" + "word " * 30 + "\n", "columns"),
    ("a long line that is one word is a name", "core: bound the scrub\n\n" + "x" * 200 + "\n", None),
]


def check(message):
    """(exit status, what was said)"""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(message)
        file.flush()
        done = subprocess.run([TOP / "tools/check/commit-msg", file.name], capture_output=True, text=True)
        return done.returncode, done.stderr


def case(message, word):
    def test():
        status, said = check(message)
        if word is None:
            assert (status, said) == (0, ""), said
        else:
            assert status == 1 and word in said, (status, said)
    return test


if __name__ == "__main__":
    tap.main([(name, case(message, word)) for name, message, word in CASES])
