#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `make install` into a folder: what is there, what it names, and that it works with no checkout in sight."""

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PLACE = tempfile.TemporaryDirectory()
PREFIX = Path(PLACE.name, "usr")
COMMANDS = [name for names in re.findall(r"^INSTALLED_(?:PROGRAMS|SCRIPTS) := (.*)$", (TOP / "packaging/build.mk").read_text(), re.M)
            for name in names.split()]
VERSION = re.search(r'PPU_VERSION "(.*)"', (TOP / "include/ppu/version.h").read_text())[1]


# What each example prints, among other things.
EXAMPLES = {"squares": "0 1 4 9 16", "nested": "sum: 1240", "levels": "15 levels: 1 1 2 3 6 11", "variants": "apart: 3 times fewer",
            "locks": "turns with one lock: 4096 of 4096", "waves": "results: the same", "entries": "round 2: 6542 primes",
            "quicksort": "They are in order.", "saxpy": "y[1000] = 2001", "pieces": "   ok", "bfs": "All levels are those",
            "limits": "transactions a second"}


def make(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make", *arguments, f"PREFIX={PREFIX}", f"VENDORDIR={PREFIX}/vendors"], cwd=TOP, env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@cache
def installation():
    make("install")
    return sorted(path for path in PREFIX.rglob("*") if not path.is_dir())


def symbols(*arguments):
    """Names that a library defines for others."""
    rows = output("nm", "--defined-only", "--format=posix", *arguments).split("\n")
    return {row.split("@")[0].split(" ")[0] for row in rows if re.search(r" [BDRTVW] ", row)}


def declared():
    """Functions of ppu.h. What is static there or a macro is in no library."""
    text = re.sub(r"/\*.*?\*/", "", (TOP / "runtime/include/ppu.h").read_text(), flags=re.S)
    return set(re.findall(r"^(?!static|#)[\w ]+[ *](ppu_\w+)\(", text, re.M))


def content(file):
    """What a program uses: not the symbols for debuggers, which say where the sources were."""
    if not file.read_bytes().startswith((b"\x7fELF", b"!<arch>")):
        return file.read_bytes()
    stripped = Path(PLACE.name, "stripped")
    output("arm-none-eabi-objcopy" if file.name == "ppufw.elf" else "objcopy", "--strip-debug", file, stripped)
    return stripped.read_bytes()


def test_no_checkout():
    for file in installation():
        assert str(TOP).encode() not in content(file), f"{file} names this checkout"
        # of whichever checkout compiled what the cache gave us
        assert b"/build/qemu/src/" not in content(file), f"{file} names a checkout"
    for file in PREFIX.glob("bin/*"):
        text = file.read_bytes()
        assert not text.startswith(b"#!") or b"$top/build" not in text and b"$top/tools" not in text and b"run make" not in text, f"{file} looks for a checkout"


def test_named_files():
    """What an installed script names below the installation is installed."""
    files = installation()
    for file in PREFIX.glob("bin/*"):
        text = file.read_bytes()
        if text.startswith(b"#!"):
            named = {Path(name) for name in re.findall(rf"{re.escape(str(PREFIX))}/[\w./-]+", text.decode())}
            assert named, f"{file} names nothing"
            assert named <= {*files, *(folder for path in files for folder in path.parents)}, (file, named - set(files))


def test_symbols():
    installation()
    assert declared(), "no function found in ppu.h"
    assert symbols("--dynamic", PREFIX / "lib/libppu.so") - {"PPU_1"} == declared()
    assert symbols(PREFIX / "lib/libppu.a") == declared()
    assert symbols("--dynamic", PREFIX / "lib/ppu/libppu-opencl.so") == {"clIcdGetPlatformIDsKHR", "clGetExtensionFunctionAddress"}


def test_versions():
    installation()
    major = VERSION.split(".", maxsplit=1)[0]
    assert (PREFIX / "lib/libppu.so").resolve().name == f"libppu.so.{VERSION}"
    assert f"[libppu.so.{major}]" in output("readelf", "-d", PREFIX / "lib/libppu.so")
    assert output("pkg-config", "--modversion", PREFIX / "lib/pkgconfig/libppu.pc").strip() == VERSION


def test_manual_pages():
    installation()
    assert len(COMMANDS) >= 10 and sorted(path.name for path in PREFIX.glob("bin/*")) == sorted(COMMANDS)
    for command in COMMANDS:
        page = PREFIX / f"share/man/man1/{command}.1"
        text = page.read_text()
        assert f"ppu {VERSION}" in text and ".SH NAME" in text, page
        assert len(re.findall(r"^\.SH ", text, re.M)) >= 3, f"{page} says little"


def elsewhere():
    """An environment that names the installation alone, in a folder that has nothing to do with it."""
    work = Path(PLACE.name, "work")
    work.mkdir(exist_ok=True)
    environment = {"PATH": f"{PREFIX}/bin:/usr/bin:/bin", "HOME": str(work), "LD_LIBRARY_PATH": f"{PREFIX}/lib",
                   "PKG_CONFIG_PATH": f"{PREFIX}/lib/pkgconfig", "OCL_ICD_VENDORS": f"{PREFIX}/vendors"}
    return {"cwd": work, "env": environment}


def test_programs():
    installation()
    makefile = PREFIX / "share/doc/ppu/examples/Makefile"
    printed = output("make", "-f", makefile, "run", **elsewhere())
    for text in EXAMPLES.values():
        assert text in printed, (text, printed)
    # every program that is installed, and every one that the packages' test runs
    sources = {path.stem for path in makefile.parent.glob("*.c")}
    assert sources == set(EXAMPLES), sources ^ set(EXAMPLES)
    run = re.findall(r"^expect .* run \./(\w+)", (TOP / "tools/fresh/installed").read_text(), re.M)
    assert sorted(run) == sorted(EXAMPLES), run


def test_tools():
    installation()
    place = elsewhere()
    (place["cwd"] / "twice.cl").write_text("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }\n")
    output("ppucc", "twice.cl", "-o", "twice.ppu", **place)
    assert "twice" in output("ppu-dis", "twice.ppu", **place)


def test_uninstall():
    kept = Path(installation()[0]).parent / "of-another-package"
    kept.write_text("")
    make("uninstall")
    left = [path for path in Path(PLACE.name, "usr").rglob("*") if not path.is_dir()]
    assert left == [kept], left
    assert sorted(path for path in PREFIX.rglob("*") if path.is_dir()) == sorted(set(kept.parents) & set(PREFIX.rglob("*")))


tap.main([
    ("no installed file names or looks for a checkout", test_no_checkout),
    ("what an installed script names is installed", test_named_files),
    ("libppu shows what ppu.h declares and nothing else", test_symbols),
    ("the version is the same everywhere", test_versions),
    ("each command has a manual page", test_manual_pages),
    ("the examples are built against the installation and run", test_programs),
    ("the compiler and the disassembler work", test_tools),
    ("uninstall takes away what install brought", test_uninstall),
])
