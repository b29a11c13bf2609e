// For tests of salvage: a store that a test can damage, and checks of the salvaged store.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engines/embedded/store/store_files.h"
#include "engines/embedded/tools/salvage.h"
#include "storage/memory_storage.h"
#include "support/embedded/damage.h"

namespace tarry::embedded::test {

inline constexpr StoreIdentity kOneShard{kFormatVersion, 1, kStoreId, 0x5EED};

/// Removes from the line each occurrence of that name, together with the number after it.
inline std::string without(std::string_view name, std::string line) {
  for (std::size_t at = 0; (at = line.find(name, at)) != std::string::npos;) {
    const std::size_t number = line.find_first_not_of('-', at + name.size());
    line.erase(at, std::min(line.find_first_not_of("0123456789", number), line.size()) - at);
  }
  return line;
}

/// A store whose only shard has these files.
inline std::unique_ptr<storage::MemoryDisk> store_with(const Files& files,
                                                       const StoreIdentity& identity = kOneShard) {
  auto disk = std::make_unique<storage::MemoryDisk>();
  const auto root = disk->root();
  EXPECT_TRUE(write_identity(*root, identity));
  copy_tree(*disk_with(files)->root(), *root->subdirectory("shard-000", false).value());
  return disk;
}

inline std::map<std::string, std::string> tree_of(storage::Directory& directory,
                                                  const std::string& prefix = {}) {
  std::map<std::string, std::string> files;
  const auto names = directory.list();
  for (const std::string& name : *names) {
    if (has(directory, name)) {
      files[prefix + name] = read_all(directory, name);
    } else {
      files.merge(tree_of(*directory.subdirectory(name, false).value(), prefix + name + "/"));
    }
  }
  return files;
}

class Machine final : public timing::Clock {
 public:
  explicit Machine(const timing::ManualClock& clock) : clock_(&clock) {}
  timing::Instant now() const override { return clock_->now(); }
  std::uint64_t boot_id() const override { return clock_->boot_id(); }

 private:
  const timing::ManualClock* clock_;
};

struct Salvaged {
  Salvaged(storage::Directory& source, const timing::ManualClock& clock)
      : before(tree_of(source)), report(run(source, clock)) {
    EXPECT_TRUE(tree_of(source) == before) << "the old store was changed";
  }
  [[nodiscard]] std::unique_ptr<storage::Directory> shard() const {
    return disk.root()->subdirectory("shard-000", false).value();
  }
  [[nodiscard]] const SalvagedShard& told() const { return report->per_shard.at(0); }

  storage::MemoryDisk disk;
  std::map<std::string, std::string> before;
  Result<SalvageReport> report;

