#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppucc and ppu-dis as their users see them: listing, numbers, dumps, images, errors. Arguments: ppucc,
ppu-dis.
"""

import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

TOP = Path(__file__).resolve().parents[2]
PPUCC, PPU_DIS = (str(Path(path).resolve()) for path in sys.argv[1:3])
VERSION = re.search(r'PPU_VERSION "(.*)"', (TOP / "include/ppu/version.h").read_text()).group(1)
KERNELS = "tests/compiler/kernels/compare.cl"


def call(*command, text="", folder=None):
    """(exit status, output, errors) of a command"""
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def listing():
    status, text, _ = call(PPUCC, "-S", KERNELS)
    assert status == 0
    assert re.search(r"#  +9 +y\[i\] = a \* x\[i\] \+ y\[i\];\n +(@\S+ )?ldg", text), text
    assert text.count(".kernel ") == 5


def checked_blocks():
    """Blocks have no private memory for their checks, and of what enqueues them nothing is marked as written."""
    source = ("kernel void k(global int *p)\n{\n    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, "
              "ndrange_1D(64), ^{ p[get_global_id(0)] = p[64]; });\n}\n")
    numbers = {}
    for checks in ("lost", "uninit", "address", "race", "all"):
        with tempfile.TemporaryDirectory() as folder:
            status, text, errors = call(PPUCC, "-cl-std=CL3.0", f"-fsanitize={checks}", "--stats", "-", text=source, folder=folder)
        assert status == 0 and errors == "", errors
        numbers[checks] = {kernel: (int(instructions), int(private)) for kernel, instructions, private in
                           re.findall(r"^(\w+): (\d+) instructions.* (\d+) local$", text, re.MULTILINE)}
        assert numbers[checks]["__k_block_invoke_kernel"][1] == 0, (checks, numbers)
    assert numbers["uninit"]["k"][0] < 1.2 * numbers["lost"]["k"][0], numbers


def many_arguments():
    """What a kernel with 500 arguments takes that checks itself: memory, which is the same in every run."""
    source = (f"kernel void k({', '.join(f'long a{i}' for i in range(500))}, global long *sum)\n{{\n"
              + "".join(f"sum[0] += a{i};\n" for i in range(500)) + "}\n")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sum.cl").write_text(source)
        process = subprocess.Popen([PPUCC, "-fsanitize=all", "sum.cl"], cwd=folder)
        _, process.returncode, usage = os.wait4(process.pid, 0)
    assert process.returncode == 0 and usage.ru_maxrss < 1200 * 1024, usage


def lines_of_functions():
    """What fetches a kernel's arguments has the line of the kernel, and not that of the code before it."""
    source = "kernel void a(global int *p, int n)\n{\n    p[n] = n;\n}\n\nkernel void b(global int *p, int n)\n{\n    p[n + 1] = n;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        status, _, errors = call(PPUCC, "-x", "cl", "-", "-o", "k.ppu", text=source, folder=folder)
        assert status == 0, errors
        text = call(PPU_DIS, "k.ppu", folder=folder)[1]
    kernels = [part for part in text.split(".kernel ")[1:]]
    found = [re.search(r"# line (\d+)\n.*\bldp", part) for part in kernels]
    assert [line and line[1] for line in found] == ["1", "6"], text


def numbers():
    status, text, _ = call(PPUCC, "--stats", KERNELS)
    assert status == 0
    line = re.search(r"saxpy: (\d+) instructions, (\d+) memory, (\d+) vector registers, (\d+) scalar, (\d+) predicates, "
                     r"0 spilled, 0 rematerialized, 0 functions, 0 bytes shared, 0 local\n"
                     r"  live vector +([\d ]+)\n  live scalar +([\d ]+)\n  live predicate +([\d ]+)\n", text)
    assert line, text
    for count, curve in zip(line.groups()[2:5], line.groups()[5:]):
        assert max(map(int, curve.split())) <= int(count), text


def spills():
    status, text, _ = call(PPUCC, "--stats", "--vregs", "6", KERNELS)
    assert status == 0
    assert re.search(r"sgemm: .* 6 vector registers, .* [1-9]\d* spilled, .* [1-9]\d* local", text), text
    status, _, text = call(PPUCC, "--vregs", "1", KERNELS)
    assert status == 1 and "allocate registers: kernel 'saxpy' needs more registers than there are; allow more (--vregs" in text, text


