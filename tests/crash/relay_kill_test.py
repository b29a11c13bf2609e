#!/usr/bin/env python3
"""A relay is killed again and again while messages flow, and so is the system to which it hands
them: a Redis, a RabbitMQ, a receiver of webhooks. At the far end, every message must arrive at
least once, none before its time, and none that was cancelled in time. Duplicates are counted: each
must have a kill as its cause, and be another attempt.

In the environment, for longer runs than CI's: RELAY_KILLS, RELAY_RESTARTS (of the far end),
RELAY_MESSAGES (in all), RELAY_SEED.
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
from far_ends import ENDS  # noqa: E402
from program import PROGRAM, ProgramTest, Server, environment, eventually  # noqa: E402

IN_FLIGHT = 50


def setting(name, usual):
    return int(os.environ.get(name, usual))


class RelayKills(ProgramTest):
    """A server with the queue, the far end, and a relay between them."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.relay = None
        self.addCleanup(self.kill_relay)
        self.said = (self.directory / "relays").open("ab")
        self.addCleanup(self.said.close)

    def kill_relay(self):
        if self.relay:
            self.relay.kill()
            self.relay.wait()
            self.relay = None

    def start_relay(self, end):
        # A short lease, so that another relay soon gets the messages of a killed one.
        self.relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "relay", "q", "--lease", "1s", "--in-flight",
             str(IN_FLIGHT), "--to", end.to],
            stdout=subprocess.DEVNULL, stderr=self.said, env=environment())

    def await_that(self, condition, what):
        try:
            eventually(condition, what, seconds=300)
        except AssertionError as error:
            said = (self.directory / "relays").read_text(encoding="utf-8", errors="replace")
            raise AssertionError(f"{error}; {self.counts()}; the relay's exit code: "
                                 f"{self.relay.poll()}; relays said:\n{said[-4000:]}") from error

    def post(self, path, value):
        request = urllib.request.Request(
            self.server.url + path, json.dumps(value).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def counts(self):
        with urllib.request.urlopen(self.server.url + "/v1/queues/q", timeout=60) as answer:
            return json.load(answer)

    def pending(self):
        info = self.counts()
        return info["scheduled"] + info["ready"] + info["leased"]

    def acked(self):
        return self.counts()["counters"]["acked"]

    def push(self, keys, chance):
        for at in range(0, len(keys), 1000):
            items = [{"key": key, "payload": key, "delay": f"{chance.randrange(1500)}ms",
                      "max_attempts": 1000} for key in keys[at:at + 1000]]
            self.post("/v1/queues/q/messages", {"messages": items})

    def cancel(self, keys):
        """Returns the keys that are surely cancelled, and those that may be: if a message was with
        the relay, its running delivery is the last one."""
        answer = self.post("/v1/queues/q/cancel", {"keys": keys})
        by = {outcome: {key for key, result in zip(keys, answer["results"])
                        if result.get("outcome") == outcome}
              for outcome in ("cancelled", "in_flight")}
        return by["cancelled"], by["in_flight"]

    def run_through(self, name, kills, restarts):
        kills, restarts = setting("RELAY_KILLS", kills), setting("RELAY_RESTARTS", restarts)
        messages = setting("RELAY_MESSAGES", 200 * kills)
        seed = setting("RELAY_SEED", random.randrange(1 << 32))
        print(f"{name}: seed {seed}, {messages} messages, {kills} kills, {restarts} restarts of "
              "the far end", flush=True)
        chance = random.Random(seed)
        end = ENDS[name](self.directory)
        self.addCleanup(end.close)
        restarted = set(chance.sample(range(kills), restarts))
        wanted, cancelled = set(), set()
        for number in range(kills):
            self.start_relay(end)
            keys = [f"{number}:{i}" for i in range(messages // kills)]
            self.push(keys, chance)
            chosen = chance.sample(keys, len(keys) // 10)
            gone, perhaps = self.cancel(chosen)
            cancelled |= gone
            wanted |= set(keys) - gone - perhaps
            # Somewhere in the middle of the round.
            before, some = self.acked(), chance.randrange(1, len(keys) * 3 // 4)
            self.await_that(lambda: self.acked() >= before + some or not self.pending(),
                            "some are acked")
            if number in restarted:
                end.shoot()
                # In one of two rounds, the relay finds a far end that is gone.
                if number % 2:
                    self.kill_relay()
                end.start()
            self.kill_relay()
        self.start_relay(end)
        self.await_that(lambda: not self.pending(), "everything is handed on")
        self.check(end, wanted, cancelled, IN_FLIGHT * (kills + restarts))

    def check(self, end, wanted, cancelled, most_twice):
        eventually(lambda: wanted <= {arrival.key for arrival in end.arrived()}, "all arrive")
        arrived = end.arrived()
        attempts = collections.defaultdict(list)
        for arrival in arrived:
            attempts[arrival.key].append(arrival.attempt)
            self.assertGreaterEqual(arrival.at_ms, arrival.due_ms, arrival)
            self.assertEqual(arrival.payload, arrival.key)
        self.assertTrue(cancelled)
        self.assertEqual(cancelled & set(attempts), set(), "after a confirmed cancel")
        for key, numbers in attempts.items():
            self.assertEqual(len(numbers), len(set(numbers)), f"{key}: attempts {numbers}")
        twice = len(arrived) - len(attempts)
        # A kill repeats at most the messages that the sink had.
        self.assertLessEqual(twice, most_twice)
        self.assertEqual(self.counts()["dead"], 0)
        print(f"{len(attempts)} messages, {twice} duplicates, each another attempt", flush=True)

    def test_redis(self):
        self.run_through("redis", 4, 2)

    def test_webhook(self):
        self.skip_without("webhook")
        self.run_through("webhook", 3, 1)

    def test_rabbitmq(self):
        self.skip_without("rabbitmq")
        self.run_through("rabbitmq", 2, 1)

    def skip_without(self, sink):
        if sink not in self.asked("version")["sinks"]:
            self.skipTest(f"this build knows no {sink}")


if __name__ == "__main__":
    unittest.main()
