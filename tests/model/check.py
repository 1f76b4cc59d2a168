#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Explores every state of the Promela models with spin, and proves that each seeded mistake is found.

usage: check.py SCRATCH
"""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402

SCRATCH = Path(sys.argv[1])

# spin takes all memory there is for some mistakes in a model
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

# what check() expects of a model
HOLDS, FAILS = True, False


def explore(model, defines):
    """(errors, states, complete) of the model."""
    place = SCRATCH / "-".join([model, *defines])
    place.mkdir(parents=True, exist_ok=True)
    flags = [f"-D{define}" for define in defines]
    subprocess.run(["spin", "-a", *flags, HERE / f"{model}.pml"], cwd=place, check=True, capture_output=True, timeout=60)
    subprocess.run(["gcc", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=2048", "-o", "pan", "pan.c"], cwd=place, check=True, capture_output=True,
                   timeout=120)
    output = subprocess.run(["./pan", "-m100000"], cwd=place, capture_output=True, text=True, timeout=300).stdout
    errors = int(re.search(r"errors: (\d+)", output).group(1))
    states = int(re.search(r"(\d+) states, stored", output).group(1))
    return errors, states, "Search not completed" not in output, output


def check(model, expected, *defines):
    def test():
        errors, states, complete, output = explore(model, defines)
        print(f"# {states} states")
        if expected == HOLDS:
            assert errors == 0 and complete, output
        else:
            assert errors != 0, output
    return test


def mutation(text, name, model="tmdq", proves="[B4 B6]", defines=()):
    return (f"{text} is found {proves}", check(model, FAILS, f"MUTATE_{name}", *defines))


def workq(text, name):
    return mutation(text, name, "workq", "[C3 C4]")


def queue(text, name):
    return mutation(text, name, "taskq", "[A6 A12]", ("PRODUCERS=1", "EACH=3"))


def recentre(text, name):
    return mutation(text, name, "recentre", "[E7]")


# minutes, and gigabytes
LONG = [
    ("two producers of two entries each, every order [A6 A12]", check("taskq", HOLDS, "EACH=2", "SMS=1")),
] if "PPU_LONG" in os.environ else []

tap.main([
    ("two threads launch two tasks each against the scheduler, every order [B4 B6 B7 B13]", check("tmdq", HOLDS)),
    ("three threads launch a task each [B4 B6 B7 B13]", check("tmdq", HOLDS, "LAUNCHERS=3", "EACH=1")),
    mutation("the scheduler's compare-and-swap as a store", "CAS"),
    mutation("the launcher's exchange of last-task as load and store", "EXCHANGE_LAST"),
    mutation("the launcher's exchange of next-stream as load and store", "EXCHANGE_NEXT"),
    mutation("the scheduler's exchange of next-stream as load and store", "WAITING"),
    mutation("a critical section that can be left in the middle", "NO_SECTION"),
    mutation("a work counter incremented after the launch", "LATE_COUNT"),
    mutation("a parent woken before the step on the TMDQ", "EARLY_ZERO"),
    mutation("a record freed while its launcher is about to link", "FREED_TOO_SOON"),
    ("two threads reserve and publish twice on a work queue of six entries, every order [C3 C4]", check("workq", HOLDS)),
    ("three threads on a work queue of seven entries, no power of two [C3 C4]",
     check("workq", HOLDS, "THREADS=3", "EACH=1", "ENTRIES=7")),
    ("one thread wraps every counter of a work queue [C3 C4]", check("workq", HOLDS, "THREADS=1", "EACH=12", "ENTRIES=4")),
    workq("a reservation by load and store", "RESERVE"),
    workq("a reservation of one entry more than is free", "ONE_TOO_MANY"),
    workq("the shadow read before the soft pointer", "READ_ORDER"),
    workq("a semaphore cleared when its entry is reserved", "CLEAR_AT_RESERVATION"),
    workq("a semaphore released before the entries are in place", "RELEASE_FIRST"),
    workq("a semaphore that nobody clears", "NOT_CLEARED"),
    ("two producers, CTAs on two SMs, and a close: a queue's task reads every entry and ends [A6 A12]", check("taskq", HOLDS)),
    ("a producer around a queue of two entries [A6 A12]", check("taskq", HOLDS, "PRODUCERS=1", "EACH=3")),
    queue("a ticket taken by load and store", "TICKET"),
    queue("a ticket taken whose place is not free", "FULL"),
    queue("an entry published before it is filled", "PUBLISH_FIRST"),
    queue("a producer that looks whether the task is armed before it publishes", "LOOK_FIRST"),
    queue("a task armed after the last look", "NO_SECOND_LOOK"),
    queue("a slot that parks forgotten, with what it was told then", "PARKED_FORGOTTEN"),
    queue("a queue closed by load and store", "CLOSE"),
    queue("a queue closed silently", "CLOSE_SILENT"),
    queue("a task that ends before what was promised to it is there", "ENDS_EARLY"),
    queue("a place freed before it is read", "FREED_EARLY"),
    ("warps ask for room in token queues, are killed, saved and replaced, every order [E7]", check("recentre", HOLDS)),
    recentre("an answer cleared after the warp has asked", "CLEARED_LATE"),
    recentre("an answer for another warp that is believed", "UNCHECKED"),
    recentre("a request that found the ring full counted as made", "FULL_FORGOTTEN"),
    *LONG,
])
