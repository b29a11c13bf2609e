"""Lives of a store behind Sentinel. Its master is killed, sometimes while its replica lags behind,
or the sentinels are told to make the replica the master. Changes that the old master had confirmed
and the new one does not have are undone, as the guide says, and are counted; nothing else may be
undone. The new master says itself how much of the old one's history it has. When the old master had
got that far, is known from its watcher.
"""

import base64
import struct
from collections import Counter

from history import TOKEN, Cancel, Extend, Push, Reschedule, Settle, now_ms
from redis_family import Family, MasterWatcher
from redis_life import DAEMONS, RedisKillLife, reach
from redis_loss import Cut, LossyHistory
from rounds import Failure
from server import Daemon, ServerFailure

LAG_SECONDS = 0.3  # at most; shorter than sentinels wait for a replica
NOTHING_DONE = {
    Push: ("exists", "in_flight", "kept", "settled"),
    Cancel: ("unknown", "settled"),
    Reschedule: ("unknown", "settled", "in_flight"),
    Settle: ("stale",),
    Extend: ("stale",),
}


class Replayed:
    """The changes of the new master, also those from its time as a replica, according to its
    append-only file."""

    def __init__(self, server):
        self._text = b"".join(path.read_bytes()
                              for path in sorted(server.path.glob("appendonlydir/*.incr.aof")))

    def has_push(self, token):
        """Whether a body with that token in a header is in the file."""
        name, value = TOKEN.encode(), str(token).encode()
        pieces = (struct.pack("<H", len(text)) + text for text in (name, value))
        return b"".join(pieces) in self._text

    def has_claim(self, receipt):
        """A receipt names claim and member (engines/redis/records/receipt.cpp), which are next to
        each other in `leased`."""
        receipt = base64.urlsafe_b64decode(receipt + "=" * (-len(receipt) % 4))
        claimed_ms, claim, _, size = struct.unpack_from("<QQHH", receipt, 7)
        member, name = receipt[27:27 + size], b"%d-%d" % (claimed_ms, claim)
        return b"\r\n%s\r\n$%d\r\n%s\r\n" % (member, len(name), name) in self._text


class FailoverHistory(LossyHistory):
    def __init__(self, queues, shards=1):
        super().__init__(queues, shards)
        self.in_doubt = Counter()
        self._replayed = None

    def fail_over(self, cut, killed, dead, left, replayed):
        """Between `killed` and `dead` nobody was served. Until `left` the old master may have
        answered reads, but changed nothing more. For requests that were on their way at the cut:
        `replayed` knows whether pushes and claims were done; for the others nobody knows."""
        self._replayed = replayed
        for kind, outcomes in NOTHING_DONE.items():
            operations = self._lists[kind]
            operations[:] = [o for o in operations if not (
                o.known and o.outcome in outcomes and o.sent <= left and o.ended >= cut.low)]
        self.rewind(cut, killed, dead)
        for claim in self.claims:
            if claim.sent < dead and claim.ended >= cut.low and \
                    self.shards * len(claim.queues) > 1:
                claim.half_lost = True

    def _stands(self, kind, operation, cut, killed, dead):
        on_its_way = operation.known and operation.ended >= cut.low and operation.sent <= dead
        if kind is Push and on_its_way and operation.outcome in ("pushed", "replaced"):
            stands = self._replayed.has_push(operation.token)
            if not stands:
                self.undone["push"] += 1
            return stands
        return super()._stands(kind, operation, cut, killed, dead)

    def _rewind_claim(self, claim, cut, dead):
        for delivery in list(claim.deliveries):
            if delivery.claimed_ms <= dead and not self._replayed.has_claim(delivery.receipt):
                self.undone["delivery"] += 1
                self.undone_receipts.add(delivery.receipt)
                claim.deliveries.remove(delivery)

    def _doubt(self, operation):
        self.in_doubt[type(operation).__name__.lower()] += 1
        super()._doubt(operation)


