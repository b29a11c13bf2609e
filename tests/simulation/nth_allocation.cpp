// Every Nth allocation of a verb fails, on the thread that calls it. Then the verb either throws
// std::bad_alloc and has changed nothing, or it says `unknown_outcome`; the store goes on. This is
// a program of its own, because it replaces operator new.
#include <gtest/gtest.h>
#include <tarry/store.h>
#include <tarry/worker.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "core/engine.h"
#include "support/temp_directory.h"

namespace {

// Counters of the calling thread. Allocations of the engine's own threads are not failed, nor those
// of a thread that is lent to the engine: if memory ends there, the program ends.
thread_local std::uint64_t fail_in = 0;  // 0: never
thread_local bool has_failed = false;
thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t allocated_bytes = 0;
// Exception: allocations as large as an answer with payloads, which fail on the engine's threads if
// large_fail is set.
constexpr std::size_t kLarge = 1 << 20;
std::atomic<bool> large_fail{false};  // on the engine's threads

void* allocate(std::size_t size) {
  const bool is_ours = !tarry::core::on_engine_thread();
  if (is_ours && fail_in > 0 && --fail_in == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (!is_ours && size >= kLarge && large_fail.load()) throw std::bad_alloc();
  if (is_ours) {
    ++allocations;
    allocated_bytes += size;
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tarry {
namespace {

enum class Came { answer, nothing, unknown };

/// Runs `verb` again and again; the first time its first allocation fails, then its second, and so
/// on until it has no more. Each time `after` gets the result.
template <typename Verb>
std::uint64_t each_allocation(const char* name, Verb verb,
                              const std::function<void(Came)>& after = {}) {
  for (std::uint64_t n = 1; n < 5000; ++n) {
    Came came = Came::answer;
    has_failed = false;
    std::optional<ErrorCode> code;
    fail_in = n;
    try {
      code = verb();
      fail_in = 0;
      if (code == ErrorCode::unknown_outcome) came = Came::unknown;
      // A store in memory without memory answers like a store on a full disk.
      if (code == ErrorCode::no_space) came = Came::nothing;
    } catch (const std::bad_alloc&) {
      came = Came::nothing;
    }
    fail_in = 0;
    EXPECT_TRUE(came != Came::answer || !code) << name << ", allocation " << n;
    EXPECT_TRUE(came == Came::answer || has_failed) << name << ", allocation " << n;
    if (after) after(came);
    if (!has_failed) {
      std::cout << name << ": " << n - 1 << " allocations failed in turn\n";
      return n - 1;
    }
    if (testing::Test::HasFailure()) return n;
  }
  ADD_FAILURE() << name << " always has one more";
  return 0;
}

template <typename T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

class NthAllocation : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string url() const {
    std::string text = GetParam();
    const std::size_t at = text.find("PATH");
    return at == std::string::npos ? text : text.replace(at, 4, directory_.path() + "/store");
  }
  Store opened() {
    OpenOptions options;
    options.clock = clock_;
    auto store = open(url(), std::move(options));
    EXPECT_TRUE(store) << store.error().message;
    return *std::move(store);
  }
  static std::uint64_t accepted(const Queue& queue) {
    const auto stats = queue.stats();
    return stats ? stats->counters.accepted : 0;
  }
  static std::string receipt(const Queue& queue) {
    EXPECT_TRUE(queue.push({.payload = "to be claimed"}));
    const auto claimed = queue.claim();
    EXPECT_TRUE(claimed && claimed->size() == 1);
    return std::string(claimed->front().receipt());
  }

  storage::TempDirectory directory_;
  ManualClock clock_;
};

TEST_P(NthAllocation, OfOpeningLeavesAStoreThatOpens) {
  EXPECT_GT(each_allocation("open",
                            [this] {
                              OpenOptions options;
                              const auto store = open(url(), std::move(options));
                              return code_of(store);
                            }),
            10u);
  EXPECT_TRUE(opened().queue("q").push({.payload = "x"}));
}

TEST_P(NthAllocation, OfClosingIsNone) {
  Store store = opened();
  EXPECT_TRUE(store.queue("q").push({.key = "a-key-too-long-to-be-short", .payload = "x"}));
  EXPECT_EQ(each_allocation("close",
                            [&]() -> std::optional<ErrorCode> {
                              store.close();
                              return std::nullopt;
                            }),
            0u);
}

TEST_P(NthAllocation, OfTheLastHandleIsNone) {
  std::optional<Store> store = opened();
  EXPECT_TRUE(store->queue("q").push({.payload = "x"}));
  fail_in = 1;
  store.reset();
  fail_in = 0;
  EXPECT_FALSE(has_failed);
}

TEST_P(NthAllocation, OfAPushChangesNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  ASSERT_TRUE(queue.configure({}));
  std::uint64_t before = accepted(queue);
  const auto whole = [&](std::uint64_t count) {
    return [&, count](Came came) {
      const std::uint64_t now = accepted(queue);
      EXPECT_EQ(now - before, came == Came::nothing ? 0 : count);
      before = now;
    };
  };
  each_allocation("push", [&] { return code_of(queue.push({.payload = "x"})); }, whole(1));
  // The batch goes to both shards: all of it is accepted, or nothing.
  std::uint64_t round = 0;
  std::vector<std::string> keys(20);
  std::vector<Push> batch(20);
  each_allocation(
      "push of 20",
      [&] {
        const std::uint64_t armed = std::exchange(fail_in, 0);
        ++round;
        for (std::size_t i = 0; i < batch.size(); ++i) {
          keys[i] = "round " + std::to_string(round) + " number " + std::to_string(i);
          batch[i] = {.key = keys[i], .payload = "a payload of its own"};
        }
        fail_in = armed;
        return code_of(queue.push(batch));
      },
      whole(20));
  // With a callback, the engine's thread allocates the answer, not the caller.
  before = accepted(queue);
  each_allocation(
      "push with a callback",
      [&]() -> std::optional<ErrorCode> {
        queue.push({.payload = "y"}, [](const Result<Pushed>&) {});
        return std::nullopt;
      },
      whole(1));
}

TEST_P(NthAllocation, OfAVerbByKeyChangesNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  const std::string key = "a key that is too long to be kept within a string";
  ASSERT_TRUE(queue.push({.key = key, .payload = "x", .due = in(std::chrono::hours(1))}));
  Time due = queue.get(key)->due;
  each_allocation(
      "reschedule", [&] { return code_of(queue.reschedule(key, in(std::chrono::hours(2)))); },
      [&](Came came) {
        const auto now = queue.get(key)->due;
        EXPECT_EQ(now != due, came != Came::nothing);
        ASSERT_TRUE(queue.reschedule(key, in(std::chrono::hours(1))));
        due = queue.get(key)->due;
      });
  each_allocation("get", [&] { return code_of(queue.get(key)); });
  each_allocation("list", [&] { return code_of(queue.list()); });
  each_allocation("stats", [&] { return code_of(queue.stats()); });
  each_allocation("stats of all", [&] { return code_of(store.stats()); });
  each_allocation(
      "cancel", [&] { return code_of(queue.cancel(key)); },
      [&](Came came) {
        EXPECT_EQ(queue.get(key).has_value(), came == Came::nothing);
        ASSERT_TRUE(queue.push({.key = key, .due = in(std::chrono::hours(1))}));
      });
}

TEST_P(NthAllocation, OfAClaimAndItsEndChangesNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.payload = "x"}));
  each_allocation(
      "claim", [&] { return code_of(queue.claim()); },
      [&](Came came) {
        EXPECT_EQ(queue.stats()->leased, came == Came::nothing ? 0u : 1u);
        clock_.advance(std::chrono::hours(1));
        EXPECT_EQ(queue.stats()->leased, 0u);
      });
  ASSERT_TRUE(queue.purge());
  for (const Action action : {Action::ack, Action::retry, Action::release, Action::bury}) {
    std::string held = receipt(queue);
    const std::string_view why = action == Action::bury ? "a reason that is rather long" : "";
    each_allocation(
        "settle",
        [&] { return code_of(queue.settle({.receipt = held, .action = action, .reason = why})); },
        [&](Came came) {
          EXPECT_EQ(queue.stats()->leased, came == Came::nothing ? 1u : 0u)
              << static_cast<int>(action) << " came " << static_cast<int>(came);
          if (came == Came::nothing) return;
          ASSERT_TRUE(queue.purge());
          held = receipt(queue);
        });
    ASSERT_TRUE(queue.ack(held));
  }
  const std::string held = receipt(queue);
  each_allocation("extend", [&] { return code_of(queue.extend(held)); });
  EXPECT_EQ(queue.stats()->leased, 1u);
}

TEST_P(NthAllocation, OfAVerbOfTheWholeQueueChangesNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  each_allocation("configure", [&] { return code_of(queue.configure({.max_attempts = 3})); });
  EXPECT_EQ(queue.configure({})->max_attempts, 3u);
  each_allocation(
      "pause", [&] { return code_of(queue.pause()); },
      [&](Came came) {
        EXPECT_EQ(queue.stats()->paused, came != Came::nothing);
        ASSERT_TRUE(queue.resume());
      });
  ASSERT_TRUE(queue.pause());
  each_allocation("resume", [&] { return code_of(queue.resume()); });
  EXPECT_FALSE(queue.stats()->paused);
  each_allocation(
      "purge",
      [&] {
        const std::uint64_t armed = std::exchange(fail_in, 0);
        for (int i = 0; i < 8; ++i) EXPECT_TRUE(queue.push({.payload = "x"}));
        fail_in = armed;
        return code_of(queue.purge());
      },
      [&](Came came) { EXPECT_EQ(queue.stats()->ready > 0, came == Came::nothing); });
  each_allocation("revive", [&] { return code_of(queue.revive()); });
}

// The engine's own threads make this answer. If its memory cannot be allocated, the claimed message
// is released.
TEST_P(NthAllocation, OfALargeAnswerEndsNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.key = "k", .payload = std::string(kLarge, 'x')}));
  // A shard reserves memory for a batch as large as the last one. The reschedule makes the last
  // batch small again.
  ASSERT_TRUE(queue.reschedule("k", in(std::chrono::hours(1))));
  clock_.advance(std::chrono::hours(1));
  const auto claim = [&] {
    std::promise<Result<std::vector<Delivery>>> answered;
    queue.claim(
        {}, [&](Result<std::vector<Delivery>> claimed) { answered.set_value(std::move(claimed)); });
    return answered.get_future().get();
  };
  const auto get = [&] {
    std::promise<std::optional<ErrorCode>> answered;
    queue.get("k", [&](const Result<MessageInfo>& found) { answered.set_value(code_of(found)); });
    return answered.get_future().get();
  };
  EXPECT_EQ(get(), std::nullopt);  // the lookup of the key has its memory from now on
  large_fail = true;
  const auto refused = claim();
  const auto unread = get();
  large_fail = false;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  EXPECT_EQ(unread, ErrorCode::unavailable);
  EXPECT_EQ(get(), std::nullopt);
  const auto claimed = claim();
  ASSERT_TRUE(claimed);
  ASSERT_EQ(claimed->size(), 1u);
  EXPECT_EQ(claimed->front().attempt(), 1u);
}

