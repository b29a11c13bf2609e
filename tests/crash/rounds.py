"""Rounds: start the server, load it, kill it, check the store. After some rounds drain the store,
and let the oracle judge its whole life.
"""

import itertools
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from client import Client, Lost, WrongAnswer
from history import History, Queue, Reschedule, Settle, now_ms
from load import QUEUES, QUIET_MS, Consumer, Producer
from oracle import judge
from server import FAILURE_SECONDS, Server, ServerFailure, run

PRODUCERS = 2
CONSUMERS = 3
MOST_PENDING = 1500
STEP_MS = 20  # the wall clock may move by at most this, relative to the time that passes
LIVED_AGAIN = 3  # lives in place of those in which it was stepped
SETTINGS = {
    "orders": {"dead_keep": "30d"},
    "mail": {"max_attempts": 4, "remember": "3s"},
}


class Failure(Exception):
    """A failure with everything that a reader needs, and the oracle's verdict if there is one."""

    def __init__(self, text, verdict=None):
        super().__init__(text)
        self.verdict = verdict


@dataclass
class Plan:
    seed: int
    rounds: int = 50
    rounds_a_store: int = 10
    shards: tuple = (1, 4)  # numbers of shards; the stores take turns
    sync: str = "always"
    segment: str = "256KiB"
    least_events: int = 40  # a round ends after at least so many requests and answers
    most_events: int = 1500
    parent: str | None = None  # the directory for the stores
    keep: bool = False  # keep the store after a failure
    # A fault done to the store's directory after each kill, which the oracle must detect.
    sabotage: object = None
    say: object = field(default=lambda line: None)
    until: float | None = None  # by time.monotonic: no store is begun after this time

    def over(self):
        return self.until is not None and time.monotonic() > self.until


class Trigger:
    """Kills the server at the nth event. An event is a request that was sent, or an answer."""

    def __init__(self, server, events, linger):
        self._server = server
        self._linger = linger
        self._count = itertools.count(1)
        self._events = events
        self.reached = threading.Event()

    def event(self):
        if next(self._count) != self._events:
            return
        if self._linger is None:
            self._server.shoot()
        self.reached.set()


class Life:
    """One store, from its first start until it is drained."""

    def __init__(self, plan, number, rng):
        self._plan = plan
        self._random = rng
        self.shards = plan.shards[number % len(plan.shards)]
        self.figures = Counter()  # besides the oracle's figures
        self.most_pending = MOST_PENDING
        self.server = self._server()
        self.history = self._history({name: Queue(settings.get("max_attempts", 10),
                                                  3000 if "remember" in settings else 0)
                                      for name, settings in SETTINGS.items()})
        tokens = itertools.count(1)
        self._producers = [Producer(f"p{i}", rng.random(), self.history, tokens)
                           for i in range(PRODUCERS)]
        self._consumers = [Consumer(rng.random()) for _ in range(CONSUMERS)]
        self._errors = []

    def _server(self):
        plan = self._plan
        return Server(f"shards={self.shards}&segment={plan.segment}&sync={plan.sync}", plan.parent)

    def _history(self, queues):
        return History(queues, self.shards)

    def _client(self):
        return Client(self.server, self.history)

    def _load_client(self):
        """A client for a producer or a consumer."""
        return self._client()

    def close(self, keep):
        self.server.close(keep)

    def log(self):
        return self.server.log()

    def place(self):
        return self.server.path

    def begin(self):
        self.server.start()
        client = self._client()
        for name, settings in SETTINGS.items():
            client.configure(name, settings)
        client.close()

    def _thread(self, work):
        def guarded():
            try:
                work()
            except Exception as error:  # the main thread reports it
                self._errors.append(error)
        return threading.Thread(target=guarded)

    def live(self, rounds):
        """The whole life, from the first start to the end."""
        self.begin()
        for number in range(rounds):
            self.round(number)
        self.drain()

    def _load(self, on_event):
        """Starts producers and consumers, with their clients and threads."""
        there = len(self.history.snapshots[-1].items) if self.history.snapshots else 0
        room = max(0, self.most_pending - there) // PRODUCERS
        clients = [self._load_client() for _ in range(PRODUCERS + CONSUMERS)]
        for client in clients:
            client.on_event = on_event
        threads = [self._thread(lambda p=producer, c=client: p.work(c, room))
                   for producer, client in zip(self._producers, clients)]
        threads += [self._thread(lambda k=consumer, c=client: k.work(c))
                    for consumer, client in zip(self._consumers, clients[PRODUCERS:])]
        for thread in threads:
            thread.start()
        return clients, threads

    def _wait_for(self, trigger):
        deadline = time.monotonic() + FAILURE_SECONDS
        while not trigger.reached.wait(0.2):
            if self._errors:
                break
            if time.monotonic() > deadline:
                self._errors.append(Failure("the server answers too little: a round takes over "
                                            f"{FAILURE_SECONDS} s"))
                break

    def _join(self, threads):
        for thread in threads:
            thread.join(FAILURE_SECONDS)
            if thread.is_alive():
                self._errors.append(Failure("a client still waits for an answer"))

    def _look(self, why):
        client = self._client()
        client.snapshot(why)
        client.close()

    def round(self, number):
        """One round: begins with a running server, and ends with the next one running."""
        r = self._random
        linger = r.choice((None, r.uniform(0, 0.005)))
        trigger = Trigger(self.server, r.randrange(self._plan.least_events,
                                                   self._plan.most_events), linger)
        clients, threads = self._load(trigger.event)
        self._wait_for(trigger)
        if linger is not None and not self.server.alive_for(linger):
            self._errors.append(ServerFailure("the server died by itself"))
        killed = now_ms()
        self.server.shoot()
        self._join(threads)
        self.server.bury()
        self.history.died(killed, now_ms())
        for client in clients:
            client.close()
        if self._errors:
            raise self._errors[0]
        if self._plan.sabotage is not None:
            self._plan.sabotage(self.server.directory)
        while r.random() < 0.2:
            self.server.start_and_kill(r.uniform(0, 0.03))
        self.server.start()
        self._look(f"after kill {number}")

    # -- the end

    def drain(self):
        """Lets everything fall due, delivers and acks it, and checks the store."""
        deadline = time.monotonic() + FAILURE_SECONDS
        client = self._client()
        while True:
            for queue in QUEUES:
                self._hurry(client, queue)
            empty = self._consume(client, deadline)
            figures = client.figures().values()
            if empty and not any(queue[state] for queue in figures
                                 for state in ("scheduled", "ready", "leased", "dead")):
                break
            if time.monotonic() > deadline:
                client.snapshot("after the drain", final=True)
                raise Failure(f"not drained in {FAILURE_SECONDS} s: {list(figures)}")
        client.snapshot("after the drain", final=True)
        client.close()
        self.finish()

    def finish(self):
        """Stops the empty store cleanly, and starts it again: it must still be empty."""
        self.server.stop()
        self.server.start()
        client = self._client()
        client.snapshot("after a clean stop", final=True)
        client.close()
        self.server.stop()
        code, said = run("store", "check", "--deep", "--store", self.server.store)
        if code != 0:
            raise Failure(f"store check: {code}\n{said}")

    def store_figures(self):
        """How many of the segments that the journals began exist no longer."""
        begun = there = 0
        for shard in self.server.directory.glob("shard-*"):
            numbers = [int(segment.stem) for segment in shard.glob("*.seg")]
            begun += max(numbers, default=0)
            there += len(numbers)
        return Counter({"segments begun": begun, "segments cleaned": begun - there})

    @staticmethod
    def _hurry(client, queue):
        far = [message for message in client.pages(queue)
               if message["state"] == "scheduled" and message["due_ms"] > now_ms() + QUIET_MS / 2]
        if far:
            client.reschedule([Reschedule(0, queue=queue, key=message["key"], delay=0)
                               for message in far])
        if any(message["state"] == "dead" for message in client.pages(queue)):
            client.revive_all(queue)

    @staticmethod
    def _consume(client, deadline):
        """Claims until nothing has come for a while, or until the deadline. Returns whether nothing
        came at all."""
        first = True
        while time.monotonic() < deadline:
            deliveries = client.claim(QUEUES, 500, 30_000, 100)
            if not deliveries:
                return first
            first = False
            client.settle([Settle(0, receipt=delivery.receipt) for delivery in deliveries])
        return False


