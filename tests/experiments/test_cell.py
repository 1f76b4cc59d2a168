#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests cells of a study: the same bits each time, what makes another cell, and what is said of one that fails."""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

STUDY = TOP / "experiments/study"
TEXT = """study: small
command: {command}
machine:
  gpcs: 1
  sms: [1, 3]
inputs:
  how: [{how}]
  grain: [256]
plots:
  - name: time
    x: sms
    y: device_ns
    lines: how
"""
PROGRAM = "build/plain/tools/study-grain {how} {grain}"


class Small:
    """A study in a folder of its own."""

    def __init__(self, how="nested, queue", command=PROGRAM):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)
        self.file = self.folder / "small.yaml"
        self.file.write_text(TEXT.replace("{command}", command, 1).replace("[{how}]", f"[{how}]", 1))

    def step(self, name, *arguments):
        return subprocess.run([STUDY, name, self.file, *map(str, arguments)], cwd=TOP, capture_output=True, text=True,
                              timeout=120)

    def keys(self):
        listed = self.step("cells")
        assert listed.returncode == 0, listed
        return dict(line.split(" ", 1) for line in listed.stdout.splitlines())

    def run_all(self, folder):
        for key in self.keys():
            done = self.step("run", folder, key)
            assert done.returncode == 0, done
        return {path.name: path.read_bytes() for path in (folder / "cells").iterdir()}


def same_bits():
    small = Small()
    quiet = small.run_all(small.folder / "quiet")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        loud = small.run_all(small.folder / "loud")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert len(quiet) == 4 and quiet == loud, [(json.loads(quiet[name]), json.loads(loud[name])) for name in quiet
                                               if quiet[name] != loud[name]]
    cells = [json.loads(text) for text in quiet.values()]
    assert all(cell["results"]["insns"] > 10000 for cell in cells), cells
    assert all(cell["results"]["mcu_insns"] > 32 * 100 for cell in cells), cells  # 32 pieces
    assert len({cell["results"]["device_ns"] for cell in cells}) >= 3, cells


def kernels_as_written():
    """Which launch is the first that takes a variant depends on the host, so none does."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "told"
        program.write_text('#!/bin/sh\n[ "$PPU_ALIAS $PPU_WORK_GROUPS" = "off asked" ]\necho "variants $?"\n'
                           f'exec {TOP}/build/plain/tools/study-grain "$@"\n')
        program.chmod(0o755)
        small = Small(how="queue", command=f"{program} {{how}} {{grain}}")
        results = [json.loads(text)["results"] for text in small.run_all(small.folder).values()]
        assert [result["variants"] for result in results] == ["0", "0"], results


def other_cells():
    small = Small()
    keys = small.keys()
    small.file.write_text(small.file.read_text().replace("[256]", "[256, 512]"))
    more = small.keys()
    assert len(keys) == 4 and len(more) == 8 and set(keys) < set(more), (keys, more)
    copy = small.folder / "program"
    copy.write_bytes((TOP / "build/plain/tools/study-grain").read_bytes())
    copy.chmod(0o755)
    other = Small(command=f"{copy} {{how}} {{grain}}").keys()
    copy.write_bytes(copy.read_bytes() + b"\0")
    changed = Small(command=f"{copy} {{how}} {{grain}}").keys()
    assert not set(other) & set(changed), "a program that changed has the cells of before"


def table_and_plots():
    small = Small()
    missing = small.step("table", small.folder)
    assert missing.returncode == 1 and "cells without a result" in missing.stderr, missing
    assert "gpcs=1 sms=3 how=queue grain=256" in missing.stderr, missing
    small.run_all(small.folder)
    made = small.step("table", small.folder)
    assert made.returncode == 0, made
    rows = list(csv.DictReader(open(small.folder / "small.csv")))
    assert [(row["sms"], row["how"]) for row in rows] == [("1", "nested"), ("1", "queue"), ("3", "nested"), ("3", "queue")], rows
    assert all(row["pieces"] == "32" and int(row["device_ns"]) > 0 and int(row["lanes"]) > 0 for row in rows), rows


LAUNCHES = """study: small
command: build/plain/tools/study-urgency {wave} {tokens} {priority} AGE={AGE}
machine:
  gpcs: 1
  sms: 2
  slots: 4
