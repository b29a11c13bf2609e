"""The verbs as calls. Clients carry them out; here is what they send and how they are read."""

from __future__ import annotations

import base64
from datetime import timedelta
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .calls import Call, Lane, encode, error_in, queue_path, results_of, with_query
from .model import (
    Action,
    Bytes,
    Changed,
    Claim,
    Claimed,
    History,
    Message,
    Page,
    Pushed,
    QueueInfo,
    Settled,
    State,
    Stored,
    Why,
    key_bytes,
    put_bytes,
)
from .moments import Duration, Moment, put_duration, put_moment

Item = Tuple[Lane, bytes]


def push_item(queue: str, message: Message, trace: Mapping[str, str]) -> Item:
    body = message.body()
    if trace and "traceparent" not in body.get("headers", {}):
        body["headers"] = {**body.get("headers", {}), **trace}
    return Lane(queue_path(queue, "/push"), "messages", False), encode(body)


read_push = Pushed.of


def _key_lane(queue: str, verb: str, key: Bytes, repeatable: bool) -> Item:
    body: Dict[str, Any] = {}
    put_bytes(body, "keys", key_bytes(key))
    (name, value), = body.items()
    return Lane(queue_path(queue, verb), name, repeatable), encode(value)


def cancel_item(queue: str, key: Bytes) -> Item:
    return _key_lane(queue, "/cancel", key, False)


def get_item(queue: str, key: Bytes) -> Item:
    return _key_lane(queue, "/get", key, True)


def reschedule_item(queue: str, key: Bytes, delay: Optional[Duration], due: Optional[Moment],
                    priority: Optional[int]) -> Item:
    if (delay is None) == (due is None):
        raise ValueError(f"delay {delay} and due {due}: give one of them")
    body: Dict[str, Any] = {}
    put_bytes(body, "key", key_bytes(key))
    put_duration(body, "delay", delay)
    put_moment(body, "due", due)
    if priority is not None:
        body["priority"] = priority
    return Lane(queue_path(queue, "/reschedule"), "items", False), encode(body)


read_change = Changed.of


def settle_body(receipt: str, action: Union[Action, str], delay: Optional[Duration] = None,
                reason: Optional[str] = None, priority: Optional[int] = None) -> bytes:
    body: Dict[str, Any] = {"receipt": receipt, "action": Action(action).value}
    put_duration(body, "delay", delay)
    if reason is not None:
        body["reason"] = reason.encode("utf-8")[:255].decode("utf-8", "ignore")
    if priority is not None:
        body["priority"] = priority
    return encode(body)


SETTLE = Lane("/v1/settle", "items", False)
EXTEND = Lane("/v1/extend", "items", True)


def extend_body(receipt: str, lease: Optional[Duration] = None) -> bytes:
    body: Dict[str, Any] = {"receipt": receipt}
    put_duration(body, "lease", lease)
    return encode(body)


read_settled = Settled.of
read_stored = Stored.of


def by_lane(items: Sequence[Item]) -> Dict[Lane, List[int]]:
    """Which of the items can go together in a request."""
    lanes: Dict[Lane, List[int]] = {}
    for index, (lane, _) in enumerate(items):
        lanes.setdefault(lane, []).append(index)
    return lanes


def claim(queues: Sequence[str], max: Optional[int], max_bytes: Optional[int],
          lease: Optional[Duration], wait: Optional[timedelta],
          keys: Optional[Sequence[Bytes]] = None, any_state: bool = False,
          settle: Sequence[bytes] = ()) -> Call[Claim]:
    """`settle`: claims that end first, each as `settle_body` makes it."""
    body: Dict[str, Any] = {"queues": list(queues)}
    if keys is not None:
        put_keys(body, keys)
    if any_state:
        body["any_state"] = True
    if max is not None:
        body["max"] = max
    if max_bytes is not None:
        body["max_bytes"] = max_bytes
    put_duration(body, "lease", lease)
    put_duration(body, "wait", wait)
    seconds = 0.0 if wait is None else wait.total_seconds()
    sent = encode(body)
    if settle:
        sent = sent[:-1] + b',"settle":[' + b",".join(settle) + b"]}"
    return Call("POST", "/v1/claim", sent, lambda said: _read_claim(said, len(settle)), False,
                seconds)


def _read_claim(said: Any, settlements: int) -> Claim:
    settled = results_of(said["settled"], settlements, read_settled) if settlements else ()
    return Claim(tuple(Claimed.of(one) for one in said["messages"]), said.get("waited_ms", -1),
                 tuple(settled), error_in(said) if "error" in said else None)


def put_keys(body: Dict[str, Any], keys: Sequence[Bytes]) -> None:
    """Sets `keys`, or `keys_base64` if one of them is not UTF-8."""
    pieces = [_key_lane("", "", key, False)[0].name for key in keys]
    if "keys_base64" in pieces:
        body["keys_base64"] = [base64.b64encode(_raw(key)).decode() for key in keys]
    else:
        body["keys"] = [_raw(key).decode() for key in keys]


