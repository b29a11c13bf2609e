#!/usr/bin/env python3
"""make.py PROGRAM: writes keys.json and expected.json beside this script: all that a store of that
tarry has in Redis, and what that tarry says of it. PROGRAM must be of version 0.1.

Its messages go through the same states as those of the golden stores on disk.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("make_v1", HERE.parent / "journal-v1" / "make.py")
make = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)  # sets TARRY_PROGRAM

sys.path.insert(0, str(HERE.parents[1] / "harness"))

import golden  # noqa: E402  (the paths are set above)
import redis_keys  # noqa: E402
from program import Server, eventually  # noqa: E402
from redis_server import RedisServer  # noqa: E402

BULK = 40  # a claim of 32 messages and more is a bulk claim
ENTRY = ("queue", "orders", "key", "from the inbox", "payload", "an entry", "due",
         str(make.FAR))


class Life(make.Life):
    """The same by Redis's clock, which nobody moves."""

    def __init__(self, api):  # not the other one's, which moves the clock
        self.api = api
        self.receipts = {}

    def claim(self, queue, key, lease_ms=7 * make.DAY):
        runs_out = key.endswith((" run out", " last lease"))
        return super().claim(queue, key, 1 if runs_out else lease_ms)

    def advance(self, ms):
        """Waits until the leases of a millisecond have run out."""
        path = "/v1/queues/orders/messages?state=leased&limit=10000"
        eventually(lambda: not [m for m in self.api.ask("GET", path)["messages"]
                                if m.get("key", "").endswith((" run out", " last lease"))],
                   "leases run out")

    def bulk(self):
        messages = [{"payload": f"{number} of many", "due_ms": make.PAST}
                    for number in range(BULK)]
        self.api.post("/v1/queues/many/messages", {"messages": messages})
        claimed = self.api.post("/v1/claim", {"queues": ["many"], "max": BULK,
                                              "lease_ms": 7 * make.DAY})["messages"]
        assert len(claimed) == BULK
        for message in claimed[1:]:
            self.receipts[message["key"]] = message["receipt"]
        self.settle(claimed[0]["receipt"], "ack")

    def live(self):
        make.first_run(self)
        self.bulk()
        self.api.ask("PUT", "/v1/queues/custom", {"lease_ms": 54321, "remember_ms": 1})
        eventually(lambda: not self.api.ask("GET", "/v1/queues/custom")["dead"], "it is forgotten")


def main():
    if not os.environ["TARRY_PROGRAM"]:
        sys.exit(__doc__)
    redis = RedisServer()
    try:
        redis.start()
        with Server(f"{redis.url}?partitions=2") as server:
            life = Life(golden.Api(server.port))
            life.live()
            queues = golden.state_of(life.api)
            life.api.close()
        redis.ask("XADD", "tarry:{0}:in", "*", *ENTRY)  # of a producer, while no tarry runs
        with redis_keys.connection(redis) as ask:
            seconds, microseconds = ask("TIME")
            now = int(seconds) * 1000 + int(microseconds) // 1000
            (HERE / "keys.json").write_text(redis_keys.dumped(ask), encoding="utf-8")
    finally:
        redis.close()
    with open(HERE / "expected.json", "w", encoding="utf-8") as file:
        json.dump({"now_ms": now, "queues": queues, "receipts": life.receipts}, file, indent=1,
                  sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
