// Salvage of a journal that recovery refuses: it recovers everything that was not damaged, invents
// nothing, and changes no byte of the old store.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/life.h"
#include "support/embedded/salvage.h"
#include "support/embedded/sample.h"

namespace tarry::embedded {
namespace {

using test::Damage;
using test::disk_with;
using test::Files;
using test::files_of;
using test::Frame;
using test::frame_at;
using test::frames_of;
using test::Held;
using test::held_in;
using test::judge;
using test::Machine;
using test::OneShard;
using test::Salvaged;
using test::store_with;
using SalvageOfDamage = test::SalvageTest;

// -- any life, any byte

RC_GTEST_PROP(SalvageProperty, LosesWhatWasDamagedAndNothingElse, ()) {
  storage::VirtualDisk disk;
  timing::ManualClock clock;
  test::Life life(clock);
  OneShard::Options options;
  options.keeps_history = false;
  {
    OneShard shard(disk.root(), clock, options);
    for (const test::Step& step : *test::gen_steps()) {
      life.submit(shard, step);
      shard.settle();
    }
  }
  const Files whole = files_of(*disk.copy()->root());
  RC_ASSERT(judge(whole, whole, {}, clock) == "");
  if (whole.empty()) return;
  for (int i = 0; i < 4; ++i) {
    auto hit = std::next(whole.begin(), *rc::gen::inRange<std::ptrdiff_t>(
                                            0, static_cast<std::ptrdiff_t>(whole.size())));
    if (hit->second.empty()) continue;
    const auto at = *rc::gen::inRange<std::uint64_t>(0, hit->second.size());
    Files damaged = whole;
    damaged[hit->first][at] = static_cast<char>(hit->second[at] ^ *rc::gen::inRange(1, 256));
    if (decode_segment_header(std::next(hit) == whole.end() ? "" : std::next(hit)->second).state !=
        HeaderState::valid) {
      continue;  // the newest file may end anywhere: without its last batches it is an older state
    }
    if (const std::string wrong =
            judge(whole, damaged, frame_at(hit->first, hit->second, at), clock);
        !wrong.empty()) {
      RC_FAIL(hit->first + " offset " + std::to_string(at) + ": " + wrong);
    }
  }
}

// -- one life, every byte

TEST_F(SalvageOfDamage, OfEveryByteThatIsFlipped) {
  a_life();
  std::uint64_t refused = 0;
  std::uint64_t used = 0;
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    for (std::uint64_t at = 0; at < bytes.size(); at += test::kTryEvery) {
      Files damaged = whole;
      damaged[name][at] = static_cast<char>(bytes[at] ^ 0xFF);
      ASSERT_EQ(judge(whole, damaged, frame_at(name, bytes, at), clock, &refused), "")
          << name << " offset " << at;
    }
    used += kSegmentHeaderBytes;
    for (const Frame& frame : frames_of(bytes)) used += frame.checked - frame.offset;
  });
  if (test::kTryEvery == 1) {
    EXPECT_EQ(refused, used);  // every byte is checked, except padding and bytes that are only
                               // allocated
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(used, 1000u);
}

TEST_F(SalvageOfDamage, OfEveryLengthThatIsCut) {
  a_life();
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    for (std::uint64_t size = 0; size < bytes.size(); size += test::kTryEvery) {
      Files damaged = whole;
      damaged[name].resize(size);
      Damage damage{segment_number(name), kSegmentHeaderBytes, bytes.size()};
      for (const Frame& frame : frames_of(bytes)) {
        if (frame.checked <= size) damage.from = frame.end;
      }
      ASSERT_EQ(judge(whole, damaged, damage, clock), "") << name << " cut to " << size;
    }
  });
}

TEST_F(SalvageOfDamage, OfASegmentThatIsMissing) {
  a_life();
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    Files damaged = whole;
    damaged.erase(name);
    ASSERT_EQ(judge(whole, damaged, {segment_number(name), 0, bytes.size()}, clock), "") << name;
    const auto source = store_with(damaged);
    const Salvaged salvaged(*source->root(), clock);
    ASSERT_FALSE(salvaged.told().losses.empty());
    const Loss& loss = salvaged.told().losses[0];
    EXPECT_EQ(loss.what, "is missing");
    EXPECT_NE(loss.file.find(name), std::string::npos) << loss.file;
  });
}

TEST_F(SalvageOfDamage, OfADiskThatCannotReadSomePlaces) {
  a_life();
  const auto source = store_with(files);
  const Held before = held_in(*disk_with(files)->root(), clock);
  int failed = 0;
  for (std::uint64_t call = 1; call < 400; ++call) {
    auto faults = std::make_shared<storage::Faults>();
    faults->arm({.fail_at = call, .reads_too = true});
    storage::FaultyDirectory faulty(source->root(), faults);
    storage::MemoryDisk disk;
    SalvageOptions given;
    given.clock = std::make_shared<Machine>(clock);
    given.segment_bytes = 4096;
    const auto report = salvage(faulty, *disk.root(), given);
    const std::string what = faults->first_failed();
    if (what.empty()) break;
    if (!what.starts_with("read_at") || what.find(".seg") == std::string::npos) continue;
    ++failed;
    ASSERT_TRUE(report) << what << ": " << report.error().message;
    // The read fails only once, so salvage finds everything when it reads again.
    EXPECT_EQ(report->per_shard[0].messages + report->per_shard[0].remembered,
              before.messages.size())
        << what;
  }
  EXPECT_GT(failed, 5);
}

}  // namespace
}  // namespace tarry::embedded
