#!/usr/bin/env python3
"""A store in RabbitMQ, behind a server and by the command line; and what a broker refuses."""

import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest

from ports import free_port
from program import (CONFLICT, DONE, FAILED, PROGRAM, UNREACHABLE, ProgramTest, Server, environment,
                     eventually)
from rabbit_server import RabbitServer

import pika

BROKER = None
TLS_PORT = free_port()
CERTIFICATES = None


def setUpModule():
    """One broker for all, as one takes long to start."""
    global BROKER, CERTIFICATES
    CERTIFICATES = tempfile.TemporaryDirectory(prefix="tarry-rabbit-tls-")
    unittest.addModuleCleanup(CERTIFICATES.cleanup)
    for name in ("broker", "other"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{name}.key",
             "-out", f"{name}.pem"], cwd=CERTIFICATES.name, check=True, capture_output=True)
    here = CERTIFICATES.name
    BROKER = RabbitServer(f"listeners.ssl.1 = 127.0.0.1:{TLS_PORT}\n"
                          f"ssl_options.certfile = {here}/broker.pem\n"
                          f"ssl_options.keyfile = {here}/broker.key\n"
                          f"ssl_options.cacertfile = {here}/broker.pem\n")
    unittest.addModuleCleanup(BROKER.close)
    BROKER.start()


class OnBroker(ProgramTest):
    def setUp(self):
        super().setUp()
        self.store = self.url()

    def url(self, login="", vhost="", options=""):
        return f"amqp://{login}127.0.0.1:{BROKER.port}/{vhost}{options}"


class Surfaces(OnBroker):
    def end(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), DONE)

    def test_worker_and_relay(self):
        out = self.directory / "out"
        for words in (["work", "orders", "--", "/bin/sh", "-c", f"cat >> {out}; echo >> {out}"],
                      ["relay", "orders", "--max-attempts", "3", "--to", "stdout"]):
            pushed = self.asked("push", "orders", "one", "--key", "k", "--in", "300ms")
            self.assertEqual(pushed["outcome"], "pushed")
            self.tarry("push", "orders", "two")
            with open(out, "ab") as printed:
                process = subprocess.Popen([PROGRAM, *words], stdout=printed,
                                           env=environment(TARRY_STORE=self.store))
                try:
                    eventually(lambda: b"one" in out.read_bytes() and b"two" in out.read_bytes(),
                               f"both have come out of {words[0]}")
                finally:
                    self.end(process)
            out.unlink()
        eventually(lambda: self.asked("queue", "info", "orders")["ready"] == 0, "all are acked")

    def test_every_verb_by_a_server(self):
        with Server(self.store) as server:
            def asked(*words, **more):
                return self.asked(*words, store=server.url, **more)

            def claimed():
                (message,) = asked("claim", "verbs", "--wait", "1m")["messages"]
                return message
            asked("push", "verbs", "x", "--key", "k", "--in", "200ms", "--header", "lang=de")
            first = claimed()
            self.assertEqual((first["key"], first["attempt"], first["payload"], first["headers"]),
                             ("k", 1, "x", {"lang": "de"}))
            self.assertGreaterEqual(first["claimed_ms"], first["due_ms"])
            asked("retry", "verbs", first["receipt"], "--in", "100ms")
            self.tarry("ack", "verbs", first["receipt"], code=CONFLICT, store=server.url)
            second = claimed()
            self.assertEqual((second["id"], second["attempt"]), (first["id"], 2))
            asked("release", "verbs", second["receipt"])
            third = claimed()
            self.assertEqual(third["attempt"], 2)
            asked("bury", "verbs", third["receipt"], "--reason", "no such shop")
            eventually(lambda: asked("dead", "ls", "verbs")["messages"], "it is among the dead")
            (dead,) = asked("dead", "ls", "verbs")["messages"]
            self.assertEqual((dead["key"], dead["reason"]), ("k", "no such shop"))
            asked("dead", "revive", "verbs", "k")
            asked("ack", "verbs", claimed()["receipt"])
            self.assertIn("? scheduled", self.tarry("queue", "info", "verbs", store=server.url).out)
            asked("push", "verbs", "y")
            eventually(lambda: asked("queue", "info", "verbs")["ready"] == 1, "it is due")
            purged = self.tarry("queue", "purge", "verbs", "--yes", store=server.url)
            self.assertIn("1 message purged", purged.out)
            self.assertIn("still fall due later", purged.err)
            # Nothing is told of what nobody counts.
            self.assertIn("Nothing is due in queue verbs.", self.tarry(
                "claim", "verbs", store=server.url).err)

    def test_what_it_cannot_do_is_refused_by_name(self):
        self.tarry("push", "orders", "x")
        receipt = "rb1.1.1.1"
        with Server(self.store) as server:
            for says, *words in (
                    ("rabbitmq cannot cancel", "cancel", "orders", "k"),
                    ("rabbitmq cannot reschedule", "reschedule", "orders", "k", "--in", "1m"),
                    ("rabbitmq cannot get", "get", "orders", "k"),
                    ("rabbitmq cannot list what is not dead", "ls", "orders"),
                    ("rabbitmq cannot claim for a lease", "claim", "orders", "--lease", "1m"),
                    ("rabbitmq cannot extend", "extend", "orders", receipt),
                    ("rabbitmq cannot forecast", "forecast", "orders"),
                    ("rabbitmq cannot keep settings", "queue", "set", "orders", "--lease", "1m"),
                    ("rabbitmq cannot pause", "queue", "pause", "orders"),
                    ("rabbitmq cannot remove a queue", "queue", "rm", "orders", "--yes"),
                    ("rabbitmq cannot keep priorities", "push", "orders", "x", "--priority", "1"),
                    ("rabbitmq cannot look whether a key exists", "push", "orders", "x", "--key",
                     "k", "--if-exists", "replace"),
                    ("over the ladder's top, 621d", "push", "orders", "x", "--in", "9000d"),
                    ("nothing to audit", "store", "audit")):
                self.refused(*words, code=None, says=says, store=server.url)
        self.refused("claim", "orders", code=FAILED, says="a claim ends with its connection")

    def test_tls(self):
        store = f"amqps://localhost:{TLS_PORT}/?ca={CERTIFICATES.name}/broker.pem"
        self.assertEqual(self.asked("push", "tls", "x", store=store)["outcome"], "pushed")
        eventually(lambda: self.asked("queue", "info", "tls", store=store)["ready"] == 1, "it came")
        self.refused("push", "tls", "x", code=UNREACHABLE, says="rabbitmq localhost",
                     store=store.replace("broker.pem", "other.pem"))


