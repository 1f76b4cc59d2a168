#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unpacks the kernel in an x86 boot image: vmlinux.py BZIMAGE VMLINUX. QEMU starts the ELF file by its PVH entry."""

import gzip
import lzma
import struct
import sys
from pathlib import Path

# where the image's header says it, as Linux documents it in arch/x86/boot
MAGIC_AT, SETUP_SECTORS_AT, PAYLOAD_AT = 0x202, 0x1F1, 0x248
DECOMPRESSORS = {b"\xfd7zXZ": lambda data: lzma.LZMADecompressor().decompress(data), b"\x1f\x8b": gzip.decompress}


def payload(image):
    if image[MAGIC_AT:MAGIC_AT + 4] != b"HdrS":
        sys.exit("unpack the kernel: it is not an x86 boot image")
    offset, size = struct.unpack_from("<II", image, PAYLOAD_AT)
    start = ((image[SETUP_SECTORS_AT] or 4) + 1) * 512 + offset
    return image[start:start + size]


def vmlinux(image):
    data = payload(image)
    for magic, decompress in DECOMPRESSORS.items():
        if data.startswith(magic):
            # The last four bytes are the size.
            return decompress(data[:-4])
    sys.exit(f"unpack the kernel: it is compressed in a way that is not known here: {data[:6].hex()}")


def main():
    kernel = vmlinux(Path(sys.argv[1]).read_bytes())
    if not kernel.startswith(b"\x7fELF"):
        sys.exit("unpack the kernel: what is in it is not an ELF file")
    Path(sys.argv[2]).write_bytes(kernel)


if __name__ == "__main__":
    main()
