#!/usr/bin/env python3
"""tarry serve whose log or ready line nobody reads, and which lines its log may contain. The same
for work and relay, whose standard error nobody reads.
"""

import fcntl
import http.client
import os
import select
import signal
import socket
import subprocess
import unittest

from program import DONE, PROGRAM, ProgramTest, Server, environment, eventually


def full_pipe():
    """The (reading, writing) ends of a pipe that is full."""
    reading, writing = os.pipe()
    flags = fcntl.fcntl(writing, fcntl.F_GETFL)
    fcntl.fcntl(writing, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(writing, fcntl.F_SETFL, flags)
    return reading, writing


class SlowLog(ProgramTest):
    """Neither requests nor signals wait for a reader of the log."""

    def serve(self, out, err, *flags):
        """Starts a server that writes to these files; returns it and its port."""
        file = self.directory / "port"
        process = subprocess.Popen([PROGRAM, "serve", "--store", self.store, "--listen",
                                    "127.0.0.1:0", "--port-file", str(file), *flags],
                                   stdout=out, stderr=err, env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        eventually(lambda: file.exists() and file.read_text(), "it serves")
        return process, int(file.read_text())

    def test_nobody_reads(self):
        for signals in (1, 2):
            with self.subTest(signals):
                reading, writing = full_pipe()
                self.addCleanup(os.close, reading)
                process, port = self.serve(writing, writing, "--log-level", "debug")
                os.close(writing)
                self.asked("push", "q", "x", "--in", "1h", store=f"http://127.0.0.1:{port}")
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                self.addCleanup(connection.close)
                for _ in range(1_000):
                    connection.request("GET", "/healthz")
                    answer = connection.getresponse()
                    answer.read()
                    self.assertEqual(answer.status, 200)
                for _ in range(signals):
                    process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=60), DONE)
                (self.directory / "port").unlink()
                self.assertTrue(self.asked("store", "check", "--deep")["per_shard"][0]["clean"])

    def test_what_did_not_fit_is_counted_once_somebody_reads(self):
        reading, writing = full_pipe()
        process, port = self.serve(subprocess.DEVNULL, writing, "--log-level", "debug")
        os.close(writing)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        headers = {"X-Request-ID": "i" * 128}
        for _ in range(8_000):  # more than the 1 MiB that is kept
            connection.request("GET", "/healthz", headers=headers)
            connection.getresponse().read()
        with open(reading, "rb") as log:
            for line in log:
                if b"lines of this log were left out: the reader is too slow" in line:
                    break
            process.terminate()
            rest = log.read()
        self.assertIn(b"stopped", rest)
        self.assertEqual(process.wait(timeout=60), DONE)

    def test_nobody_who_is_not_let_in_fills_it(self):
        (self.directory / "token").write_text("secret-of-sixteen-characters")
        with Server(self.store, "--token-file", str(self.directory / "token"), "--log-level",
                    "debug") as server:
            before = len(server.log())
            for head in ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n",
                         "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", "x\r\n\r\n"):
                for _ in range(500):
                    with socket.create_connection(("127.0.0.1", server.port), 60) as client:
                        client.sendall(head.encode())
                        self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 "))
            # At most one line per second of each kind; this may have taken some minutes.
            self.assertLess(len(server.log()) - before, 1_500 * 20)


class SlowStandardError(ProgramTest):
    """Neither deliveries nor the end wait for a reader."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.directory / "said")
        said = os.open(self.directory / "said", os.O_RDWR)
        self.said = os.fdopen(said, "r", encoding="utf-8")
        self.addCleanup(self.said.close)

    def start(self, *words):
        reading, writing = full_pipe()
        self.addCleanup(os.close, reading)
        process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=writing,
                                   cwd=self.directory, env=environment())
        os.close(writing)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def delivers(self, *words):
        """It reports that one queue does not exist, and still serves the other one."""
        with Server("memory:") as server:
            self.asked("push", "q", "x", "--key", "a", store=server.url)
            process = self.start("--store", server.url, *words, "--", "sh", "-c",
                                 "exec 2>&-; echo $TARRY_KEY > said")
            self.assertTrue(select.select([self.said], [], [], 60)[0], "it delivers")
            self.assertEqual(self.said.readline(), "a\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), DONE)
            self.assertEqual(
                self.asked("queue", "info", "q", store=server.url)["counters"]["acked"], 1)

    def test_work(self):
        self.delivers("work", "typo", "q")

    def test_relay(self):
        self.delivers("relay", "typo", "q", "--to", "command")


if __name__ == "__main__":
    unittest.main()
