#!/usr/bin/env python3
"""Relays share a queue's shards, by leases in Redis and by a real ZooKeeper. They share evenly;
after one of them is killed, the others serve all shards; and a relay that was stopped settles
nothing a second time.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from program import DONE, PROGRAM, SOURCE, ProgramTest, environment, eventually
from redis_server import RedisServer
from zookeeper_server import ZooKeeperServer

SHARDS = 12
SESSION_SECONDS = 2
SHARE = re.compile(r"(\d+) of (\d+) shards are its own; (\d+) relay")


class Member:
    """A `tarry relay q`, and its log lines about its share."""

    def __init__(self, *words):
        self._heard = threading.Condition()
        self.share = None  # (its own shards, all shards, relays)
        self.lines = []
        self.process = subprocess.Popen(
            [PROGRAM, "-o", "json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment())
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with self.process.stderr as lines:
            for line in lines:
                found = SHARE.search(line)
                with self._heard:
                    self.lines.append(line.rstrip())
                    if found:
                        self.share = tuple(int(number) for number in found.groups())
                    self._heard.notify_all()

    def await_share(self, own, relays):
        with self._heard:
            if not self._heard.wait_for(lambda: self.share == (own, SHARDS, relays), 60):
                raise AssertionError(f"has {self.share}, not {own} of {relays}: {self.lines}")

    def await_line(self, pattern):
        with self._heard:
            if not self._heard.wait_for(
                    lambda: any(re.search(pattern, line) for line in self.lines), 60):
                raise AssertionError(f"no {pattern} in {self.lines}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out = self.process.stdout.read()
        code = self.process.wait(60)
        self._reader.join()
        if code != DONE:
            raise AssertionError(f"{code}: {self.lines}")
        return json.loads(out)

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        self._reader.join()
        self.process.stdout.close()


class Coordinated:
    """Tests for both kinds of coordination. A mixin, so that it is no test of its own."""

    def begin(self):
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.store = f"{self.redis.url}?shards={SHARDS}"
        self.asked("queue", "set", "q", "--lease", "1s", store=self.store)

    def member(self, *sink):
        member = Member("--store", self.store, "relay", "q", "--coordination", self.coordination(),
                        "--session", f"{SESSION_SECONDS}s", *sink)
        self.addCleanup(member.kill)
        return member

    def drain(self):
        return self.member("--to", f"{self.redis.url}?list=out")

    def push(self, first, count):
        lines = "".join(json.dumps({"key": f"k{i}", "payload": "x"}) + "\n"
                        for i in range(first, first + count))
        self.asked("push", "q", "--jsonl", "-", store=self.store, stdin=lines.encode())

    def arrived(self):
        return [json.loads(line)["key"] for line in self.redis.ask("LRANGE", "out", 0, -1)]

    def test_shards_of_one_that_is_killed_drain_again(self):
        members = [self.drain() for _ in range(3)]
        for member in members:
            member.await_share(4, 3)
        self.push(0, 240)
        eventually(lambda: len(self.arrived()) >= 240, "all have arrived")
        eventually(lambda: self.counters()["acked"] == 240, "all are acked")
        members[1].process.kill()
        killed = time.monotonic()
        self.push(240, 240)
        eventually(lambda: len(self.arrived()) >= 480, "all have arrived again")
        print(f"{self.coordination().split(':')[0]}: after {time.monotonic() - killed:.2f} s all "
              f"{SHARDS} shards had drained; the session is {SESSION_SECONDS} s", file=sys.stderr)
        self.assertEqual(sorted(self.arrived()), sorted(f"k{i}" for i in range(480)))
        members[0].await_share(6, 2)
        members[2].await_share(6, 2)
        members[0].stop()
        members[2].await_share(12, 1)
        self.assertEqual(members[2].stop()["buried"], 0)

    def counters(self):
        return self.asked("queue", "info", "q", store=self.store)["counters"]

    def test_one_that_was_stopped_wakes_up_to_a_claim_that_is_another_s(self):
        pipe = Path(self.directory) / "go"
        os.mkfifo(pipe)
        slow = self.member("--to", "command", "--", "sh", "-c", f"read go < {pipe}")
        slow.await_share(12, 1)
        self.push(0, 1)
        eventually(lambda: self.counters()["claims"] == 1, "it has the message")
        slow.process.send_signal(signal.SIGSTOP)
        other = self.drain()
        other.await_share(12, 1)
        eventually(lambda: self.counters()["acked"] == 1, "the other one has delivered it")
        slow.process.send_signal(signal.SIGCONT)
        slow.await_share(6, 2)
        with open(pipe, "w", encoding="ascii") as go:
            go.write("go\n")
        stats = slow.stop()
        self.assertEqual((stats["acked"], stats["stale"]), (0, 1))
        other.await_share(12, 1)
        self.assertEqual(other.stop()["acked"], 1)
        self.assertEqual(self.counters()["acked"], 1)


class Leases(Coordinated, ProgramTest):
    def setUp(self):
        super().setUp()
        self.begin()

    def coordination(self):
        return "redis"

    def test_the_guide(self):
        text = (SOURCE / "docs/guide/relays.md").read_text(encoding="utf-8")
        command = re.search(r"<!-- coordination -->\n```sh\n(.*?)```", text, re.DOTALL).group(1)
        words = shlex.split(command.replace("redis://127.0.0.1/0", self.redis.url))
        self.assertEqual(words[0], "tarry")
        member = Member(*words[1:])
        self.addCleanup(member.kill)
        member.await_line("1 of 1 shards are its own; 1 relay has them")
        self.asked("push", "orders", "x", store=self.redis.url)
        eventually(lambda: self.redis.ask("XLEN", "due-orders") == 1, "it is handed on")
        self.assertEqual(member.stop()["confirmed"], 1)

    def test_a_lease_lasts_as_long_as_the_session(self):
        self.assertLessEqual(self.lease_left_ms("2s"), 2_000)
        # This is also the length without the flag.
        self.assertGreater(self.lease_left_ms("5m"), 10_000)

    def lease_left_ms(self, session):
        queue = f"lasts.{session}"
        self.asked("queue", "set", queue, "--lease", "1s", store=self.store)
        member = Member("--store", self.store, "relay", queue, "--to", "stdout", "--coordination",
                        "redis", "--session", session)
        self.addCleanup(member.kill)
        member.await_share(SHARDS, 1)
        return self.redis.lease_left_ms(queue)

    def test_two_stores_behind_one_url_are_two_groups(self):
        other = RedisServer()
        self.addCleanup(other.close)
        other.start()
        # A name that leads to different places, as 127.0.0.1 does.
        path = self.directory / "redis.sock"
        store = f"redis+unix://{path}?shards={SHARDS}"
        for server in (self.redis, other):
            path.unlink(missing_ok=True)
            path.symlink_to(server.socket)
            self.asked("queue", "set", "q", "--lease", "2s", store=store)
            self.share(store).await_share(SHARDS, 1)
        # Two relays may also share one store.
        self.share(self.redis.url).await_share(SHARDS // 2, 2)

    def share(self, store):
        member = Member("--store", store, "relay", "q", "--to", "stdout", "--coordination",
                        self.redis.url)
        self.addCleanup(member.kill)
        return member

    def test_it_needs_a_redis(self):
        for how, why in (
                ("redis", 'redis needs a store in Redis, which "memory:" is not'),
                ("etcd", '"etcd" must be all, redis, redis://HOST or zookeeper://HOST'),
                ("zookeper://host", 'did you mean "zookeeper"?'),
                ("zookeeper:host", "must be written zookeeper://HOST"),
                ("zookeeper://", "host"),
                ("zookeeper://host/a//b", '"/a//b" is no path'),
                ("redis://host:0", "port")):
            with self.subTest(how):
                store = "memory:" if how == "redis" else self.redis.url
                self.refused("relay", "q", "--to", "stdout", "--coordination", how, store=store,
                             says=why)
        for how in ("redis://host", "zookeeper://host"):
            self.refused("relay", "q", "--to", "stdout", "--coordination", how, store="memory:",
                         says=f'"{how}" needs a store that several processes can open; '
                              '"memory:" is not one')
        self.refused("relay", "q", "--to", "stdout", "--coordination", "all", "--session", "10ms",
                     store="memory:", says="session 10ms must be from 1s to 10m")


class Ephemerals(Coordinated, ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.zookeeper = ZooKeeperServer()
        cls.addClassCleanup(cls.zookeeper.close)
        cls.zookeeper.start()

    def setUp(self):
        super().setUp()
        self.begin()

    def coordination(self):
        return self.zookeeper.url

    def test_the_session_is_as_long_as_it_was_asked_for(self):
        for milliseconds in (2000, 5000):
            with self.subTest(milliseconds):
                member = Member("--store", self.store, "relay", "q", "--to",
                                f"{self.redis.url}?list=out", "--coordination",
                                self.coordination(), "--session", f"{milliseconds}ms")
                self.addCleanup(member.kill)
                member.await_share(SHARDS, 1)
                self.assertIn(milliseconds, self.zookeeper.sessions_ms())
                member.stop()

    def test_one_that_goes_and_comes_back(self):
        member = self.drain()
        member.await_share(12, 1)
        self.zookeeper.kill()
        member.await_line("cannot be reached: .*; the relay keeps the shards that it has")
        self.push(0, 24)
        eventually(lambda: len(self.arrived()) == 24, "it goes on")
        self.zookeeper.start()
        member.await_line("is back")
        other = self.drain()
        other.await_share(6, 2)
        member.await_share(6, 2)
        other.stop()
        member.stop()


if __name__ == "__main__":
    unittest.main()
