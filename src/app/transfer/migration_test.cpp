#include "app/transfer/migration.h"

#include <gtest/gtest.h>
#include <tarry/store.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "app/transfer/move_requests.h"
#include "open/handles/ask.h"
#include "support/gate.h"
#include "support/must.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;
using tarry::testing::Gate;
using tarry::testing::must;

Store memory_store() { return must(tarry::open("memory:")); }

std::string text_of(const MessageInfo& info) {
  std::string text = std::string(to_string(info.state)) + " " + info.payload + " due " +
                     std::to_string(info.due.time_since_epoch().count());
  for (const std::uint32_t n :
       {info.priority, info.attempt, info.max_attempts, info.tallies.claims, info.tallies.run_outs,
        info.tallies.releases, info.tallies.buries, info.tallies.revives}) {
    text += " " + std::to_string(n);
  }
  text += " " + info.reason;
  for (const Header& header : info.headers) text += " " + header.name + "=" + header.value;
  return text;
}

using Snapshot = std::map<std::string, std::string>;  // "queue/key" -> everything known about it

Snapshot snapshot(const Store& store) {
  Snapshot all;
  for (const QueueStats& queue : must(store.stats()).queues) {
    const Queue handle = store.queue(queue.queue);
    for (const MessageInfo& info : must(handle.list({.limit = 10'000})).messages) {
      all[queue.queue + "/" + info.key] = text_of(must(handle.get(info.key)));
    }
  }
  return all;
}

class Migration : public ::testing::Test {
 protected:
  Store from_ = memory_store();
  Store to_ = memory_store();

  MigrationReport migrate_all(MigrationOptions options = {}) { return run(from_, to_, options); }
  static MigrationReport run(const Store& from, const Store& to, MigrationOptions options = {}) {
    return migrate({from.engine(), "FROM"}, {to.engine(), "TO"}, options);
  }

  // Pushes messages of every kind, enough for several batches of three.
  static void fill(const Store& store) {
    const Queue q = store.queue("q");
    (void)must(q.configure({.lease = 5min, .if_exists = IfExists::replace}));
    (void)must(q.push({.key = "tried", .payload = "t"}));
    (void)must(q.retry(must(q.claim()).at(0).receipt(), 2h));
    (void)must(q.push({.key = "released", .payload = "r", .headers = {{"a", "b"}}}));
    (void)must(q.release(must(q.claim()).at(0).receipt()));
    (void)must(q.push({.key = "buried", .payload = "b", .priority = 3}));
    for (const Delivery& delivery : must(q.claim({.max = 2}))) {
      if (delivery.key() == "buried") {
        (void)must(q.bury(delivery.receipt(), "no good"));
      } else {
        (void)must(q.release(delivery.receipt()));
      }
    }
    for (int i = 0; i < 4; ++i) {
      (void)must(q.push({.payload = std::to_string(i), .due = in(1h), .max_attempts = 7}));
      (void)must(q.push({.key = "k" + std::to_string(i), .due = in(i * 1min)}));
    }
    must(q.pause(Time(1'900'000'000'123ms)));
    (void)must(store.queue("other").push({.key = "k0", .payload = "x", .priority = 9}));
    (void)must(store.queue("paused").push({.key = "p"}));
    must(store.queue("paused").pause());
    (void)must(store.queue("empty").configure({.remember = 1h}));
  }

  static void expect_as_filled(const Store& store) {
    const QueueStats q = must(store.queue("q").stats());
    EXPECT_TRUE(q.paused);
    EXPECT_EQ(q.paused_until, Time(1'900'000'000'123ms));
    EXPECT_EQ(q.settings.lease, Millis(5min));
    EXPECT_EQ(q.settings.if_exists, IfExists::replace);
    EXPECT_FALSE(must(store.queue("other").stats()).paused);
    EXPECT_TRUE(must(store.queue("paused").stats()).paused);
    EXPECT_FALSE(must(store.queue("paused").stats()).paused_until);
    EXPECT_EQ(must(store.queue("empty").stats()).settings.remember, Millis(1h));
  }
};

TEST_F(Migration, MovesAllThatThereIs) {
  fill(from_);
  const Snapshot before = snapshot(from_);
  ASSERT_EQ(before.size(), 13u);
  std::uint64_t told = 0;
  MigrationOptions options;
  options.batch = 3;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, told);
    EXPECT_EQ(total, 13u);
    told = done;
  };
  const MigrationReport report = migrate_all(options);
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_TRUE(report.is_complete());
  EXPECT_EQ(told, 13u);
  EXPECT_EQ(snapshot(to_), before);
  EXPECT_TRUE(snapshot(from_).empty());
  expect_as_filled(to_);
  expect_as_filled(from_);
  EXPECT_EQ(must(from_.queue("q").stats()).counters.moved_away, 11u);
  std::uint64_t dead = 0;
  for (const MigratedQueue& queue : report.queues) dead += queue.dead;
  EXPECT_EQ(dead, 1u);
}

// How many messages a request names by their keys.
std::size_t named_in(const core::Request& request) {
  if (const auto* move = std::get_if<core::MoveRequest>(&request)) return move->items.size();
  if (const auto* get = std::get_if<core::GetRequest>(&request)) return get->keys.size();
  if (const auto* away = std::get_if<core::CancelRequest>(&request)) return away->keys.size();
  return 0;
}

bool names(const core::Request& request, std::string_view key) {
  const auto is_it = [&](const std::string& bytes) {
    return [&bytes, key](const core::Slice& slice) { return core::view(bytes, slice) == key; };
  };
  if (const auto* move = std::get_if<core::MoveRequest>(&request)) {
    return std::ranges::any_of(move->items, is_it(move->bytes),
                               [](const core::MoveItem& item) { return item.push.key; });
  }
  if (const auto* get = std::get_if<core::GetRequest>(&request)) {
    return std::ranges::any_of(get->keys, is_it(get->bytes));
  }
  const auto* away = std::get_if<core::CancelRequest>(&request);
  return away != nullptr && std::ranges::any_of(away->keys, is_it(away->bytes));
}

// The run ends at each request in turn, before or after the request is carried out; the next run
// completes the move. Meanwhile no message that exists twice is delivered. This also holds if a
// batch is sent in pieces, and the run ends at a later piece.
TEST_F(Migration, CutShortAnywhereTheNextRunFinishes) {
  constexpr std::size_t kAll = 1000;
  const struct {
    Gate::Says how;
    std::size_t fits;
    std::uint32_t batch;
  } ways[] = {{Gate::Says::refuse, kAll, 3},
              {Gate::Says::lose_the_answer, kAll, 3},
              {Gate::Says::refuse, 2, 5},
              {Gate::Says::lose_the_answer, 2, 5}};
  for (const auto& [how, fits, batch] : ways) {
    bool was_cut = true;
    for (int cut = 1; was_cut; ++cut) {
      const Store from = memory_store();
      const Store to = memory_store();
      fill(from);
      const Snapshot before = snapshot(from);
      int asked = 0;
      const auto ask = [&, how = how, fits = fits](const core::Request& request) {
        if (asked < cut && named_in(request) > fits) return Gate::Says::too_large;
        ++asked;
        if (asked < cut) return Gate::Says::pass;
        return asked == cut ? how : Gate::Says::refuse;
      };
      Gate gate_from(from.engine(), ask);
      Gate gate_to(to.engine(), ask);
      MigrationOptions options;
      options.batch = batch;
      const MigrationReport first = migrate({gate_from, "FROM"}, {gate_to, "TO"}, options);
      was_cut = asked >= cut;
      EXPECT_EQ(first.error.has_value(), was_cut) << cut;

      const Snapshot here = snapshot(from);
      const Snapshot there = snapshot(to);
      for (const auto& [name, text] : before) {
        EXPECT_TRUE(here.contains(name) || there.contains(name)) << cut << " " << name;
        if (!here.contains(name) || !there.contains(name)) continue;
        const std::string queue = name.substr(0, name.find('/'));
        EXPECT_TRUE(must(from.queue(queue).stats()).paused) << cut << " " << name;
        EXPECT_TRUE(must(to.queue(queue).stats()).paused) << cut << " " << name;
      }
      const MigrationReport second = run(from, to, options);
      EXPECT_TRUE(second.is_complete()) << cut;
      EXPECT_EQ(snapshot(to), before) << cut;
      EXPECT_TRUE(snapshot(from).empty()) << cut;
      expect_as_filled(to);
      expect_as_filled(from);
      if (HasFailure()) return;
    }
  }
}

// If a user changes a message between the steps of a batch, the change takes effect.
TEST_F(Migration, WhatChangesMeanwhileIsAsTheUserSaid) {
  const Queue q = from_.queue("q");
  for (const char* key : {"cancelled", "rescheduled", "replaced", "same"}) {
    (void)must(q.push({.key = key, .payload = "old", .due = in(1h)}));
  }
  bool meddled = false;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    const auto* cancel = std::get_if<core::CancelRequest>(&request);
    if (cancel != nullptr && !std::exchange(meddled, true)) {
      EXPECT_EQ(must(q.cancel("cancelled")), Outcome::cancelled);
      EXPECT_EQ(must(q.reschedule("rescheduled", in(5h))), Outcome::rescheduled);
      (void)must(q.push(
          {.key = "replaced", .payload = "new", .due = in(1h), .if_exists = IfExists::replace}));
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  EXPECT_TRUE(report.is_complete());
  EXPECT_TRUE(meddled);
  const Queue there = to_.queue("q");
  EXPECT_EQ(there.get("cancelled").error().code, ErrorCode::not_found);
  EXPECT_GT(must(there.get("rescheduled")).due, must(there.get("same")).due + Millis(3h));
  EXPECT_EQ(must(there.get("replaced")).payload, "new");
  EXPECT_EQ(must(there.get("same")).payload, "old");
}

// A copy that was changed in the second store is kept, even if the message was cancelled in the
// first.
TEST_F(Migration, WhatWasChangedInBothStaysThere) {
  const Queue q = from_.queue("q");
  (void)must(q.push({.key = "k", .payload = "old", .due = in(1h)}));
  bool meddled = false;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    if (std::get_if<core::CancelRequest>(&request) != nullptr && !std::exchange(meddled, true)) {
      EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
      (void)must(to_.queue("q").push(
          {.key = "k", .payload = "theirs", .due = in(1h), .if_exists = IfExists::replace}));
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  EXPECT_FALSE(report.error);
  EXPECT_TRUE(meddled);
  EXPECT_EQ(must(to_.queue("q").get("k")).payload, "theirs");
}

// The copy that the first run has left in the second store is out of date, so it must not be
// delivered.
TEST_F(Migration, ACopyThatIsOutOfDateKeepsTheQueuePaused) {
  const Queue q = from_.queue("q");
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  (void)must(q.push({.key = "l", .payload = "x", .due = in(1h)}));
  Gate gate(from_.engine(), [&](const core::Request& request) {
    return std::get_if<core::CancelRequest>(&request) != nullptr ? Gate::Says::refuse
                                                                 : Gate::Says::pass;
  });
  EXPECT_TRUE(migrate({gate, "FROM"}, {to_.engine(), "TO"}, {}).error);
  EXPECT_EQ(must(q.reschedule("k", in(5h))), Outcome::rescheduled);
  const MigrationReport second = migrate_all();
  ASSERT_FALSE(second.error);
  EXPECT_FALSE(second.is_complete());
  EXPECT_EQ(second.queues.at(0).moved, 1u);
  EXPECT_EQ(second.queues.at(0).conflicts, 1u);
  EXPECT_TRUE(second.queues.at(0).held);
  EXPECT_NE(second.queues.at(0).problems.back().find("cancel one of each two"), std::string::npos);
  EXPECT_TRUE(must(q.stats()).paused);
  EXPECT_TRUE(must(to_.queue("q").stats()).paused);
  EXPECT_EQ(must(to_.queue("q").cancel("k")), Outcome::cancelled);
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_FALSE(must(q.stats()).paused);
  EXPECT_FALSE(must(to_.queue("q").stats()).paused);
  EXPECT_GT(must(to_.queue("q").get("k")).due, must(to_.queue("q").get("l")).due + Millis(3h));
}

// A batch may be larger than the bodies that a server accepts.
TEST_F(Migration, WhatIsTooLargeIsAskedForInHalves) {
  fill(from_);
  Snapshot before = snapshot(from_);
  constexpr std::size_t kFits = 2;
  const auto most = [](const core::Request& request) {
    const bool large = std::holds_alternative<core::MoveRequest>(request) && names(request, "k3");
    return large || named_in(request) > kFits ? Gate::Says::too_large : Gate::Says::pass;
  };
  Gate from(from_.engine(), most);
  Gate to(to_.engine(), most);
  const MigrationReport report = migrate({from, "FROM"}, {to, "TO"}, {});
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_EQ(snapshot(from_).size(), 1u);
  EXPECT_EQ(before.erase("q/k3"), 1u);
  EXPECT_EQ(snapshot(to_), before);
  for (const MigratedQueue& queue : report.queues) {
    EXPECT_FALSE(queue.held);
    if (queue.queue != "q") continue;
    EXPECT_EQ(queue.left, 1u);
    EXPECT_EQ(queue.problems, std::vector<std::string>{"message \"k3\" stays: too large a body"});
  }
}

// If a server refuses any of the requests for one message as too large, this message stays whole in
// one store, and the others are moved.
TEST_F(Migration, AMessageThatIsTooLargeOnItsOwnStays) {
  const auto is_get = [](const core::Request& request) {
    return std::holds_alternative<core::GetRequest>(request);
  };
  const auto is_cancel = [](const core::Request& request) {
    return std::holds_alternative<core::CancelRequest>(request);
  };
  for (const auto& is_large : {std::function<bool(const core::Request&)>(is_get),
                               std::function<bool(const core::Request&)>(is_cancel)}) {
    const Store from = memory_store();
    const Store to = memory_store();
    fill(from);
    Snapshot before = snapshot(from);
    Gate gate(from.engine(), [&](const core::Request& request) {
      const bool large = is_large(request) && names(request, "k3");
      return large ? Gate::Says::too_large : Gate::Says::pass;
    });
    MigrationOptions options;
    options.batch = 3;
    const MigrationReport report = migrate({gate, "FROM"}, {to.engine(), "TO"}, options);
    ASSERT_FALSE(report.error) << report.error->message;
    EXPECT_FALSE(report.is_complete());
    EXPECT_TRUE(snapshot(from).contains("q/k3"));
    EXPECT_EQ(snapshot(from).size(), 1u);
    EXPECT_EQ(before.erase("q/k3"), 1u);
    EXPECT_EQ(snapshot(to), before);
    for (const MigratedQueue& queue : report.queues) {
      EXPECT_FALSE(queue.held);
      EXPECT_EQ(queue.conflicts, 0u);
      if (queue.queue != "q") continue;
      EXPECT_EQ(queue.left, 1u);
      EXPECT_EQ(queue.problems, std::vector<std::string>{"message \"k3\" stays: too large a body"});
    }
    EXPECT_TRUE(run(from, to).is_complete());
  }
}

// The message is in both stores then, so its queue stays paused. All other messages are moved.
TEST_F(Migration, ACopyThatCannotBeTakenBackKeepsTheQueuePaused) {
  fill(from_);
  const auto ask = [](const core::Request& request) {
    const bool large = std::holds_alternative<core::CancelRequest>(request) && names(request, "k3");
    return large ? Gate::Says::too_large : Gate::Says::pass;
  };
  Gate from(from_.engine(), ask);
  Gate to(to_.engine(), ask);
  const MigrationReport report = migrate({from, "FROM"}, {to, "TO"}, {});
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_EQ(snapshot(from_).size(), 1u);
  EXPECT_EQ(snapshot(to_).size(), 13u);
  for (const MigratedQueue& queue : report.queues) {
    EXPECT_EQ(queue.held, queue.queue == "q") << queue.queue;
    EXPECT_EQ(queue.conflicts, queue.queue == "q" ? 1u : 0u) << queue.queue;
  }
  EXPECT_TRUE(run(from_, to_).is_complete());
}

// After an error that has nothing to do with size, the remaining halves are not sent: they would
// fail as well.
TEST_F(Migration, AfterAFailureTheOtherHalvesAreNotAskedFor) {
  std::vector<MessageInfo> messages;
  for (int i = 0; i < 8; ++i) {
    messages.emplace_back().key = "k" + std::to_string(i);
    messages.back().due = Time(1'900'000'000'000ms);
  }
  int small = 0;
  Gate gate(to_.engine(), [&](const core::Request& request) {
    if (named_in(request) > 2) return Gate::Says::too_large;
    return ++small == 2 ? Gate::Says::lose_the_answer : Gate::Says::pass;
  });
  const auto items = must(put_there(gate, "q", messages));
  EXPECT_EQ(small, 2);
  ASSERT_EQ(items.size(), 8u);
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i].error.has_value(), i >= 2) << i;
    EXPECT_TRUE(i < 2 || items[i].error->code == ErrorCode::unknown_outcome) << i;
  }
  EXPECT_EQ(snapshot(to_).size(), 4u);
  small = 1;
  EXPECT_EQ(put_there(gate, "q", messages).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(small, 2);
}

TEST_F(Migration, WhatMovesNothingIsRefusedBeforeAnythingIsPaused) {
  (void)must(from_.queue("q").push({.key = "k"}));
  const struct {
    const char* engine;
    const char* served;
    bool moves_away;
    const char* says;
  } kinds[] = {
      {"redis plain", "", true, "END: nothing can be moved into redis plain"},
      {"remote", "redis redisson", true, "END: nothing can be moved into redis redisson"},
      {"remote", "embedded", false, "END: the server is older than this program"},
  };
  for (const auto& [engine, served, moves_away, says] : kinds) {
    core::Capabilities can;
    can.engine = engine;
    can.served = served;
    can.moves = false;
    can.moves_away = moves_away;
    can.headers = !moves_away;
    const auto asked = [](const core::Request&) {
      ADD_FAILURE() << "it was asked";
      return Gate::Says::refuse;
    };
    Gate gate(to_.engine(), asked);
    gate.set_capabilities(can);
    for (const bool is_target : {false, true}) {
      if (!is_target && moves_away) continue;
      const MigrationEnd end{gate, "END"};
      const MigrationEnd other{from_.engine(), "OTHER"};
      const MigrationReport report = is_target ? migrate(other, end, {}) : migrate(end, other, {});
      ASSERT_TRUE(report.error);
      EXPECT_EQ(report.error->code, ErrorCode::unsupported);
      EXPECT_EQ(report.error->message.find(says), 0u) << report.error->message;
    }
  }
  EXPECT_FALSE(must(from_.queue("q").stats()).paused);
}

TEST_F(Migration, AQueueThatCouldNotBePausedIsNotSaidToBe) {
  (void)must(from_.queue("q").push({.key = "k"}));
  Gate gate(from_.engine(), [&](const core::Request& request) {
    return std::get_if<core::PauseRequest>(&request) != nullptr ? Gate::Says::refuse
                                                                : Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_FALSE(report.queues.at(0).held);
  EXPECT_FALSE(must(from_.queue("q").stats()).paused);
}

// Two runs at once: a message that the other run has moved must not count as cancelled.
TEST_F(Migration, AnotherRunIsNoticedAndItsCopiesStay) {
  const Queue q = from_.queue("q");
  for (int i = 0; i < 10; ++i) (void)must(q.push({.payload = "x", .due = in(1h)}));
  bool other_ran = false;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    const auto* cancel = std::get_if<core::CancelRequest>(&request);
    if (cancel != nullptr && !std::exchange(other_ran, true)) {
      EXPECT_FALSE(run(from_, to_).error);
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::conflict);
  EXPECT_NE(report.error->message.find("another program moves"), std::string::npos);
  EXPECT_EQ(snapshot(to_).size(), 10u);
  EXPECT_TRUE(run(from_, to_).is_complete());
  EXPECT_EQ(snapshot(to_).size(), 10u);
}

// After a request that was carried out twice, a missing message may have been moved, so its copy
// must be kept.
TEST_F(Migration, ARequestThatIsCarriedOutTwiceLosesNothing) {
  const Queue q = from_.queue("q");
  for (int i = 0; i < 5; ++i) (void)must(q.push({.payload = "x", .due = in(1h)}));
  bool doubled = false;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    const auto* cancel = std::get_if<core::CancelRequest>(&request);
    if (cancel != nullptr && !std::exchange(doubled, true)) {
      (void)must(detail::wait_for(from_.engine(), *cancel));
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::conflict);
  EXPECT_NE(report.error->message.find("a request of this run was carried out twice"),
            std::string::npos)
      << report.error->message;
  EXPECT_EQ(snapshot(to_).size(), 5u);
  EXPECT_TRUE(run(from_, to_).is_complete());
  EXPECT_EQ(snapshot(to_).size(), 5u);
}

// The reported error is the lost answer. It must not be that another run moves messages.
TEST_F(Migration, ALostAnswerIsNotTakenForAnotherRun) {
  const Queue q = from_.queue("q");
  for (const char* key : {"a", "b", "c", "d"}) {
    (void)must(q.push({.key = key, .payload = "x", .due = in(1h)}));
  }
  std::string gone;
  std::string later;
  int small = 0;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    const auto* cancel = std::get_if<core::CancelRequest>(&request);
    if (cancel == nullptr) return Gate::Says::pass;
    if (cancel->keys.size() > 2) return Gate::Says::too_large;
    if (gone.empty()) {
      gone = core::view(cancel->bytes, cancel->keys.at(0));
      later = core::view(cancel->bytes, cancel->keys.at(1));
      EXPECT_EQ(must(q.cancel(gone)), Outcome::cancelled);
      EXPECT_EQ(must(q.reschedule(later, in(5h))), Outcome::rescheduled);
    }
    return ++small == 2 ? Gate::Says::lose_the_answer : Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::unknown_outcome) << report.error->message;
  EXPECT_FALSE(snapshot(to_).contains("q/" + later));
  EXPECT_TRUE(run(from_, to_).is_complete());
  EXPECT_GT(must(to_.queue("q").get(later)).due, must(to_.queue("q").get(gone)).due + Millis(3h));
}

TEST_F(Migration, WhatIsLeasedStaysAndIsMovedByTheNextRun) {
  const Queue q = from_.queue("q");
  (void)must(q.push({.key = "out"}));
  const std::string receipt(must(q.claim()).at(0).receipt());
  (void)must(q.push({.key = "in", .due = in(1h)}));
  const MigrationReport report = migrate_all();
  EXPECT_FALSE(report.error);
  EXPECT_FALSE(report.is_complete());
  EXPECT_EQ(report.queues.at(0).leased, 1u);
  EXPECT_EQ(report.queues.at(0).moved, 1u);
  EXPECT_FALSE(report.queues.at(0).held);
  EXPECT_FALSE(must(q.stats()).paused);
  EXPECT_EQ(must(q.retry(receipt, 1h)), Outcome::done);
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_EQ(must(to_.queue("q").get("out")).attempt, 1u);
}

// With --wait: the claim ends while the migration waits.
TEST_F(Migration, ItWaitsForClaimsToEnd) {
  const Queue q = from_.queue("q");
  (void)must(q.push({.key = "out"}));
  const std::string receipt(must(q.claim()).at(0).receipt());
  int looks = 0;
  Gate gate(from_.engine(), [&](const core::Request& request) {
    const auto* stats = std::get_if<core::StatsRequest>(&request);
    if (stats != nullptr && ++looks == 5) {
      EXPECT_EQ(must(q.retry(receipt, 1h)), Outcome::done);
    }
    return Gate::Says::pass;
  });
  MigrationOptions options;
  options.wait = 1h;
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, options);
  EXPECT_TRUE(report.is_complete());
  EXPECT_EQ(report.queues.at(0).moved, 1u);
}

TEST_F(Migration, AKeyThatIsTakenThereStaysHere) {
  (void)must(from_.queue("q").push({.key = "k", .payload = "here", .due = in(1h)}));
  (void)must(from_.queue("q").push({.key = "l", .due = in(1h)}));
  (void)must(to_.queue("q").push({.key = "k", .payload = "there", .due = in(1h)}));
  const MigrationReport report = migrate_all();
  EXPECT_FALSE(report.is_complete());
  const MigratedQueue& queue = report.queues.at(0);
  EXPECT_EQ(queue.moved, 1u);
  EXPECT_EQ(queue.conflicts, 1u);
  EXPECT_EQ(queue.left, 1u);
  EXPECT_FALSE(queue.held);
  ASSERT_EQ(queue.problems.size(), 1u);
  EXPECT_EQ(queue.problems[0], "message \"k\" stays: the key belongs to another message in TO");
  EXPECT_EQ(must(from_.queue("q").get("k")).payload, "here");
  EXPECT_EQ(must(to_.queue("q").get("k")).payload, "there");
}

TEST_F(Migration, RememberedKeysStayAndAreCounted) {
  const Queue q = from_.queue("q");
  (void)must(q.configure({.remember = 1h}));
  (void)must(q.push({.key = "k"}));
  (void)must(q.ack(must(q.claim()).at(0).receipt()));
  const MigrationReport report = migrate_all();
  EXPECT_TRUE(report.is_complete());
  EXPECT_EQ(report.queues.at(0).remembered, 1u);
  EXPECT_EQ(must(q.cancel("k")), Outcome::settled);
}

TEST_F(Migration, OnlyTheQueuesThatAreNamed) {
  fill(from_);
  MigrationOptions options;
  options.queues = {"other"};
  EXPECT_TRUE(migrate_all(options).is_complete());
  EXPECT_EQ(snapshot(to_).size(), 1u);
  options.queues = {"other", "missing"};
  const MigrationReport report = migrate_all(options);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::not_found);
  EXPECT_NE(report.error->message.find("FROM, queue \"missing\""), std::string::npos)
      << report.error->message;
}

