"""What a store's clients asked and were told: all the evidence that the oracle has.

Times are milliseconds since 1970 by this machine's clock, which is the store's clock too. What an
operation did, it did between `sent` and `ended`. Where no answer came, `known` is false: the server
was killed meanwhile, `ended` is when it was surely dead, and it may have been done or not.

Push, cancel and reschedule of one key are asked one after the other, never two at once; everything
else may overlap.
"""

import time
from dataclasses import dataclass, field

FOREVER = float("inf")
NO_SPACE = "no_space"
UNAVAILABLE = "unavailable"
NOT_DONE = (NO_SPACE, UNAVAILABLE)  # outcomes: refused, and nothing was done
TOKEN = "token"  # the header that says which push a message comes from


# What time ends is put off by so much on a full disk (docs/reliability.md), and noticed after that.
LEASE_GOES_ON_MS = 1000 + 500


def now_ms():
    return time.time_ns() / 1e6


@dataclass
class Operation:
    sent: float
    ended: float = FOREVER
    known: bool = False
    asked_of: object = field(default=None, repr=False, compare=False)  # the server


@dataclass
class Timed(Operation):
    """Sets a due time: after a delay, or at a moment."""

    delay: int | None = None
    due: int | None = None
    due_ms: int | None = None  # as answered

    def range(self):
        """The due times that it can have set: the store adds a delay to its clock, rounding up."""
        if self.due is not None:
            return self.due, self.due
        return self.sent + self.delay - 1, self.ended + self.delay + 2


@dataclass
class Push(Timed):
    queue: str = ""
    key: str = ""  # empty: the store makes one
    token: int = 0
    payload: bytes = field(default=b"", repr=False)
    headers: tuple = ()  # of (name, bytes), the token among them
    priority: int = 1024
    rule: str = "reject"
    outcome: str | None = None
    id: int | None = None
    generated_key: str | None = None


@dataclass
class Cancel(Operation):
    queue: str = ""
    key: str = ""
    outcome: str | None = None


@dataclass
class Reschedule(Timed):
    queue: str = ""
    key: str = ""
    outcome: str | None = None


@dataclass
class Tallies:
    claims: int = 0
    run_outs: int = 0
    releases: int = 0
    buries: int = 0
    revives: int = 0


@dataclass
class Delivery:
    queue: str
    key: str
    id: int
    token: int | None  # None: the header is not there, or is no number
    payload: bytes = field(repr=False)
    headers: tuple
    receipt: str
    due_ms: int
    claimed_ms: int
    lease_ms: int
    attempt: int
    priority: int
    tallies: Tallies
    claim: "Claim" = None  # the request that it answers


@dataclass
class Claim(Operation):
    queues: tuple = ()
    max: int = 1
    lease: int = 0
    deliveries: list = field(default_factory=list, repr=False)
    hung_up: bool = False  # by the client, before the answer
    half_lost: bool = False  # answered by some shards, while others died


@dataclass
class Settle(Timed):
    receipt: str = ""
    action: str = "ack"
    outcome: str | None = None


@dataclass
class Extend(Operation):
    receipt: str = ""
    lease: int = 0
    outcome: str | None = None


@dataclass
class Revive(Operation):
    """Of all the dead of a queue."""

    queue: str = ""
    count: int | None = None


@dataclass
class Item:
    """A message as a list shows it."""

    queue: str
    key: str
    id: int
    token: int | None
    headers: tuple
    state: str
    stopping: bool
    due_ms: int
    attempt: int
    priority: int
    tallies: Tallies
    how: str | None = None  # remembered only


@dataclass
class Snapshot(Operation):
    """All that is in the store, while nothing else was asked, and the figures before and after."""

    why: str = ""
    final: bool = False  # everything was delivered and acked: nothing must be left
    items: list = field(default_factory=list)
    before: dict = field(default_factory=dict)  # queue -> figures as in /v1/stats
    after: dict = field(default_factory=dict)


@dataclass
class Queue:
    """Settings that what happens depends on."""

    max_attempts: int = 10
    remember: int = 0


class History:
    """The life of one store. Lists of operations, in no particular order."""

    ties_in_push_order = True  # of what is claimed
    lists_miss_nothing = True  # though a lease runs out meanwhile

    def __init__(self, queues, shards=1):
        self.queues = queues  # name -> Queue
        self.shards = shards
        self.pushes = []
        self.cancels = []
        self.reschedules = []
        self.claims = []
        self.settles = []
        self.extends = []
        self.revives = []
        self.snapshots = []
        self.kills = []  # (sent, dead)
        self.cramped = None  # (from, to): the disk may have been full

        self._lists = {Push: self.pushes, Cancel: self.cancels, Reschedule: self.reschedules,
                       Claim: self.claims, Settle: self.settles, Extend: self.extends,
                       Revive: self.revives}

    def add(self, operation):
        self._lists[type(operation)].append(operation)

    def operations(self):
        """All of them but the snapshots."""
        for operations in self._lists.values():
            yield from operations

    def lets_leases_go_on(self, end, sent):
        """A lease that ends on a full disk goes on, a second at a time, until there is room to
        write down that it ran out."""
        if self.cramped is None:
            return False
        began, ended = self.cramped
        return began <= end and sent <= ended + LEASE_GOES_ON_MS

    def lost_claims(self):
        """Claims that may have taken what nobody was given."""
        return [claim for claim in self.claims if not claim.known or claim.half_lost]

    def died(self, killed, dead, server=None):
        """The server is dead: what has had no answer by now will have no effect after. Where there
        are several, this one."""
        self.kills.append((killed, dead))
        for operation in self.operations():
            if operation.ended == FOREVER and server in (None, operation.asked_of):
                operation.ended = dead


class RedisHistory(History):
    """Of a store in Redis."""

    ties_in_push_order = False
    lists_miss_nothing = False

    def engine_died(self, killed, dead):
        """What the store lives in is dead, and not who serves it: of each request that had no
        answer by then he says himself whether it may have been done. But who claims from several
        shards is given what some of them gave, and not told of the others."""
        self.kills.append((killed, dead))
        for claim in self.claims:
            if claim.sent < dead and claim.ended > killed and self.shards * len(claim.queues) > 1:
                claim.half_lost = True
