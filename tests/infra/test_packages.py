#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the Debian packages that `make deb` made: lintian has no error, and each file is in one of them."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

VERSION = re.search(r'PPU_VERSION "(.*)"', (TOP / "include/ppu/version.h").read_text())[1]


def output(*command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment["DPKG_DEB_COMPRESSOR_LEVEL"] = "0"  # how small packages are is not tested
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=TOP, env=environment)
    return done.returncode, done.stdout + done.stderr


@cache
def packages():
    status, printed = output("make", "deb")
    assert status == 0, printed
    return sorted((TOP / "build/deb").glob("*.deb"))


def field(package, name):
    return output("dpkg-deb", "--field", package, name)[1].strip()


def test_there():
    names = {field(package, "Package") for package in packages()}
    wanted = set(re.findall(r"^Package: (.*)$", (TOP / "packaging/debian/control").read_text(), re.M))
    assert names == wanted and wanted, (names, wanted)


def test_lintian():
    status, printed = output("lintian", "--allow-root", "--fail-on", "error", *packages())
    assert status == 0, printed


def test_versions():
    assert {field(package, "Version") for package in packages()} == {VERSION}


def test_contents():
    """dh_missing has seen that each installed file is in a package; here that it is in one alone."""
    found = {}
    for package in packages():
        for line in output("dpkg-deb", "--contents", package)[1].strip().split("\n"):
            name = line.split()[5]
            if not name.endswith("/"):
                assert name not in found, f"{name} is in {package.name} and in {found[name]}"
                found[name] = package.name
    commands = {name for name in found if name.startswith("./usr/bin/")}
    for command in commands:
        assert f"./usr/share/man/man1/{os.path.basename(command)}.1.gz" in found, f"{command} has no manual page"
    assert found["./etc/OpenCL/vendors/ppu.icd"].startswith("ppu-opencl-icd_")


def test_dependencies():
    """A package with a program depends on what it is linked with."""
    for package in packages():
        if field(package, "Package") in ("ppu-qemu", "libppu1", "ppu-opencl-icd", "ppu-compiler"):
            assert "libc6" in field(package, "Depends"), field(package, "Depends")


tap.main([
    ("all packages are there", test_there),
    ("lintian has no error", test_lintian),
    ("they have the version of the release", test_versions),
    ("each file is in one package, and each command has a manual page", test_contents),
    ("they depend on the libraries that they are linked with", test_dependencies),
])
