#!/usr/bin/env python3
"""A relay to Redis and to RabbitMQ through a proxy that fails. A message that was lost on the way
is sent again as another attempt, and no message dies because the far end is unreachable.
"""

import json
import os
import re
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from fault_proxy import FaultProxy
from program import DONE, PROGRAM, SOURCE, ProgramTest, Server, environment, eventually
from rabbit_server import RabbitServer
from redis_server import RedisServer


class Faults:
    """Tests for both kinds. A mixin, so that it is no test of its own."""

    def start(self):
        """Starts tarry relay through the proxy, in the background."""
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", "json", "relay", "q", "--to", self.to()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        self.addCleanup(self.kill, relay)
        return relay

    @staticmethod
    def kill(relay):
        if relay.poll() is None:
            relay.kill()
            relay.communicate()

    def stop(self, relay):
        relay.send_signal(signal.SIGTERM)
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, DONE, err)
        return json.loads(out)

    def begin(self, connect):
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.remote("queue", "set", "q", "--backoff-min", "1ms", "--backoff-max", "1ms")
        self.proxy = FaultProxy(connect)
        self.addCleanup(self.proxy.close)

    def remote(self, *words):
        return self.asked(*words, store=self.server.url)

    def push(self, key):
        self.remote("push", "q", "x", "--key", key)

    def acked(self, count):
        eventually(lambda: self.remote("queue", "info", "q")["counters"]["acked"] == count,
                   f"{count} acked")

    def test_a_confirmation_that_is_lost_makes_another_attempt(self):
        self.lose_a_confirmation("mute")

    def test_half_a_confirmation_is_none(self):
        self.lose_a_confirmation("half")

    def test_what_comes_byte_by_byte_is_understood(self):
        self.proxy.set("bits")
        relay = self.start()
        for i in range(20):
            self.push(f"k{i}")
        self.acked(20)
        self.assertEqual(self.arrived(), [(f"k{i}", 1) for i in range(20)])
        counts = self.stop(relay)
        self.assertEqual((counts["confirmed"], counts["failed"]), (20, 0))

    def lose_a_confirmation(self, mode):
        relay = self.start()
        self.push("before")
        self.acked(1)
        self.proxy.set(mode)
        self.push("k")
        eventually(lambda: len(self.arrived()) == 2, "it is there, and nobody has heard")
        eventually(lambda: self.proxy.lost > 0, "nor ever will")
        self.proxy.set("pass")
        self.acked(2)
        found = self.arrived()
        self.assertEqual(found[:2], [("before", 1), ("k", 1)])
        self.assertEqual([key for key, _ in found[2:]], ["k"] * (len(found) - 2))
        self.assertEqual([attempt for _, attempt in found[1:]], list(range(1, len(found))))
        self.assertGreaterEqual(len(found), 3)
        self.assertEqual(self.stop(relay)["buried"], 0)

    def test_nothing_dies_of_an_end_that_drops_connections(self):
        self.proxy.set("drop")
        relay = self.start()
        for key in "abc":
            self.push(key)
        self.assertIn(b" is down: ", relay.stderr.readline())
        eventually(lambda: self.proxy.connections >= 3, "it tries again")
        for key in "abc":
            self.assertEqual(self.remote("get", "q", key)["attempt"], 0)
        self.proxy.set("pass")
        self.assertIn(b" is back", relay.stderr.readline())
        self.acked(3)
        self.assertEqual(sorted(self.arrived()), [("a", 1), ("b", 1), ("c", 1)])
        counts = self.stop(relay)
        self.assertEqual((counts["buried"], counts["retried"]), (0, 0))


