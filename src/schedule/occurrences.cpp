#include "schedule/occurrences.h"

#include "wire/json/json_reader.h"

namespace tarry::schedule {

std::vector<Occurrence> occurrences(const Recurrence& recurrence, std::string_view name, Time after,
                                    std::uint32_t count) {
  std::vector<Occurrence> found;
  for (; count > 0; --count) {
    const auto next = recurrence.next(after);
    if (!next) break;
    found.push_back({*next, recurrence.with_jitter(name, *next)});
    after = *next;
  }
  return found;
}

void write_occurrences(wire::JsonWriter& json, const Recurrence& recurrence,
                       const std::vector<Occurrence>& found) {
  json.begin_object().name("occurrences").begin_array();
  for (const Occurrence& each : found) {
    json.begin_object().time_field("time", each.time).time_field("due", each.due);
    json.field("local", recurrence.local_text(each.time)).end_object();
  }
  json.end_array().end_object();
}

Result<OccurrencesQuery> decode_occurrences_query(std::string_view json) {
  wire::Document document(json.size());
  if (auto error = document.parse(json)) return *std::move(error);
  wire::Fields fields(document.root(), "the request", wire::Unknown::refused);
  OccurrencesQuery query;
  query.recurrence = read_recurrence(fields);
  query.name = fields.text("name").value_or("");
  query.from = fields.moment("from", "from_ms");
  query.count =
      static_cast<std::uint32_t>(fields.number("count", 1, kMostOccurrences).value_or(query.count));
  if (auto error = fields.finish()) return *std::move(error);
  return query;
}

void write_schedule(wire::JsonWriter& json, const Definition& definition, Time now) {
  json.begin_object().text_field("name", definition.name);
  write_fields(json, definition);
  const auto recurrence = Recurrence::make(definition.recurrence);
  if (recurrence && !definition.paused) {
    for (const Occurrence& next : occurrences(*recurrence, definition.name, now, 1)) {
      json.time_field("next", next.time).time_field("due", next.due);
    }
  }
  json.end_object();
}

}  // namespace tarry::schedule
