#!/usr/bin/env python3
"""The clock is advanced, sleeps, and is stepped by seconds and hours both ways; a model says what
every answer must be. TARRY_CRASH_SEED repeats a run, except the moments at which waiting claims
begin.
"""

import os
import random
import unittest
from collections import Counter

from clock import ClockLife, run_clock
from rounds import Failure, Plan

ROUNDS = 30


class Believer(ClockLife):
    """A wrong model: it ends leases by the wall clock, not by BOOTTIME."""

    def _ask_clock(self, move, by):
        super()._ask_clock(move, by)
        if move == "step":
            self.boottime += by


class Clock(unittest.TestCase):
    def test_nothing_is_early_or_stuck(self):
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        print(f"\nTARRY_CRASH_SEED={seed}", flush=True)
        figures = Counter()
        run_clock(Plan(seed=seed, rounds=ROUNDS, shards=(1, 2),
                       say=lambda line: print(line, flush=True)), figures)
        for name in sorted(figures):
            print(f"  {figures[name]:8} {name}")
        self.assertEqual(figures["rounds"], ROUNDS)
        for name in ("steps", "suspends", "advances", "pushed", "delivered", "waiting claims",
                     "redelivered: lease ran out", "stale receipts refused"):
            self.assertGreater(figures[name], ROUNDS // 5, name)

    def test_the_model_sees_a_clock_that_is_not_as_it_says(self):
        life = Believer(Plan(seed=1), 0, random.Random(1))
        self.addCleanup(life.server.close)
        with self.assertRaises(Failure):
            life.live(20)


if __name__ == "__main__":
    unittest.main()
