// Front: a protocol over HTTP. It can have guests: other protocols over HTTP that its address
// speaks too. Each request is a guest's if the guest wants it.
//
// Thread safety: the server's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/http_message.h"
#include "server/http_session/exchange.h"
#include "server/http_session/options.h"
#include "server/session/front.h"

namespace tarry::http_session {

class Front : public session::Front {
 public:
  Front(session::ServerContext& context, std::string_view name, Options options)
      : session::Front(context, name), http_options_(std::move(options)) {}

  [[nodiscard]] virtual std::unique_ptr<Exchange> make_exchange(Connection& connection) = 0;
  /// Whether a request with this head is of the front's protocol. Asked only of guests.
  [[nodiscard]] virtual bool wants(const net::HttpMessage& head) const = 0;

  [[nodiscard]] std::shared_ptr<session::Connection> connect(listening::Stream stream) final {
    return std::make_shared<Connection>(*this, std::move(stream));
  }
  void add_guest(std::unique_ptr<Front> guest) { guests_.push_back(std::move(guest)); }

  [[nodiscard]] const Options& http_options() const noexcept { return http_options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Front>>& guests() const noexcept {
    return guests_;
  }

 private:
  const Options http_options_;
  std::vector<std::unique_ptr<Front>> guests_;
};

/// The context must outlive the front.
using MakeHttpFront = std::function<std::unique_ptr<Front>(session::ServerContext& context)>;

/// The host's front with the guest's protocol at its address.
[[nodiscard]] inline session::MakeFront with_guest(MakeHttpFront host, MakeHttpFront guest) {
  return [host = std::move(host), guest = std::move(guest)](session::ServerContext& context) {
    auto front = host(context);
    front->add_guest(guest(context));
    return front;
  };
}

}  // namespace tarry::http_session
