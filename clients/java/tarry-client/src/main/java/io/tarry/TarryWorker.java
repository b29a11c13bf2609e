package io.tarry;

import io.tarry.errors.InvalidRequestException;
import io.tarry.errors.TarryException;
import io.tarry.errors.UnknownOutcomeException;
import io.tarry.internal.Backoff;
import io.tarry.internal.Connection;
import io.tarry.internal.Item;
import io.tarry.internal.NotSent;
import io.tarry.internal.Tracing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Claims due messages, and runs a handler for each, in threads, until it is stopped. No handler
 * begins after its message's lease. While a handler runs, its lease is extended. While the server
 * is away, the worker waits and tries again. Thread safe.
 */
public final class TarryWorker implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("io.tarry");
  private static final Duration CLAIM_WAIT = Duration.ofSeconds(20);
  private static final long SETTLE_AFTER_STOP = TimeUnit.SECONDS.toNanos(10);

  private final TarryClient client;
  private final Map<String, TarryHandler> handlers;
  private final int concurrency;
  private final int prefetch;
  private final Duration lease;
  private final Duration drain;
  private final ThreadFactory threads;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition roomNews = lock.newCondition();
  private final Condition settleNews = lock.newCondition();
  private final Condition extendNews = lock.newCondition();
  private final Condition workNews = lock.newCondition();
  private final Condition stopNews = lock.newCondition();
  private final Book book = new Book();
  private final Deque<Book.Held> waiting = new ArrayDeque<>();
  private final Set<Book.Held> running = new HashSet<>();
  private final List<Thread> all = new ArrayList<>();
  private boolean started;
  private boolean stopping;
  private boolean finished;
  private Connection claiming;
  private boolean claimSettles;
  private boolean joins = true; // Until a server refuses settlements in a claim.
  private boolean claimIdle;
  private TarryException failure;

  private TarryWorker(Builder builder) {
    client = builder.client;
    handlers = new LinkedHashMap<>(builder.handlers);
    concurrency = builder.concurrency;
    prefetch = builder.prefetch;
    lease = builder.lease;
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
    lock.lock();
    try {
      if (started) {
        throw TarryException.of("misuse", "a worker starts once; make another one", 0);
      }
      started = true;
      spawn("claim", this::claimAll);
      spawn("settle", this::settleAll);
      spawn("extend", this::extendAll);
      for (int number = 0; number < concurrency; number++) {
        spawn("handler-" + number, this::handleAll);
      }
      all.forEach(Thread::start);
      return this;
    } finally {
      lock.unlock();
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
    ClaimRequest request = ClaimRequest.of(handlers.keySet()).max(1);
    if (lease != null) {
      request.lease(lease);
    }
    for (int count = 0; ; count++) {
      List<Claimed> due = client.claim(request);
      if (due.isEmpty()) {
        return count;
      }
      Verdict verdict = handle(new Delivery(due.get(0)));
      client.settle(verdict.settlement(due.get(0).receipt()));
    }
  }

  /** Works until {@link #stop} is called, and returns as {@link #join} does. */
  public Counts run() throws InterruptedException {
    start();
    lock.lock();
    try {
      while (!stopping) {
        stopNews.await();
      }
    } finally {
      lock.unlock();
    }
    return join();
  }

  /** How deliveries have ended so far. */
  public Counts counts() {
    lock.lock();
    try {
      return book.counts();
    } finally {
      lock.unlock();
    }
  }

  /** Whether it claims messages: it was started, and has not been stopped. */
  public boolean isRunning() {
    lock.lock();
    try {
      return started && !stopping;
    } finally {
      lock.unlock();
    }
  }

  /** Whether it holds no message, and all that it held is settled. */
  public boolean isIdle() {
    lock.lock();
    try {
      return book.size() == 0 && !book.isSettling();
    } finally {
      lock.unlock();
    }
  }

  /** The error by which the server became unusable, so that the worker stopped by itself. */
  public Optional<TarryException> failure() {
    lock.lock();
    try {
      return Optional.ofNullable(failure);
    } finally {
      lock.unlock();
    }
  }

  /** Claims nothing more, gives back what was not begun, and signals handlers. Does not wait. */
  public void stop() {
    lock.lock();
    try {
      if (stopping) {
        return;
      }
      stopping = true;
      book.stop(System.nanoTime());
      if (claiming != null && !claimSettles) {
        claiming.abort(); // A claim that settles does not wait.
      }
      running.forEach(one -> one.delivery.stop());
      while (!waiting.isEmpty()) {
        giveBack(waiting.pollFirst());
      }
      wake();
    } finally {
      lock.unlock();
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
    lock.lock();
    try {
      long left = SETTLE_AFTER_STOP;
      while (book.isSettling() && left > 0) {
        left = stopNews.awaitNanos(left);
      }
      finished = true;
      wake();
    } finally {
      lock.unlock();
    }
    for (Thread service : services) {
      service.join();
    }
    if (failure != null) {
      throw failure;
    }
    return counts();
  }

  private void wake() {
    for (Condition news : List.of(roomNews, settleNews, extendNews, workNews, stopNews)) {
      news.signalAll();
    }
  }

  private void giveBack(Book.Held held) {
    book.end(held, Verdict.release());
    settleNews.signal();
  }

  // Claims

  private void claimAll() {
    Backoff backoff = new Backoff();
    Connection connection = null;
    try {
      for (int room = room(); room > 0; room = room()) {
        try {
          if (connection == null || !connection.isOpen()) {
            close(connection);
            connection = null;
            claimsLater();
            connection = client.transport().pool().take();
          }
          claim(connection, room);
          backoff.reset();
        } catch (NotSent error) {
          pause(TarryException.of("unavailable", error.getMessage(), 0), backoff);
        } catch (TarryException error) {
          close(connection);
          connection = null;
          pause(error, backoff);
        }
      }
    } finally {
      close(connection);
    }
  }

  /** Settlements do not wait while the thread of the claims waits for the network. */
  private void claimsLater() {
    lock.lock();
    try {
      claimIdle = false;
      settleNews.signal();
    } finally {
      lock.unlock();
    }
  }

  private static void close(Connection connection) {
    if (connection != null) {
      connection.close();
    }
  }

  /** Waits until there is room for more; 0 after a stop. */
  private int room() {
    lock.lock();
    try {
      claimIdle = true;
      while (!stopping) {
        if (hasRoom()) {
          return concurrency + prefetch - book.size();
        }
        roomNews.awaitUninterruptibly();
      }
      return 0;
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoom() {
    return waiting.size() <= prefetch / 2 && concurrency + prefetch > book.size();
  }

  /** Whether the next claim is about to be sent, and takes the settlements with it. */
  private boolean claimTakesThem() {
    boolean takes = joins && claimIdle && !stopping && hasRoom();
    if (takes) {
      roomNews.signal();
    }
    return takes;
  }

  private void claim(Connection connection, int room) {
    ClaimRequest request = ClaimRequest.of(handlers.keySet()).max(room);
    if (lease != null) {
      request.lease(lease);
    }
    List<Book.Ending> batch;
    lock.lock();
    try {
      if (stopping) {
        return;
      }
      batch = joins && book.hasSettlements() ? book.settlements() : List.of();
      claiming = connection;
      claimIdle = false;
      claimSettles = !batch.isEmpty();
    } finally {
      lock.unlock();
    }
    List<Settlement> first = new ArrayList<>();
    batch.forEach(one -> first.add(one.settlement()));
    // Settlements are answered at once, so that the worker soon knows what became of them.
    request.settle(first).waitFor(first.isEmpty() ? CLAIM_WAIT : Duration.ZERO);
    long sent = System.nanoTime();
    ClaimRequest.Answer answer = null;
    TarryException error = null;
    try {
      answer = client.transport().once(connection, request.call());
      error = answer.error;
    } catch (TarryException failed) {
      error = failed;
    }
    lock.lock();
    try {
      claiming = null;
      claimIdle = error == null;
      if (!batch.isEmpty()) {
        error = settledFirst(batch, answer, error);
      }
      if (answer != null) {
        took(answer, sent);
      }
    } finally {
      lock.unlock();
    }
    if (error != null) {
      throw error;
    }
  }

  /** The error that the claim itself has. */
  private TarryException settledFirst(
      List<Book.Ending> batch, ClaimRequest.Answer answer, TarryException error) {
    claimSettles = false;
    boolean refused = answer == null && !(error instanceof UnknownOutcomeException);
    if (refused) {
      book.unsent(batch);
    } else {
      List<Result<Settled>> results =
          answer != null
              ? answer.settled
              : Collections.nCopies(batch.size(), Result.<Settled>failed(error));
      List<TarryException> refusals = new ArrayList<>();
      book.settled(batch, results, System.nanoTime(), refusals);
      told(refusals);
    }
    settleNews.signal();
    stopNews.signalAll();
    if (refused && error instanceof InvalidRequestException) {
      joins = false; // An older server: the next claim goes alone.
      return null;
    }
    return error;
  }

  private static void told(List<TarryException> refusals) {
    refusals.forEach(
        error -> LOG.log(System.Logger.Level.ERROR, "settle: {0}", error.getMessage()));
  }

  private void took(ClaimRequest.Answer answer, long sent) {
    long begun =
        answer.waitedMs < 0
            ? System.nanoTime()
            : sent + TimeUnit.MILLISECONDS.toNanos(answer.waitedMs);
    for (Claimed message : answer.messages) {
      Book.Held held = book.hold(message, begun);
      if (stopping) {
        giveBack(held);
      } else {
        waiting.addLast(held);
        workNews.signal();
      }
    }
    extendNews.signal();
  }

  /** Waits before the next claim; an error that waiting does not end stops the worker. */
  private void pause(TarryException error, Backoff backoff) {
    lock.lock();
    try {
      if (stopping) {
        return;
      }
      if (!Book.isPassing(error)) {
        failure = error;
        LOG.log(System.Logger.Level.ERROR, "the worker stops: {0}", error.getMessage());
        stop();
        return;
      }
      claimIdle = false;
      settleNews.signal();
      LOG.log(System.Logger.Level.WARNING, "claim: {0}", error.getMessage());
      long left = backoff.next().toNanos();
      while (!stopping && left > 0) {
        left = stopNews.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      stop();
    } finally {
      lock.unlock();
    }
  }

  // Handlers

  private void handleAll() {
    while (true) {
      Book.Held held = next();
      if (held == null) {
        return;
      }
      Verdict verdict = handle(held.delivery);
      Thread.interrupted(); // A handler's interrupt is not this thread's.
      lock.lock();
      try {
        running.remove(held);
        book.end(held, verdict);
        settleNews.signal();
        if (waiting.isEmpty()) {
          roomNews.signal();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** The next delivery, begun; null after a stop. */
  private Book.Held next() {
    lock.lock();
    try {
      while (true) {
        while (waiting.isEmpty() && !stopping) {
          workNews.awaitUninterruptibly();
        }
        if (stopping) {
          return null;
        }
        Book.Held held = waiting.pollFirst();
        if (waiting.size() <= prefetch / 2) {
          roomNews.signal();
        }
        if (held.holds(System.nanoTime())) {
          book.begin(held);
          running.add(held);
          extendNews.signal();
          return held;
        }
        giveBack(held);
      }
    } finally {
      lock.unlock();
    }
  }

  private Verdict handle(Delivery delivery) {
    try {
      Verdict verdict =
          Tracing.handling(
              delivery.queue(), delivery.key(), delivery.headers(), () -> called(delivery));
      return verdict == null ? Verdict.ack() : verdict;
    } catch (Thrown error) {
      return Verdict.failed(error.getCause());
    } catch (RuntimeException | StackOverflowError | AssertionError error) {
      return Verdict.failed(error);
    } catch (Error error) {
      LOG.log(System.Logger.Level.ERROR, "the handler of " + delivery.queue(), error);
      return Verdict.failed(error);
    }
  }

  private Verdict called(Delivery delivery) {
    try {
      return handlers.get(delivery.queue()).handle(delivery);
    } catch (RuntimeException error) {
      throw error;
    } catch (Exception error) {
      throw new Thrown(error);
    }
  }

  private static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Thrown(Exception cause) {
      super(cause);
    }
  }

  // Settlements and extensions

  private void settleAll() {
    Backoff backoff = new Backoff();
    while (true) {
      List<Book.Ending> batch;
      lock.lock();
      try {
        while ((!book.hasSettlements() || claimTakesThem()) && !finished) {
          settleNews.awaitUninterruptibly();
        }
        if (!book.hasSettlements()) {
          return;
        }
        batch = book.settlements();
      } finally {
        lock.unlock();
      }
      List<Item> items = new ArrayList<>();
      batch.forEach(one -> items.add(one.settlement().item()));
      List<Result<Settled>> results = asked(items, client.transport().timeout());
      List<TarryException> refusals = new ArrayList<>();
      lock.lock();
      try {
        boolean took = book.settled(batch, results, System.nanoTime(), refusals);
        roomNews.signal();
        stopNews.signalAll();
        if (took) {
          backoff.reset();
        } else {
          sleep(backoff.next().toNanos());
        }
      } finally {
        lock.unlock();
      }
      told(refusals);
    }
  }

  private void sleep(long left) {
    try {
      while (!finished && left > 0) {
        left = settleNews.awaitNanos(left);
      }
    } catch (InterruptedException error) {
      // Nobody interrupts this thread; the next request comes a little early.
    }
  }

  private void extendAll() {
    while (true) {
      List<Book.Held> batch;
      Duration left;
      lock.lock();
      try {
        if (finished) {
          return;
        }
        long now = System.nanoTime();
        book.overdue(now).forEach(one -> one.delivery.lose());
        batch = book.extensions(now);
        if (batch.isEmpty()) {
          awaitExtension(book.next(now));
          continue;
        }
        // Not for longer than the leases hold, so that handlers are told in time.
        long least = batch.stream().mapToLong(one -> one.end - now).min().getAsLong();
        left = Duration.ofNanos(Math.max(TimeUnit.MILLISECONDS.toNanos(100), least));
      } finally {
        lock.unlock();
      }
      extend(batch, left);
    }
  }

  private void awaitExtension(long nanos) {
    try {
      if (nanos == Long.MAX_VALUE) {
        extendNews.await();
      } else {
        extendNews.awaitNanos(nanos);
      }
    } catch (InterruptedException error) {
      // Nobody interrupts this thread; it looks a little early.
    }
  }

  private void extend(List<Book.Held> batch, Duration left) {
    List<Item> items = new ArrayList<>();
    batch.forEach(one -> items.add(TarryClient.extension(one.message.receipt(), lease)));
    Duration timeout = client.transport().timeout();
    long sent = System.nanoTime();
    List<Result<Settled>> results = asked(items, left.compareTo(timeout) < 0 ? left : timeout);
    lock.lock();
    try {
      for (Book.Held lost : book.extended(batch, results, sent, System.nanoTime())) {
        if (lost.delivery != null) {
          lost.delivery.lose();
        } else if (waiting.remove(lost)) {
          giveBack(lost);
        }
      }
      roomNews.signal();
    } finally {
      lock.unlock();
    }
  }

  private List<Result<Settled>> asked(List<Item> items, Duration timeout) {
    try {
      return client.transport().batch(items, Settled::new, Duration.ZERO, timeout);
    } catch (TarryException error) {
      return Collections.nCopies(items.size(), Result.failed(error));
    }
  }
}
