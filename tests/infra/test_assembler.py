#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-as and ppu-dis as their users see them: options, files, messages, exit status. Arguments: ppu-as,
ppu-dis.
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PPU_AS, PPU_DIS = (str(Path(path).resolve()) for path in sys.argv[1:3])
VERSION = re.search(r'PPU_VERSION "(.*)"', (TOP / "include/ppu/version.h").read_text()).group(1)
KERNEL = ".kernel k\n.vregs 4\n    mov v1, 7\n    exit\n"


def call(*command, folder, text=""):
    """(exit status, output, errors) of a command in a folder"""
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def in_folder(test):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    run.__name__ = test.__name__
    return run


def code(folder, image="a.ppu"):
    """Its instructions, each one line."""
    status, text, errors = call(PPU_DIS, "--no-show-raw-insn", image, folder=folder)
    assert status == 0 and errors == "", errors
    return re.findall(r"^    (\S.*)$", text, re.MULTILINE)


@in_folder
def outputs(folder):
    (folder / "one.two.s").write_text(KERNEL)
    assert call(PPU_AS, "one.two.s", folder=folder) == (0, "", "") and (folder / "one.two.ppu").exists()
    assert call(PPU_AS, "one.two.s", "-o", "a.ppu", folder=folder) == (0, "", "")
    assert call(PPU_AS, folder=folder, text=KERNEL) == (0, "", "")
    assert code(folder) == ["mov v1, 7", "exit"]
    for arguments in (["-"], ["-o", "-"], ["-o", "-", "-"]):
        status, _, errors = call("sh", "-c", '"$@" >out.ppu', "sh", PPU_AS, *arguments, folder=folder, text=KERNEL)
        assert (status, errors) == (0, ""), errors
    assert code(folder, "out.ppu") == ["mov v1, 7", "exit"]
    assert (folder / "one.two.ppu").read_bytes()[:8] == (folder / "out.ppu").read_bytes()[:8]
    status, _, errors = call(PPU_AS, "one.two.s", "-o", "none/a.ppu", folder=folder)
    assert (status, errors) == (1, "ppu-as: error: write none/a.ppu: No such file or directory\n"), errors


@in_folder
def inputs(folder):
    """Several files are one program; the lines are the first one's, and each error names its own file."""
    (folder / "a.s").write_text(".kernel k\n    bra f\n")
    (folder / "b.s").write_text("f:  nop\n    exit\n")
    assert call(PPU_AS, "a.s", "b.s", folder=folder) == (0, "", "")
    assert code(folder) == ["bra .+1", "nop", "exit"]
    _, text, _ = call(PPU_DIS, "a.ppu", folder=folder)
    assert "# from a.s\n" in text and re.findall(r"# line (\d+)", text) == ["2"], text
    (folder / "c.s").write_text("nop\n  bad\n  add v1, v2\n  bra nowhere\n")
    status, _, errors = call(PPU_AS, "a.s", "c.s", folder=folder)
    assert status == 1 and errors == "c.s:2:3: error: no such instruction\nc.s:3:13: error: expected ','\n", errors
    (folder / "c.s").write_text("f: nop\n bra nowhere\n")
    status, _, errors = call(PPU_AS, "a.s", "c.s", folder=folder)
    assert status == 1 and errors == "c.s:2:6: error: no label 'nowhere'\n", errors
    (folder / "many.s").write_text("bad\n" * 50)
    status, _, errors = call(PPU_AS, "many.s", folder=folder)
    assert status == 1 and errors.count("no such instruction") == 20 and "many.s: error: 30 more errors" in errors
    status, _, errors = call(PPU_AS, "a.s", "none.s", folder=folder)
    assert (status, errors) == (1, "ppu-as: error: read none.s: No such file or directory\n"), errors
    status, _, errors = call(PPU_AS, ".", folder=folder)
    assert (status, errors) == (1, "ppu-as: error: read .: Is a directory\n"), errors
    (folder / "zero.s").write_bytes(b"nop\n\0")
    status, _, errors = call(PPU_AS, "zero.s", folder=folder)
    assert status == 1 and errors.startswith("ppu-as: error: read zero.s: it is no text"), errors


