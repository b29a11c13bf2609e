// RedisCommand: one command in Redis's protocol (RESP), encoded as its arguments are added.
// Arguments are bytes of any value.
//
// Plain value; not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::net {

class RedisCommand {
 public:
  /// `reserve`: about how many bytes the arguments will take.
  explicit RedisCommand(std::string_view name, std::size_t reserve = 0);

  RedisCommand& add(std::string_view argument);
  RedisCommand& add(std::int64_t argument);
  /// Adds a key. In a cluster the command goes to the node that holds its first key.
  RedisCommand& key(std::string_view name);
  /// Adds one argument whose bytes are `head` followed by `tail`, without joining them first.
  RedisCommand& add(std::string_view head, std::string_view tail);

  [[nodiscard]] std::size_t arguments() const noexcept { return count_; }
  /// The slot of its first key.
  [[nodiscard]] std::optional<std::uint16_t> slot() const noexcept { return slot_; }
  /// The name, for errors: "EVALSHA".
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Ends the encoding: the whole command, ready for the wire.
  [[nodiscard]] std::string take() &&;

 private:
  std::string name_;
  std::string body_;
  std::size_t count_ = 0;
  std::optional<std::uint16_t> slot_;
};

}  // namespace tarry::net
