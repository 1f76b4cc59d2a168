#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make demo: what it prints, and that it can fail."""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

CHECKS = ["saxpy", "reduction", "histogram", "filter, 3 x 3", "same address", "side by side", "trespass", "the first",
          "the second"]
FIGURES = ["doorbells", "command blocks", "launches", "copies", "interrupts", "faults"]


def demo_beside_qemu(*arguments):
    """The same program without a guest."""
    return subprocess.run([TOP / "build/plain/tools/demo", *arguments], cwd=TOP, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PPU_DEVICE": "native"})


def figure(output, label):
    found = re.search(rf"^  {label} +([\d,]+)", output, re.MULTILINE)
    assert found, (label, output)
    return int(found[1].replace(",", ""))


def test_demo_passes():
    done = subprocess.run([TOP / "demo/run"], capture_output=True, text=True, timeout=180)
    output = done.stdout
    assert done.returncode == 0 and done.stderr == "", done
    for check in CHECKS:
        assert re.search(rf"^  {check} .*  ok$", output, re.MULTILINE), (check, output)
    assert "00:01.0 Processing accelerators: QEMU Parallel processing unit" in output, output
    assert re.search(r"^  driver +vfio-pci$", output, re.MULTILINE), output
    assert re.search(r"^PASSED: 9 checks, 0 failed; [\d.]+ s$", output, re.MULTILINE), output
    # Each launch is one block at most, each block of one doorbell at most; the trespass is the only fault.
    counts = {label: figure(output, label) for label in FIGURES}
    assert counts["launches"] > 400 and counts["command blocks"] >= counts["launches"], counts
    assert 0 < counts["doorbells"] <= counts["command blocks"] and counts["copies"] == 1 and counts["faults"] == 1, counts
    assert 0 < figure(output, "a semaphore") < figure(output, "its first part") < figure(output, "a launch"), output


def test_failed_check_is_told():
    done = demo_beside_qemu("build/demo/kernels.ppu", "/nonexistent/file")
    assert done.returncode == 1 and "/nonexistent/file cannot be read" in done.stdout, done
    assert done.stdout.endswith("FAILED: 9 checks, 1 failed\n"), done


def test_wrong_result_is_told():
    """A kernel that computes something else: one addition is a subtraction."""
    wrong = TOP / "build/demo/wrong.ppu"
    source = (TOP / "demo/kernels.s").read_text().replace("fadd v9, v9, v5", "fsub v9, v9, v5")
    subprocess.run([TOP / "build/plain/tools/ppu-as", "-o", wrong, "/dev/stdin"], input=source, text=True, check=True)
    done = demo_beside_qemu(wrong)
    assert done.returncode == 1, done
    assert re.search(r"^  saxpy .*  FAILED$", done.stdout, re.MULTILINE), done
    assert re.search(r"^FAILED: 9 checks, [12] failed$", done.stdout, re.MULTILINE), done


def test_without_kernels():
    done = demo_beside_qemu("/nonexistent/kernels.ppu")
    assert done.returncode == 1 and "/nonexistent/kernels.ppu" in done.stderr, done


tap.main([
    ("the demo finds the PPU, uses it and passes [A1 A8 A9]", test_demo_passes),
    ("a check that cannot be made is a failure", test_failed_check_is_told),
    ("a wrong result is a failure", test_wrong_result_is_told),
    ("an image that cannot be loaded is named", test_without_kernels),
])