 private:
  Result<SalvageReport> run(storage::Directory& source, const timing::ManualClock& clock) {
    SalvageOptions options;
    options.clock = std::make_shared<Machine>(clock);
    options.segment_bytes = 4096;
    return salvage(source, *disk.root(), options);
  }
};

/// The messages that salvage must get out of a journal, by id.
struct Held {
  struct One {
    std::string line;  // the message's state
    std::string text;  // key, headers, payload
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
    Stage stage = Stage::free;
    friend bool operator==(const One& a, const One& b) {
      return a.line == b.line && a.text == b.text;
    }
  };
  std::map<std::uint64_t, One> messages;
  std::string queues;
};

inline std::string text_of_put(const PutRecord& put) {
  return std::string(put.key) + '|' + std::string(put.headers) + '|' + std::string(put.payload) +
         (put.damaged ? "|damaged" : "");
}

inline Held held_in(storage::Directory& directory, const Recovery& recovery) {
  Held held;
  const ShardState& state = recovery.state;
  for (QueueId queue = 0; queue < state.queues.size(); ++queue) {
    held.queues += queue_line(state.queue(queue)) + '\n';
  }
  if (recovery.result->tail.segments.empty()) return held;
  SegmentFiles files;
  const std::uint64_t newest = recovery.result->tail.segments.back().number;
  for (const SegmentInfo& segment : recovery.result->tail.segments) {
    files.add(segment.number,
              directory.open(segment_name(segment.number), storage::OpenMode::read_only).value());
  }
  std::string buffer;
  for (Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (!state.slab.is_live(handle)) continue;
    const Message& message = state.slab[handle];
    Held::One one;
    one.line = without(" raw ", message_line(state, handle, false));
    one.segment = message.position.segment(newest);
    one.offset = message.position.offset();
    one.stage = message.stage();
    const auto put = read_put(files, one.segment, message.position, buffer);
    EXPECT_TRUE(put) << (put ? "" : put.error().message);
    if (!put) continue;
    PutRecord shown = *put;
    // Cleaning does not copy these.
    if (one.stage == Stage::remembered) shown.headers = shown.payload = {};
    one.text = text_of_put(shown);
    held.messages[message.id] = one;
  }
  return held;
}

inline Held held_in(storage::Directory& directory, const timing::ManualClock& clock) {
  const Recovery recovery(directory, true, clock.boot_id(), clock.now());
  EXPECT_TRUE(recovery.ok()) << recovery.error();
  return recovery.ok() ? held_in(directory, recovery) : Held();
}

/// The texts that a message may have: that of its push or, if cleaning has removed the segment with
/// the push, that of any copy (a copy of a remembered message has no headers and no payload).
struct Texts {
  std::optional<std::string> pushed;
  std::set<std::string> copies;
  [[nodiscard]] bool allow(const std::string& text) const {
    return pushed ? *pushed == text : copies.contains(text);
  }
};

/// Key, headers and payload of every message that the journal has ever contained.
inline std::map<std::uint64_t, Texts> texts_in(const Files& files) {
  std::map<std::uint64_t, Texts> texts;
  for (const auto& [name, bytes] : files) {
    for (const Frame& frame : frames_of(bytes)) {
      if (frame.checked > bytes.size()) break;
      for (const Record& record : records_of(bytes, frame)) {
        const auto* put = std::get_if<PutRecord>(&record);
        if (put == nullptr) continue;
        if (put->copy) {
          texts[put->ref.id].copies.insert(text_of_put(*put));
        } else {
          texts[put->ref.id].pushed = text_of_put(*put);
        }
      }
    }
  }
  return texts;
}

/// A damaged place in a segment.
struct Damage {
  std::uint64_t segment = 0;
  std::uint64_t from = 0;  // [from, to) contains the records of the messages that are lost
  std::uint64_t to = 0;
};

/// Checks everything that salvage owes after damage at one place. Returns an empty string, or what
/// is wrong. `refused` counts the stores that recovery refuses.
inline std::string judge(const Files& whole, const Files& damaged, const Damage& damage,
                         const timing::ManualClock& clock, std::uint64_t* refused = nullptr) {
  const Held before = held_in(*disk_with(whole)->root(), clock);
  const auto texts = texts_in(whole);
  const auto source = store_with(damaged);
  const Salvaged salvaged(*source->root(), clock);
  if (!salvaged.report) return salvaged.report.error().message;
  const SalvagedShard& told = salvaged.told();
  const auto shard = salvaged.shard();
  const Recovery recovery(*shard, true, clock.boot_id(), clock.now());
  if (!recovery.ok()) return "the new store is refused: " + recovery.error();
  if (!recovery.result->report.clean && !files_of(*shard).empty()) return "not closed clean";
  if (!conserves(recovery.state)) return "the books do not balance";
  const Held after = held_in(*shard, recovery);
  if (told.sound) {
    if (!(after.messages == before.messages)) return "another state than recovery's";
    return after.queues == before.queues ? "" : "other queues than recovery's";
  }
  if (refused != nullptr) ++*refused;
  if (told.losses.empty()) return "nothing is said to be lost";
  for (const auto& [id, message] : before.messages) {
    const bool hit = message.segment == damage.segment && message.offset >= damage.from &&
                     message.offset < damage.to;
    const auto found = after.messages.find(id);
    if (found == after.messages.end()) {
      if (hit) continue;
      return "message " + std::to_string(id) + " is gone: " + message.line;
    }
    const bool behind = message.segment > damage.segment ||
                        (message.segment == damage.segment && message.offset >= damage.to);
    // The record that fixed the delay to BOOTTIME may be lost, and so may the queue's record that
    // says how many events are kept.
    const auto kept = [](const std::string& line) {
      const std::string rest = without(" boot ", line);
      return rest.substr(0, rest.find(" event "));
    };
    if (behind && kept(found->second.line) != kept(message.line)) {
      return "message " + std::to_string(id) + " was\n" + message.line + "\nand is\n" +
             found->second.line;
    }
  }
  std::uint64_t more = 0;
  std::uint64_t count = 0;
  for (const auto& [id, message] : after.messages) {
    if (message.stage == Stage::remembered) continue;
    ++count;
    if (!before.messages.contains(id)) ++more;
    const auto text = texts.find(id);
    if (text == texts.end() || !text->second.allow(message.text)) {
      return "message " + std::to_string(id) + " reads wrong: " + message.text;
    }
  }
  if (more > told.uncertain_messages) return "more came back than salvage said";
  if (count != told.messages) return "not as many messages as salvage said";
  return "";
}

inline Damage frame_at(const std::string& name, std::string_view bytes, std::uint64_t at) {
  Damage damage{segment_number(name), 0, 0};
  for (const Frame& frame : frames_of(bytes)) {
    if (at >= frame.offset && at < frame.end) damage = {damage.segment, frame.offset, frame.end};
  }
  return damage;
}

class SalvageTest : public LivedJournal {
 protected:
  void a_life() {
    begin();
    live();
    push_into_another_segment();
    end();
    ASSERT_NE(files.begin()->first, newest);
  }
  // Calls `judged` for every closed file.
  template <typename F>
  void for_each_closed(F&& judged) {
    const Files whole = files;
    for (const auto& [name, bytes] : whole) {
      if (name == newest) break;
      judged(whole, name, bytes);
      if (HasFailure()) return;
    }
  }
};

}  // namespace tarry::embedded::test
