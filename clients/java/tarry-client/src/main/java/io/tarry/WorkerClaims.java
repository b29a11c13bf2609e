package io.tarry;

import io.tarry.errors.InvalidRequestException;
import io.tarry.errors.TarryException;
import io.tarry.errors.UnknownOutcomeException;
import io.tarry.internal.Backoff;
import io.tarry.internal.Connection;
import io.tarry.internal.NotSent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The thread of a worker that claims: whenever there is room, with the settlements that wait. */
final class WorkerClaims implements Runnable {
  private static final Duration CLAIM_WAIT = Duration.ofSeconds(20);

  private final WorkerState state;

  WorkerClaims(WorkerState state) {
    this.state = state;
  }

  @Override
  public void run() {
    Backoff backoff = new Backoff();
    Connection connection = null;
    try {
      for (int room = room(); room > 0; room = room()) {
        try {
          if (connection == null || !connection.isOpen()) {
            close(connection);
            connection = null;
            claimsLater();
            connection = state.client.transport().pool().take();
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
    state.lock.lock();
    try {
      state.claimIdle = false;
      state.settleNews.signal();
    } finally {
      state.lock.unlock();
    }
  }

  private static void close(Connection connection) {
    if (connection != null) {
      connection.close();
    }
  }

  /** Waits until there is room for more; 0 after a stop. */
  private int room() {
    state.lock.lock();
    try {
      state.claimIdle = true;
      while (!state.stopping) {
        if (state.hasRoom()) {
          return state.concurrency + state.prefetch - state.book.size();
        }
        state.roomNews.awaitUninterruptibly();
      }
      return 0;
    } finally {
      state.lock.unlock();
    }
  }

  private void claim(Connection connection, int room) {
    ClaimRequest request = ClaimRequest.of(state.handlers.keySet()).max(room);
    if (state.lease != null) {
      request.lease(state.lease);
    }
    List<Book.Ending> batch;
    state.lock.lock();
    try {
      if (state.stopping) {
        return;
      }
      batch = state.joins && state.book.hasSettlements() ? state.book.settlements() : List.of();
      state.claiming = connection;
      state.claimIdle = false;
      state.claimSettles = !batch.isEmpty();
    } finally {
      state.lock.unlock();
    }
    List<Settlement> first = new ArrayList<>();
    batch.forEach(one -> first.add(one.settlement()));
    // Settlements are answered at once, so that the worker soon knows what became of them.
    request.settle(first).waitFor(first.isEmpty() ? CLAIM_WAIT : Duration.ZERO);
    long sent = System.nanoTime();
    ClaimRequest.Answer answer = null;
    TarryException error = null;
    try {
      answer = state.client.transport().once(connection, request.call());
      error = answer.error;
    } catch (TarryException failed) {
      error = failed;
    }
    state.lock.lock();
    try {
      state.claiming = null;
      state.claimIdle = error == null;
      if (!batch.isEmpty()) {
        error = settledFirst(batch, answer, error);
      }
      if (answer != null) {
        took(answer, sent);
      }
    } finally {
      state.lock.unlock();
    }
    if (error != null) {
      throw error;
    }
  }

  /** The error that the claim itself has. */
  private TarryException settledFirst(
      List<Book.Ending> batch, ClaimRequest.Answer answer, TarryException error) {
    state.claimSettles = false;
    boolean refused = answer == null && !(error instanceof UnknownOutcomeException);
    if (refused) {
      state.book.unsent(batch);
    } else {
      List<Result<Settled>> results =
          answer != null
              ? answer.settled
              : Collections.nCopies(batch.size(), Result.<Settled>failed(error));
      List<TarryException> refusals = new ArrayList<>();
      state.book.settled(batch, results, System.nanoTime(), refusals);
      WorkerState.told(refusals);
    }
    state.settleNews.signal();
    state.stopNews.signalAll();
    if (refused && error instanceof InvalidRequestException) {
      state.joins = false; // An older server: the next claim goes alone.
      return null;
    }
    return error;
  }

  private void took(ClaimRequest.Answer answer, long sent) {
    long begun =
        answer.waitedMs < 0
            ? System.nanoTime()
            : sent + TimeUnit.MILLISECONDS.toNanos(answer.waitedMs);
    for (Claimed message : answer.messages) {
      Book.Held held = state.book.hold(message, begun);
      if (state.stopping) {
        state.giveBack(held);
      } else {
        state.waiting.addLast(held);
        state.workNews.signal();
      }
    }
    state.extendNews.signal();
  }

  /** Waits before the next claim; an error that waiting does not end stops the worker. */
  private void pause(TarryException error, Backoff backoff) {
    state.lock.lock();
    try {
      if (state.stopping) {
        return;
      }
      if (!Book.isPassing(error)) {
        state.failure = error;
        WorkerState.LOG.log(System.Logger.Level.ERROR, "the worker stops: {0}", error.getMessage());
        state.stop();
        return;
      }
      state.claimIdle = false;
      state.settleNews.signal();
      WorkerState.LOG.log(System.Logger.Level.WARNING, "claim: {0}", error.getMessage());
      long left = backoff.next().toNanos();
      while (!state.stopping && left > 0) {
        left = state.stopNews.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      state.stop();
    } finally {
      state.lock.unlock();
    }
  }
}
