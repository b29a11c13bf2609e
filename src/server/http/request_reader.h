// RequestReader: turns the bytes of one connection into requests: the one that is arriving, and
// those that its client has sent ahead (pipelining).
//
// Invariant: at most one request is in the parser; the bytes after it are kept, up to kMostAhead
// bytes and one read more, until `next`.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/http_parser.h"

namespace tarry::http {

class RequestReader {
 public:
  /// The result of some bytes.
  struct Step {
    std::size_t used = 0;     // how many of them belong to the request
    bool began = false;       // the request, with them
    bool head_ended = false;  // with them
    std::optional<net::HttpFault> fault = {};
    std::string_view fault_text = {};
  };

  /// Parses. `limits` hold for a request that begins with these bytes.
  [[nodiscard]] Step feed(std::string_view bytes, const net::HttpLimits& limits);

  /// The bytes that were sent ahead.
  [[nodiscard]] std::string_view ahead() const noexcept { return ahead_; }
  void keep_ahead(std::string_view bytes) { ahead_.append(bytes); }
  void drop_ahead(std::size_t size) { ahead_.erase(0, size); }
  void forget_ahead() noexcept { ahead_ = {}; }
  /// Nothing more is to be read until something of it has been taken.
  [[nodiscard]] bool is_full() const noexcept;

  [[nodiscard]] bool has_begun() const noexcept { return parser_ && parser_->started(); }
  [[nodiscard]] bool has_head() const noexcept { return has_head_; }
  /// While has_begun.
  [[nodiscard]] net::HttpParser& parser() noexcept { return *parser_; }

  /// The request is done with: the next one may come.
  void next() noexcept;
  /// Keeps the head of the request alone.
  void forget_bytes();

  /// Memory of the bytes that were sent ahead.
  [[nodiscard]] std::uint64_t memory() const noexcept;

 private:
  [[nodiscard]] std::size_t pass_over_empty_lines(std::string_view bytes) noexcept;

  std::string ahead_;  // read, and not parsed yet
  std::optional<net::HttpParser> parser_;
  std::size_t passed_over_ = 0;  // bytes of empty lines before the request
  bool has_head_ = false;
};

}  // namespace tarry::http
