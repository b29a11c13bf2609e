#!/usr/bin/env python3
"""SIGKILL of `tarry store migrate` at random moments, again and again until it completes. Then
every message is there once, unchanged. TARRY_CRASH_SEED repeats the choices of a run,
TARRY_CRASH_ROUNDS makes it longer.
"""

import json
import os
import random
import subprocess
import tempfile
import time
import unittest

from redis_server import RedisServer
from server import FAILURE_SECONDS, PROGRAM, Daemon, environment

MESSAGES = 12_000
LONGEST = 0.2  # seconds until a kill; a whole run takes about half a second
KILLS = 10  # at most, for one direction
FORGETS = ("id", "kept_until", "kept_until_ms")  # fields that each store sets itself


def tarry(store, *words, stdin=""):
    """Runs the program; returns its JSON."""
    finished = subprocess.run([PROGRAM, "--store", store, "-o", "json", *words], input=stdin,
                              capture_output=True, text=True, timeout=FAILURE_SECONDS,
                              env=environment(), check=False)
    assert finished.returncode == 0, (words, finished.returncode, finished.stderr)
    return json.loads(finished.stdout)


def fill(store, rng):
    lines = []
    for i in range(MESSAGES):
        line = {"payload": f"payload {i}", "delay": f"{rng.randrange(3600, 90000)}s",
                "priority": rng.choice((1024, 1024, 7))}
        if i % 2:
            line["key"] = f"key {i}"
        lines.append(json.dumps(line))
    for queue in ("orders", "mails"):
        tarry(store, "push", queue, "--jsonl", "-",
              stdin="\n".join(lines[0::2] if queue == "orders" else lines[1::2]))
        # Some messages that were tried, and some that are dead.
        for i in range(20):
            tarry(store, "push", queue, f"tried {i}", "--priority", "1")
            receipt = tarry(store, "claim", queue)["messages"][0]["receipt"]
            if i % 2:
                tarry(store, "retry", queue, receipt, "--in", "5h")
            else:
                tarry(store, "bury", queue, receipt, "--reason", f"reason {i}")


def all_of(store):
    """(queue, key) -> every field of the message; each message once."""
    found = {}
    for queue in tarry(store, "queue", "ls")["queues"]:
        name = queue["queue"]
        for message in tarry(store, "ls", name, "--limit", "10000")["messages"]:
            assert (name, message["key"]) not in found, message
            # Redis keeps only the minute of a push time.
            message["pushed"] = message.pop("pushed_ms") // 60_000
            found[name, message["key"]] = {field: value for field, value in message.items()
                                           if field not in FORGETS}
    return found


def is_made(store):
    """The first run that opens a file store makes it; that run may have been killed before."""
    return not store.startswith("file:") or os.path.exists(f"{store[len('file:'):]}/STORE")


class Mover:
    """Runs a migration, and kills it meanwhile."""

    def __init__(self, rng):
        self._rng = rng
        self.kills = 0
        self.in_both = 0

    def move(self, source, target, look):
        """Repeats the migration until it completes. Calls `look` after each kill."""
        words = [PROGRAM, "-o", "json", "store", "migrate", source, target]
        for _ in range(KILLS):
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=environment())
            try:
                out, err = process.communicate(timeout=self._rng.uniform(0.01, LONGEST))
                assert process.returncode == 0, err
                return json.loads(out)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                self.kills += 1
                look()
        finished = subprocess.run(words, capture_output=True, timeout=FAILURE_SECONDS,
                                  env=environment(), check=False)
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)


class MigrateKill(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tarry-crash-")
        self.addCleanup(directory.cleanup)
        self.path = directory.name
        self.redis = RedisServer(parent=self.path)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.server = Daemon("memory:", parent=self.path)
        self.addCleanup(self.server.close)
        self.server.start()

    def look(self, before, source, target, mover):
        """Between two runs: no message is lost, and a message that is in both stores is delivered
        in neither."""
        here = all_of(source)
        there = all_of(target) if is_made(target) else {}
        self.assertEqual(before.keys() - here.keys() - there.keys(), set())
        twice = here.keys() & there.keys()
        mover.in_both += len(twice)
        for store in (source, target) if twice else ():
            held = {queue["queue"] for queue in tarry(store, "queue", "ls")["queues"]
                    if queue["paused"]}
            self.assertLessEqual({queue for queue, _ in twice}, held)

    def test_killed_until_it_is_done(self):
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        rounds = int(os.environ.get("TARRY_CRASH_ROUNDS", 1))
        print(f"\nTARRY_CRASH_SEED={seed}", flush=True)
        rng = random.Random(seed)
        mover = Mover(rng)
        store = f"file:{self.path}/first"
        fill(store, rng)
        before = all_of(store)
        self.assertEqual(len(before), MESSAGES + 40)
        for turn in range(rounds):
            served = f"http://127.0.0.1:{self.server.port}"
            ways = [(store, self.redis.url), (self.redis.url, served),
                    (served, f"file:{self.path}/next-{turn}")]
            for source, target in ways:
                started = time.monotonic()
                done = mover.move(source, target,
                                  lambda s=source, t=target: self.look(before, s, t, mover))
                self.assertTrue(done["complete"], done)
                self.assertEqual(all_of(target), before)
                self.assertEqual(all_of(source), {})
                for name in ("orders", "mails"):
                    for end in (source, target):
                        self.assertFalse(tarry(end, "queue", "info", name)["paused"])
                self.assertTrue(tarry(target, "store", "audit")["balanced"])
                print(f"  {source.split(':')[0]} to {target.split(':')[0]}: {mover.kills} kills, "
                      f"{mover.in_both} in both, {time.monotonic() - started:.1f} s", flush=True)
            store = ways[-1][1]
        # A run in which the migration was never killed has not tested anything.
        self.assertGreaterEqual(mover.kills, 2 * rounds)


if __name__ == "__main__":
    unittest.main()
