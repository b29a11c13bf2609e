// MigrationBatch: moves some messages of one queue from a store into another, in three steps: read
// here, put there, take away here. "Here" is the first store, "there" the second. The queue is held
// in both.
//
// Invariants
//  1. A message is taken away here only after the other store has confirmed that it has the
//  message.
//  2. If a message was changed or ended here between the steps, no copy of it is left there when
//     `move` returns without an error, unless `leaves_copies` says so.
//  3. A message may be missing here because a request, perhaps of this run, has already moved it.
//     Its copy there may then be the only one, so the copy is kept unless this is ruled out.
//
// Thread safety: one thread at a time; blocks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>

#include "app/transfer/migration.h"

namespace tarry::app {

class MigrationBatch {
 public:
  /// `counts` gets the results. Messages that are leased or settled are left out.
  MigrationBatch(const MigrationEnd& from, const MigrationEnd& to, MigratedQueue& counts,
                 std::uint64_t moved_away_before);

  /// Moves the movable messages among these keys. An error ends the migration; some messages may
  /// then be in both stores, until the migration is run again.
  [[nodiscard]] Result<void> move(const std::vector<std::string>& keys);

  /// How many messages have changed or ended here meanwhile. If there are any, read the queue
  /// again.
  [[nodiscard]] std::uint64_t changed() const noexcept { return changed_; }

  /// Whether a message stays here while its copy there could not be removed: both would be
  /// delivered.
  [[nodiscard]] bool leaves_copies() const noexcept { return leaves_copies_; }

  [[nodiscard]] static Error at(const MigrationEnd& end, const std::string& queue, Error error);

 private:
  using Keys = std::vector<std::string>;

  Result<std::vector<MessageInfo>> read(const MigrationEnd& end, Keys& keys);
  Result<void> move_messages(std::vector<MessageInfo> messages);
  Result<std::vector<MessageInfo>> put(std::vector<MessageInfo> messages);
  Result<std::vector<MessageInfo>> same_there(std::vector<MessageInfo> messages);
  Result<void> take_away(const std::vector<MessageInfo>& messages);
  /// Takes messages away that have not changed since they were read.
  Result<std::vector<core::ItemResult>> take_away_seen(const MigrationEnd& end,
                                                       const std::vector<MessageInfo>& messages);
  Result<void> undo(const std::vector<MessageInfo>& messages);
  Result<void> check_alone();
  void problem(const std::string& key, const std::string& what);
  const MigrationEnd& from_;
  const MigrationEnd& to_;
  MigratedQueue& counts_;
  const std::uint64_t moved_away_before_;
  std::uint64_t taken_ = 0;
  std::uint64_t changed_ = 0;
  bool leaves_copies_ = false;
};

}  // namespace tarry::app
