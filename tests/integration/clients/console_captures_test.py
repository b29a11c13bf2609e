#!/usr/bin/env python3
"""The console looks as in the pictures of its guide.

TARRY_DRAW=1 draws the pictures anew, into docs/pictures: scripts/capture-console.
"""

import json
import os
import shutil
import subprocess
import unittest
import urllib.request

from console_browser import Browser, ask, push
from program import SOURCE, Server

# Tuesday, 1 December 2026, 09:00 UTC.
NOW_MS = 1_796_115_600_000


def now_ms(server):
    """The time of the server's test clock, as the console gets it."""
    with urllib.request.urlopen(server.url + "/console/events", timeout=60) as events:
        return json.loads(events.readline().decode().removeprefix("data: "))["now_ms"]


def fill(server):
    """A shop, at NOW_MS: what comes, what was done, and what failed."""
    def done(method, path, body):
        status, _, answer = ask(server, method, path, body)
        if status != 200:
            raise AssertionError(f"{method} {path}: {answer}")
        return json.loads(answer)

    def settle(queue, most, action, *reasons):
        claimed = done("POST", "/v1/claim", {"queues": [queue], "max": most})["messages"]
        done("POST", "/v1/settle", {"items": [
            {"receipt": one["receipt"], "action": action,
             **({"reason": reasons[n % len(reasons)]} if reasons else {})}
            for n, one in enumerate(claimed)]})

    def advance(by):
        done("POST", "/v1/clock/advance", {"by": by})

    done("POST", "/v1/clock/step", {"by": f"{NOW_MS - 120_000 - now_ms(server)}ms"})
    push(server, "orders", [{"key": f"order:{n}", "payload": "{}", "delay": "1s"}
                            for n in range(1, 37)])
    push(server, "mails", [{"key": f"mail:{n}", "payload": "hello"} for n in range(12)])
    settle("mails", 7, "bury", "connection refused", "connection refused", "no such mailbox")
    advance("1s")
    settle("orders", 36, "ack")
    push(server, "orders", [
        {"key": f"order:{n}", "delay": f"{(n * n * 37) % 3300 + 200}s",
         "headers": {"tenant": "acme"}, "priority": 3,
         "payload": json.dumps({"order": n, "lines": [{"sku": "a-1", "count": 2}]})}
        for n in range(37, 97)])
    push(server, "reminders", [{"key": f"trial:{n}", "payload": "trial ends", "delay": f"{n}d"}
                               for n in range(1, 31)])
    push(server, "retries", [{"key": f"job:{n}", "payload": "x"} for n in range(5)])
    settle("retries", 2, "ack")
    done("POST", "/v1/claim", {"queues": ["retries"], "max": 2, "lease": "10m"})
    for name, when in (("nightly", {"when": "0 3 * * *", "zone": "Europe/Berlin"}),
                       ("cleanup", {"when": "every 15m"})):
        done("PUT", f"/v1/schedules/{name}", when | {"queue": "reports", "payload": "report"})
    advance("119s")


class Captures(Browser):
    """All pictures in one browser."""

    def test_the_screens_look_as_in_their_pictures(self):
        script = self.script("captures.mjs")
        with Server("memory:", "--test-clock") as server:
            fill(server)
            where = {"chromium": shutil.which("chromium"), "url": server.url,
                     "now_ms": NOW_MS, "drawn": str(self.directory),
                     "pictures": str(SOURCE / "docs/pictures"),
                     "draw": "TARRY_DRAW" in os.environ}
            done = subprocess.run(["node", script], input=json.dumps(where) + "\n",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
