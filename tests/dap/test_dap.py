#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-dap as an editor that debugs the kernels of an unmodified OpenCL program."""

import base64
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import client  # noqa: E402
import tap  # noqa: E402

Client = client.Client
SOURCE = []  # of the debuggee's kernels, as the first session has read it


def ends_well(editor, status=0):
    assert editor.event("exited")["exitCode"] == status
    editor.event("terminated")
    assert "done, all is right" in editor.output(), editor.output()
    editor.leave()


def stops_and_steps():
    editor = Client()
    can = editor.initialize()
    assert can["supportsConditionalBreakpoints"] and can["supportsDisassembleRequest"] and "supportsStepBack" not in can
    assert [one["filter"] for one in can["exceptionBreakpointFilters"]] == ["fault", "entry", "launch", "divergence"]
    editor.launch()
    found = editor.request("setFunctionBreakpoints", breakpoints=[{"name": "twice"}, {"name": ""}])["breakpoints"]
    assert not found[0]["verified"] and found[0]["reason"] == "pending" and not found[1]["verified"], found
    assert found[1]["message"].startswith("set a breakpoint: "), found
    editor.go()
    assert editor.event("process")["startMethod"] == "launch"
    source = editor.event("loadedSource")["source"]
    SOURCE.append(editor.request("source", source=source, sourceReference=source["sourceReference"])["content"])
    assert SOURCE[0].startswith("int twice(int a)\n"), SOURCE
    assert editor.request("loadedSources")["sources"] == [source]
    stop = editor.stopped(reason="function breakpoint")
    changed = [m["body"] for m in editor.messages if m.get("event") == "breakpoint"]
    assert changed[0]["reason"] == "changed" and changed[0]["breakpoint"]["verified"] and changed[0]["breakpoint"]["line"] == 3, changed
    assert stop["hitBreakpointIds"] == [found[0]["id"]]
    threads = {one["id"]: one["name"] for one in editor.request("threads")["threads"]}
    assert threads[1] == "host program", threads
    thread = stop["threadId"]
    assert thread in threads and {name for number, name in threads.items() if number != 1} <= \
        {"kernel 0 work, cta (0,0,0), warp 0", "kernel 0 work, cta (1,0,0), warp 0"}, threads  # the other may not be there yet
    assert editor.request("stackTrace", threadId=1) == {"stackFrames": [], "totalFrames": 0}
    frames = editor.frames(thread)
    assert [(one["name"], one["line"]) for one in frames] == [("twice", 3), ("work", 9)], frames
    assert frames[0]["source"]["sourceReference"] == source["sourceReference"]
    assert [one["name"] for one in editor.request("stackTrace", threadId=thread, startFrame=1, levels=1)["stackFrames"]] == ["work"]
    # Variables of both functions.
    inner, outer = editor.scopes(frames[0]["id"]), editor.scopes(frames[1]["id"])
    first = int(editor.values(inner["Arguments"])["a"])
    assert first in (0, 64) and "n" not in editor.values(inner["Arguments"])
    assert editor.values(outer["Arguments"])["n"] == "1000" and editor.values(outer["Locals"])["i"] == str(first)
    assert editor.request("evaluate", expression="n + i", frameId=frames[1]["id"], context="watch")["result"] == str(1000 + first)
    assert editor.refused("evaluate", expression="n", frameId=frames[0]["id"], context="hover").startswith("evaluate: n: there is no variable")
    # Steps.
    editor.request("next", threadId=thread)
    assert editor.stopped(reason="step")["threadId"] == thread
    assert editor.frames(thread)[0]["line"] == 4
    assert editor.refused("variables", variablesReference=inner["Locals"]).startswith("list variables: there are no variables")
    editor.request("stepOut", threadId=thread)
    editor.stopped(reason="step")
    frames = editor.frames(thread)
    assert [(one["name"], one["line"]) for one in frames] == [("work", 9)], frames
    before = frames[0]["instructionPointerReference"]
    editor.request("stepIn", threadId=thread, granularity="instruction")
    editor.stopped(reason="step")
    assert int(editor.frames(thread)[0]["instructionPointerReference"], 0) == int(before, 0) + 8
    editor.request("setFunctionBreakpoints", breakpoints=[])
    assert editor.request("continue", threadId=thread)["allThreadsContinued"]
    assert editor.refused("next", threadId=thread).startswith("step: ")
    ends_well(editor)


