#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what watching costs a busy run: processor time of ppu-top, and of QEMU outside the thread that runs the SM,
beyond what QEMU uses there unwatched. Processor time does not depend on what else the machine does.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SECONDS = 10
TICK = os.sysconf("SC_CLK_TCK")


def ticks(path):
    fields = path.read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def qemu_of(pid):
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found = child if "qemu" in Path(f"/proc/{child}/comm").read_text() else qemu_of(child)
            if found:
                return found
    return None


def beside_the_sm(qemu):
    """Seconds of the processor that QEMU has used, but for its busiest thread."""
    used = [ticks(task / "stat") for task in Path(f"/proc/{qemu}/task").iterdir()]
    return (sum(used) - max(used)) / TICK


def used_in(qemu, seconds):
    before = beside_the_sm(qemu)
    time.sleep(seconds)
    return beside_the_sm(qemu) - before


def main():
    worker = subprocess.Popen([TOP / "build/plain/tests/top-worker", TOP / "build/kernels/spin.ppu"], text=True,
                              env=os.environ | {"PPU_DEVICE": "native"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdout.readline() == "ready\n"
    qemu = qemu_of(worker.pid)
    alone = used_in(qemu, SECONDS)
    watcher = subprocess.Popen([TOP / "build/plain/tools/ppu-top", "--json", "--pid", str(worker.pid)],
                               stdout=subprocess.DEVNULL)
    watched = used_in(qemu, SECONDS)
    watcher.terminate()
    watcher.wait()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    worker.communicate("\n", timeout=60)
    cost = (watched - alone + spent.ru_utime + spent.ru_stime) / SECONDS * 100
    print(json.dumps({"name": "top.cost_percent", "value": round(cost, 2), "unit": "%", "better": "lower", "budget": 5,
                      "note": f"of a processor, a sample a second; QEMU beside the SM: {alone / SECONDS * 100:.2f} % unwatched"}))
    return worker.returncode


if __name__ == "__main__":
    sys.exit(main())
