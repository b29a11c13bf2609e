#!/usr/bin/env python3
"""A full file system of 64 MiB: requests that end messages still work, requests that add messages
are refused clearly, a kill loses nothing, and later everything works again. TARRY_CRASH_SEED
repeats the choices of a run.
"""

import os
import random
import unittest
from collections import Counter

from disk import NoDisk, SmallDisk
from kinds import run_full_disk
from rounds import Plan

LIVES = 2


class FullDisk(unittest.TestCase):
    def test_nothing_is_lost_and_room_comes_back(self):
        try:
            disk = SmallDisk()
        except NoDisk as reason:
            self.skipTest(f"NO DISK OF ITS OWN CAN BE MOUNTED HERE: {reason}")
        print(f"\nmounted: {disk.kind}", flush=True)
        disk.close()
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        print(f"TARRY_CRASH_SEED={seed}", flush=True)
        figures = Counter()
        run_full_disk(Plan(seed=seed, rounds=LIVES, rounds_a_store=1, most_events=400,
                           say=lambda line: print(line, flush=True)), figures)
        for name in sorted(figures):
            print(f"  {figures[name]:8} {name}")
        self.assertGreaterEqual(figures["times filled"], 2 * LIVES)
        self.assertGreaterEqual(figures["kills"], LIVES)
        for name in ("pushed", "delivered", "acked", "claimed while full",
                     "refused for want of space"):
            self.assertGreater(figures[name], LIVES, name)


if __name__ == "__main__":
    unittest.main()
