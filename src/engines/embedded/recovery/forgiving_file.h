// ForgivingFile: a file of which some parts cannot be read. Unreadable parts read as zeros, which
// are never a good batch. Salvage needs it to get past a bad sector.
//
// Thread safety: one thread at a time. Read only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "storage/storage.h"

namespace tarry::embedded {

class ForgivingFile final : public storage::File {
 public:
  explicit ForgivingFile(std::unique_ptr<storage::File> under) : under_(std::move(under)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override;
  Result<std::uint64_t> size() const override { return under_->size(); }
  void will_need(std::uint64_t offset, std::uint64_t length) const override {
    under_->will_need(offset, length);
  }

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override;
  Result<void> sync_data() override;
  Result<void> allocate(std::uint64_t size) override;
  Result<void> truncate(std::uint64_t size) override;

 private:
  std::unique_ptr<storage::File> under_;
};

}  // namespace tarry::embedded
