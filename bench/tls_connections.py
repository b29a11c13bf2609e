#!/usr/bin/env python3
"""What other clients notice while a server over TLS has thousands of idle connections, a flood of
handshakes, and handshakes that never end; and what memory a connection takes.

usage: tls_connections.py PROGRAM [--idle N] [--seconds S] [--quick] [SERVE-FLAG...]

Two processes beside it all push one message after another, each on its own kept connection: the
p99 of their pushes is the figure, and its ratio to the p99 with nothing else in the same run. The
p99 depends on the machine too: a process that only sleeps 1 ms again and again shows how late it is
woken. The flood comes from processes with the lowest priority, so that it takes no processor from
server and pushers, beyond what the server gives it itself. A server takes no more connections than
two fifths of the hard limit of open files (`ulimit -Hn`): 10,000 need 25,300.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import time

JSON = {"content-type": "application/json"}
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ADDRESSES = 50  # from which the connections come


def trusting(certificate):
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    return context


def connect(port, number=0):
    """A TCP connection from one of our addresses."""
    return socket.create_connection(("127.0.0.1", port), timeout=120,
                                    source_address=(f"127.0.0.{2 + number % ADDRESSES}", 0))


class Child:
    """A function in another process; its first argument is a pipe to here."""

    def __init__(self, run, *arguments, nice=0):
        self.pipe, theirs = multiprocessing.Pipe()
        self._child = multiprocessing.Process(
            target=self._run, args=(run, theirs, nice, arguments), daemon=True)
        self._child.start()
        theirs.close()

    @staticmethod
    def _run(run, pipe, nice, arguments):
        os.nice(nice)
        with contextlib.suppress(OSError, EOFError, http.client.HTTPException):
            run(pipe, *arguments)

    def ask(self, question):
        self.pipe.send(question)
        return self.pipe.recv()

    def end(self):
        self._child.kill()
        self._child.join()


def timed(pipe, step, pause):
    """Repeats the step; the times of all in ms since the last question are the answer to it."""
    took = []
    while True:
        if pipe.poll():
            pipe.recv()
            pipe.send(took)
            took = []
        begun = time.perf_counter()
        step()
        took.append((time.perf_counter() - begun) * 1e3)
        time.sleep(pause)


def push(pipe, port, certificate):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=120,
                                             context=trusting(certificate))
    body = json.dumps({"payload": "x" * 100, "delay": "1h"})

    def step():
        connection.request("POST", "/v1/queues/beside/messages", body, JSON)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise OSError(answer.status)

    timed(pipe, step, 0.001)


def sleep(pipe):
    timed(pipe, lambda: time.sleep(0.001), 0)


def idle(pipe, port, certificate, count):
    """Each connection has had one request answered."""
    context = certificate and trusting(certificate)
    kept = []
    for number in range(count):
        client = connect(port, number)
        if context:
            client = context.wrap_socket(client)
        client.sendall(HEALTH)
        if not client.recv(65536).startswith(b"HTTP/1.1 200 "):
            raise OSError("no health")
        kept.append(client.detach())  # the descriptor alone: no memory for TLS here
    pipe.send(len(kept))
    pipe.recv()


def handshakes(pipe, port, certificate):
    """One whole handshake after another."""
    context = trusting(certificate)
    done = 0
    while True:
        if pipe.poll():
            pipe.recv()
            pipe.send(done)
            done = 0
        with contextlib.suppress(OSError), context.wrap_socket(connect(port, done)) as client:
            done += client.version() is not None


def slow(pipe, port, certificate, count):
    """Each sends its ClientHello a byte at a time, and begins again when the server ends it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        trusting(certificate).wrap_bio(incoming, outgoing).do_handshake()
    hello = outgoing.read()
    begun, ended = {}, 0
    poll = select.poll()

    def begin():
        client = connect(port, len(begun))
        client.setblocking(False)
        poll.register(client, select.POLLIN)
        begun[client.fileno()] = [client, 0]

    for _ in range(count):
        begin()
    while True:
        if pipe.poll():
            pipe.recv()
            pipe.send(ended)
        for descriptor, _ in poll.poll(0):
            poll.unregister(descriptor)
            begun.pop(descriptor)[0].close()
            ended += 1
            begin()
        for client in begun.values():
            with contextlib.suppress(OSError):
                client[0].send(hello[client[1]:client[1] + 1])
                client[1] = min(client[1] + 1, len(hello) - 2)
        time.sleep(0.1)


