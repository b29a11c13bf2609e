"""The story of one message, built from a history: who pushed it, what may have ended or moved it,
and where it was seen and where it was missing.

An *end* takes the message from the store for good (ack, cancel, replace). A definite end was
confirmed; another one may have happened or not, until the message is seen after it.
"""

from dataclasses import dataclass, field
from itertools import takewhile

from history import FOREVER, Item


@dataclass
class End:
    kind: str  # acked, cancelled, stopping (gone when its claim ends), replaced, gone
    sent: float
    ended: float
    definite: bool
    claims: int | None = None  # for an ack: the number of the claim that was acked


@dataclass
class Setter:
    """An operation that sets the due time to a value between low and high."""

    kind: str
    sent: float
    ended: float
    definite: bool
    low: float
    high: float

    def fits(self, due_ms):
        return self.low <= due_ms <= self.high


@dataclass
class Seen:
    """The message existed at some time between sent and ended; if a list showed it, with these
    fields."""

    sent: float
    ended: float
    where: str
    item: Item | None = None
    leased: bool = False
    begins: bool = False  # seen by a delivery, and not by something later
    final: bool = False  # nothing should have been left


@dataclass
class Absent:
    sent: float
    ended: float
    where: str


@dataclass
class Settling:
    """An operation that was tried with a receipt."""

    operation: object
    kind: str  # ack, retry, release, bury, extend


@dataclass
class Leased:
    """A delivery, and all operations with its receipt."""

    delivery: object
    settlings: list = field(default_factory=list)

    def acked_before(self, settling, remember):
        """Earlier acks by this receipt that may have been done, and may be remembered when this one
        comes."""
        if remember == 0:
            return []
        before = [s.operation for s in takewhile(lambda s: s is not settling, self.settlings)
                  if s.kind == "ack"]
        sent = settling.operation.sent
        return [ack for ack in before if not ack.known or
                ack.outcome == "done" and sent < ack.ended + remember]

    @property
    def number(self):
        return self.delivery.tallies.claims

    def lease_end(self, start, end):
        """The earliest and the latest time at which the lease may run out, as it stands between
        start and end."""
        low = self.delivery.claimed_ms + self.delivery.lease_ms
        high = self.delivery.claim.ended + self.delivery.lease_ms
        extends = sorted((s.operation for s in self.settlings if s.kind == "extend"
                          and s.operation.outcome in (None, "done")), key=lambda e: e.sent)
        for extend in extends:
            if extend.sent >= end:
                break
            first, last = extend.sent + extend.lease, extend.ended + extend.lease
            if extend.known and extend.ended < start:
                low, high = first, last
            else:
                low, high = min(low, first), max(high, last)
        return low, high

    def ended_by_hand(self, before):
        """The operations that may have settled this claim before that time."""
        return [s for s in self.settlings if s.kind != "extend" and s.operation.sent < before
                and s.operation.outcome in (None, "done")]


class Story:
    def __init__(self, push):
        self.push = push
        self.id = push.id
        self.key = push.key or push.generated_key
        self.refused = push.known and push.outcome not in ("pushed", "replaced", "revived")
        self.ends = []
        self.setters = []
        self.seen = []
        self.absent = []
        self.deliveries = []  # Leased, by claim number
        self.key_operations = []  # for the report
        self.revived = []  # revives of all dead messages of its queue
        if not self.refused:
            low, high = push.range()
            if push.due_ms is not None:
                low = high = push.due_ms
            self.setters.append(Setter("push", push.sent, push.ended, push.known, low, high))

    @property
    def accepted(self):
        """Surely accepted, even if only a later sight of the message shows it."""
        return not self.refused and (self.push.known or bool(self.seen))

    def accepted_by(self):
        """The time from which it surely existed."""
        times = [seen.ended for seen in self.seen]
        if self.push.known:
            times.append(self.push.ended)
        return min(times, default=FOREVER)

    def sort(self):
        self.deliveries.sort(key=lambda leased: leased.number)
        self.seen.sort(key=lambda seen: seen.ended)
        self.absent.sort(key=lambda absent: absent.ended)

    def live_ends(self):
        """The ends that no later sight of the message has disproved."""
        return [end for end in self.ends if end.definite or not self.disproved(end)]

    def disproved(self, end):
        for seen in self.seen:
            if seen.sent < end.ended:
                continue
            if end.kind in ("cancelled", "stopping"):
                # A cancel that met a running claim takes effect only when that claim has ended.
                if seen.item is None or seen.item.state == "leased" and seen.item.stopping:
                    continue
            return True
        return any(leased.delivery.claim.sent >= end.ended for leased in self.deliveries)

    def possibly_alive(self, at):
        """Whether it may exist at that time or later, according to its ends."""
        if self.refused:
            return False
        return not any(end.definite and end.ended < at and end.kind != "stopping"
                       for end in self.ends)

    def surely_alive(self, start, end):
        """Whether it must have existed all the time between the two."""
        return self.accepted_by() <= start and not any(e.sent < end for e in self.live_ends())

    def leased_between(self, start, end):
        """The claim that surely lasted all the time between the two, if there is one."""
        for leased in self.deliveries:
            low, _ = leased.lease_end(start, end)
            if leased.delivery.claim.ended <= start and end < low and \
                    not leased.ended_by_hand(end):
                return leased
        return None

    def possible_dues(self, start, end):
        """The operations one of which set the due time that was valid sometime between the two."""
        candidates = [setter for setter in self.setters if setter.sent <= end]
        return [setter for setter in candidates
                if not any(later.definite and later.sent >= setter.ended and later.ended <= start
                           for later in candidates)]

    def tell(self):
        """The whole story, for a report."""
        lines = []

        def add(at, text):
            lines.append((at, f"  {at:.3f} {text}"))

        def until(operation):
            took = operation.ended - operation.sent
            end = "never" if took == FOREVER else f"+{took:.3f}"
            return f"[{end}, {'answered' if operation.known else 'NO ANSWER'}]"

        push = self.push
        add(push.sent, f"push {push.rule} delay={push.delay} due={push.due} -> {push.outcome} "
                       f"id={push.id} due_ms={push.due_ms} {until(push)}")
        for operation in self.key_operations:
            details = " ".join(f"{name}={value}" for name, value in vars(operation).items()
                               if name in ("delay", "due", "due_ms", "outcome", "token", "rule"))
            add(operation.sent, f"{type(operation).__name__.lower()} {details} {until(operation)}")
        for leased in self.deliveries:
            d = leased.delivery
            add(d.claim.sent, f"claim {leased.number} attempt={d.attempt} due_ms={d.due_ms} "
                              f"claimed_ms={d.claimed_ms} lease={d.lease_ms} {until(d.claim)}")
            for settling in leased.settlings:
                o = settling.operation
                add(o.sent, f"{settling.kind} of claim {leased.number} -> {o.outcome} {until(o)}")
        for seen in self.seen:
            if seen.item is not None:
                i = seen.item
                add(seen.sent, f"listed {seen.where}: {i.state} stopping={i.stopping} "
                               f"due_ms={i.due_ms} attempt={i.attempt} {i.tallies}")
        for absent in self.absent:
            add(absent.sent, f"absent: {absent.where}")
        lines.sort(key=lambda line: line[0])
        head = f"  message token={push.token} queue={push.queue} key={self.key!r} id={self.id}"
        return "\n".join([head] + [text for _, text in lines])
