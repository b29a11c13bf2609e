#include "schedule/schedules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/engine.h"
#include "schedule/calendar/recurrence.h"
#include "schedule/names.h"
#include "schedule/steps.h"

namespace tarry::schedule {
namespace {

constexpr std::uint32_t kPage = 1'000;

Queue schedules_of(const Store& store) { return store.queue(kSchedulesQueue); }
Queue timers_of(const Store& store) { return store.queue(kTimersQueue); }

Result<void> push_first_timer(const Store& store, std::string_view name) {
  const std::string key = first_timer_key(name);
  const auto pushed = timers_of(store).push({.key = key, .max_attempts = kTimerAttempts});
  return pushed ? Result<void>() : Result<void>(pushed.error());
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

/// The nominal time of each schedule's next occurrence.
using NextOccurrences = std::map<std::string, Time, std::less<>>;

/// Finds the next occurrences of the schedules whose names begin with `prefix`.
Result<NextOccurrences> next_occurrences(const Store& store, std::string_view prefix) {
  NextOccurrences found;
  auto done = each_message(timers_of(store), prefix, [&](const MessageInfo& info) {
    const auto timer = parse_timer(info.key);
    if (!timer || !timer->nominal || info.state == State::dead) return;
    const auto [at, is_first] = found.emplace(timer->name, *timer->nominal);
    if (!is_first) at->second = std::min(at->second, *timer->nominal);
  });
  if (!done) return done.error();
  return found;
}

Listed listed(Definition definition, const NextOccurrences& found) {
  Listed each{std::move(definition), {}, {}};
  if (const auto at = found.find(each.definition.name); at != found.end()) {
    each.next = each.due = at->second;
    if (each.definition.recurrence.jitter.count() > 0) {
      const auto recurrence = Recurrence::make(each.definition.recurrence);
      if (recurrence) each.due = recurrence->with_jitter(each.definition.name, at->second);
    }
  }
  return each;
}

/// Names and definitions are checked before the store.
template <typename T>
Result<T> run_checked(const Store& store, Step<T> step) {
  if (!step.end) {
    if (auto good = check_store(store); !good) return good.error();
  }
  return run(store, std::move(step));
}

}  // namespace

Result<void> check_store(const Store& store) { return check_can(store.engine().capabilities()); }

Result<bool> put(const Store& store, const Definition& definition) {
  return run_checked(store, put_step(definition));
}

Result<Definition> get(const Store& store, std::string_view name) {
  return run_checked(store, get_step(name));
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
  const auto found = next_occurrences(store, "");
  if (!found) return found.error();
  std::map<std::string, Definition, std::less<>> by_name;  // a page may repeat one of another page
  std::string after;
  do {
    auto page = run(store, page_step("", std::move(after), kPage));
    if (!page) return std::move(page).error();
    for (Definition& each : page->definitions) by_name[each.name] = std::move(each);
    after = std::move(page->next);
  } while (!after.empty());
  std::vector<Listed> all;
  for (auto& [name, definition] : by_name) all.push_back(listed(std::move(definition), *found));
  return all;
}

Result<void> remove(const Store& store, std::string_view name) {
  const auto removed = run_checked(store, remove_step(name));
  return removed ? Result<void>() : Result<void>(removed.error());
}

Result<void> pause(const Store& store, std::string_view name, bool paused) {
  const auto done = run_checked(store, pause_step(name, paused));
  return done ? Result<void>() : Result<void>(done.error());
}

Result<std::string> run_now(const Store& store, std::string_view name) {
  return run_checked(store, run_now_step(name));
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
