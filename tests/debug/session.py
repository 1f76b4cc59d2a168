# SPDX-License-Identifier: MIT
"""Drives gdb as test_debug.py asks, and prints lines `found NAME: JSON`."""

import json
import time

import gdb


def tell(name, value):
    print(f"found {name}: {json.dumps(value)}", flush=True)


def stop_at_doorbell():
    """Runs until the firmware takes a doorbell; the names of the functions on the stack, innermost first."""
    gdb.execute("continue", to_string=True)
    frame, names = gdb.newest_frame(), []
    while frame:
        names.append(frame.name() or "?")
        frame = frame.older()
    return names


def lines(command):
    return gdb.execute(command, to_string=True).strip().split("\n")


def executed():
    return [int(line.split()[2].replace(",", "")) for line in lines("ppu sms")]


tell("inferiors", [[thread.details for thread in inferior.threads()] for inferior in gdb.inferiors()])
gdb.execute("ppu host")
tell("host", [gdb.selected_inferior().num, gdb.selected_frame().architecture().name()])
gdb.execute("ppu mcu")
tell("mcu", [gdb.selected_inferior().num, gdb.selected_frame().architecture().name()])

gdb.execute("break doorbell_events", to_string=True)
tell("stack", stop_at_doorbell())
tell("source", gdb.selected_frame().find_sal().symtab.filename)
tell("thread", gdb.selected_thread().details)
# The first rings launch the kernel, then the other channel's go on while it runs.
for _ in range(3):
    stop_at_doorbell()
before = executed()
time.sleep(1)
tell("while stopped", [before, executed()])
tell("registers", lines("ppu registers prot_"))
tell("channels", lines("ppu channels"))
tell("slots", lines("ppu slots"))
tell("tasks", lines("ppu tasks"))
tell("why", lines("ppu why slots[0].task->handle"))
tell("queues", lines("ppu queues"))
tell("policies", lines("ppu policies"))
tell("heap", lines("ppu heap"))
tell("pages", lines("ppu pages 0"))
tell("tmd", lines("ppu tmd slots[0].task->handle"))
for _ in range(3):
    stop_at_doorbell()
tell("while running", [before, executed()])
