#!/usr/bin/env python3
"""The commands of the guide and of the reference that need servers, or an existing store."""

import os
import signal
import subprocess
import unittest
from pathlib import Path

from own_redis import Redis
from pages import blocks, with_places
from program import PROGRAM, UNKNOWN, ProgramTest, Server, environment, eventually
from redis_cluster import Cluster
from redis_family import Family

REDIS = "docs/guide/redis.md"
REFERENCE = "docs/reference/command-line.md"


def block(name, mark):
    """The only block of the page with this mark."""
    text, = [text for its, _, text in blocks(name) if its == mark]
    return text


class Shell:
    """Runs blocks as a user would, with real servers and paths in place of the page's."""

    def variables(self):
        return environment(PATH=f"{Path(PROGRAM).parent}:{os.environ['PATH']}")

    def shell(self, text, **places):
        instead = places.pop("instead", {})
        for shown in instead:
            self.assertIn(shown, text)
        text = with_places(text, instead)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True,
                              text=True, timeout=200, cwd=self.directory, check=False,
                              env=self.variables() | places)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def console(self, text, **variables):
        """Runs one command; its output must be exactly that of the page."""
        self.assertTrue(text.startswith("$ "))
        command, said = text[2:].split("\n", 1)
        self.assertEqual(self.shell(command, **variables), said)


class OnRedis(Shell, Redis):
    def instead(self):
        return {"redis://127.0.0.1:6379/0": self.store}

    def test_a_worker(self):
        script = self.directory / "close-order"
        script.write_text('#!/bin/sh\necho "$TARRY_KEY: $(cat)"\n')
        script.chmod(0o755)
        lines = block(REDIS, "on redis").replace("redis://127.0.0.1:6379/0", self.store)
        self.assertIn(self.store, lines)
        first, work = lines.rstrip("\n").rsplit("\n", 1)
        with subprocess.Popen(["bash", "-euc", f"{first} >&2\nexec {work}"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              cwd=self.directory, env=self.variables()) as worker:
            eventually(lambda: self.asked("queue", "ls")["queues"]
                       and "order:42" in self.tarry("ls", "orders").out, "it is pushed")
            self.asked("reschedule", "orders", "order:42", "--in", "0s")
            self.assertEqual(worker.stdout.readline(), "order:42: close order 42\n")
            worker.send_signal(signal.SIGINT)
            self.assertEqual(worker.wait(timeout=60), 0)
        self.refused("get", "orders", "order:42", code=UNKNOWN)

    def test_moving_there(self):
        old = f"file:{self.directory}/tarry"
        self.asked("push", "orders", "a lamp", "--key", "order:1", "--in", "1h", store=old)
        due = self.asked("get", "orders", "order:1", store=old)["due"]
        self.shell(block(REDIS, "to redis"),
                   instead={"file:/var/lib/tarry": old} | self.instead())
        self.assertEqual(self.asked("get", "orders", "order:1")["due"], due)

    def test_moving_from_a_layout(self):
        self.redis.ask("ZADD", "tasks", 4000000000000, "task:2")
        self.shell(block(REDIS, "from a layout"),
                   instead={"redis://127.0.0.1:6379/0": self.store})
        self.assertEqual(self.redis.ask("EXISTS", "tasks"), 0)
        self.assertIn("task:2", self.tarry("ls", "tasks").out)

    def test_migrate_of_the_reference(self):
        to_redis, to_server = block(REFERENCE, "migrate").splitlines()
        old = f"file:{self.directory}/tarry"
        self.asked("push", "orders", "a lamp", "--key", "order:1", "--in", "1h", store=old)
        self.shell(to_redis, instead={"file:/var/lib/tarry": old,
                                      "redis://127.0.0.1/0": self.store})
        with Server(self.store) as here, Server("memory:") as there:
            self.shell(to_server, instead={"http://127.0.0.1:7734": here.url,
                                           "http://127.0.0.1:7733": there.url})
            self.assertEqual(self.asked("get", "orders", "order:1", store=there.url)["payload"],
                             "a lamp")
            self.refused("get", "orders", "order:1", store=here.url, code=UNKNOWN)


class OnMany(Shell, ProgramTest):
    def test_reshard(self):
        cluster = Cluster(parent=self.directory)
        self.addCleanup(cluster.close)
        cluster.start()
        self.asked("push", "orders", "a lamp", "--key", "order:1", "--in", "1h", store=cluster.url)
        told = self.shell(block(REDIS, "on a cluster"),
                          instead={"redis+cluster://10.0.0.1": cluster.url})
        self.assertEqual(told, "queue orders has 4 shards now; it had 1\n")
        self.asked("get", "orders", "order:1", store=cluster.url)

    def test_sentinel(self):
        family = Family(parent=self.directory)
        self.addCleanup(family.close)
        family.start()
        hosts = family.url.partition("://")[2].partition("/")[0]
        self.shell(block(REDIS, "behind sentinel"),
                   instead={"10.0.0.1,10.0.0.2,10.0.0.3": hosts})
        self.asked("get", "orders", "order:42", store=family.url)


class Reference(Shell, ProgramTest):
    def setUp(self):
        super().setUp()
        self.there = f"{self.directory}/var"
        self.shown = {"/var/": f"{self.there}/"}
        self.store = f"file:{self.there}/lib/tarry"
        for folder in ("lib", "backups"):
            Path(self.there, folder).mkdir(parents=True)

    def fill(self):
        self.asked("push", "orders", "a lamp", "--key", "order:1", "--in", "1h")

    def has(self, store):
        self.assertEqual(self.asked("get", "orders", "order:1", store=store)["payload"], "a lamp")

    def test_salvage(self):
        self.fill()
        self.shell(block(REFERENCE, "salvage"), instead=self.shown)
        self.has(f"{self.store}-new")

    def test_backup(self):
        self.fill()
        self.shell(block(REFERENCE, "backup"), instead=self.shown)
        self.has(f"file:{self.there}/backups/tarry-monday")

    def test_export_and_import(self):
        self.fill()
        with Server(self.store) as server:
            self.shell(block(REFERENCE, "export and import"),
                       instead=self.shown | {"http://127.0.0.1:7733": server.url})
        self.has(f"{self.store}-new")

    def test_acl(self):
        self.assertIn("ACL SETUSER shop ", self.shell(block(REFERENCE, "run")))

    def test_bench(self):
        self.shell(block(REFERENCE, "bench"),
                   instead={"file:/tmp/bench": f"file:{self.directory}/bench"})
        self.assertTrue((self.directory / "lateness.svg").read_text().startswith("<svg"))

    def test_forecast(self):
        for minutes, count in ((5, 10), (15, 5), (25, 3), (35, 3)):
            for number in range(count):
                self.asked("push", "orders", "x", "--key", f"{minutes}-{number}",
                           "--in", f"{minutes}m")
        self.console(block(REFERENCE, "forecast"), TARRY_STORE=self.store)


if __name__ == "__main__":
    unittest.main()
