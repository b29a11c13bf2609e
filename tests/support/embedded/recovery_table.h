// For tests of recovery: a journal of two segments that a test can damage, and checks of a refusal.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "engines/embedded/recovery/recovery.h"
#include "storage/memory_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded::test {

class RecoveryTable : public testing::Test {
 protected:
  // Segment 1 has messages 1 and 2. Segment 2, which has message 3, closes and seals it.
  RecoveryTable() { build(true); }

  void build(bool proven) {
    one = Segment(1);
    one.opening();
    one.batch({put(0, 1, "a")}, 1);
    at_b = one.batch({put(1, 2, "b")}, 2);
    two = Segment(2, one.next_batch(), one.seal(proven));
    two.opening(1, proven ? 3 : 0);
    at_c = two.batch({put(2, 3, "c")}, proven ? 4 : 0);
  }

  void store_both() {
    store(*directory, one);
    store(*directory, two);
  }

  // All names except the begun mark.
  std::vector<std::string> names() {
    std::vector<std::string> found = directory->list().value();
    std::erase_if(found, [](const std::string& name) { return name.starts_with("begun-"); });
    return found;
  }

  // Checks a refusal: its row, code, file and offset; and that no file has changed.
  void expect_damage(Row row, std::uint64_t segment, std::uint64_t offset) {
    std::map<std::string, std::string> before;
    for (const std::string& name : names()) before[name] = read_all(*directory, name);
    Recovery recovery(*directory);
    EXPECT_EQ(recovery.code(), ErrorCode::damaged);
    EXPECT_TRUE(recovery.took(row)) << name_of(row);
    EXPECT_NE(recovery.error().find(segment_name(segment) + " offset " + std::to_string(offset)),
              std::string::npos)
        << recovery.error();
    std::map<std::string, std::string> after;
    for (const std::string& name : names()) after[name] = read_all(*directory, name);
    EXPECT_TRUE(before == after) << "files were changed";
  }

  void expect_missing(Row row, std::uint64_t segment) {
    Recovery recovery(*directory);
    EXPECT_EQ(recovery.code(), ErrorCode::damaged);
    EXPECT_TRUE(recovery.took(row)) << name_of(row);
    EXPECT_NE(recovery.error().find(segment_name(segment) + " is missing"), std::string::npos)
        << recovery.error();
  }

  // Recovers, by these rows if some are named. Then recovers the result again: both must have these
  // messages.
  void expect_messages(const std::vector<std::uint64_t>& ids,
                       std::initializer_list<Row> rows = {}) {
    for (int round = 0; round < 2; ++round) {
      Recovery recovery(*directory);
      ASSERT_TRUE(recovery.ok()) << recovery.error();
      if (round == 0) {
        for (const Row row : rows) EXPECT_TRUE(recovery.took(row)) << name_of(row);
      }
      std::vector<std::uint64_t> found;
      for (Handle handle = 0; handle < recovery.state.slab.end(); ++handle) {
        if (recovery.state.slab.is_live(handle)) found.push_back(recovery.state.slab[handle].id);
      }
      EXPECT_EQ(found, ids) << "round " << round;
    }
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> directory = disk.root();
  Segment one{1};
  Segment two{2};
  std::uint64_t at_b = 0;
  std::uint64_t at_c = 0;
};

}  // namespace tarry::embedded::test
