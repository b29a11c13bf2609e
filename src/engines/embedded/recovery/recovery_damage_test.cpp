// A journal that a shard wrote, damaged at every byte. Recovery cuts off a crash's torn end and
// loses nothing before it; durable data is never given up and never read wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/embedded/damage.h"
#include "support/embedded/sample.h"

namespace tarry::embedded {
namespace {

using test::disk_with;
using test::Files;
using test::files_of;
using test::Frame;
using test::frames_of;
using test::kMinute;
using test::kSegmentBytes;
using test::OneShard;
using test::records_of;
using RecoveryDamage = test::LivedJournal;

// -- the end of the journal, which a crash may tear

class TornEnd : public RecoveryDamage {
 protected:
  // Damages the end of the last file, beginning at each byte from `first` to the end of the last
  // batch.
  void damage_from_every_byte(std::uint64_t first) {
    end();
    const std::string whole = files.at(newest);
    const Frame last = frames_of(whole).back();
    const std::uint64_t number = history.rbegin()->first;
    ASSERT_TRUE(history.contains(number - 1)) << "two batches in one turn";
    ASSERT_NE(history.at(number), history.at(number - 1));
    for (std::uint64_t at = first; at <= last.end; at += test::kTryEvery) {
      const std::string cut = whole.substr(0, at);
      std::string garbage = cut;
      while (garbage.size() < whole.size()) {
        const int other = 1 + static_cast<int>(garbage.size() % 255);  // every byte changes
        garbage += static_cast<char>(whole[garbage.size()] ^ other);
      }
      Files variants = {{"garbage", garbage}};
      if (options.policy == SyncPolicy::always) {  // the other policy takes the same paths
        variants["cut"] = cut;
        variants["zeros"] = cut + std::string(whole.size() - at, '\0');
      }
      for (const auto& [what, bytes] : variants) {
        SCOPED_TRACE(what + " from offset " + std::to_string(at));
        const bool intact = bytes.compare(0, last.checked, whole, 0, last.checked) == 0;
        EXPECT_TRUE(intact || at < last.checked);
        files[newest] = bytes;
        expect_state(intact ? history.at(number) : history.at(number - 1), intact || at % 32 == 0);
        if (HasFailure()) return;
      }
    }
  }

  // Expects this state after recovery. `go_on`: a store that continues from it works, too.
  void expect_state(const std::string& expected, bool go_on) {
    const auto damaged = disk_with(files);
    if (!go_on) {
      const test::Recovery recovery(*damaged->root());
      ASSERT_TRUE(recovery.ok()) << recovery.error();
      ASSERT_EQ(test::describe(recovery.state, false), expected);
      return;
    }
    const OneShard::Options larger{64 * kSegmentBytes, options.policy};  // fewer to prepare
    std::string later;
    {
      OneShard again(damaged->root(), clock, larger);
      ASSERT_FALSE(again.error()) << again.error()->message;
      ASSERT_EQ(test::describe(again.state(), false), expected);
      ASSERT_TRUE(again.ask(test::push("q", "after")));
      again.settle();
      later = test::describe(again.state(), false);
      ASSERT_NE(later, expected);
    }
    const OneShard third(damaged->root(), clock, larger);
    ASSERT_FALSE(third.error()) << third.error()->message;
    ASSERT_EQ(test::describe(third.state(), false), later);
  }

  // The last batch has many records, and other batches come before it in its segment.
  void last_batch_in_a_segment(SyncPolicy policy) {
    options.segment_bytes = 4 * kSegmentBytes;
    begin(policy);
    live();
    ASSERT_TRUE(shard->ask(test::push("q", {"v", "w"})));
    const auto receipts = claim(3);
    ASSERT_EQ(receipts.size(), 3u);
    const std::string segment = segment_name(shard->journal().head().number);
    shard->submit(test::settle(receipts));
    shard->submit(test::cancel("q", "e"));
    shard->submit(test::push("q", {"y", ""}, Due::after(kMinute), "twice"));
    shard->submit(test::reschedule("q", "g", Due::after(kMinute * 2)));
    shard->settle();
    const std::string bytes = files_of(*disk.root()).at(segment);
    const auto frames = frames_of(bytes);
    ASSERT_GT(frames.size(), 10u);
    ASSERT_GE(records_of(bytes, frames.back()).size(), 5u);
    damage_from_every_byte(frames.back().offset);
    EXPECT_EQ(newest, segment);
  }

