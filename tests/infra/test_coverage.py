#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what `make coverage` says of programs that ran (tools/check/coverage)."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

COVERAGE = TOP / "tools/check/coverage"
SOURCE = "tools/asm/names.c"  # any one that needs nothing else
MAIN = "int main(int argc, char **argv) { (void)argv; return argc > 5; }\n"


def compiled(folder):
    """A program of one of our sources, which calls nothing of it."""
    objects = Path(folder, "obj")
    objects.mkdir()
    Path(folder, "main.c").write_text(MAIN)
    flags = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-Iinclude", "--coverage"]
    subprocess.run([*flags, "-c", SOURCE, "-o", objects / "source.c.o"], cwd=TOP, check=True)
    subprocess.run([*flags, Path(folder, "main.c"), objects / "source.c.o", "-o",
                    Path(folder, "program")], cwd=TOP, check=True)
    return Path(folder, "program")


def say(folder):
    done = subprocess.run([COVERAGE, folder], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_nothing_ran():
    with tempfile.TemporaryDirectory() as folder:
        compiled(folder)
        assert say(folder) == (1, "", f"coverage: {folder}: no program of it has been run\n")


def test_lines_are_counted():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([compiled(folder)], check=True)
        status, text, errors = say(folder)
        assert status == 0, errors
        found = re.search(rf"^{Path(SOURCE).parent} +(\d+) of (\d+) ", text, re.M)
        assert found and int(found[1]) == 0 and int(found[2]) > 10, text
        assert Path(folder, "report/index.html").is_file()


if __name__ == "__main__":
    tap.main([("a folder in which nothing ran is told", test_nothing_ran),
              ("lines that did not run are counted", test_lines_are_counted)])
