#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what is said when a part of the installation is missing or broken: the operation, the object, the cause, what
helps.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SAXPY = [TOP / "build/plain/tools/saxpy", TOP / "build/kernels/saxpy.ppu"]
SQUARES = [TOP / "build/plain/tools/squares"]
FIRMWARE = TOP / "build/firmware/picolibc/ppufw.bin"
OTHER = "; 'make firmware' builds one, the package ppu-qemu has one, PPU_FIRMWARE names another\n"
# What is installed, by packaging/build.mk.
NAMES = {kind: re.search(rf"^INSTALLED_{kind} := (.*)$", (TOP / "packaging/build.mk").read_text(), re.M)[1].split()
         for kind in ("PROGRAMS", "SCRIPTS")}
COMMANDS = [*(TOP / "build/plain/tools" / name for name in NAMES["PROGRAMS"]), *(TOP / "tools" / name for name in NAMES["SCRIPTS"]),
            TOP / "tools/guest-run"]
VERSION = re.search(r'PPU_VERSION "(.*)"', (TOP / "include/ppu/version.h").read_text()).group(1)


def run(command, **variables):
    """(exit status, output, errors) with these variables of the environment"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PPU_")}
    environment |= {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": "off"} | variables
    done = subprocess.run(command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def opening_fails(sentence, **variables):
    status, text, errors = run(SAXPY, **variables)
    assert status == 1 and text == "", (status, text)
    assert errors == sentence, errors


def no_qemu():
    opening_fails("start a machine: ppu-run: start QEMU: /nowhere/qemu is not there, or may not be executed; 'make qemu' "
                  "builds it, PPU_QEMU names another\n", PPU_QEMU="/nowhere/qemu")
    opening_fails("start a machine: run /nowhere/ppu-run: No such file or directory; PPU_RUN names another\n", PPU_RUN="/nowhere/ppu-run")
    opening_fails("start a machine: ppu-run: confine QEMU: /nowhere/confine is not there, or may not be executed; 'make qemu' builds it, "
                  "PPU_CONFINE names another\n", PPU_CONFINE="/nowhere/confine")
    with tempfile.NamedTemporaryFile() as plain:
        opening_fails(f"start a machine: run {plain.name}: Permission denied; PPU_RUN names another\n", PPU_RUN=plain.name)


def wrong_qemu():
    """One without the device."""
    with tempfile.TemporaryDirectory() as folder:
        qemu = Path(folder, "qemu")
        qemu.write_text("#!/bin/sh\necho \"qemu-system-aarch64: -device ppu: 'ppu' is not a valid device model name\" >&2\nexit 1\n")
        qemu.chmod(0o755)
        opening_fails("start a machine: this QEMU has no device ppu; 'make qemu' builds one that has, PPU_QEMU names another: "
                      "qemu-system-aarch64: -device ppu: 'ppu' is not a valid device model name\n",
                      PPU_QEMU=str(qemu))


def firmware(image, sentence):
    with tempfile.NamedTemporaryFile() as file:
        file.write(image)
        file.flush()
        opening_fails(f"load the firmware {file.name}: {sentence}", PPU_FIRMWARE=file.name)


def wrong_firmware():
    image = FIRMWARE.read_bytes()
    names = dict(re.findall(r"#define (PPU_IMAGE_\w+) (0x[0-9a-f]+|\d+)u", (TOP / "include/ppu/boot.h").read_text()))
    magic = int(names["PPU_IMAGE_MAGIC"], 0)
    header = image.index(struct.pack("<I", magic))
    opening_fails("load the firmware /nowhere/ppufw.bin: No such file or directory" + OTHER, PPU_FIRMWARE="/nowhere/ppufw.bin")
    firmware(b"", "it is truncated: 0 bytes, no header" + OTHER)
    firmware(bytes(len(image)),
             f"it is no image of it: magic 0x00000000 instead of 0x{magic:08x}" + OTHER)
    firmware(image[:-100], f"it is truncated or too long: {len(image) - 100} bytes of {len(image)}" + OTHER)
    version = bytearray(image)
    version[header + 4] += 1
    assert "its header has version " in firmware_error(version)
    corrupt = bytearray(image)
    corrupt[-1] ^= 1
    assert re.search(r": it is corrupt: CRC 0x\w{8} instead of 0x\w{8}; 'make", firmware_error(corrupt))


def firmware_error(image):
    with tempfile.NamedTemporaryFile() as file:
        file.write(image)
        file.flush()
        status, _, errors = run(SAXPY, PPU_FIRMWARE=file.name)
        assert status == 1 and f"load the firmware {file.name}: " in errors and errors.endswith(OTHER), errors
        return errors


def no_device():
    opening_fails("open a PPU: this machine's PCI bus has none\n", PPU_DEVICE="vfio")
    opening_fails("open a PPU: this machine's PCI bus has none at 0000:99:00.0\n", PPU_DEVICE="vfio:0000:99:00.0")
    opening_fails('open a device: PPU_DEVICE is "gpu"; it may be native, vfio, vfio:ADDRESS, pci, pci:ADDRESS or vfio-user:SOCKET\n', PPU_DEVICE="gpu")
    status, _, errors = run(SQUARES, PPU_DEVICE="vfio")
    assert status == 1 and errors.startswith("OpenCL on the PPU: open a PPU: this machine's PCI bus has none\n"), errors


def no_program():
    status, _, errors = run([SAXPY[0], "/nowhere/saxpy.ppu"])
    assert status == 1 and errors.startswith("load the program /nowhere/saxpy.ppu: No such file or directory\n"), errors
    status, _, errors = run([SAXPY[0], FIRMWARE])
    assert status == 1 and errors.startswith("load a program: "), errors


def no_clang():
    status, _, errors = run(SQUARES, PPU_CLANG="/nowhere/clang")
    assert (status, errors) == (1, "error: run '/nowhere/clang': No such file or directory; install clang-19, or name it in PPU_CLANG\n"), errors


def no_compiler():
    """The compiler's library is not beside the ICD."""
    with tempfile.TemporaryDirectory() as folder:
        icd, library = Path(folder, "ppu.icd"), Path(folder, "libppu-opencl.so")
        shutil.copy(TOP / "build/plain/libppu-opencl.so", library)
        icd.write_text(f"{library}\n")
        status, _, errors = run(SQUARES, OCL_ICD_VENDORS=str(icd), PPU_FIRMWARE=str(FIRMWARE), PPU_RUN=str(TOP / "tools/ppu-run"))
        sentence = f"load the compiler: {folder}/libppu-compiler.so: cannot open shared object file: No such file or directory; " \
                   "it belongs into the folder of the ICD\n"
        assert (status, errors) == (1, f"OpenCL on the PPU: {sentence}error: {sentence}"), errors


