"""Durations and times as callers give them, and clocks."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Optional, Union

Duration = Union[timedelta, str]
"""A timedelta, or text such as "250ms", "30s", "15m", "2h", "7d", "PT30M"."""
Moment = Union[datetime, str]
"""A datetime with a time zone, or RFC 3339 text with an offset."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


def put_duration(body: Dict[str, Any], name: str, value: Optional[Duration]) -> None:
    """Sets `name` or `name_ms` of a request. Rounds up, so that nothing comes early."""
    if value is None:
        return
    if isinstance(value, timedelta):
        body[name + "_ms"] = -(-value // _MILLISECOND)
    elif isinstance(value, str):
        body[name] = value
    else:
        raise TypeError(f"{name} is {value!r}; give a timedelta or text such as '30s': a number"
                        " could be seconds or milliseconds")


def put_moment(body: Dict[str, Any], name: str, value: Optional[Moment]) -> None:
    """Sets `name` or `name_ms` of a request. Rounds up."""
    if value is None:
        return
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} is {value.isoformat()}, without a time zone; use for example"
                             " datetime.now(timezone.utc)")
        body[name + "_ms"] = -((_EPOCH - value) // _MILLISECOND)
    elif isinstance(value, str):
        body[name] = value
    else:
        raise TypeError(f"{name} is {value!r}; give a datetime with a time zone or RFC 3339 text")


def datetime_of(millis: int) -> datetime:
    """Milliseconds since 1970 as a datetime in UTC."""
    return _EPOCH + timedelta(milliseconds=millis)


def _clock_of_elapsed_time() -> int:
    # It counts while the machine sleeps too, as leases do. Linux has it; others go without.
    return getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


_CLOCK = _clock_of_elapsed_time()


def elapsed() -> float:
    """Seconds, of the clock by which leases are measured."""
    return time.clock_gettime(_CLOCK)
