"""Lives of a store in Redis whose queues are resharded under the load, again and again. Three
movers in four are killed, or another one takes over, and the command is run again. A further queue,
which no client uses, is resharded in the same way, and checked after each kill. In a cluster, slots
move meanwhile and daemons are killed.
"""

import json
import random
import subprocess
import threading
import time

from history import RedisHistory, now_ms
from redis_cluster import Cluster
from redis_life import ALWAYS, RedisLife, ResignedDoubting
from rounds import SETTINGS, Failure, Trigger
from server import FAILURE_SECONDS, PROGRAM, Daemon, environment
from still_queue import NAME, StillQueue

MOST_SHARDS = 5
PARTITIONS = 4
KILLED = 0.75  # the share of movers that are killed
DONE, CONFLICT, UNREACHABLE = 0, 4, 5


class RedisReshardLife(RedisLife):
    redis_words = ()  # Redis is not killed
    changes = 2  # per round and queue

    def _store(self):
        return f"{self.redis.url}?shards={self.shards}"

    def _history(self, queues):
        # The order of messages in two sets of shards is not defined.
        return RedisHistory(queues, MOST_SHARDS)

    def begin(self):
        super().begin()
        self._still = StillQueue(self._store(), self.redis.path)
        self._still.fill()
        self._still.look("before the first reshard")

    def _mover(self, queue, shards):
        return subprocess.Popen(
            [PROGRAM, "--store", self._store(), "-o", "json", "queue", "reshard", queue,
             str(shards)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment())

    def round(self, number):
        before = self._trigger(50)
        clients, threads = self._load(before.event)
        self._wait_for(before)
        for _ in range(self.changes):
            for queue in (*SETTINGS, NAME):
                if self._errors:
                    break
                self._change(queue)
        after = self._trigger()
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after resharding {number}")
        self.figures["looks at the still queue"] = self._still.looks

    def _change(self, queue):
        r = self._random
        shards = r.randrange(1, MOST_SHARDS + 1)
        while r.random() < KILLED:
            mover = self._mover(queue, shards)
            try:
                mover.wait(r.uniform(0, 0.2))
            except subprocess.TimeoutExpired:
                mover.kill()
                self.figures["movers killed"] += 1
            mover.communicate()
            if queue == NAME:
                self._still.look(f"on the way to {shards} shards")
        if queue == NAME:
            self._still.release()  # a reshard waits for leased messages
        self._move_to_the_end(queue, shards)
        self.figures["reshards"] += 1
        if queue == NAME:
            self._still.claim()
            self._still.look(f"with {shards} shards")

    def _move_to_the_end(self, queue, shards):
        """Reshards to the end, by one mover or two at a time. A mover that a slot or a replica
        holds up is run again."""
        deadline = time.monotonic() + 2 * FAILURE_SECONDS
        while True:
            rivals = [self._mover(queue, shards) for _ in range(self._random.choice((1, 1, 2)))]
            answers = [(rival, *rival.communicate(timeout=2 * FAILURE_SECONDS))
                       for rival in rivals]
            for rival, _, err in answers:
                if rival.returncode not in (DONE, CONFLICT, UNREACHABLE):
                    raise Failure(f"reshard of {queue} to {shards}: {rival.returncode}, {err}")
            done = [json.loads(out) for rival, out, _ in answers if rival.returncode == DONE]
            if done:
                break
            if time.monotonic() > deadline:
                raise Failure(f"reshard of {queue} to {shards} does not end: "
                              f"{[err for _, _, err in answers]}")
        if not all(answer["done"] and answer["to"] == shards for answer in done):
            raise Failure(f"reshard of {queue} to {shards} answered {done}")
        self.figures["messages moved"] += max(answer["moved"] for answer in done)

    def drain(self):
        self._still.empty()
        super().drain()


class RedisClusterReshardLife(RedisReshardLife):
    """Slots move all the time, a few keys at a time, and a daemon is killed in each round."""

    replicas = True

    def _redis(self, plan):
        return Cluster(*ALWAYS, parent=plan.parent, replicas=self.replicas)

    def _store(self):
        return f"{self.redis.url}?shards={self.shards}&partitions={PARTITIONS}"

    def _server(self):
        self.daemons = [Daemon(self._store(), self._plan.parent) for _ in range(2)]
        return self.daemons[0]

    def _load_client(self):
        return ResignedDoubting(self._daemon(), self.history)

    def _load(self, on_event):
        clients, threads = super()._load(on_event)
        self._moves_end = threading.Event()
        rng = random.Random(self._random.random())
        self._slots = self._thread(lambda: self._move_slots(rng))
        self._slots.start()
        victim = self._random.choice(self.daemons)
        self._killing = self._thread(lambda: self._kill_a_daemon(victim, clients, threads))
        self._killing.start()
        return clients, threads

    def _end_load(self, clients, threads):
        self._moves_end.set()
        self._killing.join()
        self._slots.join()
        super()._end_load(clients, threads)

    def _move_slots(self, r):
        while not self._moves_end.is_set():
            pause = r.choice((0, 0.005, r.uniform(0, 0.05)))
            self.figures["keys moved under way"] += self.redis.move_slot(
                str(r.randrange(PARTITIONS)), r, lambda: self.redis.alive_for(pause))
            self.figures["slots moved"] += 1

    def _kill_a_daemon(self, victim, clients, threads):
        trigger = Trigger(victim, self._plan.least_events, 0)
        theirs = [client for client in clients if client.server is victim]
        for client in theirs:
            client.on_event = trigger.event
        self._wait_for(trigger)
        killed = now_ms()
        victim.shoot()
        self._join([t for t, c in zip(threads, clients) if c.server is victim])
        victim.bury()
        for _ in range(5):  # requests that it had sent are read before later ones
            for node in self.redis.nodes:
                node.ask("PING")
        self.history.died(killed, now_ms(), victim)
        victim.start()
        self.figures["daemons killed"] += 1


class RedisBareClusterReshardLife(RedisClusterReshardLife):
    """With a cluster of masters only."""

    replicas = False
