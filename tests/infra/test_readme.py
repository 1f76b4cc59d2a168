#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks README.md: its folders are those of the tree, what it links to exists, its commands are ones that make
knows, and what people come for stands first.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PEERS = ("Vortex", "gem5", "Accel-Sim", "Oclgrind", "pocl")
# What a peer's cell may say without a source: that nothing is known, or that it does not apply.
NOTHING_SAID = ("?", "-")


# What people come for, in this order; all else stands behind it.
FIRST = ("Two commands", "OpenCL in five lines", "Change the firmware")
# Features that ours does not have, or does not claim: a document says why. All others have tests.
WITHOUT_TESTS = ("OpenCL conformance", "counts cycles as a chip would")


def problems_of(text, folders, exists, targets, programs):
    """What is wrong with a README, as sentences; all that it is compared with is given."""
    return [*wrong_order(text), *wrong_folders(text, folders), *wrong_links(text, exists), *wrong_commands(text, targets),
            *wrong_features(text), *wrong_programs(text, programs)]


def wrong_order(text):
    headings = re.findall(r"^## (.*)$", text, re.M)
    if tuple(headings[:len(FIRST)]) != FIRST:
        yield f"the first sections are {', '.join(headings[:len(FIRST)])}; they must be {', '.join(FIRST)}"


def wrong_programs(text, programs):
    """The row of tools/ names the programs that there are, `a-{b,c}` two of them."""
    row = next((row[1] for row in table(text, "folder", "what") if row[0] == "`tools/`"), "")
    named = {before + name for before, names in re.findall(r"`([\w-]+)(?:\{([\w,]+)\})?`", row) for name in names.split(",")}
    yield from (f"the row of tools/ does not name {name}" for name in sorted(programs - named))
    yield from (f"the row of tools/ names {name}, which is not there" for name in sorted(named - programs))


