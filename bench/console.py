#!/usr/bin/env python3
"""What the console's requests cost on a store with many queues, one of which is large.

usage: console.py PROGRAM [--pending N] [--queues N] [--consoles N] [--store URL] [--browser]

The store is a file store of its own unless --store names one, which must have none of the queues
big, busy, q0, q1... The script fills it, asks what the console's pages ask, and prints for each the
median and the 95th percentile. Then some 10,000 messages a second go through another queue, first
without a console and then with the open streams of --consoles pages: the difference between the
server's processor time is what the consoles cost. Beside that a client of its own process sends one
request at a time: what it waits must not depend on the consoles. --browser also opens the pages in
Chromium; npm installs what that needs.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

WEB = Path(__file__).resolve().parents[1] / "web"
JSON = {"content-type": "application/json"}
BATCH = 10_000
YEAR_MS = 365 * 86_400_000
RUN_SECONDS = 10


class Server:
    def __init__(self, program, store, directory):
        port_file = os.path.join(directory, "port")
        self.process = subprocess.Popen(
            [program, "serve", "--store", store, "--listen", "127.0.0.1:0", "--port-file",
             port_file], stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            sys.exit("console: the server did not start")
        with open(port_file, encoding="utf-8") as file:
            self.port = int(file.read().split(":")[-1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, method, path, body=None, connection=None):
        connection = connection or self.connection
        connection.request(method, path, body and json.dumps(body), JSON)
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            sys.exit(f"console: {method} {path}: {response.status} {answer.decode()}")
        return answer

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(server, pending, queues):
    begun = time.monotonic()
    for first in range(0, pending, BATCH):
        server.ask("POST", "/v1/queues/big/push", {"messages": [
            {"key": f"order:{n}", "payload": "x", "delay_ms": YEAR_MS // pending * n}
            for n in range(first, min(first + BATCH, pending))]})
    for n in range(queues):
        server.ask("POST", f"/v1/queues/q{n}/messages", {"delay": "1d"})
    print(f"filled: {pending:,} messages and {queues:,} queues, "
          f"{time.monotonic() - begun:.0f} s", flush=True)


def tell(what, times, size):
    times.sort()
    print(f"{what:42} median {times[len(times) // 2] * 1e3:7.1f} ms"
          f"   p95 {times[len(times) * 95 // 100] * 1e3:7.1f} ms   {size / 1e3:7.1f} KB",
          flush=True)


def measure(server, what, requests):
    times = []
    for method, path, body in requests:
        begun = time.perf_counter()
        answer = server.ask(method, path, body)
        times.append(time.perf_counter() - begun)
    tell(what, times, len(answer))


def pages(server, query, count):
    """Requests for one page after another."""
    after = ""
    for _ in range(count):
        path = f"/v1/queues/big/messages?{query}" + (f"&after={after}" if after else "")
        yield "GET", path, None
        after = json.loads(server.ask("GET", path))["next"]


def first_event(server, what):
    """Opening the overview: from the request to its first event, with all queues."""
    times = []
    for _ in range(20):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        begun = time.perf_counter()
        connection.request("GET", "/console/events")
        event = connection.getresponse().readline()
        times.append(time.perf_counter() - begun)
        connection.close()
    tell(what, times, len(event))


def traffic(server, until):
    """10,000 messages a second: pushed, claimed and acked. Returns how many there were."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    messages = {"messages": [{"payload": "x"}] * 1_000}
    done, turn = 0, time.monotonic()
    while turn < until:
        server.ask("POST", "/v1/queues/busy/push", messages, connection)
        claimed = json.loads(server.ask("POST", "/v1/claim", {"queues": ["busy"], "max": 1_000},
                                        connection))["messages"]
        server.ask("POST", "/v1/settle", {"items": [
            {"receipt": one["receipt"], "action": "ack"} for one in claimed]}, connection)
        done += len(claimed)
        turn += 0.1
        time.sleep(max(0.0, turn - time.monotonic()))
    return done


