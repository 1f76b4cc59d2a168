#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests going back in the guest: a kernel is recorded where SMs take turns, and where they do not that is said."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

SECONDS = 120

# The kernel spins until its host gets a line.
SCRIPT = r"""
mkfifo gate
./ppu-dbg --batch --record -ex 'tbreak 7 if turns == 9' -ex run -ex 'last-write turns' -ex 'p turns' %s -ex 'p turns' -ex 'echo seen' \
    -ex continue -- ./top-worker build/kernels/spin-debug.ppu <gate >dbg.out 2>&1 &
debugger=$!
exec 3>gate
until grep -q -e ^seen -e 'program exited' dbg.out; do sleep 0.1; done
trap "" PIPE
echo >&3
exec 3>&-
wait $debugger; echo $? >dbg.status
"""


def said_in_guest(forth, *options):
    """What the debugger said, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        share = Path(folder)
        for file in ("build/kernels/spin-debug.ppu", "build/firmware/picolibc/ppufw.bin"):
            (share / file).parent.mkdir(parents=True)
            shutil.copy(TOP / file, share / file)
        for program in ("ppu-dbg", "top-worker"):
            shutil.copy(guests.PROGRAMS / program, share)
        (share / "all").write_text(SCRIPT % forth)
        done = subprocess.run([TOP / "tools/guest-run", "--timeout", str(SECONDS), "--share", share, *options, "sh", "all"],
                              capture_output=True, text=True, timeout=SECONDS + 10)
        said = (share / "dbg.out").read_text()
        assert done.returncode == 0, (done, said)
        return said, (share / "dbg.status").read_text()


def goes_back():
    said, status = said_in_guest("-ex continue", "--", "--sm-threads", "0", "--")
    at = 0
    for piece in ("Breakpoint 1, spin_until at ", "Last write, spin_until at ", "turns = 8\n", "The history ends here", "turns = 9\n", "seen\n",
                  "[program exited with status 0]\n"):
        at = said.find(piece, at)
        assert at >= 0, (piece, said)
    assert status == "0\n", said


def is_refused():
    said, status = said_in_guest("")
    assert "cannot record: the SMs run on several threads of the host: `record` before `run`, or start the machine with --sm-threads 0\n" \
        in said, said
    assert "cannot go back: nothing is recorded\n" in said, said
    assert said.count("turns = 9\n") == 2 and "[program exited with status 0]\n" in said and status == "1\n", (said, status)


if __name__ == "__main__":
    tap.main([
        ("a recorded kernel goes back in the guest of a machine whose SMs take turns", goes_back),
        ("the guest of another machine is told why nothing is recorded", is_refused),
    ])
