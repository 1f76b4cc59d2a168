#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what the API tests say where there is no machine: why, once. Nothing crashes behind it."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PPU_ID = ("0x1234", "0x9955")


def has_ppu():
    return any((device / "vendor").read_text().strip() == PPU_ID[0] and (device / "device").read_text().strip() == PPU_ID[1]
               for device in Path("/sys/bus/pci/devices").glob("*"))


def without(machine, why, **settings):
    done = subprocess.run([TOP / f"build/plain/tests/api-memory-{machine}"], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=50, env=os.environ | settings)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and why in said and "GROUP SETUP" in said, done
    assert "GROUP TEARDOWN" not in said and "exception" not in said, done


tap.main([
    ("a QEMU that does not start", lambda: without("native", "Failure", PPU_QEMU="/bin/false")),
    ("a server that does not start", lambda: without("vfio-user", "the machine does not start", PPU_QEMU="/bin/false")),
    ("a guest without a PPU" + (" # SKIP there is one" if has_ppu() else ""),
     (lambda: None) if has_ppu() else lambda: without("vfio", "no PPU: ")),
])
