#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests tools/guest-run: a user's program behaves in the guest as it would here."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
import tap  # noqa: E402

WORDS = ["it's", 'a "word"', "$HOME", "two  spaces", "*", "", "back\\slash", "ünicode"]
CROWD = int(os.environ.get("PPU_TEST_GUESTS", "3"))


def guest_run(*arguments, share=None):
    """The first guest after a start of this computer tells why KVM is not used, which is no matter here."""
    options = ["--share", share, "--console", share / "console"] if share else []
    done = subprocess.run([TOP / "tools/guest-run", *options, *arguments], capture_output=True, text=True, timeout=120)
    done.stderr = re.sub(r"^guest-run: the guest's processor is emulated: .*\n", "", done.stderr, flags=re.M)
    return done


def check_program(program, status_asked, status_wanted):
    with tempfile.TemporaryDirectory() as scratch:
        share = Path(scratch)
        done = guest_run("--env", "SAID=it's said", guests.PROGRAMS / program, status_asked, *WORDS, share=share)
        assert done.returncode == status_wanted, (done, (share / "console").read_text(errors="replace"))
        assert (share / "left").read_text() == "in the guest\n"
        return done


def test_dynamic_program():
    done = check_program("echo", "42", 42)
    assert done.stdout.splitlines() == [f"<{word}>" for word in WORDS], done.stdout
    assert done.stderr == "<it's said>\n", done.stderr


def test_static_program_that_crashes():
    check_program("echo-static", "crash", 139)


def test_standard_streams_have_names():
    script = "echo told | cat /dev/stdin | (cat >/dev/stdout) | cat; (echo wrong >/dev/stderr) 2>&1 | cat"
    done = guest_run("sh", "-c", script)
    assert done.returncode == 0 and done.stdout == "told\nwrong\n", done


def test_deterministic():
    if guests.SERVED:
        done = guest_run("--deterministic", "true")
        assert done.returncode == 2 and "no clock in common" in done.stderr, done
        return
    with tempfile.TemporaryDirectory() as scratch:
        done = guest_run("--deterministic", "--env", "SAID=it's said", guests.PROGRAMS / "echo-static", "7", *WORDS, share=Path(scratch))
        assert done.returncode == 7 and done.stderr == "", done
        assert done.stdout.splitlines() == [*(f"<{word}>" for word in WORDS), "<it's said>"], done.stdout
        assert not Path(scratch, "left").exists(), "the share is a copy"


def test_ppu_is_listed():
    with tempfile.TemporaryDirectory() as scratch:
        done = guest_run("lspci", "-nnk", share=Path(scratch))
        assert done.returncode == 0, done
        ppu = done.stdout[done.stdout.index("00:01.0"):].split("\n00:")[0]
        assert ppu.startswith("00:01.0 Processing accelerators [1200]: QEMU Parallel processing unit [1234:9955]"), ppu
        drivers = [line.strip() for line in ppu.splitlines() if "driver" in line]
        assert drivers == (["Kernel driver in use: vfio-pci"] if guests.IOMMU == "on" else []), ppu
        assert done.stderr == "", done.stderr


def test_system_calls_keep_the_tlb():
    done = guest_run("dmesg")
    assert done.returncode == 0 and "Linux version" in done.stdout, done
    assert "detected: Kernel page table isolation" not in done.stdout, done.stdout


