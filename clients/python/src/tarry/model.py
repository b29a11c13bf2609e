"""What verbs take and answer."""

from __future__ import annotations

import base64
import enum
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, Mapping, Optional, Tuple, TypeVar, Union

from .errors import TarryError
from .moments import Duration, Moment, datetime_of, put_duration, put_moment

Bytes = Union[bytes, str]
T = TypeVar("T")
Result = Union[T, TarryError]
"""An item of a batch: what happened, or the error of this item alone."""


class Outcome(str, enum.Enum):
    """What a verb did. docs/semantics.md has the table."""

    PUSHED = "pushed"
    EXISTS = "exists"
    KEPT = "kept"
    REPLACED = "replaced"
    MOVED = "moved"
    IN_FLIGHT = "in_flight"
    SETTLED = "settled"
    REVIVED = "revived"
    CANCELLED = "cancelled"
    STOPPING = "stopping"
    UNKNOWN = "unknown"
    RESCHEDULED = "rescheduled"
    DONE = "done"
    STALE = "stale"
    ADDED = "added"

    def __str__(self) -> str:
        return self.value


class IfExists(str, enum.Enum):
    """What a push does if its key is taken."""

    REJECT = "reject"
    KEEP = "keep"
    REPLACE = "replace"
    EARLIER = "earlier"
    LATER = "later"


class State(str, enum.Enum):
    """Where a message is in its life."""

    SCHEDULED = "scheduled"
    READY = "ready"
    LEASED = "leased"
    DEAD = "dead"
    REMEMBERED = "remembered"


class Action(str, enum.Enum):
    """How a claim ends."""

    ACK = "ack"
    RETRY = "retry"
    RELEASE = "release"
    BURY = "bury"


def put_bytes(body: Dict[str, Any], name: str, value: Optional[Bytes]) -> None:
    """Sets `name`, or `name_base64` if the value is not UTF-8."""
    if value is None:
        return
    if isinstance(value, str):
        body[name] = value
        return
    try:
        body[name] = value.decode("utf-8")
    except UnicodeDecodeError:
        body[name + "_base64"] = base64.b64encode(value).decode("ascii")


def bytes_of(said: Mapping[str, Any], name: str) -> bytes:
    """The bytes under `name` or `name_base64`; empty if there are none."""
    if name + "_base64" in said:
        return base64.b64decode(said[name + "_base64"])
    value = said.get(name, "")
    return value.encode("utf-8") if isinstance(value, str) else b""


def text_of(said: Mapping[str, Any], name: str) -> str:
    """The same as text; bytes that are not UTF-8 become surrogates, which `encoded` takes back."""
    if name + "_base64" in said:
        return bytes_of(said, name).decode("utf-8", "surrogateescape")
    return str(said.get(name, ""))


def key_bytes(key: Bytes) -> Bytes:
    """A key as given, with the surrogates of `text_of` made bytes again."""
    if isinstance(key, str):
        try:
            key.encode("utf-8")
        except UnicodeEncodeError:
            return key.encode("utf-8", "surrogateescape")
    return key


@dataclass(frozen=True)
class Message:
    """A message to push. Without `delay` and `due` it is due now. With `spread` it is due up to
    this later, when the queue has least to do; `Pushed.due` says when."""

    payload: Bytes = b""
    key: Optional[Bytes] = None
    delay: Optional[Duration] = None
    due: Optional[Moment] = None
    headers: Optional[Mapping[str, str]] = None
    priority: Optional[int] = None
    if_exists: Optional[Union[IfExists, str]] = None
    max_attempts: Optional[int] = None
    expire: Optional[Duration] = None
    """It ends undelivered so long after its due time; else the queue's."""
    expire_at: Optional[Moment] = None
    """It ends undelivered at this moment. Instead of `expire`."""
    spread: Optional[Duration] = None

    def body(self) -> Dict[str, Any]:
        """The message as the server takes it."""
        if self.delay is not None and self.due is not None:
            raise ValueError(f"delay {self.delay} and due {self.due}: give one of them")
        body: Dict[str, Any] = {}
        if self.key is not None:
            put_bytes(body, "key", key_bytes(self.key))
        put_bytes(body, "payload", self.payload)
        put_duration(body, "delay", self.delay)
        put_moment(body, "due", self.due)
        if self.headers:
            body["headers"] = dict(self.headers)
        if self.priority is not None:
            body["priority"] = self.priority
        if self.if_exists is not None:
            body["if_exists"] = IfExists(self.if_exists).value
        if self.max_attempts is not None:
            body["max_attempts"] = self.max_attempts
        if self.expire is not None and self.expire_at is not None:
            raise ValueError(
                f"expire {self.expire} and expire_at {self.expire_at}: give one of them")
        put_duration(body, "expire", self.expire)
        put_moment(body, "expire_at", self.expire_at)
        put_duration(body, "spread", self.spread)
        return body


@dataclass(frozen=True)
class Pushed:
    """What a push did, and the message that is there now."""

    outcome: Outcome
    id: str
    key: str
    due_ms: int

    @property
    def due(self) -> datetime:
        return datetime_of(self.due_ms)

    @property
    def is_new(self) -> bool:
        """Whether this push is what will be delivered: pushed, replaced or revived."""
        return self.outcome in (Outcome.PUSHED, Outcome.REPLACED, Outcome.REVIVED)

    @staticmethod
    def of(said: Mapping[str, Any]) -> Pushed:
        return Pushed(Outcome(said["outcome"]), said.get("id", ""), text_of(said, "key"),
                      said.get("due_ms", 0))


