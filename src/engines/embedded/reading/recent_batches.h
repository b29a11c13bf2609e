// RecentBatches: the latest batches written to the journal, still in RAM. So a message that is
// claimed soon after its push is delivered without reading the file.
//
// Thread safety: none; the committer's thread owns it.
//
// Invariants
//  1. Batches stand in the order in which they were written: by segment, then by offset.
//  2. They take no more than `most` bytes of RAM.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

class RecentBatches {
 public:
  explicit RecentBatches(std::uint64_t most) : most_(most) {}

  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  /// Adds a batch that was written after all batches added before.
  void add(std::shared_ptr<const SealedBatch> batch);
  /// Forgets the batches of segments up to this one. These segments are being removed, so nobody
  /// will ask for their records.
  void forget(std::uint64_t segment);
  /// The bytes of the record at that place, at most as many as its position says; empty if its
  /// batch is not kept.
  [[nodiscard]] std::string_view find(const RecordPlace& place) const noexcept;
  /// Finds the records at all `places`, and lists once each batch that holds some of these records.
  /// False if a record is not kept.
  [[nodiscard]] bool find(std::span<const RecordPlace> places,
                          std::vector<std::string_view>& records,
                          std::vector<std::shared_ptr<const SealedBatch>>& batches) const;

 private:
  // The start of a batch.
  struct Start {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
    friend auto operator<=>(const Start&, const Start&) = default;
  };
  struct Entry {
    std::string_view bytes;
    std::shared_ptr<const SealedBatch> batch;  // holds the bytes
  };
  static constexpr std::size_t kNone = SIZE_MAX;

  void drop_oldest();
  [[nodiscard]] std::size_t size() const noexcept { return starts_.size() - first_; }
  [[nodiscard]] std::size_t batch_of(const RecordPlace& place) const noexcept;
  [[nodiscard]] std::string_view bytes_in(std::size_t batch, const RecordPlace& place) const {
    return entries_[batch].bytes.substr(place.position.offset() - starts_[batch].offset,
                                        place.position.size());
  }

  std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  // One start and one entry for each batch; those before `first_` are forgotten. The starts have an
  // array of their own, because they are searched.
  std::vector<Start> starts_;
  std::vector<Entry> entries_;
  std::size_t first_ = 0;
};

}  // namespace tarry::embedded
