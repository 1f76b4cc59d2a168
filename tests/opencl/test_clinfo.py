#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what OpenCL says of the PPU: complete, and the same natively and in the guest."""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

VENDORS = str(TOP / "build/opencl/ppu.icd")
HEADER = Path("/usr/include/CL/cl.h")
CL_DEVICE_TYPE_ALL = 0xFFFFFFFF
# What depends on where it runs: one address for host and PPU needs VRAM that the host sees at large boundaries, SPIR-V
# needs its translator, which not every host has, and the place on PCI is another one.
PLACE_DEPENDENT = ("CL_DEVICE_SVM_CAPABILITIES", "CL_DEVICE_IL_VERSION", "CL_DEVICE_ILS_WITH_VERSION",
                   "CL_DEVICE_PCI_BUS_INFO", "CL_DEVICE_UUID", "CL_DEVICE_LUID")
IL_EXTENSION = re.compile(r"\s*\bcl_khr_(?:il_program|expect_assume)\b(:0x\w+)?")


def clinfo():
    done = subprocess.run(["clinfo", "--raw"], capture_output=True, text=True, timeout=60, env=os.environ | {"OCL_ICD_VENDORS": VENDORS})
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def answers(text):
    """Lines that tell something of the device, without what depends on the place."""
    lines = [line for line in text.splitlines() if "CL_DEVICE_" in line and not any(name in line for name in PLACE_DEPENDENT)]
    return [" ".join(IL_EXTENSION.sub("", line).split()) for line in lines]


def test_clinfo_has_no_errors():
    text = clinfo()
    assert "CL_DEVICE_NAME" in text
    wrong = [line for line in text.splitlines() if re.search(r"error|<|CL_INVALID", line)]
    assert not wrong, wrong


def test_each_query_of_the_header_is_answered():
    """In a process of its own: the loader reads its environment once."""
    names = dict(re.findall(r"^#define (CL_DEVICE_\w+)[ \t]+(0x10[0-7][0-9A-F])\b", HEADER.read_text(), re.MULTILINE))
    assert len(names) > 90, len(names)
    cl = ctypes.CDLL("libOpenCL.so.1")
    platform, device, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
    assert cl.clGetDeviceIDs(platform, ctypes.c_uint64(CL_DEVICE_TYPE_ALL), 1, ctypes.byref(device), None) == 0
    wrong = {name: error for name, value in names.items()
             if (error := cl.clGetDeviceInfo(device, int(value, 16), ctypes.c_size_t(0), None, ctypes.byref(count))) != 0}
    assert not wrong, wrong


def in_guest(share, script, timeout):
    Path(share, "script").write_text(script)
    return subprocess.run([TOP / "tools/guest-run", "--opencl", "--timeout", str(timeout), "--share", share, "--console",
                           Path(share, "console"), "sh", "script"], capture_output=True, text=True, timeout=timeout + 10)


def test_guest():
    with tempfile.TemporaryDirectory() as share:
        program = Path(share, "program")
        program.write_bytes((guests.PROGRAMS / "opencl-program").read_bytes())
        program.chmod(0o755)
        done = in_guest(share, "clinfo --raw >clinfo || exit 1\nPPU_CACHE=/tmp ./program\n"
                        "for share in opencl toolchain; do echo write >/$share/new && echo $share is written to; done\n"
                        "find / -xdev | grep -iE 'clang|llvm|libopencl' && echo a tool is in the base image\n:\n", guests.LIMIT_S)
        assert done.returncode == 0, (done.stdout, done.stderr, Path(share, "console").read_text(errors="replace")[-2000:])
        assert "is written to" not in done.stdout and "in the base image" not in done.stdout, done.stdout
        told = Path(share, "clinfo").read_text()
        assert "[  PASSED  ]" in done.stderr + done.stdout and "FAILED" not in done.stderr + done.stdout, (done.stdout, done.stderr)
    here, there = answers(clinfo()), answers(told)
    # Another machine with other VRAM: what has room there differs, and nothing else.
    differences = [(a, b) for a, b in zip(here, there, strict=True) if a != b]
    assert all("_SIZE" in a or "CL_DEVICE_MAX_ON_DEVICE_EVENTS" in a for a, _ in differences), differences


def main():
    os.environ["OCL_ICD_VENDORS"] = VENDORS
    tap.main([
        ("clinfo finds no error in what the platform tells [F6]", test_clinfo_has_no_errors),
        ("each query of a device that the header names is answered [F6]", test_each_query_of_the_header_is_answered),
        ("programs are built and run in the guest, which tells the same of its PPU [F6]", test_guest),
    ])


if __name__ == "__main__":
    main()