@in_folder
def included(folder):
    (folder / "inc").mkdir()
    (folder / "a.s").write_text('.kernel k\n.include "size.s"\n    mov v1, SIZE\n    exit\n')
    (folder / "inc/size.s").write_text(".set SIZE, 12\n")
    status, _, errors = call(PPU_AS, "a.s", folder=folder)
    assert status == 1 and errors.startswith("a.s:2:10: error: 'size.s' cannot be read: no such file here or in a folder of -I"), errors
    assert call(PPU_AS, "-I", "none", "-Iinc", "--MD", "a.d", "a.s", folder=folder) == (0, "", "")
    assert code(folder) == ["mov v1, 12", "exit"]
    assert (folder / "a.d").read_text() == "a.ppu: a.s inc/size.s\n"
    (folder / "inc/size.s").write_text("nop\nbad\n")
    status, _, errors = call(PPU_AS, "-Iinc", "a.s", folder=folder)
    assert status == 1 and errors.startswith("inc/size.s:2:1: error: no such instruction\n"), errors
    (folder / "loop.s").write_text('.include "loop.s"\n')
    status, _, errors = call(PPU_AS, "loop.s", folder=folder)
    assert status == 1 and "loop.s:1:10: error: files include each other 32 deep" in errors, errors
    (folder / "fan.s").write_text('.include "fan.s"\n' * 3)
    status, _, errors = call(PPU_AS, "fan.s", folder=folder)
    assert status == 1 and "files include each other 32 deep" in errors, errors
    (folder / "leaf.s").write_text("nop\n")
    (folder / "twig.s").write_text('.include "leaf.s"\n' * 70)
    status, _, errors = call(PPU_AS, folder=folder, text='.include "twig.s"\n' * 70)
    assert status == 1 and "twig.s:49:10: error: more than 4096 files are included\n" in errors, errors
    for text in ".include size.s", '.include "size.s', '.include ""', '.include "' + "x" * 300 + '"':
        status, _, errors = call(PPU_AS, folder=folder, text=text + "\nnop\n")
        assert status == 1 and errors == "<stdin>:1:10: error: expected the name of a file in quotes\n", errors


@in_folder
def symbols(folder):
    text = (".set TWO, 2\n.set NEG, -TWO\n.kernel k\n.param BYTES\n    mov v1, TWO\n    add v1, v1, NEG\n    mov v2, -BYTES\n"
            ".set TWO, 3\n    ldp.b32 v1, [TWO]\n    fadd v3, v1, ONE\n    .word WORD\n    exit\n")
    assert call(PPU_AS, "--defsym", "BYTES=16", "--defsym=ONE=0x3f800000", "--defsym", "WORD=-1", folder=folder,
                text=text) == (0, "", "")
    assert code(folder) == ["mov v1, 2", "add v1, v1, -2", "mov v2, -16", "ldp.b32 v1, [3]", "fadd v3, v1, 0x3f800000",
                            ".word 0xffffffffffffffff", "exit"], code(folder)
    for line, why in ((".set v1, 2", "expected a name that is no register's"), (".set _, 2", "expected a name"),
                      (".set A 2", "expected ','"), (".set A, B", "expected a number"), ("A: nop\n.set A, 1", "'A' is a label"),
                      (".set A, 1\nA: nop", "'A' is a symbol"), (".set BIG, 0x100000000\nmov v1, BIG", "does not fit in 32 bits")):
        status, _, errors = call(PPU_AS, folder=folder, text=line + "\nnop\n")
        assert status == 1 and why in errors, (line, errors)
    for symbol, why in ("A", "expected NAME=NUMBER"), ("s3=1", "no register's"), ("A=", "'' is no number"), ("A=1x", "'1x' is no number"), \
            ("=1", "expected NAME=NUMBER"):
        status, _, errors = call(PPU_AS, "--defsym", symbol, folder=folder, text="nop\n")
        assert status == 1 and errors.startswith(f"ppu-as: --defsym {symbol}: ") and why in errors, errors


