#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-dap with a real editor: Emacs, whose dap-mode is configured by the tutorial's lines."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import client  # noqa: E402
import tap  # noqa: E402

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
TUTORIAL = TOP / "docs/tutorial.md"
DEBUGGEE = TOP / "tests/dbg/debuggee.c"


def configuration():
    """The tutorial's lines for dap-mode."""
    found = re.search(r"^- Emacs with dap-mode.*?```lisp\n(.*?)```", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)
    return found[1]


def kernels():
    """The source that the debuggee has in its text."""
    before, _, _ = DEBUGGEE.read_text().partition("tree_source")
    return "\n".join(re.findall(r'"(.*)\\n"', before)) + "\n"


def has_dap_mode():
    if not shutil.which("emacs"):
        return False
    words = ["emacs", "--batch", "--eval", "(progn (require 'package) (package-initialize) (require 'dap-mode))"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def seen():
    """What the sessions of emacs.el show, line by line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "configuration.el").write_text(configuration())
        (folder / "kernels.cl").write_text(kernels())
        (folder / "program").symlink_to(client.PROGRAM)
        environment = os.environ | client.ENVIRONMENT | {"HOME": name, "PATH": f"{client.ADAPTER.parent}:{os.environ['PATH']}"}
        done = subprocess.run(["emacs", "--batch", "-l", HERE / "emacs.el"], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=220, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def expect(lines, *pieces):
    """Lines of these patterns come in this order, with others between."""
    rest = iter(lines)
    for piece in pieces:
        assert any(re.fullmatch(piece, line) for line in rest), (piece, lines)


def sessions():
    expect(seen(),
           "SEEN stop: work 9, cursor: kernels.cl 9", "SEEN Arguments: n = 1000", "SEEN Locals: i = 70", "SEEN Lane: lane = 6",
           r"SEEN Lane: cta = \(1,0,0\)", "SEEN stop: twice 3, cursor: kernels.cl 3", "SEEN stop: work 9, cursor: kernels.cl 9",
           "SEEN stop: work 9, cursor: kernels.cl 9", "SEEN value: 1070", "SEEN output: done, all is right",
           "LSP :: Exception has occurred: UNMAPPED", "SEEN stop: fault 19, cursor: kernels.cl 19", "SEEN output: read: error -14",
           r"SEEN stop: endless (2[45]), cursor: kernels.cl \1", "SEEN output: launched")


if __name__ == "__main__":
    skip = "" if has_dap_mode() else " # SKIP there is no dap-mode; Debian's packages emacs-nox and elpa-dap-mode have it"
    tap.main([("Emacs stops kernels, shows their variables, steps, sees a fault, and ends a program" + skip,
               (lambda: None) if skip else sessions)])
