#!/usr/bin/env python3
"""The lateness objective of a queue: kept or burning, where the time went, and what is refused."""

import json
import shutil
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from program import ProgramTest, Server, eventually
from scrape import scrape

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


class Measured(ProgramTest):
    """A server whose clock is moved, and a queue of which 90% are to be claimed within a second."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:", "--test-clock"))
        self.store = self.server.url
        self.asked("queue", "set", "orders", "--objective", "90% within 1s")

    def objective(self):
        return self.asked("queue", "info", "orders")["objective"]

    def push(self, count):
        for number in range(count):
            self.asked("push", "orders", str(number), "--in", "10s")

    def claim(self):
        found = self.asked("claim", "orders", "--max", "100")["messages"]
        self.tarry("ack", "orders", *(each["receipt"] for each in found))
        return len(found)

    def overdue(self):
        """Waits until the server has seen the queue like this."""
        eventually(lambda: self.objective()["overdue"], "a message is overdue")

    def test_kept_or_burning_and_where_the_time_went(self):
        self.assertEqual(self.objective(), {
            "burning": False, "overdue": False, "claims": 0, "late": 0, "late_engine": 0,
            "late_unclaimed": 0, "late_paused": 0, "late_limited": 0})
        self.push(20)
        self.tarry("clock", "advance", "11s")
        self.assertEqual(self.claim(), 20)
        self.assertIn("kept: 0 of 20 claims late", self.tarry("queue", "info", "orders").out)

        # Nobody claims.
        self.push(1)
        self.tarry("clock", "advance", "20s")
        self.overdue()
        self.assertTrue(self.objective()["burning"])
        self.assertIn("a message is overdue now", self.tarry("queue", "info", "orders").out)
        self.assertEqual(scrape(self.server).samples[
            "tarry_objective_burning", (("queue", "orders"),)], 1)
        self.assertEqual(self.claim(), 1)
        eventually(lambda: not self.objective()["overdue"], "the message is seen to be gone")
        self.assertEqual(self.objective(), {
            "burning": False, "overdue": False, "claims": 21, "late": 1, "late_engine": 0,
            "late_unclaimed": 1, "late_paused": 0, "late_limited": 0})

        # The queue is paused.
        self.push(2)
        self.tarry("queue", "pause", "orders")
        self.tarry("clock", "advance", "20s")
        self.overdue()
        self.tarry("queue", "resume", "orders")
        self.assertEqual(self.claim(), 2)
        eventually(lambda: not self.objective()["overdue"], "the messages are seen to be gone")
        burning = {"burning": True, "overdue": False, "claims": 23, "late": 3, "late_engine": 0,
                   "late_unclaimed": 1, "late_paused": 2, "late_limited": 0}
        self.assertEqual(self.objective(), burning)
        for path in ("/v1/queues", "/v1/stats"):
            with urllib.request.urlopen(self.server.url + path, timeout=60) as answer:
                queue, = (each for each in json.load(answer)["queues"]
                          if each["queue"] == "orders")
            self.assertEqual(queue["objective"], burning)
            self.assertEqual(queue["settings"]["objective"], "90% within 1s")
        samples = scrape(self.server).samples
        label = ("queue", "orders")
        self.assertEqual(samples["tarry_objective_claims_total", (label,)], 23)
        late = {dict(labels)["cause"]: value for (name, labels), value in samples.items()
                if name == "tarry_objective_late_total"}
        self.assertEqual(late, {"engine": 0, "unclaimed": 1, "paused": 2, "limited": 0})

        # An hour later nothing is left of it.
        self.tarry("clock", "advance", "1h")
        eventually(lambda: not self.objective()["burning"], "the hour is over")
        self.assertEqual(self.objective()["claims"], 0)
        self.asked("queue", "set", "orders", "--objective", "none")
        self.assertNotIn("objective", self.asked("queue", "info", "orders"))
        self.assertNotIn("tarry_objective_burning",
                         {name for name, _ in scrape(self.server).samples})


class Kept(ProgramTest):
    def test_the_setting_survives_and_comes_from_the_file(self):
        file = self.directory / "tarry.toml"
        file.write_text('[queue."orders"]\nobjective = "99.9% within 250ms"\n', encoding="utf-8")
        store = self.store
        with Server(store, "--config", str(file)) as server:
            self.asked("push", "orders", "x", "--in", "1h", store=server.url)
            info = self.asked("queue", "info", "orders", store=server.url)
            self.assertEqual(info["settings"]["objective"], "99.9% within 250ms")
        info = self.asked("queue", "info", "orders", store=store)
        self.assertEqual(info["settings"]["objective"], "99.9% within 250ms")
        self.assertNotIn("objective", info)  # nobody measures

    def test_a_store_of_an_older_format_keeps_none(self):
        store = self.directory / "old"
        shutil.copytree(GOLDEN / "journal-v1" / "store", store)
        url = f"file:{store}"
        answer = self.tarry("queue", "set", "new", "--objective", "99% within 1s", store=url,
                            code=None)
        self.assertNotEqual(answer.code, 0)
        self.assertIn("needs a store of format 2; this one has format 1: tarry store upgrade",
                      answer.err)
        self.asked("queue", "set", "new", "--objective", "none", store=url)
        self.tarry("store", "upgrade", store=url)
        info = self.asked("queue", "set", "new", "--objective", "99% within 1s", store=url)
        self.assertEqual(info["settings"]["objective"], "99% within 1s")

    def test_refuses_in_one_line(self):
        with Server("memory:") as server:
            for text, limit in (
                    ("101% within 1s", "the percentage must be from 1 to 99.999"),
                    ("0% within 1s", "the percentage must be from 1 to 99.999"),
                    ("99% within 0s", "the time must be from 1ms to 7d"),
                    ("99% within 8d", "the time must be from 1ms to 7d"),
                    ("99% within soon", "soon"),
                    ("fast", 'it must be like "99% within 1s", or "none"'),
                    ("", 'it must be like "99% within 1s", or "none"')):
                says = (f'objective "{text}"', limit)
                self.refused("queue", "set", "orders", "--objective", text, store=server.url,
                             says=says)
                request = urllib.request.Request(
                    server.url + "/v1/queues/orders", json.dumps({"objective": text}).encode(),
                    {"Content-Type": "application/json"}, method="PUT")
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(request, timeout=60)
                self.assertEqual(refused.exception.code, 400)
                self.assertIn(limit, json.load(refused.exception)["detail"])
                if not text:
                    continue  # a text in the file must not be empty
                file = self.directory / "bad.toml"
                file.write_text(f'[queue."orders"]\nobjective = "{text}"\n', encoding="utf-8")
                answer = self.tarry("config", "check", "--config", str(file), store="", code=2)
                self.assertIn(limit, answer.err + answer.out)


if __name__ == "__main__":
    unittest.main()
