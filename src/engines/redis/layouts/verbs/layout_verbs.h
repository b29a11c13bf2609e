// The verbs on a layout's queues: each checks its request, asks Redis, and completes the request.
//
// Thread safety: none; on the io_context's thread. A completion may run before
// the function returns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/redis/layouts/keys/layout_call.h"
#include "engines/redis/verbs/asked.h"

namespace tarry::redis {

void layout_push(const LayoutContext& context, const AskedPtr& asked);
void layout_cancel(const LayoutContext& context, const AskedPtr& asked);
void layout_reschedule(const LayoutContext& context, const AskedPtr& asked);
void layout_get(const LayoutContext& context, const AskedPtr& asked);
void layout_settle(const LayoutContext& context, const AskedPtr& asked);
void layout_extend(const LayoutContext& context, const AskedPtr& asked);
void layout_list(const LayoutContext& context, const AskedPtr& asked);
void layout_purge(const LayoutContext& context, const AskedPtr& asked);
void layout_forecast(const LayoutContext& context, const AskedPtr& asked);
/// Answers for these queues. The engine adds waiting claims and lateness.
void layout_stats(const LayoutContext& context, std::vector<std::string> queues,
                  const AskedPtr& asked);

/// The error "layout plain cannot ...", for a request that the layout's keys cannot express.
[[nodiscard]] Error unsupported_by(Layout layout, std::string_view what);
/// The error for a score that can only be in the other unit.
[[nodiscard]] Error wrong_unit(const LayoutSpec& spec, const LayoutKeys& keys,
                               std::string_view score);
/// The error for a request that the layout refuses as a whole: pause, settings and the like.
/// Default settings are not refused.
[[nodiscard]] std::optional<Error> refusal_of(Layout layout, const core::Request& request);

/// A receipt names the queue, the lease and, with its nonce, the claim.
struct LayoutReceipt {
  std::string_view digest;
  std::string_view nonce;
  std::string_view queue;
};
inline constexpr std::size_t kDigestDigits = 40;
inline constexpr std::size_t kNonceDigits = 16;
[[nodiscard]] std::string spell_layout_receipt(const LayoutReceipt& receipt);
/// Nothing for text that is no such receipt.
[[nodiscard]] std::optional<LayoutReceipt> parse_layout_receipt(std::string_view text) noexcept;

}  // namespace tarry::redis
