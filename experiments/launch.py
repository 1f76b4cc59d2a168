# SPDX-License-Identifier: MIT
"""Knows what a program can ask of a PPU for its launches: waves, token queues, priorities, policies. Bounds come from the interface."""

import functools
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "include/ppu"
POLICY = re.compile(r"^PPU_POLICY\((\w+), \d+, (\w+), (\w+),", re.MULTILINE)


@functools.cache
def constant(name):
    """The value of a macro that is a number."""
    for file in ("limits.h", "admin.h"):
        found = re.search(rf"^#define {name} (\d+)u\b", (FOLDER / file).read_text(), re.MULTILINE)
        if found:
            return int(found[1])
    raise KeyError(name)


def number(text):
    return constant(text) if text.startswith("PPU_") else int(text, 0)


@functools.cache
def bounds():
    """{name: (least, most)}"""
    policies = {name: (number(least), number(most)) for name, least, most in POLICY.findall((FOLDER / "policy.def").read_text())}
    return {"wave": (constant("PPU_LANES"), constant("PPU_MAX_WAVE")), "tokens": (1, constant("PPU_MAX_TOKENS")),
            "priority": (0, constant("PPU_PRIORITIES") - 1)} | policies


def problem_of_name(name):
    """Why it is nothing that a launch has, or None."""
    return None if name in bounds() else f"'{name}' is nothing of a launch; there are {', '.join(bounds())}"


def problem_of(name, text):
    """Why it cannot have this value, or None."""
    least, most = bounds()[name]
    whole = re.fullmatch(r"\d+", text) and least <= int(text) <= most
    if name == "wave":  # one pass, or two or four
        waves = [str(least << shift) for shift in range((most // least).bit_length())]
        return None if text in waves else f"{name}={text}: expected {', '.join(waves[:-1])} or {waves[-1]}"
    return None if whole else f"{name}={text}: expected a number from {least} to {most}"
