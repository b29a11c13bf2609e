#include "wire/move.h"

#include "base/assert.h"
#include "wire/claim.h"
#include "wire/push.h"

namespace tarry::wire {
namespace {

// A moved message cannot be leased, so `leased` is no valid state here.
bool read_is_dead(Fields& fields) {
  return fields.choice("state", {State::scheduled, State::ready, State::dead}) == State::dead;
}

void write_is_dead(JsonWriter& out, bool dead) {
  if (dead) out.field("state", to_string(State::dead));
}

MaybeError read_moved(const boost::json::value& value, core::MoveRequest& request) {
  Fields fields(value, "the message", Unknown::refused);
  const PushFields pushed(fields);
  core::MoveItem item;
  std::string scratch;
  item.attempt = fields.u32("attempt", 0, core::kMaxAttempts).value_or(0);
  item.tallies = read_tallies(fields, Unknown::refused);
  item.dead = read_is_dead(fields);
  const auto reason = fields.bytes("reason", "reason_base64", scratch);
  const auto pushed_at = fields.moment("pushed", "pushed_ms");
  if (MaybeError error = fields.finish()) return error;
  auto push = pushed.item(request.bytes);
  if (!push) return std::move(push).error();
  item.push = *push;
  if (pushed_at) item.pushed_ms = pushed_at->time_since_epoch().count();
  item.reason = core::append(request.bytes, reason.value_or(""));
  request.items.push_back(item);
  return std::nullopt;
}

MaybeError read_seen(const boost::json::value& value, core::CancelRequest& request) {
  Fields fields(value, "the message", Unknown::refused);
  std::string scratch;
  core::Seen seen;
  const auto key = fields.bytes("key", "key_base64", scratch);
  seen.id = fields.id("id").value_or(0);
  const auto due = fields.moment("due", "due_ms");
  seen.priority = fields.u32("priority").value_or(0);
  seen.claims = read_tallies(fields, Unknown::refused).claims;
  seen.dead = read_is_dead(fields);
  // All fields are required: a missing field would be taken for a check that passed.
  if (!key) fields.require("key");
  for (const std::string_view needed : {"id", "priority", "tallies"}) fields.require(needed);
  if (!due) fields.require("due");
  if (MaybeError error = fields.finish()) return error;
  seen.due_ms = due->time_since_epoch().count();
  request.keys.push_back(core::append(request.bytes, *key));
  request.seen.push_back(seen);
  return std::nullopt;
}

}  // namespace

Result<std::string> encode_move(const core::MoveRequest& request) {
  const auto write = [&](JsonWriter& out, const core::MoveItem& item) {
    MaybeError error = write_push_fields(out, item.push, request.bytes);
    if (error) return error;
    if (item.attempt != 0) out.field("attempt", std::uint64_t{item.attempt});
    if (item.tallies != Tallies()) write_tallies(out, item.tallies);
    write_is_dead(out, item.dead);
    if (item.pushed_ms) out.moment_field("pushed", *item.pushed_ms);
    if (item.reason.size > 0) out.bytes_field("reason", core::view(request.bytes, item.reason));
    return error;
  };
  return encode_messages(request, 192, write);
}

Result<Decoded<core::MoveRequest>> decode_move(std::string queue, std::string_view body) {
  return decode_batch(body, "messages", core::MoveRequest{std::move(queue), {}, {}}, read_moved);
}

std::string encode_move_away(const core::CancelRequest& request) {
  TARRY_ASSERT(request.seen.size() == request.keys.size());
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("messages").begin_array();
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    const core::Seen& seen = request.seen[i];
    out.begin_object().bytes_field("key", core::view(request.bytes, request.keys[i]));
    out.id_field("id", seen.id).moment_field("due", seen.due_ms);
    out.field("priority", std::uint64_t{seen.priority}).name("tallies").begin_object();
    out.field("claims", std::uint64_t{seen.claims}).end_object();
    write_is_dead(out, seen.dead);
    out.end_object();
  }
  out.end_array().end_object();
  return text;
}

Result<Decoded<core::CancelRequest>> decode_move_away(std::string queue, std::string_view body) {
  return decode_batch(body, "messages", core::CancelRequest{std::move(queue), {}, {}}, read_seen);
}

}  // namespace tarry::wire