TEST_F(Migration, ADryRunCountsAndChangesNothing) {
  fill(from_);
  const Snapshot before = snapshot(from_);
  MigrationOptions options;
  options.dry_run = true;
  const MigrationReport report = migrate_all(options);
  ASSERT_FALSE(report.error);
  std::uint64_t moved = 0;
  for (const MigratedQueue& queue : report.queues) moved += queue.moved;
  EXPECT_EQ(moved, before.size());
  EXPECT_EQ(snapshot(from_), before);
  expect_as_filled(from_);
  EXPECT_TRUE(must(to_.stats()).queues.empty());
}

TEST_F(Migration, SettingsThatAreThereMayBeKept) {
  (void)must(from_.queue("q").configure({.lease = 5min}));
  (void)must(to_.queue("q").configure({.lease = 7min}));
  MigrationOptions options;
  options.keep_settings = true;
  EXPECT_TRUE(migrate_all(options).is_complete());
  EXPECT_EQ(must(to_.queue("q").stats()).settings.lease, Millis(7min));
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_EQ(must(to_.queue("q").stats()).settings.lease, Millis(5min));
}

// Moved messages would come in the order of their keys.
TEST_F(Migration, AQueueWithTheOrderOfPushesIsMovedOnceItIsEmpty) {
  (void)must(from_.queue("q").configure(
      {.group = Grouping{Grouping::By::key, ""}, .group_order = GroupOrder::push}));
  (void)must(from_.queue("q").push({.key = "{a}2"}));
  const Snapshot before = snapshot(from_);
  const MigrationReport report = migrate_all();
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::unsupported);
  EXPECT_NE(report.error->message.find("queue \"q\": its groups keep the order of pushes"),
            std::string::npos)
      << report.error->message;
  EXPECT_NE(report.error->message.find("it has 1 messages"), std::string::npos);
  EXPECT_EQ(snapshot(from_), before);
  EXPECT_FALSE(must(from_.queue("q").stats()).paused);
  (void)must(from_.queue("q").cancel("{a}2"));
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_EQ(must(to_.queue("q").stats()).settings.group_order, GroupOrder::push);
}

