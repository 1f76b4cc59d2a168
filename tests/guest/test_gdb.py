#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests gdb on a host program and ppu-dbg on its kernel in the guest: either may start it, and each stops its own."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
SHARE = Path(FOLDER.name)

SETTINGS = "set pagination off\nset debuginfod enabled off\nset breakpoint pending on\n"
# The host stands behind the launch, before it says so; its kernel is stopped, stepped, changed and ended meanwhile.
GDB_FIRST = SETTINGS + """break fflush
run build/kernels/spin-debug.ppu <line
delete
shell ./ppu-dbg --batch --pid $(pidof top-worker) -ex 'tbreak 7 if turns >= 9' -ex continue -ex next -ex 'p turns >= 9' -ex 'set *gate = 1' -ex delete
bt
continue
"""
# Both stop the program on its way, each at what is its own.
DEBUGGER_FIRST = SETTINGS + """break ppu_kernel_find
run build/kernels/spin-debug.ppu <gate
bt 1
delete
continue
"""
SCRIPT = r"""
gdb="./gdb.sh -q -nx -batch"
echo >line
PPU_DEBUG_KERNELS=1 $gdb -x gdb_first ./top-worker >gdb.out 2>&1; echo $? >gdb.status
mkfifo gate
./ppu-dbg --batch -ex 'tbreak 7 if turns == 9' -ex run -ex 'p turns' -ex 'echo seen' -ex continue -- \
    $gdb -x debugger_first ./top-worker >dbg.out 2>&1 &
debugger=$!
exec 3>gate
until grep -q -e '^seen' -e 'program exited' dbg.out; do sleep 0.1; done
trap "" PIPE
echo >&3
exec 3>&-
wait $debugger; echo $? >dbg.status
"""
# Its libraries are its own, not the program's.
GDB = """#!/bin/sh
triplet=$(ls gdb/usr/lib)
LD_LIBRARY_PATH=$PWD/gdb/usr/lib/$triplet:$PWD/gdb/lib/$triplet exec gdb/usr/bin/gdb -ex 'unset environment LD_LIBRARY_PATH' "$@"
"""


def boot():
    for file in ("build/kernels/spin-debug.ppu", "build/firmware/picolibc/ppufw.bin"):
        (SHARE / file).parent.mkdir(parents=True)
        shutil.copy(TOP / file, SHARE / file)
    for program in ("ppu-dbg", "top-worker"):
        shutil.copy(guests.PROGRAMS / program, SHARE)
    shutil.copytree(guests.FOLDER / "debugger", SHARE / "gdb", symlinks=True)
    for name, text in (("gdb_first", GDB_FIRST), ("debugger_first", DEBUGGER_FIRST), ("gdb.sh", GDB), ("all", SCRIPT)):
        (SHARE / name).write_text(text)
    (SHARE / "gdb.sh").chmod(0o755)
    done = subprocess.run([TOP / "tools/guest-run", "--timeout", str(guests.LIMIT_S), "--share", SHARE, "--console", SHARE / "console", "sh", "all"],
                          capture_output=True, text=True, timeout=guests.LIMIT_S + 10, check=False)
    assert done.returncode == 0, (done, (SHARE / "gdb.out").read_text(), (SHARE / "dbg.out").read_text())


def expect(name, *pieces):
    said = (SHARE / f"{name}.out").read_text()
    at = 0
    for piece in pieces:
        at = said.find(piece, at)
        assert at >= 0, (piece, said)
    assert (SHARE / f"{name}.status").read_text() == "0\n", said


def gdb_starts():
    boot()
    expect("gdb", "fflush", "[attached to process", "Breakpoint 1, spin_until at ", "spin_until at ", "turns >= 9 = 1\n", "in main ()",
           "exited normally")


def debugger_starts():
    expect("dbg", "in ppu_kernel_find ()", "Breakpoint 1, spin_until at ", "turns = 9\n", "seen\n", "exited normally",
           "[program exited with status 0]\n")


if __name__ == "__main__":
    tap.main([
        ("gdb stops a program in the guest, and ppu-dbg its kernel meanwhile", gdb_starts),
        ("ppu-dbg starts gdb in the guest, which starts the program", debugger_starts),
    ])
