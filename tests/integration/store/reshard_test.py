#!/usr/bin/env python3
"""tarry queue reshard: its output, and its result."""

import json
import subprocess
import unittest

from program import (CONFLICT, FAILED, PROGRAM, UNKNOWN, USAGE, ProgramTest, Server, environment,
                     eventually)
from redis_server import RedisServer


class Reshard(ProgramTest):
    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()

    def test_up_down_and_not_at_all(self):
        url = self.redis.url
        for i in range(30):
            self.tarry("push", "orders", f"payload {i}", "--key", f"k{i}", "--in", "1h", store=url)
        told = self.tarry("queue", "reshard", "orders", "4", store=url).out
        self.assertEqual(told, "queue orders has 4 shards now; it had 1\n")
        self.assertEqual(self.redis.ask("HGET", "tarry:{0}:queues", "orders").split()[1], "4")
        told = self.asked("queue", "reshard", "orders", "1", store=url)
        self.assertEqual(told, {"queue": "orders", "done": True, "changed": True, "from": 4,
                                "to": 1, "moved": 30, "left": 0, "leased": 0, "waits_for": ""})
        told = self.tarry("queue", "reshard", "orders", "1", store=url).out
        self.assertEqual(told, "queue orders has 1 shard already; nothing was done\n")
        self.assertFalse(self.asked("queue", "reshard", "orders", "1", store=url)["changed"])
        for i in range(30):
            self.tarry("cancel", "orders", f"k{i}", store=url)
        self.assertEqual(self.asked("queue", "info", "orders", store=url)["scheduled"], 0)

    def test_over_http(self):
        with Server(self.redis.url) as server:
            lines = "\n".join(json.dumps({"key": f"k{i}", "payload": "x", "delay": "1h"})
                              for i in range(450))
            self.tarry("push", "orders", "--jsonl", "-", store=server.url, stdin=lines.encode())
            told = self.asked("queue", "reshard", "orders", "3", store=server.url)
            self.assertEqual(told, {"queue": "orders", "done": True, "changed": True, "from": 1,
                                    "to": 3, "moved": 450, "left": 0, "leased": 0,
                                    "waits_for": ""})
            self.assertEqual(self.redis.ask("HGET", "tarry:{0}:queues", "orders").split()[1], "3")
            told = self.tarry("queue", "reshard", "orders", "3", store=server.url).out
            self.assertEqual(told, "queue orders has 3 shards already; nothing was done\n")
            listed = self.asked("ls", "orders", "--limit", "10000", store=server.url)["messages"]
            self.assertEqual(len(listed), 450)
            self.refused("queue", "reshard", "none", "2", store=server.url, code=UNKNOWN,
                         says="none")
        for store, says in (("memory:", "fixed when it was made"),
                            (f"{self.redis.url}?layout=plain", "layout plain cannot be resharded")):
            with Server(store) as server:
                self.refused("queue", "reshard", "orders", "2", store=server.url, code=FAILED,
                             says=says)

    def test_killed_in_its_midst_it_hides_nothing_from_lists_exports_and_migrations(self):
        url = self.redis.url
        for i in range(10):
            self.tarry("push", "orders", f"payload {i}", "--key", f"k{i}", store=url)
        self.tarry("queue", "reshard", "orders", "4", store=url)
        self.tarry("claim", "orders", "--max", "4", "--lease", "1h", store=url)
        mover = subprocess.Popen([PROGRAM, "--store", url, "queue", "reshard", "orders", "1"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=environment())
        # After its last slice it waits for the leases.
        eventually(lambda: self.redis.ask("HLEN", "tarry:{1}:orders/0:msgs") == 7,
                   "what is not leased has moved")
        mover.kill()
        mover.wait()
        listed = self.asked("ls", "orders", store=url)["messages"]
        self.assertEqual(sorted(m["key"] for m in listed), [f"k{i}" for i in range(10)])
        leased = self.asked("ls", "orders", "--state", "leased", store=url)["messages"]
        self.assertEqual(len(leased), 4)
        told = self.asked("store", "export", f"{self.directory}/all", store=url)
        self.assertEqual((told["messages"], told["leased"], told["problems"]), (10, 4, []))
        files = f"file:{self.directory}/files"
        self.tarry("store", "migrate", url, files, code=CONFLICT)
        self.assertEqual(self.asked("queue", "info", "orders", store=files)["scheduled"]
                         + self.asked("queue", "info", "orders", store=files)["ready"], 6)

    def test_a_queue_that_is_broken_is_named_and_the_others_are_told(self):
        url = self.redis.url
        for queue in ("whole", "broken"):
            self.tarry("push", queue, "x", store=url)
        number = self.redis.ask("HGET", "tarry:{0}:queues", "broken").split()[0]
        due = f"tarry:{{{number}}}:broken/0:due"
        self.redis.ask("DEL", due)
        self.redis.ask("SET", due, "not ours")
        for words in (("queue", "ls"), ("stats",), ("store", "audit")):
            told = self.tarry(*words, store=url, code=FAILED)
            self.assertIn("whole", told.out)
            self.assertIn('queue "broken" cannot be read', told.err)
            self.assertIn(due, told.err)
        for words in (("top", "--once"), ("top", "--once", "-o", "json")):
            told = self.tarry(*words, "--interval", "100ms", store=url, code=FAILED)
            self.assertIn("whole", told.out)
            self.assertIn("broken", told.out)
        told = self.tarry("store", "export", f"{self.directory}/all", store=url, code=FAILED)
        self.assertIn('queue "broken" is left out', told.err)
        told = self.tarry("store", "migrate", url, f"file:{self.directory}/files", code=FAILED)
        self.assertIn("broken", told.err)
        info = self.asked("queue", "info", "whole", store=f"file:{self.directory}/files")
        self.assertEqual(info["ready"], 1)
        with Server(url) as server:
            told = self.tarry("queue", "ls", store=server.url, code=FAILED)
            self.assertIn("whole", told.out)
            self.assertIn('queue "broken" cannot be read', told.err)

    def test_bad_input(self):
        url = self.redis.url
        for shards in ("0", "257", "x", "-1"):
            self.refused("queue", "reshard", "orders", shards, store=url, code=USAGE, says="256")
        self.refused("queue", "reshard", "orders", "2", store=url, code=UNKNOWN, says="orders")
        self.refused("queue", "reshard", "orders", store=url, code=USAGE, says="SHARDS")
        files = f"file:{self.directory}/files"
        self.tarry("push", "orders", "x", store=files)
        self.refused("queue", "reshard", "orders", "2", store=files, code=FAILED,
                     says="fixed when it was made")
        layout = f"{url}?layout=plain"
        self.refused("queue", "reshard", "orders", "2", store=layout, code=FAILED,
                     says="layout plain")


if __name__ == "__main__":
    unittest.main()
