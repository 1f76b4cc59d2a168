#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests many machines at once on one host: none takes another's sockets, cache, names or results."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

MACHINES = 20
SECONDS = 110


def start(program, *arguments, **settings):
    return subprocess.Popen([TOP / "build/plain/tools" / program, *arguments], cwd=TOP, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | settings)


def finish(processes):
    """What each has said; all of them end well."""
    said = []
    for process in processes:
        output, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0 and errors == "", (process.args, process.returncode, output, errors)
        said.append(output)
    return said


def family(pid):
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += family(int(child))
    return found


def named_sockets(pid):
    """Names of the sockets that the process has."""
    with open("/proc/net/unix") as table:
        names = {line.split()[6]: line.split()[7] for line in table if len(line.split()) == 8}
    links = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    return {name for inode, name in names.items() if f"socket:[{inode}]" in links}


def look(processes):
    """How many QEMUs there are, none of which may have a socket that another one could take."""
    machines = 0
    for process in processes:
        try:
            for pid in family(process.pid):
                machines += "qemu" in Path(f"/proc/{pid}/comm").read_text()
                names = named_sockets(pid)
                assert not names, f"{pid} has sockets with names: {names}"
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass  # it has ended meanwhile
    return machines


def machines_at_once():
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as home:  # translations are kept at home
        crowd = [start("saxpy", "build/kernels/saxpy.ppu", PPU_DEVICE="native", TMPDIR=scratch, HOME=home)
                 for _ in range(MACHINES)]
        most = 0
        while any(process.poll() is None for process in crowd):
            most = max(most, look(crowd))
            time.sleep(0.1)
        assert finish(crowd) == ["y[1000] = 2001\n"] * MACHINES
        assert most > MACHINES / 2, f"there were {most} machines at once"
        assert os.listdir(scratch) == [], os.listdir(scratch)


def one_cache():
    """Programs that are built at the same time share a cache that was empty, and each gets its own program."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {"PPU_DEVICE": "native", "PPU_CACHE": cache, "OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
        crowd = [start(program, *arguments, **settings) for program, arguments in
                 [("squares", ()), ("quicksort", ("2000",))] * 3]
        said = finish(crowd)
    for number, output in enumerate(said):
        wanted = "says hello" if number % 2 == 0 else "They are in order."
        assert wanted in output, (number, output)


def other_shapes():
    """Each machine is the one that its own environment asks for."""
    shapes = [{"PPU_DEVICE": "native", "PPU_COUNTS": "/dev/stderr", "PPU_MACHINE": f"sms={sms},gpcs=1,vram-size=64M"}
              for sms in (1, 2, 3, 5)]
    crowd = [start("saxpy", "build/kernels/saxpy.ppu", **shape) for shape in shapes]
    for process in crowd:
        output, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0 and output == "y[1000] = 2001\n", (output, errors)
        assert errors.count('"LANES": ') == 1, errors


if __name__ == "__main__":
    tap.main([
        (f"{MACHINES} machines at once compute what one does, and no socket or file of theirs has a name", machines_at_once),
        ("programs that are built at once share a cache", one_cache),
        ("machines of different shapes stand beside each other", other_shapes),
    ])
