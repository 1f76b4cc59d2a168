#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the runner of the fuzz targets, with scripts in place of libFuzzer programs: what it keeps, counts and
refuses.
"""

import base64
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SAYS = 'echo "#3 INITED cov: 10 ft: 30 corp: 5/6b"; echo "#7 DONE   cov: 12 ft: 34 corp: 5/6b lim: 4"; echo "stat::number_of_executed_units: 1000"'
FINDS = f'''for a; do case $a in -artifact_prefix=*) echo x >"${{a#*=}}crash-1";; esac; done
{SAYS}; echo "SUMMARY: AddressSanitizer: something"; echo "saved to crash-1"; exit 77'''


class Scratch:
    """A project of one target, whose program is a script."""

    def __init__(self, script):
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name)
        (self.path / "build").mkdir()
        program, source = self.path / "program", self.path / "one.c"
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)
        source.write_text("/*\n * Surface: bytes of version 1.2 that\n * somebody sends. More.\n */\n")
        (self.path / "build/fuzz.list").write_text(f"one\t{program}\t{source}\t-max_len=9\t-fork=1\t\n")

    def run(self, *arguments):
        done = subprocess.run([TOP / "tests/fuzz/run", *arguments], capture_output=True, text=True, timeout=50,
                              env=os.environ | {"PPU_FUZZ_TOP": str(self.path), "PPU_CACHE": str(self.path / "cache")})
        return done.returncode, done.stdout + done.stderr

    def read(self, name):
        return (self.path / name).read_text()


def test_list():
    status, output = Scratch("true").run("list")
    assert status == 0 and "bytes of version 1.2 that somebody sends\n" in output, output


def test_sums():
    scratch = Scratch(SAYS)
    for jobs in ("1", "2"):
        status, output = scratch.run("fuzz", "--time", "1", "--jobs", jobs, "one")
        assert status == 0 and "12 edges" in output, output
    status, output = scratch.run("report")
    assert "- one: bytes of version 1.2 that somebody sends\n" in output, output
    assert "| one | 3,000 | 0.00 | 12 | 0 |" in output, output


def test_saved_sums():
    scratch = Scratch(SAYS)
    (scratch.path / "tests/fuzz").mkdir(parents=True)
    for total in ("1,000", "2,000", "3,000"):
        scratch.run("fuzz", "--time", "1", "one")
        assert f"| {total} |" in scratch.run("report", "--save")[1]
    assert scratch.read("tests/fuzz/record.txt").count("one: 3000 executions") == 1
    assert not (scratch.path / "cache/fuzz/record.txt").exists()


def test_edges_anew():
    """Of another part of the program with coverage the edges are others, and may be fewer."""
    scratch = Scratch(SAYS)
    (scratch.path / "tests/fuzz").mkdir(parents=True)
    (scratch.path / "tests/fuzz/record.txt").write_text("2026-01-01 one: 10 executions, 7200.0 s, 500 edges, 1 findings\n"
                                                        "2026-01-02 one: 10 executions, 0.0 s, 600 edges, 0 findings\n"
                                                        "2026-01-02 one: edges anew\n")
    for _ in range(2):
        scratch.run("fuzz", "--time", "1", "one")
        output = scratch.run("report", "--save")[1]
    assert "| one | 2,020 | 2.00 | 12 | 1 |" in output, output
    assert "2026-01-02 one: edges anew\n2026-01-02 one: 10 executions, 0.0 s, 0 edges" in scratch.read("tests/fuzz/record.txt")


def test_finding():
    scratch = Scratch(FINDS)
    status, output = scratch.run("fuzz", "--time", "1", "one")
    assert status == 1 and "AddressSanitizer: something" in output, output
    assert f"again:   {scratch.path}/program -max_len=9 build/fuzz/findings/one/crash-1\n" in output, output
    assert "SUMMARY" in scratch.read("build/fuzz/findings/one/crash-1.log")
    assert ", 1 findings" in scratch.read("cache/fuzz/record.txt")


def test_goes_on_without_an_input():
    scratch = Scratch('''for a; do case $a in -artifact_prefix=*) echo x >"${a#*=}timeout-1";; -fork=1) long=1;; esac; done
[ "$long" ] && echo "#73: cov: 14 ft: 54 corp: 9 exec/s: 24 oom/timeout/crash: 0/1/0 time: 1s job: 1 dft_time: 0"''')
    status, output = scratch.run("fuzz", "--time", "1", "one")
    assert status == 0 and f"again:   {scratch.path}/program -max_len=9 build/fuzz/findings/one/timeout-1\n" in output, output
    assert "one: 73 executions" in scratch.read("cache/fuzz/record.txt")
    assert "14 edges, 0 findings" in scratch.read("cache/fuzz/record.txt")


def test_unknown_target():
    status, output = Scratch("true").run("fuzz", "two")
    assert status != 0 and "no target 'two'" in output, output


def test_corpus():
    merge = 'for a; do [ -d "$a" ] && folder=${folder:-$a}; done; printf abc >"$folder/x"; head -c 90000 /dev/zero >"$folder/y"'
    scratch = Scratch(merge)
    status, output = scratch.run("corpus", "one")
    lines = scratch.read("tests/fuzz/corpus/one.b64").splitlines()
    assert status == 0 and "1 of 2 inputs" in output, output
    assert [base64.b64decode(line) for line in lines if not line.startswith("#")] == [b"abc"], lines


def test_as_a_test():
    for script, failed in ((SAYS, []), (FINDS, ["find nothing", "finds nothing"]),
                           (SAYS.replace("cov: 10", "cov: $$"), ["covers the same"]),
                           (SAYS.replace("cov: 12", "cov: $$"), []), (SAYS.replace("INITED", "READ"), ["covers the same"])):
        status, output = Scratch(script).run("test", "one")
        bad = [line for line in output.splitlines() if line.startswith("not ok")]
        assert len(bad) == len(failed) and all(part in line for part, line in zip(failed, bad)), output
        assert (status != 0) == bool(failed) and output.startswith("1..3\n"), output


def test_depends_on_the_tree_alone():
    scratch = Scratch(f"cat /proc/self/personality >>personality; echo \"$@\" >>arguments; {SAYS}")
    status, output = scratch.run("test", "one")
    short = scratch.read("arguments").splitlines()[-1]
    assert status == 0 and "-seed=1 -runs=500 " in short, output + short
    fixed = int(scratch.read("personality").split()[-1], 16) & 0x40000
    assert fixed or not may_fix_addresses(), scratch.read("personality")


def test_orphans():
    """What a program has started counts, also when it has not waited for it."""
    scratch = Scratch(f"timeout 1 bash -c 'while :; do :; done' & {SAYS}")
    scratch.run("fuzz", "--time", "1", "one")
    seconds = float(re.search(r"executions, ([\d.]+) s", scratch.read("cache/fuzz/record.txt"))[1])
    assert seconds > 0.2, seconds


def test_documented():
    """docs/security.md lists every target, and has its row."""
    text = (TOP / "docs/security.md").read_text()
    targets = {path.stem for path in (TOP / "tests/fuzz").glob("*.mk") if "call ppu_fuzz," in path.read_text()}
    surfaces = text[text.index("\n- admin: "):text.index("\n| target |")]
    assert set(re.findall(r"^- ([a-z-]+): ", surfaces, re.M)) == targets
    assert set(re.findall(r"^\| ([a-z-]+) \| [\d,]+ \|", text, re.M)) == targets


def may_fix_addresses():
    """Containers may forbid it."""
    return subprocess.run(["setarch", "--addr-no-randomize", "true"], capture_output=True).returncode == 0


tap.main([
    ("targets are listed by surface", test_list),
    ("executions of runs and processes add up", test_sums),
    ("what a program leaves behind is counted", test_orphans),
    ("the record goes into the tree once", test_saved_sums),
    ("edges before other parts had coverage are no longer counted", test_edges_anew),
    ("a run goes on without an input that never ends", test_goes_on_without_an_input),
    ("a finding is kept with the command that shows it again", test_finding),
    ("the security page lists every target", test_documented),
    ("a target that does not exist is named", test_unknown_target),
    ("the corpus in the tree stays small", test_corpus),
    ("as a test: findings and changing coverage fail", test_as_a_test),
    ("as a test: a number of runs from a fixed seed at fixed addresses", test_depends_on_the_tree_alone),
])
