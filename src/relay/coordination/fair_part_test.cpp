#include "relay/coordination/fair_part.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace tarry::relay {
namespace {

std::vector<Unit> units(std::size_t count) {
  std::vector<Unit> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({"q", i});
  return all;
}

// A group of relays that come and go. They act one after another, until nothing changes any more.
class Group {
 public:
  explicit Group(std::size_t count) : all_(units(count)) {}

  void come() { members_.emplace(next_++, std::set<Unit>()); }
  void go(std::size_t rank) { members_.erase(at(rank)); }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] std::map<int, std::set<Unit>> members() const { return members_; }

  // Returns how many units have another owner than before. Fails if the relays never come to rest.
  std::size_t settle(std::minstd_rand& random) {
    const std::map<Unit, int> before = owners();
    int calm = 0;
    for (int round = 0; calm < 2; ++round) {
      RC_ASSERT(round < 10);
      std::vector<std::size_t> order(members_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), random);
      bool changed = false;
      for (const std::size_t rank : order) changed |= turn(rank);
      calm = changed ? 0 : calm + 1;
    }
    std::size_t moved = 0;
    for (const auto& [unit, owner] : owners()) {
      const auto had = before.find(unit);
      moved += had == before.end() || had->second != owner ? 1 : 0;
    }
    return moved;
  }

 private:
  std::map<int, std::set<Unit>>::iterator at(std::size_t rank) {
    return std::next(members_.begin(), static_cast<std::ptrdiff_t>(rank));
  }
  [[nodiscard]] std::map<Unit, int> owners() const {
    std::map<Unit, int> all;
    for (const auto& [member, mine] : members_) {
      for (const Unit& unit : mine) RC_ASSERT(all.emplace(unit, member).second);
    }
    return all;
  }
  bool turn(std::size_t rank) {
    std::set<Unit> taken;
    for (const auto& [unit, owner] : owners()) taken.insert(unit);
    std::set<Unit>& mine = at(rank)->second;
    const FairPart part = fair_part(all_, mine, taken, members_.size(), rank);
    for (const Unit& unit : part.release) RC_ASSERT(mine.erase(unit) == 1u);
    for (const Unit& unit : part.take) {
      RC_ASSERT(!taken.contains(unit));
      RC_ASSERT(mine.insert(unit).second);
    }
    return !part.release.empty() || !part.take.empty();
  }

  const std::vector<Unit> all_;
  std::map<int, std::set<Unit>> members_;  // in the order of arrival
  int next_ = 0;
};

RC_GTEST_PROP(FairPartProperty, ComesOutEvenAndMovesNoMoreThanItMust, (std::uint32_t seed)) {
  std::minstd_rand random(seed);
  const std::size_t count = random() % 40;
  Group group(count);
  group.come();
  RC_ASSERT(group.settle(random) == count);
  for (int i = 0; i < 20; ++i) {
    std::size_t must = 0;
    if (group.size() == 1 || random() % 2 == 0) {
      group.come();
      must = count / group.size();  // the new relay's part
    } else {
      const std::size_t rank = random() % group.size();
      must = std::next(group.members().begin(), static_cast<std::ptrdiff_t>(rank))->second.size();
      group.go(rank);
    }
    RC_ASSERT(group.settle(random) == must);
    std::size_t all = 0;
    for (const auto& [member, mine] : group.members()) {
      RC_ASSERT(mine.size() >= count / group.size());
      RC_ASSERT(mine.size() <= (count + group.size() - 1) / group.size());
      all += mine.size();
    }
    RC_ASSERT(all == count);
  }
}

TEST(FairPartTest, GivesBackWhatIsNotThereAnyMore) {
  const FairPart part =
      fair_part(units(2), {{"q", 0}, {"q", 7}}, {{"q", 0}, {"q", 1}, {"q", 7}}, 2, 0);
  EXPECT_EQ(part.release, (std::vector<Unit>{{"q", 7}}));
  EXPECT_TRUE(part.take.empty());
  EXPECT_EQ(part.lacking, 0u);
}

TEST(FairPartTest, SaysWhatItLacks) {
  const FairPart part = fair_part(units(4), {}, {{"q", 0}, {"q", 1}, {"q", 2}, {"q", 3}}, 2, 1);
  EXPECT_TRUE(part.take.empty());
  EXPECT_EQ(part.lacking, 2u);
}

}  // namespace
}  // namespace tarry::relay
