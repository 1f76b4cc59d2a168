#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks built firmware images as a loader would. Arguments: folders with ppufw.bin and ppufw.elf. Prints TAP."""
import hashlib
import struct
import sys
import zlib
from pathlib import Path

OFFSET = 0x100
LAYOUT = struct.Struct("<IHHHHII20s24s")
ITCM_BYTES = 512 * 1024


def problem(folder):
    """A sentence, or None."""
    image = bytearray((folder / "ppufw.bin").read_bytes())
    if len(image) > ITCM_BYTES:
        return "is larger than ITCM"
    magic, version, size, major, _, total, crc, build_id, reserved = LAYOUT.unpack_from(image, OFFSET)
    if (magic, version, size, major) != (0x57465050, 1, LAYOUT.size, 1) or any(reserved):
        return "has a bad header"
    if total != len(image):
        return "says %d bytes and has %d" % (total, len(image))
    if image[OFFSET:OFFSET + LAYOUT.size] not in (folder / "ppufw.elf").read_bytes():
        return "is not what the ELF file holds"
    struct.pack_into("<I", image, OFFSET + 16, 0)
    if zlib.crc32(image) != crc:
        return "has a bad CRC"
    struct.pack_into("<I20s", image, OFFSET + 16, 0, bytes(20))
    if hashlib.sha1(image).digest() != build_id:
        return "has a bad build id"
    stack, reset = struct.unpack_from("<II", image, 0)
    if not 0x20000000 < stack <= 0x20200000 or not reset & 1 or reset >= len(image):
        return "has bad vectors"
    return None


def main():
    failed = 0
    for number, name in enumerate(sys.argv[1:], 1):
        found = problem(Path(name))
        print("%sok %d - the %s image is whole and its header says so" %
              ("not " if found else "", number, Path(name).name))
        if found:
            print("# %s/ppufw.bin %s" % (name, found))
            failed = 1
    print("1..%d" % (len(sys.argv) - 1))
    return failed


sys.exit(main())
