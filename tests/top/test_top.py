#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-top beside a program whose work is known: its numbers, its screen on terminals, and every wrong use."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
sys.path.insert(0, str(TOP / "tests/top"))
import tap  # noqa: E402
from terminal import Terminal  # noqa: E402

COMMAND = str(TOP / "build/plain/tools/ppu-top")
WORKER = TOP / "build/plain/tests/top-worker"
SPIN = TOP / "build/kernels/spin.ppu"
ENVIRONMENT = {"PPU_DEVICE": "native"} | os.environ
NOBODY = "4194303"


class Worker:
    def __init__(self, *arguments, **environment):
        self.arguments, self.environment = arguments, ENVIRONMENT | environment

    def __enter__(self):
        self.process = subprocess.Popen([WORKER, SPIN, *self.arguments], env=self.environment, cwd=TOP, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = str(self.process.pid)
        return self

    def end(self):
        self.process.communicate("\n", timeout=120)
        return self.process.returncode

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def top(*arguments):
    return subprocess.run([COMMAND, *arguments], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)


def sample(worker):
    done = top("--json", "--once", "--delay", "0.5", "--pid", worker.pid)
    assert done.returncode == 0 and done.stderr == "", done
    ppu, = json.loads(done.stdout)["ppus"]
    return ppu


def named(rows, **wanted):
    found, = (row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return found


def sms_and_contexts(worker):
    ppu = sample(worker)
    busy, = (sm for sm in ppu["sms"] if sm["ctas"])
    assert busy["ctas"] == 1 and busy["warps"] == 2 and busy["load"] > 1, busy
    assert busy["occupancy"] == 100 * busy["warps"] / ppu["device"]["sm_warps"], busy
    assert all(sm["insns"] == 0 and sm["load"] < busy["load"] / 5 for sm in ppu["sms"] if sm is not busy), ppu["sms"]
    works, idle = named(ppu["contexts"], number=0), named(ppu["contexts"], number=1)
    assert works["load"] > 0 and works["sm_ns"] <= sum(sm["busy_ns"] for sm in ppu["sms"]) and works["tasks"] == 2, works
    assert works["channels"] == 2 and idle["channels"] == 0 and idle["tasks"] == 0, ppu["contexts"]
    assert idle["load"] == 0 and idle["sm_ns"] == 0 and idle["vram_bytes"] >= 2 << 20, idle
    assert works["vram_bytes"] < idle["vram_bytes"], ppu["contexts"]
    assert ppu["thread_loads"] and max(ppu["thread_loads"]) > 1 and ppu["process_load"] > 1, ppu
    assert ppu["mcu_load"] is not None and ppu["faults"] == 0, ppu


def faults():
    with Worker("fault") as worker:
        assert sample(worker)["faults"] == 1
        text = top("--once", "--pid", worker.pid).stdout
        assert re.search(r"^Tasks +1 run, 1 wait, .*, faults 1$", text, re.MULTILINE), text
        assert worker.end() == 0


def gpcs(worker):
    """CTAs by GPC; what GPCs find in their caches, where those are modelled."""
    ppu = sample(worker)
    assert len(ppu["gpcs"]) == ppu["device"]["gpcs"] == 2, ppu
    each = ppu["device"]["sms"] // 2
    for gpc in ppu["gpcs"]:
        assert gpc["ctas"] == sum(sm["ctas"] for sm in ppu["sms"][each * gpc["number"]:][:each]), ppu
        assert gpc["l15_hits"] == gpc["l15_misses"] == gpc["tlb_hits"] == gpc["tlb_misses"] == 0, gpc
    assert re.search(r"^GPC 0 +\d CTAs, found L1.5 -, TLB -$", top("--once", "--pid", worker.pid).stdout, re.MULTILINE)
    with Worker(PPU_RUN_OPTIONS="--ppu cache-model=on") as modelled:
        busy, = (gpc for gpc in sample(modelled)["gpcs"] if gpc["ctas"])
        assert busy["ctas"] == 1 and busy["l15_misses"] > 0 and busy["tlb_misses"] > 0, busy
        text = top("--once", "--pid", modelled.pid).stdout
        assert re.search(r"^GPC \d +1 CTAs, found L1.5 \d+%, TLB \d+%$", text, re.MULTILINE), text
        assert modelled.end() == 0


def tasks_and_channels(worker):
    ppu = sample(worker)
    first, second = named(ppu["tasks"], state="RUNNING"), named(ppu["tasks"], state="HELD")
    assert (first["reason"], second["reason"]) == ("RUNS", "BEHIND"), ppu["tasks"]
    assert f"behind task 0x{first['handle']:x}" in second["why"], second
    assert sum(ppu["running"]) == 1 and sum(ppu["waiting"]) == 1, ppu
    assert ppu["running"][first["priority"]] == 1 and ppu["waiting"][second["priority"]] == 1, ppu
    assert named(ppu["slots"], task=first["handle"])["ctas"] == 1
    waits = named(ppu["channels"], priority=3)
    assert waits["reason"] == "SEMAPHORE" and waits["state"] == "PARKED" and waits["why"].endswith("at least 42"), waits
    done = top("--why", hex(second["handle"]), "--pid", worker.pid)
    assert done.returncode == 0 and "behind task" in done.stdout and "(BEHIND)" in done.stdout, done
    done = top("--why", "0xfffffffe", "--pid", worker.pid)
    assert done.returncode == 3 and "no PPU has it" in done.stderr, done


def text_forms(worker):
    done = top("--once", "--delay", "0.1", "--pid", worker.pid)
    assert done.returncode == 0 and "PARKED" in done.stdout and "runs in slot" in done.stdout, done
    for arguments in ((), ("--list",)):
        done = top(*arguments, "--delay", "0.1", "--pid", worker.pid)
        assert done.returncode == 0 and "2 contexts; 1 tasks run, 1 wait" in done.stdout, done


def stream_of_samples():
    with Worker() as worker:
        process = subprocess.Popen([COMMAND, "--json", "--delay", "0.1", "--pid", worker.pid], stdout=subprocess.PIPE,
                                   text=True)
        for _ in range(3):
            assert json.loads(process.stdout.readline())["ppus"][0]["state"] == "shown"
        assert worker.end() == 0
        last = [json.loads(line) for line in process.communicate(timeout=120)[0].splitlines()]
        assert process.returncode == 4 and last[-1]["ppus"] == [], (process.returncode, last[-1])


def screen(worker):
    environment = os.environ | {"TERM": "vt100"}
    shown = Terminal([COMMAND, "--pid", worker.pid, "--delay", "0.2"], 40, 100, environment)
    lines = shown.wait(lambda lines: any("behind task" in line for line in lines) and lines[-1].startswith("q quit"))
    assert lines[0].startswith("PPU 0 of " + worker.pid), lines
    assert any(line.startswith("SM 0 ") for line in lines), lines
    shown.press("1")
    shown.wait(lambda lines: not any(line.startswith("SM 0 ") for line in lines))
    for key, order in (("M", ["1", "0"]), ("P", ["0", "1"]), ("M", ["1", "0"]), ("N", ["0", "1"])):
        shown.press(key)  # contexts by memory, load, number
        shown.wait(lambda lines, order=order: re.findall(r"^ +(\d+) +\d+% ", "\n".join(lines), re.MULTILINE) == order)
    shown.press("h")
    shown.wait(lambda lines: lines[0] == "Keys of ppu-top")
    shown.press("x")
    shown.wait(lambda lines: lines[0].startswith("PPU 0"))
    shown.resize(12, 40)
    lines = shown.wait(lambda lines: lines[0].startswith("PPU 0") and lines[-1].startswith("q quit"))
    assert all(len(line) <= 40 for line in lines), lines
    shown.press("\x1bOB" * 4)
    shown.wait(lambda lines: not lines[0].startswith("PPU 0"))
    shown.press("q")
    assert shown.end() == 0


def largest_machine():
    """256 SMs and 64 GPCs leave room on a terminal for what comes after them."""
    environment = os.environ | {"TERM": "vt100"}
    with Worker(PPU_MACHINE="sms=256,gpcs=64,channels=4096") as worker:
        ppu = sample(worker)
        assert len(ppu["sms"]) == 256 and len(ppu["gpcs"]) == 64 and len(ppu["channels"]) == 2, ppu
        busy, = (sm for sm in ppu["sms"] if sm["ctas"])
        assert ppu["gpcs"][busy["number"] // 4]["ctas"] == 1, ppu
        shown = Terminal([COMMAND, "--pid", worker.pid, "--delay", "0.5"], 40, 80, environment)
        lines = shown.wait(lambda lines: any("behind task" in line for line in lines))
        loads = [re.fullmatch(r"SM (\d+) +%:(( +(\d+|-)){16})", line.rstrip()) for line in lines if line.startswith("SM ")]
        assert [int(match[1]) for match in loads] == list(range(0, 256, 16)), lines
        ctas = [line.split(":")[1].split() for line in lines if re.match(r"GPC \d+ +CTAs:", line)]
        assert sum(map(int, sum(ctas, []))) == 1 and [len(each) for each in ctas] == [16] * 4, lines
        shown.press("q")
        assert shown.end() == 0
        assert worker.end() == 0


def a_device_that_goes_away():
    environment = os.environ | {"TERM": "vt100"}
    with Worker() as worker:
        shown = Terminal([COMMAND, "--pid", worker.pid, "--delay", "0.5"], 30, 80, environment)
        shown.wait(lambda lines: any("runs in slot" in line for line in lines))
        assert worker.end() == 0
        shown.wait(lambda lines: lines[0] == "No program of this user has a PPU open.")
        shown.press("q")
        assert shown.end() == 0


def a_machine_that_was_killed():
    with Worker() as worker:
        worker.process.kill()
        worker.process.communicate()
        done = top("--once", "--pid", worker.pid)
        assert done.returncode == 3 and "No program of this user has a PPU open." in done.stdout, done


def nothing_to_show():
    for arguments in (("--once",), ("--list",), ()):
        done = top(*arguments, "--pid", NOBODY)
        assert done.returncode == 3 and "No program of this user has a PPU open." in done.stdout, done
    done = top("--json", "--once", "--pid", NOBODY)
    assert done.returncode == 3 and json.loads(done.stdout)["ppus"] == [], done


def wrong_use():
    for words, arguments in (("--delay takes seconds", ("--delay", "0")), ("--delay takes seconds", ("-d", "x")),
                             ("exclude each other", ("--list", "--once")), ("--pid x", ("--pid", "x")),
                             ("is no option", ("word",)), ("go together", ("--vram", "file")),
                             ("read nowhere", ("--why", "1", "--vram", "nowhere", "--state", "64"))):
        done = top(*arguments)
        assert done.returncode == 2 and words in done.stderr and done.stderr.startswith("ppu-top: "), (arguments, done)
    shown = Terminal([COMMAND, "--pid", NOBODY], 24, 80, os.environ | {"TERM": "nothing-like-it"})
    assert shown.end() == 2


def image_of_nothing():
    path = TOP / "build/plain/tests/top-image"
    path.write_bytes(bytes(1 << 20))
    done = top("--why", "1", "--vram", str(path), "--state", "4096")
    assert done.returncode == 2 and "has not started" in done.stderr, done


def main():
    with Worker() as worker:
        tap.main([
            ("SMs and contexts are as the work is", lambda: sms_and_contexts(worker)),
            ("tasks and channels, and why they wait", lambda: tasks_and_channels(worker)),
            ("tasks that have faulted are counted", faults),
            ("GPCs have their SMs' CTAs, and what their caches found [A1]", lambda: gpcs(worker)),
            ("text, with and without options", lambda: text_forms(worker)),
            ("the screen: keys, 40 columns, another size", lambda: screen(worker)),
            ("256 SMs in 64 GPCs fit on a terminal", largest_machine),
            ("a stream of samples ends with its process", stream_of_samples),
            ("a device that goes away while it is shown", a_device_that_goes_away),
            ("a process that was killed", a_machine_that_was_killed),
            ("there is nothing to show", nothing_to_show),
            ("wrong options, an unknown terminal", wrong_use),
            ("an image without a state", image_of_nothing),
        ])


if __name__ == "__main__":
    main()
