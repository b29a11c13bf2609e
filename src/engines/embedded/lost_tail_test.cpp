// With sync=os a power failure may take messages that were answered. But it must never give an id,
// and so a receipt or a generated key, to another message.
#include <gtest/gtest.h>

#include <future>

#include "engines/embedded/embedded_engine.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

class LostTail : public testing::Test {
 protected:
  std::unique_ptr<core::Engine> open(storage::VirtualDisk& disk) {
    EmbeddedOptions options;
    options.directory = [&disk] { return disk.root(); };
    options.sync = SyncPolicy::os;
    options.segment_bytes = 64 << 10;
    options.clock = clock;
    auto engine = open_embedded(options);
    EXPECT_TRUE(engine) << engine.error().message;
    return std::move(*engine);
  }
  template <typename Reply>
  Reply ask(core::Engine& engine, core::Request request) {
    std::promise<Result<core::Reply>> promise;
    engine.submit(std::move(request),
                  [&promise](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    return std::get<Reply>(promise.get_future().get().value());
  }
  std::uint64_t push(core::Engine& engine, const char* key) {
    return ask<core::PushReply>(engine, test::push("q", key)).items.front().id;
  }
  std::string claim(core::Engine& engine) {
    return test::receipts_of(ask<core::ClaimReply>(engine, test::claim("q"))).front();
  }

  std::shared_ptr<timing::ManualClock> clock = std::make_shared<timing::ManualClock>();
};

TEST_F(LostTail, GivesNoIdAndNoReceiptTwice) {
  storage::VirtualDisk disk;
  const auto before = open(disk);
  // The first write is synced under every policy; nothing after it is.
  (void)ask<core::PushReply>(*before, test::push("elsewhere", "first"));
  const std::uint64_t lost = push(*before, "lost");
  const std::string receipt = claim(*before);

  const auto left = disk.synced_copy();
  const auto after = open(*left);
  EXPECT_NE(push(*after, "other"), lost);
  EXPECT_NE(claim(*after), receipt);
  const auto settled = ask<core::ItemsReply>(*after, test::settle({receipt}));
  EXPECT_EQ(settled.items.front().outcome, Outcome::stale);
}

TEST_F(LostTail, AfterACleanEndIdsGoOnWithoutAGap) {
  storage::VirtualDisk disk;
  auto engine = open(disk);
  const std::uint64_t first = push(*engine, "a");
  engine->close();
  engine = open(disk);
  EXPECT_EQ(push(*engine, "b"), first + 1);
}

}  // namespace
}  // namespace tarry::embedded
