#include "engines/embedded/store/store_lock.h"

#include <utility>

#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {
namespace {

using storage::Lock;
using storage::Sharing;

class StoreLock final : public Lock {
 public:
  StoreLock(std::unique_ptr<Lock> file, std::unique_ptr<Lock> shard)
      : file_(std::move(file)), shard_(std::move(shard)) {}

 private:
  std::unique_ptr<Lock> file_;
  std::unique_ptr<Lock> shard_;  // released first: a process that gets LOCK finds this free
};

Error of_shard(Error error) {
  if (error.code == ErrorCode::conflict) {
    error.message += ", though LOCK is free (was it removed?)";
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<Lock>> lock_store(storage::Directory& directory, std::string_view holder) {
  auto file = directory.lock(kLockName, holder);
  if (!file) return std::move(file).error();
  auto made = has_store_file(directory);
  if (!made) return std::move(made).error();
  auto first = directory.subdirectory(shard_directory_name(0), !*made);
  if (!first) return shard_directory_error(std::move(first).error());
  auto shard = (*first)->lock_itself(Sharing::none);
  if (!shard) return of_shard(std::move(shard).error());
  return std::unique_ptr<Lock>(new StoreLock(std::move(*file), std::move(*shard)));
}

Result<std::unique_ptr<Lock>> lock_store_shared(storage::Directory& directory) {
  // The process that opens the store makes this file. The shard's directory may have been lost.
  auto file = directory.lock_shared(kLockName);
  if (!file && file.error().code != ErrorCode::not_found) return std::move(file).error();
  const auto first = directory.subdirectory(shard_directory_name(0), false);
  auto shard = first ? (*first)->lock_itself(Sharing::with_sharers)
                     : Result<std::unique_ptr<Lock>>(std::unique_ptr<Lock>());
  if (!shard) return of_shard(std::move(shard).error());
  return std::unique_ptr<Lock>(new StoreLock(file ? std::move(*file) : nullptr, std::move(*shard)));
}

}  // namespace tarry::embedded
