#!/usr/bin/env python3
"""tarry intake: producers of RabbitMQ's delayed-message plugin need not change."""

import collections
import http.server
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.request
from pathlib import Path

from fault_proxy import FaultProxy
from ports import free_port
from program import (CONFLICT, DONE, FAILED, PROGRAM, SOURCE, UNKNOWN, ProgramTest, Server,
                     environment, eventually)
from rabbit_server import RabbitServer, pika
from redis_server import RedisServer

GUIDE = SOURCE / "docs/guide/relays.md"


class Consumer(threading.Thread):
    """Records which messages arrive in a queue, and when. Connects again when the broker is
    back."""

    def __init__(self, broker, queue):
        super().__init__()
        self.broker, self.queue = broker, queue
        self.arrived = []  # (seconds, properties, body)
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            try:
                with self.broker.connect() as connection:
                    channel = connection.channel()
                    for method, properties, body in channel.consume(
                            self.queue, inactivity_timeout=0.1):
                        if method:
                            self.arrived.append((time.time(), properties, body.decode()))
                            channel.basic_ack(method.delivery_tag)
                        if self.ended.is_set():
                            return
            except (pika.exceptions.AMQPError, OSError):
                self.ended.wait(0.1)

    def end(self):
        self.ended.set()
        self.join()


class Severing(socket.socket):
    """A connection to a broker. It breaks as soon as the broker has confirmed a consumer."""

    CONSUMED = b"\x00\x3c\x00\x15"  # basic.consume-ok

    def __init__(self, port):
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self.said = b""
        self.connect(("127.0.0.1", port))

    def recv(self, size):
        if self.CONSUMED in self.said:
            raise OSError("severed")
        data = super().recv(size)
        self.said += data
        return data


