#include "schedule/declared.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "schedule/names.h"
#include "schedule/schedules.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::schedule {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::string_view kLock = "lock";
constexpr std::string_view kRecord = "schedules";
constexpr Millis kLockLease{10'000};
constexpr std::chrono::seconds kLockWait{15};  // longer than the lease of a process that died
constexpr std::chrono::milliseconds kLockPause{50};
constexpr std::chrono::seconds kExtendAfter{2};

/// The store keeps this record of the configuration file.
struct Record {
  std::uint64_t revision = 0;
  Names names;  // of schedules that come from the file

  friend bool operator==(const Record&, const Record&) = default;
};

Result<Record> read_record(const Queue& queue) {
  const auto info = queue.get(kRecord);
  if (!info && info.error().code == ErrorCode::not_found) return Record();
  if (!info) return info.error();
  if (info->state == State::remembered) return Record();
  wire::Document document(info->payload.size());
  if (auto error = document.parse(info->payload)) return *std::move(error);
  wire::Fields fields(document.root(), "the record of schedules", wire::Unknown::ignored);
  Record record;
  record.revision = fields.u64("revision").value_or(0);
  // A name has no spaces.
  std::string_view names = fields.text("names").value_or("");
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    record.names.emplace(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  if (auto error = fields.finish()) return *std::move(error);
  return record;
}

Result<void> write_record(const Queue& queue, const Record& record) {
  std::string names;
  for (const std::string& name : record.names) names += (names.empty() ? "" : " ") + name;
  std::string payload;
  wire::JsonWriter json(payload);
  json.begin_object().field("revision", record.revision).text_field("names", names).end_object();
  const auto pushed = queue.push(
      {.key = kRecord, .payload = payload, .due = kNeverDue, .if_exists = IfExists::replace});
  return pushed ? Result<void>() : Result<void>(pushed.error());
}

/// Held while a process reconciles the store.
class Lock {
 public:
  explicit Lock(const Queue& queue) noexcept : queue_(queue) {}
  ~Lock() {
    // If this fails, the lease ends.
    if (!receipt_.empty()) static_cast<void>(queue_.release(receipt_));
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  Result<void> take() {
    const auto made =
        queue_.push({.key = kLock, .if_exists = IfExists::reject, .max_attempts = kTimerAttempts});
    if (!made) return made.error();
    const auto until = Steady::now() + kLockWait;
    do {
      const auto claimed = queue_.claim({.lease = kLockLease});
      if (!claimed) return claimed.error();
      if (!claimed->empty()) {
        receipt_ = claimed->front().receipt();
        taken_ = Steady::now();
        return {};
      }
      std::this_thread::sleep_for(kLockPause);
    } while (Steady::now() < until);
    return Error{ErrorCode::conflict,
                 "another process is changing the schedules of this store, or the queue " +
                     std::string(kConfigQueue) + " is paused"};
  }

  /// Call it before each change.
  Result<void> keep() {
    if (Steady::now() - taken_ < kExtendAfter) return {};
    taken_ = Steady::now();
    const auto extended = queue_.extend(receipt_, kLockLease);
    if (!extended) return extended.error();
    if (extended->outcome == Outcome::done) return {};
    receipt_.clear();
    return Error{ErrorCode::conflict,
                 "the schedules took so long that another process may have "
                 "begun to change them"};
  }

 private:
  using Steady = std::chrono::steady_clock;

  const Queue& queue_;
  std::string receipt_;
  Steady::time_point taken_;
};

/// The definition in the store; nothing if there is none, or none that can be read.
Result<std::optional<Definition>> stored(const Store& store, std::string_view name) {
  auto found = get(store, name);
  if (found) return std::optional(*std::move(found));
  const ErrorCode code = found.error().code;
  if (code == ErrorCode::not_found || code == ErrorCode::invalid_argument) {
    return std::optional<Definition>();
  }
  return found.error();
}

/// Whether the error is one of this schedule, and not the store's.
bool is_its_own(const Error& error) {
  return error.code == ErrorCode::too_large || error.code == ErrorCode::conflict ||
         error.code == ErrorCode::invalid_argument;
}

Result<void> declare(const Store& store, Definition wanted, Reconciled& into) {
  const auto before = stored(store, wanted.name);
  if (!before) return before.error();
  if (*before) wanted.paused = (*before)->paused;
  if (*before == wanted) return {};
  const auto done = put(store, wanted);
  if (!done && !is_its_own(done.error())) return done.error();
  if (!done) {
    into.failed.push_back(done.error());
  } else {
    (*before ? into.replaced : into.added).push_back(wanted.name);
  }
  return {};
}

Result<void> apply(const Store& store, const Declared& declared, const Names& gone, Lock& lock,
                   Reconciled& into) {
  for (const Definition& wanted : declared.schedules) {
    if (auto held = lock.keep(); !held) return held;
    if (auto done = declare(store, wanted, into); !done) return done;
  }
  for (const std::string& name : gone) {
    if (auto held = lock.keep(); !held) return held;
    const auto removed = remove(store, name);
    if (removed) {
      into.removed.push_back(name);
    } else if (removed.error().code != ErrorCode::not_found) {
      return removed;
    }
  }
  return {};
}

}  // namespace

Result<Reconciled> reconcile(const Store& store, const Declared& declared) {
  Reconciled done;
  const Queue queue = store.queue(kConfigQueue);
  if (!declared.is_given) {
    // A store that cannot keep schedules has no record, and would list the queue once asked for it.
    if (!check_store(store)) return done;
    const auto record = read_record(queue);
    if (record) done.kept = record->names.size();
    return done;
  }
  if (auto good = check_store(store); !good) return good.error();
  Lock lock(queue);
  if (auto taken = lock.take(); !taken) return taken.error();
  auto record = read_record(queue);
  if (!record) return std::move(record).error();
  if (record->revision > declared.revision) {
    done.newer = record->revision;
    return done;
  }
  Record wanted{declared.revision, {}};
  for (const Definition& each : declared.schedules) wanted.names.insert(each.name);
  Names gone;
  std::ranges::set_difference(record->names, wanted.names, std::inserter(gone, gone.end()));
  // The record comes first and names both, so that a crash in between loses no owner.
  Record both = wanted;
  both.names.insert(gone.begin(), gone.end());
  if (both != *record) {
    if (auto written = write_record(queue, both); !written) return written.error();
  }
  if (auto applied = apply(store, declared, gone, lock, done); !applied) return applied.error();
  if (wanted != both) {
    if (auto written = write_record(queue, wanted); !written) return written.error();
  }
  return done;
}

}  // namespace tarry::schedule
