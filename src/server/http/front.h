// Front: tarry's /v1 over HTTP.
//
// Thread safety: the server's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "metrics/objective_sampler.h"
#include "net/http/http_message.h"
#include "server/console/sessions.h"
#include "server/console/stats_feed.h"
#include "server/http/handlers/routes.h"
#include "server/http_session/front.h"
#include "server/http_session/options.h"
#include "server/metrics/relay_figures.h"
#include "server/metrics/schedule_figures.h"
#include "server/session/server_context.h"

namespace tarry::http {

struct FrontOptions : http_session::Options {
  /// If set, POST /v1/clock/advance and suspend call it with milliseconds (`tarry serve
  /// --test-clock`).
  std::function<void(std::int64_t)> advance_clock = {};
  /// If set, POST /v1/clock/step calls it with milliseconds of either sign. It moves only the wall
  /// clock.
  std::function<Result<void>(std::int64_t)> step_clock = {};
  /// The store's time, from which /metrics computes ages. Default: the system's clock.
  std::function<Time()> now = {};
  /// The figures of relays that run in this process, for /metrics. Default: none.
  std::function<std::vector<metrics::RelayFigures>()> relays = {};
  /// The figures of the schedules that this process runs, for /metrics. Default: none.
  std::function<metrics::ScheduleFigures()> schedules = {};
  /// Measures how queues keep their objectives, on a thread of its own. `now` must then be callable
  /// from any thread.
  bool measures_objectives = false;
};

class Front final : public http_session::Front {
 public:
  /// `sampler`: null if objectives are not measured.
  Front(session::ServerContext& context, FrontOptions options,
        std::shared_ptr<console::Sessions> sessions,
        std::shared_ptr<metrics::ObjectiveSampler> sampler = nullptr);

  [[nodiscard]] std::unique_ptr<http_session::Exchange> make_exchange(
      http_session::Connection& connection) override;
  [[nodiscard]] bool wants(const net::HttpMessage& head) const override;

  [[nodiscard]] const FrontOptions& options() const noexcept { return options_; }
  /// Updates the description of the server for `route`.
  [[nodiscard]] const Service& service();
  [[nodiscard]] console::Sessions& sessions() noexcept { return *sessions_; }
  [[nodiscard]] console::StatsFeed& feed() noexcept { return *feed_; }

 private:
  const FrontOptions options_;
  const std::shared_ptr<console::Sessions> sessions_;
  const std::shared_ptr<console::StatsFeed> feed_;
  const std::shared_ptr<metrics::ObjectiveSampler> sampler_;
  Service service_;
};

/// Makes the front for an address at which a server listens. The fronts that it makes share the
/// console's sessions.
[[nodiscard]] http_session::MakeHttpFront make_front(FrontOptions options);

}  // namespace tarry::http
