#!/usr/bin/env python3
"""Pushes with a spread: even, never early, where the queue has least to do; and what is refused."""

import http.client
import json
import unittest

from program import ProgramTest, Server

HOUR = 3_600_000
SPREAD = 600_000
SLOTS = 60


class Spread(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:?shards=4", "--test-clock"))
        self.store = self.server.url
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.addCleanup(self.connection.close)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.load(answer)

    def push(self, messages):
        status, told = self.ask("POST", "/v1/queues/mails/messages", {"messages": messages})
        self.assertEqual(status, 200, told)
        return told["results"]

    def even(self, dues, start, slots=SLOTS):
        """No slot has more than twice the mean, or less than half of it."""
        counts = [0] * slots
        for due in dues:
            self.assertGreaterEqual(due, start)
            self.assertLessEqual(due, start + SPREAD)
            counts[min(slots - 1, (due - start) * slots // SPREAD)] += 1
        mean = len(dues) / slots
        self.assertLessEqual(max(counts), 2 * mean, counts)
        self.assertGreaterEqual(min(counts), mean / 2, counts)

    def now(self):
        return self.push([{}])[0]["due_ms"]

    def test_a_batch_is_even_and_a_repeat_changes_nothing(self):
        start = self.now() + HOUR
        batch = [{"key": f"k{number}", "delay_ms": HOUR, "spread": "10m"}
                 for number in range(10_000)]
        first = self.push(batch)
        self.assertEqual({each["outcome"] for each in first}, {"pushed"})
        self.even([each["due_ms"] for each in first], start)
        again = self.push(batch)
        self.assertEqual({each["outcome"] for each in again}, {"exists"})
        self.assertEqual([each["due_ms"] for each in again], [each["due_ms"] for each in first])
        # The forecast shows the same.
        _, found = self.ask("GET", "/v1/queues/mails/forecast?width=1m&buckets=70")
        self.assertEqual(found["buckets"][:60], [0] * 60)
        self.assertLessEqual(max(found["buckets"]), 2 * 1_000)
        self.assertEqual(sum(found["buckets"]), 10_000)

    def test_single_pushes_are_even(self):
        due = self.now() + HOUR
        told = [self.ask("POST", "/v1/queues/mails/messages",
                         {"due_ms": due, "spread_ms": SPREAD})[1]["due_ms"] for _ in range(300)]
        self.even(told, due, slots=20)

    def test_a_peak_is_avoided(self):
        start = self.now() + HOUR
        self.push([{"delay_ms": HOUR + 3 * 60_000 + number * 12} for number in range(5_000)])
        told = self.push([{"delay_ms": HOUR, "spread": "10m"} for _ in range(2_000)])
        minutes = [0] * 11
        for each in told:
            minutes[(each["due_ms"] - start) // 60_000] += 1
        # The fourth minute has a peak, whose edges share a slot with its neighbours.
        self.assertLess(minutes[3], 20, minutes)
        self.assertGreater(min(minutes[:3] + minutes[4:10]), 150, minutes)

    def test_the_command_line(self):
        start = self.now() + HOUR
        told = self.asked("push", "mails", "x", "--in", "1h", "--spread", "10m", "--key", "a")
        self.assertLessEqual(start, told["due_ms"])
        self.assertLessEqual(told["due_ms"], start + SPREAD)
        self.assertEqual(self.asked("get", "mails", "a")["due_ms"], told["due_ms"])
        lines = "".join(f'{{"payload":"{number}","delay":"1h","spread":"10m"}}\n'
                        for number in range(50))
        self.asked("push", "mails", "--jsonl", "-", stdin=lines.encode())
        _, found = self.ask("GET", "/v1/queues/mails/forecast?width=10m&buckets=7")
        self.assertEqual(found["buckets"], [0] * 6 + [51])

    def test_refuses_in_one_line(self):
        for text, says in (("366d", ("spread 366d", "from 0s to 365d")), ("soon", "soon"),
                           ("5", "5")):
            self.refused("push", "mails", "x", "--spread", text, says=says)
        for body, says in (({"spread": "366d"}, "spread 366d must be from 0s to 365d"),
                           ({"spread_ms": -1}, "-1"), ({"spread": "soon"}, "soon"),
                           ({"spread": "1s", "spread_ms": 1}, "spread_ms")):
            status, told = self.ask("POST", "/v1/queues/mails/messages", body)
            self.assertEqual(status, 400, told)
            self.assertIn(says, told["detail"])
        # An import moves messages as they are.
        status, told = self.ask("POST", "/v1/queues/mails/import",
                                {"messages": [{"key": "a", "spread": "1s"}]})
        self.assertIn('"spread"', told["results"][0]["error"]["message"])


if __name__ == "__main__":
    unittest.main()