def add(figures, more):
    """Adds figures; for maxima, takes the larger one."""
    for name, value in more.items():
        figures[name] = max(figures[name], value) if name.endswith("at most") else \
            figures[name] + value


def _clocks():
    return now_ms() - time.monotonic_ns() / 1e6


def run_life(plan, number, rounds, rng, kind=Life):
    """Returns the verdict's figures. Raises Failure."""
    life = kind(plan, number, rng)
    kept = False
    clocks = _clocks()
    try:
        try:
            life.live(rounds)
            error = None
        except (Failure, ServerFailure, WrongAnswer, Lost, OSError) as caught:
            error = caught
        verdict = judge(life.history)
        if abs(_clocks() - clocks) > STEP_MS:
            plan.say("the wall clock was stepped: this store's life says nothing")
            return Counter({"lives not judged": 1})
        if error is None and not verdict.violations:
            verdict.figures.update(life.store_figures())
            verdict.figures.update(life.figures)
            return verdict.figures
        kept = plan.keep
        where = f"\nthe store is kept: {life.place()}" if kept else ""
        raise Failure(f"seed {plan.seed}, store {number} ({life.shards} shards): {error!r}\n"
                      f"{verdict.report()}\nserver log:\n{life.log()}{where}",
                      verdict) from error
    finally:
        life.close(kept)


def run_plan(plan, figures, kind=Life):
    """Runs all rounds, and adds to the figures. Raises Failure at the first store that fails."""
    sys.setswitchinterval(0.0005)  # so that clients run at the same time
    rng = random.Random(plan.seed)
    done = 0
    for number in itertools.count():
        if done >= plan.rounds or plan.over():
            return
        rounds = min(plan.rounds_a_store, plan.rounds - done)
        lived = run_life(plan, number, rounds, random.Random(rng.random()), kind)
        add(figures, lived)
        if lived["lives not judged"] and figures["lives not judged"] <= LIVED_AGAIN:
            continue
        done += rounds
        figures["rounds"] += rounds
        plan.say(f"{done} rounds, " + ", ".join(f"{name} {figures[name]}" for name in
                                                ("pushed", "delivered", "lost", "early")))