// A removal that failed does not block the next one.
TEST_P(NthAllocation, OfARemovalChangesNothing) {
  Store store = opened();
  const Queue queue = store.queue("q");
  each_allocation(
      "remove",
      [&]() -> std::optional<ErrorCode> {
        const std::uint64_t armed = std::exchange(fail_in, 0);
        EXPECT_TRUE(queue.push({.payload = "x"}));
        const auto ended = std::make_shared<std::promise<bool>>();
        Callback<std::uint64_t> done = [ended](const Result<std::uint64_t>& removed) {
          ended->set_value(removed.has_value());
        };
        auto end = ended->get_future();
        fail_in = armed;
        queue.remove(true, std::move(done));
        fail_in = 0;
        EXPECT_EQ(end.wait_for(std::chrono::seconds(20)), std::future_status::ready);
        return std::nullopt;
      },
      [&](Came came) { EXPECT_EQ(queue.stats().has_value(), came == Came::nothing); });
}

TEST_P(NthAllocation, OfAWorkersMakingAndOfHandlesIsHarmless) {
  Store store = opened();
  each_allocation("queue", [&]() -> std::optional<ErrorCode> {
    const Queue queue = store.queue("a name that is too long to be kept within");
    return std::nullopt;
  });
  each_allocation("worker", [&]() -> std::optional<ErrorCode> {
    const Worker worker(store.queue("q"), {},
                        [](const Delivery&, std::stop_token) { return ack(); });
    return std::nullopt;
  });
  EXPECT_TRUE(store.queue("q").push({.payload = "x"}));
}

