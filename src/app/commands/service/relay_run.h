// RelayRun: the relays of one `tarry relay`, from its start to its end.
//
// Thread safety: `run` once, on one thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tarry/result.h>
#include <tarry/store.h>

#include "app/command_line/invocation.h"
#include "app/relays/relay_plan.h"
#include "app/relays/relays.h"

namespace tarry::app {

/// The relays to run, and their store.
struct Plans {
  std::vector<RelayPlan> relays;
  std::string store;

  friend bool operator==(const Plans&, const Plans&) = default;
};

class RelayRun {
 public:
  RelayRun(Invocation& invocation, Plans plans) : session_(invocation), first_(std::move(plans)) {}

  /// Call `on_hangup` before `run`. At a SIGHUP, `read_again` is called, which returns the new
  /// plans. It returns nothing if they cannot be read; then it has printed the reason.
  void on_hangup(std::function<std::optional<Plans>()> read_again) {
    read_again_ = std::move(read_again);
  }
  /// Runs the relays until a signal, or until a relay fails for good; then prints the report.
  [[nodiscard]] ExitCode run();

 private:
  /// The relays of one reading of the plans, and their store.
  struct Reading {
    Plans plans;
    Store store;
    std::unique_ptr<Relays> relays;
  };
  using ReadingPtr = std::shared_ptr<Reading>;

  [[nodiscard]] Relays::Hooks hooks();
  void start();
  /// Waits for a signal, an error or the relays' own end, and then until all relays have ended.
  void serve();
  /// The relays of the new plans replace the old ones. If they cannot be made, the old ones
  /// continue.
  void take_over();
  [[nodiscard]] ReadingPtr prepared(Plans plans);
  void wait_for_end();
  void tell_of_missing() const;
  void on_signal(int count);
  void report();

  Invocation& session_;
  const Plans first_;
  std::function<std::optional<Plans>()> read_again_;
  std::vector<Relays::Named> totals_;  // figures of relays that have ended; one entry for each name

  std::mutex mutex_;  // guards the members below; only `run` changes `reading_`
  std::condition_variable changed_;
  ReadingPtr reading_;
  bool ended_ = false;  // true if no relay of `reading_` runs
  bool stopping_ = false;
  bool hung_up_ = false;
  std::optional<Error> error_;
};

}  // namespace tarry::app
