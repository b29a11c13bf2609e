// For tests: a journal that a shard wrote, as bytes that a test can damage.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory_storage.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"

namespace tarry::embedded::test {

using Files = std::map<std::string, std::string>;

inline constexpr std::uint64_t kSegmentBytes = 3072;
inline constexpr Millis kMinute{60'000};

inline Files files_of(storage::Directory& directory) {
  Files files;
  const auto names = directory.list();
  for (const std::string& name : *names) {
    // Leaves out the begun mark, as in a journal of an earlier version. recovery_segments_test.cpp
    // tests the losses that this mark shows.
    if (!name.starts_with("begun-")) files[name] = test::read_all(directory, name);
  }
  return files;
}

inline std::unique_ptr<storage::MemoryDisk> disk_with(const Files& files) {
  auto disk = std::make_unique<storage::MemoryDisk>();
  const auto root = disk->root();
  for (const auto& [name, bytes] : files) test::write_all(*root, name, bytes);
  return disk;
}

struct Frame {
  std::uint64_t offset = 0;
  std::uint64_t checked = 0;  // the end of the bytes that the checksum covers
  std::uint64_t end = 0;      // including its padding
};

inline std::vector<Frame> frames_of(std::string_view segment) {
  std::vector<Frame> frames;
  const SegmentHeader header = decode_segment_header(segment).header;
  for (std::uint64_t at = kSegmentHeaderBytes;;) {
    const auto found = peek_batch_header(segment.substr(std::min(at, segment.size())), header.salt);
    if (!found) return frames;
    const std::uint64_t size = kBatchHeaderBytes + std::uint64_t{found->body_bytes};
    frames.push_back({at, at + size, at + padded(size)});
    at = frames.back().end;
  }
}

inline std::vector<Record> records_of(std::string_view segment, const Frame& frame) {
  std::vector<Record> records;
  const std::uint64_t body = frame.offset + kBatchHeaderBytes;
  std::string_view bytes = segment.substr(body, frame.checked - body);
  while (!bytes.empty()) records.push_back(take_record(bytes).value());
  return records;
}

class LivedJournal : public testing::Test {
 protected:
  void begin(SyncPolicy policy = SyncPolicy::always) {
    options.policy = policy;
    shard = std::make_unique<OneShard>(disk.root(), clock, options);
  }

  void push(const char* key) {
    ASSERT_TRUE(shard->ask(test::push("q", key, Due::after(kMinute), std::string(90, *key))));
  }

  std::vector<std::string> claim(std::uint32_t max) {
    const auto reply = shard->ask(test::claim("q", max));
    return test::receipts_of(std::get<core::ClaimReply>(reply.value()));
  }

  // Makes messages in every stage, and records of every type for that; one batch for each verb.
  void live() {
    core::ConfigureRequest configure;
    configure.queue = "q";
    configure.patch.remember = kMinute * 60;
    ASSERT_TRUE(shard->ask(std::move(configure)));
    // The segment has so many live bytes that cleaning it would not pay.
    ASSERT_TRUE(shard->ask(test::push("q", {"1", "2", "3", "4", "5", "6", "7", "8"},
                                      Due::after(kMinute * 60), std::string(200, 'l'))));
    ASSERT_TRUE(shard->ask(test::push("q", {"a", "b", "c", "", "e", "f"})));
    const auto receipts = claim(6);
    ASSERT_EQ(receipts.size(), 6u);
    ASSERT_TRUE(shard->ask(test::settle({receipts[0]})));
    ASSERT_TRUE(shard->ask(test::settle({receipts[1]}, core::SettleAction::retry)));
    ASSERT_TRUE(shard->ask(test::settle({receipts[2]}, core::SettleAction::bury, "no such order")));
    ASSERT_TRUE(shard->ask(test::settle({receipts[3]}, core::SettleAction::release)));
    ASSERT_TRUE(shard->ask(test::extend(receipts[4], kMinute)));
    ASSERT_TRUE(shard->ask(test::cancel("q", "f")));
    push("g");
    push("h");
    ASSERT_TRUE(shard->ask(test::reschedule("q", "g", Due::after(kMinute * 5))));
    ASSERT_TRUE(shard->ask(test::cancel("q", "h")));
    ASSERT_TRUE(shard->ask(core::PauseRequest{"other", std::nullopt}));
    shard->settle();
  }

  // Pushes until another segment begins with one of these pushes.
  void push_into_another_segment() {
    // Cleans segments that were closed before, so that this does not happen between the pushes.
    clock.advance(1'000);
    shard->settle();
    const std::uint64_t segment = shard->journal().head().number;
    for (int i = 0; shard->journal().head().number == segment; ++i) {
      ASSERT_LT(i, 100);
      ASSERT_TRUE(shard->ask(test::push("q", "", Due::after(kMinute), std::string(50, 'x'))));
    }
  }

  // Ends like a killed process: everything is written, nothing is closed. Of the many small
  // segments that were prepared, one is kept.
  void end() {
    history = shard->history();
    files = files_of(*disk.root());
    newest = segment_name(shard->journal().head().number);
    const std::size_t more = std::min<std::size_t>(
        2, static_cast<std::size_t>(std::distance(files.find(newest), files.end())));
    files.erase(std::next(files.find(newest), static_cast<std::ptrdiff_t>(more)), files.end());
    shard.reset();
  }

  timing::ManualClock clock;
  storage::VirtualDisk disk;
  OneShard::Options options{kSegmentBytes, SyncPolicy::always};
  std::unique_ptr<OneShard> shard;
  std::map<std::uint64_t, std::string> history;
  Files files;
  std::string newest;
};

}  // namespace tarry::embedded::test
