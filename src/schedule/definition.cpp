#include "schedule/definition.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/rules/headers.h"
#include "core/rules/validation.h"
#include "wire/parts/headers.h"

namespace tarry::schedule {
namespace {

bool fits_name(char c) noexcept {
  return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_' || c == '.' || c == ':';
}

}  // namespace

Result<void> check_name(std::string_view name) {
  // A step within a path, `.` or `..`, would be lost in a URL.
  const bool fits = !name.empty() && name.size() <= kMaxName && name.front() != '.' &&
                    std::ranges::all_of(name, fits_name);
  if (fits) return {};
  return Error{ErrorCode::invalid_argument,
               "schedule " + base::quoted(name) +
                   ": a name is 1 to 128 letters, digits and -_.:, and does not begin "
                   "with a dot"};
}

Result<void> check(const Definition& definition) {
  if (auto good = check_name(definition.name); !good) return good;
  if (auto error = core::check_queue_name(definition.queue)) return *std::move(error);
  if (auto error = core::check_new_queue(definition.queue)) return *std::move(error);
  if (auto encoded = core::encode_headers(definition.headers); !encoded) return encoded.error();
  if (auto made = Recurrence::make(definition.recurrence); !made) return made.error();
  return {};
}

void write_fields(wire::JsonWriter& json, const Definition& definition) {
  const RecurrenceSpec& spec = definition.recurrence;
  json.text_field("when", spec.when);
  if (!spec.zone.empty()) json.text_field("zone", spec.zone);
  if (spec.start) json.time_field("start", *spec.start);
  if (spec.end) json.time_field("end", *spec.end);
  if (spec.jitter.count() != 0) json.millis_field("jitter", spec.jitter.count());
  json.text_field("queue", definition.queue);
  json.bytes_field("payload", definition.payload);
  if (!definition.headers.empty()) wire::write_headers(json, definition.headers);
  json.field("priority", std::uint64_t{definition.priority});
  json.field("missed", to_string(definition.missed)).field_bool("paused", definition.paused);
}

std::string encode(const Definition& definition) {
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  write_fields(json, definition);
  json.end_object();
  return text;
}

RecurrenceSpec read_recurrence(wire::Fields& fields) {
  fields.require("when");
  RecurrenceSpec spec;
  spec.when = fields.text("when").value_or("");
  spec.zone = fields.text("zone").value_or("");
  spec.start = fields.moment("start", "start_ms");
  spec.end = fields.moment("end", "end_ms");
  spec.jitter = fields.duration("jitter", "jitter_ms").value_or(Millis(0));
  return spec;
}

Result<Definition> decode(std::string_view name, std::string_view json, wire::Unknown unknown) {
  wire::Document document(json.size());
  if (auto error = document.parse(json)) return *std::move(error);
  wire::Fields fields(document.root(), "the schedule", unknown);
  Definition definition;
  definition.name = name;
  definition.recurrence = read_recurrence(fields);
  fields.require("queue");
  definition.queue = fields.text("queue").value_or("");
  std::string scratch;
  definition.payload = fields.bytes("payload", "payload_base64", scratch).value_or("");
  const wire::HeaderFields headers = wire::take_headers(fields);
  definition.priority = fields.u32("priority").value_or(kDefaultPriority);
  definition.missed =
      fields.choice("missed", {Missed::skip, Missed::one, Missed::all}).value_or(Missed::one);
  definition.paused = fields.boolean("paused").value_or(false);
  if (auto error = fields.finish()) return *std::move(error);
  if (headers.given()) {
    auto read = wire::read_headers(headers);
    if (!read) return std::move(read).error();
    definition.headers = *std::move(read);
  }
  return definition;
}

}  // namespace tarry::schedule
