#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what is said of parts that do not fit each other, and of parts that only some runs need: bitcode of another
LLVM, firmware of another ABI, what translates loops, what counts instructions, the ICD's registration.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

TOOLS = TOP / "build/plain/tools"
FIRMWARE = TOP / "build/firmware/picolibc/ppufw.bin"
KERNELS = TOP / "tests/compiler/kernels/compare.cl"
LLVM = "read a module: it is none of LLVM 19; make it with clang-19, which PPU_CLANG names\n"


def run(command, **variables):
    """(exit status, output, errors) with these variables of the environment"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PPU_")}
    environment |= {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": "off"} | variables
    done = subprocess.run(command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def other_llvm():
    """Of a clang that is none of ours, and of a file: one module, and two that are linked."""
    with tempfile.TemporaryDirectory() as folder:
        clang, module, image = Path(folder, "clang"), Path(folder, "k.bc"), f"{folder}/k.ppu"
        clang.write_text("#!/bin/sh\ncat >/dev/null\nprintf 'another format'\n")
        clang.chmod(0o755)
        module.write_text("another format")
        for words, name in ((["-o", image, KERNELS], KERNELS), (["-o", image, module], module),
                            (["-o", image, module, module], module)):
            status, text, errors = run([TOOLS / "ppucc", *words], PPU_CLANG=str(clang))
            assert status == 1 and text == "" and errors.endswith("error: " + LLVM), (words, errors)
            assert not Path(image).exists(), name


def other_abi():
    image = bytearray(FIRMWARE.read_bytes())
    magic = int(re.search(r"#define PPU_IMAGE_MAGIC (0x[0-9a-f]+)u", (TOP / "include/ppu/boot.h").read_text())[1], 0)
    at = image.index(struct.pack("<I", magic)) + 8
    major, minor = struct.unpack_from("<2H", image, at)
    struct.pack_into("<H", image, at, major + 1)
    with tempfile.NamedTemporaryFile() as file:
        file.write(image)
        file.flush()
        found = run([TOOLS / "saxpy", TOP / "build/kernels/saxpy.ppu"], PPU_FIRMWARE=file.name)
    assert found == (1, "", f"load the firmware {file.name}: it speaks ABI {major + 1}.{minor}, this library {major}.{minor}; 'make "
                     "firmware' builds one, the package ppu-qemu has one, PPU_FIRMWARE names another\n"), found


class Copy:
    """ppu-run in a tree of its own, which has what it is given and nothing else."""

    def __init__(self, folder):
        self.top = Path(folder).resolve()
        (self.top / "tools").mkdir()
        (self.top / "build/plain/tools").mkdir(parents=True)
        shutil.copy(TOP / "tools/ppu-run", self.top / "tools")

    def run(self, *options):
        return run([self.top / "tools/ppu-run", "--dry-run", *options], PPU_QEMU=str(TOP / "build/qemu-system-aarch64"),
                   PPU_CONFINE=str(TOOLS / "ppu-confine"))


def nothing_translates():
    """Without being asked for it is left out; when it was asked for, each file is named that is not there."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Copy(folder)
        status, text, errors = tree.run("--ppus", "1")
        assert (status, errors) == (0, "") and "ppu-translator" not in text, (text, errors)
        for name in "ppu-tier.so", "tools/ppu-translator":
            file = tree.top / "build/plain" / name
            found = tree.run("--engine-tier", "1")
            assert found == (2, "", f"ppu-run: translate loops: {file} is not there; it is built and installed with the compiler\n"), found
            shutil.copy(TOP / "build/plain" / name, file)
        status, text, errors = tree.run("--engine-tier", "1")
        assert (status, errors) == (0, "") and "ppu-translator" in text, (text, errors)


def nothing_counts():
    with tempfile.TemporaryDirectory() as folder:
        tree = Copy(folder)
        found = tree.run("--mcu-counts", f"{folder}/counts")
        assert found == (2, "", f"ppu-run: count the microcontroller's instructions: {tree.top}/build/plain/ppu-mcu.so is not there; it "
                         "is built and installed with the tools\n"), found


def no_platform():
    """The loader finds no ICD, or others."""
    status, text, errors = run([TOOLS / "squares"], OCL_ICD_VENDORS="/nowhere")
    assert (status, text) == (1, "") and re.fullmatch(
        r"find the platform PPU: none of \d+ is called so; in a checkout, OCL_ICD_VENDORS=\$PWD/build/opencl/ppu.icd registers it\n",
        errors), errors


def sanitizer_variables():
    """What is wrong in them is said like what is wrong in others, and the program goes on."""
    status, text, errors = run([TOOLS / "squares"], PPU_SANITIZE_EXIT="many")
    assert status == 0 and "225" in text and errors == \
        "OpenCL on the PPU: read PPU_SANITIZE_EXIT: 'many' is no number from 1 to 255; the program's own exit status is kept\n", errors
    status, text, errors = run([TOOLS / "squares"], PPU_SANITIZE="much")
    assert status == 1 and errors.startswith("OpenCL on the PPU: read PPU_SANITIZE: 'much' "), errors


tap.main([
    ("bitcode of another LLVM", other_llvm),
    ("firmware of another ABI", other_abi),
    ("nothing that translates loops", nothing_translates),
    ("nothing that counts instructions", nothing_counts),
    ("no platform of ours", no_platform),
    ("variables of the sanitizers that are wrong", sanitizer_variables),
])
