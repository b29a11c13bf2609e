#include "wire/history.h"

namespace tarry::wire {
namespace {

constexpr std::initializer_list<EventKind> kKinds = {
    EventKind::pushed,    EventKind::imported, EventKind::rescheduled, EventKind::claimed,
    EventKind::retried,   EventKind::released, EventKind::run_out,     EventKind::buried,
    EventKind::died,      EventKind::revived,  EventKind::stopping,    EventKind::acked,
    EventKind::cancelled, EventKind::expired};
static_assert(kKinds.size() == kEventKinds);

MaybeError read_event(const boost::json::value& value, MessageEvent& event) {
  Fields fields(value, "an event", Unknown::ignored);
  for (const std::string_view needed : {"event", "at_ms"}) fields.require(needed);
  event.kind = fields.choice("event", kKinds).value_or(EventKind::pushed);
  event.at = fields.time("at_ms").value_or(Time());
  event.attempt = fields.u32("attempt").value_or(0);
  event.due = fields.time("due_ms");
  event.reason = fields.text("reason").value_or("");
  event.by = fields.text("by").value_or("");
  return fields.finish();
}

}  // namespace

void write_history(JsonWriter& out, const MessageHistory& history) {
  out.field("limit", std::uint64_t{history.limit}).name("events").begin_array();
  for (const MessageEvent& event : history.events) {
    out.begin_object().field("event", to_string(event.kind)).time_field("at", event.at);
    if (event.attempt != 0) out.field("attempt", std::uint64_t{event.attempt});
    if (event.due) out.time_field("due", *event.due);
    if (!event.reason.empty()) out.text_field("reason", event.reason);
    if (!event.by.empty()) out.text_field("by", event.by);
    out.end_object();
  }
  out.end_array();
}

std::string encode_history(const MessageHistory& history) {
  std::string body;
  JsonWriter out(body);
  out.begin_object();
  write_history(out, history);
  out.end_object();
  return body;
}

Result<MessageHistory> decode_history(std::string_view body) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  MessageHistory history;
  if (MaybeError error = read_history(document.root(), history)) return *error;
  return history;
}

MaybeError read_history(const boost::json::value& value, MessageHistory& history) {
  Fields fields(value, "\"history\"", Unknown::ignored);
  history.limit = fields.u32("limit").value_or(0);
  const boost::json::array* const events = fields.array("events");
  if (MaybeError error = fields.finish()) return error;
  if (events == nullptr) return std::nullopt;
  for (const boost::json::value& event : *events) {
    if (MaybeError error = read_event(event, history.events.emplace_back())) return error;
  }
  return std::nullopt;
}

}  // namespace tarry::wire
