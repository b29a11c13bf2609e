// For tests: the file seam with a counter in it, which fails the Nth call. A test runs once
// without faults to learn the number of calls, then once for each N.
//
// Thread safety: Faults, and the parts that the decorators add, may be used from any thread.
//  1. Counted are the calls that change something: write_at, sync_data, allocate, truncate,
//     open(create_new), remove, rename, sync, subdirectory(create), lock. `reads_too` adds the
//     rest.
//  2. A failing call does not reach the disk, except that a `short_write` leaves the first half of
//     the bytes written.
//  3. A failed sync is an io_error, whatever the plan says, and later syncs do not know of it: the
//     next one "succeeds", as on Linux, so a caller that retries is deceived.
//  4. `dies`: the process ends at that call. The call does not reach the disk, a sync does no
//     damage, and no later call is executed. With `short_write`, half of the interrupted write is
//     there. For a disk that is merely full (reserved room can still be written, files can be
//     removed) use a MemoryDisk and set_capacity().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/storage.h"

namespace tarry::storage {

struct FaultPlan {
  std::uint64_t fail_at = 1;             ///< counted from 1, from the last arm()
  ErrorCode code = ErrorCode::io_error;  ///< io_error or no_space
  bool for_good = false;     ///< fails that call and all later ones; otherwise only that one
  bool short_write = false;  ///< a failing write_at writes half of its bytes
  bool reads_too = false;    ///< also counts and fails calls that change nothing
  bool syncs_only = false;   ///< counts and fails only syncs
  bool dies = false;         ///< the process ends instead: see 4
};

/// The counter and the plan, shared by a FaultyDirectory and everything that was opened through it.
class Faults {
 public:
  /// Starts counting from zero. A plan says which calls fail; without a plan none does.
  void arm(const FaultPlan& plan);
  void disarm();
  /// Called before each call that changes something, on the thread of that call. Its argument
  /// describes the call, e.g. "allocate 1.seg (offset 4096)". Set the watch before the first call
  /// on this storage.
  using Watch = std::function<void(std::string_view what)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  /// Changes `reads_too` of the plan, if there is one.
  void count_reads(bool reads_too);

  /// Calls since the last arm() or disarm(), or since the start. Without a plan it counts only
  /// calls that change something.
  [[nodiscard]] std::uint64_t calls() const;
  /// How many of these calls failed because of the plan.
  [[nodiscard]] std::uint64_t failed() const;
  /// The first call that failed, e.g. "write_at shard-0/00000001.seg (offset 4096)"; empty if none
  /// did.
  [[nodiscard]] std::string first_failed() const;

  enum class Kind : std::uint8_t { read, mutation, sync };
  /// For the decorators: counts one call. Returns the error with which the call has to fail, or
  /// nothing.
  [[nodiscard]] std::optional<Error> on_call(Kind kind, std::string_view what);
  /// Whether the call that has just failed must write half of its bytes.
  [[nodiscard]] bool short_writes() const;
  /// Whether the plan has ended the process.
  [[nodiscard]] bool dead() const;

 private:
  Watch watch_;
  mutable std::mutex mutex_;
  std::optional<FaultPlan> plan_;
  std::uint64_t calls_ = 0;
  std::uint64_t failed_ = 0;
  std::string first_failed_;
};

/// Passes every call on to `under`, unless `faults` makes it fail.
class FaultyDirectory final : public Directory {
 public:
  FaultyDirectory(std::unique_ptr<Directory> under, std::shared_ptr<Faults> faults);

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  Result<std::vector<std::string>> list() const override;
  Result<void> remove(std::string_view name) override;
  Result<void> rename(std::string_view from, std::string_view to) override;
  Result<void> sync() override;
  Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) override;
  Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) override;
  Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) override;
  Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing) override;
  Result<Space> space() const override;
  [[nodiscard]] bool is_in_place() const override;
  [[nodiscard]] std::uint64_t largest_file() const override;
  std::string path() const override;

 private:
  std::unique_ptr<Directory> under_;
  std::shared_ptr<Faults> faults_;
};

}  // namespace tarry::storage
