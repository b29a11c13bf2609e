"""One message's story, put together from a history: who pushed it, what can have ended it or moved
it, where it was seen and where it was not.

An *end* takes the message from the store for good (ack, cancel, replace). A definite one was
confirmed; another may have happened or not, until the message is seen after it.
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
    claims: int | None = None  # acked: of the claim that was acked


@dataclass
class Setter:
    """Sets the due time, to something between low and high."""

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
    """It was there, sometime between sent and ended, and, where it was listed, so."""

    sent: float
    ended: float
    where: str
    item: Item | None = None
    leased: bool = False
    begins: bool = False  # a delivery, and no later sight of one
    final: bool = False  # nothing was to be left


@dataclass
class Absent:
    sent: float
    ended: float
    where: str


@dataclass
class Settling:
    """What was done, or tried, with a receipt."""

    operation: object
    kind: str  # ack, retry, release, bury, extend


@dataclass
class Leased:
    """A delivery and all that was done with its receipt."""

    delivery: object
    settlings: list = field(default_factory=list)

    def acked_before(self, settling, remember):
        """Earlier acks by this receipt that may have been done, and be remembered when it comes."""
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
        """When the lease runs out, at the earliest and the latest, as it stands in that time."""
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
        """What may have settled this claim before then."""
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
        self.key_operations = []  # for telling the story
        self.revived = []  # revives of all the dead of its queue
        if not self.refused:
            low, high = push.range()
            if push.due_ms is not None:
                low = high = push.due_ms
            self.setters.append(Setter("push", push.sent, push.ended, push.known, low, high))

    @property
    def accepted(self):
        """For sure, be it that only a later sight of it said so."""
        return not self.refused and (self.push.known or bool(self.seen))

    def accepted_by(self):
        """Since when it was surely there."""
        times = [seen.ended for seen in self.seen]
        if self.push.known:
            times.append(self.push.ended)
        return min(times, default=FOREVER)

    def sort(self):
        self.deliveries.sort(key=lambda leased: leased.number)
        self.seen.sort(key=lambda seen: seen.ended)
        self.absent.sort(key=lambda absent: absent.ended)

    def live_ends(self):
        """The ends that were not disproved by a sight of the message after them."""
        return [end for end in self.ends if end.definite or not self.disproved(end)]

    def disproved(self, end):
        for seen in self.seen:
            if seen.sent < end.ended:
                continue
            if end.kind in ("cancelled", "stopping"):
                # A cancel that found a claim running shows only when that has ended.
                if seen.item is None or seen.item.state == "leased" and seen.item.stopping:
                    continue
            return True
        return any(leased.delivery.claim.sent >= end.ended for leased in self.deliveries)

    def possibly_alive(self, at):
        """It may be there at that time or later, as far as ends tell."""
        if self.refused:
            return False
        return not any(end.definite and end.ended < at and end.kind != "stopping"
                       for end in self.ends)

    def surely_alive(self, start, end):
        """It was there all the time between the two, or something is lost."""
        return self.accepted_by() <= start and not any(e.sent < end for e in self.live_ends())

    def leased_between(self, start, end):
        """The claim that surely ran all the time between the two, if there is one."""
        for leased in self.deliveries:
            low, _ = leased.lease_end(start, end)
            if leased.delivery.claim.ended <= start and end < low and \
                    not leased.ended_by_hand(end):
                return leased
        return None

    def possible_dues(self, start, end):
        """Setters of which one set the due time that stood sometime between the two."""
        candidates = [setter for setter in self.setters if setter.sent <= end]
        return [setter for setter in candidates
                if not any(later.definite and later.sent >= setter.ended and later.ended <= start
                           for later in candidates)]

    def tell(self):
        """All of it, for a report."""
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
