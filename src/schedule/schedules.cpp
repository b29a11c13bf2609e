#include "schedule/schedules.h"

#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/engine.h"
#include "schedule/names.h"
#include "schedule/scheduler.h"

namespace tarry::schedule {
namespace {

constexpr std::uint32_t kPage = 1'000;
// Definitions are not meant to fall due. A message may wait for 36,525 days at most.
constexpr Due kNever = Due::after(std::chrono::days(36'000));

Queue schedules_of(const Store& store) { return store.queue(kSchedulesQueue); }
Queue timers_of(const Store& store) { return store.queue(kTimersQueue); }

Error no_schedule(std::string_view name) {
  return {ErrorCode::not_found, "there is no schedule " + base::quoted(name)};
}

Result<void> store_definition(const Store& store, const Definition& definition) {
  const std::string payload = encode(definition);
  const auto pushed = schedules_of(store).push(
      {.key = definition.name, .payload = payload, .due = kNever, .if_exists = IfExists::replace});
  if (!pushed) return pushed.error();
  if (pushed->outcome != Outcome::in_flight) return {};
  return Error{ErrorCode::conflict, "schedule " + base::quoted(definition.name) +
                                        ": somebody has claimed its message in the queue " +
                                        std::string(kSchedulesQueue) + "; settle it"};
}

Result<void> push_first_timer(const Store& store, std::string_view name) {
  const std::string key = first_timer_key(name);
  const auto pushed = timers_of(store).push({.key = key, .max_attempts = 65'535});
  return pushed ? Result<void>() : Result<void>(pushed.error());
}

Result<Definition> read(std::string_view name, const Result<MessageInfo>& info) {
  if (!info && info.error().code != ErrorCode::not_found) return info.error();
  if (!info || info->state == State::remembered) return no_schedule(name);
  return decode(name, info->payload, wire::Unknown::ignored);
}

/// Calls `each` with every message of the queue whose key begins with `prefix`.
template <typename Each>
Result<void> each_message(const Queue& queue, std::string_view prefix, Each each) {
  ListOptions options;
  options.limit = kPage;
  options.prefix = prefix;
  options.whole = true;
  do {
    auto page = queue.list(options);
    if (!page) {
      if (page.error().code == ErrorCode::not_found) return {};
      return page.error();
    }
    for (const MessageInfo& info : page->messages) {
      if (info.state != State::remembered) each(info);
    }
    options.after = std::move(page->next);
  } while (!options.after.empty());
  return {};
}

/// The next occurrence of each schedule whose name begins with `prefix`.
struct NextOccurrence {
  Time nominal;
  Time due;
};
using NextOccurrences = std::map<std::string, NextOccurrence, std::less<>>;

Result<NextOccurrences> next_occurrences(const Store& store, std::string_view prefix) {
  NextOccurrences found;
  auto done = each_message(timers_of(store), prefix, [&](const MessageInfo& info) {
    const auto timer = parse_timer(info.key);
    if (!timer || !timer->nominal || info.state == State::dead) return;
    const auto [at, is_first] =
        found.emplace(timer->name, NextOccurrence{*timer->nominal, info.due});
    if (!is_first && *timer->nominal < at->second.nominal) {
      at->second = {*timer->nominal, info.due};
    }
  });
  if (!done) return done.error();
  return found;
}

Listed listed(Definition definition, const NextOccurrences& found) {
  Listed each{std::move(definition), {}, {}};
  if (const auto at = found.find(each.definition.name); at != found.end()) {
    each.next = at->second.nominal;
    each.due = at->second.due;
  }
  return each;
}

}  // namespace

Result<void> check_store(const Store& store) {
  if (Scheduler::is_possible(store)) return {};
  return Error{ErrorCode::unsupported, "this store, " + store.engine().capabilities().keeper() +
                                           ", cannot keep schedules: they need keys, leases, "
                                           "headers and dead messages"};
}

Result<bool> put(const Store& store, const Definition& definition) {
  if (auto good = check(definition); !good) return good.error();
  if (auto good = check_store(store); !good) return good.error();
  const auto before = schedules_of(store).get(definition.name);
  if (!before && before.error().code != ErrorCode::not_found) return before.error();
  const bool is_new = !before || before->state == State::remembered;
  if (is_new) {
    const auto stats = schedules_of(store).stats();
    if (!stats && stats.error().code != ErrorCode::not_found) return stats.error();
    if (stats && stats->scheduled >= kMaxSchedules) {
      return Error{ErrorCode::too_large, "schedule " + base::quoted(definition.name) +
                                             ": the store has " + std::to_string(stats->scheduled) +
                                             " schedules already; the limit is " +
                                             std::to_string(kMaxSchedules)};
    }
  }
  if (auto stored = store_definition(store, definition); !stored) return stored.error();
  if (auto pushed = push_first_timer(store, definition.name); !pushed) return pushed.error();
  return is_new;
}

Result<Definition> get(const Store& store, std::string_view name) {
  if (auto good = check_name(name); !good) return good.error();
  if (auto good = check_store(store); !good) return good.error();
  return read(name, schedules_of(store).get(name));
}

Result<Listed> show(const Store& store, std::string_view name) {
  auto definition = get(store, name);
  if (!definition) return std::move(definition).error();
  const auto found = next_occurrences(store, std::string(name) + "@");
  if (!found) return found.error();
  return listed(*std::move(definition), *found);
}

Result<std::vector<Listed>> list(const Store& store) {
  if (auto good = check_store(store); !good) return good.error();
  std::set<std::string, std::less<>> names;
  auto done = each_message(schedules_of(store), "",
                           [&](const MessageInfo& info) { names.insert(info.key); });
  if (!done) return done.error();
  const auto found = next_occurrences(store, "");
  if (!found) return found.error();
  std::vector<Listed> all;
  for (auto name = names.begin(); name != names.end();) {
    std::vector<std::string_view> asked;
    for (auto each = name; each != names.end() && asked.size() < kPage; ++each) {
      asked.push_back(*each);
    }
    const auto infos = schedules_of(store).get(asked);
    if (!infos) return infos.error();
    for (const auto& info : *infos) {
      // The answer is full: the next request begins here.
      if (!info && info.error().code == ErrorCode::too_large) break;
      auto definition = read(*name, info);
      ++name;
      if (definition) all.push_back(listed(*std::move(definition), *found));
    }
  }
  return all;
}

Result<void> remove(const Store& store, std::string_view name) {
  if (auto good = check_name(name); !good) return good;
  if (auto good = check_store(store); !good) return good;
  const auto cancelled = schedules_of(store).cancel(name);
  if (!cancelled) return cancelled.error();
  if (cancelled->outcome == Outcome::unknown || cancelled->outcome == Outcome::settled) {
    return no_schedule(name);
  }
  // Timers without a schedule do nothing; they are cancelled so that nobody wonders about them.
  std::vector<std::string> keys;
  auto done = each_message(timers_of(store), std::string(name) + "@", [&](const MessageInfo& info) {
    if (keys.size() < kPage) keys.push_back(info.key);
  });
  if (!done) return done;
  if (keys.empty()) return {};
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto ended = timers_of(store).cancel(views);
  return ended ? Result<void>() : Result<void>(ended.error());
}

Result<void> pause(const Store& store, std::string_view name, bool paused) {
  auto definition = get(store, name);
  if (!definition) return definition.error();
  if (definition->paused == paused) return {};
  definition->paused = paused;
  return store_definition(store, *definition);
}

Result<std::string> run_now(const Store& store, std::string_view name) {
  const auto definition = get(store, name);
  if (!definition) return definition.error();
  std::string key = run_key(name);
  const auto pushed = store.queue(definition->queue)
                          .push({.key = key,
                                 .payload = definition->payload,
                                 .headers = definition->headers,
                                 .priority = definition->priority,
                                 .if_exists = IfExists::reject});
  if (!pushed) return pushed.error();
  return key;
}

Result<void> restore_timers(const Store& store) {
  std::set<std::string, std::less<>> names;
  auto done = each_message(schedules_of(store), "",
                           [&](const MessageInfo& info) { names.insert(info.key); });
  if (!done || names.empty()) return done;
  done = each_message(timers_of(store), "", [&](const MessageInfo& info) {
    const auto timer = parse_timer(info.key);
    if (!timer || info.state == State::dead) return;
    if (const auto found = names.find(timer->name); found != names.end()) names.erase(found);
  });
  if (!done) return done;
  for (const std::string& name : names) {
    if (auto pushed = push_first_timer(store, name); !pushed) return pushed;
  }
  return {};
}

}  // namespace tarry::schedule
