// ToldKeys: records the keys of a queue that a list has shown, because a list may show a message
// twice. It stores 128-bit hashes: two equal hashes among a billion keys are less likely than a
// disk error.
//
// Thread safety: one thread at a time. Memory: 28 to 60 bytes a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"

namespace tarry::app {

class ToldKeys {
 public:
  /// Returns false if the key was inserted before, unless both ids are known (not 0) and differ.
  bool insert(std::string_view key, std::uint64_t id = 0) {
    const auto [told, is_new] = ids_.try_emplace(hashes_of(key), id);
    if (is_new) return true;
    const bool is_another = told->second != 0 && id != 0 && told->second != id;
    if (is_another) told->second = id;
    return is_another;
  }
  [[nodiscard]] bool contains(std::string_view key) const { return ids_.contains(hashes_of(key)); }
  void clear() noexcept { ids_.clear(); }

 private:
  using Hashes = std::pair<std::uint64_t, std::uint64_t>;
  struct First {
    using is_avalanching = void;
    std::size_t operator()(const Hashes& hashes) const noexcept { return hashes.first; }
  };

  [[nodiscard]] Hashes hashes_of(std::string_view key) const noexcept {
    return {base::keyed_hash(key, seed_), base::keyed_hash(key, ~seed_)};
  }

  std::uint64_t seed_ = std::random_device()();
  boost::unordered_flat_map<Hashes, std::uint64_t, First> ids_;
};

}  // namespace tarry::app