class RedisFailoverLife(RedisKillLife):
    # Only the data that the replica got counts, and its file contains exactly that.
    redis_words = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage",
                   "0")

    def _redis(self, plan):
        return Family(*self.redis_words, parent=plan.parent)

    def _server(self):
        url = f"{self.redis.url}&shards={self.shards}"
        self.daemons = [Daemon(url, self._plan.parent) for _ in range(DAEMONS)]
        return self.daemons[0]

    def _history(self, queues):
        return FailoverHistory(queues, self.shards)

    KINDS = ("asked for", "killed", "replica cut off, then killed",
             "replica cut off, guarded, then killed")

    def round(self, number):
        kind = self.KINDS[number % len(self.KINDS)]
        self.redis.guard(int(kind == "asked for" or "guarded" in kind))
        before, after = self._trigger(), self._trigger()
        watcher = MasterWatcher(self.redis.master)
        clients, threads = self._load(before.event)
        self._wait_for(before)
        if not self._errors and not self.redis.alive_for(0):
            raise ServerFailure(f"redis-server died by itself\n{self.redis.log()}")
        asked = now_ms()
        if kind == "asked for":
            killed, dead = self._ask(watcher)
        else:
            killed, dead = self._kill("cut off" in kind)
        written = self.redis.promoted()
        samples = watcher.stop()
        self.redis.agreed()
        if kind == "asked for":
            self.redis.old_master_is_replica()
        else:
            self.redis.replica.start()
            self.redis.follow()
        left = now_ms()
        self.redis.settle()
        for daemon in self.daemons:
            reach(self.redis, daemon)
        self.figures["ms until daemons found the new master, at most"] = max(
            int(now_ms() - asked), self.figures["ms until daemons found the new master, at most"])
        for client in clients:
            client.on_event = after.event
        if not self._errors:
            self._wait_for(after)
        self._end_load(clients, threads)
        self._rewind(kind, samples, written, killed, dead, left)
        self._look(f"after failover {number}, {kind}")

    def _kill(self, cut_off):
        if cut_off:
            self.redis.cut_off_replica()
            self.redis.alive_for(self._random.uniform(0.05, LAG_SECONDS))
        killed = now_ms()
        self.redis.kill_master()
        dead = now_ms()
        if cut_off:
            self.redis.replica.thaw()
        return killed, dead

    def _ask(self, watcher):
        """Once the old master has seen that its replica is gone, it changes nothing any more."""
        since = len(watcher.samples)

        def alone():
            return any(sample.replicas == 0 for sample in watcher.samples[since:])

        self.redis.ask_for_failover(alone)
        last = max(i for i, sample in enumerate(watcher.samples) if sample.replicas > 0)
        return watcher.samples[last].low, watcher.samples[last + 1].high

    def _rewind(self, kind, samples, written, killed, dead, left):
        samples = [sample for sample in samples if sample.low <= dead]
        behind = [sample for sample in samples if sample.written <= written]
        beyond = [sample for sample in samples if sample.written > written]
        if not behind:
            raise Failure(f"the new master has {written} bytes of a history that began after that")
        cut = Cut(behind[-1].low, min(beyond[0].high, dead) if beyond else dead, written)
        lost = max((sample.written for sample in beyond), default=written) - written
        self.figures[f"failovers, {kind}"] += 1
        self.figures[f"bytes lost, {kind}"] += lost
        self.figures["ms lost, at most"] = max(self.figures["ms lost, at most"],
                                               int(killed - cut.low) if lost else 0)
        before = Counter(self.history.undone)
        self.history.fail_over(cut, killed, dead, left, Replayed(self.redis.master))
        self.figures[f"undone, {kind}"] += sum((self.history.undone - before).values())

    def store_figures(self):
        history = self.history
        again = {d.receipt for claim in history.claims for d in claim.deliveries}
        figures = super().store_figures()
        figures.update({f"undone: {name}": n for name, n in history.undone.items()})
        figures.update({f"in doubt: {name}": n for name, n in history.in_doubt.items()})
        figures["receipts of undone claims, given again"] = len(again & history.undone_receipts)
        return figures
