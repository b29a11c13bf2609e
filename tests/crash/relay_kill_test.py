#!/usr/bin/env python3
"""A relay is killed again and again, and so is the Redis that it hands on to, while messages flow.

At the far end: every message at least once, none before its time, none that was cancelled in time.
Duplicates are counted: each is one of a kill. RELAY_KILLS in the environment: for longer than CI.
"""

import collections
import json
import os
import random
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))
from program import PROGRAM, ProgramTest, Server, environment, eventually  # noqa: E402
from redis_server import RedisServer  # noqa: E402

KILLS = int(os.environ.get("RELAY_KILLS", "5"))
PER_ROUND = 200


class RelayKills(ProgramTest):
    """A server with the queue, a redis-server as the sink, and a relay between them."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.redis = RedisServer("--appendonly", "yes", "--appendfsync", "always",
                                 parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.relay = None
        self.addCleanup(self.kill_relay)

    def kill_relay(self):
        if self.relay:
            self.relay.kill()
            self.relay.wait()
            self.relay = None

    def start_relay(self):
        # A short lease: what a killed relay had is soon another's.
        self.relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "relay", "q", "--lease", "1s", "--in-flight",
             "50", "--to", self.redis.url + "?stream=due"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())

    def post(self, path, value):
        request = urllib.request.Request(
            self.server.url + path, json.dumps(value).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def arrived(self):
        """[(when it arrived, its fields)] of the stream, by Redis's clock."""
        rows = self.redis.ask("XRANGE", "due", "-", "+")
        return [(int(at.split("-")[0]), dict(zip(fields[::2], fields[1::2])))
                for at, fields in rows]

    def counts(self):
        with urllib.request.urlopen(self.server.url + "/v1/queues/q", timeout=60) as answer:
            return json.load(answer)

    def test_at_least_once_and_never_early(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}, {KILLS} kills", flush=True)
        chance = random.Random(seed)
        wanted, cancelled = set(), set()
        for number in range(KILLS):
            self.start_relay()
            keys = [f"{number}:{i}" for i in range(PER_ROUND)]
            items = [{"key": key, "payload": key, "delay": f"{chance.randrange(1500)}ms",
                      "max_attempts": 1000} for key in keys]
            self.post("/v1/queues/q/messages", {"messages": items})
            chosen = chance.sample(keys, 20)
            outcomes = self.post("/v1/queues/q/cancel", {"keys": chosen})
            cancelled |= {key for key, result in zip(chosen, self.results(outcomes))
                          if result == "cancelled"}
            wanted |= set(keys) - set(chosen)
            # Somewhere in its midst.
            some = chance.randrange(1, 150)
            before = self.counts()["counters"]["acked"]
            eventually(lambda: self.counts()["counters"]["acked"] >= before + some
                       or not self.pending(), "some are acked")
            if number % 2:
                self.redis.shoot()
                self.redis.bury()
                self.kill_relay()
                self.redis.start()
            else:
                self.kill_relay()
        self.start_relay()
        eventually(lambda: not self.pending(), "everything is handed on")
        arrived = self.arrived()
        times = collections.Counter(fields["key"] for _, fields in arrived)
        self.assertEqual(wanted - set(times), set(), "lost")
        self.assertEqual(cancelled & set(times), set(), "after a confirmed cancel")
        for at, fields in arrived:
            self.assertGreaterEqual(at, int(fields["due_ms"]), fields)
            self.assertEqual(fields["payload"], fields["key"])
        twice = sum(count - 1 for count in times.values())
        # A kill repeats at most what was with the sink.
        self.assertLessEqual(twice, 50 * KILLS)
        self.assertEqual(self.counts()["dead"], 0)
        print(f"{len(times)} messages, {twice} duplicates", flush=True)

    def pending(self):
        info = self.counts()
        return info["scheduled"] + info["ready"] + info["leased"]

    @staticmethod
    def results(answer):
        return [item.get("outcome") for item in answer["results"]]


if __name__ == "__main__":
    unittest.main()
