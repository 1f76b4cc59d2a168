#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a test of OpenCL with its PPU in a server of vfio-user: served.py PROGRAM."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
START_SECONDS = 60


def start(path):
    server = subprocess.Popen([TOP / "tools/ppu-run", "--vfio-user", path], stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    while not path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("the server does not start")
        time.sleep(0.02)
    return server


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ppu")
        server = start(path)
        try:
            done = subprocess.run(sys.argv[1:], check=False, env={**os.environ, "PPU_DEVICE": f"vfio-user:{path}"})
            if server.poll() is not None:
                print("not ok - the server has ended")
        finally:
            server.terminate()
            server.wait(timeout=60)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
