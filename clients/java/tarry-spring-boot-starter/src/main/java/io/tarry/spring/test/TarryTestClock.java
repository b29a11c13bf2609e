package io.tarry.spring.test;

import io.tarry.QueueInfo;
import io.tarry.TarryClient;
import io.tarry.spring.listener.TarryListenerContainer;
import io.tarry.spring.listener.TarryListenerRegistry;
import io.tarry.testing.TarryServer;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** The time of the test's server. */
public final class TarryTestClock {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final TarryServer server;
  private final TarryClient client;
  private final TarryListenerRegistry listeners;

  TarryTestClock(TarryServer server, TarryClient client, TarryListenerRegistry listeners) {
    this.server = server;
    this.client = client;
    this.listeners = listeners;
  }

  /**
   * Lets time pass, and returns when the listeners have handled what became due. Move it by steps
   * that are shorter than a lease if a call is running.
   */
  public void advance(Duration by) {
    server.advance(by);
    awaitListeners();
  }

  /** Lets time pass, and waits for no listener. */
  public void advanceOnly(Duration by) {
    server.advance(by);
  }

  /**
   * Waits until the running listeners have handled all that is due now. Throws {@link
   * IllegalStateException} if this takes longer than 30 s of real time.
   */
  public void awaitListeners() {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (isBusy()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "after "
                + LIMIT.toSeconds()
                + " s the listeners still have messages to handle: "
                + client.queues());
      }
      try {
        Thread.sleep(2);
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while listeners work", error);
      }
    }
  }

  private boolean isBusy() {
    Set<String> queues = new HashSet<>();
    for (TarryListenerContainer one : listeners.listeners()) {
      if (one.isRunning()) {
        queues.add(one.settings().queue());
      }
    }
    for (QueueInfo one : client.queues()) {
      boolean waits = one.ready() > 0 && !one.isPaused();
      if (queues.contains(one.queue()) && (waits || one.leased() > 0)) {
        return true;
      }
    }
    return listeners.listeners().stream().anyMatch(one -> !one.isIdle());
  }
}
