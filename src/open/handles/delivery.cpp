#include <tarry/queue.h>

#include <utility>

#include "core/reply.h"
#include "core/rules/headers.h"

namespace tarry {
namespace {

Time moment(std::int64_t ms) noexcept { return Time(Millis(ms)); }

using Reply = std::shared_ptr<const core::ClaimReply>;

// A moved-from delivery has no reply; it gets an empty item.
const core::ClaimedItem& item_of(const Reply& reply, std::size_t index) noexcept {
  static const core::ClaimedItem kNone{};
  return reply ? reply->items[index] : kNone;
}

std::string_view view_of(const Reply& reply, const core::Slice& slice) noexcept {
  return reply ? core::view(reply->bytes, slice) : std::string_view();
}

}  // namespace

Delivery::Delivery(Reply reply, std::size_t index) noexcept
    : reply_(std::move(reply)), index_(index) {}

std::string_view Delivery::queue() const noexcept {
  return view_of(reply_, item_of(reply_, index_).queue);
}

std::uint64_t Delivery::id() const noexcept { return item_of(reply_, index_).id; }

std::string_view Delivery::key() const noexcept {
  return view_of(reply_, item_of(reply_, index_).key);
}

std::string_view Delivery::payload() const noexcept {
  return view_of(reply_, item_of(reply_, index_).payload);
}

Headers Delivery::headers() const {
  // The engine has checked the headers at the claim (guarantee 6), so no error can occur here.
  return core::decode_headers(view_of(reply_, item_of(reply_, index_).headers)).value_or(Headers());
}

std::optional<std::string_view> Delivery::header(std::string_view name) const noexcept {
  return core::find_header(view_of(reply_, item_of(reply_, index_).headers), name);
}

Time Delivery::due() const noexcept { return moment(item_of(reply_, index_).due_ms); }

Time Delivery::claimed_at() const noexcept { return moment(item_of(reply_, index_).claimed_ms); }

Millis Delivery::lateness() const noexcept { return claimed_at() - due(); }

Millis Delivery::lease() const noexcept { return Millis(item_of(reply_, index_).lease_ms); }

std::uint32_t Delivery::attempt() const noexcept { return item_of(reply_, index_).attempt; }

std::uint32_t Delivery::priority() const noexcept { return item_of(reply_, index_).priority; }

Tallies Delivery::tallies() const noexcept { return item_of(reply_, index_).tallies; }

std::string_view Delivery::receipt() const noexcept {
  return view_of(reply_, item_of(reply_, index_).receipt);
}

}  // namespace tarry
