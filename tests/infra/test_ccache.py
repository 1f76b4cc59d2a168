#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how sources are compiled that take in other files by .incbin: anew, as ccache knows nothing of these files."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

OTHER = "compiler/compile.c"


def compilations(*sources):
    """Commands with which make would compile these sources: lists of words."""
    changed = [word for source in sources for word in ("-W", source)]
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-n", *changed, "all"], cwd=TOP, env=environment, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if " -c " in line]
    return {source: [words for words in lines if source in words] for source in sources}


def incbin_is_compiled_anew():
    done = subprocess.run(["git", "grep", "-l", r"\.incbin", "--", "*.c", "*.h"], cwd=TOP, capture_output=True, text=True, check=True)
    sources = done.stdout.split()
    found = compilations(*sources, OTHER)
    assert all("ccache" in words for words in found.pop(OTHER)), OTHER
    for source, commands in found.items():
        assert commands, f"make all compiles no {source}"
        assert not any("ccache" in words for words in commands), source


if __name__ == "__main__":
    tap.main([("what takes in files by .incbin is compiled without ccache", incbin_is_compiled_anew)])
