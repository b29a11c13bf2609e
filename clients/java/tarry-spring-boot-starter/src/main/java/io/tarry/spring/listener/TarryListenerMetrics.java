package io.tarry.spring.listener;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import org.springframework.context.SmartLifecycle;

/** Figures of each listener: deliveries and how they ended, lateness, calls that run. */
public final class TarryListenerMetrics implements SmartLifecycle {
  private final TarryListenerRegistry listeners;
  private final MeterRegistry meters;
  private boolean bound;

  /** Figures of these listeners, in that registry. */
  public TarryListenerMetrics(TarryListenerRegistry listeners, MeterRegistry meters) {
    this.listeners = listeners;
    this.meters = meters;
  }

  private void bind(TarryListenerContainer one) {
    Tags tags = Tags.of("listener", one.settings().id(), "queue", one.settings().queue());
    for (TarryListenerContainer.Figure figure : TarryListenerContainer.Figure.values()) {
      boolean delivered = figure == TarryListenerContainer.Figure.DELIVERED;
      String outcome = figure.name().toLowerCase(Locale.ROOT);
      FunctionCounter.builder(
              delivered ? "tarry.listener.deliveries" : "tarry.listener.settled",
              one,
              container -> container.count(figure))
          .description(delivered ? "Calls that have begun" : "Deliveries by how they ended")
          .tags(delivered ? tags : tags.and("outcome", outcome))
          .register(meters);
    }
    Gauge.builder("tarry.listener.active", one, TarryListenerContainer::active)
        .description("Calls that run now")
        .tags(tags)
        .register(meters);
    Timer lateness =
        Timer.builder("tarry.listener.lateness")
            .description("From a message's due time to the begin of its call")
            .tags(tags)
            .register(meters);
    one.onLateness(lateness::record);
  }

  @Override
  public void start() {
    if (!bound) {
      bound = true;
      listeners.listeners().forEach(this::bind);
    }
  }

  @Override
  public void stop() {}

  @Override
  public boolean isRunning() {
    return bound;
  }

  /** Before the listeners begin. */
  @Override
  public int getPhase() {
    return TarryListenerRegistry.PHASE - 1;
  }
}
