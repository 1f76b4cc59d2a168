#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every entry point of OpenCL 1.2: it is there, and only those of what the platform has not refuse."""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

HEADERS = ("/usr/include/CL/cl.h", "/usr/include/CL/cl_gl.h")
ABSENT = ("api/gl_absent.c",)  # OpenGL and EGL
OF_ABSENT = re.compile(r"GL")


def declared():
    """Functions of OpenCL 1.0 to 1.2, deprecated ones too."""
    text = "".join(Path(header).read_text() for header in HEADERS)
    found = re.findall(r"(cl[A-Z]\w+)\s*\([^;{}]*?\)\s*CL_(?:API_SUFFIX__|EXT_SUFFIX__)VERSION_1_[012](?:_DEPRECATED)?\s*;", text)
    return set(found)


def table():
    return set(re.findall(r"^CL_ENTRY\((\w+)\)", (TOP / "opencl/api/entry.def").read_text(), re.MULTILINE))


def defined_in(names):
    text = "".join((TOP / "opencl" / name).read_text() for name in names)
    return set(re.findall(r"^(?:\w+ )+\**(cl[A-Z]\w+)\(", text, re.MULTILINE))


def test_all_are_there():
    assert len(declared()) > 90, sorted(declared())
    assert declared() <= table(), sorted(declared() - table())


def test_only_absent_ones_refuse():
    refused = declared() & defined_in(ABSENT)
    wrong = {name for name in declared() if (name in refused) != bool(OF_ABSENT.search(name))}
    assert not wrong, sorted(wrong)


if __name__ == "__main__":
    tap.main([
        ("every entry point of OpenCL 1.2 is in the table [F6]", test_all_are_there),
        ("those that refuse are those of OpenGL [F6]", test_only_absent_ones_refuse),
    ])
