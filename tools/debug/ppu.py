# SPDX-License-Identifier: MIT
"""Shows a machine with PPUs in gdb. In gdb-multiarch:

    source tools/debug/ppu.py
    ppu connect SOCKET     the machine that tools/ppu-run --gdb SOCKET started
    ppu help

Each microcontroller and the machine's own processors are an inferior each, found by the names of their cores. The firmware's
channels, slots, tasks and task descriptors print themselves on a line (`print channels[2]`; `print/r` shows every field).
"""

import itertools
import os
import re
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import gdb
import gdb.printing

TOP = Path(__file__).resolve().parents[2]
FIRMWARE = TOP / "build/firmware/picolibc/ppufw.elf"
MCU_CORE = "cortex-m33"
ID_SHOWN = re.compile(r"\((\S+)")

# ---- what the sources say ----


def defined(header, name):
    """The number of a #define."""
    text = (TOP / header).read_text()
    return int(re.search(rf"^#define {name} (0x[0-9a-fA-F]+|\d+)u", text, re.MULTILINE)[1], 0)


class Row:
    """A row of regs.def: address as the microcontroller sees it, elements, its access, bits that may be 1, meaning."""

    def __init__(self, found):
        self.name, offset, count, self.access, self.owner, mask, self.meaning = found
        self.address = defined("include/ppu/regs.h", "PPU_MCU_REGS") + int(offset, 16)
        self.count = int(count)
        self.mask = 0xffffffff if mask == "UINT32_MAX" else int(mask, 16)

    def has_reads_without_effect(self):
        return self.access not in ("NO", "WO") and self.owner != "HOOK" and self.name != "MCU_IDLE"


@cache
def rows():
    text = (TOP / "include/ppu/regs.def").read_text()
    return [Row(found) for found in re.findall(
        r'^PPU_REG\((\w+), (0x\w+), (\d+), \w+, (\w+), (\w+), .*?, (UINT32_MAX|0x\w+), "(.*)"\)$', text, re.MULTILINE)]


def register(name):
    """Address of a register as the microcontroller sees it."""
    return next(row.address for row in rows() if row.name == name)


# ---- what the firmware's memory says ----


def symbol(name):
    return gdb.parse_and_eval(name)


def enumerator(enum, value):
    """Name of a value without the prefix that all names of the enumeration have."""
    names = {field.enumval: field.name for field in gdb.lookup_type(f"enum {enum}").fields()}
    prefix = os.path.commonprefix(list(names.values())).rpartition("_")[0]
    return names[int(value)].removeprefix(f"{prefix}_") if int(value) in names else str(int(value))


def elements(array):
    first, last = array.type.range()
    return (array[i] for i in range(first, last + 1))


def index_in(array, element):
    return (int(element.address) - int(symbol(array).address)) // element.type.sizeof


def word(address):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, 4).tobytes(), "little")


def dimensions(value):
    return " x ".join(str(int(value[i])) for i in range(3))


# ---- one line for an object ----


