package io.tarry;

import io.tarry.errors.TarryException;
import io.tarry.internal.Connection;
import io.tarry.internal.Item;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the threads of a worker share. All that is not final is read and changed under the lock, and
 * methods that are not static are called under it, except {@link #asked}.
 */
final class WorkerState {
  static final System.Logger LOG = System.getLogger("io.tarry");

  final TarryClient client;
  final Map<String, TarryHandler> handlers;
  final int concurrency;
  final int prefetch;
  final Duration lease;

  final ReentrantLock lock = new ReentrantLock();
  final Condition roomNews = lock.newCondition();
  final Condition settleNews = lock.newCondition();
  final Condition extendNews = lock.newCondition();
  final Condition workNews = lock.newCondition();
  final Condition stopNews = lock.newCondition();
  final Book book = new Book();
  final Deque<Book.Held> waiting = new ArrayDeque<>();
  final Set<Book.Held> running = new HashSet<>();
  boolean stopping;
  boolean finished;
  Connection claiming;
  boolean claimSettles;
  boolean joins = true; // Until a server refuses settlements in a claim.
  boolean claimIdle;
  TarryException failure;

  WorkerState(
      TarryClient client,
      Map<String, TarryHandler> handlers,
      int concurrency,
      int prefetch,
      Duration lease) {
    this.client = client;
    this.handlers = handlers;
    this.concurrency = concurrency;
    this.prefetch = prefetch;
    this.lease = lease;
  }

  /** Claims nothing more, gives back what was not begun, and signals handlers. */
  void stop() {
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
  }

  void wake() {
    for (Condition news : List.of(roomNews, settleNews, extendNews, workNews, stopNews)) {
      news.signalAll();
    }
  }

  void giveBack(Book.Held held) {
    book.end(held, Verdict.release());
    settleNews.signal();
  }

  boolean hasRoom() {
    return waiting.size() <= prefetch / 2 && concurrency + prefetch > book.size();
  }

  /** Whether the next claim is about to be sent, and takes the settlements with it. */
  boolean claimTakesThem() {
    boolean takes = joins && claimIdle && !stopping && hasRoom();
    if (takes) {
      roomNews.signal();
    }
    return takes;
  }

  /** Logs errors that a repeat does not mend. */
  static void told(List<TarryException> refusals) {
    refusals.forEach(
        error -> LOG.log(System.Logger.Level.ERROR, "settle: {0}", error.getMessage()));
  }

  /** What the server answered, or for each item the error of the request. */
  List<Result<Settled>> asked(List<Item> items, Duration timeout) {
    try {
      return client.transport().batch(items, Settled::new, Duration.ZERO, timeout);
    } catch (TarryException error) {
      return Collections.nCopies(items.size(), Result.failed(error));
    }
  }
}
