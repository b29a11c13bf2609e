#include "engines/embedded/reading/recent_batches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tarry::embedded {
namespace {

class RecentBatchesTest : public testing::Test {
 protected:
  std::weak_ptr<const SealedBatch> add(std::uint64_t segment, std::uint64_t offset,
                                       std::string bytes) {
    auto batch = std::make_shared<SealedBatch>();
    batch->segment = segment;
    batch->offset = offset;
    batch->bytes = std::move(bytes);
    recent.add(batch);
    return batch;
  }
  std::string_view find(std::uint64_t segment, std::uint64_t offset, std::uint64_t size) {
    return recent.find({segment, Position(segment, offset, size)});
  }

  RecentBatches recent{10'000};
};

TEST_F(RecentBatchesTest, FindsWhatIsInABatch) {
  EXPECT_EQ(find(1, 0, 4), "");
  add(1, 64, "abcdefgh");
  add(1, 72, "ijklmnop");
  add(2, 64, "qrstuvwx");
  EXPECT_EQ(find(1, 64, 4), "abcd");
  EXPECT_EQ(find(1, 68, 4), "efgh");
  EXPECT_EQ(find(1, 72, 8), "ijklmnop");
  EXPECT_EQ(find(2, 68, 4), "uvwx");
}

TEST_F(RecentBatchesTest, FindsNothingBesideThem) {
  add(2, 64, "abcdefgh");
  add(2, 80, "ijklmnop");
  EXPECT_EQ(find(1, 64, 4), "");
  EXPECT_EQ(find(2, 60, 4), "");
  EXPECT_EQ(find(2, 72, 4), "");
  EXPECT_EQ(find(2, 88, 4), "");
  EXPECT_EQ(find(3, 64, 4), "");
}

TEST_F(RecentBatchesTest, OfARecordThatGoesOnInTheNextBatchThereIsThePartThatIsHere) {
  add(1, 64, "abcd");
  EXPECT_EQ(find(1, 64, 8), "abcd");
}

TEST_F(RecentBatchesTest, TheOldestGoFirst) {
  const auto first = add(1, 0, std::string(4'000, 'a'));
  add(1, 4'000, std::string(4'000, 'b'));
  EXPECT_FALSE(first.expired());
  const auto third = add(1, 8'000, std::string(4'000, 'c'));
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(find(1, 0, 4), "");
  EXPECT_EQ(find(1, 4'000, 4), "bbbb");
  const auto whole = add(1, 12'000, std::string(20'000, 'd'));
  EXPECT_TRUE(third.expired());
  EXPECT_TRUE(whole.expired());
}

TEST_F(RecentBatchesTest, OfSeveralRecordsEachBatchIsNamedOnce) {
  add(1, 64, "abcdefgh");
  add(1, 72, "ijklmnop");
  std::vector<RecordPlace> places;
  for (const std::uint64_t offset : {72u, 64u, 76u, 68u}) {
    places.push_back({1, Position(1, offset, 4)});
  }
  std::vector<std::string_view> records;
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  ASSERT_TRUE(recent.find(places, records, batches));
  EXPECT_EQ(records, (std::vector<std::string_view>{"ijkl", "abcd", "mnop", "efgh"}));
  EXPECT_EQ(batches.size(), 2u);

  places.push_back({1, Position(1, 80, 4)});
  EXPECT_FALSE(recent.find(places, records, batches));
}

TEST_F(RecentBatchesTest, OfRemovedSegmentsNothingIsKept) {
  const auto first = add(1, 0, "abcd");
  const auto second = add(2, 0, "efgh");
  add(3, 0, "ijkl");
  recent.forget(2);
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(find(2, 0, 4), "");
  EXPECT_EQ(find(3, 0, 4), "ijkl");
}

}  // namespace
}  // namespace tarry::embedded
