"""Made-up histories for the oracle's own tests. Operations follow each other every 10 ms. Each verb
is answered as a correct store would, unless the test says otherwise.
"""

from history import (TOKEN, Cancel, Claim, Delivery, Extend, History, Item, Push, Queue, Reschedule,
                     Revive, Settle, Snapshot, Tallies)

START = 1_800_000_000_000


def token_header(token):
    return ((TOKEN, str(token).encode()),)


class Tale:
    def __init__(self, shards=1, remember=0, kind=History):
        self.history = kind({"q": Queue(max_attempts=3, remember=remember)}, shards)
        self.now = START
        self.counters = dict.fromkeys(
            ("accepted", "acked", "cancelled", "replaced", "expired", "purged", "moved_away",
             "claims", "retries", "releases", "run_outs", "buries", "revives", "reschedules",
             "damaged"), 0)

    def wait(self, ms):
        self.now += ms

    def _ask(self, operation, known=True):
        """The operation takes 2 ms; the next one begins 8 ms later."""
        operation.sent = self.now
        if known:
            operation.ended = self.now + 2
            operation.known = True
        self.now += 10
        self.history.add(operation)
        return operation

    def crash(self):
        self.history.died(self.now, self.now + 5)
        self.now += 50

    # -- verbs

    def push(self, key="k", delay=0, outcome="pushed", known=True, **more):
        token = len(self.history.pushes) + 1
        push = Push(0, queue="q", key=key, token=token, payload=f"{token}:x".encode(), delay=delay,
                    headers=token_header(token), **more)
        self._ask(push, known)
        if known:
            push.outcome = outcome
            push.due_ms = int(push.sent) + 1 + delay
            if outcome in ("pushed", "replaced", "revived"):
                push.id = token
                push.generated_key = key or f"_made{token}"
                self.counters["accepted"] += 1
        return push

    def cancel(self, push, outcome="cancelled", known=True):
        cancel = self._ask(Cancel(0, queue="q", key=push.key or push.generated_key), known)
        if known:
            cancel.outcome = outcome
            self.counters["cancelled"] += outcome == "cancelled"
        return cancel

    def reschedule(self, push, delay, outcome="rescheduled", known=True):
        key = push.key or push.generated_key
        move = self._ask(Reschedule(0, queue="q", key=key, delay=delay), known)
        if known:
            move.outcome = outcome
            if outcome == "rescheduled":
                move.due_ms = int(move.sent) + 1 + delay
                self.counters["reschedules"] += 1
        return move

    def claim(self, push=None, number=1, due_ms=None, lease=1000, known=True, **more):
        """A claim that gets this message, as its nth claim; or gets nothing."""
        claim = Claim(0, queues=("q",), max=1, lease=lease)
        at = more.pop("at", self.now + 1)
        self._ask(claim, known)
        if push is None or not known:
            return claim
        self.counters["claims"] += 1
        values = dict(queue="q", key=push.key or push.generated_key,
                      id=push.token, token=push.token,
                      payload=push.payload, headers=push.headers, receipt=f"r{push.token}.{number}",
                      due_ms=push.due_ms if due_ms is None else due_ms, claimed_ms=at,
                      lease_ms=lease, attempt=number, priority=push.priority,
                      tallies=Tallies(claims=number))
        values["tallies"].releases = more.pop("releases", 0)
        values["attempt"] -= values["tallies"].releases
        claim.deliveries.append(Delivery(**values | more, claim=claim))
        return claim

    def settle(self, claim, action="ack", outcome="done", known=True, delay=0):
        settle = Settle(0, receipt=claim.deliveries[0].receipt, action=action,
                        delay=delay if action == "retry" else None)
        self._ask(settle, known)
        if known:
            settle.outcome = outcome
            if outcome == "done":
                counter = {"ack": "acked", "retry": "retries", "release": "releases",
                           "bury": "buries"}[action]
                self.counters[counter] += 1
                if action == "retry":
                    settle.due_ms = int(settle.sent) + 1 + delay
        return settle

    def extend(self, claim, lease, outcome="done", known=True):
        extend = self._ask(Extend(0, receipt=claim.deliveries[0].receipt, lease=lease), known)
        if known:
            extend.outcome = outcome
        return extend

    def revive(self):
        self.counters["revives"] += 1
        return self._ask(Revive(0, queue="q", count=1))

    def list(self, *items, final=False, remembered=(), **counters):
        """A list that shows these messages, as (push, state) or (push, state, changes)."""
        snapshot = Snapshot(self.now, self.now + 5, True, why="list", final=final)
        for push, state, *changes in items:
            values = dict(queue="q", key=push.key or push.generated_key, id=push.token,
                          token=push.token, headers=push.headers, state=state, stopping=False,
                          due_ms=push.due_ms, attempt=0, priority=push.priority, tallies=Tallies())
            for change in changes:
                values |= change
            snapshot.items.append(Item(**values))
        for push, how in remembered:
            snapshot.items.append(Item("q", push.key, push.token, None, (), "remembered", False,
                                       0, 1, 1024, Tallies(), how))
        states = [item.state for item in snapshot.items]
        figures = {state: states.count(state) for state in ("scheduled", "ready", "leased", "dead")}
        figures["counters"] = self.counters | counters
        snapshot.before = snapshot.after = {"q": figures}
        self.now += 10
        self.history.snapshots.append(snapshot)
        return snapshot
