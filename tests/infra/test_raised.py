#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests programs with raised privileges (AT_SECURE): what variables name is not run, read or written, and the program does what it does without them."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PROGRAM = TOP / "build/plain/tools/squares"
OWNER, STARTER = 64999, 65534  # users that own nothing else
ENVIRONMENT = {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PATH": os.environ["PATH"]}


def why_not():
    if os.getuid() != 0:
        return "only root makes a program of another user"
    if os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOSUID:
        return f"{tempfile.gettempdir()} is mounted nosuid"
    if "NoNewPrivs:\t1\n" in Path("/proc/self/status").read_text():
        return "no process here gets new privileges"
    if not all(folder.stat().st_mode & 0o001 for folder in TOP.parents):
        return f"other users cannot enter {TOP}"
    return None


class Start:
    """A program, and what the variables name: each leaves a mark, or makes the program say something else."""

    def __init__(self, folder, mode):
        self.program, self.script, self.marks = folder / "program", folder / "script", folder / "marks"
        folder.chmod(0o755)
        self.marks.mkdir()
        self.marks.chmod(0o777)
        shutil.copy(PROGRAM, self.program)
        os.chown(self.program, OWNER, OWNER)
        self.program.chmod(mode)
        self.script.write_text(f"#!/bin/sh\n: >{self.marks}/run\nexit 1\n")
        self.script.chmod(0o755)
        self.tool = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.tool.bind(str(folder / "tool"))
        (folder / "tool").chmod(0o777)
        self.tool.listen()
        self.asked = False
        threading.Thread(target=self.answer, daemon=True).start()
        self.variables = {"PPU_CLANG": self.script, "PPU_RUN": self.script, "PPU_QEMU": self.script, "PPU_FIRMWARE": self.script,
                          "PPU_CACHE": self.marks / "cache", "PPU_DEVICE": "gpu", "PPU_MACHINE": "vram=none",
                          "PPU_TRACE": folder / "tool", "PPU_SANITIZE": "nothing"}

    def answer(self):
        """Whoever connects is noted, and told nothing."""
        while True:
            connection = self.tool.accept()[0]
            self.asked = True
            connection.close()

    def run(self, *names):
        """(exit status, output, errors, marks) of a start by the other user with these variables"""
        environment = ENVIRONMENT | {name: str(self.variables[name]) for name in names}
        done = subprocess.run([self.program], cwd="/", env=environment, user=STARTER, group=STARTER, extra_groups=[],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        marks = sorted(path.name for path in self.marks.iterdir()) + ["tool"] * self.asked
        self.asked = False
        return done.returncode, done.stdout, done.stderr, marks


def in_folder(test, mode):
    with tempfile.TemporaryDirectory() as folder:
        test(Start(Path(folder), mode))


def is_not_steered(start):
    expected = start.run()
    assert expected[0] == 0 and "225" in expected[1] and expected[3] == [], expected
    found = start.run(*start.variables)
    assert found == expected, (found, expected)


def is_steered(start):
    """Without raised privileges each variable would be noticed: the test above looks at something."""
    expected = start.run()
    for name in start.variables:
        assert start.run(name) != expected, name
        shutil.rmtree(start.marks / "cache", ignore_errors=True)
        (start.marks / "run").unlink(missing_ok=True)


REASON = why_not()
SKIP = f" # SKIP {REASON}" if REASON else ""
tap.main([(name + SKIP, (lambda: None) if REASON else lambda test=test, mode=mode: in_folder(test, mode))
          for name, test, mode in (("a program with raised privileges is not steered by variables", is_not_steered, 0o4755),
                                   ("one without is steered by each of them", is_steered, 0o755))])
