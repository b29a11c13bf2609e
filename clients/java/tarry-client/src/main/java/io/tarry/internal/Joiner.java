package io.tarry.internal;

import io.tarry.Result;
import io.tarry.errors.InvalidRequestException;
import io.tarry.errors.TarryException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/**
 * Single calls of many threads go together in one request. The first caller of a lane sends its
 * item at once. Items that come while this request is under way wait, and go together in the next
 * one, which one of their callers sends. So a single call waits for nobody when it is alone, and
 * many of them cost few requests. Thread safe.
 */
final class Joiner {
  private static final int MAX_ITEMS = 1000;
  private static final int MAX_CHARACTERS = 4 * 1024 * 1024;

  /** Sends a batch. */
  interface Sender {
    <T> List<Result<T>> send(
        Lane lane, List<String> items, Function<Map<String, Object>, T> reader);
  }

  private static final class Waiting {
    final String item;
    final CountDownLatch changed = new CountDownLatch(1);
    volatile Result<?> result;
    volatile boolean leads;

    Waiting(String item) {
      this.item = item;
    }
  }

  private final Sender sender;
  private final Map<Lane, Deque<Waiting>> lanes = new HashMap<>(); // there: a request is under way

  Joiner(Sender sender) {
    this.sender = sender;
  }

  /** The item's result; throws its error. */
  <T> T ask(Item item, Function<Map<String, Object>, T> reader) {
    Waiting mine = new Waiting(item.body);
    synchronized (lanes) {
      Deque<Waiting> waiting = lanes.get(item.lane);
      if (waiting == null) {
        lanes.put(item.lane, new ArrayDeque<>());
        mine.leads = true;
      } else {
        waiting.addLast(mine);
      }
    }
    if (!mine.leads) {
      await(mine);
    }
    if (mine.leads) {
      lead(item.lane, mine, reader);
    }
    @SuppressWarnings("unchecked")
    Result<T> result = (Result<T>) mine.result;
    return result.value();
  }

  private static void await(Waiting mine) {
    boolean interrupted = false;
    while (true) {
      try {
        mine.changed.await(); // The leader has time-outs; an interrupt must not leave the lane.
        break;
      } catch (InterruptedException error) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private <T> void lead(Lane lane, Waiting mine, Function<Map<String, Object>, T> reader) {
    List<Waiting> batch = batch(lane, mine);
    List<String> items = new ArrayList<>();
    batch.forEach(one -> items.add(one.item));
    List<Result<T>> results = null;
    try {
      results = results(lane, items, reader);
    } finally {
      for (int index = 0; index < batch.size(); index++) {
        Waiting one = batch.get(index);
        one.result =
            results != null
                ? results.get(index)
                : Result.failed(TarryException.of("unknown_outcome", "the sender has failed", 0));
        one.changed.countDown();
      }
      handOver(lane);
    }
  }

  private List<Waiting> batch(Lane lane, Waiting mine) {
    List<Waiting> batch = new ArrayList<>();
    batch.add(mine);
    long size = mine.item.length();
    synchronized (lanes) {
      Deque<Waiting> waiting = lanes.get(lane);
      while (!waiting.isEmpty() && batch.size() < MAX_ITEMS) {
        size += waiting.peekFirst().item.length();
        if (size > MAX_CHARACTERS) {
          break;
        }
        batch.add(waiting.pollFirst());
      }
    }
    return batch;
  }

  private void handOver(Lane lane) {
    Waiting next;
    synchronized (lanes) {
      next = lanes.get(lane).pollFirst();
      if (next == null) {
        lanes.remove(lane);
        return;
      }
    }
    next.leads = true;
    next.changed.countDown();
  }

  private <T> List<Result<T>> results(
      Lane lane, List<String> items, Function<Map<String, Object>, T> reader) {
    List<Result<T>> results = new ArrayList<>();
    try {
      return sender.send(lane, items, reader);
    } catch (InvalidRequestException error) {
      if (items.size() == 1) {
        results.add(Result.failed(error));
        return results;
      }
    } catch (TarryException error) {
      items.forEach(item -> results.add(Result.failed(error)));
      return results;
    }
    // The request as a whole was refused, and nothing was done: one of the items is at fault.
    for (String item : items) {
      results.addAll(results(lane, List.of(item), reader));
    }
    return results;
  }
}
