// Push on the wire, both ways.
//
//   one:    {"key","payload","delay"|"due","headers","priority","if_exists","max_attempts",
//           "expire"|"expire_at","spread"}
//   many:   {"messages":[one,...]}
//   answer: {"outcome","id","key","due","due_ms"}, or {"results":[answer,...]}
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "wire/parts/batch.h"
#include "wire/parts/headers.h"

namespace tarry::wire {

struct DecodedPush : Decoded<core::PushRequest> {
  bool single = false;  // one message, not {"messages":[...]}: then `bad` is empty
};

/// Always writes the form for many. Errors: `invalid_argument` for headers that are ill-formed.
[[nodiscard]] Result<std::string> encode_push(const core::PushRequest& request);
/// `what` names the body (`text`) in errors.
[[nodiscard]] Result<DecodedPush> decode_push(std::string queue, std::string_view text,
                                              std::string_view what = "the body");
/// Reads only the form for many.
[[nodiscard]] Result<Decoded<core::PushRequest>> decode_push_batch(std::string queue,
                                                                   std::string_view text);

/// Writes a message's expiry, as requests have it.
void write_expiry(JsonWriter& out, std::optional<Millis> expire, std::optional<Time> expire_at);
/// Writes the members of one message's object; more members may follow.
[[nodiscard]] MaybeError write_push_fields(JsonWriter& out, const core::PushItem& item,
                                           const std::string& bytes);

/// Reads the fields of a message before the object's `finish`; `item` makes an item from them
/// afterwards. If that fails, the caller must restore `bytes`. Valid until the document is
/// destroyed; for one thread.
class PushFields {
 public:
  explicit PushFields(Fields& fields);
  PushFields(const PushFields&) = delete;
  PushFields& operator=(const PushFields&) = delete;

  [[nodiscard]] Result<core::PushItem> item(std::string& bytes) const;

 private:
  std::string key_scratch_;
  std::string payload_scratch_;
  std::optional<std::string_view> key_;
  std::optional<std::string_view> payload_;
  HeaderFields headers_;
  core::PushItem item_;
};

/// Writes the members of one answer's object.
void write_pushed(JsonWriter& out, const core::PushResult& result, const std::string& bytes);
[[nodiscard]] std::string encode_push_reply(const core::PushReply& reply, const BadItems& bad);
[[nodiscard]] Result<core::PushReply> decode_push_reply(std::string_view body);

}  // namespace tarry::wire
