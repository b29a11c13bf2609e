#include "app/transfer/migration.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>

#include "app/transfer/migration_batch.h"
#include "app/transfer/moved_message.h"
#include "app/transfer/queue_hold.h"
#include "base/text/text.h"
#include "core/settings/settings_table.h"
#include "open/handles/ask.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

// A queue that never becomes empty, because others push to it, must not keep the other queues
// waiting.
constexpr int kMostPasses = 100;
// How often to look whether claims have ended.
constexpr Millis kLook = 200ms;

// While a cancelled key is remembered, no message with that key can be moved to that store.
constexpr char kWhereRemembered[] = " (in TO only while the queue's remember is 0s there)";

std::uint64_t movable(const QueueStats& stats) noexcept {
  return stats.scheduled + stats.ready + stats.dead;
}

class QueueMigration {
 public:
  QueueMigration(const MigrationEnd& from, const MigrationEnd& to, const MigrationOptions& options,
                 std::function<void(std::uint64_t)> told, MigratedQueue& counts)
      : from_(from), to_(to), options_(options), told_(std::move(told)), counts_(counts) {
    counts_.pauses = from_.engine.capabilities().pauses;
  }

  /// Moves the queue. If this ends early, `counts.held` tells whether the queue is still held.
  Result<void> run() {
    auto stats = stats_of(from_.engine, counts_.queue);
    if (!stats) return failed(from_, std::move(stats).error());
    if (options_.dry_run) {
      counts_.moved = movable(*stats);
      counts_.dead = stats->dead;
      note_rest(*stats);
      counts_.left = 0;
      return {};
    }
    if (auto prepared = prepare(*stats); !prepared) return prepared;
    MigrationBatch batch(from_, to_, counts_, stats->counters.moved_away);
    const auto waited_until = std::chrono::steady_clock::now() + options_.wait;
    std::uint64_t leased = 0;
    do {
      leased = stats->leased;
      if (auto done = pass_until_empty(batch); !done) return done;
      stats = stats_of(from_.engine, counts_.queue);
      if (!stats) return failed(from_, std::move(stats).error());
      // Repeated, because messages whose claims have ended meanwhile can now be moved.
    } while (!options_.stop.stop_requested() &&
             (stats->leased < leased || (stats->leased > 0 && wait_until(waited_until))));
    note_rest(*stats);
    if (options_.stop.stop_requested()) return {};
    if (resumed_ && counts_.conflicts > 0) {
      counts_.problems.push_back(
          std::to_string(counts_.conflicts) + " keys belong to other messages in " + to_.name +
          "; a run that was cut short may have put them there: cancel one of each two" +
          kWhereRemembered + ", and run the same command again");
      return {};
    }
    if (batch.leaves_copies()) {
      counts_.problems.push_back(
          "some of the messages that stay are in " + to_.name +
          " too: raise the servers' largest body, or cancel one of each two" + kWhereRemembered +
          ", and run the same command again");
      return {};
    }
    return let_go();
  }

 private:
  Result<void> failed(const MigrationEnd& end, Error error) const {
    return MigrationBatch::at(end, counts_.queue, std::move(error));
  }

  void note_rest(const QueueStats& stats) {
    counts_.leased = stats.leased;
    counts_.remembered = stats.remembered;
    counts_.left = movable(stats);
  }

