#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every built-in function that clang declares for OpenCL C: a test calls it, or the device lacks it.

A function is called by a test when its name stands in a table, a kernel or a program text of tests/compiler, or in the
test of extensions. Argument: clang's header.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

HEADER = sys.argv[1]
HERE = Path(__file__).resolve().parent

# What the device does not have: images, pipes, sub-groups, collective functions, device-side enqueue, vendors' extensions.
LACKS = re.compile(r"(read|write)_image|get_image|sub_group|work_group_(all|any|broadcast|reduce|scan|reserve|commit)|pipe|"
                   r"^(intel|amd|arm)_|^(get_default_queue|ndrange_|enqueue_|create_user_event|release_event|retain_event|"
                   r"is_valid_event|set_user_event_status|capture_event_profiling_info)|^clock_read_|reserve_id")
# Extensions' names, where the standard's is another.
ALIASES = re.compile(r"^atom_")


def declared():
    text = re.sub(r"//.*", "", Path(HEADER).read_text(encoding="ascii"))
    text = re.sub(r"\\\n", " ", text)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return set(re.findall(r"(?:__ovld|__cnfn|__conv|__purefn)[^;(]*?\b(\w+)\s*\(", text)) - {"__attribute__"}


# What macros of the kernels put behind a name.
PASTED = {"n": ["2", "3", "4", "8", "16"], "mode": ["", "_rte", "_rtz", "_rtp", "_rtn"]}


def tested():
    texts = [p.read_text(encoding="utf-8") for p in HERE.glob("**/*") if p.suffix in (".c", ".cl", ".def")]
    texts.append((HERE.parent / "opencl/test_extensions.c").read_text(encoding="utf-8"))
    names = set(re.findall(r"\b[a-z]\w*(?:##(?:n|mode))*", "\n".join(texts)))
    for part, ends in PASTED.items():
        names = {end.join(pieces) for name in names for pieces in [name.split(f"##{part}")] for end in ends}
    return names


def base(name):
    """Name without what a table puts together: convert_char4_sat_rte is one of convert_..."""
    return re.sub(r"^(convert|as)_.*", r"\1_", name)


def every_function():
    names = {n for n in declared() if not LACKS.search(n) and not ALIASES.search(n)}
    assert len(names) > 500, len(names)
    missing = sorted({base(n) for n in names} - {base(n) for n in tested()})
    assert not missing, " ".join(missing)


tap.main([("every built-in function of OpenCL C is tested", every_function)])
