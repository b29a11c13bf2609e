#include "net/redis/redis_tls.h"

#include <utility>

#include "net/tls/tls_client.h"
#include "net/tls/tls_stream.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

class RedisTlsStream final : public RedisStream {
 public:
  RedisTlsStream(asio::io_context& io, const RedisOptions& options) : RedisStream(io, options) {}

  void read_some(asio::mutable_buffer into, OnBytes done) override {
    tls_->read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, OnBytes done) override {
    tls_->write(bytes, std::move(done));
  }
  // False, because the kernel gets TLS records, and may have sent a part of one when the write
  // fails.
  [[nodiscard]] bool counts_written() const noexcept override { return false; }
  [[nodiscard]] std::optional<Error> refusal(const SystemError& error) const override {
    auto refused = tls_->refusal(error);
    if (refused) refused->message = no_tls(refused->message);
    return refused;
  }

 private:
  void handshake(OnConnected done) override {
    // The host is known only now, if sentinels had to name it.
    auto stream = TlsClient(*options_.tls, options_.host).stream(socket_);
    if (!stream) {
      done(Error{stream.error().code, no_tls(stream.error().message)});
      return;
    }
    tls_ = *std::move(stream);
    tls_->handshake([this, done = std::move(done)](Result<void> made) mutable {
      if (!made) {
        made = Error{made.error().code, no_tls(made.error().message)};
      }
      done(std::move(made));
    });
  }

  [[nodiscard]] std::string no_tls(const std::string& why) const {
    const bool none = tls_ && tls_->server_has_no_tls();
    return "no TLS with " + redis_title(options_) + ": " + why +
           (none ? "; use redis: instead of rediss:" : "");
  }

  std::unique_ptr<TlsStream> tls_;
};

}  // namespace

std::unique_ptr<RedisStream> make_redis_tls_stream(asio::io_context& io,
                                                   const RedisOptions& options) {
  return std::make_unique<RedisTlsStream>(io, options);
}

}  // namespace tarry::net
