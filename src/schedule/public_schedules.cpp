// The public interface: <tarry/schedule.h>.
#include <tarry/schedule.h>

#include <system_error>
#include <utility>

#include "schedule/calendar/recurrence.h"
#include "schedule/definition.h"
#include "schedule/occurrences.h"
#include "schedule/scheduler.h"
#include "schedule/schedules.h"

namespace tarry {
namespace {

schedule::Missed inner_policy(Missed missed) noexcept {
  switch (missed) {
    case Missed::skip: return schedule::Missed::skip;
    case Missed::one: return schedule::Missed::one;
    case Missed::all: return schedule::Missed::all;
  }
  return schedule::Missed::one;
}

Missed outer_policy(schedule::Missed missed) noexcept {
  switch (missed) {
    case schedule::Missed::skip: return Missed::skip;
    case schedule::Missed::one: return Missed::one;
    case schedule::Missed::all: return Missed::all;
  }
  return Missed::one;
}

schedule::RecurrenceSpec spec_of(const Schedule& given) {
  return {given.when, given.zone, given.start, given.end, given.jitter};
}

schedule::Definition definition_of(const Schedule& given) {
  return {given.name,
          spec_of(given),
          given.queue,
          given.payload,
          given.headers,
          given.priority,
          inner_policy(given.missed),
          given.paused};
}

Schedule schedule_of(schedule::Definition from) {
  schedule::RecurrenceSpec& spec = from.recurrence;
  return {std::move(from.name),
          std::move(spec.when),
          std::move(spec.zone),
          spec.start,
          spec.end,
          spec.jitter,
          std::move(from.queue),
          std::move(from.payload),
          std::move(from.headers),
          from.priority,
          outer_policy(from.missed),
          from.paused};
}

}  // namespace

Schedules::Schedules(Store store) noexcept : store_(std::move(store)) {}

Result<bool> Schedules::put(const Schedule& given) const {
  return schedule::put(store_, definition_of(given));
}

Result<Schedule> Schedules::get(std::string_view name) const {
  auto found = schedule::get(store_, name);
  if (!found) return std::move(found).error();
  return schedule_of(*std::move(found));
}

Result<std::vector<Schedule>> Schedules::list() const {
  auto found = schedule::list(store_);
  if (!found) return std::move(found).error();
  std::vector<Schedule> all;
  all.reserve(found->size());
  for (schedule::Listed& each : *found) all.push_back(schedule_of(std::move(each.definition)));
  return all;
}

Result<void> Schedules::remove(std::string_view name) const {
  return schedule::remove(store_, name);
}

Result<void> Schedules::pause(std::string_view name) const {
  return schedule::pause(store_, name, true);
}

Result<void> Schedules::resume(std::string_view name) const {
  return schedule::pause(store_, name, false);
}

Result<std::string> Schedules::run_now(std::string_view name) const {
  return schedule::run_now(store_, name);
}

Result<std::vector<Time>> Schedules::next(const Schedule& given, Time after, std::uint32_t count) {
  const auto recurrence = schedule::Recurrence::make(spec_of(given));
  if (!recurrence) return recurrence.error();
  std::vector<Time> times;
  for (const schedule::Occurrence& each :
       schedule::occurrences(*recurrence, given.name, after, count)) {
    times.push_back(each.due);
  }
  return times;
}

struct ScheduleRunner::Impl {
  Impl(Store of, Log log) : store(std::move(of)), scheduler(store, std::move(log)) {}
  ~Impl() { scheduler.stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Store store;
  schedule::Scheduler scheduler;  // joins its thread
};

ScheduleRunner::ScheduleRunner(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ScheduleRunner::ScheduleRunner(ScheduleRunner&&) noexcept = default;
ScheduleRunner::~ScheduleRunner() = default;

Result<ScheduleRunner> ScheduleRunner::start(Store store, Log log) {
  if (auto good = schedule::check_store(store); !good) return good.error();
  auto impl = std::make_unique<Impl>(std::move(store), std::move(log));
  try {
    impl->scheduler.start();
  } catch (const std::system_error& error) {
    return Error{ErrorCode::unavailable, std::string("schedules: no thread: ") + error.what()};
  }
  return ScheduleRunner(std::move(impl));
}

}  // namespace tarry
