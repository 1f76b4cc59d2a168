#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what is said of studies that are wrong, before anything of them runs."""

import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

STUDY = TOP / "experiments/study"
GOOD = """study: small
title: A small one
command: build/plain/tools/study-grain {how} {grain}
machine:
  sms: [2, 4]
  subvector: [true, false]
inputs:
  how: nested
  grain: [64, 128]
plots:
  - name: time
    x: grain
    y: device_ns
    lines: sms
"""


def study(step, text, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return subprocess.run([STUDY, step, path, *arguments], cwd=TOP, capture_output=True, text=True, timeout=60)


def refused(text, line, *words):
    done = study("check", text)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("study: read the study: ") and done.stderr.count("\n") == 1, done.stderr
    assert f"study.yaml:{line}: " in done.stderr, (line, done.stderr)
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def good_one():
    done = study("check", GOOD)
    assert done.returncode == 0 and done.stdout == "small: 8 cells on 4 machines\n", done
    listed = study("cells", GOOD).stdout.splitlines()
    assert len(listed) == 8 and len({line.split()[0] for line in listed}) == 8, listed
    assert listed[0].endswith(" sms=2 subvector=on how=nested grain=64"), listed[0]


def yaml_errors():
    refused("study: [", 1)
    refused(GOOD + "plots: [\n", 16)
    refused(GOOD.replace("  sms: [2, 4]", "  sms: [2, 4"), 6)
    refused("- a\n- b\n", 1, "keys and values")
    refused("", 1, "keys and values")
    done = study("check", b"\xff\xfe\x00\x80")
    assert done.returncode == 1 and "study.yaml" in done.stderr and "Traceback" not in done.stderr, done
    done = study("check", None)
    assert done.returncode == 1 and "No such file" in done.stderr, done


def keys_and_values():
    refused(GOOD + "colour: red\n", 15, "'colour' is no key")
    refused(GOOD + "study: twice\n", 15, "'study' stands there twice")
    refused(GOOD.replace("study: small", "study: Small One"), 1, "'Small One'")
    refused(GOOD.replace("study: small\n", ""), 1, "a study has a study")
    refused(GOOD.replace("[2, 4]", "[]"), 5, "sms has no value")
    refused(GOOD.replace("[2, 4]", "[2, 2]"), 5, "2 stands there twice")
    refused(GOOD.replace("[2, 4]", "[2, [4]]"), 5, "one word or number")
    refused(GOOD.replace("{grain}", "{size}"), 3, "{size} is no input")
    refused(GOOD.replace(" {grain}", ""), 9, "grain does not stand in the command")
    refused(GOOD.replace("    y: device_ns\n", ""), 11, "a plot has y")
    refused(GOOD.replace("lines: sms", "lines: sm"), 11, "'sm' is no property and no input")
    refused(GOOD.replace("x: grain", "z: grain"), 12, "'z' is no key of a plot")
    many = GOOD.replace("[64, 128]", f"[{', '.join(map(str, range(30000)))}]")
    refused(many, 1, "120000 cells")


LAUNCHED = GOOD.replace("{grain}", "{grain} {wave} {tokens} {priority} AGE={AGE}").replace("inputs:", """launch:
  wave: [32, 128]
  tokens: 4096
  priority: [0, 7]
  AGE: [1, 32]
inputs:""")


def launches():
    done = study("check", LAUNCHED)
    assert done.returncode == 0 and done.stdout == "small: 64 cells on 4 machines\n", done
    listed = study("cells", LAUNCHED).stdout.splitlines()
    assert listed[0].endswith(" sms=2 subvector=on wave=32 tokens=4096 priority=0 AGE=1 how=nested grain=64"), listed[0]
    refused(LAUNCHED.replace("[32, 128]", "[32, 48]"), 8, "wave=48: expected 32, 64 or 128")
    refused(LAUNCHED.replace("4096", "4097"), 9, "tokens=4097: expected a number from 1 to 4096")
    refused(LAUNCHED.replace("4096", "some"), 9, "tokens=some: expected a number from 1 to 4096")
    refused(LAUNCHED.replace("[0, 7]", "[0,\n    8]"), 11, "priority=8: expected a number from 0 to 7")
    refused(LAUNCHED.replace("[1, 32]", "[0, 32]"), 11, "AGE=0: expected a number from 1 to 2147483647")
    refused(LAUNCHED.replace("  AGE: [1, 32]", "  LIMIT_MS: 3600001"), 11, "LIMIT_MS=3600001: expected a number from 0 to 3600000")
    refused(LAUNCHED.replace("  AGE: [1, 32]", "  HASTE: 1"), 11, "'HASTE' is nothing of a launch; there are wave,", "SLICE_US")
    refused(LAUNCHED.replace(" AGE={AGE}", ""), 11, "AGE does not stand in the command")
    refused(LAUNCHED.replace("  how: nested", "  how: nested\n  wave: 32"), 14, "'wave' stands in launch and in inputs")


def machines_that_cannot_be():
    """The device says it, not this test: no machine runs anything."""
    refused(GOOD.replace("sms: [2, 4]", "sms: [2, 0]"), 5, "there is no machine sms=0", "sms must be")
    refused(GOOD.replace("subvector: [true, false]", "gpcs: 3"), 6, "gpcs must divide sms")
    refused(GOOD.replace("subvector: [true, false]", "sm-vregs: 100"), 6, "sm-vregs must be")
    refused(GOOD.replace("subvector: [true, false]", "l1-size: 3000"), 6, "l1-size must be a power of two")
    refused(GOOD.replace("subvector: [true, false]", "vram-size: 3M"), 6, "vram-size must be")
    refused(GOOD.replace("subvector: [true, false]", "subvector: perhaps"), 6, "subvector")
    refused(GOOD.replace("subvector: [true, false]", "wheels: 4"), 6, "'wheels' is no property", "sm-warps", "ppus")
    refused(GOOD.replace("subvector: [true, false]", "sm-threads: 4"), 6, "'sm-threads' cannot be chosen")
    refused(GOOD.replace("subvector: [true, false]", "ppus: 100"), 6)
    refused(GOOD.replace("subvector: [true, false]", "firmware: x"), 6, "'firmware' is no property")
    refused(GOOD.replace("subvector: [true, false]", "romfile: x"), 6, "'romfile' is no property")


def shipped_ones():
    shipped = sorted((TOP / "experiments").glob("*.yaml"))
    assert len(shipped) >= 4, shipped
    for path in shipped:
        done = subprocess.run([STUDY, "check", path], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and f"{path.stem}: " in done.stdout, done


if __name__ == "__main__":
    tap.main([
        ("a study has a cell for each machine and input", good_one),
        ("what is no YAML is refused with its line", yaml_errors),
        ("keys and values that are wrong are refused with their line", keys_and_values),
        ("what launches cannot have is refused with its line, before anything runs", launches),
        ("machines that cannot be are refused with the property's line, in the device's words", machines_that_cannot_be),
        ("the machines of the shipped studies can be", shipped_ones),
    ])
