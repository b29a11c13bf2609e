#!/usr/bin/env python3
"""Under load, slots of a cluster move, replicas take over, and masters are killed. TARRY_CRASH_SEED
repeats the choices of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest

from redis_cluster_life import RedisClusterLife
from redis_rounds import run_rounds

ROUNDS = 4


class RedisClusterChanges(unittest.TestCase):
    def test_nothing_is_lost_while_slots_move_and_masters_change(self):
        figures = run_rounds(RedisClusterLife, ROUNDS, rounds_a_store=4)
        changes = sum(figures[name] for name in ("slots moved", "failovers", "masters killed"))
        self.assertEqual(changes, figures["rounds"] * RedisClusterLife.changes)
        self.assertGreater(figures["keys moved under way"], 0)
        self.assertGreater(figures["delivered"], ROUNDS)


if __name__ == "__main__":
    unittest.main()
