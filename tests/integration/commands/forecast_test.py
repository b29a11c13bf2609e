#!/usr/bin/env python3
"""A forecast at a rate, compared with what then happens; rates that are seen; what is refused."""

import http.client
import json
import threading
import unittest

from program import FAILED, USAGE, ProgramTest, Server

STEP_MS = 500  # one message is claimed each step: 2 a second


class Api:
    """A kept connection."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        told = json.load(answer)
        assert answer.status == 200, told
        return told

    def push(self, *delays):
        self.ask("POST", "/v1/queues/orders/messages",
                 {"messages": [{"delay_ms": delay} for delay in delays]})

    def claim(self, most=1):
        """The lateness of each claimed message."""
        claimed = self.ask("POST", "/v1/claim", {"queues": ["orders"], "max": most})["messages"]
        if claimed:
            self.ask("POST", "/v1/settle", {"items": [
                {"receipt": each["receipt"], "action": "ack"} for each in claimed]})
        return [each["claimed_ms"] - each["due_ms"] for each in claimed]

    def ready(self):
        return self.ask("GET", "/v1/queues/orders")["ready"]


class Happened:
    """What happens while a message is claimed each STEP_MS, and one comes each `come_ms`."""

    def __init__(self, api, seconds, come_ms=0):
        self.backlogs = []  # at the end of each second
        self.late = []      # (lateness, when it was due, when it was claimed), from the beginning
        for at in range(0, seconds * 1000, STEP_MS):
            if come_ms and at and at % come_ms == 0:
                api.push(0)
            for late in api.claim():
                self.late.append((late, at - late, at))
            api.ask("POST", "/v1/clock/advance", {"by": f"{STEP_MS}ms"})
            if (at + STEP_MS) % 1000 == 0:
                self.backlogs.append(api.ready())

    def empty_from(self, begin_s=0):
        """The first second at whose end nothing waits."""
        return next(s for s in range(begin_s, len(self.backlogs)) if self.backlogs[s] == 0) + 1


class Compared(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:", "--test-clock"))
        self.store = self.server.url
        self.api = Api(self.server)
        self.addCleanup(self.api.connection.close)

    def forecast(self, *words):
        return self.asked("forecast", "orders", "--rate", "2", "--width", "1s", "--buckets", "60",
                          *words)["projection"]

    def compare(self, projection, happened):
        """All within two messages, or the time that two take and half a step."""
        for second, span in enumerate(projection["spans"]):
            self.assertLessEqual(abs(span["backlog"] - happened.backlogs[second]), 2, second)
            due = [late for late, due, _ in happened.late
                   if second * 1000 < due <= (second + 1) * 1000]
            if due:
                self.assertLessEqual(abs(span["late_last_ms"] - due[-1]), 1500, second)
                self.assertLessEqual(abs(span["late_p50_ms"] - due[len(due) // 2]), 1500, second)
        late, _, at = max(happened.late)
        self.assertLessEqual(abs(projection["latest_ms"] - late), 1500)
        self.assertLessEqual(abs(projection["latest_in_ms"] - at), 2500)

    def test_a_backlog_and_a_burst(self):
        # 20 are ready. From the 20th second on, 30 fall due within some seconds, and then two more.
        self.api.push(*[0] * 20, *(20_000 + 250 * n for n in range(30)), 45_000, 50_000)
        projection = self.forecast("--arrivals", "none")
        self.assertEqual(projection["drained_in_ms"], 10_000)
        self.assertEqual(projection["clear_in_ms"], 34_500)
        line = self.tarry("forecast", "orders", "--rate", "2", "--arrivals", "none").out
        self.assertTrue(line.startswith("drained, in 10s; the last backlog ends, in 35s; the "
                                        "latest message comes 10s late\n"), line)
        over_http = self.api.ask(
            "GET", "/v1/queues/orders/forecast?width=1s&buckets=60&rate=2&arrivals=none")
        self.assertEqual(over_http["projection"], projection)
        happened = Happened(self.api, 60)
        self.compare(projection, happened)
        self.assertLessEqual(abs(happened.empty_from() - 10), 1)
        self.assertLessEqual(abs(happened.empty_from(30) - 35), 1)

    def test_with_new_messages(self):
        self.api.push(*[0] * 30, *(500 + 1000 * n for n in range(20)))
        projection = self.forecast("--arrivals", "0.5")
        self.assertEqual(projection["spans"][0]["due"], 2)  # 1 scheduled, half a new one
        happened = Happened(self.api, 60, come_ms=2000)
        self.compare(projection, happened)
        self.assertLessEqual(abs(happened.empty_from() * 1000 - projection["clear_in_ms"]), 2500)

    def test_never(self):
        self.api.push(*[0] * 10)
        line = self.tarry("forecast", "orders", "--rate", "2", "--arrivals", "2.5").out
        self.assertTrue(line.startswith(
            "never drained at this rate: 2.5/s come, 2/s go; 1,810 behind after 1h\n"), line)
        self.assertNotIn("clear_in_ms", self.forecast("--arrivals", "2.5"))

    def test_rates_are_not_seen_by_a_clock_that_is_moved(self):
        self.api.push(0)
        answer = self.tarry("forecast", "orders", "--rate", "2")
        self.assertIn("no arrivals are foreseen, since this store's clock is moved by hand",
                      answer.err)
        self.refused("forecast", "orders", "--rate", "1", "--from", "2030-01-01T00:00:00Z",
                     code=USAGE, says="--from and --rate: give one of them")
        self.refused("forecast", "orders", "--rate", "lately", code=FAILED,
                     says="this store's clock is moved by hand: give numbers")


class Seen(ProgramTest):
    def test_the_rate_of_claims_and_of_arrivals(self):
        with Server("memory:") as server:
            api = Api(server)
            api.push(*[0] * 1000, *[3_600_000] * 10)
            answer = self.tarry("forecast", "orders", "--rate", "lately", "--watch", "100ms",
                                store=server.url, code=USAGE)
            self.assertIn('nothing was claimed from "orders" within 100ms: give --rate N',
                          answer.err)
            done = threading.Event()
            counts = [0, 0]

            def consume():
                consumer = Api(server)
                while not done.is_set() and counts[0] < 100_000:
                    counts[0] += len(consumer.claim(20))
                    consumer.push(*[0] * 10)
                    counts[1] += 10
                consumer.connection.close()

            thread = threading.Thread(target=consume)
            thread.start()
            try:
                seen = self.asked("forecast", "orders", "--rate", "lately", "--watch", "300ms",
                                  store=server.url)["projection"]
            finally:
                done.set()
                thread.join(timeout=60)
            api.connection.close()
            # Twice as many go as come, or as many once the backlog is gone.
            self.assertGreater(seen["rate"], 0)
            self.assertGreater(seen["arrivals"], 0)


class Refused(ProgramTest):
    def test_in_one_line(self):
        limits = "is not a number of messages a second, from 0.001 to 10000000"
        with Server("memory:") as server:
            for words, says in (
                    (("--rate", "0"), ('--rate "0"', limits, 'or "lately"')),
                    (("--rate=-1",), ('--rate "-1"', limits)),
                    (("--rate", "fast"), ('--rate "fast"', limits)),
                    (("--rate", "10000001"), ('--rate "10000001"', limits)),
                    (("--rate", "1", "--arrivals", "many"), ('--arrivals "many"', '"none"')),
                    (("--rate", "1", "--watch", "2m"), ("--watch 2m", "100ms to 1m")),
                    (("--arrivals", "1"), "--arrivals needs --rate"),
                    (("--watch", "1s"), "--watch needs --rate")):
                self.refused("forecast", "orders", *words, store=server.url, says=says)
            self.refused("forecast", "nobody", "--rate", "1", "--arrivals", "none", code=3,
                         store=server.url, says="nobody")


if __name__ == "__main__":
    unittest.main()
