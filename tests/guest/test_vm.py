#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests virtual machines that are clients of a served PPU: killed, rebooted, paused, several; a dead server."""

import os
import queue
import shutil
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
from served import Monitor, Server, until  # noqa: E402

BOOT_S = 120
END_S = 240
LANES = 32  # that tests/guest/user.c counts with each launch
HOST_USER = TOP / "build/plain/tests/user"


class Machine:
    """A guest that runs a script in its share, as the client of `sockets`."""

    def __init__(self, folder, sockets, script, *options):
        self.folder = Path(folder)
        self.share = self.folder / "share"
        self.share.mkdir(parents=True)
        self.qmp = self.folder / "guest.qmp"
        for file in (guests.PROGRAMS / "user", TOP / "build/kernels/counter.ppu", TOP / "build/kernels/fair.ppu", TOP / "build/kernels/told.ppu",
                     TOP / "build/firmware/picolibc/ppufw.bin"):
            shutil.copy(file, self.share)
        (self.share / "script").write_text("export PPU_FIRMWARE=ppufw.bin\n" + script)
        words = [word for path in sockets for word in ("--served", path)]
        self.process = subprocess.Popen(
            [TOP / "tools/guest-run", *words, "--share", self.share, "--console", self.folder / "console", *options, "--",
             "--qmp", self.qmp, "--", "sh", "script"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.said = []
        self.lines = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next_line(self):
        """None: there is none any more, or not in time."""
        try:
            return self.lines.get(timeout=END_S)
        except queue.Empty:
            return None

    def take_lines(self):
        """Those that are there."""
        while not self.lines.empty():
            self.said.append(self.next_line())

    def console(self):
        return (self.folder / "console").read_text(errors="replace")[-3000:]

    def hear(self, beginning):
        """The rest of the next line that begins so."""
        while True:
            line = self.next_line()
            assert line, (f"waited for {beginning!r}", self.said, self.console())
            self.said.append(line)
            if line.startswith(beginning):
                return line.removeprefix(beginning).strip()

    def put(self, name):
        """Lets a script go on that waits for a file."""
        (self.share / name).touch()

    def end(self, status=0):
        self.wait()
        while line := self.next_line():
            self.said.append(line)
        assert self.process.returncode == status, (self.said, self.console())

    def wait(self):
        self.process.wait(timeout=END_S)
        self.reader.join(timeout=END_S)

    def emulator(self):
        """The QEMU of the guest."""
        for child in map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()):
            for pid in [child, *map(int, Path(f"/proc/{child}/task/{child}/children").read_text().split())]:
                if b"vfio-user-pci" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        raise AssertionError("the guest has no QEMU")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                os.kill(self.emulator(), signal.SIGKILL)
            except (AssertionError, FileNotFoundError):
                pass
            self.process.kill()
            self.wait()


def host_counts(server):
    done = subprocess.run([HOST_USER, "count", "build/kernels/counter.ppu", "3"], cwd=TOP, capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PPU_DEVICE": server.device})
    assert done.stdout == f"counted {3 * LANES}\n", done


def test_several():
    """Two machines, each with a PPU of one server, then a program of this computer."""
    with tempfile.TemporaryDirectory() as folder, Server(2) as server:
        script = "./user count counter.ppu 40"
        with Machine(f"{folder}/a", server.paths[:1], script) as first, Machine(f"{folder}/b", server.paths[1:], script) as second:
            for machine in (first, second):
                assert machine.hear("counted ") == str(40 * LANES)
                machine.end()
        host_counts(server)


def test_killed_machine():
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        with Machine(f"{folder}/a", server.paths, "./user endless fair.ppu") as machine:
            machine.hear("running")
            os.kill(machine.emulator(), signal.SIGKILL)
            machine.wait()
        host_counts(server)
        with Machine(f"{folder}/b", server.paths, "./user count counter.ppu 5") as machine:
            assert machine.hear("counted ") == str(5 * LANES)
            machine.end()


def test_reboot():
    """While a kernel runs."""
    script = ("if [ ! -e before ]; then touch before; sync; ./user endless fair.ppu >first & "
              "until grep -q running first; do sleep 0.1; done; echo rebooting; reboot -f; fi\n"
              "./user count counter.ppu 20\n")
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        with Machine(f"{folder}/a", server.paths, script) as machine:
            machine.hear("rebooting")
            assert machine.hear("counted ") == str(20 * LANES)
            machine.end()
        host_counts(server)


def test_paused():
    """While kernels are launched, one program after the other until the last pause is over."""
    script = "echo begun; until [ -e end ]; do ./user count counter.ppu 40; done; echo over"
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        with Machine(f"{folder}/a", server.paths, script) as machine:
            machine.hear("begun")
            monitor = Monitor(machine.qmp)
            for _ in range(4):
                monitor.do("stop")
                time.sleep(0.5)
                machine.take_lines()
                monitor.do("cont")
                assert machine.hear("counted ") == str(40 * LANES)
            machine.put("end")
            machine.hear("over")
            machine.end()
            counted = [line for line in machine.said if line.startswith("counted ")]
            assert counted == [f"counted {40 * LANES}\n"] * len(counted), counted


# of the shell: its files are in memory, as the shares of a guest do not outlive its sleep. What the kernel ran through is told afterwards.
SLEEP = ("{ cp user *.ppu ppufw.bin /tmp; cd /tmp; mkfifo line; ./user through told.ppu <line >out & exec 3>line\n"
         "until grep -q running out; do sleep 0.1; done; echo sleeping\n"
         "echo devices >/sys/power/pm_test; echo freeze >/sys/power/state; echo woken $?\n"
         "echo told >&3; exec 3>&-; wait; echo $(tail -n 1 out); echo again $(./user count counter.ppu 20 2>&1); sleep 1000; }\n")


def test_sleep():
    """While a kernel runs. No clock of these machines wakes them up, so the kernel does it by itself after five seconds."""
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        with Machine(f"{folder}/a", server.paths, SLEEP) as machine:
            machine.hear("sleeping")
            assert machine.hear("woken ") == "0"
            assert machine.hear("counted ") == str(LANES)
            assert machine.hear("again counted ") == str(20 * LANES)
        host_counts(server)


class Accesses:
    """Counts messages of a client that read or write a region: registers, and doorbells."""

    def __init__(self, folder):
        self.path = Path(folder, "accesses")
        self.options = ["--trace", "ppu_remote_access", "--log-file", self.path]
        self.before = (0, 0)

    def since(self):
        """How many since this was asked last: of registers, of doorbells."""
        text = self.path.read_text()
        now = (text.count(" region 0 "), text.count(" region 2 "))
        before, self.before = self.before, now
        return now[0] - before[0], now[1] - before[1]


FEW, MANY = 20, 220
RINGS = 2 * (MANY - FEW)  # of the launches, and of the waits for them


def check_messages(accesses, count):
    """`count(n)` opens the PPU and launches n times. More launches are no more accesses to registers, and after some
    turns the device is seen to look for doorbells by itself."""
    deadline = time.monotonic() + END_S
    while True:
        costs = []
        for launches in (FEW, MANY):
            accesses.since()
            count(launches)
            costs.append(accesses.since())
        registers, doorbells = (costs[1][kind] - costs[0][kind] for kind in (0, 1))
        print(f"# {MANY - FEW} launches: {registers} accesses to registers, {doorbells} to doorbells", flush=True)
        # One a second looks whether the device is there.
        assert registers < (MANY - FEW) / 4, costs
        assert doorbells <= RINGS, costs
        if doorbells < RINGS:
            return
        assert time.monotonic() < deadline, "no launch was seen without a message"


def check_messages_of_machine(folder, *options):
    accesses = Accesses(folder)
    script = "echo begun; until [ -e end ]; do if [ -e launches ]; then n=$(cat launches); rm launches; ./user count counter.ppu $n; fi; sleep 0.1; done"
    with Server(options=accesses.options) as server, Machine(f"{folder}/a", server.paths, script, *options) as machine:
        machine.hear("begun")

        def count(launches):
            (machine.share / "new").write_text(str(launches))
            (machine.share / "new").rename(machine.share / "launches")
            assert machine.hear("counted ") == str(launches * LANES)

        check_messages(accesses, count)
        machine.put("end")
        machine.end()


def test_messages():
    with tempfile.TemporaryDirectory() as folder:
        check_messages_of_machine(folder)


def test_messages_without_iommu():
    """Nor for looking after interrupts, which such a machine has none of."""
    with tempfile.TemporaryDirectory() as folder:
        check_messages_of_machine(folder, "--iommu", "off")


def test_snapshot():
    """The client's QEMU would leave the PPU out: it refuses."""
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        with Machine(f"{folder}/a", server.paths, "echo begun; ./user count counter.ppu 5") as machine:
            machine.hear("begun")
            monitor = Monitor(machine.qmp)
            said = monitor.ask("migrate", uri=f"file:{folder}/state")
            assert "Migration is disabled" in said["error"]["desc"], said
            assert not Path(folder, "state").exists()
            assert machine.hear("counted ") == str(5 * LANES)
            machine.end()
            # The server has no client any more: nothing but the file is wrong, which its confinement refuses.
            said = Monitor(server.qmp).ask("migrate", uri=f"file:{folder}/state")
            assert "Could not create" in said["error"]["desc"], said


def plug(monitor, server, slot):
    monitor.do("device_add", driver="vfio-user-pci", id=f"plugged{slot}", bus=f"free-slot{slot}", socket={"type": "unix", "path": str(server.paths[0])})


# of the shell: waits for a PPU on that bus, sets `at` to its address, and gives it to vfio-pci
FIND = ("find() { until at=$(cd /sys/bus/pci/devices && grep -l \"$(cut -d' ' -f2 /etc/ppu.ids)\" 0000:$1:*/device); do sleep 0.2; done\n"
        "at=${at%/device}; echo vfio-pci >/sys/bus/pci/devices/$at/driver_override; echo $at >/sys/bus/pci/drivers_probe; }\n")


def test_killed_server():
    """In mid-kernel: the program ends with an error, the guest and another PPU go on, a new server can be plugged in."""
    script = FIND + ("echo begun; find 01\n"
                     "PPU_DEVICE=vfio:$at ./user endless fair.ppu\n"
                     "echo alive $(PPU_DEVICE=vfio:0000:00:01.0 ./user count counter.ppu 3)\n"
                     "until [ -e again ]; do sleep 0.2; done\n"
                     "find 02; PPU_DEVICE=vfio:$at ./user count counter.ppu 7\n")
    with tempfile.TemporaryDirectory() as folder, Server() as stays:
        dies = Server(options=["--sm-threads", "1"]).start()
        with Machine(f"{folder}/a", stays.paths, script) as machine:
            machine.hear("begun")
            monitor = Monitor(machine.qmp)
            plug(monitor, dies, 0)
            machine.hear("running")
            dies.kill()
            ended = machine.hear("ended: ")
            assert ended.startswith("DEVICE_LOST: "), ended
            assert machine.hear("alive counted ") == str(3 * LANES)
            dies.start()
            plug(monitor, dies, 1)
            machine.put("again")
            assert machine.hear("counted ") == str(7 * LANES)
        dies.stop()  # the machine has been killed: QEMU 10.2 aborts when the memory of one with a dead device changes


if not guests.SERVED:
    print("1..1\nok 1 a virtual machine as the client # SKIP this guest has its PPU in its own QEMU")
    sys.exit(0)

CASES = [
    ("two machines and a program use the PPUs of one server", test_several),
    ("a machine that is killed leaves the PPU to others", test_killed_machine),
    ("a guest that reboots while a kernel runs has the PPU again", test_reboot),
    ("a machine that is paused goes on", test_paused),
    ("a snapshot of machine or server is refused", test_snapshot),
]
if guests.KIND == "x86":
    CASES.append(("a guest that suspends its devices while a kernel runs goes on with both", test_sleep))
    CASES.append(("a launch costs no access to a register, and no message for a doorbell that is looked for", test_messages))
    CASES.append(("the same without an IOMMU", test_messages_without_iommu))
if guests.KIND == "x86":  # its machine has slots that are large enough, as its firmware sees to it
    CASES.append(("a server that dies in mid-kernel ends the program alone; a new one can be plugged in", test_killed_server))
tap.main(CASES)
