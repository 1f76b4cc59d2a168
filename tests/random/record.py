# SPDX-License-Identifier: MIT
"""Keeps what long runs of random programs have done: a line a run in record.txt, and sums over all of them."""

import fcntl
import re
import resource
import time
from pathlib import Path

EACH = 13  # variants of the compiler: a program that ran in so many ran optimised and not, at all waves, in all forms
FILE = Path(__file__).with_name("record.txt")
TITLE = ("# SPDX-License-Identifier: MIT\n"
         "# What long runs of random programs did; `make random OPTIONS=--record` adds a line, `make random-report` sums.\n")
LINE = re.compile(r"(\d{4}-\d\d-\d\d) seeds (\d+) to (\d+): (\d+) variants((?:, \w+)*); (\d+) s, (\d+) differ")
OTHERS = ("pocl", "oclgrind", "ppu")


def processor_s():
    """Seconds of the processor that children which have ended took, and this process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime + time.process_time()


def add(seeds, variants, others, seconds, differ, path=FILE):
    """Adds the line of a run: of which programs, how each ran, and how many of them differed."""
    date = time.strftime("%Y-%m-%d", time.gmtime())
    others = "".join(f", {name}" for name in others)
    with open(path, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.stat().st_size == 0:
            file.write(TITLE)
        file.write(f"{date} seeds {seeds[0]} to {seeds[-1]}: {variants} variants{others}; {seconds:.0f} s, {differ} differ\n")


def read(path=FILE):
    """[(first seed, last seed, variants, others, seconds, differ)]; ValueError where a line is none of a record."""
    runs = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if found := LINE.fullmatch(line):
            _, first, last, variants, others, seconds, differ = found.groups()
            runs.append((int(first), int(last), int(variants), others.split(", ")[1:], int(seconds), int(differ)))
        elif not line.startswith("#"):
            raise ValueError(f"cannot read {path}: this is no line of a record: {line}")
    return runs


def distinct(runs):
    """How many seeds these runs have between them."""
    count, end = 0, -1
    for first, last, *_ in sorted(runs):
        count += max(0, last - max(first, end + 1) + 1)
        end = max(end, last)
    return count


def report(path=FILE):
    """The sums as lines of text."""
    runs = read(path)
    lines = [f"{distinct(runs):,} programs, {sum(differ for *_, differ in runs)} differed, "
             f"{sum(seconds for *_, seconds, _ in runs) / 3600:.2f} hours of a processor",
             f"on a device core: {sum((last - first + 1) * variants for first, last, variants, *_ in runs):,} runs"]
    lines.append(f"in each variant of the compiler: {distinct([run for run in runs if run[2] >= EACH]):,} programs")
    for name in OTHERS:
        lines.append(f"on {name}: {distinct([run for run in runs if name in run[3]]):,} programs")
    lines.append(f"the first seed beyond them: {max([last for _, last, *_ in runs], default=-1) + 1}")
    return lines
