#include "schedule/steps.h"

#include <memory>
#include <utility>

#include "base/text/text.h"
#include "open/handles/questions.h"
#include "schedule/names.h"

namespace tarry::schedule {
namespace {

constexpr std::uint32_t kMostTimers = 1'000;

std::string schedules_queue() { return std::string(kSchedulesQueue); }
std::string timers_queue() { return std::string(kTimersQueue); }

Error no_such(std::string_view name) {
  return {ErrorCode::not_found, "there is no schedule " + base::quoted(name)};
}

auto ask_one(std::string_view name) {
  return detail::single(detail::ask_get(schedules_queue(), {&name, 1}));
}

auto ask_push_one(std::string queue, const Push& message) {
  return detail::single(detail::ask_push(std::move(queue), {&message, 1}));
}

Result<Definition> read_stored(std::string_view name, const Result<MessageInfo>& info) {
  if (!info && info.error().code != ErrorCode::not_found) return info.error();
  if (!info || info->state == State::remembered) return no_such(name);
  return decode(name, info->payload, wire::Unknown::ignored);
}

Result<void> allowed(const May& may, const Definition& stored) {
  return may ? may(stored) : Result<void>();
}

/// Stores the definition, whether it is new or not.
Step<bool> store_step(const Definition& definition, bool is_new) {
  const std::string payload = encode(definition);
  return asks<bool>(
      ask_push_one(schedules_queue(), {.key = definition.name,
                                       .payload = payload,
                                       .due = kNeverDue,
                                       .if_exists = IfExists::replace}),
      [name = definition.name, is_new](const Result<Pushed>& pushed) {
        if (!pushed) return ended<bool>(pushed.error());
        if (pushed->outcome != Outcome::in_flight) return ended<bool>(is_new);
        return ended<bool>(
            Error{ErrorCode::conflict, "schedule " + base::quoted(name) +
                                           ": somebody has claimed its message in the queue " +
                                           std::string(kSchedulesQueue) + "; settle it"});
      });
}

Step<bool> begin_step(const Definition& definition, bool is_new) {
  return after<bool>(store_step(definition, is_new), [name = definition.name](bool added) {
    const std::string key = first_timer_key(name);
    return asks<bool>(ask_push_one(timers_queue(), {.key = key, .max_attempts = kTimerAttempts}),
                      [added](const Result<Pushed>& pushed) {
                        return ended(pushed ? Result<bool>(added) : Result<bool>(pushed.error()));
                      });
  });
}

Step<bool> add_step(const Definition& definition) {
  return asks<bool>(
      detail::ask_queue_stats(schedules_queue()), [definition](const Result<QueueStats>& stats) {
        if (!stats && stats.error().code != ErrorCode::not_found) {
          return ended<bool>(stats.error());
        }
        if (!stats || stats->scheduled < kMaxSchedules) {
          return begin_step(definition, true);
        }
        return ended<bool>(Error{ErrorCode::too_large, "schedule " + base::quoted(definition.name) +
                                                           ": the store has " +
                                                           std::to_string(stats->scheduled) +
                                                           " schedules already; the limit is " +
                                                           std::to_string(kMaxSchedules)});
      });
}

/// Timers without a schedule do nothing; they are cancelled so that nobody wonders about them.
Step<Definition> cancel_timers_step(Definition removed) {
  const std::string prefix = removed.name + "@";
  ListOptions options;
  options.limit = kMostTimers;
  options.prefix = prefix;
  options.whole = true;
  return asks<Definition>(detail::ask_list(timers_queue(), options),
                          [removed = std::move(removed)](const Result<Page>& page) mutable {
                            if (!page && page.error().code != ErrorCode::not_found) {
                              return ended<Definition>(page.error());
                            }
                            std::vector<std::string_view> keys;
                            if (page) {
                              for (const MessageInfo& info : page->messages) {
                                if (info.state != State::remembered) keys.push_back(info.key);
                              }
                            }
                            if (keys.empty()) return ended<Definition>(std::move(removed));
                            return asks<Definition>(
                                detail::ask_cancel(timers_queue(), keys),
                                [removed = std::move(removed)](const auto& done) mutable {
                                  return ended(done ? Result<Definition>(std::move(removed))
                                                    : Result<Definition>(done.error()));
                                });
                          });
}

using Read = std::shared_ptr<DefinitionPage>;

/// Reads the definitions of these names into the page.
Step<DefinitionPage> read_names_step(std::vector<std::string> names, Read page) {
  if (names.empty()) return ended<DefinitionPage>(std::move(*page));
  const std::vector<std::string_view> asked(names.begin(), names.end());
  return asks<DefinitionPage>(
      detail::ask_get(schedules_queue(), asked),
      [names = std::move(names), page = std::move(page)](const auto& infos) mutable {
        if (!infos) return ended<DefinitionPage>(infos.error());
        std::vector<std::string> left;
        for (std::size_t i = 0; i < names.size(); ++i) {
          const auto& info = (*infos)[i];
          if (!info && info.error().code == ErrorCode::too_large) {
            left.push_back(std::move(names[i]));  // the answer was full
          } else if (auto read = read_stored(names[i], info)) {
            page->definitions.push_back(*std::move(read));
          }
        }
        return read_names_step(std::move(left), std::move(page));
      });
}

}  // namespace

Result<void> check_can(const core::Capabilities& can) {
  if (can.by_key && can.leases && can.headers && can.dead) return {};
  return Error{ErrorCode::unsupported, "this store, " + can.keeper() +
                                           ", cannot keep schedules: they need keys, leases, "
                                           "headers and dead messages"};
}

Step<Definition> get_step(std::string_view name, May may) {
  if (auto good = check_name(name); !good) return ended<Definition>(good.error());
  return asks<Definition>(ask_one(name), [name = std::string(name),
                                          may = std::move(may)](const Result<MessageInfo>& info) {
    auto definition = read_stored(name, info);
    if (definition) {
      if (auto good = allowed(may, *definition); !good) return ended<Definition>(good.error());
    }
    return ended(std::move(definition));
  });
}

Step<bool> put_step(Definition definition, May may) {
  if (auto good = check(definition); !good) return ended<bool>(good.error());
  auto question = ask_one(definition.name);
  return asks<bool>(std::move(question), [definition = std::move(definition),
                                          may = std::move(may)](const Result<MessageInfo>& info) {
    if (!info && info.error().code != ErrorCode::not_found) return ended<bool>(info.error());
    if (!info || info->state == State::remembered) return add_step(definition);
    // A message that is no definition may be replaced.
    if (const auto before = decode(definition.name, info->payload, wire::Unknown::ignored)) {
      if (auto good = allowed(may, *before); !good) return ended<bool>(good.error());
    }
    return begin_step(definition, false);
  });
}

Step<Definition> remove_step(std::string_view name, May may) {
  return after<Definition>(get_step(name, std::move(may)), [](Definition removed) {
    const std::string_view key = removed.name;
    auto question = detail::single(detail::ask_cancel(schedules_queue(), {&key, 1}));
    return asks<Definition>(
        std::move(question), [removed = std::move(removed)](const Result<Answer>& done) mutable {
          if (!done) return ended<Definition>(done.error());
          if (done->outcome == Outcome::unknown || done->outcome == Outcome::settled) {
            return ended<Definition>(no_such(removed.name));
          }
          return cancel_timers_step(std::move(removed));
        });
  });
}

Step<Definition> pause_step(std::string_view name, bool paused, May may) {
  return after<Definition>(get_step(name, std::move(may)), [paused](Definition definition) {
    if (definition.paused == paused) return ended<Definition>(std::move(definition));
    definition.paused = paused;
    auto stored = store_step(definition, false);
    return after<Definition>(std::move(stored), [definition = std::move(definition)](bool) mutable {
      return ended<Definition>(std::move(definition));
    });
  });
}

Step<std::string> run_now_step(std::string_view name, May may) {
  return after<std::string>(get_step(name, std::move(may)), [](const Definition& definition) {
    std::string key = run_key(definition.name);
    auto question = ask_push_one(definition.queue, {.key = key,
                                                    .payload = definition.payload,
                                                    .headers = definition.headers,
                                                    .priority = definition.priority,
                                                    .if_exists = IfExists::reject});
    return asks<std::string>(std::move(question),
                             [key = std::move(key)](const Result<Pushed>& pushed) mutable {
                               return ended(pushed ? Result<std::string>(std::move(key))
                                                   : Result<std::string>(pushed.error()));
                             });
  });
}

Step<DefinitionPage> page_step(std::string_view prefix, std::string after, std::uint32_t limit) {
  ListOptions options;
  options.after = std::move(after);
  options.limit = limit;
  options.prefix = prefix;
  options.whole = true;
  return asks<DefinitionPage>(detail::ask_list(schedules_queue(), options),
                              [](const Result<Page>& listed) {
                                auto page = std::make_shared<DefinitionPage>();
                                if (!listed) {
                                  if (listed.error().code != ErrorCode::not_found) {
                                    return ended<DefinitionPage>(listed.error());
                                  }
                                  return ended<DefinitionPage>(std::move(*page));
                                }
                                std::vector<std::string> names;
                                for (const MessageInfo& info : listed->messages) {
                                  if (info.state != State::remembered) names.push_back(info.key);
                                }
                                page->next = listed->next;
                                return read_names_step(std::move(names), std::move(page));
                              });
}

}  // namespace tarry::schedule
