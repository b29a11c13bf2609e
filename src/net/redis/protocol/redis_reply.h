// RedisReply: a Redis server's answer to one command, or a message of a subscription; RedisView is
// a view of it or of a piece of it.
//
// Bytes from the server are not trusted. A view of another kind than expected answers an empty
// value, and an index beyond the end answers a nil, so nothing that a server sends can abort the
// program.
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
  /// The value of an integer, or of a text that is a whole number within 64 bits; otherwise 0.
  [[nodiscard]] std::int64_t integer() const noexcept;
  /// The text of a text, a status or an error; otherwise empty.
  [[nodiscard]] std::string_view text() const noexcept;
  /// The number of elements of an array; otherwise 0.
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
    RedisNode* elements;  // also for arrays of unexpected kinds (RESP3), which are nil
  };
  std::size_t size = 0;  // bytes of `text`, or number of `elements`
  RedisView::Kind kind = RedisView::Kind::nil;
};

/// The server that gave a reply. In a cluster it is the node, so that a later command can use the
/// same connection; null if that node has left the cluster meanwhile.
struct RedisOrigin {
  bool is_node = false;  // otherwise there is only one server
  std::weak_ptr<Redis> node;
};

class RedisReply {
 public:
  RedisReply(RedisArena arena, const RedisNode* root) noexcept
      : arena_(std::move(arena)), view_(root) {}

  [[nodiscard]] RedisView view() const noexcept { return view_; }
  /// From now on `view` is the element at `index`, for example the answer to one command of a
  /// transaction.
  void narrow(std::size_t index) noexcept { view_ = view_[index]; }

  /// The cluster node that answered with an error, as `Redis::server` spells it. Empty if there is
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
