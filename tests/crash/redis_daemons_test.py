#!/usr/bin/env python3
"""Daemons and workers on one Redis are killed while they hold leases, and wake-ups are lost.
TARRY_CRASH_SEED repeats the choices of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import random
import unittest

from client import Client, WrongAnswer
from redis_daemons import RedisDaemonKillLife, RedisDeafLife, kill_a_worker, password_file
from redis_rounds import run_rounds, seed_of_run, tell
from redis_server import RedisServer
from rounds import Plan
from server import Daemon

ROUNDS = 3


class Killed(unittest.TestCase):
    def test_what_a_daemon_had_claimed_comes_again(self):
        figures = run_rounds(RedisDaemonKillLife, ROUNDS)
        self.assertGreaterEqual(figures["kills"], ROUNDS)
        self.assertGreater(figures["cause: lease ran out"] + figures["cause: claim answer lost"], 0)

    def test_what_a_worker_had_in_hand_comes_in_its_second_attempt(self):
        seed = seed_of_run()
        tell(kill_a_worker(Plan(seed=seed), random.Random(seed)))


class Deaf(unittest.TestCase):
    def test_what_is_due_is_delivered_without_any_wake_up(self):
        figures = run_rounds(RedisDeafLife, 2)
        self.assertGreater(figures["subscriptions cut"], RedisDeafLife.cuts // 2)
        self.assertGreaterEqual(figures["waiting claims woken"], 8)

    def test_a_user_who_may_not_publish_is_not_told_that_a_push_failed_which_did_not(self):
        redis = RedisServer()
        self.addCleanup(redis.close)
        redis.start()
        redis.ask("ACL", "SETUSER", "mute", "on", ">pw", "~*", "+@all", "resetchannels")
        daemon = Daemon(f"{redis.url}?user=mute&password_file={password_file(redis)}")
        self.addCleanup(daemon.close)
        daemon.start()
        client = Client(daemon, None)
        said = []
        for i in range(3):
            try:
                message = {"payload": "x", "key": f"k{i}", "delay_ms": 60_000 - i}
                client.ask("POST", "/v1/queues/q/messages", message)
            except WrongAnswer as error:
                said.append(str(error))
        there = client.figures()["q"]["counters"]["accepted"]
        client.close()
        self.assertEqual(there, 3 - len(said), said)


if __name__ == "__main__":
    unittest.main()
