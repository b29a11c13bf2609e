// An HttpClient with an io_context and a thread of its own, and the server that the test plays.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include "net/http/http_client.h"
#include "support/certificates.h"
#include "support/raw_server.h"

namespace tarry::testing {

class HttpClientRig : public ::testing::Test {
 protected:
  using Future = std::future<net::HttpAnswer>;

  /// `tls`: null for a server without TLS.
  explicit HttpClientRig(TlsContext tls) : server_(std::move(tls)) {}

  void TearDown() override {
    if (client_) run([this] { client_.reset(); });
    guard_.reset();
    thread_.join();
  }

  /// The same certificates for all tests of the program.
  static const Certificates& files() {
    static const Certificates files;
    return files;
  }
  static TlsContext tls(const std::string& name) {
    return server_tls(files().certificate(name), files().key(name));
  }

  /// A client of the server; a host that is set already stays.
  void open(net::HttpClientOptions options = {}) {
    if (options.host.empty()) options.host = "127.0.0.1";
    options.port = server_.port();
    run([&] { client_.emplace(io_, options); });
  }

  /// Runs the task on the client's thread, and waits for its end.
  template <typename Task>
  void run(Task task) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }

  Future send(std::string target, std::string body = "{}",
              net::HttpLane lane = net::HttpLane::common, std::int64_t timeout_ms = 60'000) {
    auto promise = std::make_shared<std::promise<net::HttpAnswer>>();
    run([&] {
      net::HttpCall call;
      call.method = "POST";
      call.target = std::move(target);
      call.body = std::move(body);
      call.content_type = "application/json";
      call.lane = lane;
      call.timeout_ms = timeout_ms;
      last_ = client_->send(std::move(call),
                            [promise](net::HttpAnswer a) { promise->set_value(std::move(a)); });
    });
    return promise->get_future();
  }

  static std::string body_of(Future future) {
    const net::HttpAnswer answer = future.get();
    if (const auto* failure = std::get_if<net::HttpFailure>(&answer)) return failure->error.message;
    return std::get<net::HttpMessage>(answer).body;
  }
  static net::HttpFailure failure_of(Future future) {
    net::HttpAnswer answer = future.get();
    if (auto* failure = std::get_if<net::HttpFailure>(&answer)) return std::move(*failure);
    ADD_FAILURE() << "answered " << std::get<net::HttpMessage>(answer).body;
    return {};
  }

  RawServer server_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  std::thread thread_{[this] { io_.run(); }};
  std::optional<net::HttpClient> client_;
  net::HttpClient::Id last_ = 0;
};

}  // namespace tarry::testing
