# SPDX-License-Identifier: MIT
"""Reads trace events in JSON as their viewers do, and checks the rules of the format.

The rules are those by which Perfetto's trace processor and chrome://tracing read the file: what each kind of event must
have, that slices of a thread nest, and that each arrow has both ends, each in a slice.
"""

import json
from bisect import bisect
from collections import defaultdict
from pathlib import Path

NEEDED = {"M": {"name", "pid", "args"}, "X": {"name", "pid", "tid", "ts", "dur"}, "i": {"name", "pid", "tid", "ts", "s"},
          "s": {"name", "cat", "id", "pid", "tid", "ts"}, "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
          "C": {"name", "pid", "ts", "args"}}
ROUNDING_US = 0.002


class Trace:
    def __init__(self, path):
        self.whole = json.loads(Path(path).read_text())
        self.events = self.whole["traceEvents"]
        self.about = self.whole["otherData"]
        self.tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in self.events
                       if event["ph"] == "M" and event["name"] == "thread_name"}
        self.check()

    def check(self):
        for event in self.events:
            assert NEEDED[event["ph"]] <= set(event), event
            assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0, event
            assert event["ph"] in "MC" or (event["pid"], event["tid"]) in self.tracks, event
            assert event["ph"] != "C" or all(isinstance(value, (int, float)) for value in event["args"].values()), event
        self.check_nesting()
        self.check_arrows()

    def check_nesting(self):
        for track, slices in self.slices_by_track().items():
            open_until = []
            for start, end, event in sorted(slices, key=lambda entry: (entry[0], -entry[1])):
                while open_until and open_until[-1] <= start + ROUNDING_US:
                    open_until.pop()
                assert not open_until or end <= open_until[-1] + ROUNDING_US, (self.tracks[track], event)
                open_until.append(end)

    def check_arrows(self):
        ends = defaultdict(dict)
        slices = {track: sorted(entries, key=lambda entry: entry[:2]) for track, entries in self.slices_by_track().items()}
        for event in self.events:
            if event["ph"] in "sf":
                assert event["ph"] not in ends[event["id"]], event
                ends[event["id"]][event["ph"]] = event
        for both in ends.values():
            assert set(both) == {"s", "f"}, both
            assert both["s"]["ts"] <= both["f"]["ts"] + ROUNDING_US, both
            for end in both.values():
                assert self.is_in_slice(slices[end["pid"], end["tid"]], end["ts"]), both

    @staticmethod
    def is_in_slice(slices, time):
        """Whether one of the latest slices that begin by then is still open; a few may lie in it."""
        at = bisect(slices, time + ROUNDING_US, key=lambda entry: entry[0])
        return any(end >= time - ROUNDING_US for _, end, _ in slices[max(0, at - 1000):at])

    def slices_by_track(self):
        found = defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                found[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event))
        return found

    def named(self, name, track):
        """Slices and instants of that name on tracks whose names begin with the word."""
        return [event for event in self.events if event["ph"] in "Xi" and event["name"] == name and
                self.tracks[event["pid"], event["tid"]].startswith(track)]

    def arrows(self, name):
        return sum(event["ph"] == "s" and event["name"] == name for event in self.events)
