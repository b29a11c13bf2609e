package io.tarry;

import io.tarry.errors.TarryException;
import io.tarry.internal.Backoff;
import io.tarry.internal.Item;
import java.util.ArrayList;
import java.util.List;

/** The thread of a worker that settles what does not go with a claim. */
final class WorkerSettlements implements Runnable {
  private final WorkerState state;

  WorkerSettlements(WorkerState state) {
    this.state = state;
  }

  @Override
  public void run() {
    Backoff backoff = new Backoff();
    while (true) {
      List<Book.Ending> batch;
      state.lock.lock();
      try {
        while ((!state.book.hasSettlements() || state.claimTakesThem()) && !state.finished) {
          state.settleNews.awaitUninterruptibly();
        }
        if (!state.book.hasSettlements()) {
          return;
        }
        batch = state.book.settlements();
      } finally {
        state.lock.unlock();
      }
      List<Item> items = new ArrayList<>();
      batch.forEach(one -> items.add(one.settlement().item()));
      List<Result<Settled>> results = state.asked(items, state.client.transport().timeout());
      List<TarryException> refusals = new ArrayList<>();
      state.lock.lock();
      try {
        boolean took = state.book.settled(batch, results, System.nanoTime(), refusals);
        state.roomNews.signal();
        state.stopNews.signalAll();
        if (took) {
          backoff.reset();
        } else {
          sleep(backoff.next().toNanos());
        }
      } finally {
        state.lock.unlock();
      }
      WorkerState.told(refusals);
    }
  }

  private void sleep(long left) {
    try {
      while (!state.finished && left > 0) {
        left = state.settleNews.awaitNanos(left);
      }
    } catch (InterruptedException error) {
      // Nobody interrupts this thread; the next request comes a little early.
    }
  }
}
