package io.tarry.internal;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** From 100 ms on twice as long each time, up to 5 s, of which 50 to 100 % is waited. */
public final class Backoff {
  private static final long FIRST = 100;
  private static final long MOST = 5000;

  private long next = FIRST;

  public Duration next() {
    long now = next;
    next = Math.min(2 * now, MOST);
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(now / 2, now + 1));
  }

  public void reset() {
    next = FIRST;
  }
}