class Intake(ProgramTest):
    """One broker for all tests, and for each test a server with an empty store."""

    @classmethod
    def setUpClass(cls):
        version = subprocess.run([PROGRAM, "-o", "json", "version"], capture_output=True,
                                 env=environment(), check=True)
        if "rabbitmq" not in json.loads(version.stdout)["sinks"]:
            raise unittest.SkipTest("built without RabbitMQ")
        cls.broker = RabbitServer()
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        # So that a test can look at the message.
        self.remote("queue", "set", "delayed", "--lease", "30s")
        self.connection = self.broker.connect()
        self.addCleanup(self.hang_up)
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()

    def hang_up(self):
        if self.connection.is_open:
            self.connection.close()

    @staticmethod
    def end(process):
        """Ends the process, whatever happened in the test."""
        if process.poll() is None:
            process.kill()
        process.communicate()

    def start(self, *words):
        process = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", "json", *words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.directory, env=environment())
        self.addCleanup(self.end, process)
        return process

    def start_intake(self, *words, source):
        intake = self.start("intake", "delayed", "--from",
                            f"amqp://127.0.0.1:{self.broker.port}/?{source}", *words)
        self.assertIn(b" is there", intake.stderr.readline())
        return intake

    def stop(self, process, code=DONE):
        """Drains it; returns its counts."""
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        return json.loads(out)

    def remote(self, *words, **more):
        return self.asked(*words, store=self.server.url, **more)

    def messages(self):
        return self.remote("ls", "delayed")["messages"]

    def depth(self, queue):
        return self.channel.queue_declare(queue, passive=True).method.message_count

    def rows(self, queue):
        """From the broker's list: the queue's name, the number of ready messages and of unacked
        ones."""
        rows = self.broker.control("-q", "list_queues", "--no-table-headers", "name",
                                   "messages_ready", "messages_unacknowledged").splitlines()
        return [row for row in rows if row.startswith(queue + "\t")]

    def connections(self):
        """The connections of the broker."""
        return set(self.broker.control("-q", "list_connections", "--no-table-headers",
                                       "pid").splitlines())

    def publish(self, queue, body, **properties):
        """Publishes to the default exchange."""
        self.channel.basic_publish("", queue, body, pika.BasicProperties(**properties))

    def consumer(self, queue):
        consumer = Consumer(self.broker, queue)
        self.addCleanup(consumer.end)
        consumer.start()
        return consumer

    def test_the_guide(self):
        text = GUIDE.read_text(encoding="utf-8")
        marked = re.findall(r"<!-- plugin (\w+) -->\n```(?:sh|python)\n(.*?)```", text, re.DOTALL)
        self.assertEqual([kind for kind, _ in marked], ["consumer", "amqp", "amqp", "producer"])
        consumers, intake, relay, producer = (block for _, block in marked)
        names = {"channel": self.channel, "pika": pika}
        exec(consumers, names)  # pylint: disable=exec-used
        consumer = self.consumer("orders")
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        processes = []
        for command in (intake, relay):
            command = command.replace("@127.0.0.1/", f"@127.0.0.1:{self.broker.port}/")
            processes.append(subprocess.Popen(
                ["bash", "-c", "exec " + command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                cwd=self.directory, env=environment(PATH=path, TARRY_STORE=self.server.url)))
            self.addCleanup(self.end, processes[-1])
        self.assertIn(b" is there", processes[0].stderr.readline())
        published = time.time()
        exec(producer, names)  # pylint: disable=exec-used
        eventually(lambda: consumer.arrived, "it is handed on")
        (at, properties, body), = consumer.arrived
        self.assertGreaterEqual(at, published + 1.5)
        self.assertEqual((body, properties.message_id, properties.content_type,
                          properties.delivery_mode), ("42", "order-42", "text/plain", 2))
        self.assertEqual(properties.headers["x-delay"], -1500)
        self.assertEqual(properties.headers["tarry-key"], "order-42")
        for process in processes:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, DONE)

    def test_the_guides_scanners(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        text = GUIDE.read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- scanner -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 8)
        file, = re.findall(r"<!-- scanner file -->\n```toml\n(.*?)```", text, re.DOTALL)
        self.assertLessEqual(len(file.splitlines()), 10)

        def ours(block):
            return block.replace("redis://127.0.0.1/0?", redis.url + "?").replace(
                "@127.0.0.1/", f"@127.0.0.1:{self.broker.port}/")
        (self.directory / "tarry.toml").write_text(ours(file))
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        for produce, relay in zip(blocks[::2], blocks[1::2]):
            with self.subTest(relay):
                name, = re.findall(r"exchange=exchange_(\w+)", relay if "--to" in relay else file)
                self.channel.exchange_declare(f"exchange_{name}", "direct", durable=True)
                self.channel.queue_declare(f"at_{name}", durable=True)
                self.channel.queue_bind(f"at_{name}", f"exchange_{name}", f"routekey_{name}")
                consumer = self.consumer(f"at_{name}")
                produce = produce.replace("redis-cli", f"redis-cli -s {redis.socket}")
                subprocess.run(["bash", "-c", produce], check=True, capture_output=True)
                tasks = set(re.findall(r"task:\d", produce))
                scores = [int(redis.ask("ZSCORE", *words)) for words in
                          re.findall(r"ZADD (\S+) .* (task:\d)", produce)]
                process = subprocess.Popen(
                    ["bash", "-c", "exec " + ours(relay)], stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, cwd=self.directory, env=environment(PATH=path))
                self.addCleanup(self.end, process)
                eventually(lambda: len(consumer.arrived) >= len(tasks), f"{tasks} arrive")
                self.assertEqual({body for _, _, body in consumer.arrived}, tasks)
                self.assertGreaterEqual(min(at for at, _, _ in consumer.arrived) * 1000,
                                        min(scores))
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, DONE, err)

    def test_everything_a_producer_says_comes_back(self):
        self.channel.queue_declare("in", durable=True)
        self.channel.queue_declare("out", durable=True)
        said = dict(
            content_type="application/json", content_encoding="gzip", correlation_id="c-1",
            reply_to="replies", expiration="600000", message_id="m-1", timestamp=1_600_000_000,
            type="close", app_id="shop", priority=7, delivery_mode=1)
        headers = {"x-delay": "1", "text": "käse", "number": 7, "yes": True, "none": None,
                   "list": [1, "two", {"three": 3}], "table": {"a": {"b": -1}},
                   "two words": "x", "amqp-odd": "kept", "tarry-key": "not ours"}
        intake = self.start_intake(source="queue=in")
        self.publish("in", b"\x00body\xff", headers=headers, **said)
        self.publish("in", b"", headers={"x-delay": -5})
        self.publish("in", b"plain")
        eventually(lambda: len(self.messages()) == 3, "they are pushed")
        waiting = self.remote("get", "delayed", "m-1")
        self.assertEqual(waiting["headers"]["amqp-routing-key"], "in")
        self.assertEqual(waiting["headers"]["amqp-content-type"], "application/json")
        self.assertEqual(waiting["headers"]["text"], "käse")
        relay = self.start("relay", "delayed", "--to",
                           f"amqp://127.0.0.1:{self.broker.port}/?routing_key=out")
        eventually(lambda: self.depth("out") == 3, "they are handed on")
        found = {}
        for _ in range(3):
            _, properties, body = self.channel.basic_get("out", auto_ack=True)
            found[body] = properties
        self.assertEqual(set(found), {b"\x00body\xff", b"", b"plain"})
        properties = found[b"\x00body\xff"]
        for name, value in said.items():
            self.assertEqual(getattr(properties, name), value, name)
        expected = dict(headers) | {"x-delay": -1, "tarry-key": "m-1"}
        ours = {"tarry-queue", "tarry-attempt", "tarry-due-ms", "tarry-id"}
        self.assertEqual({name: value for name, value in properties.headers.items()
                          if name not in ours}, expected)
        self.assertEqual(found[b""].headers["x-delay"], -5)
        counts = self.stop(intake)
        self.assertEqual((counts["pushed"], counts["acked"], counts["refused"]), (3, 3, 0))
        self.stop(relay)
        self.assertEqual(self.depth("in"), 0)

    def test_expiration_as_the_delay(self):
        self.channel.queue_declare("ttl", durable=True)
        intake = self.start_intake("--expiration", "delay", source="queue=ttl")
        self.publish("ttl", b"a", expiration="3600000", message_id="a")
        self.publish("ttl", b"b", expiration="3600000", message_id="b", headers={"x-delay": 0})
        eventually(lambda: len(self.messages()) == 2, "they are pushed")
        first, second = (self.remote("get", "delayed", key) for key in "ab")
        self.assertEqual((first["state"], second["state"]), ("scheduled", "ready"))
        self.assertNotIn("amqp-expiration", first["headers"])
        self.assertEqual(second["headers"]["amqp-expiration"], "3600000")
        self.stop(intake)

    def test_keys_that_the_store_makes(self):
        self.channel.queue_declare("made", durable=True)
        intake = self.start_intake("--keys", "made", source="queue=made")
        for body in (b"1", b"2"):
            self.publish("made", body, message_id="same", headers={"x-delay": 3_600_000})
        eventually(lambda: len(self.messages()) == 2, "both are pushed")
        keys = [message["key"] for message in self.messages()]
        self.assertFalse([key for key in keys if "same" in key], keys)
        told = [self.remote("get", "delayed", key)["headers"] for key in keys]
        self.assertEqual([headers["amqp-message-id"] for headers in told], ["same", "same"])
        counts = self.stop(intake)
        self.assertEqual((counts["pushed"], counts["renamed"], counts["duplicates"]), (2, 0, 0))

    def test_what_cannot_be_taken_is_set_aside_with_the_reason(self):
        self.channel.queue_declare("odd", durable=True)
        intake = self.start_intake(source="queue=odd")
        far = 3_155_760_000_001
        for body, headers in ((b"far", {"x-delay": far}), (b"word", {"x-delay": "soon"}),
                              (b"x" * (1 << 20) + b"x", {}), (b"heads", {"h": "x" * 20_000})):
            self.publish("odd", body, headers=headers, message_id=body[:8].decode(),
                         expiration="600000")
        eventually(lambda: self.depth("odd.refused") == 4, "they are set aside")
        self.assertEqual(self.messages(), [])
        reasons = {}
        for _ in range(4):
            _, properties, body = self.channel.basic_get("odd.refused", auto_ack=True)
            reasons[body[:5]] = properties.headers["tarry-reason"]
            self.assertEqual(properties.headers["tarry-routing-key"], "odd")
            self.assertEqual(properties.headers["tarry-expiration"], "600000")
            self.assertEqual(properties.message_id, body[:8].decode())
            self.assertIsNone(properties.expiration)
        self.assertEqual(reasons[b"far"],
                         f"x-delay {far} is over 3155760000000 ms, which is 100 years")
        self.assertIn('x-delay "soon" must be milliseconds', reasons[b"word"])
        self.assertIn("1048577", reasons[b"xxxxx"])
        self.assertIn("16384", reasons[b"heads"])
        self.assertEqual(self.stop(intake)["refused"], 4)

    def test_what_cannot_be_taken_goes_where_the_source_says(self):
        self.channel.queue_declare("strict", durable=True)
        intake = self.start_intake(source="queue=strict&refused=elsewhere")
        self.publish("strict", b"word", headers={"x-delay": "soon"})
        eventually(lambda: self.depth("elsewhere") == 1, "it is set aside")
        self.assertEqual(self.stop(intake)["refused"], 1)

    def test_a_full_queue_for_what_is_refused_holds_up_nothing_else(self):
        self.channel.queue_declare("in", durable=True)
        self.channel.queue_declare("in.refused", durable=True, arguments={
            "x-max-length": 1, "x-overflow": "reject-publish"})
        self.publish("in.refused", b"there before")
        for body in (b"bad 1", b"bad 2"):
            self.publish("in", body, headers={"x-delay": "soon"})
        for i in range(20):
            self.publish("in", str(i), headers={"x-delay": 3_600_000})
        intake = self.start_intake(source="queue=in")
        connections = self.connections()
        self.assertIn(b"queue 'in.refused' is down: it takes nothing (nack)",
                      intake.stderr.readline())
        eventually(lambda: len(self.messages()) == 20, "the others are pushed")
        eventually(lambda: self.rows("in") == ["in\t0\t2"], "what cannot be set aside is kept")
        bodies = set()

        def drain():
            body = self.channel.basic_get("in.refused", auto_ack=True)[2]
            if body:
                bodies.add(body)
            return len(bodies) == 3
        eventually(drain, "they are set aside once there is room")
        self.assertEqual(bodies, {b"there before", b"bad 1", b"bad 2"})
        eventually(lambda: self.rows("in") == ["in\t0\t0"], "and then acked")
        self.assertEqual(self.connections(), connections)
        counts = self.stop(intake)
        self.assertEqual((counts["arrived"], counts["pushed"], counts["refused"]), (22, 20, 2))
        self.assertEqual(len(self.messages()), 20)

    def test_a_queue_for_what_is_refused_that_is_gone_is_made_again(self):
        self.channel.queue_declare("left", durable=True)
        intake = self.start_intake(source="queue=left")
        connections = self.connections()
        self.channel.queue_delete("left.refused")
        for i in range(10):
            self.publish("left", str(i), headers={"x-delay": "soon"})
        eventually(lambda: self.rows("left.refused") == ["left.refused\t10\t0"],
                   "they are set aside")
        self.assertEqual(self.connections(), connections)
        counts = self.stop(intake)
        self.assertEqual((counts["arrived"], counts["refused"]), (10, 10))

    def test_headers_that_leave_no_room_for_the_reason(self):
        self.channel.queue_declare("wide", durable=True)
        intake = self.start_intake(source="queue=wide")
        connections = self.connections()
        # As much as fits into one frame.
        self.publish("wide", b"body", message_id="m", headers={
            "x-delay": "soon", "large": "x" * 131_000, "small": "y"})
        self.publish("wide", b"next", headers={"x-delay": 3_600_000})
        eventually(lambda: len(self.messages()) == 1 and self.depth("wide.refused") == 1,
                   "one is pushed, the other set aside")
        _, properties, body = self.channel.basic_get("wide.refused", auto_ack=True)
        self.assertEqual((body, properties.message_id), (b"body", "m"))
        self.assertIn('x-delay "soon" must be', properties.headers.pop("tarry-reason"))
        self.assertEqual(properties.headers, {
            "x-delay": "soon", "small": "y", "tarry-exchange": "", "tarry-routing-key": "wide",
            "tarry-headers-dropped": 1})
        self.assertEqual(self.connections(), connections)
        self.assertEqual(self.stop(intake)["arrived"], 2)

    def test_so_many_are_handed_out_before_an_ack(self):
        self.channel.queue_declare("fetched", durable=True)
        intake = self.start_intake("--prefetch", "3", source="queue=fetched")
        self.server.halt()
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        for i in range(10):
            self.publish("fetched", str(i))
        eventually(lambda: self.depth("fetched") <= 7, "three are handed out")
        self.assertEqual(self.rows("fetched"), ["fetched\t7\t3"])
        self.server.process.send_signal(signal.SIGCONT)
        eventually(lambda: self.remote("queue", "info", "delayed")["counters"]["accepted"] == 10,
                   "all are pushed")
        self.assertEqual(self.stop(intake)["acked"], 10)

    def test_no_push_has_more_than_a_batch(self):
        self.channel.queue_declare("batched", durable=True)
        for i in range(40):
            self.publish("batched", str(i))
        intake = self.start_intake("--batch", "2", source="queue=batched")
        eventually(lambda: self.remote("queue", "info", "delayed")["counters"]["accepted"] == 40,
                   "all are pushed")
        self.assertEqual(self.stop(intake)["acked"], 40)
        self.assertGreaterEqual(self.server.answered("/v1/queues/*/messages"), 20)

    def test_a_server_that_takes_small_bodies_only(self):
        self.channel.queue_declare("small", durable=True)
        for i in range(100):
            self.publish("small", b"x" * 5_000 if i == 30 else b"x" * 500,
                         headers={"x-delay": 3_600_000})
        self.server = Server("memory:", "--max-body", "4KiB")
        self.addCleanup(self.server.stop)
        intake = self.start_intake(source="queue=small")
        eventually(lambda: self.rows("small") == ["small\t0\t0"], "all are acked")
        properties, body = self.channel.basic_get("small.refused", auto_ack=True)[1:]
        self.assertEqual(len(body), 5_000)
        self.assertIn("4096", properties.headers["tarry-reason"])
        counts = self.stop(intake)
        self.assertEqual((counts["pushed"], counts["refused"]), (99, 1))

    def test_a_server_that_cannot_make_sense_of_it(self):
        with urllib.request.urlopen(self.server.url + "/healthz", timeout=60) as page:
            health = page.read()

        class Deaf(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(200, health)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(400, b'{"status":400,"code":"invalid_argument","detail":"what?"}')

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Deaf)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.channel.queue_declare("unheard", durable=True)
        self.publish("unheard", b"1")
        answer = self.tarry(
            "intake", "delayed", "--from", f"amqp://127.0.0.1:{self.broker.port}/?queue=unheard",
            store=f"http://127.0.0.1:{server.server_port}", code=FAILED)
        self.assertIn("what?", answer.err)
        eventually(lambda: self.depth("unheard") == 1, "it is where it was")

    def test_a_key_that_is_taken(self):
        self.channel.queue_declare("twice", durable=True)
        intake = self.start_intake(source="queue=twice")
        for body in (b"1", b"2"):
            self.publish("twice", body, message_id="same", headers={"x-delay": 3_600_000})
        eventually(lambda: len(self.messages()) == 2, "both are pushed")
        self.assertEqual(self.stop(intake)["renamed"], 1)
        # A message is pushed again if the intake that pushed it died before its ack.
        with self.broker.connect() as other:
            channel = other.channel()
            self.publish("twice", b"1", message_id="same", headers={"x-delay": 3_600_000})
            eventually(lambda: channel.basic_get("twice")[0], "it is taken, and not acked")
        intake = self.start_intake(source="queue=twice")
        eventually(lambda: self.depth("twice") == 0 and len(self.messages()) == 2, "it is taken")
        self.assertEqual(self.stop(intake)["duplicates"], 1)
        self.assertEqual(len(self.messages()), 2)

    def test_a_store_that_is_away(self):
        self.channel.queue_declare("patient", durable=True)
        intake = self.start_intake(source="queue=patient")
        self.publish("patient", b"1", headers={"x-delay": 3_600_000})
        eventually(lambda: len(self.messages()) == 1, "it is pushed")
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.publish("patient", b"2")
        self.assertIn(b"the store is down: ", intake.stderr.readline())
        counts = self.stop(intake)
        self.assertEqual(counts["pushed"], 1)
        eventually(lambda: self.depth("patient") == 1, "it is where it was")

    def test_connections_that_bring_nothing_are_made_ever_more_rarely(self):
        self.channel.queue_declare("severed", durable=True)
        times = []

        def connect():
            times.append(time.monotonic())
            return Severing(self.broker.port)
        proxy = FaultProxy(connect)
        self.addCleanup(proxy.close)
        intake = self.start("intake", "delayed", "--from",
                            f"amqp://127.0.0.1:{proxy.port}/?queue=severed")
        for _ in range(5):
            self.assertIn(b" is there", intake.stderr.readline())
            self.assertIn(b" is down: ", intake.stderr.readline())
        waits = [after - before for before, after in zip(times, times[1:5])]
        for wait, least in zip(waits, (0.1, 0.2, 0.4, 0.8), strict=True):
            self.assertGreaterEqual(wait, least)
        self.stop(intake)

    def test_what_came_before_its_queue_was_deleted_is_acked(self):
        self.channel.queue_declare("brief", durable=True)
        intake = self.start_intake("--batch", "2", source="queue=brief")
        self.server.halt()
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        for i in range(10):
            self.publish("brief", str(i), headers={"x-delay": 3_600_000})
        eventually(lambda: self.depth("brief") == 0, "all are handed out")
        self.channel.queue_delete("brief")
        self.assertEqual(self.rows("brief"), [])
        self.server.process.send_signal(signal.SIGCONT)
        said = intake.stderr.readline()
        # On a busy machine the server was halted for long; then the store is there again.
        while b"no answer in time" in said or b"the store is there" in said:
            said = intake.stderr.readline()
        self.assertIn(b"is down: queue 'brief' is gone", said)
        counts = self.stop(intake)
        self.assertEqual((counts["pushed"], counts["acked"]), (10, 10))

    def test_a_store_that_is_slow_has_so_long(self):
        self.channel.queue_declare("slow", durable=True)
        for drain, pushed in (("1ms", 0), ("1h", 1)):
            intake = self.start_intake("--drain", drain, source="queue=slow")
            self.server.halt()
            self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
            self.publish("slow", b"1", headers={"x-delay": 3_600_000})
            eventually(lambda: self.depth("slow") == 0, "it is handed out")
            begun = time.monotonic()
            intake.send_signal(signal.SIGTERM)
            if not pushed:
                intake.wait(timeout=60)
                self.assertLess(time.monotonic() - begun, 10)  # that length holds without the flag
            self.server.process.send_signal(signal.SIGCONT)
            out, err = intake.communicate(timeout=60)
            self.assertEqual(intake.returncode, DONE, err)
            self.assertEqual(json.loads(out)["pushed"], pushed)
            self.channel.queue_purge("slow")

    def test_bad_input(self):
        self.channel.exchange_declare("topical", "topic")
        broker = f"amqp://127.0.0.1:{self.broker.port}/"
        for words, says in (
                (("--from", "http://u:secret@host/"), '"http" is no source'),
                (("--from", "aqmp://u:secret@host/"), 'did you mean "amqp"?'),
                (("--from", "amqp://127.0.0.1"), "needs queue=NAME"),
                (("--from", "amqp://127.0.0.1?queue=a&refused=a"), "another one"),
                (("--from", "amqp://127.0.0.1?queue=" + "q" * 256), "256 bytes"),
                (("--from", "amqp://127.0.0.1?queue=a&routing_key=b"), '"routing_key"'),
                (("--from", "amqp://127.0.0.1?queu=a"), 'did you mean "queue"?'),
                (("--from", "amqp://127.0.0.1?queue=a", "--prefetch", "0"), "--prefetch"),
                (("--from", "amqp://127.0.0.1?queue=a", "--expiration", "never"), "--expiration"),
                (("--from", "amqp://127.0.0.1?queue=a", "--drain", "2h"), "drain 2h")):
            with self.subTest(words):
                refused = self.refused("intake", "q", *words, says=says)
                self.assertNotIn("secret", refused.err)
        self.refused("intake", "q", "--from", broker + "?queue=a", store="memory:",
                     says="ends with this command")
        self.refused("intake", "no spaces", "--from", broker + "?queue=a", says='"no spaces"')
        self.refused("intake", ".", "--from", broker + "?queue=a", says="a step within a path")
        for source, code, says in (
                (broker + "?queue=nobody", UNKNOWN, "NOT_FOUND - no queue 'nobody'"),
                (broker + "?queue=a&exchange=topical", CONFLICT, "PRECONDITION_FAILED"),
                (broker + "?queue=a&exchange=amq.new", FAILED, "amq.new"),
                (broker.replace("//", "//guest:secret@") + "?queue=a", FAILED, "ACCESS_REFUSED"),
                (broker + "nowhere?queue=a", FAILED, "nowhere")):
            with self.subTest(source):
                refused = self.refused("intake", "q", "--from", source, store=self.server.url,
                                       code=code, says=says)
                self.assertNotIn("secret", refused.err)
        away = self.start("intake", "q", "--from", f"amqp://127.0.0.1:{free_port()}/?queue=a")
        self.assertIn(b"is down: ", away.stderr.readline())
        self.stop(away)

    def test_nothing_is_lost_and_nothing_is_early(self):
        """The whole path, while the intake is killed and the broker is restarted."""
        seed = random.randrange(1 << 32)
        print(f"seed {seed}", flush=True)
        chance = random.Random(seed)
        source = "exchange=shop2&queue=shop2.delayed"
        self.channel.exchange_declare("shop2.due", "direct", durable=True)
        self.channel.queue_declare("far", durable=True)
        self.channel.queue_bind("far", "shop2.due", "k")
        consumer = self.consumer("far")
        intake = self.start_intake("--batch", "5", "--prefetch", "50", source=source)
        relay = self.start("relay", "delayed", "--lease", "2s", "--to",
                           f"amqp://127.0.0.1:{self.broker.port}/"
                           "?exchange=shop2.due&routing_key_from=amqp-routing-key")
        due = {}  # body -> seconds
        kills = 3

        def routed(body, delay):
            """A broker that was killed may have lost the binding, until the intake makes it
            again."""
            try:
                self.channel.basic_publish("shop2", "k", body.encode(), pika.BasicProperties(
                    message_id=body, delivery_mode=2, headers={"x-delay": delay}), mandatory=True)
            except pika.exceptions.UnroutableError:
                return False
            return True

        def publish(count):
            for _ in range(count):
                body = f"m{len(due)}"
                delay = chance.randrange(-100, 3000)
                due[body] = time.time() + delay / 1000
                eventually(lambda body=body, delay=delay: routed(body, delay), "it is routed")

        for _ in range(kills):
            publish(100)
            taken = self.remote("stats")["queues"]
            eventually(lambda: self.remote("stats")["queues"] != taken, "it takes some")
            intake.kill()
            intake.communicate()
            intake = self.start_intake("--batch", "5", "--prefetch", "50", source=source)
        publish(100)
        self.hang_up()
        self.broker.shoot()
        self.broker.start()
        self.connection = self.broker.connect()
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()
        publish(100)
        eventually(lambda: due.keys() <= {body for _, _, body in consumer.arrived},
                   "everything arrives")
        counts = self.stop(intake)
        self.stop(relay)
        times = collections.Counter(body for _, _, body in consumer.arrived)
        self.assertEqual(times.keys(), due.keys())
        for at, properties, body in consumer.arrived:
            self.assertGreaterEqual(at, due[body], body)
            self.assertEqual(properties.message_id, body)
        self.assertEqual((counts["refused"], counts["renamed"]), (0, 0))
        twice = sum(times.values()) - len(times)
        late = max(at - due[body] for at, _, body in consumer.arrived)
        print(f"{len(times)} messages, {twice} duplicates, {counts['duplicates']} dropped, "
              f"the latest {late:.1f} s", flush=True)


if __name__ == "__main__":
    unittest.main()
