#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests where a server of vfio-user listens, and what it says when it cannot."""

import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

VERSION = struct.pack("<HHIIIHH", 7, 1, 16 + 4 + 3, 0, 0, 0, 0) + b"{}\0"


def start(*options, **more):
    return subprocess.Popen([TOP / "tools/ppu-run", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def refused(*options):
    server = start(*options)
    output, _ = server.communicate(timeout=60)
    assert server.returncode != 0, output
    return output


def test_inherited_socket():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = folder + "/ppu"
        listener.bind(path)
        listener.listen()
        server = start("--vfio-user", f"fd:{listener.fileno()}", pass_fds=[listener.fileno()])
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(path)
            client.sendall(VERSION)
            reply = client.recv(4096)
        server.terminate()
        server.wait()
    number, command, size, flags, error = struct.unpack_from("<HHIII", reply)
    assert (number, command, flags, error) == (7, 1, 1, 0) and size == len(reply), reply
    assert b"max_msg_fds" in reply


def test_no_socket():
    with tempfile.TemporaryFile() as file:
        server = start("--vfio-user", f"fd:{file.fileno()}", pass_fds=[file.fileno()])
        output, _ = server.communicate(timeout=60)
    assert server.returncode != 0 and "names no socket" in output, output


def test_no_folder():
    assert "ppu: vfio-user: listen at '/nonexistent/ppu'" in refused("--vfio-user", "/nonexistent/ppu")


def test_long_path():
    assert "the path of a socket has less than 108 bytes" in refused("--vfio-user", "/tmp/" + "x" * 120)


def test_own_vram():
    with tempfile.TemporaryDirectory() as folder:
        output = refused("--vfio-user", folder + "/ppu", "--vram-file", folder + "/vram", "--ppu", "vram-size=64M")
    assert "vfio-user goes without vram-memdev and mailbox-memdev" in output, output


def test_options():
    assert "expected a path or fd:N" in refused("--vfio-user", "file:/tmp/x")
    assert "one for a PPU is given 2 times" in refused("--vfio-user", "/tmp/a", "--vfio-user", "/tmp/b")


tap.main([
    ("a socket that is inherited", test_inherited_socket),
    ("refused: a descriptor that is no socket", test_no_socket),
    ("refused: a folder that is not there", test_no_folder),
    ("refused: a path that no socket can have", test_long_path),
    ("refused: VRAM that is a file already", test_own_vram),
    ("refused: what is no place to listen at", test_options),
])
