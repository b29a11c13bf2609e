#include "storage/storage.h"

namespace tarry::storage {
namespace {

class OneByOne final : public Reader {
 public:
  void read(std::span<Read> reads) override {
    for (Read& read : reads) read.got = read.file->read_at(read.offset, read.into);
  }
  void read_cached(std::span<Read> reads) override { read(reads); }
  [[nodiscard]] bool has_waited() const override { return false; }
};

class NoLock final : public Lock {};

}  // namespace

Result<void> Directory::link(std::string_view name, Directory& /*other*/) {
  return Unexpected(ErrorCode::unsupported, "link " + path() + "/" + std::string(name) +
                                                ": there are no second names here");
}

Result<bool> Directory::is_named(std::string_view name, const File& /*file*/) const {
  return Unexpected(ErrorCode::unsupported, "look at " + path() + "/" + std::string(name) +
                                                ": files have no identity here");
}

Result<std::unique_ptr<Lock>> Directory::lock_itself(Sharing /*sharing*/) {
  return std::unique_ptr<Lock>(std::make_unique<NoLock>());
}

std::unique_ptr<Reader> Directory::make_reader() const { return std::make_unique<OneByOne>(); }

}  // namespace tarry::storage
