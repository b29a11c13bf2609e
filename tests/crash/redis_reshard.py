"""Lives of a store in Redis whose queues get other shards under the load, again and again; the
mover is killed in the midst of it, or another one takes over, and it is run again."""

import json
import subprocess

from history import RedisHistory
from redis_cluster import Cluster
from redis_life import RedisLife
from rounds import SETTINGS, Failure
from server import FAILURE_SECONDS, PROGRAM, Daemon, environment

MOST_SHARDS = 5
PARTITIONS = 4


class RedisReshardLife(RedisLife):
    redis_words = ()  # it is not killed
    changes = 3  # a round

    def _store(self):
        return f"{self.redis.url}?shards={self.shards}"

    def _history(self, queues):
        # Messages of two sets of shards come in no order.
        return RedisHistory(queues, MOST_SHARDS)

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
            if self._errors:
                break
            for queue in SETTINGS:
                self._change(queue)
        after = self._trigger()
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after resharding {number}")

    def _change(self, queue):
        r = self._random
        shards = r.randrange(1, MOST_SHARDS + 1)
        for _ in range(r.randrange(3)):
            mover = self._mover(queue, shards)
            try:
                mover.wait(r.uniform(0, 0.12))
            except subprocess.TimeoutExpired:
                mover.kill()
                self.figures["movers killed"] += 1
            mover.communicate()
        rivals = [self._mover(queue, shards) for _ in range(r.choice((1, 1, 2)))]
        answers = [(rival, *rival.communicate(timeout=FAILURE_SECONDS)) for rival in rivals]
        done = [json.loads(out) for rival, out, _ in answers if rival.returncode == 0]
        for rival, _, err in answers:
            if rival.returncode not in (0, 4) or not done:
                raise Failure(f"reshard of {queue} to {shards}: {rival.returncode}, {err}")
        if not all(answer["done"] and answer["to"] == shards for answer in done):
            raise Failure(f"reshard of {queue} to {shards} answered {done}")
        self.figures["reshards"] += 1
        self.figures["messages moved"] += max(answer["moved"] for answer in done)


class RedisClusterReshardLife(RedisReshardLife):
    def _redis(self, plan):
        return Cluster(parent=plan.parent)

    def _store(self):
        return f"{self.redis.url}?shards={self.shards}&partitions={PARTITIONS}"

    def _server(self):
        self.daemons = [Daemon(self._store(), self._plan.parent) for _ in range(2)]
        return self.daemons[0]
