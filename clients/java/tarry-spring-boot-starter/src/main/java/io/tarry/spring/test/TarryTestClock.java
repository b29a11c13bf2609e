package io.tarry.spring.test;

import io.tarry.QueueInfo;
import io.tarry.TarryClient;
import io.tarry.spring.listener.TarryListenerContainer;
import io.tarry.spring.listener.TarryListenerRegistry;
import io.tarry.testing.TarryServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.convert.DurationStyle;

/** The time of the test's server. */
public final class TarryTestClock {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final TarryServer server;
  private final TarryClient client;
  private final TarryListenerRegistry listeners;
  private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

  TarryTestClock(TarryServer server, TarryClient client, TarryListenerRegistry listeners) {
    this.server = server;
    this.client = client;
    this.listeners = listeners;
    listeners.onHandled(delivery -> handled.add(delivery.key()));
  }

  /**
   * Lets time pass, and returns when the listeners have handled what became due: the keys of the
   * messages whose calls ended without an exception since the last advance, sorted. Move it by
   * steps that are shorter than a lease if a call is running.
   */
  public List<String> advance(Duration by) {
    server.advance(by);
    awaitListeners();
    List<String> keys = new ArrayList<>();
    handled.drainTo(keys);
    Collections.sort(keys);
    return keys;
  }

  /** The same, by {@code 30m} or {@code PT30M} for example. */
  public List<String> advance(String by) {
    return advance(DurationStyle.detectAndParse(by));
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
