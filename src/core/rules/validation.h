// Validation of requests. Every engine uses it before it acts, so that the same bad input gets the
// same error everywhere. Pure functions.
//
// `check_…` returns the error, or nothing. Errors name the value and the limit: `too_large` if a
// size is over its limit, otherwise `invalid_argument`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/limits.h"
#include "core/request.h"

namespace tarry::core {

using MaybeError = std::optional<Error>;

/// `what` names the value in the error; a time span is shown as a duration.
[[nodiscard]] MaybeError check_number(std::string_view what, std::uint64_t value, std::uint64_t min,
                                      std::uint64_t max);
[[nodiscard]] MaybeError check_span(std::string_view what, Millis value, std::int64_t min_ms,
                                    std::int64_t max_ms);

/// 1 to 127 of A-Z a-z 0-9 and -+/;.$_():@ not beginning with '-' (beanstalkd's tube names fit).
[[nodiscard]] MaybeError check_queue_name(std::string_view name);
/// For a request that would create the queue: it also refuses `.` and `..`.
[[nodiscard]] MaybeError check_new_queue(std::string_view name);
/// 1 to 512 bytes of any value.
[[nodiscard]] MaybeError check_key(std::string_view key);
[[nodiscard]] MaybeError check_due(Due due);
[[nodiscard]] MaybeError check_lease(std::optional<Millis> lease);
[[nodiscard]] MaybeError check_receipt(std::string_view receipt);
[[nodiscard]] MaybeError check_action(Action action);
[[nodiscard]] MaybeError check_patch(const SettingsPatch& patch, const QueueSettings& onto);

/// Together: at most kMaxHeaders bytes of names and values, and kMaxHeaderCount headers.
[[nodiscard]] MaybeError check_headers_size(std::size_t count, std::size_t bytes);

/// The size of a batch: at most kMaxBatch items and kMaxBatchBytes. Code that builds a batch also
/// calls this first.
[[nodiscard]] MaybeError check_batch(std::size_t items, std::uint64_t bytes);

/// Checks one item of a batch; its error does not affect the other items.
[[nodiscard]] MaybeError check_item(const PushRequest& request, const PushItem& item,
                                    const Limits& limits);
[[nodiscard]] MaybeError check_item(const MoveRequest& request, const MoveItem& item,
                                    const Limits& limits);
[[nodiscard]] MaybeError check_item(const RescheduleRequest& request, const RescheduleItem& item);
[[nodiscard]] MaybeError check_item(const SettleRequest& request, const SettleItem& item);
[[nodiscard]] MaybeError check_item(const ExtendRequest& request, const ExtendItem& item);

/// Checks the request as a whole: queue names, batch size, claim options. Items are not checked.
[[nodiscard]] MaybeError check_request(const Request& request);

}  // namespace tarry::core
