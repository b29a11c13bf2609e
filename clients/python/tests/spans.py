#!/usr/bin/env python3
"""Spans through OpenTelemetry's real API and SDK. checks_test.py runs it."""

import asyncio

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import tarry
from tarry import aio
from tarry.testing import Server

FINISHED = InMemorySpanExporter()


def check(queue, seen):
    """The two spans of a message whose handler failed."""
    pushed, handled = FINISHED.get_finished_spans()
    assert (pushed.name, pushed.kind) == (f"push {queue}", trace.SpanKind.PRODUCER), pushed
    assert (handled.name, handled.kind) == (f"process {queue}", trace.SpanKind.CONSUMER), handled
    assert handled.parent.span_id == pushed.context.span_id
    assert handled.context.trace_id == pushed.context.trace_id
    assert seen == [handled.context.span_id], "the handler's span is the active one"
    assert handled.attributes["messaging.system"] == "tarry"
    assert handled.attributes["messaging.destination.name"] == queue
    assert handled.attributes["messaging.message.id"] == "a"
    assert handled.status.status_code is trace.StatusCode.ERROR, handled.status
    assert "it broke" in handled.status.description
    FINISHED.clear()


def note(seen):
    seen.append(trace.get_current_span().get_span_context().span_id)
    raise ValueError("it broke")


def with_threads(server):
    seen = []

    def handle(delivery):
        assert "traceparent" in delivery.headers
        worker.stop()
        note(seen)

    client = server.client()
    client.queue("threads").push("x", key="a")
    worker = tarry.Worker(client, {"threads": handle}, concurrency=1)
    worker.run()
    check("threads", seen)


async def with_asyncio(server):
    seen = []

    async def handle(delivery):
        worker.stop()
        note(seen)

    async with aio.Client(server.url) as client:
        await client.queue("loop").push("x", key="a")
        worker = aio.Worker(client, {"loop": handle}, concurrency=1)
        await worker.run()
    check("loop", seen)


def main():
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(FINISHED))
    trace.set_tracer_provider(provider)
    with Server() as server:
        with_threads(server)
        asyncio.run(with_asyncio(server))
    print("spans done")


if __name__ == "__main__":
    main()
