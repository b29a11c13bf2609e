#!/usr/bin/env python3
"""SIGKILL of `tarry serve` under load, again and again; an oracle in another process judges the
answers.

TARRY_CRASH_SEED repeats the choices of a run; what the operating system does differs each time.
"""

import os
import random
import unittest
from collections import Counter

from rounds import Failure, Plan, run_plan

ROUNDS = 30
CUT = 4096
SPARED = 512  # a segment's header, and the beginning of its opening
NOTICED = "does not check, though it was durable"


def cut_journal(store):
    """Removes the last batch that was written, as if the server had answered before it was
    durable."""
    for segment in sorted(store.glob("shard-*/*.seg"), reverse=True):
        data = segment.read_bytes()
        end = len(data.rstrip(b"\0"))
        if end > SPARED:
            start = max(SPARED, end - CUT)
            with open(segment, "r+b") as file:
                file.seek(start)
                file.write(bytes(end - start))
            return


class Kill(unittest.TestCase):
    def test_nothing_is_lost_early_or_delivered_without_cause(self):
        seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
        print(f"\nTARRY_CRASH_SEED={seed}", flush=True)
        figures = Counter()
        run_plan(Plan(seed=seed, rounds=ROUNDS, say=lambda line: print(line, flush=True)), figures)
        for name in sorted(figures):
            print(f"  {figures[name]:8} {name}")
        self.assertEqual(figures["rounds"], ROUNDS)
        # A run in which little happened has not tested anything.
        self.assertGreaterEqual(figures["kills"], ROUNDS)
        for name in ("pushed", "delivered", "cancelled", "rescheduled", "redelivered",
                     "of these accepted", "operations without an answer", "segments cleaned"):
            self.assertGreater(figures[name], 0, name)

    def test_the_oracle_sees_answers_that_a_crash_took_back(self):
        for seed in range(1, 11):
            plan = Plan(seed=seed, rounds=3, shards=(1,), sabotage=cut_journal)
            with self.assertRaises(Failure) as caught:
                run_plan(plan, Counter())
            # If a later batch proves that the removed one was durable, the store refuses to start,
            # and the oracle has nothing to judge.
            if NOTICED not in str(caught.exception):
                break
        self.assertTrue(caught.exception.verdict.violations, caught.exception)


if __name__ == "__main__":
    unittest.main()
