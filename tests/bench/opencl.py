#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What OpenCL costs, natively and in the guest; each place begins with an empty cache."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import guests  # noqa: E402


def native(cache):
    environment = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": cache}
    for words in (["native"], ["native", "cached"]):
        subprocess.run([TOP / "build/plain/tools/bench-opencl", *words], env=environment, check=True)


def guest(share):
    program = guests.PROGRAMS / "bench-opencl"
    script = Path(share, "run")
    where = {"arm64": "guest", "x86": "x86guest", "arm64-client": "clientguest"}[guests.KIND]
    script.write_text(f"export PPU_CACHE=/tmp/cache\n/share/bench-opencl {where} && /share/bench-opencl {where} cached\n")
    Path(share, "bench-opencl").write_bytes(program.read_bytes())
    Path(share, "bench-opencl").chmod(0o755)
    subprocess.run([TOP / "tools/guest-run", "--opencl", "--share", share, "--console", Path(share, "console"), "sh", "run"],
                   check=True)


def main():
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as share:
        native(cache)
        guest(share)


if __name__ == "__main__":
    main()
