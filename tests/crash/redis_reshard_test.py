#!/usr/bin/env python3
"""Queues are resharded under load, and the movers are killed. TARRY_CRASH_SEED repeats the choices
of a run, TARRY_CRASH_ROUNDS makes it longer.
"""

import unittest

from redis_reshard import (RedisBareClusterReshardLife, RedisClusterReshardLife,
                           RedisReshardLife)
from redis_rounds import run_rounds

ROUNDS = 1


class RedisReshard(unittest.TestCase):
    def test_nothing_is_lost_while_shards_change(self):
        figures = run_rounds(RedisReshardLife, ROUNDS, rounds_a_store=1)
        self.assertGreaterEqual(figures["reshards"], figures["rounds"])
        if figures["rounds"] > 3:  # in fewer rounds, all reshards may have been too fast for a kill
            self.assertGreater(figures["movers killed"], 0)
        self.assertGreater(figures["messages moved"], ROUNDS)
        self.assertGreater(figures["delivered"], ROUNDS)

    def test_nor_on_a_cluster_whose_slots_move(self):
        self._on_a_cluster(RedisClusterReshardLife)

    def test_nor_on_one_without_replicas(self):
        self._on_a_cluster(RedisBareClusterReshardLife)

    def _on_a_cluster(self, life):
        figures = run_rounds(life, 1, rounds_a_store=1)
        self.assertGreaterEqual(figures["reshards"], figures["rounds"])
        self.assertEqual(figures["daemons killed"], figures["rounds"])
        self.assertGreater(figures["slots moved"], 0)
        self.assertGreater(figures["delivered"], 0)


if __name__ == "__main__":
    unittest.main()
