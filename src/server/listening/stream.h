// Stream: the bytes to and from one client: over TCP or a unix socket, plain or in TLS. The code
// above it does not know which of these it is.
//
// Callbacks are called from the executor, never from within the call that starts the operation. The
// stream must not be moved while an operation is outstanding, and must outlive it: let the callback
// own it. After `close`, outstanding operations end with an error.
//
// Thread safety: that of a socket: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "server/listening/socket.h"
#include "server/listening/tls_session.h"

namespace tarry::listening {

class Stream {
 public:
  using Progress = TlsSession::Progress;
  using Buffers = std::array<boost::asio::const_buffer, 2>;

  /// `tls`: null for a plain stream.
  explicit Stream(Socket socket, const TlsContext& tls = nullptr);

  [[nodiscard]] Executor get_executor() { return socket_.get_executor(); }
  [[nodiscard]] RemoteEnd remote_end() { return remote_end_of(socket_); }
  [[nodiscard]] std::string local_host() { return local_host_of(socket_); }
  [[nodiscard]] bool is_encrypted() const noexcept { return tls_ != nullptr; }

  /// Goes on with the handshake, as far as the client's bytes have come. No bytes can be read or
  /// written before it is `done`; a plain stream needs none. If it `waits`, call it again after
  /// `wait_for_handshake`.
  [[nodiscard]] Progress handshake() { return tls_ ? tls_->handshake() : Progress::done; }
  template <typename Ready>
  void wait_for_handshake(Ready ready) {
    socket_.async_wait(awaited(), std::move(ready));
  }
  /// Why the handshake failed.
  [[nodiscard]] std::string failure() const { return tls_ ? tls_->failure() : std::string(); }

  /// Reads some bytes. `done` gets an error code and the number of bytes. One read at a time.
  template <typename Done>
  void read_some(boost::asio::mutable_buffer into, Done done) {
    if (!tls_) {
      socket_.async_read_some(into, std::move(done));
      return;
    }
    run_in_turn([this, into](std::size_t& size) { return tls_->read(into, size); },
                std::move(done));
  }
  /// Writes some of the bytes; they must stay where they are until `done`. One write at a time; a
  /// read may be outstanding.
  template <typename Done>
  void write_some(const Buffers& bytes, Done done) {
    if (!tls_) {
      socket_.async_write_some(bytes, std::move(done));
      return;
    }
    run_in_turn([this, bytes](std::size_t& size) { return tls_->write(bytes, size); },
                std::move(done));
  }
  /// Writes a short text while no write is outstanding. It may be dropped, or go out with the next
  /// write, if the socket does not take it at once.
  void write_now(std::string_view text);

  /// Whether the client has sent bytes that nobody has read yet.
  [[nodiscard]] bool has_input();
  /// As in socket.h.
  [[nodiscard]] bool has_hung_up() { return listening::has_hung_up(socket_); }
  void acknowledge() { listening::acknowledge(socket_); }
  /// Tells the client that nothing more will come. Its bytes can still be read.
  void end_output();
  void close();

 private:
  using ErrorCode = boost::system::error_code;

  [[nodiscard]] Socket::wait_type awaited() const noexcept {
    return tls_->waits_to_write() ? Socket::wait_write : Socket::wait_read;
  }
  [[nodiscard]] static ErrorCode error_of(Progress progress) noexcept {
    if (progress == Progress::done) return {};
    return progress == Progress::ended ? ErrorCode(boost::asio::error::eof)
                                       : ErrorCode(boost::asio::error::connection_aborted);
  }

  /// Runs the step at once, and posts the result if it does not wait.
  template <typename Step, typename Done>
  void run_in_turn(Step step, Done done) {
    std::size_t size = 0;
    const Progress progress = step(size);
    if (progress == Progress::waits) {
      run_when_ready(std::move(step), std::move(done));
      return;
    }
    boost::asio::post(socket_.get_executor(), [done = std::move(done), progress, size]() mutable {
      done(error_of(progress), size);
    });
  }
  template <typename Step, typename Done>
  void run_when_ready(Step step, Done done) {
    socket_.async_wait(awaited(), [this, step = std::move(step),
                                   done = std::move(done)](const ErrorCode& error) mutable {
      std::size_t size = 0;
      if (error) {
        done(error, size);
        return;
      }
      const Progress progress = step(size);
      if (progress == Progress::waits) {
        run_when_ready(std::move(step), std::move(done));
      } else {
        done(error_of(progress), size);
      }
    });
  }

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // null: plain
};

}  // namespace tarry::listening
