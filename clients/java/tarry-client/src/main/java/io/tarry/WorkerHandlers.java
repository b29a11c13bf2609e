package io.tarry;

import io.tarry.internal.Tracing;

/** A thread of a worker that handles: it begins no delivery after its lease. */
final class WorkerHandlers implements Runnable {
  private final WorkerState state;

  WorkerHandlers(WorkerState state) {
    this.state = state;
  }

  @Override
  public void run() {
    while (true) {
      Book.Held held = next();
      if (held == null) {
        return;
      }
      Verdict verdict = handle(held.delivery);
      Thread.interrupted(); // A handler's interrupt is not this thread's.
      state.lock.lock();
      try {
        state.running.remove(held);
        state.book.end(held, verdict);
        state.settleNews.signal();
        if (state.waiting.isEmpty()) {
          state.roomNews.signal();
        }
      } finally {
        state.lock.unlock();
      }
    }
  }

  /** The next delivery, begun; null after a stop. */
  private Book.Held next() {
    state.lock.lock();
    try {
      while (true) {
        while (state.waiting.isEmpty() && !state.stopping) {
          state.workNews.awaitUninterruptibly();
        }
        if (state.stopping) {
          return null;
        }
        Book.Held held = state.waiting.pollFirst();
        if (state.waiting.size() <= state.prefetch / 2) {
          state.roomNews.signal();
        }
        if (held.holds(System.nanoTime())) {
          state.book.begin(held);
          state.running.add(held);
          state.extendNews.signal();
          return held;
        }
        state.giveBack(held);
      }
    } finally {
      state.lock.unlock();
    }
  }

  Verdict handle(Delivery delivery) {
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
      WorkerState.LOG.log(System.Logger.Level.ERROR, "the handler of " + delivery.queue(), error);
      return Verdict.failed(error);
    }
  }

  private Verdict called(Delivery delivery) {
    try {
      return state.handlers.get(delivery.queue()).handle(delivery);
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
}
