#!/usr/bin/env python3
"""Takes over existing delay queues in Redis from the command line, while other programs use them.
"""

import os
import subprocess
import unittest
from pathlib import Path

from pages import blocks
from program import CONFLICT, DONE, FAILED, PROGRAM, SOURCE, UNKNOWN, USAGE, ProgramTest, Server
from program import environment
from redis_server import RedisServer


class LayoutTest(ProgramTest):
    """A Redis for each test; its producers and consumers are plain commands."""

    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.redis.start()
        self.addCleanup(self.end_redis)

    def end_redis(self):
        self.redis.shoot()
        self.redis.bury()

    def url(self, options):
        return f"{self.redis.url}?{options}"

    def claimed(self, *words, **more):
        return self.asked("claim", *words, **more)["messages"]


class Plain(LayoutTest):
    def setUp(self):
        super().setUp()
        self.store = self.url("layout=plain&zset=delayqueue")

    def test_take_over(self):
        self.redis.ask("ZADD", "delayqueue", 1000, "task:1", 4000000000000, "task:2")
        listed = self.asked("ls", "delayqueue")["messages"]
        self.assertEqual([(m["key"], m["state"]) for m in listed],
                         [("task:1", "ready"), ("task:2", "scheduled")])
        message, = self.claimed("delayqueue")
        self.assertEqual((message["key"], message["payload"]), ("task:1", "task:1"))
        self.assertEqual(self.claimed("delayqueue"), [])
        self.asked("ack", "delayqueue", message["receipt"])
        self.asked("ack", "delayqueue", message["receipt"], code=CONFLICT)
        self.asked("cancel", "delayqueue", "task:2")
        self.asked("cancel", "delayqueue", "task:2", code=UNKNOWN)
        pushed = self.asked("push", "delayqueue", "task:3", "--in", "30m")
        self.assertEqual(self.redis.ask("ZRANGE", "delayqueue", 0, -1, "WITHSCORES"),
                         ["task:3", str(pushed["due_ms"])])
        self.asked("reschedule", "delayqueue", "task:3", "--at", "2020-01-01T00:00:00Z")
        # The consumer of S1 takes it.
        self.assertEqual(self.redis.ask("ZRANGEBYSCORE", "delayqueue", 0, 1600000000000),
                         ["task:3"])
        self.assertEqual(self.redis.ask("ZREM", "delayqueue", "task:3"), 1)
        self.assertEqual(self.claimed("delayqueue"), [])

    def test_a_claimer_that_is_gone_loses_nothing(self):
        self.redis.ask("ZADD", "delayqueue", 1000, "task")
        first, = self.claimed("delayqueue", "--lease", "200ms")  # the claiming process has ended
        again, = self.claimed("delayqueue", "--wait", "60s")
        self.assertEqual(again["key"], "task")
        self.assertGreaterEqual(again["claimed_ms"], first["claimed_ms"] + 200)
        self.asked("ack", "delayqueue", first["receipt"], code=CONFLICT)
        self.asked("ack", "delayqueue", again["receipt"])
        self.assertEqual(self.redis.ask("DBSIZE"), 0)

    def test_a_relay_says_that_what_its_sink_refuses_comes_again(self):
        self.redis.ask("ZADD", "delayqueue", 1000, "task")
        refused = self.tarry("relay", "delayqueue", "--to", "command", "--max-attempts", "2", "--",
                             "true", code=FAILED)
        self.assertIn("max_attempts 2: this store, redis plain, keeps no dead messages",
                      refused.err)
        with subprocess.Popen([PROGRAM, "relay", "delayqueue", "--to", "command", "--", "sh", "-c",
                               "exit 65"], stderr=subprocess.PIPE, text=True,
                              env=environment(TARRY_STORE=self.store)) as relay:
            self.assertIn("messages are refused for good; the last error: the command exited "
                          "with 65",
                          relay.stderr.readline())
            self.assertRegex(relay.stderr.readline(), "messages cannot be settled in the store; "
                             ".*; the last error: .* it has no place for the dead")
            relay.terminate()
            self.assertIn("buried 0, not settled 1;", relay.stderr.read())
        self.assertEqual(relay.returncode, DONE)

    def test_a_worker_says_what_the_store_refuses(self):
        self.redis.ask("ZADD", "delayqueue", 1000, "task")
        with subprocess.Popen([PROGRAM, "work", "delayqueue", "--", "sh", "-c", "exit 65"],
                              stderr=subprocess.PIPE, text=True,
                              env=environment(TARRY_STORE=self.store)) as worker:
            self.assertRegex(worker.stderr.readline(), "messages cannot be settled in the store; "
                             ".*; the last error: .* it has no place for the dead")
            worker.terminate()
            self.assertIn("buried 0, not settled 0, refused by the store 1;", worker.stderr.read())
        self.assertEqual(worker.returncode, DONE)

    def test_a_killed_worker_loses_nothing(self):
        self.redis.ask("ZADD", "delayqueue", 1000, "task")
        gate = self.directory / "gate"
        os.mkfifo(gate)
        # The handler does not end before the worker does.
        with subprocess.Popen([PROGRAM, "work", "delayqueue", "--lease", "300ms", "--", "sh", "-c",
                               f"cat; cat {gate}"], stdout=subprocess.PIPE,
                              env=environment(TARRY_STORE=self.store)) as worker:
            self.assertEqual(worker.stdout.read(4), b"task")
            worker.kill()
            worker.wait()
            with open(gate, "wb"):
                pass
        message, = self.claimed("delayqueue", "--wait", "60s")
        self.assertEqual(message["key"], "task")

    def test_the_server_serves_it(self):
        with Server(self.store) as server:
            self.redis.ask("ZADD", "delayqueue", 1000, "foreign")
            message, = self.claimed("delayqueue", "--wait", "60s", store=server.url)
            self.assertEqual(message["key"], "foreign")
            self.asked("ack", "delayqueue", message["receipt"], store=server.url)
            self.asked("push", "delayqueue", "ours", store=server.url)
            stats = self.asked("stats", store=server.url)
            self.assertEqual([q["queue"] for q in stats["queues"]], ["delayqueue"])

    def test_seconds_and_several_keys(self):
        store = self.url("layout=plain&zset=dq:{0..3}&unit=s")
        self.redis.ask("ZADD", "dq:2", 1700000000, "past")
        self.redis.ask("ZADD", "dq:0", 4000000000, "future")
        message, = self.claimed("dq", "--max", "10", store=store)
        self.assertEqual((message["key"], message["due_ms"]), ("past", 1700000000000))

    def test_what_it_cannot_is_one_line(self):
        self.refused("push", "delayqueue", "p", "--key", "k", code=FAILED,
                     says=("layout plain", '"k"'))
        self.refused("push", "delayqueue", "p", "--priority", "3", code=FAILED,
                     says=("layout plain", "priority 3"))
        self.refused("push", "delayqueue", "p", "--header", "a=b", code=FAILED, says="headers")
        self.redis.ask("ZADD", "delayqueue", 1000, "task")
        message, = self.claimed("delayqueue")
        self.refused("bury", "delayqueue", message["receipt"], code=FAILED, says="layout plain")
        self.refused("push", "other", "p", code=UNKNOWN, says=("other", "delayqueue"))
        self.assertEqual(self.redis.ask("ZCARD", "delayqueue"), 1)

    def test_bad_urls_are_one_line(self):
        for options, says in (("layout=mine", "native, plain, hash or redisson"),
                              ("zset=z", "layout=native"),
                              ("layout=plain&unit=min", "ms or s"),
                              ("layout=plain&partitions=4", "layout=plain"),
                              ("layout=hash&zset=z", "hash=NAME"),
                              ("layout=plain&zset=z:{9..0}", "backwards")):
            with self.subTest(options):
                self.refused("ls", "q", store=self.url(options), code=USAGE, says=says)
        self.refused("ls", "q", store="redis+cluster://h?layout=plain", code=FAILED,
                     says="one server")


