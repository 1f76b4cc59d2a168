#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the first `make` on a machine that has nothing but Debian's essential packages, make and git.

The checkout is one of links whose set-up is replaced: it makes appear, all at once, what the machine did not have. What
make read from the machine before that is then wrong, and so is what make would have done: it must not differ from what a
second make, on a machine that has everything, does.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

GOALS = ("all", "demo", "test", "bench", "demo test")


def essential_commands():
    """Files of the packages that every Debian has, and of the two that a checkout needs."""
    query = ["dpkg-query", "-W", "-f", "${Essential} ${Package}\n"]
    rows = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("\n")
    packages = [row[4:] for row in rows if row.startswith("yes ")] + ["mawk", "make", "git"]
    files = subprocess.run(["dpkg-query", "-L", *packages], capture_output=True, text=True, check=True).stdout.split("\n")
    return [Path(file) for file in files if Path(file).parent.name in ("bin", "sbin") and os.access(file, os.X_OK)]


def memory_folder():
    """A file system in memory where programs may run: make writes a thousand files into each checkout. None: there is none."""
    folder = Path("/dev/shm")
    return folder if os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC else None


class Machine:
    """A checkout that was never built, and a PATH of essential commands."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(dir=memory_folder())
        self.path = Path(self.directory.name)
        self.bin, self.checkout = self.path / "bin", self.path / "checkout"
        self.bin.mkdir()
        for file in essential_commands():
            self.link(file, self.bin)
        self.link(Path("/etc/alternatives/awk"), self.bin)
        for folder in (".", "tools", "tools/setup"):
            (self.checkout / folder).mkdir()
            for file in (TOP / folder).iterdir():
                self.link(file, self.checkout / folder, without=(".git", "build", "tools", "setup", "install"))
        self.set_up("true")
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    @staticmethod
    def link(file, folder, without=()):
        if file.name not in without and not (folder / file.name).is_symlink():
            (folder / file.name).symlink_to(file)

    def set_up(self, script):
        install = self.checkout / "tools/setup/install"
        install.write_text(f"#!/bin/bash\nset -e\necho \"$*\" >>{self.path}/asked\n{script}\n")
        install.chmod(0o755)

    def asked(self):
        file = self.path / "asked"
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def make(self, *arguments, **environment):
        """(status, what it says without its process number, errors)"""
        done = subprocess.run(["make", *arguments], cwd=self.checkout, capture_output=True, text=True, timeout=50,
                              env={"PATH": str(self.bin), "HOME": str(self.path)} | environment)
        return done.returncode, re.sub(r"\.\d+\b", ".PID", done.stdout), done.stderr


def database(machine, goal):
    """(variables, prerequisites of all rules) as make has them"""
    _, output, _ = machine.make("-pn", *goal.split())
    variables = dict(re.findall(r"^(\w+) :?= (.+)$", output, re.M))
    rules = re.findall(r"^[^\s#:=]+:{1,2} (?!=)([^=\n]*)$", output[output.index("\n# Files\n"):], re.M)
    return variables, {word for rule in rules for word in rule.split()}


def outside(machine, goal):
    """The prerequisites outside the checkout, by the variable that names each."""
    variables, prerequisites = database(machine, goal)
    places = sorted(p for p in prerequisites if p.startswith("/") and not p.startswith(str(machine.checkout)))
    names = {value: name for name, value in variables.items()}
    unnamed = [place for place in places if place not in names]
    assert not unnamed, f"name them by a variable, so that this test can take them away: {unnamed}"
    return {names[place]: place for place in places}


@functools.cache
def everything_outside():
    with Machine() as machine:
        return outside(machine, "all test bench")


def test_first(goal):
    found = everything_outside()
    with Machine() as machine:
        moved = {name: machine.path / "outside" / place.lstrip("/") for name, place in found.items()}
        appear = [f"mkdir -p {file.parent}; touch {file}" for file in moved.values()]
        appear += [f"printf '#!/bin/bash\\n' >{machine.bin}/{name}; chmod +x {machine.bin}/{name}"
                   for name in ("ccache", "gcc", "python3", "pkg-config", "llvm-config-19", "clang-19")]
        machine.set_up("\n".join(appear))
        command = ["-n", *goal.split(), *(f"{name}={file}" for name, file in moved.items())]
        first = machine.make(*command)
        assert first[0] == 0 and first[2] == "", first[2]
        assert len(machine.asked()) == 1, machine.asked()
        second = machine.make(*command)
        assert len(machine.asked()) == 1, "set-up has run again"
        assert first == second, [line for line in zip(*(each[1].split("\n") for each in (first, second))) if len(set(line)) > 1][:3]


def test_something_is_outside():
    """Otherwise the tests above take nothing away."""
    assert everything_outside(), "no prerequisite is outside the checkout"


def test_failed_set_up():
    with Machine() as machine:
        machine.set_up("echo no network >&2; exit 1")
        status, output, errors = machine.make("-n", "test")
        assert status == 2 and "no network" in errors, errors
        assert "gcc" not in output and "tests/run" not in output, output
        machine.set_up("true")
        assert machine.make("-n", "test")[0] == 0


def test_no_set_up():
    with Machine() as machine:
        for goal in ("help", "clean"):
            status, _, errors = machine.make(goal)
            assert (status, errors) == (0, ""), errors
        assert machine.asked() == []


def test_help_of_a_built_tree():
    """There are thousands of dependency files then, more than a command line holds."""
    with Machine() as machine:
        database = machine.make("-pn", "help")[1]
        depends = Path(re.search(r"^COMPILED :?= *(\S+)", database, re.M)[1] + ".d")
        (machine.checkout / depends).parent.mkdir(parents=True)
        (machine.checkout / depends).write_text("")
        assert f" {depends} " in re.search("^MAKEFILE_LIST.*", machine.make("-pn", "help")[1], re.M)[0] + " "
        status, output, errors = machine.make("-n", "help")
        assert (status, errors) == (0, "") and str(depends) not in output, output


def test_demo_asks_for_less():
    with Machine() as machine:
        for goal in ("demo", "test"):
            machine.make("-n", goal)
        assert machine.asked() == ["demo", "-- make qemu"], machine.asked()


def test_no_home():
    with Machine() as machine:
        home = subprocess.run(["env", "-u", "HOME", "bash", "-c", "echo ~"], capture_output=True, text=True, check=True).stdout.strip()
        environment = {"PATH": str(machine.bin)}
        done = subprocess.run(["make", "-pn", "demo"], cwd=machine.checkout, capture_output=True, text=True, env=environment)
        assert f"CCACHE_DIR := {home}/.cache/ppu/ccache" in done.stdout, done.stderr


def test_locale():
    with Machine() as machine:
        _, plain, _ = machine.make("-n", "demo")
        status, other, errors = machine.make("-n", "demo", LC_ALL="xx_YY.UTF-8", LANGUAGE="de")
        assert status == 0 and other == plain, errors


def test_locale_of_the_cache():
    """ccache finds what another user has compiled only when none of these differs."""
    names = "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"
    with Machine() as machine:
        show = "--eval=show: ; @printenv " + " ".join(names) + " || true", "show"
        status, plain, errors = machine.make(*show)
        assert status == 0 and plain, errors
        assert machine.make(*show, **dict.fromkeys(names, "de_DE.UTF-8"))[1] == plain


tap.main([(f"make {goal} looks at nothing outside before set-up has run", lambda goal=goal: test_first(goal)) for goal in GOALS] + [
    ("something outside the checkout is needed, which set-up brings", test_something_is_outside),
    ("make stops when set-up fails, and the next make does it again", test_failed_set_up),
    ("make help and make clean need no set-up", test_no_set_up),
    ("make help lists the commands of a tree that is built", test_help_of_a_built_tree),
    ("the demo's set-up and the tests' are two", test_demo_asks_for_less),
    ("a user without HOME has a cache", test_no_home),
    ("the user's locale changes nothing", test_locale),
    ("the user's locale hides nothing in the cache", test_locale_of_the_cache),
])
