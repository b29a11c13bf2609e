// For tests: the file seam with a counter in it, which fails the Nth call. A test runs once
// without faults to learn the number of calls, then once for each N.
//
// Thread safety: Faults and what the decorators add may be used from any thread.
//  1. Counted are the calls that change something: write_at, sync_data, allocate, truncate,
//     open(create_new), remove, rename, sync, subdirectory(create), lock. `reads_too` adds the
//     rest.
//  2. A failing call does not reach the disk, except that a `short_write` leaves the first half of
//     the bytes written.
//  3. A failed sync is io_error whatever the plan says, and is not remembered: the next one
//     "succeeds", as it does on Linux. Who retries will believe it.
//  4. `dies`: the process ends at that call. It does not reach the disk, a sync does no damage, and
//     nothing later is executed either; with `short_write` half of a write that it dies in is
//     there.
// For a disk that is merely full (reserved room can still be written, files can be removed) use a
// MemoryDisk and set_capacity().
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
  bool for_good = false;                 ///< that call and every one after it, else only that
  bool short_write = false;              ///< a failing write_at leaves half its bytes
  bool reads_too = false;                ///< calls that change nothing are counted and failed
  bool syncs_only = false;               ///< nothing else is counted or failed
  bool dies = false;                     ///< no failure, but the end: see 4
};

/// The counter and the plan, shared by a FaultyDirectory and all that was opened through it.
class Faults {
 public:
  /// Starts counting from zero. Without a plan nothing fails.
  void arm(const FaultPlan& plan);
  void disarm();
  /// Called before each call that changes something, with what it is, e.g. "allocate 1.seg (offset
  /// 4096)", by the thread that makes it. Set before anything runs.
  using Watch = std::function<void(std::string_view what)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  /// Changes the plan's `reads_too`, where there is one.
  void count_reads(bool reads_too);

  /// Counted since the last arm() or disarm(), or since the start; without a plan, mutations only.
  [[nodiscard]] std::uint64_t calls() const;
  /// How many of them were made to fail.
  [[nodiscard]] std::uint64_t failed() const;
  /// The first one that failed, e.g. "write_at shard-0/00000001.seg (offset 4096)"; empty if none.
  [[nodiscard]] std::string first_failed() const;

  enum class Kind : std::uint8_t { read, mutation, sync };
  /// For the decorators: counts one call, and says whether and with what it has to fail.
  [[nodiscard]] std::optional<Error> on_call(Kind kind, std::string_view what);
  /// Of the call that has just failed: half of what it writes gets there.
  [[nodiscard]] bool short_writes() const;
  /// The process that called has ended, by plan.
  [[nodiscard]] bool dead() const;

 private:
  Watch watch_;
  mutable std::mutex mutex_;
  std::optional<FaultPlan> plan_;
  std::uint64_t calls_ = 0;
  std::uint64_t failed_ = 0;
  std::string first_failed_;
};

/// Passes every call on to `under`, unless `faults` says otherwise.
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
