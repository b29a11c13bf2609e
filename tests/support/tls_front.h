// A TLS server on a free loopback port. It hands the bytes of each connection on to another port on
// loopback, both ways, and passes on that one side has closed its sending side.
//
// Thread safety: has a thread of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace tarry::testing {

class TlsFront {
 public:
  /// Throws if a file cannot be used.
  TlsFront(std::uint16_t behind, const std::string& certificate_file, const std::string& key_file)
      : behind_(behind), acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
    context_.use_certificate_chain_file(certificate_file);
    context_.use_private_key_file(key_file, boost::asio::ssl::context::pem);
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;
  ~TlsFront() {
    io_.stop();
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  using Tcp = boost::asio::ip::tcp;
  using SystemError = boost::system::error_code;

  class Connection : public std::enable_shared_from_this<Connection> {
   public:
    Connection(Tcp::socket client, boost::asio::ssl::context& context)
        : client_(std::move(client), context), server_(client_.get_executor()) {}

    void start(std::uint16_t behind) {
      using boost::asio::ssl::stream_base;
      client_.async_handshake(
          stream_base::server, [self = shared_from_this(), behind](const SystemError& error) {
            if (error) return;
            const Tcp::endpoint there(boost::asio::ip::address_v4::loopback(), behind);
            self->server_.async_connect(there, [self](const SystemError& refused) {
              if (refused) return;
              SystemError ignored;
              self->server_.set_option(Tcp::no_delay(true), ignored);
              self->client_.next_layer().set_option(Tcp::no_delay(true), ignored);
              self->read_client();
              self->read_server();
            });
          });
    }

   private:
    void read_client() {
      client_.async_read_some(
          boost::asio::buffer(from_client_),
          [self = shared_from_this()](const SystemError& error, std::size_t size) {
            SystemError ignored;
            if (error) {
              self->server_.shutdown(Tcp::socket::shutdown_send, ignored);
              return;
            }
            boost::asio::async_write(self->server_,
                                     boost::asio::buffer(self->from_client_.data(), size),
                                     [self](const SystemError& failed, std::size_t) {
                                       if (failed) self->close();
                                       if (!failed) self->read_client();
                                     });
          });
    }
    void read_server() {
      server_.async_read_some(
          boost::asio::buffer(from_server_),
          [self = shared_from_this()](const SystemError& error, std::size_t size) {
            if (error) {
              self->client_.async_shutdown([self](const SystemError&) { self->close(); });
              return;
            }
            boost::asio::async_write(self->client_,
                                     boost::asio::buffer(self->from_server_.data(), size),
                                     [self](const SystemError& failed, std::size_t) {
                                       if (failed) self->close();
                                       if (!failed) self->read_server();
                                     });
          });
    }
    void close() {
      SystemError ignored;
      client_.next_layer().close(ignored);
      server_.close(ignored);
    }

    boost::asio::ssl::stream<Tcp::socket> client_;
    Tcp::socket server_;
    std::array<char, 16384> from_client_{};
    std::array<char, 16384> from_server_{};
  };

  void accept() {
    acceptor_.async_accept([this](const SystemError& error, Tcp::socket client) {
      if (error) return;
      std::make_shared<Connection>(std::move(client), context_)->start(behind_);
      accept();
    });
  }

  const std::uint16_t behind_;
  boost::asio::io_context io_{1};
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_server};
  Tcp::acceptor acceptor_;
  std::thread thread_;
};

}  // namespace tarry::testing
