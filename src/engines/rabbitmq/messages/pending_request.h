// PendingRequest: a request with the completion that waits for its answer.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <utility>

#include "core/engine.h"

namespace tarry::rabbitmq {

struct PendingRequest {
  core::Request request;
  core::Completion completion;

  void answer(Result<core::Reply> reply) { completion(std::move(reply)); }
};
using PendingRequestPtr = std::shared_ptr<PendingRequest>;

}  // namespace tarry::rabbitmq
