#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds one mistake at a time into the firmware; the test that runs orders of accesses must find each.

usage: test_mutations.py SCRATCH LIBRARY
"""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SCRATCH, LIBRARY = Path(sys.argv[1]), Path(sys.argv[2])
TORN = """
void tmdq_zero(void);
void tmdq_swapped_out(void);
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


def passes(part, name, old, new):
    """Whether the part's test passes with `old` replaced by `new`, which must stand there once."""
    original = (TOP / f"firmware/{part}.c").read_text()
    assert original.count(old) == 1, f"{old} stands {original.count(old)} times in {part}.c"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    source, program = SCRATCH / f"{part}-{name}.c", SCRATCH / f"{part}-{name}"
    mutated = original.replace(old, new)
    source.write_text(mutated.replace('#include "shared.h"\n', '#include "shared.h"\n' + TORN))
    tests = [f"tests/firmware/{file}.c" for file in (f"test_{part}", "mock_hal", "stream")]
    subprocess.run(["gcc", "-std=c11", "-g", "-Wno-unused-function", f"-DSHARED_STEP={part}_step", "-Iinclude", "-Ifirmware", "-Itests/firmware",
                    "-o", program, *tests, source, LIBRARY, "-lcmocka", "-pthread"], cwd=TOP, check=True, timeout=60)
    try:
        return subprocess.run([program], cwd=TOP, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def found(name, old, new, part="tmdq"):
    def test():
        assert not passes(part, name, old, new), "the test passes all the same"
    return test


def unchanged():
    assert passes("tmdq", "unchanged", "shared_replace(last,", "shared_replace(last,")
    assert passes("workq", "unchanged", "workq_passed(uint32_t", "workq_passed(uint32_t")


def workq(name, old, new):
    return found(name, old, new, "workq")


tap.main([
    ("the test passes without a mistake [B6]", unchanged),
    ("compare-and-swap as a store is found [B6]", found("cas", "shared_replace(last,", "torn_replace(last,")),
    ("exchange of last-task as load and store is found [B4]",
     found("last", "shared_exchange(&group->last_task", "torn_exchange(&group->last_task")),
    ("exchange of next-stream by the launcher as load and store is found [B4]",
     found("next", "shared_exchange(&task_status(before)->next_stream", "torn_exchange(&task_status(before)->next_stream")),
    ("exchange of next-stream by the scheduler as load and store is found [B6]",
     found("waiting", "shared_exchange(&task_status(task)->next_stream", "torn_exchange(&task_status(task)->next_stream")),
    ("a critical section that can be left in the middle is found [B4]",
     found("section", "    if (former == PPU_TASK_NULL) {\n        return TMDQ_FIRST;", "    tmdq_swapped_out();\n    if (former == PPU_TASK_NULL) {\n        return TMDQ_FIRST;")),
    ("a parent woken before the step on the TMDQ is found [B6]",
     found("zero", "shared_add(&group->work, (uint32_t)-1);", "shared_add(&group->work, (uint32_t)-1);\n    tmdq_zero();")),
    ("a record freed while its launcher is about to link is found [B6]", found("freed", "return TMDQ_PENDING;", "return TMDQ_EMPTY;")),
    ("a launch that is not counted is found [B13]", found("count", "shared_add(&group->work, 1);", "")),
    ("a semaphore that is not cleared is found [C4]", workq("clear", "shared_publish(sem_payload(queue, passed), 0);", "")),
    ("entries given back too soon are found [C4]",
     workq("shadow", "ppu_workq_add(queue->shadow, 1, queue->period)", "ppu_workq_add(queue->shadow, 2, queue->period)")),
    ("a reservation by the firmware as a store is found [C5]",
     workq("soft", "shared_replace(&shared->soft_put,", "torn_replace(&shared->soft_put,")),
    ("the end of a round as a store is found [C5]", workq("round", "shared_replace(&shared->round,", "torn_replace(&shared->round,")),
    ("a block published before it is written is found [C5]",
     workq("late", "    end_block(queue, entry, &writer);\n    shared_publish(sem_payload(queue, before), 1);",
           "    shared_publish(sem_payload(queue, before), 1);\n    end_block(queue, entry + 1, &writer);")),
])
