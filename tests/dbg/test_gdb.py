#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests gdb on a host program and ppu-dbg on its kernels: either may start it, and either may stop it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
sys.path.insert(0, str(TOP / "tests/dbg"))
import tap  # noqa: E402
from test_dbg import DEBUGGER, ENVIRONMENT, PROGRAM, has  # noqa: E402

NO_GDB = None if shutil.which("gdb") else "there is no gdb; Debian's package gdb has it"
FIRST = "set pagination off\nset debuginfod enabled off\nset breakpoint pending on\n"
# The host stands in the middle of its wait for the kernel, all of its threads.
STOP_LATER = """python
import os, signal, threading
threading.Timer(2, lambda: os.kill(gdb.selected_inferior().pid, signal.SIGINT)).start()
end
continue
"""


def output_of(words, **variables):
    done = subprocess.run(words, env=ENVIRONMENT | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=200)
    return done.stdout


def gdb(script, folder):
    """Words that run the commands."""
    file = Path(folder) / "script.gdb"
    file.write_text(FIRST + script)
    return ["gdb", "-q", "-nx", "-batch", "-x", file, "--args", PROGRAM]


def ppu_dbg_in_gdb():
    """gdb has started the program and stops it; the kernel is stopped, stepped, changed and ended meanwhile."""
    orders = " ".join(f"-ex '{order}'" for order in ("tbreak 25", "continue", "next", "p turns >= 0", "set out[0] = 1", "delete"))
    looks = f"{DEBUGGER} --batch --pid %d {orders}"
    with tempfile.TemporaryDirectory() as folder:
        script = ("break clEnqueueNDRangeKernel\nrun\ndelete\n" + STOP_LATER + f'python gdb.execute("shell {looks}" % gdb.selected_inferior().pid)\n'
                  "shell sleep 4\nbt\ncontinue\n")
        output = output_of([*gdb(script, folder), "endless"], PPU_DEBUG_KERNELS="1")
    has(output, "clEnqueueNDRangeKernel", "SIGINT", "[attached to process", "endless at kernel.cl:25", "endless at kernel.cl:24",
        "turns >= 0 = 1\n", "clEnqueueReadBuffer", "done, all is right", "exited normally")


def gdb_in_ppu_dbg():
    """ppu-dbg has started gdb with the program: both stop it, each at what is its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = "break clEnqueueNDRangeKernel\nrun\nbt 2\ndelete\ncontinue\n"
        orders = [word for order in ("break 14 if i == 70", "run", "p other", "delete", "continue") for word in ("-ex", order)]
        output = output_of([DEBUGGER, "--batch", *orders, "--", *gdb(script, folder)])
    has(output, "hit Breakpoint 1", "clEnqueueNDRangeKernel", "Breakpoint 1, work at kernel.cl:14", "other = 142\n", "done, all is right",
        "exited normally", "[program exited with status 0]")


if __name__ == "__main__":
    skip = f" # SKIP {NO_GDB}" if NO_GDB else ""
    tap.main([
        ("gdb stops a program, and ppu-dbg its kernel meanwhile" + skip, (lambda: None) if NO_GDB else ppu_dbg_in_gdb),
        ("ppu-dbg starts gdb, which starts the program" + skip, (lambda: None) if NO_GDB else gdb_in_ppu_dbg),
    ])
