#include "server/listening/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace tarry::listening {
namespace {

constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;
// After so many records the other connections have a turn.
constexpr int kMostRecords = 16;

// OpenSSL's own BIO for sockets raises SIGPIPE when the client has gone.

TlsSession::Wire& wire_of(BIO* bio) { return *static_cast<TlsSession::Wire*>(BIO_get_data(bio)); }

bool may_repeat() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int read_wire(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  TlsSession::Wire& wire = wire_of(bio);
  const ssize_t got = ::recv(wire.socket, into, static_cast<std::size_t>(size), 0);
  if (got < 0 && may_repeat()) BIO_set_retry_read(bio);
  wire.ended = got == 0;
  return static_cast<int>(got);
}

int write_wire(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      ::send(wire_of(bio).socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && may_repeat()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long control_wire(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return wire_of(bio).ended ? 1 : 0;
  return 0;
}

BIO_METHOD* make_wire_method() {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  if (method == nullptr) return nullptr;
  BIO_meth_set_read(method, read_wire);
  BIO_meth_set_write(method, write_wire);
  BIO_meth_set_ctrl(method, control_wire);
  return method;
}

BIO* make_wire(TlsSession::Wire& wire) {
  static BIO_METHOD* const kMethod = make_wire_method();
  BIO* const bio = kMethod == nullptr ? nullptr : BIO_new(kMethod);
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &wire);
  BIO_set_init(bio, 1);
  return bio;
}

std::string reason_of_failure() {
  const int error = errno;
  const unsigned long code = ERR_get_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  return error == 0 ? "the connection broke" : std::strerror(error);
}

// The next record: up to kRecord bytes from `at` on. `joined` is used if they are of both buffers.
std::string_view record_at(const std::array<boost::asio::const_buffer, 2>& bytes, std::size_t at,
                           std::array<char, kRecord>& joined) {
  const auto& [head, body] = bytes;
  if (at >= head.size()) {
    const boost::asio::const_buffer rest = body + (at - head.size());
    return {static_cast<const char*>(rest.data()), std::min(rest.size(), kRecord)};
  }
  const boost::asio::const_buffer rest = head + at;
  if (rest.size() >= kRecord || body.size() == 0) {
    return {static_cast<const char*>(rest.data()), std::min(rest.size(), kRecord)};
  }
  const std::size_t size = std::min(rest.size() + body.size(), kRecord);
  std::memcpy(joined.data(), rest.data(), rest.size());
  std::memcpy(joined.data() + rest.size(), body.data(), size - rest.size());
  return {joined.data(), size};
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* ssl) const noexcept { SSL_free(ssl); }

TlsSession::TlsSession(const TlsContext& context, int socket)
    : wire_{socket}, ssl_(SSL_new(context.get())) {
  if (ssl_ == nullptr) throw std::bad_alloc();
  BIO* const bio = make_wire(wire_);
  SSL_set_bio(ssl_.get(), bio, bio);  // which it frees
  SSL_set_accept_state(ssl_.get());
}

TlsSession::~TlsSession() = default;

TlsSession::Progress TlsSession::progress_of(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: waits_to_write_ = false; return Progress::waits;
    case SSL_ERROR_WANT_WRITE: waits_to_write_ = true; return Progress::waits;
    case SSL_ERROR_ZERO_RETURN: return Progress::ended;
    default: break;
  }
  is_open_ = false;
  if (wire_.ended && ERR_peek_error() == 0) return Progress::ended;
  failure_ = reason_of_failure();
  return Progress::failed;
}

TlsSession::Progress TlsSession::handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  is_open_ = result == 1;
  return is_open_ ? Progress::done : progress_of(result);
}

TlsSession::Progress TlsSession::read(boost::asio::mutable_buffer into, std::size_t& size) {
  size = 0;
  do {
    ERR_clear_error();
    errno = 0;
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    if (result != 1) return size > 0 ? Progress::done : progress_of(result);
    size += got;
    into += got;
  } while (into.size() > 0 && has_input());
  return Progress::done;
}

TlsSession::Progress TlsSession::write_record(std::string_view record, std::size_t& size) {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &size);
  return result == 1 ? Progress::done : progress_of(result);
}

TlsSession::Progress TlsSession::write(const std::array<boost::asio::const_buffer, 2>& bytes,
                                       std::size_t& size) {
  size = 0;
  std::size_t written = 0;
  if (!first_.empty()) {
    if (const auto progress = write_record(first_, written); progress != Progress::done) {
      return progress;
    }
    first_.clear();
  }
  std::array<char, kRecord> joined;
  const std::size_t all = boost::asio::buffer_size(bytes);
  for (int records = 0; size < all && records < kMostRecords; ++records) {
    const auto progress = write_record(record_at(bytes, size, joined), written);
    if (progress != Progress::done) return size > 0 ? Progress::done : progress;
    size += written;
  }
  return Progress::done;
}

void TlsSession::write_now(std::string_view text) {
  std::size_t written = 0;
  first_ += text;
  if (write_record(first_, written) == Progress::done) first_.clear();
}

bool TlsSession::has_input() const noexcept { return is_open_ && SSL_has_pending(ssl_.get()) == 1; }

void TlsSession::end_output() noexcept {
  if (!is_open_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

}  // namespace tarry::listening
