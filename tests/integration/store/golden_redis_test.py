#!/usr/bin/env python3
"""A store in Redis that an earlier version wrote (tests/golden/redis-*) has the same contents for
this program."""

import json
import sys
import unittest
from urllib.parse import quote

from program import SOURCE, ProgramTest, Server, eventually

sys.path.insert(0, str(SOURCE / "tests" / "golden"))

import golden  # noqa: E402  (the paths are set above)
import redis_keys  # noqa: E402
from redis_server import RedisServer  # noqa: E402

GOLDEN = SOURCE / "tests" / "golden" / "redis-0.1"
INBOX = "from the inbox"


class GoldenRedis(ProgramTest):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.expected = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        with redis_keys.connection(self.redis) as ask:
            seconds, _ = ask("TIME")
            self.later_ms = int(seconds) * 1000 - self.expected["now_ms"]
            redis_keys.load(ask, (GOLDEN / "keys.json").read_text(encoding="utf-8"),
                            self.later_ms)

    def opened(self, ask):
        with Server(self.redis.url) as server:
            api = golden.Api(server.port)
            answer = ask(api)
            api.close()
            return answer

    def test_all_that_it_held_is_there(self):
        """Fields that version 0.1 did not have may be added."""
        def state(api):
            path = "/v1/queues/orders/messages?prefix=" + quote(INBOX)
            eventually(lambda: api.ask("GET", path)["messages"], "the inbox is read")
            return golden.state_of(api)

        found = self.opened(state)
        orders = found["orders"]
        new, = [m for m in orders["messages"].values() if m.get("key") == INBOX]
        self.assertEqual((new["payload"], new["state"]), ("an entry", "scheduled"))
        del orders["messages"][new["id"]]
        orders["info"]["scheduled"] -= 1
        orders["info"]["counters"]["accepted"] -= 1
        self.assertEqual(list(found), list(self.expected["queues"]))
        for name, queue in self.expected["queues"].items():
            self.assertEqual(found[name]["info"] | queue["info"], found[name]["info"], name)
            self.assertEqual(found[name]["messages"].keys(), queue["messages"].keys(), name)
            for number, message in queue["messages"].items():
                now = found[name]["messages"][number]
                if "lease_left_ms" in message:
                    left = now.pop("lease_left_ms")
                    self.assertTrue(0 < left <= message.pop("lease_left_ms"), now)
                if "kept_until_ms" in message:
                    message["kept_until_ms"] += self.later_ms
                    message.pop("kept_until")
                self.assertEqual({field: now.get(field) for field in message}, message)

    def test_receipts_of_then_end_their_claims(self):
        def settle(api):
            items = [{"receipt": receipt, "action": "ack"} for receipt in receipts.values()]
            return [api.post("/v1/settle", {"items": items})["results"] for _ in range(2)]

        receipts = self.expected["receipts"]
        done, again = self.opened(settle)
        self.assertEqual({result["outcome"] for result in done}, {"done"})
        # Of the bulk claim's queue nothing is remembered.
        self.assertEqual({result["outcome"] for result in again}, {"done", "stale"})
        # Programs of version 0.1 can go on with the store.
        self.assertEqual(self.redis.ask("HMGET", "tarry:{0}:store", "schema", "partitions"),
                         ["3", "2"])
        self.assertEqual(self.asked("queue", "info", "many", store=self.redis.url)["leased"], 0)

    def test_it_is_worth_testing(self):
        messages = [message for queue in self.expected["queues"].values()
                    for message in queue["messages"].values()]
        self.assertEqual({message["state"] for message in messages},
                         {"scheduled", "ready", "leased", "dead", "remembered"})
        leased = [message["id"] for message in messages if message["state"] == "leased"]
        self.assertEqual(len(leased), len(self.expected["receipts"]))
        keys = json.loads((GOLDEN / "keys.json").read_text(encoding="utf-8"))
        self.assertEqual({kind for kind, _ in keys.values()}, {"hash", "zset", "stream"})


if __name__ == "__main__":
    unittest.main()
