#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a test of OpenCL with its PPUs in a server of vfio-user: served.py PPUS PROGRAM."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.remove(str(Path(__file__).resolve().parent))  # where this file has the module's name
from served import Server  # noqa: E402


def main():
    with Server(int(sys.argv[1])) as server:
        done = subprocess.run(sys.argv[2:], check=False, env={**os.environ, "PPU_DEVICE": server.device})
        if server.process.poll() is not None:
            print("not ok - the server has ended")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
