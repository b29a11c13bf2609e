// ToldKeys: which keys of a queue an export has written, for lists that may tell one twice. By 128
// bits of hash: that two keys of a billion share theirs is less likely than that the disk errs.
//
// Thread safety: one thread at a time. Memory: 17 to 40 bytes a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/hash.h"

namespace tarry::app::transfer {

class ToldKeys {
 public:
  /// False where it was told before.
  bool insert(std::string_view key) {
    return hashes_.emplace(base::keyed_hash(key, seed_), base::keyed_hash(key, ~seed_)).second;
  }
  void clear() noexcept { hashes_.clear(); }

 private:
  using Hashes = std::pair<std::uint64_t, std::uint64_t>;
  struct First {
    using is_avalanching = void;
    std::size_t operator()(const Hashes& hashes) const noexcept { return hashes.first; }
  };

  std::uint64_t seed_ = std::random_device()();
  boost::unordered_flat_set<Hashes, First> hashes_;
};

}  // namespace tarry::app::transfer
