#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the runner of the conformance suite: it must name what is no suite, and keep the results of programs that crash
or hang.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

FILES = ("OpenCL-CTS/test_conformance/CMakeLists.txt", "OpenCL-Headers/CL/cl.h",
         "SPIRV-Headers/include/spirv/unified1/spirv.core.grammar.json")

# A program as the suite's are; it crashes, hangs or says nothing where a subtest is called so.
PROGRAM = """#!/usr/bin/env python3
import json, os, signal, sys, time
names = ["good", "crash", "bad", "hang", "absent"]
if "--list" in sys.argv:
    print("".join(f"\\t{name}\\n" for name in names), end="")
    sys.exit()
if os.path.exists(sys.argv[0] + ".broken"):
    print("no device")
    sys.exit(1)
words = {"good": "good passed", "bad": "bad FAILED", "absent": "absent test not supported"}
results = {"good": "pass", "bad": "fail", "absent": "skip"}
chosen = [name for name in sys.argv[1:] if name in names] or names
for name in chosen:
    print(f"{name}...\\nERROR: of {name}", flush=True)
    if name == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "hang":
        time.sleep(100)
    time.sleep(0.2 if os.environ["OCL_ICD_VENDORS"].endswith("pocl.icd") else 0.4)
    print(words[name], flush=True)
with open(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"], "w") as file:
    json.dump({"results": {name: results[name] for name in chosen}}, file)
"""

NO_HANG = PROGRAM.replace('"hang", ', "")

# Makes the programs of the targets it is asked for.
CMAKE = """#!/bin/bash
[ "$1" = --build ] || exit 0
mkdir -p "$2/test_conformance/x"
for name in "$@"; do
    [[ $name != test_* ]] || { cp "$(dirname "$0")/program" "$2/test_conformance/x/$name"; chmod +x "$2/test_conformance/x/$name"; }
done
"""


# Runs a program as the guest does: the share has the name that it has there.
GUEST_RUN = """#!/usr/bin/env python3
import os, sys
words, options = sys.argv[1:], {}
while words[0].startswith("--"):
    name = words.pop(0)
    options.setdefault(name, []).append("" if name == "--opencl" else words.pop(0))
for variable in options["--env"]:
    name, value = variable.split("=", 1)
    os.environ[name] = value.replace("/share/", options["--share"][0] + "/")
assert "--opencl" in options and options["--guest"] == ["arm64"], options
print("in the guest", file=sys.stderr)
os.environ["OCL_ICD_VENDORS"] = ""
os.execv(words[0], words)
"""


class Scratch:
    def __init__(self, folder):
        self.folder, self.page, self.bin = Path(folder), Path(folder, "page.md"), Path(folder, "bin")
        for name in FILES:
            Path(folder, "suites", name).parent.mkdir(parents=True)
            Path(folder, "suites", name).touch()
        self.bin.mkdir()
        self.write("cmake", CMAKE)
        self.write("ninja", "")
        self.write("program", PROGRAM)
        self.write("aarch64-linux-gnu-g++", "")
        Path(folder, "script/tools").mkdir(parents=True)
        Path(folder, "script/tools/guest-run").write_text(GUEST_RUN)
        Path(folder, "script/tools/guest-run").chmod(0o755)

    def write(self, name, text):
        Path(self.bin, name).write_text(text)
        Path(self.bin, name).chmod(0o755)

    def run(self, *words, suites="suites", limit=8, pocl="/nowhere/pocl.icd"):
        script = re.sub(r"(\[.*\]), \d+\),$", rf"\1, {limit}),", (TOP / "tests/opencl/conformance").read_text(), flags=re.MULTILINE)
        script = re.sub(r'^GUEST_TESTS = \[$', 'GUEST_TESTS = [("vectors", ["bad", "crash", "good", "-w"], 8),', script,
                        flags=re.MULTILINE)
        script = re.sub(r'^POCL = .*$', f'POCL = "{pocl}"', script, flags=re.MULTILINE)
        script = script.replace("POCL_TIMES, POCL_LEAST_S = 4, 30", "POCL_TIMES, POCL_LEAST_S = 4, 1")
        Path(self.folder, "script/tests/opencl").mkdir(parents=True, exist_ok=True)
        path = Path(self.folder, "script/tests/opencl/conformance")
        path.write_text(script)
        return subprocess.run([sys.executable, path, "--build", self.folder / "build", "--document", self.page,
                               self.folder / suites, *words], capture_output=True, text=True, timeout=60,
                              env=os.environ | {"PATH": f"{self.bin}:{os.environ['PATH']}"}, check=False)


