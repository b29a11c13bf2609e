#include <tarry/queue.h>

#include <utility>

#include "core/headers.h"
#include "core/reply.h"

namespace tarry {
namespace {

Time moment(std::int64_t ms) noexcept { return Time(Millis(ms)); }

}  // namespace

Delivery::Delivery(std::shared_ptr<const core::ClaimReply> reply, std::size_t index) noexcept
    : reply_(std::move(reply)), index_(index) {}

std::string_view Delivery::queue() const noexcept {
  return core::view(reply_->bytes, reply_->items[index_].queue);
}

std::uint64_t Delivery::id() const noexcept { return reply_->items[index_].id; }

std::string_view Delivery::key() const noexcept {
  return core::view(reply_->bytes, reply_->items[index_].key);
}

std::string_view Delivery::payload() const noexcept {
  return core::view(reply_->bytes, reply_->items[index_].payload);
}

Headers Delivery::headers() const {
  // The engine has checked them at claim (guarantee 6), so there is no error to tell of.
  return core::decode_headers(core::view(reply_->bytes, reply_->items[index_].headers))
      .value_or(Headers());
}

std::optional<std::string_view> Delivery::header(std::string_view name) const noexcept {
  return core::find_header(core::view(reply_->bytes, reply_->items[index_].headers), name);
}

Time Delivery::due() const noexcept { return moment(reply_->items[index_].due_ms); }

Time Delivery::claimed_at() const noexcept { return moment(reply_->items[index_].claimed_ms); }

Millis Delivery::lateness() const noexcept { return claimed_at() - due(); }

Millis Delivery::lease() const noexcept { return Millis(reply_->items[index_].lease_ms); }

std::uint32_t Delivery::attempt() const noexcept { return reply_->items[index_].attempt; }

std::uint32_t Delivery::priority() const noexcept { return reply_->items[index_].priority; }

Tallies Delivery::tallies() const noexcept { return reply_->items[index_].tallies; }

std::string_view Delivery::receipt() const noexcept {
  return core::view(reply_->bytes, reply_->items[index_].receipt);
}

}  // namespace tarry