def keeps_nothing(command, folder, why):
    """It works without a cache, and says once why there is none."""
    status, text, errors = run(command, PPU_CACHE=folder)
    assert status == 0 and "225" in text, (status, text, errors)
    assert errors == (f"OpenCL on the PPU: keep compiled programs in '{folder}': {why}; PPU_CACHE names another folder, or is off to "
                      "keep none\n"), errors


def no_cache():
    with tempfile.NamedTemporaryFile() as file:
        keeps_nothing(SQUARES, file.name, "it is, or has in it, a link or a file where a folder must be")
    keeps_nothing(SQUARES, "/proc/cache", "No such file or directory")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        keeps_nothing(SQUARES, folder, "it is, or has in it, a folder that is not the user's or that others may write to")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        # The superuser may write anywhere, unless its capabilities are gone.
        weak = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
        keeps_nothing([*weak, *SQUARES], folder, "Permission denied")


def exit_statuses(text):
    """{status: what it means} as the help says"""
    block = re.search(r"\nExit status:\n((?:.+\n)+)", text)
    return {int(status): " ".join(meaning.split())
            for status, meaning in re.findall(r"^  (\d+) +(.*(?:\n(?!  \d).+)*)", block[1], re.M)} if block else {}


def statuses_are_read():
    assert exit_statuses("\nExit status:\n  0  well\n  1  a file or an\noption\n\nMore:\n  2  x\n") == {0: "well", 1: "a file or an option"}


def versions():
    assert len(COMMANDS) > 10, COMMANDS
    for command in COMMANDS:
        assert run([command, "--version"]) == (0, f"{command.name} (PPU) {VERSION}\n", ""), command


def helps():
    for command in COMMANDS:
        status, text, errors = run([command, "--help"])
        assert (status, errors) == (0, "") and text.startswith(f"Usage: {command.name} ") and exit_statuses(text), (command, text, errors)


def unknown_options():
    """The status is what the help says of options, and the output stays empty."""
    for command in COMMANDS:
        name = command.name
        said = [status for status, meaning in exit_statuses(run([command, "--help"])[1]).items() if "option" in meaning]
        known = (rf"{name}: (?:error: )?unrecognized option '--what'\n{name}: read the options: --help tells which there are\n",
                 rf"{name}: (?:error: )?unrecognized option '--what'\nTry `{name} --help' or `{name} --usage' for more information\.\n",
                 rf"{name}: read the options: --what: no such option; --help tells which there are\n")
        status, text, errors = run([command, "--what"])
        assert len(said) == 1 and (status, text) == (said[0], ""), (name, said, status, text, errors)
        assert any(re.fullmatch(sentence, errors) for sentence in known), errors


