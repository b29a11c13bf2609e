"""Lives of a store in a Redis cluster. Under the load, slots move, masters change by orderly
failovers, and masters are killed and start again with their data on disk. Nothing may be lost, and
no client may be told to try again for ever.
"""

from redis_cluster import Cluster
from redis_life import ALWAYS, RedisLife, ResignedDoubting, reach
from server import Daemon

PARTITIONS = 4


class RedisClusterLife(RedisLife):
    changes = 4  # per round

    def _redis(self, plan):
        return Cluster(*ALWAYS, parent=plan.parent)

    def _server(self):
        url = f"{self.redis.url}?shards={self.shards}&partitions={PARTITIONS}"
        self.daemons = [Daemon(url, self._plan.parent) for _ in range(2)]
        return self.daemons[0]

    def _load_client(self):
        return ResignedDoubting(self._daemon(), self.history)

    def round(self, number):
        before = self._trigger(20)
        clients, threads = self._load(before.event)
        self._wait_for(before)
        for _ in range(self.changes):
            if self._errors:
                break
            self._change()
            for daemon in self.daemons:
                reach(self.redis, daemon)
        after = self._trigger()
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._look(f"after changes {number}")

    def killed(self, killed, dead):
        self.history.engine_died(killed, dead)

    def _change(self):
        r = self._random
        if r.random() < 0.3:
            self.redis.fail_over(r)
            self.figures["failovers"] += 1
            return
        if r.random() < 0.3:
            self.killed(*self.redis.kill_master(r))
            self.figures["masters killed"] += 1
            return
        tag = str(r.randrange(PARTITIONS))
        pause = r.choice((0, 0, r.uniform(0, 0.05)))
        self.figures["keys moved under way"] += self.redis.move_slot(
            tag, r, lambda: self.redis.alive_for(pause))
        self.figures["slots moved"] += 1