class Hash(LayoutTest):
    def test_take_over(self):
        store = self.url("layout=hash&zset=orders:due&hash=orders:body&queue=orders")
        self.redis.ask("ZADD", "orders:due", 1000, "order:1", 1001, "bodyless")
        self.redis.ask("HSET", "orders:body", "order:1", "one", "stray", "lost")
        message, = self.claimed("orders", "--max", "10", store=store)
        self.assertEqual((message["key"], message["payload"]), ("order:1", "one"))
        self.asked("ack", "orders", message["receipt"], store=store)
        self.assertIn("no body", self.asked("get", "orders", "bodyless", store=store)["reason"])
        self.assertEqual(self.asked("get", "orders", "stray", store=store)["state"], "dead")
        self.asked("push", "orders", "two", "--key", "order:2", "--in", "1h", store=store)
        self.assertEqual(self.redis.ask("HGET", "orders:body", "order:2"), "two")


class Redisson(LayoutTest):
    def test_take_over(self):
        store = self.url("layout=redisson&decode=string")
        pushed = self.asked("push", "dest", "hello", "--in", "1h", store=store)
        entry, = self.redis.ask("LRANGE", "redisson_delay_queue:{dest}", 0, -1)
        self.assertTrue(entry.endswith("hello"))
        self.assertEqual(
            self.redis.ask("ZRANGE", "redisson_delay_queue_timeout:{dest}", 0, -1, "WITHSCORES")[1],
            str(pushed["due_ms"]))
        self.asked("cancel", "dest", pushed["key"], store=store)
        self.redis.ask("RPUSH", "dest", "moved by a Java timer")
        message, = self.claimed("dest", store=store)
        self.assertEqual(message["payload"], "moved by a Java timer")
        self.asked("ack", "dest", message["receipt"], store=store)
        self.assertEqual(self.redis.ask("KEYS", "*"), ["tarry:lease:dest:seen"])


