#!/usr/bin/env python3
"""tarry store migrate: moves the contents of one store into another, from file: to redis: and back.
"""

import http.server
import json
import signal
import subprocess
import threading
import unittest

from program import (CONFLICT, FAILED, PROGRAM, UNKNOWN, UNREACHABLE, USAGE, ProgramTest, Server,
                     environment, eventually)
from redis_server import RedisServer

FORGETS = ("id", "kept_until", "kept_until_ms")  # fields that each store sets itself


class Older(http.server.BaseHTTPRequestHandler):
    """A server of a version without these routes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/healthz":
            return self.answer(200, {"status": "ok", "service": "tarry", "version": "0.0.9",
                                     "engine": "redis", "by_key": True, "leases": True})
        return self.answer(404, {"status": 404, "code": "not_found",
                                 "detail": f'there is no "{self.path}" here'})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Migrate(ProgramTest):
    """A real redis-server between two file stores."""

    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.other = f"file:{self.directory}/other"

    def fill(self, store=None):
        """Messages with every kind of history, in two queues."""
        expiries = ({}, {"expire": "9999d"}, {"expire_at": "2100-01-01T00:00:00Z"})
        lines = [{"key": f"k:{i}", "payload": f"p{i}", "due": "2099-01-31T09:00:00Z",
                  "headers": {"n": str(i)}, "priority": 1000 + i % 50, **expiries[i % 3]}
                 for i in range(1200)]
        lines += [{"payload_base64": "/wA=", "delay": f"{i + 1}h", "max_attempts": 3}
                  for i in range(300)]
        self.tarry("push", "orders", "--jsonl", "-", store=store,
                   stdin="\n".join(map(json.dumps, lines)).encode())
        for key in ("dead", "tried", "released"):
            self.tarry("push", "orders", "x", "--key", key, "--priority", "1", "--expire", "999d",
                       store=store)
            receipt = self.asked("claim", "orders", store=store)["messages"][0]["receipt"]
            self.tarry({"dead": "bury", "tried": "retry", "released": "release"}[key], "orders",
                       receipt, store=store, *({"dead": ["--reason", "no good"],
                                                "tried": ["--in", "3h"]}.get(key, [])))
        self.tarry("push", "mails", "y", store=store)

    def all_of(self, store):
        """Queue -> key -> all fields of the message."""
        found = {}
        for queue in ("orders", "mails"):
            listed = self.asked("ls", queue, "--limit", "10000", store=store)["messages"]
            keys = [message["key"] for message in listed]
            found[queue] = {}
            for first in range(0, len(keys), 500):
                # The first key is given twice, so that the answer is a list even for one message.
                chunk = keys[first:first + 500]
                told = self.asked("get", queue, *chunk, chunk[0], store=store)["results"][:-1]
                for message in told:
                    del message["pushed"]  # Redis keeps only its minute
                    message["pushed_ms"] //= 60_000
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
        # The message that was leased there can be claimed here.
        claimed = self.asked("claim", "mails", store=self.other)["messages"]
        self.assertEqual([message["payload"] for message in claimed], ["y"])

    def test_to_servers_and_from_one(self):
        """file: -> http: (redis:) -> http: (file:) -> file:, while the servers keep running."""
        self.fill()
        before = self.all_of(self.store)
        with Server(self.redis.url) as first, Server(f"file:{self.directory}/served") as second:
            for source, target in ((self.store, first.url), (first.url, second.url),
                                   (second.url, self.other)):
                told = self.migrate(source, target)
                self.assertTrue(told["complete"], told)
                self.assertEqual({queue["queue"]: queue["moved"] for queue in told["queues"]},
                                 {"orders": 1503, "mails": 1})
                self.assertEqual(self.all_of(target), before)
                self.assertEqual(self.all_of(source), {"orders": {}, "mails": {}})
                for store in (source, target):
                    self.assertTrue(self.asked("store", "audit", store=store)["balanced"])
                    self.assertFalse(self.asked("queue", "info", "orders", store=store)["paused"])
                counters = self.asked("queue", "info", "orders", store=source)["counters"]
                self.assertEqual(counters["moved_away"], 1503)

    def test_a_server_that_is_killed_meanwhile_is_gone_on_with(self):
        """The run waits for a claim to end when its server is killed."""
        self.fill()
        before = self.all_of(self.store)
        server = Server(self.store)
        self.addCleanup(server.stop, signal.SIGKILL)
        self.tarry("push", "orders", "x", "--key", "out", "--priority", "0", store=server.url)
        receipt = self.asked("claim", "orders", "--lease", "1h",
                             store=server.url)["messages"][0]["receipt"]
        with subprocess.Popen([PROGRAM, "store", "migrate", server.url, self.other, "--wait",
                               "1h", "--queue", "orders"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=environment()) as process:
            eventually(lambda: process.poll() is not None or self.asked(
                "queue", "info", "orders", store=server.url)["counters"]["moved_away"] == 1503,
                       "all but the claimed one has been moved")
            server.process.kill()
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, UNREACHABLE, err)
        self.assertIn("run the same command again", err)
        self.assertTrue(self.asked("queue", "info", "orders", store=self.other)["paused"])
        with Server(self.store) as again:
            self.tarry("ack", "orders", receipt, store=again.url)
            self.assertTrue(self.migrate(again.url, self.other)["complete"])
        self.assertEqual(self.all_of(self.other), before)

    def test_a_server_with_small_bodies(self):
        for i in range(20):
            self.tarry("push", "orders", "x" * 300, "--key", f"k{i}", "--in", "1h")
        self.tarry("push", "orders", "x" * 5_000, "--key", "large", "--in", "1h")
        with Server("memory:", "--max-body", "4KiB") as server:
            answer = self.tarry("store", "migrate", self.store, server.url, code=CONFLICT, store="")
            self.assertIn('message "large" stays: ', answer.err)
            self.assertIn("4096 bytes", answer.err)
            listed = self.asked("ls", "orders", store=server.url)["messages"]
            self.assertEqual(len(listed), 20)
            self.assertFalse(self.asked("queue", "info", "orders", store=server.url)["paused"])
            self.assertTrue(self.migrate(server.url, self.other)["complete"])

    def test_keys_too_large_for_a_body_stay_and_the_rest_moves(self):
        """Quotes take two bytes. One key fits into no request; another one does not fit into the
        move-away."""
        keys = ['"' * 512, '"' * 480]
        for key in [*keys, "small"]:
            self.tarry("push", "orders", "x", "--key", key, "--in", "1h")
        with Server(self.store, "--max-body", "1KiB") as server:
            answer = self.tarry("store", "migrate", server.url, self.other, code=CONFLICT, store="")
            self.assertEqual(answer.err.count(" stays: "), 2, answer.err)
            self.assertIn("1024 bytes", answer.err)
            for store in (server.url, self.other):
                self.assertFalse(self.asked("queue", "info", "orders", store=store)["paused"])
            listed = self.asked("ls", "orders", store=self.other)["messages"]
            self.assertEqual([message["key"] for message in listed], ["small"])
        self.assertTrue(self.migrate(self.store, self.other)["complete"])
        listed = self.asked("ls", "orders", store=self.other)["messages"]
        self.assertEqual({message["key"] for message in listed}, {*keys, "small"})

    def test_an_older_server_is_told_from_others(self):
        self.tarry("push", "orders", "x", "--in", "1h")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Older)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        for ends in ((self.store, url), (url, self.other)):
            self.refused("store", "migrate", *ends, code=FAILED, store="",
                         says=(url, "the server is older than this program", "update it"))
        self.refused("store", "import", store=url, code=FAILED, stdin=b'{"tarry_export":1}\n',
                     says=(url, "older", "update it"))
        self.refused("queue", "reshard", "orders", "2", store=url, code=FAILED,
                     says=("older than this program", "/v1/queues/orders/reshard"))
        self.assertFalse(self.asked("queue", "info", "orders")["paused"])

    def test_what_is_leased_is_left_and_said(self):
        for key in ("a", "b"):
            self.tarry("push", "orders", "x", "--key", key)
        receipt = self.asked("claim", "orders", "--lease", "1h")["messages"][0]["receipt"]
        answer = self.tarry("store", "migrate", self.store, self.redis.url, code=CONFLICT, store="")
        self.assertIn('queue "orders": claimed by consumers: 1 message;', answer.err)
        self.tarry("release", "orders", receipt)
        told = self.migrate(self.store, self.redis.url)
        self.assertTrue(told["complete"], told)
        self.assertEqual(len(self.asked("ls", "orders", store=self.redis.url)["messages"]), 2)

    def test_ctrl_c_stops_it_and_it_goes_on(self):
        """The run is stopped while it waits for a claim to end."""
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
        self.assertIn("run the same command again to continue", err)
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

    def test_settings_that_are_there_are_kept_if_asked(self):
        for queue in ("orders", "mails"):
            self.tarry("push", queue, "x", "--in", "1h")
            self.tarry("queue", "set", queue, "--lease", "1m")
            self.tarry("queue", "set", queue, "--lease", "2m", store=self.redis.url)
        self.migrate(self.store, self.redis.url, "--queue", "orders", "--keep-settings")
        self.migrate(self.store, self.redis.url, "--queue", "mails")
        leases = {queue: self.asked("queue", "info", queue,
                                    store=self.redis.url)["settings"]["lease_ms"]
                  for queue in ("orders", "mails")}
        self.assertEqual(leases, {"orders": 120_000, "mails": 60_000})

    def test_a_full_redis_ends_it_and_it_goes_on(self):
        self.fill()
        before = self.all_of(self.store)
        self.asked("queue", "ls", store=self.redis.url)  # this makes the store
        self.redis.ask("CONFIG", "SET", "maxmemory", self.redis.info("used_memory") + 250_000)
        answer = self.tarry("store", "migrate", self.store, self.redis.url, code=FAILED, store="")
        self.assertRegex(answer.err, r'tarry: redis\+unix:\S+, queue "\w+": Redis at \S+ is full')
        self.assertIn("run the same command again", answer.err)
        self.redis.ask("CONFIG", "SET", "maxmemory", 0)
        self.assertTrue(self.migrate(self.store, self.redis.url)["complete"])
        self.assertEqual(self.all_of(self.redis.url), before)

    def test_a_layout_moves_also_through_its_server(self):
        self.redis.ask("ZADD", "tasks", 1_900_000_000_000, "a", 1_900_000_000_001, "b")
        layout = self.redis.url + "?layout=plain"
        with Server(layout) as server:
            report = self.asked("store", "migrate", server.url, self.other, "--queue", "tasks",
                                store="")
        self.assertTrue(report["complete"])
        self.assertEqual(report["queues"][0]["moved"], 2)
        self.assertEqual([message["key"] for message in
                          self.asked("ls", "tasks", store=self.other)["messages"]], ["a", "b"])
        self.assertEqual(self.redis.ask("EXISTS", "tasks"), 0)

    def test_bad_ends_are_refused(self):
        self.tarry("push", "orders", "x", "--in", "1h")
        refused = (("memory:", USAGE, '"memory:"'), ("nonsense", USAGE, "nonsense"),
                   ("redis+unix:///nowhere.sock", UNREACHABLE, "/nowhere.sock"))
        for target, code, says in refused:
            self.refused("store", "migrate", self.store, target, code=code, says=says, store="")
        self.refused("store", "migrate", f"file:{self.directory}/nothing", self.redis.url,
                     code=UNREACHABLE, says="nothing", store="")
        for same in (self.store, self.store + "/", self.store + "?sync=os"):
            self.refused("store", "migrate", self.store, same, code=2, store="", says="same store")
        self.refused("store", "migrate", self.store, code=USAGE, says="TO", store="")
        layout = self.redis.url + "?layout=plain"
        with Server(layout) as server:
            for ends in ((self.store, layout), (self.store, server.url)):
                answer = self.tarry("store", "migrate", *ends, code=FAILED, store="")
                self.assertIn("nothing can be moved into redis plain", answer.err)
            answer = self.tarry("store", "import", store=server.url, code=FAILED,
                                stdin=b'{"tarry_export":1}\n')
            self.assertIn("nothing can be moved into redis plain", answer.err)
            for ends in ((layout, self.other), (server.url, self.other, "--dry-run")):
                self.refused("store", "migrate", *ends, code=USAGE, says="--queue", store="")
                self.assertFalse((self.directory / "other").exists())
            answer = self.tarry("store", "audit", store=server.url, code=FAILED)
            self.assertIn("does not count", answer.err)
        self.assertEqual(self.redis.ask("DBSIZE"), 0)
        self.assertFalse(self.asked("queue", "info", "orders")["paused"])
        self.tarry("push", "orders", "x", store=self.redis.url)
        with Server(self.redis.url) as server:
            for same in (self.redis.url + "?shards=1", server.url):
                answer = self.tarry("store", "migrate", self.redis.url, same, code=CONFLICT,
                                    store="")
                self.assertIn("are the same store", answer.err)
        self.assertEqual(len(self.asked("ls", "orders")["messages"]), 1)
        self.assertFalse(self.asked("queue", "info", "orders", store=self.redis.url)["paused"])


if __name__ == "__main__":
    unittest.main()
