package io.tarry.spring.listener;

import io.tarry.Delivery;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.springframework.context.SmartLifecycle;

/**
 * All listeners of the application. They start last and stop first, so that a call has every bean
 * that it needs. A stop waits for running calls, and gives back what was not begun.
 */
public final class TarryListenerRegistry implements SmartLifecycle {
  /** Before the web server stops to answer, and after everything else has started. */
  public static final int PHASE = Integer.MAX_VALUE - 100;

  private final Map<String, TarryListenerContainer> containers =
      Collections.synchronizedMap(new LinkedHashMap<>());
  private final AtomicBoolean running = new AtomicBoolean();
  private volatile Consumer<Delivery> handled = delivery -> {};

  void add(TarryListenerContainer container) {
    String id = container.settings().id();
    if (containers.putIfAbsent(id, container) != null) {
      throw new IllegalStateException("two @TarryListener methods have the id " + id);
    }
    container.onHandled(delivery -> handled.accept(delivery));
  }

  /** Is told of each call of each listener that has ended without an exception, by its thread. */
  public void onHandled(Consumer<Delivery> told) {
    handled = told;
  }

  /** All of them. */
  public Collection<TarryListenerContainer> listeners() {
    return Collections.unmodifiableCollection(containers.values());
  }

  /** Null if there is none. */
  public TarryListenerContainer listener(String id) {
    return containers.get(id);
  }

  @Override
  public void start() {
    running.set(true);
    for (TarryListenerContainer one : containers.values()) {
      if (one.settings().autoStartup()) {
        one.start();
      }
    }
  }

  @Override
  public void stop() {
    containers.values().forEach(TarryListenerContainer::beginStop);
    containers.values().forEach(TarryListenerContainer::stop);
    running.set(false);
  }

  @Override
  public void stop(Runnable callback) {
    containers.values().forEach(TarryListenerContainer::beginStop);
    Thread waits =
        new Thread(
            () -> {
              stop();
              callback.run();
            },
            "tarry-stop");
    waits.start();
  }

  @Override
  public boolean isRunning() {
    return running.get();
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
