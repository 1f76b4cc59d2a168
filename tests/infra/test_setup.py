#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the set-up scripts: quiet when nothing is to be done, and plain about what to do when something is wrong.

Nothing is installed or downloaded here: the commands that would are replaced by scripts first on the PATH.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

CACHE = Path(os.environ.get("PPU_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppu")


class Scratch:
    """A directory with a bin/ of replaced commands and an empty cache."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name)
        self.bin = self.path / "bin"
        self.bin.mkdir()
        self.cache = self.path / "cache"
        self.cache.mkdir()
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def replace(self, command, script):
        file = self.bin / command
        file.write_text(f"#!/bin/bash\n{script}\n")
        file.chmod(0o755)

    def hide_all_but(self, *commands):
        """The PATH has only these and what was replaced."""
        for command in commands:
            if not (self.bin / command).exists():
                (self.bin / command).symlink_to(shutil.which(command))
        self.only = True

    only = False

    def run(self, command, **environment):
        path = str(self.bin) if self.only else f"{self.bin}:{os.environ['PATH']}"
        done = subprocess.run(command, capture_output=True, text=True, timeout=50, stdin=subprocess.DEVNULL,
                              env=os.environ | {"PATH": path, "PPU_CACHE": str(self.cache), "QEMU_SRC": ""} | environment)
        return done.returncode, done.stdout, done.stderr


TEXT_TOOLS = ("bash", "dirname", "sed", "awk", "sort", "comm", "mktemp", "tail", "rm")


def test_nothing_to_do():
    with Scratch() as scratch:
        start = time.monotonic()
        status, output, errors = scratch.run(TOP / "tools/setup/install")
        assert (status, output, errors) == (0, "", ""), (status, output, errors)
        assert time.monotonic() - start < 2


def test_no_root_no_sudo():
    with Scratch() as scratch:
        scratch.replace("dpkg-query", "printf 'install ok installed\\tgcc\\n'")
        scratch.replace("id", "echo 1000")
        scratch.hide_all_but(*TEXT_TOOLS)
        status, _, errors = scratch.run(TOP / "tools/setup/install")
        assert status != 0 and "apt-get update && apt-get install" in errors and "ninja-build" in errors, errors
        assert " gcc " not in errors


def test_sudo_only_for_what_is_missing():
    with Scratch() as scratch:
        scratch.replace("dpkg-query", f"sed 's/#.*//' {TOP}/tools/setup/*.list | awk 'NF && $1 != \"valgrind\" "
                                      "{ print \"install ok installed\\t\" $1 }'")
        scratch.replace("id", "echo 1000")
        scratch.replace("sudo", f"echo \"$*\" >>{scratch.path}/asked")
        status, _, errors = scratch.run(TOP / "tools/setup/install")
        asked = (scratch.path / "asked").read_text()
        assert status == 0, errors
        assert asked.splitlines()[-1].endswith("install -y --no-install-recommends valgrind"), asked
        assert "DEBIAN_FRONTEND=noninteractive" in asked


def test_demo_needs_less():
    with Scratch() as scratch:
        scratch.replace("dpkg-query", "true")
        scratch.replace("id", "echo 0")
        scratch.replace("apt-get", f"echo \"$*\" >>{scratch.path}/asked")
        status, _, errors = scratch.run([TOP / "tools/setup/install", "demo"])
        asked = (scratch.path / "asked").read_text().splitlines()[-1].split()
        assert status == 0, errors
        assert "gcc-arm-none-eabi" in asked and "valgrind" not in asked, asked


def lists(*names):
    """The packages of these lists."""
    text = "".join((TOP / f"tools/setup/{name}.list").read_text() for name in names)
    return {line.split()[0] for line in re.sub("#.*", "", text).splitlines() if line.strip()}


def installation(scratch, present, install="true"):
    """Replaces dpkg and apt: the packages PRESENT are there, and what is installed is from then on."""
    (scratch.path / "present").write_text("".join(f"{name}\n" for name in present))
    scratch.replace("dpkg-query", f"sed 's/^/install ok installed\\t/' {scratch.path}/present")
    scratch.replace("id", "echo 0")
    scratch.replace("apt-get", f"case \"$*\" in *install*) echo apt >>{scratch.path}/order; {install}\n"
                               f"printf '%s\\n' \"$@\" >>{scratch.path}/present;; esac")


def test_several_lists():
    with Scratch() as scratch:
        installation(scratch, [])
        status, _, errors = scratch.run([TOP / "tools/setup/install", "extra/study", "extra/cluster"])
        assert status == 0, errors
        present = set((scratch.path / "present").read_text().splitlines())
        assert lists("extra/study") | lists("extra/cluster") <= present and not lists("demo") & present, present


def test_unknown_list():
    with Scratch() as scratch:
        installation(scratch, [])
        status, _, errors = scratch.run([TOP / "tools/setup/install", "extra/study", "nothing"])
        assert status == 1 and "no list nothing: there are demo extra/cluster extra/study packages" in errors, errors
        assert (scratch.path / "present").read_text() == ""


BESIDE = ("--", "bash", "-c", "pwd >>\"$ORDER\"; echo said; exit 1")


def test_command_runs_beside():
    with Scratch() as scratch:
        installation(scratch, [], "sleep 0.5")
        status, output, errors = scratch.run([TOP / "tools/setup/install", *BESIDE], ORDER=str(scratch.path / "order"))
        assert status == 0 and output == "said\n", (status, output, errors)
        order = (scratch.path / "order").read_text().splitlines()
        assert order[0] == "apt" and sorted(order[1:]) == [str(TOP), "apt"], order
        assert lists("demo", "packages") <= set((scratch.path / "present").read_text().splitlines())


def test_command_has_what_the_demo_needs():
    with Scratch() as scratch:
        installation(scratch, [])
        scratch.run([TOP / "tools/setup/install", "--", "cp", str(scratch.path / "present"), str(scratch.path / "seen")])
        assert lists("demo") <= set((scratch.path / "seen").read_text().splitlines())


def test_command_does_not_run_when_nothing_is_missing():
    with Scratch() as scratch:
        installation(scratch, lists("demo", "packages"))
        done = scratch.run([TOP / "tools/setup/install", *BESIDE], ORDER=str(scratch.path / "order"))
        assert done == (0, "", "") and not (scratch.path / "order").exists(), done


def test_command_ends_when_installation_fails():
    with Scratch() as scratch:
        installation(scratch, lists("demo"), "echo 'E: no such package'; exit 100")
        begin = time.monotonic()
        status, _, errors = scratch.run([TOP / "tools/setup/install", "--", "sleep", "40"])
        assert status != 0 and "E: no such package" in errors, errors
        assert time.monotonic() - begin < 20


def test_failed_installation():
    with Scratch() as scratch:
        scratch.replace("dpkg-query", "true")
        scratch.replace("id", "echo 0")
        scratch.replace("apt-get", "case \"$*\" in *install*) echo 'E: no such package'; exit 100;; esac")
        status, _, errors = scratch.run(TOP / "tools/setup/install")
        assert status != 0 and "failed after" in errors and "E: no such package" in errors, errors


def test_archive_without_our_qemu():
    with Scratch() as scratch:
        scratch.replace("apt-get", "case \"$*\" in 'update --print-uris') . /etc/os-release; "
                                   "echo \"'http://mirror.invalid/debian/dists/$VERSION_CODENAME/main/binary-amd64/Packages.xz' x 0\";; esac")
        scratch.replace("apt-cache", "printf 'Version: 1:11.1.0+ds-1\\nVersion: 1:9.2.0-1\\nVersion: 1:10.01.0-1\\n'")
        status, output, errors = scratch.run(TOP / "tools/setup/qemu-source")
        assert status != 0 and not output and "no source package of QEMU 10.0" in errors, errors
        assert "QEMU_SRC=DIR" in errors


def test_machine_without_debian_mirror():
    with Scratch() as scratch:
        scratch.replace("apt-get", "echo \"'http://mirror.invalid/dists/other/main/binary-amd64/Packages.xz' x 0\"")
        status, _, errors = scratch.run(TOP / "tools/setup/qemu-source")
        assert status != 0 and "no Debian entry" in errors and "QEMU_SRC=DIR" in errors, errors


def test_mirror_without_indices():
    """Images of containers have none."""
    script = f"set -euo pipefail; apt_dir=/nowhere; . {TOP}/tools/setup/apt.sh; mirror_uri"
    with Scratch() as scratch:
        (scratch.path / "lists/partial").mkdir(parents=True)
        (scratch.path / "apt.conf").write_text(f'Dir::State::Lists "{scratch.path}/lists";\n')
        status, uri, errors = scratch.run(["bash", "-c", script], APT_CONFIG=str(scratch.path / "apt.conf"))
        assert status == 0 and errors == "" and uri.startswith("http") and uri.endswith("/\n"), (status, uri, errors)
        assert (status, uri, errors) == scratch.run(["bash", "-c", script])


def fake_qemu(directory, without=()):
    """A QEMU tree with the files our patches change, and nothing that could be built"""
    source = Path(os.environ.get("QEMU_SRC") or next(CACHE.glob("qemu/*10.0.*")))
    names = {line[6:] for patch in (TOP / "qemu-device/overlay/patches").glob("*.patch")
             for line in patch.read_text().splitlines() if line.startswith("+++ b/")}
    for name in sorted(names - set(without)):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, directory / name)
    (directory / "configs/devices/aarch64-softmmu").mkdir(parents=True)
    (directory / "VERSION").write_text("10.0.99\n")
    (directory / "configure").write_text("#!/bin/sh\necho this QEMU cannot be built\nexit 7\n")
    (directory / "configure").chmod(0o755)


def overlay_build(scratch, source):
    """Runs qemu-device/overlay/build in a checkout of its own."""
    top = scratch.path / "checkout"
    shutil.copytree(TOP / "qemu-device/overlay", top / "qemu-device/overlay")
    (top / "tools").mkdir()
    (top / "tools/setup").symlink_to(TOP / "tools/setup")
    (scratch.cache / "meson").symlink_to(CACHE / "meson")
    return scratch.run(top / "qemu-device/overlay/build", QEMU_SRC=str(source))


class Checkout:
    """A checkout with the scripts that build QEMU, and files in place of the device and its libraries."""

    def __init__(self, scratch, name):
        self.scratch, self.path = scratch, scratch.path / name
        shutil.copytree(TOP / "qemu-device/overlay", self.path / "qemu-device/overlay")
        (self.path / "tools").mkdir()
        (self.path / "tools/setup").symlink_to(TOP / "tools/setup")
        for file in ("qemu-device/ppu_pci.c", "include/ppu/regs.h", "build/plain/libppu-core.a", "build/plain/libppu-remote.a"):
            self.write(file, file)

    def write(self, file, text):
        (self.path / file).parent.mkdir(parents=True, exist_ok=True)
        (self.path / file).write_text(text)

    def build(self, *arguments, **environment):
        """what was configured and compiled for it, a word each"""
        order = self.scratch.path / "order"
        order.write_text("")
        status, _, errors = self.scratch.run([self.path / "qemu-device/overlay/build", *arguments], ORDER=str(order), **environment)
        assert status == 0, errors
        return order.read_text().split()

    def program(self):
        return self.path / "build/qemu-system-aarch64"


MAKES_A_PROGRAM = """#!/bin/sh
echo configured >>"$ORDER"
cat >build.ninja <<'END'
rule link
  command = echo compiled >>"$$ORDER"; echo "$$PWD" >$out; $
    /usr/bin/python3 -c "print(*{'a', 'b', 'c', 'd', 'e', 'f', 'g'})" >set
rule generate
  command = echo "enum { generated };" >$out
rule cc
  command = gcc $flags -I. -iquote ../src/include -H -MD -MQ $out -MF $out.d -o $out -c $in 2>$out.headers
build config-poison.h: generate
build libqemuutil.a.p/a.c.o: cc a.c | config-poison.h
build libqemu-aarch64-softmmu.a.p/a.c.o: cc a.c | config-poison.h
  flags = -DCOMPILING_PER_TARGET
build qemu-system-aarch64: link | libqemuutil.a.p/a.c.o libqemu-aarch64-softmmu.a.p/a.c.o
END
printf '#include "qemu/osdep.h"\\nint a = KIND;\\n' >a.c
"""
MAIN_HEADER = """#include "config-poison.h"
#ifdef COMPILING_PER_TARGET
enum { KIND = 1 };
#else
enum { KIND = 2 };
#endif
"""
KINDS = ("libqemuutil", "libqemu-aarch64-softmmu")
BOTH = ["configured", "compiled"]


def programs(scratch):
    """A cache with a QEMU whose build says what it does."""
    source = scratch.cache / "qemu/1_10.0.99"
    fake_qemu(source)
    (source / "configure").write_text(MAKES_A_PROGRAM)
    (source / "include/qemu").mkdir(parents=True)
    (source / "include/qemu/osdep.h").write_text(MAIN_HEADER)
    (scratch.cache / "meson").symlink_to(CACHE / "meson")
    return source


def test_program_is_taken():
    with Scratch() as scratch:
        programs(scratch)
        first, second = Checkout(scratch, "first"), Checkout(scratch, "second")
        assert first.build("prepare") == ["configured"] and first.build() == ["compiled"]
        assert second.build("prepare") == [] and second.build() == []
        assert second.program().read_bytes() == first.program().read_bytes() and os.access(second.program(), os.X_OK)
        assert (second.path / "build/qemu/src/hw/ppu").resolve() == second.path / "qemu-device"


def test_other_program_is_not_taken():
    with Scratch() as scratch:
        programs(scratch)
        Checkout(scratch, "first").build()
        for number, file in enumerate(("build/plain/libppu-core.a", "build/plain/libppu-remote.a", "qemu-device/ppu_pci.c",
                                       "qemu-device/new.h", "include/ppu/regs.h")):
            other = Checkout(scratch, f"other-{number}")
            other.write(file, "changed")
            assert other.build() == BOTH, file
            assert str(other.path) in other.program().read_text(), file
        patch = Checkout(scratch, "patch")
        with (patch.path / "qemu-device/overlay/ppu.mak").open("a") as file:
            file.write("CONFIG_MORE=y\n")
        assert patch.build("prepare") == ["configured"] and patch.build() == ["compiled"]


def test_generators_print_the_same():
    """What a set prints in QEMU's generators is part of the key of the objects that include it."""
    with Scratch() as scratch:
        programs(scratch)
        printed = set()
        for number in range(4):
            checkout = Checkout(scratch, str(number))
            checkout.write("qemu-device/ppu_pci.c", str(number))
            assert checkout.build() == BOTH
            printed.add((checkout.path / "build/qemu/build/set").read_text())
        assert len(printed) == 1, printed


def precompiled(checkout):
    """for each kind of object what it took in place of the header that all sources begin with"""
    read = [(checkout.path / f"build/qemu/build/{kind}.a.p/a.c.o.headers").read_text() for kind in KINDS]
    return [re.findall(r"^! .*/include/qemu/osdep\.h\.gch/(.*)\.gch$", headers, re.M) for headers in read]


def test_main_header_is_compiled_once():
    with Scratch() as scratch:
        source = programs(scratch)
        checkout = Checkout(scratch, "first")
        assert checkout.build() == BOTH
        assert precompiled(checkout) == [[kind] for kind in KINDS]
        assert not list(source.rglob("*.gch"))


def test_main_header_of_ones_own_tree():
    """Whose tree it is may change the header, and ninja looks at no other."""
    with Scratch() as scratch:
        source = programs(scratch)
        checkout = Checkout(scratch, "first")
        assert checkout.build(QEMU_SRC=str(source)) == BOTH
        assert precompiled(checkout) == [[], []]


def test_damaged_program_is_not_taken():
    with Scratch() as scratch:
        programs(scratch)
        first = Checkout(scratch, "first")
        first.build()
        kept, = (scratch.cache / "qemu-program").iterdir()
        kept.write_bytes(kept.read_bytes()[:-6])
        assert Checkout(scratch, "second").build() == BOTH
        assert Checkout(scratch, "third").build() == []


def test_program_of_ones_own_tree():
    """Whose tree it is may change a file, and its version stays."""
    with Scratch() as scratch:
        source = programs(scratch)
        for name in ("first", "second"):
            assert Checkout(scratch, name).build(QEMU_SRC=str(source)) == BOTH
        assert not (scratch.cache / "qemu-program").exists()


def test_few_programs_are_kept():
    with Scratch() as scratch:
        programs(scratch)
        first = Checkout(scratch, "first")
        for number in range(20):
            (scratch.path / "first/build/qemu/build/qemu-system-aarch64").unlink(missing_ok=True)
            first.write("qemu-device/ppu_pci.c", str(number))
            first.build()
        kept = list((scratch.cache / "qemu-program").iterdir())
        assert len(kept) == 16, kept
        first.write("qemu-device/ppu_pci.c", "a change on the way")
        first.build()
        assert set((scratch.cache / "qemu-program").iterdir()) == set(kept)
        assert Checkout(scratch, "other").build() == BOTH


def test_no_qemu_tree():
    with Scratch() as scratch:
        status, _, errors = overlay_build(scratch, scratch.path)
        assert status != 0 and "is not a QEMU source tree" in errors, errors


def test_patch_does_not_apply():
    with Scratch() as scratch:
        source = scratch.path / "qemu"
        fake_qemu(source)
        changed = source / "hw/intc/armv7m_nvic.c"
        changed.write_text(changed.read_text().replace("cpu_abort", "cpu_give_up"))
        before = {file: file.read_bytes() for file in source.rglob("*") if file.is_file()}
        status, _, errors = overlay_build(scratch, source)
        assert status != 0 and "0002-" in errors and "does not apply" in errors and "QEMU_SRC=DIR" in errors, errors
        assert before == {file: file.read_bytes() for file in source.rglob("*") if file.is_file()}


def test_patched_file_is_missing():
    with Scratch() as scratch:
        source = scratch.path / "qemu"
        fake_qemu(source, without=["hw/arm/armv7m.c"])
        status, _, errors = overlay_build(scratch, source)
        assert status != 0 and "hw/arm/armv7m.c, which" in errors, errors


CONFIGURATION = TOP / "build/qemu/build/config-host.h"


def test_configuration_of_the_demo():
    """What only the tests need is here, and must not change what every object of QEMU reads."""
    assert Path("/usr/include/valgrind/valgrind.h").exists()
    assert not CONFIGURATION.exists() or "#undef CONFIG_VALGRIND_H" in CONFIGURATION.read_text()


def test_tree_is_only_read():
    with Scratch() as scratch:
        source = scratch.path / "qemu"
        fake_qemu(source)
        before = {file: file.read_bytes() for file in source.rglob("*") if file.is_file()}
        status, _, errors = overlay_build(scratch, source)
        assert status != 0 and "this QEMU cannot be built" in errors, errors
        assert before == {file: file.read_bytes() for file in source.rglob("*") if file.is_file()}
        patched = scratch.path / "checkout/build/qemu/src"
        assert "nvic_signal_lockup" in (patched / "hw/intc/armv7m_nvic.c").read_text()
        assert (patched / "hw/ppu").resolve() == scratch.path / "checkout/qemu-device"


tap.main([
    ("with nothing to do the set-up is silent and instant", test_nothing_to_do),
    ("without root and sudo it says what to run", test_no_root_no_sudo),
    ("it asks for sudo only for what is missing", test_sudo_only_for_what_is_missing),
    ("for the demo alone it installs less", test_demo_needs_less),
    ("of several lists it installs all", test_several_lists),
    ("a list that does not exist is refused", test_unknown_list),
    ("a command runs beside what the demo does not need", test_command_runs_beside),
    ("it begins when what the demo needs is there", test_command_has_what_the_demo_needs),
    ("it does not run when nothing is missing", test_command_does_not_run_when_nothing_is_missing),
    ("it ends when the installation fails", test_command_ends_when_installation_fails),
    ("a failed installation is shown", test_failed_installation),
    ("an archive without our QEMU is reported, with the way out", test_archive_without_our_qemu),
    ("a machine without a Debian mirror is reported", test_machine_without_debian_mirror),
    ("the mirror is found on a machine without indices of packages", test_mirror_without_indices),
    ("QEMU_SRC that is no QEMU tree is refused", test_no_qemu_tree),
    ("a patch that does not apply is named", test_patch_does_not_apply),
    ("a patched file that is missing is named", test_patched_file_is_missing),
    ("a tree given by QEMU_SRC is patched in a copy", test_tree_is_only_read),
    ("a QEMU that another checkout has linked is taken", test_program_is_taken),
    ("one with another device, server, header or configuration is not", test_other_program_is_not_taken),
    ("generators of QEMU print sets in one order", test_generators_print_the_same),
    ("the header that all of QEMU's sources begin with is compiled once for each kind", test_main_header_is_compiled_once),
    ("in a tree of somebody's own each source reads the header", test_main_header_of_ones_own_tree),
    ("one that is damaged is not, and is replaced", test_damaged_program_is_not_taken),
    ("one from a tree of somebody's own is neither kept nor taken", test_program_of_ones_own_tree),
    ("the 16 newest are kept, and none of a change on the way", test_few_programs_are_kept),
    ("packages that only the tests need do not change QEMU's configuration"
     + ("" if CONFIGURATION.exists() else " # SKIP another checkout has linked this QEMU"), test_configuration_of_the_demo),
])
