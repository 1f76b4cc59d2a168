# SPDX-License-Identifier: MIT
"""Knows which machines there can be. What a property is, and which values it has, is asked of the device itself."""

import functools
import os
import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LAUNCHER = TOP / "tools/ppu-run"
# Cells count instructions: what gives the host's own threads or code to a machine is not for them.
UNCOUNTED = {"sm-threads": "cells count instructions, which one thread does",
             "engine-tier": "cells count instructions, which translated loops do not",
             "test-hooks": "only tests have use for it"}
NUMBERS = re.compile(r"u?int\d+|size|bool")
SECONDS = 60


def qemu():
    return os.environ.get("PPU_QEMU", str(TOP / "build/qemu-system-aarch64"))


@functools.cache
def properties():
    """{name: type} of those that make the shape of a PPU."""
    done = subprocess.run([qemu(), "-machine", "none", "-device", "ppu,help"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS, check=True)
    listed = re.findall(r"^ +([a-z0-9-]+)=<(\S+)>", done.stdout, re.MULTILINE)
    other = subprocess.run([qemu(), "-machine", "none", "-device", "pcie-root-port,help"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    of_pci = set(re.findall(r"^ +([a-z0-9-]+)=<", other, re.MULTILINE))
    return {name: kind for name, kind in listed if NUMBERS.fullmatch(kind) and name not in of_pci}


def problem_of_name(name):
    """Why it is no property of a shape, or None."""
    if name in UNCOUNTED:
        return f"'{name}' cannot be chosen: {UNCOUNTED[name]}"
    if name == "ppus" or name in properties():
        return None
    known = sorted(set(properties()) - set(UNCOUNTED)) + ["ppus"]
    return f"'{name}' is no property of a machine; there are {', '.join(known)}"


def properties_text(machine):
    return ",".join(f"{name}={value}" for name, value in machine.items() if name != "ppus")


def problem_of(machine):
    """Why there can be no such machine, or None: one is made, and ended before it runs."""
    ppus = machine.get("ppus", "1")
    command = [LAUNCHER, "--deterministic", "--paused", "--ppus", ppus, "--monitor", "stdio"]
    for _ in range(int(ppus) if ppus.isdigit() else 0):
        command += ["--ppu", properties_text(machine)]
    done = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=SECONDS)
    if done.returncode == 0:
        return None
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return re.sub(r"^qemu-system-aarch64: (-device \S+: )?", "", said[-1]) if said else f"exit status {done.returncode}"


def culprit(shape, problem):
    """The value of the property that the problem names first."""
    places = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", problem) for name in shape}
    named = sorted((match.start(), name) for name, match in places.items() if match)
    return shape[named[0][1]] if named else next(iter(shape.values()))


def check(description):
    """Refuses what cannot be, with the line of the property that is wrong."""
    for name, values in description.machine.items():
        problem = problem_of_name(name)
        if problem:
            description.refuse(values[0].line, problem)
    for shape in description.shapes():
        problem = problem_of({name: value.text() for name, value in shape.items()})
        if problem:
            line = culprit(shape, problem).line
            text = " ".join(f"{name}={value.text()}" for name, value in shape.items())
            description.refuse(line, f"there is no machine {text}: {problem}")