def in_scratch(function):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            function(Scratch(folder))
    return test


@in_scratch
def no_suite(scratch):
    Path(scratch.folder, "suites", FILES[1]).unlink()
    done = scratch.run()
    assert done.returncode == 2 and "OpenCL-Headers is no checkout" in done.stderr, done
    done = scratch.run(suites="nowhere")
    assert done.returncode == 2 and "nowhere/OpenCL-CTS is no checkout" in done.stderr, done


@in_scratch
def no_such_test(scratch):
    done = scratch.run("nonsense")
    assert done.returncode == 2 and "no test is called like nonsense" in done.stderr, done


@in_scratch
def no_tool(scratch):
    os.environ["PATH"], path = "/nowhere", os.environ["PATH"]
    try:
        Path(scratch.bin, "ninja").unlink()
        done = scratch.run("pipes")
    finally:
        os.environ["PATH"] = path
    assert done.returncode == 2 and "there is no ninja: install Debian's package ninja-build" in done.stderr, done


@in_scratch
def does_not_build(scratch):
    scratch.write("cmake", "#!/bin/bash\necho 'the disk is full'\nexit 3\n")
    done = scratch.run("pipes")
    assert done.returncode == 2 and "the disk is full" in done.stderr and "status 3" in done.stderr, done


@in_scratch
def crashes_and_hangs(scratch):
    done = scratch.run("pipes")
    assert done.returncode == 1, done
    results = json.loads(Path(scratch.folder, "build/results.json").read_text())["pipes"]["results"]
    assert results == {"good": ["pass", "ERROR: of good"], "crash": ["fail", "killed by SIGSEGV"],
                       "bad": ["fail", "ERROR: of bad"], "hang": ["fail", "still running after 8 s"],
                       "absent": ["skip", "ERROR: of absent"]}, results
    page = scratch.page.read_text()
    assert "| pipes | 5        | 1      | 3      | 1 " in page, page
    assert "- pipes: `crash`: killed by SIGSEGV" in page, page
    done = scratch.run("subgroups")
    assert "- pipes: `crash`: killed by SIGSEGV" in scratch.page.read_text()


@in_scratch
def does_not_start(scratch):
    scratch.run("pipes")
    next(Path(scratch.folder, "build").glob("**/test_pipes")).with_suffix(".broken").touch()
    done = scratch.run("pipes")
    assert done.returncode == 1 and done.stdout.count("exit status 1 before its first subtest") == 5, done


# Its subtests are not for this version, or say why between rules; more follows the last one.
SKIPPING = """#!/usr/bin/env python3
import json, os, sys
names = ["ruled", "newer"]
if "--list" in sys.argv:
    print("".join(f"\\t{name}\\n" for name in names), end="")
    sys.exit()
print("ruled...\\n-----\\nno such images\\n-----\\nruled test not supported")
print("newer...\\nnewer skipped (requires 3.1)\\nPASSED test.\\nThread pool exited.", flush=True)
with open(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"], "w") as file:
    json.dump({"results": {name: "skip" for name in names}}, file)
"""


def results_of(scratch, name):
    return json.loads(Path(scratch.folder, "build/results.json").read_text())[name]["results"]


@in_scratch
def why_skipped(scratch):
    scratch.write("program", SKIPPING)
    scratch.run("pipes")
    results = results_of(scratch, "pipes")
    assert results == {"ruled": ["skip", "no such images"], "newer": ["skip", "newer skipped (requires 3.1)"]}, results


# It runs what is named alone, and never says what became of the second.
SILENT = """#!/usr/bin/env python3
import json, os, sys
if "--list" in sys.argv:
    print("\\tone\\n\\ttwo")
    sys.exit()
with open(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"], "w") as file:
    json.dump({"results": {name: "pass" for name in sys.argv[1:] if name == "one"}}, file)
"""


