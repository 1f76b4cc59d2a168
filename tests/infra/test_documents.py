#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what tools/check/documents says of the tree, and that it finds each kind of mistake."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

sys.dont_write_bytecode = True
loader = SourceFileLoader("documents", str(TOP / "tools/check/documents"))
documents = module_from_spec(spec_from_loader("documents", loader))
loader.exec_module(documents)

FILES = {
    "README.md": "[a](src/one.c), `src/`, `src/one.c`, `one.c` and `ldp.s`\n\n    code" + " of words" * 12 + "\n\n```\ncode" + " of words" * 12 + "\n```\n",
    "src/one.c": '#include <system.h>\n/* Uses one.h, ../src/one.h, src/one.h and system.h, not e.g. src/x*.h. */\nputs("/* none.c */");\n',
    "src/one.h": "// See one.c.\n",
    "src/passes.cl": "/* prints\n   ldp.s v0\n*/\n",
}
# what a file says more, and the sentence that must come of it
MISTAKES = {
    "a long line": ("README.md", "a line" + " of words" * 12, "README.md:8: 114 columns"),
    "a long row of a table": ("README.md", "| a |\n|---|\n|" + " of words" * 12 + " |", "README.md:10: 111 columns"),
    "a link to nothing": ("README.md", "[b](src/two.c)", "README.md:8: names src/two.c"),
    "a path to nothing": ("README.md", "`src/two/`", "README.md:8: names src/two/"),
    "a file that is nowhere": ("README.md", "see `two.c`", "README.md:8: names two.c"),
    "a function that is not there": ("README.md", "1. `src/one.c`: `get()` gets", "README.md:8: src/one.c has no get()"),
    "a file that a walk comes to twice": ("README.md", "1. `src/one.c`: `puts()`\n2. `src/one.c`: puts", "README.md:9: the walk"),
    "a test that is not there": ("README.md", '`src/one.c`: "prints none"', 'README.md:8: src/one.c has no test "prints none"'),
    "a comment that names nothing": ("src/one.c", "/* As\n * two.h says. */", "src/one.c:5: a comment names two.h"),
    "a line comment that names nothing": ("src/one.h", "int a; // two.md", "src/one.h:2: a comment names two.md"),
}


def problems(files):
    tree = documents.Tree(list(files), lambda name: files[name])
    return [problem for name, text in files.items() for problem in documents.problems_of(name, text, tree)]


def test_tree():
    found = documents.problems_of_tree([])
    assert not found, "\n".join(found)


def test_good():
    assert problems(FILES) == [], problems(FILES)


def test_mistake(name, text, sentence):
    found = problems({**FILES, name: FILES[name] + text + "\n"})
    assert len(found) == 1 and found[0].startswith(sentence), found


tap.main([("what documents and comments name exists", test_tree), ("files without mistakes pass", test_good)] + [
    (f"found: {name}", lambda mistake=mistake: test_mistake(*mistake)) for name, mistake in MISTAKES.items()])
