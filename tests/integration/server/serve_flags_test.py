#!/usr/bin/env python3
"""tarry serve: the effects of settings that no other test uses."""

import http.client
import signal
import socket
import time
import unittest

from program import DONE, ProgramTest, Server, eventually

HEAD = ("POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n")
CLAIM = (b"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         b"Content-Length: 29\r\n\r\n" + b'{"queues":["q"],"wait":"10m"}')
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: mine-1\r\n\r\n"


class Flags(ProgramTest):
    """One server for each setting, which a flag sets."""

    def serve(self, *flags):
        server = Server("memory:", *flags)
        self.addCleanup(server.stop, signal.SIGKILL)
        return server

    def connect(self, server):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.addCleanup(connection.close)
        return connection

    def answer(self, connection):
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read().decode()

    def test_max_body(self):
        connection = self.connect(self.serve("--max-body", "1KiB"))
        body = b'{"payload":"%s"}'
        for size, status in ((1_010, 200), (1_011, 413)):
            text = body % (b"x" * size)
            connection.sendall(HEAD.format(len(text)).encode() + text)
            told, problem = self.answer(connection)
            self.assertEqual(told, status, problem)
        self.assertIn("limit of 1024 bytes", problem)

    def test_max_held(self):
        server = self.serve("--max-held", "1MiB")
        first = self.connect(server)
        first.sendall(HEAD.format(2_000_014).encode() + b" " * 2_000_000)
        answers = []

        def is_refused():
            second = self.connect(server)
            second.sendall(HEAD.format(5_014).encode() + b" " * 5_000 + b'{"payload":""}')
            answers.append(self.answer(second))
            return "limit of 524288 bytes" in answers[-1][1]  # half of the limit

        # Before that, the first may hold more than the quarter that one address may.
        eventually(is_refused, "what the first has sent is held")
        self.assertEqual(answers[-1][0], 429)
        first.sendall(b'{"payload":""}')
        self.assertEqual(self.answer(first)[0], 200)  # larger than the limit, but the only one

    def test_an_import_of_what_is_larger_than_all_that_may_be_held(self):
        server = self.serve("--max-held", "1MiB")
        for name in "abc":
            self.tarry("push", "q", "x" * 100_000, "--key", name * 100, "--in", "1h")
        self.tarry("push", "q", "-", "--key", "large", "--in", "1h", stdin=b"\0" * 1_000_000)
        self.tarry("store", "migrate", self.store, server.url)
        self.assertEqual(len(self.asked("ls", "q", store=server.url)["messages"]), 4)

    def test_max_connections(self):
        server = self.serve("--max-connections", "1")
        self.connect(server).sendall(CLAIM)
        second = self.connect(server)
        second.sendall(HEAD.format(2).encode() + b"{}")
        status, problem = self.answer(second)
        self.assertEqual(status, 503)
        self.assertIn("1 connections already", problem)
        probe = self.connect(server)
        probe.sendall(HEALTH)
        self.assertEqual(self.answer(probe)[0], 200)

    def test_idle_timeout(self):
        connection = self.connect(self.serve("--idle-timeout", "1s"))
        begun = time.monotonic()
        connection.sendall(HEALTH)
        self.assertEqual(self.answer(connection)[0], 200)
        self.assertEqual(connection.recv(1), b"")  # by default it would stay open for minutes
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_drain_timeout(self):
        server = self.serve("--drain-timeout", "1ms")
        connection = self.connect(server)
        head = HEAD.format(100).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n")
        connection.sendall(head.encode())
        # The request is in progress.
        self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 100 "))
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=60), DONE)
        self.assertIn("1 connections were still open after 1ms; they are cut", server.log())

    def test_log_level(self):
        server = self.serve("--log-level", "debug")
        connection = self.connect(server)
        connection.sendall(HEALTH)
        self.assertEqual(self.answer(connection)[0], 200)
        eventually(lambda: " request mine-1 GET /healthz: 200 after " in server.log(),
                   "the request is logged")


class Reloaded(Flags):
    """The same settings, set by the file when it is read again."""

    def serve(self, flag, value):
        file = self.directory / "tarry.toml"
        file.write_text("")
        server = super().serve("--config", str(file))
        section, key = ("log", "level") if flag == "--log-level" else ("server", flag[2:])
        literal = value if value.isdigit() else f'"{value}"'
        file.write_text(f"[{section}]\n{key.replace('-', '_')} = {literal}\n")
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: f'reloaded "{file}"' in server.log(), "the file is read again")
        return server


if __name__ == "__main__":
    unittest.main()
