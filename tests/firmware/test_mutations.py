#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds one mistake at a time into firmware/tmdq.c; the test that runs every order of accesses must find each.

usage: test_mutations.py SCRATCH LIBRARY
"""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SCRATCH, LIBRARY = Path(sys.argv[1]), Path(sys.argv[2])
SOURCE = (TOP / "firmware/tmdq.c").read_text()
TORN = """
static uint32_t torn_exchange(uint32_t *word, uint32_t value)
{
    uint32_t old = shared_read(word);
    shared_publish(word, value);
    return old;
}
static bool torn_replace(uint32_t *word, uint32_t expected, uint32_t value)
{
    (void)expected;
    shared_publish(word, value);
    return true;
}
"""


def passes(name, old, new):
    """Whether the test passes with `old` replaced by `new`, which must stand there once."""
    assert SOURCE.count(old) == 1, f"{old} stands {SOURCE.count(old)} times in tmdq.c"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    source, program = SCRATCH / f"{name}.c", SCRATCH / name
    mutated = SOURCE.replace(old, new)
    source.write_text(mutated.replace('#include "shared.h"\n', '#include "shared.h"\n' + TORN))
    tests = [f"tests/firmware/{file}.c" for file in ("test_tmdq", "mock_hal", "stream")]
    subprocess.run(["gcc", "-std=c11", "-g", "-Wno-unused-function", "-DSHARED_STEP=tmdq_step", "-Iinclude", "-Ifirmware", "-Itests/firmware",
                    "-o", program, *tests, source, LIBRARY, "-lcmocka", "-pthread"], cwd=TOP, check=True, timeout=60)
    try:
        return subprocess.run([program], cwd=TOP, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def found(name, old, new):
    def test():
        assert not passes(name, old, new), "the test passes all the same"
    return test


def unchanged():
    assert passes("unchanged", "shared_replace(last,", "shared_replace(last,")


tap.main([
    ("the test passes without a mistake [B6]", unchanged),
    ("compare-and-swap as a store is found [B6]", found("cas", "shared_replace(last,", "torn_replace(last,")),
    ("exchange of last-task as load and store is found [B4]",
     found("last", "shared_exchange(&group->last_task", "torn_exchange(&group->last_task")),
    ("exchange of next-stream by the launcher as load and store is found [B4]",
     found("next", "shared_exchange(&task_status(before)->next_stream", "torn_exchange(&task_status(before)->next_stream")),
    ("exchange of next-stream by the scheduler as load and store is found [B6]",
     found("waiting", "shared_exchange(&task_status(task)->next_stream", "torn_exchange(&task_status(task)->next_stream")),
    ("a launch that is not counted is found [B13]", found("count", "shared_add(&group->work, 1);", "")),
])
