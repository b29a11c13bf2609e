// HeaderFields: walks through a message's encoded headers (core/rules/headers.h), field by field,
// without a copy. Every push runs this.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace tarry::core {

class HeaderFields {
 public:
  /// The bytes stay the caller's, and must outlive this.
  explicit HeaderFields(std::string_view encoded) noexcept : size_(encoded.size()), in_(encoded) {}

  /// False at the end, and where the rest is not well encoded.
  [[nodiscard]] bool next() noexcept {
    if (in_.remaining() == 0) return false;
    std::uint16_t name_size = 0;
    std::uint16_t value_size = 0;
    is_damaged_ = !in_.u16(name_size) || !in_.bytes(name_size, name_) || !in_.u16(value_size) ||
                  !in_.bytes(value_size, value_);
    return !is_damaged_;
  }
  /// Whether `next` has met bytes that are not well encoded.
  [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }

  // -- of the field that `next` has read
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }
  /// Where the value begins in the encoded bytes.
  [[nodiscard]] std::size_t value_at() const noexcept {
    return size_ - in_.remaining() - value_.size();
  }

 private:
  std::size_t size_;
  base::ByteReader in_;
  std::string_view name_;
  std::string_view value_;
  bool is_damaged_ = false;
};

}  // namespace tarry::core
