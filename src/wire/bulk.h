// POST /v1/queues/QUEUE/bulk: applies a verb to those messages of one page that a filter matches.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/time.h>

#include "core/reply.h"
#include "core/request.h"
#include "core/rules/message_filter.h"

namespace tarry::wire {

enum class BulkAction : std::uint8_t { cancel, reschedule, revive, remove };
[[nodiscard]] std::string_view to_string(BulkAction action) noexcept;

struct BulkRequest {
  core::ListRequest page;
  core::MessageFilter filter;
  BulkAction action = BulkAction::cancel;
  std::optional<Time> due;   // reschedule: the new due time of all
  std::optional<Millis> by;  // reschedule: how far to move each due time
  bool dry_run = false;
};

/// Error: `invalid_argument`, which names the field and its value.
[[nodiscard]] Result<BulkRequest> decode_bulk(std::string queue, std::string_view body);

/// The messages of the page that match the request, in the page's order, each once.
[[nodiscard]] std::vector<const MessageInfo*> chosen(const BulkRequest& request,
                                                     const core::ListReply& page);

/// The request to the engine for these messages; there must be at least one.
[[nodiscard]] core::Request verb_of(const BulkRequest& request,
                                    const std::vector<const MessageInfo*>& messages);

/// How many messages a page had, how many of them matched, and where to continue.
struct BulkPage {
  std::uint64_t looked = 0;
  std::uint64_t matched = 0;
  std::string next;
};

/// `reply`: the reply to the verb; null if the engine was not called.
[[nodiscard]] std::string encode_bulk_reply(const BulkPage& page, const core::Reply* reply);

}  // namespace tarry::wire
