// RequestReader: turns the bytes of one connection into requests: the one that is arriving, and
// later ones that the client has sent ahead (pipelining).
//
// Invariant: at most one request is in the parser. The bytes after it are kept until `next`: at
// most kMostAhead bytes plus those of one read.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/http_parser.h"

namespace tarry::http_session {

class RequestReader {
 public:
  /// What `feed` has found in the bytes.
  struct Step {
    std::size_t used = 0;     // how many of the bytes belong to the request
    bool began = false;       // the request began with these bytes
    bool head_ended = false;  // its head ended with these bytes
    std::optional<net::HttpFault> fault = {};
    std::string_view fault_text = {};
  };

  /// Parses bytes. `limits` apply to a request that begins with these bytes.
  [[nodiscard]] Step feed(std::string_view bytes, const net::HttpLimits& limits);

  /// The bytes that were sent ahead.
  [[nodiscard]] std::string_view ahead() const noexcept { return ahead_; }
  void keep_ahead(std::string_view bytes) { ahead_.append(bytes); }
  void drop_ahead(std::size_t size) { ahead_.erase(0, size); }
  void forget_ahead() noexcept { ahead_ = {}; }
  /// Whether so many bytes are kept that nothing more may be read until `next`.
  [[nodiscard]] bool is_full() const noexcept;

  [[nodiscard]] bool has_begun() const noexcept { return parser_ && parser_->started(); }
  [[nodiscard]] bool has_head() const noexcept { return has_head_; }
  /// May be called only while has_begun().
  [[nodiscard]] net::HttpParser& parser() noexcept { return *parser_; }

  /// Ends the current request, so that the next one may begin.
  void next() noexcept;
  /// Drops everything except the head of the request.
  void forget_bytes();

  /// The memory that the bytes sent ahead take.
  [[nodiscard]] std::uint64_t memory() const noexcept;

 private:
  [[nodiscard]] std::size_t pass_over_empty_lines(std::string_view bytes) noexcept;

  std::string ahead_;  // bytes that were read and are not parsed yet
  std::optional<net::HttpParser> parser_;
  std::size_t passed_over_ = 0;  // bytes of empty lines before the request
  bool has_head_ = false;
};

}  // namespace tarry::http_session
