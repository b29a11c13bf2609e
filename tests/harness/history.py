"""The requests of a store's clients, and the answers: all the evidence that the oracle has.

Times are milliseconds since 1970 by this machine's clock, which is the store's clock too. The
effect of an operation came between `sent` and `ended`. If no answer came, `known` is false: the
server was killed meanwhile, `ended` is a time at which it was surely dead, and the operation may
have been done or not.

Push, cancel and reschedule of one key are asked one after the other, never two at once; everything
else may overlap.
"""

import time
from dataclasses import dataclass, field

FOREVER = float("inf")
NO_SPACE = "no_space"
UNAVAILABLE = "unavailable"
NOT_DONE = (NO_SPACE, UNAVAILABLE)  # outcomes: refused, so nothing was done
TOKEN = "token"  # the header that says which push a message comes from


# On a full disk, effects of time come later by up to the first number (docs/reliability.md), and
# are noticed after the second.
LEASE_GOES_ON_MS = 1000 + 500


def now_ms():
    return time.time_ns() / 1e6


@dataclass
class Operation:
    sent: float
    ended: float = FOREVER
    known: bool = False
    asked_of: object = field(default=None, repr=False, compare=False)  # the server that was asked


@dataclass
class Timed(Operation):
    """An operation that sets a due time: after a delay, or at a moment."""

    delay: int | None = None
    due: int | None = None
    due_ms: int | None = None  # the answered one

    def range(self):
        """The due times that it may have set: the store adds a delay to its clock, and rounds
        up."""
        if self.due is not None:
            return self.due, self.due
        return self.sent + self.delay - 1, self.ended + self.delay + 2


@dataclass
class Push(Timed):
    queue: str = ""
    key: str = ""  # empty: the store generates one
    token: int = 0
    payload: bytes = field(default=b"", repr=False)
    headers: tuple = ()  # (name, bytes) pairs; one of them is the token
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
    token: int | None  # None: the header is missing, or is not a number
    payload: bytes = field(repr=False)
    headers: tuple
    receipt: str
    due_ms: int
    claimed_ms: int
    lease_ms: int
    attempt: int
    priority: int
    tallies: Tallies
    claim: "Claim" = None  # the claim that brought it


@dataclass
class Claim(Operation):
    queues: tuple = ()
    max: int = 1
    lease: int = 0
    deliveries: list = field(default_factory=list, repr=False)
    hung_up: bool = False  # the client hung up before the answer
    half_lost: bool = False  # some shards answered, others died


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
    """Revives all dead messages of a queue."""

    queue: str = ""
    count: int | None = None


@dataclass
class Item:
    """A message in a list."""

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
    how: str | None = None  # only for remembered messages


@dataclass
class Snapshot(Operation):
    """Everything in the store at a time at which no client asked, and the figures before and
    after."""

    why: str = ""
    final: bool = False  # everything was delivered and acked, so nothing may be left
    items: list = field(default_factory=list)
    before: dict = field(default_factory=dict)  # queue -> figures as in /v1/stats
    after: dict = field(default_factory=dict)


@dataclass
class Queue:
    """Settings that the oracle needs."""

    max_attempts: int = 10
    remember: int = 0


class History:
    """The life of one store. Lists of operations, in no particular order."""

    ties_in_push_order = True  # for claimed messages
    lists_miss_nothing = True  # even if a lease runs out meanwhile

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
        self.cramped = None  # (from, to): in this time the disk may have been full

        self._lists = {Push: self.pushes, Cancel: self.cancels, Reschedule: self.reschedules,
                       Claim: self.claims, Settle: self.settles, Extend: self.extends,
                       Revive: self.revives}

    def add(self, operation):
        self._lists[type(operation)].append(operation)

    def operations(self):
        """All operations except the snapshots."""
        for operations in self._lists.values():
            yield from operations

    def lets_leases_go_on(self, end, sent):
        """On a full disk, a lease that ends is prolonged, a second at a time, until there is room
        to record that it ran out."""
        if self.cramped is None:
            return False
        began, ended = self.cramped
        return began <= end and sent <= ended + LEASE_GOES_ON_MS

    def lost_claims(self):
        """Claims that may have taken messages without giving them to anybody."""
        return [claim for claim in self.claims if not claim.known or claim.half_lost]

    def died(self, killed, dead, server=None):
        """The server is dead: requests that it has not answered will have no effect later. If there
        are several servers, only those of this one."""
        self.kills.append((killed, dead))
        for operation in self.operations():
            if operation.ended == FOREVER and server in (None, operation.asked_of):
                operation.ended = dead


class RedisHistory(History):
    """The history of a store in Redis."""

    ties_in_push_order = False
    lists_miss_nothing = False

    def engine_died(self, killed, dead):
        """Redis is dead, but the daemons that serve the store are not. So a daemon itself says, of
        each request without an answer, whether it may have been done. Exception: a claim from
        several shards gets the messages of some shards, and does not learn of the others."""
        self.kills.append((killed, dead))
        for claim in self.claims:
            if claim.sent < dead and claim.ended > killed and self.shards * len(claim.queues) > 1:
                claim.half_lost = True