  // The last batch opens its segment, so it was written together with the segment's header.
  void last_batch_opens_a_segment(SyncPolicy policy) {
    begin(policy);
    live();
    push_into_another_segment();
    const std::string segment = segment_name(shard->journal().head().number);
    ASSERT_EQ(frames_of(files_of(*disk.root()).at(segment)).size(), 1u);
    damage_from_every_byte(0);
  }
};

TEST_F(TornEnd, OfTheLastBatch) { last_batch_in_a_segment(SyncPolicy::always); }
TEST_F(TornEnd, OfTheLastBatchThatWasNeverSynced) { last_batch_in_a_segment(SyncPolicy::os); }
TEST_F(TornEnd, OfASegmentsFirstBatch) { last_batch_opens_a_segment(SyncPolicy::always); }
TEST_F(TornEnd, OfASegmentsFirstBatchThatWasNeverSynced) {
  last_batch_opens_a_segment(SyncPolicy::os);
}

// -- what was durable

class FlippedByte : public RecoveryDamage {
 protected:
  // Flips every byte of the file in turn. `accepts` tells for which bytes recovery may ignore the
  // change. Everywhere else it must refuse, name the place, and leave the files alone.
  void flip_every_byte(const std::string& name, const std::function<bool(std::uint64_t)>& accepts) {
    const std::string whole = files.at(name);
    const std::vector<Frame> frames = frames_of(whole);
    const std::string state = recovered_state();
    ASSERT_EQ(state, history.rbegin()->second);
    for (std::uint64_t at = 0; at < whole.size(); at += test::kTryEvery) {
      for (const int bits : {0x01, 0xFF}) {
        SCOPED_TRACE(name + " offset " + std::to_string(at) + " xor " + std::to_string(bits));
        files[name][at] = static_cast<char>(whole[at] ^ bits);
        if (accepts(at)) {
          EXPECT_EQ(recovered_state(), state);
        } else {
          expect_refusal(name + " offset " + std::to_string(place_of(at, frames)) + ": ");
        }
        files[name][at] = whole[at];
        if (HasFailure()) return;
      }
    }
  }

  // The offset of the batch or header that holds the byte.
  static std::uint64_t place_of(std::uint64_t at, const std::vector<Frame>& frames) {
    std::uint64_t place = 0;
    for (const Frame& frame : frames) {
      if (frame.offset <= at) place = frame.offset;
    }
    return place;
  }

  static bool is_padding(std::uint64_t at, const std::vector<Frame>& frames) {
    return std::any_of(frames.begin(), frames.end(),
                       [at](const Frame& frame) { return at >= frame.checked && at < frame.end; });
  }

  std::string recovered_state() {
    const auto copy = disk_with(files);
    const test::Recovery recovery(*copy->root());
    return recovery.ok() ? test::describe(recovery.state, false) : recovery.error();
  }

  void expect_refusal(const std::string& place) {
    const auto copy = disk_with(files);
    const test::Recovery recovery(*copy->root());
    EXPECT_EQ(recovery.code(), ErrorCode::damaged);
    EXPECT_NE(recovery.error().find(place), std::string::npos) << recovery.error();
    EXPECT_TRUE(files_of(*copy->root()) == files) << "files were changed";
  }

  // Expects that recovery refuses the journal, and names the end of the last whole batch.
  void expect_refusal_within(const std::string& name) {
    const std::string& bytes = files.at(name);
    std::uint64_t end = kSegmentHeaderBytes;
    for (const Frame& frame : frames_of(bytes)) {
      if (frame.checked > bytes.size()) break;
      end = frame.end;
    }
    expect_refusal(name + " offset " + std::to_string(end) + ": ");
  }

