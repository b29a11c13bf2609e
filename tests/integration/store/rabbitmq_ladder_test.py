#!/usr/bin/env python3
"""Delays in RabbitMQ: what comes through the ladder while the broker is killed, a short delay
behind long ones, a year by rungs that a policy shortens, and x-death over many retries.

TARRY_RABBITMQ_MESSAGES: how many go through the ladder (3,000); TARRY_RABBITMQ_LONGEST_MS: the
longest of their delays (6,000).
"""

import http.client
import itertools
import json
import os
import random
import threading
import time
import unittest

from program import ProgramTest, Server, eventually
from rabbit_server import RabbitServer

MESSAGES = int(os.environ.get("TARRY_RABBITMQ_MESSAGES", "3000"))
LONGEST_MS = int(os.environ.get("TARRY_RABBITMQ_LONGEST_MS", "6000"))
BATCH = 100
PATIENCE_SECONDS = 240 + MESSAGES // 100
YEAR_MS = 365 * 24 * 3600 * 1000
BROKER = None


def setUpModule():
    """One broker for all, as one takes long to start."""
    global BROKER
    # By itself a broker waits for 3 minutes before it hands on again what a crash has interrupted.
    BROKER = RabbitServer(erl="-rabbit dead_letter_worker_publisher_confirm_timeout 5000")
    unittest.addModuleCleanup(BROKER.close)
    BROKER.start()


