#include "engines/embedded/state/messages/key_index.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <unordered_map>

namespace tarry::embedded {
namespace {

constexpr auto kAny = [](Handle) { return true; };

class KeyIndexTest : public testing::Test {
 protected:
  Handle add(std::uint64_t hash) {
    const Handle handle = slab.peek_free();
    Message& message = slab.place(handle);
    message.set_stage(Stage::scheduled);
    message.key_hash = static_cast<std::uint32_t>(hash);
    index.insert(handle, hash);
    return handle;
  }
  void remove(Handle handle) {
    index.erase(handle);
    slab.free(handle);
  }

  MessageSlab slab;
  KeyIndex index{slab};
};

TEST_F(KeyIndexTest, FindsWhatWasInserted) {
  EXPECT_EQ(index.find(1, kAny), kNoHandle);
  const Handle handle = add(0x1234'5678'9ABC'DEF0);
  EXPECT_EQ(index.find(0x1234'5678'9ABC'DEF0, kAny), handle);
  EXPECT_EQ(index.find(0x1234'5679'9ABC'DEF0, kAny), kNoHandle) << "another high half";
  EXPECT_EQ(index.find(0x1234'5678'9ABC'DEF1, kAny), kNoHandle) << "another low half";
  remove(handle);
  EXPECT_EQ(index.find(0x1234'5678'9ABC'DEF0, kAny), kNoHandle);
  EXPECT_EQ(index.size(), 0u);
}

TEST_F(KeyIndexTest, EqualHashesAreAllOfferedUntilOneIsTaken) {
  const std::uint64_t hash = 0xFFFF'FFFF'FFFF'FFFF;
  const Handle a = add(hash);
  const Handle b = add(hash);
  const Handle c = add(hash);
  std::vector<Handle> offered;
  EXPECT_EQ(index.find(hash, [&](Handle handle) { return offered.push_back(handle), false; }),
            kNoHandle);
  EXPECT_EQ(offered, (std::vector<Handle>{a, b, c}));
  EXPECT_EQ(index.find(hash, [&](Handle handle) { return handle == c; }), c);
  remove(b);
  EXPECT_EQ(index.find(hash, [&](Handle handle) { return handle == c; }), c);
  EXPECT_EQ(index.find(hash, [&](Handle handle) { return handle == b; }), kNoHandle);
}

// All these keys belong into the table's last slots, so that the run and its gap cross the end.
TEST_F(KeyIndexTest, ErasingClosesTheGapAcrossTheTablesEnd) {
  std::vector<Handle> handles;
  for (std::uint64_t i = 0; i < 8; ++i) handles.push_back(add((i << 32) | (62 + i % 2)));
  for (std::uint64_t gone = 0; gone < 8; ++gone) {
    remove(handles[gone]);
    for (std::uint64_t i = 0; i < 8; ++i) {
      const Handle expected = i <= gone ? kNoHandle : handles[i];
      ASSERT_EQ(index.find((i << 32) | (62 + i % 2), kAny), expected) << gone << " " << i;
    }
  }
}

TEST_F(KeyIndexTest, ReserveHoldsWithoutGrowing) {
  index.reserve(10'000);
  const std::uint64_t bytes = index.bytes();
  for (std::uint64_t i = 0; i < 10'000; ++i) add(i * 0x9E37'79B9'7F4A'7C15);
  EXPECT_EQ(index.bytes(), bytes);
  EXPECT_EQ(index.size(), 10'000u);
}

// Few different hashes, so that nearly every operation works on a run of collisions.
RC_GTEST_FIXTURE_PROP(KeyIndexTest, IsAMultimap,
                      (const std::vector<std::pair<std::uint8_t, bool>>& steps)) {
  std::unordered_multimap<std::uint64_t, Handle> model;
  const auto hash_of = [](std::uint8_t step) {
    return (std::uint64_t{step % 5u} << 32) | (step % 3u);
  };
  for (const auto& [step, erase] : steps) {
    const std::uint64_t hash = hash_of(step);
    const auto found = model.find(hash);
    if (erase && found != model.end()) {
      remove(found->second);
      model.erase(found);
    } else {
      model.emplace(hash, add(hash));
    }
    RC_ASSERT(index.size() == model.size());
    for (std::uint8_t i = 0; i < 15; ++i) {
      std::size_t offered = 0;
      RC_ASSERT(index.find(hash_of(i), [&](Handle) { return ++offered, false; }) == kNoHandle);
      RC_ASSERT(offered == model.count(hash_of(i)));
    }
    for (const auto& [key, handle] : model) {
      RC_ASSERT(index.find(key, [&](Handle h) { return h == handle; }) == handle);
    }
  }
}

}  // namespace
}  // namespace tarry::embedded
