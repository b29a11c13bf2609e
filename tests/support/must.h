// For results that must be values: an error ends the test.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tarry/result.h>

namespace tarry::testing {

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace tarry::testing
