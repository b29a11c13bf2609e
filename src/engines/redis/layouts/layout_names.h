// LayoutNames: which keys of Redis a queue of a layout is made of.
//
// Thread safety: const after `make`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

struct LayoutKeys {
  std::string queue;
  std::vector<std::string> zsets;   // at least one
  std::vector<std::string> bodies;  // hash: one, or as many as ZSETs; redisson: entries, list
  std::string aside;                // ours: entries that do not unpack
  std::string leases;               // ours: how the names of leases begin
  std::string channel;              // redisson
};
using LayoutKeysPtr = std::shared_ptr<const LayoutKeys>;

inline constexpr std::size_t kMaxLayoutKeys = 256;

class LayoutNames {
 public:
  /// `invalid_argument` for names that cannot be read, that go with another layout or are missing.
  [[nodiscard]] static Result<LayoutNames> make(const LayoutSpec& spec);

  /// `not_found` if the store has one queue, and this is another.
  [[nodiscard]] Result<LayoutKeysPtr> keys_of(std::string_view queue) const;
  /// The store's one queue; empty: any name is one.
  [[nodiscard]] const std::string& only() const noexcept { return only_; }

 private:
  explicit LayoutNames(LayoutSpec spec) : spec_(std::move(spec)) {}

  LayoutSpec spec_;
  std::string only_;
};

}  // namespace tarry::redis