def yields():
    with tempfile.TemporaryDirectory() as folder:
        for call_text, code in (("ppu_yield()", "yield "), ("ppu_yield_every(7)", "yieldn 7 "),
                                ("ppu_yield_chance(1 << 20)", "yieldp 1048576 "), ("ppu_yield_every(n)", None)):
            source = f"kernel void k(global int *out, uint n) {{ if (out[n]) {call_text}; out[0] = n; }}"
            status, _, errors = call(PPUCC, "-x", "cl", "-", "-o", "k.ppu", text=source, folder=folder)
            if code:
                assert status == 0, errors
                assert code in call(PPU_DIS, "k.ppu", folder=folder)[1], call_text
            else:
                assert status == 1 and "this built-in function needs a constant argument" in errors, errors


def loops_yield():
    """Each turn where others may be waited for, seldom where they cannot be, as the program says where it says."""
    turns = "kernel void k(global int *out, global volatile int *word) {{ int n = out[0]; while ({}) {{ {} }} out[1] = n; }}"
    with tempfile.TemporaryDirectory() as folder:
        for condition, body, code in (("n != 1", "n = n & 1 ? 3 * n + 1 : n >> 1;", ["yieldn 1024"]),
                                      ("*word != 0", "n++;", ["yield"]), ("atomic_xchg(word, 1) != 0", "", ["yield"]),
                                      ("n != 1", "n = n & 1 ? 3 * n + 1 : n >> 1; ppu_yield();", ["yield"]),
                                      ("n != 1", "n = n & 1 ? 3 * n + 1 : n >> 1; ppu_yield_every(5);", ["yieldn 5"])):
            status, _, errors = call(PPUCC, "-x", "cl", "-", "-o", "k.ppu", text=turns.format(condition, body), folder=folder)
            assert status == 0, errors
            found = re.findall(r"^ +(yield\w*(?: \d+)?)", call(PPU_DIS, "k.ppu", folder=folder)[1], re.MULTILINE)
            assert found == code, (condition, body, found)
        # Loops of gotos, one of them with two entries; then those whose turns are counted when they begin.
        for body, code in (("int n = 0; again: n++; if (*word) goto again; out[1] = n;", ["yield"]),
                           ("int n = 0; if (out[0]) goto b; a: n++; b: n += 2; if (*word) goto a; out[1] = n;", ["yield"]),
                           ("for (int i = 0; i < 3000; i++) out[i] += i;", []), ("for (int i = 0; i < turns; i++) out[i] += i;", [])):
            text = f"kernel void k(global int *out, global volatile int *word, int turns) {{ {body} }}"
            assert call(PPUCC, "-x", "cl", "-", "-o", "k.ppu", text=text, folder=folder) == (0, "", ""), text
            found = re.findall(r"^ +(yield\w*(?: \d+)?)", call(PPU_DIS, "k.ppu", folder=folder)[1], re.MULTILINE)
            assert found == code, (body, found)


def ways_out():
    """A loop has a token for each way out with enough to do, and one of its own type for the next turn around."""
    kernels = TOP / "tests/compiler/kernels/exits.cl"
    with tempfile.TemporaryDirectory() as folder:
        assert call(PPUCC, str(kernels), "-o", "k.ppu", folder=folder)[0] == 0
        parts = re.split(r"^\.kernel (\w+)$", call(PPU_DIS, "k.ppu", folder=folder)[1], flags=re.MULTILINE)
        code = dict(zip(parts[1::2], parts[2::2]))
        for name, tokens in (("primes", {"pcont": 1, "pbrk": 1}), ("march", {"pbrk": 3}), ("both", {"ssy": 2})):
            for token, least in tokens.items():
                found = len(re.findall(rf"^ +{token} ", code[name], re.MULTILINE))
                assert found >= least, (name, token, code[name])
            assert name != "primes" or re.search(r"^ +(@!?p\d )?cont ", code[name], re.MULTILINE), code[name]