@dataclass(frozen=True)
class Changed:
    """What a cancel or a reschedule did. `settled_how` is of an outcome `settled`."""

    outcome: Outcome
    key: str
    due_ms: Optional[int] = None
    settled_how: Optional[str] = None
    settled_ms: Optional[int] = None

    @staticmethod
    def of(said: Mapping[str, Any]) -> Changed:
        settlement = said.get("settlement", {})
        return Changed(Outcome(said["outcome"]), text_of(said, "key"), said.get("due_ms"),
                       settlement.get("how"), settlement.get("when_ms"))


@dataclass(frozen=True)
class Settled:
    """`done`, or `stale`: the claim had ended. `due_ms`: when a retry is due again."""

    outcome: Outcome
    due_ms: Optional[int] = None

    @property
    def done(self) -> bool:
        return self.outcome is Outcome.DONE

    @staticmethod
    def of(said: Mapping[str, Any]) -> Settled:
        return Settled(Outcome(said["outcome"]), said.get("due_ms"))


@dataclass(frozen=True)
class Claimed:
    """A claimed message. `receipt` names this claim, for settle and extend."""

    queue: str
    id: str
    key: str
    payload: bytes
    headers: Mapping[str, str]
    receipt: str
    attempt: int
    lease_ms: int
    due_ms: int
    claimed_ms: int
    priority: int

    @property
    def text(self) -> str:
        """The payload as UTF-8 text."""
        return self.payload.decode("utf-8")

    @property
    def due(self) -> datetime:
        return datetime_of(self.due_ms)

    @staticmethod
    def of(said: Mapping[str, Any]) -> Claimed:
        return Claimed(said["queue"], said["id"], text_of(said, "key"), bytes_of(said, "payload"),
                       said.get("headers", {}), said["receipt"], said.get("attempt", 1),
                       said["lease_ms"], said["due_ms"], said.get("claimed_ms", 0),
                       said.get("priority", 1024))


@dataclass(frozen=True)
class Claim:
    """The answer to a claim. `waited_ms` as in docs/guide/http.md; -1 if it is not known.
    `settled`: results of the settlements that went with it; `error`: why it failed after them."""

    messages: Tuple[Claimed, ...]
    waited_ms: int = -1
    settled: Tuple[Result[Settled], ...] = ()
    error: Optional[TarryError] = None


@dataclass(frozen=True)
class Stored:
    """A message as `get` and `list` show it. `raw` is the server's whole answer."""

    queue: str
    id: str
    key: str
    state: State
    due_ms: int
    attempt: int
    priority: int
    headers: Mapping[str, str]
    payload: bytes = b""
    reason: str = ""
    stopping: bool = False
    expire_at_ms: Optional[int] = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def due(self) -> datetime:
        return datetime_of(self.due_ms)

    @staticmethod
    def of(said: Mapping[str, Any]) -> Stored:
        return Stored(said["queue"], said["id"], text_of(said, "key"), State(said["state"]),
                      said["due_ms"], said["attempt"], said["priority"], said.get("headers", {}),
                      bytes_of(said, "payload"), text_of(said, "reason"),
                      said.get("stopping", False), said.get("expire_at_ms"), said)


@dataclass(frozen=True)
class Page:
    """A page of a list. An empty `next` means the end."""

    messages: Tuple[Stored, ...]
    next: str

    @staticmethod
    def of(said: Mapping[str, Any]) -> Page:
        return Page(tuple(Stored.of(one) for one in said["messages"]), said.get("next", ""))


@dataclass(frozen=True)
class Bulk:
    """What a bulk verb did, over all pages."""

    matched: int
    outcomes: Mapping[str, int]
    failed: int


@dataclass(frozen=True)
class QueueInfo:
    """A queue's figures. `raw` is the server's whole answer, with settings and counters."""

    queue: str
    scheduled: int
    ready: int
    leased: int
    dead: int
    remembered: int
    paused: bool
    settings: Mapping[str, Any]
    counters: Mapping[str, int]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(said: Mapping[str, Any]) -> QueueInfo:
        return QueueInfo(said["queue"], said["scheduled"], said["ready"], said["leased"],
                         said["dead"], said["remembered"], said["paused"], said["settings"],
                         said["counters"], said)


@dataclass(frozen=True)
class HistoryEvent:
    """An event of a message: `claimed` for instance. `due_ms`, `reason` and `by` if it has them."""

    event: str
    at_ms: int
    attempt: int = 0
    due_ms: Optional[int] = None
    reason: str = ""
    by: str = ""

    @property
    def at(self) -> datetime:
        return datetime_of(self.at_ms)

    @staticmethod
    def of(said: Mapping[str, Any]) -> HistoryEvent:
        return HistoryEvent(said["event"], said["at_ms"], said.get("attempt", 0),
                            said.get("due_ms"), said.get("reason", ""), said.get("by", ""))


@dataclass(frozen=True)
class History:
    """The last events of a message, oldest first. `limit`: the queue's setting `history`; 0: the
    queue keeps none."""

    limit: int
    events: Tuple[HistoryEvent, ...]

    @staticmethod
    def of(said: Mapping[str, Any]) -> History:
        return History(said["limit"], tuple(HistoryEvent.of(one) for one in said["events"]))


@dataclass(frozen=True)
class Why:
    """Why a message has not been delivered, or what has become of it.

    `cause` is one of those in docs/reference/command-line.md, `not_due` for instance; `text` says
    it in a sentence."""

    cause: str
    text: str
    message: Stored
    queue: QueueInfo

    @staticmethod
    def of(said: Mapping[str, Any]) -> Why:
        return Why(said["cause"], said["text"], Stored.of(said["message"]),
                   QueueInfo.of(said["queue"]))