  // Makes the queue in the second store ("there"), with the settings, and holds both queues.
  Result<void> prepare(const QueueStats& stats) {
    const std::uint64_t messages = movable(stats) + stats.leased;
    if (stats.settings.group_order == GroupOrder::push && messages != 0) {
      return failed(from_,
                    {ErrorCode::unsupported,
                     "its groups keep the order of pushes, which a migration would change, "
                     "and it has " +
                         std::to_string(messages) + " messages; let consumers empty it first"});
    }
    const Time now = wall_clock();
    before_ = pause_before(stats, now);
    const bool was_held = is_held(stats, now);
    resumed_ = was_held;
    counts_.held = was_held;
    std::optional<Time> hold = was_held ? stats.paused_until : hold_of(before_, now);
    if (hold && !was_held && counts_.pauses) {
      if (auto held = set_pause(from_.engine, counts_.queue, {true, hold}); !held) {
        // If the outcome is unknown, the pause may be set.
        counts_.held = held.error().code == ErrorCode::unknown_outcome;
        return failed(from_, held.error());
      }
    }
    counts_.held = true;
    if (auto made = make_there(stats.settings); !made) return made;
    const auto there = stats_of(to_.engine, counts_.queue);
    if (!there) return failed(to_, there.error());
    before_there_ = pause_before(*there, now);
    resumed_ = resumed_ || is_held(*there, now);
    // If the queue there is paused until resumed, this pause is kept. Such a queue is not the one
    // that was held here.
    const bool stays = before_there_.paused && !before_there_.until;
    if (stays && hold) return {};
    // The holds end at different times. So if the queue here then shows the time of the queue
    // there, both are the same queue.
    Time hold_there = (is_held(*there, now) ? there->paused_until
                                            : hold_of(stays ? PauseState() : before_there_, now))
                          .value_or(now) +
                      1ms;
    if (hold_there == hold) hold_there += 1ms;
    if (auto held = set_pause(to_.engine, counts_.queue, {true, hold_there}); !held) {
      return failed(to_, held.error());
    }
    return check_distinct(hold_there);
  }

  Result<void> make_there(const QueueSettings& settings) {
    // A store that cannot pause has only default settings.
    const bool keeps = options_.keep_settings || !counts_.pauses;
    if (keeps && stats_of(to_.engine, counts_.queue)) return {};
    const auto reply = detail::wait_for(
        to_.engine, core::ConfigureRequest{counts_.queue, core::patch_of(settings)});
    if (!reply) return failed(to_, reply.error());
    return {};
  }

  Result<void> check_distinct(Time hold_there) {
    const auto again = stats_of(from_.engine, counts_.queue);
    if (!again) return failed(from_, again.error());
    if (again->paused_until != hold_there) return {};
    if (auto put_back = set_pause(from_.engine, counts_.queue, before_); !put_back) {
      return failed(from_, put_back.error());
    }
    counts_.held = false;
    return Unexpected(ErrorCode::conflict, from_.name + " and " + to_.name + " are the same store");
  }

  Result<void> pass_until_empty(MigrationBatch& batch) {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const std::uint64_t before = counts_.moved + batch.changed();
      counts_.conflicts = 0;
      counts_.problems.clear();
      if (auto done = pass_once(batch); !done) return done;
      if (options_.stop.stop_requested() || counts_.moved + batch.changed() == before) break;
    }
    return {};
  }

  Result<void> pass_once(MigrationBatch& batch) {
    std::string after;
    do {
      if (options_.stop.stop_requested()) return {};
      core::ListRequest request;
      request.queue = counts_.queue;
      request.after = after;
      request.limit = options_.batch;
      auto reply = detail::wait_for(from_.engine, std::move(request));
      if (!reply) return failed(from_, std::move(reply).error());
      auto& page = std::get<core::ListReply>(*reply);
      std::vector<std::string> keys;
      for (MessageInfo& message : page.messages) {
        if (message.state == State::leased || message.state == State::remembered) continue;
        keys.push_back(std::move(message.key));
      }
      if (auto moved = batch.move(keys); !moved) return moved;
      if (told_) told_(counts_.moved);
      after = page.next;
    } while (!after.empty());
    return {};
  }

  // Waits for a moment. Returns false once `until` has come.
  bool wait_until(std::chrono::steady_clock::time_point until) {
    std::mutex mutex;
    std::condition_variable_any nothing;
    std::unique_lock lock(mutex);
    const auto next = std::min(until, std::chrono::steady_clock::now() + kLook);
    if (next <= std::chrono::steady_clock::now()) return false;
    nothing.wait_until(lock, options_.stop, next, [] { return false; });
    return true;
  }

  // Ends the hold in the target first, so that due messages are delivered sooner.
  Result<void> let_go() {
    const PauseState& after = before_.paused ? before_ : before_there_;
    if (auto set = set_pause(to_.engine, counts_.queue, after); !set) {
      return failed(to_, set.error());
    }
    if (auto set = set_pause(from_.engine, counts_.queue, before_); !set) {
      return failed(from_, set.error());
    }
    counts_.held = false;
    return {};
  }

  const MigrationEnd& from_;
  const MigrationEnd& to_;
  const MigrationOptions& options_;
  const std::function<void(std::uint64_t)> told_;
  MigratedQueue& counts_;
  PauseState before_;
  PauseState before_there_;
  bool resumed_ = false;  // an earlier run, which was cut short, has held the queue
};

