#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every error code of the specification that the ICD returns: a test asks for it."""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

HEADER = Path("/usr/include/CL/cl.h")
# Of mipmaps, pipes, parts of devices, and of devices or tools that are away: the ICD
# has none of these, or always has them.
NEVER = {
    "CL_DEVICE_NOT_AVAILABLE", "CL_MAP_FAILURE", "CL_LINKER_NOT_AVAILABLE", "CL_DEVICE_PARTITION_FAILED",
    "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", "CL_INVALID_KERNEL_DEFINITION", "CL_INVALID_MIP_LEVEL",
    "CL_INVALID_DEVICE_PARTITION_COUNT", "CL_MAX_SIZE_RESTRICTION_EXCEEDED",
}


def codes():
    found = set(re.findall(r"^#define\s+(CL_\w+)\s+-\d+\s*$", HEADER.read_text(), re.MULTILINE))
    return {code for code in found if not code.startswith("CL_BUILD_") or code.endswith("FAILURE")}


def named_in(folder, *endings):
    text = "".join(path.read_text() for ending in endings for path in sorted((TOP / folder).rglob(f"*{ending}")))
    return {code for code in codes() if re.search(rf"\b{code}\b", text)}


def test_returned_codes_are_tested():
    returned, tested = named_in("opencl", ".c", ".h", ".def"), named_in("tests/opencl", ".c", ".h")
    assert len(returned) > 40, len(returned)
    assert returned <= tested, f"returned, and no test asks for it: {sorted(returned - tested)}"


def test_the_others_cannot_occur():
    assert codes() - named_in("opencl", ".c", ".h", ".def") == NEVER, codes() - named_in("opencl", ".c", ".h", ".def") ^ NEVER


if __name__ == "__main__":
    tap.main([
        ("each error code that is returned is asked for by a test [F6]", test_returned_codes_are_tested),
        ("the specification's other codes are those of what there is not [F6]", test_the_others_cannot_occur),
    ])
