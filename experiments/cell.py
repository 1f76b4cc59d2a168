# SPDX-License-Identifier: MIT
"""Runs a cell of a study: a program on a machine whose instructions are counted. Its result is the same on every host."""

import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import shape

TOP = shape.TOP
RESULT = re.compile(r"([a-z][a-z0-9_]*) +(-?\d+(?:\.\d+)?)")
SECONDS = 600
ICOUNT_SHIFT = 1  # of `ppu-run --deterministic`: an instruction takes 2 ns
# What a result depends on beside the program.
MACHINERY = ("tools/ppu-run", "build/firmware/picolibc/ppufw.bin", "build/plain/libppu-opencl.so",
             "build/plain/libppu-compiler.so")


class Failed(Exception):
    """Why a cell has no result."""


@functools.cache
def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") \
            else hashlib.sha256(file.read()).hexdigest()


def inputs_of(words):
    """The files that a command names, the program first."""
    return [TOP / word for word in words if (TOP / word).is_file()]


def key_of(description, machine, inputs):
    """Names a cell by everything that its result depends on."""
    words = description.words(inputs)
    files = [shape.qemu(), *(TOP / name for name in MACHINERY if (TOP / name).exists()), *inputs_of(words)]
    text = json.dumps([machine, words, [digest_of(str(file)) for file in files]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def key_of_all(keys):
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:24]


def name_of(machine, inputs):
    return " ".join(f"{name}={value}" for name, value in (machine | inputs).items())


def keys(description):
    """{key: (machine, inputs)}"""
    return {key_of(description, machine, inputs): (machine, inputs) for machine, inputs in description.cells()}


def environment(machine, folder):
    """Launches are as the program wrote them: a variant is there as soon as the host has compiled it."""
    wanted = {"PPU_DEVICE": "native", "PPU_RUN_OPTIONS": "--deterministic", "PPU_COUNTS": str(folder / "counts"),
              "PPU_CACHE": "off", "PPU_ALIAS": "off", "PPU_WORK_GROUPS": "asked", "OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"),
              "PPU_RUN": str(shape.LAUNCHER), "PPU_FIRMWARE": str(TOP / "build/firmware/picolibc/ppufw.bin")}
    text = shape.properties_text(machine)
    return {name: value for name, value in os.environ.items() if not name.startswith("PPU_") or name == "PPU_QEMU"} \
        | wanted | ({"PPU_MACHINE": text} if text else {}) | ({"PPU_DEVICES": machine["ppus"]} if "ppus" in machine else {})


def counted(path):
    """The sums over all PPUs, from what libppu has written."""
    if not path.exists():
        raise Failed("it has opened no PPU")
    sums = {}
    for line in path.read_text().splitlines():
        for name, value in json.loads(line).items():
            sums[name] = sums.get(name, 0) + value
    # Of several PPUs, QEMU counts the instructions of all processors together.
    if sums.get("MCU_NS"):
        sums["MCU_INSNS"] = sums["MCU_NS"] >> ICOUNT_SHIFT
    return {name.lower(): value for name, value in sums.items() if name not in ("PPU", "TIME_NS", "MCU_NS")}


def run(description, machine, inputs):
    """The results of a cell: what the program has printed as `name number`, and what the machine has counted."""
    words = description.words(inputs)
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([str(TOP / words[0]), *words[1:]], cwd=TOP, env=environment(machine, Path(folder)),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
        except OSError as error:
            raise Failed(f"{words[0]}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"it did not end within {SECONDS} s") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise Failed(f"exit status {done.returncode}" + (f": {said[-1]}" if said else ""))
        printed = {match[1]: match[2] for match in map(RESULT.fullmatch, done.stdout.splitlines()) if match}
        return printed | counted(Path(folder) / "counts")


def write(path, description, key):
    """Runs the cell of that key and writes its result; the file is whole or not there."""
    cells = keys(description)
    if key not in cells:
        raise Failed("the study has no such cell: program or machine have changed since it was planned")
    machine, inputs = cells[key]
    try:
        results = run(description, machine, inputs)
    except Failed as error:
        raise Failed(f"run a cell of {description.name}: {name_of(machine, inputs)}: {error}") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps({"machine": machine, "inputs": inputs, "results": results}, indent=1) + "\n")
    part.rename(path)
