#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects follow their flags: what is compiled again when flags change, those of single sources too, and what is not."""

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
])