struct WantedQueues {
  std::vector<QueueStats> queues;
  std::vector<UnreadableQueue> unreadable;
};

Result<WantedQueues> queues_of(const MigrationEnd& from, const std::vector<std::string>& wanted) {
  WantedQueues found;
  if (wanted.empty()) {
    auto reply = detail::wait_for(from.engine, core::StatsRequest{});
    if (!reply) {
      Error error = std::move(reply).error();
      error.message = from.name + ": " + error.message;
      return error;
    }
    auto& all = std::get<StoreStats>(*reply);
    if (all.queues.empty() && !from.engine.capabilities().pauses) {
      return Unexpected(
          ErrorCode::invalid_argument,
          from.name + ": its keys do not say which queues there are; name each with --queue");
    }
    return WantedQueues{std::move(all.queues), std::move(all.unreadable)};
  }
  for (const std::string& queue : wanted) {
    auto stats = stats_of(from.engine, queue);
    if (!stats) return MigrationBatch::at(from, queue, std::move(stats).error());
    found.queues.push_back(*std::move(stats));
  }
  return found;
}

}  // namespace

bool MigrationReport::is_complete() const noexcept {
  return !error && !stopped && std::ranges::all_of(queues, [](const MigratedQueue& queue) {
    return !queue.held && queue.left == 0 && queue.leased == 0;
  });
}

std::optional<Error> refuse_from(const MigrationEnd& from, const std::vector<std::string>& queues) {
  if (auto refused = refuse_moves_from(from.engine, from.name)) return refused;
  if (auto found = queues_of(from, queues); !found) return std::move(found).error();
  return std::nullopt;
}

MigrationReport migrate(const MigrationEnd& from, const MigrationEnd& to,
                        const MigrationOptions& options) {
  MigrationReport report;
  report.error = refuse_moves_from(from.engine, from.name);
  if (!report.error && !options.dry_run) report.error = refuse_moves_to(to.engine, to.name);
  if (report.error) return report;
  const auto found = queues_of(from, options.queues);
  if (!found) {
    report.error = found.error();
    return report;
  }
  const std::vector<QueueStats>& queues = found->queues;
  std::uint64_t total = 0;
  for (const QueueStats& queue : queues) total += movable(queue);
  std::uint64_t before = 0;
  for (const QueueStats& queue : queues) {
    if (options.stop.stop_requested()) break;
    MigratedQueue& counts = report.queues.emplace_back();
    counts.queue = queue.queue;
    const auto told = [&options, total, before](std::uint64_t moved) {
      if (options.progress) options.progress(before + moved, total);
    };
    if (auto done = QueueMigration(from, to, options, told, counts).run(); !done) {
      report.error = done.error();
      break;
    }
    before += counts.moved;
  }
  report.stopped = options.stop.stop_requested() && !report.error && report.queues.size() > 0 &&
                   (report.queues.back().held || report.queues.size() < queues.size());
  // A queue that could not be read is an error only now, so that the others are moved.
  if (!report.error && !report.stopped && !found->unreadable.empty()) {
    const UnreadableQueue& queue = found->unreadable.front();
    report.error = MigrationBatch::at(from, queue.queue, queue.error);
  }
  if (options.stop.stop_requested() && report.queues.empty()) report.stopped = true;
  return report;
}

}  // namespace tarry::app