def test_several_at_once():
    """Started in the same way from the same checkout, as a class does."""
    crowd = [subprocess.Popen([TOP / "tools/guest-run", "--env", "SAID=", guests.PROGRAMS / "echo", str(number), f"guest {number}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
             for number in range(1, CROWD + 1)]
    consoles = set()
    try:
        while len(consoles) < CROWD:
            assert all(run.poll() is None for run in crowd), (consoles, [run.communicate() for run in crowd if run.poll() is not None])
            consoles |= {name for run in crowd for name in consoles_of(run.pid)}
            time.sleep(0.01)
        said = [run.communicate(timeout=120) for run in crowd]
    finally:
        for run in crowd:
            run.terminate()
            run.wait()
    for number, (run, (output, errors)) in enumerate(zip(crowd, said), 1):
        assert run.returncode == number and output == f"<guest {number}>\n", (number, run.returncode, output, errors)
    assert all(Path(name).read_text().count("guest: running") == 1 for name in consoles), consoles


def consoles_of(pid):
    """Where that guest-run and what it has started write consoles; nothing before they do."""
    found = [name for name in [written_by(pid)] if name.endswith(".log")]
    return found + [name for child in children_of(pid) for name in consoles_of(child)]


def written_by(pid):
    try:
        return os.readlink(f"/proc/{pid}/fd/1")
    except FileNotFoundError:
        return ""


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def machine_of(pid):
    """The process below guest-run that starts QEMU and becomes it; None: not yet."""
    for child in children_of(pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            if any(word.endswith(b"tools/ppu-run") for word in words[:2]):
                return child
            if machine := machine_of(child):
                return machine
        except (FileNotFoundError, ProcessLookupError):
            pass
    return None


def hold_machine(pid, seconds):
    """Lets the boot take that much longer, however fast this host is."""
    while (machine := machine_of(pid)) is None:
        time.sleep(0.001)
    os.kill(machine, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(machine, signal.SIGCONT)


def test_progress():
    """Of the boot, on a terminal; elsewhere there is none, as all other tests see."""
    with tempfile.TemporaryDirectory() as scratch:
        controller, terminal = pty.openpty()
        with subprocess.Popen([TOP / "tools/guest-run", "--share", scratch, "--console", Path(scratch, "console"), "echo", "here"],
                              stdout=terminal, stderr=terminal) as run:
            os.close(terminal)
            threading.Thread(target=hold_machine, args=(run.pid, 3), daemon=True).start()
            text = b""
            try:
                while piece := os.read(controller, 4096):
                    text += piece
            except OSError:  # the other end is closed
                pass
        os.close(controller)
        assert run.returncode == 0 and b"\r\033[Kguest-run: booting the guest, 2 s" in text, text
        assert b"\r\033[K" in text.split(b"here")[0].split(b"booting")[-1], text


def test_time_limit():
    with tempfile.TemporaryDirectory() as scratch:
        done = guest_run("--timeout", "1", "true", share=Path(scratch))
        assert done.returncode == 124 and "still running after 1 s" in done.stderr, done


def test_qemu_that_fails():
    with tempfile.TemporaryDirectory() as scratch:
        done = guest_run("--", "--ppu", "sms=0", "--", "true", share=Path(scratch))
        assert done.returncode == 125 and "the guest ended early" in done.stderr and "sms" in done.stderr, done


def test_bad_options():
    for arguments, words in ((["--what"], "no such option"), ([], "which program"), (["/nonexistent/program"], "no such file"),
                             (["--timeout", "soon", "true"], "not a number"), (["--share"], "needs a value"),
                             (["--guest", "vax", "true"], "there are arm64, x86 and arm64-client"),
                             (["--iommu", "perhaps", "true"], "expected on or off"),
                             (["--share", "/nonexistent", "true"], "no such folder")):
        done = guest_run(*arguments)
        assert done.returncode == 2 and words in done.stderr, (arguments, done)


tap.main([
    ("a dynamic program gets its arguments and environment; its output and status come back", test_dynamic_program),
    ("a static program that crashes ends with the shell's status for its signal", test_static_program_that_crashes),
    ("the standard streams have their names in /dev", test_standard_streams_have_names),
    ("with --deterministic a program's output and status come by the console", test_deterministic),
    ("the PPU is on the PCI bus, with vfio-pci as its driver where there is an IOMMU [A1]", test_ppu_is_listed),
    ("system calls keep the TLB: the kernel's page tables are not its own alone", test_system_calls_keep_the_tlb),
    ("a boot is shown on a terminal", test_progress),
    ("guests that run at once from one checkout have a console each", test_several_at_once),
    ("a guest that takes too long is ended", test_time_limit),
    ("what QEMU says is shown when it does not start", test_qemu_that_fails),
    ("bad options are refused", test_bad_options),
])
