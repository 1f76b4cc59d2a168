# SPDX-License-Identifier: MIT
"""Runs a program on a terminal of its own, a vt100, and reads what the screen shows."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

SEQUENCE = re.compile(rb"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()].|\x1b[=>78]|\x1b([DM])")


class Terminal:
    def __init__(self, arguments, lines, columns, environment):
        self.cells = []
        self.line = self.column = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self.fd = 0
            self.resize(lines, columns)
            os.execve(arguments[0], arguments, environment)
        self.resize(lines, columns)

    def resize(self, lines, columns):
        """What is shown stays, as far as there is room."""
        self.lines, self.columns = lines, columns
        self.region = 0, lines - 1
        self.cells = [(line + [" "] * columns)[:columns] for line in self.cells[:lines]]
        self.cells += [[" "] * columns for _ in range(lines - len(self.cells))]
        self.line, self.column = min(self.line, lines - 1), min(self.column, columns - 1)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def erase(self, whole):
        for column in range(self.column, self.columns):
            self.cells[self.line][column] = " "
        for line in range(self.line + 1, self.lines if whole else 0):
            self.cells[line] = [" "] * self.columns

    def control(self, numbers, letter):
        first = int(numbers.split(b";")[0] or 0) if not numbers.startswith(b"?") else 0
        if letter == b"H":
            parts = [int(part or 1) for part in (numbers or b"1;1").split(b";")]
            self.line, self.column = min(parts[0], self.lines) - 1, min(parts[-1], self.columns) - 1
        elif letter == b"K" and first == 1:
            self.cells[self.line][:self.column + 1] = [" "] * (self.column + 1)
        elif letter in b"JK":
            self.erase(letter == b"J")
        elif letter == b"C":
            self.column = min(self.column + max(first, 1), self.columns - 1)
        elif letter == b"A":
            self.line = max(self.line - max(first, 1), 0)
        elif letter == b"B":
            self.line = min(self.line + max(first, 1), self.lines - 1)
        elif letter == b"D":
            self.column = max(self.column - max(first, 1), 0)
        elif letter == b"r":
            parts = [int(part) for part in (numbers or b"1;%d" % self.lines).split(b";")]
            self.region = parts[0] - 1, min(parts[-1], self.lines) - 1
            self.line = self.column = 0
        else:
            assert letter in b"mhl", (numbers, letter)

    def feed(self, up):
        """A line up or down; at an end of the region that scrolls, its lines move."""
        first, last = self.region
        if self.line == (first if up else last):
            del self.cells[last if up else first]
            self.cells.insert(self.line, [" "] * self.columns)
        else:
            self.line = min(max(self.line + (-1 if up else 1), 0), self.lines - 1)

    def write(self, byte):
        if byte == 13:
            self.column = 0
        elif byte == 10:
            self.feed(up=False)
        elif byte == 9:
            self.column = min(self.column // 8 * 8 + 8, self.columns - 1)
        elif byte == 8:
            self.column = max(self.column - 1, 0)
        elif byte >= 32:
            if self.column == self.columns:
                self.column, self.line = 0, min(self.line + 1, self.lines - 1)
            self.cells[self.line][self.column] = chr(byte)
            self.column += 1

    def take(self, text):
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                if found[2]:
                    self.control(found[1], found[2])
                elif found[3]:
                    self.feed(up=found[3] == b"M")
                at = found.end()
            else:
                self.write(text[at])
                at += 1

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]

    def wait(self, shows, timeout=60):
        """Reads until shows(lines) is true; returns the lines."""
        until = time.monotonic() + timeout
        while not shows(self.text()):
            left = until - time.monotonic()
            assert left > 0, "\n".join(self.text())
            if select.select([self.fd], [], [], left)[0]:
                try:
                    data = os.read(self.fd, 65536)
                    while data.rfind(b"\x1b") > len(data) - 12 and select.select([self.fd], [], [], 0.05)[0]:
                        data += os.read(self.fd, 65536)
                except OSError:
                    raise AssertionError("the program ended:\n" + "\n".join(self.text())) from None
                self.take(data)
        return self.text()

    def end(self):
        """Status of the program, which is about to end."""
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status
