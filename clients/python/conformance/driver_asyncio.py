#!/usr/bin/env python3
"""The driver for tarry.aio: the protocol's ops are those of driver.py, carried out in a loop."""

import asyncio
import json
import sys
import threading

import driver as plain
from tarry import aio
from values import given, millis, say, shown


class Driver(plain.Driver):
    """The sync driver's ops on an asyncio client. Each call of a verb is a coroutine."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.gates = {}

    def wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def open(self, f):
        async def make():
            return aio.Client(f["url"], token=f.get("token"), ca=f.get("ca"),
                              cert=f.get("cert"), key=f.get("key"),
                              patience=f["patience_ms"] / 1000, timeout=f["timeout_ms"] / 1000)
        self.asynchronous = self.wait(make())
        self.client = Waiting(self, self.asynchronous)
        return {}

    def work(self, f):
        options = given(f, "concurrency", "prefetch")
        if "lease_ms" in f:
            options["lease"] = millis(f["lease_ms"])
        if "drain_ms" in f:
            options["drain"] = f["drain_ms"] / 1000

        async def start():
            self.worker = aio.Worker(self.asynchronous,
                                     {queue: self.handle for queue in f["queues"]}, **options)
            return asyncio.ensure_future(self.worker.run())
        self.running = self.wait(start())
        return {}

    async def handle(self, delivery):
        about = {"queue": delivery.queue, "key": delivery.key,
                 "receipt": delivery.message.receipt}
        say({"event": "begun", "attempt": delivery.attempt, **about})
        try:
            if delivery.text.partition(" ")[0] == "hold":
                telling = asyncio.ensure_future(self.tell(delivery))
                await self.loop.run_in_executor(None, self.gate(delivery.key).wait)
                telling.cancel()
            return self.do(delivery, held=True)
        finally:
            say({"event": "ended", **about})

    async def tell(self, delivery):
        await delivery.stop.wait()
        say({"event": "signalled", "key": delivery.key})

    def begin_stop(self, _):
        self.loop.call_soon_threadsafe(self.worker.stop)
        return {}

    def stop_work(self, f):
        self.begin_stop(f)

        async def end():
            return await self.running
        return shown(self.wait(end()))


class Waiting:
    """An asyncio client or queue whose coroutines are waited for here."""

    def __init__(self, driver, inner):
        self._driver = driver
        self._inner = inner

    def queue(self, name):
        return Waiting(self._driver, self._inner.queue(name))

    def list(self, **options):
        async def collect():
            return [one async for one in self._inner.list(**options)]
        return self._driver.wait(collect())

    def __getattr__(self, name):
        method = getattr(self._inner, name)
        if name == "moved":
            return method
        return lambda *args, **options: self._driver.wait(method(*args, **options))


def main():
    driver = Driver()
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        say({"id": number, **driver.carry_out(request)})


if __name__ == "__main__":
    main()
