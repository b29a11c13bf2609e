"""Lives of a store in Redis that several daemons serve, under the same load as the other lives; and
the events that can happen to Redis meanwhile.
"""

import time
from collections import Counter

from client import Client
from history import FOREVER, UNAVAILABLE, RedisHistory, now_ms
from redis_server import RedisServer
from rounds import Failure, Life, Trigger
from server import FAILURE_SECONDS, Daemon, ServerFailure
from tolerant import UNKNOWN, Refused, Resigned, Tolerant

DAEMONS = 2
ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")
LONGEST_LEASE_MS = 700  # of load.py's consumers


class Doubting(Tolerant):
    """Redis may be unreachable. Then nobody knows whether a request on its way to Redis was
    done."""

    codes = frozenset((UNAVAILABLE, UNKNOWN))


class ResignedDoubting(Resigned, Doubting):
    pass


def reach(redis, daemon):
    """Waits until the daemon has found Redis again. The daemon tries every few seconds."""
    client = Doubting(daemon, None)
    deadline = time.monotonic() + FAILURE_SECONDS
    while True:
        try:
            client.figures()
            break
        except Refused as error:
            if time.monotonic() > deadline:
                raise Failure(f"Redis is there again, and a daemon does not find it in "
                              f"{FAILURE_SECONDS} s: {error}") from error
            redis.alive_for(0.01)
    client.close()


class RedisLife(Life):
    """The daemons survive every event of Redis."""

    redis_words = ALWAYS

    def __init__(self, plan, number, rng):
        self.redis = self._redis(plan)
        self.daemons = []
        self._turn = 0
        super().__init__(plan, number, rng)

    def _redis(self, plan):
        return RedisServer(*self.redis_words, parent=plan.parent)

    def _server(self):
        url = f"{self.redis.url}?shards={self.shards}"
        self.daemons = [Daemon(url, self._plan.parent) for _ in range(DAEMONS)]
        return self.daemons[0]

    def _history(self, queues):
        return RedisHistory(queues, self.shards)

    def _daemon(self):
        """The daemons take turns."""
        self._turn += 1
        return self.daemons[self._turn % len(self.daemons)]

    def _client(self):
        return self._client_of(self._daemon())

    def _client_of(self, daemon):
        return Client(daemon, self.history)

    def _set_up(self):
        """Redis runs already, but no daemon yet."""

    def begin(self):
        self.redis.start()
        self._set_up()
        for daemon in self.daemons[1:]:
            daemon.start()
        super().begin()

    def log(self):
        return "\n".join(source.log() for source in (*self.daemons, self.redis))

    def place(self):
        return self.redis.path

    def close(self, keep):
        for closed in (*self.daemons, self.redis):
            closed.close(keep)

    def store_figures(self):
        return Counter({"torn files": self.redis.torn})

    def _end_load(self, clients, threads):
        for client in clients:
            client.ending = True
        self._join(threads)
        if self._errors:
            raise self._errors[0]
        for daemon in self.daemons:
            if not daemon.alive_for(0):
                raise ServerFailure("a daemon died by itself")
        for client in clients:
            client.close()

    def _trigger(self, events=None):
        plan = self._plan
        return Trigger(self.redis, events or self._random.randrange(plan.least_events,
                                                                    plan.most_events), 0)

    def finish(self):
        """A new daemon that opens the empty store finds it empty."""
        for daemon in self.daemons:
            daemon.stop()
        self.server.start()
        client = self._client_of(self.server)
        client.snapshot("by a new daemon", final=True)
        client.close()
        self.server.stop()


class RedisKillLife(RedisLife):
    """Kills Redis with SIGKILL during the load, which continues when Redis is back."""

    def _load_client(self):
        return ResignedDoubting(self._daemon(), self.history)

    def round(self, number):
        r = self._random
        before, after = self._trigger(), self._trigger()
        clients, threads = self._load(before.event)
        self._wait_for(before)
        if not self._errors and not self.redis.alive_for(r.choice((0, r.uniform(0, 0.005)))):
            raise ServerFailure(f"redis-server died by itself\n{self.redis.log()}")
        killed = now_ms()
        self.redis.shoot()
        self.redis.bury()
        dead = now_ms()
        for client in clients:
            client.let_pass()  # an earlier answer may still be on its way to the history
        self.killed(killed, dead)
        for client in clients:
            client.on_event = lambda: None
        self.redis.start()
        for daemon in self.daemons:
            reach(self.redis, daemon)
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after kill {number}")

    def killed(self, killed, dead):
        self.history.engine_died(killed, dead)


class RedisFlushLife(RedisLife):
    """Runs SCRIPT FLUSH again and again: no client may get an error."""

    flushes = 20

    def round(self, number):
        clients, threads = self._load(lambda: None)
        for _ in range(self.flushes):
            trigger = self._trigger(self._random.randrange(5, 60))
            for client in clients:
                client.on_event = trigger.event
            self._wait_for(trigger)
            if self._errors:
                break
            self.redis.ask("SCRIPT", "FLUSH", self._random.choice(("SYNC", "ASYNC")))
            self.figures["script flushes"] += 1
        self._end_load(clients, threads)
        self._look(f"after flushes {number}")


class RedisStopLife(RedisLife):
    """Stops Redis by SIGSTOP for longer than any lease; commands wait in its sockets meanwhile."""

    def round(self, number):
        before, after = self._trigger(), self._trigger()
        clients, threads = self._load(before.event)
        self._wait_for(before)
        self.redis.freeze()
        still = self._random.uniform(1.05, 2.5) * LONGEST_LEASE_MS / 1000
        if not self.redis.alive_for(still):  # time passes, and Redis does not answer
            raise Failure("redis-server died while it was stopped")
        for client in clients:
            client.on_event = after.event
        self.redis.thaw()
        self.figures["stops"] += 1
        self.figures["ms stood still"] += int(still * 1000)
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after stop {number}")


class Unsure(Doubting):
    """Redis may carry out a request long after its caller has stopped waiting."""

    def _note(self, operation, code, text):
        super()._note(operation, code, text)
        if not operation.known:
            operation.ended = FOREVER


class ResignedUnsure(Resigned, Unsure):
    pass


class RedisLongStopLife(RedisLife):
    """Stops Redis by SIGSTOP until the daemons consider it dead; then it carries out all requests
    that it got."""

    still = 12  # commands time out after 10 s

    def _load_client(self):
        return ResignedUnsure(self._daemon(), self.history)

    def round(self, number):
        before, after = self._trigger(), self._trigger()
        clients, threads = self._load(before.event)
        self._wait_for(before)
        stopped = now_ms()
        self.redis.freeze()
        if not self.redis.alive_for(self.still):
            raise Failure("redis-server died while it was stopped")
        self.redis.thaw()
        self.figures["long stops"] += 1
        for daemon in self.daemons:
            reach(self.redis, daemon)
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self.history.engine_died(stopped, now_ms())
        for operation in self.history.operations():
            operation.ended = min(operation.ended, now_ms())
        self._look(f"after stop {number}")