class Line:
    """A pretty printer whose object is one line of text."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return ", ".join(part for part in self.parts(self.value) if part)


class Channel(Line):
    @staticmethod
    def parts(c):
        state = enumerator("ppu_channel_state", c["state"])
        yield f"channel {index_in('channels', c)}: {state}" if c.address else f"channel: {state}"
        if state == "CLOSED":
            return
        if state == "WAITING":
            yield "needs " + enumerator("channel_need", c["need"]).rpartition("_")[2].lower()
        yield f"context {int(c['context'])}"
        yield f"priority {int(c['priority'])}"
        yield f"GP_GET {int(c['get'])}, GP_PUT {int(c['put'])} of {int(c['entries'])} at {int(c['ring']['va']):#x}"
        yield f"{int(c['pending'])} tasks and copies pending"
        entry = int(c["block"]["entry"])
        if entry:
            yield f"in block {entry & 0xfffffffffffc:#x} at word {int(c['block']['method'])} of {entry >> 48}"
        if state == "PARKED":
            yield f"acquires {int(c['sem']['at']['va']):#x} for {int(c['sem']['value'])}"


class Task(Line):
    @staticmethod
    def parts(t):
        state = enumerator("task_state", t["state"])
        yield f"task {int(t['handle']):#x}: {state}"
        if state in ("FREE", "LENT"):
            return
        if state in ("RUNNING", "STOPPING", "KILLING"):
            yield f"slot {int(t['slot'])}"
        channel = t["channel"]
        yield f"channel {index_in('channels', channel.dereference())}" if int(channel) else "channel gone"
        stream = int(t["stream"])
        yield f"stream {stream}" if stream != defined("include/ppu/task.h", "PPU_MAX_STREAMS") else "no stream"
        yield f"depth {int(t['depth']) if int(t['parent']) else 1}"
        if int(t["children"]):
            yield f"{int(t['children'])} children"
        yield f"priority {int(t['priority'])}"
        yield f"correlation {int(t['correlation'])}"


class Slot(Line):
    @staticmethod
    def parts(s):
        yield f"slot {index_in('slots', s)}" if s.address else "slot"
        yield str(s["task"].dereference()) if int(s["task"]) else "free"


class Tmd(Line):
    @staticmethod
    def parts(t):
        kind = enumerator("ppu_tmd_kind", t["kind"]).lower()
        yield f"TMD: {kind} {dimensions(t['grid'])} of {dimensions(t['cta'])} threads"
        shared = f" and {int(t['shared_vregs'])} that parts share" if int(t["shared_vregs"]) else ""
        yield f"waves of {int(t['wave'])} with {int(t['vregs'])} registers{shared}"
        yield f"code {int(t['code_va']):#x} + {int(t['entry']):#x} ({int(t['code_bytes'])} bytes)"
        yield f"parameters {int(t['param_va']):#x} ({int(t['param_bytes'])} bytes)"
        yield f"shared {int(t['shared_bytes'])}, local {int(t['local_bytes'])} bytes"
        yield f"priority {int(t['priority'])}"
        yield f"context {int(t['context'])}, channel {int(t['channel'])}, task {int(t['task']):#x}, correlation {int(t['correlation'])}"


def register_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("ppu")
    for name, printer in (("channel", Channel), ("task", Task), ("slot", Slot), ("ppu_tmd", Tmd), ("nest", Nest), ("taskq", Taskq), ("workq", Workq)):
        printers.add_printer(name, f"^{name}$", printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)


# ---- inferiors ----


def core_names(inferior):
    """Names of an inferior's cores, as QEMU tells them with each thread."""
    return [thread.details or "" for thread in inferior.threads()]


def is_mcu(inferior):
    return any(MCU_CORE in name for name in core_names(inferior))


def inferiors():
    """(MCUs in the order of their PPUs, host)"""
    alive = sorted((inferior for inferior in gdb.inferiors() if inferior.pid), key=lambda inferior: inferior.pid)
    mcus = [inferior for inferior in alive if is_mcu(inferior)]
    return mcus, next((inferior for inferior in alive if inferior not in mcus), None)


def select(inferior):
    gdb.execute(f"inferior {inferior.num}", to_string=True)


def mcu(number=0):
    found = inferiors()[0]
    if number >= len(found):
        raise gdb.GdbError(f"there are {len(found)} microcontrollers (ppu connect SOCKET first)")
    return found[number]


def attach_all():
    """One inferior for each of QEMU's processes: the first is attached by connecting, the others are 2, 3 ..."""
    pid = 2
    while True:
        number = int(re.search(r"inferior (\d+)", gdb.execute("add-inferior", to_string=True))[1])
        gdb.execute(f"inferior {number}", to_string=True)
        try:
            gdb.execute(f"attach {pid}", to_string=True)
        except gdb.error:
            gdb.execute("inferior 1", to_string=True)
            gdb.execute(f"remove-inferiors {number}", to_string=True)
            return
        pid += 1


