#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rows of include/ppu/fault.def: each fault is raised, and a test provokes it, one that expects a code which it
has not written itself.
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

# Here the device or the firmware finds what is wrong. Tests of the runtime make records of their own.
FOLDERS = ("api", "device-core", "engine", "firmware", "qemu")
# what makes a record, or asks for its row
MADE = re.compile(r"(\.code = |\bcode = |ppu_fault_\w+\()PPU_FAULT_\w+")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def rows(text):
    return re.findall(r"^PPU_FAULT\((\w+),", text, re.MULTILINE)


def expected(text):
    """Codes that the source of a test expects. What ends in an underline is pasted together, and names none."""
    return set(re.findall(r"\bPPU_FAULT_(\w+[^\W_])\b", MADE.sub("", COMMENT.sub("", text)))) - {"NONE"}


def test_expected():
    assert expected("assert_int_equal(fault.code, PPU_FAULT_SAVE);") == {"SAVE"}
    assert expected("{ \"bad\", FIELD(grid), 0, PPU_FAULT_TMD_GRID },") == {"TMD_GRID"}
    assert expected("r = (struct ppu_error_record){ .code = PPU_FAULT_SAVE }; ppu_fault_name(PPU_FAULT_TRAP);") == set()
    assert expected("/* PPU_FAULT_SAVE comes\nlater */ f(PPU_FAULT_TRAP);") == {"TRAP"}


def test_every_row():
    sources = [path for folder in FOLDERS for path in sorted((TOP / "tests" / folder).glob("test_*.c"))]
    found = set().union(*(expected(path.read_text(encoding="utf-8")) for path in sources))
    names = rows((TOP / "include/ppu/fault.def").read_text(encoding="utf-8"))
    assert len(names) > 60 and len(set(names)) == len(names), names
    missing = [name for name in names if name not in found]
    assert not missing, f"no test expects {', '.join(missing)}"
    assert found <= set(names), found - set(names)


def test_every_row_is_raised():
    """A row that nothing raises promises what never comes."""
    sources = [path for folder in ("firmware", "qemu-device", "include") for path in sorted((TOP / folder).rglob("*"))
               if path.suffix in (".c", ".h", ".inc")]
    text = "\n".join(COMMENT.sub("", path.read_text(encoding="utf-8")) for path in sources)
    raised = set(re.findall(r"\bPPU_FAULT_(\w+)", text))
    missing = [name for name in rows((TOP / "include/ppu/fault.def").read_text(encoding="utf-8")) if name not in raised]
    assert not missing, f"nothing raises {', '.join(missing)}"


tap.main([
    ("a test that makes a record has not provoked the fault", test_expected),
    ("every fault has a test that provokes it", test_every_row),
    ("every fault is raised by device or firmware", test_every_row_is_raised),
])