def look(server, until):
    """One console."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", "/console/events")
    answer = connection.getresponse()
    with contextlib.suppress(OSError, http.client.HTTPException):
        while time.monotonic() < until and answer.readline():
            pass
    connection.close()


def probe(port, until, pipe):
    """Another client: a push every 5 ms. Sends how long each took, in seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    times = []
    while time.monotonic() < until:
        begun = time.perf_counter()
        connection.request("POST", "/v1/queues/probe/messages", '{"delay": "1d"}', JSON)
        connection.getresponse().read()
        times.append(time.perf_counter() - begun)
        time.sleep(0.005)
    pipe.send(sorted(times))


def processor(server, consoles):
    """The server's share of a core while so many consoles look."""
    until = time.monotonic() + RUN_SECONDS
    told, pipe = multiprocessing.Pipe(duplex=False)
    other = multiprocessing.Process(target=probe, args=(server.port, until, pipe))
    other.start()
    lookers = [threading.Thread(target=look, args=(server, until)) for _ in range(consoles)]
    for one in lookers:
        one.start()
    before, begun = server.processor_seconds(), time.monotonic()
    done = traffic(server, until)
    share = (server.processor_seconds() - before) / (time.monotonic() - begun)
    rate = done / (time.monotonic() - begun)
    for one in lookers:
        one.join()
    waited = told.recv()
    other.join()
    print(f"{consoles:3} consoles, {rate:8,.0f} messages/s: {share * 100:6.2f} % of a core;"
          f" another client's push: p50 {waited[len(waited) // 2] * 1e3:.2f} ms,"
          f" p99 {waited[len(waited) * 99 // 100] * 1e3:.2f} ms", flush=True)
    return share


def in_a_browser(server, directory):
    """How long the screens take in Chromium."""
    for name in ("package.json", "package-lock.json", ".npmrc", "test/browser.mjs",
                 "test/large.mjs"):
        shutil.copy(WEB / name, directory)
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=directory, check=True)
    print("in a browser:", flush=True)
    where = {"chromium": shutil.which("chromium"), "url": f"http://127.0.0.1:{server.port}"}
    subprocess.run(["node", "large.mjs"], cwd=directory, check=True, text=True,
                   input=json.dumps(where) + "\n", timeout=600)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--pending", type=int, default=10_000_000)
    parser.add_argument("--queues", type=int, default=1_000)
    parser.add_argument("--consoles", type=int, default=10)
    parser.add_argument("--store")
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.program, options.store or f"file:{directory}/store?sync=os",
                        directory)
        try:
            fill(server, options.pending, options.queues)
            measure(server, "messages, 100 a page", pages(server, "limit=100", 100))
            measure(server, "messages, a prefix", pages(server, "limit=100&prefix=order%3A77", 20))
            measure(server, "messages, a header: 1,000 looked at",
                    pages(server, "limit=1000&header=a%3Db", 20))
            measure(server, "one message", (
                ("GET", f"/v1/queues/big/message?key=order:{n * 97}", None) for n in range(100)))
            measure(server, "due calendar, a year", [
                ("GET", "/v1/queues/big/forecast?width_ms=604800000&buckets=53", None)] * 50)
            measure(server, "bulk, dry run: 1,000 looked at", [
                ("POST", "/v1/queues/big/bulk", {"action": "cancel", "dry_run": True})] * 20)
            first_event(server, "overview, its first event")
            if options.browser:
                in_a_browser(server, directory)
            alone = [processor(server, 0), processor(server, 0)]
            watched = [processor(server, options.consoles), processor(server, options.consoles)]
            print(f"each console costs {(min(watched) - min(alone)) / options.consoles * 100:.2f} "
                  "% of a core")
        finally:
            server.process.send_signal(signal.SIGTERM)
            server.process.wait()


if __name__ == "__main__":
    main()
