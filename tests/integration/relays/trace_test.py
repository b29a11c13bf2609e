#!/usr/bin/env python3
"""traceparent: taken from a push's HTTP header, given back with the claim, handed on by the worker
and by every sink. src/relay/sinks/kafka/kafka_sink_test.cpp has the one of Kafka."""

import json
import os
import signal
import subprocess
import unittest
import urllib.request

from own_redis import Redis
from program import DONE, PROGRAM, ProgramTest, Server, environment, eventually
from rabbit_server import RabbitServer
from redis_server import RedisServer
from webhook_test import Receiver

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-11111111111111111111111111111111-2222222222222222-00"
STATE = "vendor=1,other=2"
TRACE = {"traceparent": PARENT, "tracestate": STATE}
BAD = ("", "x", PARENT.upper(), PARENT + "-", "ff" + PARENT[2:], PARENT.replace("b7ad", "b7aX"),
       "00-" + "0" * 32 + PARENT[35:], PARENT[:36] + "0" * 16 + "-01")


class Traced(ProgramTest):
    """A server, and processes that hand on its messages."""

    def serve(self, store="memory:"):
        server = Server(store)
        self.addCleanup(server.stop)
        return server

    def push(self, server, body, headers, queue="q", route="messages"):
        """The answer's JSON."""
        request = urllib.request.Request(f"{server.url}/v1/queues/{queue}/{route}",
                                         json.dumps(body).encode(),
                                         {"Content-Type": "application/json"} | headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def claim(self, server, queue="q", count=100):
        """The headers of each message, by key."""
        return {one["key"]: one["headers"]
                for one in self.asked("claim", queue, "--max", str(count), store=server.url)
                ["messages"]}

    def begin(self, *words):
        """A process in the background; ended with the test."""
        process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, cwd=self.directory,
                                   env=environment(TRACEPARENT=OTHER))
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE)


class Push(Traced):
    """Which messages get it."""

    def test_every_message_of_a_push_without_its_own(self):
        server = self.serve()
        self.push(server, {"key": "one"}, TRACE)
        many = [{"key": "bare"}, {"key": "other", "headers": {"a": "b"}},
                {"key": "own", "headers": {"Traceparent": OTHER}}]
        self.push(server, {"messages": many}, TRACE, route="push")
        self.push(server, {"key": "none"}, {})
        self.push(server, {"messages": [{"key": "moved"}]}, TRACE, route="import")
        self.assertEqual(self.claim(server), {
            "one": TRACE, "bare": TRACE, "other": {"a": "b"} | TRACE,
            "own": {"Traceparent": OTHER}, "none": {}, "moved": {}})

    def test_what_is_not_valid_is_ignored(self):
        server = self.serve()
        for i, parent in enumerate(BAD):
            self.push(server, {"key": f"k{i}"}, {"traceparent": parent, "tracestate": STATE})
        self.push(server, {"key": "later"}, {"traceparent": "cc" + PARENT[2:] + "-more"})
        self.push(server, {"key": "state"}, {"traceparent": PARENT, "tracestate": "x" * 513})
        claimed = self.claim(server)
        self.assertEqual(claimed.pop("later"), {"traceparent": PARENT})
        self.assertEqual(claimed.pop("state"), {"traceparent": PARENT})
        self.assertEqual(claimed, {f"k{i}": {} for i in range(len(BAD))})

    def test_no_push_fails_because_of_it(self):
        server = self.serve()
        most = {"a": "x" * (16 * 1024 - 1)}
        self.push(server, {"key": "full", "headers": most}, TRACE)
        self.assertEqual(self.claim(server), {"full": most})

    def test_a_file_store_keeps_it_over_a_restart(self):
        with Server(self.store) as server:
            self.push(server, {"key": "k"}, TRACE)
        with Server(self.store) as server:
            self.assertEqual(self.claim(server), {"k": TRACE})


class Layouts(Redis, Traced):
    """Queues of other programs, which have no headers."""

    def test_a_push_to_a_layout_goes_on_without_it(self):
        server = self.serve(self.store + "?layout=plain")
        self.assertEqual(self.push(server, {"payload": "k"}, TRACE)["outcome"], "pushed")
        self.assertEqual(list(self.claim(server).values()), [{}])

    def test_a_store_in_redis_keeps_it(self):
        server = self.serve()
        self.push(server, {"key": "k"}, TRACE)
        self.assertEqual(self.claim(server), {"k": TRACE})


