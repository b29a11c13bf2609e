#include "storage/memory_file.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace tarry::storage {
namespace {

constexpr std::uint64_t kChunk = 1U << 20U;
constexpr std::uint64_t kCharge = 4096;
// Files take no chunk unless this much address space is left: other work of the process, such as
// acks and claims, must still find memory when messages find none. The largest need is a server's
// answer to a claim: by default up to 64 MiB of payloads, in memory up to three times while the
// answer is made. A store that holds less needs less.
constexpr std::uint64_t kLeftToOthers = 16U << 20U;
constexpr std::uint64_t kLargestAnswer = 64U << 20U;
constexpr std::uint64_t kCopies = 3;

constexpr std::uint64_t charge_of(std::uint64_t size) {
  return (size + kCharge - 1) / kCharge * kCharge;
}

/// Calls `visit(chunk number, offset in the chunk, length)` for each part of the range.
template <typename Visit>
void for_each_part(std::uint64_t offset, std::uint64_t length, Visit visit) {
  while (length > 0) {
    const std::uint64_t within = offset % kChunk;
    const std::uint64_t part = std::min(length, kChunk - within);
    visit(offset / kChunk, within, static_cast<std::size_t>(part));
    offset += part;
    length -= part;
  }
}

void* map_pages(std::size_t bytes) {
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

/// `used`: the bytes of all files.
bool enough_is_left(std::uint64_t used) {
  const std::size_t wanted = kLeftToOthers + kCopies * std::min(used, kLargestAnswer);
  void* const pages = map_pages(wanted);
  if (pages != nullptr) ::munmap(pages, wanted);
  return pages != nullptr;
}

}  // namespace

bool MemoryRoom::take(std::uint64_t bytes) noexcept {
  std::uint64_t used = used_;
  do {
    const std::uint64_t capacity = capacity_;
    if (used > capacity || bytes > capacity - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

Space MemoryRoom::space() const noexcept {
  const std::uint64_t capacity = capacity_;
  const std::uint64_t used = used_;
  return Space{capacity > used ? capacity - used : 0, capacity};
}

MemoryContents::Chunk::Chunk(std::uint64_t used) noexcept
    : data_(enough_is_left(used) ? static_cast<char*>(map_pages(kChunk)) : nullptr) {}

MemoryContents::Chunk::~Chunk() {
  if (data_ != nullptr) ::munmap(data_, kChunk);
}

MemoryContents::~MemoryContents() { room_->give_back(charged_); }

bool MemoryContents::charge(std::uint64_t size) {
  const std::uint64_t wanted = charge_of(size);
  if (wanted > charged_ && !room_->take(wanted - charged_)) return false;
  if (wanted < charged_) room_->give_back(charged_ - wanted);
  charged_ = wanted;
  return true;
}

// Makes all missing chunks, or none of them.
bool MemoryContents::make_chunks(std::uint64_t first, std::uint64_t end) {
  std::uint64_t number = first;
  try {
    for (; number < end; ++number) {
      if (const auto [chunk, made] = chunks_.try_emplace(number, room_->used());
          made && chunk->second.data() == nullptr) {
        chunks_.erase(chunk);
        break;
      }
    }
  } catch (const std::bad_alloc&) {
  }
  if (number == end) return true;
  const std::uint64_t kept = (size_ + kChunk - 1) / kChunk;
  chunks_.erase(chunks_.lower_bound(std::max(first, kept)), chunks_.end());
  return false;
}

void MemoryContents::copy_in(std::uint64_t offset, std::string_view bytes) {
  for_each_part(offset, bytes.size(),
                [&](std::uint64_t number, std::uint64_t within, std::size_t length) {
                  std::memcpy(chunks_.find(number)->second.data() + within, bytes.data(), length);
                  bytes.remove_prefix(length);
                });
}

bool MemoryContents::write(std::uint64_t offset, std::span<const std::string_view> pieces,
                           std::uint64_t total) {
  if (total == 0) return true;
  const std::uint64_t end = offset + total;
  {
    const std::unique_lock lock(mutex_);
    if (end > size_ && !charge(end)) return false;
    if (!make_chunks(offset / kChunk, (end + kChunk - 1) / kChunk)) {
      static_cast<void>(charge(size_));  // taking less cannot fail
      return false;
    }
  }
  {
    // The lock is shared, so readers of other ranges continue meanwhile.
    const std::shared_lock lock(mutex_);
    for (const std::string_view piece : pieces) {
      copy_in(offset, piece);
      offset += piece.size();
    }
  }
  // Readers may see the bytes only from now on.
  const std::unique_lock lock(mutex_);
  size_ = std::max(size_, end);
  return true;
}

std::size_t MemoryContents::read(std::uint64_t offset, std::span<char> into) const {
  const std::shared_lock lock(mutex_);
  if (offset >= size_) return 0;
  const std::uint64_t length = std::min<std::uint64_t>(into.size(), size_ - offset);
  char* to = into.data();
  for_each_part(offset, length, [&](std::uint64_t number, std::uint64_t within, std::size_t part) {
    const auto chunk = chunks_.find(number);
    if (chunk == chunks_.end()) {
      std::memset(to, 0, part);
    } else {
      std::memcpy(to, chunk->second.data() + within, part);
    }
    to += part;
  });
  return static_cast<std::size_t>(length);
}

bool MemoryContents::grow(std::uint64_t size, bool reserve) {
  const std::unique_lock lock(mutex_);
  if (size <= size_) return true;
  if (!charge(size)) return false;
  // Below the file's end too there may be gaps that have no memory yet.
  if (reserve && !make_chunks(0, (size + kChunk - 1) / kChunk)) {
    static_cast<void>(charge(size_));
    return false;
  }
  size_ = size;
  return true;
}

void MemoryContents::shrink(std::uint64_t size) {
  const std::unique_lock lock(mutex_);
  if (size >= size_) return;
  chunks_.erase(chunks_.lower_bound((size + kChunk - 1) / kChunk), chunks_.end());
  if (const auto last = chunks_.find(size / kChunk); last != chunks_.end()) {
    const std::uint64_t tail = std::min(kChunk - size % kChunk, size_ - size);
    std::memset(last->second.data() + size % kChunk, 0, static_cast<std::size_t>(tail));
  }
  size_ = size;
  static_cast<void>(charge(size));
}

std::uint64_t MemoryContents::size() const {
  const std::shared_lock lock(mutex_);
  return size_;
}

}  // namespace tarry::storage
