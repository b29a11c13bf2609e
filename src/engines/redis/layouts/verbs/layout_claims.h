// LayoutClaims: how a claim on a layout's queues looks for messages. The claim asks one queue after
// the other until it has enough. WaitingClaims parks and wakes claims.
//
// When a foreign producer adds a message, no notification comes. So the claims that wait at a queue
// look again in these cases: the queue's head falls due, this process has changed the queue, or
// Redisson's channel reports a change. They also look once a second.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/claims/waiting_claims.h"
#include "engines/redis/layouts/keys/layout_call.h"
#include "engines/redis/layouts/keys/layout_find.h"
#include "engines/redis/layouts/keys/layout_seen.h"
#include "engines/redis/node/alarms.h"

namespace tarry::redis {

class LayoutClaims final : public WaitingClaims {
 public:
  LayoutClaims(const LayoutContext& context, Alarms& alarms);
  ~LayoutClaims() override;

 private:
  class Look;

  void look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) override;
  void release(const core::ClaimReply& reply) override;
  [[nodiscard]] std::int64_t longest_ms(const core::ClaimRequest& request) const override;
  void tell_odd(const LayoutKeys& keys, std::int64_t count, std::string_view first);

  const LayoutContext& context_;
  std::set<std::string> told_bodyless_;  // queues for which the log has a line already
  std::set<std::string> told_units_;     // likewise
  SeenMemory seen_;
  std::size_t turn_ = 0;
};

}  // namespace tarry::redis