  // Flips each byte of every file but the newest. The next file's header says that such a file was
  // durable.
  void flip_closed_segments() {
    ASSERT_NE(files.begin()->first, newest);
    for (auto next = std::next(files.begin()); std::prev(next)->first != newest; ++next) {
      const auto& [name, bytes] = *std::prev(next);
      const std::vector<Frame> frames = frames_of(bytes);
      const Seal seal = decode_segment_header(next->second).header.seal;
      ASSERT_TRUE(seal.proven);
      ASSERT_EQ(seal.length, frames.back().end);
      std::uint64_t accepted = 0;
      flip_every_byte(name, [&](std::uint64_t at) {
        const bool unused = at >= seal.length || is_padding(at, frames);
        accepted += unused ? 1 : 0;
        return unused;
      });
      EXPECT_LT(accepted, bytes.size()) << "every byte may differ";
    }
  }
};

TEST_F(FlippedByte, OfASegmentThatAnotherFollows) {
  begin();
  live();
  push_into_another_segment();
  end();
  flip_closed_segments();
}

TEST_F(FlippedByte, OfAJournalThatWasClosedClean) {
  begin();
  live();
  push_into_another_segment();
  push("x");
  Part close;
  close.kind = Part::Kind::close;
  shard->shard().execute(std::move(close));
  shard->settle();
  shard->shard().end_journal();
  shard->settle();
  ASSERT_TRUE(shard->journal().trim());
  end();
  flip_closed_segments();

  ASSERT_EQ(files.rbegin()->first, newest);
  const std::string bytes = files.at(newest);
  const std::vector<Frame> frames = frames_of(bytes);
  ASSERT_EQ(bytes.size(), frames.back().end);
  ASSERT_GT(frames.size(), 1u);
  // Nothing says that the last batch was durable: without it this is the journal of a process that
  // was killed just before. So all its records were not durable either.
  const auto last = records_of(bytes, frames.back());
  ASSERT_EQ(last.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<ClosedRecord>(last[0]));
  flip_every_byte(newest, [&](std::uint64_t at) {
    return at >= frames.back().offset || is_padding(at, frames);
  });
}

// -- what was durable, cut off

class CutFile : public FlippedByte {};

TEST_F(CutFile, OfASegmentThatAnotherFollows) {
  begin();
  live();
  push_into_another_segment();
  end();
  ASSERT_NE(files.begin()->first, newest);
  const std::string state = recovered_state();
  for (auto next = std::next(files.begin()); std::prev(next)->first != newest; ++next) {
    const auto& [name, bytes] = *std::prev(next);
    const std::string whole = bytes;
    const std::vector<Frame> frames = frames_of(whole);
    const std::uint64_t length = decode_segment_header(next->second).header.seal.length;
    ASSERT_EQ(length, frames.back().end);
    for (std::uint64_t size = 0; size <= whole.size(); size += test::kTryEvery) {
      SCOPED_TRACE(name + " cut to " + std::to_string(size));
      files[name] = whole.substr(0, size);
      // The padding of the last batch, and bytes that were only allocated, may be lost.
      if (size >= frames.back().checked) {
        EXPECT_EQ(recovered_state(), state);
      } else if (size < kSegmentHeaderBytes) {
        expect_refusal(name + " offset 0: ");
      } else {
        expect_refusal_within(name);
      }
      if (HasFailure()) return;
    }
    files[name] = whole;
  }
}

TEST_F(CutFile, OrGone) {
  begin();
  live();
  push_into_another_segment();
  end();
  ASSERT_GE(std::distance(files.begin(), files.find(newest)), 1);
  const Files all = files;
  for (const auto& [name, bytes] : all) {
    if (name == newest) break;
    files.erase(name);
    expect_refusal(name + " is missing");
    files = all;
  }
}

}  // namespace
}  // namespace tarry::embedded