launch:
"""


def launched(wave="128", tokens="128", priority="0", age="16"):
    """Twice the same bits of each cell. {(wave, tokens, priority, age): results}"""
    small = Small()
    small.file.write_text(LAUNCHES + f"  wave: {wave}\n  tokens: {tokens}\n  priority: {priority}\n  AGE: {age}\n")
    first = small.run_all(small.folder / "first")
    again = small.run_all(small.folder / "again")
    assert len(first) == 4 and first == again, [(first[name], again[name]) for name in first if first[name] != again[name]]
    return {tuple(cell["inputs"].values()): {name: float(value) for name, value in cell["results"].items()}
            for cell in map(json.loads, first.values())}


def waves_and_tokens():
    """Narrow waves execute more instructions; long queues leave room for fewer work-groups."""
    cells = launched(wave="[32, 128]", tokens="[128, 4096]")
    usual, narrow, long = (cells[wave, tokens, "0", "16"] for wave, tokens in (("128", "128"), ("32", "128"), ("128", "4096")))
    assert narrow["insns"] > 2 * usual["insns"] and long["insns"] == usual["insns"], cells
    assert long["groups_at_once"] < usual["groups_at_once"], cells


def priorities_and_policies():
    """What is urgent goes before all that wait; what is not goes when it was passed over as often as the policy says."""
    cells = launched(priority="[0, 7]", age="[2, 16]")
    urgent, soon, late = (cells["128", "128", priority, age] for priority, age in (("7", "16"), ("0", "2"), ("0", "16")))
    assert urgent["begun_before"] < soon["begun_before"] < late["begun_before"], cells
    assert len({cell["mcu_insns"] for cell in (urgent, soon, late)}) == 3, cells


def queues_too_short():
    small = Small()
    small.file.write_text(LAUNCHES + "  wave: 128\n  tokens: 1\n  priority: 0\n  AGE: 2\n")
    (key,) = small.keys()
    done = small.step("run", small.folder, key)
    assert done.returncode == 1 and "wave=128 tokens=1 priority=0 AGE=2: exit status 1: " in done.stderr, done


def failures():
    small = Small(how="neither")
    (key,) = [key for key, name in small.keys().items() if "sms=3" in name]
    done = small.step("run", small.folder, key)
    assert done.returncode == 1 and done.stderr == \
        "study: run a cell of small: gpcs=1 sms=3 how=neither grain=256: exit status 1: usage: study-grain nested|queue|host GRAIN\n", done
    assert not (small.folder / "cells").exists() or not list((small.folder / "cells").iterdir())
    absent = Small(command="build/plain/tools/no-such-program {how} {grain}")
    done = absent.step("run", absent.folder, next(iter(absent.keys())))
    assert done.returncode == 1 and "no-such-program: No such file or directory" in done.stderr, done
    idle = Small(command="/bin/true {how} {grain}")
    done = idle.step("run", idle.folder, next(iter(idle.keys())))
    assert done.returncode == 1 and "it has opened no PPU" in done.stderr, done
    done = small.step("run", small.folder, "0" * 24)
    assert done.returncode == 1 and "no such cell" in done.stderr, done


if __name__ == "__main__":
    tap.main([
        ("a cell has the same bits on an idle machine and on a crowded one", same_bits),
        ("a cell runs kernels as they were written, without variants", kernels_as_written),
        ("another machine, input or program is another cell; the others stay", other_cells),
        ("the table has a row for each cell, and names those without a result", table_and_plots),
        ("waves and token queues make other results, the same bits each time", waves_and_tokens),
        ("priorities and policies make other results, the same bits each time", priorities_and_policies),
        ("a token queue that is too short fails its cell alone", queues_too_short),
        ("a cell that fails is named, with what its program said", failures),
    ])
