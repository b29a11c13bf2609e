#!/usr/bin/env python3
"""Certificates and tokens are rotated while clients push, claim and settle: no request fails.

TARRY_ROTATION_SECONDS: how long (default: 4). Then it prints the load too.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import unittest

from authority import Authority
from program import PROGRAM, ProgramTest, Server, environment, eventually

SECONDS = float(os.environ.get("TARRY_ROTATION_SECONDS", "4"))
CLIENTS = 2
MESSAGES = 60_000 if SECONDS > 4 else 5_000  # of each round of `tarry bench`
CERTIFICATES = ("server", "next")


class Load(threading.Thread):
    """Runs `tarry bench` again and again, each time with the newest token."""

    def __init__(self, number, url, newest):
        super().__init__()
        self.number, self.url, self.newest = number, url, newest
        self.token = newest()
        self.lives = 0
        self.done = threading.Event()
        self.failures = []

    def run(self):
        while not self.done.is_set():
            self.token = self.newest()
            bench = subprocess.run(
                [PROGRAM, "bench", "--store", self.url, "--queue", f"load-{self.number}",
                 "--messages", str(MESSAGES), "--batch", "100", "--clients", "2",
                 "--each", "200ms", "-o", "json"],
                env=environment(TARRY_TOKEN=self.token), capture_output=True, text=True)
            if bench.returncode != 0:
                self.failures.append(bench.stderr)
                return
            loads = json.loads(bench.stdout)["lateness"]
            self.lives += MESSAGES + sum(load["messages"] for load in loads)


class Rotation(ProgramTest):
    def setUp(self):
        super().setUp()
        self.cert, self.key = self.directory / "cert", self.directory / "key"
        self.tokens = self.directory / "tokens"
        self.names = {}  # by token
        self.authority = Authority(self.directory / "authority")
        for name in CERTIFICATES:
            self.authority.issue(name)

    def put_certificate(self, name):
        for source, to in ((self.authority.chain(name), self.cert),
                           (self.authority.key(name), self.key)):
            shutil.copy(source, f"{to}.new")
            os.rename(f"{to}.new", to)

    def add_token(self):
        name = f"load-{len(self.names)}"
        made = self.tarry("token", "new", name, "--scopes", "read,push,consume,admin",
                          "--queues", "load-*", "--tokens-file", str(self.tokens), store="")
        self.newest = made.out.strip()
        self.names[self.newest] = name

    def drop_tokens_but(self, used):
        wanted = {self.names[token] for token in used}
        lines = [line for line in self.tokens.read_text().splitlines(keepends=True)
                 if line.split()[:1] == [] or line.startswith("#") or line.split()[0] in wanted]
        new = self.tokens.with_suffix(".new")
        new.write_text("".join(lines))
        new.chmod(0o600)
        new.rename(self.tokens)

    def reload(self, server):
        done = server.log().count(" reloaded")
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: server.log().count(" reloaded") > done, "it has reloaded")

    def test_no_request_fails(self):
        self.put_certificate("server")
        self.add_token()
        flags = ("--tls-cert", str(self.cert), "--tls-key", str(self.key),
                 "--tokens-file", str(self.tokens))
        with Server(self.store + "?sync=os", *flags) as server:
            url = f"https://localhost:{server.port}?ca={self.authority.path('root')}"
            loads = [Load(number, url, lambda: self.newest) for number in range(CLIENTS)]
            begun = time.monotonic()
            for load in loads:
                load.start()
            rotations = 0
            try:
                while time.monotonic() - begun < SECONDS or rotations < 4:
                    rotations += 1
                    self.put_certificate(CERTIFICATES[rotations % 2])
                    if rotations % 2 == 0:
                        self.add_token()
                    self.reload(server)
                    # Every client has taken the newest token before the others go.
                    if rotations % 4 == 0:
                        eventually(lambda: all(load.token == self.newest or load.failures
                                               for load in loads), "clients take the new token")
                        self.drop_tokens_but({self.newest})
                        self.reload(server)
            finally:
                for load in loads:
                    load.done.set()
                for load in loads:
                    load.join()
            seconds = time.monotonic() - begun
        self.assertEqual([load.failures for load in loads], [[]] * CLIENTS)
        if SECONDS > 4:
            lives = sum(load.lives for load in loads)
            print(f"{lives / seconds:,.0f} lives a second, {rotations} certificates, "
                  f"{len(self.names)} tokens, no failure")


if __name__ == "__main__":
    unittest.main()
