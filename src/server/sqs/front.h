// Front: Amazon SQS's protocols over HTTP.
//
// Thread safety: the server's thread only.
#pragma once

#include <functional>
#include <memory>

#include <tarry/time.h>

#include "net/http/http_message.h"
#include "server/http_session/front.h"
#include "server/http_session/options.h"
#include "server/session/server_context.h"
#include "server/sqs/protocol/call.h"
#include "server/sqs/queues/move_tasks.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {

struct FrontOptions : http_session::Options {
  bool strict = false;  // the limits of AWS on delays
  /// The store's time. Default: the system's clock.
  std::function<Time()> now = {};
};

class Front final : public http_session::Front {
 public:
  Front(session::ServerContext& context, FrontOptions options);

  [[nodiscard]] std::unique_ptr<http_session::Exchange> make_exchange(
      http_session::Connection& connection) override;
  [[nodiscard]] bool wants(const net::HttpMessage& head) const override;

  [[nodiscard]] const FrontOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Service& service() const noexcept { return service_; }

 private:
  const FrontOptions options_;
  QueueCache queues_;
  MoveTasks moves_;
  Service service_;
};

/// Makes the front for an address at which a server listens.
[[nodiscard]] http_session::MakeHttpFront make_front(FrontOptions options);

}  // namespace tarry::sqs
