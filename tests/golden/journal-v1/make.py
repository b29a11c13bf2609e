#!/usr/bin/env python3
"""make.py PROGRAM: makes store/ and expected.json beside this script, by that tarry.

Three runs of the server, under a clock that is moved by hand: the first leads messages into every
state, the second is cleaned (so that most are copies with their past), the third goes on from
there. What the server says at the end, of the state that it lived through, is what is expected of
every later program that replays it.
"""

import base64
import json
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ["TARRY_PROGRAM"] = str(Path(sys.argv[1]).resolve()) if len(sys.argv) == 2 else ""
sys.path.insert(0, str(HERE.parent))

import golden  # noqa: E402  (the path and TARRY_PROGRAM are set above)
from program import Server  # noqa: E402

STORE = HERE / "store"
URL = "file:store?shards=2&segment=64KiB"

HOUR = 3600 * 1000
DAY = 24 * HOUR
START = 1577836800000  # 2020-01-01: where the test clock begins, at every start of a server
FAR = 3786912000000    # 2090-01-01
PAST = START - 30 * DAY
BINARY = base64.b64encode(bytes(range(256)) * 2).decode()
BINARY_KEYS = [{"base64": base64.b64encode(b"key \xff\0" + bytes([i])).decode()} for i in range(12)]


class Life:
    """Does things to messages of one server, from a given moment on."""

    def __init__(self, api, now):
        self.api = api
        self.now = START
        self.receipts = {}  # by key, receipts of claims that last to the end
        self.advance(now - START)

    def advance(self, ms):
        self.api.advance(ms)
        self.now += ms

    def queue(self, name, **settings):
        self.api.ask("PUT", f"/v1/queues/{name}", settings)

    def push(self, queue, key=None, expected="pushed", **fields):
        if isinstance(key, dict):
            fields["key_base64"] = key["base64"]
        elif key is not None:
            fields["key"] = key
        answer, = self.api.post(f"/v1/queues/{queue}/messages", {"messages": [fields]})["results"]
        assert answer["outcome"] == expected, answer
        return answer["key"] if "key" in answer else {"base64": answer["key_base64"]}

    def claim(self, queue, key, lease_ms=7 * DAY):
        """Claims that message, and returns its receipt."""
        message, = self.api.post("/v1/claim", {"queues": [queue], "keys": [key],
                                               "lease_ms": lease_ms})["messages"]
        return message["receipt"]

    def lease(self, queue, key, lease_ms=7 * DAY):
        """The same for a claim that is never ended."""
        self.receipts[key] = self.claim(queue, key, lease_ms)

    def settle(self, receipt, action, **fields):
        item = {"receipt": receipt, "action": action, **fields}
        answer, = self.api.post("/v1/settle", {"items": [item]})["results"]
        assert answer["outcome"] == "done", answer

    def extend(self, receipt, lease_ms):
        item = {"receipt": receipt, "lease_ms": lease_ms}
        answer, = self.api.post("/v1/extend", {"items": [item]})["results"]
        assert answer["outcome"] == "done", answer

    def cancel(self, queue, key, expected):
        answer, = self.api.post(f"/v1/queues/{queue}/cancel", {"keys": [key]})["results"]
        assert answer["outcome"] == expected, answer

    def reschedule(self, queue, key, expected, **fields):
        item = {"key_base64": key["base64"]} if isinstance(key, dict) else {"key": key}
        answer, = self.api.post(f"/v1/queues/{queue}/reschedule",
                                {"items": [{**item, **fields}]})["results"]
        assert answer["outcome"] == expected, answer

    def tried(self, queue, key, action, **fields):
        """A message that was claimed once, and whose claim ended by `action`."""
        self.push(queue, key, payload=f"{action} {key}", due_ms=PAST)
        self.settle(self.claim(queue, key), action, **fields)