class OldBroker:
    """Says that it is RabbitMQ 3.7.28, lets everybody log in, and answers nothing more."""

    def __init__(self):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @staticmethod
    def _method(number, arguments):
        body = struct.pack(">HH", 10, number) + arguments
        return struct.pack(">BHI", 1, 0, len(body)) + body + b"\xce"

    def _serve(self):
        version = b"\x07version" + b"S" + struct.pack(">I", 6) + b"3.7.28"
        start = (b"\0\x09" + struct.pack(">I", len(version)) + version +
                 struct.pack(">I", 5) + b"PLAIN" + struct.pack(">I", 5) + b"en_US")
        connection, _ = self._listening.accept()
        with connection:
            connection.recv(8)
            connection.sendall(self._method(10, start))
            connection.recv(4096)
            connection.sendall(self._method(30, struct.pack(">HIH", 2047, 131072, 0)))
            heard = b""
            while struct.pack(">HH", 10, 40) not in heard:  # connection.open
                heard += connection.recv(4096)
            connection.sendall(self._method(41, b"\0"))
            while connection.recv(4096):
                pass

    def close(self):
        self._thread.join()
        self._listening.close()


class Refusals(OnBroker):
    """Each is one clear line, and nothing is half declared."""

    def there(self, exchange):
        connection = BROKER.connect()
        try:
            connection.channel().exchange_declare(exchange, passive=True)
            return True
        except pika.exceptions.ChannelClosedByBroker:
            return False
        finally:
            connection.close()

    def push(self, says, **url):
        return self.refused("push", "q", "x", code=None, says=says, store=self.url(**url))

    def policy(self, name, pattern, definition):
        BROKER.control("set_policy", "--apply-to", "queues", name, pattern, definition)
        self.addCleanup(BROKER.control, "clear_policy", name)

    def test_a_vhost_that_is_not_there(self):
        self.push("vhost nowhere not found", vhost="nowhere")

    def test_a_wrong_password(self):
        answer = self.push("rabbitmq 127.0.0.1", login="guest:s3cret@")
        self.assertNotIn("s3cret", answer.err)

    def test_no_permission_to_configure(self):
        BROKER.control("add_user", "reader", "secret")
        BROKER.control("set_permissions", "reader", "^$", ".*", ".*")
        self.push(["cannot declare exchange tarry.v1.", "access"], login="reader:secret@",
                  options="?rung=7ms")
        self.assertFalse(self.there("tarry.v1.7ms.rung.00"))
        # May configure the first rungs alone: they are taken back.
        BROKER.control("set_permissions", "reader", r"^tarry\.v1\.(ready|8ms\.rung\.0.)$", ".*",
                       ".*")
        self.push("cannot declare exchange tarry.v1.8ms.rung.10", login="reader:secret@",
                  options="?rung=8ms")
        self.assertFalse(self.there("tarry.v1.8ms.rung.00"))
        # Where somebody else has declared them, the same user can use them.
        self.tarry("push", "q", "x", store=self.url(options="?rung=8ms"))
        BROKER.control("set_permissions", "reader", "^$", ".*", ".*")
        self.tarry("push", "q", "x", store=self.url("reader:secret@", options="?rung=8ms"))

    def test_a_queue_of_our_name_with_other_arguments(self):
        connection = BROKER.connect()
        connection.channel().queue_declare("tarry.v1.9ms.rung.03", durable=True,
                                           arguments={"x-message-ttl": 5})
        connection.close()
        self.push(["cannot declare queue tarry.v1.9ms.rung.03", "inequivalent arg"],
                  options="?rung=9ms")
        self.assertFalse(self.there("tarry.v1.9ms.rung.00"))
        # Of one queue: the ladder, which was made before it, stays.
        connection = BROKER.connect()
        connection.channel().queue_declare("tarry.v1.queue.taken", durable=True)
        connection.close()
        self.refused("push", "taken", "x", code=CONFLICT, store=self.url(options="?rung=4ms"),
                     says=["cannot declare queue tarry.v1.queue.taken", "inequivalent arg"])
        self.assertTrue(self.there("tarry.v1.4ms.rung.28"))
        self.assertEqual(BROKER.control("list_queues", "-q", "--no-table-headers", "name").split()
                         .count("tarry.v1.dead.taken"), 0)

    def test_a_broker_that_is_too_old(self):
        broker = OldBroker()
        self.addCleanup(broker.close)
        self.refused("push", "q", "x", code=FAILED,
                     says="the broker is RabbitMQ 3.7.28; a store needs 3.8 or later",
                     store=f"amqp://127.0.0.1:{broker.port}/")

    def test_a_policy_that_limits_a_queue(self):
        self.policy("small", r"^tarry\.v1\.queue\.small$", '{"max-length":2}')
        with Server(self.store) as server:
            refused = None

            def is_full():
                nonlocal refused
                refused = self.tarry("push", "small", "x", code=None, store=server.url)
                return refused.code != DONE
            eventually(is_full, "the queue is full")
            self.assertIn("tarry.v1.queue.small", refused.err)
            self.assertIn("policy", refused.err)

    def test_a_policy_that_shortens_the_rungs(self):
        self.policy("short", r"^tarry\.v1\.100ms\.rung\.", '{"message-ttl":1}')
        with Server(self.store) as server:
            self.tarry("push", "hasty", "x", "--in", "2s", store=server.url)
            (message,) = self.asked("claim", "hasty", "--wait", "1m", store=server.url)["messages"]
            self.assertGreaterEqual(message["claimed_ms"], message["due_ms"])
            self.assertRegex(server.log(), "queue hasty: a message came .* before it was due")
            self.tarry("ack", "hasty", message["receipt"], store=server.url)

    def test_memory_alarm(self):
        with Server(self.url(options="?rung=6ms&queues=classic")) as server:
            self.tarry("push", "alarm", "before", store=server.url)
            BROKER.control("set_vm_memory_high_watermark", "0.0000001")
            try:
                eventually(lambda: "takes no messages now" in self.tarry(
                    "push", "alarm", "x", code=None, store=server.url).err, "it is refused")
                # Claims and acks go on meanwhile.
                (message,) = self.asked("claim", "alarm", "--wait", "1m",
                                        store=server.url)["messages"]
                self.tarry("ack", "alarm", message["receipt"], store=server.url)
            finally:
                BROKER.control("set_vm_memory_high_watermark", "0.6")
            eventually(lambda: self.tarry("push", "alarm", "x", code=None,
                                          store=server.url).code == DONE, "it is taken again")
            self.assertTrue(re.search("takes messages again", server.log()))


if __name__ == "__main__":
    unittest.main()
