#include "wire/parts/items.h"

namespace tarry::wire {
namespace {

// Writes NAME, or {"items":[...]}.
template <typename Items, typename Write>
void write_items(JsonWriter& out, std::string_view name, const Items& items, Write write) {
  out.name(name).begin_array();
  for (const auto& item : items) {
    out.begin_object();
    write(out, item);
    out.end_object();
  }
  out.end_array();
}
template <typename Items, typename Write>
std::string write_items(const Items& items, Write write) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_items(out, "items", items, std::move(write));
  out.end_object();
  return text;
}

MaybeError read_reschedule_item(const boost::json::value& value, core::RescheduleRequest& request) {
  Fields fields(value, "the item", Unknown::refused);
  std::string scratch;
  const auto key = fields.bytes("key", "key_base64", scratch);
  core::RescheduleItem item;
  const auto due = fields.due();
  item.priority = fields.u32("priority");
  if (!key) fields.require("key");
  if (!due && !fields.failed()) {
    fields.fail({ErrorCode::invalid_argument, "the item has neither a delay nor a due time"});
  }
  if (MaybeError error = fields.finish()) return error;
  item.due = *due;
  item.key = core::append(request.bytes, *key);
  request.items.push_back(item);
  return std::nullopt;
}

MaybeError read_settle_item(const boost::json::value& value, core::SettleRequest& request) {
  Fields fields(value, "the item", Unknown::refused);
  std::string receipt_scratch;
  std::string reason_scratch;
  const auto receipt = fields.bytes("receipt", "receipt_base64", receipt_scratch);
  const auto action = fields.choice(
      "action", {core::SettleAction::ack, core::SettleAction::retry, core::SettleAction::release,
                 core::SettleAction::bury, core::SettleAction::move_away});
  core::SettleItem item;
  item.delay = fields.duration("delay", "delay_ms");
  const auto reason = fields.bytes("reason", "reason_base64", reason_scratch);
  item.priority = fields.u32("priority");
  if (!receipt) fields.require("receipt");
  fields.require("action");
  if (MaybeError error = fields.finish()) return error;
  item.receipt = core::append(request.bytes, *receipt);
  item.action = *action;
  item.reason = core::append(request.bytes, reason.value_or(""));
  request.items.push_back(item);
  return std::nullopt;
}

MaybeError read_extend_item(const boost::json::value& value, core::ExtendRequest& request) {
  Fields fields(value, "the item", Unknown::refused);
  std::string scratch;
  const auto receipt = fields.bytes("receipt", "receipt_base64", scratch);
  core::ExtendItem item;
  item.lease = fields.duration("lease", "lease_ms");
  if (!receipt) fields.require("receipt");
  if (MaybeError error = fields.finish()) return error;
  item.receipt = core::append(request.bytes, *receipt);
  request.items.push_back(item);
  return std::nullopt;
}

void write_item_result(JsonWriter& out, const core::ItemResult& item) {
  if (item.error) {
    write_error(out, *item.error);
    return;
  }
  out.field("outcome", to_string(item.outcome));
  if (item.due_ms) out.time_field("due", *item.due_ms);
  if (item.settlement) write_settlement(out, *item.settlement);
}

MaybeError read_item_result(const boost::json::value& value, core::ItemsReply& reply) {
  return read_result(value, reply, [](Fields& fields, core::ItemResult& result) {
    result.outcome =
        fields
            .choice("outcome", {Outcome::cancelled, Outcome::stopping, Outcome::unknown,
                                Outcome::rescheduled, Outcome::revived, Outcome::in_flight,
                                Outcome::settled, Outcome::done, Outcome::stale, Outcome::kept})
            .value_or(Outcome::unknown);
    result.due_ms = fields.millis("due_ms");
    result.settlement = read_settlement(fields);
  });
}

}  // namespace

void write_keys(JsonWriter& out, const std::vector<core::Slice>& keys, const std::string& bytes) {
  out.name("keys").begin_array();
  for (const core::Slice key : keys) out.bytes(core::view(bytes, key));
  out.end_array();
}

bool KeyFields::empty() const noexcept {
  return (plain == nullptr || plain->empty()) && (encoded == nullptr || encoded->empty());
}

KeyFields take_keys(Fields& fields) {
  const KeyFields keys{fields.array("keys"), fields.array("keys_base64")};
  if (keys.plain != nullptr && !keys.plain->empty() && keys.encoded != nullptr &&
      !keys.encoded->empty()) {
    fields.fail({ErrorCode::invalid_argument,
                 "the body has keys in both \"keys\" and \"keys_base64\"; give one of them"});
  }
  return keys;
}

Keys read_keys(const KeyFields& fields, BadItems& bad) {
  Keys keys;
  std::string scratch;
  std::string_view key;
  if (fields.plain != nullptr) {
    read_items(*fields.plain, keys.bytes, bad, [&](const boost::json::value& value) {
      MaybeError error = read_bytes(value, "a key", scratch, key);
      if (!error) keys.keys.push_back(core::append(keys.bytes, key));
      return error;
    });
  }
  if (fields.encoded != nullptr) {
    read_items(*fields.encoded, keys.bytes, bad, [&](const boost::json::value& value) {
      MaybeError error = read_base64(value, "a key of \"keys_base64\"", scratch);
      if (!error) keys.keys.push_back(core::append(keys.bytes, scratch));
      return error;
    });
  }
  return keys;
}

