// Front: beanstalkd's protocol (version 1.12) over a store of tarry. Tubes are queues, jobs are
// messages, a job's time to run is the lease of its claim.
//
// Thread safety: the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <tarry/time.h>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/tubes.h"
#include "server/session/front.h"

namespace tarry::beanstalk {

struct FrontOptions {
  /// The most bytes of a job; a longer one is thrown away, and answered with JOB_TOO_BIG.
  std::uint64_t max_job = core::kDefaultMaxPayload;
  /// From the first byte of a command to its end, its job included. If the server wants tokens, it
  /// is also the time in which a new connection must send a command.
  Millis command_deadline = std::chrono::seconds(30);
  /// Default: the machine's clocks.
  Clocks clocks = {};
};

class Front final : public session::Front {
 public:
  Front(session::ServerContext& context, FrontOptions options, std::shared_ptr<Shared> shared);

  [[nodiscard]] std::shared_ptr<session::Connection> connect(listening::Stream stream) override;

  [[nodiscard]] const FrontOptions& options() const noexcept { return options_; }
  [[nodiscard]] Shared& shared() noexcept { return *shared_; }

 private:
  const FrontOptions options_;
  const std::shared_ptr<Shared> shared_;
};

/// Makes the fronts for a server's addresses; they share what they know of tubes.
[[nodiscard]] session::MakeFront make_front(FrontOptions options);

}  // namespace tarry::beanstalk
