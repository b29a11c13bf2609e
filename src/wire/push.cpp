#include "wire/push.h"

#include "core/limits.h"
#include "core/rules/headers.h"
#include "core/settings/if_exists.h"
#include "wire/parts/headers.h"

namespace tarry::wire {
namespace {

MaybeError read_message(const boost::json::value& value, core::PushRequest& request) {
  Fields fields(value, "the message", Unknown::refused);
  const PushFields pushed(fields);
  const auto spread = fields.duration("spread", "spread_ms");
  if (MaybeError error = fields.finish()) return error;
  auto item = pushed.item(request.bytes);
  if (!item) return std::move(item).error();
  item->spread = spread.value_or(Millis(0));
  request.items.push_back(*item);
  return std::nullopt;
}

MaybeError read_pushed(const boost::json::value& value, core::PushReply& reply) {
  return read_result(value, reply, [&](Fields& fields, core::PushResult& result) {
    std::string scratch;
    result.outcome = fields
                         .choice("outcome", {Outcome::pushed, Outcome::exists, Outcome::kept,
                                             Outcome::replaced, Outcome::moved, Outcome::in_flight,
                                             Outcome::settled, Outcome::revived})
                         .value_or(Outcome::pushed);
    result.id = fields.id("id").value_or(0);
    result.key = core::append(reply.bytes, fields.bytes("key", "key_base64", scratch).value_or(""));
    result.due_ms = fields.millis("due_ms").value_or(0);
  });
}

}  // namespace

void write_expiry(JsonWriter& out, std::optional<Millis> expire, std::optional<Time> expire_at) {
  if (expire) out.millis_field("expire", expire->count());
  if (expire_at) out.moment_field("expire_at", expire_at->time_since_epoch().count());
}

MaybeError write_push_fields(JsonWriter& out, const core::PushItem& item,
                             const std::string& bytes) {
  if (item.key.size > 0) out.bytes_field("key", core::view(bytes, item.key));
  if (item.payload.size > 0) out.bytes_field("payload", core::view(bytes, item.payload));
  if (item.headers.size > 0) {
    auto headers = core::decode_headers(core::view(bytes, item.headers));
    if (!headers) return Error{ErrorCode::invalid_argument, headers.error().message};
    write_headers(out, *headers);
  }
  out.due(item.due);
  if (item.priority != kDefaultPriority) out.field("priority", std::uint64_t{item.priority});
  if (item.max_attempts != 0) out.field("max_attempts", std::uint64_t{item.max_attempts});
  if (item.if_exists) out.field("if_exists", to_string(*item.if_exists));
  write_expiry(out, item.expire, item.expire_at);
  return std::nullopt;
}

PushFields::PushFields(Fields& fields)
    : key_(fields.bytes("key", "key_base64", key_scratch_)),
      payload_(fields.bytes("payload", "payload_base64", payload_scratch_)) {
  item_.due = fields.due().value_or(Due());
  headers_ = take_headers(fields);
  item_.priority = fields.u32("priority").value_or(kDefaultPriority);
  item_.if_exists = fields.choice("if_exists", core::kEveryIfExists);
  item_.max_attempts = fields.u32("max_attempts", 0, core::kMaxAttempts).value_or(0);
  item_.expire = fields.duration("expire", "expire_ms");
  item_.expire_at = fields.moment("expire_at", "expire_at_ms");
  if (key_ && key_->empty()) {
    fields.fail(
        {ErrorCode::invalid_argument, "\"key\" is empty; leave it out, and the store makes one"});
  }
}

Result<core::PushItem> PushFields::item(std::string& bytes) const {
  core::PushItem item = item_;
  item.key = core::append(bytes, key_.value_or(""));
  item.payload = core::append(bytes, payload_.value_or(""));
  if (!headers_.given()) return item;
  auto list = read_headers(headers_);
  if (!list) return std::move(list).error();
  auto encoded = core::encode_headers(*list);
  if (!encoded) return std::move(encoded).error();
  item.headers = core::append(bytes, *encoded);
  return item;
}

Result<std::string> encode_push(const core::PushRequest& request) {
  return encode_messages(request, 64, [&](JsonWriter& out, const core::PushItem& item) {
    if (item.spread != Millis(0)) out.millis_field("spread", item.spread.count());
    return write_push_fields(out, item, request.bytes);
  });
}

Result<DecodedPush> decode_push(std::string queue, std::string_view text, std::string_view what) {
  Document document(text.size());
  if (MaybeError error = document.parse(text, what)) return *error;
  DecodedPush push;
  push.request.queue = std::move(queue);
  const boost::json::object* object = document.root().if_object();
  if (object == nullptr || !object->contains("messages")) {
    push.single = true;
    if (MaybeError error = read_message(document.root(), push.request)) return *error;
    return push;
  }
  auto many =
      decode_batch(document.root(), text.size(), "messages", std::move(push.request), read_message);
  if (!many) return std::move(many).error();
  return DecodedPush{*std::move(many), false};
}

Result<Decoded<core::PushRequest>> decode_push_batch(std::string queue, std::string_view text) {
  core::PushRequest request;
  request.queue = std::move(queue);
  return decode_batch(text, "messages", std::move(request), read_message);
}

void write_pushed(JsonWriter& out, const core::PushResult& result, const std::string& bytes) {
  out.field("outcome", to_string(result.outcome));
  if (result.id != 0) out.id_field("id", result.id);
  if (result.key.size > 0) out.bytes_field("key", core::view(bytes, result.key));
  if (result.id != 0 || result.due_ms != 0) out.time_field("due", result.due_ms);
}

std::string encode_push_reply(const core::PushReply& reply, const BadItems& bad) {
  return write_results(reply.items.size(), bad, [&](JsonWriter& out, std::size_t i) {
    if (reply.items[i].error) {
      write_error(out, *reply.items[i].error);
    } else {
      write_pushed(out, reply.items[i], reply.bytes);
    }
  });
}

Result<core::PushReply> decode_push_reply(std::string_view body) {
  return decode_results<core::PushReply>(body, read_pushed);
}

}  // namespace tarry::wire