TEST_P(NthAllocation, OfARefusalIsHarmless) {
  Store store = opened();
  const Queue queue = store.queue("q");
  store.close();
  for (std::uint64_t n = 1; n < 100; ++n) {
    has_failed = false;
    fail_in = n;
    try {
      const auto pushed = queue.push({.payload = "x"});
      fail_in = 0;
      EXPECT_FALSE(pushed);
    } catch (const std::bad_alloc&) {
    }
    fail_in = 0;
    if (!has_failed) return;
  }
  ADD_FAILURE() << "always one more";
}

INSTANTIATE_TEST_SUITE_P(Stores, NthAllocation,
                         testing::Values("memory:?shards=2", "file:PATH?shards=2&sync=os"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 4) == "file" ? "file"
                                                                                 : "memory";
                         });

struct Cost {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

/// The memory that the calling thread allocates to push `count` messages of `payload`.
Cost cost_of_push(const Queue& queue, std::size_t count, const std::string& payload) {
  // The keys are so short that their strings in the answers need no memory.
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(std::to_string(count) + ":" + std::to_string(i));
  }
  std::vector<Push> batch(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch[i].key = keys[i];
    batch[i].payload = payload;
  }
  allocations = 0;
  allocated_bytes = 0;
  const auto pushed = queue.push(batch);
  const Cost cost{allocations, allocated_bytes};
  EXPECT_TRUE(pushed);
  return cost;
}

// A batch is built in one buffer, into which each payload is copied once. So there is no allocation
// per message.
TEST(Allocation, ABatchCostsNoneAMessage) {
  auto store = open("memory:");
  ASSERT_TRUE(store);
  const Queue queue = store->queue("q");
  const std::string payload(4'000, 'x');
  constexpr std::size_t kMany = 1'000;
  (void)cost_of_push(queue, 1, payload);
  const Cost few = cost_of_push(queue, 10, payload);
  const Cost many = cost_of_push(queue, kMany, payload);
  std::cout << "a batch of 10: " << few.allocations << " allocations, of " << kMany << ": "
            << many.allocations << ", " << many.bytes << " bytes\n";
  EXPECT_LT(many.allocations, few.allocations + 40);
  EXPECT_LT(many.bytes, kMany * payload.size() * 3 / 2);
}

}  // namespace
}  // namespace tarry
