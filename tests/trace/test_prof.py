#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-prof: exact counts by line and instruction, samples, variants and threads' launches apart, wrong uses."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

TOOLS = TOP / "build/plain/tools"
KERNELS = TOP / "build/kernels"
ENVIRONMENT = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
FOLDER = tempfile.TemporaryDirectory()
WARPS = 32768  # of examples/libppu/saxpy.c
MARGIN = re.compile(r" *([\d.]+)% +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)% +(\d*) +\| +(\d+)  (.*)")


def at(name):
    return str(Path(FOLDER.name) / name)


def prof(*arguments, status=0):
    done = subprocess.run([TOOLS / "ppu-prof", *arguments], cwd=TOP, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done
    return done


def refused(words, *arguments, status=2):
    done = prof(*arguments, status=status)
    assert words in done.stderr and done.stderr.startswith("ppu-prof: "), done


def rows(text):
    """Lines with counts: instructions, lanes, transactions, diverging, stalls, number, text."""
    return [(int(row[2]), float(row[3]), float(row[4]), float(row[5]), int(row[6] or 0), int(row[7]), row[8].strip())
            for row in map(MARGIN.match, text.splitlines()) if row]


def exact():
    """Each line of saxpy.s is one instruction, which each warp executes once."""
    done = prof("--exact", "-o", at("saxpy.trace"), "--", TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu")
    assert done.stdout == "y[1000] = 2001\n", done
    source = [line.strip() for line in (KERNELS / "saxpy.ppu.s").read_text().splitlines()] if \
        (KERNELS / "saxpy.ppu.s").exists() else None
    found = rows(done.stderr)
    assert len(found) == 19 and all(row[:2] == (WARPS, 32.0) for row in found), found
    assert done.stderr.startswith(f"{19 * WARPS} warp instructions\n"), done.stderr
    assert "launched by the host" in done.stderr and "missing" not in done.stderr
    for row in found:
        access = source and any(word in source[row[5] - 1] for word in ("ldg", "stg"))
        assert source is None or row[6] == source[row[5] - 1], row
        assert source is None or row[2] == (1.0 if access else 0.0), row
    read = prof("--read", at("saxpy.trace"))
    assert read.stdout == done.stderr, read
    insns = prof("--read", at("saxpy.trace"), "--insns", "--whole").stdout
    assert len(rows(insns)) == 38 and "ldg.b32 v2, [v6]" in insns, insns


def sampled():
    done = prof("--period", "101", "--", TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu")
    total = re.match(r"(\d+) warp instructions, from samples of one in 101\n", done.stderr)
    assert total and abs(int(total[1]) / (19 * WARPS) - 1) < 0.1, done.stderr
    found = rows(done.stderr)
    assert len(found) == 19 and all(abs(row[0] / WARPS - 1) < 0.35 for row in found), found


def opencl():
    """OpenCL C: the source is the program's text; work of threads, and variants, stand apart; barriers stall."""
    # Each launch waits for its variant: whether one is worth it depends on the host's speed.
    done = prof("--exact", "-o", at("sort.trace"), "--", "env", "PPU_ALIAS_WAIT=always", TOOLS / "quicksort", "20000")
    assert "They are in order" in done.stdout, done
    assert "launched by the host" in done.stderr and "launched by threads" in done.stderr, done.stderr
    assert re.search(r"variant \d of \d", done.stderr), done.stderr
    by_threads = done.stderr[done.stderr.index("launched by threads"):]
    assert any("barrier(" in row[6] for row in rows(by_threads)), by_threads
    assert any("a[i]" in row[6] and row[2] > 0 for row in rows(by_threads)), by_threads
    names = [line for line in done.stderr.splitlines() if line.startswith("Program ") and "libppu-opencl" not in line]
    assert names and all("quicksort" in name for name in names), names


def missing():
    """A table that is too small says so, and nothing else fails."""
    done = prof("--exact", "--entries", "64", "--", TOOLS / "quicksort", "2000")
    assert "They are in order" in done.stdout, done
    assert re.search(r"\d+ counts are missing: the table had no room for them", done.stderr), done.stderr


def firmware():
    """Functions of the firmware with their callers, a file for programs that draw flame graphs, and a machine's own file."""
    done = prof("--firmware", "-o", at("fw.trace"), "--folded", at("folded"), "--", TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu")
    total = re.search(r"Firmware: (\d+) instructions of the microcontroller", done.stderr)
    stacks = [line.rsplit(" ", 1) for line in Path(at("folded")).read_text().splitlines()]
    assert total and sum(int(count) for _, count in stacks) == int(total[1]) > 10000, done.stderr
    assert all(stack.startswith("PPU 0;start") for stack, _ in stacks), stacks[:3]
    assert any(re.search(r";firmware_main;.*method_LAUNCH", stack) for stack, _ in stacks), stacks
    assert re.search(r"% +\d+  channel_turns\n", done.stderr), done.stderr
    assert prof("--read", at("fw.trace")).stdout == done.stderr
    os.mkdir(at("counts"))
    ran = subprocess.run([TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu"], cwd=TOP, env=ENVIRONMENT | {"PPU_MCU_COUNTS": at("counts")},
                         capture_output=True, text=True, timeout=60)
    counts, = Path(at("counts")).iterdir()
    assert ran.returncode == 0 and re.fullmatch(r"mcu\.\d+\.\d+", counts.name), (ran, counts)
    own = prof("--read", counts).stdout
    assert "channel_turns" in own and own.lstrip().startswith("Firmware: "), own
    command = subprocess.run([TOP / "tools/ppu-run", "--dry-run", "--mcu-counts", at("mine")], capture_output=True, text=True)
    assert f"out={at('mine')}" in command.stdout and f"--write {at('mine')}" in command.stdout, command
    command = subprocess.run([TOP / "tools/ppu-run", "--served", "none", "--kernel", "none", "--mcu-counts", at("mine")],
                             capture_output=True, text=True)
    assert command.returncode == 2 and "are its server's" in command.stderr, command
    whole = counts.read_bytes()
    for size in (0, 8, 31, 40, 3000, len(whole) // 2):
        Path(at("cut")).write_bytes(whole[:size])
        refused("", "--read", at("cut"))
    refused("--firmware goes with a program", "--read", at("fw.trace"), "--firmware")
    refused("--folded goes with --firmware", "--folded", at("folded"), "true")
    refused("has no stacks of the firmware", "--read", at("saxpy.trace"), "--folded", at("folded"))
    refused("write /nowhere/folded", "--read", at("fw.trace"), "--folded", "/nowhere/folded")


def goes_away():
    """A program that is killed leaves its counts in the memory of its PPU."""
    seen = subprocess.Popen([TOOLS / "ppu-prof", "--exact", "-o", at("killed.trace"), "--", "sh", "-c",
                             f"echo $$ >{at('pid')}; exec {TOOLS / 'bfs'} {KERNELS}/bfs.ppu 200000"], cwd=TOP,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.05)
        if Path(at("pid")).exists() and Path(at("killed.trace")).stat().st_size > 100000:
            break
    os.kill(int(Path(at("pid")).read_text()), signal.SIGKILL)
    _, errors = seen.communicate(timeout=60)
    assert seen.returncode == 128 + signal.SIGKILL and re.match(r"[1-9]\d* warp instructions", errors), errors


def wrong_uses():
    refused("profile what?")
    refused("exclude each other", "--read", "x", "true")
    refused("--entries 65 is no power of two", "--entries", "65", "true")
    refused("--period", "--period", "1", "true")
    refused("--output goes with a program", "--read", "x", "-o", "y")
    refused("No such file", "--read", at("absent"))
    refused("no regular file", "--read", FOLDER.name)
    Path(at("foreign")).write_bytes(b"\x7fELF" + bytes(100))
    refused("read ", "--read", at("foreign"))
    Path(at("empty")).write_bytes(b"")
    refused("it is empty", "--read", at("empty"))
    refused("write /nowhere/x", "-o", "/nowhere/x", "true")
    refused("execute", "/nowhere/program", status=127)
    refused("it has no profile", "true")


def cut_off():
    """Every cut of a record is read, or refused with a sentence."""
    whole = Path(at("saxpy.trace")).read_bytes()
    for size in (1, 15, 16, 23, 24, len(whole) // 3, len(whole) - 30, len(whole) - 1):
        Path(at("cut")).write_bytes(whole[:size])
        done = subprocess.run([TOOLS / "ppu-prof", "--read", at("cut")], capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 2) and (done.returncode == 0 or done.stderr.startswith("ppu-prof: read ")), done
    spoiled = bytearray(whole)
    for offset in range(len(whole) - 2000, len(whole) - 40, 7):
        spoiled[offset] ^= 0xa5
    Path(at("cut")).write_bytes(spoiled)
    done = subprocess.run([TOOLS / "ppu-prof", "--read", at("cut")], capture_output=True, timeout=60)
    assert done.returncode in (0, 2), done


if __name__ == "__main__":
    tap.main([
        ("exact counts of assembly: each line as often as it ran, with its lanes and transactions", exact),
        ("samples add up to what ran", sampled),
        ("OpenCL C: source lines, variants, launches by threads, barriers", opencl),
        ("a table without room says what is missing", missing),
        ("the firmware's functions, and their stacks", firmware),
        ("a program that is killed leaves its counts", goes_away),
        ("wrong uses are refused in words", wrong_uses),
        ("what is half of a record is read, or refused in words", cut_off),
    ])
