#!/usr/bin/env python3
"""A relay to Kafka is killed again and again, and its brokers stop and start, under load. Every
message must reach the far end at least once, and none before its time. Duplicates are counted; each
must be another attempt. RELAY_KILLS, RELAY_MESSAGES and RELAY_SEED in the environment allow longer
runs than CI's.
"""

import collections
import json
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kafka_cluster import KafkaCluster  # noqa: E402
import relay_kill_test  # noqa: E402
from program import PROGRAM, ProgramTest, Server, environment, eventually  # noqa: E402

KILLS = int(os.environ.get("RELAY_KILLS", "4"))
MESSAGES = int(os.environ.get("RELAY_MESSAGES", "2000"))
OUTAGES = max(1, KILLS // 4)
IN_FLIGHT = 200


class KafkaKills(ProgramTest):
    """A server with the queue, a cluster of three brokers, and a relay between them."""

    cancel = relay_kill_test.RelayKills.cancel
    counts = relay_kill_test.RelayKills.counts
    pending = relay_kill_test.RelayKills.pending
    post = relay_kill_test.RelayKills.post
    kill_relay = relay_kill_test.RelayKills.kill_relay

    def setUp(self):
        super().setUp()
        if "kafka" not in self.asked("version")["sinks"]:
            self.skipTest("built without Kafka")
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.cluster = KafkaCluster(3, "due", parent=self.directory)
        self.addCleanup(self.cluster.stop)
        self.relay = None
        self.addCleanup(self.kill_relay)

    def start_relay(self):
        self.relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "relay", "q", "--lease", "1s", "--in-flight",
             str(IN_FLIGHT), "--to", f"kafka://{self.cluster.brokers}/due"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())

    def push(self, keys, chance):
        for start in range(0, len(keys), 1000):
            items = [{"key": key, "payload": key, "delay": f"{chance.randrange(1500)}ms"}
                     for key in keys[start:start + 1000]]
            self.post("/v1/queues/q/messages", {"messages": items})

    def test_at_least_once_and_never_early(self):
        seed = int(os.environ.get("RELAY_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}, {MESSAGES} messages, {KILLS} kills, {OUTAGES} outages", flush=True)
        chance = random.Random(seed)
        per_round = MESSAGES // KILLS
        outages = set(chance.sample(range(KILLS), OUTAGES))
        wanted, cancelled = set(), set()
        for number in range(KILLS):
            self.start_relay()
            keys = [f"{number}:{i}" for i in range(per_round)]
            self.push(keys, chance)
            chosen = chance.sample(keys, per_round // 10)
            gone, perhaps = self.cancel(chosen)
            cancelled |= gone
            wanted |= set(keys) - gone - perhaps
            # Somewhere in the middle of the round.
            some = chance.randrange(1, per_round * 3 // 4)
            before = self.counts()["counters"]["acked"]
            eventually(lambda: self.counts()["counters"]["acked"] >= before + some
                       or not self.pending(), "some are acked", seconds=120)
            if number in outages:
                self.cluster.say("down")
                self.push([f"{number}:late"], chance)
                wanted.add(f"{number}:late")
                eventually(lambda: self.counts()["ready"] + self.counts()["leased"] > 0,
                           "it is due")
                self.cluster.say("up")
            self.kill_relay()
        self.start_relay()
        eventually(lambda: not self.pending(), "everything is handed on", seconds=300)
        # The cluster has all acked records; its reader may not have read them yet.
        eventually(lambda: {record.key for record in self.cluster.records()} >= wanted,
                   "the reader has them all")
        records = self.cluster.records()
        times = collections.Counter(record.key for record in records)
        self.assertTrue(cancelled)
        self.assertEqual(cancelled & set(times), set(), "after a confirmed cancel")
        self.assertEqual(wanted - set(times), set(), "lost")
        for record in records:
            self.assertGreaterEqual(record.made_ms, record.due_ms, record)
        doubles = len(records) - len(times)
        attempts = collections.Counter(record.attempt for record in records)
        pairs = collections.Counter((record.key, record.attempt) for record in records)
        # The producer itself sent these again. A real broker recognises them by their sequence
        # numbers; the mock cluster does not look at those.
        resent = sum(count - 1 for count in pairs.values())
        self.assertLessEqual(resent, IN_FLIGHT * OUTAGES)
        # A kill or an outage repeats at most the messages that the sink had.
        self.assertLessEqual(doubles, IN_FLIGHT * (KILLS + OUTAGES))
        self.assertEqual(self.counts()["dead"], 0)
        print(f"{len(times)} messages, {len(cancelled)} cancelled, {doubles} duplicates, "
              f"{resent} of them within an attempt; by attempt "
              f"{json.dumps(dict(sorted(attempts.items())))}", flush=True)


if __name__ == "__main__":
    unittest.main()
