"""Lives of a store in a Redis that forgets its last moments, which appendfsync everysec permits if
the machine dies: after the kill, its append-only file is cut to an earlier end.
"""

import threading
from collections import Counter, namedtuple

from client import Client
from history import NOT_DONE, Claim, RedisHistory, Revive, now_ms
from redis_life import ALWAYS, RedisKillLife, reach
from redis_server import RedisServer
from server import Daemon

MOST_LOST_MS = 2000  # the time between two fsyncs, plus a late one
SAMPLE_SECONDS = 0.002
# Not everysec itself: everysec may delay a write while an fsync runs, and then nobody could say
# what was in the file when. The bytes that the test cuts off are those that everysec may lose.
WRITTEN_AT_ONCE = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage",
                   "0")

# A place to cut: the first `size` bytes contain everything that was answered before `low` (if they
# end with a whole transaction), and nothing that was asked after `high`.
Cut = namedtuple("Cut", "low high size")


class Watcher:
    """Records the length of the file again and again, with the time, until it is stopped."""

    def __init__(self, path):
        self._path = path
        self._samples = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._end.wait(SAMPLE_SECONDS):
            low = now_ms()
            size = self._path.stat().st_size
            self._samples.append(Cut(low, now_ms(), size))

    def stop(self):
        self._end.set()
        self._thread.join()
        return self._samples


class LossyHistory(RedisHistory):
    def __init__(self, queues, shards=1):
        super().__init__(queues, shards)
        self.undone = Counter()
        self.undone_receipts = set()

    def knows_all_deliveries(self, cut):
        """Whether no delivery was on its way at the cut, so that each is known to be in the file or
        not."""
        return not any(claim.ended >= cut.low and delivery.claimed_ms <= cut.high
                       for claim in self.claims if claim.sent <= cut.high
                       for delivery in claim.deliveries)

    def sees_all_pushes(self, cut):
        """Whether no push that was on its way at the cut may also have been ended then. Nothing
        would be left that shows whether it is in the file."""
        def at_that_time(operations):
            return Counter((o.queue, o.key or getattr(o, "generated_key", None)) for o in operations
                           if o.ended >= cut.low and o.sent <= cut.high)

        pushed, cancelled = at_that_time(self.pushes), at_that_time(self.cancels)
        return not any(count > 1 or key in cancelled for key, count in pushed.items())

    def rewind(self, cut, killed, dead):
        """Operations after the cut and before the kill were never done. Operations that were on
        their way at either time may have been done or not."""
        self.kills.append((killed, dead))
        for kind, operations in self._lists.items():
            operations[:] = [o for o in operations if self._stands(kind, o, cut, killed, dead)]

    def _stands(self, kind, operation, cut, killed, dead):
        refused = getattr(operation, "outcome", None) in NOT_DONE
        if operation.ended < cut.low or operation.sent > dead or refused:
            return True
        if kind is Claim:
            self._rewind_claim(operation, cut, dead)
        if operation.sent > cut.high and operation.ended <= killed:
            if self._had_effect(kind, operation):
                self.undone[kind.__name__.lower()] += 1
            return False
        if operation.known and kind not in (Claim, Revive):
            self._doubt(operation)
        return True

    def _rewind_claim(self, claim, cut, dead):
        undone = [d for d in claim.deliveries if cut.high < d.claimed_ms <= dead]
        self.undone["delivery"] += len(undone)
        self.undone_receipts.update(delivery.receipt for delivery in undone)
        claim.deliveries = [d for d in claim.deliveries if d not in undone]

    @staticmethod
    def _had_effect(kind, operation):
        if not operation.known or kind in (Claim, Revive):
            return False
        return operation.outcome in ("pushed", "replaced", "revived", "moved", "cancelled",
                                     "stopping", "rescheduled", "done")

    @staticmethod
    def _doubt(operation):
        """Treats the operation as if it had no answer; but if it was done, the answer was right."""
        operation.known = False
        operation.doubted = True
        if operation.outcome not in ("pushed", "rescheduled", "done"):
            for name in {"due_ms", "id", "generated_key"} & vars(operation).keys():
                setattr(operation, name, None)
        operation.outcome = None


class RedisLossLife(RedisKillLife):
    redis_words = WRITTEN_AT_ONCE

    def _history(self, queues):
        return LossyHistory(queues, self.shards)

    def round(self, number):
        # A new daemon takes new ids, in the time that may be lost.
        daemon = self._random.choice(self.daemons)
        daemon.stop()
        daemon.start()
        super().round(number)

    def _load(self, on_event):
        self._watcher = Watcher(self.redis.aof())
        return super()._load(on_event)

    def killed(self, killed, dead):
        samples = self._watcher.stop()
        lost = killed - self._random.uniform(0, MOST_LOST_MS)
        cuts = [Cut(before.low, after.high, self._random.randrange(before.size, after.size))
                for before, after in zip(samples, samples[1:])
                if lost <= before.low and after.high < killed and before.size < after.size]
        cut = next((cut for cut in cuts if self.history.knows_all_deliveries(cut)
                    and self.history.sees_all_pushes(cut)), None)
        if cut is None:
            self.figures["kills that cost nothing"] += 1
            self.history.engine_died(killed, dead)
            return
        there = self.redis.aof().stat().st_size
        with open(self.redis.aof(), "r+b") as file:
            file.truncate(cut.size)
        self.figures["ms lost"] += int(killed - cut.low)
        self.figures["ms lost, at most"] = max(self.figures["ms lost, at most"],
                                               int(killed - cut.low))
        self.figures["bytes lost"] += there - cut.size
        self.history.rewind(cut, killed, dead)

    def store_figures(self):
        history = self.history
        again = {d.receipt for claim in history.claims for d in claim.deliveries}
        figures = super().store_figures()
        figures.update({f"undone: {name}": n for name, n in history.undone.items()})
        figures["receipts of undone claims, given again"] = len(again & history.undone_receipts)
        return figures


class Rewound:
    """A store in Redis and its daemons, each of which survives the loss of Redis's last moments."""

    def __init__(self):
        self.redis = RedisServer(*ALWAYS, "--auto-aof-rewrite-percentage", "0")
        self.daemons = []
        self._clients = []
        self._size = 0
        self.redis.start()

    def client(self):
        """A client of a new daemon."""
        daemon = Daemon(self.redis.url)
        self.daemons.append(daemon)
        daemon.start()
        self._clients.append(Client(daemon, None))
        return self._clients[-1]

    def mark(self):
        """Changes from now on will be lost. Without a mark, all changes are."""
        self._size = self.redis.aof().stat().st_size

    def lose(self):
        self.redis.lose_all_behind(self._size)
        for daemon in self.daemons:
            reach(self.redis, daemon)

    def close(self):
        for closed in (*self._clients, *self.daemons, self.redis):
            closed.close()
