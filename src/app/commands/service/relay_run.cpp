#include "app/commands/service/relay_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/config/config.h"
#include "app/output/json.h"
#include "app/output/printable.h"
#include "app/output/progress.h"
#include "app/system/signals.h"
#include "core/rules/queue_pattern.h"

namespace tarry::app {
namespace {

void write_stats(wire::JsonWriter& json, const relay::RelayStats& stats) {
  json.field("claimed", stats.claimed).field("confirmed", stats.confirmed);
  json.field("acked", stats.acked).field("failed", stats.failed);
  json.field("retried", stats.retried).field("buried", stats.buried);
  json.field("released", stats.released).field("stale", stats.stale);
  json.field("breaker_openings", stats.openings).millis_field("lag", stats.lag.count());
  json.text_field("last_error", stats.last_error);
}

void add(std::vector<Relays::Named>& totals, const Relays::Named& one) {
  const auto found = std::ranges::find(totals, one.name, &Relays::Named::name);
  if (found == totals.end()) {
    totals.push_back(one);
  } else {
    relay::add(found->stats, one.stats);
  }
}

}  // namespace

ExitCode RelayRun::run() {
  ExitCode code{};
  auto store = session_.open(first_.store, {}, code);
  if (!store) return code;
  auto relays = Relays::make(store->engine(), first_.store, first_.relays, hooks());
  if (!relays) return session_.output.fail(relays.error());
  reading_ = std::make_shared<Reading>(Reading{first_, *std::move(store), *std::move(relays)});
  {
    std::function<void()> on_hangup;
    if (read_again_) {
      on_hangup = [this] {
        const std::lock_guard lock(mutex_);
        hung_up_ = true;
        changed_.notify_all();
      };
    }
    const SignalWatch watch([this](int count) { on_signal(count); }, std::move(on_hangup));
    start();
    serve();
  }
  report();
  const std::lock_guard lock(mutex_);
  return error_ ? session_.output.fail(*error_) : ExitCode::done;
}

void RelayRun::start() {
  tell_of_missing();
  reading_->relays->start();
}

void RelayRun::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || error_ || hung_up_; });
    if (ended_ || error_ || stopping_) break;
    hung_up_ = false;
    lock.unlock();
    take_over();
    lock.lock();
  }
  lock.unlock();
  reading_->relays->stop();
  wait_for_end();
}

void RelayRun::wait_for_end() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }
  for (const Relays::Named& one : reading_->relays->stats()) add(totals_, one);
}

void RelayRun::take_over() {
  auto plans = read_again_();
  if (!plans) return;
  if (*plans == reading_->plans) return session_.output.tell("reloaded: nothing has changed");
  const ReadingPtr next = prepared(*std::move(plans));
  if (!next) return;
  session_.output.tell(
      "reloaded: the relays stop, and go on as the file says once the sink has confirmed what it "
      "has");
  reading_->relays->stop();
  wait_for_end();
  {
    const std::lock_guard lock(mutex_);
    if (error_ || stopping_) return;
    reading_ = next;
    ended_ = false;
  }
  start();
}

RelayRun::ReadingPtr RelayRun::prepared(Plans plans) {
  const auto refused = [this](std::string why) {
    session_.output.tell(config::not_reloaded({std::move(why)}));
    return nullptr;
  };
  ExitCode code{};
  auto store = plans.store == reading_->plans.store ? std::optional(reading_->store)
                                                    : session_.open(plans.store, {}, code);
  if (!store) return refused("its store cannot be opened");
  auto relays = Relays::make(store->engine(), plans.store, plans.relays, hooks());
  if (!relays) return refused(relays.error().message);
  return std::make_shared<Reading>(
      Reading{std::move(plans), *std::move(store), *std::move(relays)});
}

// Reports queues that do not exist. (Patterns that match no queue are reported by the relays.)
void RelayRun::tell_of_missing() const {
  for (const RelayPlan& plan : reading_->plans.relays) {
    for (const std::string& queue : plan.options.relay.queues) {
      if (core::is_beginning(queue)) continue;
      const auto stats = reading_->store.queue(queue).stats();
      if (stats || stats.error().code != ErrorCode::not_found) continue;
      session_.output.tell(fmt::format("there is no queue {} yet; waiting for it", queue));
    }
  }
}

Relays::Hooks RelayRun::hooks() {
  return {[this](const LogEntry& entry) { session_.output.tell(entry.text); },
          [this](const Error& error) {
            // The first error ends all relays.
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = error;
            changed_.notify_all();
          },
          [this] {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            changed_.notify_all();
          }};
}

void RelayRun::on_signal(int count) {
  ReadingPtr reading;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    reading = reading_;
  }
  reading->relays->stop();
  if (count == 1) {
    session_.output.note(
        "Stopping: waiting for the sink to confirm what it has; a second signal ends this now.");
  } else {
    reading->relays->abandon();
  }
}

void RelayRun::report() {
  const auto& plans = reading_->plans.relays;
  const bool from_file = plans.front().line > 0;
  if (session_.output.json()) {
    if (std::ranges::any_of(plans, &RelayPlan::writes_stdout)) return;
    session_.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object();
      if (from_file) json.name("relays").begin_array();
      for (const Relays::Named& one : totals_) {
        if (from_file) json.begin_object().text_field("name", one.name);
        write_stats(json, one.stats);
        if (from_file) json.end_object();
      }
      if (from_file) json.end_array();
      json.end_object();
    });
    return;
  }
  for (const Relays::Named& one : totals_) {
    const relay::RelayStats& stats = one.stats;
    session_.output.note(
        fmt::format("{}claimed {}: confirmed {}, acked {}, to be retried {}, buried {}, not "
                    "settled {}; given back {}",
                    from_file ? printable(one.name) + ": " : "", grouped(stats.claimed),
                    grouped(stats.confirmed), grouped(stats.acked), grouped(stats.retried),
                    grouped(stats.buried), grouped(stats.stale), grouped(stats.released)));
  }
}

}  // namespace tarry::app