def table(text, *header):
    """Rows of the table that begins with these cells, each a list of cells."""
    found = re.search(rf"^\| *{' *[|] *'.join(map(re.escape, header))}.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found[1].strip().split("\n")] if found else []


def wrong_folders(text, folders):
    listed = [re.fullmatch(r"`([^`/]+)/`", row[0])[1] for row in table(text, "folder", "what")]
    yield from (f"the table of folders does not have {name}/" for name in sorted(folders - set(listed)))
    yield from (f"the table of folders has {name}/, which is not in the tree" for name in sorted(set(listed) - folders))
    yield from (f"the table of folders has {name}/ twice" for name in sorted({n for n in listed if listed.count(n) > 1}))


def anchors(text):
    """What a heading is called in a link."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def wrong_links(text, exists):
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[\w+\]: (\S+)$", text, re.M)
    for target in targets:
        if target.startswith("#"):
            if target[1:] not in anchors(text):
                yield f"a link to {target}, which is no heading"
        elif not target.startswith("https://") and not exists(target):
            yield f"a link to {target}, which does not exist"


def wrong_commands(text, targets):
    for names in re.findall(r"^(?:    )?make((?: [a-z-]+)*)(?= |$)", text, re.M):
        yield from (f"make {name}: no such target" for name in names.split() if name not in targets)


def wrong_features(text):
    rows = table(text, "", "PPU")
    if not rows:
        yield "no table of features"
    sources = set(re.findall(r"^(\d+)\. .*https://", text, re.M))
    references = dict(re.findall(r"^\[(\w+)\]: (\S+)$", text, re.M))
    for feature, ours, *others in rows:
        linked = re.fullmatch(r"\[[^\]]+\]\[(\w+)\]", ours)
        if not linked or linked[1] not in references:
            yield f"{feature}: no test or document is behind our cell"
        elif feature not in WITHOUT_TESTS and not references[linked[1]].startswith("tests/"):
            yield f"{feature}: {references[linked[1]]} is behind our cell, which is no test"
        if len(others) != len(PEERS):
            yield f"{feature}: {len(others)} peers"
        for peer, cell in zip(PEERS, others):
            source = re.search(r"\[(\d+)\]$", cell)
            if cell not in NOTHING_SAID and not (source and source[1] in sources):
                yield f"{feature}: no source is behind the cell of {peer}"


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], cwd=TOP, capture_output=True, text=True, check=True).stdout.split()


def tree():
    return {file.split("/")[0] for file in tracked() if "/" in file and not file.startswith(".")}


def make_targets():
    rules = "\n".join((TOP / file).read_text() for file in tracked("Makefile", "*.mk"))
    return {name for names in re.findall(r"^\.PHONY: (.*)$", rules, re.M) for name in names.split()}


def programs_of_tools():
    """What is installed, and the scripts of tools/."""
    names = re.findall(r"^INSTALLED_(?:PROGRAMS|SCRIPTS) := (.*)$", (TOP / "packaging/build.mk").read_text(), re.M)
    return {name for line in names for name in line.split()} | {"guest-run"}


def test_readme():
    problems = problems_of((TOP / "README.md").read_text(), tree(), lambda name: (TOP / name).exists(), make_targets(),
                           programs_of_tools())
    assert not problems, "\n".join(problems)


GOOD = """# Name
## Two commands
```sh
make demo
```
## OpenCL in five lines
## Change the firmware
## More
| | PPU | Vortex | gem5 | Accel-Sim | Oclgrind | pocl |
|---|---|---|---|---|---|---|
| a | [yes][p1] | no [1] | ? | - | ? | ? |

[p1]: tests/there
| folder | what |
|---|---|
| `src/` | all |
| `tools/` | `cc`, `ppu-{x,y}` and more |

[here](there), [below](#name)
1. [it](https://x)
"""

# what is changed in it, and the sentence that must come of it
MISTAKES = {
    "what people come for, too far behind": ("## Change the firmware\n## More", "## More\n## Change the firmware", "OpenCL in five lines, More"),
    "a program that is not named": ("`cc`, ", "", "does not name cc"),
    "a program that is not there": ("{x,y}", "{x,y,dd}", "names ppu-dd, which is not there"),
    "a cell of ours with a document though there are tests": ("[p1]: tests/there", "[p1]: there", "there is behind our cell, which is no test"),
    "a folder that is not in the table": ("`src/`", "`lib/`", "does not have src/"),
    "a folder that is not in the tree": ("| `src/` | all |", "| `src/` | all |\n| `old/` | gone |", "has old/, which is not in the tree"),
    "a link to nothing": ("(there)", "(gone)", "link to gone"),
    "a heading that is none": ("(#name)", "(#names)", "#names, which is no heading"),
    "a command that make does not know": ("make demo", "make demonstration", "make demonstration: no such target"),
    "a cell of ours without a link": ("[yes][p1]", "yes", "a: no test or document"),
    "a cell whose link is to nothing": ("[p1]: tests/there", "[p1]: tests/gone", "link to tests/gone"),
    "a peer's cell without a source": ("no [1]", "no", "a: no source is behind the cell of Vortex"),
    "a peer's cell with a source that is not listed": ("no [1]", "no [2]", "a: no source is behind the cell of Vortex"),
    "a peer that is left out": ("| - | ? | ? |", "| - | ? |", "a: 4 peers"),
    "a table that is gone": ("| | PPU |", "| | QPU |", "no table of features"),
}


def check(text):
    return problems_of(text, {"src", "tools"}, lambda name: name in ("there", "tests/there"), {"demo"}, {"cc", "ppu-x", "ppu-y"})


def test_good():
    assert check(GOOD) == [], check(GOOD)


def test_mistake(old, new, sentence):
    assert old in GOOD
    problems = check(GOOD.replace(old, new, 1))
    assert any(sentence in problem for problem in problems), problems


tap.main([("README.md is true", test_readme), ("a README without mistakes passes", test_good)] + [
    (f"found: {name}", lambda mistake=mistake: test_mistake(*mistake)) for name, mistake in MISTAKES.items()])
