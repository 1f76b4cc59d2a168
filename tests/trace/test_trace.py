#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-trace on programs with machines of their own: what is in the timeline, and every wrong use."""

import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
sys.path.insert(0, str(TOP / "tests/trace"))
sys.path.insert(0, str(TOP / "tests/top"))
import tap  # noqa: E402
from chrome import Trace  # noqa: E402
from test_top import Worker  # noqa: E402

TOOLS = TOP / "build/plain/tools"
KERNELS = TOP / "build/kernels"
ENVIRONMENT = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd")}
FOLDER = tempfile.TemporaryDirectory()
CLOCKS_US = 10
CLOSES, DONE, WORKS = 6, b"\0", b"\1"  # of include/ppu/recorder.h


def at(name):
    return str(Path(FOLDER.name) / name)


def trace(*arguments, **environment):
    return subprocess.run([TOOLS / "ppu-trace", *arguments], cwd=TOP, env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


def refused(words, *arguments, status=2):
    done = trace(*arguments)
    assert done.returncode == status and words in done.stderr and done.stderr.startswith("ppu-trace: "), done


def saxpy():
    done = trace("-o", at("saxpy.json"), "--", TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu")
    assert done.returncode == 0 and done.stdout == "y[1000] = 2001\n" and done.stderr == "", done
    seen = Trace(at("saxpy.json"))
    task, = seen.named("saxpy", "Slot")
    ctas = seen.named("saxpy", "SM")
    assert len(ctas) == 4096 and not seen.about["records_lost"] and not seen.about["truncated"], seen.about
    assert all(cta["ts"] <= task["ts"] + task["dur"] for cta in ctas)
    assert max(event["args"]["value"] for event in seen.events if event["ph"] == "C" and event["name"] == "CTAs on SMs") > 1
    rung = seen.named("channel 0 is rung", "Doorbells")
    assert rung[0]["ts"] <= seen.named("doorbell", "Channel 0")[0]["ts"] + CLOCKS_US


def opencl():
    done = trace("-o", at("sort.trace"), "--", TOOLS / "quicksort", "5000")
    assert done.returncode == 0 and "They are in order" in done.stdout, done
    done = trace("--convert", at("sort.trace"), "-o", at("sort.json"))
    assert done.returncode == 0 and done.stderr == "", done
    seen = Trace(at("sort.json"))
    call, = seen.named("clEnqueueNDRangeKernel", "Thread")
    command, = seen.named("clEnqueueNDRangeKernel", "Queue")
    root, = seen.named("quicksort", "Slot")
    assert call["ts"] <= command["ts"] <= root["ts"] and root["ts"] + root["dur"] <= command["ts"] + command["dur"]
    children = [event for event in seen.events if event["ph"] == "X" and event["name"].startswith("block at ")
                and event["name"].endswith("beside quicksort") and seen.tracks[event["pid"], event["tid"]].startswith("Slot")]
    assert len(children) > 20 and 20 < seen.arrows("child") <= len(children), len(children)
    assert seen.arrows("command") >= 1 and seen.arrows("launch") >= 1
    assert all(child["ts"] >= root["ts"] for child in children)


def cache_misses():
    """Of a machine with the model of its caches, and of no other."""
    largest = {}
    for model in ("off", "on"):
        done = trace("-o", at("misses.json"), "--", TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu", PPU_MACHINE=f"cache-model={model}")
        assert done.returncode == 0, done
        for event in Trace(at("misses.json")).events:
            if event["ph"] == "C" and event["name"].endswith("_MISSES"):
                key = model, event["name"]
                largest[key] = max(largest.get(key, 0), event["args"]["value"])
    assert set(largest) == {("on", "Total L1_MISSES"), ("on", "Total L2_MISSES")}, largest
    assert 0 < largest["on", "Total L2_MISSES"] <= largest["on", "Total L1_MISSES"], largest


def nested():
    """Threads that wait leave their slots; semaphores pass from who releases to who waits; and the clocks agree."""
    for _ in range(3):  # the difference is bounded by what happened to be looked at soon, if nothing was lost
        done = trace("--warps", "-o", at("bfs.json"), "--", TOOLS / "bfs", f"{KERNELS}/bfs.ppu", "2000")
        assert done.returncode == 0, done
        seen = Trace(at("bfs.json"))
        if not seen.about["records_lost"] and max(seen.about["clock_error_us"]) <= CLOCKS_US:
            break
    assert not seen.about["records_lost"], seen.about
    assert max(seen.about["clock_error_us"]) <= CLOCKS_US, seen.about
    assert seen.named("visit", "SM 0 warp") and seen.named("visit: BARRIER", "SM 0 warp"), set(seen.tracks.values())
    assert len(seen.named("walk", "Slot")) > 1 and seen.arrows("child") > 10 and seen.arrows("semaphore") > 1
    assert any(event["name"].startswith("parked: ") for event in seen.events if event["ph"] == "X")
    for wait in [event for event in seen.events if event["ph"] == "X" and event["name"].startswith("parked: ")]:
        assert wait["args"]["value"] > 0, wait


def everything():
    """Each thing that a timeline is to have, from one program: in the record, and in the JSON."""
    done = trace("--warps", "--firmware", "-o", at("all.trace"), "--", TOOLS / "quicksort", "20000")
    assert done.returncode == 0 and trace("--convert", at("all.trace"), "-o", at("all.json")).returncode == 0, done
    seen = Trace(at("all.json"))
    slices = [event for event in seen.events if event["ph"] == "X"]
    on = {kind: [event for event in seen.events if event["ph"] in "Xi" and seen.tracks[event["pid"], event["tid"]].startswith(kind)]
          for kind in ("Thread", "Queue", "Doorbells", "Channel", "Firmware", "Slot", "SM", "Interrupts")}
    assert all(on.values()), {kind: len(events) for kind, events in on.items()}
    states = [event["args"] for event in on["Queue"] if event["name"] == "clEnqueueNDRangeKernel"]
    assert states and all(0 < one["queued_us"] <= one["submitted_us"] <= one["running_us"] <= one["ended_us"] for one in states)
    assert all("mcu_instructions" in event["args"] for event in on["Firmware"]), on["Firmware"][:3]
    served = [event["args"]["mcu_instructions"] for event in on["Firmware"] if event["name"] == "LAUNCH"]
    assert served and all(10 < count < 100000 for count in served), served
    warps = [event for event in slices if " warp " in seen.tracks[event["pid"], event["tid"]]]
    assert {event["args"]["sm"] for event in warps} <= {0, 1, 2, 3} and any(event["name"] == "quicksort" for event in warps)
    ctas = [event for event in slices if re.fullmatch(r"SM \d+", seen.tracks[event["pid"], event["tid"]])]
    assert ctas and all(event["args"]["warps"] > 0 for event in ctas), ctas[:3]
    root, = seen.named("quicksort", "Slot")
    assert root["args"]["source_line"] > 0, root
    assert any(re.fullmatch(r"block at line \d+ beside quicksort", event["name"]) for event in on["Slot"]), on["Slot"][:3]
    counters = {event["name"] for event in seen.events if event["ph"] == "C"}
    assert {"CTAs on SMs", "Occupancy in %", "Active lanes", "Commands of OpenCL", "Tasks that run", "Total INSNS",
            "Total TRANSACTIONS", "Total DIVERGENT", "Tokens in queues"} <= counters, counters
    occupancy = [event["args"]["value"] for event in seen.events if event["ph"] == "C" and event["name"] == "Occupancy in %"]
    assert 0 < max(occupancy) <= 100 and occupancy[-1] == 0, occupancy[-3:]


def demo():
    """The demo has the rest: copies, faults, priorities, semaphores, children, tasks that wait."""
    done = trace("-o", at("demo.trace"), "--", TOOLS / "demo", TOP / "build/demo/kernels.ppu", "/bin/sh")
    assert done.returncode == 0 and trace("--convert", at("demo.trace"), "-o", at("demo.json")).returncode == 0, done
    seen = Trace(at("demo.json"))
    copies = [event for event in seen.events if event["ph"] == "X" and seen.tracks[event["pid"], event["tid"]].startswith("Copies")]
    assert copies and all(event["name"].startswith("copy of ") for event in copies), copies[:3]
    fault, = [event for event in seen.events if event["ph"] == "i" and seen.tracks[event["pid"], event["tid"]] == "Faults"]
    assert fault["name"] == "UNMAPPED", fault
    ended = [event for event in seen.events if event["ph"] == "X" and event["args"].get("fault code") == fault["args"]["fault code"]]
    assert len(ended) == 1 and seen.tracks[ended[0]["pid"], ended[0]["tid"]].startswith("Slot"), ended
    assert subprocess.run([TOOLS / "ppu-report", "-o", at("demo.html"), at("demo.trace")], timeout=60).returncode == 0
    told, = json.loads(re.search(r'id="data">(.*?)</script>', Path(at("demo.html")).read_text(), re.DOTALL)[1])["faults"]
    assert told[1:4] == ["UNMAPPED", ended[0]["name"], str(fault["args"]["channel"])], (told, ended)
    waiting = {name for name in seen.tracks.values() if name.startswith("Waiting, priority ")}
    assert waiting, seen.tracks
    assert seen.arrows("child") > 10 and seen.arrows("launch") > 10
    assert max(event["args"]["value"] for event in seen.events if event["ph"] == "C" and event["name"] == "Tasks that wait") > 1


def plain():
    """Nothing of what has to be asked for."""
    seen = Trace(at("sort.json"))
    assert not any(" warp " in name for name in seen.tracks.values())
    assert not any("mcu_instructions" in event["args"] for event in seen.events if event["ph"] in "Xi")


def running():
    """A machine that runs already, by number and by looking for it; and one that goes away."""
    program = subprocess.Popen([TOOLS / "bfs", f"{KERNELS}/bfs.ppu", "20000"], cwd=TOP, stdout=subprocess.DEVNULL)
    while trace("--pid", str(program.pid), "--seconds", "1", "-o", at("pid.trace")).returncode != 0:
        assert program.poll() is None
        time.sleep(0.1)
    Path(at("all.trace")).unlink(missing_ok=True)
    everything = subprocess.Popen([TOOLS / "ppu-trace", "--all", "-o", at("all.trace")], cwd=TOP, stderr=subprocess.PIPE, text=True)
    while not Path(at("all.trace")).exists():
        time.sleep(0.01)
    program.wait(100)
    everything.send_signal(signal.SIGINT)
    assert everything.wait(60) == 0, everything.stderr.read()
    done = trace("--convert", at("pid.trace"), "-o", at("pid.json"))
    assert done.returncode == 0, done
    assert any(str(program.pid) in event["args"]["name"] for event in Trace(at("pid.json")).events
               if event["ph"] == "M" and event["name"] == "process_name")
    assert trace("--convert", at("all.trace"), "-o", at("all.json")).returncode == 0
    Trace(at("all.json"))
    refused("there is no such process", "-o", at("none.trace"), "--pid", str(program.pid))


def shows_seconds():
    """A terminal is told what is recorded and for how long so far, in a line that is gone at the end; a pipe is told nothing."""
    with Worker() as worker:
        controller, terminal_end = pty.openpty()
        words = ["--pid", worker.pid, "--seconds", "4", "-o", at("shown.trace")]
        done = subprocess.run([TOOLS / "ppu-trace", *words], cwd=TOP, env=ENVIRONMENT | {"TERM": "xterm"}, stderr=terminal_end, timeout=100)
        os.close(terminal_end)
        text = os.read(controller, 4096).decode()
        os.close(controller)
        shown = "".join(f"\r\033[Krecord process {worker.pid}, {seconds} s" for seconds in range(2, 60))
        assert done.returncode == 0 and text.endswith("\r\033[K") and shown.startswith(text[:-len("\r\033[K")]), text
        done = trace(*words)
        assert done.returncode == 0 and done.stderr == "", done


def no_ppu():
    done = trace("-o", at("none.trace"), "--", "sh", "-c", "exit 7")
    assert done.returncode == 7 and "no PPU was opened" in done.stderr, done
    refused("execute ./nothing-here: No such file", "-o", at("none.trace"), "--", "./nothing-here", status=127)
    refused("execute /: ", "-o", at("none.trace"), "--", "/", status=126)
    done = trace("-o", at("none.trace"), "--", "sh", "-c", "kill -9 $$")
    assert done.returncode == 137, done
    refused(f"record process {os.getpid()}: it has not opened a PPU", "-o", at("none.trace"), "--pid", str(os.getpid()))


def tool_for(name, close):
    """Runs saxpy under a tool that does nothing but answer; `close` answers that the device is about to be closed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(at(name))
        listener.listen(1)
        program = subprocess.Popen([TOOLS / "saxpy", f"{KERNELS}/saxpy.ppu"], cwd=TOP, env=ENVIRONMENT | {"PPU_TRACE": at(name)},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        tool, _ = listener.accept()
        kinds = []
        with tool:
            while True:
                message, files, _, _ = socket.recv_fds(tool, 8, 1)
                for file in files:
                    os.close(file)
                if not message:
                    break
                kinds.append(struct.unpack("II", message)[0])
                if kinds[-1] == CLOSES and not close(tool, program):
                    break
                tool.send(DONE)
        assert program.communicate(timeout=60)[0] == "y[1000] = 2001\n" and program.returncode == 0, program.returncode
    assert kinds[-1] == CLOSES and kinds.count(CLOSES) == 1, kinds


def slow_tool():
    def close(tool, program):
        for _ in range(4):
            tool.send(WORKS)
            time.sleep(0.2)
            assert program.poll() is None
        return True

    tool_for("slow", close)


def leaving_tool():
    tool_for("leaves", lambda tool, program: False)


def bad_options():
    refused("record what?")
    refused("exclude each other", "--all", "--pid", "1")
    refused("--pid x: it is a number", "--pid", "x")
    refused("--seconds 0: it is a number", "--all", "--seconds", "0")
    refused("--seconds goes with", "--seconds", "3", "true")
    refused("--firmware goes with a program", "--firmware", "--all")
    refused("does not end in .json", "--convert", at("sort.trace"), "-o", at("x.trace"))
    done = trace("--none")
    assert done.returncode == 2 and "--help tells" in done.stderr, done
    refused("write /nowhere/x.trace: No such file", "-o", "/nowhere/x.trace", "true")


def bad_records():
    refused("No such file", "--convert", at("nothing"), "-o", at("x.json"))
    refused("it is no record of ppu-trace", "--convert", __file__, "-o", at("x.json"))
    refused("no regular file", "--convert", FOLDER.name, "-o", at("x.json"))
    Path(at("empty")).write_bytes(b"")
    refused("it is empty", "--convert", at("empty"), "-o", at("x.json"))
    whole = Path(at("sort.trace")).read_bytes()
    Path(at("cut.trace")).write_bytes(whole[:len(whole) // 2])
    done = trace("--convert", at("cut.trace"), "-o", at("cut.json"))
    assert done.returncode == 0 and "the record was cut off" in done.stderr, done
    assert Trace(at("cut.json")).about["truncated"]


if __name__ == "__main__":
    tap.main([
        ("a launch by libppu: its task, its 4,096 CTAs, its doorbell", saxpy),
        ("OpenCL: calls, commands, tasks, and arrows to what a kernel has enqueued", opencl),
        ("misses of the caches, of a machine that models them", cache_misses),
        ("waiting parents, semaphores, and clocks that agree within 10 us", nested),
        ("each thing that a timeline is to have, warps and the firmware's instructions among them", everything),
        ("the demo: copies, faults, tasks that wait by priority, children", demo),
        ("what has to be asked for is not there else", plain),
        ("machines that already run, and one that goes away", running),
        ("a terminal is told what is recorded, nothing else is", shows_seconds),
        ("programs without a PPU, and no program", no_ppu),
        ("a program waits for a tool that says that it is at work, before its device is closed", slow_tool),
        ("a program does not wait for a tool that has left", leaving_tool),
        ("wrong options are refused in words", bad_options),
        ("what is no record, or half of one, is told in words", bad_records),
    ])