class Asks:
    """One connection to a server; None where it gave no answer or could not do it."""

    def __init__(self, test, server):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        test.addCleanup(self._connection.close)

    def __call__(self, path, body):
        try:
            self._connection.request("POST", path, json.dumps(body),
                                     {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return None
        return json.loads(text) if answer.status == 200 else None


class Seen:
    """What came, how often, and how late."""

    def __init__(self):
        self.count = {}
        self.late = []

    def take(self, message):
        number = message["payload"]
        self.count[number] = self.count.get(number, 0) + 1
        self.late.append(message["claimed_ms"] - message["due_ms"])

    @property
    def doubled(self):
        return sum(self.count.values()) - len(self.count)

    def table(self):
        late = sorted(self.late)
        parts = ((name, late[min(len(late) - 1, int(len(late) * part))])
                 for name, part in (("p50", .5), ("p90", .9), ("p99", .99), ("p99.9", .999),
                                    ("max", 1)))
        return ", ".join(f"{name} {ms} ms" for name, ms in parts)


class Ladder(ProgramTest):
    def setUp(self):
        super().setUp()
        self.store = f"amqp://127.0.0.1:{BROKER.port}/"

    def push_all(self, server, accepted, repeated):
        ask = Asks(self, server)
        numbers = iter(range(MESSAGES))
        while batch := [str(n) for n in itertools.islice(numbers, BATCH)]:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while batch and time.monotonic() < deadline:
                answer = ask("/v1/queues/q/messages", {"messages": [
                    {"key": n, "payload": n, "delay_ms": random.randrange(LONGEST_MS)}
                    for n in batch]})
                results = answer["results"] if answer else [{}] * len(batch)
                left = [n for n, result in zip(batch, results)
                        if result.get("outcome") != "pushed"]
                accepted.update(set(batch) - set(left))
                repeated.update(left)
                batch = left
                if batch:
                    BROKER.running.wait(PATIENCE_SECONDS)

    def take_all(self, server, seen, stop):
        """Claims and acks until it is stopped; of two queues, so that a claim waits at both."""
        ask = Asks(self, server)
        while not stop.is_set():
            answer = ask("/v1/claim", {"queues": ["q", "other"], "max": 200, "wait": "1s"})
            if answer is None:
                BROKER.running.wait(PATIENCE_SECONDS)
                continue
            for message in answer["messages"]:
                seen.take(message)
            if answer["messages"]:
                ask("/v1/settle", {"items": [{"receipt": message["receipt"], "action": "ack"}
                                             for message in answer["messages"]]})

    def test_loses_nothing_while_the_broker_is_killed(self):
        accepted, repeated, seen, stop = set(), set(), Seen(), threading.Event()
        with Server(self.store) as server:
            # RabbitMQ 3.10 loses a quorum queue that it made less than some tenths of a second
            # before it was killed. A second later both are safe.
            ask = Asks(self, server)
            for queue in ("q", "other"):
                ask(f"/v1/queues/{queue}/messages", {"payload": "first", "delay": "1s"})
                (message,) = ask("/v1/claim", {"queues": [queue], "wait": "1m"})["messages"]
                ask("/v1/settle", {"items": [{"receipt": message["receipt"], "action": "ack"}]})
            taker = threading.Thread(target=self.take_all, args=(server, seen, stop))
            pusher = threading.Thread(target=self.push_all, args=(server, accepted, repeated))
            pusher.start()
            taker.start()
            try:
                for done, enough in ((accepted, MESSAGES // 5), (seen.count, MESSAGES // 2)):
                    eventually(lambda: len(done) >= enough, "half way", PATIENCE_SECONDS)
                    BROKER.shoot()
                    BROKER.start()
                pusher.join()
                eventually(lambda: accepted <= seen.count.keys(), "all have come",
                           PATIENCE_SECONDS)
            finally:
                stop.set()
                pusher.join()
                taker.join()
        self.assertEqual(len(accepted), MESSAGES)
        self.assertGreaterEqual(min(seen.late), 0)
        print(f"{MESSAGES} messages with delays of up to {LONGEST_MS} ms, {len(repeated)} pushed "
              f"again, {seen.doubled} came twice; lateness, outages included: {seen.table()}")

    def test_a_short_delay_behind_long_ones(self):
        with Server(self.store) as server:
            ask = Asks(self, server)
            first_due = None
            for _ in range(10):
                results = ask("/v1/queues/behind/messages", {"messages": [
                    {"payload": "long", "delay": "60s"}] * 1_000})["results"]
                first_due = first_due or results[0]["due_ms"]
            ask("/v1/queues/behind/messages", {"payload": "short", "delay": "1s"})
            (message,) = ask("/v1/claim", {"queues": ["behind"], "wait": "50s"})["messages"]
            self.assertEqual(message["payload"], "short")
            self.assertLess(message["claimed_ms"], first_due)
            ask("/v1/settle", {"items": [{"receipt": message["receipt"], "action": "ack"}]})
        print(f"1 s behind 10,000 messages of 60 s: {message['claimed_ms'] - message['due_ms']} ms "
              "late")

    def deaths(self, queue):
        """The x-death of the one message there; it stays."""
        connection = BROKER.connect()
        try:
            channel = connection.channel()
            found = []

            def there():
                found[:] = channel.basic_get(f"tarry.v1.queue.{queue}")
                return found[0] is not None
            eventually(there, "the message has come", PATIENCE_SECONDS)
            channel.basic_nack(found[0].delivery_tag)
            return found[1].headers.get("x-death", [])
        finally:
            connection.close()

    def test_a_year_goes_down_its_rungs(self):
        self.tarry("push", "first", "x")  # declares the ladder
        BROKER.control("set_policy", "--apply-to", "queues", "short", r"^tarry\.v1\.100ms\.rung\.",
                       '{"message-ttl":20}')
        try:
            self.tarry("push", "year", "x", "--in", f"{YEAR_MS}ms")
            deaths = self.deaths("year")
        finally:
            BROKER.control("clear_policy", "short")
        waits = [100 << int(death["queue"].removeprefix("tarry.v1.100ms.rung."))
                 for death in deaths]
        # What the push took of the year is less than a rung or two.
        self.assertGreater(sum(waits) + 60_000, YEAR_MS)
        self.assertLess(sum(waits), YEAR_MS + 1_000)
        self.assertEqual([death["count"] for death in deaths], [1] * len(deaths))
        self.assertLessEqual(len(deaths), 29)
        # It is before its time: the store sends it up the ladder again.
        with Server(self.store) as server:
            self.assertEqual(Asks(self, server)("/v1/claim", {"queues": ["year"], "wait": "1s"}),
                             {"messages": []})

    def test_x_death_does_not_grow_over_retries(self):
        store = self.store + "?rung=5ms"
        with Server(store) as server:
            ask = Asks(self, server)
            ask("/v1/queues/again/messages", {"payload": "x", "delay": "100ms",
                                              "max_attempts": 50})
            for _ in range(20):
                (message,) = ask("/v1/claim", {"queues": ["again"], "wait": "1m"})["messages"]
                ask("/v1/settle", {"items": [{"receipt": message["receipt"], "action": "retry",
                                              "delay": "100ms"}]})
            deaths = self.deaths("again")
            self.assertEqual(sum(death["count"] for death in deaths), len(deaths))
            self.assertLessEqual(len(deaths), 5)  # 100 ms are 20 or 21 rungs of 5 ms


if __name__ == "__main__":
    unittest.main()
