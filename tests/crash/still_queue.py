"""A queue that no client uses while its shards change. So its contents are known, and every reader
of all its shards must show exactly them at every moment: lists, exports, figures, audits.
"""

import json
import subprocess
import time
from pathlib import Path

from rounds import Failure
from server import FAILURE_SECONDS, PROGRAM, environment

NAME = "still"
SCHEDULED, LEASED, DEAD = 120, 4, 5
UNREACHABLE = 5


class StillQueue:
    def __init__(self, url, directory):
        self._url = url
        self._directory = Path(directory)
        self._receipts = []
        self._keys = [f"k{i}" for i in range(SCHEDULED + LEASED + DEAD)]
        self.looks = 0

    def _run(self, *words, stdin=None):
        """Runs the program, and returns its output. While a slot moves, a call may time out; then
        it is repeated."""
        deadline = time.monotonic() + FAILURE_SECONDS
        while True:
            done = subprocess.run([PROGRAM, "--store", self._url, "-o", "json", *words],
                                  input=stdin, capture_output=True, env=environment(), check=False,
                                  timeout=FAILURE_SECONDS)
            if done.returncode == 0:
                return json.loads(done.stdout) if done.stdout.startswith(b"{") else None
            if done.returncode != UNREACHABLE or time.monotonic() > deadline:
                raise Failure(f"{words}: exit code {done.returncode}\n"
                              f"{(done.stdout + done.stderr).decode()}")

    def fill(self):
        lines = [{"key": key, "payload": f"of {key}", "delay": "0s" if i < LEASED + DEAD else "10h",
                  "priority": (1024, 7)[i % 3 == 0]} for i, key in enumerate(self._keys)]
        self._run("push", NAME, "--jsonl", "-", "--if-exists", "keep",
                  stdin="\n".join(map(json.dumps, lines)).encode())
        dead = self._run("claim", NAME, "--max", str(DEAD), "--lease", "1h")["messages"]
        self._run("bury", NAME, *(message["receipt"] for message in dead))
        self.claim()

    def claim(self):
        """Claims messages, so that a reshard cannot end before they are released."""
        claimed = self._run("claim", NAME, "--max", str(LEASED), "--lease", "1h")["messages"]
        self._receipts = [message["receipt"] for message in claimed]
        if len(self._receipts) != LEASED:
            raise Failure(f"{LEASED} were to be claimed of {NAME}, and {claimed} came")

    def release(self):
        self._run("release", NAME, *self._receipts)

    def look(self, when):
        self.looks += 1
        listed = self._run("ls", NAME, "--limit", "10000")["messages"]
        states = [message["state"] for message in listed]
        # A list may contain a message twice while it moves.
        if sorted({message["key"] for message in listed}) != sorted(self._keys):
            missing = set(self._keys) - {message["key"] for message in listed}
            raise Failure(f"{when}: a list lacks {sorted(missing)}: {states}")
        file = self._directory / f"still-{self.looks}"
        told = self._run("store", "export", str(file), "--queue", NAME)
        exported = [json.loads(line) for line in file.read_text().splitlines()]
        file.unlink()
        keys = sorted(line["message"]["key"] for line in exported if "message" in line)
        if keys != sorted(self._keys) or told["problems"]:
            raise Failure(f"{when}: an export lacks {sorted(set(self._keys) - set(keys))}: {told}")
        figures = self._run("queue", "info", NAME)
        counted = {state: figures[state] for state in ("scheduled", "ready", "leased", "dead")}
        if sum(counted.values()) != len(self._keys) or counted["dead"] != DEAD:
            raise Failure(f"{when}: counted {counted}")
        self._run("store", "audit")

    def empty(self):
        self.release()
        self._run("dead", "revive", NAME, "--all")
        self._run("queue", "purge", NAME, "--yes")
