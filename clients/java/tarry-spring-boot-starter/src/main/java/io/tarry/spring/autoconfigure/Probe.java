package io.tarry.spring.autoconfigure;

import io.tarry.TarryClient;
import io.tarry.errors.TarryException;
import io.tarry.spring.listener.TarryListenerContainer;
import io.tarry.spring.listener.TarryListenerRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Whether the server can serve, and whether listeners were refused. Thread safe. */
final class Probe implements AutoCloseable {
  /** What was seen, for either Boot's health. */
  record Seen(boolean up, Map<String, Object> details, Exception error) {}

  private final TarryClient client;
  private final String url;
  private final TarryListenerRegistry listeners;

  Probe(TarryClients clients, TarryListenerRegistry listeners) {
    this.client = clients.probe();
    this.url = clients.url();
    this.listeners = listeners;
  }

  Seen look() {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("url", url);
    List<String> failed =
        listeners.listeners().stream()
            .filter(TarryListenerContainer::hasFailed)
            .map(one -> one.settings().id())
            .toList();
    if (!failed.isEmpty()) {
      details.put("refusedListeners", failed);
    }
    try {
      client.ready();
      Map<String, Object> said = client.health();
      details.put("version", said.get("version"));
      details.put("engine", said.get("engine"));
      return new Seen(failed.isEmpty(), details, null);
    } catch (TarryException error) {
      return new Seen(false, details, error);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
