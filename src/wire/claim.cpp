#include "wire/claim.h"

#include <algorithm>

#include "base/text/text.h"
#include "core/limits.h"
#include "core/rules/headers.h"
#include "wire/parts/headers.h"
#include "wire/parts/items.h"

namespace tarry::wire {
namespace {

/// Longer than any claim waits: a larger "waited_ms" is ignored.
constexpr std::uint64_t kMostWaitedMs = 365ull * 24 * 3'600'000;

void write_claimed(JsonWriter& out, const core::ClaimedItem& item, const std::string& bytes) {
  out.begin_object();
  out.text_field("queue", core::view(bytes, item.queue)).id_field("id", item.id);
  out.bytes_field("key", core::view(bytes, item.key));
  out.bytes_field("payload", core::view(bytes, item.payload));
  const auto headers = core::decode_headers(core::view(bytes, item.headers));
  write_headers(out, headers ? *headers : Headers());
  out.bytes_field("receipt", core::view(bytes, item.receipt));
  out.time_field("due", item.due_ms);
  out.millis_field("claimed", item.claimed_ms).millis_field("lease", item.lease_ms);
  out.field("attempt", std::uint64_t{item.attempt}).field("priority", std::uint64_t{item.priority});
  write_tallies(out, item.tallies);
  out.end_object();
}

MaybeError read_claimed(const boost::json::value& value, core::ClaimReply& reply) {
  Fields fields(value, "a message", Unknown::ignored);
  core::ClaimedItem item;
  std::string scratch;
  item.queue = core::append(reply.bytes, fields.text("queue").value_or(""));
  item.id = fields.id("id").value_or(0);
  item.key = core::append(reply.bytes, fields.bytes("key", "key_base64", scratch).value_or(""));
  item.payload =
      core::append(reply.bytes, fields.bytes("payload", "payload_base64", scratch).value_or(""));
  item.receipt =
      core::append(reply.bytes, fields.bytes("receipt", "receipt_base64", scratch).value_or(""));
  item.due_ms = fields.millis("due_ms").value_or(0);
  item.claimed_ms = fields.millis("claimed_ms").value_or(0);
  item.lease_ms = fields.millis("lease_ms").value_or(0);
  item.attempt = fields.u32("attempt").value_or(0);
  item.priority = fields.u32("priority").value_or(kDefaultPriority);
  item.tallies = read_tallies(fields);
  if (const HeaderFields headers = take_headers(fields); headers.given()) {
    auto list = read_headers(headers);
    if (!list) return std::move(list).error();
    auto encoded = core::encode_headers(*list);
    if (!encoded) return std::move(encoded).error();
    item.headers = core::append(reply.bytes, *encoded);
  }
  for (const std::string_view needed : {"queue", "id", "due_ms", "claimed_ms", "lease_ms"}) {
    fields.require(needed);
  }
  if (item.receipt.size == 0) fields.require("receipt");
  reply.items.push_back(item);
  return fields.finish();
}

MaybeError read_queues(const boost::json::array& array, std::vector<std::string>& queues) {
  for (const boost::json::value& value : array) {
    const boost::json::string* name = value.if_string();
    if (name == nullptr) {
      return Error{ErrorCode::invalid_argument,
                   "an item of \"queues\" must be a string, not " + describe(value)};
    }
    queues.emplace_back(name->data(), name->size());
  }
  return std::nullopt;
}

}  // namespace

std::string encode_claim(const core::ClaimRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("queues").begin_array();
  for (const std::string& queue : request.queues) out.string(queue);
  out.end_array();
  if (!request.keys.empty()) {
    out.name("keys").begin_array();
    for (const std::string& key : request.keys) out.bytes(key);
    out.end_array();
  }
  if (request.any_state) out.field_bool("any_state", true);
  out.field("max", std::uint64_t{request.max}).field("max_bytes", request.max_bytes);
  if (request.lease) out.millis_field("lease", request.lease->count());
  if (request.wait.count() != 0) out.millis_field("wait", request.wait.count());
  if (!request.settle.items.empty()) write_settle_items(out, "settle", request.settle);
  out.end_object();
  return text;
}

Result<Decoded<core::ClaimRequest>> decode_claim(std::string_view body) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  Decoded<core::ClaimRequest> decoded;
  core::ClaimRequest& request = decoded.request;
  fields.require("queues");
  const boost::json::array* queues = fields.array("queues");
  const KeyFields keys = take_keys(fields);
  request.any_state = fields.boolean("any_state").value_or(false);
  request.max = fields.u32("max", 1, core::kMaxBatch).value_or(request.max);
  request.max_bytes = fields.u64("max_bytes").value_or(request.max_bytes);
  request.lease = fields.duration("lease", "lease_ms");
  request.wait = fields.duration("wait", "wait_ms").value_or(request.wait);
  const boost::json::array* settle = fields.array("settle");
  if (MaybeError error = fields.finish()) return *error;
  if (MaybeError error = read_queues(*queues, request.queues)) return *error;
  BadItems bad;
  const Keys named = read_keys(keys, bad);
  if (!bad.empty()) return std::move(bad.front().error);
  for (const core::Slice key : named.keys) request.keys.emplace_back(core::view(named.bytes, key));
  if (settle != nullptr) {
    auto items = read_settle_items(*settle);
    request.settle = std::move(items.request);
    decoded.bad = std::move(items.bad);
  }
  return decoded;
}

