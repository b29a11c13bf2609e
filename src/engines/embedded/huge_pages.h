// HugeBlock: memory that the system is asked to back with huge pages, for what is large and read
// all over the place: with small pages each look costs a second miss, for the address.
//
// Thread safety: none; one owner. What is in it is neither constructed nor destroyed here.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace tarry::embedded {

class HugeBlock {
 public:
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  /// `bytes` of a multiple of kPage are backed so, others as usual. Throws std::bad_alloc.
  explicit HugeBlock(std::size_t bytes) : bytes_(bytes) {
    if (bytes % kPage != 0) {
      data_ = ::operator new(bytes);
      return;
    }
    data_ = ::operator new(bytes, std::align_val_t{kPage});
    // Where it is refused, small pages do.
    (void)::madvise(data_, bytes, MADV_HUGEPAGE);
  }
  HugeBlock(HugeBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  HugeBlock& operator=(HugeBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HugeBlock() {
    if (data_ == nullptr) return;
    if (bytes_ % kPage != 0) {
      ::operator delete(data_);
    } else {
      ::operator delete(data_, std::align_val_t{kPage});
    }
  }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tarry::embedded