def built_in_without_branches():
    """No lane branches in these: the engine translates what is straight."""
    floats = ("exp", "exp2", "exp10", "sinpi", "cospi", "tanpi", "sinh", "cosh", "tanh", "expm1", "erf", "log10")
    doubles = ("exp", "exp2", "exp10", "sinpi", "cospi", "tanpi")
    kernels = [(kind, f"{name}(x)") for kind, names in (("float", floats), ("double", doubles)) for name in names]
    kernels += [("float", "ldexp(x, n)"), ("double", "ldexp(x, n)"), ("float4", "exp(x)"), ("double2", "exp(x)")]
    kernels += [("float16", "exp(x)"), ("float16", "sinpi(x)")]
    vectors = [f"{scalar}{width}" for scalar in ("float", "double") for width in (2, 3, 4)]
    kernels += [(kind, text) for kind in vectors for text in ("normalize(x)", "x * length(x)", "x * distance(x, 3 * x)")]
    source = "".join(f"kernel void k{i}(global const {kind} *in, global {kind} *out, int n)\n"
                     f"{{ size_t i = get_global_id(0); {kind} x = in[i]; out[i] = {call_text}; }}\n"
                     for i, (kind, call_text) in enumerate(kernels))
    with tempfile.TemporaryDirectory() as folder:
        assert call(PPUCC, "-x", "cl", "-", "-o", "k.ppu", text=source, folder=folder)[0] == 0
        parts = re.split(r"^\.kernel k(\d+)$", call(PPU_DIS, "k.ppu", folder=folder)[1], flags=re.MULTILINE)
        assert len(parts) == 1 + 2 * len(kernels)
        for i, code in zip(parts[1::2], parts[2::2]):
            found = re.findall(r"^ +(?:@!?p\d )?(bra|ssy|pbrk|pcont|call)", code, re.MULTILINE)
            assert not found, (kernels[int(i)], found)


def gathers():
    """Loads at indices that are loaded become one instruction, for separate arguments alone."""
    source = ("kernel void look(global const uint *table, global const uint *index, global uint *out, int n)\n"
              "{ int at = get_global_id(0) * n; for (int i = 0; i < n; i++) { out[at + i] = table[index[at + i]]; } }")
    with tempfile.TemporaryDirectory() as folder:
        for facts, wanted in (((), False), (("--facts=look s0 s1 s2",), True), (("--facts=look s1 s2",), False)):
            status, _, errors = call(PPUCC, *facts, "-x", "cl", "-", "-o", "k.ppu", text=source, folder=folder)
            assert status == 0, errors
            code = call(PPU_DIS, "k.ppu", folder=folder)[1]
            assert bool(re.search(r"^ +gather", code, re.MULTILINE)) == wanted, (facts, code)