def many_states(life, prefix):
    """One message in each state, by keys that begin with `prefix`."""
    def key(name):
        return prefix + name

    push, lease = life.push, life.lease
    push("orders", key("scheduled"), payload="in 2090", due_ms=FAR,
         headers={"shop": "e1", "n": "2"})
    push("orders", key("delayed"), payload="in 80 years", delay_ms=80 * 365 * DAY, priority=7)
    push("orders", payload="no key, in 2090", due_ms=FAR)
    push("orders", key("ready"), payload="since 2019", due_ms=PAST, priority=1)
    push("orders", payload="no key, since 2019", due_ms=PAST, max_attempts=3)
    push("orders", key("empty"), due_ms=PAST)
    push("orders", key("moved"), payload="was due in 2090", due_ms=FAR)
    life.reschedule("orders", key("moved"), "rescheduled", due_ms=FAR + 5 * DAY)
    push("orders", key("brought forward"), payload="was due in 2090", due_ms=FAR)
    life.reschedule("orders", key("brought forward"), "rescheduled", due_ms=PAST, priority=5)
    push("orders", key("replaced"), payload="the first", due_ms=FAR)
    push("orders", key("replaced"), "replaced", payload="the second", due_ms=FAR + 1,
         if_exists="replace")
    push("orders", key("earlier"), payload="stays", due_ms=FAR + DAY)
    push("orders", key("earlier"), "moved", payload="is dropped", due_ms=FAR, if_exists="earlier")
    push("orders", key("cancelled"), payload="gone", due_ms=FAR)
    life.cancel("orders", key("cancelled"), "cancelled")

    push("orders", key("leased"), payload="by nobody who is left", due_ms=PAST)
    lease("orders", key("leased"))
    push("orders", key("extended"), payload="for seven days", due_ms=PAST, headers={"a": "b=c"})
    lease("orders", key("extended"), HOUR)
    life.extend(life.receipts[key("extended")], 7 * DAY)
    life.tried("orders", key("leased again"), "retry", delay_ms=0)
    lease("orders", key("leased again"))
    push("orders", key("stopping"), payload="cancelled while leased", due_ms=PAST)
    lease("orders", key("stopping"))
    life.cancel("orders", key("stopping"), "stopping")

    life.tried("orders", key("retried"), "retry", delay_ms=70 * 365 * DAY)
    life.tried("orders", key("released"), "release")
    life.tried("orders", key("released later"), "release", priority=2000)
    life.tried("orders", key("acked"), "ack")
    push("orders", key("cancelled while leased"), payload="x", due_ms=PAST)
    receipt = life.claim("orders", key("cancelled while leased"))
    life.cancel("orders", key("cancelled while leased"), "stopping")
    life.settle(receipt, "retry")
    life.tried("orders", key("buried"), "bury", reason="no such order: \u00e4 \u4e2d")
    life.tried("orders", key("revived"), "bury", reason="forgotten")
    life.reschedule("orders", key("revived"), "revived", due_ms=FAR)
    push("orders", key("used up"), payload="one attempt", due_ms=PAST, max_attempts=1)
    life.settle(life.claim("orders", key("used up")), "retry")
    push("orders", key("run out"), payload="its leases run out", due_ms=PAST)
    push("orders", key("last lease"), payload="its only lease runs out", due_ms=PAST,
         max_attempts=1)
    life.tried("custom", key("buried"), "bury", reason="expires after a second")
    life.tried("custom", key("acked"), "ack")  # remembered for one millisecond
    life.tried("binary", key("acked"), "ack")
    push("purged", key("a"), due_ms=PAST)
    push("purged", key("b"), due_ms=FAR)
    life.api.post("/v1/queues/purged/purge", {})
    for lease_ms in (HOUR, 1000):
        life.claim("orders", key("run out"), lease_ms)
        if lease_ms == HOUR:
            life.claim("orders", key("last lease"), lease_ms)
        life.advance(lease_ms + 1)


def first_run(life):
    life.queue("orders", remember_ms=365 * DAY, dead_keep_ms=3650 * DAY)
    life.queue("custom", lease_ms=12345, max_attempts=65535, backoff_min_ms=0,
               backoff_max_ms=31536000000, remember_ms=1, dead_keep_ms=1000, if_exists="later")
    many_states(life, "old ")
    for key in BINARY_KEYS:
        life.push("binary", key, payload_base64=BINARY, due_ms=FAR,
                  headers={"value": {"base64": "/wD+"}})
    life.push("custom", "later", payload="kept", due_ms=FAR)
    life.push("custom", "later", "moved", due_ms=FAR + 1)
    for queue, until in (("paused", {}), ("paused-until", {"until_ms": FAR + 5 * 365 * DAY})):
        life.push(queue, "waits", payload="ready, but nobody gets it", due_ms=PAST)
        life.api.post(f"/v1/queues/{queue}/pause", until)
    life.queue("empty")


def is_cleaned():
    """Whether the first run's segments are gone."""
    return not list(STORE.glob("shard-*/0000000001.seg"))


def second_run(life):
    # Cleaning begins when a shard has something to write; these keys belong to both shards.
    while not is_cleaned():
        for i in range(4):
            life.push("garbage", f"garbage {i}", delay_ms=0)
            life.cancel("garbage", f"garbage {i}", "cancelled")


def third_run(life):
    life.queue("custom", lease_ms=54321, remember_ms=1)
    many_states(life, "new ")
    life.reschedule("orders", "old moved", "rescheduled", due_ms=FAR + 6 * DAY)
    life.reschedule("binary", BINARY_KEYS[0], "rescheduled", due_ms=PAST + 1)
    life.tried("custom", "dead", "bury", reason="for the last second")


def main():
    if not os.environ["TARRY_PROGRAM"]:
        sys.exit(__doc__)
    shutil.rmtree(STORE, ignore_errors=True)
    now, receipts = START, {}
    for run in (first_run, second_run, third_run):
        with Server(URL, "--test-clock", cwd=HERE) as server:
            life = Life(golden.Api(server.port), now)
            run(life)
            now = life.now
            receipts |= life.receipts
            queues = golden.state_of(life.api)
            life.api.close()
    (STORE / "LOCK").unlink()
    # Copies, and the records after them; which keys share a shard depends on chance.
    segments = sorted(path.name for path in STORE.glob("*/*.seg"))
    assert segments == 2 * ["0000000002.seg"] + 2 * ["0000000003.seg"], f"{segments}: try again"
    expected = {"now_ms": now, "queues": queues, "receipts": receipts}
    with open(HERE / "expected.json", "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
