#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the guest takes to its first program, and what a doorbell costs there."""

import json
import os
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
TURNS = 3
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


def costs_of(kind, share, console):
    """The rows of bench-guest in that guest, by name."""
    folder = TOP / "build" / ("guest-x86" if kind == "x86" else "guest")
    done = subprocess.run([TOP / "tools/guest-run", "--guest", kind, "--iommu", "off" if kind == "arm64-client" else "on", "--share", share,
                           "--console", console, "--env", "PPU_FIRMWARE=ppufw.bin", folder / "programs/bench-guest", "kernels.ppu"],
                          check=True, capture_output=True, text=True)
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


def beside_own_guest(share, console):
    """A guest whose PPU is served, against the one with the PPU in its QEMU: in turns, the least of each."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    subprocess.run(["make", "-s", "GUEST=arm64", "IOMMU=on", "build/guest/programs/bench-guest"], cwd=TOP, check=True, env=environment,
                   stdout=sys.stderr)
    turns = [[costs_of(kind, share, console) for kind in (guests.KIND, "arm64")] for _ in range(TURNS)]
    served, own = zip(*turns)
    for name, budget in (("doorbell_to_irq", 1.2), ("submit_to_wake", 1.0)):
        ours, theirs = (min(row[f"guest.{name}_us"]["value"] for row in rows) for rows in (served, own))
        print(json.dumps({"name": f"{PREFIX}.{name}_ratio", "value": round(ours / theirs, 2), "unit": "x", "better": "lower",
                          "budget": budget, "note": f"{ours:.0f} us, {theirs:.0f} us with the PPU in the guest's QEMU; least of {TURNS}"}))
    memory = min(row["guest.system_64mib_ms"]["value"] for row in served)
    print(json.dumps({"name": f"{PREFIX}.system_64mib_ms", "value": memory, "unit": "ms", "better": "lower", "budget": 300,
                      "note": f"64 MiB of system memory made visible; least of {TURNS}"}))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        share, console = Path(scratch, "share"), Path(scratch, "console")
        seconds = [boot_seconds(console) for _ in range(BOOTS)]
        print(json.dumps({"name": f"{PREFIX}.boot_s", "value": round(statistics.median(seconds), 2), "unit": "s", "better": "lower",
                          "budget": 4 if guests.KIND == "x86" else None,
                          "note": f"power-on to the output of the first program; median of {BOOTS}, "
                                  f"{min(seconds):.2f} to {max(seconds):.2f}"}))
        subprocess.run([TOP / "demo/prepare", share], check=True)
        if guests.SERVED:
            beside_own_guest(share, console)
            return
        for row in costs_of(guests.KIND, share, console).values():
            print(json.dumps(row), flush=True)
        for kernels in ("counter.ppu", "pressure.ppu"):
            shutil.copy(TOP / "build/kernels" / kernels, share)
        subprocess.run([TOP / "tools/guest-run", "--deterministic", "--share", share, "--console", console, "--env",
                        "PPU_FIRMWARE=ppufw.bin", TOP / "build/guest/programs/bench-nested", "round-trip", "."], check=True)


if __name__ == "__main__":
    main()
