// Reads one HTTP/1.1 message from bytes as they arrive. Beast's parser within; Beast's headers stay
// in one source file.
//
// Strict if two readers of the same bytes could disagree: Content-Length together with
// Transfer-Encoding, a transfer coding other than chunked, differing lengths, bare line ends are
// faults. After a fault the parser is finished, and so is the connection.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "net/http/http_message.h"

namespace tarry::net {

enum class HttpFault : std::uint8_t {
  malformed,
  head_too_large,
  body_too_large,
  unsupported_coding,
};

struct HttpLimits {
  std::uint32_t head_bytes = 16 * 1024;
  std::uint64_t body_bytes = 1024 * 1024;
};

class HttpParser {
 public:
  enum class Side : std::uint8_t { request, response };

  HttpParser(Side side, const HttpLimits& limits);
  HttpParser(HttpParser&&) noexcept;
  HttpParser& operator=(HttpParser&&) noexcept;
  ~HttpParser();

  /// Consumes bytes and returns how many: all up to the end of the message, except an unfinished
  /// line, which the caller keeps and passes again with the bytes after it. After the end or a
  /// fault it consumes nothing.
  std::size_t feed(std::string_view bytes);
  /// The peer has closed its side: the end of a response without a length, otherwise a fault.
  void feed_end();

  [[nodiscard]] bool started() const noexcept;
  [[nodiscard]] bool head_done() const noexcept;
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] std::optional<HttpFault> fault() const noexcept;
  /// One line about the fault.
  [[nodiscard]] std::string_view fault_text() const noexcept;

  /// Once the head is done.
  [[nodiscard]] bool keep_alive() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> content_length() const noexcept;

  [[nodiscard]] HttpMessage& message() noexcept;

 private:
  class Impl;
  template <bool is_request>
  class Beast;

  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::net