class Server:
    def __init__(self, program, flags, directory, name):
        port_file = os.path.join(directory, name + "-port")
        self._log = open(os.path.join(directory, name + "-log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "serve", "--store", f"file:{directory}/{name}?sync=os", "--listen",
             "127.0.0.1:0", "--port-file", port_file, *flags], stdout=subprocess.PIPE,
            stderr=self._log, text=True)
        if not self.process.stdout.readline():
            sys.exit(f"tls_connections: the server did not start: {self.log()}")
        with open(port_file, encoding="utf-8") as file:
            self.port = int(file.read())

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def memory(self):
        """Bytes in RAM that belong to no file."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))

    def end(self):
        self.process.kill()
        self.process.wait()


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


class Beside:
    """The pushers and the sleeper, and what they measured."""

    def __init__(self, port, certificate):
        self._pushers = [Child(push, port, certificate) for _ in range(2)]
        self._sleeper = Child(sleep)
        self._before = None
        time.sleep(1)  # until they push

    def tell(self, what, seconds, more=""):
        """Measures for a while. Returns how often p99 is that of nothing else."""
        for child in (*self._pushers, self._sleeper):
            child.ask("from now on")
        time.sleep(seconds)
        pushed = sum((child.ask("until now") for child in self._pushers), [])
        p99 = percentile(pushed, 0.99)
        self._before = self._before or p99
        ratio = p99 / self._before
        woken = percentile(self._sleeper.ask("until now"), 0.99) - 1
        print(f"{what:44} p50 {percentile(pushed, 0.5):6.2f} ms, p99 {p99:6.2f} ms, "
              f"{ratio:5.2f} times; {len(pushed)} pushes; sleeper late by {woken:5.2f} ms"
              f"{more and '; ' + more()}", flush=True)
        return ratio

    def end(self):
        for child in (*self._pushers, self._sleeper):
            child.end()


def memory_of(server, count, certificate):
    """Bytes that one of so many idle connections takes, and the child that has them."""
    before = server.memory()
    child = Child(idle, server.port, certificate, count)
    if child.pipe.recv() != count:
        sys.exit(f"tls_connections: no {count} connections: {server.log()}")
    return (server.memory() - before) / count, child


def measure(server, plain, certificate, options):
    bare, child = memory_of(plain, options.idle, None)
    child.end()
    plain.end()
    seconds = options.seconds
    beside = Beside(server.port, certificate)
    ratios = [beside.tell("nothing else", seconds)]
    each, child = memory_of(server, options.idle, certificate)
    print(f"an idle connection takes {each / 1024:.1f} KiB over TLS, {bare / 1024:.1f} KiB without")
    ratios.append(beside.tell(f"{options.idle:,} idle connections", seconds))
    child.end()
    time.sleep(1)
    child = Child(slow, server.port, certificate, options.idle // 10)
    time.sleep(min(5, seconds))
    ratios.append(beside.tell(f"{options.idle // 10:,} handshakes a byte at a time", seconds,
                              lambda: f"{child.ask('ended')} ended by the server"))
    child.end()
    time.sleep(1)
    flood = [Child(handshakes, server.port, certificate, nice=19) for _ in range(2)]
    for child in flood:
        child.ask("from now on")
    ratios.append(beside.tell(
        "a flood of handshakes", seconds,
        lambda: f"{sum(child.ask('count') for child in flood) / seconds:,.0f} handshakes a second"))
    for child in flood:
        child.end()
    ratios.append(beside.tell("nothing else again", seconds))
    beside.end()
    print(f"worst p99: {max(ratios):.2f} times that with nothing else")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--quick", action="store_true", help="few connections, and short")
    options, flags = parser.parse_known_args()
    if options.quick:
        options.idle, options.seconds = min(options.idle, 200), min(options.seconds, 1)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = options.idle + 100
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = (os.path.join(directory, name) for name in ("own.pem", "own.key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2", "-subj",
                        "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", certificate], check=True, capture_output=True)
        flags = ["--max-connections", str(most), *flags]
        tls = ["--tls-cert", certificate, "--tls-key", key]
        servers = [Server(options.program, [*flags, *tls], directory, "tls"),
                   Server(options.program, flags, directory, "plain")]
        try:
            if f"not the {most:,}" in servers[0].log():
                sys.exit(f"tls_connections: {servers[0].log()}")
            measure(*servers, certificate, options)
        finally:
            for server in servers:
                server.end()


if __name__ == "__main__":
    main()
