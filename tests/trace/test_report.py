#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ppu-report: the page holds what the record does, a browser shows it, and every wrong use is told.

The browser is Chromium, which tools/setup/packages.list has. Where there is none, what it shows is not tested.
"""

import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
sys.path.insert(0, str(TOP / "tests/trace"))
import tap  # noqa: E402
from chrome import Trace  # noqa: E402

TOOLS = TOP / "build/plain/tools"
FOLDER = tempfile.TemporaryDirectory()
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
NODES = "2000"


def at(name):
    return str(Path(FOLDER.name) / name)


def run(tool, *arguments):
    return subprocess.run([TOOLS / tool, *arguments], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def make_record():
    done = run("ppu-trace", "--firmware", "-o", at("bfs.trace"), "--", TOOLS / "bfs", TOP / "build/kernels/bfs.ppu", NODES)
    assert done.returncode == 0, done
    assert run("ppu-trace", "--convert", at("bfs.trace"), "-o", at("bfs.json")).returncode == 0
    done = run("ppu-report", at("bfs.trace"), "-o", at("bfs.html"))
    assert done.returncode == 0 and done.stderr == "", done


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', Path(page).read_text(), re.DOTALL)[1])


def page_has_all():
    make_record()
    data, trace = data_of(at("bfs.html")), Trace(at("bfs.json"))
    assert data["records"] == trace.about["records"] > 1000 and data["warnings"] == [], data["warnings"]
    assert sum(len(track["start"]) for track in data["tracks"]) == sum(event["ph"] in "Xi" for event in trace.events)
    assert len(data["tracks"]) == len(trace.tracks)
    kernels = {row[0]: dict(zip(data["kernel_columns"], row)) for row in data["kernels"]}
    slices = len(trace.named("visit", "Slot"))
    assert 0 < int(kernels["visit"]["tasks"]) <= slices, (kernels, slices)
    assert int(kernels["visit"]["warp instructions"]) > 1000 and kernels["visit"]["limited by"], kernels
    assert 1 <= float(kernels["visit"]["lanes active"]) <= 128, kernels
    assert any(tree[0] == "walk" and tree[1] > 2 and tree[2] >= 2 for tree in data["trees"]), data["trees"][:5]
    text = Path(at("bfs.html")).read_text()
    assert not re.search(r'(?:src|href)\s*=|https?://|@import|fetch\(', text), "the page needs something else"


def table():
    """Hit rates where the machine models caches, what limits CTAs, and how full SMs were."""
    for model in ("off", "on"):
        done = subprocess.run([TOOLS / "ppu-trace", "-o", at("table.trace"), "--", TOOLS / "bfs", TOP / "build/kernels/bfs.ppu", NODES],
                              cwd=TOP, env=os.environ | {"PPU_MACHINE": f"cache-model={model}"}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and run("ppu-report", at("table.trace"), "-o", at("table.html")).returncode == 0, done
        data = data_of(at("table.html"))
        visit, = (dict(zip(data["kernel_columns"], row)) for row in data["kernels"] if row[0] == "visit")
        shares = [visit[name] for name in ("warps resident", "L1 hits", "L2 hits")]
        found = [float(re.fullmatch(r"([\d.]+) %", share)[1]) for share in (shares if model == "on" else shares[:1])]
        assert all(0 < share <= 100 for share in found) and (model == "on" or shares[1:] == ["", ""]), visit
        assert int(visit["CTAs an SM can hold"]) > 0 and visit["limited by"], visit


def profile():
    """What ppu-prof has counted is beside the source, with the instructions of each line."""
    done = run("ppu-prof", "--exact", "-o", at("saxpy.trace"), "--", TOOLS / "saxpy", TOP / "build/kernels/saxpy.ppu")
    assert done.returncode == 0, done
    assert run("ppu-report", at("saxpy.trace"), "-o", at("saxpy.html")).returncode == 0
    data = data_of(at("saxpy.html"))
    assert data_of(at("bfs.html"))["profile"] is None
    program, = data["profile"]["programs"]
    counted = [line for line in program["lines"] if line["insns"]]
    assert "saxpy; launched by the host" in program["title"] and len(counted) == 19, program
    assert all(line["cells"][1] == "32768" and len(line["insns"]) == 1 for line in counted), counted
    assert "mad v0, s6, s7, v0" in [line["cells"][7].split("#")[0].strip() for line in counted], counted
    row, = data["kernels"]
    # Two loads and a store of side by side words: each warp makes one transaction.
    assert dict(zip(data["kernel_columns"], row))["transactions an access"] == "1.00", row
    total = dict(zip(data["kernel_columns"], row))["warp instructions"]
    assert int(total) == 19 * 32768 and data["profile"]["about"].startswith(f"{total} warp instructions"), data["profile"]
    if BROWSER:
        shown = browse(f"file://{at('saxpy.html')}", "--dump-dom").stdout
        assert shown.count('class="insn"') == 19 and "launched by the host" in shown


def opencl():
    """Sources in OpenCL C with what was counted, launches by threads and variants apart, and branches that part lanes."""
    environment = os.environ | {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_ALIAS_WAIT": "always"}
    done = subprocess.run([TOOLS / "ppu-prof", "--exact", "-o", at("sort.trace"), "--", TOOLS / "quicksort", "20000"], cwd=TOP,
                          env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and run("ppu-report", at("sort.trace"), "-o", at("sort.html")).returncode == 0, done
    data = data_of(at("sort.html"))
    programs = {program["title"]: program["lines"] for program in data["profile"]["programs"]}
    by_threads = [lines for title, lines in programs.items() if "launched by threads" in title]
    assert by_threads and any("launched by the host" in title for title in programs), programs.keys()
    assert any(re.search(r"variant \d of \d", title) for title in programs), programs.keys()
    assert any("barrier(" in " ".join(line["cells"]) and line["insns"] for lines in by_threads for line in lines)
    kernels = [dict(zip(data["kernel_columns"], row)) for row in data["kernels"]]
    assert any(float(kernel["divergent branches"].rstrip(" %") or 0) > 0 for kernel in kernels), kernels


def roofline():
    """Each kernel, below what this host can do; and what is no record of that is refused."""
    done = run("ppu-trace", "-o", at("limits.trace"), "--", TOOLS / "limits", TOP / "build/kernels/limits.ppu")
    rates = [float(rate) for rate in re.findall(r"^([\d.e+]+) ", done.stdout, re.MULTILINE)]
    assert done.returncode == 0 and len(rates) == 2, done
    assert run("ppu-report", "--limits", at("limits.trace"), at("bfs.trace"), "-o", at("roof.html")).returncode == 0
    roof = data_of(at("roof.html"))["roofline"]
    assert data_of(at("bfs.html"))["roofline"]["limits"] is None
    # The device's time of a task is less than the host's time of a launch.
    assert rates[0] * 0.5 < roof["limits"]["instructions"] and rates[1] * 0.5 < roof["limits"]["transactions"], (rates, roof)
    assert {kernel["name"] for kernel in roof["kernels"]} == {"visit", "walk"}, roof
    assert all(0 < kernel["rate"] < roof["limits"]["instructions"] and kernel["intensity"] > 0 for kernel in roof["kernels"]), roof
    done = run("ppu-report", "--limits", at("none.trace"), at("bfs.trace"), "-o", at("x.html"))
    assert done.returncode == 2 and "No such file" in done.stderr, done
    assert run("ppu-trace", "-o", at("empty.trace"), "--", "true").returncode == 0
    done = run("ppu-report", "--limits", at("empty.trace"), at("bfs.trace"), "-o", at("x.html"))
    assert done.returncode == 2 and "no limits" in done.stderr, done
    if BROWSER:
        shown = browse(f"file://{at('roof.html')}", "--dump-dom").stdout
        assert shown.count('class="kernel"') == 2 and shown.count('class="roof"') == 1 and "of what is possible" in shown


def flame_graph():
    """The firmware's functions, in the page and as a picture, each as wide as the instructions say."""
    stacks = data_of(at("bfs.html"))["stacks"]
    names, wide = [], [stacks]
    while wide:
        node = wide.pop()
        names.append(node["name"])
        assert node["total"] == node["own"] + sum(call["total"] for call in node["calls"]), node["name"]
        wide += node["calls"]
    assert {"firmware_main", "method_LAUNCH", "launch_start_child"} <= set(names), names
    assert run("ppu-report", "--flame", at("bfs.trace"), "-o", at("flame.svg")).returncode == 0
    rects = ElementTree.parse(at("flame.svg")).getroot().findall("{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}rect")
    assert 10 < len(rects) <= len(names) and max(float(rect.get("width")) for rect in rects) > 999, len(rects)
    done = run("ppu-report", "--flame", at("limits.trace"), "-o", at("x.svg"))
    assert done.returncode == 2 and "no stacks of the firmware" in done.stderr, done
    if BROWSER:
        shown = browse(f"file://{at('bfs.html')}", "--dump-dom").stdout
        assert shown.count('class="flame"') > 10 and "method_LAUNCH: " in shown


