#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the example programs, each on a QEMU of its own."""

import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))

import tap

KERNELS = os.path.join(TOP, "build/kernels")


def run(name, *arguments, env=None):
    return subprocess.run([os.path.join(TOP, "build/plain/tools", name), *arguments], cwd=TOP, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=100, env=env)


def saxpy():
    done = run("saxpy", f"{KERNELS}/saxpy.ppu")
    assert done.returncode == 0 and done.stdout == "y[1000] = 2001\n", done


def bfs():
    done = run("bfs", f"{KERNELS}/bfs.ppu", "4000")
    assert done.returncode == 0, done
    times = re.findall(r"^  (\S.*?) +(\d+\.\d\d) ms +\d+\.\d us   ok$", done.stdout, re.MULTILINE)
    assert len(times) == 6 and all(float(ms) > 0 for _, ms in times), done
    assert "4000 nodes, 32000 edges" in done.stdout and "so 125 grids" in done.stdout, done
    assert done.stdout.endswith("All levels are those that the CPU alone finds.\n"), done


def bfs_bad():
    done = run("bfs", f"{KERNELS}/bfs.ppu", "100")
    assert done.returncode == 2 and "usage" in done.stderr, done
    done = run("bfs", f"{KERNELS}/none.ppu")
    assert done.returncode == 1 and "none.ppu" in done.stderr, done


def pieces():
    done = run("pieces", f"{KERNELS}/saxpy.ppu")
    times = re.findall(r"^  (\S.*?) +(\d+\.\d\d) ms   ok$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and len(times) == 3 and all(float(ms) > 0 for _, ms in times), done
    assert run("pieces", "one", "more").returncode == 2


def quicksort():
    vendors = os.path.join(TOP, "build/opencl/ppu.icd")
    done = run("quicksort", "5000", env=os.environ | {"OCL_ICD_VENDORS": vendors, "PPU_CACHE": "off"})
    match = re.fullmatch(r"5000 numbers, sorted by (\d+) work-groups, of which the CPU launched one\nThey are in order\.\n", done.stdout)
    assert done.returncode == 0 and match and int(match[1]) > 20, done
    assert run("quicksort", "0").returncode == 2


if __name__ == "__main__":
    tap.main([
        ("the smallest program computes what it should [F6]", saxpy),
        ("a search whose grids the CPU, a work queue and a waiting thread launch finds the same levels [C1] [C5] [B7]", bfs),
        ("commands as one task of a stream, as tasks and by the CPU compute the same [B15]", pieces),
        ("a kernel that enqueues itself sorts [B1] [B8]", quicksort),
        ("the search says what is wrong with its arguments", bfs_bad),
    ])
