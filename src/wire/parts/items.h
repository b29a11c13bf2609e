// The verbs that answer one outcome per item: cancel, reschedule, settle, extend.
//
//   cancel:     {"keys":["order:1"]}, or {"keys_base64":["..."]}
//   reschedule: {"items":[{"key","delay"|"due","priority"}]}
//   settle:     {"items":[{"receipt","action","delay","reason","priority"}]}
//   extend:     {"items":[{"receipt","lease"}]}
//   answer: {"results":[{"key","outcome","due","due_ms","settlement":{"how","when","when_ms"}}]}
//
// Results have a key if the request named messages by their keys.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "wire/parts/batch.h"

namespace tarry::wire {

[[nodiscard]] std::string encode_cancel(const core::CancelRequest& request);
[[nodiscard]] Result<Decoded<core::CancelRequest>> decode_cancel(std::string queue,
                                                                 std::string_view body);

[[nodiscard]] std::string encode_reschedule(const core::RescheduleRequest& request);
[[nodiscard]] Result<Decoded<core::RescheduleRequest>> decode_reschedule(std::string queue,
                                                                         std::string_view body);

[[nodiscard]] std::string encode_settle(const core::SettleRequest& request);
[[nodiscard]] Result<Decoded<core::SettleRequest>> decode_settle(std::string_view body);

[[nodiscard]] std::string encode_extend(const core::ExtendRequest& request);
[[nodiscard]] Result<Decoded<core::ExtendRequest>> decode_extend(std::string_view body);

/// The keys of a request, kept for its answer, because the request itself is moved to the engine.
struct Keys {
  std::vector<core::Slice> keys;
  std::string bytes;
};
[[nodiscard]] Keys keys_of(const core::CancelRequest& request);
[[nodiscard]] Keys keys_of(const core::RescheduleRequest& request);

/// `keys` is empty, or has one key for each item of the reply.
[[nodiscard]] std::string encode_items_reply(const core::ItemsReply& reply, const BadItems& bad,
                                             const Keys& keys);
[[nodiscard]] Result<core::ItemsReply> decode_items_reply(std::string_view body);

/// The same lists for settlements in another body: NAME is a list of items, or of results.
void write_settle_items(JsonWriter& out, std::string_view name, const core::SettleRequest& request);
[[nodiscard]] Decoded<core::SettleRequest> read_settle_items(const boost::json::array& items);
void write_settled(JsonWriter& out, std::string_view name,
                   const std::vector<core::ItemResult>& settled, const BadItems& bad);
[[nodiscard]] MaybeError read_settled(const boost::json::array& results,
                                      std::vector<core::ItemResult>& settled);

void write_settlement(JsonWriter& out, const Settlement& settlement);
[[nodiscard]] std::optional<Settlement> read_settlement(Fields& fields);

/// Writes "keys": a string for each key, or {"base64":"..."} for a key that is not UTF-8.
void write_keys(JsonWriter& out, const std::vector<core::Slice>& keys, const std::string& bytes);

/// The keys that a body names, read before its `finish`: "keys" in the form of write_keys, or
/// "keys_base64", each key in Base64. An empty list counts as none. Valid until the document is
/// destroyed.
struct KeyFields {
  const boost::json::array* plain = nullptr;
  const boost::json::array* encoded = nullptr;

  [[nodiscard]] bool given() const noexcept { return plain != nullptr || encoded != nullptr; }
  [[nodiscard]] bool empty() const noexcept;
};
/// Reads both lists. If both are non-empty, `fields` reports an error.
[[nodiscard]] KeyFields take_keys(Fields& fields);
/// Reads the keys; the error of a key that cannot be read goes to `bad`.
[[nodiscard]] Keys read_keys(const KeyFields& fields, BadItems& bad);

}  // namespace tarry::wire
