#!/usr/bin/env python3
"""Kills Redis with SIGKILL under load, which loses nothing with appendfsync always.
TARRY_CRASH_SEED repeats the choices of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest
from collections import Counter

from redis_life import RedisKillLife
from redis_rounds import run_rounds
from rounds import Failure, Plan, run_plan

ROUNDS = 6
CUT = 40_000


class Forgetful(RedisKillLife):
    """Removes the last data that were written, as if Redis had answered before they were
    durable."""

    def killed(self, killed, dead):
        super().killed(killed, dead)
        size = self.redis.aof().stat().st_size
        with open(self.redis.aof(), "r+b") as file:
            file.truncate(max(0, size - CUT))


class RedisKill(unittest.TestCase):
    def test_nothing_is_lost_early_or_delivered_without_cause(self):
        figures = run_rounds(RedisKillLife, ROUNDS)
        self.assertGreaterEqual(figures["kills"], ROUNDS)
        for name in ("pushed", "delivered", "cancelled", "rescheduled", "redelivered",
                     "operations without an answer"):
            self.assertGreater(figures[name], ROUNDS // 2, name)

    def test_the_oracle_sees_answers_that_a_crash_took_back(self):
        with self.assertRaises(Failure) as caught:
            run_plan(Plan(seed=1, rounds=2, shards=(1,), most_events=1000), Counter(), Forgetful)
        self.assertTrue(caught.exception.verdict.violations, caught.exception)


if __name__ == "__main__":
    unittest.main()
