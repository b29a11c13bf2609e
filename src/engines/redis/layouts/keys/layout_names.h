// LayoutNames: the keys in Redis that make up a queue of a layout.
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
  std::string aside;                // tarry's own: entries that cannot be unpacked
  std::string leases;               // tarry's own: how the names of leases begin
  std::string channel;              // redisson
};
using LayoutKeysPtr = std::shared_ptr<const LayoutKeys>;

inline constexpr std::size_t kMaxLayoutKeys = 256;

class LayoutNames {
 public:
  /// Errors: `invalid_argument` if a name cannot be read, goes with another layout, or is missing.
  [[nodiscard]] static Result<LayoutNames> make(const LayoutSpec& spec);

  /// Errors: `not_found` if the store has only one queue, and that has another name.
  [[nodiscard]] Result<LayoutKeysPtr> keys_of(std::string_view queue) const;
  /// The store's only queue; empty if every name is a queue.
  [[nodiscard]] const std::string& only() const noexcept { return only_; }

 private:
  explicit LayoutNames(LayoutSpec spec) : spec_(std::move(spec)) {}

  LayoutSpec spec_;
  std::string only_;
};

}  // namespace tarry::redis
