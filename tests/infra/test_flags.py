#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects follow their flags and what they read: what is compiled again when these change, and what is not."""

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SOURCE = "tests/compiler/quick.c"  # has flags of its own


def compiled(folder, variant, *variables):
    """Whether make compiles the source into the folder once more."""
    done = subprocess.run(["make", "-j1", f"BUILD={folder}", *variables, f"{folder}/{variant}/obj/every-float/{SOURCE}.o"],
                          cwd=TOP, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return f"CC       {SOURCE} ({variant})" in done.stdout


class Compiler:
    """gcc that notes what it is asked, with an empty cache, and a header outside the checkout that the source includes."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.object = f"{folder}/plain/obj/every-float/{SOURCE}.o"
        self.asked = self.folder / "asked"
        self.gcc = self.folder / "gcc"
        self.gcc.write_text(f'#!/bin/sh\necho "$*" >>{self.asked}\nexec /usr/bin/gcc "$@"\n')
        self.gcc.chmod(0o755)
        self.header = self.folder / "usr/include/outside.h"
        self.header.parent.mkdir(parents=True)
        self.header.write_text("#define OUTSIDE 1\n")

    def compile(self):
        """What gcc is asked, one line each time."""
        Path(self.object).unlink(missing_ok=True)
        self.asked.write_text("")
        assert compiled(self.folder, "plain", f"CC={self.gcc}", f"PPU_CACHE={self.folder}/cache",
                        f"FLAGS_{SOURCE}=-isystem {self.header.parent} -include outside.h")
        return self.asked.read_text().splitlines()


@contextlib.contextmanager
def compiler():
    with tempfile.TemporaryDirectory() as folder:
        yield Compiler(folder)


def test_asked_once():
    with compiler() as gcc:
        asked = gcc.compile()
        assert len(asked) == 1 and " -c " in asked[0], asked
        assert gcc.compile() == []


def test_outside():
    with compiler() as gcc:
        gcc.compile()
        read = Path(f"{gcc.object}.d").read_text()
        assert "outside.h" not in read and " tests/compiler/quick.h" in read, read
        gcc.header.write_text("#define OUTSIDE 2 /* and more */\n")
        assert len(gcc.compile()) == 1


def check(*variables, again):
    with tempfile.TemporaryDirectory() as folder:
        assert compiled(folder, "plain")
        assert not compiled(folder, "plain")
        assert compiled(folder, "plain", *variables) == again
        assert not compiled(folder, "plain", *variables)


tap.main([
    ("flags of one source", lambda: check(f"FLAGS_{SOURCE}=-O1", again=True)),
    ("flags of a variant", lambda: check("CFLAGS_plain=-O1", again=True)),
    ("flags of another source", lambda: check("FLAGS_tests/compiler/every_float.c=-O1", again=False)),
    ("flags of another variant", lambda: check("CFLAGS_asan=-O1", again=False)),
    ("the compiler reads once what the cache has not", test_asked_once),
    ("the cache knows headers outside the checkout, make does not", test_outside),
])
