// Reasons: why messages are dead. Each text is kept once, however many messages share it.
//
// Thread safety: none; the shard's thread owns it. Number 0 is the empty reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tarry::embedded {

class Reasons {
 public:
  [[nodiscard]] std::uint32_t acquire(std::string_view text);
  void release(std::uint32_t number) noexcept;
  [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept;

 private:
  struct Entry {
    std::string text;
    std::uint64_t uses = 0;
  };
  std::vector<Entry> entries_{Entry{}};
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace tarry::embedded
