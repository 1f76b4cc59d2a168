#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tests of OpenCL with kernels that check themselves: they pass, and nothing is reported that is not wrong.

What is right to report, and what cannot be the same, stands here with its reason.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SECONDS = 240
# Program of tests/opencl, checks.
RUNS = [("enqueue", "all"), ("groups", "all"), ("groups", "argument"), ("pipes", "all"), ("atomics", "all"),
        ("subgroups", "all"), ("language", "all"), ("objects", "all"), ("image_kernels", "all"), ("order", "all"),
        ("semaphore", "all"), ("command_buffer", "all"), ("threads", "all"), ("transfer", "all"), ("segments", "all"),
        ("program", "all"), ("taskq", "all"), ("build", "all"), ("il", "all"), ("printf", "all"),
        ("image_objects", "all"), ("workq", "all")]
# Tests that need work-groups beside each other on the SMs, for which kernels with checks have too many registers.
SKIPPED = "*work-groups wait*"
# (program, checks): tests that do not pass, and why.
DIFFERS = {
    ("groups", "all"): {
        "work-groups that no work-item sees have another shape":
            "reports name the work-groups that the program asked for",
    },
    # The test sees turns by two atomic operations of one segment, which are in two when checks stand between them.
    ("segments", "all"): {
        "a launch, its rate or the threshold choose the mode; the program goes first [D6][D8]":
            "a check's comparison has a scalar result, which divides the segment between the draws",
        "options of a link choose the segments of what is linked [D7]": "the same",
    },
}
# program: more of its environment. Launches with checks take more memory, which 64 contexts have not all at once.
ENVIRONMENTS = {"objects": {"PPU_VRAM": "4G"}}
# program: check, a part of what is said, kernel: why it is right.
RIGHT = {
    "objects": [
        ("uninit", "argument 1 'b'", "k", "the test looks at what keeps buffers alive, and writes none of them"),
        ("uninit", "argument 0 'data'", "k", "the test counts instructions, whatever the numbers are"),
        ("race", "argument 0 'data'", "k", "work-items read numbers that others write, in two queues"),
    ],
    "enqueue": [
        ("race", "argument 1", "__k_block_invoke_3_kernel", "all work-items read what the first one stores"),
        ("race", "argument 0 'out'", "k", "all work-items store what their call returns"),
        ("race", "global pointer", "__k_block_invoke_kernel", "all work-items store to where nothing is"),
    ],
    "workq": [
        ("race", "argument 0 'out'", "k", "all work-items store what each call returns them"),
    ],
    "program": [
        ("race", "argument 0 'out'", "k", "all work-items store the size of their group"),
        ("race", "argument 0 'out'", "fixed", "all work-items store the same number"),
    ],
    "image_objects": [
        ("argument", "read_imagef(): the function is not for the channel type", "k",
         "the test binds images of bytes, and looks at no pixel"),
    ],
    "pipes": [
        ("argument", "write_pipe(): the index is not below", "k", "the test looks at what is refused"),
        ("argument", "write_pipe(): it is no reservation", "k", "the same"),
    ],
    "image_kernels": [
        ("argument", "read_imagef(): the coordinate is outside", "bare", "there is no sampler, and so no address mode"),
        ("argument", "read_imageui(): the coordinate is outside", "k", "the test looks at what lies around an image"),
        ("argument", "write_imageui(): the coordinate is outside", "k", "the same"),
    ],
}


def run(program, checks):
    """The tests that failed, and (check, text, kernel) of each report."""
    environment = {**os.environ, **ENVIRONMENTS.get(program, {}), "PPU_SANITIZE": checks, "PPU_SKIP_TESTS": SKIPPED, "CMOCKA_MESSAGE_OUTPUT": "STDOUT",
                   "OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
    done = subprocess.run([str(TOP / f"build/plain/tests/opencl-{program}-native")], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", timeout=SECONDS)
    passed = set(re.findall(r"^\[       OK \] (.*)$", done.stdout, re.MULTILINE))
    failed = set(re.findall(r"^\[  FAILED  \] (\D.*)$", done.stdout, re.MULTILINE))
    reports = re.findall(r"^ppu: (\w+): (.*)\n  at .* in kernel '(\w*)'$", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert done.returncode == len(failed), f"it ended with {done.returncode}\n{done.stdout}"
    return failed, reports, done.stdout


def is_right(program, report):
    return any(report[0] == check and part in report[1] and report[2] == kernel
               for check, part, kernel, _ in RIGHT.get(program, []))


def checked(program, checks):
    failed, reports, text = run(program, checks)
    differing = DIFFERS.get((program, checks), {})
    assert failed <= set(differing), f"{failed - set(differing)}\n{text}"
    wrong = [report for report in reports if not is_right(program, report)]
    assert not wrong, "\n".join(map(str, wrong))


if __name__ == "__main__":
    tap.main([(f"opencl-{program} runs with {checks} as without, and its reports are right",
               lambda program=program, checks=checks: checked(program, checks)) for program, checks in RUNS])
