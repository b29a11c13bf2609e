package io.tarry.internal;

import io.tarry.Result;
import io.tarry.errors.TarryException;
import io.tarry.errors.UnknownOutcomeException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Carries out calls: again and again where that is safe. Thread safe. */
public final class Transport implements Joiner.Sender {
  private final Pool pool;
  private final String head;
  private final Duration timeout;
  private final Duration patience;
  private final Joiner joiner = new Joiner(this);
  private final CountDownLatch closed = new CountDownLatch(1);

  public Transport(
      Address address, String token, String agent, Duration timeout, Duration patience) {
    Duration connect = timeout.toSeconds() > 10 ? Duration.ofSeconds(10) : timeout;
    this.pool = new Pool(address, connect);
    this.timeout = timeout;
    this.patience = patience;
    this.head =
        "Host: "
            + address.hostHeader()
            + "\r\nUser-Agent: "
            + agent
            + "\r\n"
            + (token == null ? "" : "Authorization: Bearer " + token + "\r\n");
  }

  public Pool pool() {
    return pool;
  }

  public Duration timeout() {
    return timeout;
  }

  public void close() {
    closed.countDown();
    pool.close();
  }

  public <T> T run(Call<T> call) {
    return run(call, patience, timeout);
  }

  /** Throws {@link TarryException}. */
  public <T> T run(Call<T> call, Duration patience, Duration timeout) {
    Attempts attempts = new Attempts(call.repeatable, patience);
    byte[] request = request(call);
    T[] into = into();
    while (true) {
      Duration pause;
      try {
        pause = attempts.read(call, pool.ask(request, timeout.plus(call.wait)), into);
        if (pause == null) {
          return into[0];
        }
      } catch (NotSent error) {
        pause = attempts.notSent(error);
      } catch (Lost error) {
        pause = attempts.lost(error.getMessage());
      }
      sleep(pause);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T> T[] into() {
    return (T[]) new Object[1];
  }

  private void sleep(Duration pause) {
    try {
      if (closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        throw TarryException.of("closed", "the client was closed", 0);
      }
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw TarryException.of("unavailable", "the thread was interrupted", 0);
    }
  }

  /** One try, on that connection. Throws {@link TarryException}. */
  public <T> T once(Connection connection, Call<T> call) {
    T[] into = into();
    try {
      Answer answer = connection.ask(request(call), timeout.plus(call.wait));
      new Attempts(call.repeatable, Duration.ZERO).read(call, answer, into);
    } catch (Lost error) {
      throw TarryException.of("unknown_outcome", error.getMessage(), 0);
    }
    return into[0];
  }

  private byte[] request(Call<?> call) {
    StringBuilder text = new StringBuilder();
    text.append(call.method).append(' ').append(call.path).append(" HTTP/1.1\r\n").append(head);
    if (call.body != null) {
      text.append("Content-Type: application/json\r\n");
    }
    if (!call.method.equals("GET")) {
      text.append("Content-Length: ").append(call.body == null ? 0 : call.body.length);
      text.append("\r\n");
    }
    byte[] start = text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    if (call.body == null) {
      return start;
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream(start.length + call.body.length);
    all.writeBytes(start);
    all.writeBytes(call.body);
    return all.toByteArray();
  }

  // Singles and batches

  public <T> T single(Item item, Function<Map<String, Object>, T> reader) {
    return joiner.ask(item, reader);
  }

  @Override
  public <T> List<Result<T>> send(
      Lane lane, List<String> items, Function<Map<String, Object>, T> reader) {
    return run(call(lane, items, reader));
  }

  private static <T> Call<List<Result<T>>> call(
      Lane lane, List<String> items, Function<Map<String, Object>, T> reader) {
    String body = "{\"" + lane.name + "\":[" + String.join(",", items) + "]}";
    return Call.raw(
        lane.path,
        body,
        lane.repeatable,
        said -> results(Json.list(Json.object(said).get("results")), items.size(), reader));
  }

  /** The results of {@code count} items; throws {@link IllegalArgumentException} if others came. */
  public static <T> List<Result<T>> results(
      List<Object> items, int count, Function<Map<String, Object>, T> reader) {
    if (items.size() != count) {
      throw new IllegalArgumentException(items.size() + " results for " + count + " items");
    }
    List<Result<T>> results = new ArrayList<>(count);
    for (Object one : items) {
      Map<String, Object> item = Json.object(one);
      if (item.containsKey("error")) {
        results.add(Result.failed(error(item)));
      } else {
        results.add(Result.of(reader.apply(item)));
      }
    }
    return results;
  }

  /** The error that an item tells. */
  public static TarryException error(Map<String, Object> item) {
    Map<String, Object> error = Json.object(item.get("error"));
    return TarryException.of(Json.text(error, "code"), Json.text(error, "message"), 200);
  }

  /**
   * A result for each item, in one request for each lane. Throws an error of the whole request,
   * unless its outcome is unknown or other items went in another request.
   */
  public <T> List<Result<T>> batch(List<Item> items, Function<Map<String, Object>, T> reader) {
    return batch(items, reader, patience, timeout);
  }

  public <T> List<Result<T>> batch(
      List<Item> items,
      Function<Map<String, Object>, T> reader,
      Duration patience,
      Duration timeout) {
    Map<Lane, List<Integer>> lanes = new LinkedHashMap<>();
    for (int index = 0; index < items.size(); index++) {
      lanes.computeIfAbsent(items.get(index).lane, lane -> new ArrayList<>()).add(index);
    }
    List<Result<T>> results = new ArrayList<>(Collections.nCopies(items.size(), null));
    lanes.forEach(
        (lane, indexes) -> {
          List<String> bodies = new ArrayList<>();
          indexes.forEach(index -> bodies.add(items.get(index).body));
          List<Result<T>> said;
          try {
            said = run(call(lane, bodies, reader), patience, timeout);
          } catch (TarryException error) {
            if (!(error instanceof UnknownOutcomeException) && indexes.size() == items.size()) {
              throw error;
            }
            said = Collections.nCopies(indexes.size(), Result.failed(error));
          }
          for (int place = 0; place < indexes.size(); place++) {
            results.set(indexes.get(place), said.get(place));
          }
        });
    return results;
  }
}