def rows_are_no_gathers():
    """Neighbours of a plane lie in rows of the lanes, which the loads find together."""
    source = ("kernel void plane(global const uint *from, global uint *to, uint width)\n{\n"
              "    uint x = get_global_id(0) + 1, y = get_global_id(1) + 1, i = y * width + x;\n"
              "    to[i] = from[i - width] + from[i + width] + from[i - 1] + from[i + 1];\n}\n"
              "kernel void apart(global const uint *from, global uint *to, uint width)\n{\n"
              "    uint x = get_global_id(0), i = x * 3;\n"
              "    to[x] = from[i] + from[i + width];\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        for kernel, wanted in (("plane", 0), ("apart", 1)):
            status, text, errors = call(PPUCC, "-S", f"--facts={kernel} s0 s1 n", "-x", "cl", "-", "-o", "-",
                                        text=source, folder=folder)
            assert status == 0, errors
            assert len(re.findall(r"^ +gather", text, re.MULTILINE)) == wanted, (kernel, text)


def names_of(table, macro):
    """The names of the passes of a table that are always run."""
    text = (TOP / "compiler" / table).read_text()
    return re.findall(rf"^{macro}\(([a-z0-9-]+), ALWAYS,", text, re.MULTILINE)


def dumps():
    for name, word in (("ir", "define"), ("flow", "convergent"), ("subvector-insert", "saxpy after subvector-insert")):
        status, text, _ = call(PPUCC, "--dump", name, "--wave", "64", "--subvector=enter", KERNELS)
        assert status == 0 and word in text, name
    code, ir = names_of("mir/mir_pass.def", "MIR_PASS"), names_of("irpass/ir_pass.def", "IR_PASS")
    assert "schedule" in code and "always-inline" in ir
    wanted = [word for name in code + ir for word in ("--dump", name)]
    status, text, _ = call(PPUCC, *wanted, KERNELS)
    assert status == 0 and text.count("ModuleID") == len(ir), text.count("ModuleID")
    for name in code:
        assert f"saxpy after {name}" in text, name
    status, text, _ = call(PPUCC, "--dump", "isel", "--dump", "stats", KERNELS)
    assert status == 0 and "saxpy after isel" in text and "after if-convert" not in text and "vector registers" in text
    status, _, text = call(PPUCC, "--dump", "if-conv", KERNELS)
    assert status == 1 and "--dump 'if-conv': no such pass" in text, text


def debug_information():
    """-g adds what debuggers read and leaves optimised code alone; -cl-opt-disable is seen, and keeps variables then."""
    with tempfile.TemporaryDirectory() as folder:
        images = {}
        for options in (), ("-g",), ("-cl-opt-disable",), ("-g", "-cl-opt-disable"):
            status, _, errors = call(PPUCC, *options, "-o", f"{folder}/k.ppu", KERNELS)
            assert status == 0, errors
            images[options] = Path(folder, "k.ppu").read_bytes()
        head = {options: struct.unpack_from("<16I", image) for options, image in images.items()}
        code = {options: words[7] for options, words in head.items()}
        debug = {options: words[13] for options, words in head.items()}
        assert code[()] == code["-g",] != code["-cl-opt-disable",] < code["-g", "-cl-opt-disable"], code
        assert debug[()] == debug["-cl-opt-disable",] == 0 < debug["-g",] < debug["-g", "-cl-opt-disable"], debug
        Path(folder, "k.elf").write_bytes(images["-g", "-cl-opt-disable"][-debug["-g", "-cl-opt-disable"]:])
        status, text, errors = call("readelf", "-wi", f"{folder}/k.elf")
        assert status == 0 and "saxpy" in text and "DW_TAG_formal_parameter" in text and not errors, errors


def build_options():
    """Each is one option of clBuildProgram, whatever is in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.cl")
        path.write_text("kernel void k(global int *o) { o[0] = SUM; o[1] = sizeof(TEXT) == 6 ? 1 : -1; }\n"
                        "int small[sizeof(TEXT) == 6 && SUM == 5 ? 1 : -1];\n")
        for options in ["-cl-std=CL3.0", "-DSUM=(2 + 3)", "-DTEXT=\"a'b c\""], ["-D", "SUM=(2 + 3)", "-D", "TEXT=\"a'b c\"", "-cl-std=CL3.0"]:
            status, _, errors = call(PPUCC, "-fsyntax-only", *options, str(path))
            assert status == 0 and list(Path(folder).iterdir()) == [path], errors
        for options, why in (["-D", "-g", "-D", "-fplugin=x.so"], "'-g' is no definition"), (["-cl-nothing"], "'-cl-nothing' is not an option"), \
                (["-DSUM=1 -w", "-I@x"], "'@x' is no name of a folder"), (["-DX=1"] * 300, "more than 200 options"), \
                (["-Wall"], "'-Wall' is not an option"), (["-fplugin=x"], "'-fplugin=x' is not an option"):
            status, _, errors = call(PPUCC, "-fsyntax-only", *options, str(path))
            assert status == 1 and why in errors, errors


def clangs_options():
    """-U, -isystem and -O mean what they mean for clang, and nothing to clBuildProgram's list."""
    with tempfile.TemporaryDirectory() as folder:
        for name in "own", "system":
            Path(folder, name).mkdir()
            Path(folder, name, "both.h").write_text(f'#define WHERE "{name}"\n')
        Path(folder, "system/warns.h").write_text("static void warns(void) { int unused; 1 + 1; }\n")
        Path(folder, "k.cl").write_text("#include <both.h>\n#include <warns.h>\nkernel void k(global int *o)\n{\n    o[0] = X;\n}\n"
                                        "#ifdef __OPENCL_VERSION__\n#error version\n#endif\n"
                                        "constant int own[sizeof(WHERE) == 4 ? 1 : -1] = { 1 };\n")
        base = [PPUCC, "-isystem", "system", "-Iown", "-U", "__OPENCL_VERSION__", "-fsyntax-only"]
        assert call(*base, "-DX=1", "k.cl", folder=folder) == (0, "", "")
        assert call(*base, "-DX=1", "-UX", "-D", "X=2", "k.cl", folder=folder) == (0, "", "")
        status, _, errors = call(*base, "-DX=1", "-UX", "k.cl", folder=folder)
        assert status == 1 and "k.cl:5:12: error: use of undeclared identifier 'X'" in errors, errors
        status, _, errors = call(*base, "-DX", "-I", "system", *120 * ["-UY"], "k.cl", folder=folder)
        assert status == 1 and errors.startswith("ppucc: error: -UY: more than 100 of -U and -isystem"), errors
    plain, slow = (call(PPUCC, "-S", *words, KERNELS)[1] for words in ([], ["-cl-opt-disable"]))
    for words, text in (["-O0"], slow), (["-O2", "-O0"], slow), (["-O0", "-Os"], plain), (["-O1"], plain), (["-O3"], plain):
        assert call(PPUCC, "-S", *words, KERNELS) == (0, text, ""), words


def terminal(variables, *words):
    """What ppucc writes to a terminal on standard error."""
    controller, terminal_end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | variables
    subprocess.run([PPUCC, *words], env=environment, stderr=terminal_end, stdin=subprocess.DEVNULL, timeout=60)
    os.close(terminal_end)
    try:
        text = os.read(controller, 4096).decode()
    except OSError:  # nothing was written
        text = ""
    os.close(controller)
    return text


def waits():
    """After two seconds a terminal is told what goes on, in a line that is gone at the end; a pipe is told nothing."""
    with tempfile.TemporaryDirectory() as folder:
        slow = Path(folder, "clang")
        slow.write_text('#!/bin/sh\nsleep 3.5\nexec clang-19 "$@"\n')
        slow.chmod(0o755)
        words = ["-fsyntax-only", KERNELS]
        text = terminal({"PPU_CLANG": str(slow)}, *words)
        shown = "".join(f"\r\033[Kcompile {KERNELS}, {seconds} s" for seconds in range(2, 60))
        assert text.endswith("\r\033[K") and 2 <= text.count(" s") and shown.startswith(text[:-len("\r\033[K")]), text
        assert terminal({"PPU_CLANG": str(slow), "TERM": "dumb"}, *words) == ""
        assert call("env", f"PPU_CLANG={slow}", PPUCC, *words) == (0, "", "")
        assert terminal({}, *words) == ""


def colours():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/bad.cl"
        Path(path).write_text("kernel void k(global int *o) { o[0] = nothing; }\n")
        for variables in {}, {"NO_COLOR": ""}:
            text = terminal(variables, path)
            assert text.startswith(f"\033[1m{path}:1:39:\033[31m error: \033[0muse of undeclared"), text
        assert terminal({}).startswith("\033[1mppucc:\033[31m error: \033[0mno input files\r\n")
        for variables in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
            assert terminal(variables, path).startswith(f"{path}:1:39: error: use of"), variables
        assert "\033" not in call(PPUCC, path)[2]


PRESSURE = "tests/compiler/kernels/pressure.cl"


def segments():
    """Curve, threshold and segments in the numbers; the code has the begins and ends."""
    for wave, parts in ("64", 2), ("128", 4):
        status, text, _ = call(PPUCC, "--stats", "-S", "--wave", wave, "--subvector=enter", PRESSURE)
        assert status == 0
        waves = re.findall(r"(\d+) segments above \d+ registers; a wave takes (\d+) times (\d+) and (\d+) shared, "
                           r"without segments \d+ times (\d+); ([\d.]+) % more instruction issues expected\n", text)
        assert len(waves) == 5, text
        for number, times, private, shared, plain, more in waves:
            assert int(number) > 0 and int(times) == parts and float(more) < 5
            assert parts * int(private) + int(shared) <= 0.7 * parts * int(plain), (private, shared, plain)
        assert text.count("#") > 100 and text.count(" threshold\n") == 5 and text.count(" segments\n") == 5
        assert len(re.findall(r"refused: .*: barrier at point \d+, line \d+\n", text)) == 1, text
        assert len(re.findall(r"^    sventer ", text, re.MULTILINE)) == len(re.findall(r"^    svleave ", text, re.MULTILINE)) == 6


def forms():
    """Each form has its instructions; a threshold above all needs, or waves of one part, give today's code."""
    def listing_of(*options):
        status, text, errors = call(PPUCC, "-S", *options, PRESSURE)
        assert status == 0, errors
        return text

    plain = listing_of("--wave", "64")
    assert listing_of("--wave", "64", "--subvector=off") == plain
    for form, word in ("enter", "sventer"), ("may", r"sventer (25[6-9]|2[6-9]\d|3\d\d)"), ("loop", "svbegin"), ("duplicate", "rdsr v[0-9]+, %lane"):
        text = listing_of("--wave", "64", f"--subvector={form}", "--subvector-threshold=8%")
        assert re.search(r"^    " + word, text, re.MULTILINE), form
        assert (".mayshare\n" in text) == (form == "may") and (".shared_vregs" in text) == (form in ("enter", "may")), text
        if form == "duplicate":  # it needs nothing of the machine
            assert not re.search(r"^    (@\S+ )?sv", text, re.MULTILINE), text
        assert listing_of("--wave", "64", f"--subvector={form}", "--subvector-threshold=256") == plain
        assert listing_of(f"--subvector={form}") == listing_of()
    text = listing_of("--wave", "64", "--subvector=enter", "--subvector-default=inverted")
    assert len(re.findall(r"^    svleave ", text, re.MULTILINE)) - len(re.findall(r"^    sventer ", text, re.MULTILINE)) == 5
    for option, why in ("--subvector=twice", "expected one of: off, enter, duplicate, loop, may"), \
            ("--subvector-threshold=x", "expected N, N% or occupancy"), ("--subvector-default=odd", "expected one of: normal, inverted"), \
            ("--subvector-sm=1", "expected two numbers"), ("--subvectors", "unrecognized option"):
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
        status, text, errors = call(PPUCC, KERNELS, "-o", path, "--wave", "64", "-cl-std=CL1.2", "-DX=1")
        assert (status, text, errors) == (0, "", "")
        status, text, _ = call(PPU_DIS, path)
        assert status == 0
        assert f"# from {KERNELS}" in text and ".wave 64" in text and "# line 9" in text
        assert "# 8: float* x, 8 bytes, global, read\n" in text and "# 24: implicit arguments" in text
        listed = call(PPUCC, "-S", "--wave", "64", KERNELS)[1]
        code = re.compile(r"^    (\S.*?)  +# \d+", re.MULTILINE)
        assert code.findall(listed) == code.findall(text)


def flags():
    """Who may wait says so, in the listing and in the image."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.ppu"
        assert call(PPUCC, "tests/compiler/kernels/waits.cl", "-o", path) == (0, "", "")
        _, listed, _ = call(PPUCC, "-S", "tests/compiler/kernels/waits.cl")
        for text in listed, call(PPU_DIS, path)[1]:
            heads = dict(re.findall(r"^\.kernel (\w+)\n((?:\..*\n)+)", text, re.MULTILINE))
            assert [name for name, head in heads.items() if "\n.wait\n" in head] == ["direct", "called"], text


def bitcode():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.bc"
        assert call(PPUCC, "-c", KERNELS, "-o", path) == (0, "", "")
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
        assert (status, text) == (1, f"ppucc: error: read {folder}/none.cl: No such file or directory\n"), text
        status, _, text = call(PPUCC, KERNELS, "-o", f"{folder}/none/k.ppu")
        assert (status, text) == (1, f"ppucc: error: write {folder}/none/k.ppu: No such file or directory\n"), text
        status, _, text = call("env", "PPU_CLANG=/nowhere/clang", PPUCC, "-fsyntax-only", KERNELS)
        assert (status, text) == (1, "error: run '/nowhere/clang': No such file or directory; install clang-19, or name it in PPU_CLANG\n"), text
    status, _, text = call(PPUCC)
    assert (status, text.splitlines()[0]) == (1, "ppucc: error: no input files"), text
    for command in (["--dump", "nothing", KERNELS], ["--wave", "many", KERNELS], ["--what", "x", KERNELS], [], ["-o"], ["-x", "c", KERNELS],
                    ["-c", "-S", KERNELS], ["-c", "-o", "x", KERNELS, KERNELS], ["-MF", "x", KERNELS], ["-O7", KERNELS], ["-U", "1 x=", KERNELS], ["-isystem"]):
        status, _, text = call(PPUCC, *command)
        assert status == 1 and text.startswith("ppucc: error: ") and "Try `ppucc --help'" in text, (command, text)


ONE = "kernel void one(global int *o) { o[0] = number(3); }\n"
HEADER = "int number(int n);\n"
TWO = "int number(int n) { return n + N; }\nkernel void two(global int *o) { o[0] = number(4); }\n"


def kernels(image, folder):
    return [line.split()[-1] for line in call(PPU_DIS, "--syms", image, folder=folder)[1].splitlines()]


def several_files():
    """Sources and bitcode become one program; what is missing or there twice is told."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sub").mkdir()
        Path(folder, "sub/one.cl").write_text('#include "number.h"\n' + ONE)
        Path(folder, "sub/number.h").write_text(HEADER)
        Path(folder, "two.cl").write_text(TWO)
        assert call(PPUCC, "-DN=5", "sub/one.cl", "two.cl", "-o", "all.ppu", folder=folder) == (0, "", "")
        assert sorted(kernels("all.ppu", folder)) == ["one", "two"]
        assert call(PPUCC, "-c", "-DN=5", "sub/one.cl", "two.cl", folder=folder) == (0, "", "")
        assert call(PPUCC, "one.bc", "two.bc", folder=folder) == (0, "", "")
        assert sorted(kernels("one.ppu", folder)) == ["one", "two"]
        Path(folder, "module").write_bytes(Path(folder, "two.bc").read_bytes())
        assert call(PPUCC, "-x", "cl", "sub/one.cl", "-x", "ir", "module", "-o", "x.ppu", folder=folder) == (0, "", "")
        status, _, errors = call(PPUCC, "sub/one.cl", folder=folder)
        assert status == 1 and "sub/one.cl: error: kernel 'one' calls 'number', which does not exist" in errors, errors
        status, _, errors = call(PPUCC, "two.bc", "two.bc", folder=folder)
        assert status == 1 and "error: " in errors and "number" in errors, errors


