// A clock of elapsed time, by which leases are measured.

import { uptime } from "node:os";
import { performance } from "node:perf_hooks";

/** What a clock is made of; tests give their own. All in milliseconds. */
export interface Sources {
  monotonic(): number;
  wall(): number;
  boot(): number;
}

const system: Sources = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  boot: () => uptime() * 1000,
};

/** How far two clocks may drift apart before the machine may have slept. */
const drift = 50;

/**
 * Milliseconds, never backwards. JavaScript's monotonic clock stands still while the machine sleeps,
 * but leases go on. So if the wall clock has gone ahead of it, the machine's uptime says by how much.
 */
export function clockOf(sources: Sources): () => number {
  let apart = sources.wall() - sources.monotonic();
  let gap = sources.boot() - sources.monotonic();
  let slept = 0;
  return () => {
    const now = sources.monotonic();
    const apartNow = sources.wall() - now;
    if (Math.abs(apartNow - apart) > drift) {
      apart = apartNow;
      const gapNow = sources.boot() - now;
      if (gapNow - gap > drift) {
        slept += gapNow - gap;
        gap = gapNow;
      }
    }
    return now + slept;
  };
}

/** Milliseconds, of the clock by which leases are measured. */
export const elapsed = clockOf(system);
