// The result of a parser, or its error.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <tarry/result.h>

namespace tarry::test {

/// The value. If there is an error, fails the test and returns -1.
inline std::int64_t value_of(const Result<std::int64_t>& parsed) {
  if (parsed) return *parsed;
  ADD_FAILURE() << parsed.error().message;
  return -1;
}

/// The error's message.
inline std::string refusal_of(const Result<std::int64_t>& parsed) {
  if (parsed) return "accepted as " + std::to_string(*parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  return parsed.error().message;
}

}  // namespace tarry::test
