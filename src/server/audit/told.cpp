#include "server/audit/told.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "wire/json/json_reader.h"

namespace tarry::audit {
namespace {

void add(std::string& text, std::string_view piece) {
  if (!text.empty()) text += ", ";
  text += piece;
}

// "cancelled 12, unknown 1"
void add_outcomes(std::string& text, const boost::json::value& outcomes) {
  const auto* counts = outcomes.if_object();
  if (counts == nullptr) return;
  for (const auto& count : *counts) {
    add(text, std::string(count.key()) + " " + boost::json::serialize(count.value()));
  }
}

}  // namespace

Result<Told> read_line(std::string_view line) {
  wire::Document document(line.size());
  if (auto error = document.parse(line, "the line")) return *std::move(error);
  wire::Fields fields(document.root(), "the line", wire::Unknown::ignored);
  std::string scratch;
  Told told;
  const auto text = [&fields](std::string_view name) {
    return std::string(fields.text(name).value_or(""));
  };
  const auto bytes = [&](std::string_view name, std::string_view name_base64) {
    return std::string(fields.bytes(name, name_base64, scratch).value_or(""));
  };
  const auto time = fields.moment("time", "time_ms");
  fields.require("time");
  fields.require("act");
  told.act = text("act");
  told.identity = text("identity");
  told.peer = text("peer");
  told.queue = bytes("queue", "queue_base64");
  told.key = bytes("key", "key_base64");
  if (told.key.empty()) told.key = bytes("receipt", "receipt_base64");
  if (told.key.empty()) told.key = text("schedule");
  if (told.key.empty()) told.key = text("session");
  if (const auto* filter = fields.any("filter")) told.what = boost::json::serialize(*filter);
  if (fields.has("all")) told.what = "all";
  if (fields.has("session_of")) told.what = text("session_of");
  told.outcome = text("outcome");
  told.more = text("code");
  if (const auto* outcomes = fields.any("outcomes")) add_outcomes(told.more, *outcomes);
  if (const auto failed = fields.u64("failed"); failed && *failed > 0) {
    add(told.more, "failed " + std::to_string(*failed));
  }
  for (const std::string_view name : {"count", "of", "items", "left_out"}) {
    if (const auto count = fields.u64(name)) {
      add(told.more, std::string(name) + " " + std::to_string(*count));
    }
  }
  if (auto error = fields.finish()) return *std::move(error);
  told.time = *time;
  return told;
}

}  // namespace tarry::audit
