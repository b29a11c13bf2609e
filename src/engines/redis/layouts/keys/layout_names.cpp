#include "engines/redis/layouts/keys/layout_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "core/rules/validation.h"

namespace tarry::redis {
namespace {

constexpr std::string_view kQueueSlot = "{queue}";
constexpr std::uint64_t kMostOfRange = 1'000'000;

Unexpected wrong_name(std::string_view option, std::string_view name, std::string_view why) {
  return {ErrorCode::invalid_argument,
          "option " + std::string(option) + " " + base::quoted(name) + " " + std::string(why)};
}

// A range {A..B} within a name.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;  // after the closing brace
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t digits = 0;  // the least number of digits: {00..09} keeps its zeros
};

// Braces may stand in keys for other reasons: only the exact form counts.
std::optional<Range> find_range(std::string_view name, std::size_t from = 0) {
  for (std::size_t open = name.find('{', from); open != std::string_view::npos;
       open = name.find('{', open + 1)) {
    const std::size_t dots = name.find("..", open);
    const std::size_t close = name.find('}', open);
    if (dots == std::string_view::npos || close == std::string_view::npos || dots > close) continue;
    const auto first =
        base::parse_u64(name.substr(open + 1, dots - open - 1), "first", 0, kMostOfRange);
    const auto last =
        base::parse_u64(name.substr(dots + 2, close - dots - 2), "last", 0, kMostOfRange);
    if (!first || !last) continue;
    const std::string_view texts[] = {name.substr(open + 1, dots - open - 1),
                                      name.substr(dots + 2, close - dots - 2)};
    Range range{open, close + 1, *first, *last};
    for (const std::string_view text : texts) {
      if (text.size() > 1 && text.front() == '0') {
        range.digits = std::max(texts[0].size(), texts[1].size());
      }
    }
    return range;
  }
  return std::nullopt;
}

bool has_queue(std::string_view name) { return name.find(kQueueSlot) != std::string_view::npos; }

std::string with_queue(std::string name, std::string_view queue) {
  for (std::size_t at = name.find(kQueueSlot); at != std::string::npos;
       at = name.find(kQueueSlot, at + queue.size())) {
    name.replace(at, kQueueSlot.size(), queue);
  }
  return name;
}

Result<void> check_name(std::string_view option, std::string_view name) {
  const auto range = find_range(name);
  if (!range) return {};
  if (range->first > range->last) return wrong_name(option, name, "counts backwards");
  if (range->last - range->first >= kMaxLayoutKeys) {
    return wrong_name(
        option, name,
        "names " + std::to_string(range->last - range->first + 1) + " keys; 256 is the limit");
  }
  if (find_range(name, range->end)) return wrong_name(option, name, "holds {A..B} twice");
  return {};
}

std::vector<std::string> expand(const std::string& name) {
  const auto range = find_range(name);
  if (!range) return {name};
  std::vector<std::string> names;
  for (std::uint64_t i = range->first; i <= range->last; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < range->digits) number.insert(0, range->digits - number.size(), '0');
    names.push_back(name.substr(0, range->begin) + number + name.substr(range->end));
  }
  return names;
}

// The queue's name without the range: "delayqueue:{0..9}" gives "delayqueue".
std::string queue_from(std::string name) {
  if (const auto range = find_range(name)) {
    name.erase(range->begin, range->end - range->begin);
    while (!name.empty() && std::string_view(":._-/").find(name.back()) != std::string_view::npos) {
      name.pop_back();
    }
  }
  return name;
}

Error must_not(std::string_view option, Layout layout, std::string_view goes_with) {
  return {ErrorCode::invalid_argument,
          "option " + std::string(option) + " goes with layout=" + std::string(goes_with) +
              ", and this is layout=" + std::string(to_string(layout))};
}

// Redisson's rule: a name with a brace already has the part that determines the slot.
std::string prefixed(std::string_view prefix, const std::string& name) {
  if (name.find('{') != std::string::npos) return std::string(prefix) + ":" + name;
  return std::string(prefix) + ":{" + name + "}";
}

