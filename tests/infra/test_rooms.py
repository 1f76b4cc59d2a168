#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what tools/check/rooms says of the tree, and that it refuses each kind of wrong #include."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

sys.dont_write_bytecode = True
loader = SourceFileLoader("rooms", str(TOP / "tools/check/rooms"))
rooms = module_from_spec(spec_from_loader("rooms", loader))
loader.exec_module(rooms)

RULES = [("part", "low", "*.h", "It is below."), ("part", "high", "low high2/door.h", "It is above."),
         ("part", "high2", "low", "It is beside.")]
FILES = {
    "part/top.c": ["part/high/a.h"],
    "part/top.h": [],
    "part/low/a.c": ["part/low/a.h", "part/top.h", "other/a.h"],
    "part/low/a.h": [],
    "part/high/a.c": ["part/high/inner/b.h", "part/low/a.h", "part/high2/door.h"],
    "part/high/a.h": [],
    "part/high/inner/b.h": ["part/high/a.h"],
    "part/high2/door.h": [],
    "part/high2/wall.h": [],
}
# a file that includes one more, and the beginning of what must be said
MISTAKES = {
    "upward": ("part/low/a.c", "part/high/a.h", "part/low/a.c: includes part/high/a.h, but part/low may include only"),
    "upward from a folder of the room": ("part/high/inner/b.h", "part/high2/wall.h",
                                         "part/high/inner/b.h: includes part/high2/wall.h, but part/high may"),
    "a header beside the rooms": ("part/high2/door.h", "part/top.h", "part/high2/door.h: includes part/top.h"),
    "a room without a rule": ("part/new/a.h", "part/low/a.h", "part/new: no rule says"),
    "a circle": ("part/high/a.h", "part/high/inner/b.h",
                 "part/high/inner/b.h: includes itself: part/high/inner/b.h -> part/high/a.h -> part/high/inner/b.h"),
}
# includes that the direction of the real rooms forbids
REAL = [("compiler/analysis/ir.h", "compiler/irpass/unroll.h"), ("compiler/irpass/unroll.c", "compiler/isel/select.h"),
        ("compiler/mir/spill.c", "compiler/isel/select.h"), ("compiler/base/arena.c", "compiler/kernel_compile.h"),
        ("qemu-device/core/dist/place.c", "qemu-device/core/sm/sm.h"),
        ("qemu-device/core/memory/mmu.c", "qemu-device/core/dist/slot.h"),
        ("opencl/build/cache.c", "opencl/submit/launch.h")]


def test_tree():
    found = rooms.problems_of(rooms.includes_of_tree(), rooms.ROOMS)
    assert not found, "\n".join(found)


def test_good():
    assert rooms.problems_of(FILES, RULES) == [], rooms.problems_of(FILES, RULES)


def test_mistake(name, header, sentence):
    found = rooms.problems_of({**FILES, name: FILES.get(name, []) + [header]}, RULES)
    assert len(found) == 1 and found[0].startswith(sentence), found


def test_real(name, header):
    tree = rooms.includes_of_tree()
    assert name in tree and header in tree, "the test names a file that does not exist"
    tree[name] = tree[name] + [header]
    found = rooms.problems_of(tree, rooms.ROOMS)
    assert any(problem.startswith(f"{name}: includes {header}, but ") for problem in found), found


def test_rule_without_room():
    found = rooms.problems_of(FILES, RULES + [("part", "gone", "low", "It was.")])
    assert found == ["part/gone: there is a rule for it and no file"], found


tap.main([("the tree keeps the rules", test_tree), ("files without mistakes pass", test_good),
          ("refused: a rule for a room that is gone", test_rule_without_room)] + [
    (f"refused: {name}", lambda mistake=mistake: test_mistake(*mistake)) for name, mistake in MISTAKES.items()] + [
    (f"refused: {header} in {name}", lambda name=name, header=header: test_real(name, header)) for name, header in REAL])
