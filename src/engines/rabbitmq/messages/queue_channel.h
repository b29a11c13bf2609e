// QueueChannel: the AMQP channel on which one queue's messages are claimed and settled, and those
// messages. When the channel or its connection ends, the broker delivers them again, and receipts
// that name the channel are stale.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_function.h"
#include "engines/rabbitmq/messages/message.h"

namespace tarry::rabbitmq {

struct Claim;
using ClaimPtr = std::shared_ptr<Claim>;

/// A message that a claim has, or is about to get.
struct ClaimedMessage {
  Message message;            // as it arrived
  std::uint32_t attempt = 0;  // of this claim, from 1
  bool settling = false;
};

/// A message whose frames are arriving.
struct Arriving {
  std::uint64_t tag = 0;
  bool redelivered = false;
  bool by_get = false;
  std::uint32_t left = 0;  // by_get: messages left in the queue
  ClaimPtr claim = {};     // null if its claim has ended
  std::uint64_t size = 0;
  Arrived arrived = {};
};

struct QueueChannel {
  std::string queue;
  std::uint16_t channel = 0;
  std::uint64_t number = 0;                         // unique within an engine
  std::map<std::uint64_t, ClaimedMessage> claimed;  // by delivery tag
  std::deque<ClaimPtr> gets;  // one for each basic.get without an answer, in order
  // Each is called when the broker has processed everything that was sent before it.
  std::deque<base::UniqueFunction<void(bool answered)>> barriers;
  std::optional<Arriving> arriving;
  std::chrono::steady_clock::time_point last_ack{};  // when it was sent
};

/// Names a claim of one engine. `epoch` is random for each engine.
struct Receipt {
  std::uint64_t epoch = 0;
  std::uint64_t queue_channel = 0;
  std::uint64_t tag = 0;
};
[[nodiscard]] std::string text_of(const Receipt& receipt);
/// Empty if the text is none of ours.
[[nodiscard]] std::optional<Receipt> receipt_of(std::string_view text);

}  // namespace tarry::rabbitmq
