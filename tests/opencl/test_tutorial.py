#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the program of docs/tutorial.md: it does what the tutorial shows, in both places."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

TUTORIAL = (TOP / "docs/tutorial.md").read_text()


def shown(first):
    """What the tutorial says a run prints: the same each time."""
    runs = re.findall(r"((?: {4}.*\n)+)", TUTORIAL[TUTORIAL.index("## 3."):])
    outputs = {re.sub("^    ", "", run, flags=re.MULTILINE) for run in runs if run.startswith(f"    {first}")}
    assert len(outputs) == 1, outputs
    return outputs.pop()


PROGRAMS = {"squares": "device:", "nested": "0 1 4", "levels": "15 levels:", "variants": "in place:", "locks": "turns with one lock:",
            "waves": "waves at once:", "entries": "round 1:"}


def test_natively():
    for name, first in PROGRAMS.items():
        done = subprocess.run([TOP / "build/plain/tools" / name], capture_output=True, text=True, timeout=60,
                              env=os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": "off"})
        assert done.returncode == 0 and done.stdout == shown(first), done


def test_in_the_guest():
    """In one guest, one after the other."""
    with tempfile.TemporaryDirectory() as share:
        for name in PROGRAMS:
            shutil.copy(guests.PROGRAMS / name, share)
        script = Path(share, "all")
        script.write_text("#!/bin/sh\nset -e\n" + "".join(f"./{name}; echo '=== {name}'; ls cache/opencl | wc -l\n" for name in PROGRAMS))
        command = [TOP / "tools/guest-run", "--opencl", "--timeout", "400", "--share", share, "--console", Path(share, "console"),
                   "--env", "PPU_CACHE=/share/cache", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=420)
        assert done.returncode == 0, done
    pattern = "".join(f"(.*)=== {name}\n(\\d+)\n" for name in PROGRAMS)
    found = re.fullmatch(pattern, done.stdout, re.DOTALL)
    assert found, done
    kept = 0
    for (name, first), output, files in zip(PROGRAMS.items(), found.groups()[::2], found.groups()[1::2]):
        assert output == shown(first), (name, output)
        assert int(files) > kept, (name, files)  # the program, and perhaps a variant of its kernel
        kept = int(files)


def test_source_is_shown():
    """The kernels in the text are the programs'."""
    for name, begin, end in (("squares", "    kernel void square(global const float *in, global float *out)\n", "Nothing in it knows"),
                             ("nested", "    kernel void square(global const float *in, global float *out, int", "What stands behind"),
                             ("levels", "    kernel void visit(", "`PPU_ENQUEUE_FLAGS_WORK` says"),
                             ("variants", "    kernel void smooth(", "The two arguments"),
                             ("locks", "    kernel void turns(", "A wave has one program counter"),
                             ("waves", "    #define N 90", "Only the first work-item"),
                             ("entries", "    kernel void part(", "The host enqueues")):
        program = "".join(re.findall(r'"(.*)\\n"', (TOP / f"examples/opencl/{name}.c").read_text().split("static void check")[0]))
        text = TUTORIAL[TUTORIAL.index(begin):TUTORIAL.index(end)]
        assert re.sub(r'[\s\\]', "", program) == re.sub(r'[\s\\]', "", text), (program, text)


tap.main([
    ("the tutorial's programs print what the tutorial shows [A12 B1 C2 D4 D9 E6 E8 F3 F6]", test_natively),
    ("and in the guest, where their cache stays on the share [D4 D9 E8 F6]", test_in_the_guest),
    ("the tutorial shows the kernels of its programs [F6]", test_source_is_shown),
])
