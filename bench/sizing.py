#!/usr/bin/env python3
"""What a message costs in Redis, on one, two and three masters: the figures behind
`tarry bench --plan` (src/app/sizing/costs.cpp) and docs/guide/sizing.md.

    bench/sizing.py PROGRAM [--messages N] [--rounds N] [--kinds N]
        [-o table|json]

Each run has masters of its own, on free ports, in a temporary directory. `tarry bench` takes
messages through their lives in batches of 100; the masters' own counters say what that cost:
processor time and bytes over the network (INFO), bytes of the append-only file. Then messages that
are due within a month are pushed, and `used_memory` says what one takes. Last the masters are
started again from that file. Medians over the rounds, lowest and highest beside them.
"""

import argparse
import collections
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "harness"))
from redis_cluster import MASTERS, Cluster  # noqa: E402
from redis_server import RedisServer  # noqa: E402

PERSISTENT = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
              "--auto-aof-rewrite-percentage", "0")
SHARDS_A_MASTER = 2
PAYLOADS = (100, 300, 1000)
BATCH = 100
OTHER_BATCHES = (10, 1000)
WARM = 10  # messages before a measurement, so that the queue is there
MONTH = 30 * 24 * 3600


class Single:
    """A single master without a cluster."""

    def __init__(self):
        self._server = RedisServer(*PERSISTENT)
        self.masters = [self._server]

    def start(self):
        self._server.start()

    def store(self):
        return f"{self._server.url}?shards={SHARDS_A_MASTER}"

    def close(self):
        self._server.close()


class Some:
    """A cluster. The partitions of a queue's shards are on the first masters only."""

    def __init__(self, masters):
        self._cluster = Cluster(*PERSISTENT, replicas=False)
        self.masters = self._cluster.nodes[:MASTERS]
        self.used = masters

    def start(self):
        self._cluster.start()

    def store(self):
        shards = SHARDS_A_MASTER * self.used
        return f"{self._cluster.url}?shards={shards}&partitions={shards}"

    def close(self):
        self._cluster.close()


def info(server, section):
    fields = (line.split(":", 1) for line in server.ask("INFO", section).splitlines()
              if ":" in line)
    return {name: value for name, value in fields}


class Counters:
    """The sums of the masters' counters."""

    def __init__(self, masters):
        self.cpu_us = self.sent = self.received = self.commands = self.memory = self.aof = 0
        for master in masters:
            cpu, stats = info(master, "cpu"), info(master, "stats")
            self.cpu_us += 1e6 * (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"]))
            self.received += int(stats["total_net_input_bytes"])
            self.sent += int(stats["total_net_output_bytes"])
            self.commands += int(stats["total_commands_processed"])
            self.memory += int(info(master, "memory")["used_memory"])
            self.aof += int(info(master, "persistence")["aof_current_size"])


def tarry(program, store, *words, stdin=None):
    done = subprocess.run([program, "--store", store, "-o", "json", *words], input=stdin,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout) if done.stdout else None


def life(program, there, messages, payload, batch):
    """Costs of a message's life: processor time of the server and of the client, bytes to and from
    the server, and bytes of its file."""
    before, client = Counters(there.masters), os.times()
    rates = tarry(program, there.store(), "bench", "--messages", str(messages), "--batch",
                  str(batch), "--payload", str(payload), "--each", "100ms")
    after, done = Counters(there.masters), os.times()
    lives = messages + sum(run["messages"] for run in rates["lateness"])
    client_us = 1e6 * (done.children_user + done.children_system
                       - client.children_user - client.children_system)
    return {"server_us": (after.cpu_us - before.cpu_us) / lives, "client_us": client_us / lives,
            "in": (after.received - before.received) / lives,
            "out": (after.sent - before.sent) / lives,
            "written": (after.aof - before.aof) / lives}


def lines(first, count, payload):
    """Lines of messages that are due within the month after the next hour."""
    text = "x" * payload
    for number in range(first, first + count):
        due = 3600 + (number * 7919) % MONTH
        yield json.dumps({"payload": text, "delay": f"{due}s"}) + "\n"


def pending(program, there, messages, payload):
    """Bytes of a pending message in RAM and in the file."""
    def push(first, count):
        tarry(program, there.store(), "push", f"pending-{payload}", "--jsonl", "-",
              stdin="".join(lines(first, count, payload)).encode())
    push(0, WARM)
    before = Counters(there.masters)
    push(WARM, messages)
    after = Counters(there.masters)
    return {"memory": (after.memory - before.memory) / messages,
            "disk": (after.aof - before.aof) / messages}


def restart(there):
    """Bytes of RAM per second that a master loads from its file after SIGKILL."""
    master = there.masters[0]
    memory = int(info(master, "memory")["used_memory"])
    master.shoot()
    master.bury()
    begun = time.monotonic()
    master.start()
    return {"restart": memory / (time.monotonic() - begun)}


def rounds_of(options):
    """For each kind of masters, the figures of all rounds."""
    kinds = {"one server": Single, **{f"cluster, {n} of 3 masters": functools.partial(Some, n)
                                      for n in range(1, MASTERS + 1)}}
    kinds = dict(list(kinds.items())[:options.kinds])
    found = collections.defaultdict(list)
    for number in range(options.rounds):
        for kind, make in kinds.items():
            there = make()
            try:
                there.start()
                for payload in PAYLOADS:
                    costs = life(options.program, there, options.messages, payload, BATCH)
                    found[f"{kind}, {payload} B"].append(costs)
                for batch in OTHER_BATCHES:
                    costs = life(options.program, there, options.messages, PAYLOADS[0], batch)
                    found[f"{kind}, batches of {batch}"].append(costs)
                for payload in PAYLOADS:
                    costs = pending(options.program, there, options.messages, payload)
                    found[f"{kind}, {payload} B"][-1].update(costs)
                found[kind].append(restart(there))
            finally:
                there.close()
            print(f"round {number + 1} of {options.rounds}: {kind}", file=sys.stderr)
    return found


def summary(rounds):
    names = rounds[0].keys()
    return {name: {"median": statistics.median(one[name] for one in rounds),
                   "lowest": min(one[name] for one in rounds),
                   "highest": max(one[name] for one in rounds)} for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", type=int, help="only so many of the kinds of masters")
    parser.add_argument("-o", choices=("table", "json"), default="table")
    options = parser.parse_args()
    found = {kind: summary(rounds) for kind, rounds in rounds_of(options).items()}
    if options.o == "json":
        print(json.dumps(found))
        return
    for kind, figures in found.items():
        print(kind)
        for name, figure in figures.items():
            print(f"    {name:10} {figure['median']:14,.1f}   ({figure['lowest']:,.1f} to "
                  f"{figure['highest']:,.1f})")


if __name__ == "__main__":
    main()
