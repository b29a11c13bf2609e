// Reads one HTTP/1.1 message from bytes as they arrive. It uses Beast's parser, but only one source
// file includes Beast's headers.
//
// It is strict wherever two readers of the same bytes could disagree. Faults are: Content-Length
// together with Transfer-Encoding, a transfer coding other than chunked, differing lengths, and
// bare line ends. After a fault neither the parser nor the connection can be used any more.
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

  /// Consumes bytes and returns how many. It consumes everything up to the end of the message,
  /// except an unfinished line: the caller keeps that line and passes it again together with later
  /// bytes. After the message's end or a fault it consumes nothing.
  std::size_t feed(std::string_view bytes);
  /// Call `feed_end` when the peer has closed its side. That ends a response without a length;
  /// otherwise it is a fault.
  void feed_end();

  [[nodiscard]] bool started() const noexcept;
  [[nodiscard]] bool head_done() const noexcept;
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] std::optional<HttpFault> fault() const noexcept;
  /// One line about the fault.
  [[nodiscard]] std::string_view fault_text() const noexcept;

  /// Only valid once the head is complete.
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