def calls():
    """Functions that are called have callers, whose variables have values; steps lead over calls and out of them."""
    editor = Client()
    editor.initialize()
    editor.launch("calls")
    editor.request("setFunctionBreakpoints", breakpoints=[{"name": "inner", "condition": "a == 66"}])
    editor.go()
    thread = editor.stopped(reason="function breakpoint")["threadId"]
    editor.request("setFunctionBreakpoints", breakpoints=[])
    frames = editor.frames(thread)
    assert [(one["name"], one["line"]) for one in frames] == [("inner", 41), ("outer", 46), ("calls", 54)], frames
    assert len({one["instructionPointerReference"] for one in frames}) == 3, frames
    values = [editor.values(editor.scopes(one["id"])["Arguments"]) for one in frames[:2]]
    assert values[0]["a"] == "66" and int(values[1]["a"]) + int(values[1]["k"]) == 66, values
    locals_of_kernel = editor.values(editor.scopes(frames[2]["id"])["Locals"])
    assert locals_of_kernel["i"] == values[1]["a"] and locals_of_kernel["k"] == values[1]["k"], locals_of_kernel
    assert editor.request("evaluate", expression="a + k", frameId=frames[1]["id"], context="watch")["result"] == "66"
    for step, lines in (("stepOut", [("outer", 46), ("calls", 54)]), ("next", [("outer", 47), ("calls", 54)]), ("stepOut", [("calls", 54)])):
        editor.request(step, threadId=thread)
        editor.stopped(reason="step")
        frames = editor.frames(thread)
        assert [(one["name"], one["line"]) for one in frames] == lines, frames
    # One instruction a step: into the function, and over it.
    inside = 0
    for _ in range(40):
        editor.request("next", threadId=thread, granularity="instruction")
        editor.stopped(reason="step")
        inside += len(editor.frames(thread)) > 1
    assert inside == 0, inside
    editor.request("continue", threadId=thread)
    ends_well(editor)


def goes_back():
    """By lines, by instructions, to breakpoints and to the last write, of a program that is recorded."""
    editor = Client()
    assert "supportsStepBack" not in editor.initialize()
    editor.launch(record=True)
    assert editor.event("capabilities")["capabilities"] == {"supportsStepBack": True}
    editor.request("setFunctionBreakpoints", breakpoints=[{"name": "twice"}])
    editor.go()
    stop = editor.stopped(reason="function breakpoint")
    thread = stop["threadId"]
    editor.request("setFunctionBreakpoints", breakpoints=[])
    for _ in range(4):
        editor.request("next", threadId=thread)
        editor.stopped(reason="step")
    line = editor.frames(thread)[0]["line"]
    assert line >= 9, line
    editor.request("stepBack", threadId=thread)
    assert editor.stopped(reason="step")["threadId"] == thread
    assert 4 <= editor.frames(thread)[0]["line"] < line
    before = editor.frames(thread)[0]["instructionPointerReference"]
    editor.request("stepBack", threadId=thread, granularity="instruction")
    editor.stopped(reason="step")
    frames = editor.frames(thread)
    assert int(frames[0]["instructionPointerReference"], 0) < int(before, 0)
    assert editor.refused("setExpression", expression="i", value="1", frameId=frames[-1]["id"]).endswith("what is past cannot be changed")
    found = editor.request("setFunctionBreakpoints", breakpoints=[{"name": "twice"}])["breakpoints"]
    editor.request("reverseContinue", threadId=thread)
    assert editor.stopped(reason="function breakpoint")["hitBreakpointIds"] == [found[0]["id"]]
    assert editor.frames(thread)[0]["line"] == 3
    description = None
    while description is None:  # each group has come there
        editor.request("reverseContinue", threadId=thread)
        stop = editor.stopped()
        thread, description = stop["threadId"], stop.get("description")
    assert description == "No more history", description
    editor.request("setFunctionBreakpoints", breakpoints=[])
    editor.request("continue", threadId=thread)
    assert editor.stopped(reason="step")["description"] == "The history ends here"
    assert editor.frames(thread)[0]["line"] == line
    editor.typed("last-write i")
    assert editor.stopped(reason="step")["description"] == "Last write"
    assert editor.frames(thread)[0]["line"] == 8
    editor.request("continue", threadId=thread)
    editor.stopped(description="The history ends here")
    editor.request("continue", threadId=thread)
    ends_well(editor)


def nothing_recorded():
    editor = Client()
    editor.initialize()
    editor.launch()
    editor.request("setFunctionBreakpoints", breakpoints=[{"name": "twice"}])
    editor.go()
    thread = editor.stopped(reason="function breakpoint")["threadId"]
    for command in ("stepBack", "reverseContinue"):
        assert editor.refused(command, threadId=thread).endswith(": cannot go back: nothing is recorded"), command
        assert editor.refused(command, threadId=777777)
    editor.request("setFunctionBreakpoints", breakpoints=[])
    editor.request("continue", threadId=thread)
    ends_well(editor)


