// A message's name within Redis: its member.
//
// A generated key's member is the message's id, six bytes, the first of them below 0x1F. It is
// spelled as 16 letters and digits, from the id and a check that uses the store's secret, so nobody
// can write a key that was never made. A user's key is its own member. If it begins with a control
// character below 0x20, an 0x1F is put before it. So the two kinds never meet.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::redis {

inline constexpr std::size_t kIdSize = 6;
inline constexpr std::uint64_t kMaxId = (std::uint64_t{0x1F} << 40) - 1;
inline constexpr std::size_t kSpelledSize = 16;

using IdBytes = std::array<char, kIdSize>;

/// Big-endian. `id` is at most kMaxId.
[[nodiscard]] IdBytes id_bytes(std::uint64_t id) noexcept;
/// 0 for bytes that are no id.
[[nodiscard]] std::uint64_t id_from(std::string_view bytes) noexcept;

[[nodiscard]] bool is_made_member(std::string_view member) noexcept;

/// `scratch` holds a result that is not a part of `key` itself.
[[nodiscard]] std::string_view member_of(std::string_view key, std::uint64_t secret,
                                         std::string& scratch);
void append_key(std::string& out, std::string_view member, std::uint64_t secret);

}  // namespace tarry::redis
