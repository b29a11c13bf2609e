package io.tarry;

import io.tarry.internal.Address;
import io.tarry.internal.Call;
import io.tarry.internal.Item;
import io.tarry.internal.Json;
import io.tarry.internal.Lane;
import io.tarry.internal.Tls;
import io.tarry.internal.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/**
 * A server's client: kept connections, and calls that are tried again where that is safe. Verbs
 * throw {@link io.tarry.errors.TarryException}. Thread safe; a program needs one.
 */
public final class TarryClient implements AutoCloseable {
  private final Transport transport;
  private final Schedules schedules;

  private TarryClient(Builder builder) {
    transport =
        new Transport(
            Address.of(
                builder.url, new Tls(builder.ca, builder.certificate, builder.key, builder.tls)),
            builder.token,
            builder.agent,
            builder.timeout,
            builder.patience);
    schedules = new Schedules(transport);
  }

  /**
   * A client of {@code http://HOST:PORT}, {@code https://HOST:PORT} or, with Java 16 or later,
   * {@code http+unix:///PATH}. It connects with the first verb.
   */
  public static TarryClient open(String url) {
    return builder().url(url).build();
  }

  /** A client with more settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Settings of a client. */
  public static final class Builder {
    private String url = otherwise(System.getenv("TARRY_URL"), "http://127.0.0.1:7733");
    private String token = otherwise(System.getenv("TARRY_TOKEN"), null);
    private String agent = "tarry-java/" + VERSION + " pid " + ProcessHandle.current().pid();
    private Duration timeout = Duration.ofSeconds(30);
    private Duration patience = Duration.ofSeconds(10);
    private Path ca;
    private Path certificate;
    private Path key;
    private SSLContext tls;

    private Builder() {}

    private static String otherwise(String given, String otherwise) {
      return given == null || given.isEmpty() ? otherwise : given;
    }

    /** Else the environment's TARRY_URL, else {@code http://127.0.0.1:7733}. */
    public Builder url(String url) {
      this.url = url;
      return this;
    }

    /** Else the environment's TARRY_TOKEN. */
    public Builder token(String token) {
      if (token != null && !token.matches("[!-~]+")) {
        throw new IllegalArgumentException("the token has characters that no token has");
      }
      this.token = token;
      return this;
    }

    /** The PEM file of the authorities to trust; else those of this Java. */
    public Builder ca(Path file) {
      this.ca = file;
      return this;
    }

    /** PEM files of the client's own certificate and its key (PKCS#8). */
    public Builder certificate(Path certificate, Path key) {
      this.certificate = certificate;
      this.key = key;
      return this;
    }

    /** Instead of PEM files. */
    public Builder tls(SSLContext context) {
      this.tls = context;
      return this;
    }

    /** For one answer, besides the wait of a claim; default 30 s. */
    public Builder timeout(Duration timeout) {
      if (timeout.toMillis() < 1) {
        throw new IllegalArgumentException("timeout " + timeout + " must be at least 1 ms");
      }
      this.timeout = timeout;
      return this;
    }

    /**
     * A verb goes on for so long while nothing was done, because the server is away or refuses for
     * the moment; default 10 s. Zero: one try.
     */
    public Builder patience(Duration patience) {
      this.patience = patience;
      return this;
    }

    /** Names this process to operators, as the holder of messages. */
    public Builder agent(String agent) {
      if (!agent.matches("[ -~]+")) {
        throw new IllegalArgumentException("agent \"" + agent + "\" must be printable ASCII");
      }
      this.agent = agent;
      return this;
    }

    /** Throws {@link IllegalArgumentException} that names what is wrong. */
    public TarryClient build() {
      return new TarryClient(this);
    }
  }

  static final String VERSION = "0.2.0";

  /** Closes the connections. Calls that wait for their next try end. */
  @Override
  public void close() {
    transport.close();
  }

  /** A handle. It asks the server nothing. */
  public TarryQueue queue(String name) {
    return new TarryQueue(this, name);
  }

  Transport transport() {
    return transport;
  }

  // Claims

  /** Claims due messages. The worker does this for you. */
  public List<Claimed> claim(ClaimRequest request) {
    return transport.run(request.call()).messages;
  }

  public Settled ack(String receipt) {
    return settle(Settlement.of(receipt, Action.ACK));
  }

