#!/usr/bin/env python3
"""The inbox, as producers in other languages use it: the guide's examples, unchanged, and drainers
that are killed while they work.
"""

import os
import random
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from own_redis import Redis
from pages import blocks, page
from program import PROGRAM, UNKNOWN, Server, environment, eventually

# Debian's python, which has python3-redis; the tests themselves may run on another one.
PYTHON = "/usr/bin/python3"
GUIDE = "docs/guide/redis.md"


class Guide(Redis):
    """Runs every block of the guide that is marked `run`, in order."""

    def run_block(self, language, text):
        words = ["bash", "-euo", "pipefail", "-c"] if language == "sh" else [PYTHON, "-c"]
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        finished = subprocess.run([*words, text], capture_output=True, text=True, timeout=100,
                                  env=environment(PATH=path, TARRY_STORE=self.store), check=False)
        self.assertEqual(finished.returncode, 0, f"{text}\n{finished.stdout}\n{finished.stderr}")
        return finished.stdout

    def test_examples(self):
        shell, python, bad = [(language, text) for mark, language, text in blocks(GUIDE)
                              if mark == "run"]
        self.assertEqual([shell[0], python[0], bad[0]], ["sh", "python", "sh"])
        with Server(self.store) as server:
            self.assertRegex(self.run_block(*shell), r"order:42 .*close order 42")

            self.run_block(*python)
            claimed, = self.asked("claim", "orders", "--max", "10", "--wait", "30s")["messages"]
            self.assertEqual((claimed["key"], claimed["payload"]), ("order:43", "close order 43"))
            self.assertEqual(claimed["headers"], {"shop": "berlin"})
            eventually(lambda: self.left() == 0, "the inbox is empty")
            self.refused("get", "orders", "order:44", code=UNKNOWN)

            self.assertEqual(self.run_block(*bad).split(), ["0"])
            entry = self.add("queue", "orders", "payload", "hello", "delay", "soon")
            eventually(lambda: self.left() == 0, "the inbox is empty")
            told = self.run_block(*bad).split("\n")
            self.assertEqual(told[0], "1")
            self.assertEqual(told[2:4], ["entry", entry])
            shown, = re.findall(r'4\) "(delay duration .*)"', page(GUIDE))
            self.assertEqual(told[5], shown.replace("\\", ""))
            eventually(lambda: "tarry:{0}:in:bad" in server.log(), "it is logged")
            self.assertIn(entry, server.log())

    def test_the_producers_user(self):
        rule, = re.findall(r"(ACL SETUSER shop .*)", page(GUIDE))
        self.redis.ask(*rule.split())
        producer = f"""
import redis
store = redis.Redis.from_url("{self.store}", username="shop", password="PASSWORD")
store.xadd("tarry:{{3}}:in", {{"queue": "orders", "key": "k", "payload": "p"}})
store.publish("tarry:{{3}}:wake", "in")
for forbidden in (lambda: store.xlen("tarry:{{3}}:in"),
                  lambda: store.xadd("tarry:{{3}}:heads", {{"a": 1}}),
                  lambda: store.xadd("tarry:{{3}}:in:bad", {{"a": 1}})):
    try:
        forbidden()
    except redis.exceptions.NoPermissionError:
        continue
    raise SystemExit("allowed")
"""
        self.run_block("python", producer)
        claimed, = self.asked("claim", "orders", "--wait", "30s")["messages"]
        self.assertEqual(claimed["key"], "k")

    def test_the_stores_user(self):
        self.redis.ask(*self.asked("store", "acl")["command"].split())
        port = self.store.rpartition(":")[2]
        store = f"redis://tarry:PASSWORD@127.0.0.1:{port}"
        self.add("queue", "orders", "payload", "p", "key", "k")
        self.add("queue", "orders", "payload", "p", "delay", "soon")
        claimed, = self.asked("claim", "orders", "--wait", "30s", store=store)["messages"]
        self.assertEqual(claimed["key"], "k")
        with Server(store):
            eventually(lambda: self.left() == 0, "the inbox is empty")
        self.assertEqual(self.redis.ask("XLEN", "tarry:{0}:in:bad"), 1)


class Killed(Redis):
    """The drainers, or Redis, are killed again and again; each entry must be carried out once."""

    words = ("--appendonly", "yes", "--appendfsync", "always")
    in_hand = 1_000
    kills = 4
    most_rounds = 60

    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        print(f"TARRY_CRASH_SEED={seed}", file=sys.stderr)
        self.chosen = random.Random(seed)
        self.pushes = 0

    def fill(self):
        """Adds pushes without keys, so that a repeated one would show."""
        count = self.in_hand - self.left()
        self.redis.ask("EVAL", "for i = 0, ARGV[1] - 1 do redis.call('XADD', KEYS[1], '*', "
                       "'queue', 'orders', 'payload', string.format('%.0f', ARGV[2] + i)) end",
                       1, "tarry:{0}:in", count, self.pushes)
        self.pushes += count

    def kill_midway(self, kill):
        """Kills until this has happened often enough while some entries were taken, but not all."""
        hits = 0
        for _ in range(self.most_rounds):
            self.fill()
            bound = self.in_hand - self.chosen.randrange(1, self.in_hand // 2)
            kill(lambda at=bound: eventually(lambda: self.left() <= at, "it is drained"))
            hits += 0 < self.left() < self.in_hand
            if hits == self.kills:
                return
        self.fail(f"{hits} kills hit in {self.most_rounds} rounds")

    def check(self):
        eventually(lambda: self.left() == 0, "the inbox is empty")
        messages = self.asked("claim", "orders", "--max", "10000")["messages"]
        while more := self.asked("claim", "orders", "--max", "10000")["messages"]:
            messages += more
        self.assertEqual(sorted(int(message["payload"]) for message in messages),
                         list(range(self.pushes)))
        self.assertEqual(self.redis.ask("XLEN", "tarry:{0}:in:bad"), 0)

    def test_drainers_are_killed(self):
        def kill(wait):
            server = Server(self.store, cwd=self.directory)
            try:
                wait()
            finally:
                server.stop(signal.SIGKILL)

        self.kill_midway(kill)
        with Server(self.store, cwd=self.directory):
            self.check()

    def test_redis_is_killed(self):
        def kill(wait):
            wait()
            self.redis.shoot()
            self.redis.bury()
            self.redis.start()

        with Server(self.store, cwd=self.directory):
            self.kill_midway(kill)
            self.check()


if __name__ == "__main__":
    unittest.main()
