// For tests: opens a store, or ends the test.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <tarry/store.h>

namespace tarry::test {

inline Store opened(const std::string& url, OpenOptions options = {}) {
  Result<Store> store = tarry::open(url, std::move(options));
  if (!store) throw std::runtime_error(url + ": " + store.error().message);
  return *std::move(store);
}

}  // namespace tarry::test
