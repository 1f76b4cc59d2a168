#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests two PPUs of the Linux guest that reach each other's VRAM, through vfio and the machine's IOMMU."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import guests
import tap


def both_ways():
    with tempfile.TemporaryDirectory() as share:
        shutil.copy(TOP / "build/firmware/picolibc/ppufw.bin", share)
        done = subprocess.run([TOP / "tools/guest-run", "--timeout", "100", "--share", share, "--env", "PPU_FIRMWARE=ppufw.bin",
                               "--", "--ppus", "2", "--", TOP / sys.argv[1]], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("both ways\n"), done


if guests.SERVED:
    print("1..1\nok 1 PPUs of a guest copy from and to each other's VRAM # SKIP a stock QEMU names no file for another device's memory")
    sys.exit(0)

if __name__ == "__main__":
    tap.main([("PPUs of a guest copy from and to each other's VRAM [A8]", both_ways)])
