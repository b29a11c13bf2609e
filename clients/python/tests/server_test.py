"""The client against a real server: tasks, asyncio, forks, handlers that are refused."""

import asyncio
import os
import threading
import unittest
from datetime import timedelta

import tarry
from tarry import aio
from tarry.testing import Server


class ServerTest(unittest.TestCase):
    CLOCK = True

    def setUp(self):
        self.server = Server(clock=self.CLOCK)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.client = self.server.client()
        self.addCleanup(self.client.close)


class TasksTest(ServerTest):
    def test_a_task_is_called_when_its_time_has_come(self):
        calls = []
        queue = self.client.queue("orders")

        @queue.task
        def close(number, note=""):
            calls.append((number, note))

        pushed = close.options(key="order:42").delay("30m", 42, note="late")
        self.assertTrue(pushed.is_new)
        self.assertEqual(self.client.tasks.work_off(), 0)
        self.server.advance(timedelta(minutes=30))
        self.assertEqual(self.client.tasks.work_off(), 1)
        self.assertEqual(calls, [(42, "late")])
        close(7)
        self.assertEqual(calls[1:], [(7, "")])
        close.apply_async((8,), countdown=1.5)
        self.server.advance("1500ms")
        self.assertEqual(self.client.tasks.work_off(), 1)

    def test_a_task_that_fails_comes_again_and_an_unknown_one_too(self):
        queue = self.client.queue("orders")
        queue.configure(max_attempts=1)

        @queue.task
        def fail():
            raise KeyError("no such order")

        key = fail.now().key
        other = queue.push(b'{"task": "gone"}').key
        self.assertEqual(self.client.tasks.work_off(), 2)
        self.assertEqual({one.key: one.reason for one in queue.dead()}, {
            key: "KeyError: 'no such order'", other: "this worker has no task gone"})

    def test_a_process_that_forks_has_its_own_connections(self):
        queue = self.client.queue("q")
        queue.push(key="parent")
        child = os.fork()
        if child == 0:
            pushed = queue.push(key="child")
            os._exit(0 if pushed.outcome is tarry.Outcome.PUSHED else 1)
        self.assertEqual(queue.push(key="parent").outcome, tarry.Outcome.EXISTS)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(queue.info().ready, 2)


class WorkerTest(ServerTest):
    CLOCK = False

    def test_an_error_that_waiting_does_not_end_stops_it(self):
        worker = tarry.Worker(self.client, {"-bad": print})
        with self.assertRaises(tarry.InvalidRequest):
            worker.run()
        with self.assertRaisesRegex(tarry.InvalidRequest, "runs once"):
            worker.run()

    def test_a_thousand_messages(self):
        queue = self.client.queue("q")
        queue.push_many([tarry.Message(str(n)) for n in range(1000)])
        seen, over = [], threading.Event()

        def handle(delivery):
            seen.append(delivery.text)
            if len(seen) == 1000:
                over.set()

        worker = tarry.Worker(self.client, {"q": handle}, concurrency=4, prefetch=100)
        thread = threading.Thread(target=worker.run)
        thread.start()
        self.assertTrue(over.wait(60))
        worker.stop()
        thread.join(60)
        self.assertEqual(sorted(seen, key=int), [str(n) for n in range(1000)])
        self.assertEqual((worker.counts.acked, worker.counts.stale), (1000, 0))
        self.assertEqual(queue.info().leased, 0)


class AsyncTest(ServerTest):
    CLOCK = False

    def test_verbs_and_joined_singles(self):
        async def check():
            async with aio.Client(self.server.url) as client:
                queue = client.queue("q")
                pushed = await asyncio.gather(*(queue.push(key=f"k{n}") for n in range(200)))
                self.assertEqual([one.key for one in pushed], [f"k{n}" for n in range(200)])
                self.assertEqual((await queue.cancel("k0")).outcome, tarry.Outcome.CANCELLED)
                with self.assertRaises(tarry.NotFound):
                    await queue.get("k0")
                self.assertEqual(len([one async for one in queue.list(limit=50)]), 199)
                claimed = await client.claim(["q"], max=2)
                results = await asyncio.gather(*(client.ack(one.receipt) for one in claimed))
                self.assertTrue(all(one.done for one in results))

        asyncio.run(check())

    def test_a_worker(self):
        async def check():
            seen = []
            async with aio.Client(self.server.url) as client:
                queue = client.queue("q")
                await queue.configure(max_attempts=1)
                await queue.push_many([tarry.Message(f"{n}") for n in range(500)])
                over = asyncio.Event()

                async def handle(delivery):
                    seen.append(delivery.text)
                    await asyncio.sleep(0)
                    if len(seen) == 500:
                        over.set()
                    if delivery.text == "7":
                        raise ValueError("seven")

                worker = aio.Worker(client, {"q": handle}, concurrency=10)
                running = asyncio.ensure_future(worker.run())
                await asyncio.wait_for(over.wait(), 60)
                worker.stop()
                counts = await asyncio.wait_for(running, 60)
                self.assertEqual((counts.acked, counts.retried, counts.stale), (499, 1, 0))
                self.assertEqual([one.reason async for one in queue.dead()],
                                 ["ValueError: seven"])
                self.assertEqual(len(set(seen)), 500)

        asyncio.run(check())

    def test_a_stop_releases_what_was_not_begun(self):
        async def check():
            async with aio.Client(self.server.url) as client:
                queue = client.queue("q")
                await queue.push_many([tarry.Message(f"{n}") for n in range(5)])
                begun = asyncio.Event()

                async def handle(delivery):
                    begun.set()
                    await delivery.stop.wait()

                worker = aio.Worker(client, {"q": handle}, concurrency=1, prefetch=10)
                running = asyncio.ensure_future(worker.run())
                await begun.wait()
                worker.stop()
                counts = await asyncio.wait_for(running, 60)
                self.assertEqual((counts.delivered, counts.acked, counts.released), (1, 1, 4))
                self.assertEqual((await queue.info()).ready, 4)

        asyncio.run(check())

    def test_a_refused_claim_ends_the_worker(self):
        async def check():
            async with aio.Client(self.server.url) as client:
                with self.assertRaises(tarry.InvalidRequest):
                    await asyncio.wait_for(aio.Worker(client, {"-bad": None}).run(), 60)

        asyncio.run(check())


if __name__ == "__main__":
    unittest.main()
