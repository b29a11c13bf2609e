package io.tarry;

import io.tarry.internal.Call;
import io.tarry.internal.Json;
import io.tarry.internal.Lane;
import io.tarry.internal.Transport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the verbs of schedules send, and how their answers are read. */
final class Schedules {
  private final Transport transport;

  Schedules(Transport transport) {
    this.transport = transport;
  }

  private static String path(String name, String verb) {
    return "/v1/schedules/" + Lane.escaped(name) + verb;
  }

  Outcome put(String name, ScheduleRequest request) {
    Map<String, Object> body = new LinkedHashMap<>(request.times);
    body.putAll(request.body);
    return transport.run(
        Call.once(
            "PUT",
            path(name, ""),
            body,
            said -> Outcome.of(Json.text(Json.object(said), "outcome"))));
  }

  Schedule get(String name) {
    return transport.run(
        Call.again("GET", path(name, ""), null, said -> new Schedule(Json.object(said))));
  }

  List<Schedule> list(String prefix) {
    List<Schedule> all = new ArrayList<>();
    Map<String, String> query = new LinkedHashMap<>(Map.of("prefix", prefix, "limit", "1000"));
    while (true) {
      String path = ListRequest.withQuery("/v1/schedules", query);
      Map<String, Object> page = transport.run(Call.again("GET", path, null, Json::object));
      Json.list(page.get("schedules")).forEach(one -> all.add(new Schedule(Json.object(one))));
      if (Json.text(page, "next").isEmpty()) {
        return all;
      }
      query.put("after", Json.text(page, "next"));
    }
  }

  void pause(String name) {
    transport.run(Call.again("POST", path(name, "/pause"), null, Json::object));
  }

  void resume(String name) {
    transport.run(Call.again("POST", path(name, "/resume"), null, Json::object));
  }

  String run(String name) {
    return transport.run(
        Call.once("POST", path(name, "/run"), null, said -> Json.text(Json.object(said), "key")));
  }

  void remove(String name) {
    transport.run(Call.once("DELETE", path(name, ""), null, Json::object));
  }

  List<Occurrence> occurrences(OccurrencesRequest request) {
    return transport.run(
        Call.again(
            "POST",
            "/v1/occurrences",
            request.body,
            said -> {
              List<Occurrence> all = new ArrayList<>();
              Json.list(Json.object(said).get("occurrences"))
                  .forEach(one -> all.add(new Occurrence(Json.object(one))));
              return all;
            }));
  }
}
