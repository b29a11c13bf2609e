#!/usr/bin/env python3
"""The driver of the conformance table for tarry.aio: its calls are coroutines of one loop."""

import asyncio
import threading
from collections.abc import AsyncIterator

import protocol
from protocol import say
from tarry import aio


class Driver(protocol.Driver):
    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def wait(self, answer):
        async def collected():
            return [one async for one in answer]
        coroutine = collected() if isinstance(answer, AsyncIterator) else answer
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def open(self, patience, timeout, **options):
        async def make():
            return aio.Client(patience=patience.total_seconds(), timeout=timeout.total_seconds(),
                              **options)
        self.client = self.wait(make())

    def close(self):
        self.wait(self.client.close())

    def work(self, queues, drain=None, **options):
        options["drain"] = drain and drain.total_seconds()

        async def start():
            self.worker = aio.Worker(self.client, {queue: self.handle for queue in queues},
                                     **options)
            return asyncio.ensure_future(self.worker.run())
        self.running = self.wait(start())

    async def handle(self, delivery):
        about = {"queue": delivery.queue, "key": delivery.key,
                 "receipt": delivery.message.receipt}
        say({"event": "begun", "attempt": delivery.attempt, **about})
        try:
            if delivery.text == "hold":
                telling = asyncio.ensure_future(self.tell(delivery))
                await self.loop.run_in_executor(None, self.gate(delivery.key).wait)
                telling.cancel()
            return protocol.verdict(delivery.text)
        finally:
            say({"event": "ended", **about})

    async def tell(self, delivery):
        await delivery.stop.wait()
        say({"event": "signalled", "key": delivery.key})

    def begin_stop(self):
        self.loop.call_soon_threadsafe(self.worker.stop)

    def stop_work(self):
        async def end():
            return await self.running
        self.begin_stop()
        return self.wait(end())


if __name__ == "__main__":
    Driver().main()
