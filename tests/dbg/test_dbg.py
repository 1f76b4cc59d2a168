#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-dbg on an unmodified OpenCL program: breakpoints, steps, values, faults, and debuggers that go away."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

DEBUGGER = TOP / "build/plain/tools/ppu-dbg"
PROGRAM = TOP / "build/plain/tests/dbg-debuggee"
ENVIRONMENT = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": "off"}
NONE_STANDS = "no kernel stands still; `run` or `continue` goes on to where one stops"


def start(orders, *arguments, options=("--batch",), program=PROGRAM, limit_ms=0):
    texts = [word for order in orders for word in ("-ex", order)]
    environment = ENVIRONMENT | ({"PPU_WATCHDOG_MS": str(limit_ms)} if limit_ms else {})
    return subprocess.Popen([DEBUGGER, *options, *texts, "--", program, *arguments], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def debug(*orders, program=(), status=0):
    process = start(orders, *program)
    output, _ = process.communicate(timeout=100)
    assert process.returncode == status, (process.returncode, output)
    return output


def has(output, *pieces):
    """The pieces come one behind the other."""
    at = 0
    for piece in pieces:
        found = output.find(piece, at)
        assert found >= 0, (piece, output)
        at = found + len(piece)


def stops_and_steps():
    output = debug("tbreak twice", "run", "bt", "info locals", "next", "p b % 128", "finish", "lane 5", "print i % 64", "step", "next", "step",
                   "continue")
    has(output, "Breakpoint 1: twice, when a program with it is loaded", "Breakpoint 1, twice at kernel.cl:3",
        "3\t    int b = a + a;", "#0  twice at kernel.cl:3\n#1  work at kernel.cl:9\n", "a = ", "twice at kernel.cl:4", "b % 128 = 0\n",
        "work at kernel.cl:9", "lane 5, thread (5,0,0)]", "i % 64 = 5\n")
    # Over the barrier, to which nobody else has to come: the group is one warp.
    has(output, "10\t    barrier(CLK_LOCAL_MEM_FENCE);", "11\t    int other = part[l ^ 1];", "12\t    if (l < 3)",
        "done, all is right", "[program exited with status 0]")


def conditions_and_writes():
    output = debug("break 11 if i == 70", "run", "p part[l ^ 1]", "p (i + 1) * 2.5", "p/x n", "p &out[2] == out + 8 || 1", "next",
                   "set var other = 5", "watch out[70]", "continue", "p out[70]", "info breakpoints", "delete", "continue")
    has(output, "cta (1,0,0), warp 0, lane 6, thread (6,0,0)]", "Breakpoint 1, work at kernel.cl:11", "= 142\n", "= 177.5\n",
        "= 0x3e8\n", "Watchpoint 2: out[70], 4 bytes", "Watchpoint 2: out[70], was 0, is 5\nwork at kernel.cl:1", "out[70] = 5\n",
        "break 11 if i == 70, 1 place, hit 1 time", "watch out[70]", "out[70] is 5 in place of 142", "done, something is wrong")


def instructions():
    """An address is a number or an expression of what stands."""
    output = debug("break *$pc", "tbreak 10", "run", "next", "break *$pc + 16", "break *nothing", "continue", "p $pc", "delete",
                   "p/x $pc - 8", "set $p1 = 0", "p $p1", "set $s5 = 7", "p $s5", "continue", status=1)
    has(output, "kernel.cl:11", "Breakpoint 2: *0x", ", 1 place\n", "Breakpoint 2, work at kernel.cl:1", "$p1 = 0\n", "$s5 = 7\n", "[program exited with status 0]")
    assert f"break: $pc: {NONE_STANDS}\n" in output and "nothing: there is no variable" in output, output
    set_at, = re.findall(r"Breakpoint 2: \*(0x[0-9a-f]+)", output)
    assert f"$pc = {set_at}\n" in output, output


def parts():
    """Lanes of a warp take both sides of a branch."""
    output = debug("catch divergence", "run", "info lanes", "info tokens", "catch no divergence", "continue", program=("turns",))
    has(output, "Lanes part, turns at kernel.cl:", "active", "other side", "[program exited with status 0]")


def frames_and_files():
    """Variables of the function that called; a file on disk that is a part of the source; breakpoints that pass some hits."""
    lines = re.findall(r'^ *(?:static const char \*source = )?"(.*)\\n";? +/\* \d+ \*/$', (TOP / "tests/dbg/debuggee.c").read_text(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.cl"
        file.write_text("\n".join(lines[5:15]) + "\n\n")
        output = debug("tbreak twice", "run", "up", "p n", "p i % 64", "down", "p a % 64 - b", "frame 1", f"break {file}:6", "ignore 2 1",
                       f"break {file}:40", "continue", "info breakpoints", "next", "p other", "delete",
                       "continue")
    has(output, "#1  work at kernel.cl:9\n9\t", "n = 1000\n", "i % 64 = 0\n", "#0  twice at kernel.cl:3", "a % 64 - b = 0\n", "#1  work",
        "part.cl:6, 1 place", "part.cl:40, when a program", "Breakpoint 2, work at kernel.cl:11",
        "part.cl:6, 1 place, hit 2 times", "12\t", "other = ", "done, all is right")


def sentences():
    """Each begins with the command that failed, and says what can be done."""
    numbered = "there is no breakpoint 7; `info breakpoints` lists them"
    for command, sentence in (
            *((f"{word} x", f"{word}: {NONE_STANDS}") for word in ("watch", "last-write")),
            *((word, f"{word}: {NONE_STANDS}") for word in (
                "frame", "up", "step", "finish", "reverse-step", "backtrace", "disassemble", "lane", "warp", "kernel")),
            *((f"info {word}", f"info: {NONE_STANDS}") for word in ("ctas", "lanes", "tokens", "registers", "locals")),
            ("set x = 1", f"set: {NONE_STANDS}"), ("x x", f"x: {NONE_STANDS}"), ("p x", f"print: x: {NONE_STANDS}"),
            *((f"{word} 7", f"{word}: {numbered}") for word in ("delete", "enable", "disable", "condition", "ignore")),
            ("condition", 'condition: "": expected the number of a breakpoint, and EXPRESSION'),
            ("ignore x", 'ignore: "x": expected the number of a breakpoint, and COUNT'),
            ("break " + "x" * 600 + " if " + "y" * 500, "execute a command: the line has more than 1023 characters"),
            ("break", "break: no location is given: expected LINE, FILE:LINE, a function or *ADDRESS"),
            ("list", "list: no program of the device is loaded yet; `run` to where a kernel stops"),
            ("help nonsense", "help: there is no command nonsense; `help` lists them"),
            ("nonsense 1", "execute a command: there is no command nonsense 1; `help` lists them"),
            ("scope some", 'scope: "some": expected all or task'), ("print/y 1", 'print: "/y": expected /x or /d'),
            ("continue some", 'continue: "some": expected nothing or `all`'), ("cta x", f"cta: {NONE_STANDS}"),
            ("continue", "continue: the program does not run; `run` starts it"),
            ("info tasks", "info: list the tasks: the program does not run; `run` starts it"),
            ("info record", "info: tell what is recorded: the program does not run; `run` starts it")):
        output = debug(command, status=1)
        assert output == sentence + "\n", (command, output)


def shows():
    output = debug("break kernel.cl:14", "run", "info kernels", "info ctas", "info warps", "info lanes", "info registers", "info tokens",
                   "x/4dw out", "list", "disassemble", "p $lane", "p $v0 == $v0", "p nothing", "p 1 +", "lane 64", "frame 1", "down", "kernel", "warp 0",
                   "cta", "p *l", "p out[-100000000]", "kill", status=1)
    # Either work-group may come first.
    has(output, "work ", "(2,1,1)", "(64,1,1)", "stopped", ",0,0)  SM ", "at a breakpoint", "lane thread", "*    0 (0,0,0)        active",
        "$s0 ", "$v0 ", "tokens, the front first", ": 0 0 0 0\n", "14\t    out[i] = other;", "=> 0x", "$lane = 0\n", "= 1\n",
        "there is no variable of this name here", "the warp has 64 lanes, and none of number 64", "there is no frame 1", "there is no frame -1",
        "it is no pointer",
        "the kernel cannot reach this address", "ended by signal 9")
    assert "a name is missing" in output, output


def faults():
    output = debug("run", "bt", "p nowhere", "catch no fault", "continue", program=["fault"], status=0)
    # Each of the work-groups does it, at an address of its own.
    has(output, "Fault UNMAPPED at address 0x4000000", "00, fault at kernel.cl:19", "#0  fault at kernel.cl:19",
        "nowhere = 0x4000000000", "read: error -14", "[program exited with status 3]")
    output = debug("catch no fault", "run", program=["fault"])
    assert "Fault" not in output and "exited with status 3" in output, output


def entries():
    output = debug("catch entry", "run", "stepi 2", "catch no entry", "continue")
    has(output, "Entry, work at kernel.cl:", "done, all is right")


def calls():
    """Functions that are called have callers, whose variables have values; steps lead over calls, into them and out of them."""
    output = debug("tbreak inner if a == 66", "run", "bt", "p c - c", "up", "p a", "p k", "p a + k == 66", "up", "info locals", "down", "down",
                   "next", "p c", "next", "next", "p d", "finish", "bt", "next", "step", "step", "bt", "step", "step", "bt", "finish", "finish",
                   "delete", "continue", program=("calls",))
    has(output, "Breakpoint 1, inner at kernel.cl:41\n", "#0  inner at kernel.cl:41\n#1  outer at kernel.cl:46\n#2  calls at kernel.cl:54\n",
        "c - c = 0\n", "#1  outer at kernel.cl:46\n46\t", "k = ", "a + k == 66 = 1\n", "#2  calls at kernel.cl:54\n54\t", "i = ", "#1  outer",
        "#0  inner", "inner at kernel.cl:42\n", "c = 198\n", "outer at kernel.cl:46\n", "outer at kernel.cl:47\n", "d = 199\n",
        "calls at kernel.cl:54\n", "#0  calls at kernel.cl:54\n", "calls at kernel.cl:53\n", "calls at kernel.cl:54\n",
        "outer at kernel.cl:44\n", "#0  outer at kernel.cl:44\n#1  calls at kernel.cl:54\n", "outer at kernel.cl:46\n", "inner at kernel.cl:39\n",
        "#0  inner at kernel.cl:39\n#1  outer at kernel.cl:46\n#2  calls at kernel.cl:54\n", "outer at kernel.cl:46\n", "calls at kernel.cl:54\n",
        "[program exited with status 0]")
    # Over the call, which is one instruction then; `stepi` goes into it.
    output = debug("tbreak 54", "run", *["nexti"] * 6, "bt", "tbreak 54", "continue", *["stepi"] * 5, "bt", "nexti", "bt", "kill", program=("calls",))
    assert output.count("outer at") == 2 + 1 + 1, output
    has(output, "#0  calls at kernel.cl:54\n", "outer at kernel.cl:44\n", "#0  outer at kernel.cl:44\n#1  calls at kernel.cl:54\n",
        "#0  outer at kernel.cl:44\n#1  calls at kernel.cl:54\n")


def written_over():
    """Where memory has no return address any more, no caller is shown; the kernel goes where it was sent, and that has no line."""
    words = [f"set a[{i}] = -1" for i in (2, 3, 4, 5, -1, -2, -3, -4)]
    output = debug("tbreak 62", "run", "bt", *words, "bt", "up", "finish", "continue", "kill", program=("smash",), status=1)
    has(output, "#0  spill at kernel.cl:62\n#1  smash at kernel.cl:66\n#0  spill at kernel.cl:62\n", "there is no frame 1",
        "smash at instruction ", "Fault FETCH_RANGE at address ", "smash at instruction ")
    assert output.count("#1  smash") == 1 and "??" not in output, output


def record(*orders, program=(), status=0):
    process = start(orders, *program, options=("--batch", "--record"))
    output, _ = process.communicate(timeout=100)
    assert process.returncode == status, (process.returncode, output)
    return output


def goes_back():
    """Line by line, over a function and into it, by instructions, to its call, to breakpoints, and forth again."""
    output = record("tbreak 14", "run", "p other", "reverse-next", "p other - n", "rn", "rn", "reverse-next 2", "p i", "p part[l]",
                    "reverse-stepi", "info record", "continue", "p other", "delete", "continue")
    has(output, "work at kernel.cl:14", "other = 1002\n", "work at kernel.cl:13", "other - n = -998\n", "work at kernel.cl:12",
        "work at kernel.cl:11", "work at kernel.cl:10", "work at kernel.cl:9", "i = 0\n", "part[l] = 0\n",
        " instructions and starts of CTAs, at ", "The history ends here", "work at kernel.cl:14", "other = 1002\n", "done, all is right")
    output = record("tbreak 11", "run", "reverse-step", "reverse-step", "rs", "bt", "reverse-finish", "reverse-continue", "reverse-step", "tbreak 10",
                    "continue", "break 4", "rc", "p b == 2 * a", "delete", "continue", "continue")
    has(output, "work at kernel.cl:11", "work at kernel.cl:10", "at kernel.cl:", "#0  twice at kernel.cl:", "#1  work at kernel.cl:9", "work at kernel.cl:9",
        "No more reverse-execution history.", "No more reverse-execution history.", "work at kernel.cl:10",
        "twice at kernel.cl:4", "b == 2 * a = 1\n", "The history ends here", "done, all is right")


def back_over_calls():
    output = record("tbreak 55", "run", "reverse-next 2", "p k", "rn 2", "p k", "tbreak inner", "reverse-continue", "p a", "reverse-finish", "bt",
                    "reverse-finish", "p k", "reverse-finish", "reverse-continue", "continue", "continue",
                    program=("calls",), status=1)
    has(output, "calls at kernel.cl:55\n", "calls at kernel.cl:54\n", "k = 2\n", "calls at kernel.cl:54\n", "k = 1\n",
        "Breakpoint 2, inner at kernel.cl:41\n", "a = 0\n", "outer at kernel.cl:46\n", "#0  outer at kernel.cl:46\n#1  calls at kernel.cl:54\n",
        "calls at kernel.cl:54\n", "k = 0\n", "No more", "done, all is right")
    assert "cannot go back out of a kernel: nobody has called it" in output, output
    # By instructions: over the call, from what follows it to the call itself, and into it.
    over = record("tbreak 55", "run", *["reverse-nexti"] * 14, "bt", "p k", "rni 20", "p k", "continue", "continue", program=("calls",))
    into = record("tbreak 55", "run", *["reverse-stepi"] * 14, "bt", "reverse-nexti", "bt", "continue", "continue", program=("calls",))
    has(over, "calls at kernel.cl:55\n", "calls at kernel.cl:54\n", "#0  calls at kernel.cl:54\n", "k = 2\n", "k = 1\n", "done, all is right")
    assert "outer at" not in over and "inner at" not in over, over
    has(into, "calls at kernel.cl:54\n", "outer at kernel.cl:48\n", "#0  outer at kernel.cl:48\n#1  calls at kernel.cl:54\n",
        "outer at kernel.cl:48\n", "#0  outer at kernel.cl:48\n", "done, all is right")


def last_writes():
    output = record("break 14 if i % 64 == 5", "run", "last-write other", "last-write part[l ^ 1]", "p part[l ^ 1]", "continue", "lane 2", "lw other",
                    "p other", "continue", "last-write part[3]", "set var part[3] = 1", "p $v0 == $v0", "continue", "last-write out[i]", "last-write $v4000",
                    "last-write 5", "continue", "delete", "continue", status=1)
    has(output, "Breakpoint 1", "Last write, work at kernel.cl:11", "Last write, work at kernel.cl:9", "part[l ^ 1] = 0\n", "The history ends here",
        "lane 2", "Last write, work at kernel.cl:13", "other = 6\n", "The history ends here", "Last write, work at kernel.cl:9",
        "The history ends here", "No more reverse-execution history.", "The history ends here", "done, all is right")
    assert "part[3] : what is past cannot be changed" in output and "last-write 5" not in output, output


def back_from_a_fault():
    output = record("run", "reverse-step", "p nowhere", "reverse-next", "continue", "bt", "continue", program=["fault"])
    has(output, "Fault UNMAPPED", "fault at kernel.cl:19", "nowhere = 0x4000000000", "fault at kernel.cl:18", "The history ends here",
        "fault at kernel.cl:19", "read: error -14")


def nothing_recorded():
    output = debug("break 14", "run", "reverse-step", "info record", "record", "record maybe", "reverse-finish", "kill", status=1)
    has(output, "cannot go back: nothing is recorded", "cannot tell what is recorded: nothing is recorded",
        "record: cannot record: the SMs run on several threads of the host", 'record: "maybe": expected nothing or `stop`', "cannot go back out of a kernel: nobody has called it")
    output = debug("record", "break 14", "run", "rsi", "record stop", "rsi", "delete", "bt", "continue", status=1)
    has(output, "[recording]", "Breakpoint 1", "work at kernel.cl:1", "[not recording]",
        "cannot go back: nothing is recorded", "work at kernel.cl:14", "done, all is right")


def disappears_in_the_past():
    process = start(["break 14", "run", "reverse-stepi 20", "echo stands"], options=("--record",))
    for line in process.stdout:
        if line == "stands\n":
            break
    process.kill()
    output = process.stdout.read()
    assert "done, all is right" in output, output
    process.wait()


def entry_of_what_threads_launch():
    process = start(["catch launch", "run"], "tree", options=())
    read = wait_for(process, "info kernels", "Entry, tree at kernel.cl:|Entry, __tree")
    assert re.search(r"^\* +\d+ +__tree_block_invoke_kernel .*stopped", read, re.M), read
    process.stdin.write("catch no launch\ntbreak 10\n")
    wait_for(process, "continue", "Breakpoint 1, tree at kernel.cl:10")
    output, _ = process.communicate("set out[0] = 1\ncontinue\n", timeout=100)
    has(output, "done, all is right", "exited with status 0")


def watchdogs_wait():
    """A kernel that stands for longer than its time limit goes on; one that does not stop is ended by it."""
    for options, back in ((), ""), (("--record",), "reverse-stepi 5"):
        process = start(["break 14", "run", back, "echo stands"], options=options, limit_ms=1000)
        for line in process.stdout:
            if line == "stands\n":
                break
        time.sleep(2.5)
        output, _ = process.communicate("p other >= 0\ndelete\ncontinue\ncontinue\n", timeout=100)
        has(output, "other >= 0 = 1\n", *(["The history ends here"] if back else []), "done, all is right", "exited with status 0")
    process = start(["run"], "endless", limit_ms=1000)
    output, _ = process.communicate(timeout=100)
    has(output, "launched\n", "read: error -", "exited with status 3")


def interrupted():
    for scope in ("all", "task"):
        interrupt(scope)


def interrupt(scope):
    process = start([f"scope {scope}", "run"], "endless", options=())
    assert process.stdout.readline() == "launched\n"
    process.send_signal(signal.SIGINT)
    for line in process.stdout:
        if line.startswith("[focus: kernel 0 endless"):
            break
        if line == "go\n":  # `continue` is behind it in the pipe, so the signal is for that
            process.send_signal(signal.SIGINT)
        elif line.startswith("[interrupted"):  # it has not begun yet
            process.stdin.write("echo go\ncontinue\n")
            process.stdin.flush()
    # It may stand at its first instruction, where arguments are not in their places yet.
    output, _ = process.communicate("tbreak 25\ncontinue\np turns >= 0\nset out[0] = 1\ncontinue\n", timeout=100)
    has(output, "endless at kernel.cl:25", "turns >= 0 = 1\n", "done, all is right")


TREE = re.compile(r"""  task 0x\w+ tree \(1,1,1\), depth 1, 2 children: .*
    cta \(0,0,0\) waits for children at kernel\.cl:8
(?:    task 0x\w+ __tree_block_invoke_kernel \(1,1,1\), depth 2, 1 child: .*
      cta \(0,0,0\) waits for children at kernel\.cl:8
[ *]     task 0x\w+ __tree_block_invoke_kernel \(1,1,1\), depth 3, 0 children: runs in slot \d+ with 1 CTAs on SMs, stopped
){2}""")


def tree_of_tasks():
    """Those below wait until somebody makes them end; those above come to where they wait."""
    process = start(["break 10", "run", "info tasks", "echo read"], "tree", options=())
    read = ""
    while not TREE.search(read):
        read = ""
        for line in process.stdout:
            if line == "read\n":
                break
            read += line
        if not TREE.search(read):
            process.stdin.write("continue\ninfo tasks\necho read\n")
            process.stdin.flush()
    assert read.count("\n*") == 1, read
    output, _ = process.communicate("delete\nset out[0] = 1\ncontinue\n", timeout=100)
    has(output, "done, all is right")
    output = debug("info tasks", status=1)
    assert output == "info: list the tasks: the program does not run; `run` starts it\n", output


def wait_for(process, orders, pattern):
    """Gives the orders until what they show has the pattern, which is returned."""
    while True:
        process.stdin.write(orders + "\necho read\n")
        process.stdin.flush()
        read = ""
        for line in process.stdout:
            if line == "read\n":
                break
            read += line
        else:
            raise AssertionError(read)
        if re.search(pattern, read, re.S):
            return read


def one_task_stands():
    """The other leaf of the tree ends, and with it its parent, while the first stands."""
    process = start(["scope task", "scope", "tbreak 10", "run", "stepi"], "tree", options=())
    wait_for(process, "info kernels", "scope task\n.*Breakpoint 1, tree at kernel.cl:10")
    wait_for(process, "info kernels", r"^(?=.* 3 \(1,1,1\)[^\n]*stopped)(?=.* 3 \(1,1,1\)[^\n]*runs)")
    process.stdin.write("set out[0] = 1\n")
    read = wait_for(process, "info tasks", r"^[^\n]*depth 1, 1 child:[^\n]*\n[^\n]*\n[^\n]*depth 2, 1 child:[^\n]*\n[^\n]*\n"
                    r"\*[^\n]*depth 3, 0 children: [^\n]*, stopped\n$")
    assert read.count("depth 3") == 1, read
    output, _ = process.communicate("step\ncontinue\n", timeout=100)
    has(output, "done, all is right", "exited with status 0")


def two_tasks_stand():
    process = start(["scope task", "break 10", "run"], "tree", options=())
    first = wait_for(process, "info kernels", r" 3 \(1,1,1\)[^\n]*stopped.* 3 \(1,1,1\)[^\n]*stopped")
    first = re.findall(r"^\* +(\d+)", first, re.M)[-1]
    read = wait_for(process, "continue\ninfo kernels", r"Breakpoint 1, ")
    second = re.findall(r"^\* +(\d+)", read, re.M)[-1]
    assert first != second, (first, second, read)
    output, _ = process.communicate("delete\nset out[0] = 1\ncontinue\ninfo kernels\nscope all\ncontinue\n", timeout=100)
    has(output, "[the kernel has ended; others stand]\n", "stopped\n", "done, all is right", "exited with status 0")


def debugger_disappears():
    process = start(["break 14", "run", "echo stands"], options=())
    for line in process.stdout:
        if line == "stands\n":
            break
    process.kill()
    output = process.stdout.read()  # until the program has ended
    assert "done, all is right" in output, output
    process.wait()


class Running:
    """An endless kernel in a program that no debugger has started."""

    def __init__(self, **variables):
        self.process = subprocess.Popen([PROGRAM, "endless"], env=ENVIRONMENT | variables, text=True, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "launched\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def attach(self, *orders, batch=False):
        texts = [word for order in orders for word in ("-ex", order)]
        return subprocess.Popen([DEBUGGER, "--pid", str(self.process.pid), *(["--batch"] if batch else []), *texts], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ends_well(self):
        output, _ = self.process.communicate(timeout=100)
        assert output == "done, all is right\n" and self.process.returncode == 0, (output, self.process.returncode)


def attaches():
    with Running(PPU_DEBUG_KERNELS="1") as program:
        looks, _ = program.attach("tbreak 25", "continue", "p turns >= 0", "detach", "p 1", batch=True).communicate(timeout=100)
        has(looks, f"[attached to process {program.process.pid}]", "Breakpoint 1, endless at kernel.cl:25", "turns >= 0 = 1\n", "[detached]")
        leaves, _ = program.attach("tbreak 25", "continue").communicate("bt\nquit\n", timeout=100)
        has(leaves, "Breakpoint 1, ", "#0  endless at kernel.cl:25")
        output, _ = program.attach("tbreak 25", "continue", "set out[0] = 1", "continue", "bt").communicate(timeout=100)
        has(output, "Breakpoint 1, ", "[program has ended]", "no kernel stands still")
        program.ends_well()


def nothing_to_attach_to():
    with Running() as program:
        process = program.attach(batch=True)
        output, _ = process.communicate(timeout=100)
        assert process.returncode == 1 and output == f"attach: process {program.process.pid}: it does not tell of its " \
            "kernels; start it with PPU_DEBUG_KERNELS=1\n", output
    output = debug("attach 1", "attach 4194305", "attach x", "attach", "detach", status=1)
    assert output == "attach: process 1: it has no PPU, or may not be looked at\n" \
        "attach: process 4194305: there is no such process\n" \
        'attach: "x": expected a number from 0 to 4294967295\nattach: "": expected a number from 0 to 4294967295\n' \
        "detach: nothing is attached; `kill` ends a program that `run` has started\n", output


def two_debuggers():
    """The second is told who the first is, and changes nothing; when that has died, it takes over."""
    with Running(PPU_DEBUG_KERNELS="1") as program:
        first = program.attach("tbreak 25", "continue", "echo stands")
        for line in first.stdout:
            if line == "stands\n":
                break
        for _ in range(3):
            second = program.attach("delete", "set out[0] = 1", "continue", batch=True)
            output, _ = second.communicate(timeout=100)
            assert second.returncode == 1, output
            assert output.splitlines()[0] == f"attach: cannot debug PPU 0: another debugger has it, process {first.pid}", output
        wait_for(first, "next\np turns >= 0", r"endless at kernel\.cl:24.*turns >= 0 = 1\n")
        first.kill()
        first.wait()
        second = program.attach("tbreak 25", "continue", "set out[0] = 1", "delete", "continue")
        output, _ = second.communicate(timeout=100)
        has(output, "[attached to process", "Breakpoint 1, endless at kernel.cl:25", "[program has ended]")
        program.ends_well()


def quits():
    process = start(["break 14", "run"], options=())
    output, _ = process.communicate("info locals\nquit\n", timeout=100)
    has(output, "Breakpoint 1, work at kernel.cl:14", "other = ", "ended by signal 9")
    assert process.returncode == 0


def scripts():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("# a script\nbreak 14\nrun\np other\n\nsource /nowhere\nkill\n")
        file.flush()
        process = start([], options=("--batch", "-x", file.name))
        output, _ = process.communicate(timeout=100)
    has(output, "other = ", "source: read commands of /nowhere: No such file", "ended by signal 9")


def helps():
    output = debug("help")
    words = re.findall(r"^([a-z]+)", output, re.MULTILINE)
    assert len(words) >= 35 and output.count("\n") == 2 * len(words), output
    for word in words:
        assert debug(f"help {word}").startswith(word), word
    for wrong in ("nonsense", "print", "break", "continue", "next", "info", "x 5", "scope some", "condition 7 x", "delete 9", "lane x", "p " + "(" * 500):
        output = debug(wrong, status=1)
        assert output.count("\n") == 1, (wrong, output)
    done = subprocess.run([DEBUGGER, "--batch", "-ex", "run"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "run: no program was named: start ppu-dbg with one, or `attach` to a process\n", done
    done = subprocess.run([DEBUGGER, "--batch", "-ex", "run", "/nowhere/program"], capture_output=True, text=True)
    assert "No such file" in done.stderr and "status 127" in done.stdout, done


def as_built():
    output = debug("run", program=[], status=0)
    assert "all is right" in output
    process = start(["break work", "run"], options=("--batch", "--as-built"))
    output, _ = process.communicate(timeout=100)
    assert "all is right" in output and "Breakpoint 1, " not in output, output


def work_groups():
    for options, wanted in ((("--batch",), "asked, 1"), (("--batch", "--as-built"), "asked, ")):
        process = start(["run"], "-c", 'echo "groups $PPU_WORK_GROUPS, $PPU_DEBUG_KERNELS."', options=options, program="/bin/sh")
        output, _ = process.communicate(timeout=100)
        assert f"groups {wanted}." in output, output


if __name__ == "__main__":
    tap.main([
        ("a kernel of an unmodified program stops, is stepped by lines and functions, and ends well", stops_and_steps),
        ("functions that are called have callers, and are stepped over, into and out of", calls),
        ("conditions on lanes, values, writes and watchpoints", conditions_and_writes),
        ("breakpoints are at instructions; predicates and scalars are written", instructions),
        ("a warp stops where its lanes part", parts),
        ("frames, files on disk, and hits that are passed", frames_and_files),
        ("what stands still is shown; wrong expressions are refused", shows),
        ("a sentence names the command that failed, and what can be done", sentences),
        ("a fault stops before anybody is told", faults),
        ("kernels stop at their entry", entries),
        ("time limits do not count while a kernel stands", watchdogs_wait),
        ("kernels that threads launch stop at their entry", entry_of_what_threads_launch),
        ("a kernel without an end is interrupted, changed, and goes on", interrupted),
        ("a recorded kernel goes back by lines, functions, instructions and breakpoints", goes_back),
        ("a return address that is written over is none", written_over),
        ("a recorded kernel goes back over calls, into them and out of them", back_over_calls),
        ("a recorded kernel goes back to the last write of a variable, of memory and of a register", last_writes),
        ("a recorded kernel goes back from a fault", back_from_a_fault),
        ("what was not recorded is not taken back, which is said", nothing_recorded),
        ("a debugger that disappears in the past leaves the present", disappears_in_the_past),
        ("the tree of tasks tells who launched whom, and where those above wait", tree_of_tasks),
        ("one task stands while others run and end", one_task_stands),
        ("two tasks stand, and go on one by one", two_tasks_stand),
        ("a debugger that disappears lets the program go on", debugger_disappears),
        ("a program that runs already is debugged, let go, and debugged again", attaches),
        ("what cannot be attached to is told", nothing_to_attach_to),
        ("a second debugger is refused, disturbs nothing, and takes over when the first has died", two_debuggers),
        ("quit ends the program", quits),
        ("commands come from a file", scripts),
        ("help lists all commands, and wrong ones are told", helps),
        ("--as-built leaves the program's options alone", as_built),
        ("work-groups are those that the program asks for", work_groups),
    ])