@in_scratch
def nothing_said(scratch):
    scratch.write("program", SILENT)
    done = scratch.run("pipes")
    results = results_of(scratch, "pipes")
    assert results == {"one": ["pass", ""], "two": ["fail", "the program says nothing of it"]}, results
    assert done.returncode == 1, done


@in_scratch
def not_reached_in_time(scratch):
    done = scratch.run("--minutes", "0.05", "pipes", limit=60)
    results = results_of(scratch, "pipes")
    assert results["hang"] == results["absent"] == ["late", "the test's time was over (3 s)"], results
    assert done.returncode == (1 if any(result == "fail" for result, _ in results.values()) else 0), done
    late = sum(result == "late" for result, _ in results.values())
    assert re.search(rf"^\| pipes \| 5 .*\| {late} +\| \d+ +\|$", scratch.page.read_text(), re.MULTILINE), scratch.page.read_text()
    assert f"{late} not reached" in done.stdout, done
    scratch.run("--left", "pipes")
    assert {name: result for name, (result, _) in results_of(scratch, "pipes").items()} == {
        "good": "pass", "crash": "fail", "bad": "fail", "hang": "fail", "absent": "skip"}, results_of(scratch, "pipes")


@in_scratch
def only_what_is_left(scratch):
    scratch.run("pipes")
    before = results_of(scratch, "pipes")
    scratch.run("--left", "pipes")
    log = Path(scratch.folder, "build/pipes.log").read_text()
    assert results_of(scratch, "pipes") == before, (results_of(scratch, "pipes"), before)
    assert "good..." not in log and "absent..." not in log and "crash..." in log, log


@in_scratch
def results_from_the_page(scratch):
    scratch.write("program", NO_HANG)
    scratch.run("pipes")
    before, page = results_of(scratch, "pipes"), scratch.page.read_text()
    kept = Path(scratch.folder, "build/results.json")
    kept.unlink()
    scratch.run("subgroups")
    assert "- pipes: `crash`: killed by SIGSEGV" in scratch.page.read_text(), scratch.page.read_text()
    row = r"^\| pipes +\| 4 +\| 1 +\| 2 +\| 1 +\| 0 +\| \d+ +\|$"
    assert re.search(row, page, re.MULTILINE) and re.search(row, scratch.page.read_text(), re.MULTILINE), (page, scratch.page.read_text())
    kept.unlink()
    scratch.run("--left", "pipes")
    log = Path(scratch.folder, "build/pipes.log").read_text()
    assert "good..." not in log and "absent..." not in log and "crash..." in log, log
    after = results_of(scratch, "pipes")
    assert {name: result[0] for name, result in after.items()} == {name: result[0] for name, result in before.items()}, after
    assert after["absent"] == before["absent"], after


@in_scratch
def another_suite_than_the_page(scratch):
    scratch.write("program", NO_HANG)
    scratch.run("pipes")
    Path(scratch.folder, "build/results.json").unlink()
    page = scratch.page.read_text()
    scratch.page.write_text(page.replace("of unknown revision", "abcdef of 2020-01-01"))
    scratch.run("--left", "subgroups")
    assert "pipes" not in scratch.page.read_text(), scratch.page.read_text()
    Path(scratch.folder, "build/results.json").unlink()
    scratch.page.write_text(re.sub(r"^(\| pipes +\| 4 +\|) 1 ", r"\1 7 ", page, flags=re.MULTILINE))
    scratch.run("--left", "pipes")
    log = Path(scratch.folder, "build/pipes.log").read_text()
    assert "good..." in log and "absent..." in log, log


@in_scratch
def some_beside_pocl(scratch):
    pocl = scratch.folder / "pocl.icd"
    pocl.touch()
    scratch.write("program", NO_HANG.replace('"bad": "fail"', '"bad": "pass"').replace("bad FAILED", "bad passed"))
    scratch.run("vectors", pocl=pocl)
    scratch.run("--compare", "bad", "vectors", pocl=pocl)
    told = r"^- vectors: [\d.]+ s, pocl [\d.]+ s, 1 subtests that pass on both, `bad`$"
    assert re.search(told, scratch.page.read_text(), re.MULTILINE), scratch.page.read_text()
    Path(scratch.folder, "build/results.json").unlink()
    scratch.run("pipes", pocl=pocl)
    assert re.search(told, scratch.page.read_text(), re.MULTILINE), scratch.page.read_text()


