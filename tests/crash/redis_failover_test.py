#!/usr/bin/env python3
"""A store behind Sentinel whose master is killed, or replaced by a failover, under load. Changes
that the new master had not received are undone and counted; nothing else is undone.
TARRY_CRASH_SEED repeats the choices of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest
from collections import Counter

from redis_failover import RedisFailoverLife
from redis_rounds import run_rounds
from rounds import Failure, Plan, run_plan

ROUNDS = 4


class Unaware(RedisFailoverLife):
    """A wrong history: it takes changes that were cut off for done."""

    KINDS = ("replica cut off, then killed",)

    def _rewind(self, kind, samples, written, killed, dead, left):
        self.history.engine_died(killed, dead)


class RedisFailover(unittest.TestCase):
    def test_only_what_the_new_master_had_not_got_is_undone(self):
        figures = run_rounds(RedisFailoverLife, ROUNDS, rounds_a_store=len(RedisFailoverLife.KINDS))
        for kind in RedisFailoverLife.KINDS:
            self.assertGreater(figures[f"failovers, {kind}"], 0, kind)
        self.assertGreater(figures["undone, replica cut off, then killed"], 0)
        self.assertEqual(figures["receipts of undone claims, given again"], 0)
        self.assertGreater(figures["delivered"], ROUNDS)

    def test_the_oracle_sees_what_was_undone(self):
        with self.assertRaises(Failure) as caught:
            run_plan(Plan(seed=1, rounds=1, shards=(1,), most_events=500), Counter(), Unaware)
        self.assertTrue(caught.exception.verdict.of(1), caught.exception)


if __name__ == "__main__":
    unittest.main()
