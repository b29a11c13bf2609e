"""Schedules: what their verbs send and answer. The clients carry them out."""

from __future__ import annotations

import enum
import urllib.parse
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .calls import Call, encode, with_query
from .model import Bytes, Outcome, bytes_of, put_bytes
from .moments import Duration, Moment, datetime_of, put_duration, put_moment


class Missed(str, enum.Enum):
    """What becomes of occurrences that no server could push for a minute."""

    SKIP = "skip"
    ONE = "one"
    ALL = "all"


def _time(said: Mapping[str, Any], name: str) -> Optional[datetime]:
    return datetime_of(said[name]) if name in said else None


@dataclass(frozen=True)
class Schedule:
    """A schedule as the server keeps it. `next` and `due`: its next occurrence, and when that one
    is due; None if there is none, or while it is paused."""

    name: str
    when: str
    queue: str
    payload: bytes = b""
    zone: Optional[str] = None
    start: Optional[datetime] = None
    end: Optional[datetime] = None
    jitter: timedelta = timedelta(0)
    headers: Mapping[str, str] = field(default_factory=dict)
    priority: int = 1024
    missed: Missed = Missed.ONE
    paused: bool = False
    next: Optional[datetime] = None
    due: Optional[datetime] = None

    @staticmethod
    def of(said: Mapping[str, Any]) -> Schedule:
        return Schedule(said["name"], said["when"], said["queue"], bytes_of(said, "payload"),
                        said.get("zone"), _time(said, "start_ms"), _time(said, "end_ms"),
                        timedelta(milliseconds=said.get("jitter_ms", 0)),
                        said.get("headers", {}), said["priority"], Missed(said["missed"]),
                        said["paused"], _time(said, "next_ms"), _time(said, "due_ms"))


@dataclass(frozen=True)
class Occurrence:
    """One of a schedule's times. `due`: with the jitter; `local`: on the local clock of the zone,
    RFC 3339."""

    time: datetime
    due: datetime
    local: str

    @staticmethod
    def of(said: Mapping[str, Any]) -> Occurrence:
        return Occurrence(datetime_of(said["time_ms"]), datetime_of(said["due_ms"]), said["local"])


def _times(when: str, zone: Optional[str], start: Optional[Moment], end: Optional[Moment],
           jitter: Optional[Duration]) -> Dict[str, Any]:
    body: Dict[str, Any] = {"when": when}
    if zone is not None:
        body["zone"] = zone
    put_moment(body, "start", start)
    put_moment(body, "end", end)
    put_duration(body, "jitter", jitter)
    return body


def _path(name: str, verb: str = "") -> str:
    return "/v1/schedules/" + urllib.parse.quote(name, safe="") + verb


def _nothing(_: Any) -> None:
    return None


def put(name: str, when: str, queue: str, payload: Bytes, zone: Optional[str],
        start: Optional[Moment], end: Optional[Moment], jitter: Optional[Duration],
        headers: Optional[Mapping[str, str]], priority: Optional[int],
        missed: Optional[Union[Missed, str]], paused: bool) -> Call[Outcome]:
    body = _times(when, zone, start, end, jitter)
    body["queue"] = queue
    put_bytes(body, "payload", payload)
    if headers:
        body["headers"] = dict(headers)
    if priority is not None:
        body["priority"] = priority
    if missed is not None:
        body["missed"] = Missed(missed).value
    if paused:
        body["paused"] = True
    return Call("PUT", _path(name), encode(body), lambda said: Outcome(said["outcome"]))


def get(name: str) -> Call[Schedule]:
    return Call("GET", _path(name), None, Schedule.of, True)


def page(prefix: Optional[str], after: str) -> Call[Tuple[List[Schedule], str]]:
    """Schedules, and where the next page begins; empty at the end."""
    path = with_query("/v1/schedules", {"prefix": prefix, "after": after or None, "limit": 1000})
    return Call("GET", path, None, lambda said: (
        [Schedule.of(one) for one in said["schedules"]], said["next"]), True)


def pause(name: str) -> Call[None]:
    return Call("POST", _path(name, "/pause"), None, _nothing, True)


def resume(name: str) -> Call[None]:
    return Call("POST", _path(name, "/resume"), None, _nothing, True)


def run(name: str) -> Call[str]:
    return Call("POST", _path(name, "/run"), None, lambda said: str(said["key"]))


def remove(name: str) -> Call[None]:
    return Call("DELETE", _path(name), None, _nothing)


def occurrences(when: str, zone: Optional[str], start: Optional[Moment], end: Optional[Moment],
                jitter: Optional[Duration], name: Optional[str], from_: Optional[Moment],
                count: Optional[int]) -> Call[List[Occurrence]]:
    body = _times(when, zone, start, end, jitter)
    put_moment(body, "from", from_)
    if name is not None:
        body["name"] = name
    if count is not None:
        body["count"] = count
    return Call("POST", "/v1/occurrences", encode(body),
                lambda said: [Occurrence.of(one) for one in said["occurrences"]], True)
