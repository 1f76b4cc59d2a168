#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds one mistake at a time into the firmware; the test that runs orders of accesses must find each.

usage: test_mutations.py SCRATCH LIBRARY
"""

import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SCRATCH, LIBRARY = Path(sys.argv[1]), Path(sys.argv[2])
LIMIT_S = 240  # a run takes seconds of a processor, which many may share
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


def passes(name, part, test, old, new):
    """Whether the test passes with `old` in firmware/<part>.c replaced by `new`, which must stand there once."""
    original = (TOP / f"firmware/{part}.c").read_text()
    assert original.count(old) == 1, f"{old} stands {original.count(old)} times in {part}.c"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    source, program = SCRATCH / f"{part}-{name}.c", SCRATCH / f"{part}-{name}"
    mutated = original.replace(old, new)
    source.write_text(mutated.replace('#include "firmware/shared.h"\n', '#include "firmware/shared.h"\n' + TORN))
    step = "tmdq_step" if part == "tmdq" else "orders_step"
    tests = [compiled(f"tests/firmware/{file}.c", step) for file in (f"test_{test}", "orders", "mock_hal", "coroutine", "stream")]
    gcc("-o", program, *tests, compiled(source, step), LIBRARY, "-lcmocka")
    return runs_clean(program)


def gcc(*arguments):
    subprocess.run(["gcc", *arguments], cwd=TOP, check=True, timeout=60)


@cache
def compiled(source, step):
    """The object of a source; what several mistakes have in common is compiled once."""
    made = SCRATCH / f"{Path(source).stem}-{step}.o"
    gcc("-std=c11", "-O1", "-g1", "-Wno-unused-function", f"-DSHARED_STEP={step}", "-I.", "-Iinclude", "-c", source, "-o", made)
    return made


def runs_clean(program):
    """False as soon as the first test has failed, or when it takes too long."""
    with subprocess.Popen([program], cwd=TOP, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        limit = threading.Timer(LIMIT_S, run.kill)
        limit.start()
        failed = any("FAILED" in line for line in run.stderr)
        limit.cancel()
        if failed:
            run.kill()
        return run.wait() == 0 and not failed


def found(name, old, new, part="tmdq", test="tmdq"):
    def mutation():
        assert not passes(name, part, test, old, new), "the test passes all the same"
    return mutation


def unchanged():
    for part, test, line in (("tmdq", "tmdq", "shared_replace(last,"), ("workq", "workq", "workq_passed(uint32_t"), ("taskq", "taskq_feed", "settle_taskq(struct"),
                             ("nest", "cta_groups", "shared_read(&group->cta)"), ("commands", "list_orders", "step_task(struct task *task)\n")):
        assert passes("unchanged", part, test, line, line)


def workq(name, old, new):
    return found(name, old, new, "workq", "workq")


def cta(name, old, new):
    return found(name, old, new, "nest", "cta_groups")


def queue(name, old, new):
    return found(name, old, new, "taskq", "taskq_feed")


def lists(name, old, new):
    return found(name, old, new, "commands", "list_orders")


tap.main([
    ("the test passes without a mistake [B6]", unchanged),
    ("compare-and-swap as a store is found [B6]", found("cas", "shared_replace(last,", "torn_replace(last,")),
    ("exchange of last-task as load and store is found [B4]",
     found("last", "shared_exchange(&host.last_task", "torn_exchange(&host.last_task")),
    ("exchange of next-stream by the launcher as load and store is found [B4]",
     found("next", "shared_exchange(&task_status(before)->next_stream", "torn_exchange(&task_status(before)->next_stream")),
    ("exchange of next-stream by the scheduler as load and store is found [B6]",
     found("waiting", "shared_exchange(&task_status(task)->next_stream", "torn_exchange(&task_status(task)->next_stream")),
    ("a critical section that can be left in the middle is found [B4]",
     found("section", "    if (former == PPU_TASK_NULL) {\n        return TMDQ_FIRST;", "    tmdq_swapped_out();\n    if (former == PPU_TASK_NULL) {\n        return TMDQ_FIRST;")),
    ("a parent woken before the step on the TMDQ is found [B6]",
     found("zero", "shared_add(&from.group->work, (uint32_t)-1);", "shared_add(&from.group->work, (uint32_t)-1);\n    tmdq_zero();")),
    ("a record freed while its launcher is about to link is found [B6]", found("freed", "return TMDQ_PENDING;", "return TMDQ_EMPTY;")),
    ("a launch that is not counted is found [B13]", found("count", "shared_add(&host.group->work, 1);", "")),
    ("a child counted for the CTA that has its parent's place now is found [B3]", cta("whose", "shared_read(&group->cta) != cta || ", "")),
    ("a CTA looked up before its count is found [B3]",
     cta("order", "        uint32_t work = shared_read(&group->work);\n        if (shared_read(&group->cta) != cta || ",
         "        bool other = shared_read(&group->cta) != cta;\n        uint32_t work = shared_read(&group->work);\n        if (other || ")),
    ("a count of a CTA changed by a store is found [B6]",
     cta("store", "shared_replace(&group->work, work, work - 1)", "torn_replace(&group->work, work, work - 1)")),
    ("a semaphore that is not cleared is found [C4]", workq("clear", "shared_publish(sem_payload(queue, passed), 0);", "")),
    ("entries given back too soon are found [C4]",
     workq("shadow", "ppu_workq_add(queue->shadow, 1, queue->period)", "ppu_workq_add(queue->shadow, 2, queue->period)")),
    ("a reservation by the firmware as a store is found [C5]",
     workq("soft", "shared_replace(&shared->soft_put,", "torn_replace(&shared->soft_put,")),
    ("the end of a round as a store is found [C5]", workq("round", "shared_replace(&shared->round,", "torn_replace(&shared->round,")),
    ("a block published before it is written is found [C5]",
     workq("late", "    end_entry(queue, entry, &writer);\n    shared_publish(sem_payload(queue, before), 1);",
           "    shared_publish(sem_payload(queue, before), 1);\n    end_entry(queue, entry + 1, &writer);")),
    ("a queue task armed after the last look is found [A6]",
     queue("look", "        if (!look_for_entries(queue)) {\n            return;\n        }\n", "        return;\n")),
    ("a queue task that is not armed again is found [A6]",
     queue("armed", "shared_publish(&head_of(queue)->armed, queue->task->handle);", "")),
    ("a queue task that forgets what it was told while its slot parked is found [A6]",
     queue("parked", "queue->published != task_tmd(task)->next_cta", "false")),
    ("a queue task that ends before what was promised to it is there is found [A6]",
     queue("end", "PPU_TASKQ_TICKET(tail) == ((uint32_t)queue->published & PPU_TASKQ_TICKET_MASK)", "true")),
    ("an entry that begins when its ticket is taken is found [A12]", queue("early", "shared_read(&entry->sequence) == ", "(uint32_t)number < PPU_TASKQ_TICKET(head_of(queue)->tail) && 0 * ")),
    ("a command that begins before the copy before it has ended is found [B15]",
     lists("copy", "return bytes ? STEP_WAITS : STEP_NEXT;", "return STEP_NEXT;")),
    ("a list that completes without its last command is found [B15]", lists("last", "if (commands->next >= count)", "if (commands->next + 6u > count)")),
    ("a list that is not tested again after a release is found [B15]", lists("release", "    commands_sem_released();\n    return STEP_NEXT;", "    return STEP_NEXT;")),
    ("an acquire that passes without its semaphore is found [B15]",
     lists("acquire", "if (ppu_sem_passes(PPU_SEM_COMPARE(data[3]), sem.payload, data[2]))", "if (sem.payload <= data[2])")),
    ("a list that ends with its grid is found [B15]", lists("follow", "    if (!task->listed || task->commands ||", "    if (task->listed || task->commands ||")),
    ("a command that is executed twice is found [B15]", lists("twice", "commands->next = next + 1u +", "commands->next = step == STEP_WAITS && !commands->filled++ ? next : next + 1u +")),
])
