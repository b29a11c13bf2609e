#include "core/engine_parts/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/assert.h"
#include "base/hash.h"
#include "core/limits.h"

namespace tarry::core {
namespace {

// The longest window of a push is divided into this many slots.
constexpr std::int64_t kSlots = 100;

// The fractions of the multiples of this number are the most even sequence: any run of them leaves
// no gap that is more than about twice another.
constexpr double kGolden = 0.6180339887498949;

double golden(std::uint64_t n) {
  double whole = 0;
  return std::modf(kGolden * static_cast<double>(n + 1), &whole);
}

Millis part_of(Millis span, double share) {
  const auto ms = static_cast<std::int64_t>(static_cast<double>(span.count()) * share);
  return Millis(std::clamp<std::int64_t>(ms, 0, span.count()));
}

// A message whose spread or due time is invalid is left for the engine to refuse.
bool is_spread(const PushItem& item) noexcept {
  if (item.spread <= Millis(0) || item.spread.count() > kMaxSpreadMs) return false;
  const std::int64_t due = item.due.millis();
  return due >= 0 && (!item.due.is_relative() || due <= kMaxDelayMs);
}

// How long after now the window begins.
Millis start_of(const PushItem& item, const SpreadTime& now) {
  if (item.due.is_relative()) return Millis(item.due.millis());
  return Millis(std::clamp<std::int64_t>(item.due.millis() - now.real_ms, 0, kMaxDelayMs));
}

void move_by(PushItem& item, Millis delay) {
  const Millis due = Millis(item.due.millis()) + delay;
  item.due = item.due.is_relative() ? Due::after(due) : Due::at(Time(due));
  item.spread = Millis(0);
}

// What a calendar must have, so that the windows of a push have slots while it is fresh.
struct Needed {
  Millis width;
  Millis end;
};

Needed needed_by(const PushRequest& push, const SpreadTime& now) {
  Millis longest{0};
  Millis end{0};
  for (const PushItem& item : push.items) {
    if (!is_spread(item)) continue;
    longest = std::max(longest, item.spread);
    end = std::max(end, start_of(item, now) + item.spread);
  }
  end += SpreadCalendars::kFresh;
  // The most buckets of a forecast limit how fine the slots can be if the window is far away.
  const std::int64_t finest = (end.count() + kMaxForecastBuckets - 2) / (kMaxForecastBuckets - 1);
  const std::int64_t width = std::max({std::int64_t{1}, longest.count() / kSlots, finest});
  return {Millis(width), end};
}

}  // namespace

bool spreads(const Request& request) noexcept {
  const auto* push = std::get_if<PushRequest>(&request);
  return push != nullptr && std::ranges::any_of(push->items, is_spread);
}

SpreadCalendar::SpreadCalendar(Millis width, std::vector<std::uint64_t> counts) : width_(width) {
  TARRY_ASSERT(width > Millis(0));
  slots_.reserve(counts.size());
  for (const std::uint64_t count : counts) slots_.push_back({static_cast<double>(count)});
}

Millis SpreadCalendar::place(Millis start, Millis spread) {
  const std::uint64_t turn = placed_++;
  const auto first = static_cast<std::size_t>(start / width_);
  const auto last = static_cast<std::size_t>((start + spread) / width_);
  if (last >= slots_.size()) return start + part_of(spread, golden(turn));

  const std::size_t count = last - first + 1;
  // Equally empty slots are taken in an order that is even too.
  const auto offset = static_cast<std::size_t>(golden(turn) * static_cast<double>(count));
  std::size_t chosen = 0;
  double least = std::numeric_limits<double>::infinity();
  Millis chosen_from = start;
  Millis chosen_length{0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = first + (i + offset) % count;
    const Millis from = std::max(start, width_ * static_cast<std::int64_t>(slot));
    const Millis to = std::min(start + spread, width_ * static_cast<std::int64_t>(slot + 1));
    if (to <= from) continue;
    // A slot at the window's edge may reach beyond the window. Only its inner part can be used,
    // and that part fills up sooner.
    const double share =
        static_cast<double>((to - from).count()) / static_cast<double>(width_.count());
    const double full = slots_[slot].others + static_cast<double>(slots_[slot].placed + 1) / share;
    if (full >= least) continue;
    least = full;
    chosen = slot;
    chosen_from = from;
    chosen_length = to - from;
  }
  if (chosen_length == Millis(0)) return start;
  const std::uint64_t before = slots_[chosen].placed++;
  return chosen_from + part_of(chosen_length, golden(before));
}

ForecastRequest SpreadCalendars::question(const PushRequest& push, const SpreadTime& now) {
  const Needed needed = needed_by(push, now);
  const std::int64_t buckets = needed.end / needed.width + 1;
  return {push.queue, needed.width,
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(buckets, 1, kMaxForecastBuckets))};
}

void SpreadCalendars::place_all(PushRequest& push, SpreadCalendar& calendar, Millis age,
                                const SpreadTime& now) {
  for (PushItem& item : push.items) {
    if (!is_spread(item)) continue;
    const Millis start = start_of(item, now) + age;
    move_by(item, calendar.place(start, item.spread) - start);
  }
}

bool SpreadCalendars::plan(PushRequest& push, const SpreadTime& now) {
  const Needed needed = needed_by(push, now);
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(push.queue);
  if (found == kept_.end()) return false;
  Kept& kept = found->second;
  const auto age = Millis(std::max<std::int64_t>(now.boot_ms - kept.made_ms, 0));
  if (kept.calendar.width() > 2 * needed.width || kept.calendar.end() < needed.end) return false;
  if (age > kFresh) {
    const bool is_asked = Millis(now.boot_ms - kept.asked_ms) <= kFresh;
    if (age > kStale || !is_asked) {
      kept.asked_ms = now.boot_ms;
      return false;
    }
  }
  place_all(push, kept.calendar, age, now);
  return true;
}

void SpreadCalendars::plan(PushRequest& push, const ForecastRequest& asked,
                           const ForecastReply& reply, const SpreadTime& now) {
  SpreadCalendar calendar(asked.width, reply.buckets);
  place_all(push, calendar, Millis(0), now);
  const std::scoped_lock lock(mutex_);
  if (kept_.size() >= kMaxQueues && !kept_.contains(push.queue)) {
    kept_.erase(std::ranges::min_element(kept_, {},
                                         [](const auto& entry) { return entry.second.made_ms; }));
  }
  kept_.insert_or_assign(push.queue, Kept{std::move(calendar), now.boot_ms, now.boot_ms});
}

void SpreadCalendars::plan_by_key(PushRequest& push) {
  constexpr double kHashes = 18'446'744'073'709'551'616.0;  // 2^64
  for (PushItem& item : push.items) {
    if (!is_spread(item)) continue;
    double share = 0;
    if (item.key.size > 0) {
      share = static_cast<double>(base::keyed_hash(view(push.bytes, item.key), 0)) / kHashes;
    } else {
      const std::scoped_lock lock(mutex_);
      share = golden(nameless_++);
    }
    move_by(item, part_of(item.spread, share));
  }
}

}  // namespace tarry::core
