// Payloads to push. They are cut from existing bytes, so that making them takes no time from the
// design.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace tarry::bench {

class Payloads {
 public:
  enum class Of { bytes, letters };

  explicit Payloads(std::size_t size, Of of = Of::bytes) : size_(size) {
    std::mt19937_64 random(1);
    bytes_.resize((std::size_t{1} << 20) + size);
    for (char& byte : bytes_) {
      byte = static_cast<char>(of == Of::letters ? 'a' + random() % 26 : random());
    }
  }
  /// A different payload for each number.
  [[nodiscard]] std::string_view operator()(std::uint64_t number) const noexcept {
    return std::string_view(bytes_).substr(number % (bytes_.size() - size_), size_);
  }

 private:
  std::size_t size_;
  std::string bytes_;
};

}  // namespace tarry::bench
