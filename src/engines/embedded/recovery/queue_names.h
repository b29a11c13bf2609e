// QueueNames: which queue a number is, as the records of a damaged journal tell, one after the
// other. A number may be several queues', one after the other, and the records that say so may be
// lost.
//
//   a number is freed, or named as another queue        the queue before has gone
//   a queue is named under another number               so has the one that was told before
//   a message is put where a queue was to be removed,   so has that queue; whose the message is,
//   or has gone                                         a later record may tell
//
// Nobody can know what else happened in a gap: a number keeps its queue.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engines/embedded/records/records.h"

namespace tarry::embedded {

class QueueNames {
 public:
  /// A queue that was removed, with those of its messages that have no record after that gap. The
  /// others may belong to the next queue.
  struct Ended {
    std::uint32_t queue = 0;
    std::uint32_t gap = 0;
  };

  /// `gaps`: how many gaps lie before the record.
  std::vector<Ended> tell(const QueueRecord& record, std::uint32_t gaps);
  std::optional<Ended> tell(const PutRecord& record);

  /// The last known name; empty if the queue was removed. Nothing if no record states it.
  [[nodiscard]] std::optional<std::string> name(std::uint32_t queue) const;
  /// Some number has that name.
  [[nodiscard]] bool taken(const std::string& name) const { return numbers_.contains(name); }

 private:
  struct Told {
    std::string name;
    bool removed = false;  // or to be
    std::uint32_t gaps = 0;
  };

  void end(std::uint32_t queue, std::vector<Ended>& ended);

  std::unordered_map<std::uint32_t, Told> told_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace tarry::embedded