@in_folder
def response_files(folder):
    (folder / "a.s").write_text(KERNEL)
    (folder / "my file.s").write_text(KERNEL)
    (folder / "options").write_text("-o 'b c.ppu'\n @inner")
    (folder / "inner").write_text('"my file.s"')
    assert call(PPU_AS, "@options", folder=folder) == (0, "", "")
    assert code(folder, "b c.ppu") == ["mov v1, 7", "exit"]
    (folder / "inner").write_text("my\\ file.s")
    assert call(PPU_AS, "@options", folder=folder) == (0, "", "")
    (folder / "loop").write_text("@loop")
    status, _, errors = call(PPU_AS, "@loop", folder=folder)
    assert status == 1 and errors.startswith("ppu-as: error: read the options: response files"), errors
    status, _, errors = call(PPU_AS, "@none", folder=folder)
    assert (status, errors) == (1, "ppu-as: error: read @none: No such file or directory\n"), errors


@in_folder
def disassembly(folder):
    (folder / "a.s").write_text(KERNEL + ".kernel other\n    nop\n    exit\n")
    assert call(PPU_AS, "a.s", folder=folder)[0] == 0
    _, text, _ = call(PPU_DIS, "a.ppu", folder=folder)
    assert call(PPU_AS, "-o", "b.ppu", folder=folder, text=text) == (0, "", "")
    assert code(folder, "b.ppu") == code(folder) == ["mov v1, 7", "exit", "nop", "exit"]
    assert call(PPU_DIS, "--syms", "a.ppu", folder=folder) == (0, "00000000       16 k\n00000010       16 other\n", "")
    _, text, _ = call(PPU_DIS, "--disassemble=other", "--no-show-raw-insn", "a.ppu", folder=folder)
    assert text.startswith(".kernel other\n") and text.endswith("    nop\n# line 7\n    exit\n"), text
    _, text, _ = call(PPU_DIS, "-t", "a.ppu", "b.ppu", folder=folder)
    assert text.splitlines()[0] == "# a.ppu" and text.splitlines()[3] == "# b.ppu", text
    with open(folder / "a.ppu", encoding="latin-1") as image:
        done = subprocess.run([PPU_DIS], stdin=image, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and ".kernel other" in done.stdout
    (folder / "short.ppu").write_bytes((folder / "a.ppu").read_bytes()[:40])
    for arguments, why in ((["none.ppu"], "read none.ppu: No such file"), (["a.s"], "disassemble a.s: "),
                           (["--disassemble=x", "a.ppu"], "disassemble a.ppu: it has no kernel 'x'; --syms lists"),
                           (["short.ppu"], "disassemble short.ppu: ")):
        status, _, errors = call(PPU_DIS, *arguments, folder=folder)
        assert status == 1 and errors.startswith("ppu-dis: error: " + why), errors
    status, text, errors = call(PPU_DIS, "-t", "none.ppu", "a.ppu", folder=folder)
    assert status == 1 and "16 other" in text and "none.ppu" in errors
    status, _, errors = call("sh", "-c", '"$@" >/dev/full', "sh", PPU_DIS, "a.ppu", folder=folder)
    assert status == 1 and "write standard output: No space left" in errors, errors


@in_folder
def help_and_version(folder):
    for command, name in (PPU_AS, "ppu-as"), (PPU_DIS, "ppu-dis"):
        assert call(command, "--version", folder=folder) == (0, f"{name} (PPU) {VERSION}\n", "")
        status, text, errors = call(command, "--help", folder=folder)
        assert status == 0 and errors == "" and text.startswith(f"Usage: {name} ") and "\nExit status:\n  0  " in text, text
        status, text, errors = call(command, "--nothing", folder=folder)
        assert status == 1 and text == "" and errors.startswith(f"{name}: unrecognized option '--nothing'"), errors


def on_terminal(command, variables, folder, content=b"", seconds=0):
    """What a command writes to a terminal as standard error when [content] of standard input comes so late."""
    controller, terminal_end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | variables
    running = subprocess.Popen(command, cwd=folder, env=environment, stderr=terminal_end, stdin=subprocess.PIPE)
    time.sleep(seconds)
    running.communicate(content, timeout=60)
    os.write(terminal_end, b"|")
    text = ""
    while not text.endswith("|"):
        text += os.read(controller, 4096).decode()
    os.close(terminal_end)
    os.close(controller)
    return text[:-1]


def terminal(variables, folder):
    (folder / "a.s").write_text("bad\n")
    return on_terminal([PPU_AS, "a.s"], variables, folder)


@in_folder
def colours(folder):
    assert terminal({}, folder) == "\033[1ma.s:1:1:\033[31m error: \033[0mno such instruction\r\n"
    for variables in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        assert terminal(variables, folder) == "a.s:1:1: error: no such instruction\r\n"
    assert terminal({"NO_COLOR": ""}, folder).startswith("\033[")


@in_folder
def waits(folder):
    """After two seconds a terminal is told what goes on, in a line that is gone at the end and before a message."""
    erase = "\r\033[K"

    def shown(command, content, variables={}, seconds=3.5):
        return later.submit(on_terminal, ["sh", "-c", 'exec "$@" > list', "sh", *command], variables, folder, content, seconds)

    def counted(action):
        return "".join(f"{erase}{action} standard input, {seconds} s" for seconds in range(2, 60))

    assert call(PPU_AS, "-o", "k.ppu", folder=folder, text=KERNEL) == (0, "", "")
    assemble, right = [PPU_AS, "-", "-o", "later.ppu"], KERNEL.encode()
    with ThreadPoolExecutor() as later:
        disassembled = shown([PPU_DIS, "--syms"], (folder / "k.ppu").read_bytes())
        assembled = shown(assemble, right)
        wrong = shown(assemble, b"bad\n", {"NO_COLOR": "1"})
        nothing = shown(assemble, right, {"TERM": "dumb"}), shown(assemble, right, seconds=0)
    for done, action in (assembled, "assemble"), (disassembled, "disassemble"):
        text = done.result()
        assert text.endswith(erase) and text.count(" s") >= 1 and counted(action).startswith(text.removesuffix(erase)), text
    assert wrong.result().endswith(f"{erase}<stdin>:1:1: error: no such instruction\r\n"), wrong.result()
    assert [done.result() for done in nothing] == ["", ""]


LOOP = ".kernel k\n%s    svbegin s8, behind\nhead: nop\n%s    svend s8, head\nbehind: nop\n%s    exit\n"

# What is before, in and behind a loop; how the sentence ends, and its line. The begin is in line 2 and what is before.
LOOPS = [
    ("", "exit\n", "", "4:1", "'exit' ends threads, which must not be in a sub-vector loop (of line 2)"),
    ("", "@p0 exit\n", "", "4:1", "'exit' ends threads, which must not be in a sub-vector loop (of line 2)"),
    ("", "yield\n", "", "4:1", "'yield' yields, which must not be in a sub-vector loop (of line 2)"),
    ("", "wsync\n", "", "4:1", "'wsync' yields, which must not be in a sub-vector loop (of line 2)"),
    ("", "bar 0\n", "", "4:1", "'bar' is for the whole warp, and must not be in a sub-vector loop (of line 2)"),
    ("", "brx v0\n", "", "4:1", "'brx' may lead out of a sub-vector loop (of line 2)"),
    ("", "sventer 0\n", "", "4:1", "'sventer' must not be in a sub-vector loop (of line 2)"),
    ("", "ret v0\n", "", "4:1", "'ret' leads out of a sub-vector loop (of line 2)"),
    ("", "@p0 bra behind\n", "", "4:1", "'bra' leads out of a sub-vector loop (of line 2)"),
    ("", "ssy behind\n", "", "4:1", "'ssy' is for a token whose target is not in its sub-vector loop (of line 2)"),
    ("", "@p0 sync behind\n", "", "4:1", "'sync' is for a token whose target is not in its sub-vector loop (of line 2)"),
    ("", "@p0 brk on\non: nop\n", "", "4:1", "'brk' waits for a token that is not pushed in its sub-vector loop (of line 2)"),
    ("ssy on\n", "@p0 sync on\non: nop\n", "", "2:1", "'ssy' leads into a sub-vector loop (of line 3)"),
    ("@p0 bra head\n", "", "", "2:1", "'bra' leads into a sub-vector loop (of line 3)"),
    ("", "", "@p0 bra head\n", "6:1", "'bra' leads into a sub-vector loop (of line 2)"),
    ("", "svbegin s10, more\nmore: nop\n", "", "4:1", "'svbegin' begins a sub-vector loop without an end of its own (of line 2)"),
    ("", "svbegin64 s10, more\nmost: svend64 s10, most\nmore: nop\n", "", "4:1",
     "'svbegin64' begins a loop that does not nest in the sub-vector loop around it (of line 2)"),
    ("", "svbegin s10, more\nmost: svend s10, most\nmore: nop\n", "", "4:1",
     "'svbegin' begins a loop that does not nest in the sub-vector loop around it (of line 2)"),
    ("", "svend s8, head\n", "", "4:1", "'svend' ends a sub-vector loop that it does not belong to (of line 2)"),
    ("svend s8, head\n", "", "", "2:1", "'svend' ends a sub-vector loop that it does not belong to"),
    ("", "", "svbegin s8, done\ndone: nop\n", "6:1", "'svbegin' begins a sub-vector loop without an end of its own"),
    ("", "call v5, f\n", "exit\nf: yield\nret v5\n", "8:4", "'yield' yields, which must not be in a sub-vector loop"),
    ("", "call v5, f\n", "exit\nf: svbegin s10, fb\nfh: svend s10, fh\nfb: ret v5\n", "8:4",
     "'svbegin' is reached by a call in a sub-vector loop"),
    ("", ".kernel second\n", "", "5:5", "'svend' is where a kernel begins, in a sub-vector loop (of line 2)"),
]


@in_folder
def loops(folder):
    for before, inside, behind, at, says in LOOPS:
        text = LOOP % (before, inside, behind)
        status, _, errors = call(PPU_AS, folder=folder, text=text)
        assert (status, errors) == (1, f"<stdin>:{at}: error: {says}\n"), (text, errors)
        assert call(PPU_AS, "--unchecked", folder=folder, text=text) == (0, "", ""), text
    for before, inside, behind in [("", "", ""), ("", "ssy on\n@p0 bra on2\non2: sync on\non: nop\n", ""), ("pbrk behind\n", "", ""),
                                   ("", "call v5, f\n", "exit\nf: ssy fo\n@p0 sync fo\nfo: ret v5\n"), ("@p0 bra out\n", "", "out: yield\n"),
                                   ("", "", "exit\n.word 0xea\nsvend s3, .-9\n")]:
        assert call(PPU_AS, folder=folder, text=LOOP % (before, inside, behind)) == (0, "", ""), (before, inside, behind)
    four = (".kernel k\nsvbegin64 s8, behind\nhalf: svbegin s10, end\nhead: nop\nsvend s10, head\nend: svend64 s8, half\n"
            "behind: exit\n")
    assert call(PPU_AS, folder=folder, text=four) == (0, "", "")
    swapped = four.replace("64", "").replace("svbegin s8", "svbegin64 s8")
    status, _, errors = call(PPU_AS, folder=folder, text=swapped)
    assert (status, errors) == (1, "<stdin>:2:1: error: 'svbegin64' begins a sub-vector loop without an end of its own\n"), errors


tap.main([
    ("sub-vector loops that cannot be are errors, with line and reason [D7]", loops),
    ("the image goes where -o says, or beside the first source", outputs),
    ("several sources are one program, and each error is told at its place", inputs),
    ("files are included from folders of -I, and --MD names them", included),
    ("symbols stand for numbers, from .set and --defsym", symbols),
    ("options and names come from files too", response_files),
    ("ppu-dis prints what ppu-as takes back, all of it or a kernel", disassembly),
    ("help, version and wrong options", help_and_version),
    ("messages have colours on a terminal that wants them, and nowhere else", colours),
    ("long work shows its progress on a terminal alone", waits),
])
