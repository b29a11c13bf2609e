#!/usr/bin/env python3
"""Stops the server under load, and a worker, by SIGSTOP for longer than a lease. TARRY_CRASH_SEED
repeats the choices of a run; what the operating system does differs each time.
"""

import os
import random
import unittest
from collections import Counter

from kinds import run_stop
from rounds import Plan

ROUNDS = 5


class Stop(unittest.TestCase):
    def test_nothing_is_lost_early_or_delivered_without_cause(self):
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        print(f"\nTARRY_CRASH_SEED={seed}", flush=True)
        figures = Counter()
        run_stop(Plan(seed=seed, rounds=ROUNDS, most_events=600,
                      say=lambda line: print(line, flush=True)), figures)
        for name in sorted(figures):
            print(f"  {figures[name]:8} {name}")
        self.assertEqual(figures["stops"], ROUNDS)
        self.assertEqual(figures["workers stopped"], 1)
        for name in ("pushed", "delivered", "redelivered", "jobs done twice"):
            self.assertGreater(figures[name], 0, name)


if __name__ == "__main__":
    unittest.main()
