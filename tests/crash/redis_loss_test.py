#!/usr/bin/env python3
"""A Redis that forgets its last moments: changes that it confirmed then are lost or undone, and
counted; nothing else is. TARRY_CRASH_SEED repeats the choices of a run.
"""

import unittest

from redis_loss import RedisLossLife, Rewound
from redis_rounds import run_rounds

ROUNDS = 4


class Loss(unittest.TestCase):
    def test_only_what_was_confirmed_just_before_the_kill_is_lost(self):
        figures = run_rounds(RedisLossLife, ROUNDS)
        self.assertEqual(figures["rounds"], ROUNDS)
        self.assertGreater(figures["bytes lost"], 0)
        self.assertGreater(figures["undone: push"] + figures["undone: settle"], 0)
        self.assertEqual(figures["receipts of undone claims, given again"], 0)


class AfterALoss(unittest.TestCase):
    """What a daemon remembers of undone changes does no harm."""

    def setUp(self):
        self.store = Rewound()
        self.addCleanup(self.store.close)
        self.first, self.second = self.store.client(), self.store.client()

    @staticmethod
    def push(client, queue, payload, **more):
        message = {"payload": payload} | more
        return client.ask("POST", f"/v1/queues/{queue}/messages", message)

    @staticmethod
    def claim(client, queue):
        return client.ask("POST", "/v1/claim", {"queues": [queue], "max": 100})["messages"]

    @staticmethod
    def ack(client, message):
        items = [{"receipt": message["receipt"], "action": "ack"}]
        return client.ask("POST", "/v1/settle", {"items": items})["results"][0]["outcome"]

    def test_messages_pushed_after_it_do_not_replace_each_other(self):
        self.push(self.second, "q", "0")
        self.store.mark()
        self.push(self.first, "q", "undone")
        self.store.lose()
        third = self.store.client()
        clients = (self.first, self.second, third)
        for i in range(9):
            self.assertEqual(self.push(clients[i % 3], "q", f"{i + 1}")["outcome"], "pushed")
        messages = self.claim(third, "q")
        self.assertEqual(sorted(m["payload"] for m in messages), [str(i) for i in range(10)])
        self.assertEqual(len({m["id"] for m in messages}), 10)
        self.assertEqual(len({m["key"] for m in messages}), 10)

    def test_a_queue_made_after_it_is_not_taken_for_the_one_that_is_undone(self):
        self.store.mark()
        self.push(self.first, "undone", "x")
        self.assertEqual(self.ack(self.first, self.claim(self.first, "undone")[0]), "done")
        self.store.lose()
        self.push(self.second, "made", "y")
        self.assertEqual(self.ack(self.first, self.claim(self.second, "made")[0]), "done")
        self.push(self.first, "undone", "z")
        self.assertEqual(self.ack(self.second, self.claim(self.second, "undone")[0]), "done")

    def test_the_receipt_of_a_claim_that_is_undone_is_refused(self):
        self.push(self.first, "q", "x")
        self.store.mark()
        undone, = self.claim(self.first, "q")
        self.store.lose()
        live, = self.claim(self.second, "q")
        self.assertEqual(self.ack(self.first, undone), "stale")
        self.assertEqual(self.ack(self.second, live), "done")

    def test_a_store_that_is_lost_whole_is_one_store_again(self):
        self.push(self.first, "q", "undone")
        self.store.lose()
        self.push(self.first, "q", "a")
        third = self.store.client()
        for i in range(3):
            self.push(third, "q", str(i))
        messages = self.claim(third, "q")
        self.assertEqual(sorted(m["payload"] for m in messages), ["0", "1", "2", "a"])
        self.assertEqual([self.ack(self.first, m) for m in messages], ["done"] * 4)


if __name__ == "__main__":
    unittest.main()
