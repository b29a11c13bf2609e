// What a parser made of a text, or why it refused it.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <tarry/result.h>

namespace tarry::test {

/// -1, and a failure of the test, if it was refused.
inline std::int64_t value_of(const Result<std::int64_t>& parsed) {
  if (parsed) return *parsed;
  ADD_FAILURE() << parsed.error().message;
  return -1;
}

/// The message.
inline std::string refusal_of(const Result<std::int64_t>& parsed) {
  if (parsed) return "accepted as " + std::to_string(*parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  return parsed.error().message;
}

}  // namespace tarry::test
