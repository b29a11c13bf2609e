#!/usr/bin/env python3
"""Four producers and four workers with eight daemons on one Redis: each message is delivered once,
or again for a known cause. TARRY_CRASH_MESSAGES=200000 for a run by hand, TARRY_CRASH_RATE for how
many are pushed a second.
"""

import os
import unittest

from redis_flow import run_flow
from redis_rounds import say, seed_of_run, tell

MESSAGES = 4000
RATE = 2000


class RedisFlow(unittest.TestCase):
    def test_each_message_is_delivered_once_or_again_with_a_cause(self):
        messages = int(os.environ.get("TARRY_CRASH_MESSAGES", MESSAGES))
        rate = int(os.environ.get("TARRY_CRASH_RATE", RATE))
        figures = run_flow(seed_of_run(), messages, rate, say)
        tell(figures)
        self.assertEqual(figures["messages"], messages)
        self.assertGreater(figures["duplicates, each after its lease"], 0)


if __name__ == "__main__":
    unittest.main()
