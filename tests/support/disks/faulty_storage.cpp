#include "support/disks/faulty_storage.h"

#include <numeric>
#include <utility>

#include "storage/failure.h"

namespace tarry::storage {
namespace {

using Kind = Faults::Kind;

std::string at_offset(std::string_view operation, const std::string& name, std::uint64_t offset) {
  return std::string(operation) + " " + name + " (offset " + std::to_string(offset) + ")";
}

class FaultyFile final : public File {
 public:
  FaultyFile(std::unique_ptr<File> under, std::shared_ptr<Faults> faults, std::string name)
      : under_(std::move(under)), faults_(std::move(faults)), name_(std::move(name)) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    return write_at(offset, std::span<const std::string_view>(&bytes, 1));
  }

  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    auto fault = faults_->on_call(Kind::mutation, at_offset("write_at", name_, offset));
    if (!fault) return under_->write_at(offset, pieces);
    if (faults_->short_writes()) {
      const std::string all = std::accumulate(
          pieces.begin(), pieces.end(), std::string(),
          [](std::string sum, std::string_view piece) { return std::move(sum.append(piece)); });
      // The write of this half may fail too, for example on a full disk. The call fails in any
      // case, so that error is ignored.
      static_cast<void>(under_->write_at(offset, std::string_view(all).substr(0, all.size() / 2)));
    }
    return *std::move(fault);
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    if (auto fault = faults_->on_call(Kind::read, at_offset("read_at", name_, offset))) {
      return *std::move(fault);
    }
    return under_->read_at(offset, into);
  }

  Result<void> sync_data() override {
    if (auto fault = faults_->on_call(Kind::sync, "sync_data " + name_)) return *std::move(fault);
    return under_->sync_data();
  }

  Result<void> allocate(std::uint64_t size) override {
    if (auto fault = faults_->on_call(Kind::mutation, at_offset("allocate", name_, size))) {
      return *std::move(fault);
    }
    return under_->allocate(size);
  }

  Result<void> truncate(std::uint64_t size) override {
    if (auto fault = faults_->on_call(Kind::mutation, at_offset("truncate", name_, size))) {
      return *std::move(fault);
    }
    return under_->truncate(size);
  }

  Result<std::uint64_t> size() const override {
    if (auto fault = faults_->on_call(Kind::read, "size " + name_)) return *std::move(fault);
    return under_->size();
  }

  [[nodiscard]] bool has_name() const override { return under_->has_name(); }

  void will_need(std::uint64_t offset, std::uint64_t length) const override {
    under_->will_need(offset, length);
  }

 private:
  std::unique_ptr<File> under_;
  std::shared_ptr<Faults> faults_;
  std::string name_;
};

}  // namespace

void Faults::arm(const FaultPlan& plan) {
  const std::scoped_lock lock(mutex_);
  plan_ = plan;
  calls_ = 0;
  failed_ = 0;
  first_failed_.clear();
}

void Faults::disarm() {
  const std::scoped_lock lock(mutex_);
  plan_.reset();
  calls_ = 0;
  failed_ = 0;
  first_failed_.clear();
}

void Faults::count_reads(bool reads_too) {
  const std::scoped_lock lock(mutex_);
  if (plan_) plan_->reads_too = reads_too;
}

std::uint64_t Faults::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

std::uint64_t Faults::failed() const {
  const std::scoped_lock lock(mutex_);
  return failed_;
}

std::string Faults::first_failed() const {
  const std::scoped_lock lock(mutex_);
  return first_failed_;
}

bool Faults::short_writes() const {
  const std::scoped_lock lock(mutex_);
  return plan_ && plan_->short_write && (!plan_->dies || failed_ == 1);
}

bool Faults::dead() const {
  const std::scoped_lock lock(mutex_);
  return plan_ && plan_->dies && failed_ > 0;
}

