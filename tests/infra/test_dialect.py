#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what tools/check/dialect says of the tree, that it refuses each kind of habit, and that it lets its neighbours
be.
"""

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

sys.dont_write_bytecode = True
loader = SourceFileLoader("dialect", str(TOP / "tools/check/dialect"))
dialect = module_from_spec(spec_from_loader("dialect", loader))
loader.exec_module(dialect)

POINTER = "test a pointer by itself"
EARLY = "is declared before it gets its value"
UNREAD = "which nobody reads"
LONG = "a function of 80 lines"
ALONE = "the end of a comment stands alone"
FRAGMENT = "is no sentence"
GETENV = "a library calls secure_getenv()"

# bodies of a function, and what is said of them
REFUSED = {
    "a comparison with NULL": ("if (p == NULL) {\n return;\n}", POINTER),
    "one in a macro's argument": ("assert(f(p) != NULL);", POINTER),
    "NULL on the left": ("return NULL == p;", POINTER),
    "a declaration at the top": ("int a;\n\nf();\na = g();", EARLY),
    "the second of two": ("int a = 1, *b;\n\nf(a);\nb = g();", EARLY),
    "a structure": ("struct a x;\n\nif (f()) {\n return;\n}\nx = g();", EARLY),
    "one in a block inside": ("while (f()) {\n uint32_t a;\n f();\n a = g();\n}", EARLY),
    "after do and while": ("const char *a;\n\ndo {\n f();\n} while (g());\na = h();", EARLY),
    "after else": ("int a;\n\nif (f()) {\n g();\n} else {\n h();\n}\na = g();", EARLY),
    "after an initialiser with braces": ("int a;\nstruct b b = { .c = 1 };\n\na = g(b);", EARLY),
    "false, and then another value": ("bool done = false;\n\nf();\ndone = g();", UNREAD),
    "a number, and then another": ("uint32_t i = 0;\n\ni = g();\nf(i);", UNREAD),
    "a long function": ("\n".join(["f();"] * 77), LONG),
    "the end of a comment alone": ("/* Says something in one line.\n */\nf();", ALONE),
    "a comment without a subject": ("/* Of what there is. */\nf();", FRAGMENT),
    "one of several lines": ("/*\n * The same for what there is,\n * and more.\n */\nf();", FRAGMENT),
    "one that points elsewhere": ("/* Those that are left. */\nf();", FRAGMENT),
}
ALLOWED = {
    "a pointer by itself": "if (!p || q) {\n return !!p;\n}",
    "NULL as a value": "p = NULL;\nf(NULL, q == 0);",
    "NULL in a comment": "f(); /* p == NULL */",
    "NULL in a string": 'f("p == NULL");',
    "a value from each side of a branch": "int a;\n\nif (f()) {\n a = 1;\n} else {\n a = 2;\n}\ng(a);",
    "a value through a pointer": "int a;\n\nf(&a);\na = g();",
    "a value that the next one needs": "int a = 1;\n\na = a + f();",
    "a value that a loop reads": "int a = 0;\n\nwhile (f(a)) {\n a = g();\n}",
    "a call before, whose result counts": "int a = f();\n\na = g();",
    "an array": "char a[4];\n\na[0] = 1;",
    "a member": "struct a a;\n\na.b = 1;",
    "cases of a switch": "switch (f()) {\ncase 1:\n g();\n}",
    "what setjmp must keep": "volatile int a;\n\na = f();",
    "the end of a comment alone, and its begin": "/*\n * Says something.\n */\nf();",
    "a function as long as can be": "\n".join(["f();"] * 76),
    "a comment of two lines": "/* Says something,\n * and more. */\nf();",
    "a comment whose subject begins so": "/* The same machine runs. Often it stops. */\nf();",
    "a comment behind a statement": "f(); /* of what there is */",
    "a word that begins like it": "int a;\n\nab = 1;\nf(&a);",
}


def found(body):
    return list(dialect.problems_of("part/a.c", f"static int function(void)\n{{\n{body}\n}}\n"))


def test_tree():
    done = subprocess.run([TOP / "tools/check/dialect"], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "", done.stdout


def test_refused(body, said):
    problems = found(body)
    assert len(problems) == 1 and said in problems[0], problems


def test_allowed(body):
    problems = found(body)
    assert problems == [], problems


def test_line():
    problems = found("f();\nif (p == NULL) {\n}")
    assert problems[0].startswith("part/a.c:4: "), problems


def test_getenv():
    body = 'f(getenv("PATH"));\n'
    for folder in "runtime", "opencl", "compiler", "cache", "device-lib":
        problems = list(dialect.problems_of(f"{folder}/part/a.c", body))
        assert len(problems) == 1 and GETENV in problems[0], problems
    for name in "tools/ppucc/a.c", "tests/opencl/a.c", "compiler/frontend/fork_server.c":
        assert list(dialect.problems_of(name, body)) == [], name
    assert GETENV in next(dialect.problems_of("compiler/frontend/fork_server.c", 'f(getenv("HOME"));\n'))
    assert GETENV in next(dialect.problems_of("cache/a.c", "char *(*ask)(const char *) = getenv;\n"))
    for harmless in 'f(secure_getenv("PATH"));\n', '/* getenv("PATH") */\n', 'f("getenv(");\n':
        assert list(dialect.problems_of("cache/a.c", harmless)) == [], harmless


def test_each_getenv():
    """Every call in the tree would be found without its "secure_", and every exception is there."""
    files = [path for folder in dialect.LIBRARIES for path in sorted((TOP / folder).rglob("*.[ch]"))]
    calls = 0
    for path in files:
        source = path.read_text(encoding="utf-8")
        count = len(re.findall(r"\bsecure_getenv\(", dialect.without_text(source)))
        problems = list(dialect.problems_of(str(path.relative_to(TOP)), source.replace("secure_getenv", "getenv")))
        assert len(problems) == count and all(GETENV in problem for problem in problems), (path, count, problems)
        calls += count
    assert calls > 20, calls
    for (name, word), reason in dialect.GETENV_ALLOWED.items():
        assert re.search(rf'\bgetenv\("?{word}\b', (TOP / name).read_text()) and reason, (name, word)


tap.main([("the tree keeps the rules", test_tree), ("a problem names its line", test_line),
          ("libraries do not call getenv()", test_getenv),
          ("each call of secure_getenv() is found when it is getenv(), and no exception is stale", test_each_getenv)] +
         [(f"refused: {name}", lambda case=case: test_refused(*case)) for name, case in REFUSED.items()] +
         [(f"allowed: {name}", lambda body=body: test_allowed(body)) for name, body in ALLOWED.items()])