def translator_options():
    translator = TOP / "build/plain/tools/ppu-translator"
    assert run([translator, "--version"]) == (0, f"ppu-translator (PPU) {VERSION}\n", "")
    status, text, _ = run([translator, "--help"])
    assert status == 0 and text.startswith("Usage: ppu-translator ") and "\nExit status:\n" in text
    known = ["--module", "x.so", "--socket", "1001"]
    for arguments, status, sentence in (([], 2, "read the options: --module and --socket are needed\n"),
                                        (["--module", "x.so"], 2, "read the options: --module and --socket are needed\n"),
                                        (["--module", "x.so", "--socket", "2"], 2, "read the options 2: --socket names no descriptor above 2\n"),
                                        ([*known, "--socket", "x"], 2, "read the options x: --socket names no descriptor above 2\n"),
                                        (["--socket", "1001"] * 17, 2, "read the options 1001: there are too many sockets\n"),
                                        ([*known, "--", "/nowhere/x"], 126, "execute /nowhere/x: No such file or directory\n")):
        assert run([translator, *arguments]) == (status, "", f"ppu-translator: {sentence}"), arguments


def translator_behind():
    """Of two sessions that want a processor the scheduler of a desktop gives each half, whatever their processes' priorities."""
    look = 'set -- $(cat /proc/$$/task/$$/children); cut -d" " -f19 /proc/$1/stat; cat /proc/$1/autogroup 2>&1'
    for _ in range(50):  # the other process may not have come to it yet
        status, text, errors = run([TOP / "build/plain/tools/ppu-translator", "--module", "x.so", "--socket", "1001", "--", "sh", "-c", look])
        assert (status, errors) == (0, "")
        priority, *group = text.splitlines()
        if priority == "10" and (text.endswith(" nice 10\n") or not "".join(group).startswith("/autogroup-")):
            return
    raise AssertionError(text)


def translator_beside():
    """QEMU's command gets a translator where there can be one, and none on the virtual clock."""
    def command(*arguments):
        status, text, errors = run([TOP / "tools/ppu-run", "--dry-run", *arguments])
        assert status == 0, errors
        return text
    for arguments, expected in (([], True), (["--engine-tier", "1"], True), (["--engine-tier", "0"], False),
                                (["--sm-threads", "0"], False), (["--deterministic"], False)):
        text = command(*arguments)
        assert ("ppu-translator" in text) == expected and ("engine-tier-socket=1001" in text) == expected, (arguments, text)
    assert "--socket 1001 --socket 1002 " in command("--ppus=2")
    status, _, errors = run([TOP / "tools/ppu-run", "--served", "/nowhere/s", "--engine-tier", "1", "--kernel", "/nowhere/k"])
    assert status == 2 and "are its server's" in errors, errors


def confine_options():
    confine = TOP / "build/plain/tools/ppu-confine"
    assert run([confine, "--version"]) == (0, f"ppu-confine (PPU) {VERSION}\n", "")
    status, text, _ = run([confine, "--help"])
    assert status == 0 and text.startswith("Usage: ppu-confine ") and "\nExit status:\n" in text
    for arguments, status, sentence in (([], 2, "ppu-confine: read the options: which program? It stands behind --\n"),
                                        (["--what"], 2, "ppu-confine: unrecognized option '--what'\n"
                                                        "ppu-confine: read the options: --help tells which there are\n"),
                                        (["--", "/nowhere/x"], 126, "ppu-confine: execute /nowhere/x: No such file or directory\n")):
        assert run([confine, *arguments]) == (status, "", sentence), arguments
    assert run([confine, "--read=/etc/debian_version", "--", "/bin/cat", "/etc/debian_version"])[0] == 0


def wrong_options():
    for arguments, sentence in ((["--what"], "ppu-run: unrecognized option '--what'\nppu-run: read the options: --help tells which there are\n"),
                                (["--ppus"], "ppu-run: option '--ppus' requires an argument\nppu-run: read the options: --help tells which there are\n"),
                                (["--ppus", "x"], "ppu-run: read the options: --ppus x: expected a number\n"),
                                (["--smmu=maybe"], "ppu-run: read the options: --smmu maybe: expected on or off\n"),
                                (["disk.img"], "ppu-run: read the options: 'disk.img' is none; QEMU's options stand behind --\n")):
        assert run([TOP / "tools/ppu-run", *arguments]) == (2, "", sentence), arguments
    status, text, _ = run([TOP / "tools/ppu-run", "--dry-run", "--ppus=2", "--memory", "1G", "--", "-name", "x y"])
    assert status == 0 and "-m 1G " in text and text.count("-device ppu") == 2 and "-name x\\ y " in text, text


tap.main([
    ("no QEMU", no_qemu),
    ("a QEMU without the device", wrong_qemu),
    ("no firmware, a broken one, one of another version", wrong_firmware),
    ("no device", no_device),
    ("no program", no_program),
    ("no clang", no_clang),
    ("no library of the compiler", no_compiler),
    ("a cache that cannot be written", no_cache),
    ("what a command says of its exit status is read", statuses_are_read),
    ("every command tells its version", versions),
    ("every command tells its options and its exit status", helps),
    ("every command refuses an option that is none", unknown_options),
    ("scripts name the option that is wrong", wrong_options),
    ("what confines QEMU does so too", confine_options),
    ("so does what translates loops", translator_options),
    ("kernels go before what translates, and before its session", translator_behind),
    ("a machine gets what translates loops where there can be one", translator_beside),
])
