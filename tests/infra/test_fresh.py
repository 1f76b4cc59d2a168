#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests tools/fresh/run on a root that has bash, sleep, and a make that does what a test says: it needs no network and
no minute.
"""

import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

RUN = TOP / "tools/fresh/run"
SMALL = ("README.md", "tools/fresh", "tools/setup/progress.sh", "tests/bench/setup.py")
MARK = "3141592"  # seconds that nobody else sleeps


def module():
    loader = importlib.machinery.SourceFileLoader("fresh", str(RUN))
    loaded = importlib.util.module_from_spec(importlib.util.spec_from_loader("fresh", loader))
    loader.exec_module(loaded)
    return loaded


class Cache:
    """A cache that holds an archive of such a root, and a checkout of what makes and enters roots alone: a clone of it is
    made at once. `top`: the checkout to use instead.
    """

    def __init__(self, script, apt="true", top=None):
        self.scripts = {"make": script, "apt-get": apt}
        self.top = top

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name)
        self.top = self.top or self.checkout()
        root = self.path / "root"
        for folder in ("proc", "sys", "dev", "etc", "root", "tmp", "bin"):
            (root / folder).mkdir(parents=True)
        for command in ("bash", "sleep", "ls"):
            self.copy(shutil.which(command), root / "bin" / command)
            for library in re.findall(r"(/\S+) \(", subprocess.run(["ldd", shutil.which(command)], capture_output=True, text=True, check=True).stdout):
                self.copy(library, root / library.lstrip("/"))
        for command, script in self.scripts.items():
            (root / "bin" / command).write_text(f"#!/bin/bash\n{script}\n")
            (root / "bin" / command).chmod(0o755)
        (self.path / "cache/fresh").mkdir(parents=True)
        (self.path / "cache/of-this-machine").write_text("")
        subprocess.run(["tar", "-C", root, "-cf", self.path / "cache/fresh/root.tar", "."], check=True)
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def checkout(self):
        top = self.path / "checkout"
        for name in SMALL:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (TOP / name).is_dir() else shutil.copy)(TOP / name, top / name)
        for words in "init", "add .", "-c user.name=a -c user.email=a@example.com commit -m all":
            subprocess.run(["git", *words.split()], cwd=top, check=True, capture_output=True)
        return top

    @staticmethod
    def copy(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def start(self, *arguments):
        return subprocess.Popen([self.top / "tools/fresh/run", "--only", "make demo", "--log", self.path / "logs", *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment())

    def environment(self):
        return os.environ | {"PPU_CACHE": str(self.path / "cache")}

    def run(self, *arguments):
        process = self.start(*arguments)
        printed, _ = process.communicate(timeout=100)
        return process.returncode, printed


def running():
    """Numbers of the processes that a test left running."""
    return [file.parent.name for file in Path("/proc").glob("[0-9]*/cmdline") if command_of(file) == ["sleep", MARK]]


def command_of(file):
    """None: the process has ended meanwhile."""
    try:
        return file.read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return None


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def roots(pid):
    return list(Path("/var/tmp").glob(f"ppu-fresh-{pid}-*"))


def test_commands_of_the_readme():
    text = "a\n```sh\nmake demo   # all\n```\n    make other\n```sh\nmake && ./x\n./y\n```\n"
    assert module().blocks(text) == ["make demo   # all", "make && ./x\n./y"]
    listed = subprocess.run([RUN, "--list"], capture_output=True, text=True, check=True).stdout
    for command in ("make", "make demo", "make test"):
        assert re.search(rf"^{command}($| *#| *&&)", listed, re.M), listed


def test_success():
    with Cache('echo "it was: $*"; [ -f tests/infra/test_fresh.py ] && [ "$PWD" = /root/ppu ]', top=TOP) as cache:
        status, printed = cache.run()
        assert status == 0 and re.search(r"make demo \.\.\. ok, \d+ s .*: it was: demo$", printed, re.M), printed
        assert printed.endswith("1 passed, 0 failed\n"), printed


def test_others():
    """Each command of the README is the first in one root, and follows each other in the others."""
    with Cache("true") as cache:
        (cache.top / "README.md").write_text("".join(f"```sh\nmake {goal}\n```\n" for goal in ("demo", "test", "lint")))
        status, printed = cache.run("--only", "make test", "--only", "make lint", "--others")
        assert status == 0 and printed.endswith("9 passed, 0 failed\n"), printed
        names = re.findall(r"FRESH +(.*) \.\.\. ok", printed)
        assert names == ["make demo", "make test, after make demo", "make lint, after make demo and make test",
                         "make test", "make lint, after make test", "make demo, after make test and make lint",
                         "make lint", "make demo, after make lint", "make test, after make lint and make demo"], names


def test_others_stop():
    """What follows a command that has failed is not run."""
    with Cache('[ "$*" = demo ]') as cache:
        (cache.top / "README.md").write_text("".join(f"```sh\nmake {goal}\n```\n" for goal in ("demo", "test", "lint")))
        status, printed = cache.run("--only", "make test", "--only", "make lint", "--others")
        assert status == 1 and printed.endswith("1 passed, 3 failed\n"), printed


def test_commit():
    """A checkout of a commit that is the last of no branch."""
    with Cache("echo done") as cache:
        for words in "checkout --quiet --detach", "-c user.name=a -c user.email=a@example.com commit --quiet --allow-empty -m more":
            subprocess.run(["git", *words.split()], cwd=cache.top, check=True)
        status, printed = cache.run()
        assert status == 0 and re.match(r"  FRESH +make demo \.\.\. ok, ", printed), printed


def test_failure():
    with Cache("echo the reason; exit 3") as cache:
        status, printed = cache.run()
        assert status == 1 and "FAILED" in printed and "the reason" in printed, printed
        assert printed.endswith("0 passed, 1 failed\n"), printed


def test_caches():
    script = "ls /root/.cache/ppu/of-this-machine"
    with Cache(script) as cache:
        assert cache.run()[0] == 0
        assert cache.run("--cold")[0] == 1


def test_no_command():
    with Cache("true") as cache:
        status, printed = cache.run("--without", "make demo")
        assert status == 1 and printed.endswith("0 passed, 0 failed\n"), printed


def test_possible():
    for apt, wanted in (("true", 0), ("echo no network; exit 100", 1)):
        with Cache("exit 1", apt) as cache:
            status, printed = cache.run("--possible")
            assert status == wanted and "make demo" not in printed, printed
            assert wanted == 0 or "no network" in printed, printed


def test_rows_from_nothing():
    with Cache('echo "3 passed, 0 failed"') as cache:
        done = subprocess.run([cache.top / "tests/bench/setup.py"], capture_output=True, text=True, env=cache.environment(), timeout=100)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0, done.stderr
        assert [(row["name"], row["budget"]) for row in rows] == [("setup.cold_demo_s", 360), ("setup.cold_test_s", 1200)], rows
        assert all("first on a bare Debian 12" in row["note"] and "3 passed" in row["note"] for row in rows), rows


def mounts():
    """What is mounted of roots; some is, when the tests themselves run in one."""
    return sorted(line.split()[3:5] for line in Path("/proc/self/mountinfo").read_text().splitlines() if "ppu-fresh" in line)


def check_interrupted(number, again=False):
    before = mounts()
    with Cache(f"sleep {MARK} & sleep {MARK}") as cache:
        process = cache.start()
        assert within(60, lambda: len(running()) == 2), "it does not run"
        os.kill(process.pid, number)
        while again and process.poll() is None:
            time.sleep(0.005)
            os.kill(process.pid, number)
        process.wait(60)
        assert within(20, lambda: not running()), running()
        if number != signal.SIGKILL:
            assert not roots(process.pid), roots(process.pid)
        cache.run("--without", "make demo")
        assert not roots(process.pid), "the next run has not removed what is left"
        assert mounts() == before, mounts()


def needs_root(test):
    return test if os.geteuid() == 0 else lambda: None


tap.main([("the commands are the README's", test_commands_of_the_readme)] + [
    (name + ("" if os.geteuid() == 0 else " # SKIP needs root"), needs_root(test)) for name, test in (
        ("a command that succeeds, with its last line", test_success),
        ("the others follow each command in its root", test_others),
        ("nothing follows a command that has failed", test_others_stop),
        ("the checkout of a commit", test_commit),
        ("a command that fails, with what it said", test_failure),
        ("the machine's caches are there, unless cold", test_caches),
        ("no command is no success", test_no_command),
        ("whether a root can be made is tried", test_possible),
        ("the rows of the set-up from nothing have their budgets", test_rows_from_nothing),
        ("interrupted from the keyboard nothing is left", lambda: check_interrupted(signal.SIGINT)),
        ("terminated nothing is left", lambda: check_interrupted(signal.SIGTERM)),
        ("terminated again and again nothing is left", lambda: check_interrupted(signal.SIGTERM, again=True)),
        ("killed no process is left, and the next run removes the root", lambda: check_interrupted(signal.SIGKILL)),
    )])