std::string encode_cancel(const core::CancelRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_keys(out, request.keys, request.bytes);
  out.end_object();
  return text;
}

Result<Decoded<core::CancelRequest>> decode_cancel(std::string queue, std::string_view body) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  const KeyFields keys = take_keys(fields);
  if (!keys.given()) fields.require("keys");
  if (MaybeError error = fields.finish()) return *error;
  Decoded<core::CancelRequest> cancel;
  Keys named = read_keys(keys, cancel.bad);
  cancel.request = {std::move(queue), std::move(named.keys), std::move(named.bytes)};
  return cancel;
}

std::string encode_reschedule(const core::RescheduleRequest& request) {
  return write_items(request.items, [&](JsonWriter& out, const core::RescheduleItem& item) {
    out.bytes_field("key", core::view(request.bytes, item.key));
    out.due(item.due);
    if (item.priority) out.field("priority", std::uint64_t{*item.priority});
  });
}

Result<Decoded<core::RescheduleRequest>> decode_reschedule(std::string queue,
                                                           std::string_view body) {
  return decode_batch(body, "items", core::RescheduleRequest{std::move(queue), {}, {}},
                      read_reschedule_item);
}

void write_settle_items(JsonWriter& out, std::string_view name,
                        const core::SettleRequest& request) {
  write_items(out, name, request.items, [&](JsonWriter& to, const core::SettleItem& item) {
    to.bytes_field("receipt", core::view(request.bytes, item.receipt));
    to.field("action", core::to_string(item.action));
    if (item.delay) to.millis_field("delay", item.delay->count());
    if (item.reason.size > 0) to.bytes_field("reason", core::view(request.bytes, item.reason));
    if (item.priority) to.field("priority", std::uint64_t{*item.priority});
  });
}

Decoded<core::SettleRequest> read_settle_items(const boost::json::array& items) {
  Decoded<core::SettleRequest> decoded;
  decoded.request.items.reserve(items.size());
  read_items(items, decoded.request.bytes, decoded.bad, [&](const boost::json::value& value) {
    return read_settle_item(value, decoded.request);
  });
  return decoded;
}

std::string encode_settle(const core::SettleRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_settle_items(out, "items", request);
  out.end_object();
  return text;
}

Result<Decoded<core::SettleRequest>> decode_settle(std::string_view body) {
  return decode_batch(body, "items", core::SettleRequest{}, read_settle_item);
}

std::string encode_extend(const core::ExtendRequest& request) {
  return write_items(request.items, [&](JsonWriter& out, const core::ExtendItem& item) {
    out.bytes_field("receipt", core::view(request.bytes, item.receipt));
    if (item.lease) out.millis_field("lease", item.lease->count());
  });
}

Result<Decoded<core::ExtendRequest>> decode_extend(std::string_view body) {
  return decode_batch(body, "items", core::ExtendRequest{}, read_extend_item);
}

Keys keys_of(const core::CancelRequest& request) { return {request.keys, request.bytes}; }

Keys keys_of(const core::RescheduleRequest& request) {
  Keys keys{{}, request.bytes};
  for (const core::RescheduleItem& item : request.items) keys.keys.push_back(item.key);
  return keys;
}

void write_settlement(JsonWriter& out, const Settlement& settlement) {
  out.name("settlement").begin_object();
  out.field("how", to_string(settlement.how)).time_field("when", settlement.when).end_object();
}

std::optional<Settlement> read_settlement(Fields& fields) {
  const boost::json::value* value = fields.any("settlement");
  if (value == nullptr) return std::nullopt;
  Fields inner(*value, "\"settlement\"", Unknown::ignored);
  Settlement settlement;
  settlement.how = inner.choice("how", {Ending::acked, Ending::cancelled, Ending::expired})
                       .value_or(Ending::acked);
  settlement.when = inner.time("when_ms").value_or(Time());
  inner.require("how");
  inner.require("when_ms");
  if (MaybeError error = inner.finish()) fields.fail(std::move(*error));
  return settlement;
}

std::string encode_items_reply(const core::ItemsReply& reply, const BadItems& bad,
                               const Keys& keys) {
  return write_results(reply.items.size(), bad, [&](JsonWriter& out, std::size_t i) {
    if (i < keys.keys.size()) out.bytes_field("key", core::view(keys.bytes, keys.keys[i]));
    write_item_result(out, reply.items[i]);
  });
}

void write_settled(JsonWriter& out, std::string_view name,
                   const std::vector<core::ItemResult>& settled, const BadItems& bad) {
  write_results(out, name, settled.size(), bad,
                [&](JsonWriter& to, std::size_t i) { write_item_result(to, settled[i]); });
}

MaybeError read_settled(const boost::json::array& results, std::vector<core::ItemResult>& settled) {
  core::ItemsReply reply;
  reply.items.reserve(results.size());
  for (const boost::json::value& result : results) {
    if (MaybeError error = read_item_result(result, reply)) return error;
  }
  settled = std::move(reply.items);
  return std::nullopt;
}

Result<core::ItemsReply> decode_items_reply(std::string_view body) {
  return decode_results<core::ItemsReply>(body, read_item_result);
}

}  // namespace tarry::wire
