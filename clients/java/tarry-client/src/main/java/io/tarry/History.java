package io.tarry;

import io.tarry.internal.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The last events of a message, if its queue has the setting {@code history}. */
public final class History {
  private final Map<String, Object> said;

  History(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
  }

  /** The queue's setting {@code history}; 0: it keeps none. */
  public int limit() {
    return (int) Json.number(said, "limit", 0);
  }

  /** The events, oldest first. */
  public List<HistoryEvent> events() {
    List<HistoryEvent> events = new ArrayList<>();
    for (Object one : Json.list(said.get("events"))) events.add(new HistoryEvent(Json.object(one)));
    return Collections.unmodifiableList(events);
  }

  /** The server's whole answer. */
  public Map<String, Object> raw() {
    return said;
  }

  @Override
  public String toString() {
    return said.toString();
  }
}
