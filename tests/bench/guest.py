#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the guest takes to its first program, and what a doorbell costs there."""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402
BOOTS = 5
# of the rows' names
PREFIX = f"vfu.{guests.KIND}" if guests.SERVED else "guest"


def boot_seconds(console):
    """From the start of QEMU until the first program in the guest is heard."""
    began = time.monotonic()
    guest = subprocess.Popen([TOP / "tools/guest-run", "--console", console, "echo", "here"], stdout=subprocess.PIPE)
    first = guest.stdout.readline()
    seconds = time.monotonic() - began
    guest.stdout.close()
    if guest.wait() != 0 or first != b"here\n":
        sys.exit("the guest did not run `echo`")
    return seconds


def main():
    with tempfile.TemporaryDirectory() as scratch:
        share, console = Path(scratch, "share"), Path(scratch, "console")
        seconds = [boot_seconds(console) for _ in range(BOOTS)]
        print(json.dumps({"name": f"{PREFIX}.boot_s", "value": round(statistics.median(seconds), 2), "unit": "s", "better": "lower",
                          "note": f"power-on to the output of the first program; median of {BOOTS}, "
                                  f"{min(seconds):.2f} to {max(seconds):.2f}"}))
        subprocess.run([TOP / "demo/prepare", share], check=True)
        costs = subprocess.run([TOP / "tools/guest-run", "--share", share, "--console", console, "--env", "PPU_FIRMWARE=ppufw.bin",
                                guests.PROGRAMS / "bench-guest", "kernels.ppu"], check=True, capture_output=True, text=True).stdout
        print(costs.replace('"guest.', f'"{PREFIX}.'), end="", flush=True)
        if guests.SERVED:
            return
        for kernels in ("counter.ppu", "pressure.ppu"):
            shutil.copy(TOP / "build/kernels" / kernels, share)
        subprocess.run([TOP / "tools/guest-run", "--deterministic", "--share", share, "--console", console, "--env",
                        "PPU_FIRMWARE=ppufw.bin", TOP / "build/guest/programs/bench-nested", "round-trip", "."], check=True)


if __name__ == "__main__":
    main()