TEST_F(Migration, AStoreIsNotMovedIntoItself) {
  fill(from_);
  const Snapshot before = snapshot(from_);
  for (const char* queue : {"q", "other", "paused"}) {
    MigrationOptions options;
    options.queues = {queue};
    const MigrationReport report = run(from_, from_, options);
    ASSERT_TRUE(report.error) << queue;
    EXPECT_EQ(report.error->code, ErrorCode::conflict) << queue;
    EXPECT_FALSE(report.queues.at(0).held);
  }
  EXPECT_EQ(snapshot(from_), before);
  expect_as_filled(from_);
}

TEST_F(Migration, AQueueThatIsPausedThereIsPausedAfterwards) {
  (void)must(from_.queue("q").push({.key = "k"}));
  (void)must(to_.queue("q").configure({}));
  must(to_.queue("q").pause());
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_TRUE(must(to_.queue("q").stats()).paused);
  EXPECT_FALSE(must(to_.queue("q").stats()).paused_until);
  EXPECT_FALSE(must(from_.queue("q").stats()).paused);
}

TEST_F(Migration, StoppedBetweenTwoBatchesItGoesOnLater) {
  fill(from_);
  const Snapshot before = snapshot(from_);
  std::stop_source stop;
  MigrationOptions options;
  options.batch = 3;
  options.queues = {"q"};
  options.stop = stop.get_token();
  options.progress = [&](std::uint64_t, std::uint64_t) { stop.request_stop(); };
  const MigrationReport report = migrate_all(options);
  EXPECT_FALSE(report.error);
  EXPECT_TRUE(report.stopped);
  EXPECT_FALSE(report.is_complete());
  EXPECT_TRUE(report.queues.at(0).held);
  EXPECT_EQ(report.queues.at(0).moved, 3u);
  EXPECT_TRUE(migrate_all().is_complete());
  EXPECT_EQ(snapshot(to_), before);
  expect_as_filled(to_);
}

