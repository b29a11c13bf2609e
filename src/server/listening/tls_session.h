// TlsSession: the server's side of TLS with one client, on a socket that does not block.
//
// It knows no executor: if a step cannot go on, the caller waits until the socket is ready, and
// repeats the step with the same arguments. The buffers that OpenSSL needs for a record are freed
// whenever they are empty, so that an idle client takes little memory.
//
// Thread safety: that of a socket: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "server/listening/tls_context.h"

struct ssl_st;

namespace tarry::listening {

class TlsSession {
 public:
  enum class Progress : std::uint8_t {
    done,
    waits,   // for the socket: `waits_to_write`
    ended,   // by the client
    failed,  // `failure`
  };

  /// The socket must outlive it. Throws std::bad_alloc.
  TlsSession(const TlsContext& context, int socket);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  /// Must be `done` before anything else is called, except `has_input` and `end_output`.
  [[nodiscard]] Progress handshake();
  /// `size`: how many bytes were read; at least one if done.
  [[nodiscard]] Progress read(boost::asio::mutable_buffer into, std::size_t& size);
  /// `size`: how many bytes were written; perhaps not all. If it waits, the next call must begin
  /// with the same bytes.
  [[nodiscard]] Progress write(const std::array<boost::asio::const_buffer, 2>& bytes,
                               std::size_t& size);
  /// Writes the text before anything else. If the socket takes no more, it goes out with the next
  /// write.
  void write_now(std::string_view text);

  [[nodiscard]] bool waits_to_write() const noexcept { return waits_to_write_; }
  /// Whether bytes that came after the handshake have been read from the socket, and not from here.
  [[nodiscard]] bool has_input() const noexcept;
  /// Tells the client that nothing more will come, if the socket takes that at once.
  void end_output() noexcept;
  /// Why a step failed, in OpenSSL's words: "no shared cipher".
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  /// The socket below, for OpenSSL's callbacks.
  struct Wire {
    int socket = -1;
    bool ended = false;  // the client has ended its side
  };

 private:
  [[nodiscard]] Progress progress_of(int result);
  [[nodiscard]] Progress write_record(std::string_view record, std::size_t& size);

  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };

  Wire wire_;
  std::unique_ptr<ssl_st, Free> ssl_;
  std::string first_;  // of `write_now`, not written yet
  std::string failure_;
  bool is_open_ = false;  // the handshake is done, and nothing has failed since
  bool waits_to_write_ = false;
};

}  // namespace tarry::listening
