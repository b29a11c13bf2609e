#!/usr/bin/env python3
"""kill -9 of a server with 100,000 pending messages: a restart has them all, unchanged."""

import json
import unittest
from collections import Counter

from client import Client
from history import Extend, History, Settle, now_ms
from server import Server, run

COUNT = 100_000
DUE = 1_100  # this many of them at once
PART = 100  # messages of each part get the same history
HOUR_MS = 3_600_000
QUEUE = "orders"
KEYS_A_GET = 1_000


def payload_of(number):
    return f"order {number} " + "x" * (number % 50)


def comparable(message):
    """The fields that a restart must not change: all except those that time changes."""
    return {name: value for name, value in message.items() if name != "lease_left_ms"}


class Pending(unittest.TestCase):
    def test_on_one_shard(self):
        self.on_shards(1)

    def test_on_four_shards(self):
        self.on_shards(4)

    def client(self):
        client = Client(self.server, History({}))
        self.addCleanup(client.close)
        return client

    def push(self):
        """Pushes all messages with `tarry push --jsonl`, with delays and with due times."""
        base = int(now_ms()) + HOUR_MS
        orders = self.server.path / "orders.jsonl"
        with open(orders, "w", encoding="utf-8") as file:
            for number in range(COUNT):
                message = {"key": f"order:{number}", "payload": payload_of(number)}
                if number < DUE:
                    message["delay"] = 0
                elif number % 2:
                    message["delay"] = f"{HOUR_MS + number}ms"
                else:
                    message["due"] = base + number
                file.write(json.dumps(message) + "\n")
        code, said = run("push", QUEUE, "--jsonl", str(orders), "-o", "json",
                         "--store", f"http://127.0.0.1:{self.server.port}")
        self.assertEqual(code, 0, said)
        return base

    def use(self, client):
        """Gives some of the due messages a history: attempts, leases, deaths. Returns the receipts
        of leased ones."""
        receipts = [d.receipt for d in client.claim([QUEUE], 6 * PART, HOUR_MS)]
        self.assertEqual(len(receipts), 6 * PART)
        parts = [receipts[start:start + PART] for start in range(0, 6 * PART, PART)]
        for part, (action, delay) in zip(parts, (("ack", None), ("bury", None), ("release", None),
                                                 ("retry", 2 * HOUR_MS), ("retry", 0))):
            client.settle([Settle(0, receipt=receipt, action=action, delay=delay)
                           for receipt in part])
        client.extend([Extend(0, receipt=receipt, lease=2 * HOUR_MS) for receipt in parts[5]])
        # The rest, and half of those that were retried at once, so that second attempts are among
        # them.
        rest = DUE - 6 * PART + PART + PART // 2
        return parts[5] + [d.receipt for d in client.claim([QUEUE], rest, HOUR_MS)]

    def look(self, client):
        """Every message by its key, and the figures."""
        messages = {}
        for message in client.pages(QUEUE, 10_000):
            self.assertNotIn(message["key"], messages)
            messages[message["key"]] = comparable(message)
        return messages, client.figures()

    def on_shards(self, shards):
        self.server = Server(f"shards={shards}")
        self.addCleanup(self.server.close)
        self.server.start()
        base = self.push()
        client = self.client()
        leased = self.use(client)
        before, figures = self.look(client)
        self.assertEqual(len(before), COUNT - PART)
        for number in range(DUE, COUNT, 2):
            self.assertEqual(before[f"order:{number}"]["due_ms"], base + number)
        states = Counter(message["state"] for message in before.values())
        self.assertEqual(states, {"scheduled": COUNT - DUE + PART, "ready": PART // 2,
                                  "leased": len(leased), "dead": PART})
        attempts = Counter(message["attempt"] for message in before.values())
        self.assertGreaterEqual(attempts[2], PART // 2)

        self.server.kill()
        self.server.start_and_kill(0.05)
        self.server.start()

        client = self.client()
        after, figures_after = self.look(client)
        self.assertEqual(sorted(after), sorted(before))
        for key, message in before.items():
            self.assertEqual(after[key], message, key)
        self.assertEqual(figures_after, figures)
        self.payloads(client)
        self.settle(client, leased)

    def payloads(self, client):
        for start in range(DUE, COUNT, COUNT // 10):
            numbers = range(start, min(start + KEYS_A_GET, COUNT))
            answer = client._ask([], "POST", f"/v1/queues/{QUEUE}/get",
                                 {"keys": [f"order:{number}" for number in numbers]})
            self.assertEqual([result["payload"] for result in answer["results"]],
                             [payload_of(number) for number in numbers])

    def settle(self, client, leased):
        """Receipts from before the crash must still be good."""
        settles = [Settle(0, receipt=receipt) for receipt in leased]
        client.settle(settles)
        self.assertEqual({settle.outcome for settle in settles}, {"done"})


if __name__ == "__main__":
    unittest.main()
