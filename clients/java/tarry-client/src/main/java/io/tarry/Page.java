package io.tarry;

import io.tarry.internal.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A page of a list. */
public final class Page {
  private final List<Stored> messages = new ArrayList<>();
  private final String next;

  Page(Map<String, Object> said) {
    Json.list(said.get("messages")).forEach(one -> messages.add(new Stored(Json.object(one))));
    next = Json.text(said, "next");
  }

  public List<Stored> messages() {
    return Collections.unmodifiableList(messages);
  }

  /** Where the next page begins; empty at the end. */
  public String next() {
    return next;
  }
}
