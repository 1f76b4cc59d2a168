#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests which QEMU the guests get that are clients (guest/qemu/build), and how its KVM is tried (guest/accel): with made-up QEMUs."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

TARGETS = ("qemu-system-x86_64", "qemu-system-aarch64")
DEVICES = ("vfio-user-pci", "ivshmem-plain", "virtio-9p-pci", "virtserialport", "pcie-root-port")


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


class Scratch:
    """A checkout with the scripts alone, a cache, and a folder of programs that comes first in PATH."""

    def __init__(self, path):
        self.path = Path(path)
        self.programs = self.path / "bin"
        self.cache = self.path / "cache"
        self.count = self.path / "count"
        self.count.touch()
        for file in ("guest/qemu/build", "guest/accel", "guest/firmware.txt", "tools/setup/progress.sh", "tools/setup/qemu-source"):
            (self.path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / file, self.path / file)
        for file in (TOP / "guest/qemu").glob("*.mak"):
            shutil.copy(file, self.path / "guest/qemu")
        bios = self.path / "packages/root/usr/share/seabios/bios-256k.bin"
        bios.parent.mkdir(parents=True)
        bios.write_text("firmware")
        write_program(self.path / "tools/setup/guest-packages", f"echo x >>{self.count}\necho GUEST={self.path}/packages\n")

    def put_qemu(self, version, devices=DEVICES, targets=TARGETS):
        shutil.rmtree(self.programs, ignore_errors=True)
        self.programs.mkdir()
        known = "".join(f'name "{device}", bus PCI\n' for device in devices)
        for target in targets:
            write_program(self.programs / target,
                          f"if [ \"$1\" = --version ]; then echo 'QEMU emulator version {version} (Debian)'; else echo '{known}'; fi\n")

    def run(self, *words, **environment):
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, check=True,
                              env=os.environ | {"PATH": f"{self.programs}:/usr/bin:/bin", "PPU_CACHE": str(self.cache)} | environment).stdout.strip()

    def where(self):
        return Path(self.run(self.path / "guest/qemu/build", "where"))

    def uses(self):
        """How often the guest's firmware was fetched."""
        return len(self.count.read_text().split())


@contextmanager
def scratch():
    with tempfile.TemporaryDirectory() as path:
        yield Scratch(path)


def test_own():
    with scratch() as it:
        for version in ("10.1.0", "10.2.2", "11.0.50"):
            it.put_qemu(version)
            directory = it.where()
            for target in TARGETS:
                assert (directory / target).resolve() == it.programs / target, directory
            assert (directory / "firmware/bios-256k.bin").read_text() == "firmware"
        assert it.uses() == 1, it.uses()
        assert [path.name for path in it.cache.glob("qemu-client/*")] == [directory.name]


def test_others():
    """The directory that is to be built, which nothing makes yet."""
    with scratch() as it:
        made = [("10.0.13", DEVICES, TARGETS), ("7.2.19", DEVICES, TARGETS), ("x", DEVICES, TARGETS), ("11.1.3", DEVICES, TARGETS[:1])]
        made += [("11.1.3", [other for other in DEVICES if other != device], TARGETS) for device in DEVICES]
        for version, devices, targets in made:
            it.put_qemu(version, devices, targets)
            directory = it.where()
            assert "own" not in directory.name and not directory.exists(), (version, devices, targets, directory)
        assert it.uses() == 0


def test_broken():
    with scratch() as it:
        it.put_qemu("11.1.3")
        write_program(it.programs / TARGETS[1], "exit 127\n")
        assert "own" not in it.where().name


def test_together():
    """Guests that start together try once, and get one answer."""
    with scratch() as it:
        it.put_qemu("11.1.3")
        client, tries = it.path / "client", it.path / "tries"
        write_program(client, f"echo x >>{tries}\nsleep 1\necho 'Kernel panic - not syncing: VFS'\n")
        kernel = it.path / "kernel"
        kernel.write_text("kernel")
        words = [it.path / "guest/accel", "x86" if os.uname().machine == "x86_64" else "arm64", kernel]
        environment = os.environ | {"PPU_CACHE": str(it.cache), "PPU_CLIENT_QEMU": str(client)}
        started = [subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        answers = [(*process.communicate(timeout=60), process.returncode) for process in started]
        usable = os.access("/dev/kvm", os.R_OK | os.W_OK)
        assert {(out, status) for out, _, status in answers} == {("kvm\n" if usable else "tcg\n", 0)}, answers
        assert len(tries.read_text().split()) == 1 if usable else not tries.exists()
        assert sum("emulated" in said for _, said, _ in answers) == (0 if usable else 1), answers


tap.main([
    ("the machine's own QEMUs are taken from 10.1 on", test_own),
    ("others are not: older, without a device, without one of the two", test_others),
    ("a program that does not run is no QEMU", test_broken),
    ("KVM is tried once by guests that start together", test_together),
])
