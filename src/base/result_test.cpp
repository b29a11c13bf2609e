#include <gtest/gtest.h>
#include <tarry/result.h>

#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarry {
namespace {

TEST(ResultDeathTest, WhoTakesAnErrorForAValueIsToldWhichItWas) {
  const Result<int> full = Unexpected(ErrorCode::no_space, "the disk is full");
  EXPECT_DEATH((void)*full, "no_space.*the disk is full");
  EXPECT_DEATH((void)full.value(), "no_space.*the disk is full");
}

using Words = std::vector<std::string>;

Result<Words> words() { return Words{"a word that is too long for a string's own room", "b"}; }
// NOLINTNEXTLINE(readability-const-return-type): functions of users may return such a type
const Result<Words> const_words() { return words(); }
Result<std::unique_ptr<int>> pointer() { return std::make_unique<int>(7); }

// If `*` or `value()` of a temporary Result returned a reference, these loops would read freed
// memory, and AddressSanitizer would report it.
TEST(Result, ALoopOverWhatAVerbAnswersMayStandOnOneLine) {
  std::string all;
  for (const std::string& word : *words()) all += word;
  for (const std::string& word : words().value()) all += word;
  for (const std::string& word : *const_words()) all += word;
  EXPECT_EQ(all.size(), 3 * std::string("a word that is too long for a string's own roomb").size());
}

TEST(Result, AReferenceToWhatAVerbAnswersKeepsIt) {
  const Words& kept = *words();
  const std::string& message =
      Result<int>(Unexpected(ErrorCode::closed, std::string(99, 'x'))).error().message;
  EXPECT_EQ(kept.back(), "b");
  EXPECT_EQ(message, std::string(99, 'x'));
}

TEST(Result, WhatOnlyMovesIsTakenOut) {
  const std::unique_ptr<int> taken = *pointer();
  EXPECT_EQ(*taken, 7);
  Result<std::unique_ptr<int>> held = pointer();
  EXPECT_EQ(*std::move(held).value(), 7);
}

static_assert(std::is_same_v<decltype(*std::declval<Result<Words>>()), Words>);
static_assert(std::is_same_v<decltype(std::declval<Result<Words>>().value()), Words>);
static_assert(std::is_same_v<decltype(*std::declval<const Result<Words>>()), Words>);
static_assert(std::is_same_v<decltype(*std::declval<Result<Words>&>()), Words&>);
static_assert(std::is_same_v<decltype(*std::declval<const Result<Words>&>()), const Words&>);

TEST(Result, ErrorsArePrinted) {
  std::ostringstream text;
  text << Error{ErrorCode::no_space, "the disk is full"} << ", " << ErrorCode::closed;
  EXPECT_EQ(text.str(), "no_space: the disk is full, closed");
}

}  // namespace
}  // namespace tarry
