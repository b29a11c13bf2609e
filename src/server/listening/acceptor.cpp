#include "server/listening/acceptor.h"

#include <unistd.h>

#include <utility>

#include <tarry/time.h>

namespace tarry::listening {
namespace {

using boost::asio::generic::stream_protocol;
using boost::system::error_code;

constexpr Millis kAcceptPause{100};
// The system's default limit for connections that are not accepted yet.
constexpr int kMostWaiting = 4'096;
// Failures with less than this time between them count as one trouble.
constexpr std::chrono::minutes kOneTrouble{1};

}  // namespace

Acceptor::Acceptor(boost::asio::io_context& io, Accepted accepted, Failed failed)
    : accepted_(std::move(accepted)), failed_(std::move(failed)), acceptor_(io), timer_(io) {}

Result<void> Acceptor::open(int family, int socket) {
  error_code error;
  acceptor_.assign(stream_protocol(family, 0), socket, error);
  if (!error) return {};
  ::close(socket);
  return Unexpected(ErrorCode::io_error, "cannot accept connections: " + error.message());
}

void Acceptor::resume() {
  if (accepts_ || !acceptor_.is_open()) return;
  acceptor_.async_accept([this](const error_code& error, Socket socket) {
    accepts_ = false;
    // A connection may have been accepted just before the acceptor was closed.
    if (!error) accepted_(std::move(socket));
    if (!acceptor_.is_open()) return;
    if (error) {
      pause(error);
    } else {
      resume();
    }
  });
  accepts_ = true;
}

void Acceptor::take_waiting() {
  error_code error;
  acceptor_.non_blocking(true, error);
  for (int left = kMostWaiting; left > 0 && !error; --left) {
    Socket socket(acceptor_.get_executor());
    acceptor_.accept(socket, error);
    if (!error) accepted_(std::move(socket));
  }
}

void Acceptor::close() {
  error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
}

void Acceptor::pause(const error_code& error) {
  const auto now = Clock::now();
  if (!last_failure_ || now - *last_failure_ > kOneTrouble) failed_(error.message());
  last_failure_ = now;
  timer_.expires_after(kAcceptPause);
  timer_.async_wait([this](const error_code& cancelled) {
    accepts_ = false;
    if (!cancelled) resume();
  });
  accepts_ = true;
}

}  // namespace tarry::listening