@in_scratch
def unended_on_pocl(scratch):
    pocl = scratch.folder / "pocl.icd"
    pocl.touch()
    wait = "    time.sleep(0.2"
    scratch.write("program", NO_HANG.replace('"bad": "fail"', '"bad": "pass"').replace("bad FAILED", "bad passed").replace(
        wait, f'    if name == "bad" and os.environ["OCL_ICD_VENDORS"].endswith("pocl.icd"):\n        time.sleep(100)\n{wait}'))
    done = scratch.run("--compare", "*d", "vectors", pocl=pocl)
    row = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    ours, other = (float(number) for number in re.match(r"([\d.]+) s beside ([\d.]+) s of pocl", row["note"]).groups())
    words = "1 subtests that pass on both and 1 that pocl had not ended"
    assert words in row["note"] and 0.7 <= ours < 2 and 1.6 < other < 10 and abs(row["value"] - ours / other) < 0.01, row
    told = rf"^- vectors: {ours} s, pocl {other} s, {words}$"
    scratch.run("vectors", pocl=pocl)
    Path(scratch.folder, "build/results.json").unlink()
    scratch.run("pipes", pocl=pocl)
    assert re.search(told, scratch.page.read_text(), re.MULTILINE), (told, scratch.page.read_text())


@in_scratch
def beside_pocl(scratch):
    pocl = scratch.folder / "pocl.icd"
    pocl.touch()
    done = scratch.run("--pocl", "vectors", pocl=pocl)
    row = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    ours, other = (float(number) for number in re.match(r"([\d.]+) s beside ([\d.]+) s of pocl", row["note"]).groups())
    assert row["name"] == "cts.vectors.vs_pocl" and row["budget"] == 2, row
    assert ours >= 0.3 and other >= 0.1 and abs(row["value"] - ours / other) < 0.01, row
    told = f"- vectors: {ours} s, pocl {other} s, 1 subtests that pass on both"
    assert told in scratch.page.read_text(), scratch.page.read_text()
    log = Path(scratch.folder, "build/vectors-pocl.log").read_text()
    assert "good..." in log and "bad..." not in log and "crash..." not in log, log
    before = results_of(scratch, "vectors")
    done = scratch.run("--compare", "g*d absent", "vectors", pocl=pocl)
    row = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert done.returncode == 0 and row["name"] == "cts.vectors.vs_pocl" and results_of(scratch, "vectors") == before, done
    told = re.search(r"^- vectors: [\d.]+ s, pocl [\d.]+ s, 1 subtests that pass on both$", scratch.page.read_text(), re.MULTILINE)[0]
    done = scratch.run("--compare", "bad", "vectors", pocl=pocl)
    assert done.returncode == 0 and "vectors: none of these subtests passes both here and on pocl" in done.stdout, done
    assert told in scratch.page.read_text(), scratch.page.read_text()
    done = scratch.run("--compare", "nothing", "vectors", pocl=pocl)
    assert done.returncode == 2 and "vectors has no subtest like nothing" in done.stderr, done
    done = scratch.run("--pocl", "pipes", pocl=pocl)
    assert not any(line.startswith("{") for line in done.stdout.splitlines()), done
    assert told in scratch.page.read_text(), scratch.page.read_text()
    pocl.unlink()
    done = scratch.run("--pocl", "vectors", pocl=pocl)
    assert done.returncode == 2 and "install Debian's package pocl-opencl-icd" in done.stderr, done


