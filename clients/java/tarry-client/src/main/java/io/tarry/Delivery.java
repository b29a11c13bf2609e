package io.tarry;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A message in a handler's hands, and the signal that it should end. */
public final class Delivery {
  private final Claimed message;
  private final CountDownLatch stop = new CountDownLatch(1);
  private volatile boolean lost;

  Delivery(Claimed message) {
    this.message = message;
  }

  public Claimed message() {
    return message;
  }

  public String queue() {
    return message.queue();
  }

  /** The same in each delivery of this message: drop duplicates by it. */
  public String id() {
    return message.id();
  }

  public String key() {
    return message.key();
  }

  public byte[] payload() {
    return message.payload();
  }

  /** The payload as UTF-8 text. */
  public String text() {
    return message.text();
  }

  public Map<String, String> headers() {
    return message.headers();
  }

  /** 1 for the first. */
  public int attempt() {
    return message.attempt();
  }

  /** Whether the handler should end: the worker stops, or the claim is lost. */
  public boolean isStopping() {
    return stop.getCount() == 0;
  }

  /** Whether the claim is lost: another delivery of this message may begin. */
  public boolean isLost() {
    return lost;
  }

  /** Waits for the signal to stop, at most so long; whether it came. */
  public boolean awaitStop(long time, TimeUnit unit) throws InterruptedException {
    return stop.await(time, unit);
  }

  void stop() {
    stop.countDown();
  }

  void lose() {
    lost = true;
    stop.countDown();
  }
}