def standard_streams():
    with tempfile.TemporaryDirectory() as folder:
        source = "kernel void k(global int *o) { o[0] = NUMBER; }\n"
        assert call(PPUCC, "-D", "NUMBER=3", "-o", "k.ppu", "-", folder=folder, text=source) == (0, "", "")
        assert kernels("k.ppu", folder) == ["k"] and "# from <stdin>" in call(PPU_DIS, "k.ppu", folder=folder)[1]
        assert call(PPUCC, "-DNUMBER=3", "-", folder=folder, text=source) == (0, "", "") and Path(folder, "a.ppu").exists()
        status, _, errors = call(PPUCC, "-", folder=folder, text=source)
        assert status == 1 and errors.startswith("<stdin>:1:39: error: use of undeclared identifier 'NUMBER'"), errors
        status, text, errors = call(PPUCC, "-E", "-DNUMBER=(1+2)", "-", folder=folder, text=source)
        assert status == 0 and text.endswith("kernel void k(global int *o) { o[0] = (1+2); }\n"), (text, errors)
        status, text, _ = call(PPUCC, "-S", "-DNUMBER=3", "-", folder=folder, text=source)
        assert status == 0 and text.startswith(".kernel k\n") and "#    1 kernel void k(" in text, text
        assert call(PPUCC, "-S", "-DNUMBER=3", "-o", "k.s", "-", folder=folder, text=source) == (0, "", "")
        assert Path(folder, "k.s").read_text() == text
        Path(folder, "words").write_text("-D 'NUMBER=1 + 2'\n-o \"w.ppu\" -")
        assert call(PPUCC, "@words", folder=folder, text=source) == (0, "", "") and kernels("w.ppu", folder) == ["k"]
        status, _, errors = call("sh", "-c", f"{PPUCC} -S -DNUMBER=1 - >/dev/full", folder=folder, text=source)
        assert (status, errors) == (1, "ppucc: error: write standard output: No space left on device\n"), errors


