// ShardFailure: whether a shard can do no more, and why. The first failure stands: its journal's
// files can no longer be trusted to take what is written, and all later requests are told so.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tarry/result.h>

#include "engines/embedded/journal/committer.h"
#include "engines/embedded/shard/operation.h"

namespace tarry::embedded {

class ShardFailure {
 public:
  ShardFailure(std::uint32_t shard, Committer& committer, Router& router)
      : shard_(shard), committer_(&committer), router_(&router) {}

  /// Stops the committer too: nothing more is written, and nothing acknowledged.
  void set(Error error) {
    if (error_) return;
    router_->log({LogLevel::error, "shard_stopped",
                  "shard " + std::to_string(shard_) + " stops: " + error.message});
    // Later requests are not at fault, whatever the file system's reason was.
    error.code = ErrorCode::io_error;
    committer_->stop();
    error_ = std::move(error);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return error_.has_value(); }
  /// Why; nothing: the shard works.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  std::uint32_t shard_;
  Committer* committer_;
  Router* router_;
  std::optional<Error> error_;
};

}  // namespace tarry::embedded
