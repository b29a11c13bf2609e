#!/usr/bin/env python3
"""tarry relay: what falls due reaches the sink, and is acked once the sink has it."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from program import DONE, PROGRAM, SOURCE, UNREACHABLE, ProgramTest, Server, environment, eventually

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "crash"))
from redis_server import RedisServer  # noqa: E402


class Relay(ProgramTest):
    """With a server beside it, so that what it does can be looked at meanwhile."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)

    @staticmethod
    def end(relay):
        """Whatever became of the test."""
        if relay.poll() is None:
            relay.kill()
            relay.communicate()

    def start(self, *words, output="json"):
        """tarry relay q in the background."""
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", output, "relay", "q", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, env=environment())
        self.addCleanup(self.end, relay)
        return relay

    def stop(self, relay, code=DONE):
        """Drains it; what it printed to stdout from now on."""
        relay.send_signal(signal.SIGTERM)
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, code, err)
        return out.decode()

    def remote(self, *words, **more):
        return self.asked(*words, store=self.server.url, **more)

    def push(self, count, payload="x"):
        """k0, k1, ... in this order."""
        for i in range(count):
            self.remote("push", "q", payload, "--key", f"k{i}", "--header", f"n={i}")

    def acked(self, count):
        eventually(lambda: self.remote("queue", "info", "q")["counters"]["acked"] == count,
                   f"{count} acked")

    def test_stdout(self):
        self.push(3, "hello")
        relay = self.start("--to", "stdout")
        lines = [json.loads(relay.stdout.readline()) for _ in range(3)]
        self.assertEqual([line["key"] for line in lines], ["k0", "k1", "k2"])
        self.assertEqual(lines[2]["payload"], "hello")
        self.assertEqual(lines[2]["headers"], {"n": "2"})
        self.assertEqual((lines[2]["queue"], lines[2]["attempt"]), ("q", 1))
        self.acked(3)
        self.assertEqual(self.stop(relay), "")

    def test_a_reader_that_goes_away_ends_it_and_costs_no_attempt(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as out:
            self.push(1)
            ended = subprocess.run(
                [PROGRAM, "--store", self.server.url, "relay", "q", "--to", "stdout"], stdout=out,
                stderr=subprocess.PIPE, timeout=60, env=environment(), check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(b"cannot write to stdout: Broken pipe", ended.stderr)
        message = self.remote("get", "q", "k0")
        self.assertEqual((message["state"], message["attempt"]), ("ready", 0))

    def test_command(self):
        for key, status in (("ok", 0), ("again", 75), ("poison", 65)):
            self.remote("push", "q", str(status), "--key", key)
        relay = self.start("--to", "command", "--concurrency", "3", "--", "sh", "-c",
                           "read s; exit $s")
        eventually(lambda: self.remote("get", "q", "poison")["state"] == "dead", "poison is dead")
        self.acked(1)
        eventually(lambda: self.remote("get", "q", "again")["attempt"] >= 1, "again has failed")
        self.assertEqual(self.remote("get", "q", "poison")["reason"],
                         "the command exited with 65")
        counts = json.loads(self.stop(relay))
        self.assertEqual((counts["acked"], counts["buried"]), (1, 1))
        self.assertGreaterEqual(counts["retried"], 1)

    def test_redis_that_is_away_for_a_while(self):
        redis = RedisServer("--appendonly", "yes", parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        relay = self.start("--to", redis.url + "?list=due")
        self.push(3)
        self.acked(3)
        redis.shoot()
        redis.bury()
        self.remote("push", "q", "late", "--key", "late")
        self.assertIn(b"is down: ", relay.stderr.readline())
        redis.start()
        self.assertIn(b"is back", relay.stderr.readline())
        self.acked(4)
        rows = [json.loads(redis.ask("LPOP", "due")) for _ in range(4)]
        self.assertEqual([row["key"] for row in rows], ["k0", "k1", "k2", "late"])
        self.assertEqual(rows[3]["payload"], "late")
        self.assertGreaterEqual(json.loads(self.stop(relay))["breaker_openings"], 1)
        self.assertEqual(self.remote("ls", "q")["messages"], [])

    def test_the_guide(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        text = (SOURCE / "docs/guide/relays.md").read_text(encoding="utf-8")
        marked = re.findall(r"<!-- relay(?: (\w+))? -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertEqual([needs for needs, _ in marked], ["amqp", "redis", "redis", "", ""])
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        for needs, command in marked:
            with self.subTest(command):
                if needs == "amqp" and "rabbitmq" not in self.asked("version")["sinks"]:
                    continue
                command = command.replace("redis://127.0.0.1/0", redis.url)
                # Nobody listens there: no broker is started for this.
                command = command.replace("@127.0.0.1/", "@127.0.0.1:1/")
                acked = self.acked_orders()
                self.remote("push", "orders", "x")
                relay = subprocess.Popen(
                    ["bash", "-c", "exec " + command], stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, cwd=self.directory,
                    env=environment(PATH=path, TARRY_STORE=self.server.url))
                self.addCleanup(self.end, relay)
                if needs == "amqp":
                    self.assertIn(b"rabbitmq 127.0.0.1:1, exchange 'shop' is down: ",
                                  relay.stderr.readline())
                else:
                    eventually(lambda: self.acked_orders() > acked, "it is handed on")
                relay.send_signal(signal.SIGTERM)
                relay.communicate(timeout=60)
                self.assertEqual(relay.returncode, DONE)

    def acked_orders(self):
        queues = self.remote("stats")["queues"]
        return sum(queue["counters"]["acked"] for queue in queues if queue["queue"] == "orders")

    def test_bad_input(self):
        sinks = self.asked("version")["sinks"]
        for words, says in (
                (("--to", "carrier-pigeon"), 'names no sink'),
                (("--to", "ftp://user:secret@host/"), '"ftp" names no sink'),
                (("--to", "command"), "needs a command after --"),
                (("--to", "stdout", "--", "cat"), "what follows -- is for --to command"),
                (("--to", "command", "--", "/no/such"), 'cannot run "/no/such"'),
                (("--to", "redis://127.0.0.1/0"), "needs list=NAME, stream=NAME or channel=NAME"),
                (("--to", "redis://127.0.0.1/0?list=a&stream=b"), "exclude each other"),
                (("--to", "redis://127.0.0.1/0?list=a&maxlen=5"), "maxlen goes with stream="),
                (("--to", "redis://127.0.0.1/0?stream=a&maxlen=0"), "maxlen"),
                (("--to", "redis://127.0.0.1/0?list=a&shards=3"), '"shards" is not one of a sink'),
                (("--to", "redis+cluster://127.0.0.1?list=a"), "a Redis Cluster is no sink yet"),
                (("--to", "amqp:127.0.0.1"), "a broker's URL is amqp://HOST"),
                (("--to", "amqp://u:secret@127.0.0.1/"), "needs exchange=NAME, or routing_key="),
                (("--to", "amqp://127.0.0.1/?exchang=a"), '"exchang" is not one of amqp:'),
                (("--to", "amqp://127.0.0.1/?exchange=a&channels=65"), "channels"),
                (("--to", "amqp://127.0.0.1/?exchange=a&heartbeat=10ms"), 'heartbeat "10ms"'),
                (("--to", "amqp://127.0.0.1/?exchange=a&ca=x"), "go with amqps: only"),
                (("--to", "amqps://127.0.0.1/?exchange=a&cert=x"), "cert and key go together"),
                (("--to", "amqp://127.0.0.1/?exchange=a&password_file=/no"), 'password_file "/no"'),
                (("--to", "stdout", "--drain", "2h"), "drain 2h must be from 0s to 1h"),
                (("--to", "stdout", "--in-flight", "0"), "--in-flight")):
            if words[1].startswith("amqp") and "rabbitmq" not in sinks:
                continue
            with self.subTest(words):
                refused = self.refused("relay", "q", *words, says=says)
                self.assertNotIn("secret", refused.err)
        self.refused("relay", "no spaces", "--to", "stdout", says='"no spaces"')
        self.tarry("relay", "q", "--to", "stdout", store="http://127.0.0.1:1", code=UNREACHABLE)


if __name__ == "__main__":
    unittest.main()
