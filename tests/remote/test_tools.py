#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests timeline, live view, profile and debugger on a PPU that is served: as on a machine of the program's own."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/top", "tests/trace", "tests/debug"):
    sys.path.insert(0, str(TOP / folder))
import tap  # noqa: E402
import test_prof  # noqa: E402
import test_top  # noqa: E402
import test_trace  # noqa: E402
import test_why  # noqa: E402
from served import Server  # noqa: E402

STOP_S = float(os.environ.get("PPU_STOP_S", "12"))  # libppu waits 10 s by itself


def served(module, check):
    """Runs a check of another test with its programs as clients of a server."""
    def run():
        with Server() as server:
            own, module.ENVIRONMENT = module.ENVIRONMENT, os.environ | module.ENVIRONMENT | {"PPU_DEVICE": server.device}
            try:
                check()
            finally:
                module.ENVIRONMENT = own
            assert server.process.poll() is None, "the server has ended"
    return run


def beside_worker(check):
    def run():
        with test_top.Worker() as worker:
            check(worker)
            assert worker.end() == 0
    return run


def debugger():
    with tempfile.TemporaryDirectory() as folder, Server(options=["--gdb", f"{folder}/gdb"]) as server:
        test_why.check_tasks(test_why.look(f"{folder}/gdb", {"PPU_DEVICE": server.device}))


def gdb_keeps_it():
    """For longer than libppu would wait: a program that runs waits, one that begins does too and says why."""
    begun = [TOP / "build/plain/tests/user", "count", "build/kernels/counter.ppu"]
    with tempfile.TemporaryDirectory() as folder, Server(2, ["--gdb", f"{folder}/gdb"]) as server, socket.socket(socket.AF_UNIX) as gdb:
        environment = [os.environ | {"PPU_DEVICE": f"vfio-user:{path}"} for path in server.paths]
        runs = subprocess.Popen([*begun, "150000"], cwd=TOP, env=environment[0], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        gdb.connect(f"{folder}/gdb")  # which stops the machine
        begins = subprocess.Popen([*begun, "5"], cwd=TOP, env=environment[1], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(STOP_S)
        assert runs.poll() is None and begins.poll() is None
        gdb.sendall(b"+$c#63")
        output, errors = begins.communicate(timeout=60)
        assert begins.returncode == 0 and output == f"counted {5 * 32}\n", (output, errors)
        assert re.fullmatch(r"libppu: wait for PPU \d+: its machine stands still .*\n", errors), errors
        output, errors = runs.communicate(timeout=100)
        assert runs.returncode == 0 and output == f"counted {150000 * 32}\n" and errors == "", (output, errors)


tap.main([
    ("a timeline of a client of the server", served(test_trace, test_trace.saxpy)),
    ("a timeline of OpenCL with nested launches", served(test_trace, test_trace.opencl)),
    ("the live view: SMs and contexts", served(test_top, beside_worker(test_top.sms_and_contexts))),
    ("the live view: tasks, and why they do not run", served(test_top, beside_worker(test_top.tasks_and_channels))),
    ("exact counts by line", served(test_prof, test_prof.exact)),
    ("gdb on the server's microcontroller: why tasks do not run", debugger),
    ("gdb stops the machine for longer than any limit of libppu", gdb_keeps_it),
])
