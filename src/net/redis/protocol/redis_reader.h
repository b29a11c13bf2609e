// RedisReader: reads replies from the bytes that a Redis server sends, with hiredis's reader.
//
// The total length of a reply and its nesting depth are limited.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/redis/protocol/redis_reply.h"

struct redisReader;

namespace tarry::net {

class RedisReader {
 public:
  explicit RedisReader(std::size_t max_reply_bytes);
  ~RedisReader();
  RedisReader(const RedisReader&) = delete;
  RedisReader& operator=(const RedisReader&) = delete;

  /// The best number of bytes for one `feed`. After every few replies hiredis moves the bytes that
  /// it has not read yet, which is expensive if there are many of them.
  static constexpr std::size_t kPiece = 16 * 1024;

  /// After this call, take all replies with `next` before you call `feed` again.
  void feed(std::string_view bytes);
  /// The next reply; none if more bytes are needed or there is a fault.
  [[nodiscard]] std::optional<RedisReply> next();

  enum class Fault : std::uint8_t { none, protocol, too_large };
  /// After a fault the reader reads nothing more.
  [[nodiscard]] Fault fault() const noexcept { return fault_; }
  /// The fault in words, as the end of a sentence that begins with "the reply".
  [[nodiscard]] const std::string& fault_text() const noexcept { return fault_text_; }

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  void check_size(std::uint64_t reply_end);
  [[nodiscard]] std::string over_limit() const;

  // The object that hiredis's callbacks get.
  struct Making;

  const std::size_t max_reply_bytes_;
  const std::unique_ptr<Making> making_;
  std::unique_ptr<redisReader, Free> reader_;
  std::uint64_t fed_ = 0;
  std::uint64_t reply_start_ = 0;  // where the reply that is being read starts; counts like fed_
  Fault fault_ = Fault::none;
  std::string fault_text_;
};

}  // namespace tarry::net
