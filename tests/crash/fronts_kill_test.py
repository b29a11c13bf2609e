#!/usr/bin/env python3
"""SIGKILL of `tarry serve` while clients of beanstalkd and of SQS work, again and again. The books
are kept here, outside of the server.

TARRY_CRASH_SEED repeats the choices of a run, TARRY_CRASH_ROUNDS sets the kills of each front.
"""

import os
import random
import shutil
import threading
import unittest
from collections import Counter
from itertools import count

from front_clients import Beanstalk, Lost, Sqs
from history import now_ms
from server import FAILURE_SECONDS, Server

ROUNDS = int(os.environ.get("TARRY_CRASH_ROUNDS", "3"))
QUIET_MS = 2200       # longer than a lease and a delay
FAR_SECONDS = 3600  # only a move lets these fall due
PRODUCERS, CONSUMERS = 2, 2


class Books:
    """All messages by their bodies, which are unique. A message without an answer may be there or
    not."""

    def __init__(self):
        self.lock = threading.Lock()
        self.due = {}           # the earliest time, by the time at which the push was sent
        self.accepted = set()
        self.ended = {}         # body -> when its deletion or cancel was confirmed
        self.maybe_ended = set()
        self.delivered = set()
        self.faults = []
        self.figures = Counter()

    def pushing(self, body, delay):
        with self.lock:
            self.due[body] = now_ms() + delay * 1000 - 1

    def deliver(self, body, asked):
        with self.lock:
            self.figures["delivered"] += 1
            self.delivered.add(body)
            if body not in self.due:
                self.faults.append(f"unknown: {body!r}")
            elif now_ms() < self.due[body]:
                self.faults.append(f"early: {body!r} by {self.due[body] - now_ms()} ms")
            if self.ended.get(body, asked) < asked:
                self.faults.append(f"after its end: {body!r}")

    def end(self, body):
        with self.lock:
            self.ended[body] = now_ms()

    def lost(self):
        return self.accepted - self.delivered - self.ended.keys() - self.maybe_ended


class Life:
    """One store and one front."""

    def __init__(self, kind, seed):
        self.kind = kind
        self.books = Books()
        self.random = random.Random(seed)
        self.server = Server("shards=2&segment=256KiB&sync=always",
                             words=(kind.flag, "127.0.0.1:0"))
        self.numbers = count()
        self.far = {}  # key -> body
        self.errors = []

    def client(self):
        return self.kind(int((self.server.path / "port").read_text().split()[1]))

    def produce(self, client, rng, event):
        while True:
            batch = []
            for _ in range(rng.choice((1, 5, 10))):
                number = next(self.numbers)
                far = rng.random() < 0.1
                batch.append((f"{number}:" + "x" * rng.choice((0, 100, 2000)),
                              FAR_SECONDS if far else rng.choice((0, 0, 1)),
                              f"k{number}" if far else None))
            for body, delay, _ in batch:
                self.books.pushing(body, 0 if delay == FAR_SECONDS else delay)
            for (body, _, key), done in zip(batch, client.push(batch)):
                if not done:
                    raise AssertionError(f"refused: {body[:20]}")
                self.books.accepted.add(body)
                if key:
                    self.far[key] = body
            event()
            if self.far and rng.random() < 0.5:
                key, body = self.far.popitem()
                self.books.maybe_ended.add(body)  # until the answer
                if client.cancel(key):
                    self.books.end(body)
                    self.books.figures["cancelled"] += 1

    def consume(self, client, rng, event):
        while True:
            asked = now_ms()
            claimed = client.claim(rng.choice((1, 10)))
            for _, body in claimed:
                self.books.deliver(body, asked)
            event()
            done = [one for one in claimed if rng.random() < 0.8]
            for handle, _ in claimed:
                if rng.random() < 0.1 and all(handle != other for other, _ in done):
                    client.give_back(handle)
            if done:
                for (_, body), gone in zip(done, client.delete([handle for handle, _ in done])):
                    if gone:
                        self.books.end(body)

    def work(self, what, client, seed, event):
        try:
            what(client, random.Random(seed), event)
        except Lost:
            if not self.server.dying:
                self.errors.append("a connection broke, and nobody killed the server")
        except Exception as error:  # the main thread reports it
            self.errors.append(repr(error))

    def round(self):
        """Load, a kill, and a new start."""
        left = count(self.random.randrange(10, 100), -1)
        reached = threading.Event()

        def event():
            if next(left) <= 0:
                reached.set()

        clients = [self.client() for _ in range(PRODUCERS + CONSUMERS)]
        threads = [threading.Thread(target=self.work, args=(
            self.produce if number < PRODUCERS else self.consume, client, self.random.random(),
            event)) for number, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        if not reached.wait(FAILURE_SECONDS):
            self.errors.append("the server answers too little")
        self.server.shoot()
        for thread in threads:
            thread.join(FAILURE_SECONDS)
        self.server.bury()
        for client in clients:
            client.close()

    def drain(self):
        """Takes everything that is left; returns when nothing has come for a while."""
        client = self.client()
        for key in self.far:
            client.hurry(key)
        since = now_ms()
        while now_ms() < since + QUIET_MS:
            asked = now_ms()
            claimed = client.claim(10)
            for _, body in claimed:
                self.books.deliver(body, asked)
            if claimed:
                client.delete([handle for handle, _ in claimed])
                since = now_ms()
        client.close()


class Kill(unittest.TestCase):
    def live(self, kind):
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        life = Life(kind, seed)
        self.addCleanup(life.server.close)
        life.server.start()
        for _ in range(ROUNDS):
            life.round()
            self.assertEqual(life.errors, [], f"TARRY_CRASH_SEED={seed}")
            life.server.start()
        life.drain()
        life.server.stop()
        books = life.books
        print(f"\n{kind.flag}: TARRY_CRASH_SEED={seed}: {ROUNDS} kills, "
              f"{len(books.accepted)} accepted, {dict(books.figures)}, lost {len(books.lost())}",
              flush=True)
        return books

    def judge(self, books):
        self.assertEqual(books.faults, [])
        self.assertEqual(books.lost(), set())
        self.assertGreater(len(books.accepted), 20)

    def test_beanstalk(self):
        self.judge(self.live(Beanstalk))

    def test_sqs(self):
        self.judge(self.live(Sqs))

    def test_the_books_see_what_is_wrong(self):
        life = Life(Beanstalk, 1)
        self.addCleanup(life.server.close)
        life.server.start()
        client = life.client()
        life.books.pushing("a", 0)
        self.assertEqual(list(client.push([("a", 0, None)])), [True])
        life.books.accepted.add("a")
        client.close()
        life.server.kill()
        shutil.rmtree(life.server.directory)
        life.server.start()
        life.drain()
        life.server.stop()
        self.assertEqual(life.books.lost(), {"a"})
        life.books.pushing("b", 60)
        for body in "abc":
            life.books.deliver(body, now_ms())
        life.books.end("a")
        life.books.deliver("a", now_ms() + 1)
        self.assertEqual([fault.partition(":")[0] for fault in life.books.faults],
                         ["early", "unknown", "after its end"])


if __name__ == "__main__":
    unittest.main()
