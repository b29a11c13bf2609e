// ShardFailure: the reason why a shard has stopped, if it has. The first failure is final: the
// journal's files can no longer be trusted, and every later request gets the error.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tarry/result.h>

#include "engines/embedded/journal/committer.h"
#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class ShardFailure {
 public:
  ShardFailure(std::uint32_t shard, Committer& committer, Router& router)
      : shard_(shard), committer_(&committer), router_(&router) {}

  /// Sets the failure, unless one is set already. Also stops the committer, which then writes and
  /// acknowledges nothing more.
  void set(Error error) {
    if (error_) return;
    router_->log({LogLevel::error, "shard_stopped",
                  "shard " + std::to_string(shard_) + " stops: " + error.message});
    // All later requests get this error, so its code must not blame them, whatever the file
    // system's code was.
    error.code = ErrorCode::io_error;
    committer_->stop();
    error_ = std::move(error);
  }
  [[nodiscard]] explicit operator bool() const noexcept { return error_.has_value(); }
  /// The failure; empty if the shard works.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  std::uint32_t shard_;
  Committer* committer_;
  Router* router_;
  std::optional<Error> error_;
};

}  // namespace tarry::embedded
