// A turn of the scheduler, from the claimed timers to their settlement.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/text/text.h"
#include "base/threads/boot_clock.h"
#include "leases/backoff.h"
#include "schedule/scheduler_work.h"

namespace tarry::schedule {
namespace {

// Of one push request.
constexpr std::size_t kMostMessages = 2'000;
constexpr std::size_t kMostBytes = 32 << 20;

/// A lease may be this long by the machine's clock, whatever the store's clock does.
bool is_over(base::BootClock::time_point begun) {
  return base::BootClock::now() - begun > std::chrono::milliseconds(kTurnLease);
}

std::string reason_of(std::string_view text) { return std::string(text.substr(0, 200)); }

}  // namespace

void Scheduler::carry_out(std::span<const Delivery> timers) {
  const auto begun = base::BootClock::now();
  std::vector<Work> works;
  works.reserve(timers.size());
  if (known_.size() > kMaxSchedules) known_.clear();
  if (done_.size() > kMaxSchedules) done_.clear();
  for (const Delivery& delivery : timers) {
    Work& work = works.emplace_back();
    work.delivery = &delivery;
    if (const auto timer = parse_timer(delivery.key())) {
      work.timer = *timer;
    } else {
      work.fail(Work::End::bury, "not a schedule's timer");
    }
  }
  using Step = Result<void> (Scheduler::*)(std::vector<Work>&);
  for (const Step step : {&Scheduler::find_definitions, &Scheduler::push_occurrences,
                          &Scheduler::push_timers, &Scheduler::settle}) {
    const auto done = is_over(begun)
                          ? Result<void>(Error{ErrorCode::unavailable, "the store was too slow"})
                          : (this->*step)(works);
    if (done) continue;
    // The timers come again when their lease ends.
    failed_ += works.size();
    if (done.error().code != ErrorCode::closed) {
      tell(LogLevel::warning, "schedules_late",
           "schedules: " + done.error().message + "; " + std::to_string(works.size()) +
               " are late, and are tried again within " + base::format_duration_ms(kTurnLease));
    }
    return;
  }
}

Result<void> Scheduler::find_definitions(std::vector<Work>& works) {
  if (auto ready = remember_keys_of(timers_); !ready) return ready;
  std::vector<Work*> missing;
  for (Work& work : works) {
    const bool is_done = done_.contains(work.delivery->key());
    if (work.end == Work::End::ack && !is_done) missing.push_back(&work);
  }
  while (!missing.empty()) {
    std::vector<std::string_view> names;
    for (const Work* work : missing) names.push_back(work->timer.name);
    const auto found = schedules_.get(names);
    if (!found) return found.error();
    std::vector<Work*> left;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      Work& work = *missing[i];
      const auto& info = (*found)[i];
      if (!info && info.error().code == ErrorCode::too_large) {
        left.push_back(&work);
      } else if (!info && info.error().code != ErrorCode::not_found) {
        work.fail(Work::End::retry, reason_of(info.error().message));
      } else if (info && info->state != State::remembered) {
        const Known& read = known(work.timer.name, info->payload);
        if (!read.recurrence) {
          work.fail(Work::End::retry, reason_of(read.wrong));
          continue;
        }
        work.known = &read;
        const Time after =
            work.timer.nominal ? *work.timer.nominal - Millis(1) : work.delivery->due();
        const Time now = work.delivery->claimed_at();
        work.turn = turn_at(read.read, *read.recurrence, after, now);
        // The schedule was replaced, and its jitter is longer than before. The next timer would
        // have the key of this one, which is in flight.
        if (work.timer.nominal && work.turn.next == work.timer.nominal) {
          work.delay = timer_due(*read.recurrence, read.read.name, *work.turn.next) - now;
          work.fail(Work::End::wait, {});
        }
      }
    }
    missing = std::move(left);
  }
  return {};
}

const Scheduler::Known& Scheduler::known(std::string_view name, const std::string& json) {
  auto found = known_.find(name);
  if (found != known_.end() && found->second.definition == json) return found->second;
  if (found == known_.end()) found = known_.emplace(name, Known()).first;
  Known& known = found->second;
  known = Known{json, {}, {}, {}};
  auto read = decode(name, json, wire::Unknown::ignored);
  if (read) {
    auto made = Recurrence::make(read->recurrence);
    known.read = *std::move(read);
    if (made) {
      known.recurrence = *std::move(made);
    } else {
      known.wrong = made.error().message;
    }
  } else {
    known.wrong = read.error().message;
  }
  if (!known.recurrence) {
    tell(LogLevel::warning, "schedule_unusable",
         "schedule " + base::quoted(name) + " cannot be used: " + known.wrong);
  }
  return known;
}

Result<void> Scheduler::push_occurrences(std::vector<Work>& works) {
  std::map<std::string_view, std::vector<Work*>> by_queue;
  for (Work& work : works) {
    if (work.known == nullptr) continue;
    if (work.turn.skipped > 0) {
      skipped_ += work.turn.skipped;
      tell(LogLevel::info, "schedule_missed",
           "schedule " + base::quoted(work.timer.name) + ": at least " +
               std::to_string(work.turn.skipped) + " missed occurrences are not pushed");
    }
    if (!work.turn.occurrences.empty()) {
      by_queue[work.known->read.queue].push_back(&work);
    }
  }
  for (const auto& [name, of_queue] : by_queue) {
    const auto pushed = push_to(store_.queue(name), of_queue);
    if (pushed) continue;
    const Error& error = pushed.error();
    if (leases::is_passing(error.code) || error.code == ErrorCode::closed) return pushed;
    // Only this queue is in trouble.
    for (Work* work : of_queue) work->fail(Work::End::retry, reason_of(error.message));
  }
  return {};
}

