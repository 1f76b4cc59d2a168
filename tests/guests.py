# SPDX-License-Identifier: MIT
"""Tells which guest the tests are about, as `make GUEST=name` says it, and where its programs are."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
KIND = os.environ.get("PPU_GUEST", "arm64")
FOLDER = TOP / "build" / ("guest-x86" if KIND == "x86" else "guest")
PROGRAMS = FOLDER / "programs"
# Its PPU is served by another process, so the two have no clock in common.
SERVED = KIND != "arm64"
# Without one its PPUs have no driver.
IOMMU = os.environ.get("PPU_GUEST_IOMMU") or ("off" if KIND == "arm64-client" else "on")
# Seconds that a guest may run: the limit that tests/run gives the test, with time to say what went wrong.
LIMIT_S = int(os.environ.get("PPU_TEST_LIMIT_S", "300")) - 20
