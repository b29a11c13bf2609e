#!/usr/bin/env python3
"""What other clients notice while thousands of claims, each of many queues, begin to wait at a
server, hang up, are woken, expire and are ended by SIGTERM.

usage: waiting_claims.py PROGRAM [--claims N] [--queues N] [--store URL] [SERVE-FLAG...]

The store is a file store of its own unless --store names one, which must have no queue q0, q1...
A process beside it all pushes one message after another to another queue: its slowest push is the
figure. Another process only sleeps 2 ms again and again: where it wakes late, the machine was busy,
not the server: be alone on it, or go before the others (`nice -n -19`). Each claim is a connection,
and the server takes no more of them than two fifths of the hard limit of open files (`ulimit -Hn`):
10,000 claims need 25,300.
"""

import argparse
import collections
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

JSON = {"content-type": "application/json"}
NEVER = "3000s"


class Worst:
    """The worst value in ms that another process has measured since the last call."""

    def __init__(self, measure, *arguments):
        self._ms = multiprocessing.Value("d", 0.0)
        self._child = multiprocessing.Process(target=self._run, args=(measure, arguments),
                                              daemon=True)
        self._child.start()

    def _run(self, measure, arguments):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the server has gone
            for ms in measure(*arguments):
                with self._ms.get_lock():
                    self._ms.value = max(self._ms.value, ms)
                time.sleep(0.002)

    def take(self):
        with self._ms.get_lock():
            ms, self._ms.value = self._ms.value, 0.0
        return ms


def pushes(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = json.dumps({"payload": "x", "delay": "1h"})
    while True:
        begun = time.perf_counter()
        connection.request("POST", "/v1/queues/beside/messages", body, JSON)
        connection.getresponse().read()
        yield (time.perf_counter() - begun) * 1e3


def sleeps():
    while True:
        begun = time.perf_counter()
        time.sleep(0.002)
        yield (time.perf_counter() - begun) * 1e3 - 2


class Claims:
    """Claims, each on its own connection, in a process that can be killed."""

    def __init__(self, port, count, queues, wait):
        self._ours, theirs = multiprocessing.Pipe()
        self._child = multiprocessing.Process(target=self._run,
                                              args=(theirs, port, count, queues, wait), daemon=True)
        self._child.start()
        theirs.close()
        self._ours.recv()

    @staticmethod
    def _run(pipe, port, count, queues, wait):
        body = json.dumps({"queues": queues, "wait": wait, "max": 1}).encode()
        head = (b"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n")
        request = head % len(body) + body
        waiting = {}
        answers = select.epoll()
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(request)
            answers.register(one, select.EPOLLIN)
            waiting[one.fileno()] = one
        pipe.send("sent")
        statuses = collections.Counter()
        while statuses.total() < count:
            for descriptor, _ in answers.poll():
                answers.unregister(descriptor)
                head = waiting[descriptor].recv(65536)
                statuses[head[9:12].decode() or "hung up"] += 1
        pipe.send(dict(statuses))
        pipe.recv()

    def answers(self):
        """How many claims got which status. Waits until all are answered."""
        return self._ours.recv()

    def kill(self):
        self._child.kill()
        self._child.join()


class Server:
    def __init__(self, program, store, flags, directory):
        port_file = os.path.join(directory, "port")
        self._log = open(os.path.join(directory, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "serve", "--store", store, "--listen", "127.0.0.1:0", "--port-file",
             port_file, *flags], stdout=subprocess.PIPE, stderr=self._log, text=True)
        if not self.process.stdout.readline():
            sys.exit(f"waiting_claims: the server did not start: {self.log()}")
        with open(port_file, encoding="utf-8") as file:
            self.port = int(file.read().split(":")[-1])

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body and json.dumps(body), JSON)
        response = connection.getresponse()
        answer = json.loads(response.read() or b"{}")
        if response.status >= 300:
            sys.exit(f"waiting_claims: {method} {path}: {response.status} {answer}\n{self.log()}")
        return answer

    def wait_for(self, waiting):
        for _ in range(300):
            there = self.ask("GET", "/v1/queues/q0").get("waiting_claims", 0)
            if there == waiting:
                return
            time.sleep(0.2)
        sys.exit(f"waiting_claims: {there:,} claims wait, not {waiting:,}\n{self.log()}")

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))


def measure(server, count, queues):
    pushed, slept = Worst(pushes, server.port), Worst(sleeps)

    def tell(what, begun):
        took = time.monotonic() - begun
        time.sleep(0.5)  # includes the work that the server still does after that
        print(f"{what:24} {took:6.2f} s   slowest push {pushed.take():6.1f} ms"
              f"   a sleeper late by {slept.take():6.1f} ms", flush=True)

    def begin():
        time.sleep(1)
        pushed.take(), slept.take()
        return time.monotonic()

    def arrive(wait=NEVER):
        claims = Claims(server.port, count, queues, wait)
        if wait == NEVER:
            server.wait_for(count)
        return claims

    begun = begin()
    time.sleep(2)
    tell("nothing else", begun)
    begun = begin()
    claims = arrive()
    tell(f"arrival, {server.rss_mb()} MB RSS", begun)
    begun = begin()
    claims.kill()
    server.wait_for(0)
    tell("hang-up of all", begun)

    claims = arrive()
    begun = begin()
    middle = queues[len(queues) // 2]
    for first in range(0, count, 10_000):
        messages = [{"payload": "x"}] * min(10_000, count - first)
        server.ask("POST", f"/v1/queues/{middle}/messages", {"messages": messages})
    tell(f"wake-up of all: {claims.answers()}", begun)
    claims.kill()

    wait = max(5, count // 200)
    claims = arrive(f"{wait}s")
    begun = begin()
    tell(f"expiry of all: {claims.answers()}", begun)
    claims.kill()

    claims = arrive()
    begun = begin()
    server.process.send_signal(signal.SIGTERM)
    answers = claims.answers()
    tell(f"SIGTERM: {answers}", begun)
    server.process.wait()
    print(f"the server ended {time.monotonic() - begun:.2f} s after it, at the most")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--claims", type=int, default=10_000)
    parser.add_argument("--queues", type=int, default=1_000)
    parser.add_argument("--store")
    options, flags = parser.parse_known_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = options.claims + 100
    # One client may hold a quarter of it; each queue of a claim takes some 70 bytes.
    held = max(1 << 30, 4 * 100 * options.claims * options.queues)
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.program, options.store or f"file:{directory}/store?sync=os",
                        ["--max-connections", str(most), "--max-held", str(held), *flags],
                        directory)
        try:
            if f"not the {most:,}" in server.log():
                sys.exit(f"waiting_claims: {server.log()}")
            server.ask("PUT", "/v1/queues/q0", {"lease": "30s"})
            measure(server, options.claims, [f"q{n}" for n in range(options.queues)])
        finally:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    main()
