#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ppucc and ppu-dis as their users see them: listing, numbers, dumps, images, errors. Arguments: ppucc, ppu-dis."""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

PPUCC, PPU_DIS = sys.argv[1:3]
KERNELS = "tests/compiler/kernels/compare.cl"


def call(*command):
    """(exit status, output, errors) of a command"""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def listing():
    status, text, _ = call(PPUCC, "-S", KERNELS)
    assert status == 0
    assert re.search(r"#  +9 +y\[i\] = a \* x\[i\] \+ y\[i\];\n +(@\S+ )?ldg", text), text
    assert text.count(".kernel ") == 5


def numbers():
    status, text, _ = call(PPUCC, "--stats", KERNELS)
    assert status == 0
    line = re.search(r"saxpy: (\d+) instructions, (\d+) memory, (\d+) vector registers, (\d+) scalar, (\d+) predicates, "
                     r"0 spilled, 0 made again, 0 functions, 0 bytes shared, 0 local\n"
                     r"  live vector +([\d ]+)\n  live scalar +([\d ]+)\n  live predicate +([\d ]+)\n", text)
    assert line, text
    for count, curve in zip(line.groups()[2:5], line.groups()[5:]):
        assert max(map(int, curve.split())) <= int(count), text


def spills():
    status, text, _ = call(PPUCC, "--stats", "--vregs", "6", KERNELS)
    assert status == 0
    assert re.search(r"sgemm: .* 6 vector registers, .* [1-9]\d* spilled, .* [1-9]\d* local", text), text
    status, _, text = call(PPUCC, "--vregs", "1", KERNELS)
    assert status == 1 and "kernel 'saxpy' needs more registers than there are" in text, text


def dumps():
    for name, word in (("ir", "define"), ("flow", "convergent"), ("select", "selection of saxpy"),
                       ("combine", "combination of"), ("guard", "guarding of"), ("schedule", "scheduling of"),
                       ("assign", "assignment of"), ("subvector", "segments of")):
        status, text, _ = call(PPUCC, "--dump", name, "--wave", "64", "--subvector=enter", KERNELS)
        assert status == 0 and word in text, name


PRESSURE = "tests/compiler/kernels/pressure.cl"


def segments():
    """Curve, threshold and segments in the numbers; the code has the begins and ends."""
    for wave, parts in ("64", 2), ("128", 4):
        status, text, _ = call(PPUCC, "--stats", "-S", "--wave", wave, "--subvector=enter", PRESSURE)
        assert status == 0
        waves = re.findall(r"(\d+) segments above \d+ registers; a wave takes (\d+) times (\d+) and (\d+) shared, "
                           r"without segments \d+ times (\d+); ([\d.]+) % more passes expected\n", text)
        assert len(waves) == 5, text
        for number, times, private, shared, plain, more in waves:
            assert int(number) > 0 and int(times) == parts and float(more) < 5
            assert parts * int(private) + int(shared) <= 0.7 * parts * int(plain), (private, shared, plain)
        assert text.count("#") > 100 and text.count(" threshold\n") == 5 and text.count(" segments\n") == 5
        assert len(re.findall(r"refused: .*: barrier at slot \d+, line \d+\n", text)) == 1, text
        assert len(re.findall(r"^    sventer ", text, re.MULTILINE)) == len(re.findall(r"^    svleave ", text, re.MULTILINE)) == 6


def forms():
    """Each form has its instructions; a threshold above all needs, or waves of one part, give today's code."""
    def listing_of(*options):
        status, text, errors = call(PPUCC, "-S", *options, PRESSURE)
        assert status == 0, errors
        return text

    plain = listing_of("--wave", "64")
    assert listing_of("--wave", "64", "--subvector=off") == plain
    for form, word in ("enter", "sventer"), ("may", "sventer 256"), ("loop", "svbegin"), ("duplicate", "rdsr v[0-9]+, %lane"):
        text = listing_of("--wave", "64", f"--subvector={form}", "--subvector-threshold=8%")
        assert re.search(r"^    " + word, text, re.MULTILINE), form
        assert listing_of("--wave", "64", f"--subvector={form}", "--subvector-threshold=256") == plain
        assert listing_of(f"--subvector={form}") == listing_of()
    text = listing_of("--wave", "64", "--subvector=enter", "--subvector-default=inverted")
    assert len(re.findall(r"^    svleave ", text, re.MULTILINE)) - len(re.findall(r"^    sventer ", text, re.MULTILINE)) == 5
    for option, why in ("--subvector=twice", "no such form"), ("--subvector-threshold=x", "not a threshold"), \
            ("--subvector-default=odd", "no such mode"), ("--subvector-sm=1", "not two numbers"), ("--subvectors", "no such option"):
        status, _, errors = call(PPUCC, option, PRESSURE)
        assert status == 1 and why in errors, errors
    status, _, errors = call(PPUCC, "--wave", "64", "--subvector=loop", "--subvector-default=inverted", PRESSURE)
    assert status == 1 and "need segments of the form 'enter'" in errors, errors