def counters():
    """The page has the highest value of each span of time, and so the highest of all."""
    data, trace = data_of(at("bfs.html")), Trace(at("bfs.json"))
    counted = {counter["title"]: counter for counter in data["counters"]}
    assert "CTAs on SMs" in counted and "Total INSNS" in counted, counted.keys()
    for name, counter in counted.items():
        values = [event["args"]["value"] for event in trace.events if event["ph"] == "C" and event["name"] == name]
        assert abs(max(counter["value"]) - max(values)) < 1e-9 and counter["at"] == sorted(set(counter["at"])), name
    assert max(counted["CTAs on SMs"]["value"]) > 0
    assert {event["name"] for event in trace.events if event["ph"] == "C"} == set(counted)


def names_do_no_harm():
    """What a program is called is text in the page, not part of it."""
    link = at("</script><img src=x>&amp;").replace("</script>", "<script>")
    os.symlink(TOOLS / "saxpy", link)
    done = run("ppu-trace", "-o", at("odd.trace"), "--", link, TOP / "build/kernels/saxpy.ppu", "</script>")
    assert run("ppu-report", at("odd.trace"), "-o", at("odd.html")).returncode == 0, done
    assert Path(at("odd.html")).read_text().count("</script>") == Path(at("bfs.html")).read_text().count("</script>")
    data_of(at("odd.html"))