class Ppu(gdb.Command):
    """What the PPU's firmware is doing: ppu help"""

    def __init__(self):
        super().__init__("ppu", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class Subcommand(gdb.Command):
    """A word after `ppu`; run() gets its arguments."""

    word = ""

    def __init__(self):
        super().__init__(f"ppu {self.word}", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        self.run(*gdb.string_to_argv(argument))


class Connect(Subcommand):
    """ppu connect SOCKET: attach to all of a machine's processors."""

    word = "connect"

    def run(self, socket):
        gdb.execute("set confirm off")
        gdb.execute("set pagination off")
        gdb.execute("set schedule-multiple on")
        gdb.execute(f"file {FIRMWARE}", to_string=True)
        gdb.execute(f"target extended-remote {socket}", to_string=True)
        attach_all()
        mcus, host = inferiors()
        for inferior in mcus[1:]:
            select(inferior)
            gdb.execute(f"file {FIRMWARE}", to_string=True)
        for number, inferior in enumerate(mcus):
            print(f"inferior {inferior.num}: microcontroller of PPU {number}")
        if host:
            print(f"inferior {host.num}: the machine's own processors ({ID_SHOWN.search('(' + core_names(host)[0])[1]})")
        select(mcu())


class Mcu(Subcommand):
    """ppu mcu [NUMBER]: go to the microcontroller of that PPU."""

    word = "mcu"

    def run(self, number="0"):
        select(mcu(int(number)))


class Host(Subcommand):
    """ppu host: go to the machine's own processors."""

    word = "host"

    def run(self):
        host = inferiors()[1]
        if not host:
            raise gdb.GdbError("this machine's own processors are not attached")
        select(host)


class Channels(Subcommand):
    """ppu channels: those that are open."""

    word = "channels"

    def run(self):
        for channel in itertools.islice(elements(symbol("channels")), int(symbol("caps")["channels"])):
            if int(channel["state"]):
                print(channel)


class Slots(Subcommand):
    """ppu slots: those that run a task."""

    word = "slots"

    def run(self):
        for slot in elements(symbol("slots")):
            if int(slot["task"]):
                print(slot)


class Tasks(Subcommand):
    """ppu tasks: those accepted and not completed."""

    word = "tasks"

    def run(self):
        for task in elements(symbol("tasks")):
            if enumerator("task_state", task["state"]) not in ("FREE", "LENT"):
                print(task)


def tmd_of(index):
    stride = defined("firmware/layout.h", "TMD_STRIDE")
    place = defined("include/ppu/regs.h", "PPU_MCU_VRAM") + int(symbol("layout")["tmds"]["off"]) + index * stride
    return gdb.Value(place).cast(gdb.lookup_type("struct ppu_tmd").pointer()).dereference()


class TmdOf(Subcommand):
    """ppu tmd HANDLE: the descriptor a task runs from."""

    word = "tmd"

    def run(self, handle):
        bits = defined("include/ppu/task.h", "PPU_TASK_INDEX_BITS")
        print(tmd_of(int(gdb.parse_and_eval(handle)) & ((1 << bits) - 1)))


def sm_counts(counter):
    """A counter (counter.def) of each SM. Reads the registers of the selected microcontroller."""
    low, high = register(f"SM_{counter}_LO"), register(f"SM_{counter}_HI")
    return [word(high + 4 * sm) << 32 | word(low + 4 * sm) for sm in range(word(register("SMS")))]


COUNTERS = {"INSNS": "warp instructions", "LANES": "lanes", "TRANSACTIONS": "memory transactions",
            "DIVERGENT": "divergent branches", "L1_HITS": "L1 hits", "L1_MISSES": "L1 misses", "L2_HITS": "L2 hits",
            "L2_MISSES": "L2 misses", "OPEN_PARTS": "segments part by part", "OPEN_NORMAL": "in normal mode"}


def vram_bytes(offset, count):
    return gdb.selected_inferior().read_memory(defined("include/ppu/regs.h", "PPU_MCU_VRAM") + offset, count).tobytes()


def state_image(file):
    """Writes what a reader of the state area needs, each piece at its offset of VRAM; returns the area's offset."""
    at = int(symbol("layout")["state"]["off"])
    area = gdb.Value(defined("include/ppu/regs.h", "PPU_MCU_VRAM") + at).cast(
        gdb.lookup_type("struct ppu_state").pointer()).dereference()
    pieces = [(at, bytearray(vram_bytes(at, area.type.sizeof)))]
    for table in elements(area["table"]):
        place, size = int(table["vram"]), int(table["count"]) * int(table["stride"])
        mcu_address = int(table["mcu"])
        read = gdb.selected_inferior().read_memory(mcu_address, size).tobytes() if mcu_address else vram_bytes(place, size)
        pieces.append((place, read))
    for nest in elements(symbol("nests")):
        if int(nest["open"]):
            plan = nest["plan"]
            place, tasks = int(plan["vram"]["off"]), int(plan["tasks"])
            record = gdb.lookup_type("struct ppu_nest_task").sizeof
            begin = (gdb.lookup_type("struct ppu_nest").sizeof + 4 * tasks + record - 1) // record * record
            pieces.append((place, vram_bytes(place, begin + tasks * record)))
    sequence = next(field.bitpos for field in area.type.fields() if field.name == "sequence") // 8
    struct.pack_into("<I", pieces[0][1], sequence, 0)
    put_slots(pieces[0][1], area)
    for place, piece in pieces:
        file.seek(place)
        file.write(piece)
    file.flush()
    return at


def put_slots(head, area):
    """What the device measures of slots, as far as its registers tell: they are newer than the area's copy."""
    slot = area["telemetry"]["slot"]
    at = int(slot.address) - int(area.address)
    row = slot[0].type.sizeof
    waiting = [word(register("SLOT_WAITING") + 4 * half) for half in range(2)]
    for number in range(word(register("SLOTS"))):
        state = word(register("SLOT_STATE") + 4 * number)
        running = int(slot[number][1])
        struct.pack_into("<QQQ", head, at + number * row, state, running, waiting[number // 32] >> number % 32 & 1)


class Why(Subcommand):
    """ppu why TASK: why a task does not run."""

    word = "why"

    def run(self, handle):
        task = int(gdb.parse_and_eval(handle))
        if not task & 0xffffffff:
            raise gdb.GdbError("0 is no task")
        tool = os.environ.get("PPU_TOP") or next(
            (str(path) for path in (TOP / "build/plain/tools/ppu-top", Path("/usr/bin/ppu-top")) if path.exists()), "ppu-top")
        with tempfile.NamedTemporaryFile(prefix="ppu-state-") as file:
            at = state_image(file)
            done = subprocess.run([tool, "--why", str(task & 0xffffffff), "--vram", file.name, "--state", str(at)],
                                  capture_output=True, text=True, check=False)
        print((done.stdout or done.stderr).rstrip())


class Nest(Line):
    @staticmethod
    def parts(n):
        plan = n["plan"]
        yield f"nest {index_in('nests', n)}" if n.address else "nest"
        if not int(n["open"]):
            yield "closed"
            return
        yield f"context {int(plan['context'])}"
        yield f"{int(n['live'])} of {int(plan['tasks'])} records are tasks"
        yield f"depth {int(plan['depth'])}"
        free = sum(bin(int(bits)).count("1") for bits in elements(n["places"]["free"]))
        yield f"save area: {free} of {int(n['places']['units'])} units of {int(n['unit_bytes'])} bytes free"
        yield f"at most {int(plan['places'])} places a task"


class Taskq(Line):
    @staticmethod
    def parts(q):
        yield f"task queue {index_in('taskqs', q)}" if q.address else "task queue"
        if not int(q["open"]):
            yield "closed"
            return
        yield f"context {int(q['plan']['context'])}"
        yield f"{int(q['plan']['entries'])} entries of {int(q['plan']['entry_bytes'])} bytes"
        yield f"{int(q['published'])} published"
        yield f"taken by task {int(q['task']['handle']):#x}" if int(q["task"]) else "no task takes from it"


class Workq(Line):
    @staticmethod
    def parts(q):
        yield f"work queue {index_in('workqs', q)}" if q.address else "work queue"
        if not int(q["channel"]):
            yield "closed"
            return
        yield f"channel {index_in('channels', q['channel'].dereference())}"
        yield f"{int(q['entries'])} entries, blocks of {int(q['block_bytes'])} bytes"
        yield enumerator("ppu_workq_stall", q["stall"]).replace("_", " ").lower()


class Queues(Subcommand):
    """ppu queues: nests with their save places, task queues, work queues that are open."""

    word = "queues"

    def run(self):
        for array, member in (("nests", "open"), ("taskqs", "open"), ("workqs", "channel")):
            for element in elements(symbol(array)):
                if int(element[member]):
                    print(element)


class Policies(Subcommand):
    """ppu policies: the policies and their values."""

    word = "policies"

    def run(self):
        text = (TOP / "include/ppu/policy.def").read_text()
        for name, number, place in re.findall(r"^PPU_POLICY\((\w+), (\d+), [^,]+, [^,]+, [^,]+, (\w+),", text, re.MULTILINE):
            value = int(symbol("policies")[int(number)]) if place == "NONE" else word(register(place))
            print(f"{name}: {value}")


PTE_VALID, PTE_SYSTEM, PTE_FRAME = 1, 8, 0x000ffffffffff000


def mapped(table, level, base):
    """(address, bytes, frame, in system memory) of the pages below a table."""
    for index, (entry,) in enumerate(struct.iter_unpack("<Q", vram_bytes(table, 4096))):
        if entry & PTE_VALID:
            address = base + (index << 12 + 9 * level)
            if entry >> 4 & 3 == 0 and level > 0:
                yield from mapped(entry & PTE_FRAME, level - 1, address)
            else:
                yield address, 1 << 12 + 9 * level, entry & PTE_FRAME, bool(entry & PTE_SYSTEM)


class Pages(Subcommand):
    """ppu pages CONTEXT: what an address space maps, as its page tables say."""

    word = "pages"

    def run(self, context):
        root = word(register("CTX_ROOT") + 4 * int(gdb.parse_and_eval(context)))
        if not root & 1:
            raise gdb.GdbError(f"context {context} is not open")
        begin = end = place = None
        system = False
        for address, size, frame, is_system in mapped(root & ~1, 3, 0):
            frame &= ~(size - 1) if size > 4096 else PTE_FRAME
            if address == end and is_system == system:
                end += size
                continue
            self.show(begin, end, place, system)
            begin, end, place, system = address, address + size, frame, is_system
        self.show(begin, end, place, system)

    @staticmethod
    def show(begin, end, place, system):
        if begin is not None:
            print(f"{begin:#x} to {end:#x}: {'system memory' if system else 'VRAM'} from {place:#x}, {(end - begin) >> 10} KiB")


class Heap(Subcommand):
    """ppu heap: VRAM that the driver hands out, and page tables."""

    word = "heap"

    def run(self):
        layout = symbol("layout")
        size = word(register("VRAM_SIZE_HI")) << 32 | word(register("VRAM_SIZE_LO"))
        print(f"protected: 0 to {int(layout['prot_limit']):#x}")
        print(f"page tables: {int(layout['pt_base']['off']):#x}, {int(layout['pt_bytes']) >> 10} KiB")
        print(f"heap: {int(layout['heap_base']):#x} to {size:#x}")


class Sms(Subcommand):
    """ppu sms: what each SM has counted."""

    word = "sms"

    def run(self):
        for sm, counts in enumerate(zip(*map(sm_counts, COUNTERS))):
            print(f"SM {sm}: " + ", ".join(f"{count:,} {name}" for count, name in zip(counts, COUNTERS.values())))


class Registers(Subcommand):
    """ppu registers [WORD]: the registers whose names have the word, their reserved bits, and what they mean."""

    word = "registers"

    def run(self, wanted=""):
        for row in rows():
            if wanted.upper() in row.name and row.has_reads_without_effect():
                values = [word(row.address + 4 * element) for element in range(row.count)]
                kept = {element: value for element, value in enumerate(values) if value or row.count == 1}
                shown = ", ".join((f"[{element}] " if row.count > 1 else "") + f"0x{value:08x}"
                                  for element, value in kept.items())
                reserved = f", reserved 0x{~row.mask & 0xffffffff:08x}" if row.mask != 0xffffffff else ""
                print(f"{row.name}: {shown or '0'}{reserved}: {row.meaning}")


class Help(Subcommand):
    """ppu help: this list."""

    word = "help"

    def run(self):
        for command in COMMANDS:
            print(command.__doc__)


COMMANDS = (Connect, Mcu, Host, Channels, Slots, Tasks, TmdOf, Why, Queues, Policies, Pages, Heap, Sms, Registers, Help)

register_printers()
Ppu()
for subcommand in COMMANDS:
    subcommand()
