#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests on a machine without a guest what gdb says of tasks that do not run, of queues, policies and page tables."""

import os
import re
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

COMMANDS = ("ppu tasks", "ppu why slots[0].task->handle", "ppu why tasks[1].handle", "ppu why 0x7ff00007", "ppu queues",
            "ppu policies", "ppu heap", "ppu pages 0", "print nests[0]", "print taskqs[1]", "print workqs[2]", "echo done")


def look(socket, environment, *arguments):
    """What each command printed while tests/top/worker.c has its work, on a machine where gdb finds `socket`."""
    worker = subprocess.Popen([TOP / "build/plain/tests/top-worker", TOP / "build/kernels/spin.ppu", *arguments], text=True, cwd=TOP,
                              env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdout.readline() == "ready\n"
    time.sleep(0.5)  # until the firmware has come to the second launch
    shown = [part for command in COMMANDS for part in ("-ex", f"echo \\n== {command}\\n", "-ex", command)]
    done = subprocess.run(["gdb-multiarch", "-q", "-batch", "-x", TOP / "tools/debug/ppu.py", "-ex",
                           f"ppu connect {socket}", *shown], capture_output=True, text=True, cwd=TOP, timeout=100)
    worker.communicate("\n", timeout=100)
    assert worker.returncode == 0, worker
    parts = re.split(r"^== (.*)\n", done.stdout, flags=re.MULTILINE)
    return {command: text.strip() for command, text in zip(parts[1::2], parts[2::2])}


@cache
def session(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        socket, launcher = f"{folder}/gdb", Path(folder) / "ppu-run"
        launcher.write_text(f'#!/bin/sh\nexec "{TOP}/tools/ppu-run" --gdb "{socket}" "$@"\n')
        launcher.chmod(0o755)
        return look(socket, {"PPU_DEVICE": "native", "PPU_RUN": str(launcher)}, *arguments)


def tasks():
    check_tasks(session())


def check_tasks(found):
    runs, held = (re.search(rf"task (0x[0-9a-f]+): {state}", found["ppu tasks"])[1] for state in ("RUNNING", "HELD"))
    assert found["ppu why slots[0].task->handle"].startswith(f"task {runs} runs in slot 0"), found
    assert found["ppu why tasks[1].handle"].startswith(f"task {held} waits in stream 0 behind task {runs}, which runs"), found
    assert found["ppu why 0x7ff00007"] == "task 0x7ff00007: it has completed, or never was (NO_TASK)", found


def queues():
    found = session()
    assert found["ppu queues"] == "", found
    for name, text in (("nests[0]", "nest 0"), ("taskqs[1]", "task queue 1"), ("workqs[2]", "work queue 2")):
        assert found[f"print {name}"].endswith(f"= {text}, closed"), found


def open_queues():
    """What is open says what it is, whose, and how full: save places of a nest among it."""
    nest, taskq, workq = session("queues")["ppu queues"].splitlines()
    assert re.fullmatch(r"nest \d+, context 1, 0 of 64 records are tasks, depth 4, save area: (\d+) of \1 units of \d+ bytes free, "
                        r"at most \d+ places a task", nest), nest
    assert re.fullmatch(r"task queue \d+, context 1, 16 entries of 64 bytes, 0 published, no task takes from it", taskq), taskq
    assert re.fullmatch(r"work queue \d+, channel 3, 32 entries, blocks of 256 bytes, at x", workq), workq


def policies_and_memory():
    found = session()
    rows = re.findall(r"^PPU_POLICY\((\w+)", (TOP / "include/ppu/policy.def").read_text(), re.MULTILINE)
    assert [line.split(":")[0] for line in found["ppu policies"].splitlines()] == rows, found
    assert "SLICE_US: 10000" in found["ppu policies"] and "YIELD_CHANCE: 256" in found["ppu policies"], found
    assert [line.split(":")[0] for line in found["ppu heap"].splitlines()] == ["protected", "page tables", "heap"], found
    for line in found["ppu pages 0"].splitlines():
        assert re.fullmatch(r"0x[0-9a-f]+ to 0x[0-9a-f]+: (VRAM|system memory) from 0x[0-9a-f]+, \d+ KiB", line), line


if __name__ == "__main__":
    tap.main([
        ("it is said why tasks do not run", tasks),
        ("nests and queues print themselves", queues),
        ("nests and queues that are open say what they hold", open_queues),
        ("policies, heap and page tables are shown", policies_and_memory),
    ])
