"""What a handler decides about its delivery."""

from __future__ import annotations

from typing import Optional, Tuple

from .model import Action
from .moments import Duration
from .verbs import settle_body


class Verdict(Exception):
    """Returned or raised by a handler. Made by `ack`, `retry`, `release` and `bury`."""

    def __init__(self, action: Action, delay: Optional[Duration] = None,
                 reason: Optional[str] = None) -> None:
        super().__init__(action.value, reason)
        self.action = action
        self.delay = delay
        self.reason = reason


def ack() -> Verdict:
    """Done. A handler that returns something else than a verdict means it too."""
    return Verdict(Action.ACK)


def retry(delay: Optional[Duration] = None, reason: Optional[str] = None) -> Verdict:
    """Again after `delay`, else after the queue's backoff. The attempt counts."""
    return Verdict(Action.RETRY, delay, reason)


def release() -> Verdict:
    """Again now; the attempt does not count."""
    return Verdict(Action.RELEASE)


def bury(reason: str) -> Verdict:
    """To the dead, at once."""
    return Verdict(Action.BURY, None, reason)


def settlement_of(receipt: str, result: object) -> Tuple[Action, bytes]:
    """What to send after a handler has returned or raised `result`."""
    if isinstance(result, Verdict):
        return result.action, settle_body(receipt, result.action, result.delay, result.reason)
    if isinstance(result, BaseException):
        reason = f"{type(result).__name__}: {result}"
        return Action.RETRY, settle_body(receipt, Action.RETRY, None, reason)
    return Action.ACK, settle_body(receipt, Action.ACK)
