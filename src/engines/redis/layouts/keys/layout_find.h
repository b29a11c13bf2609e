// From keys to members. A member of a ZSET is its own key. Redisson's entries hold an id that can
// only be found by a walk, as Redisson's own `remove` does: the time grows with the number of
// waiting entries.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unique_function.h"
#include "engines/redis/layouts/keys/layout_call.h"

namespace tarry::redis {

/// For each name its member, or nothing. A Redisson entry is named by its id (hex digits), or by
/// its value; then the first match counts.
using Members = std::vector<std::optional<std::string>>;
void find_members(const LayoutContext& context, const LayoutKeysPtr& keys,
                  std::vector<std::string> names, base::UniqueFunction<void(Result<Members>)> done);

/// Redisson's packed entry.
struct Entry {
  std::string_view id;
  std::string_view value;
  bool is_old = false;  // whether it has the old form
};
/// Nothing for bytes that are no entry.
[[nodiscard]] std::optional<Entry> unpack_entry(std::string_view packed) noexcept;

/// True for the checksum that is shown instead of a long member. Such a key finds nothing.
[[nodiscard]] bool is_checksum(std::string_view key) noexcept;
[[nodiscard]] Error found_by_member_only(std::string_view key, Layout layout);

}  // namespace tarry::redis
