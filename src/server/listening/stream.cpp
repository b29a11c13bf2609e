#include "server/listening/stream.h"

namespace tarry::listening {

Stream::Stream(Socket socket, const TlsContext& tls) : socket_(std::move(socket)) {
  prepare(socket_);
  if (tls) tls_ = std::make_unique<TlsSession>(tls, socket_.native_handle());
}

void Stream::write_now(std::string_view text) {
  if (tls_) {
    tls_->write_now(text);
    return;
  }
  ErrorCode ignored;
  socket_.write_some(boost::asio::buffer(text), ignored);
}

bool Stream::has_input() {
  ErrorCode ignored;
  return (tls_ && tls_->has_input()) || socket_.available(ignored) > 0;
}

void Stream::end_output() {
  if (tls_) tls_->end_output();
  ErrorCode ignored;
  socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
}

void Stream::close() {
  if (tls_) tls_->end_output();
  ErrorCode ignored;
  socket_.close(ignored);
}

}  // namespace tarry::listening
