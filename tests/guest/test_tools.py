#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-trace, ppu-prof, ppu-top, ppu-dbg and ppu-dap in the guest: on programs that they start, and on one that already runs.

One boot runs the script below in a folder that the guest shares; each test looks at what it has left there.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
sys.path.insert(0, str(TOP / "tests/trace"))
import guests  # noqa: E402
import tap  # noqa: E402
from chrome import Trace  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
SHARE = Path(FOLDER.name)
PROGRAMS = ("ppu-trace", "ppu-prof", "ppu-top", "ppu-dbg", "ppu-dap", "saxpy", "bfs", "top-worker")
KERNELS = ("saxpy.ppu", "saxpy.ppu.s", "bfs.ppu", "spin.ppu", "spin-debug.ppu")
WARPS = 32768  # of examples/libppu/saxpy.c
CLOCKS_US = 10

SCRIPT = r"""
./ppu-trace -o saxpy.json -- ./saxpy build/kernels/saxpy.ppu >saxpy.out 2>saxpy.err; echo $? >saxpy.status
for n in 1 2 3; do ./ppu-trace -o bfs$n.json -- ./bfs build/kernels/bfs.ppu 1000 >bfs.out 2>bfs.err; echo $? >bfs.status; done
./ppu-prof --exact -o prof.trace -- ./saxpy build/kernels/saxpy.ppu >prof.out 2>prof.err; echo $? >prof.status
./ppu-prof --read prof.trace >read.out 2>read.err
mkfifo input
./top-worker build/kernels/spin.ppu <input >worker.out &
worker=$!
exec 3>input
until grep -q ready worker.out; do sleep 0.1; done
./ppu-top --list >list.out 2>list.err
./ppu-top --once --json --delay 1 --pid $worker >top.json 2>top.err; echo $? >top.status
./ppu-top --once --pid $worker >once.out 2>once.err
./ppu-trace --pid $worker --seconds 2 --warps -o pid.trace >pid.out 2>pid.err; echo $? >pid.status
./ppu-trace --convert pid.trace -o pid.json 2>convert.err; echo $? >convert.status
echo $worker >pid
echo >&3
exec 3>&-
wait $worker; echo $? >worker.status
mkfifo gate
./ppu-dbg --batch -ex 'tbreak 7 if turns == 9' -ex run -ex 'info locals' -ex next -ex 'info warps' -ex 'info tasks' -ex 'echo seen' \
    -ex continue -- ./top-worker build/kernels/spin-debug.ppu <gate >dbg.out 2>&1 &
debugger=$!
exec 3>gate
until grep -q -e ^seen -e cannot dbg.out; do sleep 0.1; done
echo >&3
exec 3>&-
wait $debugger; echo $? >dbg.status
mkfifo requests
./ppu-dap <requests >dap.out 2>dap.err &
adapter=$!
exec 4>requests
number=0
ask() {
    number=$((number + 1))
    message="{\"seq\":$number,\"type\":\"request\",\"command\":\"$1\",\"arguments\":{$2}}"
    printf 'Content-Length: %d\r\n\r\n%s' ${#message} "$message" >&4
}
type() { ask evaluate "\"context\":\"repl\",\"expression\":\"$1\""; }
came() { until [ "$(grep -o "\"event\": *\"$1\"" dap.out | wc -l)" -ge "$2" ] || ! kill -0 $adapter; do sleep 0.1; done; }
ask initialize '"adapterID":"ppu"'
ask launch '"program":"sh","args":["-c","exec ./top-worker build/kernels/spin-debug.ppu <gate"],"stopOnEntry":true'
ask configurationDone
exec 3>gate
came stopped 1
type '-exec tbreak 7 if turns == 9'
type '-exec continue'
came stopped 2
thread=$(grep -o '"reason": *"breakpoint"[^}]*"threadId": *[0-9]*' dap.out | grep -o '[0-9]*$')
ask threads
ask stackTrace "\"threadId\":$thread"
type turns
ask next "\"threadId\":$thread"
came stopped 3
type '-exec info tasks'
ask continue "\"threadId\":$thread"
echo >&3
exec 3>&-
came terminated 1
ask disconnect
exec 4>&-
wait $adapter; echo $? >dap.status
./ppu-top --once >nobody.out 2>nobody.err; echo $? >nobody.status
"""


def text(name):
    return (SHARE / name).read_text()


def boot():
    (SHARE / "build/kernels").mkdir(parents=True)
    (SHARE / "build/firmware/picolibc").mkdir(parents=True)
    shutil.copy(TOP / "build/firmware/picolibc/ppufw.bin", SHARE / "build/firmware/picolibc")
    for kernel in KERNELS:
        shutil.copy(TOP / "build/kernels" / kernel, SHARE / "build/kernels")
    for program in PROGRAMS:
        shutil.copy(guests.PROGRAMS / program, SHARE)
    (SHARE / "all").write_text(SCRIPT)
    done = subprocess.run([TOP / "tools/guest-run", "--timeout", str(guests.LIMIT_S), "--share", SHARE, "--console", SHARE / "console",
                           "sh", "all"], capture_output=True, text=True, timeout=guests.LIMIT_S + 10)
    assert done.returncode == 0, (done, text("console")[-2000:])


