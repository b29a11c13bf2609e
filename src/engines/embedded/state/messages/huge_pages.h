// HugeBlock: memory for which the system is asked to use huge pages. It is for large data that is
// read at random: with small pages each read costs a second cache miss, to translate the address.
//
// Thread safety: none; one owner. Its contents are neither constructed nor destroyed here.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace tarry::embedded {

class HugeBlock {
 public:
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  /// Asks for huge pages if `bytes` is a multiple of kPage. Otherwise the memory is ordinary and
  /// begins with a cache line. Throws std::bad_alloc.
  explicit HugeBlock(std::size_t bytes)
      : data_(::operator new(bytes, alignment(bytes))), bytes_(bytes) {
    // If the system refuses, small pages are used.
    if (bytes % kPage == 0) (void)::madvise(data_, bytes, MADV_HUGEPAGE);
  }
  HugeBlock(HugeBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  HugeBlock& operator=(HugeBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HugeBlock() {
    if (data_ != nullptr) ::operator delete(data_, alignment(bytes_));
  }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  static std::align_val_t alignment(std::size_t bytes) noexcept {
    return std::align_val_t{bytes % kPage == 0 ? kPage : 64};
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tarry::embedded
