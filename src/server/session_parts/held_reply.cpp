#include "server/session_parts/held_reply.h"

#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace tarry::session {
namespace {

core::ClaimReply receipts_of(const core::ClaimReply& reply) {
  std::size_t bytes = 0;
  for (const core::ClaimedItem& item : reply.items) bytes += item.receipt.size;
  core::ClaimReply receipts;
  receipts.settled = reply.settled;
  receipts.items.reserve(reply.items.size());
  receipts.bytes.reserve(bytes);
  for (const core::ClaimedItem& item : reply.items) {
    receipts.items.emplace_back().receipt =
        core::append(receipts.bytes, core::view(reply.bytes, item.receipt));
  }
  return receipts;
}

}  // namespace

std::uint64_t size_of(const core::Reply& reply) noexcept {
  return std::visit(
      [](const auto& said) -> std::uint64_t {
        using Said = std::decay_t<decltype(said)>;
        if constexpr (std::is_same_v<Said, core::ClaimReply>) {
          return said.bytes.size() + said.items.size() * sizeof(core::ClaimedItem);
        } else if constexpr (std::is_same_v<Said, core::GetReply> ||
                             std::is_same_v<Said, core::ListReply>) {
          return said.bytes;
        } else if constexpr (std::is_same_v<Said, StoreStats>) {
          return said.queues.size() * sizeof(QueueStats);
        } else if constexpr (std::is_same_v<Said, core::ForecastReply>) {
          return said.buckets.size() * sizeof(std::uint64_t);
        } else {
          return 0;  // not counted: a few words for each item of the request
        }
      },
      reply);
}

HeldReply::HeldReply(Result<core::Reply> result, std::atomic<std::uint64_t>& sum,
                     std::uint64_t limit)
    : result_(std::move(result)), sum_(&sum) {
  if (!result_) return;
  bytes_ = size_of(*result_);
  refused_ = sum_->fetch_add(bytes_) > limit;
  if (refused_) shed();
}

HeldReply::HeldReply(HeldReply&& other) noexcept
    : result_(std::move(other.result_)),
      sum_(other.sum_),
      bytes_(std::exchange(other.bytes_, 0)),
      refused_(other.refused_) {}

HeldReply::~HeldReply() { sum_->fetch_sub(bytes_); }

void HeldReply::shed() noexcept {
  try {
    const auto* claimed = std::get_if<core::ClaimReply>(&*result_);
    core::ClaimReply left = claimed != nullptr ? receipts_of(*claimed) : core::ClaimReply();
    *result_ = core::Reply(std::move(left));
  } catch (const std::bad_alloc&) {
    return;  // the reply stays whole until its messages are released
  }
  const std::uint64_t left = size_of(*result_);
  sum_->fetch_sub(bytes_ - left);
  bytes_ = left;
}

}  // namespace tarry::session
