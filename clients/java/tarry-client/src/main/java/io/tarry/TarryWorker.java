package io.tarry;

import io.tarry.errors.TarryException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Claims due messages, and runs a handler for each, in threads, until it is stopped. No handler
 * begins after its message's lease. While a handler runs, its lease is extended. While the server
 * is away, the worker waits and tries again. Thread safe.
 */
public final class TarryWorker implements AutoCloseable {
  private static final long SETTLE_AFTER_STOP = TimeUnit.SECONDS.toNanos(10);

  private final WorkerState state;
  private final Duration drain;
  private final ThreadFactory threads;
  private final List<Thread> all = new ArrayList<>();
  private boolean started;

  private TarryWorker(Builder builder) {
    state =
        new WorkerState(
            builder.client,
            new LinkedHashMap<>(builder.handlers),
            builder.concurrency,
            builder.prefetch,
            builder.lease);
    drain = builder.drain;
    threads = builder.threads;
  }

  public static Builder builder(TarryClient client) {
    return new Builder(client);
  }

  /** Settings of a worker. */
  public static final class Builder {
    private final TarryClient client;
    private final Map<String, TarryHandler> handlers = new LinkedHashMap<>();
    private int concurrency = 4;
    private int prefetch = 64;
    private Duration lease;
    private Duration drain;
    private ThreadFactory threads =
        work -> {
          Thread thread = new Thread(work);
          thread.setDaemon(true);
          return thread;
        };

    private Builder(TarryClient client) {
      this.client = client;
    }

    /** Serves that queue. */
    public Builder handle(String queue, TarryHandler handler) {
      handlers.put(queue, handler);
      return this;
    }

    /** Handlers at once, 1 to 1024; default 4. */
    public Builder concurrency(int handlersAtOnce) {
      concurrency = within("concurrency", handlersAtOnce, 1, 1024);
      return this;
    }

    /** Messages claimed ahead, 0 to 8976; default 64. */
    public Builder prefetch(int messages) {
      prefetch = within("prefetch", messages, 0, 8976);
      return this;
    }

    private static int within(String name, int value, int least, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + " " + value + " must be from " + least + " to " + most);
      }
      return value;
    }

    /** Else the queue's. */
    public Builder lease(Duration lease) {
      this.lease = lease;
      return this;
    }

    /** A stop waits so long for running handlers; default: for as long as they run. */
    public Builder drain(Duration drain) {
      this.drain = drain;
      return this;
    }

    /** Makes the threads; on Java 21, {@code Thread.ofVirtual().factory()} is one. */
    public Builder threads(ThreadFactory threads) {
      this.threads = threads;
      return this;
    }

    /** The worker, not yet started. */
    public TarryWorker build() {
      if (handlers.isEmpty()) {
        throw new IllegalArgumentException("a worker needs a handler for at least one queue");
      }
      return new TarryWorker(this);
    }

    /** A worker that works. */
    public TarryWorker start() {
      return build().start();
    }
  }

  /** Begins to work, in threads of its own. Once. */
  public TarryWorker start() {
    state.lock.lock();
    try {
      if (started) {
        throw TarryException.of("misuse", "a worker starts once; make another one", 0);
      }
      started = true;
      spawn("claim", new WorkerClaims(state));
      spawn("settle", new WorkerSettlements(state));
      spawn("extend", new WorkerExtensions(state));
      for (int number = 0; number < state.concurrency; number++) {
        spawn("handler-" + number, new WorkerHandlers(state));
      }
      all.forEach(Thread::start);
      return this;
    } finally {
      state.lock.unlock();
    }
  }

  private void spawn(String name, Runnable work) {
    Thread thread = threads.newThread(work);
    thread.setName("tarry-" + name);
    all.add(thread);
  }

  /**
   * For tests: handles all that is due now in this thread, without {@link #start}; how many
   * deliveries there were.
   */
  public int workOff() {
    ClaimRequest request = ClaimRequest.of(state.handlers.keySet()).max(1);
    if (state.lease != null) {
      request.lease(state.lease);
    }
    WorkerHandlers here = new WorkerHandlers(state);
    for (int count = 0; ; count++) {
      List<Claimed> due = state.client.claim(request);
      if (due.isEmpty()) {
        return count;
      }
      Verdict verdict = here.handle(new Delivery(due.get(0)));
      state.client.settle(verdict.settlement(due.get(0).receipt()));
    }
  }

  /** Works until {@link #stop} is called, and returns as {@link #join} does. */
  public Counts run() throws InterruptedException {
    start();
    state.lock.lock();
    try {
      while (!state.stopping) {
        state.stopNews.await();
      }
    } finally {
      state.lock.unlock();
    }
    return join();
  }

  /** How deliveries have ended so far. */
  public Counts counts() {
    state.lock.lock();
    try {
      return state.book.counts();
    } finally {
      state.lock.unlock();
    }
  }

  /** Whether it claims messages: it was started, and has not been stopped. */
  public boolean isRunning() {
    state.lock.lock();
    try {
      return started && !state.stopping;
    } finally {
      state.lock.unlock();
    }
  }

  /** Whether it holds no message, and all that it held is settled. */
  public boolean isIdle() {
    state.lock.lock();
    try {
      return state.book.size() == 0 && !state.book.isSettling();
    } finally {
      state.lock.unlock();
    }
  }

  /** The error by which the server became unusable, so that the worker stopped by itself. */
  public Optional<TarryException> failure() {
    state.lock.lock();
    try {
      return Optional.ofNullable(state.failure);
    } finally {
      state.lock.unlock();
    }
  }

  /** Claims nothing more, gives back what was not begun, and signals handlers. Does not wait. */
  public void stop() {
    state.lock.lock();
    try {
      state.stop();
    } finally {
      state.lock.unlock();
    }
  }

  /** Stops, and waits for handlers and their settlements. */
  @Override
  public void close() {
    stop();
    try {
      join();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * After a {@link #stop}: waits until handlers have ended and all is settled. Throws the error by
   * which the server became unusable.
   */
  public Counts join() throws InterruptedException {
    List<Thread> services = all.subList(0, Math.min(3, all.size()));
    long until = drain == null ? Long.MAX_VALUE : System.nanoTime() + drain.toNanos();
    for (Thread handler : all.subList(services.size(), all.size())) {
      if (drain == null) {
        handler.join();
      } else {
        TimeUnit.NANOSECONDS.timedJoin(handler, until - System.nanoTime());
      }
    }
    state.lock.lock();
    try {
      long left = SETTLE_AFTER_STOP;
      while (state.book.isSettling() && left > 0) {
        left = state.stopNews.awaitNanos(left);
      }
      state.finished = true;
      state.wake();
    } finally {
      state.lock.unlock();
    }
    for (Thread service : services) {
      service.join();
    }
    if (state.failure != null) {
      throw state.failure;
    }
    return counts();
  }
}