class HandedOn(Traced):
    """The worker, and every sink."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def hand_on(self, *words):
        """A relay of q; two messages: one with a trace, one without."""
        self.push(self.server, {"key": "traced"}, TRACE)
        self.push(self.server, {"key": "bare"}, {})
        return self.begin("--store", self.server.url, *words)

    def relay(self, sink, *more):
        return self.hand_on("relay", "q", "--to", sink, *more)

    def said(self, script, *words):
        """What commands write, by key: the variables' values."""
        os.mkfifo(self.directory / "said")
        fd = os.open(self.directory / "said", os.O_RDWR)
        with os.fdopen(fd, "r", encoding="utf-8") as said:
            self.hand_on(*words, "--", "sh", "-c", script)
            lines = [said.readline().strip().split("|") for _ in range(2)]
        return {line[0]: line[1:] for line in lines}

    SCRIPT = 'echo "$TARRY_KEY|$TRACEPARENT|$TRACESTATE" > said'

    def test_the_workers_command(self):
        said = self.said(self.SCRIPT, "work", "q")
        self.assertEqual(said["traced"], [PARENT, STATE])
        self.assertEqual(said["bare"], ["", ""])

    def test_a_relays_command(self):
        said = self.said(self.SCRIPT, "relay", "q", "--to", "command")
        self.assertEqual(said["traced"], [PARENT, STATE])

    def test_standard_output(self):
        relay = self.relay("stdout")
        relay.stdout.readline()  # empty: it ends half a line of another run
        lines = [relay.stdout.readline() for _ in range(2)]
        headers = {one["key"]: one["headers"] for one in map(json.loads, lines)}
        self.assertEqual(headers, {"traced": TRACE, "bare": {}})

    def test_a_webhook(self):
        if "webhook" not in self.asked("version")["sinks"]:
            self.skipTest("this build knows no webhooks")
        receiver = Receiver(None)
        self.addCleanup(receiver.end)
        self.relay(f"{receiver.origin}/ok#allow_private=yes")
        eventually(lambda: len(receiver.requests) == 2, "both have arrived")
        got = {headers["Tarry-Key"]: (headers["traceparent"], headers["tracestate"])
               for _, headers, _ in receiver.requests}
        self.assertEqual(got, {"traced": (PARENT, STATE), "bare": (None, None)})

    def test_redis(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        relay = self.relay(redis.url + "?stream=due")
        eventually(lambda: redis.ask("XLEN", "due") == 2, "both have arrived")
        entries = [dict(zip(fields[::2], fields[1::2]))
                   for _, fields in redis.ask("XRANGE", "due", "-", "+")]
        got = {entry["key"]: entry.get("header:traceparent") for entry in entries}
        self.assertEqual(got, {"traced": PARENT, "bare": None})
        self.end(relay)
        self.relay(redis.url + "?list=due-list")
        eventually(lambda: redis.ask("LLEN", "due-list") == 2, "both have arrived")
        rows = [json.loads(row) for row in redis.ask("LRANGE", "due-list", "0", "-1")]
        self.assertEqual({row["key"]: row["headers"] for row in rows},
                         {"traced": TRACE, "bare": {}})

    def test_rabbitmq(self):
        if "rabbitmq" not in self.asked("version")["sinks"]:
            self.skipTest("built without RabbitMQ")
        import pika
        broker = RabbitServer()
        self.addCleanup(broker.close)
        broker.start()
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.port))
        self.addCleanup(connection.close)
        channel = connection.channel()
        channel.queue_declare("due")
        self.relay(f"amqp://127.0.0.1:{broker.port}/?routing_key=due")
        got = {}
        for _, properties, _ in channel.consume("due", auto_ack=True, inactivity_timeout=60):
            self.assertIsNotNone(properties, "nothing has arrived")
            headers = properties.headers or {}
            got[headers["tarry-key"]] = headers.get("traceparent")
            if len(got) == 2:
                break
        channel.cancel()
        self.assertEqual(got, {"traced": PARENT, "bare": None})


if __name__ == "__main__":
    unittest.main()
