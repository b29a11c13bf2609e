#include "base/unique_function.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace tarry::base {
namespace {

using Answer = UniqueFunction<int(int)>;

static_assert(std::is_nothrow_move_constructible_v<Answer>);
static_assert(std::is_nothrow_move_assignable_v<Answer>);
static_assert(!std::is_copy_constructible_v<Answer>);
static_assert(!std::is_constructible_v<Answer, std::string>);
static_assert(sizeof(Answer) <= 64);

// Counts how many of its objects are alive. `kExtra` sets its size.
template <std::size_t kExtra>
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : alive_(other.alive_), extra_(other.extra_) { ++*alive_; }
  Counted(const Counted&) = delete;
  ~Counted() { --*alive_; }
  int operator()(int x) { return x + ++calls_; }

 private:
  int* alive_;
  int calls_ = 0;
  std::array<char, kExtra> extra_{};
};

template <typename T>
class UniqueFunctionOf : public testing::Test {};
using Sizes = testing::Types<Counted<1>, Counted<32>, Counted<36>, Counted<37>, Counted<500>>;
TYPED_TEST_SUITE(UniqueFunctionOf, Sizes);

TYPED_TEST(UniqueFunctionOf, OwnsItsCallableThroughMovesAndEndsItOnce) {
  int alive = 0;
  {
    Answer first = TypeParam(alive);
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(first(10), 11);
    EXPECT_EQ(first(10), 12);  // state is kept between calls

    Answer second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: moved-from is empty by contract
    EXPECT_TRUE(second);
    EXPECT_EQ(alive, 1);

    Answer third;
    EXPECT_FALSE(third);
    third = std::move(second);
    EXPECT_EQ(alive, 1);
    third = TypeParam(alive);  // the old callable ends
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(third(10), 11);

    Answer& same = third;
    third = std::move(same);
    EXPECT_TRUE(third);
    EXPECT_EQ(alive, 1);

    third = nullptr;
    EXPECT_FALSE(third);
    EXPECT_EQ(alive, 0);
    third = TypeParam(alive);
  }
  EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, TakesAndGivesMoveOnlyThings) {
  auto owned = std::make_unique<int>(40);
  UniqueFunction<std::unique_ptr<int>(std::unique_ptr<int>)> add =
      [owned = std::move(owned)](std::unique_ptr<int> x) {
        *x += *owned;
        return x;
      };
  EXPECT_EQ(*add(std::make_unique<int>(2)), 42);
}

TEST(UniqueFunction, PassesReferencesThrough) {
  UniqueFunction<void(std::string&, int&&)> append = [](std::string& text, int&& n) {
    text += std::to_string(n);
  };
  std::string text = "n=";
  append(text, 5);
  EXPECT_EQ(text, "n=5");
}

int twice(int x) { return 2 * x; }

TEST(UniqueFunction, TakesFunctionsAndDropsResultsOfVoidOnes) {
  Answer by_pointer = &twice;
  EXPECT_EQ(by_pointer(21), 42);
  UniqueFunction<void(int)> drops = &twice;
  drops(21);
  EXPECT_FALSE(Answer(nullptr));
}

TEST(UniqueFunction, IsEmptyWhereWhatItIsMadeOfIs) {
  EXPECT_FALSE(Answer(static_cast<int (*)(int)>(nullptr)));
  EXPECT_FALSE(Answer(std::function<int(int)>()));
  EXPECT_FALSE(Answer(UniqueFunction<long(int)>()));
  const std::function<int(int)> kept = &twice;
  Answer copied = kept;
  EXPECT_EQ(copied(21), 42);
}

TEST(UniqueFunction, MayBeReplacedByWhatItOwnsWhileItEnds) {
  // The callable's destructor empties the function that holds it.
  UniqueFunction<void()> function;
  struct Resetting {
    UniqueFunction<void()>* target;
    explicit Resetting(UniqueFunction<void()>* t) : target(t) {}
    Resetting(Resetting&& other) noexcept : target(std::exchange(other.target, nullptr)) {}
    ~Resetting() {
      if (target != nullptr) *target = nullptr;
    }
    void operator()() const {}
  };
  function = Resetting(&function);
  function = nullptr;
  EXPECT_FALSE(function);
}

TEST(UniqueFunctionDeathTest, CallingAnEmptyOneAborts) {
  Answer empty;
  EXPECT_DEATH(empty(1), "broken invariant");
}

}  // namespace
}  // namespace tarry::base
