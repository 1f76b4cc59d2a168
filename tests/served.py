# SPDX-License-Identifier: MIT
"""Starts a server of vfio-user, stops it, and talks to the monitor of a QEMU."""

import json
import socket
import subprocess
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PATIENCE_S = 60


def until(condition, what, seconds=PATIENCE_S):
    """Waits for what `condition` returns, when that is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not in {seconds} s"
        time.sleep(0.02)
    return value


class Server:
    """Has PPUs, each behind a socket, until it is stopped or killed. `device` is for PPU_DEVICE."""

    def __init__(self, ppus=1, options=(), folder=None):
        self.own = tempfile.TemporaryDirectory() if folder is None else None
        self.folder = Path(folder or self.own.name)
        self.paths = [self.folder / f"ppu{n}" for n in range(ppus)]
        self.qmp = self.folder / "server.qmp"
        self.device = "vfio-user:" + ",".join(map(str, self.paths))
        self.command = [TOP / "tools/ppu-run", "--ppus", str(ppus), "--qmp", self.qmp, *options]
        for path in self.paths:
            self.command += ["--vfio-user", path]
        self.process = None

    def start(self):
        for path in self.paths:
            path.unlink(missing_ok=True)
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL)
        until(lambda: all(path.exists() for path in self.paths) or self.process.poll() is not None, "start a server")
        assert self.process.poll() is None, "the server has ended"
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_S)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class Monitor:
    """Sends commands of QMP; an answer that is an error raises, unless it is asked for."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        until(lambda: self.connects(path), f"connect to {path}")
        self.lines = self.socket.makefile("r")
        self.events = []
        self.answer()
        self.do("qmp_capabilities")

    def connects(self, path):
        try:
            self.socket.connect(str(path))
            return True
        except OSError:
            return False

    def answer(self):
        while "event" in (said := json.loads(self.lines.readline())):
            self.events.append(said["event"])
        return said

    def ask(self, command, **arguments):
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        return self.answer()

    def do(self, command, **arguments):
        said = self.ask(command, **arguments)
        assert "return" in said, (command, said)
        return said["return"]

    def wait_for(self, event):
        while event not in self.events:
            self.events.append(json.loads(self.lines.readline()).get("event"))

    def close(self):
        self.socket.close()