std::optional<Error> misplaced(const LayoutSpec& spec) {
  const bool redisson = spec.layout == Layout::redisson;
  if (redisson && !spec.zset.empty()) return must_not("zset", spec.layout, "plain or hash");
  if (redisson && spec.seconds) return must_not("unit", spec.layout, "plain or hash");
  if (!redisson && !spec.list.empty()) return must_not("list", spec.layout, "redisson");
  if (!redisson && spec.decode != Decode::automatic)
    return must_not("decode", spec.layout, "redisson");
  if (!redisson && spec.entry != EntryForm::automatic) {
    return must_not("entry", spec.layout, "redisson");
  }
  if (!redisson && spec.through_list) return must_not("claim", spec.layout, "redisson");
  if (spec.layout != Layout::hash && !spec.hash.empty()) {
    return must_not("hash", spec.layout, "hash");
  }
  if (spec.layout == Layout::hash && spec.hash.empty()) {
    return Error{ErrorCode::invalid_argument, "layout=hash needs hash=NAME, where the bodies are"};
  }
  return std::nullopt;
}

}  // namespace

Result<LayoutNames> LayoutNames::make(const LayoutSpec& spec) {
  if (auto error = misplaced(spec)) return *std::move(error);
  LayoutNames names(spec);
  const bool redisson = spec.layout == Layout::redisson;
  std::string& main = redisson ? names.spec_.list : names.spec_.zset;
  if (main.empty()) main = kQueueSlot;
  const std::string_view option = redisson ? "list" : "zset";
  if (auto done = check_name(option, main); !done) return std::move(done).error();
  if (auto done = check_name("hash", spec.hash); !done) return std::move(done).error();
  if (redisson && find_range(main)) {
    return wrong_name(option, main, "names several lists; one a queue is the limit");
  }
  const std::size_t bodies = expand(spec.hash).size();
  if (bodies != 1 && bodies != expand(main).size()) {
    return wrong_name("hash", spec.hash,
                      "names " + std::to_string(bodies) + " keys, and zset " +
                          std::to_string(expand(main).size()) + "; it must be one, or as many");
  }
  if (spec.layout == Layout::hash && has_queue(main) != has_queue(spec.hash)) {
    return wrong_name("hash", spec.hash,
                      "and zset " + base::quoted(main) +
                          " must both hold {queue}, or neither: queues would share bodies");
  }
  if (has_queue(main)) {
    if (spec.queue.empty()) return names;
    return wrong_name("queue", spec.queue, "does not go with {queue} in the name of a key");
  }
  names.only_ = spec.queue.empty() ? queue_from(main) : spec.queue;
  if (core::check_queue_name(names.only_)) {
    return wrong_name("queue", spec.queue,
                      "must name the queue that " + std::string(option) + " " + base::quoted(main) +
                          " is: 1 to 127 of A-Z a-z 0-9 and -+/;.$_():@");
  }
  return names;
}

Result<LayoutKeysPtr> LayoutNames::keys_of(std::string_view queue) const {
  const bool redisson = spec_.layout == Layout::redisson;
  const std::string& main = redisson ? spec_.list : spec_.zset;
  if (!only_.empty() && queue != only_) {
    return Unexpected(ErrorCode::not_found, "queue " + base::quoted(queue) +
                                                " is not in this store: layout " +
                                                std::string(to_string(spec_.layout)) + " with " +
                                                (redisson ? "list=" : "zset=") + main +
                                                " has the one queue " + base::quoted(only_));
  }
  auto keys = std::make_shared<LayoutKeys>();
  keys->queue = queue;
  const std::string name = with_queue(main, queue);
  if (redisson) {
    keys->zsets = {prefixed("redisson_delay_queue_timeout", name)};
    keys->bodies = {prefixed("redisson_delay_queue", name), name};
    keys->channel = prefixed("redisson_delay_queue_channel", name);
  } else {
    keys->zsets = expand(name);
    if (spec_.layout == Layout::hash) keys->bodies = expand(with_queue(spec_.hash, queue));
  }
  keys->aside = "tarry:aside:" + name;
  keys->leases = "tarry:lease:" + name + ":";
  return LayoutKeysPtr(std::move(keys));
}

}  // namespace tarry::redis
