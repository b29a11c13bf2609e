"""Delivery: a message in a handler's hands; and what a worker may be told."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from .model import Claimed
from .moments import Duration


class Delivery:
    """A message in a handler's hands, and the signal that it should end."""

    def __init__(self, message: Claimed) -> None:
        self.message = message
        self.stop = threading.Event()
        """Set when the worker stops, and when the claim is lost: another delivery may begin."""
        self.lost = False

    @property
    def queue(self) -> str:
        return self.message.queue

    @property
    def id(self) -> str:
        """The same in each delivery of this message: drop duplicates by it."""
        return self.message.id

    @property
    def key(self) -> str:
        return self.message.key

    @property
    def payload(self) -> bytes:
        return self.message.payload

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def headers(self) -> Mapping[str, str]:
        return self.message.headers

    @property
    def attempt(self) -> int:
        return self.message.attempt


Handler = Callable[[Delivery], Any]


@dataclass(frozen=True)
class WorkerOptions:
    """`concurrency`: handlers at once, each in a thread. `prefetch`: messages claimed ahead.
    `lease`: else the queue's. `drain`: seconds for which a stop waits for running handlers."""

    concurrency: int = 4
    prefetch: int = 64
    lease: Optional[Duration] = None
    drain: Optional[float] = None

    def __post_init__(self) -> None:
        for name, value, least, most in (("concurrency", self.concurrency, 1, 1024),
                                         ("prefetch", self.prefetch, 0, 8976)):
            if not least <= value <= most:
                raise ValueError(f"{name} {value} must be from {least} to {most}")