def dependencies():
    """Rules of make that name what was read, whatever else is made."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sub").mkdir()
        Path(folder, "inc").mkdir()
        Path(folder, "sub/k.cl").write_text('#include "near.h"\n#include <far.h>\nkernel void k(global int *o) { o[0] = NEAR + FAR; }\n')
        Path(folder, "sub/near.h").write_text("#define NEAR 1\n")
        Path(folder, "inc/far.h").write_text("#define FAR 2\n")

        def rule(*options, path):
            assert call(PPUCC, "-Iinc", *options, "sub/k.cl", folder=folder) == (0, "", ""), options
            target, files = Path(folder, path).read_text().replace("\\\n", " ").split(":", 1)
            return target, [file for file in files.split() if "opencl-c-base.h" not in file], "opencl-c-base.h" in files

        names = ["sub/k.cl", "sub/near.h", "inc/far.h"]
        assert rule("-MMD", path="k.d") == ("k.ppu", names, False)
        assert rule("-MD", "-o", "x.ppu", path="x.d") == ("x.ppu", names, True)
        assert rule("-MMD", "-MF", "deps", "-MT", "target", path="deps") == ("target", names, False)
        assert rule("-c", "-MMD", path="k.d") == ("k.bc", names, False)


def help_and_version():
    assert call(PPUCC, "--version") == (0, f"ppucc (PPU) {VERSION}\n", "")
    status, text, errors = call(PPUCC, "--help")
    assert status == 0 and errors == "" and text.startswith("Usage: ppucc [OPTION...] FILE...\n"), text
    assert "\nEnvironment:\n  PPU_CLANG " in text and "\nExit status:\n  0  " in text and "  -MMD " in text, text


tap.main([
    ("what fetches arguments has the line of its kernel", lines_of_functions),
    ("a listing has the source's lines beside the code", listing),
    ("numbers of each kernel, and curves that stay below them", numbers),
    ("with too few registers some are spilled", spills),
    ("yields that a kernel asks for are the machine's, and count by constants [E3][E6]", yields),
    ("loops that wait yield each turn, others seldom, those that are counted never [E6][E8]", loops_yield),
    ("loops have a token for each way out with something to do [E3][E11]", ways_out),
    ("exponentials, functions of multiples of pi, lengths and unit vectors are straight code", built_in_without_branches),
    ("loads at computed indices become a gather where arguments are separate [F7]", gathers),
    ("loads of rows do not [F7]", rows_are_no_gathers),
    ("every pass can be looked at", dumps),
    ("segments of five kernels save 30 % of the registers, and the curve shows them [D9]", segments),
    ("each form of segments has its code, each wrong option its error [D6][D7][D10]", forms),
    ("the curves are a picture too", picture),
    ("ppu-dis reads what ppucc writes", image),
    ("blocks that check themselves need no private memory for it", checked_blocks),
    ("a kernel with 500 arguments that checks itself is compiled in 1,200 MiB", many_arguments),
    ("kernels that may wait are flagged [B7]", flags),
    ("bitcode in between changes nothing", bitcode),
    ("-g and -cl-opt-disable: debug information, and variables that keep their places", debug_information),
    ("errors are told in clang's form", errors),
    ("-U, -isystem and -O are clang's", clangs_options),
    ("long work shows its progress on a terminal alone", waits),
    ("messages have colours on a terminal alone", colours),
    ("several sources and bitcode become one program", several_files),
    ("standard input, standard output, files of options", standard_streams),
    ("rules of make name the files that were included", dependencies),
    ("help and version", help_and_version),
    ("options of the build stay the words that they are", build_options),
])