def launch():
    boot()
    assert text("saxpy.status") == "0\n" and text("saxpy.out") == "y[1000] = 2001\n" , text("saxpy.err")
    seen = Trace(SHARE / "saxpy.json")
    task, = seen.named("saxpy", "Slot")
    ctas, lost = len(seen.named("saxpy", "SM")) + len(seen.named("CTA", "SM")), seen.about["records_lost"]
    assert 0 <= 4096 - ctas <= lost < 4096, (ctas, lost)  # two records each, in a recorder of 8,192
    assert (lost > 0) == ("records are missing" in text("saxpy.err")) == ("Missing" in seen.tracks.values()), text("saxpy.err")
    # A context and a channel are made and given back: what the program asks for last is there, too.
    assert len(seen.named("ADMIN", "Firmware")) == 4, seen.named("ADMIN", "Firmware")
    rung = seen.named("channel 0 is rung", "Doorbells")
    assert rung[0]["ts"] < task["ts"], (rung, task)


def clocks():
    """Three runs: the difference of the clocks is bounded by what happened to be looked at soon."""
    assert text("bfs.status") == "0\n", text("bfs.err")
    seen = [Trace(SHARE / f"bfs{n}.json") for n in (1, 2, 3)]
    best = min(max(one.about["clock_error_us"]) for one in seen)
    assert guests.SERVED or best <= CLOCKS_US, best
    assert all(one.arrows("child") > 10 and one.arrows("semaphore") > 1 for one in seen)


def profile():
    assert text("prof.status") == "0\n" and text("prof.out") == "y[1000] = 2001\n", text("prof.err")
    assert text("prof.err").startswith(f"{19 * WARPS} warp instructions\n"), text("prof.err")
    assert text("read.out") == text("prof.err") and text("read.err") == "", text("read.err")
    assert "mad v0, s6, s7, v0" in text("prof.err"), text("prof.err")


def live():
    assert text("top.status") == "0\n" and text("top.err") == "", text("top.err")
    ppu, = json.loads(text("top.json"))["ppus"]
    busy, = (sm for sm in ppu["sms"] if sm["ctas"])
    assert busy["ctas"] == 1 and busy["load"] > 1, busy
    assert [task["state"] for task in ppu["tasks"]].count("RUNNING") == 1, ppu["tasks"]
    held, = (task for task in ppu["tasks"] if task["state"] == "HELD")
    assert "behind task" in held["why"], held
    assert text("pid").strip() in text("list.out") and text("list.err") == "", text("list.err")
    assert "PARKED" in text("once.out") and "behind task" in text("once.out"), text("once.out")
    assert text("worker.status") == "0\n", text("worker.out")
    assert text("nobody.status") == "3\n" and "No program of this user" in text("nobody.out"), text("nobody.err")


def running():
    assert text("pid.status") == "0\n" and text("convert.status") == "0\n", (text("pid.err"), text("convert.err"))
    seen = Trace(SHARE / "pid.json")
    names = [event["args"]["name"] for event in seen.events if event["ph"] == "M" and event["name"] == "process_name"]
    assert any(text("pid").strip() in name for name in names), names


def debugged():
    """The worker's kernel spins until it gets a line, which it gets when all of this was shown."""
    said = text("dbg.out")
    assert text("dbg.status") == "0\n", said
    at = 0
    for piece in ("[focus: kernel 0 spin_until, cta (0,0,0), warp ", "Breakpoint 1, spin_until at ", "turns = 9\n", "at a breakpoint",
                  "* task 0x", " spin_until (1,1,1), depth 1, 0 children: runs in slot 0 with 1 CTAs on SMs, stopped\n",
                  "waits in stream 0 behind task 0x", "seen\n", "[program exited with status 0]\n"):
        at = said.find(piece, at)
        assert at >= 0, (piece, said)


def adapted():
    """The same by the adapter's messages."""
    said, rest = [], (SHARE / "dap.out").read_bytes()
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        count = int(head.removeprefix(b"Content-Length: "))
        said.append(json.loads(rest[:count]))
        rest = rest[count:]
    assert text("dap.status") == "0\n" and text("dap.err") == "", (text("dap.err"), said)
    answers = [(one["command"], one["body"]) for one in said if one["type"] == "response" and one["success"]]
    assert len(answers) == 12, (answers, said)
    stops = [one["body"] for one in said if one.get("event") == "stopped"]
    assert [one["reason"] for one in stops] == ["entry", "breakpoint", "step"], stops
    bodies = dict(answers)
    names = {one["id"]: one["name"] for one in bodies["threads"]["threads"]}
    assert names[stops[1]["threadId"]].startswith("kernel 0 spin_until, cta (0,0,0), warp "), names
    frame, = bodies["stackTrace"]["stackFrames"]
    assert (frame["name"], frame["line"]) == ("spin_until", 7), frame
    results = [body["result"] for command, body in answers if command == "evaluate"]
    assert results[2] == "9" and " spin_until (1,1,1), depth 1, 0 children: runs in slot 0" in results[3], results
    assert {"exitCode": 0} in [one.get("body") for one in said if one.get("event") == "exited"], said


if __name__ == "__main__":
    tap.main([
        ("ppu-trace in the guest: a launch, its task, its CTAs, and what is missing", launch),
        ("ppu-trace in the guest: children, semaphores, and clocks that agree within 10 us", clocks),
        ("ppu-prof in the guest: exact counts with the source", profile),
        ("ppu-top in the guest: SMs, tasks, why one does not run, the list, and nobody to show", live),
        ("ppu-trace in the guest: a program that already runs", running),
        ("ppu-dbg in the guest: a kernel stops, shows its variables and tasks, and goes on", debugged),
        ("ppu-dap in the guest: an editor sees a kernel stop, its variables and tasks, and lets it go on", adapted),
    ])
