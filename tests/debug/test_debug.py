#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests gdb on a machine whose guest drives the PPU: tools/debug/debug does in batch what a person would do."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402


@cache
def session():
    """What session.py found, by name."""
    with tempfile.TemporaryDirectory() as share:
        shutil.copy(TOP / "build/kernels/spin.ppu", share)
        shutil.copy(TOP / "build/firmware/picolibc/ppufw.bin", share)
        done = subprocess.run(
            [TOP / "tools/debug/debug", "--batch", TOP / "tests/debug/session.py", "--share", share,
             guests.PROGRAMS / "debuggee", "spin.ppu"], capture_output=True, text=True, timeout=220)
        output = Path(share, "output.log").read_text(errors="replace")
    assert done.returncode == 0 and done.stderr == "" and output == "", (done, output)
    lines = (line.split(": ", 1) for line in done.stdout.splitlines() if line.startswith("found "))
    return {name.removeprefix("found "): json.loads(value) for name, value in lines}


def test_inferiors():
    found = session()
    mcu, host = found["inferiors"]
    assert len(mcu) == 1 and "cortex-m33" in mcu[0], found
    assert len(host) == 1 and "cortex-a72" in host[0], found
    assert found["mcu"] == [1, "armv8-m.main"], found
    assert found["host"] == [2, "aarch64"], found


def test_breakpoint():
    found = session()
    assert found["stack"][0] == "doorbell_events" and "firmware_main" in found["stack"], found
    assert found["source"].endswith("firmware/doorbell.c"), found
    assert "cortex-m33" in found["thread"], found


def test_sms_stand_still():
    before, after = session()["while stopped"]
    assert before == after and any(before), session()


def test_sms_go_on():
    before, after = session()["while running"]
    assert all(a > b for b, a in zip(before, after)), session()


def test_printers():
    found = session()
    assert len(found["channels"]) == 2, found
    for line in found["channels"]:
        assert re.fullmatch(r"channel \d: (IDLE|RUNNING|WAITING), .*context \d+, priority \d, GP_GET \d+, GP_PUT \d+ of 256 at "
                            r"0x[0-9a-f]+, [01] tasks and copies pending(, in block .*)?", line), line
    task = r"task (0x[0-9a-f]+): RUNNING, slot 0, channel 0, stream 0, depth 1, priority 0, correlation \d+"
    slot = re.fullmatch(r"slot 0, " + task, found["slots"][0])
    assert slot and len(found["slots"]) == 1, found
    assert re.fullmatch(task, found["tasks"][0]) and len(found["tasks"]) == 1, found
    assert re.match(r"TMD: grid \d+ x 1 x 1 of 64 x 1 x 1 threads, waves of 32 with \d+ registers, code 0x", found["tmd"][0]), found
    assert f"task {slot[1]}, correlation" in found["tmd"][0], found


def test_why():
    found = session()
    task = re.search(r"task (0x[0-9a-f]+)", found["tasks"][0])[1]
    line, = found["why"]
    assert re.fullmatch(rf"task {task} (runs in slot 0( with \d+ CTAs on SMs)?|has slot 0, but .*) \((RUNS|NO_ROOM)\)", line), line


def test_memory_and_policies():
    found = session()
    assert found["queues"] == [""], found["queues"]
    assert "SLICE_US: 10000" in found["policies"] and "YIELD_CHANCE: 256" in found["policies"], found["policies"]
    assert [line.split(":")[0] for line in found["heap"]] == ["protected", "page tables", "heap"], found["heap"]
    assert all(re.fullmatch(r"0x[0-9a-f]+ to 0x[0-9a-f]+: (VRAM|system memory) from 0x[0-9a-f]+, \d+ KiB", line)
               for line in found["pages"]) and found["pages"], found["pages"]


def test_registers():
    found = session()["registers"]
    assert len(found) == 2, found
    for line, name in zip(found, ("PROT_BASE", "PROT_LIMIT")):
        assert re.fullmatch(rf"{name}: 0x[0-9a-f]{{4}}0000, reserved 0x0000ffff: First byte .*", line), found


tap.main([
    ("microcontroller and host are inferiors, found by name", test_inferiors),
    ("a breakpoint in the doorbell path stops with the firmware's functions on the stack", test_breakpoint),
    ("the SMs stand still while gdb has the machine", test_sms_stand_still),
    ("the SMs go on when gdb lets go", test_sms_go_on),
    ("it is said why a task does not run [A11]", test_why),
    ("policies, heap and page tables are shown [A11]", test_memory_and_policies),
    ("registers are shown with their reserved bits", test_registers),
    ("channels, slots, tasks and descriptors print themselves [A2 A5 A11]", test_printers),
])