def picture():
    """The curves of all kernels, as a picture that can be read."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.svg"
        status, _, errors = call(PPUCC, "--wave", "64", "--subvector=enter", "--stats-svg", path, PRESSURE)
        assert status == 0, errors
        root = xml.etree.ElementTree.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        titles = [text.text for text in root.iter(space + "text") if "vector registers" in text.text]
        assert [title.split(":")[0] for title in titles] == ["tile_matmul", "fourier256", "bodies", "sha256", "aes128"]
        assert len(list(root.iter(space + "rect"))) == 1 + 6
        assert sum("stroke-dasharray" in path.attrib for path in root.iter(space + "path")) == 5


def image():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.ppu"
        status, text, errors = call(PPUCC, KERNELS, "-o", path, "--wave", "64", "--", "-cl-std=CL1.2", "-DX=1")
        assert (status, text, errors) == (0, "", "")
        status, text, _ = call(PPU_DIS, path)
        assert status == 0
        assert f"# from {KERNELS}" in text and ".wave 64" in text and "# line 9" in text
        assert "# 8: float* x, 8 bytes, global, read\n" in text and "# 24: launch facts" in text
        listed = call(PPUCC, "-S", "--wave", "64", KERNELS)[1]
        code = re.compile(r"^    (\S.*?)  +# \d+", re.MULTILINE)
        assert code.findall(listed) == code.findall(text)


def flags():
    """Who may wait says so, in the listing and in the image."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.ppu"
        _, listed, _ = call(PPUCC, "-S", "tests/compiler/kernels/waits.cl", "-o", path)
        for text in listed, call(PPU_DIS, path)[1]:
            heads = dict(re.findall(r"^\.kernel (\w+)\n((?:\..*\n)+)", text, re.MULTILINE))
            assert [name for name, head in heads.items() if "\n.wait\n" in head] == ["direct", "called"], text


def bitcode():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.bc"
        assert call(PPUCC, KERNELS, "--bitcode", path)[0] == 0
        one, other = call(PPUCC, "--stats", KERNELS)[1], call(PPUCC, "--stats", path)[1]
        assert one == other and "saxpy" in one


def errors():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/bad.cl"
        Path(path).write_text("kernel void k(global int *o)\n{\n    o[0] = nothing;\n}\n", encoding="ascii")
        status, _, text = call(PPUCC, path)
        assert status == 1 and f"{path}:3:12: error: use of undeclared identifier 'nothing'" in text, text
        Path(path).write_text("kernel void k(global int *o)\n{\n  o[0] = 1;\n  __asm__(\"nop\");\n}\n", encoding="ascii")
        status, _, text = call(PPUCC, path)
        assert status == 1 and f"{path}:4:3: error: assembly of another machine" in text, text
        status, _, text = call(PPUCC, f"{folder}/none.cl")
        assert status == 1 and "none.cl" in text
    for command in (["--dump", "nothing", KERNELS], ["--wave", "many", KERNELS], ["--what", "x", KERNELS], [], ["-o"]):
        status, _, text = call(PPUCC, *command)
        assert status == 1 and text.startswith("ppucc: "), command
    status, _, text = call(PPUCC, KERNELS, "--", "-fplugin=x")
    assert status == 1 and "'-fplugin=x'" in text


tap.main([
    ("a listing has the source's lines beside the code [A7]", listing),
    ("numbers of each kernel, and curves that stay below them [A7]", numbers),
    ("with too few registers some are spilled [A7]", spills),
    ("every pass can be looked at [A7]", dumps),
    ("segments of five kernels save 30 % of the registers, and the curve shows them [D9]", segments),
    ("each form of segments has its code, each wrong option its error [D6][D7]", forms),
    ("the curves are a picture too [D9]", picture),
    ("ppu-dis reads what ppucc writes [A7]", image),
    ("kernels that may wait are flagged [B7]", flags),
    ("bitcode in between changes nothing [F5]", bitcode),
    ("errors are told in clang's form [A7]", errors),
])
