#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests make demo: what it prints, and that it can fail."""

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

CHECKS = ["saxpy", "reduction", "histogram", "filter, 3 x 3", "Mandelbrot set", "pixels filled", "picture", "queued by threads",
          "tasks of three commands", "beside one that waits",
          "turns with one lock", "lanes that undo others", "warps at once", "chosen by misses", "taken in turns",
          "compiled again", "in place", "waves at once",
          "same address", "side by side", "trespass", "the first", "the second"]
FIGURES = ["doorbells", "command blocks", "launches", "copies", "interrupts", "faults"]


def demo_beside_qemu(*arguments):
    """The same program without a guest."""
    return subprocess.run([TOP / "build/plain/tools/demo", *arguments], cwd=TOP, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PPU_DEVICE": "native"})


def figure(output, label):
    found = re.search(rf"^  {label} +([\d,]+)", output, re.MULTILINE)
    assert found, (label, output)
    return int(found[1].replace(",", ""))


def check_picture(png):
    """Whole chunks; as many pixels as it says; many colours."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n"), png[:8]
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        content = png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + content), kind
        chunks[kind], at = content, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert (width, height, len(pixels)) == (640, 480, 641 * 480) and len(set(pixels)) > 100 and b"IEND" in chunks


def test_demo_passes():
    done = subprocess.run([TOP / "demo/run"], capture_output=True, text=True, timeout=180)
    output = done.stdout
    assert done.returncode == 0 and done.stderr == "", done
    for check in CHECKS:
        assert re.search(rf"^  {check} .*  ok$", output, re.MULTILINE), (check, output)
    assert "00:01.0 Processing accelerators: QEMU Parallel processing unit" in output, output
    assert re.search(r"^  driver +vfio-pci$", output, re.MULTILINE), output
    assert re.search(r"^PASSED: 24 checks, 0 failed; [\d.]+ s$", output, re.MULTILINE), output
    # Each block has one doorbell at most; a task that was evicted was started twice; the trespass is the only fault.
    counts = {label: figure(output, label) for label in FIGURES}
    by_threads = figure(output, "launched by threads")
    assert counts["launches"] > 400 + by_threads and counts["command blocks"] > 400, counts
    assert 0 < counts["doorbells"] <= counts["command blocks"] and counts["copies"] == 1 + 3 * 256 and counts["faults"] == 1, counts
    assert 500 < by_threads and 100000 < figure(output, "pixels filled") < 307200, output
    assert figure(output, "queued by threads") == 1024 and counts["launches"] > 1024 + by_threads, output
    assert figure(output, "turns with one lock") == 4096 and figure(output, "lanes that undo others") == 32, output
    assert figure(output, "warps at once") == 72 and figure(output, "taken in turns") >= 80, output
    assert 58 <= figure(output, "chosen by misses") <= 72 and " 44 of those that do not miss" in output, output
    assert 2 <= figure(output, "compiled again") <= 10 and figure(output, "waves at once") == 64, output
    check_picture((guests.FOLDER / "demo/mandelbrot.png").read_bytes())
    assert 0 < figure(output, "a semaphore") < figure(output, "its first part") < figure(output, "a launch"), output


def test_failed_check_is_told():
    done = demo_beside_qemu("build/demo/kernels.ppu", "/nonexistent/file")
    assert done.returncode == 1 and "/nonexistent/file cannot be read" in done.stdout, done
    assert done.stdout.endswith("FAILED: 19 checks, 1 failed\n"), done


def test_wrong_result_is_told():
    """A kernel that computes something else: one addition is a subtraction."""
    wrong = TOP / "build/demo/wrong.ppu"
    source = (TOP / "build/demo/kernels.ppu.s").read_text().replace("fadd v9, v9, v5", "fsub v9, v9, v5")
    subprocess.run([TOP / "build/plain/tools/ppu-as", "-o", wrong, "/dev/stdin"], input=source, text=True, check=True)
    done = demo_beside_qemu(wrong)
    assert done.returncode == 1, done
    assert re.search(r"^  saxpy .*  FAILED$", done.stdout, re.MULTILINE), done
    assert re.search(r"^FAILED: 19 checks, [12] failed$", done.stdout, re.MULTILINE), done


def test_without_kernels():
    done = demo_beside_qemu("/nonexistent/kernels.ppu")
    assert done.returncode == 1 and "/nonexistent/kernels.ppu" in done.stderr, done


tap.main([
    ("the demo finds the PPU, uses it and passes [A1 A8 A9 B1 C2]", test_demo_passes),
    ("a check that cannot be made is a failure", test_failed_check_is_told),
    ("a wrong result is a failure", test_wrong_result_is_told),
    ("an image that cannot be loaded is named", test_without_kernels),
])
