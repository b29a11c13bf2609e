// Asked: a request, the known part of its answer, and the caller that waits for it.
#pragma once

#include <memory>
#include <utility>

#include "base/unique_function.h"
#include "core/engine.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::redis {

struct Asked {
  core::Request request;
  core::Reply reply;
  /// Runs once, with the finished reply or with an error of the whole request.
  base::UniqueFunction<void(Result<core::Reply>)> completion;

  void complete() { completion(std::move(reply)); }
  void fail(Error error) { completion(std::move(error)); }
};
using AskedPtr = std::shared_ptr<Asked>;

}  // namespace tarry::redis
