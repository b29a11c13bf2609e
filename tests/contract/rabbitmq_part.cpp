#include "rabbitmq_part.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "core/engine.h"
#include "helpers.h"
#include "open/handles/store_state.h"
#include "rabbit_server.h"

namespace tarry::contract {
namespace {

class WithoutLeases final : public core::Engine {
 public:
  explicit WithoutLeases(Store store) : store_(std::move(store)) {}

  core::Ticket submit(core::Request request, core::Completion completion) override {
    if (auto* claim = std::get_if<core::ClaimRequest>(&request)) {
      if (claim->lease == kLongLease) claim->lease.reset();
      for (const std::string& queue : claim->queues) note_rabbit_queue(queue);
    }
    std::visit([](const auto& any) { note(any); }, request);
    return store_.engine().submit(std::move(request), std::move(completion));
  }
  void withdraw(core::Ticket ticket) override { store_.engine().withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override {
    return store_.engine().capabilities();
  }
  [[nodiscard]] core::ClaimWatches& claim_watches() noexcept override {
    return store_.engine().claim_watches();
  }
  void close() override { store_.close(); }
  [[nodiscard]] bool is_closed() const noexcept override { return store_.engine().is_closed(); }

 private:
  template <typename Request>
  static void note(const Request& request) {
    if constexpr (requires { request.queue; }) {
      if (!request.queue.empty()) note_rabbit_queue(request.queue);
    }
  }

  Store store_;
};

struct NotForRabbitmq {
  std::string_view suite;
  std::string_view test;  // what its name begins with
  std::string_view why;
};

constexpr std::string_view kTop = "the ladder's top is 621 days";
constexpr std::string_view kRefusedFirst = "such a request is refused before its fields are read";
constexpr std::string_view kNoGet = "get is refused before it looks for the queue";

// And RabbitMQ 3.10 ends the connection with INTERNAL_ERROR once in some hundred such races. Then
// claims answer `unavailable`, and the broker delivers their messages again.
constexpr std::string_view kUnderWay =
    "a quorum queue counts an attempt for a message under way to a claim that is withdrawn";
constexpr std::string_view kLabel = "a key is a label: two messages may have the same one";

constexpr std::array kNotForRabbitmq = {
    NotForRabbitmq{"Batches", "OneBadItemOfAPush", "nothing counts accepted messages"},
    NotForRabbitmq{"Batches", "OneMoreThanTheLimit", kRefusedFirst},
    NotForRabbitmq{"Batches", "PushAnswersItemByItem", kLabel},
    NotForRabbitmq{"Batches", "TheSameKeyTwice", kLabel},
    NotForRabbitmq{"ByKey", "", "no message can be found by its key"},
    NotForRabbitmq{"Conservation", "WorkersThatWait", "it moves the clock while its threads run"},
    NotForRabbitmq{"Conservation", "HoldsAtAnyMoment", "its threads cancel and reschedule"},
    NotForRabbitmq{"Limits", "Delays", kTop},
    NotForRabbitmq{"Limits", "EnumeratorsThatAreNone", kRefusedFirst},
    NotForRabbitmq{"Limits", "Receipts", kRefusedFirst},
    NotForRabbitmq{"Purging", "TakesMany", "a purge leaves messages on the ladder"},
    NotForRabbitmq{"Reopen", "AStoreThatIsOpenIsHeld", "processes share a store"},
    NotForRabbitmq{"Reopen", "AnotherNumberOfShards", "a queue has no shards"},
    NotForRabbitmq{"Statistics", "AMessageThatIsNotThere", kNoGet},
    NotForRabbitmq{"Statistics", "FollowWhatFallsDue", "nothing counts scheduled messages"},
    NotForRabbitmq{"Statistics", "NothingIsDoneToAQueue", kNoGet},
    NotForRabbitmq{"Statistics", "TellWhatTheEngineCanDo", "it tells of another engine"},
    NotForRabbitmq{"Surface", "NoCallbackRunsWithinItsVerb", kRefusedFirst},
    NotForRabbitmq{"Times", "FarDelaysHold", kTop},
    NotForRabbitmq{"Waiting", "AStoppedOneLosesNothing", kUnderWay},
    NotForRabbitmq{"Waiting", "AWithdrawnOneLosesNothing", kUnderWay},
    NotForRabbitmq{"Waiting", "LeasesBegin", "a claim has no lease of its own"},
};

}  // namespace

bool is_on_rabbitmq() { return std::getenv("TARRY_TEST_RABBITMQ") != nullptr; }

Store rabbitmq_store(Executor executor) {
  Result<Store> store = tarry::open(rabbit_url());
  if (!store) throw std::runtime_error("open " + rabbit_url() + ": " + store.error().message);
  return Store(std::make_shared<detail::StoreState>(
      std::make_unique<WithoutLeases>(std::move(*store)), std::move(executor), std::nullopt));
}

void skip_test(const std::string& why) {
  [&] { GTEST_SKIP() << why; }();
  throw testing::AssertionException(
      testing::TestPartResult(testing::TestPartResult::kSkip, nullptr, -1, why.c_str()));
}

std::string not_for_rabbitmq(const std::string& suite, const std::string& test) {
  const auto* found = std::ranges::find_if(kNotForRabbitmq, [&](const NotForRabbitmq& entry) {
    return entry.suite == suite && test.starts_with(entry.test);
  });
  return found == kNotForRabbitmq.end() ? std::string() : std::string(found->why);
}

}  // namespace tarry::contract
