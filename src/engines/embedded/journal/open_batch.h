// OpenBatch: the batch to which the journal appends records. If several messages end one after the
// other for the same reason, they share one record, a run: each message adds only a reference to
// it.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/records/records.h"

namespace tarry::embedded {

class OpenBatch {
 public:
  /// The values that all references of a run share.
  struct RunKey {
    RecordType type = RecordType::closed;
    std::uint8_t detail = 0;
    std::uint32_t queue = 0;
    std::int64_t until_ms = 0;
    bool noted = false;

    friend bool operator==(const RunKey&, const RunKey&) = default;
  };

  /// True if no batch is open.
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  /// Bytes of the batch, header included.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  /// The batch's bytes from `offset` on.
  [[nodiscard]] std::string_view from(std::uint64_t offset) const {
    return std::string_view(bytes_).substr(offset);
  }

  void begin() {
    // Most batches are about as long as the one before. Without this room, the string would be
    // copied each time it grows.
    bytes_.reserve(last_bytes_ + last_bytes_ / 8);
    bytes_.assign(kBatchHeaderBytes, '\0');
    run_start_ = 0;
  }
  /// `append_to` appends the records that the batch begins with. Returns their bytes.
  template <typename AppendTo>
  std::size_t append_opening(const AppendTo& append_to) {
    append_to(bytes_);
    return bytes_.size() - kBatchHeaderBytes;
  }
  template <typename AnyRecord>
  void append(const AnyRecord& record) {
    run_start_ = 0;
    append_record(bytes_, record);
  }
  void begin_run(const RunKey& key, const Record& record) {
    run_start_ = bytes_.size();
    run_ = key;
    append_record(bytes_, record);
  }
  /// True if the last record is a run with that key.
  [[nodiscard]] bool ends_with_run(const RunKey& key) const noexcept {
    return run_start_ != 0 && run_ == key;
  }
  void extend_run(Ref ref) { embedded::extend_run(bytes_, run_start_, ref); }

  /// Bytes of the batch's records.
  [[nodiscard]] std::uint32_t body_bytes() const noexcept {
    return static_cast<std::uint32_t>(bytes_.size() - kBatchHeaderBytes);
  }
  /// Seals the batch and returns its bytes. Then no batch is open.
  [[nodiscard]] std::string seal(const BatchHeader& header) {
    seal_batch(bytes_, header);
    last_bytes_ = bytes_.size();
    run_start_ = 0;
    // The string may stay in RAM for a while.
    if (bytes_.capacity() > 2 * bytes_.size()) bytes_.shrink_to_fit();
    return std::exchange(bytes_, {});
  }

 private:
  std::string bytes_;           // room for the header, then records
  std::size_t last_bytes_ = 0;  // size of the batch before
  std::size_t run_start_ = 0;   // 0: the last record is no run
  RunKey run_;
};

}  // namespace tarry::embedded