class ToRedis(Faults, ProgramTest):
    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.begin(self.connect)

    def connect(self):
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self.redis.socket))
        return server

    def to(self):
        return f"redis://127.0.0.1:{self.proxy.port}/0?list=due"

    def arrived(self):
        rows = [json.loads(line) for line in self.redis.ask("LRANGE", "due", "0", "-1") or []]
        return [(row["key"], row["attempt"]) for row in rows]

    def test_an_end_that_says_nothing_is_given_up(self):
        relay = self.start()
        self.push("before")
        self.acked(1)
        self.proxy.set("stall")
        self.push("k")
        # The client reports ten seconds without a byte.
        eventually(lambda: self.remote("get", "q", "k")["attempt"] >= 2, "it is tried again")
        self.proxy.set("pass")
        self.acked(2)
        self.assertEqual(self.arrived()[0], ("before", 1))
        self.assertGreaterEqual(self.arrived()[-1][1], 2)
        self.stop(relay)


class TheStoreIsAway(ProgramTest):
    def test_a_second_signal_gives_up_what_it_does_not_take(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        pipe = self.directory / "go"
        os.mkfifo(pipe)
        self.asked("push", "q", "x", store=redis.url)
        relay = subprocess.Popen(
            [PROGRAM, "--store", redis.url, "relay", "q", "--to", "command", "--drain", "1h", "--",
             "sh", "-c", f"read go < {pipe}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        self.addCleanup(Faults.kill, relay)
        with open(pipe, "w", encoding="ascii") as go:  # this opens once the command reads
            redis.shoot()
            redis.bury()
            go.write("go\n")
        relay.send_signal(signal.SIGTERM)
        # A line that says that the store is unreachable may come before.
        self.assertTrue(any(b"a second signal ends this now" in line for line in relay.stderr))
        relay.send_signal(signal.SIGTERM)
        _, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, DONE, err)
        self.assertIn(b"acked 0, to be retried 0, buried 0, not settled 1;", err)


class ToRabbit(Faults, ProgramTest):
    @classmethod
    def setUpClass(cls):
        version = subprocess.run([PROGRAM, "-o", "json", "version"], capture_output=True,
                                 env=environment(), check=True)
        if "rabbitmq" not in json.loads(version.stdout)["sinks"]:
            raise unittest.SkipTest("built without RabbitMQ")
        cls.broker = RabbitServer("max_message_size = 100000\nframe_max = 8192\n")
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        super().setUp()
        self.connection = self.broker.connect()
        self.addCleanup(self.connection.close)
        self.channel = self.connection.channel()
        self.channel.queue_declare("due", durable=True)
        self.channel.queue_purge("due")
        self.seen = []
        self.begin(lambda: socket.create_connection(("127.0.0.1", self.broker.port)))

    def to(self):
        return f"amqp://127.0.0.1:{self.proxy.port}/?routing_key=due"

    def test_an_exchange_that_refuses_it_or_that_it_names_and_is_not_there_is_the_reason(self):
        self.channel.exchange_declare("closed")
        self.broker.control("set_permissions", "guest", ".*", "^(?!closed$).*", ".*")
        for exchange, reason in (("closed", "ACCESS_REFUSED"), ("nowhere", "NOT_FOUND")):
            with self.subTest(exchange):
                relay = subprocess.Popen(
                    [PROGRAM, "--store", self.server.url, "relay", "q", "--max-attempts", "1",
                     "--to", f"amqp://127.0.0.1:{self.broker.port}/?routing_key=due"
                     "&exchange_from=to"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
                self.addCleanup(self.end, relay)
                self.remote("push", "q", "x", "--key", exchange, "--header", f"to={exchange}")
                eventually(lambda: self.remote("get", "q", exchange)["state"] == "dead", "dead")
                found = self.remote("get", "q", exchange)
                self.assertIn(reason, found["reason"])
                self.assertEqual(found["attempt"], 1)
                self.end(relay)

    def test_the_guide_declares_what_its_first_relay_publishes_to(self):
        """Until the exchange is declared, no message dies."""
        text = (SOURCE / "docs/guide/relays.md").read_text(encoding="utf-8")
        declare, = re.findall(r"<!-- amqp consumer -->\n```python\n(.*?)```", text, re.DOTALL)
        command = re.search(r"<!-- relay amqp -->\n```sh\n(.*?)```", text, re.DOTALL)[1]
        self.assertLess(text.index(declare), text.index(command))
        self.remote("queue", "set", "orders", "--max-attempts", "2", "--backoff-min", "1ms",
                    "--backoff-max", "1ms")
        relay = subprocess.Popen(
            ["bash", "-c", "exec " + command.replace("@127.0.0.1/",
                                                     f"@127.0.0.1:{self.broker.port}/")],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(
                PATH=f"{Path(PROGRAM).parent}:{os.environ['PATH']}", TARRY_STORE=self.server.url))
        self.addCleanup(self.kill, relay)
        for key in ("a", "b", "c"):
            self.remote("push", "orders", key, "--key", key)
        line = relay.stderr.readline().decode()
        self.assertIn("exchange 'shop' is down: NOT_FOUND - no exchange 'shop' in vhost '/'; "
                      "declare it, the relay does not", line)
        eventually(lambda: self.orders()["counters"]["releases"] >= 6, "it is tried again")
        for key in ("a", "b", "c"):  # one of them may be sent as a trial
            eventually(lambda: self.untried(key), f"no attempt of {key} is counted")
        exec(declare, {"channel": self.channel})  # pylint: disable=exec-used
        self.assertIn(b" is back", relay.stderr.readline())
        eventually(lambda: self.orders()["counters"]["acked"] == 3, "they are handed on")
        bodies = {self.channel.basic_get("orders", auto_ack=True)[2] for _ in range(3)}
        self.assertEqual(bodies, {b"a", b"b", b"c"})
        relay.terminate()
        relay.communicate(timeout=60)

    def orders(self):
        return self.remote("queue", "info", "orders")

    def untried(self, key):
        found = self.remote("get", "orders", key)
        return (found["state"], found["attempt"]) == ("ready", 0)

    @staticmethod
    def end(relay):
        if relay.poll() is None:
            relay.terminate()
            relay.wait(60)

    def test_what_is_over_the_broker_s_limit_is_dead_and_says_why(self):
        self.remote("queue", "set", "q", "--max-attempts", "5")
        relay = self.start()
        self.push_large("big", 100_001)
        self.push("small")
        self.acked(1)
        self.assertEqual(self.arrived(), [("small", 1)])
        # From now on the sink knows the limit: no message closes the channel any more, so no other
        # message is sent again.
        self.push("before")
        self.push_large("bigger", 200_000)
        self.push("after")
        self.acked(3)
        self.assertEqual(self.arrived(), [("small", 1), ("before", 1), ("after", 1)])
        self.assertEqual(self.stop(relay)["buried"], 2)

    def test_headers_that_fit_no_frame_of_the_broker_s_are_dead_and_cost_nobody_an_attempt(self):
        relay = self.start()
        self.push("before")
        self.remote("push", "q", "x", "--key", "wide", "--header", "h=" + "y" * 10_000)
        self.push("after")
        eventually(lambda: self.remote("get", "q", "wide")["state"] == "dead", "it is dead")
        found = self.remote("get", "q", "wide")
        self.assertRegex(found["reason"], "headers and properties of 10[0-9]{3} bytes, encoded, do "
                         "not fit the broker's frame, which has room for 8172$")
        self.assertEqual(found["attempt"], 1)
        self.acked(2)
        self.assertEqual(self.arrived(), [("before", 1), ("after", 1)])
        counts = self.stop(relay)
        self.assertEqual((counts["retried"], counts["breaker_openings"]), (0, 0))

    def push_large(self, key, size):
        """It becomes dead at its first attempt."""
        self.asked("push", "q", "-", "--key", key, store=self.server.url, stdin=b"x" * size)
        eventually(lambda: self.remote("get", "q", key)["state"] == "dead", "it is dead")
        found = self.remote("get", "q", key)
        self.assertEqual(found["reason"],
                         f"a body of {size} bytes is larger than the broker takes, 100000")
        self.assertEqual(found["attempt"], 1)

    def arrived(self):
        while True:
            method, properties, _ = self.channel.basic_get("due", auto_ack=True)
            if method is None:
                return self.seen
            self.seen.append((properties.headers["tarry-key"], properties.headers["tarry-attempt"]))


if __name__ == "__main__":
    unittest.main()
