#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what tools/check/names says of the tree, and that it refuses each kind of wrong name."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

sys.dont_write_bytecode = True
loader = SourceFileLoader("names", str(TOP / "tools/check/names"))
names = module_from_spec(spec_from_loader("names", loader))
loader.exec_module(names)

LOCAL = "static bool serve(struct a *a)\n{\n    return start(a);\n}\n"
# one text for each, in which start() is a function of the file
FUNCTIONS = {
    "a definition": "static void start(int a,\n                  int b)\n{\n}\n",
    "a declaration": "static void start(void);\n",
    "inline": "static inline uint64_t *start(const struct a *a)\n{\n}\n",
    "with an attribute": "static __attribute__((format(printf, 1, 2))) void start(const char *a, ...)\n{\n}\n",
    "inline by a macro": "#define LEVEL_INLINE static inline\nLEVEL_INLINE void start(void)\n{\n}\n",
}
# in which there is none
OTHERS = {
    "a call": "static void f(void)\n{\n    start(a);\n}\n",
    "a function for all files": "void start(void)\n{\n}\n",
    "a comment": "/* Before\nstatic void start(void);\n */\n",
    "a macro": "#define START \\\nstatic void start(void);\n",
    "data": "static int start[] = { 1, 2 };\n",
}


def test_tree():
    texts = names.texts_of_tree()
    found = [*names.problems_of(texts), *names.unfound(texts, names.SEARCHED)]
    assert not found, "\n".join(found)


def test_unfound():
    texts = {"a.h": "/* Allocates registers. */", "b.h": "/* Register Allocation. */", "c.h": "/* A peephole. */"}
    searched = {"register alloc": "a.h", "peephole": "c.h", "hazard": "gone.h"}
    found = list(names.unfound(texts, searched))
    assert [line.split(":")[0] for line in found] == ["gone.h", "a.h"], found
    assert list(names.unfound(texts, {"register alloc": "b.h"})) == []


def texts(last):
    return {**{f"part/{i}.c": f"{LOCAL.replace('serve', f'serve_{i}')}static void start(void);\n" for i in range(3)},
            "part/3.c": last}


def test_function(text):
    found = names.problems_of(texts(text))
    assert len(found) == 1 and found[0].startswith("part/0.c: start() is a function of 4 files"), found


def test_other(text):
    found = names.problems_of(texts(text))
    assert found == [], found


def test_programs():
    found = names.problems_of({**texts(""), "tests/a.c": FUNCTIONS["a definition"], "demo/a.c": FUNCTIONS["inline"]})
    assert found == [], found


def test_mechanism(text, right):
    found = names.problems_of({"part/a.c": text})
    assert len(found) == 1 and found[0].endswith(f"names what is called {right} everywhere else"), found


# identifiers that a file may not have, and those that it may
SECOND_MEANINGS = {
    "a variable": ("compiler/mir/a.c", "uint16_t place;\n"),
    "several of it": ("opencl/submit/a.c", "int open_lanes(void);\n"),
    "a structure": ("compiler/analysis/a.h", "struct group_size {\n};\n"),
    "a macro": ("runtime/nested.c", "#define MOST 4\nint most_places = MOST;\n"),
    "a word of tests": ("firmware/a.h", "struct bench *bench;\n"),
    "a test": ("tests/compiler/a.c", "struct place place;\n"),
    "a test of another thing": ("tests/engine/a.c", "struct bench *bench;\n"),
    "a verb": ("compiler/analysis/a.c", "struct flow *flow_build(void);\n"),
    "several": ("runtime/a.c", "int message_parts;\n"),
    "alone": ("firmware/a.c", "int queue_full;\n"),
    "after a string": ("runtime/a.c", 'char *a = "\\"/*"; int native_slot, place;\n'),
}
ONE_MEANING = {
    "where the word belongs": ("firmware/a.c", "uint32_t place, slot, groups;\n"),
    "with another word before it": ("firmware/a.c", "int admin_queue, token_queue_full;\n"),
    "a file of its own": ("runtime/nest.c", "uint32_t place_bytes;\n"),
    "part of a word": ("compiler/a.c", "LLVMReplaceAllUsesWith(displaced, replace);\n"),
    "another word": ("opencl/api/a.c", "size_t work_group, sub_groups;\n"),
    "a comment": ("compiler/a.c", "/* in place\n * place */\nint a; // place\n"),
    "a string": ("compiler/a.c", 'char *a = "in its \\"place\\", place";\n'),
    "an included file": ("compiler/a.c", '#include "qemu-device/core/dist/place.h"\n'),
    "a word that tests are free to use": ("tests/compiler/a.c", "struct slot slot;\n"),
    "a test of it": ("tests/engine/test_save.c", "struct place place;\n"),
    "a benchmark": ("tests/bench/a.c", "struct bench *bench;\n"),
    "a demo": ("demo/a.c", "struct place place;\n"),
}


def test_second_meaning(file, text):
    found = names.problems_of({file: text})
    assert len(found) == 1 and found[0].startswith(f"{file}: ") and "another meaning than: " in found[0], found


def test_one_meaning(file, text):
    found = names.problems_of({file: text})
    assert found == [], found


tap.main([("the tree keeps the rules", test_tree), ("refused: a file that the field's word does not find", test_unfound), ("programs that are read alone may repeat a name", test_programs),
          ("refused: workqueue", lambda: test_mechanism("struct ppu_workqueue;\n", "workq")),
          ("refused: a queue of tasks by half its name", lambda: test_mechanism("PPU_QUEUE_CLOSED\n", "taskq"))] + [
    (f"found in four files: {name}", lambda text=text: test_function(text)) for name, text in FUNCTIONS.items()] + [
    (f"passes: {name}", lambda text=text: test_other(text)) for name, text in OTHERS.items()] + [
    (f"refused, a word's second meaning: {name}", lambda of=of: test_second_meaning(*of)) for name, of in SECOND_MEANINGS.items()] + [
    (f"passes: {name}", lambda of=of: test_one_meaning(*of)) for name, of in ONE_MEANING.items()])
