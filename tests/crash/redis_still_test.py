#!/usr/bin/env python3
"""Under load, Redis forgets its scripts, and stands still: no client may notice either.
TARRY_CRASH_SEED repeats the choices of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest

from redis_life import RedisFlushLife, RedisStopLife
from redis_rounds import run_rounds

ROUNDS = 3


class RedisForgets(unittest.TestCase):
    def test_no_error_reaches_anybody_when_the_scripts_are_gone(self):
        figures = run_rounds(RedisFlushLife, ROUNDS)
        self.assertGreaterEqual(figures["script flushes"], ROUNDS * RedisFlushLife.flushes)
        self.assertGreater(figures["delivered"], ROUNDS)


class RedisStops(unittest.TestCase):
    def test_leases_run_out_while_it_stands_still_and_late_acks_are_stale(self):
        figures = run_rounds(RedisStopLife, ROUNDS)
        self.assertGreaterEqual(figures["stops"], ROUNDS)
        for name in ("cause: lease ran out", "stale receipts refused"):
            self.assertGreater(figures[name], 0, name)


if __name__ == "__main__":
    unittest.main()