def files_and_conditions():
    """A file on disk that is a part of what the program compiles: its own lines, conditions on lanes, and counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "a folder with a long name" / "work.cl")
        Path(path).parent.mkdir()
        Path(path).write_text("".join(line + "\n" for line in SOURCE[0].split("\n")[5:15]))
        editor = Client()
        editor.initialize()
        # Configured before it is launched, as some editors do. Line 5 is the program's line 10; 99 is not in the file.
        wanted = [{"line": 6, "condition": "i == 70"}, {"line": 99}, {"line": 6, "hitCondition": "x"}, {"line": 0}]
        found = editor.request("setBreakpoints", source={"path": path}, breakpoints=wanted)["breakpoints"]
        assert [one["verified"] for one in found] == [False] * 4 and "hit condition" in found[2]["message"], found
        editor.go()
        editor.launch()
        stop = editor.stopped(reason="breakpoint")
        assert stop["hitBreakpointIds"] == [found[0]["id"]]
        frame = editor.frames(stop["threadId"])[0]
        assert frame["line"] == 6 and frame["source"]["path"] == path, frame
        scopes = editor.scopes(frame["id"])
        lane = editor.variables(scopes["Lane"])
        assert lane["lane"]["value"] == "6" and lane["cta"]["value"] == "(1,0,0)" and lane["thread"]["value"] == "(6,0,0)", lane
        lanes = editor.variables(scopes["Lanes"], start=6, count=2, filter="indexed")
        assert list(lanes) == ["[6]", "[7]"] and "active, chosen" in lanes["[6]"]["value"], lanes
        assert editor.values(lanes["[7]"]["variablesReference"])["i"] == "71"
        # Another lane: all that is shown is of it.
        assert editor.request("setVariable", variablesReference=scopes["Lane"], name="lane", value="2")["value"] == "2"
        assert "variables" in editor.event("invalidated", threadId=stop["threadId"])["areas"]
        assert editor.values(scopes["Locals"])["i"] == "66" and editor.values(lanes["[7]"]["variablesReference"])["i"] == "71"
        assert editor.refused("setVariable", variablesReference=scopes["Lane"], name="lane", value="64").endswith("the warp has 64 lanes")
        assert editor.refused("setVariable", variablesReference=scopes["Lane"], name="cta", value="1").startswith("set a variable: ")
        # A breakpoint that was there keeps its number; the first goes away.
        same = [{"line": 9, "hitCondition": "> 1"}]
        found = editor.request("setBreakpoints", source={"path": path}, breakpoints=same)["breakpoints"]
        assert found[0]["verified"] and found[0]["line"] == 9 and found[0]["source"]["path"] == path, found
        again = editor.request("setBreakpoints", source={"path": path}, breakpoints=same)["breakpoints"]
        assert again[0]["id"] == found[0]["id"]
        assert editor.typed("info breakpoints").count("work.cl:9, 1 place, hit 0 times") == 1
        editor.request("setBreakpoints", source={"path": path}, breakpoints=[])
        assert editor.typed("info breakpoints") == "No breakpoints."
        editor.request("continue", threadId=stop["threadId"])
        ends_well(editor)


def memory_and_code():
    editor = Client()
    editor.initialize()
    editor.launch(stopOnEntry=True)
    editor.go()
    stop = editor.stopped(reason="entry")
    thread = stop["threadId"]
    source = editor.frames(thread)[0]["source"]
    found = editor.request("setBreakpoints", source=source, breakpoints=[{"line": 11}])["breakpoints"]
    assert found[0]["verified"] and found[0]["line"] == 11, found
    editor.request("continue", threadId=thread)
    thread = editor.stopped(reason="breakpoint")["threadId"]
    frame = editor.frames(thread)[0]
    scopes = editor.scopes(frame["id"])
    # Pointers, elements, and shared memory as words.
    arguments = editor.variables(scopes["Arguments"])
    assert arguments["part"]["type"] == "__local int *" and arguments["n"]["type"] == "int", arguments
    target = editor.variables(arguments["part"]["variablesReference"])["*"]
    assert target["evaluateName"] == "part[0]" and target["memoryReference"].startswith("shared:"), target
    base, first = int(target["value"]), int(target["memoryReference"].rpartition(":")[2], 0) // 4
    shared = editor.values(scopes["Shared memory"], start=first + 1, count=3)
    assert shared == {f"[{first + i}]": f"0x{base + 2 * i:08x}" for i in (1, 2, 3)}, (shared, base, first)
    data = editor.request("readMemory", memoryReference=target["memoryReference"], offset=4, count=8)
    assert struct.unpack("<2i", base64.b64decode(data["data"])) == (base + 2, base + 4) and "unreadableBytes" not in data, data
    assert editor.request("setVariable", variablesReference=scopes["Shared memory"], name=f"[{first + 1}]", value="7")["value"] == "0x00000007"
    assert editor.request("evaluate", expression="part[1]", context="watch")["result"] == "7"
    editor.request("writeMemory", memoryReference=target["memoryReference"], offset=4,
                   data=base64.b64encode(struct.pack("<i", base + 2)).decode())
    assert editor.event("memory")["count"] == 4
    assert editor.request("evaluate", expression="part[1]", context="watch")["result"] == str(base + 2)
    far = editor.request("readMemory", memoryReference="0x4000000000", count=16)
    assert far["data"] == "" and far["unreadableBytes"] == 16, far
    assert editor.refused("readMemory", memoryReference="nowhere", count=1) == \
        'read memory: "nowhere" names no memory: expected an address'
    assert editor.refused("writeMemory", memoryReference="0x4000000000", data="AAAA").startswith("write memory: 0 of 3 bytes")
    assert editor.refused("writeMemory", memoryReference="0x40", data="*").endswith("is no base64")
    # Registers.
    vectors = editor.variables(scopes["Vector registers"])
    assert "$v0" in vectors and editor.values(scopes["Predicates"])["$p0"] in ("0", "1"), vectors
    scalars = editor.variables(scopes["Scalar registers"], format={"hex": True})
    assert scalars["$s0"]["value"].startswith("0x"), scalars
    spare = f"$v{len(vectors) - 1}"
    kept = vectors[spare]["value"]
    assert editor.request("setVariable", variablesReference=scopes["Vector registers"], name=spare, value="0x55")["value"] == "85"
    assert editor.request("setExpression", expression=spare, value=kept, frameId=frame["id"])["value"] == kept
    # Code, and a breakpoint on an instruction.
    pc = frame["instructionPointerReference"]
    code = editor.request("disassemble", memoryReference=pc, instructionOffset=-2, instructionCount=8)["instructions"]
    assert len(code) == 8 and int(code[2]["address"], 0) == int(pc, 0) and code[2]["line"] == 11, code
    assert code[2]["location"] == source and len(code[2]["instructionBytes"].split()) == 8, code[2]
    outside = editor.request("disassemble", memoryReference=pc, instructionOffset=-4000, instructionCount=1)["instructions"]
    assert outside[0]["presentationHint"] == "invalid", outside
    editor.request("setBreakpoints", source=source, breakpoints=[])
    found = editor.request("setInstructionBreakpoints", breakpoints=[{"instructionReference": pc, "offset": 16}, {}])["breakpoints"]
    assert found[0]["verified"] and not found[1]["verified"] and found[1]["message"].startswith("set a breakpoint: "), found
    editor.request("continue", threadId=thread)
    stop = editor.stopped(reason="instruction breakpoint")
    thread = stop["threadId"]
    assert editor.frames(thread)[0]["instructionPointerReference"] == code[4]["address"]
    editor.request("setInstructionBreakpoints", breakpoints=[])
    # A write to global memory.
    frame = editor.frames(thread)[0]["id"]
    element = "out[64 * (i / 64) + 5]"
    about = editor.request("dataBreakpointInfo", name=element, frameId=frame)
    assert about["accessTypes"] == ["write"] and "4 bytes" in about["description"], about
    none = editor.request("dataBreakpointInfo", name="part[1]", frameId=frame)
    assert none["dataId"] is None and none["description"] == "find memory to watch: only global memory is watched", none
    assert editor.request("dataBreakpointInfo", name="nothing", frameId=frame)["dataId"] is None
    assert editor.request("dataBreakpointInfo", name="&out[5]", asAddress=True, bytes=4)["dataId"]
    found = editor.request("setDataBreakpoints", breakpoints=[{"dataId": about["dataId"], "accessType": "write"},
                                                              {"dataId": about["dataId"], "accessType": "read"},
                                                              {"dataId": "x"}])["breakpoints"]
    assert [one["verified"] for one in found] == [True, False, False], found
    editor.request("continue", threadId=thread)
    stop = editor.stopped(reason="data breakpoint")
    assert stop["hitBreakpointIds"] == [found[0]["id"]] and "was 0, is " in editor.output("console")
    editor.request("setDataBreakpoints", breakpoints=[])
    assert editor.typed("info breakpoints") == "No breakpoints."
    editor.request("continue", threadId=stop["threadId"])
    ends_well(editor)


def console():
    editor = Client()
    editor.initialize()
    editor.launch()
    editor.request("setBreakpoints", source={"path": "/nowhere/kernel.cl"}, breakpoints=[{"line": 14}])
    editor.go()
    stop = editor.stopped(reason="breakpoint")
    thread = stop["threadId"]
    frame = editor.frames(thread)[0]
    assert editor.typed("lane 5").startswith("[focus: kernel 0 work, cta ") and editor.event("invalidated")["threadId"] == thread
    lane = editor.scopes(frame["id"])["Lane"]
    assert editor.values(lane)["lane"] == "5"
    assert editor.typed("l") == "5" and "14\t    out[i] = other;" in editor.typed("-exec l"), "a variable comes before a command"
    assert "active" in editor.typed("info lanes") and "at a breakpoint" in editor.typed("info warps")
    assert editor.typed("l + 1") == "6" and editor.typed("print/x n") == "n = 0x3e8"
    assert editor.refused("evaluate", expression="nonsense", context="repl").endswith(": there is no command nonsense; `help` lists them")
    assert editor.refused("evaluate", expression="lane 99", context="repl") == "evaluate: lane: the warp has 64 lanes, and none of number 99"
    assert editor.refused("evaluate", expression="scope task", context="repl") == \
        "evaluate: scope: it is not changed under an editor, which stops all kernels"
    assert editor.refused("evaluate", expression="lane 4", context="watch").startswith("evaluate: lane 4: ")
    # To the other work-group: the editor is told where it looks now.
    other = "1,0,0" if "cta (0,0,0)" in editor.typed("kernel") else "0,0,0"
    while True:  # it may not be on an SM yet
        try:
            assert f"cta ({other})" in editor.typed(f"cta {other}")
            break
        except client.Refused as refusal:
            assert str(refusal) == "evaluate: cta: no such warp is on an SM; `info kernels` and `info warps` list what is", refusal
    moved = editor.stopped()
    assert moved["threadId"] != thread
    # A breakpoint that a command deletes.
    number = stop["hitBreakpointIds"][0]
    editor.typed(f"delete {number}")
    assert editor.event("breakpoint", reason="removed")["breakpoint"]["id"] == number
    # Steps and more are commands, too.
    editor.typed("tbreak 15")
    editor.typed("continue")
    editor.event("continued")
    editor.stopped(reason="breakpoint")
    assert editor.refused("evaluate", expression="run", context="repl") == \
        "evaluate: run: the program runs already; `continue` lets it go on, and `kill` ends it"
    editor.typed("continue")
    ends_well(editor)


def exceptions():
    editor = Client()
    editor.initialize()
    editor.launch("fault")
    editor.request("setExceptionBreakpoints", filters=["fault", "entry"])
    editor.go()
    stop = editor.stopped(reason="entry")
    assert editor.refused("exceptionInfo", threadId=stop["threadId"]) == \
        "describe an exception: the kernels stand at no fault, and not where lanes part; `continue` goes on to one"
    editor.request("setExceptionBreakpoints", filters=["fault"])
    editor.request("continue", threadId=stop["threadId"])
    stop = editor.stopped(reason="exception")
    # Either work-group may be the first; each reads 256 bytes of its own.
    where = {"cta (0,0,0)": "0x4000000000", "cta (1,0,0)": "0x4000000100"}
    group = re.search(r"cta \(\d,0,0\)", editor.typed("kernel"))[0]
    assert stop["text"] == f"Fault UNMAPPED at address {where[group]}", (group, stop)
    assert editor.request("exceptionInfo", threadId=stop["threadId"])["exceptionId"] == "UNMAPPED"
    assert editor.frames(stop["threadId"])[0]["line"] == 19
    while True:  # the other warp may have stopped beside it
        editor.request("continue", threadId=stop["threadId"])
        if "exitCode" in (body := editor.event("stopped", "exited")):
            break
    assert body["exitCode"] == 3
    editor.event("terminated")
    assert "read: error -14" in editor.output()
    assert editor.refused("continue", threadId=stop["threadId"]) == \
        "continue: the program does not run; request `launch` or `attach` first"
    assert editor.refused("evaluate", expression="info warps", context="repl").startswith("evaluate: ")
    assert editor.refused("terminate") == \
        "terminate: the program does not run; request `launch` or `attach` first"
    editor.leave()


def divergence():
    editor = Client()
    editor.initialize()
    editor.launch("turns")
    editor.request("setExceptionBreakpoints", filters=["divergence"])
    editor.go()
    stop = editor.stopped(reason="exception")
    assert stop["text"] == "Lanes part"
    assert editor.request("exceptionInfo", threadId=stop["threadId"])["exceptionId"] == "divergence"
    scopes = editor.scopes(editor.frames(stop["threadId"])[0]["id"])
    lanes = editor.values(scopes["Lanes"])
    assert any("waits" in one for one in lanes.values()) and any("active" in one for one in lanes.values()), lanes
    editor.leave()


def paused():
    editor = Client()
    editor.initialize()
    editor.launch("endless", cwd="/", env={"PPU_NOT_THERE": None, "HOME": "/"})
    editor.go()
    editor.event("output", output="launched\n")
    while True:  # it may not have begun yet
        editor.request("pause", threadId=1)
        stop = editor.stopped(reason="pause")
        if stop["threadId"] != 1:
            break
        editor.request("continue", threadId=1)
    # It may stand at its first instruction, where arguments are not in their places yet.
    thread = stop["threadId"]
    editor.request("setBreakpoints", source=editor.frames(thread)[0]["source"], breakpoints=[{"line": 25}])
    editor.request("continue", threadId=thread)
    thread = editor.stopped(reason="breakpoint")["threadId"]
    frame = editor.frames(thread)[0]
    editor.request("setBreakpoints", source=frame["source"], breakpoints=[])
    assert editor.request("setExpression", expression="out[0]", value="1", frameId=frame["id"])["value"] == "1"
    editor.request("continue", threadId=thread)
    ends_well(editor)


def tree_of_tasks():
    editor = Client()
    editor.initialize()
    editor.launch("tree")
    editor.request("setFunctionBreakpoints", breakpoints=[])
    editor.request("setBreakpoints", source={"path": "/nowhere/kernel.cl"}, breakpoints=[{"line": 10}])
    editor.go()
    while True:  # until those above have come to where they wait
        stop = editor.stopped(reason="breakpoint")
        tasks = editor.request("tasks")["tasks"]
        if [task["depth"] for task in tasks] == [1, 2, 3, 2, 3] and [len(task["waiting"]) for task in tasks] == [1, 1, 0, 1, 0]:
            break
        editor.request("continue", threadId=stop["threadId"])
    numbers = [task["task"] for task in tasks]
    assert [task.get("parent") for task in tasks] == [None, numbers[0], numbers[1], numbers[0], numbers[3]], tasks
    assert [task["children"] for task in tasks] == [2, 1, 0, 1, 0] and tasks[0]["grid"] == [1, 1, 1], tasks
    assert tasks[0]["kernel"] == "tree" and tasks[2]["kernel"] == "__tree_block_invoke_kernel", tasks
    assert tasks[2]["stopped"] and tasks[2]["slot"] != tasks[4]["slot"] and tasks[2]["state"].startswith("runs in slot"), tasks
    where = tasks[0]["waiting"][0]
    assert where["cta"] == [0, 0, 0] and where["line"] == 8 and where["source"]["name"] == "kernel.cl", where
    assert int(where["instructionReference"], 0) % 8 == 0
    editor.request("setBreakpoints", source={"path": "/nowhere/kernel.cl"}, breakpoints=[])
    editor.request("setExpression", expression="out[0]", value="1", frameId=editor.frames(stop["threadId"])[0]["id"])
    editor.request("continue", threadId=stop["threadId"])
    ends_well(editor)


def one_task_goes_alone():
    """Its threads run, all others are looked at meanwhile; a pause stops it, and what goes on at last is all."""
    editor = Client()
    assert editor.initialize()["supportsSingleThreadExecutionRequests"]
    editor.launch("tree")
    editor.request("setBreakpoints", source={"path": "/nowhere/kernel.cl"}, breakpoints=[{"line": 10}])
    editor.go()
    thread, leaves = editor.stopped(reason="breakpoint")["threadId"], []
    editor.request("setBreakpoints", source={"path": "/nowhere/kernel.cl"}, breakpoints=[])
    while len(leaves) != 2:  # they spin
        editor.request("continue", threadId=thread)
        time.sleep(0.1)
        editor.request("pause", threadId=thread)
        thread = editor.stopped(reason="pause")["threadId"]
        threads = [one["id"] for one in editor.request("threads")["threads"] if "__tree_block" in one["name"]]
        leaves = [one for one in threads if editor.frames(one)[0]["line"] in (9, 10)]
    goes, stands = leaves

    def turns(thread):
        frame = editor.frames(thread)[0]["id"]
        return int(editor.request("evaluate", expression="turns", frameId=frame, context="watch")["result"])

    before = turns(goes), turns(stands)
    assert editor.request("continue", threadId=goes, singleThread=True) == {"allThreadsContinued": False}
    assert editor.refused("stackTrace", threadId=goes) == f"list frames: thread {goes} runs"
    names = {one["id"] for one in editor.request("threads")["threads"]}
    assert {goes, stands} <= names, names
    assert turns(stands) == before[1]
    locals_ = editor.scopes(editor.frames(stands)[0]["id"])["Locals"]
    assert editor.values(locals_)["turns"] == str(before[1])
    assert editor.refused("continue", threadId=stands, singleThread=True) == "continue: the kernels run already"
    assert editor.refused("next", threadId=stands) == "step: the kernels run already"
    editor.request("pause", threadId=goes)
    editor.stopped(reason="pause")
    assert turns(goes) > before[0] and turns(stands) == before[1]
    assert editor.refused("reverseContinue", threadId=goes, singleThread=True) == "continue backwards: all threads go back together"
    editor.request("continue", threadId=goes, singleThread=True)
    editor.request("setExpression", expression="out[0]", value="1", frameId=editor.frames(stands)[0]["id"])
    stop = editor.stopped()
    assert stop["description"] == "The kernel has ended; others stand", stop
    assert turns(stands) == before[1]
    editor.request("continue", threadId=stands, singleThread=True)
    assert editor.request("continue", threadId=stands) == {"allThreadsContinued": True}
    ends_well(editor)


def attaches():
    """To a program that runs already; a second editor is refused, and the program goes on when the first leaves."""
    program = subprocess.Popen([client.PROGRAM, "endless"], env=os.environ | client.ENVIRONMENT | {"PPU_DEBUG_KERNELS": "1"}, text=True,
                               stdout=subprocess.PIPE)
    assert program.stdout.readline() == "launched\n"
    editor, second = Client(), Client()
    editor.initialize()
    editor.request("attach", processId=program.pid)
    second.initialize()
    assert second.refused("attach", processId=program.pid) == \
        f"attach: cannot debug PPU 0: another debugger has it, process {editor.process.pid}"
    second.request("disconnect")
    editor.request("configurationDone")
    body = editor.event("process")
    assert (body["startMethod"], body["systemProcessId"]) == ("attach", program.pid), body
    editor.request("pause", threadId=1)
    editor.stopped(reason="pause")
    editor.request("evaluate", expression="tbreak 25", context="repl")
    editor.request("continue", threadId=1)
    thread = editor.stopped(reason="breakpoint")["threadId"]
    frame = editor.frames(thread)[0]
    assert (frame["name"], frame["line"]) == ("endless", 25), frame
    editor.request("setExpression", expression="out[0]", value="1", frameId=frame["id"])
    editor.request("disconnect")
    output, _ = program.communicate(timeout=100)
    assert output == "done, all is right\n" and program.returncode == 0, output


def refusals():
    editor = Client()
    assert editor.refused("threads") == "list threads: initialize comes first"
    assert editor.refused("initialize", pathFormat="uri").startswith("initialize: pathFormat")
    editor.initialize()
    assert editor.refused("initialize") == "initialize: it was done already"
    assert editor.refused("nonsense") == 'serve a request: there is no request "nonsense"'
    for wrong, why in (({}, '"processId" is no number of a process'), ({"processId": "1"}, '"processId" is no number of a process'),
                       ({"processId": 1}, "process 1: it has no PPU, or may not be looked at")):
        assert editor.refused("attach", **wrong) == f"attach: {why}", wrong
    for wrong in ({}, {"program": "/nowhere/program"}, {"program": "/"}, {"program": "no-such-command"},
                  {"program": "sh", "cwd": "/nowhere"}, {"program": "sh", "args": [1]}, {"program": "sh", "args": "x"},
                  {"program": "sh", "env": []}, {"program": "sh", "env": {"A": 1}}, {"program": "sh", "env": {"A=B": "1"}},
                  {"program": "sh", "sources": ["/nowhere"]}):
        assert editor.refused("launch", **wrong).startswith("launch: "), wrong
    assert editor.answer(editor.send("setBreakpoints", [1]))["message"] == 'set breakpoints: "arguments" is no object'
    assert editor.answer(editor.send("setBreakpoints"))["message"].startswith("set breakpoints: the source has neither")
    assert editor.refused("setBreakpoints", source={"path": "/" + 5000 * "x"}).startswith("set breakpoints: the path has")
    for command in ("tasks", "next", "continue", "pause", "terminate", "stackTrace", "scopes", "variables", "setVariable", "source", "readMemory",
                    "writeMemory", "disassemble", "exceptionInfo", "dataBreakpointInfo", "evaluate", "setExpression"):
        sentence = editor.refused(command, threadId=7, frameId=7, variablesReference=7)
        assert ": " in sentence, (command, sentence)
    assert [one["id"] for one in editor.request("threads")["threads"]] == [1]
    # What is no message is told, and the next is served.
    for text in (b"{", b"[]", b'{"seq": 1}', b'{"seq": "x", "type": "request", "command": "threads"}', b"\xff", b"",
                 b'{"seq":1,"seq":2}', b"[" * 100000):
        editor.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        assert editor.event("output", category="important")["output"].startswith("read a message: "), text
    editor.send_bytes(b"Content-Type: x\r\ncontent-length:  2\r\n\r\n{}")
    editor.event("output", category="important")
    editor.request("threads")
    editor.leave()
    for header in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"Content-Length: 5000000\r\n\r\n", b"Content-Length: -1\r\n\r\n",
                   b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n", b"x" * 2000, b"\r\n\r\n"):
        editor = Client()
        editor.send_bytes(header)
        assert editor.event("output", category="important")["output"].startswith("read a message: "), header
        assert editor.process.wait(timeout=client.PATIENCE) == 1


def launch_in_shell(editor, folder, *words):
    """The program in a shell that tells how it ended, also when nobody listens."""
    said = Path(folder) / "said"
    editor.launch(program="sh", args=["-c", '"$0" "$@"; echo $? > said.new; mv said.new said', str(client.PROGRAM), *words], cwd=folder)
    return said


def read_when_there(path):
    deadline = time.monotonic() + client.PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return path.read_text()


def editor_disappears():
    for how in ("closes", "lets go"):
        with tempfile.TemporaryDirectory() as folder:
            editor = Client()
            editor.initialize()
            said = launch_in_shell(editor, folder)
            editor.request("setFunctionBreakpoints", breakpoints=[{"name": "work"}])
            editor.go()
            editor.stopped()
            if how == "closes":
                editor.close()
                assert editor.process.wait(timeout=client.PATIENCE) == 1
            else:
                editor.leave(terminateDebuggee=False)
            assert read_when_there(said) == "0\n"


def program_ends():
    """It is terminated, and it is killed, while its kernel stands; and it is ended with the session."""
    for how in ("terminate", "kill", "disconnect"):
        editor = Client()
        editor.initialize()
        editor.launch()
        editor.request("setFunctionBreakpoints", breakpoints=[{"name": "work", "hitCondition": "2"}])
        editor.go()
        thread = editor.stopped(reason="function breakpoint")["threadId"]
        assert "hit 2 times" in editor.typed("info breakpoints")
        if how == "terminate":
            editor.request("terminate")
        elif how == "kill":
            assert "ended by signal 9" in editor.typed("kill")
        else:
            editor.leave()
            continue
        assert editor.event("exited")["exitCode"] == 128 + (signal.SIGTERM if how == "terminate" else signal.SIGKILL)
        editor.event("terminated")
        assert editor.refused("stackTrace", threadId=thread) == \
            "list frames: no kernel stands still; `pause` stops those of a program that runs"
        editor.leave()


def by_port():
    editor = Client(port=True)
    editor.initialize()
    editor.launch(noDebug=True)
    editor.request("setFunctionBreakpoints", breakpoints=[])
    editor.go()
    ends_well(editor)


if __name__ == "__main__":
    tap.main([
        ("a kernel stops at a function, shows frames and variables, and is stepped", stops_and_steps),
        ("functions that are called are frames, with variables, and are stepped over and out of", calls),
        ("a recorded kernel is stepped back", goes_back),
        ("what was not recorded is not stepped back, which is said", nothing_recorded),
        ("breakpoints in a file on disk, with conditions on lanes; another lane is chosen", files_and_conditions),
        ("memory, registers, code, and breakpoints on instructions and data", memory_and_code),
        ("the console has expressions and the debugger's commands", console),
        ("faults and entries stop", exceptions),
        ("lanes that part stop", divergence),
        ("a kernel without an end is paused, changed, and goes on", paused),
        ("the tree of tasks is told", tree_of_tasks),
        ("one task goes on alone while others stand", one_task_goes_alone),
        ("an editor attaches to a program that runs already; a second one is refused", attaches),
        ("what is wrong is refused with a sentence", refusals),
        ("an editor that disappears lets the program go on", editor_disappears),
        ("a program ends while its kernel stands", program_ends),
        ("an editor comes by a port", by_port),
    ])
