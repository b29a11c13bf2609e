"""Book: the lease protocol of a worker. It does no I/O, has no thread and reads no clock.

- A lease counts from before its claim or its extension was sent, so never for longer than it does
  in the store. It is extended after a third of its length. If the server is away, the extension is
  tried again after a tenth of that length, at most 1 s later.
- A settlement waits while an earlier request with settlements is under way, and goes together with
  all others that have gathered: in the next claim, if one is about to be sent. If the answer is
  lost, or the server is away, it is sent again while the lease holds; after a stop, for 10 s.
- A claim that is lost is neither extended nor settled.

Thread safety: none; the worker locks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Union

from .errors import InvalidRequest, NoSpace, TarryError, Unavailable, UnknownOutcome
from .model import Action, Claim, Claimed, Result, Settled
from .verbs import settle_body

_MAX_ITEMS = 1000
_AFTER_STOP = 10.0


@dataclass
class Counts:
    """How deliveries ended. `stale`: the claim had ended before it was settled."""

    delivered: int = 0
    acked: int = 0
    retried: int = 0
    buried: int = 0
    released: int = 0
    stale: int = 0

    def ended(self, action: Action) -> None:
        name = {Action.ACK: "acked", Action.RETRY: "retried", Action.BURY: "buried",
                Action.RELEASE: "released"}[action]
        setattr(self, name, getattr(self, name) + 1)


class Held:
    """A claim that is held: when its lease ends, and whether it is lost."""

    __slots__ = ("begun", "end", "extend_at", "extending", "lost", "message")

    def __init__(self, message: Claimed, begun: float) -> None:
        self.message = message
        self.begun = False
        self.lost = False
        self.extending = False
        self.extended(begun)

    @property
    def lease(self) -> float:
        return self.message.lease_ms / 1000

    def extended(self, begun: float) -> None:
        self.end = begun + self.lease
        self.extend_at = begun + self.lease / 3


@dataclass
class Settlement:
    held: Held
    action: Action
    item: bytes
    until: float = 0.0


def is_passing(error: TarryError) -> bool:
    """Whether the server may accept the same request a little later."""
    return isinstance(error, (Unavailable, NoSpace, UnknownOutcome))


class Book:
    def __init__(self) -> None:
        self.held: Dict[str, Held] = {}
        self.counts = Counts()
        self.refusals: List[TarryError] = []
        self._outbox: List[Settlement] = []
        self._settling = False
        self._joins = True  # until a server refuses settlements in a claim
        self._stopped_at: Optional[float] = None

    @property
    def is_settling(self) -> bool:
        """Whether something is still to be settled."""
        return bool(self._outbox) or self._settling

    @property
    def has_settlements(self) -> bool:
        return bool(self._outbox) and not self._settling

    def stop(self, now: float) -> None:
        if self._stopped_at is None:
            self._stopped_at = now

    def hold(self, message: Claimed, begun: float) -> Held:
        held = Held(message, begun)
        self.held[message.receipt] = held
        return held

    def end(self, held: Held, action: Action, item: Optional[bytes] = None) -> None:
        """The claim ends; `item` is as `settle_body` makes it."""
        self.held.pop(held.message.receipt, None)
        if held.lost:
            self.counts.stale += 1
            return
        if item is None:
            item = settle_body(held.message.receipt, action)
        self._outbox.append(Settlement(held, action, item))

    # -- settlements

    def settlements(self) -> List[Settlement]:
        """Those to send now, in one request; `settled` follows."""
        batch, self._outbox = self._outbox[:_MAX_ITEMS], self._outbox[_MAX_ITEMS:]
        self._settling = bool(batch)
        return batch

    def unsent(self, batch: Sequence[Settlement]) -> None:
        """The server did nothing with them: they go again, before all others."""
        self._settling = False
        self._outbox = [*batch, *self._outbox]

    def settled(self, batch: Sequence[Settlement], results: Sequence[Result[Settled]],
                now: float) -> bool:
        """Whether the server took them; if not, wait a little before the next request."""
        self._settling = False
        again: List[Settlement] = []
        took = True
        for one, result in zip(batch, results):
            if isinstance(result, TarryError):
                took = took and not is_passing(result)
                if is_passing(result) and self._may_repeat(one, now):
                    again.append(one)
                    continue
                self.counts.stale += 1
                if not is_passing(result):
                    self.refusals.append(result)
            elif result.done:
                self.counts.ended(one.action)
            else:
                self.counts.stale += 1
        self._outbox = again + self._outbox
        return took

    # -- settlements that go with a claim

    @property
    def joins(self) -> bool:
        """Whether a claim may take settlements with it."""
        return self._joins

    def joined(self) -> List[Settlement]:
        """Those that go with the claim that is sent now; `claimed` follows."""
        return self.settlements() if self._joins and self.has_settlements else []

    def claimed(self, batch: Sequence[Settlement], answer: Union[Claim, TarryError],
                now: float) -> Optional[TarryError]:
        """Notes what became of those that went with a claim. The error of the claim itself."""
        if isinstance(answer, Claim):
            if self.settled(batch, answer.settled, now):
                return answer.error
            refused = (one for one in answer.settled
                       if isinstance(one, TarryError) and is_passing(one))
            return answer.error or next(refused)
        if isinstance(answer, UnknownOutcome):
            self.settled(batch, [answer] * len(batch), now)
            return answer
        self.unsent(batch)
        if batch and isinstance(answer, InvalidRequest):
            self._joins = False  # an older server: the next claim goes alone
            return None
        return answer

    def _may_repeat(self, one: Settlement, now: float) -> bool:
        if self._stopped_at is not None and now > self._stopped_at + _AFTER_STOP:
            return False
        return now < one.held.end

    # -- extensions

    def extensions(self, now: float) -> List[Held]:
        """Those to extend now, in one request; `extended` follows."""
        due = [held for held in self.held.values()
               if not held.extending and not held.lost and held.extend_at <= now]
        for held in due[:_MAX_ITEMS]:
            held.extending = True
        return due[:_MAX_ITEMS]

    def extended(self, batch: Sequence[Held], results: Sequence[Result[Settled]], sent: float,
                 now: float) -> List[Held]:
        """Those that are lost from now on."""
        lost = []
        for held, result in zip(batch, results):
            held.extending = False
            if isinstance(result, TarryError):
                # Refused: the store has no extensions, and the lease ends in its time.
                passing = is_passing(result)
                held.extend_at = now + min(1.0, held.lease / 10) if passing else float("inf")
            elif result.done:
                held.extended(sent)
            else:
                held.lost = True
                held.end = float("-inf")
                lost.append(held)
        return lost

    def overdue(self, now: float) -> List[Held]:
        """Begun deliveries whose leases have ended because the server did not answer. Each is
        told once."""
        over = [held for held in self.held.values()
                if held.begun and not held.lost and held.end <= now]
        for held in over:
            held.lost = True
        return over

    def next_extension(self) -> Optional[float]:
        times = [min(held.extend_at, held.end if held.begun else held.extend_at)
                 for held in self.held.values() if not held.lost and not held.extending]
        times += [held.end for held in self.held.values() if held.begun and held.extending
                  and not held.lost]
        finite = [one for one in times if one != float("inf")]
        return min(finite) if finite else None
