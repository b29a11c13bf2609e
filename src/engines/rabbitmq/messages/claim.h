// Claim: a claim request that is being carried out.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engines/rabbitmq/messages/link_thread.h"
#include "engines/rabbitmq/messages/pending_request.h"

namespace tarry::rabbitmq {

struct Claim {
  core::Ticket ticket = 0;
  PendingRequestPtr pending;
  const core::ClaimRequest* request = nullptr;
  std::vector<std::string> queues;  // in the order in which it looks at them
  std::size_t looked_at = 0;        // how many of them it has looked at
  std::uint32_t gets = 0;           // sent and not answered yet
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      taken;                                       // number of the QueueChannel, delivery tag
  std::uint64_t bytes = 0;                         // of the taken payloads
  std::map<std::string, std::uint64_t> consumers;  // consumer tag, number of the QueueChannel
  SteadyTime end{};
  bool counted = false;  // in Consumer::count_
  bool ending = false;   // its consumers are cancelled, and the broker has not confirmed that yet
  bool gone = false;     // it has been answered, or its caller has gone
};

}  // namespace tarry::rabbitmq
