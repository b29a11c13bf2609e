"""Faults of clients of one Redis: daemons and workers are killed while they hold leases, and
wake-ups are lost.
"""

import time
from collections import Counter

from history import TOKEN, Push, Settle, now_ms
from load import QUEUES
from redis_life import ALWAYS, RedisLife
from redis_server import RedisServer
from rounds import Failure, Trigger
from server import FAILURE_SECONDS, Daemon
from stop import HANDS, Shop

CONNECTIONS = 2  # each daemon has two: one for commands, one for wake-ups
DEAF = ("deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe", "-ssubscribe", "-psubscribe")
WAIT_MS = 30_000
SWEPT_MS = 10_000  # sweeps come every second


def password_file(redis):
    path = redis.path / "password"
    path.write_text("pw\n")
    return path


class RedisDaemonKillLife(RedisLife):
    """Kills one daemon with SIGKILL during the load; the load of the other one continues."""

    def round(self, number):
        victim = self._random.choice(self.daemons)
        before, after = (Trigger(victim, self._random.randrange(40, self._plan.most_events), 0)
                         for _ in range(2))
        clients, threads = self._load(before.event)
        self._wait_for(before)
        connected = self.redis.info("connected_clients")
        killed = now_ms()
        victim.shoot()
        self._join([t for t, c in zip(threads, clients) if c.server is victim])
        victim.bury()
        while self.redis.info("connected_clients") > connected - CONNECTIONS:
            self.redis.alive_for(0.001)  # requests that it has sent may still be carried out
        self.history.died(killed, now_ms(), victim)
        for client in clients:
            client.on_event = after.event
        victim.start()
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after kill {number}")


class RedisDeafLife(RedisLife):
    """The user of one daemon may not subscribe; the subscription of the other one is cut off again
    and again."""

    cuts = 20

    def __init__(self, plan, number, rng):
        super().__init__(plan, number, rng)
        self._token = 10_000_000  # tokens that no producer uses

    def _server(self):
        first = super()._server()
        deaf = f"{self.redis.url}?shards={self.shards}&user=deaf&password_file=" \
               f"{password_file(self.redis)}"
        self.daemons[1].close()
        self.daemons[1] = Daemon(deaf, self._plan.parent)
        return first

    def _set_up(self):
        self.redis.ask("ACL", "SETUSER", *DEAF)

    def _cut(self):
        self.figures["subscriptions cut"] += self.redis.ask("CLIENT", "KILL", "TYPE", "pubsub")

    def round(self, number):
        clients, threads = self._load(lambda: None)
        for _ in range(self.cuts):
            trigger = self._trigger(self._random.randrange(5, 60))
            for client in clients:
                client.on_event = trigger.event
            self._wait_for(trigger)
            if self._errors:
                break
            self._cut()
        self._end_load(clients, threads)
        self._look(f"after cuts {number}")
        for waiting in self.daemons:
            for delay in (0, 300):
                self.wake(waiting, delay)

    def wake(self, waiting, delay):
        """A claim waits at one daemon, and must get the message that is pushed at the other."""
        client, pusher = self._client_of(waiting), self._client()
        self._token += 1
        text = str(self._token).encode()
        push = Push(0, queue=QUEUES[1], token=self._token, headers=((TOKEN, text),), payload=text,
                    delay=delay)
        delivered = []

        def claim():
            deliveries = client.claim(QUEUES[1:], 1, WAIT_MS, WAIT_MS)
            delivered.extend(deliveries)
            client.settle([Settle(0, receipt=delivery.receipt) for delivery in deliveries])

        self._consume(pusher, time.monotonic() + FAILURE_SECONDS)
        thread = self._thread(claim)
        thread.start()
        while not any(self._waits(daemon) for daemon in self.daemons) and thread.is_alive():
            self._cut()
        pusher.push(QUEUES[1], [push])
        while thread.is_alive():
            self._cut()
            thread.join(0.05)
        if self._errors:
            raise self._errors[0]
        pusher.close()
        client.close()
        if not delivered:
            raise Failure(f"a waiting claim did not get what was due in {WAIT_MS} ms")
        late = delivered[0].claimed_ms - delivered[0].due_ms
        self.figures["waiting claims woken"] += 1
        self.figures["ms late without wake-ups, at most"] = max(
            late, self.figures["ms late without wake-ups, at most"])
        if late > SWEPT_MS:
            raise Failure(f"swept {late} ms late: {delivered}")

    def _waits(self, daemon):
        client = self._client_of(daemon)
        figures = client.figures().get(QUEUES[1], {})
        client.close()
        return figures.get("waiting_claims", 0) > 0


def kill_a_worker(plan, rng):
    """One worker is killed while it has messages. Another one gets them after their leases, each as
    its second attempt. Both workers use Redis directly."""
    messages = rng.randrange(10, 60)
    redis = RedisServer(*ALWAYS, parent=plan.parent)
    shop = None
    try:
        redis.start()
        shop = Shop(Daemon(redis.url, plan.parent), messages, redis.url)
        killed = shop.worker()
        shop.until("the worker has begun", lambda: len(shop.begun()) == HANDS)
        held = set(shop.begun())
        killed.kill()
        killed.wait()
        shop.go.touch()
        other = shop.worker()
        shop.until("all is acked", lambda: shop.stats()["counters"]["acked"] == messages)
        shop.end(other)
        wrong = {key: attempts for key, attempts in shop.attempts().items()
                 if attempts != ([1, 2] if key in held else [1])}
        counters = shop.stats()["counters"]
        if wrong or len(shop.attempts()) != messages or counters["run_outs"] != HANDS:
            raise Failure(f"{messages} messages, {held} held by the killed one: {wrong} {counters}")
        shop.asked("store", "audit")
        return Counter({"workers killed": 1, "jobs": messages, "their leases run out": HANDS})
    finally:
        if shop is not None:
            shop.close()
        redis.close()
