"""Traces: `traceparent` travels with messages. OpenTelemetry's API is used if it is installed."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, Dict, Iterator, Mapping, Optional


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_propagate = _imported("opentelemetry.propagate")
_trace = _imported("opentelemetry.trace")


@contextlib.contextmanager
def sending(verb: str, queue: str) -> Iterator[Mapping[str, str]]:
    """A span for a push; yields the headers that carry it."""
    if _trace is None:
        yield {}
        return
    tracer = _trace.get_tracer("tarry")
    with tracer.start_as_current_span(f"{verb} {queue}", kind=_trace.SpanKind.PRODUCER,
                                      attributes=_attributes(queue)):
        headers: Dict[str, str] = {}
        _propagate.inject(headers)
        yield {name: value for name, value in headers.items()
               if name in ("traceparent", "tracestate") and value}


@contextlib.contextmanager
def handling(queue: str, key: str, headers: Mapping[str, str]) -> Iterator[Optional[Any]]:
    """A span for a handler, within the trace of the push."""
    if _trace is None:
        yield None
        return
    tracer = _trace.get_tracer("tarry")
    attributes = {**_attributes(queue), "messaging.message.id": key}
    with tracer.start_as_current_span(f"process {queue}", context=_propagate.extract(headers),
                                      kind=_trace.SpanKind.CONSUMER,
                                      attributes=attributes) as span:
        yield span


def _attributes(queue: str) -> Dict[str, str]:
    return {"messaging.system": "tarry", "messaging.destination.name": queue}
