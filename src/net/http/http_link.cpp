#include "net/http/http_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include "net/tls/tls_client.h"
#include "net/tls/tls_stream.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kChunk = 16 * 1024;
// How long the link waits for an answer after its caller has stopped waiting.
constexpr std::chrono::seconds kAfterHangUp{10};

// Whether they are a record of TLS: an alert, or a part of a handshake.
bool looks_like_tls(std::string_view bytes) {
  constexpr char kAlert = 21;
  constexpr char kHandshake = 22;
  constexpr char kVersion = 3;
  return bytes.size() >= 2 && (bytes[0] == kAlert || bytes[0] == kHandshake) &&
         bytes[1] == kVersion;
}

}  // namespace

HttpLink::HttpLink(asio::io_context& io, const HttpClientOptions& options,
                   std::shared_ptr<TlsClient> tls, OnEnd on_end, OnDead on_dead)
    : options_(options),
      on_end_(std::move(on_end)),
      on_dead_(std::move(on_dead)),
      resolver_(io.get_executor()),
      connecting_(io.get_executor()),
      socket_(io.get_executor()),
      timer_(io.get_executor()),
      tls_client_(std::move(tls)) {}

HttpLink::~HttpLink() = default;

std::string HttpLink::server() const {
  if (!options_.unix_path.empty()) return options_.unix_path;
  return options_.host + ":" + std::to_string(options_.port);
}

void HttpLink::ask(const std::string& head, const std::string& body, Clock::time_point deadline) {
  head_ = &head;
  body_ = &body;
  deadline_ = deadline;
  written_ = Written::no;
  hung_up_ = false;
  failure_.reset();
  held_.clear();
  parser_.emplace(HttpParser::Side::response, options_.limits);
  if (state_ == State::idle) {
    state_ = State::asking;
    arm(deadline_);
    write();
  } else {
    connect();
  }
}

void HttpLink::connect() {
  state_ = State::connecting;
  arm(std::min(deadline_, Clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms)));
  if (!options_.unix_path.empty()) {
    const asio::local::stream_protocol::endpoint endpoint(options_.unix_path);
    socket_.async_connect(endpoint, [self = shared_from_this()](const error_code& error) {
      if (self->state_ != State::connecting) return;
      if (error) {
        self->connect_failed(error.message());
      } else {
        self->on_connected();
      }
    });
    return;
  }
  error_code no_address;
  const auto address = asio::ip::make_address(options_.host, no_address);
  if (!no_address) {  // a name may need a DNS server's answer; an address needs no resolver thread
    on_resolved(Resolver::results_type::create(tcp::endpoint(address, options_.port), options_.host,
                                               std::to_string(options_.port)));
    return;
  }
  resolver_.async_resolve(
      options_.host, std::to_string(options_.port), asio::ip::resolver_base::numeric_service,
      [self = shared_from_this()](const error_code& error, const Resolver::results_type& found) {
        if (self->state_ != State::connecting) return;
        if (error) {
          self->connect_failed(error.message());
        } else {
          self->on_resolved(found);
        }
      });
}

void HttpLink::on_resolved(const Resolver::results_type& found) {
  asio::async_connect(connecting_, found,
                      [self = shared_from_this()](const error_code& error, const tcp::endpoint&) {
                        if (self->state_ != State::connecting) return;
                        if (error) {
                          self->connect_failed(error.message());
                        } else {
                          error_code ignored;
                          self->connecting_.set_option(tcp::no_delay(true), ignored);
                          self->socket_ = std::move(self->connecting_);
                          self->on_connected();
                        }
                      });
}

void HttpLink::connect_failed(std::string_view why) {
  finish(HttpFailure{{ErrorCode::unavailable,
                      "cannot connect to " + server() + ": " + std::string(why)},
                     false},
         false);
}

void HttpLink::on_connected() {
  if (tls_client_) {
    shake_hands();
  } else {
    begin();
  }
}

void HttpLink::shake_hands() {
  auto stream = tls_client_->stream(socket_);
  if (!stream) {
    no_tls(std::move(stream).error());
    return;
  }
  tls_ = *std::move(stream);
  tls_->handshake([self = shared_from_this()](Result<void> made) {
    if (self->state_ != State::connecting) return;
    if (made) {
      self->begin();
    } else {
      self->no_tls(std::move(made).error());
    }
  });
}

void HttpLink::no_tls(Error error) {
  const bool none = tls_ && tls_->server_has_no_tls();
  error.message = "no TLS with " + server() + ": " + error.message +
                  (none ? "; use http:// instead of https://" : "");
  finish(HttpFailure{std::move(error), false}, false);
}

void HttpLink::begin() {
  state_ = State::asking;
  chunk_.resize(kChunk);
  arm(deadline_);
  read();
  write();
}

void HttpLink::write() {
  written_ = Written::going_on;
  const std::array<asio::const_buffer, 2> pieces = {asio::buffer(*head_), asio::buffer(*body_)};
  auto done = [self = shared_from_this()](const error_code& error, std::size_t) {
    self->on_written(!error);
  };
  if (tls_) {
    tls_->write(pieces, std::move(done));
  } else {
    asio::async_write(socket_, pieces, std::move(done));
  }
}

void HttpLink::on_written(bool whole) {
  written_ = whole ? Written::whole : Written::failed;
  if (state_ != State::asking) return;
  if (failure_) {
    fail(std::move(*failure_));
  } else if (hung_up_) {
    half_close();
  }
  // A failed write is reported by the read, because the server may have answered before it closed.
}

