#!/usr/bin/env python3
"""A Redis that has reached its maxmemory: requests that end messages still work, and requests that
add messages are refused as a whole. TARRY_CRASH_SEED repeats the choices of a run,
TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest

from redis_full import RedisFullLife
from redis_rounds import run_rounds

ROUNDS = 2


class RedisFull(unittest.TestCase):
    def test_what_ends_messages_goes_on(self):
        figures = run_rounds(RedisFullLife, ROUNDS)
        for name in ("squeezes", "claimed while full", "settled while full",
                     "refused for want of space"):
            self.assertGreater(figures[name], ROUNDS, name)


if __name__ == "__main__":
    unittest.main()
