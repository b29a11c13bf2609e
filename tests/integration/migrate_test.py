#!/usr/bin/env python3
"""tarry store migrate: what one store holds is in the other then, from file: to redis: and back."""

import json
import signal
import subprocess
import sys
import unittest

from program import (CONFLICT, FAILED, PROGRAM, SOURCE, UNKNOWN, UNREACHABLE, USAGE, ProgramTest,
                     Server, environment, eventually)

sys.path.append(str(SOURCE / "tests" / "crash"))
from redis_server import RedisServer  # noqa: E402

FORGETS = ("id", "kept_until", "kept_until_ms")  # a store's own


class Migrate(ProgramTest):
    """With a real redis-server between two file stores."""

    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.other = f"file:{self.directory}/other"

    def fill(self, store=None):
        """All that a message may have been through, in two queues."""
        lines = [{"key": f"k:{i}", "payload": f"p{i}", "due": "2099-01-31T09:00:00Z",
                  "headers": {"n": str(i)}, "priority": 1000 + i % 50} for i in range(1200)]
        lines += [{"payload_base64": "/wA=", "delay": f"{i + 1}h", "max_attempts": 3}
                  for i in range(300)]
        self.tarry("push", "orders", "--jsonl", "-", store=store,
                   stdin="\n".join(map(json.dumps, lines)).encode())
        for key in ("dead", "tried", "released"):
            self.tarry("push", "orders", "x", "--key", key, "--priority", "1", store=store)
            receipt = self.asked("claim", "orders", store=store)["messages"][0]["receipt"]
            self.tarry({"dead": "bury", "tried": "retry", "released": "release"}[key], "orders",
                       receipt, store=store, *({"dead": ["--reason", "no good"],
                                                "tried": ["--in", "3h"]}.get(key, [])))
        self.tarry("push", "mails", "y", store=store)

    def all_of(self, store):
        """Queue -> key -> all that is told of the message."""
        found = {}
        for queue in ("orders", "mails"):
            listed = self.asked("ls", queue, "--limit", "10000", store=store)["messages"]
            keys = [message["key"] for message in listed]
            found[queue] = {}
            for first in range(0, len(keys), 500):
                # Twice the first: the answer is a list even where one message is left.
                chunk = keys[first:first + 500]
                told = self.asked("get", queue, *chunk, chunk[0], store=store)["results"][:-1]
                for message in told:
                    found[queue][message["key"]] = {
                        name: value for name, value in message.items() if name not in FORGETS}
        return found

    def migrate(self, *words, code=0):
        return self.asked("store", "migrate", *words, code=code, store="")

    def test_file_to_redis_and_back(self):
        self.fill()
        before = self.all_of(self.store)
        self.assertEqual(len(before["orders"]), 1503)
        self.assertEqual(before["orders"]["dead"]["reason"], "no good")
        self.assertEqual(before["orders"]["tried"]["attempt"], 1)
        settings = self.asked("queue", "info", "orders")["settings"]
        for source, target in ((self.store, self.redis.url), (self.redis.url, self.other)):
            told = self.migrate(source, target)
            self.assertTrue(told["complete"], told)
            self.assertEqual({queue["queue"]: queue["moved"] for queue in told["queues"]},
                             {"orders": 1503, "mails": 1})
            self.assertEqual(self.all_of(target), before)
            self.assertEqual(self.all_of(source), {"orders": {}, "mails": {}})
            for store in (source, target):
                self.assertTrue(self.asked("store", "audit", store=store)["balanced"])
                self.assertFalse(self.asked("queue", "info", "orders", store=store)["paused"])
            self.assertEqual(self.asked("queue", "info", "orders", store=target)["settings"],
                             settings)
        # What it was handed out as there is claimed here.
        claimed = self.asked("claim", "mails", store=self.other)["messages"]
        self.assertEqual([message["payload"] for message in claimed], ["y"])

    def test_what_is_leased_is_left_and_said(self):
        for key in ("a", "b"):
            self.tarry("push", "orders", "x", "--key", key)
        receipt = self.asked("claim", "orders", "--lease", "1h")["messages"][0]["receipt"]
        answer = self.tarry("store", "migrate", self.store, self.redis.url, code=CONFLICT, store="")
        self.assertIn('queue "orders": 1 messages are out at consumers', answer.err)
        self.tarry("release", "orders", receipt)
        told = self.migrate(self.store, self.redis.url)
        self.assertTrue(told["complete"], told)
        self.assertEqual(len(self.asked("ls", "orders", store=self.redis.url)["messages"]), 2)

    def test_ctrl_c_stops_it_and_it_goes_on(self):
        """It waits for a claim to end, and is stopped meanwhile."""
        self.tarry("push", "orders", "x", store=self.redis.url)
        receipt = self.asked("claim", "orders", "--lease", "1h",
                             store=self.redis.url)["messages"][0]["receipt"]
        with subprocess.Popen([PROGRAM, "store", "migrate", self.redis.url, self.other, "--wait",
                               "1h"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment()) as process:
            eventually(lambda: process.poll() is not None or
                       self.asked("queue", "info", "orders", store=self.redis.url)["paused"],
                       "it has begun")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, FAILED, err)
        self.assertIn("run the same command again to go on", err)
        self.assertIn("in both", out)
        for store in (self.redis.url, self.other):
            self.assertTrue(self.asked("queue", "info", "orders", store=store)["paused"])
        self.tarry("release", "orders", receipt, store=self.redis.url)
        self.assertTrue(self.migrate(self.redis.url, self.other)["complete"])
        self.assertFalse(self.asked("queue", "info", "orders", store=self.other)["paused"])

    def test_a_dry_run_counts(self):
        self.fill()
        before = self.all_of(self.store)
        told = self.migrate(self.store, self.redis.url, "--dry-run")
        self.assertEqual({(queue["queue"], queue["moved"], queue["dead"])
                          for queue in told["queues"]}, {("mails", 1, 0), ("orders", 1503, 1)})
        self.assertEqual(self.all_of(self.store), before)
        self.assertEqual(self.redis.ask("DBSIZE"), 0)

    def test_only_one_queue(self):
        self.fill()
        told = self.migrate(self.store, self.redis.url, "--queue", "mails")
        self.assertEqual([queue["queue"] for queue in told["queues"]], ["mails"])
        self.assertEqual(len(self.all_of(self.store)["orders"]), 1503)
        self.tarry("store", "migrate", self.store, self.redis.url, "--queue", "nothing",
                   code=UNKNOWN, store="")

    def test_a_full_redis_ends_it_and_it_goes_on(self):
        self.fill()
        before = self.all_of(self.store)
        self.asked("queue", "ls", store=self.redis.url)  # which makes the store
        self.redis.ask("CONFIG", "SET", "maxmemory", self.redis.info("used_memory") + 250_000)
        answer = self.tarry("store", "migrate", self.store, self.redis.url, code=FAILED, store="")
        self.assertRegex(answer.err, r'tarry: redis\+unix:\S+, queue "\w+": Redis at \S+ is full')
        self.assertIn("run the same command again", answer.err)
        self.redis.ask("CONFIG", "SET", "maxmemory", 0)
        self.assertTrue(self.migrate(self.store, self.redis.url)["complete"])
        self.assertEqual(self.all_of(self.redis.url), before)

    def test_bad_ends_are_refused(self):
        self.tarry("push", "orders", "x", "--in", "1h")
        refused = (("memory:", USAGE, '"memory:"'), ("nonsense", USAGE, "nonsense"),
                   ("redis+unix:///nowhere.sock", UNREACHABLE, "/nowhere.sock"))
        for target, code, says in refused:
            self.refused("store", "migrate", self.store, target, code=code, says=says, store="")
        self.refused("store", "migrate", f"file:{self.directory}/nothing", self.redis.url,
                     code=UNREACHABLE, says="nothing", store="")
        self.refused("store", "migrate", self.store, self.store, code=UNREACHABLE, store="")
        self.refused("store", "migrate", self.store, code=USAGE, says="TO", store="")
        with Server("memory:") as server:
            for ends in ((server.url, self.other), (self.store, server.url)):
                answer = self.tarry("store", "migrate", *ends, code=FAILED, store="")
                self.assertIn(server.url, answer.err)
                self.assertIn("over HTTP", answer.err)
        layout = self.redis.url + "?layout=plain"
        for words in ((layout, self.other), (layout, self.other, "--dry-run"),
                      (self.store, layout)):
            answer = self.tarry("store", "migrate", *words, code=FAILED, store="")
            self.assertIn("layout plain cannot be migrated", answer.err)
        self.assertFalse(self.asked("queue", "info", "orders")["paused"])
        self.tarry("push", "orders", "x", store=self.redis.url)
        same = self.tarry("store", "migrate", self.redis.url, self.redis.url + "?shards=1",
                          code=CONFLICT, store="")
        self.assertIn("are the same store", same.err)
        self.assertEqual(len(self.asked("ls", "orders")["messages"]), 1)
        self.assertFalse(self.asked("queue", "info", "orders", store=self.redis.url)["paused"])


if __name__ == "__main__":
    unittest.main()
