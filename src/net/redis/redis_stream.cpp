#include "net/redis/redis_stream.h"

#include <sys/un.h>

#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "net/redis/redis_tls.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

class RedisPlainStream final : public RedisStream {
 public:
  RedisPlainStream(asio::io_context& io, const RedisOptions& options) : RedisStream(io, options) {}

  void read_some(asio::mutable_buffer into, OnBytes done) override {
    socket_.async_read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, OnBytes done) override {
    asio::async_write(socket_, bytes, std::move(done));
  }
  [[nodiscard]] bool counts_written() const noexcept override { return true; }
  [[nodiscard]] std::optional<Error> refusal(const SystemError&) const override {
    return std::nullopt;
  }

 private:
  void handshake(OnConnected done) override { done({}); }
};

std::string address_name(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

std::string redis_server_name(const RedisOptions& options) {
  if (!options.sentinels) {
    if (!options.unix_path.empty()) return options.unix_path;
    return address_name(options.host, options.port);
  }
  std::string where;
  if (options.port != 0) {
    where = address_name(options.host, options.port);
  } else {
    for (const RedisAddress& each : options.sentinels->addresses) {
      where += (where.empty() ? "of sentinels " : ", ") + address_name(each.host, each.port);
    }
  }
  return options.sentinels->master + " (" + where + ")";
}

std::string redis_server_name(const RedisAddress& address) {
  return address_name(address.host, address.port);
}

std::string redis_title(const RedisOptions& options) {
  return (options.is_sentinel ? "the sentinel at " : "Redis at ") + redis_server_name(options);
}

std::unique_ptr<RedisStream> RedisStream::make(asio::io_context& io, const RedisOptions& options) {
  if (options.tls) return make_redis_tls_stream(io, options);
  return std::make_unique<RedisPlainStream>(io, options);
}

RedisStream::RedisStream(asio::io_context& io, const RedisOptions& options)
    : options_(options), socket_(io.get_executor()), resolver_(io.get_executor()) {}

Error RedisStream::connect_error(std::string_view why) const {
  return {ErrorCode::unavailable,
          "cannot connect to " + redis_title(options_) + ": " + std::string(why)};
}

void RedisStream::connect(OnConnected done) {
  if (options_.unix_path.empty()) {
    resolve(std::move(done));
  } else if (options_.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
    Error error = connect_error("the path is longer than the system allows (" +
                                std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes)");
    error.code = ErrorCode::invalid_argument;
    asio::post(socket_.get_executor(), [done = std::move(done), error]() mutable { done(error); });
  } else {
    connect_to({asio::local::stream_protocol::endpoint(options_.unix_path)}, std::move(done));
  }
}

void RedisStream::resolve(OnConnected done) {
  SystemError no_address;
  const auto address = asio::ip::make_address(options_.host, no_address);
  if (!no_address) {  // a name may need a DNS server's answer; an address needs no resolver thread
    connect_to({Tcp::endpoint(address, options_.port)}, std::move(done));
    return;
  }
  resolver_.async_resolve(
      options_.host, std::to_string(options_.port), asio::ip::resolver_base::numeric_service,
      [this, done = std::move(done)](const SystemError& error,
                                     const Resolver::results_type& found) mutable {
        if (error || closed_) {
          done(connect_error(error.message()));
          return;
        }
        std::vector<Protocol::endpoint> endpoints;
        for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
        connect_to(endpoints, std::move(done));
      });
}

void RedisStream::connect_to(const std::vector<Protocol::endpoint>& endpoints, OnConnected done) {
  asio::async_connect(
      socket_, endpoints,
      [this, done = std::move(done)](const SystemError& error, const Protocol::endpoint&) mutable {
        if (error || closed_) {
          done(connect_error(error.message()));
          return;
        }
        connected_ = true;
        SystemError ignored;  // a unix socket does not have this option
        socket_.set_option(Tcp::no_delay(true), ignored);
        handshake(std::move(done));
      });
}

void RedisStream::close() {
  closed_ = true;
  SystemError ignored;
  resolver_.cancel();
  socket_.close(ignored);
}

bool RedisStream::has_input() {
  SystemError error;
  return socket_.available(error) > 0 && !error;
}

}  // namespace tarry::net
