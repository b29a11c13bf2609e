// Outgoing: an answer that is being written to a client, and how much of it has been written.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>

namespace tarry::session {

class Outgoing {
 public:
  void begin(std::string head, std::string body) noexcept {
    head_ = std::move(head);
    body_ = std::move(body);
    written_ = 0;
  }
  /// The bytes that have not been written yet.
  [[nodiscard]] std::array<boost::asio::const_buffer, 2> rest() const noexcept {
    namespace asio = boost::asio;
    if (written_ < head_.size()) return {asio::buffer(head_) + written_, asio::buffer(body_)};
    return {asio::const_buffer(), asio::buffer(body_) + (written_ - head_.size())};
  }
  /// Call `advance` when `size` more bytes have been written. Returns true if those were the last.
  [[nodiscard]] bool advance(std::size_t size) noexcept {
    written_ += size;
    return written_ == head_.size() + body_.size();
  }
  /// Frees the body's memory.
  void end() noexcept {
    head_.clear();
    body_ = {};
  }
  [[nodiscard]] std::size_t body_size() const noexcept { return body_.size(); }

 private:
  std::string head_;
  std::string body_;
  std::size_t written_ = 0;
};

}  // namespace tarry::session
