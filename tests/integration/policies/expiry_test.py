#!/usr/bin/env python3
"""Messages that expire: over HTTP, on the command line, in the configuration, an export and the
metrics; and what is refused. The contract suite has the rules."""

import json
import shutil
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from program import ProgramTest, Server
from scrape import scrape

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


class Expiring(ProgramTest):
    """A server whose clock is moved."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:", "--test-clock"))
        self.store = self.server.url

    def test_ends_undelivered_and_says_so(self):
        self.asked("queue", "set", "codes", "--remember", "1d")
        self.asked("push", "codes", "4711", "--key", "a", "--in", "1h", "--expire", "10m")
        self.asked("push", "codes", "4712", "--key", "b")
        shown = self.tarry("get", "codes", "a").out
        told = self.asked("get", "codes", "a")
        self.assertEqual(told["expire_ms"], 600_000)
        self.assertEqual(told["expire_at_ms"], told["due_ms"] + 600_000)
        self.assertIn(told["expire_at"], shown)
        self.assertIn(f"It expires at {told['expire_at']}.", self.tarry("why", "codes", "a").out)
        self.tarry("clock", "advance", "70m")
        claimed = self.asked("claim", "codes", "--max", "10")["messages"]
        self.assertEqual([each["key"] for each in claimed], ["b"])
        told = self.asked("get", "codes", "a")
        self.assertEqual((told["state"], told["settlement"]["how"]), ("remembered", "expired"))
        self.assertIn("It was expired at", self.tarry("why", "codes", "a").out)
        self.assertEqual(self.asked("queue", "info", "codes")["counters"]["expired"], 1)
        self.assertEqual(scrape(self.server).samples[
            "tarry_expired_total", (("queue", "codes"),)], 1)

    def test_an_export_keeps_it_and_an_import_too(self):
        self.asked("push", "q", "x", "--key", "after", "--expire", "9999d")
        self.asked("push", "q", "x", "--key", "at", "--expire-at", "2100-01-01T00:00:00Z")
        self.asked("push", "q", "x", "--key", "never")
        claimed = self.asked("claim", "q")["messages"]
        self.tarry("retry", "q", claimed[0]["receipt"], "--in", "2h")
        file = self.directory / "export.jsonl"
        self.tarry("store", "export", str(file))
        # The queue's own expiry is for pushes, not for what comes from elsewhere.
        other = f"file:{self.directory / 'other'}"
        self.asked("push", "other", "x", store=other)
        self.asked("queue", "set", "q", "--expire", "5m", store=other)
        self.tarry("store", "import", str(file), "--keep-settings", store=other)
        for key in ("after", "at", "never"):
            mine, theirs = (self.asked("get", "q", key, store=store)
                            for store in (self.store, other))
            names = ("expire_ms", "expire_at_ms", "due_ms")
            self.assertEqual([mine.get(name) for name in names],
                             [theirs.get(name) for name in names])

    def test_refuses_in_one_line(self):
        for flags, says in (
                (("--expire", "0s"), ("expire 0s", "36525d")),
                (("--expire", "1h", "--expire-at", "2100-01-01T00:00:00Z"), ("--expire-at",)),
                (("--at", "2100-01-01T00:00:00Z", "--expire-at", "2100-01-01T00:00:00Z"),
                 ("expire_at 2100-01-01T00:00:00.000Z must be after the due time",)),
                (("--expire", "soon"), ("soon",))):
            answer = self.tarry("push", "q", "x", *flags, code=None)
            self.assertIn(answer.code, (1, 2), flags)
            for part in says:
                self.assertIn(part, answer.err)
            self.assertEqual(answer.err.count("\n"), 1, answer.err)
        for body, says in (({"expire": "1h", "expire_at": "2100-01-01T00:00:00Z"}, "expire_at"),
                           ({"expire_ms": 0}, "36525d"), ({"expire_at_ms": 5}, "expire_at_ms")):
            request = urllib.request.Request(
                self.server.url + "/v1/queues/q/messages", json.dumps(body).encode(),
                {"Content-Type": "application/json"})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=60)
            self.assertEqual(refused.exception.code, 400)
            self.assertIn(says, json.load(refused.exception)["detail"])
        file = self.directory / "bad.toml"
        file.write_text('[queue."q"]\non_expiry = "gone"\n', encoding="utf-8")
        answer = self.tarry("config", "check", "--config", str(file), store="", code=2)
        self.assertIn("end", answer.err + answer.out)


class Kept(ProgramTest):
    def test_the_settings_come_from_the_file(self):
        file = self.directory / "tarry.toml"
        file.write_text('[queue."q"]\nexpire = "10m"\non_expiry = "dead"\n', encoding="utf-8")
        with Server(self.store, "--config", str(file)) as server:
            self.asked("push", "q", "x", "--key", "k", store=server.url)
        settings = self.asked("queue", "info", "q")["settings"]
        self.assertEqual((settings["expire_ms"], settings["on_expiry"]), (600_000, "dead"))
        self.assertEqual(self.asked("get", "q", "k")["expire_ms"], 600_000)

    def test_a_store_of_an_older_format_keeps_none(self):
        store = self.directory / "old"
        shutil.copytree(GOLDEN / "journal-v1" / "store", store)
        url = f"file:{store}"
        for command in (("push", "new", "x", "--expire", "1h"),
                        ("queue", "set", "new", "--on-expiry", "dead")):
            answer = self.tarry(*command, store=url, code=None)
            self.assertNotEqual(answer.code, 0)
            self.assertIn("needs a store of format 2; this one has format 1: tarry store upgrade",
                          answer.err)
        self.tarry("store", "upgrade", store=url)
        self.asked("push", "new", "x", "--key", "k", "--expire", "1h", store=url)
        told = self.asked("get", "new", "k", store=url)
        self.assertEqual(told["expire_ms"], 3_600_000)


if __name__ == "__main__":
    unittest.main()