// A message that the other store refuses as too large stays, and the others are moved.
TEST_F(Migration, WhatIsTooLargeThereStays) {
  const Store small = must(tarry::open("memory:?max_payload=10"));
  (void)must(from_.queue("q").push({.key = "large", .payload = std::string(11, 'x')}));
  (void)must(from_.queue("q").push({.key = "small", .payload = "x"}));
  const MigrationReport report = run(from_, small);
  EXPECT_FALSE(report.error);
  EXPECT_FALSE(report.is_complete());
  EXPECT_EQ(report.queues.at(0).moved, 1u);
  EXPECT_EQ(report.queues.at(0).left, 1u);
  ASSERT_EQ(report.queues.at(0).problems.size(), 1u);
  EXPECT_NE(report.queues.at(0).problems[0].find("\"large\""), std::string::npos);
}

// The payloads together exceed what one answer may contain.
TEST_F(Migration, BatchesOfLargeMessages) {
  const Store from = must(tarry::open("memory:?max_payload=64MiB"));
  const Store to = must(tarry::open("memory:?max_payload=64MiB"));
  const std::string payload(33 << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    (void)must(from.queue("q").push({.payload = payload, .due = in(1h)}));
  }
  const MigrationReport report = run(from, to);
  EXPECT_TRUE(report.is_complete());
  EXPECT_EQ(report.queues.at(0).moved, 3u);
}

}  // namespace
}  // namespace tarry::app