def _raw(key: Bytes) -> bytes:
    plain = key_bytes(key)
    return plain.encode() if isinstance(plain, str) else plain


def list_page(queue: str, state: Optional[Union[State, str]], prefix: Optional[str],
              limit: Optional[int], after: Optional[str]) -> Call[Page]:
    path = with_query(queue_path(queue, "/messages"), {
        "state": None if state is None else State(state).value, "prefix": prefix, "limit": limit,
        "after": after or None})
    return Call("GET", path, None, Page.of, True)


def _count(said: Any) -> int:
    return int(said["count"])


def _plain(said: Any) -> Dict[str, Any]:
    return dict(said)


def revive(queue: str, keys: Optional[Sequence[Bytes]]) -> Call[int]:
    body: Dict[str, Any] = {}
    if keys is None:
        body["all"] = True
    else:
        put_keys(body, keys)
    return Call("POST", queue_path(queue, "/revive"), encode(body), _count)


def purge(queue: str) -> Call[int]:
    return Call("POST", queue_path(queue, "/purge"), None, _count)


def remove(queue: str, force: bool) -> Call[int]:
    path = with_query(queue_path(queue), {"force": "true" if force else None})
    return Call("DELETE", path, None, _count)


def pause(queue: str, until: Optional[Moment]) -> Call[bool]:
    body: Dict[str, Any] = {}
    put_moment(body, "until", until)
    return Call("POST", queue_path(queue, "/pause"), encode(body),
                lambda said: bool(said["paused"]), True)


def resume(queue: str) -> Call[bool]:
    return Call("POST", queue_path(queue, "/resume"), None, lambda said: bool(said["paused"]),
                True)


_DURATIONS = ("lease", "backoff_min", "backoff_max", "remember", "dead_keep", "expire")


def configure(queue: str, settings: Mapping[str, Any]) -> Call[Dict[str, Any]]:
    body: Dict[str, Any] = {}
    for name, value in settings.items():
        if name in _DURATIONS:
            put_duration(body, name, value)
        elif value is not None:
            body[name] = getattr(value, "value", value)
    return Call("PUT", queue_path(queue), encode(body), _plain, True)


def info(queue: str) -> Call[QueueInfo]:
    return Call("GET", queue_path(queue), None, QueueInfo.of, True)


def queues() -> Call[List[QueueInfo]]:
    return Call("GET", "/v1/queues", None,
                lambda said: [QueueInfo.of(one) for one in said["queues"]], True)


def why(queue: str, key: Bytes) -> Call[Why]:
    query: Dict[str, Any] = {}
    put_bytes(query, "key", key_bytes(key))
    return Call("GET", with_query(queue_path(queue, "/why"), query), None, Why.of, True)


def history(queue: str, key: Bytes) -> Call[History]:
    query: Dict[str, Any] = {}
    put_bytes(query, "key", key_bytes(key))
    return Call("GET", with_query(queue_path(queue, "/history"), query), None, History.of, True)


def stats(queue: Optional[str]) -> Call[Dict[str, Any]]:
    return Call("GET", with_query("/v1/stats", {"queue": queue}), None, _plain, True)


def forecast(queue: str, width: Optional[timedelta], buckets: Optional[int],
             rate: Optional[float], arrivals: Optional[float]) -> Call[Dict[str, Any]]:
    query: Dict[str, Any] = {"buckets": buckets}
    for name, value in (("rate", rate), ("arrivals", arrivals or None)):
        if value is not None:
            query[name] = format(Decimal(str(value)), "f")
    put_duration(query, "width", width)
    return Call("GET", with_query(queue_path(queue, "/forecast"), query), None, _plain, True)


def health() -> Call[Dict[str, Any]]:
    return Call("GET", "/healthz", None, _plain, True)


def ready() -> Call[Dict[str, Any]]:
    return Call("GET", "/readyz", None, _plain, True)


def bulk_page(queue: str, body: Mapping[str, Any]) -> Call[Dict[str, Any]]:
    return Call("POST", queue_path(queue, "/bulk"), encode(body), _plain)


def bulk_body(action: str, prefix: Optional[str], state: Optional[Union[State, str]],
              due_from: Optional[Moment], due_to: Optional[Moment],
              headers: Optional[Mapping[str, str]], reason: Optional[str], due: Optional[Moment],
              by: Optional[timedelta], dry_run: bool) -> Dict[str, Any]:
    body: Dict[str, Any] = {"action": action, "dry_run": dry_run}
    put_moment(body, "due_from", due_from)
    put_moment(body, "due_to", due_to)
    put_moment(body, "due", due)
    put_duration(body, "by", by)
    for name, value in (("prefix", prefix), ("reason", reason)):
        if value is not None:
            body[name] = value
    if state is not None:
        body["state"] = State(state).value
    if headers:
        body["headers"] = dict(headers)
    return body


def advance(by: Duration) -> Call[int]:
    body: Dict[str, Any] = {}
    put_duration(body, "by", by)
    return Call("POST", "/v1/clock/advance", encode(body),
                lambda said: int(said["advanced_ms"]))
