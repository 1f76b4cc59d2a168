# SPDX-License-Identifier: MIT
"""Speaks the Debug Adapter Protocol as an editor does, for tests."""

import json
import os
import queue
import socket
import subprocess
import threading
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ADAPTER = TOP / "build/plain/tools/ppu-dap"
PROGRAM = TOP / "build/plain/tests/dbg-debuggee"
ENVIRONMENT = {"OCL_ICD_VENDORS": str(TOP / "build/opencl/ppu.icd"), "PPU_CACHE": "off"}
PATIENCE = 100


class Refused(Exception):
    pass


class Client:
    """One adapter; `messages` are all that came, in their order."""

    def __init__(self, port=False):
        words = [ADAPTER, "--port", "0"] if port else [ADAPTER]
        self.process = subprocess.Popen(words, env=os.environ | ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE if port else None)
        self.sent = 0
        self.messages = []
        self.next_event = 0
        self.came = queue.Queue()
        self.socket = None
        self.reads, self.writes = self.process.stdout, self.process.stdin
        if port:
            line = self.process.stderr.readline().decode()
            assert line.startswith("ppu-dap: listening at 127.0.0.1:"), line
            self.socket = socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])))
            self.reads = self.socket.makefile("rb")
            self.writes = self.socket.makefile("wb")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        number = 0
        while True:
            header = self.reads.readline()
            if not header:
                break
            assert header.startswith(b"Content-Length: ") and self.reads.readline() == b"\r\n", header
            message = json.loads(self.reads.read(int(header.split()[1])))
            number += 1
            assert message["seq"] == number, message
            self.came.put(message)
        self.came.put(None)

    def take(self):
        message = self.came.get(timeout=PATIENCE)
        assert message is not None, ("the adapter has ended", self.messages[-5:])
        self.messages.append(message)
        return message

    def send_bytes(self, data):
        self.writes.write(data)
        self.writes.flush()

    def send(self, command, arguments=None):
        self.sent += 1
        text = json.dumps({"seq": self.sent, "type": "request", "command": command} |
                          ({} if arguments is None else {"arguments": arguments})).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        return self.sent

    def answer(self, number):
        while True:
            message = self.take()
            if message["type"] == "response" and message["request_seq"] == number:
                return message

    def request(self, command, **arguments):
        """The answer's body; Refused with the sentence."""
        message = self.answer(self.send(command, arguments))
        assert message["command"] == command, message
        if not message["success"]:
            assert message["body"]["error"]["format"] == message["message"], message
            raise Refused(message["message"])
        return message["body"]

    def refused(self, command, **arguments):
        try:
            body = self.request(command, **arguments)
        except Refused as refusal:
            return str(refusal)
        raise AssertionError((command, body))

    def event(self, *names, **wanted):
        """The next event of one of these names that has these members; those before it are skipped."""
        while True:
            while self.next_event < len(self.messages):
                message = self.messages[self.next_event]
                self.next_event += 1
                body = message.get("body", {})
                if message["type"] == "event" and message["event"] in names and all(body.get(k) == v for k, v in wanted.items()):
                    return body
            self.take()

    def output(self, category="stdout"):
        return "".join(m["body"]["output"] for m in self.messages
                       if m.get("event") == "output" and m["body"]["category"] == category)

    # What all editors do.

    def initialize(self, **more):
        body = self.request("initialize", adapterID="ppu", pathFormat="path", linesStartAt1=True, columnsStartAt1=True,
                            supportsInvalidatedEvent=True, supportsMemoryEvent=True, **more)
        self.event("initialized")
        return body

    def launch(self, *arguments, **more):
        self.request("launch", **({"program": str(PROGRAM), "args": list(arguments)} | more))

    def go(self):
        self.request("configurationDone")

    def stopped(self, **wanted):
        return self.event("stopped", allThreadsStopped=True, **wanted)

    def frames(self, thread):
        return self.request("stackTrace", threadId=thread)["stackFrames"]

    def scopes(self, frame):
        return {scope["name"]: scope["variablesReference"] for scope in self.request("scopes", frameId=frame)["scopes"]}

    def variables(self, reference, **more):
        return {one["name"]: one for one in self.request("variables", variablesReference=reference, **more)["variables"]}

    def values(self, reference, **more):
        return {name: one["value"] for name, one in self.variables(reference, **more).items()}

    def typed(self, text):
        """What the console answers."""
        return self.request("evaluate", expression=text, context="repl")["result"]

    def leave(self, status=0, **arguments):
        self.request("disconnect", **arguments)
        self.close()
        assert self.process.wait(timeout=PATIENCE) == status, self.process.returncode

    def close(self):
        if self.socket:
            self.socket.shutdown(socket.SHUT_RDWR)
        else:
            self.process.stdin.close()
