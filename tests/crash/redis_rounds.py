"""Runs rounds with Redis in a test."""

import os
import random
from collections import Counter

from rounds import Plan, run_plan


def seed_of_run():
    seed = int(os.environ.get("TARRY_CRASH_SEED", random.randrange(1 << 32)))
    print(f"\nTARRY_CRASH_SEED={seed}", flush=True)
    return seed


def rounds_of_run(rounds):
    """TARRY_CRASH_ROUNDS in the environment changes the number of rounds."""
    return int(os.environ.get("TARRY_CRASH_ROUNDS", rounds))


def say(line):
    print(line, flush=True)


def tell(figures):
    for name in sorted(figures):
        print(f"  {figures[name]:8} {name}")


def run_rounds(life, rounds, **more):
    """Returns the figures. Raises Failure."""
    figures = Counter()
    run_plan(Plan(seed=seed_of_run(), rounds=rounds_of_run(rounds), most_events=500, say=say,
                  **more), figures, life)
    tell(figures)
    return figures
