#include "server/beanstalk/job_ids.h"

#include <charconv>
#include <string>

#include "base/assert.h"
#include "core/limits.h"

namespace tarry::beanstalk {
namespace {

constexpr std::uint64_t kClassBits = 6;
constexpr std::uint64_t kPlaceBits = 5;
constexpr std::uint64_t kClasses = 1u << kClassBits;
constexpr std::uint64_t kPlaces = 1u << kPlaceBits;
// As many blocks are got at once, so that one job in hundreds waits for a block.
constexpr std::size_t kBlocks = 64;

std::uint64_t place_of(std::uint64_t job) noexcept { return (job >> kClassBits) % kPlaces; }

std::optional<std::uint64_t> number_of(std::string_view key) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error != std::errc() || end != key.data() + key.size() || key.front() == '0') {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::size_t JobIds::left() const noexcept {
  return blocks_.empty() ? 0 : blocks_.size() * (kPlaces - 1) - (place_ - 1);
}

std::uint64_t JobIds::take(std::string_view tube) noexcept {
  TARRY_ASSERT(!blocks_.empty());
  const std::uint64_t job = (blocks_.front() * kPlaces + place_) * kClasses + class_of(tube);
  if (++place_ == kPlaces) {
    blocks_.pop_front();
    place_ = 1;
  }
  return job;
}

core::PushRequest JobIds::more() {
  core::PushRequest request;
  request.queue = kIdQueue;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    core::PushItem& item = request.items.emplace_back();
    item.key = core::append(request.bytes, std::to_string(i));
    item.due = Due::after(Millis(core::kMaxDelayMs));
    item.if_exists = IfExists::replace;
  }
  return request;
}

void JobIds::add(const core::PushReply& reply) {
  for (const core::PushResult& item : reply.items) {
    const bool is_new = item.outcome == Outcome::pushed || item.outcome == Outcome::replaced;
    if (!item.error && is_new) blocks_.push_back(item.id);
  }
}

std::uint64_t class_of(std::string_view tube) noexcept {
  // FNV-1a: the value is part of numbers that clients keep, so it never changes.
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : tube) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return (hash ^ (hash >> 32)) % kClasses;
}

bool is_key_of_job(std::uint64_t job) noexcept { return place_of(job) != 0; }

bool may_be_in(std::uint64_t job, std::string_view tube) noexcept {
  return is_key_of_job(job) && job % kClasses == class_of(tube);
}

std::uint64_t job_of(std::string_view tube, std::string_view key, std::uint64_t id) noexcept {
  if (const auto number = number_of(key); number && may_be_in(*number, tube)) return *number;
  return id * kPlaces * kClasses;
}

}  // namespace tarry::beanstalk
