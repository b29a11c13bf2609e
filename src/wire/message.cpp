#include "wire/message.h"

#include <limits>

#include "base/text/text.h"
#include "core/limits.h"
#include "wire/claim.h"
#include "wire/history.h"
#include "wire/parts/headers.h"
#include "wire/parts/items.h"

namespace tarry::wire {
namespace {

constexpr std::initializer_list<State> kStates = {State::scheduled, State::ready, State::leased,
                                                  State::dead, State::remembered};

MaybeError read_message_info(Fields& fields, MessageInfo& info) {
  std::string scratch;
  for (const std::string_view needed : {"queue", "id", "state", "due_ms"}) fields.require(needed);
  info.queue = fields.text("queue").value_or("");
  info.id = fields.id("id").value_or(0);
  info.key = fields.bytes("key", "key_base64", scratch).value_or("");
  info.state = fields.choice("state", kStates).value_or(State::scheduled);
  info.stopping = fields.boolean("stopping").value_or(false);
  info.due = fields.time("due_ms").value_or(Time());
  info.pushed = fields.time("pushed_ms");
  info.priority = fields.u32("priority").value_or(kDefaultPriority);
  info.attempt = fields.u32("attempt").value_or(0);
  info.max_attempts = fields.u32("max_attempts").value_or(0);
  if (const auto expire = fields.millis("expire_ms")) info.expire = Millis(*expire);
  info.expire_at = fields.time("expire_at_ms");
  info.tallies = read_tallies(fields);
  if (const auto left = fields.millis("lease_left_ms")) info.lease_left = Millis(*left);
  info.settlement = read_settlement(fields);
  info.kept_until = fields.time("kept_until_ms");
  info.reason = fields.bytes("reason", "reason_base64", scratch).value_or("");
  info.group = fields.bytes("group", "group_base64", scratch).value_or("");
  info.group_leased = fields.u64("group_leased").value_or(0);
  info.group_waits = fields.boolean("group_waits").value_or(false);
  info.paused = fields.boolean("paused").value_or(false);
  info.paused_until = fields.time("paused_until_ms");
  info.holder = fields.text("holder").value_or("");
  if (const boost::json::value* history = fields.any("history")) {
    if (MaybeError error = read_history(*history, info.history)) return error;
  }
  info.payload = fields.bytes("payload", "payload_base64", scratch).value_or("");
  if (const HeaderFields headers = take_headers(fields); headers.given()) {
    auto list = read_headers(headers);
    if (!list) return std::move(list).error();
    info.headers = std::move(*list);
  }
  return fields.finish();
}

}  // namespace

void write_message_info(JsonWriter& out, const MessageInfo& info, Payload payload) {
  out.text_field("queue", info.queue).id_field("id", info.id).bytes_field("key", info.key);
  out.field("state", to_string(info.state));
  if (info.stopping) out.field_bool("stopping", true);
  out.time_field("due", info.due);
  if (info.pushed) out.time_field("pushed", *info.pushed);
  out.field("priority", std::uint64_t{info.priority}).field("attempt", std::uint64_t{info.attempt});
  if (info.max_attempts != 0) out.field("max_attempts", std::uint64_t{info.max_attempts});
  if (info.expire) out.millis_field("expire", info.expire->count());
  if (info.expire_at) out.time_field("expire_at", *info.expire_at);
  write_tallies(out, info.tallies);
  if (info.lease_left) out.millis_field("lease_left", info.lease_left->count());
  if (info.settlement) write_settlement(out, *info.settlement);
  if (info.kept_until) out.time_field("kept_until", *info.kept_until);
  if (!info.reason.empty()) out.bytes_field("reason", info.reason);
  if (!info.group.empty()) out.bytes_field("group", info.group);
  if (info.group_leased != 0) out.field("group_leased", info.group_leased);
  if (info.group_waits) out.field_bool("group_waits", true);
  if (info.paused) out.field_bool("paused", true);
  if (info.paused_until) out.time_field("paused_until", *info.paused_until);
  if (!info.holder.empty()) out.text_field("holder", info.holder);
  if (info.history != MessageHistory()) {
    out.name("history").begin_object();
    write_history(out, info.history);
    out.end_object();
  }
  write_headers(out, info.headers);
  if (payload == Payload::shown) out.bytes_field("payload", info.payload);
}

std::string encode_get(const core::GetRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_keys(out, request.keys, request.bytes);
  out.field_bool("payload", request.with_payload);
  if (request.with_history) out.field_bool("history", true);
  out.end_object();
  return text;
}

Result<Decoded<core::GetRequest>> decode_get(std::string queue, std::string_view body) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  const KeyFields keys = take_keys(fields);
  if (!keys.given()) fields.require("keys");
  Decoded<core::GetRequest> get;
  get.request.queue = std::move(queue);
  get.request.with_payload = fields.boolean("payload").value_or(true);
  get.request.with_history = fields.boolean("history").value_or(false);
  if (MaybeError error = fields.finish()) return *error;
  Keys named = read_keys(keys, get.bad);
  get.request.keys = std::move(named.keys);
  get.request.bytes = std::move(named.bytes);
  return get;
}