Result<void> Scheduler::push_to(const Queue& queue, std::span<Work* const> works) {
  if (auto ready = remember_keys_of(queue); !ready) return ready;
  std::deque<std::string> keys;
  std::vector<Push> messages;
  std::vector<Work*> of;
  std::size_t bytes = 0;
  for (Work* work : works) {
    const Definition& read = work->known->read;
    const Recurrence& recurrence = *work->known->recurrence;
    for (const Time nominal : work->turn.occurrences) {
      keys.push_back(occurrence_key(read.name, nominal));
      Push& push = messages.emplace_back();
      push.key = keys.back();
      push.payload = read.payload;
      push.due = Due::at(recurrence.with_jitter(read.name, nominal));
      push.headers = read.headers;
      push.priority = read.priority;
      push.if_exists = IfExists::reject;
      of.push_back(work);
      bytes += read.payload.size() + 1'024;
      if (messages.size() < kMostMessages && bytes < kMostBytes) continue;
      if (auto pushed = push_some(queue, messages, of); !pushed) return pushed;
      bytes = 0;
    }
  }
  return push_some(queue, messages, of);
}

Result<void> Scheduler::push_some(const Queue& queue, std::vector<Push>& messages,
                                  std::vector<Work*>& of) {
  if (messages.empty()) return {};
  const auto pushed = queue.push(messages);
  if (!pushed) return pushed.error();
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto& one = (*pushed)[i];
    if (!one) {
      of[i]->fail(Work::End::retry, reason_of(one.error().message));
    } else if (one->outcome == Outcome::pushed) {
      ++pushed_;
    } else {
      ++repeated_;
    }
  }
  messages.clear();
  of.clear();
  return {};
}

Result<void> Scheduler::push_timers(std::vector<Work>& works) {
  std::deque<std::string> keys;
  std::vector<Push> messages;
  std::vector<Work*> of;
  for (Work& work : works) {
    if (work.known == nullptr || !work.turn.next) continue;
    const std::string& name = work.known->read.name;
    keys.push_back(occurrence_key(name, *work.turn.next));
    Push& push = messages.emplace_back();
    push.key = keys.back();
    push.due = Due::at(timer_due(*work.known->recurrence, name, *work.turn.next));
    push.if_exists = IfExists::reject;
    push.max_attempts = kTimerAttempts;
    of.push_back(&work);
  }
  if (messages.empty()) return {};
  const auto pushed = timers_.push(messages);
  if (!pushed) return pushed.error();
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (const auto& one = (*pushed)[i]; !one) {
      of[i]->fail(Work::End::retry, reason_of(one.error().message));
    }
  }
  return {};
}

Result<void> Scheduler::settle(std::vector<Work>& works) {
  std::vector<Settle> items;
  std::uint64_t failed = 0;
  const Work* last = nullptr;
  for (const Work& work : works) {
    Settle& item = items.emplace_back();
    item.receipt = work.delivery->receipt();
    item.reason = work.reason;
    switch (work.end) {
      case Work::End::ack: item.action = Action::ack; break;
      case Work::End::wait:
        item.action = Action::retry;
        item.delay = work.delay;
        break;
      case Work::End::retry: item.action = Action::retry; break;
      case Work::End::bury: item.action = Action::bury; break;
    }
    if (work.end == Work::End::ack || work.end == Work::End::wait) continue;
    ++failed;
    last = &work;
  }
  if (failed > 0) {
    failed_ += failed;
    tell(LogLevel::warning, "schedules_fail",
         "schedules: " + std::to_string(failed) + " could not be carried out; that of " +
             base::quoted(last->delivery->key()) + ": " + last->reason);
  }
  const auto settled = store_.settle(items);
  if (!settled) return settled.error();
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto& one = (*settled)[i];
    if (works[i].end == Work::End::ack && (!one || one->outcome == Outcome::stale)) {
      done_.emplace(works[i].delivery->key());
    } else if (const auto found = done_.find(works[i].delivery->key()); found != done_.end()) {
      done_.erase(found);
    }
  }
  return {};
}

Result<void> Scheduler::remember_keys_of(const Queue& queue) {
  {
    const std::lock_guard lock(mutex_);
    if (remembering_.contains(queue.name())) return {};
  }
  const auto configure = [&](const SettingsPatch& patch) {
    return configure_ ? configure_(queue.name(), patch) : queue.configure(patch);
  };
  auto settings = configure({});
  if (settings && settings->remember < kRemember) {
    settings = configure({.remember = kRemember});
    if (settings) {
      tell(LogLevel::info, "schedule_remember",
           "queue " + base::quoted(queue.name()) + ": remember is now " +
               base::format_duration_ms(kRemember.count()) +
               ", so that no occurrence of a schedule is pushed twice");
    }
  }
  if (!settings) return settings.error();
  const std::lock_guard lock(mutex_);
  remembering_.insert(queue.name());
  return {};
}

}  // namespace tarry::schedule
