// Guarantee 9, and with it 1, 4 and 5: however many clients do whatever they like, each accepted
// message is accounted for, is delivered by live claims only, and never again after its ack.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "contract.h"

namespace tarry::contract {
namespace {

class Conservation : public Contract {
 protected:
  /// Performs one random action on a random queue, and counts the accepted messages.
  void act(std::mt19937& random) {
    const auto pick = [&](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random() % bound);
    };
    const Queue q = queue("q" + std::to_string(pick(3)));
    const std::string key = "k" + std::to_string(pick(12));
    constexpr IfExists kRules[] = {IfExists::reject, IfExists::keep, IfExists::replace,
                                   IfExists::earlier, IfExists::later};
    switch (pick(12)) {
      case 0:
      case 1:
      case 2: {
        const Pushed pushed = must(q.push({.key = pick(5) == 0 ? "" : key,
                                           .payload = key,
                                           .due = in(Millis(pick(20'000))),
                                           .if_exists = kRules[pick(5)],
                                           .max_attempts = 1 + pick(3)}));
        if (pushed.outcome == Outcome::pushed || pushed.outcome == Outcome::replaced ||
            pushed.outcome == Outcome::revived) {
          ++accepted_[q.name()];
          EXPECT_TRUE(ids_.insert(pushed.id).second);
        }
        break;
      }
      case 3: (void)must(q.cancel(key)); break;
      case 4: {
        const Result<Answer> answer = q.reschedule(key, in(Millis(pick(20'000))));
        (void)must(answer);
        break;
      }
      case 5:
      case 6:
        for (const Delivery& delivery : claim(q, 1 + pick(5), Millis(1 + pick(10'000)))) {
          EXPECT_FALSE(acked_.contains(delivery.id())) << "delivered after its ack";
          EXPECT_LE(delivery.due(), delivery.claimed_at());
          claims_.push_back({delivery.id(), std::string(delivery.receipt())});
        }
        break;
      case 7:
      case 8:
        if (!claims_.empty()) {
          const std::size_t which = pick(static_cast<std::uint32_t>(claims_.size()));
          constexpr Action kActions[] = {Action::ack, Action::retry, Action::release, Action::bury};
          const Action action = kActions[pick(4)];
          const Answer answer = must(
              q.settle(Settle{.receipt = claims_[which].second, .action = action, .reason = {}}));
          if (answer.outcome == Outcome::done && action == Action::ack) {
            acked_.insert(claims_[which].first);
          }
          if (pick(2) == 0) claims_.erase(claims_.begin() + static_cast<std::ptrdiff_t>(which));
        }
        break;
      case 9: clock().advance(Millis(pick(8'000))); break;
      case 10:
        if (pick(10) == 0) (void)must(q.purge());
        if (pick(4) == 0) {
          const Result<std::uint64_t> revived = q.revive();
          (void)must(revived);
        }
        break;
      default:
        (void)must(q.configure({.remember = Millis(pick(2) * 5'000), .dead_keep = 30s}));
        break;
    }
  }

  void check() {
    expect_conserved(store());
    for (const QueueStats& stats : must(store().stats()).queues) {
      EXPECT_EQ(stats.counters.accepted, accepted_[stats.queue]) << stats.queue;
      EXPECT_EQ(stats.scheduled + stats.ready + stats.leased + stats.dead + stats.remembered,
                list_all(queue(stats.queue)).size())
          << stats.queue;
    }
  }

  std::map<std::string, std::uint64_t> accepted_;
  std::set<std::uint64_t> ids_;
  std::set<std::uint64_t> acked_;
  std::vector<std::pair<std::uint64_t, std::string>> claims_;
};
TARRY_ON_ALL_ENGINES(Conservation);

TEST_P(Conservation, HoldsAfterWhateverIsDone) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (const char* name : {"q0", "q1", "q2"}) (void)must(queue(name).configure({}));
    for (int i = 0; i < 150; ++i) act(random);
    check();
    if (is(Kind::file)) {
      rig().reopen();
      check();
    }
  }
}

TEST_P(Conservation, HoldsAtAnyMomentWhileManyWork) {
  const Queue q = queue();
  (void)must(q.configure({}));
  constexpr int kThreads = 3;
  constexpr int kEach = 60;
  std::mutex mutex;
  std::multiset<std::uint64_t> acked;
  std::set<std::uint64_t> pushed_ids;
  std::atomic<int> cancelled{0};
  std::atomic<int> done{0};

  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = std::to_string(t) + ":" + std::to_string(i);
        const Pushed pushed = must(q.push({.key = key, .payload = key}));
        {
          const std::lock_guard lock(mutex);
          pushed_ids.insert(pushed.id);
        }
        if (i % 3 == 0 && must(q.cancel(key)).outcome == Outcome::cancelled) ++cancelled;
        for (const Delivery& delivery : claim(q, 2)) {
          if (must(q.ack(delivery.receipt())).outcome == Outcome::done) {
            const std::lock_guard lock(mutex);
            acked.insert(delivery.id());
          }
        }
      }
      ++done;
    });
  }
  while (done < kThreads) expect_conserved(must(q.stats()));
  for (std::thread& thread : threads) thread.join();
  for (const Delivery& delivery : claim_all(q)) {
    EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
    acked.insert(delivery.id());
  }
  EXPECT_EQ(pushed_ids.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_EQ(std::set<std::uint64_t>(acked.begin(), acked.end()).size(), acked.size())
      << "acked twice";
  EXPECT_EQ(acked.size() + static_cast<std::size_t>(cancelled.load()), pushed_ids.size());
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.counters.acked, acked.size());
  EXPECT_EQ(stats.counters.cancelled, static_cast<std::uint64_t>(cancelled.load()));
}

TEST_P(Conservation, NoTwoHoldOneMessage) {
  const Queue q = queue();
  std::vector<Push> messages(300, Push{.payload = "x"});
  (void)must(q.push(messages));
  std::mutex mutex;
  std::multiset<std::uint64_t> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (;;) {
        const std::vector<Delivery> claimed = claim(q, 7);
        if (claimed.empty()) return;
        const std::lock_guard lock(mutex);
        for (const Delivery& delivery : claimed) ids.insert(delivery.id());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Delivery& delivery : claim_all(q)) ids.insert(delivery.id());
  EXPECT_EQ(ids.size(), 300u);
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()).size(), 300u);
}

TEST_P(Conservation, WorkersThatWaitGetEverythingOnce) {
  const Queue q = queue();
  (void)must(q.configure({}));
  std::mutex mutex;
  std::multiset<std::string> seen;
  std::vector<std::thread> workers;
  for (int t = 0; t < 3; ++t) {
    workers.emplace_back([&] {
      for (;;) {
        const auto claimed = q.claim({.max = 3, .lease = kLongLease, .wait = 1h});
        if (!claimed) return;  // the store is closed
        for (const Delivery& delivery : *claimed) {
          {
            const std::lock_guard lock(mutex);
            seen.emplace(delivery.payload());
          }
          (void)must(q.ack(delivery.receipt()));
        }
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    (void)must(q.push({.payload = std::to_string(i), .due = in(Millis(i % 10))}));
    if (i % 10 == 9) clock().advance(5ms);
  }
  clock().advance(10ms);
  wait_until("all acked", [&] { return must(q.stats()).counters.acked == 100; });
  expect_conserved(store());
  store().close();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 100u);
  drop_rig();
}

}  // namespace
}  // namespace tarry::contract
