// UnwrittenBatches: sealed batches that have not reached their file, oldest first. It also knows
// which of them the committer has not taken yet.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/records/records.h"

namespace tarry::embedded {

class UnwrittenBatches {
 public:
  using Batch = std::shared_ptr<const SealedBatch>;

  void add(Batch batch) {
    untaken_bytes_ += batch->bytes.size();
    in_flight_.push_back(batch);
    untaken_.push_back(std::move(batch));
  }
  /// Hands over the batches that the committer has not taken yet.
  [[nodiscard]] std::vector<Batch> take() {
    untaken_bytes_ = 0;
    return std::exchange(untaken_, {});
  }
  [[nodiscard]] bool all_taken() const noexcept { return untaken_.empty(); }
  [[nodiscard]] std::uint64_t untaken_bytes() const noexcept { return untaken_bytes_; }

  /// Forgets batches up to number `written`. From now on they are read from their file.
  void forget(std::uint64_t written) {
    while (!in_flight_.empty() && in_flight_.front()->number <= written) in_flight_.pop_front();
  }
  /// Null if all are written.
  [[nodiscard]] const SealedBatch* oldest() const noexcept {
    return in_flight_.empty() ? nullptr : in_flight_.front().get();
  }
  /// The bytes of a batch from a place on; empty if no batch here has that place.
  [[nodiscard]] std::string_view from(const RecordPlace& place) const {
    const std::uint64_t offset = place.position.offset();
    for (const Batch& batch : in_flight_) {
      if (batch->segment == place.segment && offset >= batch->offset &&
          offset < batch->offset + batch->bytes.size()) {
        return std::string_view(batch->bytes).substr(offset - batch->offset);
      }
    }
    return {};
  }

 private:
  std::vector<Batch> untaken_;
  std::uint64_t untaken_bytes_ = 0;
  std::deque<Batch> in_flight_;  // all unwritten batches, taken or not
};

}  // namespace tarry::embedded
