"""Rounds in which no process is killed, but one stands still for longer than a lease: the server
under load, or a worker with messages.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter

from rounds import Failure, Life, Trigger
from server import FAILURE_SECONDS, PROGRAM, Server, environment, run

LONGEST_LEASE_MS = 700  # of load.py's consumers
QUEUE = "jobs"
HANDS = 4  # messages that the stopped worker holds


class StopLife(Life):
    def round(self, number):
        """Loads the server, stops it, and continues the load. Its connections, and the requests
        that wait in them, survive."""
        r = self._random
        before, after = (Trigger(self.server, r.randrange(self._plan.least_events,
                                                          self._plan.most_events), 0)
                         for _ in range(2))
        clients, threads = self._load(before.event)
        self._wait_for(before)
        self.server.freeze()
        still = r.uniform(1.05, 2.5) * LONGEST_LEASE_MS / 1000
        if not self.server.alive_for(still):  # time passes while the server does nothing
            raise Failure("the server died while it was stopped")
        for client in clients:
            client.on_event = after.event
        self.server.thaw()
        self.figures["stops"] += 1
        self.figures["ms stood still"] += int(still * 1000)
        if not self._errors:
            self._wait_for(after)
        for client in clients:
            client.ending = True
        self._join(threads)
        if self._errors:
            raise self._errors[0]
        if not self.server.alive_for(0):
            raise Failure("the server died by itself")
        for client in clients:
            client.close()
        self._look(f"after stop {number}")


class Shop:
    """A queue of jobs, and workers whose commands wait for a file. Without `store`, all of them use
    the server."""

    def __init__(self, server, messages, store=None):
        self.server = server
        self.log = self.server.path / "jobs"
        self.go = self.server.path / "go"
        self.log.touch()
        self.server.start()
        self.url = store or f"http://127.0.0.1:{self.server.port}"
        orders = self.server.path / "orders.jsonl"
        orders.write_text("".join(json.dumps({"key": f"j{i}", "payload": str(i)}) + "\n"
                                  for i in range(messages)))
        self.asked("push", QUEUE, "--jsonl", str(orders))
        self._workers = []

    def asked(self, *words):
        code, said = run(*words, "--store", self.url)
        if code != 0:
            raise Failure(f"{words}: {code} {said}")
        return said

    def stats(self):
        queue, = json.loads(self.asked("stats", "-o", "json"))["queues"]
        return queue

    def until(self, what, done):
        deadline = time.monotonic() + FAILURE_SECONDS
        while not done():
            if time.monotonic() > deadline:
                raise Failure(f"{FAILURE_SECONDS} s, and not yet: {what}")
            if not self.server.alive_for(0.01):
                raise Failure("the server died by itself")

    def begun(self):
        return Counter(word.partition("/")[0] for word in self.log.read_text().split())

    def attempts(self):
        """key -> the attempts in which a command ran for it."""
        attempts = {}
        for word in self.log.read_text().split():
            key, _, attempt = word.partition("/")
            attempts.setdefault(key, []).append(int(attempt))
        return attempts

    def worker(self):
        command = (f'echo "$TARRY_KEY/$TARRY_ATTEMPT" >> "{self.log}"; i=0; while '
                   f'[ ! -e "{self.go}" ] && [ $i -lt 6000 ]; do sleep 0.01; i=$((i+1)); done')
        worker = subprocess.Popen(
            [PROGRAM, "work", QUEUE, "--lease", "1s", "--concurrency", str(HANDS), "--store",
             self.url, "-o", "json", "--", "sh", "-c", command], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        self._workers.append(worker)
        return worker

    def end(self, worker):
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=FAILURE_SECONDS)[0]
        if worker.returncode != 0:
            raise Failure(f"a worker ended with {worker.returncode}")
        return json.loads(said)

    def close(self):
        self.go.touch()
        for worker in self._workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            worker.stdout.close()
        self.server.close()


def stop_a_worker(plan, rng):
    """One worker is stopped while it has messages. Another one must get them once their leases have
    run out, and the late acks of the first one must change nothing."""
    messages = rng.randrange(10, 60)
    shop = Shop(Server("shards=1", plan.parent), messages)
    try:
        stopped = shop.worker()
        shop.until("the worker has begun", lambda: len(shop.begun()) == HANDS)
        stopped.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
        shop.until("the leases have run out", lambda: shop.stats()["counters"]["run_outs"] >= HANDS)
        other = shop.worker()
        shop.go.touch()
        shop.until("all is acked", lambda: shop.stats()["counters"]["acked"] == messages)
        stopped.send_signal(signal.SIGCONT)
        ends = [shop.end(stopped), shop.end(other)]
        begun, counters = shop.begun(), shop.stats()["counters"]
        twice = sum(begun.values()) - len(begun)
        if len(begun) != messages:
            raise Failure(f"{messages} messages, and {len(begun)} were worked on")
        if counters["acked"] != messages or counters["run_outs"] < twice or twice < HANDS:
            raise Failure(f"{twice} were worked on twice: {counters} {ends}")
        shop.asked("store", "audit")
        return Counter({"workers stopped": 1, "jobs": messages, "jobs done twice": twice,
                        "their leases run out": counters["run_outs"]})
    finally:
        shop.close()


def run_workers(plan, figures, rounds):
    rng = random.Random(plan.seed)
    for _ in range(rounds):
        if plan.over():
            return
        figures.update(stop_a_worker(plan, random.Random(rng.random())))