Result<core::GetRequest> decode_get_query(std::string queue, Query& query) {
  const auto key = query.bytes("key", "key_base64");
  if (!key) query.require("key");
  if (MaybeError error = query.finish()) return *error;
  core::GetRequest request;
  request.queue = std::move(queue);
  request.keys.push_back(core::append(request.bytes, *key));
  return request;
}

std::string encode_get_reply(const core::GetReply& reply, const BadItems& bad, Payload payload) {
  return write_results(reply.items.size(), bad, [&](JsonWriter& out, std::size_t i) {
    if (reply.items[i]) {
      write_message_info(out, *reply.items[i], payload);
    } else {
      write_error(out, reply.items[i].error());
    }
  });
}

Result<core::GetReply> decode_get_reply(std::string_view body) {
  core::GetReply reply;
  const auto read = [&](const boost::json::value& value) -> MaybeError {
    Fields fields(value, "a result", Unknown::ignored);
    if (auto error = read_error(fields)) {
      reply.items.emplace_back(std::move(*error));
      return fields.finish();
    }
    MessageInfo info;
    if (MaybeError error = read_message_info(fields, info)) return error;
    reply.items.emplace_back(std::move(info));
    return std::nullopt;
  };
  if (MaybeError error = read_results(body, read)) return *error;
  return reply;
}

std::string encode_list(const core::ListRequest& request) {
  std::string text;
  QueryWriter out(text);
  if (request.state) out.add("state", to_string(*request.state));
  if (!request.after.empty()) out.add("after", request.after);
  if (!request.prefix.empty()) out.add("prefix", request.prefix);
  out.add("limit", std::to_string(request.limit));
  if (request.whole) out.add("whole", "true");
  return text;
}

core::MessageFilter decode_list_filter(Query& query) {
  core::MessageFilter filter;
  filter.due_from = query.moment("due_from", "due_from_ms");
  filter.due_to = query.moment("due_to", "due_to_ms");
  filter.reason = query.bytes("reason", "reason_base64").value_or("");
  if (const auto header = query.text("header")) {
    const std::size_t end = header->find('=');
    if (end == std::string::npos) {
      query.fail({ErrorCode::invalid_argument,
                  "\"header\" is " + base::quoted(*header) + "; it must be NAME=VALUE"});
    } else {
      filter.headers.push_back({header->substr(0, end), header->substr(end + 1)});
    }
  }
  return filter;
}

Result<core::ListRequest> decode_list(std::string queue, Query& query) {
  core::ListRequest request;
  request.queue = std::move(queue);
  const auto state = query.text("state");
  request.after = query.bytes("after", "after_base64").value_or("");
  request.prefix = query.bytes("prefix", "prefix_base64").value_or("");
  request.limit = query.u32("limit", 1, core::kMaxListLimit).value_or(request.limit);
  request.whole = query.flag("whole");
  if (state) {
    std::string known;
    for (const State s : kStates) {
      if (*state == to_string(s)) request.state = s;
      known += (known.empty() ? "" : ", ") + std::string(to_string(s));
    }
    if (!request.state) {
      query.fail({ErrorCode::invalid_argument,
                  "\"state\" is " + base::quoted(*state) + "; it must be one of: " + known});
    }
  }
  if (MaybeError error = query.finish()) return *error;
  return request;
}

std::string encode_list_reply(const core::ListReply& reply) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("messages").begin_array();
  for (const MessageInfo& info : reply.messages) {
    out.begin_object();
    write_message_info(out, info, Payload::left_out);
    out.end_object();
  }
  out.end_array().bytes_field("next", reply.next).end_object();
  return text;
}

Result<core::ListReply> decode_list_reply(std::string_view body) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  core::ListReply reply;
  std::string scratch;
  fields.require("messages");
  const boost::json::array* messages = fields.array("messages");
  reply.next = fields.bytes("next", "next_base64", scratch).value_or("");
  if (MaybeError error = fields.finish()) return *error;
  reply.messages.reserve(messages->size());
  for (const boost::json::value& value : *messages) {
    Fields inner(value, "a message", Unknown::ignored);
    MessageInfo info;
    if (MaybeError error = read_message_info(inner, info)) return *error;
    reply.messages.push_back(std::move(info));
  }
  return reply;
}

}  // namespace tarry::wire
