"""Calls: what is asked of the server, what may be repeated, and how an answer is read. No I/O."""

from __future__ import annotations

import json
import random
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Optional, TypeVar, Union

from .errors import TarryError, Unavailable, UnknownOutcome, error_of, problem_of
from .http1 import Answer
from .model import Result
from .moments import elapsed

T = TypeVar("T")
U = TypeVar("U")


def encode(value: Any) -> bytes:
    """JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. `repeatable`: a second time does the same, and answers as truthfully.
    `wait`: seconds that the server may take on purpose."""

    method: str
    path: str
    body: Optional[bytes]
    read: Callable[[Any], T]
    repeatable: bool = False
    wait: float = 0.0


@dataclass(frozen=True)
class Lane:
    """Single calls that may go together in one request: same path, same list."""

    path: str
    name: str
    repeatable: bool

    def body(self, items: List[bytes]) -> bytes:
        return b'{"' + self.name.encode() + b'":[' + b",".join(items) + b"]}"

    def call(self, items: List[bytes], read: Callable[[Any], U]) -> Call[List[Result[U]]]:
        """A batch of these items."""
        count = len(items)
        return Call("POST", self.path, self.body(items),
                    lambda said: results_of(said["results"], count, read), self.repeatable)


def results_of(results: Any, count: int, read: Callable[[Any], U]) -> List[Result[U]]:
    """The result of each item, in their order."""
    if len(results) != count:
        raise ValueError(f"{len(results)} results for {count} items")
    return [error_in(one) if "error" in one else read(one) for one in results]


def error_in(said: Any) -> TarryError:
    """The error of a part of an answer that has one."""
    return error_of(said["error"]["code"], said["error"]["message"], 200)


def queue_path(queue: str, rest: str = "") -> str:
    return f"/v1/queues/{urllib.parse.quote(queue, safe='')}{rest}"


def with_query(path: str, query: Dict[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


class Backoff:
    """From 100 ms on twice as long each time, up to 5 s, of which 50 to 100 % is waited."""

    def __init__(self) -> None:
        self._next = 0.1

    def next(self) -> float:
        now = self._next
        self._next = min(2 * now, 5.0)
        return now * random.uniform(0.5, 1.0)

    def reset(self) -> None:
        self._next = 0.1


@dataclass(frozen=True)
class Done(Generic[T]):
    """A call that has succeeded."""

    value: T


class Attempts:
    """Decides about each answer of a call: it is read, or raised, or the call is tried again.

    Thread safety: none; one for each call.
    """

    def __init__(self, repeatable: bool, patience: float) -> None:
        self._repeatable = repeatable
        self._backoff = Backoff()
        self._end = elapsed() + patience

    def again(self, error: TarryError, after: Optional[float] = None) -> float:
        """Seconds to wait before the next try. Raises the error if there is none."""
        passing = isinstance(error, Unavailable) or (
            self._repeatable and isinstance(error, UnknownOutcome))
        pause = self._backoff.next() if after is None else after + random.uniform(0, 0.05)
        if not passing or elapsed() + pause >= self._end:
            raise error
        return pause

    def lost(self, why: str) -> float:
        """As `again`, after an answer that was lost."""
        return self.again(error_of("unknown_outcome", why))

    def read(self, call: Call[U], answer: Answer) -> Union[Done[U], float]:
        """What it says, or the seconds to wait before the next try."""
        said: Any = None
        bad = ""
        try:
            said = json.loads(answer.body) if answer.body else None
        except ValueError:
            bad = "the server's answer is not JSON"
        if answer.status == 200:
            try:
                return Done(call.read(said))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                return self.lost(bad or f"the server's answer cannot be read: {error!r}")
        problem = problem_of(answer.status, said, answer.reason)
        after = answer.headers.get("retry-after", "")
        return self.again(problem, float(after) if after.isdigit() else None)
