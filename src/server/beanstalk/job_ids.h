// JobIds: gives jobs their numbers, and reads them back.
//
// A job's number is also its message's key, in decimal. So any later command finds the job by its
// number, on every server of the store, after every restart, without a table:
//
//     block (from bit 11) | place in the block, 1 to 31 (5 bits) | class of the tube (6 bits)
//
// A block is the id of a message that was pushed for this purpose; the store never gives an id
// again, so neither does JobIds. The class is a hash of the tube's name, and says in which queues
// to look. Place 0 is for messages that were pushed by other protocols or under a key of their own:
// their block is their own id, and their number is no key. Numbers stay below 2^53 as long as ids
// are below 2^42, for clients whose numbers are doubles.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "core/reply.h"
#include "core/request.h"

namespace tarry::beanstalk {

/// The queue of the messages whose ids are blocks. No tube can have the name.
inline constexpr std::string_view kIdQueue = "beanstalk:ids";

class JobIds {
 public:
  [[nodiscard]] std::size_t left() const noexcept;
  /// The number for a new job; only while `left() > 0`.
  [[nodiscard]] std::uint64_t take(std::string_view tube) noexcept;

  /// The request that gets more blocks, and its answer.
  [[nodiscard]] static core::PushRequest more();
  void add(const core::PushReply& reply);

 private:
  std::deque<std::uint64_t> blocks_;
  std::uint64_t place_ = 1;  // in the first block
};

[[nodiscard]] std::uint64_t class_of(std::string_view tube) noexcept;
/// Whether a job of that number has it as its key.
[[nodiscard]] bool is_key_of_job(std::uint64_t job) noexcept;
/// Whether such a job can be in the tube.
[[nodiscard]] bool may_be_in(std::uint64_t job, std::string_view tube) noexcept;
/// The number of a message in a tube.
[[nodiscard]] std::uint64_t job_of(std::string_view tube, std::string_view key,
                                   std::uint64_t id) noexcept;

}  // namespace tarry::beanstalk