  /** Again after the queue's backoff. */
  public Settled retry(String receipt) {
    return settle(Settlement.of(receipt, Action.RETRY));
  }

  public Settled retry(String receipt, Duration delay) {
    return settle(Settlement.of(receipt, Action.RETRY).in(delay));
  }

  public Settled release(String receipt) {
    return settle(Settlement.of(receipt, Action.RELEASE));
  }

  public Settled bury(String receipt, String reason) {
    return settle(Settlement.of(receipt, Action.BURY).reason(reason));
  }

  /** Ends a claim. */
  public Settled settle(Settlement settlement) {
    return transport.single(settlement.item(), Settled::new);
  }

  /** Ends claims. */
  public List<Result<Settled>> settle(Collection<Settlement> settlements) {
    List<Item> items = new ArrayList<>();
    settlements.forEach(one -> items.add(one.item()));
    return transport.batch(items, Settled::new);
  }

  /** The lease begins anew now, with that length; null: the queue's. */
  public Settled extend(String receipt, Duration lease) {
    return transport.single(extension(receipt, lease), Settled::new);
  }

  /** The leases begin anew now. */
  public List<Result<Settled>> extend(Collection<String> receipts, Duration lease) {
    List<Item> items = new ArrayList<>();
    receipts.forEach(receipt -> items.add(extension(receipt, lease)));
    return transport.batch(items, Settled::new);
  }

  static Item extension(String receipt, Duration lease) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("receipt", receipt);
    Times.put(body, "lease", lease);
    return new Item(Lane.EXTEND, body);
  }

  // Schedules

  /** Adds a schedule, or replaces the one of that name: {@code ADDED} or {@code REPLACED}. */
  public Outcome putSchedule(String name, ScheduleRequest schedule) {
    return schedules.put(name, schedule);
  }

  /** Throws {@link io.tarry.errors.NotFoundException} if there is none. */
  public Schedule schedule(String name) {
    return schedules.get(name);
  }

  /** All schedules, in no particular order. */
  public List<Schedule> schedules() {
    return schedules("");
  }

  /** All schedules whose names begin with the prefix, in no particular order. */
  public List<Schedule> schedules(String prefix) {
    return schedules.list(prefix);
  }

  /** Until it is resumed, its occurrences do not happen. */
  public void pauseSchedule(String name) {
    schedules.pause(name);
  }

  /** Nothing makes up for occurrences in the pause. */
  public void resumeSchedule(String name) {
    schedules.resume(name);
  }

  /** Pushes a message of the schedule now; the message's key. */
  public String runSchedule(String name) {
    return schedules.run(name);
  }

  /** Messages that it has pushed stay. */
  public void removeSchedule(String name) {
    schedules.remove(name);
  }

  /** The next times of a schedule that need not be saved. */
  public List<Occurrence> occurrences(OccurrencesRequest request) {
    return schedules.occurrences(request);
  }

  // The server

  public List<QueueInfo> queues() {
    return transport.run(
        Call.again(
            "GET",
            "/v1/queues",
            null,
            said -> {
              List<QueueInfo> all = new ArrayList<>();
              Json.list(Json.object(said).get("queues"))
                  .forEach(one -> all.add(new QueueInfo(Json.object(one))));
              return all;
            }));
  }

  /** The store's figures, as the server answers them. */
  public Map<String, Object> stats() {
    return get("/v1/stats");
  }

  Map<String, Object> get(String path) {
    return transport.run(Call.again("GET", path, null, Json::object));
  }

  /** Throws {@link io.tarry.errors.UnavailableException} if the store has failed. */
  public Map<String, Object> health() {
    return get("/healthz");
  }

  /** Throws {@link io.tarry.errors.UnavailableException} while the server cannot serve. */
  public Map<String, Object> ready() {
    return get("/readyz");
  }

  /** Moves the clock of a server with {@code --test-clock}. */
  public Duration advance(Duration by) {
    Map<String, Object> body = new LinkedHashMap<>();
    Times.put(body, "by", by);
    return transport.run(
        Call.once(
            "POST",
            "/v1/clock/advance",
            body,
            said -> Duration.ofMillis(Json.number(Json.object(said), "advanced_ms"))));
  }
}