std::string encode_claim_reply(const core::ClaimReply& reply,
                               std::optional<base::BootClock::time_point> asked_at,
                               const BadItems& bad) {
  std::string text;
  text.reserve(reply.bytes.size() + reply.items.size() * 384 + 32);
  JsonWriter out(text);
  out.begin_object().name("messages").begin_array();
  for (const core::ClaimedItem& item : reply.items) write_claimed(out, item, reply.bytes);
  out.end_array();
  if (asked_at && reply.begun_at) {
    // Rounded down: no lease may seem longer than it is.
    const auto waited = std::chrono::floor<Millis>(*reply.begun_at - *asked_at);
    out.millis_field("waited", std::max(waited, Millis(0)).count());
  }
  if (!reply.settled.empty() || !bad.empty()) write_settled(out, "settled", reply.settled, bad);
  if (reply.claim_error) write_error(out, *reply.claim_error);
  out.end_object();
  return text;
}

Result<core::ClaimReply> decode_claim_reply(std::string_view body,
                                            std::optional<base::BootClock::time_point> asked_at) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  fields.require("messages");
  const boost::json::array* messages = fields.array("messages");
  const std::optional<std::uint64_t> waited_ms = fields.u64("waited_ms");
  const boost::json::array* settled = fields.array("settled");
  core::ClaimReply reply;
  reply.claim_error = read_error(fields);
  if (MaybeError error = fields.finish()) return *error;
  if (settled != nullptr) {
    if (MaybeError error = read_settled(*settled, reply.settled)) return *error;
  }
  if (asked_at && waited_ms && *waited_ms <= kMostWaitedMs) {
    reply.began(*asked_at + Millis(static_cast<Millis::rep>(*waited_ms)));
  }
  reply.items.reserve(messages->size());
  reply.bytes.reserve(body.size());
  for (const boost::json::value& value : *messages) {
    if (MaybeError error = read_claimed(value, reply)) return *error;
  }
  return reply;
}

void write_tallies(JsonWriter& out, const Tallies& tallies) {
  out.name("tallies").begin_object();
  out.field("claims", std::uint64_t{tallies.claims});
  out.field("run_outs", std::uint64_t{tallies.run_outs});
  out.field("releases", std::uint64_t{tallies.releases});
  out.field("buries", std::uint64_t{tallies.buries});
  out.field("revives", std::uint64_t{tallies.revives});
  out.end_object();
}

Tallies read_tallies(Fields& fields, Unknown unknown) {
  Tallies tallies;
  const boost::json::value* value = fields.any("tallies");
  if (value == nullptr) return tallies;
  Fields inner(*value, "\"tallies\"", unknown);
  tallies.claims = inner.u32("claims").value_or(0);
  tallies.run_outs = inner.u32("run_outs").value_or(0);
  tallies.releases = inner.u32("releases").value_or(0);
  tallies.buries = inner.u32("buries").value_or(0);
  tallies.revives = inner.u32("revives").value_or(0);
  if (MaybeError error = inner.finish()) fields.fail(std::move(*error));
  return tallies;
}

}  // namespace tarry::wire