def browse(page, *options):
    return subprocess.run([BROWSER, "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--window-size=1200,900",
                           *options, page], capture_output=True, text=True, timeout=120)


def pixels(path):
    """Rows of (red, green, blue) of a PNG."""
    data, chunks, place = Path(path).read_bytes(), b"", 8
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    while place < len(data):
        size, = struct.unpack(">I", data[place:place + 4])
        chunks += data[place + 8:place + 8 + size] if data[place + 4:place + 8] == b"IDAT" else b""
        place += size + 12
    raw, wide, rows = zlib.decompress(chunks), 3 if kind == 2 else 4, []
    before = bytearray(width * wide)
    for y in range(height):
        start = y * (width * wide + 1)
        line, how = bytearray(raw[start + 1:start + 1 + width * wide]), raw[start]
        for x in range(len(line)):
            left, up = line[x - wide] if x >= wide else 0, before[x]
            corner = before[x - wide] if x >= wide else 0
            guess = left + up - corner
            best = min((abs(guess - value), order, value) for order, value in enumerate((left, up, corner)))[2]
            line[x] = (line[x] + (0, left, up, (left + up) // 2, best)[how]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), wide)])
        before = line
    return rows


def browser_shows():
    if not BROWSER:
        print("# skipped: there is no chromium")
        return
    data = data_of(at("bfs.html"))
    shown = browse(f"file://{at('bfs.html')}#visit", "--dump-dom").stdout
    wanted = sum(data["names"][name] == "visit" for track in data["tracks"] for name in track["name"])
    assert f">{wanted} found<" in shown, re.findall(r'<span id="found">.*?</span>', shown)
    slices = sum(len(track["start"]) for track in data["tracks"])
    assert f"{data['records']} records, {len(data['tracks'])} tracks, {slices} slices" in shown
    assert f'data-drawn="{len(data["tracks"]) * 15 + 20}"' in shown and shown.count("<tr>") >= 2 + len(data["kernels"])
    browse(f"file://{at('bfs.html')}", f"--screenshot={at('bfs.png')}")
    coloured = [[x for x, (red, green, blue) in enumerate(line) if max(red, green, blue) - min(red, green, blue) > 60]
                for line in pixels(at("bfs.png"))]
    assert sum(len(line) > 3 for line in coloured) > 50, "nothing is drawn"
    assert min(line[0] for line in coloured if line) > 200, "slices lie over the names of tracks"


def moves():
    """The wheel zooms around the pointer, dragging moves, a click tells what is there, and a button shows all again."""
    if not BROWSER:
        print("# skipped: there is no chromium")
        return
    page = Path(at("bfs.html")).read_text()
    script = """<script>
const at = { clientX: canvas.getBoundingClientRect().left + LEFT, bubbles: true };
const views = [], note = () => views.push([view.from / total, view.to / total]);
canvas.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: -1 })); note();
canvas.dispatchEvent(new MouseEvent("mousedown", { ...at, clientX: at.clientX + 100 }));
canvas.dispatchEvent(new MouseEvent("mousemove", at)); note();
window.dispatchEvent(new MouseEvent("mouseup", at));
canvas.dispatchEvent(new MouseEvent("mousemove", { ...at, clientX: at.clientX + 50 })); note();
document.getElementById("all").click(); note();
const middleOf = (track, i) => track.start[i] + track.length[i] / 2;
const alone = (track, i) => track.length[i] > total / 50 && !(track.start[i + 1] < middleOf(track, i) + total / 100);
const line = data.tracks.findIndex((track) => track.length.some((_, i) => alone(track, i)));
const slice = data.tracks[line].length.findIndex((_, i) => alone(data.tracks[line], i));
const middle = middleOf(data.tracks[line], slice);
canvas.dispatchEvent(new MouseEvent("click", { ...at, clientX: at.clientX + middle / total * (canvas.width - LEFT),
                                               clientY: canvas.getBoundingClientRect().top + (line + 0.5) * ROW }));
document.body.dataset.views = JSON.stringify([views, data.names[data.tracks[line].name[slice]]]);
</script>
</body>"""
    Path(at("moved.html")).write_text(page.replace("</body>", script))
    shown = browse(f"file://{at('moved.html')}", "--dump-dom").stdout
    views, name = json.loads(html.unescape(re.search(r'data-views="(.*?)"', shown)[1]))
    (zoomed_from, zoomed_to), moved, still, every = views
    assert abs(zoomed_from) < 0.01 and abs(zoomed_to - 0.8) < 0.01, views
    assert 0.01 < moved[0] < 0.2 and abs(moved[1] - moved[0] - 0.8) < 0.01 and still == moved and every == [0, 1], views
    tip = html.unescape(re.search(r'id="tip"[^>]*>(.*?)<', shown, re.DOTALL)[1])
    assert f": {name}\n" in tip and re.search(r"^[\d.]+ us, [\d.]+ us$", tip, re.MULTILINE), tip


def million():
    """A page of 1,000,000 records opens in a browser, which shows all of them."""
    made = subprocess.run([TOOLS / "bench-trace", at("large.trace"), "1000000"], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made
    assert run("ppu-report", at("large.trace"), "-o", at("large.html")).returncode == 0
    data = data_of(at("large.html"))
    slices = sum(len(track["start"]) for track in data["tracks"])
    assert data["records"] >= 1000000 and slices > 500000, (data["records"], slices)
    if BROWSER:
        shown = browse(f"file://{at('large.html')}#task", "--dump-dom").stdout
        assert f"{data['records']} records, {len(data['tracks'])} tracks, {slices} slices" in shown, shown[-500:]
        found = sum(track["name"].count(number) for track in data["tracks"] for number, name in enumerate(data["names"]) if "task" in name.lower())
        assert f'<span id="found">{found} found</span>' in shown and f'data-drawn="{len(data["tracks"]) * 15 + 20}"' in shown


def svg():
    assert run("ppu-report", "--svg", at("bfs.trace"), "-o", at("bfs.svg")).returncode == 0
    rects = ElementTree.parse(at("bfs.svg")).getroot().findall("{http://www.w3.org/2000/svg}rect")
    tracks = [track for track in data_of(at("bfs.html"))["tracks"] if track["start"]]
    assert len({rect.get("y") for rect in rects}) == len(tracks), "a track is missing"
    assert len(tracks) <= len(rects) <= sum(len(track["start"]) for track in tracks)
    times = [float(text.text.split()[0]) for text in ElementTree.parse(at("bfs.svg")).getroot().iter("{http://www.w3.org/2000/svg}text")
             if re.fullmatch(r"[0-9.e+-]+ ms", text.text or "")]
    steps = {f"{after - before:.3e}" for before, after in zip(times, times[1:])}
    assert 3 <= len(times) <= 11 and times[0] == 0 and len(steps) == 1 and steps.pop()[:5] in ("1.000", "2.000", "5.000"), times
    assert os.path.getsize(at("bfs.svg")) < 1 << 20
    assert run("ppu-report", "--svg", "--lanes", "1", at("bfs.trace"), "-o", at("one.svg")).returncode == 0
    ones = ElementTree.parse(at("one.svg")).getroot().findall("{http://www.w3.org/2000/svg}rect")
    first = [track for track in tracks if not track["title"].endswith(" ...")]
    assert len({rect.get("y") for rect in ones}) == len(first) < len(tracks), (len(first), len(tracks))
    assert all(180 <= float(rect.get("x")) <= 1000.5 and float(rect.get("width")) > 0 for rect in rects)


def wrong_use():
    for words, arguments in (("show which record?", ()), ("one record at a time", ("a", "b")), ("--help tells", ("--none",)),
                             ("No such file", (at("none"),)), ("it is no record", (__file__,)),
                             ("write /nowhere/x.html: No such file", ("-o", "/nowhere/x.html", at("bfs.trace")))):
        done = run("ppu-report", *arguments)
        assert done.returncode == 2 and words in done.stderr, (words, done)
    whole = Path(at("bfs.trace")).read_bytes()
    Path(at("cut.trace")).write_bytes(whole[:len(whole) // 3])
    done = run("ppu-report", at("cut.trace"), "-o", at("cut.html"))
    assert done.returncode == 0 and "the record was cut off" in done.stderr, done
    assert "The record was cut off." in data_of(at("cut.html"))["warnings"]


if __name__ == "__main__":
    tap.main([
        ("the page has what the timeline has, and needs nothing else", page_has_all),
        ("the table of kernels: hit rates, limits, occupancy", table),
        ("the page has the profile of ppu-prof", profile),
        ("the page has OpenCL C, launches by threads and variants", opencl),
        ("the page has counters over time", counters),
        ("the page compares kernels with what the host can do", roofline),
        ("the flame graph of the firmware", flame_graph),
        ("names do no harm", names_do_no_harm),
        ("a browser shows it", browser_shows),
        ("the wheel zooms, dragging moves, a click tells", moves),
        ("a page of 1,000,000 records opens in a browser", million),
        ("a picture in SVG", svg),
        ("wrong use is told in words", wrong_use),
    ])
