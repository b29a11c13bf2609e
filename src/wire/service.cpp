#include "wire/service.h"

#include "base/text/text.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"
#include "wire/parts/batch.h"

namespace tarry::wire {
namespace {

Result<Millis> decode_by(std::string_view body, std::int64_t least) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  const auto by =
      least < 0 ? fields.signed_duration("by", "by_ms") : fields.duration("by", "by_ms");
  if (!by) fields.require("by");
  if (by && (by->count() < least || by->count() > base::kMaxDurationMs)) {
    fields.fail({ErrorCode::invalid_argument, "\"by\" is " + std::to_string(by->count()) +
                                                  " ms; it must be from " + std::to_string(least) +
                                                  " to " + std::to_string(base::kMaxDurationMs) +
                                                  " (100 years)"});
  }
  if (MaybeError error = fields.finish()) return *error;
  return *by;
}

}  // namespace

std::string encode_about(std::string_view version, bool has_console) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().field("service", "tarry").text_field("version", version);
  out.field("description", "a delay queue").field("openapi", "/v1/openapi.json");
  out.field("health", "/healthz").field("readiness", "/readyz");
  if (has_console) out.field("console", "/console");
  out.end_object();
  return text;
}

std::string encode_health(const Health& health) {
  const core::Capabilities& can = health.capabilities;
  std::string text;
  JsonWriter out(text);
  out.begin_object().field("status", "ok").field("service", "tarry");
  // If this server uses another server as its store, the capabilities are those of the store behind
  // that one.
  out.text_field("version", health.version).text_field("engine", can.keeper());
  out.field_bool("by_key", can.by_key).field_bool("leases", can.leases);
  out.field_bool("headers", can.headers);
  out.field_bool("moves", can.moves).field_bool("moves_away", can.moves_away);
  out.field_bool("joins", can.joins);
  out.field_bool("push_times", can.push_times).field_bool("expiry", can.expiry);
  out.field_bool("limits", can.limits).field_bool("groups", can.groups);
  out.field_bool("pauses", can.pauses).field_bool("dead", can.dead);
  out.field_bool("counts", can.counts).field_bool("counts_scheduled", can.counts_scheduled);
  out.field_bool("forecast", can.forecast).field_bool("durable", can.durable);
  out.field_bool("manual_clock", can.manual_clock).end_object();
  return text;
}

Result<Health> decode_health(std::string_view body) {
  return decode_answer(body, [&](Fields& fields) {
    Health health;
    if (fields.text("service").value_or("") != "tarry") {
      fields.fail({ErrorCode::invalid_argument, "\"service\" is not \"tarry\""});
    }
    health.version = fields.text("version").value_or("");
    core::Capabilities& can = health.capabilities;
    can.engine = fields.text("engine").value_or("");
    can.by_key = fields.boolean("by_key").value_or(can.by_key);
    can.leases = fields.boolean("leases").value_or(can.leases);
    can.moves = fields.boolean("moves").value_or(false);  // an older server does not send it
    can.moves_away = fields.boolean("moves_away").value_or(can.moves);
    can.joins = fields.boolean("joins").value_or(false);
    can.push_times = fields.boolean("push_times").value_or(false);
    can.expiry = fields.boolean("expiry").value_or(false);
    can.limits = fields.boolean("limits").value_or(false);
    can.groups = fields.boolean("groups").value_or(false);
    can.pauses = fields.boolean("pauses").value_or(can.pauses);
    // Servers that do not say so: only layouts lacked all three.
    can.dead = fields.boolean("dead").value_or(can.pauses);
    can.headers = fields.boolean("headers").value_or(can.dead);
    can.counts = fields.boolean("counts").value_or(can.counts);
    can.counts_scheduled = fields.boolean("counts_scheduled").value_or(can.counts_scheduled);
    can.forecast = fields.boolean("forecast").value_or(can.forecast);
    can.durable = fields.boolean("durable").value_or(can.durable);
    can.manual_clock = fields.boolean("manual_clock").value_or(can.manual_clock);
    return health;
  });
}

std::string encode_ready() { return R"({"status":"ready"})"; }

Result<Millis> decode_advance(std::string_view body) { return decode_by(body, 0); }

Result<Millis> decode_step(std::string_view body) { return decode_by(body, -base::kMaxDurationMs); }

std::string encode_advanced(Millis by) {
  std::string text;
  JsonWriter(text).begin_object().millis_field("advanced", by.count()).end_object();
  return text;
}

std::string encode_stepped(Millis by) {
  std::string text;
  JsonWriter(text).begin_object().millis_field("stepped", by.count()).end_object();
  return text;
}

}  // namespace tarry::wire
