// Stamp: the content of the messages that the comparison pushes. It is a text of 100 bytes with the
// message's number and due time, so that a consumer can tell which message it is and how late it
// came.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "designs/design.h"

namespace tarry::bench {

inline constexpr std::size_t kStampedSize = 100;

struct Stamp {
  std::uint64_t number = 0;
  std::int64_t due_ms = 0;
};

/// Ends the program if the payload is not a stamp.
[[nodiscard]] Stamp stamp_of(std::string_view payload);

/// A batch, and the bytes to which its messages refer.
class StampedBatch {
 public:
  void clear();
  const Message& add(std::uint64_t number, std::int64_t due_ms);
  [[nodiscard]] const std::vector<Message>& messages() const noexcept { return messages_; }

 private:
  std::deque<std::string> texts_;
  std::vector<Message> messages_;
};

}  // namespace tarry::bench
