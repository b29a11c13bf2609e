// RedisReply: a Redis server's answer to one command, or a message of a subscription; RedisView is
// a view of it or of a piece of it.
//
// Bytes from the server are not trusted: a view of the wrong kind answers an empty value, and an
// index beyond the end answers a nil. Nothing that a server sends makes this code abort.
//
// Thread safety: none; a reply may be moved to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/redis/protocol/redis_arena.h"

namespace tarry::net {

class Redis;
struct RedisNode;

class RedisView {
 public:
  enum class Kind : std::uint8_t { nil, integer, text, status, error, array };

  /// A nil.
  RedisView() noexcept = default;
  explicit RedisView(const RedisNode* node) noexcept : node_(node) {}

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] bool is_nil() const noexcept { return kind() == Kind::nil; }
  [[nodiscard]] bool is_error() const noexcept { return kind() == Kind::error; }
  /// For an integer, or a text that is a whole number within 64 bits; otherwise 0.
  [[nodiscard]] std::int64_t integer() const noexcept;
  /// For a text, a status or an error; otherwise empty.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Elements of an array; otherwise 0.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] RedisView operator[](std::size_t index) const noexcept;

 private:
  const RedisNode* node_ = nullptr;
};

/// A piece of a reply as RedisReader makes it.
struct RedisNode {
  union {
    std::int64_t integer = 0;
    const char* text;
    RedisNode* elements;  // also for unexpected kinds, which are nil
  };
  std::size_t size = 0;  // of text or elements
  RedisView::Kind kind = RedisView::Kind::nil;
};

/// The server that gave a reply: a cluster's node, so that commands sent to it use the connection
/// that carried the command; null if the node has left the cluster since.
struct RedisOrigin {
  bool is_node = false;  // otherwise there is only one server
  std::weak_ptr<Redis> node;
};

class RedisReply {
 public:
  RedisReply(RedisArena arena, const RedisNode* root) noexcept
      : arena_(std::move(arena)), view_(root) {}

  [[nodiscard]] RedisView view() const noexcept { return view_; }
  /// From now on `view` is that element: the answer to one command of a transaction.
  void narrow(std::size_t index) noexcept { view_ = view_[index]; }

  /// For an error from a cluster's node: the node, as `Redis::server` spells it. Empty: there is
  /// only one server.
  [[nodiscard]] const std::string& node() const noexcept { return node_; }
  void set_node(std::string name) noexcept { node_ = std::move(name); }

  [[nodiscard]] const RedisOrigin& origin() const noexcept { return origin_; }
  void set_origin(RedisOrigin origin) noexcept { origin_ = std::move(origin); }

 private:
  std::string node_;
  RedisOrigin origin_;
  RedisArena arena_;
  RedisView view_;
};

}  // namespace tarry::net