@in_scratch
def in_full_mode(scratch):
    scratch.write("program", NO_HANG.replace('print("".join', 'sys.stdout.write("".join').replace(', end=""', "").replace(
        "for name in chosen:", 'print(*sys.argv[1:], flush=True)\nfor name in chosen:', 1))
    scratch.run("pipes")
    done = scratch.run("--full", "--minutes", "0.03", "brute")
    assert done.returncode in (0, 1) and done.stdout.count("math_brute_force") < 12, done
    done = scratch.run("--full")
    assert done.returncode == 1 and "ok     math_brute_force good, double: passed" in done.stdout, done
    assert re.search(r"FAIL   math_brute_force crash, float: failed \(\d+ s\): killed by SIGSEGV", done.stdout), done
    assert "ok     conversions good, all: passed" in done.stdout and "pipes" not in done.stdout, done
    row = r"^\| good +\| \d+ +\| \d+ +\| \d+ +\|$"
    for kept in (True, False):  # a fresh checkout has the page alone
        page = scratch.page.read_text()
        full = page.split("## In full mode")[1].split("## In the guest")[0]
        assert re.search(row, full, re.MULTILINE) and "Of 12 parts 3 passed, 6 failed, 3 did not apply, and 0 did not run" in (
            full.replace("\n", " ")), full
        assert "- `crash` double: killed by SIGSEGV" in full and re.search(r"^\| absent +\| n/a ", full, re.MULTILINE), full
        assert re.search(r"^\| pipes +\| 4 ", page, re.MULTILINE) and "- pipes: `crash`" in page.split("## In the guest")[1], page
        if not kept:
            Path(scratch.folder, "build/full-results.json").unlink()
        done = scratch.run("--full", "brute")
        log = Path(scratch.folder, "build/math_brute_force-full.log").read_text()
        assert "good" not in done.stdout and "absent" not in done.stdout and done.stdout.count("crash") == 3, done
        assert re.match(r"-f -g -r (bad|crash)\n", log), log


@in_scratch
def in_guest(scratch):
    scratch.write("program", NO_HANG)
    scratch.run("pipes")
    done = scratch.run("--guest", "vectors")
    results = json.loads(Path(scratch.folder, "build/guest-results.json").read_text())["vectors"]
    assert results["arguments"] == ["-w"] and results["results"] == {
        "good": ["pass", "ERROR: of good"], "bad": ["fail", "ERROR: of bad"], "crash": ["fail", "killed by SIGSEGV"]
    }, results
    assert done.returncode == 1 and "FAIL   vectors: 1 passed, 2 failed" in done.stdout, done
    assert "in the guest" in Path(scratch.folder, "build/vectors-guest.log").read_text()
    rows = (r"^\| pipes +\| 4 +\| 1 +\| 2 +\| 1 +\| 0 ", r"^\| vectors +\| 3 +\| 1 +\| 2 +\| 0 +\| 0 ")
    for kept in ("results.json", "guest-results.json"):  # a fresh checkout has the page alone
        page = scratch.page.read_text()
        native, guest = page.split("## In the guest")
        assert re.search(rows[0], native, re.MULTILINE) and re.search(rows[1], guest, re.MULTILINE), page
        assert "- vectors: `bad`: ERROR: of bad" in guest.split("## What failed")[0], page
        assert "vectors" not in guest.split("## What failed")[1], page
        Path(scratch.folder, "build", kept).unlink()
        scratch.run("subgroups")


tap.main([
    ("a folder that is no suite is named", no_suite),
    ("a test that there is not is named", no_such_test),
    ("a tool that is missing is named with its package", no_tool),
    ("a suite that does not build shows why", does_not_build),
    ("subtests that crash or hang fail alone", crashes_and_hangs),
    ("what is skipped is told with its own last words", why_skipped),
    ("all subtests are named, and one that nothing is said of fails", nothing_said),
    ("subtests that a test has no time for are not reached, and can be run later", not_reached_in_time),
    ("only subtests that did not pass run again when asked", only_what_is_left),
    ("results of a fresh checkout go on from the document", results_from_the_page),
    ("the document of another suite counts for nothing", another_suite_than_the_page),
    ("times are told beside pocl's, of what passes on both", beside_pocl),
    ("times of some subtests are told with their names", some_beside_pocl),
    ("a subtest that pocl does not end is told apart", unended_on_pocl),
    ("what has a short mode runs whole, part by part, and goes on later", in_full_mode),
    ("what runs in the guest has results of its own, and a part of the document", in_guest),
    ("a program that does not start fails with all its subtests", does_not_start),
])
