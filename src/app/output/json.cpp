#include "app/output/json.h"

#include "base/text/text.h"
#include "core/reply.h"
#include "wire/claim.h"
#include "wire/parts/headers.h"
#include "wire/parts/items.h"
#include "wire/push.h"

namespace tarry::app {

void write_fields(wire::JsonWriter& json, const Pushed& pushed) {
  core::PushResult result;
  result.outcome = pushed.outcome;
  result.id = pushed.id;
  result.due_ms = pushed.due.time_since_epoch().count();
  result.key = {0, static_cast<std::uint32_t>(pushed.key.size())};
  wire::write_pushed(json, result, pushed.key);
}

void write_fields(wire::JsonWriter& json, const Answer& answer) {
  json.field("outcome", to_string(answer.outcome));
  if (answer.due) json.time_field("due", *answer.due);
  if (answer.settlement) wire::write_settlement(json, *answer.settlement);
}

void write_fields(wire::JsonWriter& json, const Delivery& delivery) {
  json.text_field("queue", delivery.queue()).id_field("id", delivery.id());
  json.bytes_field("key", delivery.key()).bytes_field("payload", delivery.payload());
  wire::write_headers(json, delivery.headers());
  json.bytes_field("receipt", delivery.receipt()).time_field("due", delivery.due());
  json.millis_field("claimed", delivery.claimed_at().time_since_epoch().count());
  json.millis_field("lease", delivery.lease().count());
  json.field("attempt", std::uint64_t{delivery.attempt()});
  json.field("priority", std::uint64_t{delivery.priority()});
  wire::write_tallies(json, delivery.tallies());
}

std::string time_text(Time time) { return base::format_time_ms(time.time_since_epoch().count()); }

}  // namespace tarry::app
