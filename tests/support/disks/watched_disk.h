// For tests: a file seam that tells the test of each read before it is made. So the test may change
// the files meanwhile, as a running server does while another process reads them.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace tarry::embedded::test {

/// The file's name and the offset of the read that follows.
using BeforeRead = std::function<void(std::string_view name, std::uint64_t offset)>;

class WatchedFile final : public storage::File {
 public:
  WatchedFile(std::unique_ptr<storage::File> under, std::string name, const BeforeRead& watch)
      : under_(std::move(under)), name_(std::move(name)), watch_(&watch) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    return under_->write_at(offset, bytes);
  }
  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    return under_->write_at(offset, pieces);
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    if (*watch_) (*watch_)(name_, offset);
    return under_->read_at(offset, into);
  }
  Result<void> sync_data() override { return under_->sync_data(); }
  Result<void> allocate(std::uint64_t size) override { return under_->allocate(size); }
  Result<void> truncate(std::uint64_t size) override { return under_->truncate(size); }
  Result<std::uint64_t> size() const override { return under_->size(); }
  Result<bool> is_shared() const override { return under_->is_shared(); }
  void will_need(std::uint64_t offset, std::uint64_t length) const override {
    under_->will_need(offset, length);
  }

  [[nodiscard]] const storage::File& under() const { return *under_; }

 private:
  std::unique_ptr<storage::File> under_;
  std::string name_;
  const BeforeRead* watch_;
};

class WatchedDirectory final : public storage::Directory {
 public:
  WatchedDirectory(std::unique_ptr<storage::Directory> under, const BeforeRead& watch)
      : under_(std::move(under)), watch_(&watch) {}

  Result<std::unique_ptr<storage::File>> open(std::string_view name,
                                              storage::OpenMode mode) override {
    auto file = under_->open(name, mode);
    if (!file) return file;
    return std::unique_ptr<storage::File>(
        std::make_unique<WatchedFile>(std::move(*file), std::string(name), *watch_));
  }
  Result<std::vector<std::string>> list() const override { return under_->list(); }
  Result<void> remove(std::string_view name) override { return under_->remove(name); }
  Result<void> rename(std::string_view from, std::string_view to) override {
    return under_->rename(from, to);
  }
  Result<bool> is_named(std::string_view name, const storage::File& file) const override {
    return under_->is_named(name, dynamic_cast<const WatchedFile&>(file).under());
  }
  Result<void> sync() override { return under_->sync(); }
  Result<std::unique_ptr<storage::Directory>> subdirectory(std::string_view name,
                                                           bool create) override {
    auto directory = under_->subdirectory(name, create);
    if (!directory) return directory;
    return std::unique_ptr<storage::Directory>(
        std::make_unique<WatchedDirectory>(std::move(*directory), *watch_));
  }
  Result<std::unique_ptr<storage::Lock>> lock(std::string_view name,
                                              std::string_view holder) override {
    return under_->lock(name, holder);
  }
  Result<std::unique_ptr<storage::Lock>> lock_shared(std::string_view name) override {
    return under_->lock_shared(name);
  }
  Result<storage::Space> space() const override { return under_->space(); }
  std::string path() const override { return under_->path(); }

 private:
  std::unique_ptr<storage::Directory> under_;
  const BeforeRead* watch_;
};

}  // namespace tarry::embedded::test