std::optional<Error> Faults::on_call(Kind kind, std::string_view what) {
  if (watch_ && kind != Kind::read) watch_(what);
  const std::scoped_lock lock(mutex_);
  if (kind == Kind::read && !(plan_ && plan_->reads_too)) return std::nullopt;
  if (kind != Kind::sync && plan_ && plan_->syncs_only) return std::nullopt;
  ++calls_;
  if (!plan_) return std::nullopt;
  const bool lasts = plan_->for_good || plan_->dies;
  const bool fails = lasts ? calls_ >= plan_->fail_at : calls_ == plan_->fail_at;
  if (!fails) return std::nullopt;
  if (failed_++ == 0) first_failed_ = what;
  const ErrorCode code = kind == Kind::sync ? ErrorCode::io_error : plan_->code;
  return Error{code, "injected fault at call " + std::to_string(calls_) + ": " + printable(what)};
}

FaultyDirectory::FaultyDirectory(std::unique_ptr<Directory> under, std::shared_ptr<Faults> faults)
    : under_(std::move(under)), faults_(std::move(faults)) {}

Result<std::unique_ptr<File>> FaultyDirectory::open(std::string_view name, OpenMode mode) {
  const bool create = mode == OpenMode::create_new;
  std::string full = join_path(under_->path(), name);
  if (auto fault = faults_->on_call(create ? Kind::mutation : Kind::read,
                                    (create ? "create " : "open ") + full)) {
    return *std::move(fault);
  }
  auto file = under_->open(name, mode);
  if (!file) return file;
  return std::unique_ptr<File>(new FaultyFile(std::move(*file), faults_, std::move(full)));
}

Result<std::vector<std::string>> FaultyDirectory::list() const {
  if (auto fault = faults_->on_call(Kind::read, "list " + path())) return *std::move(fault);
  return under_->list();
}

Result<void> FaultyDirectory::remove(std::string_view name) {
  if (auto fault = faults_->on_call(Kind::mutation, "remove " + join_path(path(), name))) {
    return *std::move(fault);
  }
  return under_->remove(name);
}

Result<void> FaultyDirectory::rename(std::string_view from, std::string_view to) {
  if (auto fault = faults_->on_call(Kind::mutation, "rename " + join_path(path(), from))) {
    return *std::move(fault);
  }
  return under_->rename(from, to);
}

Result<void> FaultyDirectory::sync() {
  if (auto fault = faults_->on_call(Kind::sync, "sync " + path())) return *std::move(fault);
  return under_->sync();
}

Result<std::unique_ptr<Directory>> FaultyDirectory::subdirectory(std::string_view name,
                                                                 bool create) {
  if (auto fault = faults_->on_call(create ? Kind::mutation : Kind::read,
                                    "subdirectory " + join_path(path(), name))) {
    return *std::move(fault);
  }
  auto directory = under_->subdirectory(name, create);
  if (!directory) return directory;
  return std::unique_ptr<Directory>(new FaultyDirectory(std::move(*directory), faults_));
}

Result<std::unique_ptr<Lock>> FaultyDirectory::lock(std::string_view name,
                                                    std::string_view holder) {
  if (auto fault = faults_->on_call(Kind::mutation, "lock " + join_path(path(), name))) {
    return *std::move(fault);
  }
  return under_->lock(name, holder);
}

Result<std::unique_ptr<Lock>> FaultyDirectory::lock_shared(std::string_view name) {
  if (auto fault = faults_->on_call(Faults::Kind::read, "lock " + join_path(path(), name))) {
    return *std::move(fault);
  }
  return under_->lock_shared(name);
}

Result<std::unique_ptr<Lock>> FaultyDirectory::lock_itself(Sharing sharing) {
  if (auto fault = faults_->on_call(Faults::Kind::read, "lock " + path())) {
    return *std::move(fault);
  }
  return under_->lock_itself(sharing);
}

Result<Space> FaultyDirectory::space() const {
  if (auto fault = faults_->on_call(Kind::read, "space " + path())) return *std::move(fault);
  return under_->space();
}

bool FaultyDirectory::is_in_place() const { return under_->is_in_place(); }

std::uint64_t FaultyDirectory::largest_file() const { return under_->largest_file(); }

std::string FaultyDirectory::path() const { return under_->path(); }

}  // namespace tarry::storage
