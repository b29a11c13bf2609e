// QueueNames: which queue has which number, according to the records of a damaged journal, read in
// order. A number may have had several queues, one after the other, and the records of such a
// change may be lost. So this class concludes from the records that are there:
//
//   a number is freed, or named as another queue     the number's queue has gone
//   a queue is named under another number            the queue under its former number has gone
//   a message is put into a queue that was to be     that queue has gone; a later record may tell
//   removed, or has gone                             which queue the message belongs to
//
// Otherwise a number keeps its queue, because nobody can know what happened in a gap.
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
  /// A queue that was removed. If more than `gap` gaps lie before a message's last record, that
  /// message may belong to the number's next queue. All other messages of the number went with the
  /// removed queue.
  struct Ended {
    std::uint32_t queue = 0;
    std::uint32_t gap = 0;
  };

  /// Returns the queues whose end the record shows. `gaps`: how many gaps lie before the record.
  std::vector<Ended> tell(const QueueRecord& record, std::uint32_t gaps);
  std::optional<Ended> tell(const PutRecord& record);

  /// The last known name; empty if the queue was removed. Nothing if no record states it.
  [[nodiscard]] std::optional<std::string> name(std::uint32_t queue) const;
  /// True if some number has that name.
  [[nodiscard]] bool taken(const std::string& name) const { return numbers_.contains(name); }

 private:
  struct Told {
    std::string name;
    bool removed = false;  // or to be removed
    std::uint32_t gaps = 0;
  };

  void end(std::uint32_t queue, std::vector<Ended>& ended);

  std::unordered_map<std::uint32_t, Told> told_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace tarry::embedded
