// How a benchmark treats failures: it ends, and says what failed. A figure of something that failed
// half-way would be worth less than none.
#pragma once

#include <string_view>
#include <utility>

#include <tarry/result.h>

namespace tarry::bench {

[[noreturn]] void give_up(std::string_view what, std::string_view why);

/// The value; an error ends the program.
template <typename T>
T must(Result<T> result, std::string_view what) {
  if (!result) give_up(what, result.error().message);
  return *std::move(result);
}
inline void must(const Result<void>& result, std::string_view what) {
  if (!result) give_up(what, result.error().message);
}
inline void must(bool holds, std::string_view what) {
  if (!holds) give_up(what, "it does not hold");
}

}  // namespace tarry::bench
