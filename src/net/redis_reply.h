// RedisReply: what a Redis server answered to one command, or pushed onto a subscription; RedisView
// looks at it or at a piece of it. hiredis's tree within; its headers stay in the source files.
//
// Bytes from the server are as hostile as any: a view of the wrong kind answers what is empty, and
// an index beyond the end answers a nil. Nothing here aborts on what a server sends.
//
// Thread safety: none; a reply may be moved to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct redisReply;

namespace tarry::net {

class RedisView {
 public:
  enum class Kind : std::uint8_t { nil, integer, text, status, error, array };

  /// A nil.
  RedisView() noexcept = default;
  explicit RedisView(const redisReply* reply) noexcept : reply_(reply) {}

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] bool is_nil() const noexcept { return kind() == Kind::nil; }
  [[nodiscard]] bool is_error() const noexcept { return kind() == Kind::error; }
  /// Of an integer, or of a text that is a whole number within 64 bits; else 0.
  [[nodiscard]] std::int64_t integer() const noexcept;
  /// Of a text, a status or an error; else empty.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Elements of an array; else 0.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] RedisView operator[](std::size_t index) const noexcept;

 private:
  const redisReply* reply_ = nullptr;
};

class RedisReply {
 public:
  /// Owns `reply`, which hiredis made.
  explicit RedisReply(redisReply* reply) noexcept : reply_(reply), view_(reply) {}

  [[nodiscard]] RedisView view() const noexcept { return view_; }
  /// `view` is that element of it from now on: of a transaction's answer, one command's.
  void narrow(std::size_t index) noexcept { view_ = view_[index]; }

 private:
  struct Free {
    void operator()(redisReply* reply) const noexcept;
  };
  std::unique_ptr<redisReply, Free> reply_;
  RedisView view_;
};

}  // namespace tarry::net
