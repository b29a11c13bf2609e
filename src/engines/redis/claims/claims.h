// Claims: how a claim of the native layout looks for messages. The claim asks the shards of its
// queues one after the other until it has enough. WaitingClaims parks and wakes claims.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/limits.h"
#include "engines/redis/claims/waiting_claims.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

class Claims final : public WaitingClaims {
 public:
  Claims(Context& context, Alarms& alarms, const core::Limits& limits);
  ~Claims() override;

 private:
  class Visit;

  void look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) override;
  void release(const core::ClaimReply& reply) override;
  [[nodiscard]] std::int64_t longest_ms(const core::ClaimRequest& request) const override;

  Context& context_;
  std::size_t turn_ = 0;
};

}  // namespace tarry::redis
