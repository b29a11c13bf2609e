#include "app/transfer/line.h"

#include <fmt/format.h>

#include "core/rules/validation.h"
#include "wire/claim.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"
#include "wire/parts/headers.h"
#include "wire/push.h"
#include "wire/queue.h"

namespace tarry::app::transfer {
namespace {

struct Writer {
  wire::JsonWriter& json;

  void operator()(const HeadLine& line) const {
    json.field("tarry_export", std::uint64_t{line.version});
  }
  void operator()(const QueueLine& line) const {
    json.text_field("queue", line.queue).name("settings").begin_object();
    wire::write_settings(json, line.settings);
    json.end_object().field_bool("paused", line.pause.paused);
    if (line.pause.until) json.time_field("paused_until", *line.pause.until);
  }
  void operator()(const MessageLine& line) const {
    const MessageInfo& message = line.message;
    json.name("message").begin_object();
    json.text_field("queue", message.queue).bytes_field("key", message.key);
    json.field("state", to_string(message.state)).time_field("due", message.due);
    if (message.pushed) json.time_field("pushed", *message.pushed);
    json.field("priority", std::uint64_t{message.priority});
    json.field("attempt", std::uint64_t{message.attempt});
    if (message.max_attempts != 0) json.field("max_attempts", std::uint64_t{message.max_attempts});
    wire::write_expiry(json, message.expire, message.expire_at);
    wire::write_tallies(json, message.tallies);
    if (!message.reason.empty()) json.bytes_field("reason", message.reason);
    wire::write_headers(json, message.headers);
    json.bytes_field("payload", message.payload).end_object();
  }
  void operator()(const EndLine& line) const {
    json.field_bool("end", true).field("messages", line.messages);
  }
};

Result<Line> read_head(wire::Fields& fields) {
  const auto version = fields.u64("tarry_export").value_or(1);
  if (version < 1 || version > kExportVersion) {
    return Error{ErrorCode::unsupported,
                 fmt::format("the export has version {}; this program knows versions 1 to {}",
                             version, kExportVersion)};
  }
  if (auto error = fields.finish()) return *error;
  return Line(HeadLine{static_cast<std::uint32_t>(version)});
}

Result<Line> read_queue(wire::Fields& fields) {
  QueueLine line;
  line.queue = fields.text("queue").value_or("");
  fields.require("settings");
  const boost::json::value* settings = fields.any("settings");
  line.pause.paused = fields.boolean("paused").value_or(false);
  line.pause.until = fields.moment("paused_until", "paused_until_ms");
  if (auto error = fields.finish()) return *error;
  if (auto error = core::check_queue_name(line.queue)) return *error;
  wire::Fields inner(*settings, "\"settings\"", wire::Unknown::ignored);
  line.settings = wire::read_settings(inner);
  if (auto error = inner.finish()) return *error;
  return Line(std::move(line));
}

Result<Line> read_message(const boost::json::value& value) {
  wire::Fields fields(value, "\"message\"", wire::Unknown::refused);
  MessageInfo message;
  std::string scratch;
  for (const std::string_view needed : {"queue", "state", "due_ms"}) fields.require(needed);
  message.queue = fields.text("queue").value_or("");
  message.key = fields.bytes("key", "key_base64", scratch).value_or("");
  message.state =
      fields.choice("state", {State::scheduled, State::ready, State::leased, State::dead})
          .value_or(State::ready);
  message.due = fields.moment("due", "due_ms").value_or(Time());
  message.pushed = fields.moment("pushed", "pushed_ms");
  message.priority = fields.u32("priority").value_or(kDefaultPriority);
  message.attempt = fields.u32("attempt").value_or(0);
  message.max_attempts = fields.u32("max_attempts").value_or(0);
  message.expire = fields.duration("expire", "expire_ms");
  message.expire_at = fields.moment("expire_at", "expire_at_ms");
  if (fields.has("tallies")) message.tallies = wire::read_tallies(fields);
  message.reason = fields.bytes("reason", "reason_base64", scratch).value_or("");
  const wire::HeaderFields headers = wire::take_headers(fields);
  std::string payload_scratch;
  message.payload = fields.bytes("payload", "payload_base64", payload_scratch).value_or("");
  if (auto error = fields.finish()) return *error;
  if (headers.given()) {
    auto list = wire::read_headers(headers);
    if (!list) return std::move(list).error();
    message.headers = std::move(*list);
  }
  if (auto error = core::check_queue_name(message.queue)) return *error;
  if (auto error = core::check_key(message.key)) return *error;
  return Line(MessageLine{std::move(message)});
}

}  // namespace

std::string write_line(const Line& line) {
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  std::visit(Writer{json}, line);
  json.end_object();
  return text;
}

Result<Line> read_line(std::string_view text) {
  wire::Document document(text.size());
  if (auto error = document.parse(text, "the line")) return *error;
  wire::Fields fields(document.root(), "the line", wire::Unknown::refused);
  if (fields.has("tarry_export")) return read_head(fields);
  if (fields.has("message")) {
    const boost::json::value* message = fields.any("message");
    if (auto error = fields.finish()) return *error;
    return read_message(*message);
  }
  if (fields.has("queue")) return read_queue(fields);
  fields.require("end");
  (void)fields.boolean("end");
  EndLine end{fields.u64("messages").value_or(0)};
  if (auto error = fields.finish()) return *error;
  return Line(end);
}

}  // namespace tarry::app::transfer
