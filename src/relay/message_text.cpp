#include "relay/message_text.h"

#include "core/rules/trace_context.h"
#include "wire/json/json_writer.h"
#include "wire/parts/headers.h"

namespace tarry::relay {

std::string json_line(const Delivery& delivery) {
  std::string line;
  wire::JsonWriter json(line);
  json.begin_object().text_field("queue", delivery.queue()).id_field("id", delivery.id());
  json.bytes_field("key", delivery.key()).field("attempt", std::uint64_t{delivery.attempt()});
  json.time_field("due", delivery.due());
  wire::write_headers(json, delivery.headers());
  json.bytes_field("payload", delivery.payload()).end_object();
  return line;
}

std::map<std::string, std::string> variables_for(const Delivery& delivery) {
  const auto due = delivery.due().time_since_epoch().count();
  std::map<std::string, std::string> variables{
      {"TARRY_QUEUE", std::string(delivery.queue())},
      {"TARRY_ID", std::to_string(delivery.id())},
      {"TARRY_ATTEMPT", std::to_string(delivery.attempt())},
      {"TARRY_DUE_MS", std::to_string(due)},
      {"TARRY_KEY", std::string(delivery.key())},
  };
  // An environment variable cannot contain a NUL byte, and a key that is cut off there could be
  // another message's key.
  if (delivery.key().find('\0') != std::string_view::npos) variables["TARRY_KEY"] = "";
  const auto trace = core::read_trace(delivery.header(core::kTraceparent).value_or(""),
                                      delivery.header(core::kTracestate).value_or(""));
  // Empty ones hide those of this process, whose trace is another one.
  variables["TRACEPARENT"] = trace.parent;
  variables["TRACESTATE"] = trace.state;
  return variables;
}

}  // namespace tarry::relay
