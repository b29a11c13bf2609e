#!/usr/bin/env python3
"""What a delay costs a RabbitMQ broker: its processor time for each message, by the number of rungs
that the message visits, and the bytes that x-death adds to it.

usage: rabbitmq_hops.py PROGRAM [--messages N] [--rounds N]

It starts a broker, and pushes batches of 100 through a `tarry serve`. The time runs from the first
push until all messages are due, without what the broker uses when it is idle.
"""

import argparse
import http.client
import json
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "harness"))
import program  # noqa: E402
from rabbit_server import RabbitServer  # noqa: E402

BASE_MS = 100
HOPS = (0, 1, 2, 4, 6)
BATCH = 100
IDLE_SECONDS = 2
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(group):
    """Of all processes of that process group."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        if int(fields[2]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / TICK


class Server:
    """A `tarry serve` on the broker, asked over one connection."""

    def __init__(self, server):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def ask(self, method, path, body=None):
        self._connection.request(method, path, body and json.dumps(body),
                                 {"content-type": "application/json"})
        response = self._connection.getresponse()
        answer = response.read()
        if response.status != 200:
            sys.exit(f"rabbitmq_hops: {method} {path}: {response.status} {answer}")
        return json.loads(answer)

    def push(self, queue, count, delay_ms):
        for _ in range(count // BATCH):
            self.ask("POST", f"/v1/queues/{queue}/messages",
                     {"messages": [{"payload": "x" * 100, "delay_ms": delay_ms}] * BATCH})

    def ready(self, queue):
        return self.ask("GET", f"/v1/queues/{queue}")["ready"]

    def purge(self, queue):
        self.ask("POST", f"/v1/queues/{queue}/purge", {})


def delay_of(hops):
    """A delay whose message visits the lowest `hops` rungs. It is rounded up to their sum."""
    return max(0, ((1 << hops) - 1) * BASE_MS - BASE_MS // 2)


def x_death_bytes(broker, queue):
    """Of one message there, as the broker sends it, and how many rungs it has visited."""
    connection = broker.connect()
    channel = connection.channel()
    _, properties, _ = channel.basic_get(f"tarry.v1.queue.{queue}")
    with_deaths = len(b"".join(properties.encode()))
    deaths = properties.headers.pop("x-death", [])
    for name in [name for name in properties.headers if name.startswith("x-")]:
        del properties.headers[name]
    without = len(b"".join(properties.encode()))
    connection.close()
    return with_deaths - without, len(deaths)


def measure(broker, server, hops, count):
    """Microseconds of the broker for a message, and the bytes of x-death."""
    queue = f"hops{hops}"
    server.push(queue, BATCH, 0)
    server.purge(queue)
    begun, before = time.monotonic(), processor_seconds(broker.group)
    time.sleep(IDLE_SECONDS)
    idle = (processor_seconds(broker.group) - before) / (time.monotonic() - begun)
    begun, before = time.monotonic(), processor_seconds(broker.group)
    server.push(queue, count, delay_of(hops))
    deadline = time.monotonic() + 300
    while server.ready(queue) < count:
        if time.monotonic() > deadline:
            sys.exit(f"rabbitmq_hops: {server.ready(queue)} of {count} messages came")
        time.sleep(0.05)
    used = processor_seconds(broker.group) - before - idle * (time.monotonic() - begun)
    added, visited = x_death_bytes(broker, queue)
    server.purge(queue)
    if visited != hops:
        sys.exit(f"rabbitmq_hops: a message visited {visited} rungs, not {hops}")
    return used / count * 1e6, added


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    program.PROGRAM = wanted.program
    print(f"{'queues':8} {'rungs':>5} {'us a message':>24} {'x-death bytes':>14}")
    for queues in ("quorum", "classic"):
        broker = RabbitServer()
        try:
            broker.start()
            store = f"amqp://127.0.0.1:{broker.port}/?rung={BASE_MS}ms&queues={queues}"
            with program.Server(store) as running:
                server = Server(running)
                runs = {hops: [] for hops in HOPS}
                for _ in range(wanted.rounds):
                    for hops in HOPS:
                        runs[hops].append(measure(broker, server, hops, wanted.messages))
                for hops, measured in runs.items():
                    us = sorted(each[0] for each in measured)
                    print(f"{queues:8} {hops:5} {statistics.median(us):8.0f} ({us[0]:.0f} to "
                          f"{us[-1]:.0f}) {measured[0][1]:14}", flush=True)
        finally:
            broker.close()


if __name__ == "__main__":
    main()
