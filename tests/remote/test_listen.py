#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests where a server of vfio-user listens, and what it says when it cannot."""

import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402
from served import Server  # noqa: E402

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


def end_of_server(*options):
    """What a client reads whose server dies before it has read all that the client has sent."""
    with tempfile.TemporaryDirectory() as folder, Server(options=options, folder=folder) as server, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(server.paths[0]))
        client.sendall(VERSION)
        client.recv(4096)
        server.process.send_signal(signal.SIGSTOP)
        client.sendall(VERSION)
        server.kill()
        return client.recv(4096)


def test_killed_server():
    """An end, where a socket that is closed with unread data gives an error, at which a QEMU that is the client aborts."""
    assert end_of_server() == b""
    try:
        end_of_server("--unconfined")  # which has no guard
        raise AssertionError("the kernel says nothing of unread data: is the guard needed?")
    except ConnectionResetError:
        pass


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
    ("a server that is killed ends its connections in order", test_killed_server),
    ("refused: a descriptor that is no socket", test_no_socket),
    ("refused: a folder that is not there", test_no_folder),
    ("refused: a path that no socket can have", test_long_path),
    ("refused: VRAM that is a file already", test_own_vram),
    ("refused: what is no place to listen at", test_options),
])