class Guide(LayoutTest):
    """Runs the commands of docs/guide/redis.md on this Redis."""

    def test_a_user_needs_no_more_rights_than_it_says(self):
        text = (SOURCE / "docs/formats/redis-layouts.md").read_text(encoding="utf-8")
        rules = text.split("ACL SETUSER tarry ")[1].split("\n\n")[0].split()
        for layout in ("plain", "hash&hash=bodies:{queue}&zset={queue}", "redisson&decode=string"):
            with self.subTest(layout):
                keys = {"plain": ["~q"],
                        "redisson&decode=string": ["~q", "~redisson_delay_queue*:{q}",
                                                   "&redisson_delay_queue_channel:{q}"]}
                own = keys.get(layout, ["~q", "~bodies:q"])
                self.redis.ask("ACL", "SETUSER", "tarry", "reset", *rules, *own)
                url = self.redis.url + f"?layout={layout}&user=tarry&password_file=pw"
                (self.directory / "pw").write_text("PASSWORD\n")
                pushed = self.asked("push", "q", "one", store=url)
                message, = self.claimed("q", "--wait", "10s", store=url)
                self.assertEqual(message["payload"], "one")
                self.asked("retry", "q", message["receipt"], "--in", "1h", store=url)
                self.asked("ls", "q", store=url)
                self.asked("get", "q", pushed["key"], store=url)
                self.asked("queue", "info", "q", store=url)
                self.asked("reschedule", "q", pushed["key"], "--in", "2h", store=url)
                self.asked("cancel", "q", pushed["key"], store=url)
                self.asked("push", "q", "two", store=url)
                message, = self.claimed("q", "--wait", "10s", store=url)
                self.asked("ack", "q", message["receipt"], store=url)
                self.redis.ask("DEL", "q")

    def test_they_run(self):
        programs = self.directory / "bin"
        programs.mkdir()
        client = programs / "redis-cli"
        client.write_text(f'#!/bin/sh\nexec /usr/bin/redis-cli -s {self.redis.socket} "$@"\n')
        client.chmod(0o755)
        path = f"{programs}:{Path(PROGRAM).parent}:{os.environ['PATH']}"
        marked = [text for mark, _, text in blocks("docs/guide/redis.md") if mark == "run redis"]
        expected = (("task:1", "task:3"), ("1\n1",), ('{"total":3}', '{"total":4}', "rescheduled"),
                    ("cancelled", "from a Java timer"))
        self.assertEqual(len(marked), len(expected))
        for text, says in zip(marked, expected):
            text = text.replace("redis://127.0.0.1:6379/0?", self.redis.url + "?")
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True,
                                  text=True, timeout=100, cwd=self.directory, check=False,
                                  env=environment(PATH=path))
            self.assertEqual(done.returncode, DONE, f"{text}\n{done.stdout}\n{done.stderr}")
            for word in says:
                self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
