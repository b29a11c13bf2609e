// RedisReply: what a Redis server answered to one command, or pushed onto a subscription; RedisView
// looks at it or at a piece of it.
//
// Bytes from the server are as hostile as any: a view of the wrong kind answers what is empty, and
// an index beyond the end answers a nil. Nothing here aborts on what a server sends.
//
// Thread safety: none; a reply may be moved to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/redis_arena.h"

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
  /// Of an integer, or of a text that is a whole number within 64 bits; else 0.
  [[nodiscard]] std::int64_t integer() const noexcept;
  /// Of a text, a status or an error; else empty.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Elements of an array; else 0.
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
    RedisNode* elements;  // also of kinds that nobody asked for, which are nil
  };
  std::size_t size = 0;  // of text or elements
  RedisView::Kind kind = RedisView::Kind::nil;
};

/// Who gave a reply: a cluster's node, as a server of its own, so that what is sent there goes out
/// on the connection that carried the command; null where it has left the cluster since.
struct RedisOrigin {
  bool is_node = false;  // else there is only one server
  std::weak_ptr<Redis> node;
};

class RedisReply {
 public:
  RedisReply(RedisArena arena, const RedisNode* root) noexcept
      : arena_(std::move(arena)), view_(root) {}

  [[nodiscard]] RedisView view() const noexcept { return view_; }
  /// `view` is that element of it from now on: of a transaction's answer, one command's.
  void narrow(std::size_t index) noexcept { view_ = view_[index]; }

  /// Of an error that a cluster's node answered: which one, as `Redis::server` spells it. Empty:
  /// there is only one.
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
