package io.tarry.spring.listener;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import io.tarry.Counts;
import io.tarry.Delivery;
import io.tarry.TarryClient;
import io.tarry.TarryHandler;
import io.tarry.TarryWorker;
import io.tarry.Verdict;
import io.tarry.errors.TarryException;
import io.tarry.spring.TarryWorkerCustomizer;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** A listener: a worker for one queue, made anew at each start. Thread safe. */
public final class TarryListenerContainer {
  private static final Log LOG = LogFactory.getLog(TarryListenerContainer.class);

  /** What is counted. */
  public enum Figure {
    DELIVERED(Counts::delivered),
    ACKED(Counts::acked),
    RETRIED(Counts::retried),
    RELEASED(Counts::released),
    BURIED(Counts::buried),
    STALE(Counts::stale);

    private final ToLongFunction<Counts> count;

    Figure(ToLongFunction<Counts> count) {
      this.count = count;
    }
  }

  private final ListenerSettings settings;
  private final TarryClient client;
  private final TarryHandler handler;
  private final ObservationRegistry observations;
  private final List<TarryWorkerCustomizer> customizers;
  private final AtomicInteger active = new AtomicInteger();
  private final Map<Figure, Long> before = new EnumMap<>(Figure.class);
  private volatile Consumer<Duration> lateness = late -> {};
  private volatile Consumer<Delivery> handled = delivery -> {};
  private TarryWorker worker;
  private boolean joined;
  private TarryException failure;

  TarryListenerContainer(
      ListenerSettings settings,
      TarryClient client,
      TarryHandler handler,
      ObservationRegistry observations,
      List<TarryWorkerCustomizer> customizers) {
    this.settings = settings;
    this.client = client;
    this.handler = handler;
    this.observations = observations;
    this.customizers = customizers;
  }

  /** How it works. */
  public ListenerSettings settings() {
    return settings;
  }

  /** Begins to claim. */
  public synchronized void start() {
    if (worker != null && worker.isRunning()) {
      return;
    }
    stop();
    TarryWorker.Builder builder =
        TarryWorker.builder(client)
            .handle(settings.queue(), this::handle)
            .concurrency(settings.concurrency())
            .prefetch(settings.prefetch())
            .lease(settings.lease())
            .drain(settings.drain());
    customizers.forEach(one -> one.customize(settings.id(), builder));
    TarryWorker next = builder.build();
    if (worker != null) {
      for (Figure figure : Figure.values()) {
        before.merge(figure, figure.count.applyAsLong(worker.counts()), Long::sum);
      }
    }
    failure = null;
    joined = false;
    worker = next.start();
  }

  /** Claims nothing more, and gives back what was not begun. Does not wait. */
  public synchronized void beginStop() {
    if (worker != null) {
      worker.stop();
    }
  }

  /** Stops, and waits for running calls and their settlements. */
  public void stop() {
    TarryWorker stopped;
    synchronized (this) {
      stopped = worker;
      if (stopped == null || joined) {
        return;
      }
    }
    stopped.stop();
    try {
      stopped.join();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    } catch (TarryException error) {
      synchronized (this) {
        failure = error;
      }
    }
    synchronized (this) {
      joined = joined || stopped == worker;
    }
  }

  /** Whether it claims messages. */
  public synchronized boolean isRunning() {
    return worker != null && worker.isRunning();
  }

  /** Whether it holds no message, and all that it held is settled. */
  public synchronized boolean isIdle() {
    return worker == null || worker.isIdle();
  }

  /** Whether the server has refused it for good, so that it stopped by itself. */
  public synchronized boolean hasFailed() {
    return failure != null || (worker != null && worker.failure().isPresent());
  }

  /** Calls that run now. */
  public int active() {
    return active.get();
  }

  /** How many, since the application started. */
  public synchronized long count(Figure figure) {
    long now = worker == null ? 0 : figure.count.applyAsLong(worker.counts());
    return before.getOrDefault(figure, 0L) + now;
  }

  /** Is told of each call how long after its due time it begins. */
  void onLateness(Consumer<Duration> told) {
    lateness = told;
  }

  /** Is told of each call that has ended without an exception. */
  void onHandled(Consumer<Delivery> told) {
    handled = told;
  }

  private Verdict handle(Delivery delivery) throws Exception {
    Duration late = Duration.between(delivery.message().due(), Instant.now());
    lateness.accept(late.isNegative() ? Duration.ZERO : late);
    ReceiverContext<Map<String, String>> context = new ReceiverContext<>(Map::get);
    context.setCarrier(delivery.headers());
    context.setRemoteServiceName("tarry");
    Observation observation =
        Observation.createNotStarted("tarry.process", () -> context, observations)
            .contextualName("process " + settings.queue())
            .lowCardinalityKeyValue("messaging.system", "tarry")
            .lowCardinalityKeyValue("messaging.destination.name", settings.queue())
            .highCardinalityKeyValue("messaging.message.id", delivery.id());
    active.incrementAndGet();
    try {
      Verdict verdict = observation.observeChecked(() -> handler.handle(delivery));
      handled.accept(delivery);
      return verdict;
    } catch (Exception error) {
      LOG.warn("Listener " + settings.id() + ", message " + delivery.message(), error);
      throw error;
    } finally {
      active.decrementAndGet();
    }
  }
}
