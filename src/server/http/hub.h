// What the connections of one server share. Used on the server's thread only, but for
// `held_answers`.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include "core/engine.h"
#include "server/http/routes.h"
#include "server/http/server.h"
#include "server/metrics/meter.h"
#include "server/session/held.h"
#include "server/session/seldom.h"
#include "server/session/turns.h"

namespace tarry::http {

using Executor = boost::asio::io_context::executor_type;
/// Of a connection over TCP or over a unix socket.
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;

class Connection;

struct Hub {
  core::Engine& engine;
  ServerOptions options;
  Service service;
  std::string id_prefix;  // of the request ids that we make
  std::uint64_t next_id = 0;
  std::uint64_t held_requests = 0;
  std::atomic<std::uint64_t> held_answers{0};
  std::uint64_t settling_bytes = 0;  // of the requests, those that settle, extend or cancel
  session::Peers peers = {};
  // Those whose next request has not come, the one that has waited longest first.
  std::list<Connection*> idle = {};
  bool draining = false;
  std::function<void(Connection*)> closed = {};
  metrics::Meter meter{engine};
  session::Holders holders = {};
  session::Turns turns = {};  // for claims that end
  session::Seldom failures = {};
  session::Seldom refusals = {};  // of connections beyond the limit
  // Notes for the log, by whether the client was let in, and by status.
  std::map<std::pair<bool, unsigned>, session::Seldom> notes = {};

  [[nodiscard]] std::string make_request_id() { return id_prefix + std::to_string(++next_id); }
  void warn(std::string_view code, std::string_view line) const {
    if (options.log) options.log({LogLevel::warning, code, line});
  }
  /// Of what something could not be done for. Never throws.
  void warn_of(const std::exception& error) noexcept {
    try {
      const std::string text = "a request could not be handled: " + std::string(error.what());
      if (const auto line = failures.line(text, session::Seldom::Clock::now()))
        warn("request_failed", *line);
    } catch (const std::exception&) {
      // The memory is wanted elsewhere.
    }
  }
};

}  // namespace tarry::http