void HttpLink::read() {
  auto done = [self = shared_from_this()](const error_code& error, std::size_t size) {
    self->on_read(error, size);
  };
  if (tls_) {
    tls_->read_some(asio::buffer(chunk_), std::move(done));
  } else {
    socket_.async_read_some(asio::buffer(chunk_), std::move(done));
  }
}

void HttpLink::on_read(const error_code& error, std::size_t size) {
  if (state_ == State::closed) return;
  if (state_ == State::idle) {  // the server closed the connection, or sent unexpected bytes
    close();
    on_dead_(*this);
    return;
  }
  if (!error) {
    const std::string_view bytes(chunk_.data(), size);
    const bool first = !std::exchange(heard_, true);
    if (first && !tls_ && looks_like_tls(bytes)) {
      refused(
          {ErrorCode::invalid_argument, server() + " speaks TLS: use https:// instead of http://"});
      return;
    }
    take(bytes);
    if (state_ != State::closed) read();
    return;
  }
  if (auto refusal = tls_ ? tls_->refusal(error) : std::nullopt) {
    refusal->message = "no TLS with " + server() + ": " + refusal->message;
    refused(*std::move(refusal));
    return;
  }
  // With TLS, only `eof` proves that nobody cut the answer off.
  if (!tls_ || error == asio::error::eof) parser_->feed_end();
  if (parser_->done()) {
    finish(std::move(parser_->message()), false);
  } else {
    silent_ = !heard_;
    read_failed("the connection ended before the answer came" +
                (silent_ && tls_ ? tls_->suspicion() : ""));
  }
}

void HttpLink::take(std::string_view bytes) {
  held_.append(bytes);
  for (;;) {
    held_.erase(0, parser_->feed(held_));
    if (!parser_->done() || parser_->message().status / 100 != 1) break;
    // The answer was an interim one (1xx).
    parser_.emplace(HttpParser::Side::response, options_.limits);
  }
  if (parser_->fault()) {
    held_.clear();
    read_failed("the answer is not HTTP: " + std::string(parser_->fault_text()));
  } else if (parser_->done()) {
    const bool reusable =
        parser_->keep_alive() && held_.empty() && written_ == Written::whole && !hung_up_;
    finish(std::move(parser_->message()), reusable);
  }
}

void HttpLink::read_failed(std::string_view why) {
  end_read({ErrorCode::unavailable, server() + ": " + std::string(why)});
}

void HttpLink::refused(Error error) {
  refused_ = true;
  end_read(std::move(error));
}

void HttpLink::end_read(Error error) {
  if (written_ != Written::going_on) {
    fail(std::move(error));
    return;
  }
  failure_ = std::move(error);
  error_code ignored;
  socket_.close(ignored);  // ends the write
}

void HttpLink::half_close() {
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

void HttpLink::hang_up() {
  hung_up_ = true;
  if (state_ == State::connecting) {
    fail({ErrorCode::unavailable, "given up before it was sent to " + server()});
    return;
  }
  if (state_ != State::asking) return;
  deadline_ = std::min(deadline_, Clock::now() + kAfterHangUp);
  arm(deadline_);
  if (written_ == Written::whole) half_close();
}

void HttpLink::fail(Error error) {
  if (state_ != State::connecting && state_ != State::asking) return;
  const bool sent = written_ == Written::whole && !refused_;
  error.code = sent ? ErrorCode::unknown_outcome : error.code;
  finish(HttpFailure{std::move(error), sent}, false);
}

void HttpLink::finish(HttpAnswer answer, bool reusable) {
  const auto self = shared_from_this();
  if (reusable) {
    state_ = State::idle;
    arm(Clock::now() + std::chrono::milliseconds(options_.idle_timeout_ms));
  } else {
    close();
  }
  on_end_(*this, {std::move(answer), reusable, silent_});
}

void HttpLink::close() {
  state_ = State::closed;
  error_code ignored;
  resolver_.cancel();
  connecting_.close(ignored);
  if (tls_) tls_->end();
  socket_.close(ignored);
  timer_.cancel();
}

bool HttpLink::alive() {
  if (state_ != State::idle) return false;
  char byte = 0;
  const ssize_t n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

// The timer stays as it is if it fires early enough, and looks at `due_` then: setting it anew for
// each request takes a system call.
void HttpLink::arm(Clock::time_point when) {
  due_ = when;
  if (armed_for_ && *armed_for_ <= when) return;
  armed_for_ = when;
  timer_.expires_at(when);
  timer_.async_wait([self = shared_from_this(), when](const error_code& error) {
    if (error || self->state_ == State::closed || self->armed_for_ != when) return;
    self->armed_for_.reset();
    if (Clock::now() < self->due_) {
      self->arm(self->due_);
    } else {
      self->on_timer();
    }
  });
}

void HttpLink::on_timer() {
  switch (state_) {
    case State::connecting:
      if (tls_) {
        no_tls({ErrorCode::unavailable, "no handshake in time"});
      } else {
        connect_failed("no connection in time");
      }
      break;
    case State::asking: read_failed("no answer in time"); break;
    case State::idle:
      close();
      on_dead_(*this);
      break;
    case State::fresh:
    case State::closed: break;
  }
}

}  // namespace tarry::net
