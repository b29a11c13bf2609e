package io.tarry;

import io.tarry.errors.NoSpaceException;
import io.tarry.errors.TarryException;
import io.tarry.errors.UnavailableException;
import io.tarry.errors.UnknownOutcomeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The lease protocol of a worker. It does no I/O, has no thread and reads no clock; times are
 * {@code nanoTime}s.
 *
 * <ul>
 *   <li>A lease counts from before its claim or its extension was sent, so never for longer than it
 *       does in the store. It is extended after a third of its length. If the server is away, the
 *       extension is tried again after a tenth of that length, at most 1 s later.
 *   <li>A settlement waits while an earlier request of settlements is under way, and goes together
 *       with all others that have gathered. If its answer is lost, or the server is away, it is
 *       sent again while the lease holds; after a stop, for 10 s.
 *   <li>If the worker claims at that moment, the settlements go with the claim, in one request.
 *       They go alone afterwards if the server refused that request, since it then did nothing.
 *   <li>A claim that is lost is neither extended nor settled.
 * </ul>
 *
 * <p>Thread safety: none; the worker locks.
 */
final class Book {
  private static final int MAX_ITEMS = 1000;
  private static final long AFTER_STOP = TimeUnit.SECONDS.toNanos(10);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** A claim that is held. */
  static final class Held {
    final Claimed message;
    final long lease;
    Delivery delivery;
    boolean lost;
    long end;
    private boolean extending;
    private boolean extendable = true;
    private long extendAt;

    private Held(Claimed message, long begun) {
      this.message = message;
      this.lease = message.lease().toNanos();
      extended(begun);
    }

    private void extended(long begun) {
      end = begun + lease;
      extendAt = begun + lease / 3;
    }

    boolean holds(long now) {
      return !lost && end - now > 0;
    }
  }

  /** A settlement on its way. */
  static final class Ending {
    final Held held;
    final Verdict verdict;

    private Ending(Held held, Verdict verdict) {
      this.held = held;
      this.verdict = verdict;
    }

    Settlement settlement() {
      return verdict.settlement(held.message.receipt());
    }
  }

  private final Map<String, Held> held = new LinkedHashMap<>();
  private final Deque<Ending> outbox = new ArrayDeque<>();
  private final long[] ended = new long[Action.values().length];
  private long delivered;
  private long stale;
  private boolean settling;
  private boolean stopped;
  private long stoppedAt;

  static boolean isPassing(TarryException error) {
    return error instanceof UnavailableException
        || error instanceof NoSpaceException
        || error instanceof UnknownOutcomeException;
  }

  Counts counts() {
    return new Counts(delivered, stale, ended);
  }

  int size() {
    return held.size();
  }

  /** Whether something is still to be settled. */
  boolean isSettling() {
    return settling || !outbox.isEmpty();
  }

  boolean hasSettlements() {
    return !settling && !outbox.isEmpty();
  }

  void stop(long now) {
    if (!stopped) {
      stopped = true;
      stoppedAt = now;
    }
  }

  Held hold(Claimed message, long begun) {
    Held one = new Held(message, begun);
    held.put(message.receipt(), one);
    return one;
  }

  Delivery begin(Held one) {
    one.delivery = new Delivery(one.message);
    delivered++;
    return one.delivery;
  }

  void end(Held one, Verdict verdict) {
    held.remove(one.message.receipt());
    if (one.lost) {
      stale++;
    } else {
      outbox.addLast(new Ending(one, verdict));
    }
  }

  // Settlements

  /** Those to send now, in one request; {@link #settled} follows. */
  List<Ending> settlements() {
    List<Ending> batch = new ArrayList<>();
    while (batch.size() < MAX_ITEMS && !outbox.isEmpty()) {
      batch.add(outbox.pollFirst());
    }
    settling = !batch.isEmpty();
    return batch;
  }

  /** The server did nothing with them: they go again, before all others. */
  void unsent(List<Ending> batch) {
    settling = false;
    for (int index = batch.size(); index-- > 0; ) {
      outbox.addFirst(batch.get(index));
    }
  }

  /**
   * Whether the server took them; if not, wait a little before the next request. Errors that
   * repeating does not mend are added to {@code refusals}.
   */
  boolean settled(
      List<Ending> batch, List<Result<Settled>> results, long now, List<TarryException> refusals) {
    settling = false;
    boolean took = true;
    Deque<Ending> again = new ArrayDeque<>();
    for (int index = 0; index < batch.size(); index++) {
      Ending one = batch.get(index);
      TarryException error = results.get(index).error().orElse(null);
      if (error == null) {
        if (results.get(index).value().isDone()) {
          ended[one.verdict.action().ordinal()]++;
        } else {
          stale++;
        }
        continue;
      }
      boolean passing = isPassing(error);
      took = took && !passing;
      if (passing && mayRepeat(one, now)) {
        again.addFirst(one);
        continue;
      }
      stale++;
      if (!passing) {
        refusals.add(error);
      }
    }
    again.forEach(outbox::addFirst);
    return took;
  }

  private boolean mayRepeat(Ending one, long now) {
    return one.held.holds(now) && !(stopped && now - stoppedAt > AFTER_STOP);
  }

  // Extensions

  /** Those to extend now, in one request; {@link #extended} follows. */
  List<Held> extensions(long now) {
    List<Held> due = new ArrayList<>();
    for (Held one : held.values()) {
      boolean waits = one.extending || one.lost || !one.extendable;
      if (!waits && one.extendAt - now <= 0 && due.size() < MAX_ITEMS) {
        one.extending = true;
        due.add(one);
      }
    }
    return due;
  }

  /** Those that are lost from now on. */
  List<Held> extended(List<Held> batch, List<Result<Settled>> results, long sent, long now) {
    List<Held> lost = new ArrayList<>();
    for (int index = 0; index < batch.size(); index++) {
      Held one = batch.get(index);
      one.extending = false;
      TarryException error = results.get(index).error().orElse(null);
      if (error != null) {
        // Refused: the store has no extensions, and the lease ends in its time.
        one.extendable = isPassing(error);
        one.extendAt = now + Math.min(SECOND, one.lease / 10);
      } else if (results.get(index).value().isDone()) {
        if (!one.lost) {
          one.extended(sent);
        }
      } else if (!one.lost) {
        one.lost = true;
        lost.add(one);
      }
    }
    return lost;
  }

  /** Begun deliveries whose leases have ended because the server did not answer; told once. */
  List<Held> overdue(long now) {
    List<Held> over = new ArrayList<>();
    for (Held one : held.values()) {
      if (one.delivery != null && !one.lost && one.end - now <= 0) {
        one.lost = true;
        over.add(one);
      }
    }
    return over;
  }

  /** Nanoseconds until something is to be done here; {@link Long#MAX_VALUE}: never. */
  long next(long now) {
    long least = Long.MAX_VALUE;
    for (Held one : held.values()) {
      if (!one.lost) {
        if (!one.extending && one.extendable) {
          least = Math.min(least, one.extendAt - now);
        }
        if (one.delivery != null) {
          least = Math.min(least, one.end - now);
        }
      }
    }
    return Math.max(0, least);
  }
}
