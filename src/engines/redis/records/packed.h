// PackedReader: MessagePack as the scripts' cmsgpack writes it, as far as they use it: arrays,
// texts and whole numbers, one after the other.
//
// Thread safety: none. Its results are views of its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tarry::redis {

class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}

  /// These three return nothing if the next value is of another kind or cut short; do not use the
  /// reader after that. `array` returns the stated number of elements that follow: there may be
  /// fewer.
  [[nodiscard]] std::optional<std::size_t> array() noexcept;
  [[nodiscard]] std::optional<std::string_view> text() noexcept;
  /// Not negative, at most 2^63 - 1.
  [[nodiscard]] std::optional<std::int64_t> number() noexcept;
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  [[nodiscard]] std::optional<unsigned char> head() noexcept;
  [[nodiscard]] std::optional<std::uint64_t> big_endian(std::size_t bytes) noexcept;

  std::string_view rest_;
};

}  // namespace tarry::redis
