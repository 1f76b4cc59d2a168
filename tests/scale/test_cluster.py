#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests MPI programs whose ranks have a PPU each: right results, and jobs that end when a rank does. Skipped without MPI."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

RUN = TOP / "examples/cluster/run"
TOOLS = TOP / "build/plain/tools"
ABSENT = None if shutil.which("mpirun") and (TOOLS / "cluster-stencil").exists() else \
    "there is no Open MPI; 'make cluster' installs it"
SECONDS = 100


def command(ranks, program, *arguments):
    return [RUN, str(ranks), TOOLS / f"cluster-{program}", *map(str, arguments)]


def run(ranks, program, *arguments, **settings):
    return subprocess.run(command(ranks, program, *arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, env=os.environ | settings)


def right(ranks, program, *arguments):
    done = run(ranks, program, *arguments)
    assert done.returncode == 0 and f"{ranks} ranks" in done.stdout and done.stdout.endswith("; checked\n"), done


def stencils():
    for ranks in (1, 2, 3, 4):
        right(ranks, "stencil", 97, 4)


def products():
    for ranks, side in ((1, 64), (2, 64), (3, 96), (4, 128)):
        right(ranks, "product", side)


def model_of_counts():
    """Instructions and bytes, which do not depend on what else runs here, nor on variants that launches wait for."""
    done = subprocess.run([TOP / "examples/cluster/scale", "--counts", "--side", "256", "--product", "256"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
                          env=os.environ | {"PPU_ALIAS": "all", "PPU_ALIAS_WAIT": "always"})
    match = re.search(r"^counts: the model is off by ([\d.]+) % at most$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and match and float(match[1]) <= 0.5, done


def bad_arguments():
    done = run(3, "product", 64)
    assert done.returncode != 0 and "the side is 64: it must be a multiple of 48, for 3 ranks" in done.stderr, done
    done = run(2, "stencil", "wide")
    assert done.returncode != 0 and "read the arguments: 'wide': expected a number from 2 to 8192" in done.stderr, done
    done = run(2, "stencil", 64, 1, PPU_MACHINE="sms=0")
    assert done.returncode != 0 and "sms must be" in done.stderr and "of 2: " in done.stderr, done
    done = subprocess.run([RUN, "none", "true"], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and done.stderr.startswith("usage: "), done


def below(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *below(int(child))]
    return found


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        return ""


def killed(name):
    """What a job says, and its status, when one process of that name is killed in the middle of it."""
    job = subprocess.Popen(command(2, "stencil", 256, 100000), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + SECONDS
        while sum(name_of(pid).startswith("qemu-system") for pid in below(job.pid)) < 2:
            assert job.poll() is None and time.monotonic() < deadline, job.communicate()
            time.sleep(0.1)
        time.sleep(1)
        os.kill([pid for pid in below(job.pid) if name_of(pid).startswith(name)][0], signal.SIGKILL)
        _, errors = job.communicate(timeout=SECONDS)
    finally:
        job.kill()
    return job.returncode, errors


def dead_rank():
    status, errors = killed("cluster-stencil")
    assert status != 0 and "exited on signal 9" in errors, (status, errors)


def dead_machine():
    status, errors = killed("qemu-system")
    assert status != 0 and "of 2: " in errors and "error" in errors, (status, errors)


if __name__ == "__main__":
    skip = f" # SKIP {ABSENT}" if ABSENT else ""
    tap.main([(name + skip, (lambda: None) if ABSENT else test) for name, test in (
        ("a stencil is the same on 1 to 4 ranks", stencils),
        ("a product is right on 1 to 4 ranks", products),
        ("1, 2 and 4 ranks execute and send what the model says", model_of_counts),
        ("a rank that cannot begin ends the job with a sentence", bad_arguments),
        ("a rank that is killed ends the job with a sentence", dead_rank),
        ("a rank whose machine is killed ends the job with a sentence", dead_machine),
    )])
