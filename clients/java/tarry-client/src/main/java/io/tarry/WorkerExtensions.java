package io.tarry;

import io.tarry.internal.Item;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The thread of a worker that extends leases, and tells handlers whose claim is lost. */
final class WorkerExtensions implements Runnable {
  private final WorkerState state;

  WorkerExtensions(WorkerState state) {
    this.state = state;
  }

  @Override
  public void run() {
    while (true) {
      List<Book.Held> batch;
      Duration left;
      state.lock.lock();
      try {
        if (state.finished) {
          return;
        }
        long now = System.nanoTime();
        state.book.overdue(now).forEach(one -> one.delivery.lose());
        batch = state.book.extensions(now);
        if (batch.isEmpty()) {
          awaitExtension(state.book.next(now));
          continue;
        }
        // Not for longer than the leases hold, so that handlers are told in time.
        long least = batch.stream().mapToLong(one -> one.end - now).min().getAsLong();
        left = Duration.ofNanos(Math.max(TimeUnit.MILLISECONDS.toNanos(100), least));
      } finally {
        state.lock.unlock();
      }
      extend(batch, left);
    }
  }

  private void awaitExtension(long nanos) {
    try {
      if (nanos == Long.MAX_VALUE) {
        state.extendNews.await();
      } else {
        state.extendNews.awaitNanos(nanos);
      }
    } catch (InterruptedException error) {
      // Nobody interrupts this thread; it looks a little early.
    }
  }

  private void extend(List<Book.Held> batch, Duration left) {
    List<Item> items = new ArrayList<>();
    batch.forEach(one -> items.add(TarryClient.extension(one.message.receipt(), state.lease)));
    Duration timeout = state.client.transport().timeout();
    long sent = System.nanoTime();
    List<Result<Settled>> results =
        state.asked(items, left.compareTo(timeout) < 0 ? left : timeout);
    state.lock.lock();
    try {
      for (Book.Held lost : state.book.extended(batch, results, sent, System.nanoTime())) {
        if (lost.delivery != null) {
          lost.delivery.lose();
        } else if (state.waiting.remove(lost)) {
          state.giveBack(lost);
        }
      }
      state.roomNews.signal();
    } finally {
      state.lock.unlock();
    }
  }
}
